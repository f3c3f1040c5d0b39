//! The register of a land office: who holds which square of its world, and what was granted lately.
//!
//! Squares are aligned, so two of them are apart or one contains the other. A grant is found by the place of
//! its corner on the curve through the quadtree of the plane.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{
    GenesisHead, Height, LandGrant, Millis, OfficeFounding, PlaneBlock, PublicKey, SimId, Square,
    TilePoint, Validator, ValidatorSet,
    limits::{GRANTS_MAX, SQUARE_DOUBLINGS_MAX},
    overlap,
};
use serde::{Deserialize, Serialize};

use super::land_keys::{LandKeyChanges, LandKeys};
use crate::{
    limits::{BEACONS_CHANGE_MS_MIN, LAND_KEYS_CHANGED_MAX, LAND_LAPSES_PER_TURN},
    tree::Tracked,
};

/// A week of governance time.
const WEEK_MS: u64 = 7 * super::DAY_MS;

/// What the office keeps of a sim that has a square.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantedSim {
    /// The square that was granted to it.
    pub square: Square,
    /// Who votes at the height of the header that it showed last; its first validators before.
    pub validators: Vec<Validator>,
    /// The governance time at which its beacons changed last; none if they are those of the claim.
    pub beacons_at: Option<Millis>,
    /// Whether this sim, or one that it carries on, ever showed a header.
    pub has_run: bool,
}

impl GrantedSim {
    /// Returns these validators as a set.
    ///
    /// # Panics
    /// Never: only sets are recorded.
    #[must_use]
    pub fn set(&self) -> ValidatorSet {
        ValidatorSet::new(self.validators.clone(), |_| true).expect("a set was recorded")
    }
}

/// What was granted in the week of governance time under way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandWeek {
    /// The number of the week, from 0.
    pub week: u64,
    /// Squares that were granted in it.
    pub granted: u32,
    /// Who vouched for one of them, with the square beside it.
    pub sponsors: BTreeMap<PublicKey, Square>,
    /// The keys that began or ended to hold land, or to sign for it, in the last turns.
    pub changed: LandKeyChanges,
}

/// The state of a land office.
#[derive(Debug, Clone, Default)]
pub(crate) struct LandRegister {
    /// What was granted lately.
    pub(crate) week: LandWeek,
    /// The grants, by the places of their corners.
    pub(crate) grants: Tracked<u64, LandGrant>,
    /// The sims that have a square.
    pub(crate) sims: Tracked<SimId, GrantedSim>,
    /// Index: how many squares each key holds.
    held: BTreeMap<PublicKey, u32>,
    /// Index: when which grant ends.
    ends: BTreeSet<(Millis, u64)>,
    /// Index: the keys that grants name.
    keys: LandKeys,
    /// The height of the turn under way.
    height: Height,
}

impl LandRegister {
    /// Returns the register of a land office in which only its own square is granted, for ever.
    pub(crate) fn found(sim: SimId, founding: &OfficeFounding, set: &ValidatorSet) -> Self {
        let mut register = Self::default();
        register.grant_office(sim, founding, set, 1);
        register
    }

    /// Returns the register that a successor of a land office begins with: its own square is the new sim's.
    pub(crate) fn succeed(
        mut self,
        (old, sim): (SimId, SimId),
        founding: &OfficeFounding,
        set: &ValidatorSet,
    ) -> Self {
        let square = self.sims.get(&old).map(|granted| granted.square);
        let before = square.and_then(|square| self.remove(square));
        let epoch = before.map_or(1, |grant| grant.epoch.saturating_add(1));
        self.grant_office(sim, founding, set, epoch);
        self
    }

    fn grant_office(
        &mut self,
        sim: SimId,
        founding: &OfficeFounding,
        set: &ValidatorSet,
        epoch: u64,
    ) {
        let OfficeFounding { square, holder, beacons } = founding.clone();
        let (until, shown) = (Millis(u64::MAX), Height(0));
        let grant = LandGrant { square, sim, holder, beacons, epoch, until, shown };
        self.insert(grant, set.members().to_vec());
        // Whatever was before, turns of the new sim are judged by its first state.
        self.week.changed = LandKeyChanges::default();
    }

