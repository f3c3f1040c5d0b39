//! Who has a seat after any acts, held against a small model of the rule: a list of people, looked
//! through from the beginning each time.

use std::collections::BTreeMap;

use metatopia_math::Stream;
use metatopia_sim::limits::SEAT_TICKS;
use metatopia_types::{Act, Digest, Emote, Look, Outcome, PublicKey, Refusal};

use crate::yard::{Builder, Yard, public};

const SEATS: usize = 4;
const PEOPLE: u64 = 7;
const ADMIN: u8 = 100;

/// Ticks that a session lasts, and as many it stays.
const LEASE: u64 = 5_000;

/// A session, as the model has it.
#[derive(Clone, Debug)]
struct Here {
    bot: bool,
    acted: u64,
    lease: u64,
    seat: bool,
}

/// The rule, by a look at everybody.
#[derive(Default)]
struct Model {
    here: BTreeMap<u8, Here>,
}

impl Model {
    /// Says who gives up a seat for `n`: nobody if one is free; an error if nobody does.
    fn seat_for(&self, n: u8, now: u64) -> Result<Option<u8>, ()> {
        let taken = self.here.values().filter(|here| here.seat).count();
        let seats = if n == ADMIN { SEATS } else { SEATS - SEATS / 4 };
        if taken < seats {
            return Ok(None);
        }
        let idle = self.here.iter().filter(|(_, here)| here.seat && here.acted + SEAT_TICKS <= now);
        let key = |(n, here): (&u8, &Here)| (!here.bot, here.acted, public(*n), *n);
        idle.map(key).min().map(|(_, _, _, n)| Some(n)).ok_or(())
    }

    fn unseat(&mut self, victim: Option<u8>) {
        if let Some(here) = victim.and_then(|victim| self.here.get_mut(&victim)) {
            here.seat = false;
        }
    }

    fn act(&mut self, n: u8, act: &Act, now: u64) -> Outcome {
        let refused = |why| Outcome::Refused(why);
        if let Act::Login { bot, .. } = act {
            let before = self.here.get(&n);
            let mut seat = before.is_some_and(|here| here.seat);
            if !seat {
                match self.seat_for(n, now) {
                    Ok(victim) => {
                        self.unseat(victim);
                        seat = true;
                    }
                    Err(()) if n == ADMIN || before.is_some() => {}
                    Err(()) => return refused(Refusal::Full),
                }
            }
            self.here.insert(n, Here { bot: *bot, acted: now, lease: now + LEASE, seat });
            return Outcome::Ok;
        }
        let Some(here) = self.here.get(&n).cloned() else {
            return refused(Refusal::NotLoggedIn);
        };
        match act {
            Act::Leave => drop(self.here.remove(&n)),
            Act::Heartbeat => self.renew(n, Here { lease: now + LEASE, ..here }),
            _ => {
                let mut seat = here.seat;
                if let (false, Ok(victim)) = (seat, self.seat_for(n, now)) {
                    self.unseat(victim);
                    seat = true;
                }
                if !seat && matches!(act, Act::Emote(_)) {
                    return refused(Refusal::NoSeat);
                }
                self.renew(n, Here { lease: now + LEASE, acted: now, seat, ..here });
            }
        }
        Outcome::Ok
    }

    fn renew(&mut self, n: u8, here: Here) {
        self.here.insert(n, here);
    }

    /// The last tick of a turn: whoever gave no sign of life has left.
    fn end(&mut self, last: u64) {
        self.here.retain(|_, here| here.lease + LEASE >= last);
    }
}

fn any_act(n: u8, dice: &mut Stream) -> Act {
    match dice.below(10) {
        0..=2 => match Act::login(format!("player {n}"), Look::default()) {
            Act::Login { name, look, pass, .. } => {
                Act::Login { name, look, pass, bot: dice.below(3) == 0 }
            }
            other => other,
        },
        3 => Act::Leave,
        4..=6 => Act::Heartbeat,
        7 => Act::SetLook(Look::default()),
        _ => Act::Emote(Emote::Wave),
    }
}

fn sim() -> Yard {
    let mut builder = Builder::new();
    let parameters = &mut builder.genesis.parameters;
    parameters.avatars_max = SEATS as u32;
    parameters.ticks_per_turn = 60;
    (parameters.lease_ticks, parameters.grace_ticks) = (LEASE, LEASE);
    builder.build()
}

#[test]
fn any_acts_leave_the_seats_as_a_plain_list_of_people_says() {
    let (mut seatless, mut refused, mut lost) = (0, 0, 0);
    for seed in 0..12_u64 {
        let mut dice = Stream::new(&Digest::of("seats", &seed.to_le_bytes()).0, "acts", &[seed]);
        let (mut yard, mut model) = (sim(), Model::default());
        for turn in 0..600 {
            let now = yard.world.tick().0 + 1;
            let who = if dice.below(12) == 0 { ADMIN } else { dice.below(PEOPLE) as u8 + 1 };
            let acts: Vec<Act> = (0..dice.below(3)).map(|_| any_act(who, &mut dice)).collect();
            let signed: Vec<_> = acts.iter().map(|act| yard.act(who, act.clone())).collect();
            let sat = model.here.values().filter(|here| here.seat).count();
            yard.play();
            for (act, signed) in acts.iter().zip(&signed) {
                let expected = model.act(who, act, now);
                refused += u32::from(expected == Outcome::Refused(Refusal::Full));
                let outcome = yard.outcome(signed);
                assert_eq!(outcome, expected, "seed {seed}, turn {turn}: {who} does {act:?}");
            }
            model.end(yard.world.tick().0);
            lost += u32::from(model.here.values().filter(|here| here.seat).count() < sat);
            for n in (1..=PEOPLE as u8).chain([ADMIN]) {
                let key: PublicKey = public(n);
                let here = yard.world.player(&key).is_some_and(|player| player.session.is_some());
                let seat = yard.world.avatar(&key).is_some();
                let expected = model.here.get(&n).map(|here| here.seat);
                assert_eq!(here.then_some(seat), expected, "seed {seed}, turn {turn}: {n}");
                seatless += u32::from(here && !seat);
            }
            // Now and then nobody comes for a while.
            if dice.below(20) == 0 {
                yard.idle(SEAT_TICKS / 60);
                model.end(yard.world.tick().0);
            }
        }
        assert_eq!(yard.world.root(), yard.world.rehash(), "seed {seed}");
    }
    // Each part of the rule was met.
    assert!(seatless > 100 && refused > 100 && lost > 20, "{seatless}, {refused}, {lost}");
}
