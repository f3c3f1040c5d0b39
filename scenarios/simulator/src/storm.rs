//! A storm: the trouble of a plan befalls a world, whatever is played in it, until it is over.

use std::time::Duration;

use metatopia_types::{NodeContact, PublicKey, SetChange};

use crate::class::Class;
use crate::cluster::{Cluster, ClusterOrder};
use crate::conditions::Conditions;
use crate::weather::PlannedFault;
use crate::world::Simulator;

/// Between two looks at what people want: what they do, and a step of a change of members.
const TICK: Duration = Duration::from_millis(500);

/// What a storm comes over.
pub(crate) trait Stormy {
    /// What is played.
    type Cluster: Cluster;

    /// Where it is played.
    fn world(&mut self) -> &mut Simulator<Self::Cluster>;

    /// Was no law broken?
    fn is_sound(&self) -> bool;

    /// Plays until a moment, or until a law is broken.
    fn run_until(&mut self, until: Duration);

    /// Trouble whose victim depends on how the world is now.
    fn befall(&mut self, moment: PlannedFault);

    /// What people do again and again.
    fn stir(&mut self);
}

/// The trouble of a plan, in order, and from when to when it lasts.
#[derive(Debug)]
pub(crate) struct Storm {
    pub(crate) conditions: Conditions,
    pub(crate) moments: Vec<(Duration, PlannedFault)>,
    pub(crate) from: Duration,
    pub(crate) until: Duration,
}

impl Storm {
    /// What a world is like before it.
    pub(crate) fn announce<C: Cluster>(&self, world: &mut Simulator<C>) {
        let clocks = self.conditions.clocks.clone();
        if clocks.iter().any(|(_, rate)| *rate != 0) {
            world.note_fault(Class::ClockRate);
        }
        if !self.from.is_zero() {
            world.set_conditions(Conditions { clocks, ..Conditions::calm(5) });
        }
    }

    /// Plays until it is over, or a law is broken.
    pub(crate) fn rage(self, over: &mut impl Stormy) {
        let Self { conditions, moments, from, until } = self;
        let mut moments = moments.into_iter().peekable();
        let mut begun = from.is_zero();
        while over.is_sound() && over.world().now() < until {
            let now = over.world().now();
            if !begun && now >= from {
                over.world().set_conditions(conditions.clone());
                begun = true;
            }
            let next = moments.peek().map_or(until, |(at, _)| *at).min(now + TICK).max(now);
            let next = if begun { next } else { next.min(from) };
            over.run_until(next.min(until));
            while let Some((_, moment)) = moments.next_if(|(at, _)| *at <= next) {
                over.befall(moment);
            }
            if over.world().now() >= now + TICK {
                over.stir();
            }
        }
    }
}

/// Whoever is to propose is cut off for a while.
pub(crate) fn cut_leader<C: Cluster>(world: &mut Simulator<C>, leader: usize, span: Duration) {
    let now = world.now();
    world.plan(now, ClusterOrder::SplitFor(Class::LeaderCut, vec![leader]));
    world.plan(now + span, ClusterOrder::Mend(Class::LeaderCut));
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
    /// Whose server it is about.
    pub(crate) const fn seat(self) -> usize {
        match self {
            Self::Promote(seat) | Self::Remove(seat) => seat,
        }
    }

    /// What an admin has to say, again and again; nothing once it has come about, or if the others
    /// cannot do without who is to go.
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
