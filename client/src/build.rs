//! Building in words: typed lines become what builders do.

mod corners;
mod hint;
mod joint;
mod lot;
mod parse;
mod parts;
mod spot;

use alloc::{string::String, vec, vec::Vec};

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_sim::Shape;
use metatopia_types::{
    AssetLicence, Blueprint, BuiltMaterial, Outline, OutlineCorners, OutlineParts,
};

use corners::spread;
pub use corners::{CornersError, corners};
pub use hint::{next, publishers, title};
pub use joint::{JOINT_KINDS, JoinedThing, is_frequency, joined};
pub use lot::claim_around;
pub use parse::{BuildError, parse};
pub use parts::{around_the_first, outlines};
pub use spot::{Ground, spot};

/// A line of a builder. Things are named as they were typed; `it` is the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Building {
    /// Make a thing.
    Build(BuildPlan),
    /// Put a thing elsewhere.
    Move(String, Way),
    /// Turn a thing further, in degrees, counterclockwise.
    Rotate(String, Fx),
    /// Give a thing another width and height, in metres; one number is both.
    Resize(String, Vec2),
    /// Give a thing another colour, 0xRRGGBB.
    Color(String, u32),
    /// Make a thing of another material.
    MakeOf(String, BuiltMaterial),
    /// Make a thing a sensor, which everything passes through, or solid again.
    MakeSensor(String, bool),
    /// Give a thing another name.
    Name(String, String),
    /// Change what a thing shows; empty for nothing.
    Write(String, String),
    /// Make another one.
    Copy(String, Option<Way>),
    /// Take a thing out of the world.
    Delete(String),
    /// Give a thing to somebody.
    Give(String, String),
    /// Put a package on a thing: the package, the thing.
    Attach(String, String),
    /// Take a package off a thing: the package, the thing.
    Detach(String, String),
    /// Let a thing leave for another sim, or have it stay.
    LetTravel(String, bool),
    /// Take a thing in hand.
    Take(String),
    /// Put a thing down that is in hand.
    PutDown(String),
    /// List what is in hand.
    Hands,
    /// Put a thing into luggage.
    Stow(String),
    /// Put a thing down that is in luggage.
    Fetch(String),
    /// Delete a thing that is in luggage, one's own or somebody's.
    Discard(String),
    /// List what is in luggage: one's own, or somebody's.
    Luggage(Option<String>),
    /// Join a thing to another one, or to the ground if nothing is named, by a joint of this kind; a motor or a
    /// spring at this rate, if one is named.
    Join(String, Option<String>, &'static str, Option<Fx>),
    /// Take all joints off a thing, or those with another one.
    Unjoin(String, Option<String>),
    /// Make one thing of several.
    Unite(Vec<String>),
    /// Take back the last deed, passing over so many.
    Undo(u8),
    /// List one's own things.
    Mine,
    /// List the lands.
    Land,
    /// Explain all this.
    Help,
}

/// Where something is built or moved to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// So far from where it is, in metres.
    By(Vec2),
    /// To this place.
    To(Vec2),
}

/// A thing to be made, without its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildPlan {
    /// What it is.
    pub kind: &'static str,
    /// What it is called.
    pub name: String,
    /// What it shows.
    pub text: String,
    /// The color as 0xRRGGBB.
    pub color: u32,
    /// What it looks like from above.
    pub form: PartForm,
    /// Width and height in metres.
    pub size: Vec2,
    /// Whether it can be pushed.
    pub movable: bool,
}

impl BuildPlan {
    /// Returns how far the part reaches from its centre along each axis at most.
    #[must_use]
    pub fn half(&self) -> Vec2 {
        match self.form {
            // The centre of mass of a triangle is a third of the way from its side to its corner, and that of
            // nothing convex is further off.
            PartForm::Ramp | PartForm::Triangle | PartForm::Corners(_) => {
                self.size.scale(Fx::from_ratio(2, 3))
            }
            PartForm::Box | PartForm::Disc | PartForm::Rod | PartForm::Hexagon => {
                self.size.scale(Fx::HALF)
            }
        }
    }

    /// The blueprint of it at a place.
    #[must_use]
    pub fn at(&self, position: Vec2) -> Blueprint {
        Blueprint {
            kind: self.kind.into(),
            name: self.name.clone(),
            text: self.text.clone(),
            color: self.color,
            outline: outline(self.form, self.size),
            movable: self.movable,
            position,
            angle: Angle::ZERO,
            licence: AssetLicence::default(),
            parts: OutlineParts::default(),
        }
    }
}

