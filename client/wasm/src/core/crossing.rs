//! Walking over a border: two cores hand the person over, each with what its own sim proved.
//!
//! The core of the sim that is left draws on who departed, and says nothing more for her. The core of the sim
//! that is entered looks at the ground behind the line, and takes the avatar for the own one once it is there.

use std::time::Duration;

use metatopia_client::{NeighbourGround, edge_gap, square_of};
use metatopia_math::{Fx, Vec2};
use metatopia_protocol::BorderEntry;
use metatopia_types::{Look, SimId};
use serde_json::Value;

use super::{ClientCore, deeds::CorePerson};

/// Ground behind a line that the own avatar may pass, on which it is foreseen to walk on, in metres. Long before
/// its end the avatar has departed.
const FORESEEN_BEYOND: Fx = Fx::from_int(8);

/// Somebody who looks over a border sees 40 m: views are asked for anew only after so many metres.
const LOOK_STEP: Fx = Fx::from_int(4);

/// Nearer than this to an edge or a portal, in metres, views are asked for around the own avatar also for the time when
/// it is gone: it may depart, and what it leaves behind stays in sight.
const AT_EDGE: Fx = Fx::from_int(8);

/// What is known of the way over a border.
#[derive(Debug, Default)]
pub(super) struct BorderPassage {
    /// The person comes over a border into this sim.
    pub(super) is_expected: bool,
    /// The borders, as the node told of them last.
    pub(super) borders: Vec<BorderEntry>,
    /// When they were asked for last.
    pub(super) asked: Option<Duration>,
    /// The neighbour that lets the person over.
    pass: Option<SimId>,
    /// The departure after which the person was told last why she came home: to which sim, and its number.
    told_back: Option<(SimId, u64)>,
}

impl ClientCore {
    /// Leaves out of an answer why the person came home where she was told.
    pub(super) fn forget_told_returns(&mut self, borders: &mut [BorderEntry]) {
        for border in borders {
            let Some(answer) = &mut border.answer else { continue };
            let number = answer.turned_back.map(|(number, _)| (border.neighbour, number));
            if number.is_some() && self.passage.told_back == number {
                answer.turned_back = None;
            }
            self.passage.told_back = number.or(self.passage.told_back);
        }
    }

    /// Notes which borders there are.
    pub(super) fn note_borders(&mut self, borders: Vec<BorderEntry>) {
        let portals = borders.iter().filter_map(|border| border.portal);
        self.picture.portals = portals.map(|portal| portal.here).collect();
        self.passage.borders = borders;
    }

    /// A neighbour lets the person over; none does, if none is named.
    pub(super) fn may_pass(&mut self, command: u64, to: Option<&str>) {
        self.passage.pass = to.and_then(|to| to.parse().ok());
        self.done(command, &Value::Null);
    }

    /// Notes whether the person may come over a border into this sim.
    pub(super) fn expect(&mut self, command: u64, expected: bool) {
        self.passage.is_expected = expected;
        self.foresight.begin_anew();
        self.done(command, &Value::Null);
    }

    /// Looks over a border at a place of this sim, if it is one.
    pub(super) fn look_over(&mut self, command: u64, place: Option<Vec2>) {
        if let Some(place) = place {
            self.look_at(place);
        }
        self.done(command, &Value::Null);
    }

    /// Looks at where the own avatar is if that is near an edge or a portal, so that its surroundings stay in
    /// sight when it departs.
    pub(super) fn look_at_edge(&mut self) {
        let sight = self.session.sight();
        let place = sight.me().and_then(|_| sight.position());
        let is_at_edge = |place: &Vec2| {
            let gap = square_of(&self.genesis).and_then(|square| edge_gap(square, *place));
            let mut portals = self.picture.portals.iter();
            gap.is_some_and(|gap| gap < AT_EDGE) || portals.any(|at| at.distance(*place) < AT_EDGE)
        };
        if let Some(place) = place.filter(is_at_edge) {
            self.look_at(place);
        }
    }

    /// Looks at a place while there is no avatar here.
    fn look_at(&mut self, place: Vec2) {
        let is_far = |at: Vec2| at.distance(place) >= LOOK_STEP;
        if self.pulse.at().is_none_or(is_far) {
            self.pulse.look_at(place);
            self.session.view(Some(self.pulse.watching()));
        }
    }

    /// Begins to act for the person, who has arrived from a neighbour, without a login.
    pub(super) fn arrive(&mut self, command: u64, name: String, look: Look) {
        self.deeds.person = Some(CorePerson { name, look });
        self.deeds.is_here = true;
        self.deeds.lives(self.now);
        self.passage.is_expected = false;
        // The neighbour's heading came along, and what was said here before the arrival did not count.
        self.walker.forget();
        self.done(command, &Value::Null);
    }

    /// Stops acting for the person, who is in a neighbour now. This core only watches from then on.
    pub(super) fn let_go(&mut self, command: u64) {
        (self.deeds.person, self.deeds.is_here) = (None, false);
        self.passage.pass = None;
        self.picture.let_go();
        self.done(command, &Value::Null);
    }

    /// Returns the corners of the ground on which the own avatar is foreseen to walk.
    pub(super) fn foreseen_ground(&self) -> (Vec2, Vec2) {
        let ground = self.genesis.parameters.ground;
        let passage = &self.passage;
        let passed = |border: &&BorderEntry| passage.pass == Some(border.neighbour);
        let ends = square_of(&self.genesis)
            .zip(passage.borders.iter().find(passed))
            .and_then(|(own, border)| NeighbourGround::of(own, border).ends());
        open_over(ground.low, ground.high, ends)
    }
}

/// Returns the ground, larger where the line with these ends is.
fn open_over(low: Vec2, high: Vec2, line: Option<(Vec2, Vec2)>) -> (Vec2, Vec2) {
    let Some((from, to)) = line else { return (low, high) };
    let (mut low, mut high) = (low, high);
    if from.x == to.x && from.x == high.x {
        high.x = high.x.saturating_add(FORESEEN_BEYOND);
    } else if from.x == to.x {
        low.x = low.x.saturating_sub(FORESEEN_BEYOND);
    } else if from.y == high.y {
        high.y = high.y.saturating_add(FORESEEN_BEYOND);
    } else {
        low.y = low.y.saturating_sub(FORESEEN_BEYOND);
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ground_that_is_foreseen_goes_on_behind_the_line_alone() {
        let at = |x: i32, y: i32| Vec2::new(Fx::from_int(x), Fx::from_int(y));
        let open = |from, to| open_over(at(-64, -64), at(64, 64), Some((from, to)));
        assert_eq!(open(at(64, -64), at(64, 64)), (at(-64, -64), at(72, 64)));
        assert_eq!(open(at(-64, 0), at(-64, 64)), (at(-72, -64), at(64, 64)));
        assert_eq!(open(at(-64, 64), at(0, 64)), (at(-64, -64), at(64, 72)));
        assert_eq!(open(at(-64, -64), at(0, -64)), (at(-64, -72), at(64, 64)));
        assert_eq!(open_over(at(-64, -64), at(64, 64), None), (at(-64, -64), at(64, 64)));
    }
}
