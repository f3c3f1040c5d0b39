//! Bans: an admin shuts out somebody who is about to come over the border, and lets her in again some seconds later.
//! Whoever is banned loses her session in that sim, and with it her avatar if she had arrived.

use std::collections::BTreeMap;
use std::time::Duration;

use metatopia_types::{Act, GovernOrder, PublicKey, Traveller};

use super::setup::DRIVEN;
use super::{CrossingRun, SIMS};
use crate::crossing::beyond;
use crate::replica::Person;

/// A ban is lifted after this time.
const LASTS: Duration = Duration::from_secs(3);

/// A ban that nobody lifts ends by itself after so many seconds.
const SECONDS: u32 = 600;

/// A ban that was ordered.
#[derive(Debug, Clone, Copy)]
struct OrderedBan {
    until: Duration,
    /// Whether a state showed it.
    is_seen: bool,
}

/// Whom the admins shut out, and whether they are to.
#[derive(Debug, Default)]
pub(super) struct AdminBans {
    /// Whether each sim shall ban the next one who is about to come.
    pub(super) wanted: [bool; 2],
    /// Who was banned in each sim.
    ordered: [BTreeMap<PublicKey, OrderedBan>; 2],
    /// How many sessions each key began after a ban.
    sessions: BTreeMap<PublicKey, u64>,
}

impl CrossingRun {
    /// Has admins ban who is about to come, if they want to ban somebody.
    pub(super) fn ban_comers(&mut self) {
        let wanted = self.bans.wanted;
        for sim in SIMS.into_iter().filter(|sim| wanted[*sim]) {
            let from = beyond(sim);
            let mut walkers = self.walkers.iter();
            let comer = walkers.find(|walker| walker.is_leaving(from, &self.states[from]));
            let Some(key) = comer.map(|walker| walker.key) else { continue };
            self.bans.wanted[sim] = false;
            let ban = OrderedBan { until: self.now + LASTS, is_seen: false };
            if self.bans.ordered[sim].contains_key(&key) {
                continue;
            }
            self.bans.ordered[sim].insert(key, ban);
            let (seconds, reason) = (Some(SECONDS), String::new());
            self.order(sim, Act::Govern(GovernOrder::Ban { key, seconds, reason }));
        }
    }

    /// Lifts bans whose time has come, and has people who were banned begin another session.
    pub(super) fn lift_bans(&mut self) {
        for sim in SIMS {
            for (key, ban) in self.bans.ordered[sim].clone() {
                let is_banned = self.states[sim].ban(&key).is_some();
                if is_banned {
                    let ban = self.bans.ordered[sim].get_mut(&key).expect("a ban just seen");
                    ban.is_seen = true;
                }
                if self.now < ban.until {
                    continue;
                }
                if is_banned {
                    self.order(sim, Act::Govern(GovernOrder::Unban { key }));
                } else if ban.is_seen && !self.ledger.is_under_way(&Traveller::Person(key)) {
                    self.bans.ordered[sim].remove(&key);
                    self.begin_again(sim, key);
                }
            }
        }
    }

    /// Has no admin ban anybody any more, and lifts all bans now.
    pub(super) fn stop_bans(&mut self) {
        self.bans.wanted = [false; 2];
        let now = self.now;
        self.bans.ordered.iter_mut().flatten().for_each(|(_, ban)| ban.until = now);
    }

    /// Says whether everybody who was banned has an avatar again.
    pub(super) fn is_everybody_in(&self) -> bool {
        let mut bans = self.bans.ordered.iter().flatten();
        bans.all(|(_, ban)| !ban.is_seen) && self.ledger.is_everybody_in()
    }

    /// Begins another session of somebody whose ban was lifted. She logs in if she has no avatar anywhere.
    fn begin_again(&mut self, sim: usize, key: PublicKey) {
        let is_out = self.states.iter().all(|state| state.avatar(&key).is_none());
        let session = self.bans.sessions.entry(key).or_insert(1);
        *session += 1;
        let lane = *session;
        let walker = self.walkers.iter_mut().find(|walker| walker.key == key);
        let walker = walker.expect("only walkers are banned");
        let stage = &mut self.stages[sim];
        let node = walker.number as usize % self.plan.servers;
        let person = Person::with_lane(stage.setting(), walker.number, node, DRIVEN, lane);
        let person = if is_out { person } else { person.walking_in() };
        walker.persons[sim] = stage.invite(self.now, person);
    }
}
