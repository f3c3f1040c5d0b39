//! Thousands of results per function, recorded as one hash each.

use metatopia_math::{Angle, Fx, Stream, Vec2};

/// The number of calls per function.
const CALLS: u32 = 4096;

/// The arguments of one sweep: numbers of every magnitude.
struct Arguments(Stream);

impl Arguments {
    fn fx(&mut self) -> Fx {
        let shift = self.0.below(64);
        Fx::from_bits((self.0.next_u64() as i64) >> shift)
    }

    fn vec2(&mut self) -> Vec2 {
        Vec2::new(self.fx(), self.fx())
    }

    fn angle(&mut self) -> Angle {
        Angle::from_bits((self.0.next_u64() >> 32) as u32)
    }
}

/// The result of a function, as integers: none, one or two numbers.
type Answer = Vec<i64>;

fn one(x: Fx) -> Answer {
    vec![x.to_bits()]
}

fn two((x, y): (Fx, Fx)) -> Answer {
    vec![x.to_bits(), y.to_bits()]
}

fn vector(v: Vec2) -> Answer {
    two((v.x, v.y))
}

/// Returns the hash of all results of a function, each with its length before it.
fn digest(name: &str, function: fn(&mut Arguments) -> Answer) -> String {
    let mut arguments = Arguments(Stream::new(&[0; 32], name, &[]));
    let mut hasher = blake3::Hasher::new();
    for _ in 0..CALLS {
        let answer = function(&mut arguments);
        hasher.update(&[answer.len() as u8]);
        for number in answer {
            hasher.update(&number.to_le_bytes());
        }
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// A name, a function, and the first 128 bits of the hash of its results.
type Sweep = (&'static str, fn(&mut Arguments) -> Answer, &'static str);

const SWEEPS: &[Sweep] = &[
    (
        "checked_add",
        |a| a.fx().checked_add(a.fx()).map_or(vec![], one),
        "d50ef5d3d49b8992943e88024ebc4b22",
    ),
    (
        "checked_sub",
        |a| a.fx().checked_sub(a.fx()).map_or(vec![], one),
        "00ccf10bd016c06e17414203664f5326",
    ),
    (
        "checked_mul",
        |a| a.fx().checked_mul(a.fx()).map_or(vec![], one),
        "d16bec814fb86a8d1c9e95590696c437",
    ),
    (
        "checked_div",
        |a| a.fx().checked_div(a.fx()).map_or(vec![], one),
        "7b85f3f4496185431d7d4335abd28273",
    ),
    (
        "checked_rem",
        |a| a.fx().checked_rem(a.fx()).map_or(vec![], one),
        "a9c50e17b9f8d009a51e6b7a6068665d",
    ),
    (
        "checked_rem_euclid",
        |a| a.fx().checked_rem_euclid(a.fx()).map_or(vec![], one),
        "f1fd38239ecc8e6916600f9fe7f1af2e",
    ),
    ("saturating_mul", |a| one(a.fx().saturating_mul(a.fx())), "338b012da8e4ea0a5fee60421831d761"),
    ("saturating_div", |a| one(a.fx().saturating_div(a.fx())), "02e4bdc9c3a9c78c9bfbd8913707b5b6"),
    ("wrapping_mul", |a| one(a.fx().wrapping_mul(a.fx())), "5c97ef6632ace2da00aa9aee0e364fa0"),
    ("sqrt", |a| a.fx().sqrt().map_or(vec![], one), "b65504948826346e5c1a05b404d4c4b5"),
    ("integers", |a| integers(a.fx()), "3f5d70f1dbfc7789f9337bc73631ff1c"),
    ("text", |a| text(a.fx()), "47b7dd192140c1a5fca5875547bba4b3"),
    ("sin_cos", |a| two(a.fx().sin_cos()), "e97ef21fd8a66617193fa18c513a7376"),
    ("atan2", |a| one(Fx::atan2(a.fx(), a.fx())), "028541378952bb888cbf6de123cfe8e5"),
    ("angle_sin_cos", |a| two(a.angle().sin_cos()), "b5955ecd6b5ff18c82aa7e7542898bc7"),
    (
        "angle_atan2",
        |a| vec![Angle::atan2(a.fx(), a.fx()).to_bits().into()],
        "a29f3604716c61405cc87bf16e0d29c3",
    ),
    (
        "from_radians",
        |a| vec![Angle::from_radians(a.fx()).to_bits().into()],
        "8419dda0392b5d532c2adb067673cac6",
    ),
    ("to_radians", |a| one(a.angle().to_radians()), "60390490467ae485b2b69843744f3138"),
    ("scale", |a| vector(a.vec2().scale(a.fx())), "4a5e1d9bd51de1857cf7852e530c04c4"),
    ("dot", |a| one(a.vec2().dot(a.vec2())), "f6442ee333525e2eab3a898d8deea522"),
    ("cross", |a| one(a.vec2().cross(a.vec2())), "16bd04eafb70b2a7e16f1407312edc5c"),
    ("length", |a| one(a.vec2().length()), "012948e5165f419483665b3b54fc4a97"),
    ("length_squared", |a| one(a.vec2().length_squared()), "2fa241189dd5806e021e95932c1d70d0"),
    ("distance", |a| one(a.vec2().distance(a.vec2())), "2a0361bb91bbd3cbeebe49377e36fe7c"),
    (
        "normalize",
        |a| a.vec2().normalize().map_or(vec![], vector),
        "07e54d2f34d252641e03fd4e84d03ae7",
    ),
    ("rotate", |a| vector(a.vec2().rotate(a.angle())), "4bfbdc03f76042bd5a4005252df01ce3"),
    ("below", below, "9ecb4cd040b0d82cb4da569e8e603b36"),
    ("fx_between", between, "810a00f2080e27553d6da927f89172cd"),
];

fn integers(x: Fx) -> Answer {
    vec![x.floor_int(), x.ceil_int(), x.trunc_int(), x.round_int(), x.fraction().to_bits()]
}

/// Formats a number exactly and with three decimals, and parses the latter.
fn text(x: Fx) -> Answer {
    let (exact, short) = (x.to_string(), format!("{x:.3}"));
    let read = Fx::parse(&short).map_or(i64::MIN, Fx::to_bits);
    exact.bytes().chain(short.bytes()).map(i64::from).chain([read]).collect()
}

fn below(arguments: &mut Arguments) -> Answer {
    let bound = arguments.fx().to_bits().unsigned_abs();
    vec![arguments.0.below(bound) as i64]
}

fn between(arguments: &mut Arguments) -> Answer {
    let (low, high) = (arguments.fx(), arguments.fx());
    one(arguments.0.fx_between(low, high))
}

#[test]
fn every_sweep_has_the_recorded_hash() {
    let mut differing = String::new();
    for (name, function, recorded) in SWEEPS {
        let found = digest(name, *function);
        if found != *recorded {
            differing += &format!("\n{name}: {found}, recorded is {recorded}");
        }
    }
    assert!(differing.is_empty(), "these functions gave other results:{differing}");
}
