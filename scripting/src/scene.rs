//! One call under way: what it has read, written and queued so far, with every limit checked.

mod described;
mod effects;
mod fields;
mod form;
mod joint;
mod offer;
mod own;
mod spawn;

use alloc::{
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_types::{ObjectId, ScriptId, is_line, wire};

use crate::{
    Call, ErrorKind, HostFault, ObjectView, ObjectWrites, ScriptOutput, ScriptState, Value,
    WorldView,
    limits::{
        NEARBY_MAX, NEARBY_RADIUS_MAX, RAY_LOOKS, RAY_LOOKS_PER_METRE, RAY_REACH, STATE_BYTES_MAX,
    },
};

pub(crate) use described::{ARGUMENT_RULES, COLOR_RULE, DescribedFields, LiteralRule};

/// A property of objects that is a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VectorProperty {
    Position,
    Velocity,
}

/// What every host function does in the end; also how a port to Rust reads and writes the world.
///
/// A scene holds the limits of a call: whoever writes through it cannot break them.
#[expect(missing_debug_implementations, reason = "a view of a whole world has no useful one")]
pub struct ScriptContext {
    view: Arc<dyn WorldView>,
    script: ScriptId,
    object: ObjectId,
    index: u64,
    state: Arc<ScriptState>,
    /// The state's encoded length, once somebody wrote to it.
    state_bytes: Option<usize>,
    state_changed: bool,
    /// Whether it was looked at since it changed.
    state_checked: bool,
    /// The object's fields as this script sees them: earlier calls' writes under this call's.
    seen: ObjectWrites,
    part: ScriptOutput,
    effect_bytes: usize,
    /// Objects that were looked at, and not yet paid for.
    looked: usize,
    random: Option<Stream>,
}

impl ScriptContext {
    /// The scene of a call, before anything happened.
    #[must_use]
    #[inline]
    pub fn new(call: &Call<'_>) -> Self {
        Self {
            view: Arc::clone(call.view),
            script: call.script,
            object: call.object,
            index: call.index,
            state: Arc::clone(call.state),
            state_bytes: None,
            state_changed: false,
            state_checked: false,
            seen: call.own.clone(),
            part: ScriptOutput::default(),
            effect_bytes: 0,
            looked: 0,
            random: None,
        }
    }

    /// Returns what the call gives back, without its gas, which the caller counts.
    ///
    /// # Errors
    /// [`ErrorKind::State`] if the state may not be kept.
    pub fn finish(mut self) -> Result<ScriptOutput, HostFault> {
        self.check_changed_state()?;
        Ok(self.into_output(0))
    }

    /// Checks that the state may be kept, if it changed.
    ///
    /// # Errors
    /// [`ErrorKind::State`] if it may not.
    pub(crate) fn check_changed_state(&mut self) -> Result<(), HostFault> {
        if self.state_changed { self.check_state() } else { Ok(()) }
    }

    /// Returns what the call gives back, for so much gas. The state was checked if it changed.
    #[inline(always)]
    pub(crate) fn into_output(mut self, gas: u64) -> ScriptOutput {
        self.part.gas = gas;
        if self.state_changed {
            self.part.state = Some(Arc::unwrap_or_clone(self.state));
        }
        self.part
    }

    /// Checks that the state may be kept, once after it changed.
    ///
    /// # Errors
    /// [`ErrorKind::State`] if it may not.
    pub(crate) fn check_state(&mut self) -> Result<(), HostFault> {
        if !self.state_checked {
            let check = self.state.check();
            check.map_err(|error| HostFault::new(ErrorKind::State, error.to_string()))?;
            self.state_checked = true;
        }
        Ok(())
    }

    /// Takes the lines that were logged, for the report of a call that failed.
    #[must_use]
    pub fn into_log(self) -> Vec<String> {
        self.part.log
    }

    /// The object that the script runs on.
    #[must_use]
    pub const fn me(&self) -> ObjectId {
        self.object
    }

    /// Returns whether there is such an object.
    #[must_use]
    pub fn exists(&self, id: ObjectId) -> bool {
        self.view.object(id).is_some()
    }

