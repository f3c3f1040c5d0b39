//! Draws what befalls both sims of a crossing.

use std::time::Duration;

use super::{
    BorderLiar, BorderTrouble, CALM_EVERY, CrossingPlan, DAYS_APART, DepartureLie, Narrowness,
    QUIET, SilentDay,
};
use crate::chance::{Dice, Span};
use crate::class::Class;
use crate::cluster::ClusterOrder;
use crate::crash::UnsyncedWrites;
use crate::crossing::SIMS;
use crate::villain::ByzantineBehaviour;

/// Seats for servers that admins let vote, in worlds in which they do.
const SPARE: usize = 2;

/// How a lying server of a sim with a border lies to the others.
const DEEDS: [ByzantineBehaviour; 8] = [
    ByzantineBehaviour::ForgeHears,
    ByzantineBehaviour::TwoTurns,
    ByzantineBehaviour::TwoVotes,
    ByzantineBehaviour::VoidTurns,
    ByzantineBehaviour::WrongRoot,
    ByzantineBehaviour::Censor,
    ByzantineBehaviour::Replay,
    ByzantineBehaviour::CorruptParts,
];

/// Draws one trouble of a kind: when it begins, in which sim, and at which server.
type DrawTrouble = fn(&mut CrossingPlan, &mut Dice, (Duration, usize, usize));

impl CrossingPlan {
    pub(super) fn draw_conditions(&mut self, dice: &mut Dice) {
        for conditions in &mut self.conditions {
            let mut some = |most: u64| if dice.below(3) == 0 { 0 } else { dice.below(most) };
            conditions.links.delay = Span::ms(1, 2 + some(25));
            // Servers speak over streams, whose ends each loss is.
            conditions.links.loss_ppm = some(1_500) as u32;
            conditions.links.duplicate_ppm = some(100_000) as u32;
            conditions.sync = Span::ms(0, some(8));
            conditions.job = Span::ms(0, some(15));
            let clock =
                |dice: &mut Dice| (dice.below(400) as i64, dice.below(2_000) as i32 - 1_000);
            for (offset, rate) in &mut conditions.clocks {
                let (more, drawn) = clock(dice);
                (*offset, *rate) = (*offset + more, drawn);
            }
        }
    }

    pub(super) fn draw_road(&mut self, dice: &mut Dice) {
        let mut some = |most: u64| if dice.below(3) == 0 { 0 } else { dice.below(most) as u32 };
        self.road.late_ppm = some(200_000);
        self.road.lost_ppm = some(150_000);
        self.road.doubled_ppm = some(200_000);
        self.road.corrupted_ppm = some(100_000);
        self.road.late = Span::ms(100, 300 + dice.below(12_000));
    }

    /// Draws what befalls the sims. Each kind is absent in a third of all worlds.
    pub(super) fn draw_troubles(&mut self, dice: &mut Dice) {
        let kinds: [(Span, DrawTrouble); 4] = [
            (Span::ms(3_000, 15_000), Self::crash),
            (Span::ms(5_000, 20_000), Self::split),
            (Span::ms(5_000, 15_000), Self::cut_off),
            (Span::ms(12_000, 40_000), Self::stand_still),
        ];
        for (apart, draw) in kinds {
            let is_absent = dice.below(3) == 0;
            let mut at = dice.within(apart);
            while !is_absent && at < self.life {
                let (sim, seat) = (dice.index(2), dice.index(self.servers));
                draw(self, dice, (at, sim, seat));
                at += dice.within(apart);
            }
        }
        self.troubles.sort_by_key(|(at, ..)| *at);
    }

    /// Plans that something befalls a sim, and its end, which comes before that of the run.
    fn plan(&mut self, (at, sim): (Duration, usize), lasts: Duration, both: [BorderTrouble; 2]) {
        let [begin, end] = both;
        self.troubles.push((at, sim, begin));
        self.troubles.push(((at + lasts).min(self.life), sim, end));
    }

    /// Draws what has dice of its own, so that all else of a seed is as it was before there was that.
    pub(super) fn draw_more(&mut self) {
        let seed = self.seed;
        let dice = |concern| Dice::new(seed, concern);
        let mut narrow = dice("crossing narrowness");
        self.narrow = (narrow.below(2) == 0).then(|| narrow.pick(&Narrowness::ALL));
        self.is_ambushed = dice("crossing ambushes").below(3) != 0;
        let mut closings = dice("crossing closings");
        if closings.below(2) == 0 {
            self.draw_closings(&mut closings);
        }
        let mut bans = dice("crossing bans");
        if bans.below(2) == 0 {
            self.draw_bans(&mut bans);
        }
        let mut changes = dice("crossing set changes");
        if changes.below(2) == 0 {
            self.draw_rotations(&mut changes);
        }
        let mut silence = dice("crossing silence");
        if silence.below(3) == 0 {
            self.draw_silence(&mut silence);
        }
        self.draw_liars(&mut dice("crossing liars"));
        let mut lies = dice("crossing lies");
        if lies.below(2) == 0 {
            self.draw_lies(&mut lies);
        }
        self.troubles.sort_by_key(|(at, ..)| *at);
    }

