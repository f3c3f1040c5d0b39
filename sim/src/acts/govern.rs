//! Orders about people: decides them by the rules, and carries them out.

use std::collections::BTreeSet;

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{Body, Motion, Pose};
use metatopia_types::{
    Act, Blob, BlobId, GovernOrder, GroundArea, LandOrder, ObjectId, PublicKey, Refusal, RoleRight,
    ScriptId, Title,
    limits::{ADMINS_MAX, MOTD_BYTES_MAX, REASON_BYTES_MAX},
};

use super::{
    building::{BuildStep, ObjectEdit},
    changes::StateChange,
    context::{ActContext, ActResult},
};
use crate::{
    limits::{BUILD_BYTES_MAX, BUILDS_PER_TURN_MAX, HOME_TRIES, UNDONE_PER_ACT_MAX},
    rules::{
        ActGround, ActTarget, FrozenThing, GivenRight, Motd, OrderedDeed, RecordedOrder, Right,
        Sanction, Warrant, build_word,
    },
    space::{Area, Footprint, Land, distance_to},
    state::{Charter, State, World, is_line},
};

/// Characters of a new value that are recorded.
const AMENDED_CHARS_MAX: usize = 64;

impl ActContext<'_> {
    /// Decides an order about people.
    pub(super) fn govern(&self, order: &GovernOrder, warrant: Warrant) -> ActResult {
        let player = self.renewed_player()?;
        self.state.check_order(order)?;
        let mut changes = Vec::new();
        match order {
            GovernOrder::Return { object } => {
                changes.push(StateChange::Return(*object, self.state.home_of(*object)));
            }
            GovernOrder::Kick { key } => changes.push(StateChange::Despawn(*key)),
            GovernOrder::Ban { key, .. } => {
                let is_here =
                    self.state.players.get(key).is_some_and(|known| known.session.is_some());
                changes.extend(is_here.then_some(StateChange::Despawn(*key)));
                changes.push(StateChange::Govern(Box::new(order.clone())));
            }
            GovernOrder::Undo { key, seconds } => {
                let builds = self.counts.builds.saturating_add(UNDONE_PER_ACT_MAX as u32);
                if builds > BUILDS_PER_TURN_MAX {
                    return Err(Refusal::TooOften);
                }
                changes.push(StateChange::UndoOf(*key, *seconds, warrant));
            }
            GovernOrder::Decide { report, ruling, reason } => {
                changes.extend(self.decide_report(*report, *ruling, reason)?);
            }
            GovernOrder::SetHouseRules { text } => {
                let charter = self.with_house_rules(*text)?;
                changes.push(StateChange::Charter(Box::new(charter)));
            }
            _ => changes.push(StateChange::Govern(Box::new(order.clone()))),
        }
        changes.push(StateChange::Player(self.author(), player));
        Ok(changes)
    }

    /// Returns the charter with the house rules that a blob of the turn holds, or with none.
    fn with_house_rules(&self, text: Option<BlobId>) -> Result<Charter, Refusal> {
        let house_rules = match text {
            None => String::new(),
            Some(blob) => {
                let blob = self.executor.blobs.get(&blob).ok_or(Refusal::NoBlob)?;
                let text = String::from_utf8(blob.0.clone()).map_err(|_| Refusal::BadText)?;
                // Nothing is said by no order that names a blob, so that its record tells which it was.
                if text.is_empty() { Err(Refusal::BadText) } else { Ok(text) }?
            }
        };
        let mut charter = self.state.charter.clone();
        charter.introduction.house_rules = house_rules;
        charter.introduction.check().map_err(|_| Refusal::BadText)?;
        Ok(charter)
    }

    /// Returns the record of the act, if the author does it by more than everybody's right.
    pub(super) fn recorded(&self, warrant: Warrant) -> Option<RecordedOrder> {
        if warrant == Warrant::Own {
            return None;
        }
        let deed = match &self.envelope.act {
            // It records itself, because only it knows how much of it was done.
            Act::Govern(GovernOrder::Undo { .. }) => return None,
            Act::Govern(order @ GovernOrder::Decide { .. }) => self.state.ruling_deed(order)?,
            Act::Govern(order) => OrderedDeed::Govern(order.clone()),
            Act::SetChange(change) => OrderedDeed::Servers(change.clone()),
            Act::Ticket(order) => OrderedDeed::Ticket(*order),
            Act::Amend { name, value } => {
                // A number may be written with any length of zeros in front.
                let value = value.chars().take(AMENDED_CHARS_MAX).collect();
                OrderedDeed::Amend { name: name.clone(), value }
            }
            Act::Build(build) => {
                let (step, object) = build_word(build);
                OrderedDeed::Build { object, step: step.to_owned() }
            }
            Act::Publish { .. } | Act::Assemble { .. } => OrderedDeed::Publish,
            Act::Border { order } => {
                let (word, neighbour) = self.border_order(*order).ok()?.summary();
                OrderedDeed::Border { word: word.to_owned(), neighbour }
            }
            Act::Land { order } => match self.land_order(*order) {
                Ok(LandOrder::TakeBack { square }) => OrderedDeed::TakeBack { square },
                _ => return None,
            },
            Act::Lot(order) => OrderedDeed::Lot { word: order.verb().to_owned(), lot: order.lot() },
            Act::Forget { height, body } => self.forget_deed(*height, *body),
            _ => return None,
        };
        let (height, by) = (self.state.clock.height, self.author());
        Some(RecordedOrder { height, by, warrant, deed })
    }
}

