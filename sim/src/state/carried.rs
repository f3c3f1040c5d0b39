//! Hands and seats at a border: what somebody holds, and what she sits on, goes over with her in one parcel, if
//! both sims let it.
//!
//! Her sim names what it lets go, and how large that is. The neighbour answers each of these things in her pass.
//! While something is not answered, the line is a wall for her. What may not come stays at the line: it is put
//! down, or she stands up from it.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{Body, Motion};
use metatopia_types::{
    BroughtThing, Companions, CrossingPass, HandRefusal, HandsMark, NearPerson, ObjectId, Origin,
    PassRefusal, PublicKey, SimId, TravelRefusal, TravellingPerson, TravellingThing,
    limits::HANDS_MAX, wire,
};

use super::{
    mechanism::PackedMechanism, sim_state::State, thing_arrivals::ReadyThing, world::World,
};
use crate::{
    acts::QuotaUse,
    limits::BORDER_COMPOUNDS_MAX,
    rules::{Border, TurnedBack},
};

/// Whole centimetres in a metre.
const CENTIMETRES: Fx = Fx::from_int(100);

/// A thing in the hands of somebody at a border, packed to go along, or why it does not.
pub(super) type CarriedThing = (ObjectId, Result<PackedMechanism, HandRefusal>);

/// What both sims say to somebody near the border between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BorderAnswer {
    /// Why she may not come; none if she may, or has not asked.
    pub refused: Option<PassRefusal>,
    /// What she holds or sits on and does not bring along as it is, with the reason.
    pub hands: Vec<(ObjectId, HandRefusal)>,
    /// Why she came home from this border a moment ago, if she did.
    pub turned_back: Option<TurnedBack>,
}

/// Returns why the neighbour does not let one of these things come, by its answers to them in their order.
fn refused_there(
    things: &[ObjectId],
    answers: &[Option<TravelRefusal>],
    id: ObjectId,
) -> Option<TravelRefusal> {
    let at = things.iter().position(|thing| *thing == id)?;
    answers.get(at).copied().flatten()
}

impl State {
    /// Returns what an avatar would bring along: what it holds, and then what it sits on.
    fn brought(&self, avatar: ObjectId) -> impl Iterator<Item = ObjectId> {
        self.in_hands_of(avatar).chain(self.mount(avatar))
    }

    /// Returns the things that an avatar would bring along and this sim lets go.
    fn let_go(&self, avatar: ObjectId) -> Vec<ObjectId> {
        self.brought(avatar).filter(|id| self.lets_go(*id).is_ok()).collect()
    }

    /// Returns the thing that goes over a border with the avatar that sits on it: both sims let it, and the
    /// parcel has room.
    pub(super) fn mount_along(&self, pass: &CrossingPass, avatar: ObjectId) -> Option<ObjectId> {
        let mount = self.mount(avatar)?;
        // What one of both sims keeps is not worth the packing of all that is in hand.
        let things = self.let_go(avatar);
        let answers = self.hands_answered(pass, &things)?;
        if !things.contains(&mount) || refused_there(&things, answers, mount).is_some() {
            return None;
        }
        let goes = |(id, thing): &CarriedThing| *id == mount && thing.is_ok();
        self.all_carried(avatar, Some(pass)).last().is_some_and(goes).then_some(mount)
    }

    /// Returns all that an avatar would bring along, however long it waits for that.
    fn all_carried(&self, avatar: ObjectId, pass: Option<&CrossingPass>) -> Vec<CarriedThing> {
        let person = self.objects.get(&avatar).and_then(|object| object.player);
        let person = person.expect("an avatar is somebody's");
        self.carried(avatar, pass, (u64::MAX, self.room_for_hands(&person)))
    }

