//! A node without a seat: it comes by an invite, as `metatopia node join` has it. A client of the
//! servers that the invite names, it asks each to let it in, and fetches a state that they certify
//! over the same lines. What it fetched it keeps, should it have to begin again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use metatopia_client::LightClient;
use metatopia_protocol::{
    Answer, Applicant, ClientMessage, Grant, Hello, INVITE_ADDRESSES_MAX, Invite, JoinRefusal,
    JoinRequest, Question, ServerMessage, SignedInvite, encode_client,
};
use metatopia_replica::JOIN_RETRY_PAUSES;
use metatopia_replica::fetch::{Fetch, FetchEffect, Fetched, ProviderFault};
use metatopia_types::wire::DecodeError;
use metatopia_types::{
    Certificate, Header, Height, Millis, PublicKey, Sign, Trust, ValidatorSet, Verify,
};

use super::place_setting::{ReplicaSetting, contact};

/// The number of the question whether a node is let in: fetches count theirs from 0.
const JOIN: u32 = u32::MAX;

/// How long servers may take to let a node in.
const ENTER: Duration = Duration::from_secs(2);

/// After it led to nothing, a node begins again so much later.
const REST: Duration = Duration::from_secs(1);

/// A node that follows asks so often the servers that it is not connected with: the shortest pause of a
/// real one, because here no server says of itself that it is back, which would shorten a longer one.
const RETRY: Duration = *JOIN_RETRY_PAUSES.start();

/// How long an invite is good, in milliseconds: seven days, longer than any clock is set ahead.
const GOOD_MS: u64 = 7 * 24 * 3_600_000;

/// Makes an invite of the admin's by a decided header, for who believes the validators that `light`
/// knows. Nothing if it proves nothing to them, or changes them.
#[must_use]
pub fn invite(
    setting: &ReplicaSetting,
    light: &LightClient,
    (header, certificate): (Header, Certificate),
    (grant, nonce): (Grant, u64),
) -> Option<SignedInvite> {
    light.believe(&header, &certificate).ok()?;
    let validators = light.set(header.height).ok()?.clone();
    if header.next_validators != header.validators {
        return None;
    }
    let named = setting.founders.min(INVITE_ADDRESSES_MAX);
    let addresses = (0..named).map(|seat| contact(seat).address).collect();
    let (admin, uses, expires) = (setting.player(0), 1, header.time.plus(GOOD_MS));
    let issuer = admin.public();
    let invite =
        Invite { header, certificate, validators, addresses, grant, uses, expires, issuer, nonce };
    Some(invite.sign(&*admin))
}

/// What a newcomer wants done.
#[derive(Debug)]
pub(crate) enum NewcomerRequest {
    /// A line to the server in a seat.
    Call(usize),
    /// A frame for the server in a seat.
    Say(usize, Vec<u8>),
    /// No line to it any more.
    HangUp(usize),
    /// Everything is there to start with: a state, or nothing if that is the one of genesis.
    Settle(Option<Box<Fetched>>),
}

#[derive(Debug)]
enum NewcomerPhase {
    /// It asks to be let in, until a moment.
    Entering(Duration),
    Fetching(Box<Fetch>),
    /// It begins again at a moment.
    Resting(Duration),
    /// It follows, and looks at a moment which servers have not let it in.
    In(Duration),
}

/// How a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineState {
    Asking,
    LetIn,
    Refused,
}

/// See the module.
pub struct Newcomer {
    /// The seat that it takes.
    pub seat: usize,
    /// Why servers did not let it in.
    pub refusals: Vec<(usize, JoinRefusal)>,
    /// Servers that it asked for nothing more, with the reasons.
    pub dropped: Vec<(PublicKey, ProviderFault)>,
    /// How often it had to begin again.
    pub returns: u64,
    key: Arc<dyn Sign>,
    scheme: Arc<dyn Verify>,
    request: JoinRequest,
    genesis: Option<ValidatorSet>,
    /// The servers that the invite names, by their seats.
    servers: BTreeMap<usize, PublicKey>,
    lines: BTreeMap<usize, LineState>,
    /// Leaves that came.
    kept: Vec<Vec<u8>>,
    phase: NewcomerPhase,
    wishes: Vec<NewcomerRequest>,
    /// The moment of the errand that was planned last.
    pub(crate) armed: Option<Duration>,
}

impl std::fmt::Debug for Newcomer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { seat, phase, lines, .. } = self;
        write!(f, "Newcomer to seat {seat}: {phase:?}, lines {lines:?}")
    }
}

