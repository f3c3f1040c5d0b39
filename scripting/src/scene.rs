//! One call under way: what it has read, written and queued so far, with every limit checked.

use alloc::{
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use metatopia_math::{Angle, Fx, Stream, Vec2};
use metatopia_types::{
    ObjectId, ScriptId,
    limits::{CHAT_BYTES_MAX, TICKS_PER_SECOND},
    wire,
};

use crate::{
    Call, Effect, ErrorKind, Fault, ObjectView, Own, Part, State, Value, View,
    limits::{
        EFFECT_BYTES_MAX, EFFECTS_MAX, IMPULSE_MAX, LOG_LINE_BYTES_MAX, LOG_LINES_MAX, NEARBY_MAX,
        NEARBY_RADIUS_MAX, SIGN_BYTES_MAX, STATE_BYTES_MAX, TIMER_SECONDS_MAX, TOPIC_BYTES_MAX,
        VALUE_DEPTH_MAX,
    },
};

/// What every host function does in the end; also how a port to Rust reads and writes the world.
///
/// A scene holds the limits of a call: whoever writes through it cannot break them.
#[expect(
    missing_debug_implementations,
    reason = "a view of a whole world has no useful one"
)]
pub struct Scene {
    view: Arc<dyn View>,
    script: ScriptId,
    object: ObjectId,
    index: u64,
    state: Arc<State>,
    state_bytes: usize,
    state_changed: bool,
    /// The object's fields as this script sees them: earlier calls' writes under this call's.
    seen: Own,
    part: Part,
    effect_bytes: usize,
    random: Option<Stream>,
}

impl Scene {
    /// The scene of a call, before anything happened.
    #[must_use]
    pub fn new(call: &Call<'_>) -> Self {
        Self {
            view: Arc::clone(call.view),
            script: call.script,
            object: call.object,
            index: call.index,
            state: Arc::clone(call.state),
            state_bytes: wire::encode(&**call.state).len(),
            state_changed: false,
            seen: call.own.clone(),
            part: Part::default(),
            effect_bytes: 0,
            random: None,
        }
    }

    /// What the call gives back; gas is the caller's business.
    ///
    /// # Errors
    /// [`ErrorKind::State`] if the state may not be kept.
    pub fn finish(mut self) -> Result<Part, Fault> {
        if self.state_changed {
            self.state
                .check()
                .map_err(|error| Fault::new(ErrorKind::State, error.to_string()))?;
            self.part.state = Some(Arc::unwrap_or_clone(self.state));
        }
        Ok(self.part)
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

    /// Is there such an object?
    #[must_use]
    pub fn exists(&self, id: ObjectId) -> bool {
        self.view.object(id).is_some()
    }

    /// An object at the start of the tick; the own one with what the script wrote to it since.
    ///
    /// # Errors
    /// [`ErrorKind::Gone`] if there is no such object.
    pub fn object(&self, id: ObjectId) -> Result<ObjectView<'_>, Fault> {
        let mut object = self.view.object(id).ok_or_else(|| gone(id))?;
        if id == self.object {
            object.pos = self.seen.pos.unwrap_or(object.pos);
            object.angle = self.seen.angle.unwrap_or(object.angle);
            object.velocity = self.seen.velocity.unwrap_or(object.velocity);
            object.spin = self.seen.spin.unwrap_or(object.spin);
            object.color = self.seen.color.unwrap_or(object.color);
            object.text = self.seen.text.as_deref().unwrap_or(object.text);
        }
        Ok(object)
    }

    /// At most [`NEARBY_MAX`] other objects within `radius` metres of where the own object was at
    /// the start of the tick, nearest first, at the same distance by id.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a radius below 0 or above [`NEARBY_RADIUS_MAX`].
    pub fn nearby(&self, radius: Fx) -> Result<Vec<ObjectId>, Fault> {
        if radius < Fx::ZERO || radius > Fx::from_int(NEARBY_RADIUS_MAX) {
            let message = format!("a radius is 0 to {NEARBY_RADIUS_MAX} metres, not {radius}");
            return Err(Fault::new(ErrorKind::Argument, message));
        }
        let center = self
            .view
            .object(self.object)
            .ok_or_else(|| gone(self.object))?
            .pos;
        let mut found = self.view.nearby(center, radius, NEARBY_MAX + 1);
        found.retain(|id| *id != self.object);
        found.truncate(NEARBY_MAX as usize);
        Ok(found)
    }

    /// Simulated seconds since genesis.
    #[must_use]
    pub fn now(&self) -> Fx {
        self.view.time()
    }

