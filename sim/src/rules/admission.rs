//! Chooses the acts of one turn: which of them lanes, expiry and the standing of authors let in.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{
    Act, Envelope, Height, Lane, Pass, PublicKey, Seq, SignedEnvelope, SimId, limits,
};

use super::{
    standing::{Standing, Standings},
    windows::{LaneKey, LaneWindows, Window},
};
use crate::{
    limits::{
        FIRST_LOGINS_PER_TURN_MAX, FRESH_LANES_PER_TURN_MAX, LANES_MAX,
        LANES_PER_AUTHOR_CROWDED_MAX, LANES_PER_AUTHOR_MAX, PLAYER_LANES_MAX, REGULAR_LANES_MAX,
        STRANGER_LANES_MAX,
    },
    state::FirstLogin,
};

/// Why an act may not be in a turn of this height.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ActFault {
    /// It is meant for another sim.
    #[error("the act is meant for sim {0}")]
    OtherSim(SimId),
    /// Its envelope is too long.
    #[error(
        "the envelope has {0} bytes where at most {max} are allowed",
        max = limits::ENVELOPE_BYTES_MAX
    )]
    TooLong(usize),
    /// Its last valid height has passed.
    #[error("the act was valid up to height {last_valid}, not at {height}")]
    Expired {
        /// The act's last valid height.
        last_valid: Height,
        /// The height it was tried at.
        height: Height,
    },
    /// Its last valid height is too far ahead.
    #[error(
        "last valid height {last_valid} is more than {max} ahead of {height}",
        max = limits::EXPIRY_HEIGHTS_MAX
    )]
    TooFarAhead {
        /// The act's last valid height.
        last_valid: Height,
        /// The height it was tried at.
        height: Height,
    },
    /// The lane has decided this sequence or a later one.
    #[error("the lane has decided sequence {0} already")]
    Replayed(Seq),
    /// The author has too many lanes that are remembered.
    #[error("the author has {0} lanes open")]
    TooManyLanes(usize),
    /// The sim remembers too many lanes.
    #[error("{0} lanes are open in this sim")]
    Full(usize),
    /// This program does not know the kind of act, so it cannot decide it.
    #[error("acts of number {0} are of a later program, and this one does not know them")]
    UnknownAct(u16),
    /// The signature is not the author's.
    #[error("the signature is not the author's")]
    Signature,
    /// The key is new to the sim, and a key that is new begins with a login, or announces itself at a border.
    #[error(
        "a key that is new to the sim begins with a login, or with an announcement at a border"
    )]
    NoLogin,
    /// The key is new to the sim, which lets in nobody new.
    #[error("the sim lets in nobody new")]
    Closed,
    /// The key is new to the sim, and shows no work that counts now.
    #[error("a key that is new to the sim shows work, and this act shows none that counts now")]
    NoWork,
    /// The key is new to the sim, and shows no ticket that is open.
    #[error("a key that is new to the sim shows a ticket, and this act shows none that is open")]
    NoTicket,
    /// Only the proposer of a turn says in it what it heard of a neighbour.
    #[error("only the proposer of a turn says in it what it heard of a neighbour")]
    NotProposer,
    /// The turn has a word of this neighbour already.
    #[error("the turn says already what was heard of sim {0}")]
    HeardTwice(SimId),
    /// The turn has as many first logins as one may have.
    #[error("the turn has {0} first logins already")]
    FirstLoginsFull(usize),
}

/// The means, beside lanes, by which acts are chosen or judged.
#[derive(Clone, Copy)]
pub struct Judging<'a> {
    /// The standing of every key in the sim.
    pub standings: &'a dyn Standings,
    /// The proposer of the turn; `None` while it may be anybody.
    pub proposer: Option<PublicKey>,
}

impl core::fmt::Debug for Judging<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Judging turns of {:?}", self.proposer)
    }
}

