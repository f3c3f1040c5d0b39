//! What a script wants to happen elsewhere, or later.

use alloc::format;

use metatopia_math::{Fx, Vec2};
use metatopia_types::{
    ObjectId, Outline, Sound,
    limits::{CHAT_BYTES_MAX, SOUND_PITCH_MAX, TICKS_PER_SECOND},
    wire,
};

use super::{ScriptContext, gone, short};
use crate::{
    ErrorKind, HostFault, ScriptEffect, Value,
    limits::{
        EFFECT_BYTES_MAX, EFFECTS_MAX, IMPULSE_MAX, LOG_LINE_BYTES_MAX, LOG_LINES_MAX, SEAT_REACH,
        TIMER_SECONDS_MAX, TOPIC_BYTES_MAX, ZONE_REACH,
    },
    suggest::closest,
};

impl ScriptContext {
    /// Says something as the own object.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an empty text, one longer than [`CHAT_BYTES_MAX`] or with
    /// control characters; [`ErrorKind::Effects`] for too many effects, as all that follow.
    pub fn say(&mut self, text: &str) -> Result<(), HostFault> {
        if text.is_empty() {
            return Err(HostFault::new(ErrorKind::Argument, "nothing to say"));
        }
        let text = short("what is said", text, CHAT_BYTES_MAX)?;
        self.queue(ScriptEffect::Say { text })
    }

    /// The own object calls something out, which people hear farther away than what it says.
    ///
    /// # Errors
    /// As [`ScriptContext::say`].
    pub fn shout(&mut self, text: &str) -> Result<(), HostFault> {
        if text.is_empty() {
            return Err(HostFault::new(ErrorKind::Argument, "nothing to shout"));
        }
        let text = short("what is shouted", text, CHAT_BYTES_MAX)?;
        self.queue(ScriptEffect::Shout { text })
    }

    /// Says something as the own object that one person hears, who must be in hearing.
    ///
    /// # Errors
    /// As [`ScriptContext::say`]; [`ErrorKind::Gone`] if there is no such object;
    /// [`ErrorKind::Argument`] if it is no avatar.
    pub fn whisper(&mut self, who: ObjectId, text: &str) -> Result<(), HostFault> {
        self.person(who)?;
        if text.is_empty() {
            return Err(HostFault::new(ErrorKind::Argument, "nothing to whisper"));
        }
        let text = short("what is whispered", text, CHAT_BYTES_MAX)?;
        self.queue(ScriptEffect::Whisper { who, text })
    }

    /// The own object makes a sound, so many semitones above its usual pitch.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a sound that there is not, or a pitch beyond [`SOUND_PITCH_MAX`].
    pub fn sound(&mut self, name: &str, pitch: i64) -> Result<(), HostFault> {
        let (sound, pitch) = (sound_named(name)?, sound_pitch(pitch)?);
        self.queue(ScriptEffect::Sound { sound, pitch })
    }

    /// Gives the script a zone, the ground around its object: it is told who comes and who goes.
    /// A radius or side of 0 takes the zone away.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a zone that reaches farther than [`ZONE_REACH`], or a negative size.
    pub fn zone(&mut self, outline: Outline) -> Result<(), HostFault> {
        let half = match outline {
            Outline::Disc { radius } => Vec2::new(radius, radius),
            Outline::Box { half } => half,
            Outline::Capsule { .. } | Outline::Polygon(_) => {
                return Err(HostFault::new(ErrorKind::Argument, "a zone is a disc or a box"));
            }
        };
        let (least, most) = (half.x.min(half.y), half.x.max(half.y));
        if least < Fx::ZERO || most > Fx::from_int(ZONE_REACH) {
            let message = format!("a zone reaches 0 to {ZONE_REACH} metres each way");
            return Err(HostFault::new(ErrorKind::Argument, message));
        }
        let outline = (least > Fx::ZERO).then_some(outline);
        self.queue(ScriptEffect::Zone { outline })
    }

    /// Makes the object a seat for one person, at a point as the object sees it, or ends that.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a point farther than [`SEAT_REACH`] from the centre.
    pub fn seat(&mut self, at: Option<Vec2>) -> Result<(), HostFault> {
        if at.is_some_and(|at| at.length() > Fx::from_int(SEAT_REACH)) {
            let message = format!("a seat is within {SEAT_REACH} m of the centre of its thing");
            return Err(HostFault::new(ErrorKind::Argument, message));
        }
        self.queue(ScriptEffect::Seat { at })
    }

