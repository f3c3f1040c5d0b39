//! Visitors of a rehearsal: who comes, where they go, and what they touch.

use std::collections::BTreeMap;

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_scripting::Value;
use metatopia_sim::{ShownForm, WorldObject, is_name};
use metatopia_types::{
    Act, AssetLicence, Blueprint, Build, Envelope, Form, Height, Lane, Look, Outline, OutlineParts,
    Permission, PublicKey, Seq, ShownOffer, Sign as _, SignedEnvelope, SigningKey, SimId,
    limits::TICKS_PER_SECOND,
};

use super::{RehearsalStage, StageFault, THING};

/// People who may come to one rehearsal.
const VISITORS_MAX: usize = 8;

/// Simulated seconds that one walk takes at most.
const WALK_SECONDS_MAX: u64 = 60;

/// Farthest coordinate of a place that a test names, in metres.
const COORDINATE_MAX: i32 = 1_000;

/// Things that a test is told of at once. Its state holds the answers.
const THINGS_MAX: usize = 16;

/// Somebody who came to a rehearsal.
pub(super) struct StageVisitor {
    name: String,
    key: PublicKey,
    seq: u64,
}

impl StageVisitor {
    /// Returns the visitor's next act.
    pub(super) fn envelope(&mut self, sim: SimId, last_valid: Height, act: Act) -> Envelope {
        self.seq = self.seq.saturating_add(1);
        Envelope { sim, author: self.key, lane: Lane(1), seq: Seq(self.seq), last_valid, act }
    }
}

impl RehearsalStage {
    /// Makes somebody of this name the one who acts. Who is not there yet comes.
    pub(super) fn visitor(&mut self, name: &str) -> Result<(), StageFault> {
        if let Some(place) = self.visitors.iter().position(|visitor| visitor.name == name) {
            self.acting = place;
            return Ok(());
        }
        if !is_name(name) {
            return Err(StageFault::Step(format!("{name:?} is no name")));
        }
        let number = self.visitors.len();
        if number >= VISITORS_MAX {
            let told = format!("at most {VISITORS_MAX} people come to a test");
            return Err(StageFault::Step(told));
        }
        let seed = u8::try_from(number).expect("a few visitors").saturating_add(2);
        let key = SigningKey::from_seed([seed; 32]).public();
        self.visitors.push(StageVisitor { name: name.to_owned(), key, seq: 0 });
        self.acting = number;
        self.act(Act::login(name.to_owned(), Look::default()), None)
    }

    /// Returns a sign of life of each visitor.
    pub(super) fn signs_of_life(&mut self) -> Vec<SignedEnvelope> {
        let acting = self.acting;
        let mut acts = Vec::new();
        for place in 0..self.visitors.len() {
            self.acting = place;
            acts.push(self.sign(Act::Heartbeat));
        }
        self.acting = acting;
        acts
    }

    /// Has who acts walk to a place, `"x y"` in metres.
    pub(super) fn walk(&mut self, place: &str) -> Result<(), StageFault> {
        let goal = point(place)?;
        let end = self.tick().plus(WALK_SECONDS_MAX * TICKS_PER_SECOND);
        while self.tick() < end {
            let way = goal.saturating_sub(self.whereabouts()?);
            // Avatars walk 0.2 m in a turn and slide a little when they stop.
            if way.length() < Fx::from_ratio(1, 4) {
                return self.act(Act::Walk { heading: Vec2::ZERO }, None);
            }
            self.act(Act::Walk { heading: way }, None)?;
        }
        self.act(Act::Walk { heading: Vec2::ZERO }, None)?;
        Err(StageFault::Step(format!(
            "the visitor does not get to {goal} in {WALK_SECONDS_MAX} seconds"
        )))
    }

    /// Has who acts put a ball, which can be pushed, at a place, `"x y"` in metres.
    pub(super) fn ball(&mut self, place: &str) -> Result<(), StageFault> {
        let ball = Blueprint {
            kind: "ball".to_owned(),
            name: "ball".to_owned(),
            text: String::new(),
            color: 0x00ff_ffff,
            outline: Outline::Disc { radius: Fx::from_ratio(1, 4) },
            movable: true,
            position: point(place)?,
            angle: Angle::ZERO,
            licence: AssetLicence::Cc0,
            parts: OutlineParts::default(),
        };
        self.act(Act::Build(Build::Place(ball)), None)
    }

    /// Has who acts touch the oldest thing of a name.
    pub(super) fn touch_thing(&mut self, name: &str) -> Result<(), StageFault> {
        let found = self.others().find(|thing| thing.name == name).map(|thing| thing.id);
        let none = || StageFault::Step(format!("there is no thing called {name:?}"));
        let object = found.ok_or_else(none)?;
        self.act(Act::Touch { object }, None)
    }