impl Newcomer {
    /// The newcomer that takes `seat` and has this invite.
    #[must_use]
    pub fn new(setting: &ReplicaSetting, seat: usize, invite: SignedInvite) -> Self {
        let (key, contact) = (setting.name(seat), contact(seat));
        let stands_by = invite.invite.grant == Grant::StandBy;
        let named = |seat: &usize| {
            invite.invite.addresses.contains(&super::place_setting::contact(*seat).address)
        };
        let servers =
            (0..setting.founders).filter(named).map(|seat| (seat, setting.name(seat))).collect();
        Self {
            seat,
            refusals: Vec::new(),
            dropped: Vec::new(),
            returns: 0,
            key: Arc::clone(&setting.keys[seat]),
            scheme: Arc::clone(&setting.verifier),
            genesis: setting.light().set(Height(1)).ok().cloned(),
            request: JoinRequest {
                invite,
                applicant: stands_by.then_some(Applicant { key, contact }),
            },
            servers,
            lines: BTreeMap::new(),
            kept: Vec::new(),
            phase: NewcomerPhase::Resting(Duration::ZERO),
            wishes: Vec::new(),
            armed: None,
        }
    }

    /// Returns whether the newcomer follows, or begins to.
    #[must_use]
    pub const fn is_in(&self) -> bool {
        matches!(self.phase, NewcomerPhase::In(_))
    }

    /// Returns whether its invite is what it should be, at this time.
    #[must_use]
    pub fn believes(&self, now: Millis) -> bool {
        self.request.invite.check(now, &*self.scheme).is_ok()
    }

    pub(crate) fn take_wishes(&mut self) -> Vec<NewcomerRequest> {
        std::mem::take(&mut self.wishes)
    }

