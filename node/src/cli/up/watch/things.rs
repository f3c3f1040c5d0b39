//! The things of a place's folder, which those of the running sim follow.

mod order;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use metatopia_scenarios::{JOINT_KEY, PLACE_FILE, Place, SameThings, ThingDifference, as_built};
use metatopia_scripting::Package;
use metatopia_sim::{ObjectSpec, limits::BUILDS_PER_AUTHOR_MAX};
use metatopia_types::{Height, ObjectId, Outcome, PackageId, PublicKey, Refusal};

use self::order::{FollowedLine, SimScripts, ThingOrder, ThingStep, blueprint};
use super::held::LostThings;
use crate::cli::{
    console::Console,
    failure::Failure,
    script::{deeds::AuthorSession, follow, lines::shown, packages},
    session::PlayerArgs,
};

/// What the running sim has of a thing of the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ThingInSim {
    /// An object of this number.
    Object(ObjectId),
    /// An object of its name, if there is one: the folder had the thing when `up` was started, and nobody asked yet.
    Unsought,
    /// Maybe an object of its name: nobody knows what became of the act that makes it.
    Unsure,
    /// Nothing yet: the thing is to be made.
    Missing,
    /// Nothing any more: somebody deleted it, or it cannot be told apart from others.
    Gone,
}

/// A thing of the folder.
#[derive(Debug, Clone)]
struct FollowedThing {
    /// The entry of the thing, as far as the sim has it.
    spec: ObjectSpec,
    object: ThingInSim,
    /// The entry of the thing as the sim has it, also in what no act changes; nothing if that is not known.
    in_sim: Option<ObjectSpec>,
    /// What the sim refused to do with it since the last save, which is not asked for again before the next one.
    refused: Vec<ThingStep>,
}

/// The things of a folder, and what the running sim has of them.
#[derive(Debug)]
pub(super) struct FollowedThings {
    console: Console,
    /// The last reading of the folder.
    place: Place,
    /// The reading that the sim was founded of, if it was founded of this folder.
    founded: Option<Place>,
    /// The things in the order of the last reading, and behind these what the sim still has and the folder lost.
    known: Vec<FollowedThing>,
    /// The names of all packages that the folder had.
    names: BTreeMap<PackageId, String>,
    /// Whether it was told that joints wait.
    has_told_joints: bool,
    /// What the sim refused for a reason that passes, of the last bringing.
    postponed: Option<String>,
    /// What was done with each thing of a bringing.
    lines: BTreeMap<usize, FollowedLine>,
}

impl FollowedThings {
    /// Returns the things of a place that the folder has as `up` starts. `is_founded` says that the sim was founded of
    /// this very place.
    pub(super) fn new(place: Place, is_founded: bool, console: Console) -> Self {
        let object = |number| match is_founded {
            true => ThingInSim::Object(ObjectId(number)),
            false => ThingInSim::Unsought,
        };
        let things = place.objects().iter().cloned().zip(1..);
        let known = things.map(|(spec, number)| FollowedThing {
            in_sim: is_founded.then(|| spec.clone()),
            ..FollowedThing::new(spec, object(number))
        });
        let (known, names) = (known.collect(), names(&place).collect());
        let founded = is_founded.then(|| place.clone());
        Self {
            console,
            place,
            founded,
            known,
            names,
            has_told_joints: false,
            postponed: None,
            lines: BTreeMap::new(),
        }
    }

    /// Notes that somebody saved: what the sim refused is asked for once more.
    pub(super) fn note_saved(&mut self) {
        self.known.iter_mut().for_each(|thing| thing.refused.clear());
    }

