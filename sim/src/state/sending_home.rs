//! Sending home: admins have what came over a border put past its line or into its portal. From there it departs at the
//! end of the turn, as whatever moves there by itself.

use metatopia_math::Vec2;
use metatopia_types::{BorderRefusal, ObjectId, SimId};

use super::sim_state::State;

/// A thing that is sent home, with what is joined to it.
#[derive(Debug)]
pub(crate) struct SentHome {
    ids: Vec<ObjectId>,
    /// How far each of them is moved.
    way: Vec2,
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
        if !self.is_guest_of(object, neighbour) {
            return Err(BorderRefusal::NoGuest);
        }
        let held = BorderRefusal::Stays(metatopia_types::HandRefusal::HeldFast);
        let main = self.main_of(object).ok_or(held)?;
        let ids = self.mechanism(main).ok_or(held)?;
        if !ids.iter().all(|id| self.is_guest_of(*id, neighbour)) {
            return Err(BorderRefusal::NoGuest);
        }
        if ids.iter().any(|id| self.is_held(*id) || self.sitter(*id).is_some()) {
            return Err(BorderRefusal::InUse);
        }
        // Its owner may not keep here by not letting it travel what the admins of this sim do not want.
        let is_free = self.is_movable_as_one(main, |id| self.sets_free(id));
        is_free.map_err(BorderRefusal::Stays)?;
        let place = self.bodies.body(main).ok_or(held)?.position();
        Ok(SentHome { ids, way: way.departure(place).saturating_sub(place) })
    }

    /// Puts a thing where it departs.
    pub(crate) fn send_home(&mut self, sent: &SentHome) {
        for id in &sent.ids {
            let place = self.bodies.body(*id).expect("a body that was just looked at").position();
            let placed = self.bodies.set_position(*id, place.saturating_add(sent.way));
            placed.expect("a body that was just looked at");
            self.bodies.set_velocity(*id, Vec2::ZERO).expect("what travels is movable");
            self.objects.get_mut(id).expect("an object that was just looked at").travels = true;
        }
    }

    /// Says whether a thing came from a neighbour, or was born there.
    fn is_guest_of(&self, id: ObjectId, neighbour: SimId) -> bool {
        self.objects.get(&id).is_some_and(|object| {
            object.guest.is_some_and(|guest| guest.from == neighbour)
                || object.birth.is_some_and(|birth| birth.sim == neighbour)
        })
    }
}