    /// Returns what goes over the border to a neighbour with somebody, and how.
    pub(super) fn brought_along(
        &self,
        person: &PublicKey,
        neighbour: SimId,
    ) -> Vec<(ObjectId, &'static str)> {
        let border = self.borders.all.get(&neighbour);
        let pass = border.and_then(|border| border.pass_of(person));
        let (Some(avatar), Some(pass)) = (self.present.get(person), pass) else {
            return Vec::new();
        };
        let mount = self.mount(*avatar);
        let how = |id: ObjectId| if Some(id) == mount { "ridden" } else { "in hand" };
        let carried = self.all_carried(*avatar, Some(pass)).into_iter();
        let each = |packed: PackedMechanism| {
            let joined = packed.ids.into_iter().enumerate();
            joined.map(|(at, id)| (id, if at == 0 { how(id) } else { "joined" }))
        };
        carried.filter_map(|(_, packed)| packed.ok()).flat_map(each).collect()
    }

    /// Returns the mark of these things.
    fn mark_of(&self, things: &[ObjectId]) -> HandsMark {
        let sim = self.charter.sim;
        let origin = |id: &ObjectId| Some(self.objects.get(id)?.origin(sim, *id));
        let origins: Vec<Origin> = things.iter().filter_map(origin).collect();
        NearPerson::mark_of(&origins)
    }

    /// Returns what a neighbour is told of somebody near its border.
    pub(super) fn near_person(&self, person: PublicKey, avatar: ObjectId) -> NearPerson {
        let things = self.let_go(avatar);
        let brought = |id: &ObjectId| {
            let joined = self.mechanism(*id).unwrap_or_default();
            let shapes = || joined.iter().filter_map(|id| self.bodies.body(*id)).map(Body::shape);
            let reach = shapes().map(|shape| shape.reach()).max();
            let whole = reach.unwrap_or_default().saturating_mul(CENTIMETRES);
            let compounds = shapes().filter(|shape| shape.is_compound()).count();
            let is_hers = |id: &ObjectId| {
                self.objects.get(id).is_some_and(|thing| thing.owner == Some(person))
            };
            BroughtThing {
                reach: u16::try_from(whole.floor_int()).unwrap_or(u16::MAX),
                compounds: u8::try_from(compounds).unwrap_or(u8::MAX),
                hers: if joined.iter().all(is_hers) {
                    u8::try_from(joined.len()).unwrap_or(u8::MAX)
                } else {
                    0
                },
            }
        };
        let brought = things.iter().map(brought).collect();
        NearPerson { person, mark: self.mark_of(&things), brought }
    }

