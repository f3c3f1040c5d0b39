//! What a seed of the crossing stands for.

mod cut;
mod troubles;

use std::fmt;
use std::time::Duration;

use metatopia_sim::CrossingBug;
use metatopia_types::TravelRefusal;

use super::SIMS;
use crate::chance::{Dice, Span};
use crate::cluster::ClusterOrder;
use crate::conditions::Conditions;
use crate::signatures::SignatureKind;
use crate::villain::ByzantineBehaviour;

/// Every so manieth seed is calm.
const CALM_EVERY: u64 = 4;

/// How far the clocks of the eastern servers are ahead: some days, in milliseconds.
const DAYS_APART: i64 = 300_000_000;

/// What is under way to a sim when a silence begins is heard within this time, or is lost.
const QUIET: Duration = Duration::from_millis(2_500);

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

/// What the eastern sim has less of than comes to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Narrowness {
    /// The share of its border is one thing.
    Share,
    /// It takes things only from sims of more servers than the western one begins with.
    Servers,
    /// Its things may not be as large as the balls.
    Size,
    /// It has places for no more things that can be pushed than it begins with.
    Places,
}

impl Narrowness {
    /// Each of them.
    pub const ALL: [Self; 4] = [Self::Share, Self::Servers, Self::Size, Self::Places];
}

/// A day without a word between the sims, after which one gives the other up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SilentDay {
    /// Whether all servers of the neighbour are away. Else both sims live, and do not reach each other.
    pub is_dead: bool,
    /// Whether the neighbour gives this sim up as well.
    pub severs_too: bool,
    /// Whether only the clocks of who gives the other up go on by a day.
    pub is_one_sided: bool,
    /// How long neither sim has heard anything new when the clocks go on. What was under way is heard by then, or lost.
    pub quiet: Duration,
    /// How long the sims are silent after one has given the other up.
    pub rest: Duration,
}

impl SilentDay {
    /// Returns a day on which both sims live, and one gives the other up.
    #[must_use]
    pub const fn new(quiet: Duration, rest: Duration) -> Self {
        Self { is_dead: false, severs_too: false, is_one_sided: false, quiet, rest }
    }
}

/// A server that lies to the others of its sim, and to those who ask it what its sim says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BorderLiar {
    /// The sim whose server it is.
    pub sim: usize,
    /// The seat of the server.
    pub seat: usize,
    /// How it lies to the others.
    pub deed: ByzantineBehaviour,
}

/// What all servers of a sim tell the neighbour of a departure, in the place of what departed. The neighbour refuses
/// it, so whoever departed comes home: only a sim that lies as a whole loses by that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DepartureLie {
    /// Somebody departed whom the neighbour never gave a pass.
    NoPass,
    /// A thing departed that stands in the neighbour, and always has.
    Here,
    /// The parcel says of itself what is not so: its place, its speed, or what its script remembers.
    BadParcel,
}

impl DepartureLie {
    /// Each of them.
    pub const ALL: [Self; 3] = [Self::NoPass, Self::Here, Self::BadParcel];

    /// Returns the reason for which the neighbour refuses it.
    #[must_use]
    pub const fn refusal(self) -> TravelRefusal {
        match self {
            Self::NoPass => TravelRefusal::NoPass,
            Self::Here => TravelRefusal::Here,
            Self::BadParcel => TravelRefusal::BadParcel,
        }
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
    /// The admin closes the border on this side.
    Close,
    /// The admin opens it again.
    Open,
    /// The admin bans the next one who is about to come over the border, and lets her in again seconds later.
    Ban,
    /// The admin lets another server vote, and then one of the others no more.
    Rotate,
    /// A day passes without a word between the sims, and the admin gives the neighbour up.
    SilentDay(SilentDay),
    /// From now on what the sim is told of the neighbour comes so much later, while its own words arrive as before.
    HoldUp(Duration),
    /// All servers of the sim lie of the next departure that fits.
    Lie(DepartureLie),
    /// All servers conceal what came home to the sim when it gives the neighbour up. Only a negative control does
    /// this: a sim that lies as a whole doubles what is its own.
    Conceal,
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
    /// Seats of each sim for servers that do not vote to begin with.
    pub spare: usize,
    /// How many people walk.
    pub walkers: u64,
    /// The signatures of both sims.
    pub scheme: SignatureKind,
    /// What the eastern sim has little of.
    pub narrow: Option<Narrowness>,
    /// Whether servers die at steps of crossings, and not only at random.
    pub is_ambushed: bool,
    /// Servers that lie, one in a sim at most.
    pub liars: Vec<BorderLiar>,
    /// How each sim's servers and networks are.
    pub conditions: [Conditions; 2],
    /// What happens to dispatches.
    pub road: DispatchRoad,
    /// What befalls which sim, and how long after all people are there.
    pub troubles: Vec<(Duration, usize, BorderTrouble)>,
    /// The rule that both sims break. Only the bank of bugs has one.
    pub broken: Option<CrossingBug>,
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
        let mut plan = Self::begin(&mut dice, seed, (life, servers));
        if plan.class == CrossingClass::Faulty {
            plan.draw_conditions(&mut dice);
            plan.draw_road(&mut dice);
            plan.draw_troubles(&mut dice);
            plan.draw_more();
        }
        plan
    }

