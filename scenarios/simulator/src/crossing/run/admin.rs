//! What the admins of both sims order while people cross: whether the border is open, and who votes.

use std::collections::VecDeque;
use std::time::Duration;

use metatopia_types::limits::{SET_LAG, VALIDATORS_MIN};
use metatopia_types::{Act, BorderOrder, Height, Roster};

use super::{CrossingRun, SIMS};
use crate::chance::Dice;
use crate::cluster::ClusterOrder;
use crate::crossing::beyond;
use crate::replica::contact;
use crate::storm::MemberChange;

/// The number of the admin in both stages.
pub(super) const ADMIN: usize = 0;

/// The time between two looks at whether what an admin wants has come about. Then it is ordered again.
const LOOK: Duration = Duration::from_millis(300);

/// What the admins want.
#[derive(Debug)]
pub(super) struct AdminWishes {
    /// Whether each sim shall close its border.
    pub(super) closed: [bool; 2],
    /// How the members of each sim shall change, the next change first.
    pub(super) changes: [VecDeque<MemberChange>; 2],
    /// Servers that vote no more, by sim and seat, with the height from which nobody counts on them.
    leaving: Vec<(usize, usize, Height)>,
    looks_at: Duration,
    dice: Dice,
}

impl AdminWishes {
    /// Returns what admins want to begin with: nothing but open borders.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            closed: [false; 2],
            changes: [VecDeque::new(), VecDeque::new()],
            leaving: Vec::new(),
            looks_at: Duration::ZERO,
            dice: Dice::new(seed, "crossing admins"),
        }
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
        BorderOrder::Open { head: Box::new(head), offices: Vec::new(), portal: None }
    }

    /// Has both admins order what they want and what has not come about.
    pub(super) fn administer(&mut self) {
        if self.now < self.admin.looks_at {
            return;
        }
        self.admin.looks_at = self.now + LOOK;
        for sim in SIMS {
            self.keep_border(sim);
            self.change_members(sim);
        }
        self.lift_bans();
        self.switch_off();
        self.watch_silence();
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

    /// Plans that another server votes in a sim, and then one of the others no more.
    pub(super) fn rotate(&mut self, sim: usize) {
        if !self.admin.changes[sim].is_empty() {
            return;
        }
        let roster = self.states[sim].roster();
        let is_member = |seat: &usize| self.is_listed(roster, sim, *seat);
        let (members, others): (Vec<usize>, Vec<usize>) =
            (0..self.plan.seats()).partition(is_member);
        let liars = &self.stages[sim].setting().liars;
        let is_liar = |seat: &usize| liars.iter().any(|(liar, _)| liar == seat);
        let may_go: Vec<usize> = members.into_iter().filter(|seat| !is_liar(seat)).collect();
        let dice = &mut self.admin.dice;
        let changes = &mut self.admin.changes[sim];
        if !others.is_empty() {
            changes.push_back(MemberChange::Promote(dice.pick(&others)));
        }
        changes.push_back(MemberChange::Remove(dice.pick(&may_go)));
    }

    /// Forgets all changes of members that have not come about.
    pub(super) fn stop_rotating(&mut self) {
        self.admin.changes.iter_mut().for_each(VecDeque::clear);
    }

    /// Says whether the server in a seat votes, or waits for that.
    fn is_listed(&self, roster: &Roster, sim: usize, seat: usize) -> bool {
        let key = self.stages[sim].setting().name(seat);
        roster.members().contains_key(&key) || roster.standbys().contains_key(&key)
    }

    /// Orders the change of members that comes next in a sim, or passes on to the one after it.
    fn change_members(&mut self, sim: usize) {
        let Some(change) = self.admin.changes[sim].front().copied() else { return };
        let seat = change.seat();
        let state = &self.states[sim];
        let key = self.stages[sim].setting().name(seat);
        let members = state.roster().members();
        let bears = members.len().saturating_sub(2) / 3;
        let liars = self.stages[sim].setting().liars.len();
        let may_go = members.len() > VALIDATORS_MIN && bears >= liars;
        let is_member = members.contains_key(&key);
        let height = state.height();
        let Some(wanted) = change.due((key, contact(seat)), is_member, may_go) else {
            self.admin.changes[sim].pop_front();
            if change == MemberChange::Remove(seat) && !is_member {
                self.admin.leaving.push((sim, seat, height.plus(SET_LAG)));
            }
            return;
        };
        if change == MemberChange::Promote(seat) {
            self.admin.leaving.retain(|(of, left, _)| (*of, *left) != (sim, seat));
            self.stages[sim].world.plan(self.now, ClusterOrder::Start(seat));
        }
        self.order(sim, Act::SetChange(wanted));
    }

    /// Switches off who was taken out, once nobody counts on its votes any more.
    fn switch_off(&mut self) {
        let heights = SIMS.map(|sim| self.states[sim].height());
        let is_gone = |(sim, _, last): &mut (usize, usize, Height)| heights[*sim] > *last;
        for (sim, seat, _) in self.admin.leaving.extract_if(.., is_gone) {
            self.stages[sim].world.plan(self.now, ClusterOrder::Kill(seat));
        }
    }

    /// Starts all servers of a sim that vote or wait for that, and no others.
    pub(super) fn start_members(&mut self, sim: usize) {
        let roster = self.states[sim].roster().clone();
        for seat in 0..self.plan.seats() {
            let is_listed = self.is_listed(&roster, sim, seat);
            let order =
                if is_listed { ClusterOrder::Start(seat) } else { ClusterOrder::Kill(seat) };
            self.stages[sim].world.plan(self.now, order);
        }
    }
}
