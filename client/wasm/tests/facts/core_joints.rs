//! What the page learns of joints through the core, and how it joins and frees things.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_protocol::*;
use metatopia_types::*;
use serde_json::{Value, json};

use crate::page::Page;

/// Answers the only question for joints, which is sent with the next view.
fn tell(page: &mut Page, joints: Vec<JointEntry>) -> Vec<Value> {
    page.stand.turns(1);
    page.see();
    let [id] = asked(page)[..] else { panic!("one question for joints is sent with a view") };
    page.events();
    page.answer(id, Answer::Joints(joints));
    page.events_of("joints")
}

/// Returns the numbers of the questions that the page asked.
fn asked(page: &mut Page) -> Vec<u32> {
    let number = |(id, question)| matches!(question, Question::Joints { .. }).then_some(id);
    page.asked().into_iter().filter_map(number).collect()
}

#[test]
fn joints_are_told_when_they_change_and_asked_for_every_two_seconds() {
    let mut page = Page::new();
    page.log_in();
    let half = Vec2::new(Fx::HALF, Fx::ZERO);
    let hinge = JointEntry {
        a: None,
        b: ObjectId(7),
        anchor_a: half,
        anchor_b: Vec2::ZERO,
        kind: JointEntryKind::Hinge,
    };
    let kind = JointEntryKind::Slider { along: Angle::ZERO };
    let slider = JointEntry { a: Some(ObjectId(8)), kind, ..hinge };
    let told = tell(&mut page, vec![hinge, slider]);
    let ends = |a: Value, kind: &str, along: Value| {
        let (ax, zero) = (0.5, 0.0);
        json!({ "a": a, "b": 7, "kind": kind, "along": along, "ax": ax, "ay": zero, "bx": zero, "by": zero })
    };
    let list = [ends(Value::Null, "hinge", Value::Null), ends(8.into(), "slider", 0.0.into())];
    assert_eq!(told, [json!({ "type": "joints", "list": list, "proven": false })]);

    page.wait(1_999.0);
    page.stand.turns(1);
    page.see();
    assert_eq!(asked(&mut page), [0; 0], "they are known for now");
    page.wait(1.0);
    assert_eq!(tell(&mut page, vec![hinge, slider]), [Value::Null; 0], "they are the same");
    page.wait(2_000.0);
    assert_eq!(tell(&mut page, Vec::new())[0]["list"], json!([]));
}

#[test]
fn who_joins_or_frees_things_in_sight_learns_at_once_what_came_of_it() {
    let mut page = Page::new();
    page.log_in();
    tell(&mut page, Vec::new());
    let seen = page.stand.world().objects().find(|object| object.player.is_none());
    let thing = seen.expect("the stand has things");
    let join = |kind: &str| json!({ "do": "join", "object": thing.id, "to": null, "kind": kind });
    let id = page.command(join("hinge"));
    let act = page.act();
    let kind = BuiltJoint::Hinge;
    let wanted = Build::Join { object: thing.id, to: None, at: thing.position, kind };
    assert_eq!(act.envelope.act, Act::Build(wanted));
    page.decide(act, Outcome::Refused(Refusal::Immovable));
    assert_eq!(page.result(id).expect("known")["result"]["refusal"], "Immovable");
    assert_eq!(tell(&mut page, Vec::new()), [Value::Null; 0], "it is asked at once");

    let bad = page.command(join("glue"));
    assert_eq!(page.result(bad).expect("at once")["code"], "BadName");
    let far = json!({ "do": "join", "object": 1_u64 << 40, "to": null, "kind": "weld" });
    let bad = page.command(far);
    assert_eq!(page.result(bad).expect("at once")["code"], "NoObject");

    page.command(json!({ "do": "unjoin", "object": thing.id }));
    let act = page.act();
    assert_eq!(act.envelope.act, Act::Build(Build::Unjoin { object: thing.id, from: None }));
}

#[test]
fn a_tab_that_nobody_looks_at_asks_for_no_joints() {
    let mut page = Page::new();
    page.log_in();
    page.command(json!({ "do": "watch", "pulse": "hidden" }));
    page.stand.turns(1);
    page.see();
    assert_eq!(asked(&mut page), [0; 0]);
}