/// What a part looks like from above. It fills a width and a height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartForm {
    /// A rectangle that fills the size.
    Box,
    /// A disc as wide as the width.
    Disc,
    /// A rod with round ends, as long as the width.
    Rod,
    /// A triangle with a right angle in the south-east: it rises to the east.
    Ramp,
    /// A triangle with its point in the north.
    Triangle,
    /// A polygon of six corners, two of them in the west and in the east.
    Hexagon,
    /// A convex polygon of these corners, which has its own size.
    Corners(OutlineCorners),
}

/// The outline of a form of so much width and height.
#[must_use]
pub fn outline(form: PartForm, size: Vec2) -> Outline {
    let half @ Vec2 { x, y } = size.scale(Fx::HALF);
    let (west, south, middle) =
        (x.saturating_neg(), y.saturating_neg(), x.saturating_mul(Fx::HALF));
    let at = Vec2::new;
    let corners = match form {
        PartForm::Box => return Outline::Box { half },
        PartForm::Disc => return Outline::Disc { radius: x },
        PartForm::Corners(corners) => return Outline::Polygon(corners),
        PartForm::Rod => return Outline::Capsule { half: x.saturating_sub(y), radius: y },
        PartForm::Ramp => vec![at(west, south), at(x, south), at(x, y)],
        PartForm::Triangle => vec![at(west, south), at(x, south), at(Fx::ZERO, y)],
        PartForm::Hexagon => {
            let back = middle.saturating_neg();
            let (east, far) = (at(x, Fx::ZERO), at(west, Fx::ZERO));
            vec![east, at(middle, y), at(back, y), far, at(back, south), at(middle, south)]
        }
    };
    Outline::Polygon(OutlineCorners::new(&corners).expect("three or six corners"))
}

/// The outline of a shape that is stretched to another width and height: those of the box around its
/// centre, which faces as it does.
#[must_use]
pub fn resized(shape: &Shape, size: Vec2) -> Outline {
    let polygon = match shape {
        // What is thin has no outline of its own to stretch, and what is of several shapes has none at all.
        Shape::Rect { .. } | Shape::Segment(_) | Shape::Compound(_) => {
            return outline(PartForm::Box, size);
        }
        Shape::Circle { .. } => return outline(PartForm::Disc, size),
        Shape::Capsule { .. } => return outline(PartForm::Rod, size),
        Shape::Polygon(polygon) => polygon,
    };
    let (before, half) = (shape.half_extents(Angle::ZERO), size.scale(Fx::HALF));
    let stretched = |corner: Vec2| {
        let along = |at: Fx, before: Fx, half: Fx| at.saturating_mul(half).saturating_div(before);
        Vec2::new(along(corner.x, before.x, half.x), along(corner.y, before.y, half.y))
    };
    let corners: Vec<Vec2> = polygon.corners().map(stretched).collect();
    Outline::Polygon(OutlineCorners::new(&corners).expect("a polygon has as many corners"))
}

/// Kind, colour, form, width and height in tenths of a metre, movable.
type ThingKind = (&'static str, u32, PartForm, (i64, i64), bool);

/// What can be built by one word.
const KINDS: [ThingKind; 13] = [
    ("box", 0x005b_8def, PartForm::Box, (10, 10), false),
    ("wall", 0x00a8_9f91, PartForm::Box, (40, 5), false),
    ("plank", 0x00b9_8552, PartForm::Box, (30, 4), false),
    ("disc", 0x0058_a884, PartForm::Disc, (10, 10), false),
    ("pillar", 0x00d8_d2c4, PartForm::Disc, (8, 8), false),
    ("sign", 0x00f5_f0e6, PartForm::Disc, (5, 5), false),
    ("ramp", 0x00a8_9f91, PartForm::Ramp, (20, 10), false),
    ("wedge", 0x00c9_6f4a, PartForm::Triangle, (12, 12), false),
    ("hexagon", 0x006f_9bc0, PartForm::Hexagon, (12, 10), false),
    // Its corners come with the line.
    ("polygon", 0x007d_8f69, PartForm::Box, (12, 12), false),
    ("log", 0x008a_5a33, PartForm::Rod, (20, 5), true),
    ("crate", 0x00c8_964b, PartForm::Box, (9, 9), true),
    ("ball", 0x00e8_e8ff, PartForm::Disc, (6, 6), true),
];

/// Colours with names.
const COLORS: [(&str, u32); 14] = [
    ("red", 0x00d1_3c3c),
    ("orange", 0x00e0_8a2c),
    ("yellow", 0x00e6_c84a),
    ("green", 0x004c_a64c),
    ("blue", 0x003c_6fd1),
    ("purple", 0x0082_4fc0),
    ("pink", 0x00e0_82b4),
    ("brown", 0x008b_5a2b),
    ("black", 0x0020_2020),
    ("grey", 0x0080_8080),
    ("gray", 0x0080_8080),
    ("white", 0x00f5_f5f5),
    ("gold", 0x00b8_860b),
    ("cyan", 0x0038_b6c0),
];

/// Returns the names of the colours, one each.
pub(crate) fn color_names() -> Vec<&'static str> {
    COLORS.iter().map(|(name, _)| *name).filter(|name| *name != "gray").collect()
}

