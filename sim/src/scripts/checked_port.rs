//! Ports under the same limits as scripts. What a script returns went through functions that check every
//! limit. A port can return any part, so the part is checked afterwards.

use std::sync::Arc;

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{
    Call, ErrorKind, EventKind, FailureReport, Handler, ScriptEffect, ScriptError, ScriptOutput,
    limits::{
        EFFECT_BYTES_MAX, EFFECTS_MAX, SEAT_REACH, SIGN_BYTES_MAX, TOPIC_BYTES_MAX, ZONE_REACH,
    },
};
use metatopia_types::{
    Form, Outline, PackageId, is_line,
    limits::{
        CHAT_BYTES_MAX, FORM_CHOICES_MAX, FORM_LABEL_BYTES_MAX, FORM_TAG_BYTES_MAX, SOUND_PITCH_MAX,
    },
    wire,
};

/// A port whose parts break no limit.
pub(crate) struct CheckedPort {
    port: Arc<dyn Handler>,
    /// What each event costs; without it, what the handler says.
    gas: Option<u64>,
}

impl CheckedPort {
    /// Returns a stand-in, whose events cost what it says.
    pub(crate) fn stand_in(handler: Arc<dyn Handler>) -> Self {
        Self { port: handler, gas: None }
    }

    /// Returns a port whose events cost what was agreed.
    pub(crate) fn agreed(port: Arc<dyn Handler>, gas: u64) -> Self {
        Self { port, gas: Some(gas) }
    }
}

impl Handler for CheckedPort {
    fn package(&self) -> PackageId {
        self.port.package()
    }

    fn handles(&self, kind: EventKind) -> bool {
        self.port.handles(kind)
    }

    fn call(&self, call: &Call<'_>) -> Result<ScriptOutput, ScriptError> {
        // An event that is not handled costs nothing, as with a script.
        let flat = self.gas.filter(|_| self.port.handles(call.event.kind()));
        let part = match self.port.call(call) {
            Ok(part) => ScriptOutput { gas: flat.unwrap_or(part.gas), ..part },
            Err(error) => return Err(ScriptError { gas: flat.unwrap_or(error.gas), ..error }),
        };
        let gas = part.gas.min(call.gas);
        match fault(&part, call.gas) {
            None => Ok(part),
            Some((kind, message)) => {
                let report =
                    FailureReport { message: message.to_owned(), ..FailureReport::default() };
                Err(ScriptError { kind, gas, report: Box::new(report) })
            }
        }
    }
}

/// Returns the first limit that a part breaks.
fn fault(part: &ScriptOutput, gas: u64) -> Option<(ErrorKind, &'static str)> {
    if part.gas > gas {
        return Some((ErrorKind::Gas, "the port used more gas than it may"));
    }
    if part.state.as_ref().is_some_and(|state| state.check().is_err()) {
        return Some((ErrorKind::State, "the port left a state that cannot be kept"));
    }
    if part.own.text.as_ref().is_some_and(|text| text.len() > SIGN_BYTES_MAX || !is_line(text)) {
        return Some((ErrorKind::Argument, "the port wrote a text that is too long, or no line"));
    }
    if part.effects.len() > EFFECTS_MAX || !part.effects.iter().all(is_sound) {
        return Some((ErrorKind::Effects, "the port queued too many effects, or wrong ones"));
    }
    let bytes: usize = part.effects.iter().map(wire::length).sum();
    (bytes > EFFECT_BYTES_MAX).then_some((ErrorKind::Effects, "the port queued too much"))
}

/// Says whether an effect breaks no limit.
fn is_sound(effect: &ScriptEffect) -> bool {
    match effect {
        ScriptEffect::Say { text }
        | ScriptEffect::Shout { text }
        | ScriptEffect::Whisper { text, .. } => !text.is_empty() && text.len() <= CHAT_BYTES_MAX,
        ScriptEffect::Send { topic, data, .. } => {
            topic.len() <= TOPIC_BYTES_MAX && data.check().is_ok()
        }
        ScriptEffect::Ui { form, .. } => is_sound_form(form),
        ScriptEffect::Sound { pitch, .. } => pitch.unsigned_abs() <= SOUND_PITCH_MAX.unsigned_abs(),
        ScriptEffect::Zone { outline } => outline.is_none_or(is_sound_zone),
        ScriptEffect::Seat { at } => at.is_none_or(|at| at.length() <= Fx::from_int(SEAT_REACH)),
        ScriptEffect::Spawn { tag, .. } => tag.len() <= TOPIC_BYTES_MAX,
        ScriptEffect::Offer { terms, text, tag, .. } => {
            let asks = terms.give.is_some() || terms.take.is_some() || !terms.allow.is_empty();
            asks && text.len() <= CHAT_BYTES_MAX && tag.len() <= FORM_TAG_BYTES_MAX
        }
        ScriptEffect::Push { .. }
        | ScriptEffect::Despawn { .. }
        | ScriptEffect::Carry { .. }
        | ScriptEffect::Dress { .. }
        | ScriptEffect::Join { .. }
        | ScriptEffect::Unjoin { .. }
        | ScriptEffect::Motor { .. }
        | ScriptEffect::BreakAt { .. } => true,
        ScriptEffect::Timer { name, ticks } => name.len() <= TOPIC_BYTES_MAX && *ticks > 0,
        ScriptEffect::Cancel { name } => name.len() <= TOPIC_BYTES_MAX,
    }
}

/// Says whether a zone breaks no limit.
fn is_sound_zone(outline: Outline) -> bool {
    let half = match outline {
        Outline::Disc { radius } => Vec2::new(radius, radius),
        Outline::Box { half } => half,
        Outline::Capsule { .. } | Outline::Polygon(_) => return false,
    };
    let most = Fx::from_int(ZONE_REACH);
    [half.x, half.y].into_iter().all(|side| side > Fx::ZERO && side <= most)
}

/// Says whether a form breaks no limit.
fn is_sound_form(form: &Form) -> bool {
    let labels = form.choices.iter().chain([&form.title]).chain(&form.field);
    // Only an offer has terms, and those are kept.
    form.offer.is_none()
        && form.tag.len() <= FORM_TAG_BYTES_MAX
        && form.text.len() <= CHAT_BYTES_MAX
        && form.choices.len() <= FORM_CHOICES_MAX
        && labels.into_iter().all(|label| label.len() <= FORM_LABEL_BYTES_MAX)
}
