//! A try: a draft runs on a copy of the state, before anybody else sees it.
//!
//! The copy is that of a replica. Turns that nobody decided are applied to it by the rules of the sim: the
//! author comes, publishes the draft, and puts it on a thing. Nothing of it leaves this module.

pub(crate) mod news;

use metatopia_sim::{Applied, ENGINE, Serial, World};
use metatopia_types::{
    Act, Blob, Build, Envelope, Header, HeaderId, Height, Lane, Look, Millis, ObjectId, Offer,
    Outcome, PackageId, PublicKey, Round, ScriptId, Seq, Signature, SignedEnvelope, Turn, TurnBody,
    limits::TICKS_PER_SECOND,
};
use serde::Deserialize;
use serde_json::Value;

use self::news::TrialNews;
pub use self::news::{HandlerGas, TRIAL_LINES_MAX, TrialEvent, TrialLine, TrialReport};
use crate::{
    CallError,
    core::units::variant,
    draft::{DraftFault, PageDraft},
};

/// The largest state of which a copy is made, in bytes. A tab has the state twice then, decoded, with its
/// leaves: a few times this number, which phones still have.
pub const TRIAL_BYTES_MAX: u64 = 32 * 1_024 * 1_024;

/// Turns that one call computes at most. One takes up to 16 ms of a native build, and a call of the largest
/// number three seconds in a tab; whoever wants to be interrupted asks for fewer.
pub const TRIAL_TURNS_MAX: u32 = 60;

/// Turns between two signs of life of the author, whose avatar would leave otherwise.
const HEARTBEAT_TURNS: u64 = 100;

/// What the page wants of a try.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum TrialCommand {
    /// Begins a try.
    Begin {
        /// The author's key.
        author: String,
        /// The author's name, for a sim that does not know her: a sketch.
        name: Option<String>,
        /// The thing that gets the script.
        object: ObjectId,
        /// The script that it takes the place of; none if it comes beside the others.
        script: Option<ScriptId>,
        draft: Box<PageDraft>,
    },
    /// Has the author touch the thing.
    Touch,
    /// Has the author say something.
    Say { text: String },
    /// Has the author reply to a form.
    Reply { object: ObjectId, tag: String, choice: u8, text: String },
    /// Has the author accept an offer or decline it.
    Answer { object: ObjectId, terms: Offer, accepts: bool },
}

/// A draft that runs on a copy of the state.
#[derive(Debug)]
pub struct ScriptTrial {
    world: World,
    author: PublicKey,
    lane: Lane,
    seq: u64,
    previous: HeaderId,
    news: TrialNews,
    /// Nothing runs any more: a rule refused the script, or its thing is gone.
    is_over: bool,
}

impl ScriptTrial {
    /// Begins a try on a copy of `world`. `task` is JSON: whose it is, on which thing, and the draft.
    ///
    /// # Errors
    /// When the state is too large, this program lacks a port of the sim, the task is malformed, the draft
    /// makes no package, or the author is not in the sim. What a rule refuses is no error, but is told as
    /// news.
    pub fn new(world: &World, task: &[u8]) -> Result<Self, CallError> {
        check_bytes(world.state_bytes())?;
        // A try may go on for as long as its author likes, and so come to any height.
        if let Some(missing) = world.missing_port_up_to(Height(u64::MAX)) {
            return Err(CallError::new("port", missing));
        }
        let TrialCommand::Begin { author, name, object, script, draft } = read(task)? else {
            return Err(CallError::input("a try begins with a task"));
        };
        let author: PublicKey = author.parse().map_err(CallError::input)?;
        let stranger = || CallError::new("NotLoggedIn", "the author is not in the sim");
        let known = world.player(&author).map(|player| (player.name.clone(), player.look));
        let (name, look) =
            known.or(name.map(|name| (name, Look::default()))).ok_or_else(stranger)?;
        let login = Act::login(name.clone(), look);
        let (package, blob) = draft.package(name, author).map_err(|fault| match fault {
            DraftFault::Name => CallError::new("BadName", "a key or parent is none"),
            DraftFault::Rule(why) => CallError::new("BadPackage", why),
            DraftFault::TooLong => CallError::new("TooLong", "the package is too long"),
        })?;
        let mut trial = Self {
            world: world.clone(),
            author,
            // Nobody has used that lane, or else its acts follow on those that were used.
            lane: Lane(u64::MAX),
            seq: 0,
            previous: HeaderId::BEFORE_FIRST,
            news: TrialNews::new(world, author, object),
            is_over: false,
        };
        let publish = Act::Publish { source: blob.id() };
        let came = trial.act("login", login, None) && trial.act("publish", publish, Some(blob));
        if came {
            trial.put(object, package, script);
        } else {
            trial.is_over = true;
        }
        Ok(trial)
    }

    /// Puts the package on the thing.
    fn put(&mut self, object: ObjectId, package: PackageId, script: Option<ScriptId>) {
        let (what, build) = match script {
            Some(script) => ("upgrade", Build::Upgrade { object, script, package }),
            None => ("attach", Build::Attach { object, package }),
        };
        self.news.await_script(&self.world, script, package);
        if !self.act(what, Act::Build(build), None) {
            self.is_over = true;
        }
    }

