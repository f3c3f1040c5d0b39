//! Measures what governance costs a sim that knows a hundred thousand players, two thousand of whom are
//! there: `cargo run --release -p metatopia-sim --example governance`, with `-- --json` one object a line.
//!
//! The first two rows are the acts and the leaves of a turn, hashing included, without orders and with four
//! of them. Physics and scripts are left out of them. The third row is whole turns in which ten people who
//! are known log in.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a measurement reads the clock, and decides nothing"
)]

use std::{collections::BTreeSet, sync::Arc, time::Instant};

use metatopia_math::Fx;
use metatopia_sim::{ENGINE, Genesis, Serial, Stage, Tools, Watch, World};
use metatopia_types::{
    Act, Digest, Ed25519, Envelope, GovernOrder, Header, Height, Lane, Look, Millis, NodeContact,
    PublicKey, RoleRight, Seq, Sign as _, Signature, SignedEnvelope, SigningKey, Turn, TurnBody,
};

/// With those who are there almost as many as can be known before newcomers take each other's places.
const KNOWN: u64 = 96_000;
const ONLINE: u64 = 2_000;
/// Players who log in in one turn.
const ARRIVALS: u64 = 64;
/// Turns that are measured, of each kind.
const TURNS: u64 = 200;
/// People who log in in each turn of the third row: 2,000 in all.
const LOGINS: u64 = 10;
/// Turns after which a crowd that has just come has pushed itself apart and rests.
const REST: u64 = 400;

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
        // Whoever stands in somebody else's way is pushed aside, which is physics.
        genesis.parameters.avatar.spawn_radius = Fx::from_int(100);
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

/// Sums the time of the stages that count.
struct Clocked {
    counts: fn(Stage) -> bool,
    since: Option<Instant>,
    micros: u128,
}

impl Watch for Clocked {
    fn enter(&mut self, stage: Stage) {
        self.stop();
        self.since = (self.counts)(stage).then(Instant::now);
    }
}

impl Clocked {
    fn stop(&mut self) {
        self.micros += self.since.take().map_or(0, |since| since.elapsed().as_micros());
    }
}

/// What so many turns took.
struct Row {
    turns: &'static str,
    micros: Vec<u128>,
    bound: u128,
}

impl Row {
    /// Measures turns of these acts.
    fn measure(
        (crowd, turns, bound): (&mut Crowd, &'static str, u128),
        counts: fn(Stage) -> bool,
        acts: impl Fn(&Crowd, u64) -> Vec<(PublicKey, Act)>,
    ) -> Self {
        let mut micros: Vec<u128> = Vec::new();
        for n in 0..TURNS {
            let mut clock = Clocked { counts, since: None, micros: 0 };
            crowd.play(acts(crowd, n), &mut clock);
            clock.stop();
            micros.push(clock.micros);
        }
        micros.sort_unstable();
        Self { turns, micros, bound }
    }

    fn print(&self, json: bool) {
        let Self { turns, micros, bound } = self;
        let at = |hundredths: usize| micros[(micros.len() - 1) * hundredths / 100];
        let (half, most, longest) = (at(50), at(99), at(100));
        if json {
            println!(
                "{{\"turns\":\"{turns}\",\"p50_us\":{half},\"p99_us\":{most},\"max_us\":{longest},\
                \"bound_us\":{bound}}}"
            );
        } else {
            println!("{turns:>12} {half:>8} {most:>8} {longest:>8} {bound:>8}");
        }
    }
}

fn main() {
    let json = std::env::args().any(|argument| argument == "--json");
    let mut crowd = Crowd::new();
    crowd.play(vec![(crowd.admin, Act::login("Alice".to_owned(), Look::default()))], &mut ());
    crowd.arrive(0, KNOWN, false);
    crowd.arrive(KNOWN, KNOWN + ONLINE, true);
    // Lists as long as some days of a bad week make them.
    for n in 0..TURNS {
        let orders = crowd.orders(10_000 + 2 * n);
        crowd.play(orders, &mut ());
    }
    (0..REST).for_each(|_| crowd.play(Vec::new(), &mut ()));
    if !json {
        let (known, there) = (crowd.world.player_count(), crowd.world.present().count());
        println!("{known} players known, {there} of them there; microseconds of a turn\n");
        println!("{:>12} {:>8} {:>8} {:>8} {:>8}", "", "p50", "p99", "max", "bound");
    }
    let governs = |stage| matches!(stage, Stage::Acts | Stage::Leaves);
    let rows = [
        Row::measure((&mut crowd, "no orders", 1_000), governs, |_, _| Vec::new()),
        Row::measure((&mut crowd, "four orders", 1_000), governs, |crowd, n| {
            crowd.orders(20_000 + 2 * n)
        }),
        Row::measure(
            (&mut crowd, "ten logins", 16_000),
            |_| true,
            |_, n| {
                let first = 40_000 + n * LOGINS;
                let login = |n| (key(n), Act::login(format!("player {n}"), Look::default()));
                (first..first + LOGINS).map(login).collect()
            },
        ),
    ];
    rows.iter().for_each(|row| row.print(json));
    assert_eq!(crowd.world.root(), crowd.world.rehash(), "the leaves say what the state is");
    let logged_in = crowd.world.present().count() as u64;
    assert!(logged_in > ONLINE + TURNS * LOGINS / 2, "{logged_in} are there: logins were refused");
}
