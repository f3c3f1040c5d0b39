//! What a seed of the crossing stands for.

use std::fmt;
use std::time::Duration;

use super::SIMS;
use crate::chance::{Dice, Span};
use crate::class::Class;
use crate::cluster::ClusterOrder;
use crate::conditions::Conditions;
use crate::crash::UnsyncedWrites;
use crate::signatures::SignatureKind;

/// Every so manieth seed is calm.
const CALM_EVERY: u64 = 4;

/// How far the clocks of the eastern servers are ahead: some days, in milliseconds.
const DAYS_APART: i64 = 300_000_000;

/// Whether anything goes wrong in a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CrossingClass {
    /// Nothing goes wrong, but the clocks of the sims are days apart.
    Calm,
    /// All kinds of trouble may befall servers, networks and dispatches.
    Faulty,
}

impl CrossingClass {
    /// Returns the class of a seed.
    #[must_use]
    pub const fn of(seed: u64) -> Self {
        if seed.is_multiple_of(CALM_EVERY) { Self::Calm } else { Self::Faulty }
    }

    /// Returns the word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Calm => "calm",
            Self::Faulty => "faulty",
        }
    }
}

/// What happens to dispatches between the sims. Probabilities are parts per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DispatchRoad {
    /// One way, for a question as for an answer.
    pub delay: Span,
    /// A dispatch is held up for `late` besides, while later ones overtake it.
    pub late_ppm: u32,
    /// How long a late one is held up.
    pub late: Span,
    /// The answer is lost with its connection.
    pub lost_ppm: u32,
    /// A dispatch comes once more, after a time like `late`.
    pub doubled_ppm: u32,
    /// A byte of it is another one.
    pub corrupted_ppm: u32,
}

impl DispatchRoad {
    /// Returns a road on which nothing goes wrong.
    #[must_use]
    pub const fn calm(delay: Span) -> Self {
        let late = Span::exactly_ms(0);
        Self { delay, late_ppm: 0, late, lost_ppm: 0, doubled_ppm: 0, corrupted_ppm: 0 }
    }
}

/// What befalls one of the two sims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BorderTrouble {
    /// Something that may befall any cluster.
    Order(ClusterOrder),
    /// The server in this seat and the neighbour's servers do not reach each other.
    CutOff(usize),
    /// They reach each other again.
    Reach(usize),
    /// What is on the disks of all servers is copied. Only a negative control does this and what follows.
    Copy,
    /// All servers go on from the copies: their sim forgets what it decided since.
    RollBack,
}

/// What a seed stands for.
#[derive(Debug, Clone)]
pub struct CrossingPlan {
    /// The seed that all of it is drawn from.
    pub seed: u64,
    /// Whether anything goes wrong.
    pub class: CrossingClass,
    /// How long people walk, once all of them are there. Faults end with that time.
    pub life: Duration,
    /// How many servers each sim has.
    pub servers: usize,
    /// How many people walk.
    pub walkers: u64,
    /// The signatures of both sims.
    pub scheme: SignatureKind,
    /// Whether the eastern sim has room for one thing that comes over the border.
    pub is_narrow: bool,
    /// How each sim's servers and networks are.
    pub conditions: [Conditions; 2],
    /// What happens to dispatches.
    pub road: DispatchRoad,
    /// What befalls which sim, and how long after all people are there.
    pub troubles: Vec<(Duration, usize, BorderTrouble)>,
}

impl CrossingPlan {
    /// Returns what a seed stands for, with so many servers in each sim.
    ///
    /// # Panics
    /// When there are fewer than four servers: none of three may be missing.
    #[must_use]
    pub fn draw(seed: u64, life: Duration, servers: usize) -> Self {
        assert!(servers >= 4, "{servers} servers bear no fault");
        let mut dice = Dice::new(seed, "crossing");
        let scheme =
            if dice.below(5) == 0 { SignatureKind::Ed25519 } else { SignatureKind::StandIn };
        let road = DispatchRoad::calm(Span::ms(2, 5 + dice.below(20)));
        let mut plan = Self {
            seed,
            class: CrossingClass::of(seed),
            life,
            servers,
            walkers: 3 + dice.below(3),
            scheme,
            is_narrow: false,
            conditions: SIMS.map(|sim| calm(&mut dice, sim, servers)),
            road,
            troubles: Vec::new(),
        };
        if plan.class == CrossingClass::Faulty {
            plan.is_narrow = dice.below(3) == 0;
            plan.draw_conditions(&mut dice);
            plan.draw_road(&mut dice);
            plan.draw_troubles(&mut dice);
        }
        plan
    }

