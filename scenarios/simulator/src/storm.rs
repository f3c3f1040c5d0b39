//! A storm: the trouble of a plan befalls a world, whatever is played in it, until it is over.

use std::time::Duration;

use metatopia_types::{NodeContact, PublicKey, SetChange};

use crate::class::Class;
use crate::cluster::ClusterOrder;
use crate::conditions::Conditions;
use crate::stage::ClusterStage as _;
use crate::swarm_run::{SwarmLevel, SwarmRun};
use crate::weather::PlannedFault;

/// Between two looks at what people want: what they do, and a step of a change of members.
const TICK: Duration = Duration::from_millis(500);

impl<L: SwarmLevel> SwarmRun<L> {
    /// Makes the world what it is before its storm, and plans all trouble whose victims are drawn.
    pub(crate) fn announce_storm(&mut self) {
        let world = self.stage.world_mut();
        let clocks = self.plan.conditions.clocks.clone();
        if clocks.iter().any(|(_, rate)| *rate != 0) {
            world.note_fault(Class::ClockRate);
        }
        if !self.plan.from.is_zero() {
            world.set_conditions(Conditions { clocks, ..Conditions::calm(5) });
        }
        for (at, order) in &self.plan.orders {
            world.plan(*at, order.clone());
        }
    }

    /// Plays until the storm is over, or a law is broken.
    pub(crate) fn rage(&mut self) {
        let (from, until) = (self.plan.from, self.plan.calm_from);
        let mut moments = self.plan.moments.clone().into_iter().peekable();
        let mut begun = from.is_zero();
        while self.is_sound() && self.now() < until {
            let now = self.now();
            if !begun && now >= from {
                let conditions = self.plan.conditions.clone();
                self.stage.world_mut().set_conditions(conditions);
                begun = true;
            }
            let next = moments.peek().map_or(until, |(at, _)| *at).min(now + TICK).max(now);
            let next = if begun { next } else { next.min(from) };
            self.stage.play_until(next.min(until));
            while let Some((_, moment)) = moments.next_if(|(at, _)| *at <= next) {
                self.befall(moment);
            }
            if self.now() >= now + TICK {
                self.tick();
                L::misbehave(self);
            }
        }
    }

    /// Lets trouble happen whose victim depends on how the world is now.
    fn befall(&mut self, fault: PlannedFault) {
        match fault {
            PlannedFault::CutLeader(span) => {
                if let Some(leader) = L::proposing(self) {
                    self.cut(leader, span);
                }
            }
            PlannedFault::Damage(seat, class, place) => L::damage(self, seat, class, place),
            PlannedFault::Join(seat) => L::join(self, seat),
            PlannedFault::Promote(seat) => {
                L::prepare(self, seat);
                self.changes.push(MemberChange::Promote(seat));
            }
            PlannedFault::Remove(seat) => self.changes.push(MemberChange::Remove(seat)),
            PlannedFault::Intrude(..) | PlannedFault::BadInvite(..) | PlannedFault::CopyDisk(_) => {
                L::intrude(self, fault);
            }
        }
    }

    /// Cuts whoever is to propose off for a while.
    fn cut(&mut self, leader: usize, span: Duration) {
        let (now, world) = (self.now(), self.stage.world_mut());
        world.plan(now, ClusterOrder::SplitFor(Class::LeaderCut, vec![leader]));
        world.plan(now + span, ClusterOrder::Mend(Class::LeaderCut));
    }
}

/// A change of the members that is under way: of the server in a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemberChange {
    /// It shall vote.
    Promote(usize),
    /// It shall not vote any more.
    Remove(usize),
}

impl MemberChange {
    /// Returns the seat of the server that joins or leaves.
    pub(crate) const fn seat(self) -> usize {
        match self {
            Self::Promote(seat) | Self::Remove(seat) => seat,
        }
    }

    /// Returns what an admin has to say again and again; `None` once the change has happened, or if the
    /// others cannot do without the server that is to go.
    pub(crate) fn due(
        self,
        (key, contact): (PublicKey, NodeContact),
        is_member: bool,
        may_go: bool,
    ) -> Option<SetChange> {
        match self {
            Self::Promote(_) => (!is_member).then_some(SetChange::Add { key, contact }),
            Self::Remove(_) => (is_member && may_go).then_some(SetChange::Remove { key }),
        }
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::{NodeContact, PublicKey, SetChange};

    use super::MemberChange;

    #[test]
    fn an_admin_asks_until_a_change_has_come_about() {
        let (key, contact) = (PublicKey([7; 32]), NodeContact::default());
        let due = |change: MemberChange, is_member, may_go| {
            change.due((key, contact.clone()), is_member, may_go)
        };

        let add = SetChange::Add { key, contact: contact.clone() };
        assert_eq!(due(MemberChange::Promote(4), false, false), Some(add));
        assert_eq!(due(MemberChange::Promote(4), true, true), None);
        assert_eq!(due(MemberChange::Remove(2), true, true), Some(SetChange::Remove { key }));
        assert_eq!(due(MemberChange::Remove(2), true, false), None, "the others need it");
        assert_eq!(due(MemberChange::Remove(2), false, true), None);
    }
}