    /// Returns the register of these entries, as leaves hold them.
    pub(crate) fn restore(
        week: LandWeek,
        grants: Vec<LandGrant>,
        sims: Vec<(SimId, GrantedSim)>,
    ) -> Self {
        let mut register = Self { week, ..Self::default() };
        for grant in grants {
            register.grants.insert(code(grant.square), grant);
        }
        sims.into_iter().for_each(|(sim, granted)| register.sims.insert(sim, granted));
        register.index();
        register
    }

    /// Says whether each grant has its sim, each sim its grant, and each that showed a header has run.
    pub(crate) fn is_whole(&self) -> bool {
        let fits = |grant: &LandGrant| {
            let granted = self.sims.get(&grant.sim);
            granted.is_some_and(|granted| {
                granted.square == grant.square && granted.has_run >= (grant.shown > Height(0))
            })
        };
        self.sims.len() == self.grants.len() && self.grants.iter().all(|(_, grant)| fits(grant))
    }

    /// Builds the indexes.
    fn index(&mut self) {
        (self.held, self.ends) = (BTreeMap::new(), BTreeSet::new());
        self.keys = LandKeys::default();
        let mut changes = LandKeyChanges::default();
        for (code, grant) in self.grants.iter() {
            *self.held.entry(grant.holder).or_default() += 1;
            self.ends.insert((grant.until, *code));
            self.keys.add(grant, self.height, &mut changes);
        }
    }

    /// Says whether a key holds land, or signs for it.
    pub(crate) fn names(&self, key: &PublicKey) -> bool {
        self.keys.has(key)
    }

    /// Marks everything as changed.
    pub(crate) fn touch_all(&mut self) {
        self.grants.touch_all();
        self.sims.touch_all();
    }

    /// Returns the grant that holds a point.
    pub(crate) fn grant_at(&self, point: TilePoint) -> Option<&LandGrant> {
        let of_size = |doublings: u8| {
            let corner = PlaneBlock::around(point, doublings + 1).corner;
            let grant = self.grants.get(&corner.quadtree_code())?;
            (grant.square.doublings == doublings).then_some(grant)
        };
        (0..=SQUARE_DOUBLINGS_MAX).find_map(of_size)
    }

    /// Returns the grant of exactly this square.
    pub(crate) fn grant_of(&self, square: Square) -> Option<&LandGrant> {
        self.grants.get(&code(square)).filter(|grant| grant.square == square)
    }

    /// Returns a grant that shares ground with a square.
    pub(crate) fn overlapping(&self, square: Square) -> Option<&LandGrant> {
        let around = self.grant_at(TilePoint::corner(square));
        // What is inside of the square has a greater place than its corner, and the first such grant
        // either is inside or none is.
        let inside = || {
            let (_, next) = self.grants.after(code(square)).next()?;
            overlap(next.square, square).then_some(next)
        };
        around.or_else(inside)
    }

    /// Returns the grants that share an edge with a square, some of them more than once.
    pub(crate) fn beside(&self, square: Square) -> impl Iterator<Item = &LandGrant> {
        let side = square.side().unwrap_or_default();
        let TilePoint { x, y } = TilePoint::corner(square);
        let (west, east) = (x.checked_sub(1), x.checked_add(side));
        let (south, north) = (y.checked_sub(1), y.checked_add(side));
        // The least square is two tiles wide, so every second tile along an edge finds every neighbour.
        (0..side).step_by(2).flat_map(move |along| {
            let (right, up) = (x.saturating_add(along), y.saturating_add(along));
            let points = [
                west.map(|x| TilePoint { x, y: up }),
                east.map(|x| TilePoint { x, y: up }),
                south.map(|y| TilePoint { x: right, y }),
                north.map(|y| TilePoint { x: right, y }),
            ];
            points.into_iter().flatten().filter_map(|point| self.grant_at(point))
        })
    }

    /// Says whether so many keys began or ended to hold land in the last turns that others have to wait.
    pub(crate) fn is_busy(&self) -> bool {
        self.week.changed.len() >= LAND_KEYS_CHANGED_MAX
    }