    /// Returns a calm plan in which all servers of a sim go back to what they had kept a second before. No sim
    /// bears that, so the law must be seen to break.
    #[must_use]
    pub fn rolled_back(seed: u64, sim: usize) -> Self {
        let life = Duration::from_secs(11);
        let mut plan = Self::draw(CALM_EVERY * seed, life, 4);
        let at = Duration::from_secs(5);
        let back_at = at + Duration::from_secs(1);
        plan.troubles =
            vec![(at, sim, BorderTrouble::Copy), (back_at, sim, BorderTrouble::RollBack)];
        plan
    }

    fn draw_conditions(&mut self, dice: &mut Dice) {
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

    fn draw_road(&mut self, dice: &mut Dice) {
        let mut some = |most: u64| if dice.below(3) == 0 { 0 } else { dice.below(most) as u32 };
        self.road.late_ppm = some(200_000);
        self.road.lost_ppm = some(150_000);
        self.road.doubled_ppm = some(200_000);
        self.road.corrupted_ppm = some(100_000);
        self.road.late = Span::ms(100, 300 + dice.below(12_000));
    }

    /// Draws what befalls the sims. Each kind is absent in a third of all worlds.
    fn draw_troubles(&mut self, dice: &mut Dice) {
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

    fn crash(&mut self, dice: &mut Dice, (at, sim, seat): (Duration, usize, usize)) {
        let tails = [UnsyncedWrites::Kept, UnsyncedWrites::Lost, UnsyncedWrites::Torn];
        let (tail, down) = (dice.pick(&tails), dice.within(Span::ms(50, 4_000)));
        let crash = ClusterOrder::Crash { seat, tail, down };
        self.troubles.push((at, sim, BorderTrouble::Order(crash)));
    }

    /// A server is cut off from those of its own sim, and goes on answering the neighbour.
    fn split(&mut self, dice: &mut Dice, (at, sim, seat): (Duration, usize, usize)) {
        let split = ClusterOrder::SplitFor(Class::Split, vec![seat]);
        let both = [split, ClusterOrder::Mend(Class::Split)].map(BorderTrouble::Order);
        self.plan((at, sim), dice.within(Span::ms(1_000, 8_000)), both);
    }

    fn cut_off(&mut self, dice: &mut Dice, (at, sim, seat): (Duration, usize, usize)) {
        let both = [BorderTrouble::CutOff(seat), BorderTrouble::Reach(seat)];
        self.plan((at, sim), dice.within(Span::ms(1_000, 10_000)), both);
    }

    /// So many servers are away that no turn can be decided, for longer than a deadline now and then.
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

/// Draws one trouble of a kind: when it begins, in which sim, and at which server.
type DrawTrouble = fn(&mut CrossingPlan, &mut Dice, (Duration, usize, usize));

/// Returns the conditions of a sim in which nothing goes wrong.
fn calm(dice: &mut Dice, sim: usize, servers: usize) -> Conditions {
    let mut conditions = Conditions::calm(0);
    conditions.links.delay = Span::ms(1, 3 + dice.below(6));
    conditions.clocks = vec![(DAYS_APART * sim as i64, 0); servers];
    conditions
}

impl fmt::Display for CrossingPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}, {}, {} walkers", self.seed, self.class.name(), self.walkers)?;
        writeln!(f, "signatures {:?}, narrow {}", self.scheme, self.is_narrow)?;
        writeln!(f, "road {:?}", self.road)?;
        for (at, sim, trouble) in &self.troubles {
            writeln!(f, "{at:?} sim {sim}: {trouble:?}")?;
        }
        Ok(())
    }
}
