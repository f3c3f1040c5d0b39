//! What a seed stands for: which faults there are, how strong, and when.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use metatopia_replica::BEHIND_TURNS;
use metatopia_replica::keeper::HISTORY_TURNS;
use metatopia_types::Height;

use super::fair;
use crate::agreement::{Deed, Scheme, Seed};
use crate::chance::{Dice, Span};
use crate::class::{Class, Level};
use crate::cluster::Order;
use crate::conditions::Conditions;
use crate::course::Course;
use crate::replica::stories::scheme;
use crate::replica::{Flip, Setting};
use crate::storm::Storm;
use crate::weather::{Draft, Moment};

/// Seats for servers that join.
const JOINERS: usize = 1;

/// After so many turns one server goes on from a snapshot of its state.
const RESTORE_EVERY: u64 = 25;

/// Links between servers carry streams, in which a frame that is lost or late holds up all others,
/// or ends the stream: that is so much rarer than for single frames.
const RARER: u32 = 200;

/// Turns a second when nothing holds them up.
const TURNS_PER_SECOND: u64 = 20;

/// See the module.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Classes of faults that may happen.
    pub classes: BTreeSet<Class>,
    /// Where all dice come from.
    pub seed: Seed,
    /// Servers that vote at genesis.
    pub founders: usize,
    /// All seats; those after the founders are empty to begin with.
    pub seats: usize,
    /// Which signatures.
    pub scheme: Scheme,
    /// Turns between snapshots.
    pub snapshot_turns: u64,
    /// Turns that servers keep below the older snapshot, but for the first server, which keeps all.
    pub history_turns: u64,
    /// Turns behind the others from which on a server fetches a state.
    pub behind_turns: u64,
    /// Links, disks and clocks.
    pub conditions: Conditions,
    /// Servers that lie to the others, and how.
    pub liars: Vec<(usize, Deed)>,
    /// Bits that flip in memory.
    pub flips: Vec<Flip>,
    /// Trouble whose victims are drawn, by time.
    pub orders: Vec<(Duration, Order)>,
    /// The other trouble, by time.
    pub moments: Vec<(Duration, Moment)>,
    /// Faults begin here.
    pub from: Duration,
    /// Faults stop here.
    pub calm_from: Duration,
    /// The run ends here.
    pub end: Duration,
}

impl Plan {
    /// What a course stands for.
    #[must_use]
    pub fn draw(course: &Course) -> Self {
        let seed = course.seed;
        let mut dice = Dice::new(seed.number, "swarm of replicas");
        let founders = dice.pick(&[4, 4, 4, 4, 4, 5, 7]);
        let snapshot_turns = dice.pick(&[20, 50, 200]);
        let history_turns = dice.pick(&[HISTORY_TURNS, 20, 60]);
        let until = Course::new(seed, course.span).calm_from();
        let mut draft = Draft::new(Level::Whole, seed.number, founders, until, &course.without);
        let mut conditions = draft.conditions();
        // Lanes are built by who is told that a server came or went.
        conditions.notices = true;
        conditions.links.loss_ppm /= RARER;
        conditions.links.straggler_ppm /= RARER;
        let seats = draft.members();
        let liars = draft.liars();
        // Nobody fetches a state who can have the turns of all others.
        let behind_turns = if draft.on.contains(&Class::Joiner) {
            history_turns.min(60) + snapshot_turns / 2
        } else {
            BEHIND_TURNS
        };
        let spare = (founders - 1) / 3 > liars.len();
        let flips = if spare { draft.flips() } else { Vec::new() };
        draft.intruders();
        draft.draw();
        let (from, calm_from, end) = (course.from, course.calm_from(), course.span);
        draft.narrow(from, calm_from);
        let Draft { on: classes, orders, moments, .. } = draft;
        let scheme = scheme(seed.number);
        Self {
            classes,
            seed,
            founders,
            seats,
            scheme,
            snapshot_turns,
            history_turns,
            behind_turns,
            conditions,
            liars,
            flips,
            orders,
            moments,
            from,
            calm_from,
            end,
        }
    }

