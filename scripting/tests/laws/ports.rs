//! A port to Rust implements the same trait, and gives the same parts on recorded events.

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{
    Call, ErrorKind, Event, EventKind, FailureReport, Handler, HostFault, Package, ScriptContext,
    ScriptError, ScriptOutput, ScriptState, Value, limits::IMPULSE_MAX,
};
use metatopia_types::{Digest, ObjectId, PackageId};

use crate::stage::{draft, fx, handler, point, run_in, world};

/// A door guard: greets by name, counts, throws out whoever touches it, and calms down.
const SCRIPT: &str = "
    const WORD = \"open sesame\";
    fn on_chat(from, text) {
        state.heard = (state.heard ?? 0) + 1;
        if text == WORD {
            self_.color = 0x00FF00;
            send(from, \"welcome\", state.heard);
            timer(\"close\", 2.5);
        } else {
            say(`${from.name}, that is not it`);
        }
    }
    fn on_touch(other, at, impulse) {
        let away = (other.pos - self_.pos).normalize() * (1 + impulse);
        push(other, away.rotate(random(-0.5, 0.5)));
    }
    fn on_timer(name) {
        if name == \"close\" { self_.color = 0xFF0000; }
    }";

/// What each event costs, in either form.
const GAS: u64 = 200;

struct Guard {
    replaces: PackageId,
}

impl Guard {
    fn handle(scene: &mut ScriptContext, event: &Event) -> Result<(), HostFault> {
        match event {
            Event::Chat { from, text } => {
                let heard = match scene.state().0.get("heard") {
                    Some(Value::Int(heard)) => *heard,
                    _ => 0,
                };
                let heard = Value::Int(heard.checked_add(1).ok_or_else(overflow)?);
                scene.keep("heard", heard.clone())?;
                if text == "open sesame" {
                    scene.set_color(0x00FF00)?;
                    scene.send(*from, "welcome", heard)?;
                    scene.timer("close", fx("2.5"))
                } else {
                    let words = format!("{}, that is not it", scene.object(*from)?.name);
                    scene.say(&words)
                }
            }
            Event::Touch { other, impulse, .. } => {
                let (from, to) = (scene.object(scene.me())?.pos, scene.object(*other)?.pos);
                let away = to.checked_sub(from).ok_or_else(overflow)?;
                let force = Fx::ONE.checked_add(*impulse).ok_or_else(overflow)?;
                let away = away.normalize().unwrap_or(Vec2::ZERO).checked_scale(force);
                let half = Fx::HALF;
                let turn = scene.random().fx_between(half.saturating_neg(), half);
                let turn = metatopia_math::Angle::from_radians(turn);
                scene.push(*other, away.ok_or_else(overflow)?.rotate(turn))
            }
            Event::Timer { name } if name == "close" => scene.set_color(0xFF0000),
            _ => Ok(()),
        }
    }
}

fn overflow() -> HostFault {
    HostFault::new(ErrorKind::Arithmetic, "out of range")
}

impl Handler for Guard {
    fn package(&self) -> PackageId {
        self.replaces
    }

    fn handles(&self, kind: EventKind) -> bool {
        matches!(kind, EventKind::Chat | EventKind::Touch | EventKind::Timer)
    }

    fn call(&self, call: &Call<'_>) -> Result<ScriptOutput, ScriptError> {
        let mut scene = ScriptContext::new(call);
        let handled = Self::handle(&mut scene, call.event);
        match handled.and_then(|()| scene.finish()) {
            Ok(part) => Ok(ScriptOutput { gas: GAS, ..part }),
            Err(HostFault { kind, message }) => {
                let report = Box::new(FailureReport { message, ..FailureReport::default() });
                Err(ScriptError { kind, gas: GAS, report })
            }
        }
    }
}

/// Every kind of event, good and bad.
fn recorded() -> Vec<Event> {
    let chat = |from, text: &str| Event::Chat { from: ObjectId(from), text: text.into() };
    let touch =
        |other, impulse| Event::Touch { other: ObjectId(other), at: point("0", "0.5"), impulse };
    vec![
        Event::Start,
        chat(3, "hello"),
        touch(2, fx("0.25")),
        Event::Tick { dt: fx("0.5") },
        chat(2, "open sesame"),
        Event::Timer { name: "close".into() },
        Event::Timer { name: "other".into() },
        touch(3, Fx::from_int(2 * IMPULSE_MAX)),
        touch(3, Fx::MAX),
        touch(99, Fx::ZERO),
        touch(1, Fx::ONE),
        chat(99, "hello"),
        chat(99, "open sesame"),
    ]
}

/// Returns what servers must agree on, without gas: the manifest states that for both forms.
fn agreed(result: Result<ScriptOutput, ScriptError>) -> Result<ScriptOutput, ErrorKind> {
    result.map(|part| ScriptOutput { gas: 0, log: vec![], ..part }).map_err(|error| error.kind)
}

#[test]
fn a_port_gives_the_parts_of_the_script_it_replaces() {
    let package = Package::build(draft(SCRIPT)).unwrap();
    let script = handler(SCRIPT);
    let port: Box<dyn Handler> = Box::new(Guard { replaces: package.id() });
    assert_eq!(port.package(), script.package());
    for kind in EventKind::ALL {
        assert_eq!(port.handles(kind), script.handles(kind), "{kind:?}");
    }

    let mut state = ScriptState::default();
    let (mut done, mut failed) = (0, 0);
    for event in recorded() {
        let expected = agreed(run_in(world(), &script, &event, state.clone()));
        let found = agreed(run_in(world(), &*port, &event, state.clone()));
        assert_eq!(found, expected, "{event:?}");
        match expected {
            Ok(part) => {
                done += 1;
                state = part.state.unwrap_or(state);
            }
            Err(_) => failed += 1,
        }
    }
    assert_eq!((done, failed), (9, 4));
}

#[test]
fn a_port_cannot_break_the_limits_of_a_call() {
    struct Chatter;
    impl Handler for Chatter {
        fn package(&self) -> PackageId {
            PackageId(Digest::ZERO)
        }

        fn handles(&self, _: EventKind) -> bool {
            true
        }

        fn call(&self, call: &Call<'_>) -> Result<ScriptOutput, ScriptError> {
            let mut scene = ScriptContext::new(call);
            let fault = loop {
                if let Err(fault) = scene.say("again") {
                    break fault;
                }
            };
            Err(ScriptError { kind: fault.kind, gas: 1, report: Box::default() })
        }
    }
    let error = run_in(world(), &Chatter, &Event::Start, ScriptState::default()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Effects);
}
