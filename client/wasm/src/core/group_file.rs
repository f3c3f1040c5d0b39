//! Groups of things as files: text that people keep, send, and open elsewhere.
//!
//! Nothing of a file is believed that is not a thing: somebody else may have written it. What the sim allows is
//! judged when the things are placed.

use data_encoding::HEXLOWER;
use metatopia_client::build::{around_the_first, outlines};
use metatopia_math::{Fx, Vec2};
use metatopia_scripting::limits::SIGN_BYTES_MAX;
use metatopia_sim::Motion;
use metatopia_types::{
    AssetLicence, ObjectId, Outline, OutlinePart,
    limits::{MORE_PARTS_MAX, NAME_BYTES_MAX, OUTLINE_CORNERS_MAX},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    ClientCore,
    picture::DrawnThing,
    units::{from_angle, from_fx, variant},
};

/// Things of one group.
const GROUP_MAX: usize = 64;

/// Bytes of a file. A group of the longest texts takes less, if its things have few parts.
const FILE_BYTES_MAX: usize = 64 * 1_024;

/// Bytes of the name of a group.
const GROUP_NAME_BYTES_MAX: usize = 256;

/// Signs of what is told of a thing that cannot be read.
const WORDS_MAX: usize = 200;

/// Mistakes that are listed; the rest is most likely of the same sort.
const MISTAKES_MAX: usize = 8;

/// Metres from the middle of a group on an axis, and degrees.
const FAR_MAX: f64 = 500.0;

/// Metres of a side, and of a corner from the centre at most.
const SIDES: core::ops::RangeInclusive<f64> = 0.1..=1_000.0;

/// What the file says that it is.
const KIND: &str = "metatopia group";
const VERSION: u64 = 1;

/// The fields of a thing that its parts have as well.
const PART_FIELDS: [&str; 8] = ["round", "rod", "corners", "w", "h", "x", "y", "degrees"];

/// What somebody wants who keeps things, in the words of the page.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(super) enum GroupCommand {
    /// Asks for a file with these things.
    GroupFile { name: String, objects: Vec<ObjectId> },
    /// Asks what things are in a file.
    ReadGroup { text: String },
}

/// A part of a thing in a file: how large it is and where, in metres and degrees. The first is seen from the middle of
/// the group, the others from the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FilePart {
    #[serde(default)]
    round: bool,
    #[serde(default, skip_serializing_if = "is_no")]
    rod: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    corners: Vec<[f64; 2]>,
    w: f64,
    h: f64,
    x: f64,
    y: f64,
    degrees: f64,
}

/// What else a file says of a thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileThing {
    kind: String,
    name: String,
    text: String,
    color: String,
    movable: bool,
    licence: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<FilePart>,
}

/// A mistake in a file. Things are counted from one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum GroupMistake {
    #[error("the file has more than {} KiB", FILE_BYTES_MAX / 1_024)]
    Long,
    #[error("the file is no JSON: {0}")]
    Json(String),
    #[error("the file is no group of things of Metatopia")]
    Kind,
    #[error("the file has the version {0}, which this page does not know")]
    Version(String),
    #[error("the file has no list \"things\" of 1 to {GROUP_MAX} things")]
    Count,
    #[error("the name of the group is no text of at most {GROUP_NAME_BYTES_MAX} bytes")]
    Name,
    #[error("thing {0}: {1}")]
    Thing(usize, String),
    #[error("thing {thing}: `{field}` must be {rule}")]
    Field { thing: usize, field: &'static str, rule: String },
    #[error("and {0} more")]
    More(usize),
}

fn is_no(fact: &bool) -> bool {
    !fact
}

/// Returns a length or angle to the thousandth.
fn millis(number: f64) -> f64 {
    (number * 1_000.0).round() / 1_000.0
}

impl ClientCore {
    /// Carries out a command about files of things.
    pub(super) fn keep_group(&mut self, command: u64, wanted: GroupCommand) {
        match wanted {
            GroupCommand::GroupFile { name, objects } => self.group_file(command, &name, &objects),
            GroupCommand::ReadGroup { text } => self.read_group(command, &text),
        }
    }

    /// Tells the page of a file with these things in sight.
    fn group_file(&mut self, command: u64, name: &str, ids: &[ObjectId]) {
        let things = ids.iter().filter_map(|id| self.picture.shown.get(id)).collect::<Vec<_>>();
        let text = written(name, &things);
        if text.len() > FILE_BYTES_MAX {
            return self.failed(command, "GroupTooLong", &Value::Null);
        }
        self.done(command, &json!({ "text": text }));
    }

    /// Tells the page of the things in a file, or of what is wrong with it.
    fn read_group(&mut self, command: u64, text: &str) {
        let told = match read(text) {
            Ok((name, things)) => json!({ "name": name, "things": things, "mistakes": [] }),
            Err(mistakes) => {
                let words: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
                json!({ "name": "", "things": [], "mistakes": words })
            }
        };
        self.done(command, &told);
    }
}

