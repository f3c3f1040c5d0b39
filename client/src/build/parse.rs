//! Reading what builders type.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use metatopia_math::{Fx, Vec2};
use metatopia_sim::SPRING_FREQUENCY_MAX;
use metatopia_types::BuiltMaterial;

use super::{
    BuildPlan, Building, CornersError, JOINT_KINDS, KINDS, PartForm, Way, after, color, corners,
    is_frequency, spread,
};
use crate::text::direction;

/// Why a builder's line is not understood. Each says how it is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// There is no such thing to build.
    #[error(
        "{0:?} cannot be built; there are {all}; type `help build`",
        all = kinds()
    )]
    Kind(String),
    /// The line is not in the form of its command.
    #[error("that is `{0}`; type `help build` for all")]
    Form(&'static str),
    /// No such colour.
    #[error(
        "unknown colour {0:?}; there are red, orange, yellow, green, blue, purple, pink, brown, \
         black, grey, white, gold, cyan, and six digits such as c8964b"
    )]
    Color(String),
    /// The words behind `polygon` are no corners of one.
    #[error(transparent)]
    Corners(#[from] CornersError),
    /// No such material.
    #[error("unknown material {0:?}; there are wood, stone, steel, rubber, ice and foam")]
    Material(String),
    /// No such joint, or it has no number.
    #[error(
        "unknown joint {0:?}; there are hinge, rod, weld, slider, rope, spring and motor, the last \
         two with a number if you like: `by motor -3`"
    )]
    Joint(String),
    /// A spring swings more than not at all, and no faster than physics can follow.
    #[error(
        "a spring swings up to {SPRING_FREQUENCY_MAX} times a second, and more than 0, not {}",
        .0.shortest()
    )]
    Frequency(Fx),
}

/// How things are joined.
const JOIN: &str = "join crate to wall` or `join crate to ground by weld";

/// Returns the words for all that can be built, as in a sentence.
fn kinds() -> String {
    let [words @ .., last] = KINDS.map(|(word, ..)| word);
    format!("{} and {last}", words.join(", "))
}

/// Reads the line of a builder from its first word and the rest; nothing if it is none.
///
/// # Errors
/// See [`BuildError`].
pub fn parse(word: &str, rest: &str) -> Result<Option<Building>, BuildError> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let form = BuildError::Form;
    Ok(Some(match word {
        "build" | "place" => Building::Build(plan(&words)?),
        "move" => {
            let how = "move it east 2` or `move it to 3 4";
            let (thing, way) = way(&words).ok_or(form(how))?;
            Building::Move(thing, way.ok_or(form(how))?)
        }
        "rotate" | "turn" => {
            let (thing, numbers) = numbers(&words, 1);
            let degrees = numbers.first().copied().unwrap_or(Fx::from_int(45));
            Building::Rotate(thing.ok_or(form("rotate it 45"))?, degrees)
        }
        "resize" => {
            let (thing, numbers) = numbers(&words, 2);
            let how = form("resize it 2 1");
            let (Some(thing), Some(width)) = (thing, numbers.first()) else {
                return Err(how);
            };
            let height = numbers.get(1).unwrap_or(width);
            Building::Resize(thing, Vec2::new(*width, *height))
        }
        "color" | "colour" => {
            let (name, thing) = words.split_last().ok_or(form("color it red"))?;
            let thing = filled(&thing.join(" ")).ok_or(form("color it red"))?;
            let shade = color(name).ok_or_else(|| BuildError::Color((*name).to_string()))?;
            Building::Color(thing, shade)
        }
        "make" => made_of(&words)?,
        "name" | "rename" => {
            let (thing, name) = named(rest).ok_or(form("name it bench"))?;
            Building::Name(thing, filled(&name).ok_or(form("name it bench"))?)
        }
        "write" => {
            let (thing, text) = named(rest).ok_or(form("write it Welcome"))?;
            Building::Write(thing, text)
        }
        "copy" => {
            let (thing, way) = way(&words).ok_or(form("copy it east 2"))?;
            Building::Copy(thing, way)
        }
        "delete" | "remove" => Building::Delete(filled(rest).ok_or(form("delete it"))?),
        "give" => two(rest, " to ")
            .map_or(Err(form("give it to Ada")), |(thing, to)| Ok(Building::Give(thing, to)))?,
        "attach" => two(rest, " to ")
            .map_or(Err(form("attach bell to it")), |(package, thing)| {
                Ok(Building::Attach(package, thing))
            })?,
        "detach" => two(rest, " from ")
            .map_or(Err(form("detach bell from it")), |(package, thing)| {
                Ok(Building::Detach(package, thing))
            })?,
        "let" => leave(rest).ok_or(form("let it travel` or `let it stay"))?,
        "take" | "drop" | "put" | "stow" | "fetch" | "discard" => carrying(word, rest)?,
        "hands" => Building::Hands,
        "luggage" => Building::Luggage(rest.strip_prefix("of ").and_then(filled)),
        "join" => joining(rest)?,
        "unjoin" => unjoin(rest).ok_or(form("unjoin crate` or `unjoin crate from wall"))?,
        "unite" => Building::Unite(several(rest).ok_or(form("unite crate and ball"))?),
        "undo" => {
            let skip = if rest.is_empty() { Ok(0) } else { rest.parse() };
            Building::Undo(skip.map_err(|_| form("undo` or `undo 1"))?)
        }
        "mine" | "inventory" => Building::Mine,
        "land" | "lands" => Building::Land,
        "help" | "?" if matches!(rest, "build" | "building") => Building::Help,
        _ => return Ok(None),
    }))
}

