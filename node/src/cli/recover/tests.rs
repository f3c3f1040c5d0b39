use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf, sync::Arc};

use clap::Parser as _;
use metatopia_audit::{
    fixture::{FixtureTurn, genesis, honest_records, next_turn, server_key, steps},
    recover::file::encode,
    tools,
};
use metatopia_consensus::{Base, Record};
use metatopia_replica::encode_snapshot;
use metatopia_sim::{World, flipped};
use metatopia_store::{Snapshot, list_snapshots, put_snapshot};
use metatopia_types::{
    Digest, HeaderId, Height, PublicKey, Recovery, Root, Round, Sign as _, SignedRecovery, Turn,
    Vote, VoteKind,
};

use super::file;
use crate::{
    cli::{
        Cli, Exit, Failure,
        console::Console,
        fixture::{FixtureDirectory, pruned_directory},
        log::verify,
        run,
        up::world::GENESIS,
    },
    disk::{DataDirectory, RealDisk},
};

/// The data directory of server 0, stopped after the last of some turns.
struct Server {
    kept: FixtureDirectory,
    steps: Vec<FixtureTurn>,
}

/// Returns the step of height `n`.
fn turn(steps: &[FixtureTurn], n: u64) -> &FixtureTurn {
    &steps[n as usize - 1]
}

fn command(words: &[&str]) -> Result<(), Failure> {
    let words = ["metatopia", "recover"].iter().chain(words);
    let cli = Cli::try_parse_from(words).expect("a command");
    run(cli.command.expect("a command"), Console::quiet())
}

impl Server {
    fn new(name: &str, more: &[Record]) -> Self {
        let steps = steps();
        let records: Vec<Record> = [Record::Voice]
            .into_iter()
            .chain(honest_records(&steps))
            .chain(more.iter().cloned())
            .collect();
        Self::with(name, &records)
    }

    /// Returns a server with nothing but these records in its log.
    fn with(name: &str, records: &[Record]) -> Self {
        Self::of(FixtureDirectory::write(&format!("recover-{name}"), records))
    }

    /// Returns a server with this directory.
    fn of(kept: FixtureDirectory) -> Self {
        let key = kept.dir.join("vote.key");
        let digits: String = server_key(0).secret().iter().map(|b| format!("{b:02x}")).collect();
        fs::write(&key, format!("metatopia-key-1 {digits}\n")).unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        Self { kept, steps: steps() }
    }

    fn dir(&self) -> String {
        self.kept.dir.display().to_string()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.kept.dir.join(name)
    }

    fn tip(&self) -> u64 {
        self.steps.len() as u64
    }

    /// Returns the recovery to the state that honest servers come to after the turn of this height.
    fn recovery(&self, height: u64) -> Recovery {
        let (own, before) = (turn(&self.steps, height), turn(&self.steps, height - 1));
        Recovery {
            sim: genesis().id(),
            engine: metatopia_sim::ENGINE,
            number: 1,
            height: Height(height),
            header: own.turn.id(),
            roots: [before.world.root(), own.world.root()],
        }
    }

    /// Writes a recovery that these servers signed, and returns its path.
    fn file(&self, name: &str, recovery: Recovery, signers: &[u8]) -> String {
        let mut signed = SignedRecovery::new(recovery);
        signers.iter().for_each(|n| signed.sign(&server_key(*n)));
        let path = self.path(name);
        fs::write(&path, encode(&signed)).unwrap();
        path.display().to_string()
    }

    /// Returns the snapshot of a server that comes to this world after the turn of this height.
    fn snapshot(&self, height: u64, world: &World) -> Snapshot {
        let own = &turn(&self.steps, height).turn;
        let height = own.header.height;
        let set = |ahead| world.validators(height.plus(ahead)).unwrap().clone();
        let before = turn(&self.steps, height.0 - 1).world.root();
        let base = Base {
            height,
            header: own.id(),
            time: own.header.time,
            roots: [before, world.root()],
            sets: [set(1), set(2), set(3)],
            links: Vec::new(),
            voice: true,
        };
        Snapshot { height, root: world.root(), bytes: encode_snapshot(&base, world) }
    }

    fn snapshots(&self) -> Vec<(Height, Root)> {
        list_snapshots(&DataDirectory::open(&self.kept.dir).unwrap()).unwrap()
    }
}

fn exit(result: Result<(), Failure>) -> (Exit, String) {
    let failure = result.expect_err("a command that fails");
    (failure.exit, failure.message)
}

fn signers(path: &str) -> Vec<PublicKey> {
    file::read(path.as_ref()).unwrap().signatures.into_keys().collect()
}