    /// Returns when the newcomer wants to be woken.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        match &self.phase {
            NewcomerPhase::Entering(at) | NewcomerPhase::Resting(at) | NewcomerPhase::In(at) => {
                Some(*at)
            }
            NewcomerPhase::Fetching(fetch) => fetch.deadline(),
        }
    }

    /// Does what is due. The servers in the seats of `missed` have no connection with it.
    pub(crate) fn wake(&mut self, now: Duration, missed: &[usize]) {
        match &mut self.phase {
            NewcomerPhase::Resting(until) if *until <= now => self.enter(now),
            NewcomerPhase::Entering(until) if *until <= now => self.begin_fetch(now),
            NewcomerPhase::Fetching(fetch) => {
                if fetch.deadline().is_some_and(|at| at <= now) {
                    fetch.wake(now);
                }
                self.carry_on(now);
            }
            NewcomerPhase::In(at) if *at <= now => {
                *at = now + RETRY;
                self.ask_again(missed);
            }
            NewcomerPhase::Resting(_) | NewcomerPhase::Entering(_) | NewcomerPhase::In(_) => {}
        }
    }

    /// Asks servers to be let in that did not run when it came, or belong to the sim only since.
    fn ask_again(&mut self, missed: &[usize]) {
        for seat in missed {
            if !self.lines.contains_key(seat) {
                self.lines.insert(*seat, LineState::Asking);
                self.wishes.push(NewcomerRequest::Call(*seat));
            }
        }
    }

    fn enter(&mut self, now: Duration) {
        self.phase = NewcomerPhase::Entering(now + ENTER);
        self.lines = self.servers.keys().map(|seat| (*seat, LineState::Asking)).collect();
        self.wishes.extend(self.servers.keys().map(|seat| NewcomerRequest::Call(*seat)));
    }

    /// Handles a line that is cut, or that cannot be had.
    pub(crate) fn gone(&mut self, now: Duration, seat: usize) {
        if self.lines.remove(&seat).is_none() {
            return;
        }
        if let (NewcomerPhase::Fetching(fetch), Some(name)) =
            (&mut self.phase, self.servers.get(&seat))
        {
            fetch.down(now, *name);
        }
        self.look_around(now);
    }

    /// Goes on once all have answered, because then nobody is waited for.
    fn look_around(&mut self, now: Duration) {
        match self.phase {
            NewcomerPhase::Entering(_)
                if self.lines.values().all(|line| *line != LineState::Asking) =>
            {
                self.begin_fetch(now);
            }
            NewcomerPhase::Fetching(_) => self.carry_on(now),
            _ => {}
        }
    }

    pub(crate) fn hear(
        &mut self,
        now: Duration,
        seat: usize,
        said: Result<ServerMessage, DecodeError>,
    ) {
        let say = |message: &ClientMessage| NewcomerRequest::Say(seat, encode_client(message));
        match said {
            Ok(ServerMessage::Challenge(challenge)) => {
                let hello = Hello::new(&challenge, &*self.key);
                self.wishes.push(say(&ClientMessage::Hello(hello)));
            }
            Ok(ServerMessage::Welcome(_)) => {
                let question = Question::Join(Box::new(self.request.clone()));
                self.wishes.push(say(&ClientMessage::Ask { id: JOIN, question }));
            }
            Ok(ServerMessage::Answer { id: JOIN, answer }) => self.answered(now, seat, &answer),
            Ok(ServerMessage::Answer { id, answer }) => {
                let from = self.servers.get(&seat).copied();
                if let (NewcomerPhase::Fetching(fetch), Some(from)) = (&mut self.phase, from) {
                    fetch.answer(now, from, id, *answer);
                }
                self.look_around(now);
            }
            Ok(ServerMessage::Goodbye(_)) | Err(_) => {
                self.wishes.push(NewcomerRequest::HangUp(seat));
                self.gone(now, seat);
            }
            Ok(_) => {}
        }
    }

    /// Notes whether a server lets the newcomer in.
    fn answered(&mut self, now: Duration, seat: usize, answer: &Answer) {
        let Some(line) = self.lines.get_mut(&seat) else {
            return;
        };
        *line =
            if let Answer::Join(Ok(_)) = answer { LineState::LetIn } else { LineState::Refused };
        let (came, name) = (*line == LineState::LetIn, self.servers.get(&seat).copied());
        if let Answer::Join(Err(why)) = answer {
            self.refusals.push((seat, *why));
        }
        if let (NewcomerPhase::Fetching(fetch), Some(name), true) = (&mut self.phase, name, came) {
            fetch.up(now, name);
        }
        if self.is_in() {
            self.lines.remove(&seat);
            self.wishes.push(NewcomerRequest::HangUp(seat));
        }
        self.look_around(now);
    }

    fn begin_fetch(&mut self, now: Duration) {
        let hosts: Vec<usize> = self
            .servers
            .keys()
            .filter(|s| self.lines.get(s) == Some(&LineState::LetIn))
            .copied()
            .collect();
        // Whom only few let in follows through those alone, and stands still once they are gone: of
        // these one may lie and another be removed.
        if hosts.len() < self.servers.len() - self.servers.len().saturating_sub(1) / 3 {
            return self.rest(now);
        }
        let invite = &self.request.invite.invite;
        // The checkpoint's validators vote at its own height too: what it states is believed already.
        let height = invite.header.height.minus(1).unwrap_or_default();
        let trust = Trust { height, validators: invite.validators.clone() };
        let (sim, scheme) = (invite.sim(), Arc::clone(&self.scheme));
        let mut fetch = Fetch::new(sim, trust, self.genesis.clone(), scheme);
        self.kept.iter().for_each(|leaf| fetch.have(leaf.clone()));
        hosts.iter().filter_map(|s| self.servers.get(s)).for_each(|name| fetch.up(now, *name));
        self.phase = NewcomerPhase::Fetching(Box::new(fetch));
        self.carry_on(now);
    }

    /// Does what the fetch wants.
    fn carry_on(&mut self, now: Duration) {
        while let NewcomerPhase::Fetching(fetch) = &mut self.phase {
            let Some(effect) = fetch.poll() else {
                if fetch.is_alone() {
                    self.rest(now);
                }
                return;
            };
            match effect {
                FetchEffect::Ask { to, token, question } => {
                    let seat = self.servers.iter().find(|(_, name)| **name == to);
                    match seat.filter(|(seat, _)| self.lines.contains_key(seat)) {
                        Some((seat, _)) => {
                            let asks = ClientMessage::Ask { id: token, question };
                            self.wishes.push(NewcomerRequest::Say(*seat, encode_client(&asks)));
                        }
                        None => fetch.down(now, to),
                    }
                }
                FetchEffect::Keep { content, .. } => self.kept.push(content),
                FetchEffect::Dropped { provider, why } => self.dropped.push((provider, why)),
                FetchEffect::Done(fetched) => self.settle(now, Some(fetched)),
                FetchEffect::Genesis => self.settle(now, None),
            }
        }
    }

    fn settle(&mut self, now: Duration, fetched: Option<Box<Fetched>>) {
        self.hang_up();
        self.kept.clear();
        self.phase = NewcomerPhase::In(now + RETRY);
        self.wishes.push(NewcomerRequest::Settle(fetched));
    }

    fn rest(&mut self, now: Duration) {
        self.hang_up();
        self.returns += 1;
        self.phase = NewcomerPhase::Resting(now + REST);
    }

    fn hang_up(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        self.wishes.extend(lines.into_keys().map(NewcomerRequest::HangUp));
    }
}