/// Returns the file of a group.
fn written(name: &str, things: &[&DrawnThing]) -> String {
    let places = things.iter().map(|thing| thing.body.position());
    let sum = places.fold(Vec2::ZERO, Vec2::saturating_add);
    let count = Fx::from_int(i32::try_from(things.len().max(1)).unwrap_or(i32::MAX));
    let middle = Vec2::new(sum.x.saturating_div(count), sum.y.saturating_div(count));
    let things: Vec<Value> = things.iter().filter_map(|thing| file_thing(thing, middle)).collect();
    // One thing a line, which people can read and change.
    let things: Vec<String> = things.iter().map(|thing| format!("  {thing}")).collect();
    let (name, things) = (Value::from(name), things.join(",\n"));
    format!(
        "{{ \"is\": \"{KIND}\", \"version\": {VERSION}, \"name\": {name}, \"things\": [\n{things}\n] }}\n"
    )
}

/// Returns what a file says of a thing; nothing if it is a line, which nobody builds.
fn file_thing(DrawnThing { object, body, .. }: &DrawnThing, middle: Vec2) -> Option<Value> {
    let mut parts = around_the_first(outlines(&body.shape())?);
    let first = parts.remove(0);
    let place = first.offset.rotate(body.angle()).saturating_add(body.position());
    let first = OutlinePart {
        offset: place.saturating_sub(middle),
        angle: first.angle.wrapping_add(body.angle()),
        ..first
    };
    let words = FileThing {
        kind: object.kind.clone(),
        name: object.name.clone(),
        text: object.text.clone(),
        color: format!("#{}", HEXLOWER.encode(&object.look.color.to_be_bytes()[1..])),
        movable: object.held.is_some() || body.motion() == Motion::Dynamic,
        licence: variant(&object.licence),
        parts: parts.iter().map(file_part).collect(),
    };
    let mut all = Map::new();
    for half in [serde_json::to_value(words), serde_json::to_value(file_part(&first))] {
        let Ok(Value::Object(half)) = half else { unreachable!("both are structures") };
        all.extend(half);
    }
    Some(Value::Object(all))
}

fn file_part(part: &OutlinePart) -> FilePart {
    let OutlinePart { outline, offset, angle } = part;
    let corners = match outline {
        Outline::Polygon(corners) => corners.points(),
        Outline::Disc { .. } | Outline::Box { .. } | Outline::Capsule { .. } => &[],
    };
    let half = match *outline {
        Outline::Disc { radius } => Vec2::new(radius, radius),
        Outline::Box { half } => half,
        Outline::Capsule { half, radius } => Vec2::new(half.saturating_add(radius), radius),
        Outline::Polygon(_) => corners.iter().fold(Vec2::ZERO, |far, at| {
            Vec2::new(far.x.max(at.x.saturating_abs()), far.y.max(at.y.saturating_abs()))
        }),
    };
    FilePart {
        round: matches!(outline, Outline::Disc { .. }),
        rod: matches!(outline, Outline::Capsule { .. }),
        corners: corners.iter().map(|at| [from_fx(at.x), from_fx(at.y)]).collect(),
        w: millis(2.0 * from_fx(half.x)),
        h: millis(2.0 * from_fx(half.y)),
        x: millis(from_fx(offset.x)),
        y: millis(from_fx(offset.y)),
        degrees: millis(from_angle(*angle).to_degrees()),
    }
}

/// Returns the name of a group and its things, as the page places them.
///
/// # Errors
/// When anything in the file is wrong: all mistakes, up to [`MISTAKES_MAX`].
fn read(text: &str) -> Result<(String, Vec<Value>), Vec<GroupMistake>> {
    let fault = |mistake| Err(vec![mistake]);
    if text.len() > FILE_BYTES_MAX {
        return fault(GroupMistake::Long);
    }
    let file: Value = match serde_json::from_str(text) {
        Ok(file) => file,
        Err(error) => return fault(GroupMistake::Json(error.to_string())),
    };
    if file["is"] != KIND {
        return fault(GroupMistake::Kind);
    }
    if file["version"] != VERSION {
        let version = file["version"].to_string().chars().take(32).collect();
        return fault(GroupMistake::Version(version));
    }
    let things = file["things"].as_array().filter(|all| (1..=GROUP_MAX).contains(&all.len()));
    let Some(things) = things else { return fault(GroupMistake::Count) };
    let name = file["name"].as_str().filter(|name| name.len() <= GROUP_NAME_BYTES_MAX);
    let mut mistakes: Vec<GroupMistake> =
        name.is_none().then_some(GroupMistake::Name).into_iter().collect();
    let mut made = Vec::new();
    for (thing, n) in things.iter().zip(1..) {
        match placed(thing, n) {
            Ok(thing) => made.push(thing),
            Err(more) => mistakes.extend(more),
        }
    }
    let beyond = mistakes.len().saturating_sub(MISTAKES_MAX);
    if beyond > 0 {
        mistakes.truncate(MISTAKES_MAX);
        mistakes.push(GroupMistake::More(beyond));
    }
    if mistakes.is_empty() {
        Ok((name.unwrap_or_default().to_owned(), made))
    } else {
        Err(mistakes)
    }
}