/// Acts being chosen for one turn. They may come in any order: inside a turn only equal sequences
/// of a lane exclude one another.
#[derive(Debug, Clone)]
pub struct TurnAdmission<'a> {
    pub(super) windows: &'a LaneWindows,
    pub(super) height: Height,
    pub(super) judging: Judging<'a>,
    pub(super) ahead: BTreeMap<LaneKey, Window>,
    pub(super) taken: BTreeSet<(LaneKey, Seq)>,
    pub(super) fresh: BTreeSet<LaneKey>,
    /// Lanes that turns of this proposer opened before.
    pub(super) opened: usize,
    /// Whether many lanes are open before the turn.
    pub(super) is_crowded: bool,
    /// Lanes that the acts taken open, but for those of stewards.
    pub(super) opening: usize,
    /// First logins that were taken.
    pub(super) first_logins: usize,
    /// The neighbours of whom something was taken that was heard.
    pub(super) heard: BTreeSet<SimId>,
}

impl TurnAdmission<'_> {
    /// Takes the act into the turn, if expiry and lane window allow it.
    ///
    /// # Errors
    /// See [`ActFault`]; the act is not taken then. The signature is not looked at.
    pub fn admit(&mut self, envelope: &Envelope) -> Result<(), ActFault> {
        self.check(envelope)?;
        let lane = (envelope.author, envelope.lane);
        let standing = self.standing(envelope);
        let begins = self.begins_session(envelope);
        if self.opens(envelope) {
            self.fresh.insert(lane);
            self.opening += usize::from(standing < Standing::Steward);
        }
        self.first_logins += usize::from(begins && standing == Standing::Stranger);
        self.taken.insert((lane, envelope.seq));
        if let Act::Hear { neighbour, .. } = envelope.act {
            self.heard.insert(neighbour);
        }
        Ok(())
    }

    /// Returns a turn's acts in the order in which they are judged: those of the least standing first,
    /// and what begins a session before what follows it. A turn lists its acts by their ids, and its proposer took
    /// them in another order; in this order all acts fit that fit in any order.
    #[must_use]
    pub fn in_order<'a>(&self, acts: &'a [SignedEnvelope]) -> Vec<&'a SignedEnvelope> {
        let mut ordered: Vec<&SignedEnvelope> = acts.iter().collect();
        ordered.sort_by_cached_key(|act| {
            (self.standing(&act.envelope), !self.begins_session(&act.envelope))
        });
        ordered
    }

    /// Returns how many lanes are open once the acts that were taken are decided.
    #[must_use]
    pub fn open_lanes(&self) -> usize {
        self.windows.len() + self.fresh.len()
    }

    /// Says whether this act would open another lane.
    #[must_use]
    pub fn opens(&self, envelope: &Envelope) -> bool {
        let lane = (envelope.author, envelope.lane);
        self.windows.get(&lane).is_none() && !self.fresh.contains(&lane)
    }

    /// Checks whether [`TurnAdmission::admit`] would take the act.
    ///
    /// # Errors
    /// See [`ActFault`].
    pub fn check(&self, envelope: &Envelope) -> Result<(), ActFault> {
        if let Act::Unknown { number, .. } = envelope.act {
            return Err(ActFault::UnknownAct(number));
        }
        if let Act::Hear { neighbour, .. } = envelope.act {
            if self.judging.proposer.is_some_and(|proposer| proposer != envelope.author) {
                return Err(ActFault::NotProposer);
            }
            if self.heard.contains(&neighbour) {
                return Err(ActFault::HeardTwice(neighbour));
            }
        }
        let (last_valid, height) = (envelope.last_valid, self.height);
        if last_valid < height {
            return Err(ActFault::Expired { last_valid, height });
        }
        if last_valid > height.plus(limits::EXPIRY_HEIGHTS_MAX) {
            return Err(ActFault::TooFarAhead { last_valid, height });
        }
        let lane = (envelope.author, envelope.lane);
        if self.taken.contains(&(lane, envelope.seq)) {
            return Err(ActFault::Replayed(envelope.seq));
        }
        match self.ahead.get(&lane).copied().or_else(|| self.windows.get(&lane)) {
            Some(window) if self.windows.is_used(window, envelope.seq) => {
                return Err(ActFault::Replayed(window.seq));
            }
            _ => {}
        }
        let standing = self.standing(envelope);
        if standing == Standing::Stranger {
            self.check_stranger(envelope)?;
        }
        if self.opens(envelope) { self.check_lane_slots(envelope.author, standing) } else { Ok(()) }
    }

    /// Says whether the act begins a session: a login does, and an announcement at a border in a lane that was
    /// not open before this turn. What else the turn has in that lane changes nothing, or a turn would be judged
    /// by the order of its acts.
    fn begins_session(&self, envelope: &Envelope) -> bool {
        let lane = (envelope.author, envelope.lane);
        let was_open = || self.windows.get(&lane).is_some() || self.ahead.contains_key(&lane);
        match envelope.act {
            Act::Login { .. } => true,
            Act::Approach { .. } => !was_open(),
            _ => false,
        }
    }

    /// Returns the standing of the author.
    fn standing(&self, envelope: &Envelope) -> Standing {
        self.judging.standings.standing(&envelope.author, self.height)
    }

    /// Checks that a key that is new to the sim may do this.
    fn check_stranger(&self, envelope: &Envelope) -> Result<(), ActFault> {
        let standings = self.judging.standings;
        let first_login = standings.first_login(self.height);
        let pass = match &envelope.act {
            _ if first_login == FirstLogin::Open => return Ok(()),
            Act::Login { pass, .. } => *pass,
            Act::Approach { work, .. } if self.begins_session(envelope) => work.map(Pass::Work),
            _ if self.opens(envelope) => return Err(ActFault::NoLogin),
            _ => return Ok(()),
        };
        let is_login = matches!(envelope.act, Act::Login { .. });
        if let Some(Pass::Rotation(rotation)) = pass
            && is_login
            && standings.standing(&rotation.old, self.height) > Standing::Stranger
        {
            return self.check_first_login_slots();
        }
        // Who holds land renews its grant, and so do the servers of its sim.
        if is_login && standings.speaks_for_land(&envelope.author, self.height) {
            return self.check_first_login_slots();
        }
        let lacking = match (first_login, pass) {
            (FirstLogin::Closed, _) => return Err(ActFault::Closed),
            (FirstLogin::Invite, Some(Pass::Work(_))) => return Err(ActFault::NoTicket),
            (FirstLogin::Invite, _) | (_, Some(Pass::Ticket(_))) => ActFault::NoTicket,
            _ => ActFault::NoWork,
        };
        let counts = |pass| {
            let first_logins = standings.first_logins();
            first_logins.accepts_pass(standings.sim(), &envelope.author, pass, self.height)
        };
        if !pass.as_ref().is_some_and(counts) {
            return Err(lacking);
        }
        self.check_first_login_slots()
    }

    /// Checks that one more key may come in by the turn.
    fn check_first_login_slots(&self) -> Result<(), ActFault> {
        match self.first_logins {
            FIRST_LOGINS_PER_TURN_MAX.. => Err(ActFault::FirstLoginsFull(self.first_logins)),
            _ => Ok(()),
        }
    }

    /// Checks that another lane of this author may open.
    fn check_lane_slots(&self, author: PublicKey, standing: Standing) -> Result<(), ActFault> {
        let all = self.open_lanes();
        let most = match standing {
            Standing::Stranger => STRANGER_LANES_MAX,
            Standing::Player => PLAYER_LANES_MAX,
            Standing::Regular => REGULAR_LANES_MAX,
            Standing::Steward => LANES_MAX,
        };
        // A proposer who lies opens no more than a quarter, however many keys it has.
        let share = standing == Standing::Steward || self.opened + self.opening < most / 4;
        let fits = standing == Standing::Steward || self.opening < FRESH_LANES_PER_TURN_MAX;
        if all >= most || !share || !fits {
            return Err(ActFault::Full(all));
        }
        let range = (author, Lane(0))..=(author, Lane(u64::MAX));
        let own = self.windows.lanes_of(author) + self.fresh.range(range).count();
        let own_max = match standing {
            Standing::Steward => LANES_PER_AUTHOR_MAX,
            _ if !self.is_crowded => LANES_PER_AUTHOR_MAX,
            _ => LANES_PER_AUTHOR_CROWDED_MAX,
        };
        if own >= own_max { Err(ActFault::TooManyLanes(own)) } else { Ok(()) }
    }
}
