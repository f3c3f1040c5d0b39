//! The one table of what scripts can use. Executors register from it, the documentation is printed
//! from it, and the check of a source looks names up in it.
//!
//! Gas is counted in units of about 0.3 microseconds of the first executor; changing a number here
//! changes what calls cost, and is a new engine.

use super::{
    Access::{Coordinate, Field},
    HostFunction, HostName, HostProperty,
    Kind::{
        self, Any, Array, Bool, Fixed, Int, Map, Number, Object, Range, State, Text, Unit, Vec2,
    },
    Purity::{self, Pure, Reads, Writes},
    Run::{self, Executor},
    numbers, text, vectors, world,
};
use crate::Value;

type Arguments = &'static [(&'static str, Kind)];

const fn function(
    (name, arguments, result): (&'static str, Arguments, Kind),
    gas: u64,
    purity: Purity,
    run: Run,
    doc: &'static str,
) -> HostFunction {
    HostFunction {
        name,
        arguments,
        result,
        gas,
        purity,
        doc,
        run,
    }
}

const NUMBERS: Arguments = &[("a", Number), ("b", Number)];
const VECTORS: Arguments = &[("a", Vec2), ("b", Vec2)];
const OBJECTS: Arguments = &[("a", Object), ("b", Object)];

/// Functions and operators. Operators on two ints, two strings or two bools are the language's own.
#[rustfmt::skip]
pub const FUNCTIONS: &[HostFunction] = &[
    // Numbers.
    function(("+", NUMBERS, Fixed), 1, Pure, Run::Pure(numbers::add), "the sum"),
    function(("-", NUMBERS, Fixed), 1, Pure, Run::Pure(numbers::sub), "the difference"),
    function(("*", NUMBERS, Fixed), 1, Pure, Run::Pure(numbers::mul), "the product, rounded to nearest"),
    function(("/", NUMBERS, Fixed), 1, Pure, Run::Pure(numbers::div), "the quotient, rounded to nearest; two ints give an int cut towards zero"),
    function(("%", NUMBERS, Fixed), 1, Pure, Run::Pure(numbers::rem), "the rest of a division, with the sign of a"),
    function(("-", &[("a", Number)], Number), 1, Pure, Run::Pure(numbers::neg), "the opposite"),
    function(("!", &[("a", Bool)], Bool), 1, Pure, Run::Pure(numbers::not), "not"),
    function(("==", NUMBERS, Bool), 1, Pure, Run::Pure(numbers::equal), "equal; 1 and 1.0 are"),
    function(("!=", NUMBERS, Bool), 1, Pure, Run::Pure(numbers::unequal), "not equal"),
    function(("<", NUMBERS, Bool), 1, Pure, Run::Pure(numbers::less), "less"),
    function(("<=", NUMBERS, Bool), 1, Pure, Run::Pure(numbers::at_most), "less or equal"),
    function((">", NUMBERS, Bool), 1, Pure, Run::Pure(numbers::more), "more"),
    function((">=", NUMBERS, Bool), 1, Pure, Run::Pure(numbers::at_least), "more or equal"),
    function(("abs", &[("x", Number)], Number), 1, Pure, Run::Pure(numbers::abs), "the magnitude"),
    function(("min", NUMBERS, Number), 1, Pure, Run::Pure(numbers::min), "the lesser"),
    function(("max", NUMBERS, Number), 1, Pure, Run::Pure(numbers::max), "the greater"),
    function(("clamp", &[("x", Number), ("low", Number), ("high", Number)], Number), 2, Pure, Run::Pure(numbers::clamp), "x moved into low to high"),
    function(("floor", &[("x", Number)], Int), 1, Pure, Run::Pure(numbers::floor), "the greatest int not above x"),
    function(("ceil", &[("x", Number)], Int), 1, Pure, Run::Pure(numbers::ceil), "the least int not below x"),
    function(("round", &[("x", Number)], Int), 1, Pure, Run::Pure(numbers::round), "the nearest int, a tie to the even one"),
    function(("fixed", &[("x", Number)], Fixed), 1, Pure, Run::Pure(numbers::fixed), "x as a fixed-point number"),
    function(("sqrt", &[("x", Number)], Fixed), 3, Pure, Run::Pure(numbers::sqrt), "the square root, rounded down; fails below zero"),
    function(("sin", &[("radians", Number)], Fixed), 5, Pure, Run::Pure(numbers::sin), "the sine"),
    function(("cos", &[("radians", Number)], Fixed), 5, Pure, Run::Pure(numbers::cos), "the cosine"),
    function(("atan2", &[("y", Number), ("x", Number)], Fixed), 8, Pure, Run::Pure(numbers::atan2), "the direction of (x, y) in radians, -PI to PI; 0 for the origin"),
    // Vectors.
    function(("vec2", &[("x", Number), ("y", Number)], Vec2), 1, Pure, Run::Pure(vectors::vec2), "a vector"),
    function(("+", VECTORS, Vec2), 1, Pure, Run::Pure(vectors::add), "the sum"),
    function(("-", VECTORS, Vec2), 1, Pure, Run::Pure(vectors::sub), "the difference"),
    function(("-", &[("a", Vec2)], Vec2), 1, Pure, Run::Pure(vectors::neg), "the opposite"),
    function(("*", &[("a", Vec2), ("factor", Number)], Vec2), 1, Pure, Run::Pure(vectors::mul), "scaled"),
    function(("*", &[("factor", Number), ("a", Vec2)], Vec2), 1, Pure, Run::Pure(vectors::mul), "scaled"),
    function(("/", &[("a", Vec2), ("divisor", Number)], Vec2), 2, Pure, Run::Pure(vectors::div), "each coordinate divided"),
    function(("==", VECTORS, Bool), 1, Pure, Run::Pure(vectors::same), "equal"),
    function(("!=", VECTORS, Bool), 1, Pure, Run::Pure(vectors::different), "not equal"),
    function(("length", &[("a", Vec2)], Fixed), 3, Pure, Run::Pure(vectors::length), "the length, rounded down"),
    function(("normalize", &[("a", Vec2)], Vec2), 6, Pure, Run::Pure(vectors::normalize), "the same direction with length 1; the origin stays"),
    function(("dist", VECTORS, Fixed), 3, Pure, Run::Pure(vectors::dist), "the distance of two points"),
    function(("dot", VECTORS, Fixed), 1, Pure, Run::Pure(vectors::dot), "the scalar product, kept within range"),
    function(("rotate", &[("a", Vec2), ("radians", Number)], Vec2), 7, Pure, Run::Pure(vectors::rotate), "turned counter-clockwise"),
    function(("direction", &[("radians", Number)], Vec2), 7, Pure, Run::Pure(vectors::direction), "the vector of length 1 in a direction"),
    // Strings.
    function(("+", &[("a", Text), ("b", Any)], Text), 2, Pure, Run::Pure(text::join), "joined, b as text"),
    function(("+", &[("a", Any), ("b", Text)], Text), 2, Pure, Run::Pure(text::join), "joined, a as text"),
    function(("to_string", &[("value", Any)], Text), 2, Pure, Run::Pure(text::to_string), "as text; fixed with at most 6 decimals"),
    function(("to_int", &[("text", Text)], Any), 2, Pure, Run::Pure(text::to_int), "the int that the text spells, or ()"),
    function(("len", &[("text", Text)], Int), 2, Pure, Run::Pure(text::len), "its characters"),
    function(("contains", &[("text", Text), ("part", Text)], Bool), 2, Pure, Run::Pure(text::contains), "does it contain part? also: part in text"),
    function(("starts_with", &[("text", Text), ("part", Text)], Bool), 2, Pure, Run::Pure(text::starts_with), "does it begin with part?"),
    function(("ends_with", &[("text", Text), ("part", Text)], Bool), 2, Pure, Run::Pure(text::ends_with), "does it end with part?"),
    function(("index_of", &[("text", Text), ("part", Text)], Any), 2, Pure, Run::Pure(text::index_of), "the place of part, from 0, or ()"),
    function(("sub", &[("text", Text), ("start", Int), ("length", Int)], Text), 2, Pure, Run::Pure(text::sub), "at most length characters from start on"),
    function(("lower", &[("text", Text)], Text), 2, Pure, Run::Pure(text::lower), "A to Z in lower case"),
    function(("upper", &[("text", Text)], Text), 2, Pure, Run::Pure(text::upper), "a to z in upper case"),
    function(("trim", &[("text", Text)], Text), 2, Pure, Run::Pure(text::trim), "without spaces at both ends"),
    function(("split", &[("text", Text), ("by", Text)], Array), 4, Pure, Run::Pure(text::split), "the parts between by; characters if by is empty"),
    // Arrays, maps and ranges.
    function(("len", &[("array", Array)], Int), 1, Pure, Executor, "its elements"),
    function(("push", &[("array", Array), ("value", Any)], Unit), 1, Pure, Executor, "adds value at the end"),
    function(("pop", &[("array", Array)], Any), 1, Pure, Executor, "takes the last element, or gives ()"),
    function(("insert", &[("array", Array), ("place", Int), ("value", Any)], Unit), 2, Pure, Executor, "puts value before the element at place"),
    function(("remove", &[("array", Array), ("place", Int)], Any), 2, Pure, Executor, "takes the element at place"),
    function(("clear", &[("array", Array)], Unit), 1, Pure, Executor, "takes all elements"),
    function(("contains", &[("array", Array), ("value", Any)], Bool), 2, Pure, Executor, "is value in it? also: value in array"),
    function(("index_of", &[("array", Array), ("value", Any)], Any), 2, Pure, Executor, "the place of the first equal element, or ()"),
    function(("reverse", &[("array", Array)], Unit), 2, Pure, Executor, "turns the order around"),
    function(("sort", &[("array", Array)], Unit), 4, Pure, Executor, "puts numbers, or strings by code point, in ascending order; fails for others"),
    function(("==", &[("a", Array), ("b", Array)], Bool), 2, Pure, Executor, "equal in length and elements"),
    function(("!=", &[("a", Array), ("b", Array)], Bool), 2, Pure, Executor, "not equal"),
    function(("len", &[("map", Map)], Int), 1, Pure, Executor, "its entries"),
    function(("keys", &[("map", Map)], Array), 2, Pure, Executor, "its names in order of code points"),
    function(("values", &[("map", Map)], Array), 2, Pure, Executor, "its values in the order of their names"),
    function(("contains", &[("map", Map), ("name", Text)], Bool), 1, Pure, Executor, "is there such a name? also: name in map"),
    function(("remove", &[("map", Map), ("name", Text)], Any), 2, Pure, Executor, "takes an entry, or gives ()"),
    function(("clear", &[("map", Map)], Unit), 1, Pure, Executor, "takes all entries"),
    function(("==", &[("a", Map), ("b", Map)], Bool), 2, Pure, Executor, "equal in names and values"),
    function(("!=", &[("a", Map), ("b", Map)], Bool), 2, Pure, Executor, "not equal"),
    function(("contains", &[("range", Range), ("value", Int)], Bool), 1, Pure, Executor, "is value in it? also: value in 1..7"),
    function(("type_of", &[("value", Any)], Text), 1, Pure, Executor, "the name of its kind"),
    // The world.
    function(("==", OBJECTS, Bool), 1, Pure, Run::Pure(vectors::same), "the same object"),
    function(("!=", OBJECTS, Bool), 1, Pure, Run::Pure(vectors::different), "different objects"),
    function(("exists", &[("object", Object)], Bool), 5, Reads, Run::Scene(world::exists), "is it still there?"),
    function(("nearby", &[("radius", Number)], Array), 100, Reads, Run::Scene(world::nearby), "at most 16 other objects within radius metres, nearest first"),
    function(("now", &[], Fixed), 2, Reads, Run::Scene(world::now), "simulated seconds since the world began"),
    function(("random", &[], Fixed), 5, Writes, Run::Scene(world::random), "a random number from 0 up to, not including, 1"),
    function(("random", NUMBERS, Number), 5, Writes, Run::Scene(world::random), "two ints: a random int from a to b; else a number from a up to, not including, b"),
    function(("say", &[("text", Text)], Unit), 20, Writes, Run::Scene(world::say), "the object says something"),
    function(("send", &[("to", Object), ("topic", Text), ("data", Any)], Unit), 20, Writes, Run::Scene(world::send), "sends a message to the scripts on an object"),
    function(("impulse", &[("impulse", Vec2)], Unit), 20, Writes, Run::Scene(world::impulse), "kicks the own object, in kg m/s"),
    function(("push", &[("object", Object), ("impulse", Vec2)], Unit), 20, Writes, Run::Scene(world::push), "kicks an object, in kg m/s"),
    function(("timer", &[("name", Text), ("seconds", Number)], Unit), 20, Writes, Run::Scene(world::timer), "calls on_timer(name) after some seconds; starts anew if it runs"),
    function(("cancel", &[("name", Text)], Unit), 10, Writes, Run::Scene(world::cancel), "stops a timer"),
    function(("log", &[("line", Any)], Unit), 5, Writes, Run::Scene(world::log), "notes a line for the author; nobody else sees it"),
];

const fn field(
    (name, kind): (&'static str, Kind),
    get: super::GetField,
    set: Option<super::SetField>,
    doc: &'static str,
) -> HostProperty {
    HostProperty {
        of: Object,
        name,
        kind,
        doc,
        access: Field(get, set),
    }
}

/// Properties of vectors and objects.
#[rustfmt::skip]
pub const PROPERTIES: &[HostProperty] = &[
    HostProperty { of: Vec2, name: "x", kind: Fixed, doc: "the first coordinate", access: Coordinate(|v| &mut v.x) },
    HostProperty { of: Vec2, name: "y", kind: Fixed, doc: "the second coordinate", access: Coordinate(|v| &mut v.y) },
    field(("id", Int), world::id, None, "its number"),
    field(("name", Text), |o| Value::Text(o.name.into()), None, "its name"),
    field(("kind", Text), |o| Value::Text(o.kind.into()), None, "\"avatar\" for a player, else what the world's maker said"),
    field(("pos", Vec2), |o| Value::Vec2(o.pos), Some(world::set_pos), "its centre, in metres"),
    field(("velocity", Vec2), |o| Value::Vec2(o.velocity), Some(world::set_velocity), "metres a second"),
    field(("angle", Fixed), |o| Value::Fixed(o.angle.to_radians()), Some(world::set_angle), "its heading, -PI to PI radians"),
    field(("spin", Fixed), |o| Value::Fixed(o.spin), Some(world::set_spin), "radians a second, counter-clockwise"),
    field(("color", Int), |o| Value::Int(o.color.into()), Some(world::set_color), "0xRRGGBB"),
    field(("text", Text), |o| Value::Text(o.text.into()), Some(world::set_text), "the text it shows"),
];

/// Names that every script knows.
#[rustfmt::skip]
pub const NAMES: &[HostName] = &[
    HostName { name: "self_", kind: Object, doc: "the object that the script runs on", value: None },
    HostName { name: "state", kind: State, doc: "the script's persistent variables: state.count = 1; () removes one", value: None },
    HostName { name: "PI", kind: Fixed, doc: "half a turn in radians", value: Some(metatopia_math::Fx::PI) },
    HostName { name: "TAU", kind: Fixed, doc: "a full turn in radians", value: Some(metatopia_math::Fx::TAU) },
];
