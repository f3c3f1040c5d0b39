//! What the admins of both sims order while people cross: whether the border is open.

use std::time::Duration;

use metatopia_types::{Act, BorderOrder};

use super::{CrossingRun, SIMS};
use crate::crossing::beyond;

/// The number of the admin in both stages.
pub(super) const ADMIN: usize = 0;

/// The time between two looks at whether what an admin wants has come about. Then it is ordered again.
const LOOK: Duration = Duration::from_millis(300);

/// What the admins want.
#[derive(Debug)]
pub(super) struct AdminWishes {
    /// Whether each sim shall close its border.
    pub(super) closed: [bool; 2],
    looks_at: Duration,
}

impl AdminWishes {
    /// Returns what admins want to begin with: nothing but open borders.
    pub(super) const fn new() -> Self {
        Self { closed: [false; 2], looks_at: Duration::ZERO }
    }
}

impl CrossingRun {
    /// Has the admin of a sim do something.
    pub(super) fn order(&mut self, sim: usize, act: Act) {
        self.stages[sim].prompt(ADMIN, |person, now| person.act(now, act, None));
    }

    /// Has the admin of a sim order something about the border.
    pub(super) fn order_border(&mut self, sim: usize, order: &BorderOrder) {
        let blob = order.blob();
        let act = Act::Border { order: blob.id() };
        self.stages[sim].prompt(ADMIN, |person, now| person.act_with(now, act, vec![blob]));
    }

    /// Returns the order that opens the border of a sim.
    pub(super) fn opening(&self, sim: usize) -> BorderOrder {
        let head = self.stages[beyond(sim)].setting().genesis().head();
        BorderOrder::Open { head: Box::new(head), offices: Vec::new() }
    }

    /// Has both admins order what they want and what has not come about.
    pub(super) fn administer(&mut self) {
        if self.now < self.admin.looks_at {
            return;
        }
        self.admin.looks_at = self.now + LOOK;
        SIMS.into_iter().for_each(|sim| self.keep_border(sim));
    }

    /// Opens or closes the border of a sim, if its admin wants that.
    fn keep_border(&mut self, sim: usize) {
        let neighbour = self.ids[beyond(sim)];
        let Some(border) = self.states[sim].border(&neighbour) else { return };
        let closes = self.admin.closed[sim];
        if border.crossing.said.open == closes {
            let close = BorderOrder::Close { neighbour };
            let order = if closes { close } else { self.opening(sim) };
            self.order_border(sim, &order);
        }
    }
}
