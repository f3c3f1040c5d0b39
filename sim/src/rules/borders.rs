//! Borders: what a sim keeps of each neighbour, and what it believes of a dispatch.

use std::collections::BTreeMap;

use metatopia_math::Vec2;
use metatopia_physics::BodySpec;
use metatopia_types::{
    BorderGuest, CrossingPass, Digest, Dispatch, GenesisHead, HearRefusal, Height, HomeReason,
    Lane, Millis, ObjectId, Origin, PackageId, Parcel, ProvedSaid, PublicKey, SimId, Square,
    TravellingThing, Validator, ValidatorSet, Verify, Worth, carries_on,
    limits::BORDER_OFFICES_MAX, wire,
};
use serde::{Deserialize, Serialize};

use super::{
    controls::CrossingBug,
    crossing::{Crossing, HeardSaid, Wall},
};
use crate::{
    limits::{PULSE_MS, TURNED_BACK_MAX},
    space::BorderWay,
    state::{Ghosts, State, World},
    tree::Tracked,
};

/// What a sim keeps of one neighbour. What it says to it is in a leaf of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Border {
    /// The neighbour's square.
    pub square: Square,
    /// Who votes there after the turn of the height that was followed.
    pub validators: Vec<Validator>,
    /// The height up to which its validator sets were followed.
    pub followed: Height,
    /// Whether it signed two states of one height: then nothing is believed of it any more.
    pub frozen: bool,
    /// What goes over the border and came.
    pub crossing: Crossing,
    /// The lanes in which people approached, who play in them once they are here.
    pub lanes: BTreeMap<PublicKey, Lane>,
    /// The people who came home of late, in this order: at most [`TURNED_BACK_MAX`].
    pub turned_back: Vec<TurnedBack>,
}

/// A way over a border that ended at home, because the neighbour did not take her.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnedBack {
    /// Who it is.
    pub person: PublicKey,
    /// The number of her departure.
    pub number: u64,
    /// Why she was not taken.
    pub why: HomeReason,
    /// The time of this sim at which she came home.
    pub at: Millis,
}

/// A border of a sim, as it is told to people and couriers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BorderSummary {
    /// The id of the neighbour.
    pub neighbour: SimId,
    /// The square on which the neighbour lies.
    pub square: Square,
    /// The middle of the portal to it on this side; none where the ground ends at a line.
    pub portal: Option<Vec2>,
    /// The middle of the portal on the other side, as far as it was heard.
    pub portal_there: Option<Vec2>,
    /// Why nothing departs now; none if something may.
    pub wall: Option<Wall>,
    /// Whether the border is open on this side.
    pub open: bool,
    /// The height up to which the neighbour's validator sets were followed: links from here on are news.
    pub followed: Height,
    /// Who votes there.
    pub validators: Vec<PublicKey>,
    /// What was heard last of it: the height and time of the state, by its own clock.
    pub heard: Option<(Height, Millis)>,
    /// When that was heard, by the time of this sim.
    pub heard_at: Option<Millis>,
    /// People of either sim near the line.
    pub near: usize,
    /// Departures under way, verdicts that stand, arrivals that their sender has not settled.
    pub under_way: usize,
    /// Verdicts that are listed.
    pub verdicts: usize,
    /// Arrivals that are not settled by their sender.
    pub pinned: usize,
}

/// All borders of a sim.
#[derive(Debug, Clone, Default)]
pub(crate) struct Borders {
    /// The borders by their neighbours.
    pub(crate) all: Tracked<SimId, Border>,
    /// The parcels of departures under way, by neighbour and number.
    pub(crate) parcels: Tracked<(SimId, u64), Vec<u8>>,
    /// The bodies of neighbours that stand here as ghosts; none of a neighbour without any.
    pub(crate) ghosts: Tracked<SimId, Ghosts>,
    /// Index: the things that are under way, by the numbers that they had here.
    pub(crate) away: BTreeMap<ObjectId, AwayThing>,
    /// The rule that a simulated world breaks: see [`Borders::broken`].
    pub(crate) bug: Option<CrossingBug>,
}

