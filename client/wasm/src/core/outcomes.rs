//! Acts under way until it is known what became of them: over connections, and over servers.
//!
//! The session sends an act until its receipt was verified. What came of it then is the word of a
//! server, which is asked for if nobody says it.

use std::{collections::BTreeMap, time::Duration};

use metatopia_client::{Session, SubmitError};
use metatopia_protocol::{Answer, Question, SubmitRefusal};
use metatopia_types::{ActId, Height, Outcome, Refusal, Seq};
use serde::Serialize;
use serde_json::{Value, json};

use super::{ClientCore, deeds::Deed, units::variant};

/// What became of an act is asked for if it is not told within this time.
const ASK: Duration = Duration::from_secs(2);

/// An act that no turn took this long after its last height is lost.
const LATE_HEIGHTS: u64 = 40;

/// What became of an act in a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct SettledAct {
    act: String,
    /// The height of the turn.
    pub(super) height: u64,
    pub(super) ok: bool,
    /// The rule that refused it.
    pub(super) refusal: Option<String>,
    /// The object that it made.
    made: Option<u64>,
}

impl SettledAct {
    fn of(act: ActId, height: Height, outcome: Outcome) -> Self {
        let (refusal, made) = match outcome {
            Outcome::Ok => (None, None),
            Outcome::Refused(why) => (Some(rule(why)), None),
            Outcome::Made(id) => (None, Some(id.0)),
        };
        Self { act: act.to_string(), height: height.0, ok: refusal.is_none(), refusal, made }
    }
}

/// Returns how the page calls a rule: by its name, and the number of what it says how long it lasts. Rules about
/// borders have names of their own.
pub(super) fn rule(why: Refusal) -> String {
    match why {
        Refusal::SlowMode(left) | Refusal::QuietHours(left) | Refusal::BeaconsWait(left) => {
            format!("{} {left}", variant(&why))
        }
        Refusal::BadBorder(why) => format!("Border{why:?}"),
        why => variant(&why),
    }
}

/// Why an act will not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ActFailure {
    pub(super) code: String,
    pub(super) detail: Value,
}

impl ActFailure {
    pub(super) fn new(code: &str) -> Self {
        Self { code: code.to_owned(), detail: Value::Null }
    }
}

impl From<SubmitRefusal> for ActFailure {
    fn from(why: SubmitRefusal) -> Self {
        let detail = match why {
            SubmitRefusal::OtherSim(sim) => json!(sim.to_string()),
            SubmitRefusal::TooLong(bytes) => json!(bytes),
            SubmitRefusal::Expired { last_valid, height }
            | SubmitRefusal::TooFarAhead { last_valid, height } => {
                json!({ "last_valid": last_valid.0, "height": height.0 })
            }
            SubmitRefusal::Replayed(seq) => json!(seq),
            SubmitRefusal::UnknownAct(number) => json!(number),
            _ => Value::Null,
        };
        Self { code: variant(&why), detail }
    }
}

/// What came of an act: a result from a turn, or none ever.
pub(super) type ActEnd = Result<SettledAct, ActFailure>;

/// An act that is signed, or waits for that.
#[derive(Debug)]
struct ActUnderWay {
    deed: Deed,
    act: Option<ActId>,
    last_valid: Option<Height>,
    /// It is in a turn, for certain.
    placed: bool,
    /// A server refuses it as old: it was decided before, or never will be.
    refused: Option<SubmitRefusal>,
    ask_at: Option<Duration>,
    /// The question about it that is under way.
    asked: Option<u32>,
}

/// All acts under way.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    acts: BTreeMap<Seq, ActUnderWay>,
    places: BTreeMap<ActId, Seq>,
}

impl Outcomes {
    pub(super) fn len(&self) -> usize {
        self.acts.len()
    }

    /// Notes that the act at this place is signed.
    pub(super) fn signed(&mut self, seq: Seq, act: ActId, session: &Session) {
        if let Some(under) = self.acts.get_mut(&seq) {
            (under.act, under.last_valid) = (Some(act), session.last_valid(&act));
            self.places.insert(act, seq);
        }
    }

    /// Notes that the act is in a turn.
    pub(super) fn receipted(&mut self, act: ActId, now: Duration) {
        if let Some(under) = self.find(act) {
            under.placed = true;
            under.ask_at = Some(now.saturating_add(ASK));
        }
    }

    /// Questions of the last connection are not answered any more.
    pub(super) fn disconnected(&mut self) {
        self.acts.values_mut().for_each(|under| under.asked = None);
    }

    fn find(&mut self, act: ActId) -> Option<&mut ActUnderWay> {
        self.acts.get_mut(self.places.get(&act)?)
    }

