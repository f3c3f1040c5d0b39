//! The data directory of a stopped server, held by this process, and what its log says that matters
//! to a recovery.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use metatopia_consensus::Record;
use metatopia_replica::{keeper::newest_state, payloads_after};
use metatopia_sim::Genesis;
use metatopia_store::{Cause, Identity, OpenedStore, Opening, Store, read_identity};
use metatopia_types::{
    HeaderId, Height, PublicKey, Recovery, Root, Round, VoteKind, limits::ROOT_LAG,
};

use crate::{
    cli::{
        bisect::tools, console::Console, failure::Failure, genesis_file::read_genesis,
        kept_state::ServerFiles, sources::only_directory, up::world::GENESIS,
    },
    disk::{DataDirectory, RealDisk},
};

/// A turn that is voted on in this round is not decided any more as long as nothing changes: a
/// proposer that is away costs one round or two.
const STALLED_ROUND: Round = Round(3);

/// See the module.
pub(super) struct Stopped {
    pub(super) dir: PathBuf,
    pub(super) genesis: Genesis,
    file: PathBuf,
    pub(super) server: PublicKey,
    pub(super) store: Store<RealDisk>,
}

/// What a log says since a little before the newest state that can be used.
#[derive(Debug, Default)]
pub(super) struct LogNotes {
    /// Does the server sign?
    pub(super) voice: bool,
    /// The recoveries that it took.
    pub(super) taken: Vec<Recovery>,
    /// The decided turns.
    decided: BTreeMap<Height, HeaderId>,
    /// The turns that the server itself has precommitted.
    precommitted: Vec<(Height, HeaderId)>,
    /// The last height, and its last round, that the server itself has voted in.
    voted: Option<(Height, Round)>,
    /// What the headers of turns state.
    stated: BTreeMap<HeaderId, Root>,
}

impl Stopped {
    /// Opens and locks a directory. What a crash tore at the log's end is cut off, as at a start.
    ///
    /// # Errors
    /// When there is none, when a server runs on it, or when its log is damaged.
    pub(super) fn open(path: &Path, genesis: Option<&Path>) -> Result<Self, Failure> {
        let dir = only_directory(path)?;
        let name = dir.display();
        let wrong = |why: String| Failure::unverified(format!("{name}: {why}"));
        let file = genesis.map_or_else(|| dir.join(GENESIS), PathBuf::from);
        let genesis = read_genesis(&file)?;
        let looked = DataDirectory::open(&dir).map_err(|e| Failure::failed(e.to_string()))?;
        let own = read_identity(&looked).map_err(|error| wrong(error.to_string()))?;
        let own = own.ok_or_else(|| wrong("it was never started".into()))?;
        let identity = Identity { sim: genesis.id(), server: own.server };
        let disk = RealDisk::open(&dir).map_err(|error| match error.cause {
            Cause::InUse => Failure::refused(error.to_string()).hint("stop the server first"),
            _ => Failure::failed(error.to_string()),
        })?;
        let OpenedStore { store, records_lost, .. } = Store::open(disk, Opening::new(identity))
            .map_err(|error| {
                wrong(error.to_string()).hint("a start of the server puts damage aside")
            })?;
        if records_lost {
            let message = format!("{name}: records are lost, so what it signed is not known");
            return Err(Failure::refused(message).hint("start it with the others: it follows"));
        }
        Ok(Self { dir, genesis, file, server: own.server, store })
    }

    pub(super) fn archive(&self) -> ServerFiles<'_> {
        ServerFiles {
            name: self.dir.display().to_string(),
            genesis: &self.genesis,
            file: &self.file,
            disk: self.store.disk(),
            index: self.store.index(),
        }
    }

    /// Reads the log from a little before the state on that a start would begin with.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn notes(&self, console: Console) -> Result<LogNotes, Failure> {
        console.note(&format!("reading {}", self.dir.display()));
        let wrong = |why: String| Failure::unverified(format!("{}: {why}", self.dir.display()));
        let (index, disk) = (self.store.index(), self.store.disk());
        let (state, passed_over) = newest_state(disk, &tools());
        for why in passed_over {
            console.warn(&format!("snapshot passed over: {why}"));
        }
        let base = state.map(|(base, _)| base);
        let from = base.as_ref().map(|base| base.height.plus(1)).unwrap_or_default();
        let mut notes =
            LogNotes { voice: base.is_some_and(|base| base.voice), ..LogNotes::default() };
        for payload in payloads_after(index, disk, from).map_err(|e| wrong(e.to_string()))? {
            let payload = payload.map_err(|error| wrong(error.to_string()))?;
            let record = Record::decode(&payload)
                .map_err(|error| wrong(format!("a record is not of this version: {error}")))?;
            notes.take(record, self.server);
        }
        Ok(notes)
    }
}