    /// Says whether the world may have one more grant.
    pub(crate) fn has_room(&self) -> bool {
        self.grants.len() < GRANTS_MAX
    }

    /// Returns how many squares a key holds.
    pub(crate) fn held_by(&self, key: &PublicKey) -> u32 {
        self.held.get(key).copied().unwrap_or_default()
    }

    /// Grants a square to a sim that begins with these validators.
    pub(crate) fn insert(&mut self, grant: LandGrant, validators: Vec<Validator>) {
        let (square, has_run) = (grant.square, grant.shown > Height(0));
        self.enter(grant, GrantedSim { square, validators, beacons_at: None, has_run });
    }

    fn enter(&mut self, grant: LandGrant, granted: GrantedSim) {
        let code = code(grant.square);
        self.sims.insert(grant.sim, granted);
        *self.held.entry(grant.holder).or_default() += 1;
        self.ends.insert((grant.until, code));
        self.keys.add(&grant, self.height, &mut self.week.changed);
        self.grants.insert(code, grant);
    }

    /// Takes the grant of a square out of the register.
    pub(crate) fn remove(&mut self, square: Square) -> Option<LandGrant> {
        let code = code(square);
        let grant = self.grants.remove(&code)?;
        self.sims.remove(&grant.sim);
        self.ends.remove(&(grant.until, code));
        self.keys.take(&grant, self.height, &mut self.week.changed);
        if let Some(held) = self.held.get_mut(&grant.holder) {
            *held = held.saturating_sub(1);
            if *held == 0 {
                self.held.remove(&grant.holder);
            }
        }
        Some(grant)
    }

    /// Replaces the grant of a square, and who votes in its sim. Other beacons are a change at this time.
    pub(crate) fn replace(&mut self, grant: LandGrant, validators: Vec<Validator>, time: u64) {
        let before = self.grant_of(grant.square);
        let lets_in = before.is_none_or(|before| names_other(&before.beacons, &grant.beacons));
        let known = before.and_then(|before| self.sims.get(&before.sim));
        let changed = known.and_then(|known| known.beacons_at);
        let beacons_at = if lets_in { Some(Millis(time)) } else { changed };
        // The heights of a successor begin anew, and its square is no less in use for that.
        let has_run = grant.shown > Height(0) || known.is_some_and(|known| known.has_run);
        let granted = GrantedSim { square: grant.square, validators, beacons_at, has_run };
        self.remove(grant.square);
        self.enter(grant, granted);
    }

    /// Returns the minutes for which the beacons of a grant stay as they are; none if they may become these.
    pub(crate) fn beacons_wait(
        &self,
        grant: &LandGrant,
        beacons: &[PublicKey],
        time: u64,
    ) -> Option<u32> {
        // To leave one out lets nobody in, and may be urgent: it was stolen.
        if !names_other(&grant.beacons, beacons) {
            return None;
        }
        let from = self.sims.get(&grant.sim)?.beacons_at?.0.saturating_add(BEACONS_CHANGE_MS_MIN);
        let left = from.checked_sub(time).filter(|left| *left > 0)?;
        Some(u32::try_from(left.div_ceil(60_000)).unwrap_or(u32::MAX))
    }

    /// Makes another key the holder of all squares of one.
    pub(crate) fn change_holder(&mut self, old: &PublicKey, new: PublicKey) {
        if let Some(square) = self.week.sponsors.remove(old) {
            self.week.sponsors.insert(new, square);
        }
        let Some(count) = self.held.remove(old) else { return };
        self.held.insert(new, count);
        let codes = self.grants.iter().filter(|(_, grant)| grant.holder == *old);
        for code in codes.map(|(code, _)| *code).collect::<Vec<u64>>() {
            if let Some(grant) = self.grants.get_mut(&code) {
                self.keys.take(grant, self.height, &mut self.week.changed);
                grant.holder = new;
                self.keys.add(grant, self.height, &mut self.week.changed);
            }
        }
    }

