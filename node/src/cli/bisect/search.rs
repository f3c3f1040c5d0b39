//! The search: by turns and roots first, then by playing turns again up to the first root that is
//! not the same, and looking into both states.

use metatopia_consensus::Decision;
use metatopia_sim::{Course, LineDifference, StateDifference, World, differ, first_line};
use metatopia_types::{Height, Root, limits::ROOT_LAG};

use super::{
    DifferenceKind, Headers, HistoryDifference,
    side::Side,
    ticks::{Branch, first_parted},
};
use crate::cli::{console::Console, failure::Failure, sources::pool};

/// Turns between two words of progress.
const WORD_TURNS: u64 = 1_000;

/// Two histories of one sim.
pub(super) struct BisectSearch<'a> {
    pub(super) a: &'a Side,
    pub(super) b: &'a Side,
    pub(super) console: Console,
}

impl BisectSearch<'_> {
    fn sides(&self) -> [&Side; 2] {
        [self.a, self.b]
    }

    /// The first and the last height that both have a turn or a root of. Everybody has the root of
    /// the genesis; it counts where both go on from there.
    pub(super) fn common(&self) -> Result<(Height, Height), Failure> {
        let from_genesis = self.sides().into_iter().all(Side::begins_at_genesis);
        let counts = |height: &Height| from_genesis || *height > Height(0);
        let roots = self.a.roots.keys().filter(|height| self.b.roots.contains_key(*height));
        let roots = roots.filter(|height| counts(height));
        let turns = self.a.turns.keys().filter(|height| self.b.turns.contains_key(*height));
        let all = roots.chain(turns).copied();
        let (first, last) = (all.clone().min(), all.max());
        first.zip(last).ok_or_else(|| {
            let names = (&self.a.name, &self.b.name);
            Failure::usage(format!("{} and {} have no height in common", names.0, names.1))
                .hint("compare each with the directory of an archive, which keeps all turns")
        })
    }

    /// The first difference, if there is any.
    pub(super) fn run(&self) -> Result<Option<HistoryDifference>, Failure> {
        let (a, b) = (self.a, self.b);
        let others = |theirs: &Height| b.turns.get(theirs).copied();
        let turn = a.turns.iter().find(|(height, id)| others(height).is_some_and(|o| o != **id));
        let others = |theirs: &Height| b.roots.get(theirs).copied();
        let root =
            a.roots.iter().find(|(height, root)| others(height).is_some_and(|o| o != **root));
        match (turn.map(|(height, _)| *height), root.map(|(height, _)| *height)) {
            (None, None) => Ok(None),
            (Some(turn), root) if root.is_none_or(|root| turn <= root) => {
                self.turns(turn).map(Some)
            }
            (_, Some(root)) => self.states(root).map(Some),
            (Some(turn), None) => self.turns(turn).map(Some),
        }
    }

    /// Two turns were decided at one height.
    fn turns(&self, height: Height) -> Result<HistoryDifference, Failure> {
        let what = Some(DifferenceKind::Turn);
        let mut parting =
            HistoryDifference { what, height: height.0, ..HistoryDifference::default() };
        let [Some(one), Some(other)] = self.sides().map(|side| decided(side, height)) else {
            return Ok(parting);
        };
        let header = |of: &Decision| format!("{:#?}", of.turn.header);
        let LineDifference { field, left, right } = first_line(&header(&one), &header(&other));
        parting.header = Some(Headers { field, left, right });
        let Some((_, before)) = self.course(height)? else {
            return Ok(parting);
        };
        let world = before.world();
        // Whoever had another state before the turn did not come to what it leads to from here.
        let had = self.sides().map(|side| side.roots.get(&world.height()).copied());
        if had.into_iter().flatten().any(|root| root != world.root()) {
            return Ok(parting);
        }
        let ticks = u64::from(world.parameters().ticks_per_turn);
        parting.ticks = Some([world.tick().plus(1).0, world.tick().plus(ticks).0]);
        let root = |side: &Side| side.roots.get(&height).copied();
        let branches = [
            Branch { decision: &one, root: root(self.a) },
            Branch { decision: &other, root: root(self.b) },
        ];
        if let Some((tick, found)) = first_parted(&before, branches, &pool()?) {
            parting.tick = Some(tick.0);
            parting.compared(height, found);
        }
        Ok(parting)
    }

    /// The states after the turn of this height have two roots.
    fn states(&self, height: Height) -> Result<HistoryDifference, Failure> {
        let root = |side: &Side| side.roots.get(&height).map(Root::to_string).unwrap_or_default();
        let mut parting = HistoryDifference {
            what: Some(DifferenceKind::State),
            height: height.0,
            roots: Some([root(self.a), root(self.b)]),
            certified: self.certified(height)?.map(|root| root.to_string()),
            ..HistoryDifference::default()
        };
        let mut course = self.course(height)?;
        let newest = self.sides().into_iter().filter_map(|side| side.kept().next_back()).max();
        let last = newest.unwrap_or(height).max(height);
        let pool = pool()?;
        for at in (height.0..=last.0).map(Height) {
            if let Some((side, playing)) = &mut course {
                match decided(side, at) {
                    Some(decision) => drop(playing.follow(&decision.turn, &pool, &mut ())),
                    None => course = None,
                }
            }
            let played = course.as_ref().map(|(_, playing)| playing.world());
            if at == height
                && let (Some(world), Some(agreed)) = (played, self.agreed(height))
            {
                let turns = height.0.saturating_sub(agreed.0);
                let ticks = u64::from(world.parameters().ticks_per_turn).saturating_mul(turns);
                let last = world.tick().0;
                parting.ticks = Some([last.saturating_sub(ticks).saturating_add(1), last]);
            }
            if let (Some(one), Some(other)) = (state(self.a, at, played), state(self.b, at, played))
                && let Some(found) = differ(&one, &other)
            {
                parting.compared(at, found);
                break;
            }
        }
        Ok(parting)
    }

    /// The last height before this one after which both came to the same root.
    fn agreed(&self, height: Height) -> Option<Height> {
        let mut before = self.a.roots.range(..height).rev();
        let same = before.find(|(at, root)| self.b.roots.get(*at) == Some(*root));
        same.map(|(at, _)| *at)
    }

    /// The root that a decided header states.
    fn certified(&self, of: Height) -> Result<Option<Root>, Failure> {
        let stated = of.plus(ROOT_LAG);
        for side in self.sides() {
            if let Some(decision) = decided(side, stated) {
                return Ok(Some(decision.turn.header.root));
            }
        }
        Ok(None)
    }

    /// The turns up to the one before `height`, played from the newest state before it that both
    /// agree on; nothing if there is none.
    fn course(&self, height: Height) -> Result<Option<(&Side, Course)>, Failure> {
        let Some(target) = height.minus(1) else {
            return Ok(None);
        };
        let mut kept: Vec<(Height, &Side)> = Vec::new();
        for side in self.sides() {
            let before = side.kept().filter(|at| *at <= target);
            kept.extend(before.map(|at| (at, side)));
        }
        kept.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        for (from, keeper) in kept {
            let holder = self.sides().into_iter().find(|side| side.holds(from, height));
            let Some((side, world)) = holder.zip(keeper.state(from)) else {
                continue;
            };
            // A state that is not what was noted is of no use, whatever became of it.
            let noted = self.sides().map(|side| side.roots.get(&from).copied());
            if noted.into_iter().flatten().any(|root| root != world.root()) {
                continue;
            }
            return self.play(side, world, target).map(Some);
        }
        Ok(None)
    }

    fn play<'s>(
        &self,
        side: &'s Side,
        world: World,
        target: Height,
    ) -> Result<(&'s Side, Course), Failure> {
        let (pool, from) = (pool()?, world.height());
        let mut course = Course::new(world);
        for decision in side.decided(from.plus(1)) {
            let height = decision.height();
            if height > target {
                break;
            }
            course.follow(&decision.turn, &pool, &mut ());
            if height.0.is_multiple_of(WORD_TURNS) {
                self.console.note(&format!("played to turn {height} of {target}"));
            }
        }
        Ok((side, course))
    }
}

impl HistoryDifference {
    /// What two states differ in, which are those after the turn of this height, or in it.
    fn compared(&mut self, at: Height, found: StateDifference) {
        self.compared_at = Some(at.0);
        self.leaf = Some(found.key.to_string());
        (self.entry, self.field) = (found.entry, found.field);
        (self.left, self.right) = (found.left, found.right);
        self.leaves = Some(found.leaves);
    }
}

/// The turn that a side had decided at this height, if it is there.
fn decided(side: &Side, height: Height) -> Option<Decision> {
    side.decided(height).next().filter(|found| found.height() == height)
}

/// The state that a side had: what was played, if that is what it came to; else what it kept.
fn state(side: &Side, at: Height, played: Option<&World>) -> Option<World> {
    let own = side.roots.get(&at);
    let same = played.filter(|world| own == Some(&world.root()));
    same.cloned().or_else(|| side.state(at).filter(|world| own == Some(&world.root())))
}