impl State {
    /// Returns the right that an order needs, and what it is about.
    ///
    /// # Errors
    /// When there is no such thing.
    pub(super) fn govern_request<'a>(
        &'a self,
        order: &'a GovernOrder,
    ) -> Result<(Right, ActTarget<'a>), Refusal> {
        let person = ActTarget { person: order.person(), ..ActTarget::SIM };
        Ok(match order {
            GovernOrder::Grant { rights, .. } | GovernOrder::Revoke { rights, .. } => {
                let great = rights.iter().any(|right| right.is_great());
                (if great { Right::Appoint } else { Right::Administer }, person)
            }
            // None of the great rights is given for an area.
            GovernOrder::GrantArea { .. } | GovernOrder::RevokeArea { .. } => {
                (Right::Administer, person)
            }
            // Permanent admins have as much to say as each other, and yet name and remove each other.
            GovernOrder::NameAdmin { .. } | GovernOrder::RemoveAdmin { .. } => {
                (Right::Appoint, ActTarget::SIM)
            }
            // Only who is permanent shuts out somebody who would take the temp admin's place.
            GovernOrder::Ban { key, .. } if self.is_before_temp_admin(key) => {
                (Right::Appoint, ActTarget::SIM)
            }
            GovernOrder::Kick { .. }
            | GovernOrder::Ban { .. }
            | GovernOrder::Unban { .. }
            | GovernOrder::Mute { .. }
            | GovernOrder::Undo { .. }
            | GovernOrder::Unprofile { .. }
            | GovernOrder::Unmute { .. } => (Right::Moderate, person),
            GovernOrder::Freeze { object }
            | GovernOrder::Thaw { object }
            | GovernOrder::Return { object } => {
                let thing = Some(self.thing(*object)?);
                // Whoever owns what is returned may build where it goes, so that ground is nobody else's matter.
                let whereabouts = self.standing(*object).map(ActGround::at);
                (Right::Moderate, ActTarget { thing, whereabouts, ..ActTarget::SIM })
            }
            GovernOrder::Announce { .. } => (Right::Announce, ActTarget::SIM),
            GovernOrder::SetLand { .. }
            | GovernOrder::RemoveLand { .. }
            | GovernOrder::SetHouseRules { .. } => (Right::Charter, ActTarget::SIM),
            GovernOrder::EndClub { club } => self.end_club_request(*club)?,
            GovernOrder::Decide { report, .. } => self.ruling_request(*report)?,
        })
    }

    /// Checks an order that its author may give.
    ///
    /// # Errors
    /// The rule that it breaks.
    fn check_order(&self, order: &GovernOrder) -> Result<(), Refusal> {
        let (people, time) = (&self.people, self.governance.time);
        let need = |holds: bool, why: Refusal| if holds { Ok(()) } else { Err(why) };
        let admins = &self.governance.admins;
        self.check_person(order)?;
        match order {
            GovernOrder::Grant { key, rights, seconds } => {
                need(!rights.is_empty() && *seconds != Some(0), Refusal::OutOfRange)?;
                self.check_trusted(key)?;
                need(people.has_room_for_role(key), Refusal::ListFull)
            }
            GovernOrder::Revoke { key, rights } => {
                need(!rights.is_empty(), Refusal::OutOfRange)?;
                let has = rights.iter().all(|right| people.has_right(key, *right, time));
                need(has, Refusal::AlreadySo)
            }
            GovernOrder::GrantArea { key, rights, area, seconds } => {
                self.check_area_grant(key, rights, *area, *seconds)
            }
            GovernOrder::RevokeArea { key, rights, area } => {
                need(!rights.is_empty(), Refusal::OutOfRange)?;
                let has = |right| people.has_very_right(key, Some(*area), right, time);
                need(rights.iter().all(|right| has(*right)), Refusal::AlreadySo)
            }
            GovernOrder::SetLand { name, area, title } => self.check_land(name, *area, *title),
            GovernOrder::RemoveLand { name } => self.check_land_there(name),
            GovernOrder::EndClub { club } => self.people.clubs.club(*club).map(drop),
            GovernOrder::NameAdmin { key } => {
                need(!admins.contains(key), Refusal::AlreadySo)?;
                self.check_trusted(key)?;
                need(admins.len() < ADMINS_MAX, Refusal::ListFull)
            }
            GovernOrder::RemoveAdmin { key } => {
                need(admins.contains(key), Refusal::AlreadySo)?;
                need(admins.len() > 1, Refusal::LastAdmin)
            }
            GovernOrder::Kick { key } => {
                let here = self.players.get(key).is_some_and(|player| player.session.is_some());
                need(here, Refusal::NotHere)
            }
            GovernOrder::Ban { key, seconds, reason } => {
                check_sanction(*seconds, reason)?;
                need(people.has_room_for_ban(key), Refusal::ListFull)
            }
            GovernOrder::Mute { key, seconds, reason } => {
                check_sanction(*seconds, reason)?;
                need(people.has_room_for_mute(key), Refusal::ListFull)
            }
            GovernOrder::Unban { key } => need(people.ban(key, time).is_some(), Refusal::AlreadySo),
            GovernOrder::Unmute { key } => {
                need(people.mute(key, time).is_some(), Refusal::AlreadySo)
            }
            GovernOrder::Freeze { object } => {
                need(!people.frozen.contains(object), Refusal::AlreadySo)?;
                need(people.has_room_for_frozen(), Refusal::ListFull)
            }
            GovernOrder::Thaw { object } => {
                need(people.frozen.contains(object), Refusal::AlreadySo)?;
                // Its scripts get an event each.
                need(self.byte_budget.has(BUILD_BYTES_MAX), Refusal::Full)
            }
            GovernOrder::Return { object } => self.check_return(*object),
            GovernOrder::Decide { reason, .. } => check_reason(reason),
            GovernOrder::Undo { key, seconds } => self.check_undo(key, *seconds),
            GovernOrder::Unprofile { key } => {
                let kept = people.profiles.all.get(key);
                need(kept.is_some_and(|kept| kept.signed.is_some()), Refusal::AlreadySo)
            }
            GovernOrder::Announce { text } => self.check_message(text),
            GovernOrder::SetHouseRules { text } => self.check_house_rules(*text),
        }
    }

    /// Checks that a key did something in so many seconds that can be undone.
    fn check_undo(&self, key: &PublicKey, seconds: u32) -> Result<(), Refusal> {
        if seconds == 0 {
            return Err(Refusal::OutOfRange);
        }
        let since = self.governance.seconds_ago(seconds);
        let did = self.people.traces.since(key, since).next().is_some();
        if did { Ok(()) } else { Err(Refusal::NothingToUndo) }
    }

    /// Checks that an order is not about a key that was given up: it would reach nobody.
    fn check_person(&self, order: &GovernOrder) -> Result<(), Refusal> {
        match order.person().filter(|key| self.people.rotated.contains(key)) {
            Some(key) => Err(Refusal::Rotated(self.key_now(*key))),
            None => Ok(()),
        }
    }

    /// Checks that these are other house rules than those that hold. The words themselves are in a blob, which
    /// only a turn has.
    fn check_house_rules(&self, text: Option<BlobId>) -> Result<(), Refusal> {
        let now = self.charter.introduction.house_rules.as_bytes();
        let now = (!now.is_empty()).then(|| Blob(now.to_vec()).id());
        if text == now { Err(Refusal::AlreadySo) } else { Ok(()) }
    }

    /// Checks that a text can be the message of the day.
    fn check_message(&self, text: &str) -> Result<(), Refusal> {
        if text.len() > MOTD_BYTES_MAX || !is_line(text) {
            return Err(Refusal::BadText);
        }
        let now = self.governance.motd.as_ref().map_or("", |motd| motd.text.as_str());
        if now == text { Err(Refusal::AlreadySo) } else { Ok(()) }
    }

    /// Checks that a key can be given rights for an area, on these terms.
    fn check_area_grant(
        &self,
        key: &PublicKey,
        rights: &BTreeSet<RoleRight>,
        area: GroundArea,
        seconds: Option<u32>,
    ) -> Result<(), Refusal> {
        if rights.is_empty() || seconds == Some(0) {
            return Err(Refusal::OutOfRange);
        }
        self.check_rights_area(rights, area)?;
        self.check_trusted(key)?;
        let people = &self.people;
        let has_room = people.has_room_for_role(key) && people.has_room_for_area(key, area);
        if has_room { Ok(()) } else { Err(Refusal::ListFull) }
    }

    /// Checks that these are rights for an area, and that there is such an area on the sim's own ground.
    fn check_rights_area(
        &self,
        rights: &BTreeSet<RoleRight>,
        area: GroundArea,
    ) -> Result<(), Refusal> {
        if !rights.iter().all(|right| right.is_for_area()) {
            return Err(Refusal::NotForArea);
        }
        self.own_area(area).map(drop)
    }

    /// Checks that rights can be given to a key: a player's, who is not shut out. A key that nobody has
    /// would be an admin whom nobody can be.
    pub(super) fn check_trusted(&self, key: &PublicKey) -> Result<(), Refusal> {
        if self.people.rotated.contains(key) {
            return Err(Refusal::Rotated(self.key_now(*key)));
        }
        if self.players.get(key).is_none() {
            return Err(Refusal::NoPlayer);
        }
        let banned = self.people.ban(key, self.governance.time).is_some();
        if banned { Err(Refusal::Banned) } else { Ok(()) }
    }

    /// Carries out an order that was checked.
    pub(super) fn carry_out(&mut self, by: PublicKey, order: GovernOrder) {
        let time = self.governance.time;
        let until = |seconds: Option<u32>| {
            seconds.map(|seconds| time.saturating_add(u64::from(seconds).saturating_mul(1_000)))
        };
        match order {
            GovernOrder::Grant { key, rights, seconds } => {
                self.people.grant(key, None, &rights, GivenRight { by, until: until(seconds) });
            }
            GovernOrder::Revoke { key, rights } => self.people.revoke(key, None, &rights),
            GovernOrder::GrantArea { key, rights, area, seconds } => {
                let given = GivenRight { by, until: until(seconds) };
                self.people.grant(key, Some(area), &rights, given);
            }
            GovernOrder::RevokeArea { key, rights, area } => {
                self.people.revoke(key, Some(area), &rights);
            }
            GovernOrder::NameAdmin { key } => self.recounted(key, |state| {
                state.governance.admins.insert(key);
            }),
            GovernOrder::RemoveAdmin { key } => self.recounted(key, |state| {
                state.governance.admins.remove(&key);
            }),
            GovernOrder::Ban { key, seconds, reason } => {
                let ban = Sanction { by, until: until(seconds), reason };
                self.ban_from_clubs(&key, seconds.is_none());
                self.recounted(key, |state| state.people.set_ban(key, Some(ban)));
                // What pests filed, and told others or of themselves, goes with them.
                self.people.profiles.take_away(&key);
                self.people.reports.forget_open_of(&key);
                for told_by in self.keys_of(key) {
                    self.people.mailboxes.forget_all_of(&told_by);
                }
            }
            GovernOrder::Unban { key } => {
                self.recounted(key, |state| state.people.set_ban(key, None));
            }
            GovernOrder::Mute { key, seconds, reason } => {
                let mute = Sanction { by, until: until(seconds), reason };
                self.people.set_mute(key, Some(mute));
            }
            GovernOrder::Unmute { key } => self.people.set_mute(key, None),
            GovernOrder::Freeze { object } => self.freeze_thing(by, object),
            GovernOrder::Thaw { object } => self.thaw_thing(object),
            GovernOrder::SetLand { name, area, title } => {
                let land = Land { name: name.clone(), area: Area::of_ground(area), title };
                self.set_land(&name, Some(land));
            }
            GovernOrder::RemoveLand { name } => self.set_land(&name, None),
            GovernOrder::EndClub { club } => self.set_club(club, None),
            GovernOrder::Unprofile { key } => self.people.profiles.take_away(&key),
            GovernOrder::Announce { text } => {
                self.governance.motd = (!text.is_empty()).then_some(Motd { text, by });
            }
            // These are other changes.
            GovernOrder::Kick { .. }
            | GovernOrder::Return { .. }
            | GovernOrder::Decide { .. }
            | GovernOrder::SetHouseRules { .. }
            | GovernOrder::Undo { .. } => {}
        }
        // Who is first in line may be another one now.
        self.appoint();
    }

    /// Stops a thing, and its scripts that run. Whoever has it in hand puts it down.
    fn freeze_thing(&mut self, by: PublicKey, id: ObjectId) {
        let object = self.objects.get(&id).expect("an act freezes a thing that is there");
        let runs = |script: &ScriptId| {
            self.scripts.get(script).is_some_and(|script| script.suspended.is_none())
        };
        let scripts: Vec<ScriptId> =
            object.scripts.iter().copied().filter(|script| runs(script)).collect();
        for script in &scripts {
            self.suspend_script(*script, self.clock.tick.plus(1));
        }
        self.put_down(id, None);
        self.stop_motors(id);
        self.stop_body(id);
        // What cannot turn has no spin to lose.
        let _ = self.bodies.set_spin(id, Fx::ZERO);
        self.people.frozen.insert(id, FrozenThing { by, scripts });
    }

    /// Lets a thing go on, with the scripts that stopped with it.
    fn thaw_thing(&mut self, id: ObjectId) {
        let frozen = self.people.frozen.remove(&id).expect("an act thaws a thing that is frozen");
        self.byte_budget.take(BUILD_BYTES_MAX);
        let there = |state: &Self, script: &ScriptId| {
            state.objects.get(&id).is_some_and(|object| object.scripts.contains(script))
        };
        // A moderator may have taken one off meanwhile.
        for script in frozen.scripts {
            if there(self, &script) {
                self.resume_script(script);
            }
        }
    }

    /// Returns a free place for a thing on its owner's own ground: lands first, then lots, each in rows from
    /// the south-west.
    pub(super) fn home_of(&self, id: ObjectId) -> Option<Vec2> {
        let owner = self.objects.get(&id)?.owner?;
        let body = self.bodies.body(id)?;
        let lands = self.charter.lands.iter();
        let lands = lands.filter(|land| land.title == Title::Player(owner)).map(|land| land.area);
        let own = lands.chain(self.lots.of(&owner).map(|lot| lot.area));
        let places = own.flat_map(|Area { low, high }| {
            let row = move |y: i32| (0..HOME_TRIES).map(move |x| (x, y));
            let part =
                move |(x, y)| Vec2::new(part_of(low.x, high.x, x), part_of(low.y, high.y, y));
            (0..HOME_TRIES).flat_map(row).map(part)
        });
        // The first rooms of a large estate are enough: a turn does not search all of it.
        let mut places = places.take((HOME_TRIES * HOME_TRIES) as usize);
        places.find(|place| self.has_room_for(body, *place, &owner))
    }

    /// Says whether a body may stand at a place: it is free, and this builder may build there.
    pub(super) fn has_room_for(&self, body: &Body, place: Vec2, builder: &PublicKey) -> bool {
        let shape = body.shape();
        let half = shape.half_extents(Angle::ZERO);
        let reach = half.x.saturating_add(half.y);
        let area = Footprint { shape, pose: Pose { position: place, ..body.pose() } }.area();
        let arrivals = self.charter.parameters.avatar.arrivals();
        let mut around = self.bodies.around(place, reach);
        let free = around.all(|near| {
            near.id() == body.id() || self.is_held(near.id()) || distance_to(near, place) > reach
        });
        let clear = body.motion() == Motion::Dynamic || !area.overlaps(&arrivals);
        free && clear && self.is_own_ground(place) && self.may_cover(builder, &area)
    }

    /// Puts a thing at this place, or out of the sim. Nothing undoes it.
    pub(super) fn move_or_delete(&mut self, id: ObjectId, place: Option<Vec2>) {
        // What holds it where it stands would pull it back.
        self.free_thing(id, None);
        let edit = place.map_or(ObjectEdit::Delete, ObjectEdit::Move);
        // An edit makes no body, so physics refuses none.
        let _ = self.apply_build(BuildStep::Edit(id, edit));
    }
}

