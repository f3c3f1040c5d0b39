//! Join retry: which servers a follower asks again to let it in, and when.
//!
//! Each server lets a follower in by itself. A server has not done so if it was down when the follower
//! joined, if it joined the sim later, or if it lost its list. Only a connection shows that a server
//! lets the follower in. So the follower asks every server that it is not connected with, by the invite
//! that it joined with. It asks until they are connected, or until the server refuses for good. A
//! server does not count a follower a second time.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
    time::Duration,
};

use metatopia_protocol::{EndpointAnnouncement, JoinRefusal, SignedAnnouncement};
use metatopia_types::{Millis, PublicKey};

/// The shortest and the longest pause between two requests to one server. Each pause is twice as long
/// as the one before. A new announcement of the server is a sign of life: the pause is the shortest
/// again.
pub const JOIN_RETRY_PAUSES: RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_secs(300);

/// A server that a follower asks to let it in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinTarget {
    /// A server, at the address that it announces.
    Server(Box<EndpointAnnouncement>),
    /// The server at an address of the invite.
    Address(String),
}

/// The name of a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TargetId {
    Server(PublicKey),
    Address(String),
}

/// The requests to one target.
#[derive(Clone, Debug)]
struct TargetState {
    target: JoinTarget,
    due: Duration,
    pause: Duration,
    /// The server that answered last, and its answer.
    answer: Option<(PublicKey, Result<(), JoinRefusal>)>,
}

/// The targets of one follower. The driver polls it every second; one request is under way at a time.
#[derive(Debug)]
pub struct JoinRetry {
    targets: BTreeMap<TargetId, TargetState>,
    missed: BTreeSet<PublicKey>,
    under_way: Option<TargetId>,
}

impl TargetState {
    fn new(target: JoinTarget, now: Duration) -> Self {
        let pause = *JOIN_RETRY_PAUSES.start();
        Self { target, due: now.saturating_add(pause), pause, answer: None }
    }

    /// Returns the refusal that holds for ever for this invite, if there is one. A full server may have
    /// room later, and an issuer may become an admin or a server later.
    fn refusal(&self) -> Option<(PublicKey, JoinRefusal)> {
        match self.answer {
            Some((server, Err(why))) => match why {
                JoinRefusal::Full | JoinRefusal::Issuer(_) | JoinRefusal::TooLong => None,
                JoinRefusal::Expired
                | JoinRefusal::Used(_)
                | JoinRefusal::Grant
                | JoinRefusal::Invalid
                | JoinRefusal::OtherSim(_) => Some((server, why)),
            },
            _ => None,
        }
    }
}

impl JoinRetry {
    /// Returns a machine that misses no server yet. The addresses of the invite serve for servers that
    /// announce no address.
    #[must_use]
    pub fn new(addresses: impl IntoIterator<Item = String>, now: Duration) -> Self {
        let state = |address: String| {
            (
                TargetId::Address(address.clone()),
                TargetState::new(JoinTarget::Address(address), now),
            )
        };
        Self {
            targets: addresses.into_iter().map(state).collect(),
            missed: BTreeSet::new(),
            under_way: None,
        }
    }

    /// Notes which servers and standbys of the sim the follower is not connected with. The
    /// announcements are verified.
    pub fn update_missing(
        &mut self,
        now: Duration,
        missed: BTreeSet<PublicKey>,
        announcements: &[SignedAnnouncement],
    ) {
        self.targets.retain(|id, _| match id {
            TargetId::Server(server) => missed.contains(server),
            TargetId::Address(_) => true,
        });
        for SignedAnnouncement { announcement, .. } in announcements {
            if !missed.contains(&announcement.server) {
                continue;
            }
            let id = TargetId::Server(announcement.server);
            let issued_of = |state: &TargetState| match &state.target {
                JoinTarget::Server(last) => last.issued,
                JoinTarget::Address(_) => Millis(0),
            };
            let known = self.targets.get(&id);
            if known.is_none_or(|known| issued_of(known) < announcement.issued) {
                let target = JoinTarget::Server(Box::new(announcement.clone()));
                let answer = known.and_then(|known| known.answer);
                let soonest = known.map(|known| known.due);
                let mut fresh = TargetState { answer, ..TargetState::new(target, now) };
                fresh.due = soonest.map_or(fresh.due, |due| due.min(fresh.due));
                self.targets.insert(id, fresh);
            }
        }
        self.missed = missed;
    }

    /// Returns whether a request to this target may help.
    fn is_wanted(&self, id: &TargetId, state: &TargetState) -> bool {
        let unannounced =
            |server: &PublicKey| !self.targets.contains_key(&TargetId::Server(*server));
        let wanted = match (id, &state.answer) {
            (TargetId::Server(_), _) => true,
            (TargetId::Address(_), None) => self.missed.iter().any(unannounced),
            (TargetId::Address(_), Some((found, _))) => {
                self.missed.contains(found) && unannounced(found)
            }
        };
        wanted && state.refusal().is_none()
    }

    /// Returns the target to ask now. [`JoinRetry::record_answer`] has to follow.
    pub fn poll(&mut self, now: Duration) -> Option<JoinTarget> {
        if self.under_way.is_some() {
            return None;
        }
        let due = self.targets.iter().filter(|(_, state)| state.due <= now);
        let wanted = due.filter(|(id, state)| self.is_wanted(id, state));
        let (id, state) = wanted.min_by_key(|(_, state)| state.due)?;
        self.under_way = Some(id.clone());
        Some(state.target.clone())
    }

    /// Records which server answered, and whether it lets the follower in; none if nobody answered.
    /// Returns whether the answer differs from the last one of that target.
    pub fn record_answer(
        &mut self,
        now: Duration,
        answer: Option<(PublicKey, Result<(), JoinRefusal>)>,
    ) -> bool {
        let id = self.under_way.take();
        let Some(state) = id.and_then(|id| self.targets.get_mut(&id)) else {
            return answer.is_some();
        };
        state.due = now.saturating_add(state.pause);
        state.pause = state.pause.saturating_mul(2).min(*JOIN_RETRY_PAUSES.end());
        let news = answer.is_some() && answer != state.answer;
        state.answer = answer.or(state.answer);
        news
    }

    /// Returns the missed servers that refused for good, and why.
    pub fn refused(&self) -> BTreeMap<PublicKey, JoinRefusal> {
        let refusals = self.targets.values().filter_map(TargetState::refusal);
        refusals.filter(|(server, _)| self.missed.contains(server)).collect()
    }
}
