//! The search for the first difference of two histories.

use metatopia_consensus::Decision;
use metatopia_sim::{Course, ForkJoin, LineDifference, MissingPort, World, differ, first_line};
use metatopia_types::{Height, Root, limits::ROOT_LAG};

use super::{
    DifferenceKind, HeaderDifference, HistoryDifference,
    branches::{Branch, first_difference},
    side::BisectSide,
};

/// The number of turns between two reports of progress.
const PROGRESS_TURNS: u64 = 1_000;

/// Two histories of one sim.
pub(super) struct BisectSearch<'a> {
    pub(super) a: &'a BisectSide<'a>,
    pub(super) b: &'a BisectSide<'a>,
    pub(super) exec: &'a dyn ForkJoin,
    pub(super) progress: &'a dyn Fn(Height, Height),
}

impl<'a> BisectSearch<'a> {
    const fn sides(&self) -> [&'a BisectSide<'a>; 2] {
        [self.a, self.b]
    }

    /// Returns the first and the last height of which both have a turn or a root. Every history has the
    /// root of the genesis; it counts where both go on from there.
    pub(super) fn common(&self) -> Option<(Height, Height)> {
        let from_genesis = self.sides().into_iter().all(BisectSide::begins_at_genesis);
        let counts = |height: &Height| from_genesis || *height > Height(0);
        let roots = self.a.roots.keys().filter(|height| self.b.roots.contains_key(*height));
        let roots = roots.filter(|height| counts(height));
        let turns = self.a.turns.keys().filter(|height| self.b.turns.contains_key(*height));
        let all = roots.chain(turns).copied();
        let (first, last) = (all.clone().min(), all.max());
        first.zip(last)
    }

    /// Returns the first difference, if there is one.
    pub(super) fn run(&self) -> Option<HistoryDifference> {
        let (a, b) = (self.a, self.b);
        let others = |theirs: &Height| b.turns.get(theirs).copied();
        let turn = a.turns.iter().find(|(height, id)| others(height).is_some_and(|o| o != **id));
        let others = |theirs: &Height| b.roots.get(theirs).copied();
        let root =
            a.roots.iter().find(|(height, root)| others(height).is_some_and(|o| o != **root));
        match (turn.map(|(height, _)| *height), root.map(|(height, _)| *height)) {
            (Some(turn), root) if root.is_none_or(|root| turn <= root) => Some(self.turns(turn)),
            (_, Some(root)) => Some(self.states(root)),
            _ => None,
        }
    }

    /// Returns the difference of two turns that were decided at one height.
    fn turns(&self, height: Height) -> HistoryDifference {
        let what = Some(DifferenceKind::Turn);
        let mut parting =
            HistoryDifference { what, height: height.0, ..HistoryDifference::default() };
        let [Some(one), Some(other)] = self.sides().map(|side| decided(side, height)) else {
            return parting;
        };
        let header = |of: &Decision| format!("{:#?}", of.turn.header);
        let LineDifference { field, left, right } = first_line(&header(&one), &header(&other));
        parting.header = Some(HeaderDifference { field, left, right });
        let before = match self.course(height) {
            Ok(Some((_, before))) => before,
            Ok(None) => return parting,
            Err(missing) => {
                parting.missing_port = Some(missing.to_string());
                return parting;
            }
        };
        let world = before.world();
        // A side with another state before the turn did not come to what the turn leads to from here.
        let had = self.sides().map(|side| side.roots.get(&world.height()).copied());
        if had.into_iter().flatten().any(|root| root != world.root()) {
            return parting;
        }
        let ticks = u64::from(world.parameters().ticks_per_turn);
        parting.ticks = Some([world.tick().plus(1).0, world.tick().plus(ticks).0]);
        parting.missing_port = world.missing_port().map(|missing| missing.to_string());
        let root = |side: &BisectSide<'_>| side.roots.get(&height).copied();
        let branches = [
            Branch { decision: &one, root: root(self.a) },
            Branch { decision: &other, root: root(self.b) },
        ];
        if let Some((tick, found)) = first_difference(&before, branches, self.exec) {
            parting.tick = Some(tick.0);
            parting.add_states(height, found);
        }
        parting
    }