    /// The call's random numbers: a pure function of the turn, the tick, the script, and how many
    /// calls it had in this tick.
    pub fn random(&mut self) -> &mut Stream {
        let Self {
            random,
            view,
            script,
            index,
            ..
        } = self;
        random.get_or_insert_with(|| {
            Stream::new(
                &view.seed().0,
                "metatopia script v1",
                &[view.tick().0, script.0, *index],
            )
        })
    }

    /// The script's state, with what this call changed.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Sets a variable of the state; [`Value::Unit`] removes it.
    ///
    /// # Errors
    /// [`ErrorKind::State`] if the value is nested too deeply or the state grows too large.
    pub fn keep(&mut self, name: &str, value: Value) -> Result<(), Fault> {
        if value.depth() > VALUE_DEPTH_MAX {
            let message = format!("state.{name} is nested deeper than {VALUE_DEPTH_MAX} levels");
            return Err(Fault::new(ErrorKind::State, message));
        }
        let bytes = |value: &Value| name.len() + wire::encode(value).len();
        let before = self.state.0.get(name);
        if before.unwrap_or(&Value::Unit) == &value {
            return Ok(());
        }
        let freed = before.map_or(0, bytes);
        let taken = if value == Value::Unit {
            0
        } else {
            bytes(&value)
        };
        self.state_bytes = self.state_bytes.saturating_sub(freed) + taken;
        if self.state_bytes > STATE_BYTES_MAX {
            let message = format!("the state is larger than {STATE_BYTES_MAX} bytes");
            return Err(Fault::new(ErrorKind::State, message));
        }
        let state = &mut Arc::make_mut(&mut self.state).0;
        if value == Value::Unit {
            state.remove(name);
        } else {
            state.insert(name.into(), value);
        }
        self.state_changed = true;
        Ok(())
    }

    /// Puts the own object somewhere.
    ///
    /// # Errors
    /// [`ErrorKind::Gone`] if the own object is no longer there; so for all writes to it.
    pub fn set_pos(&mut self, pos: Vec2) -> Result<(), Fault> {
        let same = self.object(self.object)?.pos == pos;
        self.write(
            same,
            Own {
                pos: Some(pos),
                ..Own::default()
            },
        );
        Ok(())
    }

    /// Turns the own object to a heading.
    ///
    /// # Errors
    /// As [`Scene::set_pos`].
    pub fn set_angle(&mut self, angle: Angle) -> Result<(), Fault> {
        let same = self.object(self.object)?.angle == angle;
        self.write(
            same,
            Own {
                angle: Some(angle),
                ..Own::default()
            },
        );
        Ok(())
    }

    /// Sets the own object's velocity, in metres a second.
    ///
    /// # Errors
    /// As [`Scene::set_pos`].
    pub fn set_velocity(&mut self, velocity: Vec2) -> Result<(), Fault> {
        let same = self.object(self.object)?.velocity == velocity;
        self.write(
            same,
            Own {
                velocity: Some(velocity),
                ..Own::default()
            },
        );
        Ok(())
    }

    /// Sets the own object's spin, in radians a second.
    ///
    /// # Errors
    /// As [`Scene::set_pos`].
    pub fn set_spin(&mut self, spin: Fx) -> Result<(), Fault> {
        let same = self.object(self.object)?.spin == spin;
        self.write(
            same,
            Own {
                spin: Some(spin),
                ..Own::default()
            },
        );
        Ok(())
    }

    /// Sets the own object's colour, 0xRRGGBB.
    ///
    /// # Errors
    /// As [`Scene::set_pos`], and [`ErrorKind::Argument`] for a number outside 0 to 0xFFFFFF.
    pub fn set_color(&mut self, color: i64) -> Result<(), Fault> {
        let color = u32::try_from(color)
            .ok()
            .filter(|color| *color <= 0x00FF_FFFF);
        let color = color.ok_or_else(|| {
            Fault::new(ErrorKind::Argument, "a color is 0 to 0xFFFFFF, as 0xRRGGBB")
        })?;
        let same = self.object(self.object)?.color == color;
        self.write(
            same,
            Own {
                color: Some(color),
                ..Own::default()
            },
        );
        Ok(())
    }

    /// Sets the text that the own object shows.
    ///
    /// # Errors
    /// As [`Scene::set_pos`], and [`ErrorKind::Argument`] for a text longer than
    /// [`SIGN_BYTES_MAX`] or with control characters.
    pub fn set_text(&mut self, text: &str) -> Result<(), Fault> {
        let text = short("a sign", text, SIGN_BYTES_MAX)?;
        let same = self.object(self.object)?.text == text;
        self.write(
            same,
            Own {
                text: Some(text),
                ..Own::default()
            },
        );
        Ok(())
    }

    /// Writing what is there already is no write: a script that looks at `self_.pos.x` must not
    /// nail its object down.
    fn write(&mut self, same: bool, own: Own) {
        if !same {
            self.seen.merge(own.clone());
            self.part.own.merge(own);
        }
    }