    /// Has who acts reply to the form that they were shown last, with `"choice text"`.
    pub(super) fn reply(&mut self, with: &str) -> Result<(), StageFault> {
        let visitor = self.visitors.get(self.acting).expect("somebody acts");
        let nothing = || StageFault::Step(format!("nothing has asked {} anything", visitor.name));
        let shown = self.open.get(&visitor.key).ok_or_else(nothing)?;
        if shown.form.offer.is_some() {
            return Err(StageFault::Step("that is an offer: accept or decline it".to_owned()));
        }
        let (choice, text) = with.split_once(' ').unwrap_or((with, ""));
        // A form without choices is answered with the first.
        let count = shown.form.choices.len().max(1);
        let number = choice.parse::<u8>().ok().filter(|number| usize::from(*number) < count);
        let none = || StageFault::Step(format!("a choice is 0 to {}, not {choice}", count - 1));
        let (object, tag) = (shown.object, shown.form.tag.clone());
        let (choice, text) = (number.ok_or_else(none)?, text.to_owned());
        self.act(Act::Reply { object, tag, choice, text }, None)
    }

    /// Has who acts accept the offer that they were shown last, or decline it.
    pub(super) fn agree(&mut self, accepts: bool) -> Result<(), StageFault> {
        let visitor = self.visitors.get(self.acting).expect("somebody acts");
        let nothing = || StageFault::Step(format!("nothing has offered {} anything", visitor.name));
        let shown = self.open.get(&visitor.key).ok_or_else(nothing)?;
        let terms = shown.form.offer.as_ref().ok_or_else(nothing)?.terms.clone();
        self.act(Act::Answer { object: shown.object, terms, accepts }, None)
    }

    /// Returns the forms that were shown since the last deed.
    pub(super) fn asked(&self) -> Value {
        let told = |shown: &ShownForm| {
            let to = self.visitors.iter().find(|visitor| visitor.key == shown.player);
            let to = to.map_or(Value::Unit, |visitor| Value::Text(visitor.name.clone()));
            let Form { tag, title, text, choices, field, offer } = shown.form.clone();
            let choices = choices.into_iter().map(Value::Text).collect();
            let mut fields = vec![
                ("to", to),
                ("tag", Value::Text(tag)),
                ("title", Value::Text(title)),
                ("text", Value::Text(text)),
                ("choices", Value::Array(choices)),
                ("field", field.map_or(Value::Unit, Value::Text)),
            ];
            fields.extend(offer.iter().flat_map(|offer| offered(offer)));
            Value::Map(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
        };
        Value::Array(self.asked.iter().map(told).collect())
    }

    /// Returns how many things of a name there are, besides the one with the script.
    pub(super) fn count(&self, name: &str) -> Value {
        let count = self.others().filter(|thing| thing.name == name).count();
        Value::Int(i64::try_from(count).expect("a world of few things"))
    }

    /// Returns what people see of the things besides the one with the script, oldest first.
    pub(super) fn things(&self) -> Value {
        let shown = |thing: WorldObject| {
            let fields = [
                ("name", Value::Text(thing.name)),
                ("kind", Value::Text(thing.kind)),
                ("text", Value::Text(thing.text)),
                ("color", Value::Int(thing.look.color.into())),
                ("pos", Value::Vec2(thing.position)),
            ];
            let fields = fields.map(|(name, value)| (name.to_owned(), value));
            Value::Map(BTreeMap::from(fields))
        };
        Value::Array(self.others().take(THINGS_MAX).map(shown).collect())
    }

    /// Returns all things besides the one with the script.
    fn others(&self) -> impl Iterator<Item = WorldObject> {
        let is_other = |thing: &WorldObject| thing.id != THING && thing.kind != "avatar";
        self.world.objects().filter(is_other)
    }

    /// Returns where the avatar of who acts is.
    fn whereabouts(&self) -> Result<Vec2, StageFault> {
        let key = self.visitors.get(self.acting).expect("somebody acts").key;
        let avatar = self.world.avatar(&key).and_then(|avatar| self.world.object(avatar));
        let avatar = avatar.ok_or_else(|| StageFault::Step("the visitor has left".to_owned()));
        Ok(avatar?.position)
    }
}

/// Returns what an offer says, as a test is told.
fn offered(offer: &ShownOffer) -> [(&'static str, Value); 3] {
    let ShownOffer { terms, given, taken } = offer;
    let words = Permission::ALL.iter().filter(|(_, asked)| terms.allow.contains(asked));
    let allow = words.map(|(word, _)| Value::Text((*word).to_owned())).collect();
    let (given, taken) = (Value::Text(given.clone()), Value::Text(taken.clone()));
    [("give", given), ("take", taken), ("allow", Value::Array(allow))]
}

/// Reads a place, `"x y"` in metres.
fn point(place: &str) -> Result<Vec2, StageFault> {
    let (x, y) = place.split_once(' ').unwrap_or((place, ""));
    let number = |text: &str| {
        Fx::parse(text).map_err(|error| StageFault::Step(format!("{text:?}: {error}")))
    };
    let point = Vec2::new(number(x)?, number(y)?);
    if point.x.saturating_abs().max(point.y.saturating_abs()) > Fx::from_int(COORDINATE_MAX) {
        let told = format!("a place has coordinates of at most {COORDINATE_MAX} m");
        return Err(StageFault::Step(told));
    }
    Ok(point)
}