    /// Returns the difference of the states after the turn of this height, which have two roots.
    fn states(&self, height: Height) -> HistoryDifference {
        let root = |side: &BisectSide<'_>| {
            side.roots.get(&height).map(Root::to_string).unwrap_or_default()
        };
        let mut parting = HistoryDifference {
            what: Some(DifferenceKind::State),
            height: height.0,
            roots: Some([root(self.a), root(self.b)]),
            certified: self.certified(height).map(|root| root.to_string()),
            ..HistoryDifference::default()
        };
        let mut course = self.course(height).unwrap_or_else(|missing| {
            parting.missing_port = Some(missing.to_string());
            None
        });
        let newest = self.sides().into_iter().filter_map(|side| side.kept().next_back()).max();
        let last = newest.unwrap_or(height).max(height);
        for at in (height.0..=last.0).map(Height) {
            if let Some((side, playing)) = &mut course {
                match (decided(side, at), playing.world().missing_port()) {
                    (Some(decision), None) if decision.turn.body.is_whole() => {
                        drop(playing.follow(&decision.turn, self.exec, &mut ()));
                    }
                    (_, missing) => {
                        let missing = missing.map(|missing| missing.to_string());
                        parting.missing_port = parting.missing_port.or(missing);
                        course = None;
                    }
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
                parting.add_states(at, found);
                break;
            }
        }
        parting
    }

    /// Returns the last height before this one after which both came to the same root.
    fn agreed(&self, height: Height) -> Option<Height> {
        let mut before = self.a.roots.range(..height).rev();
        let same = before.find(|(at, root)| self.b.roots.get(*at) == Some(*root));
        same.map(|(at, _)| *at)
    }

    /// Returns the root that a decided header states.
    fn certified(&self, of: Height) -> Option<Root> {
        let stating = self.sides().into_iter().find_map(|side| decided(side, of.plus(ROOT_LAG)));
        stating.map(|decision| decision.turn.header.root)
    }

    /// Applies the turns up to the one before `height` to the newest state before it that no side
    /// contradicts. Returns nothing if there is no such state.
    ///
    /// # Errors
    /// A turn needs a port that this program lacks.
    fn course(&self, height: Height) -> Result<Option<(&'a BisectSide<'a>, Course)>, MissingPort> {
        let Some(target) = height.minus(1) else { return Ok(None) };
        let mut kept: Vec<(Height, &'a BisectSide<'a>)> = Vec::new();
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
            // A kept state that is not the noted one is of no use.
            let noted = self.sides().map(|side| side.roots.get(&from).copied());
            if noted.into_iter().flatten().any(|root| root != world.root()) {
                continue;
            }
            return Ok(self.play(side, world, target)?.map(|course| (side, course)));
        }
        Ok(None)
    }

    fn play(
        &self,
        side: &BisectSide<'_>,
        world: World,
        target: Height,
    ) -> Result<Option<Course>, MissingPort> {
        let from = world.height();
        let mut course = Course::new(world);
        for decision in side.decided(from.plus(1)) {
            let height = decision.height();
            if height > target {
                break;
            }
            course.world().missing_port().map_or(Ok(()), Err)?;
            // Nobody can apply a turn of which words were forgotten.
            if !decision.turn.body.is_whole() {
                return Ok(None);
            }
            course.follow(&decision.turn, self.exec, &mut ());
            if height.0.is_multiple_of(PROGRESS_TURNS) {
                (self.progress)(height, target);
            }
        }
        Ok(Some(course))
    }
}

/// Returns the turn that a side had decided at this height, if it is there.
fn decided(side: &BisectSide<'_>, height: Height) -> Option<Decision> {
    side.decided(height).next().filter(|found| found.height() == height)
}

/// Returns the state that a side had: the computed one if it has the side's root, or the kept one.
fn state(side: &BisectSide<'_>, at: Height, played: Option<&World>) -> Option<World> {
    let own = side.roots.get(&at);
    let same = played.filter(|world| own == Some(&world.root()));
    same.cloned().or_else(|| side.state(at).filter(|world| own == Some(&world.root())))
}
