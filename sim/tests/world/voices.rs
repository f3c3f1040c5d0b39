//! Voices: what things whisper, and the sounds that they make.

use metatopia_physics::Motion;
use metatopia_scripting::Value;
use metatopia_sim::{
    NEARBY, SHOUTED, SpokenLine, WHISPERED,
    limits::{VOICE_LINES_MAX, VOICE_SIGNS_PER_LINE},
};
use metatopia_types::{Act, LeafKey, ObjectId, Outcome, Refusal, Sound};

use crate::{
    building::{block, place, site},
    byte_budget::script,
    yard::{Builder, Yard, public, vec2},
};

/// A bell that answers the one who touches it, and does too much when it is spoken to.
const BELL: &str = r#"
    fn on_touch(other) { whisper(other, "psst"); sound("chime", -5); state.who = other; }
    fn on_chat(from, text) {
        if text == "later" { timer("later", 4); return; }
        for n in 0..9 { whisper(from, "psst"); sound("bell"); say("dong"); }
    }
    fn on_timer(name) { whisper(state.who, "still there?"); state.asked = true; }
"#;

fn bell() -> (Yard, ObjectId) {
    let mut builder = Builder::new();
    let package = builder.package("bell", BELL);
    let bell = builder.thing(Motion::Static, (2, 0), &[package]);
    (site(&mut builder), bell)
}

#[test]
fn a_whisper_is_for_one_person_and_no_index_keeps_it() {
    let (mut yard, bell) = bell();
    let index = yard.world.leaf(&LeafKey("chat".to_owned()));
    yard.act(2, Act::Touch { object: bell });

    let applied = yard.play();

    let [SpokenLine { channel: WHISPERED, hearer, speaker, text, .. }] = &applied.chat[..] else {
        panic!("{:?}", applied.chat)
    };
    assert_eq!((*hearer, *speaker, text.as_str()), (Some(public(2)), bell, "psst"));
    assert_eq!(yard.world.leaf(&LeafKey("chat".to_owned())), index);
}

#[test]
fn a_sound_comes_from_its_thing_at_its_pitch() {
    let (mut yard, bell) = bell();
    yard.act(2, Act::Touch { object: bell });

    let applied = yard.play();

    let [made] = &applied.sounds[..] else { panic!("{:?}", applied.sounds) };
    assert_eq!((made.object, made.sound, made.pitch), (bell, Sound::Chime, -5));
    assert_eq!(made.place, vec2(2, 0));
}

#[test]
fn lines_whispers_and_sounds_share_one_bound() {
    let (mut yard, _) = bell();
    yard.say(1, 0, "all at once");
    let (mut lines, mut signs) = (0, 0);
    for _ in 0..2 {
        let applied = yard.play();
        let said = |channel: u8| applied.chat.iter().filter(move |line| line.channel == channel);
        lines += said(NEARBY).filter(|line| line.player.is_none()).count() as u32;
        signs += (said(WHISPERED).count() + applied.sounds.len()) as u32;
    }
    // Two whispers, two sounds and two lines, and after the third whisper and sound no third line.
    assert_eq!((lines, signs), (2, 6));
    assert_eq!(lines * VOICE_SIGNS_PER_LINE + signs, VOICE_LINES_MAX * VOICE_SIGNS_PER_LINE);
    assert_eq!(script(&yard.world, 1).dropped, 27 - 8);
}

#[test]
fn nobody_hears_a_whisper_who_is_out_of_hearing() {
    let (mut yard, bell) = bell();
    yard.act(1, Act::Touch { object: bell });
    yard.say(1, 0, "later");
    yard.play();
    let hearing = yard.world.parameters().hearing.floor_int();
    yard.walk_to(1, vec2(-i32::try_from(hearing).unwrap(), 0));

    let lines: usize = (0..200).map(|_| yard.play().chat.len()).sum();

    assert_eq!(lines, 0);
    assert!(script(&yard.world, 1).state.0.contains_key("asked"));
}

#[test]
fn people_cannot_whisper_or_call_out_as_things_do() {
    let (mut yard, _) = bell();
    for channel in [WHISPERED, SHOUTED] {
        let said = yard.say(1, channel, "psst");
        yard.play();
        assert_eq!(yard.outcome(&said), Outcome::Refused(Refusal::NoChannel));
    }
}

#[test]
fn a_shout_takes_all_of_a_second_and_the_index_keeps_it() {
    let mut builder = Builder::new();
    let crier = "fn on_chat(from, text) { for n in 0..9 { shout(\"hear ye\"); } }";
    let package = builder.package("crier", crier);
    builder.thing(Motion::Static, (2, 0), &[package]);
    let mut yard = site(&mut builder);
    let index = yard.world.leaf(&LeafKey("chat".to_owned()));
    yard.say(1, 0, "well?");

    let lines: Vec<SpokenLine> = (0..2).flat_map(|_| yard.play().chat).collect();

    let shouts = lines.iter().filter(|line| line.channel == SHOUTED).count() as u32;
    assert_eq!(shouts, 1);
    assert_ne!(yard.world.leaf(&LeafKey("chat".to_owned())), index);
}

/// A guard looks along the way to whoever speaks, and a wall hides who stands behind it.
#[test]
fn a_script_sees_along_a_ray_what_stands_in_the_way() {
    let mut builder = Builder::new();
    let guard = "fn on_chat(from, text) {
        let met = ray(self_.pos, from.pos);
        state.seen = met != () && met.object == from;
    }";
    let package = builder.package("guard", guard);
    builder.thing(Motion::Static, (20, 0), &[package]);
    let mut yard = site(&mut builder);
    yard.walk_to(1, vec2(16, 0));
    yard.say(1, 0, "here");
    yard.idle(2);
    assert_eq!(script(&yard.world, 1).state.0["seen"], Value::Bool(true));

    yard.walk_to(2, vec2(18, 3));
    place(&mut yard, 2, block(18, 0));
    yard.say(1, 0, "and now");
    yard.idle(2);
    assert_eq!(script(&yard.world, 1).state.0["seen"], Value::Bool(false));
}