    /// Has the author do something in the copy: touch the thing, say something, or reply to a form. `deed`
    /// is JSON.
    ///
    /// # Errors
    /// When it is malformed. What a rule refuses is told as news.
    pub fn act_as_author(&mut self, deed: &[u8]) -> Result<(), CallError> {
        let deed = read(deed)?;
        if self.is_over {
            return Ok(());
        }
        match deed {
            TrialCommand::Begin { .. } => return Err(CallError::input("a try begins once")),
            TrialCommand::Touch => {
                let object = self.news.thing();
                self.act("touch", Act::Touch { object }, None);
            }
            TrialCommand::Say { text } => {
                let words = Blob(text.into_bytes());
                self.act("say", Act::Say { channel: 0, body: words.id() }, Some(words));
            }
            TrialCommand::Reply { object, tag, choice, text } => {
                self.act("reply", Act::Reply { object, tag, choice, text }, None);
            }
            TrialCommand::Answer { object, terms, accepts } => {
                self.act("answer", Act::Answer { object, terms, accepts }, None);
            }
        }
        Ok(())
    }

    /// Lets so many turns go by, [`TRIAL_TURNS_MAX`] at most, and returns what happened since the last call.
    pub fn run(&mut self, turns: u32) -> TrialReport {
        for _ in 0..turns.min(TRIAL_TURNS_MAX) {
            if self.is_over {
                break;
            }
            let is_due = self.world.height().0.is_multiple_of(HEARTBEAT_TURNS);
            let acts = if is_due { vec![self.sign(Act::Heartbeat)] } else { Vec::new() };
            self.play(acts, Vec::new());
        }
        self.news.report(&self.world, self.is_over)
    }

    /// Returns the copy as it is by now.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Has the author's act decided in a turn of its own. Says whether it was done.
    fn act(&mut self, what: &'static str, act: Act, blob: Option<Blob>) -> bool {
        let act = self.sign(act);
        let applied = self.play(vec![act], blob.into_iter().collect());
        match applied.outcomes.first() {
            Some(Outcome::Refused(why)) => {
                self.news.refused(&self.world, what, variant(why));
                false
            }
            _ => true,
        }
    }

    /// Returns an act of the author. Whoever applies turns leaves signatures to those who judged them.
    fn sign(&mut self, act: Act) -> SignedEnvelope {
        self.seq = self.seq.saturating_add(1);
        let (sim, last_valid) = (self.world.sim(), self.world.height().plus(1));
        let (author, lane, seq) = (self.author, self.lane, Seq(self.seq));
        let envelope = Envelope { sim, author, lane, seq, last_valid, act };
        SignedEnvelope { envelope, signature: Signature::from_bytes([0; 64]) }
    }

    /// Applies a turn of these acts, and takes down what came of it.
    #[inline(never)]
    fn play(&mut self, acts: Vec<SignedEnvelope>, blobs: Vec<Blob>) -> Applied {
        let height = self.world.height().plus(1);
        let header = self.header(height);
        let body = TurnBody::new(acts, blobs).expect("one act with a blob is a small turn");
        let turn = Turn::of(header, body);
        let applied = self.world.apply(&turn, &Serial);
        self.previous = turn.id();
        self.news.take(&self.world, &applied);
        self.is_over |= self.world.object(self.news.thing()).is_none();
        applied
    }

    /// Returns the header of a turn that nobody decided.
    fn header(&self, height: Height) -> Header {
        let set = self.world.validators(height).expect("a world knows the next set");
        let ticks = self.world.parameters().ticks_per_turn;
        let took = u64::from(ticks).saturating_mul(1_000) / TICKS_PER_SECOND;
        Header {
            sim: self.world.sim(),
            engine: ENGINE,
            height,
            previous: self.previous,
            proposer: set.proposer(height, Round(0)),
            time: Millis(self.world.time().0.saturating_add(took)),
            ..Header::unstated()
        }
    }
}

/// Reads what the page wants, by the way of the core's commands: a second one would be code for nothing.
fn read(command: &[u8]) -> Result<TrialCommand, CallError> {
    let command: Value = serde_json::from_slice(command).map_err(CallError::input)?;
    serde_json::from_value(command).map_err(CallError::input)
}

/// Refuses a state of which no copy is made.
fn check_bytes(bytes: u64) -> Result<(), CallError> {
    if bytes <= TRIAL_BYTES_MAX {
        return Ok(());
    }
    let text = format_args!("the state has {bytes} bytes, more than {TRIAL_BYTES_MAX}");
    Err(CallError::new("TooLarge", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_beyond_the_bound_is_not_copied() {
        assert_eq!(check_bytes(TRIAL_BYTES_MAX), Ok(()));
        let refused = check_bytes(TRIAL_BYTES_MAX + 1).expect_err("one byte too many");
        assert_eq!(refused.code, "TooLarge");
    }
}