    /// The own object says something.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an empty text, one longer than [`CHAT_BYTES_MAX`] or with
    /// control characters; [`ErrorKind::Effects`] for too many effects, as all that follow.
    pub fn say(&mut self, text: &str) -> Result<(), Fault> {
        if text.is_empty() {
            return Err(Fault::new(ErrorKind::Argument, "nothing to say"));
        }
        let text = short("what is said", text, CHAT_BYTES_MAX)?;
        self.queue(Effect::Say { text })
    }

    /// Sends a message to the scripts on an object. It may be gone: then nobody gets it.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a topic longer than [`TOPIC_BYTES_MAX`], or data nested too
    /// deeply.
    pub fn send(&mut self, to: ObjectId, topic: &str, data: Value) -> Result<(), Fault> {
        if data.depth() > VALUE_DEPTH_MAX {
            let message = format!("data is nested deeper than {VALUE_DEPTH_MAX} levels");
            return Err(Fault::new(ErrorKind::Argument, message));
        }
        let topic = short("a topic", topic, TOPIC_BYTES_MAX)?;
        self.queue(Effect::Send { to, topic, data })
    }

    /// Kicks an object, the own one or another, in kilogram metres a second.
    ///
    /// # Errors
    /// [`ErrorKind::Gone`] if there is no such object; [`ErrorKind::Argument`] if a component is
    /// beyond [`IMPULSE_MAX`].
    pub fn push(&mut self, object: ObjectId, impulse: Vec2) -> Result<(), Fault> {
        let most = Fx::from_int(IMPULSE_MAX);
        if impulse.x.saturating_abs() > most || impulse.y.saturating_abs() > most {
            let message = format!("an impulse is at most {IMPULSE_MAX} each way, not {impulse}");
            return Err(Fault::new(ErrorKind::Argument, message));
        }
        if !self.exists(object) {
            return Err(gone(object));
        }
        self.queue(Effect::Push { object, impulse })
    }

    /// Starts a timer, or starts it anew. Seconds are rounded up to ticks, to at least one.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a name longer than [`TOPIC_BYTES_MAX`], or seconds below 0 or
    /// above [`TIMER_SECONDS_MAX`].
    pub fn timer(&mut self, name: &str, seconds: Fx) -> Result<(), Fault> {
        let name = short("a timer's name", name, TOPIC_BYTES_MAX)?;
        if seconds < Fx::ZERO || seconds > Fx::from_int(TIMER_SECONDS_MAX) {
            let message = format!("a timer runs 0 to {TIMER_SECONDS_MAX} seconds, not {seconds}");
            return Err(Fault::new(ErrorKind::Argument, message));
        }
        // Below 2^49 times 60.
        let ticks = (seconds.to_bits().unsigned_abs() * TICKS_PER_SECOND).div_ceil(1 << 32);
        self.queue(Effect::Timer {
            name,
            ticks: ticks.max(1),
        })
    }

    /// Stops a timer; nothing happens if there is none.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a name longer than [`TOPIC_BYTES_MAX`].
    pub fn cancel(&mut self, name: &str) -> Result<(), Fault> {
        let name = short("a timer's name", name, TOPIC_BYTES_MAX)?;
        self.queue(Effect::Cancel { name })
    }

    /// Notes a line for the author. Lines past [`LOG_LINES_MAX`], and characters past
    /// [`LOG_LINE_BYTES_MAX`], are dropped: a full log is no reason to fail.
    pub fn log(&mut self, line: &str) {
        if self.part.log.len() < LOG_LINES_MAX {
            let end = line.floor_char_boundary(LOG_LINE_BYTES_MAX);
            self.part.log.push(line[..end].into());
        }
    }

    fn queue(&mut self, effect: Effect) -> Result<(), Fault> {
        self.effect_bytes += wire::encode(&effect).len();
        let message = if self.part.effects.len() == EFFECTS_MAX {
            format!("more than {EFFECTS_MAX} effects in one call")
        } else if self.effect_bytes > EFFECT_BYTES_MAX {
            format!("effects of more than {EFFECT_BYTES_MAX} bytes in one call")
        } else {
            self.part.effects.push(effect);
            return Ok(());
        };
        Err(Fault::new(ErrorKind::Effects, message))
    }
}

fn gone(id: ObjectId) -> Fault {
    Fault::new(ErrorKind::Gone, format!("there is no object {id}"))
}

fn short(what: &str, text: &str, most: usize) -> Result<String, Fault> {
    let message = if text.len() > most {
        format!("{what} takes at most {most} bytes, not {}", text.len())
    } else if text.chars().any(char::is_control) {
        format!("{what} has no control characters")
    } else {
        return Ok(text.into());
    };
    Err(Fault::new(ErrorKind::Argument, message))
}
