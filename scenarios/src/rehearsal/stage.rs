//! The sim of a rehearsal: one thing with the script, what it spawns, and visitors beside it.

mod visitor;

use std::{collections::BTreeMap, sync::Arc};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_scripting::{ImportTree, Package, ScriptState, Value};
use metatopia_sim::{
    Applied, ENGINE, Genesis, GenesisError, ObjectSpec, ScriptFailure, ScriptSpec, Serial,
    ShownForm, Tools, World, is_line,
};
use metatopia_types::{
    Act, AssetLicence, Blob, Ed25519, Header, HeaderId, Look, Millis, NodeContact, ObjectId,
    Outcome, PublicKey, Round, Sign as _, Signature, SignedEnvelope, SigningKey, Tick, Turn,
    TurnBody,
    limits::{CHAT_BYTES_MAX, TICKS_PER_SECOND},
};

use self::visitor::StageVisitor;
use crate::KnownPackages;

/// Simulated seconds that one test may wait in all: a bit more than an hour. A turn of this sim takes some
/// 30 microseconds of a release build, so all of them take 2.5 seconds.
pub const REHEARSAL_SECONDS_MAX: i32 = 4_000;

/// Turns between two signs of life of the visitors, whose avatars would leave otherwise.
const HEARTBEAT_TURNS: u64 = 100;

/// The time of the first turn, in milliseconds.
const BEGINNING: u64 = 1_700_000_000_000;

/// The thing that has the script.
const THING: ObjectId = ObjectId(1);

/// Why a question is not answered.
#[derive(Debug)]
pub(super) enum StageFault {
    /// The question is none, or a rule of the sim refuses what it asks for.
    Step(String),
    /// The script failed.
    Script(Box<ScriptFailure>),
}

/// A running rehearsal.
pub(super) struct RehearsalStage {
    world: World,
    visitors: Vec<StageVisitor>,
    /// The place in that list of who does what a test asks for.
    acting: usize,
    previous: HeaderId,
    /// Ticks that were waited.
    waited: u64,
    /// What things said since the last deed.
    said: Vec<Value>,
    /// The sounds that things made since the last deed.
    sounds: Vec<Value>,
    /// The forms that the script showed since the last deed.
    asked: Vec<ShownForm>,
    /// The last form that each visitor was shown.
    open: BTreeMap<PublicKey, ShownForm>,
    /// What the script logged since the last deed.
    logged: Vec<Value>,
}

impl RehearsalStage {
    /// Founds the sim.
    pub(super) fn new(package: &Package, known: &KnownPackages) -> Result<Self, GenesisError> {
        let server = SigningKey::from_seed([1; 32]).public();
        let tree = ImportTree::find(&package.manifest().imports, &|id| known.get(id));
        // What is missing is told by the sim, which compiles the package.
        let tree = tree.unwrap_or_default();
        let imported = tree.packages();
        let mut genesis = Genesis {
            name: "rehearsal".to_owned(),
            admins: [server].into(),
            validators: [(server, NodeContact::default())].into(),
            packages: imported.chain([package]).map(|each| (each.id(), each.encode())).collect(),
            objects: vec![thing(package)],
            licence: "AGPL-3.0-or-later".to_owned(),
            asset_licence: "CC0-1.0".to_owned(),
            ..Genesis::empty()
        };
        // Visitors appear within reach of the thing.
        genesis.parameters.avatar.spawn = Vec2::new(Fx::ZERO, Fx::from_int(-2));
        genesis.parameters.avatar.spawn_radius = Fx::ZERO;
        Ok(Self {
            world: World::genesis(&genesis, &Tools::new(Arc::new(Ed25519)))?,
            visitors: Vec::new(),
            acting: 0,
            previous: HeaderId::BEFORE_FIRST,
            waited: 0,
            said: Vec::new(),
            sounds: Vec::new(),
            asked: Vec::new(),
            open: BTreeMap::new(),
            logged: Vec::new(),
        })
    }

    /// Returns the last tick.
    pub(super) fn tick(&self) -> Tick {
        self.world.tick()
    }

    /// Lets the script start, and the first visitor come.
    pub(super) fn begin(&mut self) -> Result<(), StageFault> {
        self.visitor("Ada")
    }

    /// Does what a test asks for. Returns the answer.
    pub(super) fn answer(&mut self, asked: &str) -> Result<Value, StageFault> {
        let (what, with) = asked.split_once(' ').unwrap_or((asked, ""));
        match what {
            "said" => return Ok(Value::Array(self.said.clone())),
            "sounds" => return Ok(Value::Array(self.sounds.clone())),
            "asked" => return Ok(self.asked()),
            "logged" => return Ok(Value::Array(self.logged.clone())),
            "shown" | "color" | "position" => return self.seen(what),
            "kept" => return Ok(self.kept(with)),
            "things" => return Ok(self.things()),
            "count" => return Ok(self.count(with)),
            _ => {}
        }
        self.said.clear();
        self.sounds.clear();
        self.asked.clear();
        self.logged.clear();
        match what {
            "accept" => self.agree(true)?,
            "decline" => self.agree(false)?,
            "touch" => self.act(Act::Touch { object: THING }, None)?,
            "touch_thing" => self.touch_thing(with)?,
            "ball" => self.ball(with)?,
            "walk" => self.walk(with)?,
            "visitor" => self.visitor(with)?,
            "chat" => self.chat(with)?,
            "wait" => self.wait(with)?,
            "reply" => self.reply(with)?,
            _ => return Err(StageFault::Step(format!("nobody can answer {what:?}"))),
        }
        Ok(Value::Bool(true))
    }

