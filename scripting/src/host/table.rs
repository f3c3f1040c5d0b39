//! The one table of what scripts can use. The executor runs from it, the documentation is printed from it,
//! and the compiler looks names up in it.
//!
//! Prices are in nanoseconds of the reference machine, a hundred of which are a unit of gas. A function
//! also pays for the bytes of its arguments and its result, `nearby` for what is looked at, and who writes
//! `pos` or `angle` for what is near. `cargo run --release -p metatopia-scripting --example calibrate` measures
//! what they take. Changing a price here changes what calls cost, and is a new engine.

use super::{
    Access::{Coordinate, Field},
    HostFunction, HostImplementation, HostName, HostProperty, Purity,
    ValueKind::{
        Any, Array, Bool, Fixed, Function, Int, Map, Number, Object, Range, State, Text, Unit, Vec2,
    },
    numbers, text, vectors, world,
};
use crate::Value;

/// `name(argument: kind, ..) -> kind, cost, how it is done, what it does;`
macro_rules! functions {
    ($($name:literal($($argument:ident: $kind:ident),*) -> $result:ident, $price:literal ns,
        $how:ident $(($work:path))?, $doc:literal;)*) => {&[$(
        HostFunction {
            name: $name,
            arguments: &[$((stringify!($argument), $kind)),*],
            result: $result,
            price: $price,
            purity: functions!(@purity $how),
            doc: $doc,
            run: functions!(@run $how $($work)?),
        }
    ),*]};
    (@purity Executor) => { Purity::Pure };
    (@purity $purity:ident) => { Purity::$purity };
    (@run Executor) => { HostImplementation::Executor };
    (@run Pure $work:path) => { HostImplementation::Pure($work) };
    (@run $purity:ident $work:path) => { HostImplementation::Scene($work) };
}

/// `kind.name -> kind, how it is read and written, what it holds;`
macro_rules! properties {
    ($($of:ident $name:ident -> $kind:ident, $access:expr, $doc:literal;)*) => {&[$(
        HostProperty {
            of: $of,
            name: stringify!($name),
            kind: $kind,
            doc: $doc,
            access: $access,
        }
    ),*]};
}