#[test]
fn a_server_that_comes_to_another_state_gives_way_and_takes_the_right_one() {
    let server = Server::new("other-state", &[]);
    let (dir, tip) = (server.dir(), server.tip());
    let right = turn(&server.steps, tip).world.clone();
    let tile = right.manifest().leaves.into_iter().find(|leaf| leaf.key.0.starts_with("tile/"));
    let wrong = flipped(&right, &tile.unwrap().key, &tools()).unwrap();
    put_snapshot(&mut RealDisk::open(&server.kept.dir).unwrap(), &server.snapshot(tip, &wrong))
        .unwrap();
    let file = server.file("plaza.recovery", server.recovery(tip), &[1, 2]);

    let (code, why) = exit(command(&["sign", &file, "--data-dir", &dir]));
    assert_eq!(code, Exit::Diverged);
    assert!(why.contains(&wrong.root().to_string()) && why.contains("--give-way"), "{why}");
    command(&["sign", &file, "--data-dir", &dir, "--give-way"]).unwrap();
    assert_eq!(signers(&file).len(), 3);

    let (code, why) = exit(command(&["apply", &file, "--data-dir", &dir]));
    assert!(code == Exit::Diverged && why.contains("--state"), "{why}");
    let state = server.path("a-peers-state");
    fs::write(&state, server.snapshot(tip, &wrong).to_file()).unwrap();
    let state = state.display().to_string();
    let (code, why) = exit(command(&["apply", &file, "--data-dir", &dir, "--state", &state]));
    assert_eq!(code, Exit::Unverified, "{why}");
    fs::write(&state, server.snapshot(tip, &right).to_file()).unwrap();
    command(&["apply", &file, "--data-dir", &dir, "--state", &state]).unwrap();

    assert_eq!(server.snapshots(), [(Height(tip), right.root())]);
    assert_eq!(fs::read_dir(server.path("aside")).unwrap().count(), 1);
    let checked = verify(&server.kept.dir, &server.path(GENESIS), &mut ()).unwrap();
    assert_eq!((checked.fault, checked.recoveries), (None, vec![Height(tip)]));
    // Applying the recovery again does no harm, and an older one is refused.
    command(&["apply", &file, "--data-dir", &dir]).unwrap();
    let mut other = server.recovery(tip);
    other.roots[1] = Root(Digest::ZERO);
    let other = server.file("other.recovery", other, &[1, 2, 3]);
    let (code, why) = exit(command(&["apply", &other, "--data-dir", &dir]));
    assert!(code == Exit::Refused && why.contains("older"), "{why}");
}

#[test]
fn proposals_that_were_signed_apart_are_put_together() {
    let server = Server::new("apart", &[]);
    let (dir, tip) = (server.dir(), server.tip());
    let out = server.path("own.recovery").display().to_string();
    command(&["propose", "--data-dir", &dir, "--out", &out]).unwrap();
    assert_eq!(file::read(out.as_ref()).unwrap().recovery, server.recovery(tip));
    assert_eq!(signers(&out), [server_key(0).public()]);
    let (code, _) = exit(command(&["propose", "--data-dir", &dir, "--out", &out]));
    assert_eq!(code, Exit::Failed, "a file is never overwritten");

    let two = server.file("two.recovery", server.recovery(tip), &[1, 9]);
    let (code, why) = exit(command(&["apply", &out, &two, "--data-dir", &dir]));
    assert_eq!(code, Exit::Unverified);
    assert!(why.contains(&server_key(9).public().to_string()), "{why}");
    let two = server.file("two.recovery", server.recovery(tip), &[1]);
    let (code, why) = exit(command(&["apply", &out, &two, "--data-dir", &dir]));
    assert!(code == Exit::Unverified && why.contains("voting power 2"), "{why}");
    let other = server.file("other.recovery", server.recovery(tip - 1), &[1]);
    assert_eq!(exit(command(&["apply", &out, &other, "--data-dir", &dir])).0, Exit::Usage);
    let three = server.file("three.recovery", server.recovery(tip), &[2]);
    command(&["apply", &out, &two, &three, "--data-dir", &dir]).unwrap();
    let root = turn(&server.steps, tip).world.root();
    assert_eq!(server.snapshots(), [(Height(tip), root)]);
}

