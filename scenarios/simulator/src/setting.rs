//! The sim that simulated servers run, as far as it is the same at both levels: its keys, who votes
//! first, who lies, and how long servers wait.

use std::fmt;
use std::sync::Arc;

use metatopia_consensus::{Base, Patience};
use metatopia_oracle::Founding;
use metatopia_types::{
    Act, Envelope, Height, Lane, PublicKey, Seq, Sign, SignedEnvelope, SimId, Verify,
};

use crate::signatures::SignatureKind;
use crate::villain::ByzantineBehaviour;

/// What all servers of one simulated sim have in common. `T` is what only its level has.
pub struct ClusterSetting<T> {
    /// The id of the sim.
    pub sim: SimId,
    /// The kind of its signatures.
    pub scheme: SignatureKind,
    /// The scheme that checks signatures.
    pub verifier: Arc<dyn Verify>,
    /// The key in each seat, ascending except for copies and seats that were added.
    pub keys: Vec<Arc<dyn Sign>>,
    /// So many of the first seats vote at genesis.
    pub founders: usize,
    /// Seats whose server has the key of another one, which runs besides; and that other seat.
    pub copies: Vec<(usize, usize)>,
    /// Servers that lie to the others, and how.
    pub liars: Vec<(usize, ByzantineBehaviour)>,
    /// Least time between two turns, in milliseconds.
    pub turn_length: u64,
    /// How long servers wait for what.
    pub patience: Patience,
    /// Players of whom nothing is known but an act are numbered from here: the admin comes before them,
    /// and so does whoever visits.
    pub(crate) nobodies: u64,
    /// What a sim has at this level only.
    pub own: T,
}

impl<T: fmt::Debug> fmt::Debug for ClusterSetting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterSetting")
            .field("scheme", &self.scheme)
            .field("seats", &self.keys.len())
            .field("founders", &self.founders)
            .field("copies", &self.copies)
            .field("liars", &self.liars)
            .field("turn_length", &self.turn_length)
            .field("patience", &self.patience)
            .field("own", &self.own)
            .finish_non_exhaustive()
    }
}

impl<T> ClusterSetting<T> {
    /// Returns the name of the server in `seat`.
    #[must_use]
    pub fn name(&self, seat: usize) -> PublicKey {
        self.keys[seat].public()
    }

    /// Returns the key of a player; player 0 is the admin.
    #[must_use]
    pub fn player(&self, number: u64) -> Arc<dyn Sign> {
        self.scheme.player(number)
    }

    /// Gives the server in `seat` the key of the one in `original`.
    pub(crate) fn copy_key(&mut self, seat: usize, original: usize) {
        self.keys[seat] = Arc::clone(&self.keys[original]);
        self.copies.push((seat, original));
    }

    /// Returns whether the server in `seat` is the second one of its name.
    #[must_use]
    pub fn is_copy(&self, seat: usize) -> bool {
        self.copies.iter().any(|(copy, _)| *copy == seat)
    }

    /// Returns an act of somebody of whom nothing else is known. Each act has a lane of its own: acts go
    /// to different servers, and may be decided in any order.
    #[must_use]
    pub fn act(&self, player: u64, number: u64, last_valid: Height, act: Act) -> SignedEnvelope {
        let key = self.player(self.nobodies + player);
        self.envelope(&*key, Lane(number), 1, last_valid, act)
    }

    /// Returns an act of any key.
    #[must_use]
    pub fn envelope(
        &self,
        key: &dyn Sign,
        lane: Lane,
        seq: u64,
        last_valid: Height,
        act: Act,
    ) -> SignedEnvelope {
        let (sim, author) = (self.sim, key.public());
        Envelope { sim, author, lane, seq: Seq(seq), last_valid, act }.sign(key)
    }

    /// Returns what whoever watches the sim knows of it, which begins at `base`. Nobody is named who may
    /// change the members.
    pub(crate) fn founding_from(&self, base: &Base) -> Founding {
        let names: Vec<PublicKey> = (0..self.keys.len()).map(|seat| self.name(seat)).collect();
        let founders = names.iter().take(self.founders);
        let power = |name| base.sets[0].get(name).map_or(0, |member| u64::from(member.power));
        Founding {
            sim: self.sim,
            verifier: Arc::clone(&self.verifier),
            powers: founders.map(power).collect(),
            names,
            admin: None,
            root: base.roots[1],
            time: base.time,
            turn_length: self.turn_length,
        }
    }
}