    /// Returns what people see of the thing.
    fn seen(&self, what: &str) -> Result<Value, StageFault> {
        let thing = self.world.object(THING);
        let thing = thing.ok_or_else(|| StageFault::Step("the thing is gone".to_owned()))?;
        Ok(match what {
            "shown" => Value::Text(thing.text),
            "color" => Value::Int(thing.look.color.into()),
            _ => Value::Vec2(thing.position),
        })
    }

    /// Returns a variable of the script's state.
    fn kept(&self, name: &str) -> Value {
        let specs = self.world.specs();
        let state = specs.iter().find(|(id, _)| *id == THING);
        let state = state.and_then(|(_, thing)| thing.scripts.first());
        state.and_then(|script| script.state.0.get(name).cloned()).unwrap_or_default()
    }

    fn chat(&mut self, text: &str) -> Result<(), StageFault> {
        if text.is_empty() || text.len() > CHAT_BYTES_MAX || !is_line(text) {
            let why = format!("people say one line of 1 to {CHAT_BYTES_MAX} bytes at once");
            return Err(StageFault::Step(why));
        }
        let words = Blob(text.as_bytes().to_vec());
        self.act(Act::Say { channel: 0, body: words.id() }, Some(words))
    }

    fn wait(&mut self, seconds: &str) -> Result<(), StageFault> {
        let step = |why: String| StageFault::Step(why);
        let seconds = Fx::parse(seconds).map_err(|error| step(error.to_string()))?;
        if seconds < Fx::ZERO || seconds > Fx::from_int(REHEARSAL_SECONDS_MAX) {
            return Err(step(format!(
                "a wait takes 0 to {REHEARSAL_SECONDS_MAX} seconds, not {seconds}"
            )));
        }
        let rate = Fx::from_int(i32::try_from(TICKS_PER_SECOND).expect("60 is a number"));
        let ticks = u64::try_from(seconds.saturating_mul(rate).ceil_int()).unwrap_or_default();
        self.waited = self.waited.saturating_add(ticks);
        if self.waited
            > TICKS_PER_SECOND.saturating_mul(REHEARSAL_SECONDS_MAX.unsigned_abs().into())
        {
            return Err(step(format!(
                "a test waits at most {REHEARSAL_SECONDS_MAX} seconds in all"
            )));
        }
        let end = self.tick().plus(ticks);
        while self.tick() < end {
            self.play(Vec::new(), Vec::new())?;
        }
        Ok(())
    }

    /// Has one act decided, and waits a turn for what scripts answer.
    fn act(&mut self, act: Act, words: Option<Blob>) -> Result<(), StageFault> {
        let act = self.sign(act);
        let applied = self.play(vec![act], words.into_iter().collect())?;
        match applied.outcomes.first() {
            Some(Outcome::Refused(why)) => Err(StageFault::Step(format!("refused: {why}"))),
            // What a script sends or says comes a tick later, which may be in the next turn.
            _ => self.play(Vec::new(), Vec::new()).map(drop),
        }
    }

    /// Returns the next act of who acts. Whoever applies turns leaves signatures to those who judged them.
    fn sign(&mut self, act: Act) -> SignedEnvelope {
        let (sim, last_valid) = (self.world.sim(), self.world.height().plus(1));
        let visitor = self.visitors.get_mut(self.acting).expect("somebody acts");
        let envelope = visitor.envelope(sim, last_valid, act);
        SignedEnvelope { envelope, signature: Signature::from_bytes([0; 64]) }
    }

    /// Applies a turn of these acts.
    fn play(
        &mut self,
        mut acts: Vec<SignedEnvelope>,
        blobs: Vec<Blob>,
    ) -> Result<Applied, StageFault> {
        if self.world.height().0.is_multiple_of(HEARTBEAT_TURNS) {
            acts.extend(self.signs_of_life());
        }
        let height = self.world.height().plus(1);
        let set = self.world.validators(height).expect("a world knows the next set");
        let header = Header {
            sim: self.world.sim(),
            engine: ENGINE,
            height,
            previous: self.previous,
            proposer: set.proposer(height, Round(0)),
            time: Millis(BEGINNING.saturating_add(height.0.saturating_mul(50))),
            ..Header::unstated()
        };
        let body = TurnBody::new(acts, blobs).expect("one act is a small turn");
        let turn = Turn::of(header, body);
        let applied = self.world.apply(&turn, &Serial);
        self.previous = turn.id();
        // People say what the test has them say.
        let lines = applied.chat.iter().filter(|line| line.player.is_none());
        self.said.extend(lines.map(|line| Value::Text(line.text.clone())));
        self.sounds.extend(applied.sounds.iter().map(|made| {
            match (made.sound.name(), made.pitch) {
                (name, 0) => Value::Text(name.to_owned()),
                (name, pitch) => Value::Text(format!("{name} {pitch}")),
            }
        }));
        self.open.extend(applied.forms.iter().map(|shown| (shown.player, shown.clone())));
        self.asked.extend(applied.forms.iter().cloned());
        self.logged.extend(applied.log.iter().map(|line| Value::Text(line.text.clone())));
        match applied.failures.first() {
            Some(failure) => Err(StageFault::Script(Box::new(failure.clone()))),
            None => Ok(applied),
        }
    }
}

/// Returns the thing: a box of one metre at the origin, which moves only as its script says.
fn thing(package: &Package) -> ObjectSpec {
    let square = Shape::Rect { half: Vec2::new(Fx::HALF, Fx::HALF) };
    ObjectSpec {
        kind: "thing".to_owned(),
        name: "thing".to_owned(),
        owner: None,
        look: Look::default(),
        text: String::new(),
        body: BodySpec::new(square, Motion::Kinematic, Vec2::ZERO),
        scripts: vec![ScriptSpec { package: package.id(), state: ScriptState(BTreeMap::new()) }],
        licence: AssetLicence::Cc0,
        spawner: None,
        seat: None,
    }
}