/// Index: what is known of a thing that is under way, so that there is room for it if it comes back.
#[derive(Debug, Clone)]
pub(crate) struct AwayThing {
    /// Where it was born, and as what.
    pub(crate) origin: Origin,
    /// The owner of the thing.
    pub(crate) owner: Option<PublicKey>,
    /// The border against whose share it counts.
    pub(crate) guest: Option<BorderGuest>,
    /// What its scripts run.
    pub(crate) packages: Vec<PackageId>,
    /// Bytes of its text.
    pub(crate) text: usize,
    /// Whether it is of several parts.
    pub(crate) is_compound: bool,
}

impl AwayThing {
    /// Returns what is kept of a thing that departs.
    pub(crate) fn of(thing: &TravellingThing) -> Self {
        let body = wire::decode::<BodySpec>(&thing.body, thing.body.len());
        Self {
            origin: thing.origin,
            owner: thing.owner,
            guest: thing.guest,
            packages: thing.scripts.iter().map(|script| script.package).collect(),
            text: thing.text.len(),
            is_compound: body.is_ok_and(|body| body.shape.is_compound()),
        }
    }
}

impl Border {
    /// Returns a border on which nothing was said yet, to the sim of this head.
    pub(crate) fn new(square: Square, set: &ValidatorSet) -> Self {
        Self {
            square,
            validators: set.members().to_vec(),
            followed: Height(0),
            frozen: false,
            crossing: Crossing::default(),
            lanes: BTreeMap::new(),
            turned_back: Vec::new(),
        }
    }

    /// Notes that somebody came home. Of her only the last time is known, and of too many people the first is
    /// forgotten: it is for her alone to read.
    pub(crate) fn note_turned_back(&mut self, turned: TurnedBack) {
        self.turned_back.retain(|known| known.person != turned.person);
        if self.turned_back.len() >= TURNED_BACK_MAX {
            self.turned_back.remove(0);
        }
        self.turned_back.push(turned);
    }

    /// Returns the answer of the neighbour to somebody who approached it, while that counts.
    pub(crate) fn pass_of(&self, person: &PublicKey) -> Option<&CrossingPass> {
        let said = &self.crossing.heard.as_ref()?.said;
        said.passes.iter().find(|pass| pass.person == *person && pass.until >= said.time)
    }

    /// Returns why nothing departs at a time of this sim; nothing if something may.
    pub(crate) fn wall(&self, now: Millis) -> Option<Wall> {
        if self.frozen { Some(Wall::Frozen) } else { self.crossing.wall(now) }
    }

    /// Returns the way to this neighbour from a sim on a square.
    pub(crate) fn way(&self, own: Square) -> Option<BorderWay> {
        BorderWay::between(own, self.square, self.crossing.said.portal)
    }

    /// Returns the validators as a set.
    fn set(&self) -> ValidatorSet {
        ValidatorSet::new(self.validators.clone(), |_| true).expect("only sets are recorded")
    }
}

impl Borders {
    /// Returns the rule that a simulated world breaks. A program without the feature `controls` breaks none, and has no
    /// code that could.
    pub(crate) const fn broken(&self) -> Option<CrossingBug> {
        if cfg!(feature = "controls") { self.bug } else { None }
    }

    /// Says whether there is none, which is all that a sim without borders asks in a turn.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.len() == 0
    }

    /// Builds the index of what is under way.
    pub(crate) fn index(&mut self) {
        let parcels = self.parcels.iter().filter_map(|(_, bytes)| Parcel::decode(bytes).ok());
        let away = |thing: &TravellingThing| (thing.handle, AwayThing::of(thing));
        let things = |parcel: Parcel| parcel.things().map(away).collect::<Vec<_>>();
        self.away = parcels.flat_map(things).collect();
    }

    /// Says whether the thing of this origin is under way.
    pub(crate) fn is_under_way(&self, origin: Origin) -> bool {
        self.away.values().any(|away| away.origin == origin)
    }

    /// Marks everything as changed.
    pub(crate) fn touch_all(&mut self) {
        self.all.touch_all();
        self.parcels.touch_all();
        self.ghosts.touch_all();
    }
}

