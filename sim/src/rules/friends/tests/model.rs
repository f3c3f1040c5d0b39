//! Friends and recoveries of one key, held against a small model that keeps all that happened and looks through
//! it from the beginning each time.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_math::Stream;
use metatopia_types::{Height, Look, NewKeyWord, PublicKey, Refusal, Signature, Verify};

use crate::{
    acts::test_genesis,
    limits::{QUIET_MS, RECOVERY_MS, VOUCHES_MS},
    state::{Player, Since, State},
};

const HOUR: u64 = 3_600_000;
const OWNER: u8 = 9;
const FRIENDS: [u8; 4] = [2, 3, 4, 5];
const NEW: [u8; 2] = [20, 21];

/// Histories of a run. They take some seconds.
const HISTORIES: u64 = 1_000;

/// Steps of one history.
const STEPS: u32 = 40;

const fn key(n: u8) -> PublicKey {
    PublicKey([n; 32])
}

/// The model knows no signatures, so all are good.
struct Believed;

impl Verify for Believed {
    fn verify(&self, _: &PublicKey, _: &[u8], _: &Signature) -> bool {
        true
    }

    fn is_key(&self, _: &PublicKey) -> bool {
        true
    }
}

/// Something that was done, and no rule refused.
#[derive(Clone, Debug)]
enum Deed {
    Name(BTreeSet<u8>, u8),
    Vouch(u8, u8),
    Cancel,
}

/// A recovery, as the model finds it.
#[derive(Clone, Debug, Default)]
struct Open {
    vouches: BTreeMap<u8, u8>,
    ends: u64,
    chosen: Option<u8>,
}

impl Open {
    fn votes(&self, new: u8) -> usize {
        self.vouches.values().filter(|named| **named == new).count()
    }
}

/// All that happened.
#[derive(Clone, Debug, Default)]
struct Model {
    time: u64,
    deeds: Vec<(u64, Deed)>,
}

impl Model {
    fn named(&self) -> Vec<(u64, BTreeSet<u8>, u8)> {
        let named = self.deeds.iter().filter_map(|(time, deed)| match deed {
            Deed::Name(friends, need) => Some((*time, friends.clone(), *need)),
            _ => None,
        });
        named.collect()
    }

    /// Returns who counts: the last who were named, if no other naming followed for 72 hours.
    fn counted(&self, time: u64) -> (BTreeSet<u8>, u8) {
        let named: Vec<_> = self.named().into_iter().filter(|(at, ..)| *at <= time).collect();
        let lasted = |n: usize| {
            let until = named.get(n + 1).map_or(time, |(next, ..)| *next);
            until >= named[n].0 + RECOVERY_MS
        };
        let last = (0..named.len()).rev().find(|n| lasted(*n));
        last.map_or_else(Default::default, |n| (named[n].1.clone(), named[n].2))
    }

    /// Returns what is left of a recovery when other friends count than at an earlier time.
    fn recounted(&self, open: Option<Open>, (before, now): (u64, u64)) -> Option<Open> {
        let (counted, need) = self.counted(now);
        if self.counted(before) == (counted.clone(), need) {
            return open;
        }
        let mut open = open?;
        open.vouches.retain(|friend, _| counted.contains(friend));
        let is_enough = match open.chosen {
            None => !open.vouches.is_empty(),
            Some(new) => open.votes(new) >= usize::from(need),
        };
        is_enough.then_some(open)
    }

    fn open(&self) -> Option<Open> {
        let (mut open, mut before): (Option<Open>, u64) = (None, 0);
        for (time, deed) in &self.deeds {
            open = self.recounted(open, (before, *time));
            before = *time;
            open = open.filter(|open| open.ends > *time);
            match deed {
                Deed::Name(..) => {}
                Deed::Cancel => open = None,
                Deed::Vouch(friend, new) => {
                    let ends = time + VOUCHES_MS;
                    let begun = open.get_or_insert_with(|| Open { ends, ..Open::default() });
                    let (_, need) = self.counted(*time);
                    begun.vouches.insert(*friend, *new);
                    if begun.votes(*new) >= usize::from(need) {
                        (begun.chosen, begun.ends) = (Some(*new), time + RECOVERY_MS);
                    }
                }
            }
        }
        self.recounted(open, (before, self.time))
    }

    /// Returns until when a friend is quiet, by what was cancelled.
    fn quiet(&self, friend: u8) -> Option<u64> {
        let mut until = None;
        for n in 0..self.deeds.len() {
            if let (time, Deed::Cancel) = &self.deeds[n] {
                let before = Self { time: *time, deeds: self.deeds[..n].to_vec() };
                let open = before.open().filter(|open| open.ends > *time);
                let vouched = open.is_some_and(|open| open.vouches.contains_key(&friend));
                until = vouched.then_some(time + QUIET_MS).or(until);
            }
        }
        until.filter(|until| *until > self.time)
    }

