use std::sync::Arc;

use metatopia_consensus::Record;
use metatopia_sim::{Serial, flipped};
use metatopia_store::{Opening, Snapshot, Store, list_snapshots, memory::MemoryDisk, put_snapshot};
use metatopia_types::{
    Digest, HeaderId, LeafKey, Root, Round, Sign as _, SignedRecovery, SimId, Turn, Vote, VoteKind,
};

use super::*;
use crate::{
    SimStart,
    fixture::{
        FixtureTurn, TURNS, base, genesis, honest_records, identity, memory_log, next_turn,
        server_key, snapshot, start_of, steps,
    },
    tools,
    verify::verify_log,
};

const TIP: Height = Height(TURNS as u64);

/// The log of server 0, which was stopped after the last turn.
struct Stopped {
    store: Store<MemoryDisk>,
    start: SimStart,
}

impl Stopped {
    fn new(more: &[Record]) -> Self {
        let records = [Record::Voice].into_iter().chain(honest_records(&steps()));
        Self::with(&records.chain(more.iter().cloned()).collect::<Vec<_>>())
    }

    /// Returns a server with nothing but these records in its log.
    fn with(records: &[Record]) -> Self {
        Self::of(memory_log(records))
    }

    fn of(disk: MemoryDisk) -> Self {
        let start = start_of(genesis());
        let opening = Opening::new(identity(&start.genesis));
        Self { store: Store::open(disk, opening).unwrap().store, start }
    }

    fn files(&self) -> ServerFiles<'_> {
        let (disk, index) = (self.store.disk(), self.store.index());
        ServerFiles { start: &self.start, disk, index, exec: &Serial }
    }

    fn notes(&self) -> RecoveryNotes {
        let (server, skipped) = (server_key(0).public(), &mut |_: &str| ());
        RecoveryNotes::read(self.store.index(), self.store.disk(), server, skipped).unwrap()
    }

    fn propose(&self, to: Option<Height>) -> Result<Recovery, ProposeError> {
        propose(&self.files(), &self.notes(), to)
    }
}

/// Returns the vote of server 0, for a turn or for none.
fn vote(kind: VoteKind, height: Height, round: u32, header: Option<HeaderId>) -> Record {
    let voter = server_key(0).public();
    let vote = Vote { kind, height, round: Round(round), header, voter };
    Record::Vote(vote.sign(genesis().id(), &server_key(0)))
}

/// Returns the recovery to the state of honest servers after the last turn.
fn honest(steps: &[FixtureTurn]) -> Recovery {
    let [.., before, last] = steps else { panic!("a history has two turns") };
    let (height, header) = (last.turn.header.height, last.turn.id());
    let roots = [before.world.root(), last.world.root()];
    Recovery { sim: genesis().id(), engine: ENGINE, number: 1, height, header, roots }
}

fn signed(recovery: Recovery, signers: std::ops::Range<u8>) -> SignedRecovery {
    let mut signed = SignedRecovery::new(recovery);
    signers.for_each(|n| signed.sign(&server_key(n)));
    signed
}

/// Returns the snapshot of a server whose state after the last turn has a wrong bit.
fn wrong_snapshot(steps: &[FixtureTurn]) -> Snapshot {
    let right = &steps[TURNS - 1].world;
    let wrong = flipped(right, &LeafKey("clock".into()), &tools()).expect("a clock has bits");
    let mut base = base(steps, TURNS);
    base.roots[1] = wrong.root();
    let (root, bytes) = (wrong.root(), metatopia_replica::encode_snapshot(&base, &wrong));
    Snapshot { height: TIP, root, bytes }
}

#[test]
fn an_honest_server_proposes_the_state_that_it_comes_to() {
    let server = Stopped::new(&[]);
    let recovery = honest(&steps());
    assert_eq!(server.propose(None), Ok(recovery.clone()));
    let state = own_state(&server.files(), &recovery).unwrap();
    assert_eq!(state.world.root(), recovery.roots[1]);
}

#[test]
fn certified_states_and_those_of_turns_that_are_not_there_are_not_proposed() {
    let server = Stopped::new(&[]);
    let refused = |to: u64| match server.propose(Some(Height(to))) {
        Err(ProposeError::Refused(refusal)) => refusal,
        other => panic!("{to}: {other:?}"),
    };
    let tip = TIP;
    assert_eq!(refused(22), RecoveryRefusal::Certified { height: Height(22), tip });
    assert_eq!(refused(25), RecoveryRefusal::NoSuchTurn { tip });
    assert_eq!(refused(0), RecoveryRefusal::NoSuchTurn { tip });
    let empty = Stopped::with(&[Record::Voice]);
    let nothing = Err(ProposeError::Refused(RecoveryRefusal::NothingDecided));
    assert_eq!(empty.propose(None), nothing);
}

