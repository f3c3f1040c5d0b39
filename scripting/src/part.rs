//! What a call gives back.

use alloc::{boxed::Box, string::String, vec::Vec};

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::{Blueprint, Form, ObjectId, Offer, Outline, Sound};
use serde::{Deserialize, Serialize};

use crate::{ScriptState, Value};

/// A script's share of the next state, and what it wants to happen elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptOutput {
    /// The script's new persistent state, if the call changed it.
    pub state: Option<ScriptState>,
    /// What the call wrote to the script's own object.
    pub own: ObjectWrites,
    /// What the call queued, in the order of the calls.
    pub effects: Vec<ScriptEffect>,
    /// What the call cost. Depends on the executor, and therefore on the engine number.
    pub gas: u64,
    /// What the call logged: for its author, never part of the state of the world.
    pub log: Vec<String>,
}

/// Writes to a script's own object, field by field; nothing means unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectWrites {
    /// Its centre, in metres: the object is put there.
    pub pos: Option<Vec2>,
    /// The angle that it faces.
    pub angle: Option<Angle>,
    /// Metres a second.
    pub velocity: Option<Vec2>,
    /// Radians a second, counter-clockwise.
    pub spin: Option<Fx>,
    /// The color as 0xRRGGBB.
    pub color: Option<u32>,
    /// The text it shows; at most `SIGN_BYTES_MAX` bytes.
    pub text: Option<String>,
    /// Whether it is a sensor, which pushes nothing.
    pub sensor: Option<bool>,
}

impl ObjectWrites {
    /// Puts later writes over these.
    pub fn merge(&mut self, later: Self) {
        fn over<T>(field: &mut Option<T>, later: Option<T>) {
            if later.is_some() {
                *field = later;
            }
        }
        over(&mut self.pos, later.pos);
        over(&mut self.angle, later.angle);
        over(&mut self.velocity, later.velocity);
        over(&mut self.spin, later.spin);
        over(&mut self.color, later.color);
        over(&mut self.text, later.text);
        over(&mut self.sensor, later.sensor);
    }
}