/// Returns the middle of the part `n` of a line that is cut into [`HOME_TRIES`] parts.
pub(super) fn part_of(low: Fx, high: Fx, n: i32) -> Fx {
    let part = Fx::from_ratio(i64::from(2 * n + 1), i64::from(2 * HOME_TRIES));
    low.saturating_add(high.saturating_sub(low).saturating_mul(part))
}

/// Checks the terms of a ban or a mute.
fn check_sanction(seconds: Option<u32>, reason: &str) -> Result<(), Refusal> {
    if seconds == Some(0) {
        return Err(Refusal::OutOfRange);
    }
    check_reason(reason)
}

/// Checks that a reason is a line that is not too long.
fn check_reason(reason: &str) -> Result<(), Refusal> {
    let fits = reason.len() <= REASON_BYTES_MAX && is_line(reason);
    if fits { Ok(()) } else { Err(Refusal::BadText) }
}

impl World {
    /// Says whether somebody who is logged in could give this order after the last applied turn, and by
    /// what. Nothing changes.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub fn may_order(&self, author: &PublicKey, order: &GovernOrder) -> Result<Warrant, Refusal> {
        let (right, target) = self.state.govern_request(order)?;
        let warrant = self.state.may(author, right, &target)?;
        self.state.check_order(order)?;
        if let GovernOrder::Decide { report, .. } = order {
            let report = self.state.people.reports.open(*report)?;
            self.state.check_judge(report, author)?;
        }
        Ok(warrant)
    }
}

#[cfg(test)]
mod tests;