/// Returns the things that are named with `and` between them; nothing if there are not two.
fn several(rest: &str) -> Option<Vec<String>> {
    let things = rest.split(" and ").map(filled).collect::<Option<Vec<String>>>()?;
    (things.len() > 1).then_some(things)
}

/// Reads what a thing is made: of a material, a sensor, or solid.
fn made_of(words: &[&str]) -> Result<Building, BuildError> {
    let how = || BuildError::Form("make it of ice`, `make it a sensor` or `make it solid");
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    let thing = |count: usize| filled(&words[..count].join(" ")).ok_or_else(how);
    match lower[..] {
        [ref thing_words @ .., "a", "sensor"] => {
            Ok(Building::MakeSensor(thing(thing_words.len())?, true))
        }
        [ref thing_words @ .., "solid"] => {
            Ok(Building::MakeSensor(thing(thing_words.len())?, false))
        }
        [ref thing_words @ .., "of", word] => {
            let thing = thing(thing_words.len())?;
            let unknown = || BuildError::Material(words[words.len() - 1].to_string());
            Ok(Building::MakeOf(thing, BuiltMaterial::named(word).ok_or_else(unknown)?))
        }
        _ => Err(how()),
    }
}

/// Reads whether a thing may leave over a border.
fn leave(rest: &str) -> Option<Building> {
    let (thing, way) = rest.trim().rsplit_once(' ')?;
    let travels = match way {
        "travel" => true,
        "stay" => false,
        _ => return None,
    };
    Some(Building::LetTravel(filled(thing)?, travels))
}

/// Reads what somebody does with her hands or her luggage.
fn carrying(word: &str, rest: &str) -> Result<Building, BuildError> {
    let thing = |how| filled(rest).ok_or(BuildError::Form(how));
    Ok(match word {
        "take" => Building::Take(thing("take it")?),
        "stow" => Building::Stow(thing("stow it")?),
        "fetch" => Building::Fetch(thing("fetch it")?),
        "discard" => Building::Discard(thing("discard it")?),
        "drop" => Building::PutDown(thing("put it down")?),
        _ => {
            let words: Vec<&str> = rest.split_whitespace().collect();
            laid(&words).ok_or(BuildError::Form("put it down"))?
        }
    })
}

