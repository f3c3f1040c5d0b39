//! What is known about the truth of what is in sight: proven, waiting with a reason, or wrong.

use std::time::Duration;

use metatopia_client::{Distrust, ProvenSight, TRUSTING_PERIOD, UnprovenSight};
use metatopia_types::Millis;
use serde::Serialize;
use serde_json::json;

use super::{ClientCore, setup::CORE_CHECKPOINT_AGAIN};

/// Without a proof for so long, green turns amber.
const LATE: Duration = Duration::from_secs(4);

/// A header that is older than this is not of now: clocks of honest computers differ by less.
const OLD: Duration = Duration::from_secs(60);

/// The first proof is waited for.
const WAITING: &str = "waiting";

/// Nobody is spoken with.
const NOT_CONNECTED: &str = "not-connected";

/// How far what is seen can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ProofLevel {
    /// All of it is proven.
    Green,
    /// Not at this moment, and nobody lied.
    #[default]
    Amber,
    /// The server lied.
    Red,
}

/// What the badge says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct BadgeState {
    level: ProofLevel,
    /// The height whose state is proven.
    of: Option<u64>,
    /// The time of the header that states it, in milliseconds since 1970.
    time: Option<u64>,
    /// So many signed, of so many.
    signed: usize,
    members: u32,
    reason: Option<&'static str>,
    detail: Option<String>,
}

/// The badge, and what the page knows of it.
#[derive(Debug)]
pub(super) struct ProofBadge {
    state: BadgeState,
    told: Option<BadgeState>,
    proven_at: Duration,
}

impl Default for ProofBadge {
    fn default() -> Self {
        let state = BadgeState { reason: Some(WAITING), ..BadgeState::default() };
        Self { state, told: None, proven_at: Duration::ZERO }
    }
}

impl ProofBadge {
    /// Notes that another server is spoken with. What the last server did says nothing about this one.
    pub(super) fn moved(&mut self, now: Duration) {
        self.proven_at = now;
        if self.state.level == ProofLevel::Red || self.state.reason == Some(NOT_CONNECTED) {
            self.amber(WAITING, None);
        }
    }

    fn amber(&mut self, reason: &'static str, detail: Option<String>) {
        let state = &mut self.state;
        (state.level, state.reason, state.detail) = (ProofLevel::Amber, Some(reason), detail);
    }

    /// Notes that something was not proved, and that nobody is to blame.
    pub(super) fn unproven(&mut self, why: &UnprovenSight) {
        let reason = match why {
            UnprovenSight::Unasked | UnprovenSight::NoneYet => WAITING,
            UnprovenSight::Late { .. } => "late",
            UnprovenSight::Lagging { .. } => "missing",
            UnprovenSight::Forgotten(_) => "forgotten",
            UnprovenSight::Anew => "anew",
        };
        if self.state.level == ProofLevel::Amber {
            self.amber(reason, Some(why.to_string()));
        }
    }

    /// The server lied. Wrong once is wrong, until another server is spoken with.
    pub(super) fn lied(&mut self, why: &Distrust) {
        if self.state.level == ProofLevel::Red {
            return;
        }
        let reason = match why {
            Distrust::View(_) => "view",
            Distrust::Shown(_) => "proof",
            Distrust::OtherValidators(_)
            | Distrust::BadSet(..)
            | Distrust::OtherSet(_)
            | Distrust::NotNewer(_) => "validators",
            Distrust::OtherSim(_)
            | Distrust::SecondChallenge
            | Distrust::TooOld(_)
            | Distrust::Behind(_)
            | Distrust::OtherHeader(_)
            | Distrust::Certificate(_)
            | Distrust::Receipt(_)
            | Distrust::State(_)
            | Distrust::OtherHeight { .. }
            | Distrust::NotOutcomes
            | Distrust::NotOrders(_)
            | Distrust::NotCharter
            | Distrust::NotProfiles
            | Distrust::Land(_)
            | Distrust::OtherGround { .. } => "header",
        };
        let state = &mut self.state;
        state.level = ProofLevel::Red;
        (state.reason, state.detail) = (Some(reason), Some(why.to_string()));
    }

