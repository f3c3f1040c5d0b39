//! Sending home: admins have what came over a border depart at once, from wherever it is. Its scripts are not asked, so
//! none can undo it.

use metatopia_math::Vec2;
use metatopia_types::{
    BorderRefusal, HandRefusal, ObjectId, Parcel, SimId, TravellingThing, limits::PARCEL_BYTES_MAX,
    wire,
};

use super::{mechanism::PackedMechanism, sim_state::State, travel::ThingDeparture};

/// A thing that is sent home with what is joined to it, packed at the line.
pub(crate) struct SentHome {
    packed: Box<PackedMechanism>,
    neighbour: SimId,
}

impl State {
    /// Decides whether a thing is sent back to a neighbour.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub(crate) fn sent_home(
        &self,
        neighbour: SimId,
        object: ObjectId,
    ) -> Result<SentHome, BorderRefusal> {
        let border = self.borders.all.get(&neighbour).ok_or(BorderRefusal::NoBorder)?;
        let own = self.charter.site.ok_or(BorderRefusal::OtherWorld)?.square;
        let way = border.way(own).filter(|_| border.wall(self.clock.time).is_none());
        let way = way.ok_or(BorderRefusal::Walled)?;
        let main = self.guest_to_send(neighbour, object)?;
        let waited = self.waited(neighbour).ok_or(BorderRefusal::NoBorder)?;
        let mut packed = self.packed_mechanism(main, waited).ok_or(BorderRefusal::TooLarge)?;
        let others = packed.companions.things.iter();
        let places = others.chain([&packed.main]).map(|thing: &TravellingThing| thing.position);
        let out = way.way_out(packed.main.position, places);
        for thing in packed.companions.things.iter_mut().chain([&mut packed.main]) {
            let mut body = self.body_of(thing).expect("a body that was just packed");
            body.pose.position = body.pose.position.saturating_add(out);
            body.velocity = Vec2::ZERO;
            (thing.position, thing.velocity) = (body.pose.position, body.velocity);
            thing.body = wire::encode(&body);
        }
        let parcel = Parcel::Thing(Box::new(packed.main.clone()), packed.companions.clone());
        if parcel.encode().len() > PARCEL_BYTES_MAX {
            return Err(BorderRefusal::TooLarge);
        }
        Ok(SentHome { packed: Box::new(packed), neighbour })
    }

    /// Decides whether a thing may be sent back. Returns the main thing of what is joined to it.
    fn guest_to_send(&self, neighbour: SimId, object: ObjectId) -> Result<ObjectId, BorderRefusal> {
        if !self.is_guest_of(object, neighbour) {
            return Err(BorderRefusal::NoGuest);
        }
        let main = self.main_of(object).ok_or(BorderRefusal::JoinedHere)?;
        let ids = self.mechanism(main).ok_or(BorderRefusal::JoinedHere)?;
        if !ids.iter().all(|id| self.is_guest_of(*id, neighbour)) {
            return Err(BorderRefusal::JoinedHere);
        }
        if ids.iter().any(|id| self.is_held(*id) || self.sitter(*id).is_some()) {
            return Err(BorderRefusal::InUse);
        }
        for id in &ids {
            self.sets_free(*id).map_err(|why| match why {
                HandRefusal::JustCame => BorderRefusal::JustCame,
                _ => BorderRefusal::Held,
            })?;
        }
        // Its owner may not keep here by not letting it travel what the admins of this sim do not want.
        let goes_at_once = self.is_movable_as_one(main, |id| self.sets_free(id));
        goes_at_once.map_err(|_| BorderRefusal::JoinedHere)?;
        Ok(main)
    }

    /// Has a thing depart that was packed just now.
    pub(crate) fn send_home(&mut self, sent: SentHome) {
        let departure = self.depart_packed(*sent.packed, sent.neighbour);
        assert_eq!(departure, ThingDeparture::Sent, "it was decided in the same state");
    }

    /// Says whether a thing came from a neighbour, or was born there.
    fn is_guest_of(&self, id: ObjectId, neighbour: SimId) -> bool {
        self.objects.get(&id).is_some_and(|object| {
            object.guest.is_some_and(|guest| guest.from == neighbour)
                || object.birth.is_some_and(|birth| birth.sim == neighbour)
        })
    }
}