#[test]
fn recoveries_that_are_older_shorter_or_of_another_turn_are_refused() {
    let steps = steps();
    let server = Stopped::new(&[Record::Recovered(Box::new(signed(honest(&steps), 1..4)))]);
    let notes = server.notes();
    let right = Recovery { number: 2, ..honest(&steps) };
    let (height, header) = (right.height, HeaderId(Digest::ZERO));
    assert_eq!(notes.check(&right, TIP), Ok(()));
    assert_eq!(notes.next_number(height), 2);
    let older = Recovery { number: 1, ..right };
    assert_eq!(notes.check(&older, TIP), Err(RecoveryRefusal::Older { number: 1, height }));
    let other = Recovery { header, ..right };
    assert_eq!(notes.check(&other, TIP), Err(RecoveryRefusal::OtherTurn { height, header }));
    let later = Recovery { height: height.plus(1), ..right };
    let short = RecoveryRefusal::ShortLog { tip: TIP, height: later.height };
    assert_eq!(notes.check(&later, TIP), Err(short));
    let sim = SimId(Digest::ZERO);
    let foreign = RecoveryRefusal::OtherSim { found: right.sim, own: sim };
    assert_eq!(check_sim(&right, sim), Err(foreign));
    let engine = Recovery { engine: 99, ..right };
    assert_eq!(check_sim(&engine, right.sim), Err(RecoveryRefusal::OtherEngine(99)));
}

/// Others may have decided the turn that the server precommitted.
#[test]
fn a_recovery_to_another_root_than_the_server_precommitted_is_refused() {
    let steps = steps();
    let [.., before, last] = steps.as_slice() else { panic!("a history has two turns") };
    let next = next_turn(&last.world, Some(&last.turn), before.world.root());
    let (height, stated) = (next.header.height, next.header.root);
    let vote = vote(VoteKind::Precommit, height, 0, Some(Turn::id(&next)));
    let server = Stopped::new(&[Record::Turn(Arc::new(next)), vote]);
    let mut other = honest(&steps);
    assert_eq!(server.notes().check(&other, TIP), Ok(()));
    other.roots[0] = Root(Digest::ZERO);
    let refusal = server.notes().check(&other, TIP).unwrap_err();
    let wanted = Root(Digest::ZERO);
    assert_eq!(refusal, RecoveryRefusal::SignedOtherwise { height, stated, wanted });
}

/// A healthy sim that was stopped looked to a proposal like one that is stalled, and no warning came.
#[test]
fn a_log_shows_a_stall_by_votes_in_round_after_round() {
    let shows = |votes: &[(u64, u32)]| {
        let votes = votes.iter();
        let votes =
            votes.map(|(ahead, round)| vote(VoteKind::Prevote, TIP.plus(*ahead), *round, None));
        Stopped::new(&votes.collect::<Vec<_>>()).notes().shows_a_stall(TIP)
    };
    assert!(!shows(&[]));
    assert!(!shows(&[(0, 9), (1, 0), (1, 1)]));
    assert!(shows(&[(1, 0), (1, 1), (1, 2), (1, 3)]));
}

/// The newest snapshot was whole, and of another version. Whether the server signs was then read from no
/// snapshot, in place of the older one that a start goes back to.
#[test]
fn a_snapshot_that_cannot_be_decoded_is_passed_over_as_at_a_start() {
    let steps = steps();
    // As in a pruned log, only the snapshots say that the server signs.
    let mut disk = memory_log(&honest_records(&steps));
    let older = snapshot(&steps, TURNS - 1, &base(&steps, TURNS - 1));
    let (root, bytes) = (Root(Digest::ZERO), b"a state of another version".to_vec());
    put_snapshot(&mut disk, &older).unwrap();
    put_snapshot(&mut disk, &Snapshot { height: TIP, root, bytes }).unwrap();
    assert!(Stopped::of(disk).notes().voice);
}

#[test]
fn a_server_with_a_wrong_state_takes_that_of_another_and_its_log_is_in_order_then() {
    let steps = steps();
    let mut disk = memory_log(&honest_records(&steps));
    let wrong = wrong_snapshot(&steps);
    put_snapshot(&mut disk, &wrong).unwrap();
    let mut server = Stopped::of(disk);
    let recovery = honest(&steps);
    let error = own_state(&server.files(), &recovery).unwrap_err();
    let (height, root) = (TIP, wrong.root);
    assert_eq!(error, OwnStateError::OtherRoot { height, root });
    let contradicting = contradicting_snapshots(server.store.disk(), &recovery).unwrap();
    assert_eq!(contradicting.len(), 1, "{contradicting:?}");

    let world = || steps[TURNS - 1].world.clone();
    let mut other = base(&steps, TURNS);
    other.header = HeaderId(Digest::ZERO);
    assert!(RecoveredState::of_another((other, world()), &recovery, true).is_none());
    let given = (base(&steps, TURNS), world());
    let state = RecoveredState::of_another(given, &recovery, true).expect("the right state");
    assert!(state.check_signatures(&signed(recovery.clone(), 1..3)).is_err());
    let signed = signed(recovery.clone(), 1..4);
    assert_eq!(state.check_signatures(&signed), Ok(()));
    contradicting.into_iter().for_each(|file| {
        metatopia_store::Disk::remove(server.store.disk_mut(), file).unwrap();
    });
    state.put(&mut server.store, &signed).unwrap();

    assert_eq!(list_snapshots(server.store.disk()), Ok(vec![(TIP, recovery.roots[1])]));
    assert_eq!(server.notes().taken, std::slice::from_ref(&recovery));
    let identity = identity(&server.start.genesis);
    let checked = verify_log(server.store.disk(), identity, &server.start, &Serial, &mut ());
    let checked = checked.unwrap();
    assert_eq!((checked.fault, checked.recoveries), (None, vec![TIP]));
}