/// Something that a script wants to happen, one tick later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScriptEffect {
    /// The object says something, heard nearby.
    Say {
        /// At most `CHAT_BYTES_MAX` bytes, never empty.
        text: String,
    },
    /// A message to the scripts on another object, or on the own one.
    Send {
        /// The object whose scripts get it; it may be gone by then.
        to: ObjectId,
        /// At most `TOPIC_BYTES_MAX` bytes.
        topic: String,
        /// Nested at most `VALUE_DEPTH_MAX` levels.
        data: Value,
    },
    /// A kick to an object's centre. Kicks of several scripts add up.
    Push {
        /// The script's own object or another one.
        object: ObjectId,
        /// Kilogram metres a second, each component within `IMPULSE_MAX`.
        impulse: Vec2,
    },
    /// Starts a timer of the script, or starts it anew.
    Timer {
        /// At most `TOPIC_BYTES_MAX` bytes.
        name: String,
        /// Ticks until it runs out, at least 1.
        ticks: u64,
    },
    /// Stops a timer of the script; nothing happens if there is none.
    Cancel {
        /// The name of the timer.
        name: String,
    },
    /// Makes a thing, which belongs to the owner of the script's object.
    Spawn {
        /// What is made, and where.
        thing: Box<Blueprint>,
        /// Whether it gets a script of the package that spawns it.
        scripted: bool,
        /// What the script is told with it; at most `TOPIC_BYTES_MAX` bytes.
        tag: String,
        /// What it is made of.
        material: ThingMaterial,
        /// Whether it is a sensor, which pushes nothing.
        sensor: bool,
    },
    /// Removes a thing that the script's object spawned, or the object itself if it was spawned.
    Despawn {
        /// The thing to remove; it may be gone by then.
        object: ObjectId,
    },
    /// The object says something that one person hears.
    Whisper {
        /// The avatar of the person; it may be gone by then.
        who: ObjectId,
        /// At most `CHAT_BYTES_MAX` bytes, never empty.
        text: String,
    },
    /// The object makes a sound, heard nearby.
    Sound {
        /// Which of the sounds it is.
        sound: Sound,
        /// Semitones above its usual pitch, or below; at most `SOUND_PITCH_MAX`.
        pitch: i8,
    },
    /// Gives the script another zone, or none.
    Zone {
        /// The ground around the object's centre, which turns with it; at most `ZONE_REACH` metres each way.
        outline: Option<Outline>,
    },
    /// The object calls something out, heard farther than what it says.
    Shout {
        /// At most `CHAT_BYTES_MAX` bytes, never empty.
        text: String,
    },
    /// Shows a form to a person.
    Ui {
        /// The avatar of the person; it may be gone by then.
        who: ObjectId,
        /// What the person sees.
        form: Box<Form>,
    },
    /// Offers a person something, or asks for a permission.
    Offer {
        /// The avatar of the person; it may be gone by then.
        who: ObjectId,
        /// What the person is to agree to.
        terms: Box<Offer>,
        /// What the script says about it; at most `CHAT_BYTES_MAX` bytes.
        text: String,
        /// What the script calls it; at most `FORM_TAG_BYTES_MAX` bytes.
        tag: String,
    },
    /// Puts a person who allowed it somewhere else.
    Carry {
        /// The avatar of the person; it may be gone by then.
        who: ObjectId,
        /// Where to, in metres.
        to: Vec2,
    },
    /// Changes the colour of a person who allowed it.
    Dress {
        /// The avatar of the person; it may be gone by then.
        who: ObjectId,
        /// The colour as 0xRRGGBB.
        color: u32,
    },
    /// Joins the object to another thing of the same owner.
    Join {
        /// The other thing; it may be gone by then.
        other: ObjectId,
        /// How they are joined.
        by: ThingJoint,
    },
    /// Takes off all joints between the object and another thing.
    Unjoin {
        /// The other thing.
        other: ObjectId,
    },
    /// Gives the hinges and sliders between the object and another thing a motor.
    Motor {
        /// The other thing.
        other: ObjectId,
        /// The other thing's speed as the object sees it: radians a second of a hinge, metres a second of a slider.
        speed: Fx,
        /// The greatest torque in newton metres, or force in newtons; 0 takes the motor off.
        strength: Fx,
    },
    /// Has all joints between the object and another thing break above a force.
    BreakAt {
        /// The other thing.
        other: ObjectId,
        /// The force in newtons; 0 for joints that hold whatever their force.
        force: Fx,
    },
    /// Makes the object a seat, or ends that.
    Seat {
        /// Where one sits, as the object sees it; at most `SEAT_REACH` metres from its centre.
        at: Option<Vec2>,
    },
}

/// What a script says of the material of a thing that it makes. What it leaves out is as of what builders
/// make; a number out of range counts as the nearest one that a body may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThingMaterial {
    /// Kilograms of a square metre.
    pub density: Option<Fx>,
    /// The coefficient of friction.
    pub friction: Option<Fx>,
    /// The coefficient of restitution.
    pub restitution: Option<Fx>,
    /// How its friction and that of another thing become one.
    pub friction_rule: Option<SurfaceRule>,
    /// How its restitution and that of another thing become one.
    pub restitution_rule: Option<SurfaceRule>,
}

/// How a coefficient of two things that meet becomes one. Of two rules the later in this list counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SurfaceRule {
    /// Half of the sum.
    Average,
    /// The lesser of the two.
    Minimum,
    /// The product of the two.
    Multiply,
    /// The greater of the two.
    Maximum,
}

impl SurfaceRule {
    /// All rules with the words that scripts call them by.
    pub const ALL: [(&'static str, Self); 4] = [
        ("average", Self::Average),
        ("minimum", Self::Minimum),
        ("multiply", Self::Multiply),
        ("maximum", Self::Maximum),
    ];
}

/// How a script joins two things, as they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThingJoint {
    /// A hinge at this point, in metres.
    Pin(Vec2),
    /// One piece, joined at this point.
    Weld(Vec2),
    /// A rope between the centres, of this many metres.
    Rope(Fx),
    /// A rod between the centres, as long as they are apart.
    Rod,
    /// A spring between the centres, at rest as long as they are apart.
    Spring {
        /// How often it swings in a second, in hertz; physics clamps it.
        frequency: Fx,
        /// The damping ratio: 0 swings for ever, 1 not at all; physics clamps it.
        damping: Fx,
    },
    /// A slider: the other thing moves along a line and does not turn.
    Slider {
        /// Which way the line goes.
        along: Angle,
        /// How far the other thing gets against that way and along it, in metres from where it is: at most 0, and at
        /// least 0.
        limits: Option<[Fx; 2]>,
    },
}
