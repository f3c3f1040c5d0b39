//! One server of four fills its turns with lanes of keys of its own, and renews them for ever.
//!
//! Played against the rules of judging alone, with a gateway that rations nothing: every act reaches
//! every server at once, and the liar has players and regulars without number. And played with whole
//! servers, see `siege`. What is measured is how many turns later honest acts are decided than without
//! the attack, at worst.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_sim::{
    FirstLogins, Judging, LaneWindows, Parameters, Register, Since, Standing, Standings,
};
use metatopia_types::{
    Act, Digest, Envelope, Header, Height, Lane, PublicKey, Seq, Signature, SignedEnvelope, SimId,
    Turn, TurnBody,
    limits::{ACTS_BYTES_MAX, ACTS_PER_TURN_MAX, EXPIRY_HEIGHTS_MAX},
    wire,
};

use super::{Play, siege};
use crate::finding::Finding;

const SERVERS: u64 = 4;
const FAULTY: u64 = 1;
const SIM: SimId = SimId(Digest([5; 32]));
const LIAR: PublicKey = server(0);
const STANDINGS: [Standing; 4] =
    [Standing::Stranger, Standing::Player, Standing::Regular, Standing::Steward];

const fn server(n: u8) -> PublicKey {
    PublicKey([200 + n; 32])
}

/// Returns the n-th key of somebody of this standing: its first byte says which.
fn key(standing: Standing, n: u64) -> PublicKey {
    let mut key = [standing as u8; 32];
    key[1..9].copy_from_slice(&n.to_be_bytes());
    PublicKey(key)
}

/// A sim whose keys say what they are to it.
struct Labelled(Register);

impl Standings for Labelled {
    fn sim(&self) -> SimId {
        SIM
    }

    fn since(&self, _: &PublicKey) -> Option<Since> {
        None
    }

    fn first_logins(&self) -> &FirstLogins {
        self.0.first_logins()
    }

    fn standing(&self, key: &PublicKey, _: Height) -> Standing {
        STANDINGS[usize::from(key.0[0]).min(3)]
    }
}

fn act(author: PublicKey, lane: u64, height: u64, valid: u64) -> Envelope {
    let (lane, seq, last_valid) = (Lane(lane), Seq(height), Height(height + valid));
    Envelope { sim: SIM, author, lane, seq, last_valid, act: Act::Heartbeat }
}

/// The lying server: lanes that it has opened, with the heights until which they last.
#[derive(Default)]
struct Liar {
    lanes: BTreeMap<(PublicKey, u64), u64>,
    keys: u64,
}

impl Liar {
    /// Returns as many acts as a turn takes: renewals of what would be forgotten soonest, and new
    /// lanes of players and regulars, whom it has without number.
    fn acts(&mut self, windows: &LaneWindows, sim: &Labelled, height: u64) -> Vec<Envelope> {
        let judging = Judging { standings: sim, proposer: Some(LIAR) };
        let mut admission = windows.admission(Height(height), None, judging);
        let (mut taken, mut bytes) = (Vec::new(), 0);
        let mut soonest: Vec<_> = self.lanes.iter().map(|(lane, until)| (*until, *lane)).collect();
        soonest.sort_unstable();
        let renewed = soonest.into_iter().map(|(_, lane)| lane).take(ACTS_PER_TURN_MAX / 2);
        let first = self.keys;
        let fresh = (first..first + 4_096).map(|n| (key(STANDINGS[1 + (n % 2) as usize], n), 1));
        for (author, lane) in renewed.chain(fresh) {
            let act = act(author, lane, height, EXPIRY_HEIGHTS_MAX);
            let length = wire::length(&unsigned(act.clone()));
            if taken.len() >= ACTS_PER_TURN_MAX || bytes + length > ACTS_BYTES_MAX {
                break;
            }
            if admission.admit(&act).is_ok() {
                bytes += length;
                self.lanes.insert((author, lane), act.last_valid.0);
                taken.push(act);
            }
        }
        self.keys += 4_096;
        taken
    }
}

fn unsigned(envelope: Envelope) -> SignedEnvelope {
    SignedEnvelope { envelope, signature: Signature::from_bytes([0; 64]) }
}

fn turn(height: u64, proposer: PublicKey, acts: Vec<Envelope>) -> Turn {
    let body = TurnBody::new(acts.into_iter().map(unsigned).collect(), Vec::new());
    let header = Header { sim: SIM, height: Height(height), proposer, ..Header::unstated() };
    Turn { header, body: body.expect("limits were counted") }
}

/// Returns the longest wait of an honest act, in turns, by what its author is to the sim.
fn worst_waits(heights: u64, attacked: bool) -> [u64; 4] {
    let parameters = Parameters::default();
    let sim = Labelled(Register::genesis(SIM, &parameters, BTreeSet::new()));
    let (mut windows, mut liar) = (LaneWindows::default(), Liar::default());
    let mut waiting: Vec<(Standing, PublicKey, u64)> = Vec::new();
    let mut worst = [0; 4];
    for height in 1..=heights {
        if height % 3 == 0 {
            waiting.extend(
                STANDINGS.map(|standing| (standing, key(standing, u64::MAX - height), height)),
            );
        }
        let proposer = server((height % SERVERS) as u8);
        let lies = attacked && proposer == LIAR;
        let mut acts = Vec::new();
        if lies {
            acts = liar.acts(&windows, &sim, height);
        } else {
            let judging = Judging { standings: &sim, proposer: Some(proposer) };
            let mut admission = windows.admission(Height(height), None, judging);
            waiting.retain(|(standing, author, since)| {
                let act = act(*author, 1, height, 40);
                let is_in = admission.admit(&act).is_ok();
                if is_in {
                    let worst = &mut worst[*standing as usize];
                    *worst = (*worst).max(height - since);
                    acts.push(act);
                }
                !is_in
            });
        }
        windows.record(&turn(height, proposer, acts));
    }
    for (standing, _, since) in waiting {
        let worst = &mut worst[standing as usize];
        *worst = (*worst).max(heights - since);
    }
    worst
}

/// Plays it by the rules alone, for four minutes of turns or one and a half, and then with whole
/// servers in the simulated world, where the liar has nobody but strangers.
pub(super) fn play(play: &Play) -> Result<Vec<Finding>, String> {
    let heights = if play.short { 1_800 } else { 4_800 };
    let (alone, beside) = (worst_waits(heights, false), worst_waits(heights, true));
    let later = STANDINGS.map(|standing| {
        let n = standing as usize;
        beside[n].saturating_sub(alone[n])
    });
    let worst = later.into_iter().max().unwrap_or_default();
    let bound = FAULTY + 2;
    let siege = siege::lanes(play);
    let value = siege.value.max(worst as f64);
    let note = format!(
        "by the rules alone strangers, players, regulars, stewards: {later:?} turns later; {}",
        siege.note
    );
    let all = Finding::at_most("lanes", value, bound as f64, "turns");
    Ok(vec![all.unless(!siege.ok).noted(note)])
}