/// Functions and operators. Operators on two ints, two strings or two bools are the language's own.
pub const FUNCTIONS: &[HostFunction] = functions! {
    // Numbers.
    "+"(a: Number, b: Number) -> Fixed, 27 ns, Pure(numbers::add), "the sum";
    "-"(a: Number, b: Number) -> Fixed, 27 ns, Pure(numbers::sub), "the difference";
    "*"(a: Number, b: Number) -> Fixed, 27 ns, Pure(numbers::mul),
        "the product, rounded to nearest";
    "/"(a: Number, b: Number) -> Fixed, 45 ns, Pure(numbers::div),
        "the quotient, rounded to nearest; two ints give an int cut towards zero";
    "%"(a: Number, b: Number) -> Fixed, 45 ns, Pure(numbers::rem),
        "the rest of a division, with the sign of a";
    "-"(a: Number) -> Number, 27 ns, Pure(numbers::neg), "the opposite";
    "!"(a: Bool) -> Bool, 27 ns, Pure(numbers::not), "not";
    "=="(a: Number, b: Number) -> Bool, 27 ns, Pure(numbers::equal), "equal; 1 and 1.0 are";
    "!="(a: Number, b: Number) -> Bool, 27 ns, Pure(numbers::unequal), "not equal";
    "<"(a: Number, b: Number) -> Bool, 27 ns, Pure(numbers::less), "less";
    "<="(a: Number, b: Number) -> Bool, 27 ns, Pure(numbers::at_most), "less or equal";
    ">"(a: Number, b: Number) -> Bool, 27 ns, Pure(numbers::more), "more";
    ">="(a: Number, b: Number) -> Bool, 27 ns, Pure(numbers::at_least), "more or equal";
    "abs"(x: Number) -> Number, 40 ns, Pure(numbers::abs), "the magnitude";
    "min"(a: Number, b: Number) -> Number, 40 ns, Pure(numbers::min), "the lesser";
    "max"(a: Number, b: Number) -> Number, 40 ns, Pure(numbers::max), "the greater";
    "clamp"(x: Number, low: Number, high: Number) -> Number, 40 ns, Pure(numbers::clamp),
        "x moved into low to high";
    "floor"(x: Number) -> Int, 40 ns, Pure(numbers::floor), "the greatest int not above x";
    "ceil"(x: Number) -> Int, 40 ns, Pure(numbers::ceil), "the least int not below x";
    "round"(x: Number) -> Int, 40 ns, Pure(numbers::round),
        "the nearest int, a tie to the even one";
    "fixed"(x: Number) -> Fixed, 40 ns, Pure(numbers::fixed), "x as a fixed-point number";
    "sqrt"(x: Number) -> Fixed, 150 ns, Pure(numbers::sqrt),
        "the square root, rounded down; fails below zero";
    "sin"(radians: Number) -> Fixed, 250 ns, Pure(numbers::sin), "the sine";
    "cos"(radians: Number) -> Fixed, 250 ns, Pure(numbers::cos), "the cosine";
    "atan2"(y: Number, x: Number) -> Fixed, 350 ns, Pure(numbers::atan2),
        "the direction of (x, y) in radians, -PI to PI; 0 for the origin";
    // Vectors.
    "vec2"(x: Number, y: Number) -> Vec2, 40 ns, Pure(vectors::vec2), "a vector";
    "+"(a: Vec2, b: Vec2) -> Vec2, 27 ns, Pure(vectors::add), "the sum";
    "-"(a: Vec2, b: Vec2) -> Vec2, 27 ns, Pure(vectors::sub), "the difference";
    "-"(a: Vec2) -> Vec2, 27 ns, Pure(vectors::neg), "the opposite";
    "*"(a: Vec2, factor: Number) -> Vec2, 27 ns, Pure(vectors::mul), "scaled";
    "*"(factor: Number, a: Vec2) -> Vec2, 27 ns, Pure(vectors::mul), "scaled";
    "/"(a: Vec2, divisor: Number) -> Vec2, 45 ns, Pure(vectors::div), "each coordinate divided";
    "=="(a: Vec2, b: Vec2) -> Bool, 27 ns, Pure(vectors::same), "equal";
    "!="(a: Vec2, b: Vec2) -> Bool, 27 ns, Pure(vectors::different), "not equal";
    "length"(a: Vec2) -> Fixed, 150 ns, Pure(vectors::length), "the length, rounded down";
    "normalize"(a: Vec2) -> Vec2, 400 ns, Pure(vectors::normalize),
        "the same direction with length 1; the origin stays";
    "dist"(a: Vec2, b: Vec2) -> Fixed, 150 ns, Pure(vectors::dist), "the distance of two points";
    "dot"(a: Vec2, b: Vec2) -> Fixed, 40 ns, Pure(vectors::dot),
        "the scalar product, kept within range";
    "rotate"(a: Vec2, radians: Number) -> Vec2, 250 ns, Pure(vectors::rotate),
        "turned counter-clockwise";
    "direction"(radians: Number) -> Vec2, 250 ns, Pure(vectors::direction),
        "the vector of length 1 in a direction";
    // Strings.
    "+"(a: Text, b: Any) -> Text, 27 ns, Pure(text::join), "joined, b as text";
    "+"(a: Any, b: Text) -> Text, 27 ns, Pure(text::join), "joined, a as text";
    "to_string"(value: Any) -> Text, 40 ns, Pure(text::to_string),
        "as text; fixed with at most 6 decimals";
    "to_int"(text: Text) -> Any, 40 ns, Pure(text::to_int), "the int that the text spells, or ()";
    "len"(text: Text) -> Int, 40 ns, Pure(text::len), "its characters";
    "contains"(text: Text, part: Text) -> Bool, 40 ns, Pure(text::contains),
        "does it contain part? also: part in text";
    "starts_with"(text: Text, part: Text) -> Bool, 40 ns, Pure(text::starts_with),
        "does it begin with part?";
    "ends_with"(text: Text, part: Text) -> Bool, 40 ns, Pure(text::ends_with),
        "does it end with part?";
    "index_of"(text: Text, part: Text) -> Any, 40 ns, Pure(text::index_of),
        "the place of part, from 0, or ()";
    "sub"(text: Text, start: Int, length: Int) -> Text, 40 ns, Pure(text::sub),
        "at most length characters from start on";
    "lower"(text: Text) -> Text, 40 ns, Pure(text::lower), "A to Z in lower case";
    "upper"(text: Text) -> Text, 40 ns, Pure(text::upper), "a to z in upper case";
    "trim"(text: Text) -> Text, 40 ns, Pure(text::trim), "without spaces at both ends";
    "split"(text: Text, by: Text) -> Array, 40 ns, Pure(text::split),
        "the parts between by; characters if by is empty";
    // Arrays, maps and ranges.
    "len"(array: Array) -> Int, 15 ns, Executor, "its elements";
    "push"(array: Array, value: Any) -> Unit, 15 ns, Executor, "adds value at the end";
    "pop"(array: Array) -> Any, 15 ns, Executor, "takes the last element, or gives ()";
    "insert"(array: Array, place: Int, value: Any) -> Unit, 15 ns, Executor,
        "puts value before the element at place";
    "remove"(array: Array, place: Int) -> Any, 15 ns, Executor, "takes the element at place";
    "clear"(array: Array) -> Unit, 15 ns, Executor, "takes all elements";
    "contains"(array: Array, value: Any) -> Bool, 15 ns, Executor,
        "is value in it? also: value in array";
    "index_of"(array: Array, value: Any) -> Any, 15 ns, Executor,
        "the place of the first equal element, or () if there is none";
    "index_of"(array: Array, test: Function) -> Any, 15 ns, Executor,
        "the place of the first element for which test(element) is true, or ()";
    "reverse"(array: Array) -> Unit, 15 ns, Executor, "turns the order around";
    "sort"(array: Array) -> Unit, 15 ns, Executor,
        "puts numbers, or strings by code point, in ascending order; fails for others";
    "sort"(array: Array, order: Function) -> Unit, 15 ns, Executor,
        "puts the element a before b where order(a, b) gives an int below 0; equal ones stay in order";
    "map"(array: Array, change: Function) -> Array, 15 ns, Executor,
        "what change(element) gives for each; a second parameter takes its place";
    "filter"(array: Array, test: Function) -> Array, 15 ns, Executor,
        "the elements for which test(element) is true";
    "reduce"(array: Array, join: Function, start: Any) -> Any, 15 ns, Executor,
        "start, then join(what there is, element) for each element";
    "for_each"(array: Array, work: Function) -> Unit, 15 ns, Executor,
        "calls work(element) for each element";
    "any"(array: Array, test: Function) -> Bool, 15 ns, Executor,
        "is test(element) true for one of them?";
    "all"(array: Array, test: Function) -> Bool, 15 ns, Executor,
        "is test(element) true for each of them?";
    "find"(array: Array, test: Function) -> Any, 15 ns, Executor,
        "the first element for which test(element) is true, or ()";
    "=="(a: Array, b: Array) -> Bool, 27 ns, Executor, "equal in length and elements";
    "!="(a: Array, b: Array) -> Bool, 27 ns, Executor, "not equal";
    "len"(map: Map) -> Int, 15 ns, Executor, "its entries";
    "keys"(map: Map) -> Array, 15 ns, Executor, "its names in order of code points";
    "values"(map: Map) -> Array, 15 ns, Executor, "its values in the order of their names";
    "contains"(map: Map, name: Text) -> Bool, 15 ns, Executor,
        "is there such a name? also: name in map";
    "contains"(state: State, name: Text) -> Bool, 15 ns, Executor,
        "does the script remember a variable of this name? also: name in state";
    "remove"(map: Map, name: Text) -> Any, 15 ns, Executor, "takes an entry, or gives ()";
    "clear"(map: Map) -> Unit, 15 ns, Executor, "takes all entries";
    "=="(a: Map, b: Map) -> Bool, 27 ns, Executor, "equal in names and values";
    "!="(a: Map, b: Map) -> Bool, 27 ns, Executor, "not equal";
    "contains"(range: Range, value: Int) -> Bool, 15 ns, Executor,
        "is value in it? also: value in 1..7";
    "type_of"(value: Any) -> Text, 15 ns, Executor, "the name of its kind";
    // The world.
    "=="(a: Object, b: Object) -> Bool, 27 ns, Pure(vectors::same), "the same object";
    "!="(a: Object, b: Object) -> Bool, 27 ns, Pure(vectors::different), "different objects";
    "exists"(object: Object) -> Bool, 500 ns, Reads(world::exists), "is it still there?";
    "presence"(object: Object) -> Text, 500 ns, Reads(world::presence),
        "`here`; `away` in luggage, or under way to another sim while it may come back; else `gone`";
    "nearby"(radius: Number) -> Array, 10_000 ns, Reads(world::nearby),
        "at most 16 other objects within radius metres, nearest first";
    "ray"(from: Vec2, to: Vec2) -> Any, 10_000 ns, Reads(world::ray),
        "the first other object on the straight way between two points, as #{object, pos, distance}, or ()";
    "flag"(name: Text) -> Bool, 500 ns, Reads(world::flag),
        "is the feature flag of this name on? admins say from which turn on: admin flag";
    "now"() -> Fixed, 200 ns, Reads(world::now), "simulated seconds since the world began";
    "random"() -> Fixed, 500 ns, Writes(world::random),
        "a random number from 0 up to, not including, 1";
    "random"(a: Number, b: Number) -> Number, 500 ns, Writes(world::random),
        "two ints: a random int from a to b; else a number from a up to, not including, b";
    "find"(name: Text) -> Array, 10_000 ns, Reads(world::find),
        "at most 16 other things of the same owner with this name, oldest first, however far they are";
    "say"(text: Text) -> Unit, 2000 ns, Writes(world::say), "the object says something";
    "shout"(text: Text) -> Unit, 4000 ns, Writes(world::shout),
        "the object says something that is heard four times as far; it counts as all that is said in a second";
    "whisper"(who: Object, text: Text) -> Unit, 2000 ns, Writes(world::whisper),
        "the object says something that only one person in hearing hears";
    "sound"(sound: Text) -> Unit, 2000 ns, Writes(world::sound),
        "the object makes a sound: bell chime click creak drum fanfare knock note pop splash thud whoosh";
    "sound"(sound: Text, pitch: Int) -> Unit, 2000 ns, Writes(world::sound),
        "the same, so many semitones higher, or lower; -24 to 24";
    "zone"(radius: Number) -> Unit, 4000 ns, Writes(world::zone),
        "on_enter(other) and on_leave(other) tell which people and movable things come within radius metres; 0 ends it";
    "zone"(size: Vec2) -> Unit, 4000 ns, Writes(world::zone),
        "the same for a box of a width and a height, which turns with the object";
    "ui"(who: Object, form: Map) -> Unit, 6000 ns, Writes(world::ui),
        "shows a form to a person in hearing; on_ui(who, tag, choice, text) tells the reply";
    "offer"(who: Object, offer: Map) -> Unit, 6000 ns, Writes(world::offer),
        "offers a person in hearing a thing (give), for another one (take); on_answer(who, tag, accepted) tells";
    "ask"(who: Object, what: Text) -> Unit, 6000 ns, Writes(world::ask),
        "asks a person in hearing to allow \"move\" or \"dress\"; on_answer(who, what, accepted) tells";
    "allowed"(who: Object, what: Text) -> Bool, 500 ns, Reads(world::allowed),
        "does the person allow it? It lasts until they leave or take it back";
    "is_member"(who: Object, club: Text) -> Bool, 1000 ns, Reads(world::is_member),
        "is the person in the club of this name? The name passes to whoever takes it next";
    "is_member"(who: Object, club: Int) -> Bool, 1000 ns, Reads(world::is_member),
        "the same by the number of the club, which no other club gets";
    "carry"(who: Object, to: Vec2) -> Unit, 24_000 ns, Writes(world::carry),
        "puts a person who allows \"move\" somewhere else";
    "dress"(who: Object, color: Int) -> Unit, 2000 ns, Writes(world::dress),
        "draws a person who allows \"dress\" in a colour, until they change their looks or come back";
    "send"(to: Object, topic: Text, data: Any) -> Unit, 3200 ns, Writes(world::send),
        "sends a message to the scripts on an object";
    "impulse"(impulse: Vec2) -> Unit, 2000 ns, Writes(world::impulse),
        "kicks the own object, in kg m/s";
    "push"(object: Object, impulse: Vec2) -> Unit, 2000 ns, Writes(world::push),
        "kicks an object, in kg m/s";
    "timer"(name: Text, seconds: Number) -> Unit, 2000 ns, Writes(world::timer),
        "calls on_timer(name) after some seconds; starts anew if it runs";
    "cancel"(name: Text) -> Unit, 1000 ns, Writes(world::cancel), "stops a timer";
    "spawn"(thing: Map) -> Unit, 60_000 ns, Writes(world::spawn),
        "makes a thing; on_spawn(thing, tag) tells what became of it";
    "despawn"(thing: Object) -> Unit, 30_000 ns, Writes(world::despawn),
        "removes a thing that this one spawned, or itself if it was spawned";
    "pin"(other: Object, at: Vec2) -> Unit, 30_000 ns, Writes(world::pin),
        "joins the own thing to another one of its owner by a hinge at a point within 16 m";
    "weld"(other: Object, at: Vec2) -> Unit, 30_000 ns, Writes(world::weld),
        "the same, as one piece";
    "tie"(other: Object, length: Number) -> Unit, 30_000 ns, Writes(world::tie),
        "the same by a rope between the centres, of at most 64 m";
    "motor"(other: Object, speed: Number, strength: Number) -> Unit, 30_000 ns, Writes(world::motor),
        "drives another thing about hinges (rad/s, N m) and along sliders (m/s, N) that hold both; strength 0 ends it";
    "rod"(other: Object) -> Unit, 30_000 ns, Writes(world::rod),
        "joins the own thing to another one of its owner by a rod between the centres, as they stand";
    "spring"(other: Object, frequency: Number, damping: Number) -> Unit, 30_000 ns, Writes(world::spring),
        "the same by a spring, in swings a second; damping 0 swings for ever, 1 not at all";
    "slide"(other: Object, along: Number) -> Unit, 30_000 ns, Writes(world::slide),
        "joins another thing of its owner to the own one so that it slides along a line, in radians, and does not turn";
    "slide"(other: Object, along: Number, low: Number, high: Number) -> Unit, 30_000 ns, Writes(world::slide),
        "the same from low (0 or less) to high (0 or more) metres from where it is";
    "break_at"(other: Object, force: Number) -> Unit, 30_000 ns, Writes(world::break_at),
        "has the joints with another thing break above so many newtons; on_break(other) tells; 0 ends it";
    "unjoin"(other: Object) -> Unit, 30_000 ns, Writes(world::unjoin),
        "takes off all joints between the own thing and another one of its owner";
    "seat"(at: Vec2) -> Unit, 12_000 ns, Writes(world::seat),
        "lets one person sit on the own thing, at a point as the thing sees it; on_sit(who) and on_stand(who) tell";
    "unseat"() -> Unit, 12_000 ns, Writes(world::unseat),
        "nobody sits on the own thing any more";
    "log"(line: Any) -> Unit, 500 ns, Writes(world::log),
        "notes a line for the author; nobody else sees it";
};