    fn check(&self, deed: &Deed) -> Result<(), Refusal> {
        let open = self.open().filter(|open| open.ends > self.time);
        match deed {
            Deed::Name(..) if open.is_some() => Err(Refusal::RecoveryOpen),
            Deed::Name(friends, need) => {
                let last = self.named().pop().unwrap_or_default();
                let same = (&last.1, last.2) == (friends, *need);
                if same { Err(Refusal::AlreadySo) } else { Ok(()) }
            }
            Deed::Cancel => open.map(drop).ok_or(Refusal::NoRecovery),
            Deed::Vouch(friend, new) => {
                if !self.counted(self.time).0.contains(friend) {
                    let last = self.named().pop().unwrap_or_default();
                    let fresh = last.1.contains(friend);
                    return Err(if fresh { Refusal::FreshFriend } else { Refusal::NotFriend });
                }
                if let Some(until) = self.quiet(*friend) {
                    let hours = (until - self.time).div_ceil(HOUR);
                    return Err(Refusal::QuietFriend(hours as u32));
                }
                match open {
                    Some(open) if open.chosen.is_some() => Err(Refusal::RecoveryOpen),
                    Some(open)
                        if open.vouches.get(friend) == Some(new)
                            && open.votes(*new) < usize::from(self.counted(self.time).1) =>
                    {
                        Err(Refusal::AlreadySo)
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}

/// Does the same to the state, as far as its rules let it.
fn act(state: &mut State, deed: &Deed) -> Result<(), Refusal> {
    let kept = match deed {
        Deed::Name(friends, need) => {
            let friends: Vec<PublicKey> = friends.iter().map(|n| key(*n)).collect();
            state.with_friends(&key(OWNER), false, &friends, *need)?
        }
        Deed::Vouch(friend, new) => {
            let signature = Signature::from_bytes([0; 64]);
            let word = NewKeyWord { key: key(*new), signature };
            state.with_vouch(&key(*friend), key(OWNER), &word, &Believed)?
        }
        Deed::Cancel => state.with_cancelled(&key(OWNER))?,
    };
    state.people.friends.set(key(OWNER), kept);
    Ok(())
}

fn deed(dice: &mut Stream) -> Deed {
    let friend = FRIENDS[dice.below(FRIENDS.len() as u64) as usize];
    match dice.below(8) {
        0 => Deed::Cancel,
        1 => {
            let friends = FRIENDS.into_iter().filter(|_| dice.below(3) > 0);
            let mut friends: BTreeSet<u8> = friends.collect();
            if friends.is_empty() {
                // With the last list goes who is quiet.
                friends.insert(friend);
            }
            let need = friends.len().min(2) as u8;
            Deed::Name(friends, need)
        }
        _ => Deed::Vouch(friend, NEW[dice.below(2) as usize]),
    }
}

#[test]
fn lists_and_recoveries_are_as_a_model_has_them_that_looks_at_everything() {
    let genesis = test_genesis();
    let (mut recovered, mut refused) = (0, BTreeSet::new());
    for history in 0..HISTORIES {
        let mut dice = Stream::new(&[7; 32], "friends", &[history]);
        let mut state = State::from_genesis(&genesis).expect("a small genesis");
        for n in FRIENDS.into_iter().chain([OWNER]) {
            state.put_player(key(n), player(n));
        }
        let mut model = Model::default();
        for step in 0..STEPS {
            let hours = [0, 1, 24, 71, 72, 7 * 24, 30 * 24][dice.below(7) as usize];
            model.time += hours * HOUR;
            state.governance.time = model.time;
            state.pass_friends();
            let open = model.open().filter(|open| open.ends <= model.time);
            let due = open.and_then(|open| open.chosen);
            let moved = state.people.rotated.get(&key(OWNER)).map(|rotated| rotated.to);
            assert_eq!(moved, due.map(key), "history {history}, step {step}: {model:?}");
            if due.is_some() {
                recovered += 1;
                break;
            }
            let deed = deed(&mut dice);
            let found = act(&mut state, &deed);
            assert_eq!(found, model.check(&deed), "history {history}: {deed:?} after {model:?}");
            match found {
                Ok(()) => model.deeds.push((model.time, deed)),
                Err(why) => drop(refused.insert(format!("{why:?}"))),
            }
        }
    }
    assert!(recovered > HISTORIES / 20 && refused.len() > 6, "{recovered} {refused:?}");
    println!("{HISTORIES} histories, {recovered} recoveries, 0 mismatches");
}

fn player(n: u8) -> Player {
    Player {
        name: format!("player {n}"),
        look: Look::default(),
        first_seen: 0,
        last_login: 0,
        days: 9,
        bot: false,
        since: Since { player: Height(0), regular: Some(Height(0)) },
        spoke: None,
        session: None,
    }
}