    fn remove(&mut self, seq: Seq) -> Option<ActUnderWay> {
        let under = self.acts.remove(&seq)?;
        if let Some(act) = under.act {
            self.places.remove(&act);
        }
        Some(under)
    }
}

impl ClientCore {
    /// Submits what somebody does. Gives its place in the lane, unless it ended at once.
    pub(super) fn submit(&mut self, deed: Deed) -> Option<Seq> {
        self.deeds.lives(self.now);
        let submitted = self.session.submit(self.now, deed.act.clone(), deed.blobs.clone());
        let seq = match submitted {
            Ok(seq) => seq,
            Err(error) => {
                let code = match error {
                    SubmitError::TooManyPending => "TooManyPending",
                    SubmitError::NeverOpen => "NeverOpen",
                };
                self.ended(None, deed, Err(ActFailure::new(code)));
                return None;
            }
        };
        let under = ActUnderWay {
            deed,
            act: None,
            last_valid: None,
            placed: false,
            refused: None,
            ask_at: None,
            asked: None,
        };
        self.outcomes.acts.insert(seq, under);
        if let Some(act) = self.session.act_at(seq) {
            self.outcomes.signed(seq, act, &self.session);
        }
        Some(seq)
    }

    /// Notes what a server says became of an act.
    pub(super) fn ruled(&mut self, act: ActId, height: Height, outcome: Outcome) {
        let Some(seq) = self.outcomes.places.get(&act).copied() else {
            return;
        };
        let under = self.outcomes.remove(seq).expect("each act with an id has its place");
        // The session goes on until it has the receipt.
        let result = SettledAct::of(act, height, outcome);
        self.tell(&json!({ "type": "outcome", "result": result }));
        self.ended(Some(seq), under.deed, Ok(result));
    }

    /// A server will not take an act.
    pub(super) fn refused(&mut self, act: ActId, why: SubmitRefusal) {
        let Some(under) = self.outcomes.find(act).filter(|under| !under.placed) else {
            return;
        };
        match why {
            // It may be in a turn whose receipt got lost with a connection.
            SubmitRefusal::Replayed(_) | SubmitRefusal::Expired { .. } => {
                (under.refused, under.ask_at) = (Some(why), Some(Duration::ZERO));
            }
            _ => self.give_up(act, why.into()),
        }
    }

    fn give_up(&mut self, act: ActId, why: ActFailure) {
        self.session.give_up(&act);
        let seq = self.outcomes.places.get(&act).copied();
        if let Some((seq, under)) = seq.and_then(|seq| Some((seq, self.outcomes.remove(seq)?))) {
            self.ended(Some(seq), under.deed, Err(why));
        }
    }

    /// Asks about acts of which nothing was heard for too long.
    pub(super) fn tick_outcomes(&mut self) {
        if !self.session.is_open() {
            return;
        }
        let (now, certain) = (self.now, self.session.certain());
        let (author, lane) = (self.key, self.session.lane());
        for (seq, under) in &mut self.outcomes.acts {
            let is_lost = under.last_valid.is_some_and(|last| last.plus(LATE_HEIGHTS) < certain);
            let due = match under.ask_at {
                Some(at) => at <= now,
                None => is_lost,
            };
            if due && under.asked.is_none() {
                under.asked = self.session.ask(Question::Receipt { author, lane, seq: *seq });
                under.ask_at = Some(now.saturating_add(ASK));
            }
        }
    }

    /// Handles the answer to a question about an act. Returns whether it was one.
    pub(super) fn outcome_answered(&mut self, id: u32, answer: &Answer) -> bool {
        let mut acts = self.outcomes.acts.iter_mut();
        let Some((_, under)) = acts.find(|(_, under)| under.asked == Some(id)) else {
            return false;
        };
        under.asked = None;
        let Some(act) = under.act else {
            return true;
        };
        let certain = self.session.certain();
        let is_lost = under.last_valid.is_some_and(|last| last.plus(LATE_HEIGHTS) < certain);
        match answer {
            // One by servers that are not known yet is asked for again.
            Answer::Receipt(found)
                if found.act.id() == act
                    && self.session.light().receipt(&found.act, &found.receipt).is_ok() =>
            {
                (under.placed, under.refused) = (true, None);
                self.session.give_up(&act);
                if let Some(outcome) = found.outcome {
                    self.ruled(act, found.receipt.header.height, outcome);
                }
            }
            Answer::Unknown if !under.placed && (under.refused.is_some() || is_lost) => {
                let why = under.refused.map_or_else(|| ActFailure::new("Expired"), Into::into);
                self.give_up(act, why);
            }
            _ => {}
        }
        true
    }
}