    /// Brings into the sim what another reading of the folder changed. What the sim refuses is told.
    ///
    /// # Errors
    /// Fails when no node answers, an act is not decided in time, or the sim refuses one for a reason that passes.
    pub(super) async fn follow(
        &mut self,
        now: &Place,
        (admin, author): (&PlayerArgs, PublicKey),
    ) -> Result<(), Failure> {
        if *now != self.place {
            self.align(now);
        }
        if self.has_unsure() {
            self.seek(admin, author).await?;
        }
        for index in 0..self.place.objects().len() {
            self.settle(index);
        }
        let len = self.place.objects().len();
        let is_there = |thing: &FollowedThing| matches!(thing.object, ThingInSim::Object(_));
        let lost = self.known.split_off(len);
        self.known.extend(lost.into_iter().filter(is_there));
        let orders = self.orders();
        if orders.is_empty() {
            return Ok(());
        }
        let mut session = AuthorSession::begin(admin, self.console).await?;
        let done = self.carry_out(&mut session, orders).await;
        session.end().await;
        for line in core::mem::take(&mut self.lines).into_values() {
            self.console.show(&line)?;
        }
        let postponed = self.postponed.take();
        done?;
        postponed.map_or(Ok(()), |why| Err(Failure::timed_out(why)))
    }

    /// Takes another reading up: the things stand in its order from now on, and new ones are missing in the sim.
    /// Tells what else changed.
    fn align(&mut self, now: &Place) {
        self.names.extend(names(now));
        // What the folder lost and the sim lacks is nothing any more: who writes it again makes it anew.
        let len = self.place.objects().len();
        let lost = self.known.split_off(len);
        self.known.extend(lost.into_iter().filter(FollowedThing::may_be_there));
        let same = self.same(now);
        self.tell_changed_keys(now, &same);
        let mut all = Vec::new();
        for (index, spec) in now.objects().iter().enumerate() {
            all.push(match same.before(index) {
                Some(before) => {
                    let FollowedThing { spec, object, in_sim, .. } = self.known[before].clone();
                    let in_sim = in_sim.map(|spec| same.renumbered(spec));
                    FollowedThing { in_sim, ..FollowedThing::new(same.renumbered(spec), object) }
                }
                None => FollowedThing::new(spec.clone(), ThingInSim::Missing),
            });
        }
        let lost = same.removed(self.known.len()).map(|before| self.known[before].clone());
        all.extend(lost);
        (self.known, self.place) = (all, now.clone());
    }

    /// Tells which keys of the file changed, but for things: they wait, or are again as the sim was founded.
    fn tell_changed_keys(&mut self, now: &Place, same: &SameThings) {
        let [waits, again] = self.changed_keys(now, same);
        if !waits.is_empty() {
            self.console.warn(&format!(
                "warning: {PLACE_FILE}: what changed in {} goes into the next sim that is founded, not into \
                 this one",
                waits.join(", ")
            ));
        }
        if !again.is_empty() {
            let again = again.join(", ");
            self.console.warn(&format!("{PLACE_FILE}: {again}: again as the sim was founded"));
        }
    }

    /// Returns the keys of the file that changed, but for things: those that wait, and those that are again as the sim
    /// was founded. A joint differs with each move of its things, and waits once.
    fn changed_keys(&mut self, now: &Place, same: &SameThings) -> [Vec<String>; 2] {
        let mut changed = self.place.changed_keys(now, same);
        let waiting = self.founded.as_ref().map(|founded| {
            founded.changed_keys(now, &SameThings::of(founded.objects(), now.objects()))
        });
        let waits = |key: &str| waiting.as_ref().is_none_or(|waiting| waiting.contains(key));
        if changed.contains(JOINT_KEY) {
            let is_told = self.has_told_joints;
            self.has_told_joints = waits(JOINT_KEY);
            if is_told && self.has_told_joints && self.place.has_joints_of(now, same) {
                changed.remove(JOINT_KEY);
            }
        }
        let (waits, again) = changed.into_iter().partition(|key| waits(key));
        [waits, again]
    }