/// Why nobody recovers the state before the first turn.
pub(super) fn nothing_decided() -> Failure {
    let message = "before the first turn there is nothing to recover: every server computes that \
        state anew when it starts";
    Failure::refused(message).hint(
        "start all of them again; if no turn is decided then either, `root` in `metatopia status` \
         tells who differs: look at that one's genesis, program and memory",
    )
}

/// Is the root after a turn not certified by the last one, or one before it?
///
/// # Errors
/// When it is: no recovery may say anything else of it.
pub(super) fn not_certified(height: Height, tip: Height) -> Result<(), Failure> {
    if tip < height.plus(ROOT_LAG) {
        return Ok(());
    }
    let message = format!("the root after turn {height} is certified by turn {tip}");
    Err(Failure::refused(message).hint("there is nothing to recover"))
}

impl LogNotes {
    fn take(&mut self, record: Record, server: PublicKey) {
        match record {
            Record::Voice => self.voice = true,
            Record::Silence => self.voice = false,
            Record::Recovered(signed) => self.taken.push(signed.recovery),
            Record::Turn(turn) => {
                self.stated.insert(turn.id(), turn.header.root);
            }
            Record::Decided(certificate) => {
                self.decided.insert(certificate.height, certificate.header);
            }
            Record::Vote(vote) if vote.message.voter == server => {
                let own = &vote.message;
                self.voted = self.voted.max(Some((own.height, own.round)));
                let turn = own.header.filter(|_| own.kind == VoteKind::Precommit);
                self.precommitted.extend(turn.map(|turn| (own.height, turn)));
            }
            _ => {}
        }
    }

    /// Did the server vote again and again on the turn after this one, the last that is decided? If
    /// not, nothing says that the sim is stalled.
    pub(super) fn shows_a_stall(&self, tip: Height) -> bool {
        self.voted.is_some_and(|voted| voted >= (tip.plus(1), STALLED_ROUND))
    }

    /// The number that a new recovery to this height has.
    pub(super) fn next_number(&self, height: Height) -> u32 {
        let same = self.taken.iter().filter(|taken| taken.height == height);
        same.map(|taken| taken.number).max().unwrap_or(0).saturating_add(1)
    }

    /// May a server with this log sign or take a recovery?
    ///
    /// # Errors
    /// When it could contradict what is decided, or when it is an old one.
    pub(super) fn check(&self, recovery: &Recovery, tip: Height) -> Result<(), Failure> {
        let Recovery { height, header, number, .. } = recovery;
        if *height == Height(0) {
            return Err(nothing_decided());
        }
        not_certified(*height, tip)?;
        if tip < *height {
            let message = format!("this server's log ends at turn {tip}, before turn {height}");
            return Err(Failure::refused(message)
                .hint("start it with the others: it fetches what it lacks, and heals by itself"));
        }
        if self.decided.get(height) != Some(header) {
            let message = format!("turn {height} of this log is not {header}");
            return Err(Failure::unverified(message));
        }
        if *number < self.next_number(*height) {
            let message = format!("recovery {number} to turn {height} is older than one it took");
            return Err(Failure::refused(message).hint("propose a new one"));
        }
        let own = self.precommitted.iter().copied();
        let decided = self.decided.iter().map(|(height, turn)| (*height, *turn));
        for (at, turn) in decided.chain(own) {
            let (wanted, stated) = (recovery.root_in(at), self.stated.get(&turn));
            if let (Some(wanted), Some(stated)) = (wanted, stated)
                && wanted != *stated
            {
                let message = format!(
                    "this server has signed for turn {at} with root {stated}, not {wanted}: \
                     others may have decided it"
                );
                return Err(Failure::refused(message)
                    .hint("only a recovery to that root can be taken here"));
            }
        }
        Ok(())
    }
}