/// Properties of vectors and objects. Those of objects can be written on the own object only.
pub const PROPERTIES: &[HostProperty] = properties! {
    Vec2 x -> Fixed, Coordinate(|vector| &mut vector.x), "the first coordinate";
    Vec2 y -> Fixed, Coordinate(|vector| &mut vector.y), "the second coordinate";
    Object origin -> Text, Field(world::origin, None),
        "the sim and the number of its birth, by which it is known in every sim; each visit is another birth";
    Object name -> Text, Field(|object| Value::Text(object.name.into()), None), "its name";
    Object kind -> Text, Field(|object| Value::Text(object.kind.into()), None),
        "\"avatar\" for a player, else what the world's maker said";
    Object pos -> Vec2, Field(|object| Value::Vec2(object.pos), Some(world::set_pos)),
        "its centre, in metres";
    Object velocity -> Vec2,
        Field(|object| Value::Vec2(object.velocity), Some(world::set_velocity)),
        "metres a second";
    Object angle -> Fixed,
        Field(|object| Value::Fixed(object.angle.to_radians()), Some(world::set_angle)),
        "its heading, -PI to PI radians";
    Object spin -> Fixed, Field(|object| Value::Fixed(object.spin), Some(world::set_spin)),
        "radians a second, counter-clockwise";
    Object color -> Int, Field(|object| Value::Int(object.color.into()), Some(world::set_color)),
        "0xRRGGBB";
    Object text -> Text, Field(|object| Value::Text(object.text.into()), Some(world::set_text)),
        "the text it shows";
    Object sensor -> Bool,
        Field(|object| Value::Bool(object.sensor), Some(world::set_sensor)),
        "does everything pass through it? It is touched all the same: on_touch(other) tells";
    Object player -> Any, Field(world::player, None),
        "the key of the player whose avatar it is, as text, or (); it stays the same from visit to visit";
    Object owner -> Any, Field(world::owner, None), "the key of the player whose thing it is, or ()";
    Object spawner -> Any, Field(world::spawner, None),
        "the object that spawned it, or ()";
};

const fn name(
    name: &'static str,
    kind: super::ValueKind,
    value: Option<metatopia_math::Fx>,
    doc: &'static str,
) -> HostName {
    HostName { name, kind, doc, value }
}

/// Names that every script knows.
pub const NAMES: &[HostName] = &[
    name("self_", Object, None, "the object that the script runs on"),
    name("state", State, None, "the script's persistent variables: state.n = 1; () removes one"),
    name("PI", Fixed, Some(metatopia_math::Fx::PI), "half a turn in radians"),
    name("TAU", Fixed, Some(metatopia_math::Fx::TAU), "a full turn in radians"),
];
