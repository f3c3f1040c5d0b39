//! The handlers by hand, in Rust, as whoever knows the engine from within would write them.

use std::collections::BTreeMap;

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{
    Call, ErrorKind, Event, EventKind, Handler, HostFault, ScriptContext, ScriptError,
    ScriptOutput, Value,
};
use metatopia_types::{Digest, PackageId};

/// A handler of ticks by hand.
pub(crate) struct NativeHandler(fn(&mut ScriptContext, Fx) -> Result<(), HostFault>);

/// Returns the handler of this name, if it was written by hand.
pub(crate) fn native(name: &str) -> Option<NativeHandler> {
    Some(NativeHandler(match name {
        "tick" => tick,
        "chatty" => chatty,
        "map-heavy" => map_heavy,
        "idle" => |_, _| Ok(()),
        _ => return None,
    }))
}

fn tick(scene: &mut ScriptContext, dt: Fx) -> Result<(), HostFault> {
    const NEAR: Fx = Fx::from_ratio(1, 100);
    const SLOW: Fx = Fx::from_ratio(98, 100);
    let fault = || HostFault::new(ErrorKind::Arithmetic, "out of range");
    let square = |x: Fx, y: Fx| x.checked_mul(x)?.checked_add(y.checked_mul(y)?);
    let me = scene.me();
    let own = scene.object(me)?;
    let (pos, velocity) = (own.pos, own.velocity);
    let (mut ax, mut ay) = (Fx::ZERO, Fx::ZERO);
    let (mut best, mut best_distance) = (me, Fx::from_int(100));
    for other in scene.nearby(Fx::from_int(8))? {
        let at = scene.position(other)?;
        let dx = at.x.checked_sub(pos.x).ok_or_else(fault)?;
        let dy = at.y.checked_sub(pos.y).ok_or_else(fault)?;
        let distance = square(dx, dy).ok_or_else(fault)?;
        if distance < best_distance {
            (best, best_distance) = (other, distance);
        }
        if distance < Fx::from_int(16) && distance > NEAR {
            let inverse = Fx::ONE.checked_div(distance).ok_or_else(fault)?;
            let away = |d: Fx, a: Fx| a.checked_sub(d.checked_mul(inverse)?);
            ax = away(dx, ax).ok_or_else(fault)?;
            ay = away(dy, ay).ok_or_else(fault)?;
        }
    }
    let step = |v: Fx, a: Fx| v.checked_add(a.checked_mul(dt)?)?.checked_mul(SLOW);
    let mut vx = step(velocity.x, ax).ok_or_else(fault)?;
    let mut vy = step(velocity.y, ay).ok_or_else(fault)?;
    let speed = square(vx, vy).ok_or_else(fault)?;
    if speed > Fx::from_int(25) {
        let k = Fx::from_int(5).checked_div(speed.sqrt().ok_or_else(fault)?).ok_or_else(fault)?;
        vx = vx.checked_mul(k).ok_or_else(fault)?;
        vy = vy.checked_mul(k).ok_or_else(fault)?;
    }
    scene.set_velocity(Vec2::new(vx, vy))?;
    scene.set_spin(vx.checked_mul(Fx::HALF).ok_or_else(fault)?)?;
    if best_distance < Fx::from_int(9) {
        scene.send(best, "ping", Value::Int(1))?;
    } else {
        scene.send(me, "idle", Value::Int(0))?;
    }
    scene.send(me, "moved", Value::Int(2))
}

fn chatty(scene: &mut ScriptContext, _: Fx) -> Result<(), HostFault> {
    for other in scene.nearby(Fx::from_int(8))? {
        // Scripts print a fixed-point number with a point.
        let now = scene.now();
        let end = if now.fraction() == Fx::ZERO { ".0" } else { "" };
        let text = format!("Hello, {}! It is {now}{end}.", scene.object(other)?.name);
        scene.say(&text)?;
    }
    scene.log("done");
    Ok(())
}

fn map_heavy(scene: &mut ScriptContext, _: Fx) -> Result<(), HostFault> {
    let mut seen = BTreeMap::new();
    for i in 0..24 {
        *seen.entry(format!("k{}", i % 12)).or_insert(0) += i;
    }
    let sum = seen.values().sum();
    scene.keep("sum", Value::Int(sum))?;
    let seen = seen.into_iter().map(|(name, count)| (name, Value::Int(count)));
    scene.keep("seen", Value::Map(seen.collect()))
}

impl Handler for NativeHandler {
    fn package(&self) -> PackageId {
        PackageId(Digest::ZERO)
    }

    fn handles(&self, kind: EventKind) -> bool {
        kind == EventKind::Tick
    }

    fn call(&self, call: &Call<'_>) -> Result<ScriptOutput, ScriptError> {
        let Event::Tick { dt } = call.event else { return Ok(ScriptOutput::default()) };
        let mut scene = ScriptContext::new(call);
        let handled = self.0(&mut scene, *dt);
        let failed =
            |fault: HostFault| ScriptError { kind: fault.kind, gas: 1, report: Box::default() };
        handled.and_then(|()| scene.finish()).map_err(failed)
    }
}