/// Reads what is put down: `down` is the last word, or the first one.
fn laid(words: &[&str]) -> Option<Building> {
    let ([thing @ .., "down"] | ["down", thing @ ..]) = words else { return None };
    Some(Building::PutDown(filled(&thing.join(" "))?))
}

/// Reads what is to be joined, by what.
fn joining(rest: &str) -> Result<Building, BuildError> {
    let (joined, is_kind_said) = join(rest).ok_or(BuildError::Form(JOIN))?;
    match &joined {
        Building::Join(_, _, "spring", Some(rate)) if !is_frequency(*rate) => {
            Err(BuildError::Frequency(*rate))
        }
        Building::Join(_, Some(other), ..) if other == "to" => Err(BuildError::Form(JOIN)),
        // A thing whose name has such a word is joined by whoever says the kind as well.
        Building::Join(_, Some(other), ..) if !is_kind_said => match other.rsplit_once(" by ") {
            Some((_, kind)) => Err(BuildError::Joint(kind.to_owned())),
            None => Ok(joined),
        },
        _ => Ok(joined),
    }
}

/// Reads what is joined to what, and by which kind of joint: `crate to wall by weld`, or `crate wall weld` where
/// each thing has one word. A hinge is meant if nothing else is named. A motor and a spring may have a number
/// behind them.
fn join(rest: &str) -> Option<(Building, bool)> {
    let kind_of = |text: &str| {
        let (things, last) = text.trim().rsplit_once(' ')?;
        let kind = JOINT_KINDS.into_iter().find(|kind| *kind == last)?;
        // Names may end in such a word: behind `to` a kind comes after `by`.
        let is_kind = !things.contains(" to") || things.trim_end().ends_with(" by");
        is_kind.then(|| (things.trim().to_string(), kind))
    };
    let rated = rest.trim().rsplit_once(' ').and_then(|(front, number)| {
        let (things, kind) =
            kind_of(front).filter(|(_, kind)| ["motor", "spring"].contains(kind))?;
        Some((things, kind, Some(number.parse().ok()?)))
    });
    let plain = || kind_of(rest).map(|(things, kind)| (things, kind, None));
    let said = rated.or_else(plain);
    let is_kind_said = said.is_some();
    let (things, kind, rate) =
        said.unwrap_or_else(|| (rest.trim().to_string(), JOINT_KINDS[0], None));
    let things = things.as_str();
    let things = things.strip_suffix(" by").unwrap_or(things);
    let (thing, other) = two(things, " to ").or_else(|| match things.split_once(' ') {
        Some((thing, other)) if !other.trim().contains(' ') => {
            Some((filled(thing)?, filled(other)?))
        }
        _ => None,
    })?;
    let other = (other != "ground" && other != "the ground").then_some(other);
    Some((Building::Join(thing, other, kind, rate), is_kind_said))
}

/// Reads what is freed, and from what: `crate`, or `crate from wall`.
fn unjoin(rest: &str) -> Option<Building> {
    let (thing, other) = match two(rest, " from ") {
        Some((thing, other)) => (thing, Some(other)),
        None => (filled(rest)?, None),
    };
    Some(Building::Unjoin(thing, other))
}

fn filled(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_string())
}