    /// Counts a square that was granted, and who vouched for it.
    pub(crate) fn count(&mut self, sponsor: Option<(PublicKey, Square)>) {
        self.week.granted = self.week.granted.saturating_add(1);
        self.week.sponsors.extend(sponsor);
    }

    /// Begins the turn of this height and governance time: a new week counts anew, and grants that are over fall back,
    /// so many in a turn.
    pub(crate) fn pass(&mut self, height: Height, time: u64) {
        self.height = height;
        self.week.changed.pass(height);
        let week = time / WEEK_MS;
        if week != self.week.week {
            let changed = core::mem::take(&mut self.week.changed);
            self.week = LandWeek { week, changed, ..LandWeek::default() };
        }
        for _ in 0..LAND_LAPSES_PER_TURN {
            let due = self.ends.first().filter(|(until, _)| until.0 <= time);
            let Some(grant) = due.and_then(|(_, code)| self.grants.get(code)) else {
                return;
            };
            self.remove(grant.square);
        }
    }
}

/// Says whether a list has a key that was not in the one before.
fn names_other(before: &[PublicKey], list: &[PublicKey]) -> bool {
    list.iter().any(|key| !before.contains(key))
}

/// Returns the place of a square's corner on the curve through the quadtree.
fn code(square: Square) -> u64 {
    TilePoint::corner(square).quadtree_code()
}

/// Says whether a head is of a sim on this square of this world.
pub(crate) fn lies_on(head: &GenesisHead, world: SimId, square: Square) -> bool {
    head.site.is_some_and(|site| site.world == world && site.square == square)
}

#[cfg(test)]
mod tests {
    use metatopia_types::Digest;

    use super::*;

    /// A register that somebody made up is no state: to take back a square without its sim would end every server.
    #[test]
    fn each_grant_has_its_sim_and_each_that_showed_a_header_has_run() {
        let grant = |x, shown| LandGrant {
            square: Square { x, y: 0, doublings: 0 },
            sim: SimId(Digest::of("a test's sim", &[9])),
            holder: PublicKey([7; 32]),
            beacons: Vec::new(),
            epoch: 1,
            until: Millis(9),
            shown: Height(shown),
        };
        let sim = |x, has_run| {
            let square = Square { x, y: 0, doublings: 0 };
            let granted = GrantedSim { square, validators: vec![], beacons_at: None, has_run };
            (grant(x, 0).sim, granted)
        };
        let is_whole = |grants: Vec<LandGrant>, sims| {
            LandRegister::restore(LandWeek::default(), grants, sims).is_whole()
        };
        assert!(is_whole(vec![grant(2, 5)], vec![sim(2, true)]));
        assert!(is_whole(vec![grant(2, 0)], vec![sim(2, true)]), "it succeeds one that ran");
        assert!(!is_whole(vec![grant(2, 5)], vec![sim(2, false)]));
        assert!(!is_whole(vec![grant(2, 0)], vec![sim(4, false)]));
        assert!(!is_whole(vec![grant(2, 0)], Vec::new()));
        assert!(!is_whole(vec![grant(2, 0), grant(4, 0)], vec![sim(2, false)]));
        assert!(!is_whole(Vec::new(), vec![sim(2, false)]));
    }

    #[test]
    fn a_world_has_so_many_grants_and_no_more() {
        let mut register = LandRegister::default();
        for n in 0..GRANTS_MAX as i32 {
            assert!(register.has_room(), "grant {n}");
            let square = Square { x: 2 * (n % 256), y: 2 * (n / 256), doublings: 0 };
            let sim = SimId(Digest::of("a test's sim", &n.to_le_bytes()));
            let (holder, beacons) = (PublicKey([7; 32]), Vec::new());
            let (epoch, until, shown) = (1, Millis(9), Height(0));
            let grant = LandGrant { square, sim, holder, beacons, epoch, until, shown };
            register.insert(grant, Vec::new());
        }
        assert!(!register.has_room());
        assert_eq!(register.held_by(&PublicKey([7; 32])), GRANTS_MAX as u32);

        register.pass(Height(1), 9);
        assert_eq!(register.grants.len(), GRANTS_MAX - LAND_LAPSES_PER_TURN);
        assert!(register.has_room());
    }
}