    /// Returns the answers of a pass to what an avatar holds now and may leave with, if it answers that.
    fn hands_answered<'a>(
        &self,
        pass: &'a CrossingPass,
        things: &[ObjectId],
    ) -> Option<&'a [Option<TravelRefusal>]> {
        let is_of_these = pass.hands.len() == things.len() && pass.mark == self.mark_of(things);
        (things.is_empty() || is_of_these).then_some(&pass.hands)
    }

    /// Says whether a pass answers all that an avatar would bring along.
    pub(super) fn are_hands_answered(&self, pass: &CrossingPass, avatar: ObjectId) -> bool {
        self.hands_answered(pass, &self.let_go(avatar)).is_some()
    }

    /// Returns all that an avatar would bring along, each packed, or with the reason for which it stays. Together
    /// they have at most so many bytes.
    pub(super) fn carried(
        &self,
        avatar: ObjectId,
        pass: Option<&CrossingPass>,
        (waited, bytes_max): (u64, usize),
    ) -> Vec<CarriedThing> {
        let things = self.let_go(avatar);
        let answers = pass.map(|pass| self.hands_answered(pass, &things));
        // What fits does not depend on how long somebody waited: it was told before she left.
        let spare = wire::length(&u64::MAX) - wire::length(&waited);
        let mut left = bytes_max;
        let mut pack = |id: ObjectId| {
            self.lets_go(id)?;
            match answers {
                // Who has not asked yet is told what her own sim says.
                None => {}
                Some(None) => return Err(HandRefusal::Unanswered),
                Some(Some(answers)) => {
                    let why = refused_there(&things, answers, id);
                    why.map_or(Ok(()), |why| Err(HandRefusal::There(why)))?;
                }
            }
            // The states alone are the cheaper question.
            if self.state_bytes_of(id) > left {
                return Err(HandRefusal::TooMuch);
            }
            let packed = self.packed_mechanism(id, waited).ok_or(HandRefusal::HeldFast)?;
            let PackedMechanism { ids, main, companions } = &packed;
            // Each of them says how long it waited.
            let bytes = wire::length(main)
                .saturating_add(wire::length(companions))
                .saturating_add(spare.saturating_mul(ids.len()));
            left = left.checked_sub(bytes).ok_or(HandRefusal::TooMuch)?;
            Ok(packed)
        };
        // One that is too large leaves room for the smaller ones behind it.
        self.brought(avatar).map(|id| (id, pack(id))).collect()
    }

    /// Returns the bytes of all that the scripts of a thing remember.
    pub(super) fn state_bytes_of(&self, id: ObjectId) -> usize {
        let scripts = self.objects.get(&id).map_or(&[][..], |object| &object.scripts);
        let states = scripts.iter().filter_map(|script| self.scripts.get(script));
        states.map(|script| wire::length(&*script.state)).sum()
    }

    /// Answers in all passes for a neighbour what may come along of the things that it told of last.
    pub(super) fn answer_hands(&mut self, neighbour: SimId) {
        let Some(border) = self.borders.all.get(&neighbour) else { return };
        let Some(heard) = &border.crossing.heard else { return };
        let near = &heard.said.near;
        let held = |pass: &CrossingPass| {
            let at = near.binary_search_by(|near| near.person.cmp(&pass.person)).ok()?;
            let NearPerson { mark, brought, .. } = &near[at];
            let is_empty = brought.is_empty() && pass.hands.is_empty();
            (!is_empty).then_some((pass.person, *mark, brought.as_slice()))
        };
        let held: Vec<_> = border.crossing.said.passes.iter().filter_map(held).collect();
        if held.is_empty() {
            return;
        }
        let shares = (self.border_share(neighbour), self.border_compounds(neighbour));
        let answer = |(person, mark, things)| {
            (person, mark, self.answers((border, &person), shares, things))
        };
        let answers: Vec<_> = held.into_iter().map(answer).collect();
        let border = self.borders.all.get_mut(&neighbour).expect("a border that was just seen");
        for (person, mark, hands) in answers {
            let mut passes = border.crossing.said.passes.iter_mut();
            let pass = passes.find(|pass| pass.person == person).expect("a pass just seen");
            (pass.mark, pass.hands) = (mark, hands);
        }
    }

    /// Returns of each thing that somebody would bring why it may not come over a border, against whose shares so
    /// many things, bytes and things of several parts count already. Scripts and texts of what is hers are seen when
    /// she arrives.
    fn answers(
        &self,
        (border, person): (&Border, &PublicKey),
        ((things, bytes), compounds): ((usize, u64), usize),
        brought: &[BroughtThing],
    ) -> Vec<Option<TravelRefusal>> {
        let rules = &self.charter.parameters;
        let size_max = rules.building.size_max.saturating_mul(CENTIMETRES);
        let (mut taken, mut parted) = (0, 0);
        let (mut shared, mut shared_parted, mut hers) = (0, 0, QuotaUse::default());
        let answer = |thing: &BroughtThing| {
            let (count, of_parts) = (usize::from(thing.hers.max(1)), usize::from(thing.compounds));
            let own = QuotaUse {
                objects: count,
                movable: count,
                compounds: of_parts,
                ..QuotaUse::default()
            };
            let own = hers.plus(own);
            let is_own = thing.hers > 0 && self.check_quota(person, own, 1).is_ok();
            let more = things.saturating_add(shared).saturating_add(count);
            let is_over = !is_own
                && (more > rules.border_things as usize
                    || bytes >= u64::from(rules.border_bytes)
                    || (of_parts > 0
                        && compounds + shared_parted + of_parts > BORDER_COMPOUNDS_MAX));
            let is_full = || {
                self.check_more_slots(Motion::Dynamic, taken + count).is_err()
                    || self
                        .check_more_compounds(if of_parts > 0 { parted + of_parts } else { 0 })
                        .is_err()
            };
            let why = match () {
                () if border.validators.len() < rules.things_from_servers as usize => {
                    TravelRefusal::FewServers
                }
                () if Fx::from_int(i32::from(thing.reach)) > size_max => TravelRefusal::TooLarge,
                () if is_over => TravelRefusal::ShareFull,
                () if is_full() => TravelRefusal::Full,
                () => {
                    (taken, parted) = (taken + count, parted + of_parts);
                    if is_own {
                        hers = own;
                    } else {
                        (shared, shared_parted) = (shared + count, shared_parted + of_parts);
                    }
                    return None;
                }
            };
            Some(why)
        };
        brought.iter().map(answer).collect()
    }

    /// Checks all that speaks against what somebody brings along. She gets the next number, and these things
    /// those behind it.
    pub(super) fn check_brought(
        &self,
        neighbour: SimId,
        person: &TravellingPerson,
    ) -> Result<Vec<ReadyThing>, TravelRefusal> {
        let things: Vec<&TravellingThing> = person.things().collect();
        let has_seat = person.mount.as_ref().is_none_or(|mount| mount.seat.is_some());
        let is_on_nothing = person.mount.is_none() && person.companions != Companions::default();
        if person.hands.len() > HANDS_MAX || !has_seat || is_on_nothing {
            return Err(TravelRefusal::BadParcel);
        }
        let first = self.clock.next_object.plus(1);
        let from = (neighbour, Some(&person.key));
        self.check_things((from, first), &things, &person.companions, wire::length)
    }

    /// Puts what somebody brought along where it belongs, all of it or nothing: into her hands, and under her. She
    /// sits on her mount, which stands with what is joined to it at `mount_at`.
    pub(super) fn place_brought(
        &mut self,
        avatar: ObjectId,
        person: &TravellingPerson,
        ready: Vec<ReadyThing>,
        mount_at: &[Vec2],
    ) -> Result<(), TravelRefusal> {
        let place = self.bodies.body(avatar).map(Body::position);
        let place = place.expect("the avatar that was just made");
        let in_hand = person.hands.len();
        let places: Vec<Vec2> =
            core::iter::repeat_n(place, in_hand).chain(mount_at.iter().copied()).collect();
        let (first, things) = (self.clock.next_object, person.things().collect::<Vec<_>>());
        let joints = &person.companions.joints;
        self.insert_all(&things, &ready, &places, (joints, in_hand.min(things.len())))?;
        self.begin_scripts(&things, ready);
        for at in 0..in_hand {
            self.pick_up(first.plus(at as u64), avatar);
        }
        if person.mount.is_some() {
            self.sit(avatar, Some(first.plus(in_hand as u64)));
            // Who sits down stands still first. She goes on as what she sits on does.
            let _ = self.bodies.set_velocity(avatar, person.velocity);
        }
        Ok(())
    }
}

impl World {
    /// Returns what a neighbour and this sim say to somebody near the border between them, as far as she or
    /// something that she holds is kept back. Nothing is said to anybody else.
    #[must_use]
    pub fn border_answer(&self, neighbour: &SimId, person: &PublicKey) -> BorderAnswer {
        let Some(border) = self.border(neighbour) else { return BorderAnswer::default() };
        let turned_back = border.turned_back.iter().find(|turned| turned.person == *person);
        let turned_back = turned_back.copied();
        let near = &border.crossing.said.near;
        let is_near = near.binary_search_by(|near| near.person.cmp(person)).is_ok();
        let Some(avatar) = self.avatar(person).filter(|_| is_near) else {
            return BorderAnswer { turned_back, ..BorderAnswer::default() };
        };
        let pass = border.pass_of(person);
        let hands = self.state.all_carried(avatar, pass).into_iter();
        BorderAnswer {
            refused: pass.and_then(|pass| pass.refused),
            hands: hands.filter_map(|(id, thing)| Some((id, thing.err()?))).collect(),
            turned_back,
        }
    }
}
