//! Border frames that this sim makes: which of its bodies a neighbour has ghosts of.

use metatopia_math::Fx;
use metatopia_physics::{Body, limits::MOVING_SIZE_MAX};
use metatopia_types::{
    BorderFrame, FrameBody, Parcel, SimId, Traveller, limits::BORDER_BODIES_MAX, wire,
};

use super::sim_state::State;
use crate::{
    limits::{FRAME_MS, GHOST_METRES},
    space::{BorderLine, GhostPlace, framed},
};

impl State {
    /// Makes the frame of a border anew, if its time has come and something moved. A border without a line, which is
    /// closed, has nothing in it. The frame always fits beside what else is said after this turn.
    pub(super) fn renew_frame(&mut self, neighbour: SimId, line: Option<&BorderLine>) {
        let Some(border) = self.borders.all.get(&neighbour) else { return };
        let (said, now) = (&border.crossing.said, self.clock.time);
        let is_due = now.since(said.frame.made) >= FRAME_MS;
        let bodies = match line {
            None => Vec::new(),
            Some(line) if is_due => nearest(line, self.bodies_near(line), said.room_for_frame()),
            Some(_) if said.frame.bodies.is_empty() => return,
            Some(line) => nearest(line, said.frame.bodies.clone(), said.room_for_frame()),
        };
        if bodies == said.frame.bodies {
            return;
        }
        let made = if is_due { now } else { said.frame.made };
        let border = self.borders.all.get_mut(&neighbour).expect("a border that was just seen");
        border.crossing.said.frame = BorderFrame { made, bodies };
    }

    /// Returns the own bodies near a line of which the neighbour may have ghosts.
    fn bodies_near(&self, line: &BorderLine) -> Vec<FrameBody> {
        let far = MOVING_SIZE_MAX.saturating_mul(Fx::from_int(2));
        let far = far.saturating_add(Fx::from_int(GHOST_METRES));
        let own = self.bodies.own().iter();
        let near = own.filter(|body| line.distance(body.position()) <= far);
        let named = near.filter_map(|body| framed(body, self.traveller(body)?));
        named.filter(|body| GhostPlace::there(body).may_be_said(line)).collect()
    }

    /// Returns whose avatar a body is or what thing, if it stands by itself: what is in hand meets nothing.
    fn traveller(&self, body: &Body) -> Option<Traveller> {
        let id = body.id();
        let object = self.objects.get(&id)?;
        match object.player {
            Some(player) => Some(Traveller::Person(player)),
            None if self.is_held(id) => None,
            None => Some(Traveller::Thing(object.origin(self.charter.sim, id))),
        }
    }

    /// Takes those who depart in a parcel out of all frames: they stand here no more.
    pub(super) fn leave_frames(&mut self, parcel: &Parcel) {
        let things = parcel.things().map(|thing| Traveller::Thing(thing.origin));
        let gone: Vec<Traveller> = things.chain([parcel.traveller()]).collect();
        let is_gone = |body: &FrameBody| gone.contains(&body.traveller);
        let borders = self.borders.all.iter();
        let named =
            borders.filter(|(_, border)| border.crossing.said.frame.bodies.iter().any(is_gone));
        let named: Vec<SimId> = named.map(|(neighbour, _)| *neighbour).collect();
        for neighbour in named {
            let border = self.borders.all.get_mut(&neighbour).expect("a border just seen");
            border.crossing.said.frame.bodies.retain(|body| !is_gone(body));
        }
    }
}

/// Returns the bodies that are nearest to a line, as many as a frame may have in so many bytes, in the order of who
/// and what they are.
fn nearest(line: &BorderLine, mut bodies: Vec<FrameBody>, room: usize) -> Vec<FrameBody> {
    bodies.sort_by_cached_key(|body| (GhostPlace::there(body).distance(line), body.traveller));
    let mut left = room;
    let fits = |body: &FrameBody| {
        let rest = left.checked_sub(wire::length(body));
        left = rest.unwrap_or_default();
        rest.is_some()
    };
    let mut nearest: Vec<FrameBody> =
        bodies.into_iter().take(BORDER_BODIES_MAX).take_while(fits).collect();
    nearest.sort_by_key(|body| body.traveller);
    nearest
}