    /// Returns the word for where an object is: `here`, `away` in luggage or under way, or `gone`.
    #[must_use]
    pub fn presence(&self, id: ObjectId) -> &'static str {
        match () {
            () if self.exists(id) => "here",
            () if self.view.is_away(id) => "away",
            () => "gone",
        }
    }

    /// Returns an object at the start of the tick; the own one with what the script wrote to it since.
    ///
    /// # Errors
    /// [`ErrorKind::Gone`] if there is no such object.
    pub fn object(&self, id: ObjectId) -> Result<ObjectView<'_>, HostFault> {
        let mut object = self.view.object(id).ok_or_else(|| gone(id))?;
        if id == self.object {
            object.pos = self.seen.pos.unwrap_or(object.pos);
            object.angle = self.seen.angle.unwrap_or(object.angle);
            object.velocity = self.seen.velocity.unwrap_or(object.velocity);
            object.spin = self.seen.spin.unwrap_or(object.spin);
            object.color = self.seen.color.unwrap_or(object.color);
            object.sensor = self.seen.sensor.unwrap_or(object.sensor);
            object.text = self.seen.text.as_deref().unwrap_or(object.text);
        }
        Ok(object)
    }

    /// Reads a vector of an object without the rest of its view, which is large.
    ///
    /// # Errors
    /// As [`ScriptContext::object`].
    pub(crate) fn vector_of(
        &self,
        id: ObjectId,
        property: VectorProperty,
    ) -> Result<Vec2, HostFault> {
        let (there, written) = match property {
            VectorProperty::Position => (self.view.position(id), self.seen.pos),
            VectorProperty::Velocity => (self.view.velocity(id), self.seen.velocity),
        };
        match (there, written) {
            (Some(_), Some(written)) if id == self.object => Ok(written),
            (Some(there), _) => Ok(there),
            (None, _) => Err(gone(id)),
        }
    }

    /// Returns where an object is at the start of the tick; the own one where the script has put it since. Takes less
    /// time than [`Self::object`], whose view has much more.
    ///
    /// # Errors
    /// As [`ScriptContext::object`].
    pub fn position(&self, id: ObjectId) -> Result<Vec2, HostFault> {
        self.vector_of(id, VectorProperty::Position)
    }

    /// Returns at most [`NEARBY_MAX`] other objects within `radius` metres of where the own object was at the
    /// start of the tick, nearest first, at the same distance by id.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a radius below 0 or above [`NEARBY_RADIUS_MAX`].
    pub fn nearby(&mut self, radius: Fx) -> Result<Vec<ObjectId>, HostFault> {
        if radius < Fx::ZERO || radius > Fx::from_int(NEARBY_RADIUS_MAX) {
            let message = format!("a radius is 0 to {NEARBY_RADIUS_MAX} metres, not {radius}");
            return Err(HostFault::new(ErrorKind::Argument, message));
        }
        let center = self.view.position(self.object).ok_or_else(|| gone(self.object))?;
        let found = self.view.nearby(center, radius, NEARBY_MAX + 1);
        self.looked = self.looked.saturating_add(found.looked);
        let mut objects = found.objects;
        objects.retain(|id| *id != self.object);
        objects.truncate(NEARBY_MAX as usize);
        Ok(objects)
    }

    /// Returns at most [`NEARBY_MAX`] other things called `name` whose owner is the own object's, oldest
    /// first.
    ///
    /// # Errors
    /// [`ErrorKind::Gone`] if the own object is no longer there.
    pub fn find(&mut self, name: &str) -> Result<Vec<ObjectId>, HostFault> {
        self.view.object(self.object).ok_or_else(|| gone(self.object))?;
        let found = self.view.named(self.object, name, NEARBY_MAX);
        self.looked = self.looked.saturating_add(found.looked);
        Ok(found.objects)
    }

    /// The first other object that the straight way between two points meets, where it does, and how far
    /// that is from the first point; nothing if the way is free.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a point farther than [`RAY_REACH`] metres from the own object.
    pub fn ray(&mut self, from: Vec2, to: Vec2) -> Result<Option<(ObjectId, Vec2, Fx)>, HostFault> {
        let center = self.view.object(self.object).ok_or_else(|| gone(self.object))?.pos;
        let is_near = |point: &Vec2| point.distance(center) <= Fx::from_int(RAY_REACH);
        if ![from, to].iter().all(is_near) {
            let message = format!("a ray begins and ends within {RAY_REACH} metres of the object");
            return Err(HostFault::new(ErrorKind::Argument, message));
        }
        let found = self.view.along_ray(from, to, self.object);
        let way = to.saturating_sub(from);
        let metres = usize::try_from(way.length().ceil_int()).expect("twice the reach at most");
        let ground = metres.saturating_mul(RAY_LOOKS_PER_METRE);
        let looked = found.looked.saturating_mul(RAY_LOOKS).saturating_add(ground);
        self.looked = self.looked.saturating_add(looked);
        Ok(found.first.map(|(id, fraction)| {
            let part = way.scale(fraction);
            (id, from.saturating_add(part), part.length())
        }))
    }

    /// Takes the count of objects that were looked at since it was last taken.
    pub fn take_looked(&mut self) -> usize {
        core::mem::take(&mut self.looked)
    }

    /// Says whether a feature flag of the sim is on.
    #[must_use]
    pub fn is_flag_on(&self, name: &str) -> bool {
        self.view.is_flag_on(name)
    }

    /// Simulated seconds since genesis.
    #[must_use]
    pub fn now(&self) -> Fx {
        self.view.time()
    }

    /// The call's random numbers: a pure function of the turn, the tick, the script, and how many
    /// calls it had in this tick.
    pub fn random(&mut self) -> &mut Stream {
        let Self { random, view, script, index, .. } = self;
        random.get_or_insert_with(|| {
            Stream::new(&view.seed().0, "metatopia script v1", &[view.tick().0, script.0, *index])
        })
    }

    /// The script's state, with what this call changed.
    #[must_use]
    pub fn state(&self) -> &ScriptState {
        &self.state
    }

    /// Sets a variable of the state; [`Value::Unit`] removes it.
    ///
    /// # Errors
    /// [`ErrorKind::State`] if no script can hold the value or the state grows too large.
    pub fn keep(&mut self, name: &str, value: Value) -> Result<(), HostFault> {
        value
            .check()
            .map_err(|error| HostFault::new(ErrorKind::State, format!("state.{name}: {error}")))?;
        let bytes = |value: &Value| name.len() + wire::length(value);
        let before = self.state.0.get(name);
        if before.unwrap_or(&Value::Unit) == &value {
            return Ok(());
        }
        let freed = before.map_or(0, bytes);
        let taken = if value == Value::Unit { 0 } else { bytes(&value) };
        let length = self.state_bytes.unwrap_or_else(|| wire::length(&*self.state));
        let length = length.saturating_sub(freed) + taken;
        self.state_bytes = Some(length);
        if length > STATE_BYTES_MAX {
            let message = format!("the state is larger than {STATE_BYTES_MAX} bytes");
            return Err(HostFault::new(ErrorKind::State, message));
        }
        let state = &mut Arc::make_mut(&mut self.state).0;
        if value == Value::Unit {
            state.remove(name);
        } else {
            state.insert(name.into(), value);
        }
        (self.state_changed, self.state_checked) = (true, false);
        Ok(())
    }

    /// Does what [`ScriptContext::keep`] does, but the length of the whole state is checked when all is
    /// written.
    pub(crate) fn replace(&mut self, name: &str, value: Value) -> Result<(), HostFault> {
        value
            .check()
            .map_err(|error| HostFault::new(ErrorKind::State, format!("state.{name}: {error}")))?;
        if self.state.0.get(name).unwrap_or(&Value::Unit) == &value {
            return Ok(());
        }
        let state = &mut Arc::make_mut(&mut self.state).0;
        if value == Value::Unit {
            state.remove(name);
        } else {
            state.insert(name.into(), value);
        }
        (self.state_changed, self.state_checked) = (true, false);
        Ok(())
    }
}

#[cold]
fn gone(id: ObjectId) -> HostFault {
    HostFault::new(ErrorKind::Gone, format!("there is no object {id}"))
}

fn short(what: &str, text: &str, most: usize) -> Result<String, HostFault> {
    // Most texts are of letters that need no second look.
    let is_plain = || text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let message = if text.len() > most {
        format!("{what} takes at most {most} bytes, not {}", text.len())
    } else if !is_plain() && !is_line(text) {
        format!("{what} is one line, without characters that control or turn it")
    } else {
        return Ok(text.into());
    };
    Err(HostFault::new(ErrorKind::Argument, message))
}