#[test]
fn what_is_certified_or_precommitted_is_not_recovered_to_anything_else() {
    // The server has precommitted a turn that rests on its own root.
    let last = steps();
    let (before, last) = (&last[last.len() - 2], &last[last.len() - 1]);
    let next = next_turn(&last.world, Some(&last.turn), before.world.root());
    let vote = Vote {
        kind: VoteKind::Precommit,
        height: next.header.height,
        round: Round(0),
        header: Some(Turn::id(&next)),
        voter: server_key(0).public(),
    };
    let vote = vote.sign(genesis().id(), &server_key(0));
    let server = Server::new("locked", &[Record::Turn(Arc::new(next)), Record::Vote(vote)]);
    let (dir, tip) = (server.dir(), server.tip());
    let out = server.path("own.recovery").display().to_string();
    let at = |height: u64| {
        let height = height.to_string();
        exit(command(&["propose", "--to", &height, "--data-dir", &dir, "--out", &out]))
    };
    assert_eq!(at(tip - 2).0, Exit::Refused);
    assert!(at(tip - 2).1.contains("nothing to recover"));
    assert_eq!(at(tip + 1).0, Exit::Refused);
    assert_eq!(at(0).0, Exit::Refused);
    assert!(at(0).1.contains("no state to go on from"), "{}", at(0).1);

    let mut other = server.recovery(tip);
    other.roots[0] = Root(Digest::ZERO);
    let other = server.file("other.recovery", other, &[1, 2, 3]);
    for words in [["sign", &other, "--give-way"], ["apply", &other, "--genesis"]] {
        let genesis = server.path(GENESIS).display().to_string();
        let mut words = words.to_vec();
        if words[0] == "apply" {
            words.push(&genesis);
        }
        words.extend(["--data-dir", &dir]);
        let (code, why) = exit(command(&words));
        assert!(code == Exit::Refused && why.contains("has signed for turn"), "{why}");
    }
    // The server may sign a recovery that agrees with what it has signed.
    command(&["propose", "--data-dir", &dir, "--out", &out]).unwrap();
}

/// The log then has no turn to begin with. The exit code once was that of a wrong log.
#[test]
fn an_old_turn_of_a_pruned_log_is_refused_as_certified() {
    let server = Server::of(pruned_directory("recover-pruned", |_| ()));
    let (dir, out) = (server.dir(), server.path("own.recovery").display().to_string());
    let (code, why) = exit(command(&["propose", "--to", "2", "--data-dir", &dir, "--out", &out]));
    assert!(code == Exit::Refused && why.contains("turn 2 is certified by turn 24"), "{why}");
}

#[test]
fn files_that_were_changed_and_foreign_ones_are_refused() {
    let server = Server::new("foreign", &[]);
    let (dir, tip) = (server.dir(), server.tip());
    let file = server.file("plaza.recovery", server.recovery(tip), &[1, 2, 3]);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();
    assert_eq!(exit(command(&["show", &file])).0, Exit::Unverified);
    let mut foreign = server.recovery(tip);
    foreign.sim = metatopia_types::SimId(Digest::ZERO);
    let foreign = server.file("foreign.recovery", foreign, &[1, 2, 3]);
    let (code, why) = exit(command(&["apply", &foreign, "--data-dir", &dir]));
    assert!(code == Exit::Unverified && why.contains("is for sim"), "{why}");
    let absent = server.path("absent").display().to_string();
    assert_eq!(exit(command(&["show", &absent])).0, Exit::NotFound);
    let _held = RealDisk::open(&server.kept.dir).unwrap();
    let (code, why) = exit(command(&["apply", &file, "--data-dir", &dir]));
    assert_eq!(code, Exit::Unverified, "the file is looked at first: {why}");
    let file = server.file("whole.recovery", server.recovery(tip), &[1, 2, 3]);
    let (code, why) = exit(command(&["apply", &file, "--data-dir", &dir]));
    assert!(code == Exit::Refused && why.contains("stop the server first"), "{why}");
}

#[test]
fn before_the_first_turn_nothing_is_recovered_and_it_is_said_what_to_do() {
    let server = Server::with("first", &[Record::Voice]);
    let (dir, out) = (server.dir(), server.path("own.recovery").display().to_string());
    let (height, header) = (Height(0), HeaderId::BEFORE_FIRST);
    let none = Recovery { height, header, ..server.recovery(2) };
    let none = server.file("none.recovery", none, &[1, 2, 3]);
    let words: [&[&str]; 4] = [
        &["propose", "--out", &out],
        &["propose", "--to", "0", "--out", &out],
        &["sign", &none, "--give-way"],
        &["apply", &none],
    ];
    for words in words {
        let words: Vec<&str> = words.iter().chain(&["--data-dir", &dir]).copied().collect();
        let (code, why) = exit(command(&words));
        assert_eq!(code, Exit::Refused, "{words:?}: {why}");
        assert!(why.contains("before the first turn") && why.contains("start all"), "{why}");
    }
}