/// `build box 2 1 brown old bench`, after the first word.
fn plan(words: &[&str]) -> Result<BuildPlan, BuildError> {
    let Some((kind, mut rest)) = words.split_first() else {
        return Err(BuildError::Form("build box 2 1 brown"));
    };
    // A colour may come first: `build red box`.
    let (mut shade, mut kind) = (None, *kind);
    if let (Some(first), [next, others @ ..]) = (color(kind), rest) {
        (shade, kind, rest) = (Some(first), *next, others);
    }
    let found = KINDS.iter().find(|(name, ..)| *name == kind.to_lowercase());
    let (kind, usual, mut form, (width, height), movable) =
        *found.ok_or_else(|| BuildError::Kind(kind.to_string()))?;
    let tenths = |tenths| Fx::from_ratio(tenths, 10);
    let mut size = Vec2::new(tenths(width), tenths(height));
    if kind == "polygon" {
        let count = rest.iter().take_while(|word| word.contains(',')).count();
        if count == 0 {
            return Err(BuildError::Form("build polygon 0,0 2,0 1,1 brown"));
        }
        let outline = corners(&rest[..count])?;
        (form, size, rest) = (PartForm::Corners(outline), spread(&outline), &rest[count..]);
    } else if let Some(width) = rest.first().and_then(|word| Fx::parse(word).ok()) {
        size = Vec2::new(width, width);
        rest = &rest[1..];
        if let Some(height) = rest.first().and_then(|word| Fx::parse(word).ok()) {
            size.y = height;
            rest = &rest[1..];
        }
    }
    if let Some(named) = rest.first().and_then(|word| color(word)) {
        shade = Some(named);
        rest = &rest[1..];
    }
    let words = filled(&after(rest, 0));
    let (name, text) = match (kind, words) {
        ("sign", text) => (kind.to_string(), text.unwrap_or_default()),
        (_, name) => (name.unwrap_or_else(|| kind.to_string()), String::new()),
    };
    Ok(BuildPlan { kind, name, text, color: shade.unwrap_or(usual), form, size, movable })
}

/// `it east 2`, `old bench to 3 4`, or the thing alone.
fn way(words: &[&str]) -> Option<(String, Option<Way>)> {
    let number = |word: &&str| measure(word);
    if let [thing @ .., "to", x, y] = words
        && let (Some(x), Some(y)) = (number(x), number(y))
    {
        return Some((filled(&thing.join(" "))?, Some(Way::To(Vec2::new(x, y)))));
    }
    let (thing, towards, metres) = match words {
        [thing @ .., towards, metres] if number(metres).is_some() => {
            (thing, *towards, number(metres)?)
        }
        [thing @ .., towards] if !thing.is_empty() => (thing, *towards, Fx::ONE),
        _ => (words, "", Fx::ONE),
    };
    match direction(towards).and_then(Vec2::normalize) {
        Some(heading) => Some((filled(&thing.join(" "))?, Some(Way::By(heading.scale(metres))))),
        None => Some((filled(&words.join(" "))?, None)),
    }
}

/// Units that may follow a number: each command has but one.
const UNITS: [&str; 5] = ["degrees", "deg", "metres", "meters", "m"];

/// Reads a number, with a unit or without.
fn measure(word: &str) -> Option<Fx> {
    let bare = UNITS.iter().find_map(|unit| word.strip_suffix(unit)).unwrap_or(word);
    Fx::parse(bare).ok()
}

/// Returns a thing, and up to so many numbers after it.
fn numbers(words: &[&str], most: usize) -> (Option<String>, Vec<Fx>) {
    let mut rest = words;
    let mut numbers = Vec::new();
    if let [before @ .., unit] = rest
        && UNITS.contains(unit)
    {
        rest = before;
    }
    while let [before @ .., last] = rest
        && numbers.len() < most
        && let Some(number) = measure(last)
    {
        numbers.insert(0, number);
        rest = before;
    }
    (filled(&rest.join(" ")), numbers)
}

/// `it` and the rest; or a name in quotes and the rest.
fn named(text: &str) -> Option<(String, String)> {
    let text = text.trim();
    if let Some((name, rest)) = text.strip_prefix('"').and_then(|text| text.split_once('"')) {
        return Some((filled(name)?, rest.trim().to_string()));
    }
    let (thing, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    Some((filled(thing)?, rest.trim().to_string()))
}

/// Splits a text at the last `between`.
fn two(text: &str, between: &str) -> Option<(String, String)> {
    let (one, other) = text.rsplit_once(between)?;
    Some((filled(one)?, filled(other)?))
}
