//! What scripts let people see and hear: lines, whispers, sounds and forms.
//!
//! Nothing of it but hashes of lines enters the state. One bound holds for all of it, so that a script
//! that has used it up cannot go on in another way.

use metatopia_math::Vec2;
use metatopia_types::{Form, Height, ObjectId, Offer, PublicKey, Sound, Tick};

use super::{
    offers::{StandingOffer, over_at},
    script::SpeechRate,
    script_run::ScriptRun,
};
use crate::{
    acts::{NEARBY, SHOUTED, SpokenLine, WHISPERED},
    space::distance_to,
    state::{State, is_line},
};

/// A form that a thing shows to one person. It is not part of the state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownForm {
    /// The height of the turn.
    pub height: Height,
    /// The tick in which it was shown.
    pub tick: Tick,
    /// The thing that asks.
    pub object: ObjectId,
    /// The thing's name at that moment.
    pub name: String,
    /// Who is asked.
    pub player: PublicKey,
    /// What is shown.
    pub form: Form,
}

/// A sound that a thing makes. It is not part of the state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeSound {
    /// The height of the turn.
    pub height: Height,
    /// The tick in which it was made.
    pub tick: Tick,
    /// The thing that makes it.
    pub object: ObjectId,
    /// The thing's name at that moment.
    pub name: String,
    /// The position of the thing, in metres.
    pub place: Vec2,
    /// Which of the sounds it is.
    pub sound: Sound,
    /// Semitones above its usual pitch, or below.
    pub pitch: i8,
}

/// What scripts let people see and hear in one tick.
#[derive(Default)]
pub(crate) struct ShownToPeople {
    /// Lines that objects said.
    pub(crate) chat: Vec<SpokenLine>,
    /// Forms, each for one person.
    pub(crate) forms: Vec<ShownForm>,
    /// Sounds that objects made.
    pub(crate) sounds: Vec<MadeSound>,
}

impl ShownToPeople {
    /// Lets the object of a script say something, which the index of chat records.
    pub(super) fn say(&mut self, state: &mut State, run: &ScriptRun, tick: Tick, text: String) {
        if let Some(line) = line(state, run, tick, SpeechRate::LINE, text) {
            state.chat.add(&line);
            self.chat.push(line);
        }
    }

    /// Lets the object of a script call something out, which the index of chat records.
    pub(super) fn shout(&mut self, state: &mut State, run: &ScriptRun, tick: Tick, text: String) {
        if let Some(line) = line(state, run, tick, SpeechRate::SHOUT, text) {
            let line = SpokenLine { channel: SHOUTED, ..line };
            state.chat.add(&line);
            self.chat.push(line);
        }
    }

    /// Lets the object of a script say something to one person. No index records it.
    pub(super) fn whisper(
        &mut self,
        state: &mut State,
        run: &ScriptRun,
        tick: Tick,
        who: ObjectId,
        text: String,
    ) {
        let line = line(state, run, tick, SpeechRate::SIGN, text);
        let player = in_hearing(state, run.object, who);
        if let (Some(line), Some(player)) = (line, player) {
            self.chat.push(SpokenLine { channel: WHISPERED, hearer: Some(player), ..line });
        }
    }

    /// Lets the object of a script make a sound of a pitch.
    pub(super) fn make_sound(
        &mut self,
        state: &mut State,
        run: &ScriptRun,
        tick: Tick,
        (sound, pitch): (Sound, i8),
    ) {
        if !has_voice(state, run, tick, SpeechRate::SIGN, true) {
            return;
        }
        let (object, body) = (state.objects.get(&run.object), state.bodies.body(run.object));
        if let (Some(thing), Some(body)) = (object, body) {
            let (name, place) = (thing.name.clone(), body.position());
            let (height, object) = (state.clock.height, run.object);
            self.sounds.push(MadeSound { height, tick, object, name, place, sound, pitch });
        }
    }

    /// Shows a form to a person, if the person is in hearing.
    pub(super) fn show_form(
        &mut self,
        state: &mut State,
        run: &ScriptRun,
        tick: Tick,
        who: ObjectId,
        form: Form,
    ) {
        let is_fit = is_line(&form.tag) && form.words().all(is_line);
        if !has_voice(state, run, tick, SpeechRate::SIGN, is_fit) {
            return;
        }
        let player = in_hearing(state, run.object, who);
        if let (Some(thing), Some(player)) = (state.objects.get(&run.object), player) {
            let (height, name, object) = (state.clock.height, thing.name.clone(), run.object);
            self.forms.push(ShownForm { height, tick, object, name, player, form });
        }
    }
}

impl ShownToPeople {
    /// Offers something to a person in hearing: shows it, and keeps it until it is answered.
    pub(super) fn make_offer(
        &mut self,
        state: &mut State,
        run: &ScriptRun,
        (tick, who): (Tick, ObjectId),
        (terms, text, tag): (Offer, String, String),
    ) {
        if !has_voice(state, run, tick, SpeechRate::SIGN, is_line(&tag) && is_line(&text)) {
            return;
        }
        let Some(player) = in_hearing(state, run.object, who) else { return };
        let Some(name) = state.objects.get(&run.object).map(|thing| thing.name.clone()) else {
            return;
        };
        let offer = Some(Box::new(state.shown_offer(terms.clone())));
        let standing = StandingOffer { who: player, tag, terms, until: over_at(tick) };
        let tag = standing.tag.clone();
        if !state.keep_offer(run.script, standing, tick) {
            let script = state.scripts.get_mut(&run.script).expect("a script that ran");
            script.dropped = script.dropped.saturating_add(1);
            return;
        }
        let (height, object) = (state.clock.height, run.object);
        let form = Form { tag, text, offer, ..Form::default() };
        self.forms.push(ShownForm { height, tick, object, name, player, form });
    }
}

/// Says whether a script may let people see or hear one thing more, which counts so much and which
/// `is_fit` says they may. Otherwise counts what is dropped.
fn has_voice(state: &mut State, run: &ScriptRun, tick: Tick, count: u32, is_fit: bool) -> bool {
    let script = state.scripts.get_mut(&run.script).expect("a script that ran is in the state");
    let may = script.voice.speak(tick, count) && is_fit;
    script.dropped = script.dropped.saturating_add(u64::from(!may));
    may
}

/// Returns a line that the object of a script says, unless the script has said too much of late, or its
/// object is gone.
fn line(
    state: &mut State,
    run: &ScriptRun,
    tick: Tick,
    count: u32,
    text: String,
) -> Option<SpokenLine> {
    if !has_voice(state, run, tick, count, is_line(&text)) {
        return None;
    }
    let object = state.objects.get(&run.object)?;
    Some(SpokenLine {
        height: state.clock.height,
        tick,
        channel: NEARBY,
        speaker: run.object,
        player: object.player,
        hearer: None,
        club: None,
        name: object.name.clone(),
        place: state.bodies.body(run.object)?.position(),
        text,
    })
}

/// Returns the person whose avatar `who` is, if it is there and can hear the object.
fn in_hearing(state: &State, object: ObjectId, who: ObjectId) -> Option<PublicKey> {
    let player = state.objects.get(&who)?.player?;
    let (speaks, hears) = (state.bodies.body(object)?, state.bodies.body(who)?);
    let distance = distance_to(speaks, hears.position());
    (distance <= state.charter.parameters.hearing).then_some(player)
}