/// Returns the name of the colour that is nearest to this one, 0xRRGGBB.
pub(crate) fn color_name(color: u32) -> &'static str {
    let apart = |other: u32| -> u32 {
        let [_, red, green, blue] = color.to_be_bytes();
        let [_, other_red, other_green, other_blue] = other.to_be_bytes();
        let pairs = [(red, other_red), (green, other_green), (blue, other_blue)];
        pairs.iter().map(|(a, b)| u32::from(a.abs_diff(*b)).pow(2)).sum()
    };
    let nearest = COLORS.iter().min_by_key(|(_, other)| apart(*other));
    nearest.map_or("", |(name, _)| name)
}

/// A colour by its name, or as six hexadecimal digits.
pub(crate) fn color(word: &str) -> Option<u32> {
    let word = word.to_lowercase();
    let named = COLORS.iter().find(|(name, _)| *name == word).map(|(_, color)| *color);
    let digits = word.strip_prefix('#').unwrap_or(&word);
    let is_hex = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    named.or_else(|| u32::from_str_radix(digits, 16).ok().filter(|_| is_hex))
}

/// What `help build` prints.
pub const HELP: &str = "\
build WHAT      box, wall, plank, disc, pillar, ramp, wedge, hexagon or sign, which stay; crate, ball
                or log, which roll; or a convex polygon of 3 to 8 corners:  build polygon 0,0 2,0 1,1
                then, if you like: width, height, a colour, a name:  build box 2 1 brown bench
                a sign shows the words:  build sign Welcome to my garden
move it east 2  or `move it to 3 -4`; the thing is `it`, the last one, or its name
rotate it 45    degrees, counterclockwise
resize it 2 1   width and height in metres; one number for a disc
color it red    or six digits, rrggbb
make it of ice  or of wood, stone, steel, rubber or foam: how heavy it is, how it slides and bounces
make it a sensor
                everything passes through, and its scripts hear of that; `make it solid` ends that
name it bench   what it is called; `write it ..` changes what it shows
copy it east 2  your own things, and those with a free licence
delete it       with its scripts
give it to Ada  it is Ada's then; that is not taken back
attach bell to it, detach bell from it
                packages that ship with the sim; `source THING` shows what they do
let it travel   over a border, when it is pushed there, with all of yours that is joined to it;
                `let it stay` ends that
take it         carries what can be pushed, four things at most; `put it down` puts it before you
hands           lists what you hold
stow it         into your luggage, where it takes no place; `luggage` lists what is there, `luggage of NAME` too
fetch it        puts it down again; `discard it` deletes it there for good
join crate to wall
                a hinge holds both; `join crate to ground`; at the end `by rod`, `by weld`, `by slider`,
                `by rope`, `by spring`, `by motor`, or `by motor 3`: radians a second; of a spring, hertz
unjoin crate    from all that it is joined to; `unjoin crate from wall`
unite crate and ball
                makes one thing of several of yours, as they stand; it is as the first, without scripts
undo            takes back what you built last; `undo 1` passes over that, and takes the one before
mine            what is yours, and how much you may have
land            who may build where";

/// The words of `line` but the first `n`.
fn after(words: &[&str], n: usize) -> String {
    words.get(n..).map(<[&str]>::to_vec).unwrap_or_else(Vec::new).join(" ")
}

#[cfg(test)]
mod tests;