/// What a dispatch changes of a border before what it says is looked at.
#[derive(Debug, Clone)]
pub(crate) struct BelievedDispatch {
    /// What it is worth.
    pub(crate) worth: Worth,
    /// Who votes after which height.
    pub(crate) followed: (Height, Vec<Validator>),
    /// What it proves; none if it is of links only, or if it is the fork of what was heard.
    pub(crate) proved: Option<ProvedSaid>,
}

impl State {
    /// Returns what a dispatch of a neighbour proves and is worth at a time of this sim.
    ///
    /// # Errors
    /// See [`HearRefusal`].
    pub(crate) fn believe(
        &self,
        neighbour: SimId,
        dispatch: &Dispatch,
        scheme: &dyn Verify,
    ) -> Result<BelievedDispatch, HearRefusal> {
        let border = self.borders.all.get(&neighbour).ok_or(HearRefusal::NoBorder)?;
        if border.frozen {
            return Err(HearRefusal::Frozen);
        }
        let heard = border.crossing.heard.as_ref();
        let hears_old = self.borders.broken() == Some(CrossingBug::OldEpochs);
        let followed = if hears_old { Height(0) } else { border.followed };
        let known = (followed, &border.set());
        // What was heard already needs no signature to be refused.
        if let Some((state, heard)) = dispatch.state.as_ref().zip(heard)
            && (state.header.height < heard.proved_at && !hears_old
                || state.header.id() == heard.header)
        {
            return Err(HearRefusal::NothingNew);
        }
        let ((height, set), proved) = dispatch.prove(neighbour, self.charter.sim, known, scheme)?;
        let is_new_set = set.id() != known.1.id();
        let followed = (height, set.members().to_vec());
        let Some(proved) = proved else {
            return Ok(BelievedDispatch { worth: Worth::Links, followed, proved: None });
        };
        if !self.is_frame_at_line(neighbour, &proved.said.frame) {
            return Err(HearRefusal::BadSaid);
        }
        let is_revived = |heard: &HeardSaid| hears_old && proved.said.epoch < heard.said.epoch;
        let worth = match heard {
            Some(heard) if heard.proved_at == proved.at => Worth::Fork,
            Some(heard) if heard.said.height >= proved.said.height && !is_revived(heard) => {
                return Err(HearRefusal::NothingNew);
            }
            Some(heard) if heard.said.news() == proved.said.news() => {
                let brings = |departure: &metatopia_types::BorderDeparture| {
                    departure.number >= border.crossing.said.in_next
                        && proved.parcels.contains_key(&departure.parcel)
                };
                let waits = self.clock.time.since(heard.at) < PULSE_MS;
                match () {
                    () if proved.said.departures.iter().any(brings) => Worth::News,
                    () if is_new_set => Worth::Links,
                    () if waits => return Err(HearRefusal::NothingNew),
                    () => Worth::Time,
                }
            }
            _ => Worth::News,
        };
        Ok(BelievedDispatch { worth, followed, proved: Some(proved) })
    }

    /// Notes what a dispatch proves of who votes, and returns what it says, to be heard now.
    pub(crate) fn note_believed(
        &mut self,
        neighbour: SimId,
        believed: BelievedDispatch,
    ) -> Option<(HeardSaid, BTreeMap<Digest, Vec<u8>>)> {
        let now = self.clock.time;
        let border = self.borders.all.get_mut(&neighbour)?;
        if believed.worth == Worth::Fork {
            border.frozen = true;
            return None;
        }
        (border.followed, border.validators) = believed.followed;
        let ProvedSaid { at: proved_at, header, said, parcels } = believed.proved?;
        Some((HeardSaid { said, at: now, proved_at, header }, parcels))
    }
}

