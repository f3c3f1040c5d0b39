//! Measures what orders about people add to a turn of a crowded sim: `cargo run --release -p metatopia-sim
//! --example governance`. It prints the microseconds that the acts and the leaves of a turn take, hashing
//! included, without orders and with four of them. Physics and scripts are left out.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a measurement reads the clock, and decides nothing"
)]

use std::{collections::BTreeSet, sync::Arc, time::Instant};

use metatopia_sim::{ENGINE, Genesis, Serial, Stage, Tools, Watch, World};
use metatopia_types::{
    Act, Digest, Ed25519, Envelope, GovernOrder, Header, Height, Lane, Look, Millis, NodeContact,
    PublicKey, RoleRight, Seq, Sign as _, Signature, SignedEnvelope, SigningKey, Turn, TurnBody,
};

/// As many as can be known before newcomers take each other's places.
const KNOWN: u64 = 46_000;
const ONLINE: u64 = 2_000;
/// Players who log in in one turn.
const ARRIVALS: u64 = 64;
/// Turns that are measured, of each kind.
const TURNS: u64 = 200;

fn key(n: u64) -> PublicKey {
    PublicKey(Digest::of("a player of a measurement", &n.to_le_bytes()).0)
}

/// A world in which turns are applied that nobody judged.
struct Crowd {
    world: World,
    admin: PublicKey,
    seq: u64,
}

impl Crowd {
    fn new() -> Self {
        let admin = key(u64::MAX);
        let server = SigningKey::from_seed([1; 32]).public();
        let mut genesis = Genesis {
            name: "crowd".to_owned(),
            admins: BTreeSet::from([admin]),
            validators: [(server, NodeContact::default())].into(),
            licence: "AGPL-3.0-or-later".to_owned(),
            asset_licence: "CC0-1.0".to_owned(),
            ..Genesis::empty()
        };
        genesis.parameters.avatars_max = 4_096;
        genesis.parameters.objects_max = 8_192;
        // Nobody is logged out for being silent.
        genesis.parameters.lease_ticks = 1_000_000;
        let world = World::genesis(&genesis, &Tools::new(Arc::new(Ed25519))).expect("a genesis");
        Self { world, admin, seq: 0 }
    }

    fn play(&mut self, acts: Vec<(PublicKey, Act)>, watch: &mut dyn Watch) {
        let (sim, height) = (self.world.sim(), self.world.height().plus(1));
        let signed = acts.into_iter().map(|(author, act)| {
            self.seq += 1;
            let (lane, seq, last_valid) = (Lane(1), Seq(self.seq), Height(height.0 + 9));
            let envelope = Envelope { sim, author, lane, seq, last_valid, act };
            SignedEnvelope { envelope, signature: Signature::from_bytes([0; 64]) }
        });
        let body = TurnBody::new(signed.collect(), Vec::new()).expect("a small turn");
        let time = Millis(1_700_000_000_000 + 50 * height.0);
        let header = Header { sim, engine: ENGINE, height, time, ..Header::unstated() };
        self.world.apply_watched(&Turn::of(header, body), &Serial, watch);
    }

    /// Has people log in; those before `stay` leave in the next turn.
    fn arrive(&mut self, from: u64, to: u64, stay: bool) {
        let mut first = from;
        while first < to {
            let last = (first + ARRIVALS).min(to);
            let login = |n| (key(n), Act::login(format!("player {n}"), Look::default()));
            self.play((first..last).map(login).collect(), &mut ());
            if !stay {
                self.play((first..last).map(|n| (key(n), Act::Leave)).collect(), &mut ());
            }
            first = last;
        }
    }

    /// Four orders about people who are known.
    fn orders(&self, n: u64) -> Vec<(PublicKey, Act)> {
        let (at, reason) = (key(n), "x".repeat(100));
        let orders = [
            GovernOrder::Ban { key: at, seconds: Some(3_600), reason: reason.clone() },
            GovernOrder::Mute { key: at, seconds: Some(3_600), reason },
            GovernOrder::Grant {
                key: key(n + TURNS),
                rights: [RoleRight::Build, RoleRight::Moderate].into(),
                seconds: Some(3_600),
            },
            GovernOrder::Announce { text: format!("turn {n}") },
        ];
        orders.map(|order| (self.admin, Act::Govern(order))).into()
    }
}

/// Sums the time of the acts and of the leaves.
#[derive(Default)]
struct Clocked {
    since: Option<Instant>,
    micros: u128,
}

impl Watch for Clocked {
    fn enter(&mut self, stage: Stage) {
        self.stop();
        self.since = matches!(stage, Stage::Acts | Stage::Leaves).then(Instant::now);
    }
}

impl Clocked {
    fn stop(&mut self) {
        self.micros += self.since.take().map_or(0, |since| since.elapsed().as_micros());
    }
}

fn main() {
    let mut crowd = Crowd::new();
    crowd.play(vec![(crowd.admin, Act::login("Alice".to_owned(), Look::default()))], &mut ());
    crowd.arrive(0, KNOWN, false);
    crowd.arrive(KNOWN, KNOWN + ONLINE, true);
    // Lists as long as some days of a bad week make them.
    for n in 0..TURNS {
        let orders = crowd.orders(10_000 + 2 * n);
        crowd.play(orders, &mut ());
    }
    let present = crowd.world.present().count();
    println!("{} players known, {present} with avatars", crowd.world.player_count());
    for with in [false, true] {
        let mut all: Vec<u128> = Vec::new();
        for n in 0..TURNS {
            let orders = if with { crowd.orders(20_000 + 2 * n) } else { Vec::new() };
            let mut clock = Clocked::default();
            crowd.play(orders, &mut clock);
            clock.stop();
            all.push(clock.micros);
        }
        all.sort_unstable();
        let (half, most) = (all[all.len() / 2], all[all.len() * 99 / 100]);
        let orders = if with { "four orders" } else { "no orders" };
        println!("a turn with {orders}: {half} us, 99 of 100 below {most} us");
    }
    assert_eq!(crowd.world.root(), crowd.world.rehash());
    println!("{} orders were carried out", crowd.world.governance().orders);
}