    /// Draws who lies. In every fourth world a server tells what neighbours never said.
    fn draw_liars(&mut self, dice: &mut Dice) {
        let forges = (self.seed % CALM_EVERY == 1).then(|| dice.index(2));
        for sim in SIMS {
            let deed = match forges {
                Some(forger) if forger == sim => ByzantineBehaviour::ForgeHears,
                _ if dice.below(4) == 0 => dice.pick(&DEEDS),
                _ => continue,
            };
            self.liars.push(BorderLiar { sim, seat: dice.index(self.servers), deed });
        }
    }

    /// Plans that now and then all servers of a sim lie of a departure.
    fn draw_lies(&mut self, dice: &mut Dice) {
        let apart = Span::ms(1_000, 5_000);
        let mut at = dice.within(apart);
        while at < self.life {
            let lie = BorderTrouble::Lie(dice.pick(&DepartureLie::ALL));
            self.troubles.push((at, dice.index(2), lie));
            at += dice.within(apart);
        }
    }

    /// Plans that now and then a day passes without a word. It ends before the run does, or with it.
    fn draw_silence(&mut self, dice: &mut Dice) {
        let mut at = dice.within(Span::ms(1_000, 6_000));
        while at < self.life {
            let is_dead = dice.below(2) == 0;
            let severs_too = !is_dead && dice.below(2) == 0;
            let rest = dice.within(Span::ms(0, 3_000));
            let day = SilentDay { is_dead, severs_too, ..SilentDay::new(QUIET, rest) };
            self.troubles.push((at, dice.index(2), BorderTrouble::SilentDay(day)));
            at += dice.within(Span::ms(14_000, 30_000));
        }
    }

    /// Plans that admins change who votes, again and again: some of these changes fall into each crossing.
    fn draw_rotations(&mut self, dice: &mut Dice) {
        self.spare = SPARE;
        for (sim, conditions) in self.conditions.iter_mut().enumerate() {
            conditions.clocks.resize(self.servers + SPARE, (DAYS_APART * sim as i64, 0));
        }
        let apart = Span::ms(800, 3_000);
        let mut at = dice.within(apart);
        while at < self.life {
            self.troubles.push((at, dice.index(2), BorderTrouble::Rotate));
            at += dice.within(apart);
        }
    }

    /// Plans that an admin closes the border now and then, and opens it again.
    fn draw_closings(&mut self, dice: &mut Dice) {
        let apart = Span::ms(3_000, 15_000);
        let mut at = dice.within(apart);
        while at < self.life {
            let both = [BorderTrouble::Close, BorderTrouble::Open];
            self.plan((at, dice.index(2)), dice.within(Span::ms(200, 4_000)), both);
            at += dice.within(apart);
        }
    }

    /// Plans that an admin shuts out somebody who is about to come, now and then.
    fn draw_bans(&mut self, dice: &mut Dice) {
        let apart = Span::ms(2_000, 9_000);
        let mut at = dice.within(apart);
        while at < self.life {
            self.troubles.push((at, dice.index(2), BorderTrouble::Ban));
            at += dice.within(apart);
        }
    }

    fn crash(&mut self, dice: &mut Dice, (at, sim, seat): (Duration, usize, usize)) {
        let tails = [UnsyncedWrites::Kept, UnsyncedWrites::Lost, UnsyncedWrites::Torn];
        let (tail, down) = (dice.pick(&tails), dice.within(Span::ms(50, 4_000)));
        let crash = ClusterOrder::Crash { seat, tail, down };
        self.troubles.push((at, sim, BorderTrouble::Order(crash)));
    }

    /// Cuts a server off from those of its own sim. It goes on answering the neighbour.
    fn split(&mut self, dice: &mut Dice, (at, sim, seat): (Duration, usize, usize)) {
        let split = ClusterOrder::SplitFor(Class::Split, vec![seat]);
        let both = [split, ClusterOrder::Mend(Class::Split)].map(BorderTrouble::Order);
        self.plan((at, sim), dice.within(Span::ms(1_000, 8_000)), both);
    }

    fn cut_off(&mut self, dice: &mut Dice, (at, sim, seat): (Duration, usize, usize)) {
        let both = [BorderTrouble::CutOff(seat), BorderTrouble::Reach(seat)];
        self.plan((at, sim), dice.within(Span::ms(1_000, 10_000)), both);
    }

    /// Takes so many servers away that no turn can be decided, now and then for longer than a deadline.
    fn stand_still(&mut self, dice: &mut Dice, (at, sim, first): (Duration, usize, usize)) {
        let lasts = dice.within(Span::ms(1_000, 14_000));
        let quorum = 2 * self.servers / 3 + 1;
        for n in 0..=self.servers - quorum {
            let seat = (first + n) % self.servers;
            let both = [ClusterOrder::Kill(seat), ClusterOrder::Start(seat)];
            self.plan((at, sim), lasts, both.map(BorderTrouble::Order));
        }
    }
}