/// Returns a thing of a file as the page places it.
fn placed(thing: &Value, n: usize) -> Result<Value, Vec<GroupMistake>> {
    let bad = |why: String| vec![GroupMistake::Thing(n, why)];
    let Value::Object(fields) = thing else { return Err(bad("it is no thing".to_owned())) };
    let (part, words): (Map<String, Value>, Map<String, Value>) =
        fields.clone().into_iter().partition(|(field, _)| PART_FIELDS.contains(&field.as_str()));
    // The words name fields and values of the file, which may be long.
    let read = |error: serde_json::Error| bad(error.to_string().chars().take(WORDS_MAX).collect());
    let first: FilePart = serde_json::from_value(part.into()).map_err(read)?;
    let words: FileThing = serde_json::from_value(words.into()).map_err(read)?;
    let mut wrong = wrong_words(&words);
    wrong.extend(core::iter::once(&first).chain(&words.parts).flat_map(wrong_sizes));
    if !wrong.is_empty() {
        let mistake = |(field, rule)| GroupMistake::Field { thing: n, field, rule };
        return Err(wrong.into_iter().map(mistake).collect());
    }
    let color = color(&words.color).unwrap_or_default();
    let mut all = json!({
        "kind": words.kind, "name": words.name, "text": words.text, "color": color,
        "movable": words.movable, "licence": words.licence,
        "parts": words.parts.iter().map(spec).collect::<Vec<Value>>(),
    });
    let Value::Object(first) = spec(&first) else { unreachable!("it is made as an object") };
    all.as_object_mut().expect("it is made as an object").extend(first);
    Ok(all)
}

/// Returns a part in the form in which one is placed.
fn spec(part: &FilePart) -> Value {
    let FilePart { round, rod, corners, w, h, x, y, degrees } = part;
    json!({
        "round": round, "rod": rod, "corners": corners, "w": w, "h": h, "x": x, "y": y,
        "angle": degrees.to_radians(),
    })
}

/// Returns the fields of a thing that break a rule, each with the rule.
fn wrong_words(words: &FileThing) -> Vec<(&'static str, String)> {
    let is_name = |name: &str| (1..=NAME_BYTES_MAX).contains(&name.len());
    let name = || format!("a text of 1 to {NAME_BYTES_MAX} bytes");
    let is_licence = AssetLicence::ALL.iter().any(|known| variant(known) == words.licence);
    let licences = AssetLicence::ALL.map(|licence| variant(&licence)).join(", ");
    let rules = [
        ("kind", is_name(&words.kind), name()),
        ("name", is_name(&words.name), name()),
        (
            "text",
            words.text.len() <= SIGN_BYTES_MAX,
            format!("a text of at most {SIGN_BYTES_MAX} bytes"),
        ),
        ("color", color(&words.color).is_some(), "a colour such as #c8964b".to_owned()),
        ("licence", is_licence, format!("one of {licences}")),
        (
            "parts",
            words.parts.len() <= MORE_PARTS_MAX,
            format!("at most {MORE_PARTS_MAX} parts besides the first"),
        ),
    ];
    broken(rules)
}

/// Returns the fields of a part that break a rule, each with the rule.
fn wrong_sizes(part: &FilePart) -> Vec<(&'static str, String)> {
    let FilePart { corners, w, h, x, y, degrees, .. } = part;
    let side = || format!("a number of metres from {} to {}", SIDES.start(), SIDES.end());
    let far = || format!("a number from -{FAR_MAX} to {FAR_MAX}");
    let is_near = |at: &f64| at.abs() <= FAR_MAX;
    let are_corners = corners.iter().flatten().all(|at| at.abs() <= *SIDES.end())
        && (corners.is_empty() || (3..=OUTLINE_CORNERS_MAX).contains(&corners.len()));
    let rules = [
        ("w", SIDES.contains(w), side()),
        ("h", SIDES.contains(h), side()),
        ("x", is_near(x), far()),
        ("y", is_near(y), far()),
        ("degrees", is_near(degrees), far()),
        ("corners", are_corners, format!("3 to {OUTLINE_CORNERS_MAX} pairs of numbers of metres")),
    ];
    broken(rules)
}

fn broken<const N: usize>(rules: [(&'static str, bool, String); N]) -> Vec<(&'static str, String)> {
    let broken = rules.into_iter().filter(|(_, holds, _)| !holds);
    broken.map(|(field, _, rule)| (field, rule)).collect()
}

/// Returns the colour that is written as `#rrggbb`.
fn color(text: &str) -> Option<u32> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    // A sign in front would be read as well.
    let are_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    are_hex.then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests;