    /// Returns the keys of a thing that changed and no act changes: those that wait, and those that are again as the
    /// sim has them.
    fn waits(&self, index: usize, changed: &[&'static str]) -> [Vec<&'static str>; 2] {
        let now = &self.place.objects()[index];
        let in_sim = self.known[index].in_sim.as_ref();
        let waiting = in_sim.map(|has| ThingDifference::between(has, now, &self.names).waits);
        let waits = |key: &&str| waiting.as_ref().is_none_or(|waiting| waiting.contains(key));
        let (waits, again) = changed.iter().partition(|key| waits(key));
        [waits, again]
    }

    /// Finds which things another reading has. Which is which is told by what the file said last: what the sim refused,
    /// it has not got.
    fn same(&self, now: &Place) -> SameThings {
        let last = self.place.objects();
        let lost = self.known[last.len()..].iter().map(|thing| &thing.spec);
        let specs: Vec<ObjectSpec> = last.iter().chain(lost).cloned().collect();
        SameThings::of(&specs, now.objects())
    }

    /// Returns which things of the last reading another one lacks, of those that the sim may have.
    pub(super) fn lost(&self, now: &Place) -> LostThings {
        let last = self.place.objects();
        let is_there = |index: &usize| self.known[*index].may_be_there();
        let lost = self.same(now).removed(last.len()).filter(is_there).collect::<Vec<_>>();
        let names = lost.into_iter().map(|index| last[index].name.clone()).collect();
        LostThings { names, of: (0..last.len()).filter(is_there).count() }
    }

    /// Returns what differs between what the sim has of a thing and its entry; nothing of what the folder lost.
    fn difference(&self, index: usize) -> ThingDifference {
        let now = self.place.objects().get(index);
        let compare = |now| ThingDifference::between(&self.known[index].spec, now, &self.names);
        now.map(compare).unwrap_or_default()
    }

    /// Says whether something is to be done with a thing of which nobody knows whether the sim has it.
    fn has_unsure(&self) -> bool {
        let is_lost = |index| index >= self.place.objects().len();
        self.known.iter().enumerate().any(|(index, thing)| match thing.object {
            ThingInSim::Unsure => true,
            ThingInSim::Unsought => is_lost(index) || !self.difference(index).is_empty(),
            _ => false,
        })
    }

    /// Finds the things that the sim may have, by their names and owners. What the admin made counts as the sim's own.
    async fn seek(&mut self, admin: &PlayerArgs, author: PublicKey) -> Result<(), Failure> {
        let mut driver = admin.at.open_to_ask().await?;
        let things = async {
            let mut course = follow::begin(&mut driver, |_, _| {}).await?;
            follow::catch_up(&mut driver, &mut course, |_| Ok(())).await?;
            Ok::<_, Failure>(course.world().specs())
        };
        let things = things.await;
        driver.leave().await;
        self.find(&things?, author);
        Ok(())
    }

    /// Takes up what the sim has, as [`FollowedThings::seek`] does.
    fn find(&mut self, things: &[(ObjectId, ObjectSpec)], author: PublicKey) {
        let taken: BTreeSet<ObjectId> =
            self.known.iter().filter_map(FollowedThing::number).collect();
        for thing in &mut self.known {
            let otherwise = match thing.object {
                ThingInSim::Unsought => ThingInSim::Gone,
                ThingInSim::Unsure => ThingInSim::Missing,
                _ => continue,
            };
            let owner = |owner: Option<PublicKey>| owner.filter(|owner| *owner != author);
            let is_it = |(id, other): &&(ObjectId, ObjectSpec)| {
                other.name == thing.spec.name
                    && owner(other.owner) == owner(thing.spec.owner)
                    && !taken.contains(id)
            };
            let mut found = things.iter().filter(is_it);
            thing.object = match (found.next(), found.next()) {
                (Some((id, _)), None) => ThingInSim::Object(*id),
                _ => otherwise,
            };
        }
    }

    /// Takes up what no act changes, and tells it. From now on the thing differs from its entry only in what acts
    /// change, or not at all if the sim does not have it.
    fn settle(&mut self, index: usize) {
        let difference = self.difference(index);
        let now = self.place.objects()[index].clone();
        let name = shown(&now.name);
        let [waits, again] = self.waits(index, &difference.waits);
        let thing = &mut self.known[index];
        match thing.object {
            ThingInSim::Missing if blueprint(&now).is_none() => {
                thing.object = ThingInSim::Gone;
                self.console.warn(&format!(
                    "warning: {name} is a line, which no act makes: it goes into the next sim that is founded"
                ));
            }
            ThingInSim::Object(object) => {
                let before = core::mem::replace(&mut thing.spec, now);
                for edit in &difference.edits {
                    edit.copy(&before, &mut thing.spec);
                }
                if !waits.is_empty() {
                    self.console.warn(&format!(
                        "warning: {name} (thing {object}): no act changes {}; this goes into the next sim that \
                         is founded",
                        waits.join(", ")
                    ));
                }
                if !again.is_empty() {
                    let again = again.join(", ");
                    self.console.warn(&format!(
                        "{name} (thing {object}): {again}: again as the sim has it"
                    ));
                }
            }
            ThingInSim::Gone if !difference.is_empty() => {
                thing.spec = now;
                self.console.warn(&format!(
                    "warning: {name} is left alone: the sim has no such thing any more, or several"
                ));
            }
            _ => {}
        }
    }

    /// Returns all that is to be done now: first what makes room, at last what takes it. What was refused waits for the
    /// next save.
    fn orders(&self) -> Vec<ThingOrder> {
        let len = self.place.objects().len();
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for (index, thing) in self.known.iter().enumerate() {
            match thing.object {
                ThingInSim::Object(object) if index >= len => {
                    first.push(ThingOrder { index, step: ThingStep::Delete(object) });
                }
                ThingInSim::Missing => last.push(ThingOrder { index, step: ThingStep::Make }),
                ThingInSim::Object(_) => last.extend(self.edits(index)),
                _ => {}
            }
        }
        first.extend(last);
        first.retain(|order| !self.known[order.index].refused.contains(&order.step));
        first
    }

    /// Returns the edits that one thing lacks.
    fn edits(&self, index: usize) -> Vec<ThingOrder> {
        let Some(object) = self.known[index].number() else { return Vec::new() };
        let edits = self.difference(index).edits.into_iter();
        edits.map(|edit| ThingOrder { index, step: ThingStep::Edit(object, edit) }).collect()
    }

    /// Has all this done, and then what is missing of the things that were made.
    async fn carry_out(
        &mut self,
        session: &mut AuthorSession,
        orders: Vec<ThingOrder>,
    ) -> Result<(), Failure> {
        self.bring(session, &orders).await?;
        let mut more = Vec::new();
        for ThingOrder { index, .. } in
            orders.iter().filter(|order| matches!(order.step, ThingStep::Make))
        {
            if self.known[*index].number().is_some() {
                self.settle(*index);
                more.extend(self.edits(*index));
            }
        }
        self.bring(session, &more).await
    }

    /// Has orders carried out, as many in a turn as a builder may give. One that is refused holds up no other.
    async fn bring(
        &mut self,
        session: &mut AuthorSession,
        orders: &[ThingOrder],
    ) -> Result<(), Failure> {
        if orders.is_empty() {
            return Ok(());
        }
        let running = packages::running(session.driver()).await?;
        let scripts = SimScripts::new(running, packages::known(session.driver()).await?);
        for some in orders.chunks(BUILDS_PER_AUTHOR_MAX as usize) {
            let (mut acts, mut given) = (Vec::new(), Vec::new());
            for order in some {
                match order.step.act(self.entry(order.index), &scripts) {
                    Some(act) => {
                        acts.push(act);
                        given.push(order);
                    }
                    // The script is off already.
                    None => self.note_done(order, None),
                }
            }
            let outcomes = session.outcomes(acts).await;
            if outcomes.is_err() {
                self.note_unsure(&given);
            }
            for (order, (height, outcome)) in given.into_iter().zip(outcomes?) {
                match outcome {
                    Outcome::Ok => self.note_done(order, Some(height)),
                    Outcome::Made(object) => self.note_made(order.index, object, height),
                    Outcome::Refused(why) => self.note_refused(order, &why),
                }
            }
        }
        Ok(())
    }

    /// Returns the entry of a thing, or what it was before the folder lost it.
    fn entry(&self, index: usize) -> &ObjectSpec {
        self.place.objects().get(index).unwrap_or(&self.known[index].spec)
    }

    /// Notes that nobody knows what became of these orders. Edits can be given again, but a thing would be made twice.
    fn note_unsure(&mut self, orders: &[&ThingOrder]) {
        for order in orders.iter().filter(|order| matches!(order.step, ThingStep::Make)) {
            self.known[order.index].object = ThingInSim::Unsure;
        }
    }

    /// Notes that a thing was made.
    fn note_made(&mut self, index: usize, object: ObjectId, height: Height) {
        let spec = as_built(self.entry(index));
        let in_sim = Some(spec.clone());
        let made = FollowedThing::new(spec, ThingInSim::Object(object));
        self.known[index] = FollowedThing { in_sim, ..made };
        self.line(index, object).add(ThingStep::Make.word(), height);
    }

    /// Notes that an order was carried out.
    fn note_done(&mut self, order: &ThingOrder, height: Option<Height>) {
        let index = order.index;
        let object = match &order.step {
            ThingStep::Make => return,
            ThingStep::Edit(object, edit) => {
                let now = self.entry(index).clone();
                let FollowedThing { spec, in_sim, .. } = &mut self.known[index];
                [Some(spec), in_sim.as_mut()]
                    .into_iter()
                    .flatten()
                    .for_each(|spec| edit.copy(&now, spec));
                *object
            }
            ThingStep::Delete(object) => {
                self.known[index].object = ThingInSim::Gone;
                *object
            }
        };
        if let Some(height) = height {
            self.line(index, object).add(order.step.word(), height);
        }
    }

    /// Notes that the sim refused an order. What is not there any more is left alone. All else is asked for again:
    /// later if the reason passes, else after the next save.
    fn note_refused(&mut self, order: &ThingOrder, why: &Refusal) {
        let (index, object) = (order.index, self.known[order.index].number());
        let name = shown(&self.entry(index).name);
        let number = object.map(|object| format!(" (thing {object})")).unwrap_or_default();
        if *why == Refusal::NoObject && object.is_some() {
            self.known[index] = FollowedThing::new(self.entry(index).clone(), ThingInSim::Gone);
            let told = format!("warning: {name}{number} is left alone: the sim has it no more");
            return self.console.warn(&told);
        }
        let refused = format!("{name}{number} was not {}: {why}", order.step.word());
        if is_passing(why) {
            self.postponed = Some(refused);
            return;
        }
        self.known[index].refused.push(order.step.clone());
        let advice = match why {
            Refusal::OutOfReach => {
                "walk there with the admin's key, or raise `building.reach` by `metatopia admin set`, and then \
                 save again"
            }
            _ => "change that in the file or in the sim, and save again",
        };
        self.console.warn(&format!("warning: {refused}; {advice}"));
    }

    fn line(&mut self, index: usize, object: ObjectId) -> &mut FollowedLine {
        let name = self.entry(index).name.clone();
        self.lines.entry(index).or_insert_with(|| FollowedLine::new(&name, object))
    }
}

impl FollowedThing {
    const fn new(spec: ObjectSpec, object: ThingInSim) -> Self {
        Self { spec, object, in_sim: None, refused: Vec::new() }
    }

    /// Says whether the sim may have the thing.
    const fn may_be_there(&self) -> bool {
        !matches!(self.object, ThingInSim::Gone | ThingInSim::Missing)
    }

    /// Returns the number of the thing in the sim, if it is known to be there.
    const fn number(&self) -> Option<ObjectId> {
        match self.object {
            ThingInSim::Object(object) => Some(object),
            _ => None,
        }
    }
}

/// Says whether the sim may do later what it refuses now, although nothing changes in the folder.
const fn is_passing(why: &Refusal) -> bool {
    use Refusal as R;
    matches!(why, R::NotLoggedIn | R::OtherSession | R::TooOften | R::NoSeat)
}

/// Returns the names of a place's packages.
fn names(place: &Place) -> impl Iterator<Item = (PackageId, String)> + '_ {
    let name = |package: &Package| (package.id(), package.manifest().name.clone());
    place.packages().map(name)
}
