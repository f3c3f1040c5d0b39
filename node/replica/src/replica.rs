//! One server of one sim, sans-IO: it routes each input to the lockstep or to the front end.

use std::time::Duration;

use metatopia_consensus::{
    AgreementInput, Base, Decision, OpenAgreementError, Record, ResourceCount,
};
use metatopia_sim::World;
use metatopia_types::{Digest, Height, Now, SignedEnvelope};

#[cfg(feature = "controls")]
use crate::Controls;
use crate::{
    Asker, Config, Effect, Input, PeerMessage, Reader, Status, WaitingCounts, base_of,
    frontend::Frontend, lockstep::Lockstep,
};

/// One server of one sim.
#[derive(Debug)]
pub struct Replica {
    /// What this server computes and decides with the other servers.
    lockstep: Lockstep,
    /// What faces clients and peers.
    front: Frontend,
}

impl Replica {
    /// Starts from a stored state, or from genesis, and what the log holds after it. All records
    /// are durable. `past` are turns that were decided up to the base, ascending, so that clients
    /// that were away get the receipts of their acts: acts can be sent again until they have
    /// expired, so more than the last [`RECALL_HEIGHTS`](crate::RECALL_HEIGHTS) are of no use.
    ///
    /// # Errors
    /// When the records are not ones that an agreement wrote.
    pub fn open(
        config: Config,
        base: Base,
        world: World,
        past: impl IntoIterator<Item = Decision>,
        records: impl IntoIterator<Item = Record>,
        now: Now,
    ) -> Result<Self, OpenAgreementError> {
        let (mut lockstep, front) = Lockstep::begin(config, base, world, records, None, now)?;
        past.into_iter().for_each(|decision| lockstep.recall(&decision));
        let mut replica = Self { lockstep, front };
        replica.lockstep.advance(now, &mut replica.front);
        Ok(replica)
    }

    /// Starts a server that has no state, or whose log does not follow from any of its states. The world
    /// at genesis only says whom to ask. The server fetches a state of its peers, of height `least` or
    /// later. Until then it does not vote, appends nothing, and serves nobody.
    ///
    /// # Panics
    /// If the world is not one at genesis.
    #[must_use]
    pub fn stateless(config: Config, genesis: World, least: Height, now: Now) -> Self {
        let base = base_of(&genesis);
        let begun = Lockstep::begin(config, base, genesis, [], Some(least), now);
        let (mut lockstep, mut front) =
            begun.expect("an agreement without records contradicts nothing");
        lockstep.advance(now, &mut front);
        Self { lockstep, front }
    }

    /// Breaks these rules from now on.
    #[cfg(feature = "controls")]
    pub const fn break_rules(&mut self, controls: Controls) {
        self.lockstep.break_rules(controls);
        self.front.break_rules(controls);
    }

    /// Takes an input. Afterwards the driver polls the effects and reads the deadline.
    pub fn handle(&mut self, now: Now, input: Input) {
        let Self { lockstep, front } = self;
        if lockstep.has_ended() {
            return lockstep.refuse_after_end(input);
        }
        match input {
            Input::Wake => lockstep.agree(now, front, AgreementInput::Wake),
            Input::Synced(position) => lockstep.synced(now, front, position),
            Input::Muted(muted) => lockstep.mute(now, front, muted),
            Input::Applied { world, result } => lockstep.applied(now, front, world, &result),
            Input::PeerUp(peer) => lockstep.peer_up(now, front, peer),
            Input::PeerDown(peer) => lockstep.peer_down(now, front, peer),
            Input::PeerFrame { from, frame } => {
                let message = front.peer_frame(&mut lockstep.context(now), from, &frame);
                if let Some(message) = message {
                    lockstep.message(now, front, from, message);
                }
            }
            Input::ClientUp(client) => front.client_up(&mut lockstep.context(now), client),
            Input::ClientDown(client) => front.client_down(client),
            Input::ClientFrame { client, frame } => {
                front.client_frame(&mut lockstep.context(now), client, &frame);
            }
            Input::Announce(endpoint) => front.announce(&mut lockstep.context(now), endpoint),
            Input::Ask { token, question } => {
                front.ask(&mut lockstep.context(now), Asker::Driver(token), question);
            }
            Input::AskPeer { to, id, question } => {
                let message = PeerMessage::Ask { id, question: Box::new(question) };
                lockstep.context(now).emit_to_peers(Some(to), &message);
            }
            Input::Welcome { contact, followers } => {
                front.welcome(&mut lockstep.context(now), contact, *followers);
            }
            Input::Loaded { reader: Reader::Peer(to), decisions, .. } => {
                lockstep.agree(now, front, AgreementInput::Loaded { to, decisions });
            }
            Input::Loaded { reader: Reader::Question(load), decisions, oldest, next } => {
                front.loaded(&mut lockstep.context(now), load, &decisions, (oldest, next));
            }
            Input::Loaded { reader: Reader::Repair, decisions, .. } => {
                lockstep.turns_loaded(now, front, decisions);
            }
            Input::Dispatch { neighbour, dispatch } => {
                front.dispatch(&mut lockstep.context(now), neighbour, dispatch);
            }
            Input::NeighbourNodes { neighbour, nodes } => {
                front.note_neighbour_nodes(neighbour, nodes);
            }
            Input::Gaps(gaps) => lockstep.gaps(now, front, gaps),
            Input::Stop => front.end_all(&mut lockstep.context(now)),
        }
        lockstep.advance(now, front);
    }

    /// Returns the next effect.
    pub fn poll(&mut self) -> Option<Effect> {
        self.lockstep.poll()
    }

    /// Returns when to hand in [`Input::Wake`], in monotonic time.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        if self.lockstep.has_ended() {
            return None;
        }
        let lockstep = self.lockstep.deadline(&self.front);
        lockstep.into_iter().chain(self.front.deadline()).min()
    }

    /// Returns a digest of what this replica knows, for traces.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.lockstep.agreement().digest()
    }

    /// Returns the world after the last applied turn, or none while a turn is being applied.
    #[must_use]
    pub fn world(&self) -> Option<&World> {
        self.lockstep.world()
    }

    /// Returns the status, or none while a turn is being applied.
    #[must_use]
    pub fn status(&self, now: Now) -> Option<Status> {
        self.lockstep.status(now, &self.front)
    }

    /// Returns how much waits in this replica. Each figure has a limit.
    #[must_use]
    pub fn waiting(&self) -> WaitingCounts {
        self.front.waiting()
    }

    /// Returns the acts that wait for a turn.
    pub fn pending(&self) -> impl Iterator<Item = &SignedEnvelope> {
        self.front.pending()
    }

    /// Returns how many messages of others agreement holds, with the limits.
    #[must_use]
    pub fn held(&self) -> [ResourceCount; 8] {
        self.lockstep.agreement().held()
    }

    /// Returns whether this server repairs its state: the turns that it applies now it applied before.
    #[must_use]
    pub fn is_healing(&self) -> bool {
        self.lockstep.sync().is_reapplying()
    }

    /// Returns whether this replica was started without a state.
    #[must_use]
    pub const fn has_no_state(&self) -> bool {
        self.lockstep.sync().has_no_state()
    }
}