    /// Returns a plan in which nothing befalls anybody.
    fn begin(dice: &mut Dice, seed: u64, (life, servers): (Duration, usize)) -> Self {
        let scheme =
            if dice.below(5) == 0 { SignatureKind::Ed25519 } else { SignatureKind::StandIn };
        let road = DispatchRoad::calm(Span::ms(2, 5 + dice.below(20)));
        Self {
            seed,
            class: CrossingClass::of(seed),
            life,
            servers,
            spare: 0,
            walkers: 3 + dice.below(3),
            scheme,
            narrow: None,
            liars: Vec::new(),
            is_ambushed: false,
            conditions: SIMS.map(|sim| calm(dice, sim, servers)),
            road,
            troubles: Vec::new(),
            broken: None,
        }
    }

    /// Says whether the server in a seat of a sim lies.
    #[must_use]
    pub fn lies(&self, sim: usize, seat: usize) -> bool {
        self.liars.iter().any(|liar| (liar.sim, liar.seat) == (sim, seat))
    }

    /// Returns how many seats each sim has.
    #[must_use]
    pub const fn seats(&self) -> usize {
        self.servers + self.spare
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

    /// Returns a calm plan with days of silence, after each of which a sim gives the other one up. If it `conceals`
    /// what came home, the neighbour never removes what it had taken of that.
    #[must_use]
    pub fn severing(seed: u64, conceals: bool) -> Self {
        let mut plan = Self::draw(CALM_EVERY * seed, Duration::from_secs(30), 4);
        let day = SilentDay::new(QUIET, Duration::from_secs(1));
        let days = [(4, 0), (13, 1), (22, 0)];
        let days = days.map(|(at, sim)| (Duration::from_secs(at), sim));
        plan.troubles = days.map(|(at, sim)| (at, sim, BorderTrouble::SilentDay(day))).to_vec();
        if conceals {
            let both = SIMS.map(|sim| (Duration::ZERO, sim, BorderTrouble::Conceal));
            plan.troubles.splice(0..0, both);
        }
        plan
    }

    /// Says whether a law has to break: no sim bears what befalls one here.
    #[must_use]
    pub fn is_control(&self) -> bool {
        let controls = [BorderTrouble::RollBack, BorderTrouble::Conceal];
        self.broken.is_some() || self.troubles.iter().any(|(.., one)| controls.contains(one))
    }
}

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
        writeln!(f, "signatures {:?}, narrow {:?}", self.scheme, self.narrow)?;
        writeln!(f, "{} servers, and seats for {} more", self.servers, self.spare)?;
        writeln!(f, "liars {:?}", self.liars)?;
        writeln!(f, "crashes at steps of crossings {}", self.is_ambushed)?;
        writeln!(f, "road {:?}", self.road)?;
        if let Some(broken) = self.broken {
            writeln!(f, "no sim keeps a rule: {broken:?}")?;
        }
        for (at, sim, trouble) in &self.troubles {
            writeln!(f, "{at:?} sim {sim}: {trouble:?}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{BorderTrouble, CrossingPlan, DepartureLie, SilentDay};
    use crate::villain::ByzantineBehaviour;

    /// What CI plays has to have all of it, because a kind of trouble that never comes proves nothing.
    #[test]
    fn ten_seeds_have_each_kind_of_trouble_among_them() {
        let life = Duration::from_secs(20);
        let plans: Vec<_> = (1..=10).map(|seed| CrossingPlan::draw(seed, life, 4)).collect();
        let some = |is: fn(&CrossingPlan) -> bool| plans.iter().any(is);
        assert!(some(|plan| plan.narrow.is_some()) && some(|plan| plan.is_ambushed));
        assert!(some(|plan| plan.liars.iter().any(|it| it.deed == ByzantineBehaviour::ForgeHears)));
        let kinds: [fn(&BorderTrouble) -> bool; 7] = [
            |one| matches!(one, BorderTrouble::Close),
            |one| matches!(one, BorderTrouble::Ban),
            |one| matches!(one, BorderTrouble::Rotate),
            |one| matches!(one, BorderTrouble::SilentDay(_)),
            |one| matches!(one, BorderTrouble::Lie(DepartureLie::NoPass)),
            |one| matches!(one, BorderTrouble::Lie(DepartureLie::Here)),
            |one| matches!(one, BorderTrouble::Lie(DepartureLie::BadParcel)),
        ];
        for (n, is) in kinds.into_iter().enumerate() {
            let mut troubles = plans.iter().flat_map(|plan| &plan.troubles);
            assert!(troubles.any(|(_, _, one)| is(one)), "kind {n}");
        }
        let plans = (1..=100).map(|seed| CrossingPlan::draw(seed, life, 4));
        let troubles: Vec<_> = plans.flat_map(|plan| plan.troubles).map(|(.., one)| one).collect();
        let some = |is: fn(&SilentDay) -> bool| {
            troubles.iter().any(|one| matches!(one, BorderTrouble::SilentDay(day) if is(day)))
        };
        assert!(some(|day| day.is_dead) && some(|day| day.severs_too));
    }
}
