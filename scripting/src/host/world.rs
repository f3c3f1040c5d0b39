//! Functions and fields of the world. The work and the limits are the scene's.

use metatopia_math::{Angle, Fx};
use metatopia_types::Outline;

use super::{numbers::fixed_of, wrong_types};
use crate::{ErrorKind, HostFault, NamedClub, ObjectView, ScriptContext, ThingJoint, Value};

type WorldResult = Result<Value, HostFault>;

fn done(result: Result<(), HostFault>) -> WorldResult {
    result.map(|()| Value::Unit)
}

pub(super) fn exists(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(id)] => Ok(Value::Bool(scene.exists(*id))),
        _ => Err(wrong_types("exists", args)),
    }
}

pub(super) fn presence(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(id)] => Ok(Value::Text(scene.presence(*id).into())),
        _ => Err(wrong_types("presence", args)),
    }
}

pub(super) fn flag(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Text(name)] => Ok(Value::Bool(scene.is_flag_on(name))),
        _ => Err(wrong_types("flag", args)),
    }
}

pub(super) fn nearby(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    let [radius] = args else {
        return Err(wrong_types("nearby", args));
    };
    let found = scene.nearby(fixed_of("nearby", radius)?)?;
    Ok(Value::Array(found.into_iter().map(Value::Object).collect()))
}

pub(super) fn ray(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    let [Value::Vec2(from), Value::Vec2(to)] = args else {
        return Err(wrong_types("ray", args));
    };
    let met = scene.ray(*from, *to)?;
    Ok(met.map_or(Value::Unit, |(object, pos, distance)| {
        let fields = [
            ("object", Value::Object(object)),
            ("pos", Value::Vec2(pos)),
            ("distance", Value::Fixed(distance)),
        ];
        Value::Map(fields.map(|(name, value)| (name.into(), value)).into())
    }))
}

pub(super) fn find(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Text(name)] => {
            Ok(Value::Array(scene.find(name)?.into_iter().map(Value::Object).collect()))
        }
        _ => Err(wrong_types("find", args)),
    }
}

pub(super) fn spawn(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Map(thing)] => done(scene.spawn(thing)),
        _ => Err(wrong_types("spawn", args)),
    }
}

pub(super) fn despawn(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(object)] => done(scene.despawn(*object)),
        _ => Err(wrong_types("despawn", args)),
    }
}

pub(super) fn pin(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(other), Value::Vec2(at)] => {
            done(scene.join_at(*other, *at, ThingJoint::Pin))
        }
        _ => Err(wrong_types("pin", args)),
    }
}

pub(super) fn weld(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(other), Value::Vec2(at)] => {
            done(scene.join_at(*other, *at, ThingJoint::Weld))
        }
        _ => Err(wrong_types("weld", args)),
    }
}

pub(super) fn tie(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(other), length] => done(scene.tie(*other, fixed_of("tie", length)?)),
        _ => Err(wrong_types("tie", args)),
    }
}

pub(super) fn rod(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(other)] => done(scene.rod(*other)),
        _ => Err(wrong_types("rod", args)),
    }
}

pub(super) fn spring(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(other), frequency, damping] => {
            let (frequency, damping) =
                (fixed_of("spring", frequency)?, fixed_of("spring", damping)?);
            done(scene.spring(*other, frequency, damping))
        }
        _ => Err(wrong_types("spring", args)),
    }
}

pub(super) fn slide(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    let along = |radians| fixed_of("slide", radians).map(Angle::from_radians);
    match args {
        [Value::Object(other), radians] => done(scene.slide(*other, along(radians)?, None)),
        [Value::Object(other), radians, low, high] => {
            let limits = [fixed_of("slide", low)?, fixed_of("slide", high)?];
            done(scene.slide(*other, along(radians)?, Some(limits)))
        }
        _ => Err(wrong_types("slide", args)),
    }
}

pub(super) fn break_at(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(other), force] => done(scene.break_at(*other, fixed_of("break_at", force)?)),
        _ => Err(wrong_types("break_at", args)),
    }
}

pub(super) fn motor(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(other), speed, strength] => {
            let (speed, strength) = (fixed_of("motor", speed)?, fixed_of("motor", strength)?);
            done(scene.motor(*other, speed, strength))
        }
        _ => Err(wrong_types("motor", args)),
    }
}

pub(super) fn unjoin(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(other)] => done(scene.unjoin(*other)),
        _ => Err(wrong_types("unjoin", args)),
    }
}

pub(super) fn now(scene: &mut ScriptContext, _: &[Value]) -> WorldResult {
    Ok(Value::Fixed(scene.now()))
}

pub(super) fn random(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    let swapped = || HostFault::new(ErrorKind::Argument, "random: the bounds are swapped");
    match args {
        [] => Ok(Value::Fixed(scene.random().fx_unit())),
        [Value::Int(low), Value::Int(high)] => {
            if low > high {
                return Err(swapped());
            }
            // A span of all 2^64 numbers has no bound of its own.
            let drawn = match low.abs_diff(*high).checked_add(1) {
                Some(count) => scene.random().below(count),
                None => scene.random().next_u64(),
            };
            Ok(Value::Int(low.wrapping_add_unsigned(drawn)))
        }
        [low, high] => {
            let (low, high) = (fixed_of("random", low)?, fixed_of("random", high)?);
            if low > high {
                return Err(swapped());
            }
            Ok(Value::Fixed(scene.random().fx_between(low, high)))
        }
        _ => Err(wrong_types("random", args)),
    }
}