/// Returns who votes first in the sim of a head, and where it lies, if it may be a neighbour of a sim that
/// lies in a world. These heads of land offices show that its world carries on the one that the head names.
pub(crate) fn neighbour_of(
    state: &State,
    head: &GenesisHead,
    offices: &[GenesisHead],
) -> Result<(Square, ValidatorSet), metatopia_types::BorderRefusal> {
    use metatopia_types::BorderRefusal;
    let set = head.check().map_err(|_| BorderRefusal::BadHead)?;
    let own = state.charter.site.ok_or(BorderRefusal::OtherWorld)?;
    if head.id() == state.charter.sim {
        return Err(BorderRefusal::Itself);
    }
    // The land office is a sim of its own world.
    let founded = head.office.as_ref().map(|office| (head.id(), office.square));
    let site = head.site.map(|site| (site.world, site.square)).or(founded);
    let (world, square) = site.ok_or(BorderRefusal::OtherWorld)?;
    if offices.len() > BORDER_OFFICES_MAX || !carries_on(own.world, world, offices) {
        return Err(BorderRefusal::OtherWorld);
    }
    square.check().map_err(|_| BorderRefusal::BadHead)?;
    Ok((square, set))
}

impl World {
    /// Returns the borders of the sim, by their neighbours.
    #[must_use]
    pub fn borders(&self) -> Vec<BorderSummary> {
        let now = self.time();
        let summary = |(neighbour, border): (&SimId, &Border)| {
            let Crossing { said, heard, pinned } = &border.crossing;
            BorderSummary {
                neighbour: *neighbour,
                square: border.square,
                portal: said.portal,
                portal_there: heard.as_ref().and_then(|heard| heard.said.portal),
                wall: border.wall(now),
                open: said.open,
                followed: border.followed,
                validators: border.validators.iter().map(|member| member.key).collect(),
                heard: heard.as_ref().map(|heard| (heard.said.height, heard.said.time)),
                heard_at: heard.as_ref().map(|heard| heard.at),
                near: said.near.len() + heard.as_ref().map_or(0, |heard| heard.said.near.len()),
                under_way: said.departures.len(),
                verdicts: said.verdicts.len(),
                pinned: pinned.len(),
            }
        };
        self.state.borders.all.iter().map(summary).collect()
    }

    /// Returns the ledger of the border to a neighbour.
    #[must_use]
    pub fn border(&self, neighbour: &SimId) -> Option<&Border> {
        self.state.borders.all.get(neighbour)
    }

    /// Returns a digest that is another one when there is something new to say to a neighbour.
    #[must_use]
    pub fn dispatch_news(&self, neighbour: &SimId) -> Option<Digest> {
        Some(self.border(neighbour)?.crossing.said.news())
    }

    /// Returns the parcels that are under way to a neighbour, in the order of their numbers.
    pub fn parcels(&self, neighbour: SimId) -> impl Iterator<Item = &[u8]> {
        let range = self.state.borders.parcels.iter();
        let own = range.filter(move |((to, _), _)| *to == neighbour);
        own.map(|(_, bytes)| bytes.as_slice())
    }

    /// Says what a dispatch of a neighbour is worth after the last applied turn. A server asks before it
    /// proposes one; applying the turn asks again.
    ///
    /// # Errors
    /// See [`HearRefusal`].
    pub fn check_dispatch(
        &self,
        neighbour: SimId,
        dispatch: &Dispatch,
    ) -> Result<Worth, HearRefusal> {
        let scheme = &*self.tools().verify;
        self.state.believe(neighbour, dispatch, scheme).map(|believed| believed.worth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_so_many_who_came_home_the_last_ones_are_known_and_each_once() {
        let square = Square { x: 0, y: 0, doublings: 0 };
        let set =
            ValidatorSet::new(vec![Validator { key: PublicKey([1; 32]), power: 1 }], |_| true);
        let mut border = Border::new(square, &set.expect("a set"));
        let mut note = |n: u8, number: u64| {
            let (why, at) = (HomeReason::Deadline, Millis(number));
            border.note_turned_back(TurnedBack { person: PublicKey([n; 32]), number, why, at });
            border.turned_back.iter().map(|turned| turned.number).collect::<Vec<u64>>()
        };
        (0..TURNED_BACK_MAX as u64).for_each(|n| drop(note(n as u8, n)));
        let known = note(1, 99);
        assert_eq!((known.len(), known[1], known.last()), (TURNED_BACK_MAX, 2, Some(&99)));
        let known = note(200, 100);
        assert_eq!((known.len(), known[0], known.last()), (TURNED_BACK_MAX, 2, Some(&100)));
    }
}