    /// Turns the badge green, because what was in sight is proved, or amber if some tiles are late.
    fn proven(&mut self, now: Duration, proven: &ProvenSight, late: &[String]) {
        self.proven_at = now;
        if self.state.level == ProofLevel::Red {
            return;
        }
        if proven.tiles.is_empty() {
            let text = format!("none of {} tiles in sight is proved", proven.lagging.len());
            return self.amber("missing", Some(text));
        }
        let state = &mut self.state;
        (state.of, state.time) = (Some(proven.of.0), Some(proven.header.time.0));
        (state.signed, state.members) = (proven.signers.len(), proven.members);
        (state.level, state.reason, state.detail) = (ProofLevel::Green, None, None);
        if !late.is_empty() {
            self.amber("missing", Some(format!("tile {}", late.join(" "))));
        }
    }

    /// Turns a green badge amber if the session is closed or proofs stay away for too long.
    pub(super) fn tick(&mut self, now: Duration, open: bool) {
        if self.state.level != ProofLevel::Green {
            return;
        }
        if !open {
            self.amber(NOT_CONNECTED, None);
        } else if now.saturating_sub(self.proven_at) > LATE {
            self.amber("late", None);
        }
    }

    /// Returns what the badge says at this time, if that is news: green is only what is of now.
    fn news(&mut self, wall: Millis, untrusted: Option<Duration>) -> Option<BadgeState> {
        let mut state = self.state.clone();
        let age = state.time.map(|time| Duration::from_millis(wall.since(Millis(time))));
        // Beyond a minute the age is told by the minute, or it would be news each second.
        let aged = |age: Duration| Some(age.as_secs().to_string());
        let doubt = match (untrusted, age) {
            (Some(age), _) => Some(("untrusted-age", aged(minutes(age)))),
            (None, Some(age)) if age > OLD => Some(("old", aged(minutes(age)))),
            _ => None,
        };
        let doubted = match state.level {
            ProofLevel::Green => true,
            ProofLevel::Amber => untrusted.is_some(),
            ProofLevel::Red => false,
        };
        if let Some((reason, detail)) = doubt.filter(|_| doubted) {
            (state.level, state.reason, state.detail) = (ProofLevel::Amber, Some(reason), detail);
        }
        if self.told.as_ref() == Some(&state) {
            return None;
        }
        self.told = Some(state.clone());
        Some(state)
    }
}

fn minutes(age: Duration) -> Duration {
    Duration::from_secs(age.as_secs() / 60 * 60)
}

impl ClientCore {
    /// Tells the page that what was in sight is proved.
    pub(super) fn proven(&mut self, proven: &ProvenSight) {
        let late = self.session.late_tiles().map(|tile| format!("{},{}", tile.x, tile.y));
        let late: Vec<String> = late.collect();
        self.badge.proven(self.now, proven, &late);
        let header = &proven.header;
        let signers: Vec<String> = proven.signers.iter().map(ToString::to_string).collect();
        self.tell(&json!({
            "type": "header", "height": header.height.0, "time": header.time.0,
            "proposer": header.proposer.to_string(), "round": header.round.0,
            "signers": signers, "verified": true,
        }));
    }

    pub(super) fn tell_badge(&mut self) {
        let untrusted = self.session.trust_age();
        if let Some(state) = self.badge.news(self.wall, untrusted) {
            let mut event = json!(state);
            event["type"] = "proof".into();
            self.tell(&event);
        }
    }

    /// Tells who votes, what may be remembered of that, and whether what is believed is too old.
    pub(super) fn tell_trust(&mut self) {
        let newest = self.session.light().newest();
        let changed = newest != self.told_set;
        if changed {
            self.told_set = newest;
            let members = self.members();
            self.tell(&json!({ "type": "members", "members": members }));
        }
        match self.session.trust_age() {
            Some(age) if !self.asked_age => {
                self.asked_age = true;
                debug_assert!(age > TRUSTING_PERIOD);
                self.tell(&json!({ "type": "age", "seconds": age.as_secs() }));
            }
            Some(_) => {}
            None => self.asked_age = false,
        }
        let due = self.checkpoint_at.is_none_or(|at| self.now >= at) || changed;
        if let Some(checkpoint) = self.session.checkpoint().filter(|_| due) {
            self.checkpoint_at = Some(self.now.saturating_add(CORE_CHECKPOINT_AGAIN));
            self.tell(&json!({ "type": "checkpoint", "text": checkpoint.to_string() }));
        }
    }
}
