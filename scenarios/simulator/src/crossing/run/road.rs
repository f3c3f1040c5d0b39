//! The road of dispatches: couriers of both sims put questions, and bring what they are answered.

use std::time::Duration;

use metatopia_protocol::{Answer, Question};

use super::CrossingRun;
use crate::chance::Span;
use crate::crossing::courier::CourierView;
use crate::crossing::{SIMS, beyond};
use crate::replica::Request;
use crate::seat::Life;
use crate::villain::forged;

/// What happened to dispatches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RoadCounts {
    /// Questions that couriers put.
    pub asked: u64,
    /// Dispatches that were brought, some twice.
    pub brought: u64,
    /// Those that were held up, so that later ones overtook them.
    pub late: u64,
    /// Those that were lost.
    pub lost: u64,
    /// Those that came twice.
    pub doubled: u64,
    /// Those with another byte.
    pub corrupted: u64,
    /// Those that a liar forged, or said again.
    pub forged: u64,
}

impl RoadCounts {
    /// Adds what happened in another run.
    pub const fn add(&mut self, other: &Self) {
        self.asked += other.asked;
        self.brought += other.brought;
        self.late += other.late;
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.corrupted += other.corrupted;
        self.forged += other.forged;
    }
}

/// What arrives at one of the two sims.
#[derive(Debug)]
pub(super) enum RoadEvent {
    /// A courier's question arrives at a server of this sim.
    Ask { sim: usize, seat: usize, token: u64, question: Question },
    /// A dispatch arrives at the server in this seat, whose courier brings it.
    Bring { sim: usize, seat: usize, dispatch: Vec<u8> },
}

impl CrossingRun {
    /// Hands what has arrived to its server. On a silent day it is lost.
    pub(super) fn arrive(&mut self, event: RoadEvent) {
        if self.is_apart() {
            self.road_counts.lost += 1;
            return;
        }
        match event {
            RoadEvent::Ask { sim, seat, token, question } => {
                let request = Request::Ask { token, question };
                self.stages[sim].world.request(self.now, seat, request);
            }
            RoadEvent::Bring { sim, seat, dispatch } => {
                self.road_counts.brought += 1;
                let neighbour = self.ids[beyond(sim)];
                let request = Request::Bring { neighbour, dispatch };
                self.stages[sim].world.request(self.now, seat, request);
            }
        }
    }

    /// Takes all answers to couriers, and lets every courier go on.
    pub(super) fn carry(&mut self) {
        for sim in SIMS {
            let servers = &mut self.stages[sim].world.cluster;
            for (token, answer) in std::mem::take(&mut servers.answers) {
                self.answered(token, answer);
            }
        }
        for sim in SIMS {
            for seat in 0..self.plan.seats() {
                self.mind(sim, seat);
            }
        }
    }

    /// Returns the life of the server in a seat, if it runs.
    fn life(&self, sim: usize, seat: usize) -> Option<Life> {
        let place = &self.stages[sim].world.seats[seat];
        place.server.as_ref().map(|_| place.life)
    }

    /// Lets the courier of one server go on.
    fn mind(&mut self, sim: usize, seat: usize) {
        let other = beyond(sim);
        let Some(life) = self.life(sim, seat) else { return };
        let borders = self.stages[sim].world.cluster.borders.get(&seat);
        let Some(border) = borders.and_then(|borders| borders.first().cloned()) else { return };
        let node = self.couriers[sim][seat].node(self.plan.seats());
        let is_apart = self.is_apart();
        let is_cut = is_apart
            || self.cut_off.contains(&(sim, seat))
            || self.cut_off.contains(&(other, node));
        let theirs = self.life(other, node).filter(|_| !is_cut);
        let (now, nodes, token) = (self.now, self.plan.seats(), self.next_token);
        let view = CourierView { now, life, border, nodes, theirs };
        if let Some(question) = self.couriers[sim][seat].mind(&view, self.ids[sim], token) {
            self.next_token += 1;
            self.road_counts.asked += 1;
            self.asked.insert(token, (sim, seat));
            let at = self.now + self.road_dice.within(self.conditions.delay);
            let asked = RoadEvent::Ask { sim: other, seat: node, token, question };
            self.road.plan(at, asked);
        }
    }

    /// Returns what a liar makes of a dispatch of a sim: something else, or what that sim said first.
    fn forge(&mut self, liar: (usize, usize), from: usize, dispatch: &[u8]) -> Option<Vec<u8>> {
        let number = self.road_dice.below(64);
        let old = self.first_said[from].clone().filter(|_| number % 8 == 7);
        let key = &*self.stages[liar.0].setting().keys[liar.1];
        old.or_else(|| forged(dispatch, key, number))
    }

    /// Sends a server's answer to a question back over the road, or loses it.
    fn answered(&mut self, token: u64, answer: Answer) {
        let Some((sim, seat)) = self.asked.remove(&token) else { return };
        let is_apart = self.is_apart();
        let courier = &mut self.couriers[sim][seat];
        if courier.question.is_none_or(|question| question.token != token) {
            // It was given up meanwhile.
            return;
        }
        let (road, dice, nodes) = (self.conditions, &mut self.road_dice, self.plan.seats());
        if is_apart || dice.happens(road.lost_ppm) {
            self.road_counts.lost += 1;
            courier.fail(self.now, nodes);
            return;
        }
        let comes = self.now + dice.within(road.delay);
        let node = courier.node(nodes);
        let Some(dispatch) = courier.answered(answer, (self.now, comes), nodes) else { return };
        let from = beyond(sim);
        let mut dispatch = self.lie(from, dispatch);
        self.first_said[from].get_or_insert_with(|| dispatch.clone());
        // A liar forges what it says to couriers, and what its own courier brings.
        let mut both = [(from, node), (sim, seat)].into_iter();
        let liar = both.find(|(sim, seat)| self.plan.lies(*sim, *seat));
        if let Some(liar) = liar.filter(|_| self.road_dice.below(2) == 0)
            && let Some(other) = self.forge(liar, from, &dispatch)
        {
            self.road_counts.forged += 1;
            dispatch = other;
        }
        let dice = &mut self.road_dice;
        if dice.happens(road.corrupted_ppm) && !dispatch.is_empty() {
            self.road_counts.corrupted += 1;
            let at = dice.index(dispatch.len());
            dispatch[at] ^= 1 << dice.below(8);
        }
        let mut at = vec![comes + self.held_up[sim]];
        if dice.happens(road.late_ppm) {
            self.road_counts.late += 1;
            at[0] += dice.within(road.late);
        }
        if dice.happens(road.doubled_ppm) {
            self.road_counts.doubled += 1;
            at.push(comes + dice.within(Span { least: Duration::ZERO, ..road.late }));
        }
        for at in at {
            self.road.plan(at, RoadEvent::Bring { sim, seat, dispatch: dispatch.clone() });
        }
    }
}