    /// All its trouble.
    pub(super) fn storm(&self) -> Storm {
        let (conditions, moments) = (self.conditions.clone(), self.moments.clone());
        Storm { conditions, moments, from: self.from, until: self.calm_from }
    }

    /// The sim that is played.
    pub(super) fn setting(&self) -> Setting {
        let place = fair::place(&self.classes);
        let Self { scheme, founders, seats, seed, .. } = *self;
        let mut setting = Setting::new(&place, scheme, founders, seats, seed.number);
        setting.snapshot_turns = self.snapshot_turns;
        setting.history_turns = self.history_turns;
        setting.behind_turns = self.behind_turns;
        setting.restore_every = Some(RESTORE_EVERY);
        setting.liars = self.liars.clone();
        setting.flips = self.flips.clone();
        setting
    }
}

impl Draft {
    /// Who joins and who leaves. Returns how many seats there are.
    fn members(&mut self) -> usize {
        let founders = self.founders;
        let Some(mut dice) = self.dice(Class::SetChange) else {
            return founders;
        };
        let mut at = dice.within(Span::ms(1_000, 10_000));
        for seat in founders..founders + JOINERS {
            self.moments.push((at, Moment::Promote(seat)));
            at += dice.within(Span::ms(2_000, 12_000));
            // The first server keeps all history: who joins reads it.
            let last = founders - self.liars().len();
            self.moments.push((at, Moment::Remove(1 + dice.index(last - 1))));
        }
        self.moments.retain(|(at, _)| *at < self.until);
        founders + JOINERS
    }

    /// Who lies, and how.
    fn liars(&self) -> Vec<(usize, Deed)> {
        let mut seats = (0..self.founders).rev();
        let all = Class::LIARS.iter().filter_map(|class| {
            let mut dice = self.dice(*class)?;
            let deeds: Vec<Deed> =
                Deed::ALL.iter().copied().filter(|deed| deed.class() == *class).collect();
            Some((seats.next()?, dice.pick(&deeds)))
        });
        all.collect()
    }

    /// Whose memory is bad: at most one server's, now and then.
    fn flips(&self) -> Vec<Flip> {
        let Some(mut dice) = self.dice(Class::MemoryFlip) else {
            return Vec::new();
        };
        let seat = dice.index(self.founders - self.liars().len());
        let turns = self.until.as_secs().saturating_mul(TURNS_PER_SECOND);
        let heights = (0..1 + dice.below(3)).map(|_| Height(20 + dice.below(turns.max(1))));
        heights.map(|height| Flip { seat, height, lasting: false }).collect()
    }

    fn intruders(&mut self) {
        for class in Class::CLIENTS {
            let Some(mut dice) = self.dice(*class) else { continue };
            for at in self.times(&mut dice, Span::ms(500, 20_000)) {
                self.moments.push((at, Moment::Intrude(*class, dice.index(self.founders))));
            }
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.classes.iter().map(|class| class.name()).collect();
        let Self { founders, seats, from, calm_from, end, .. } = self;
        writeln!(f, "servers      {founders}, in {seats} seats")?;
        writeln!(f, "snapshots    every {} turns", self.snapshot_turns)?;
        writeln!(f, "history      {} turns below the older one", self.history_turns)?;
        writeln!(f, "fetches      a state from {} turns behind on", self.behind_turns)?;
        writeln!(f, "signatures   {:?}", self.scheme)?;
        writeln!(f, "liars        {:?}", self.liars)?;
        writeln!(f, "flips        {:?}", self.flips)?;
        writeln!(
            f,
            "faults       from {from:.1?} to {calm_from:.1?}, the world ends at {end:.1?}"
        )?;
        writeln!(f, "classes      {}", names.join(" "))?;
        writeln!(f, "conditions   {:?}", self.conditions)?;
        crate::weather::write_all(f, &self.orders, &self.moments)
    }
}