pub(super) fn say(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Text(text)] => done(scene.say(text)),
        _ => Err(wrong_types("say", args)),
    }
}

pub(super) fn shout(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Text(text)] => done(scene.shout(text)),
        _ => Err(wrong_types("shout", args)),
    }
}

pub(super) fn whisper(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(who), Value::Text(text)] => done(scene.whisper(*who, text)),
        _ => Err(wrong_types("whisper", args)),
    }
}

pub(super) fn sound(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Text(name)] => done(scene.sound(name, 0)),
        [Value::Text(name), Value::Int(pitch)] => done(scene.sound(name, *pitch)),
        _ => Err(wrong_types("sound", args)),
    }
}

pub(super) fn zone(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    let outline = match args {
        [Value::Vec2(size)] => Outline::Box { half: size.scale(Fx::HALF) },
        [radius] => Outline::Disc { radius: fixed_of("zone", radius)? },
        _ => return Err(wrong_types("zone", args)),
    };
    done(scene.zone(outline))
}

pub(super) fn seat(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Vec2(at)] => done(scene.seat(Some(*at))),
        _ => Err(wrong_types("seat", args)),
    }
}

pub(super) fn unseat(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [] => done(scene.seat(None)),
        _ => Err(wrong_types("unseat", args)),
    }
}

pub(super) fn ui(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(who), Value::Map(form)] => done(scene.ui(*who, form)),
        _ => Err(wrong_types("ui", args)),
    }
}

pub(super) fn offer(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(who), Value::Map(offer)] => done(scene.offer(*who, offer)),
        _ => Err(wrong_types("offer", args)),
    }
}

pub(super) fn ask(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(who), Value::Text(what)] => done(scene.ask(*who, what)),
        _ => Err(wrong_types("ask", args)),
    }
}

pub(super) fn allowed(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(who), Value::Text(what)] => scene.allowed(*who, what).map(Value::Bool),
        _ => Err(wrong_types("allowed", args)),
    }
}

pub(super) fn is_member(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    let (who, club) = match args {
        [Value::Object(who), Value::Text(name)] => (who, NamedClub::Name(name)),
        [Value::Object(who), Value::Int(number)] => (who, NamedClub::Number(*number)),
        _ => return Err(wrong_types("is_member", args)),
    };
    Ok(Value::Bool(scene.is_member(*who, club)))
}

pub(super) fn carry(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(who), Value::Vec2(to)] => done(scene.carry(*who, *to)),
        _ => Err(wrong_types("carry", args)),
    }
}

pub(super) fn dress(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(who), Value::Int(color)] => done(scene.dress(*who, *color)),
        _ => Err(wrong_types("dress", args)),
    }
}

pub(super) fn send(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(to), Value::Text(topic), data] => done(scene.send(*to, topic, data.clone())),
        _ => Err(wrong_types("send", args)),
    }
}

pub(super) fn impulse(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Vec2(impulse)] => done(scene.push(scene.me(), *impulse)),
        _ => Err(wrong_types("impulse", args)),
    }
}

pub(super) fn push(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Object(object), Value::Vec2(impulse)] => done(scene.push(*object, *impulse)),
        _ => Err(wrong_types("push", args)),
    }
}

pub(super) fn timer(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Text(name), seconds] => done(scene.timer(name, fixed_of("timer", seconds)?)),
        _ => Err(wrong_types("timer", args)),
    }
}

pub(super) fn cancel(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Text(name)] => done(scene.cancel(name)),
        _ => Err(wrong_types("cancel", args)),
    }
}

pub(super) fn log(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [line] => {
            scene.log(&alloc::format!("{line}"));
            Ok(Value::Unit)
        }
        _ => Err(wrong_types("log", args)),
    }
}

pub(super) fn set_pos(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Vec2(pos)] => done(scene.set_pos(*pos)),
        _ => Err(wrong_types("pos", args)),
    }
}

pub(super) fn set_velocity(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Vec2(velocity)] => done(scene.set_velocity(*velocity)),
        _ => Err(wrong_types("velocity", args)),
    }
}

pub(super) fn set_angle(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [radians] => done(scene.set_angle(Angle::from_radians(fixed_of("angle", radians)?))),
        _ => Err(wrong_types("angle", args)),
    }
}

pub(super) fn set_spin(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [spin] => done(scene.set_spin(fixed_of("spin", spin)?)),
        _ => Err(wrong_types("spin", args)),
    }
}

pub(super) fn set_color(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Int(color)] => done(scene.set_color(*color)),
        _ => Err(wrong_types("color", args)),
    }
}

pub(super) fn set_sensor(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Bool(sensor)] => done(scene.set_sensor(*sensor)),
        _ => Err(wrong_types("sensor", args)),
    }
}

pub(super) fn set_text(scene: &mut ScriptContext, args: &[Value]) -> WorldResult {
    match args {
        [Value::Text(text)] => done(scene.set_text(text)),
        _ => Err(wrong_types("text", args)),
    }
}

/// An object's origin as scripts see it: they get no number, which would be another thing's elsewhere.
pub(super) fn origin(object: &ObjectView<'_>) -> Value {
    Value::Text(object.origin.to_string())
}

pub(super) fn spawner(object: &ObjectView<'_>) -> Value {
    object.spawner.map_or(Value::Unit, Value::Object)
}

pub(super) fn player(object: &ObjectView<'_>) -> Value {
    object.player.map_or(Value::Unit, |key| Value::Text(key.to_string()))
}

pub(super) fn owner(object: &ObjectView<'_>) -> Value {
    object.owner.map_or(Value::Unit, |key| Value::Text(key.to_string()))
}