    /// Sends a message to the scripts on an object. It may be gone: then the sender is told.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a topic longer than [`TOPIC_BYTES_MAX`], or data that no
    /// script can hold.
    pub fn send(&mut self, to: ObjectId, topic: &str, data: Value) -> Result<(), HostFault> {
        data.check()
            .map_err(|error| HostFault::new(ErrorKind::Argument, format!("data: {error}")))?;
        let topic = short("a topic", topic, TOPIC_BYTES_MAX)?;
        self.queue(ScriptEffect::Send { to, topic, data })
    }

    /// Kicks an object, the own one or another, in kilogram metres a second.
    ///
    /// # Errors
    /// [`ErrorKind::Gone`] if there is no such object; [`ErrorKind::Argument`] if a component is
    /// beyond [`IMPULSE_MAX`].
    pub fn push(&mut self, object: ObjectId, impulse: Vec2) -> Result<(), HostFault> {
        let most = Fx::from_int(IMPULSE_MAX);
        if impulse.x.saturating_abs() > most || impulse.y.saturating_abs() > most {
            let message = format!("an impulse is at most {IMPULSE_MAX} each way, not {impulse}");
            return Err(HostFault::new(ErrorKind::Argument, message));
        }
        if !self.exists(object) {
            return Err(gone(object));
        }
        self.queue(ScriptEffect::Push { object, impulse })
    }

    /// Starts a timer, or starts it anew. Seconds are rounded up to ticks, to at least one.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a name longer than [`TOPIC_BYTES_MAX`], or seconds below 0 or
    /// above [`TIMER_SECONDS_MAX`].
    pub fn timer(&mut self, name: &str, seconds: Fx) -> Result<(), HostFault> {
        let name = short("a timer's name", name, TOPIC_BYTES_MAX)?;
        if seconds < Fx::ZERO || seconds > Fx::from_int(TIMER_SECONDS_MAX) {
            let message = format!("a timer runs 0 to {TIMER_SECONDS_MAX} seconds, not {seconds}");
            return Err(HostFault::new(ErrorKind::Argument, message));
        }
        // Below 2^49 times 60.
        let ticks = (seconds.to_bits().unsigned_abs() * TICKS_PER_SECOND).div_ceil(1 << 32);
        self.queue(ScriptEffect::Timer { name, ticks: ticks.max(1) })
    }

    /// Stops a timer; nothing happens if there is none.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a name longer than [`TOPIC_BYTES_MAX`].
    pub fn cancel(&mut self, name: &str) -> Result<(), HostFault> {
        let name = short("a timer's name", name, TOPIC_BYTES_MAX)?;
        self.queue(ScriptEffect::Cancel { name })
    }

    /// Notes a line for the author. Lines past [`LOG_LINES_MAX`], and characters past
    /// [`LOG_LINE_BYTES_MAX`], are dropped: a full log is no reason to fail.
    pub fn log(&mut self, line: &str) {
        if self.part.log.len() < LOG_LINES_MAX {
            let end = line.floor_char_boundary(LOG_LINE_BYTES_MAX);
            self.part.log.push(line[..end].into());
        }
    }

    pub(super) fn queue(&mut self, effect: ScriptEffect) -> Result<(), HostFault> {
        self.effect_bytes += wire::length(&effect);
        let message = if self.part.effects.len() == EFFECTS_MAX {
            format!("more than {EFFECTS_MAX} effects in one call")
        } else if self.effect_bytes > EFFECT_BYTES_MAX {
            format!("effects of more than {EFFECT_BYTES_MAX} bytes in one call")
        } else {
            self.part.effects.push(effect);
            return Ok(());
        };
        Err(HostFault::new(ErrorKind::Effects, message))
    }
}

/// Returns the sound of a name.
fn sound_named(name: &str) -> Result<Sound, HostFault> {
    Sound::named(name).ok_or_else(|| {
        let hint = closest(name, Sound::ALL.iter().map(|(name, _)| *name));
        let all = Sound::ALL.map(|(name, _)| name).join(", ");
        let message = format!("there is no sound {name:?}{hint}; there are {all}");
        HostFault::new(ErrorKind::Argument, message)
    })
}

/// Returns a pitch in semitones.
fn sound_pitch(pitch: i64) -> Result<i8, HostFault> {
    let most = SOUND_PITCH_MAX;
    let pitch = i8::try_from(pitch).ok().filter(|pitch| pitch.saturating_abs() <= most);
    let message = || format!("a sound is at most {most} semitones higher or lower");
    pitch.ok_or_else(|| HostFault::new(ErrorKind::Argument, message()))
}

pub(super) fn check_sound(name: &str) -> Result<(), HostFault> {
    sound_named(name).map(drop)
}

pub(super) fn check_pitch(pitch: i64) -> Result<(), HostFault> {
    sound_pitch(pitch).map(drop)
}
