//! The world itself, with a machine that only keeps a diary: each entry a client asks for is
//! written down, told to the others, and acknowledged.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use metatopia_simulator::{
    Class, Cluster, ClusterOrder, ClusterView, Conditions, CrashPoint, DurableMark, FileChange,
    FrameRecipients, LentDisk, Links, Machine, MachineEffect, MachineInput, Point, Simulator, Span,
    StartedServer, UnsyncedWrites,
};
use metatopia_store::{Disk as _, FileName, Folder, NewSegment, Position, SyncRequest, Write};
use metatopia_types::{Digest, Now};

const DIARY: FileName = FileName::segment(0);
const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct Diary {
    entries: Vec<u8>,
    heard: Vec<u8>,
    peers: BTreeMap<usize, bool>,
    woken: u32,
    effects: VecDeque<MachineEffect<Self>>,
}

impl Machine for Diary {
    type Peer = usize;
    type Frame = u8;
    type Timer = &'static str;
    type Job = u8;
    type Request = u8;
    type Report = u8;

    fn handle(&mut self, now: Now, input: MachineInput<Self>) {
        match input {
            MachineInput::Request(entry) => {
                self.entries.push(entry);
                let length = self.entries.len() as u64;
                let (after, end) = (DurableMark(length), Position(length));
                let begins = NewSegment { seal: None, header: Vec::new() };
                let write = Write {
                    file: DIARY,
                    begins: (length == 1).then_some(begins),
                    bytes: vec![entry],
                    position: Position(length - 1),
                    end,
                };
                self.effects.extend([
                    MachineEffect::Change(FileChange::Append(write)),
                    MachineEffect::Sync {
                        request: SyncRequest { file: DIARY, length, end },
                        mark: after,
                    },
                    MachineEffect::Send { to: FrameRecipients::All, frame: entry, after },
                    MachineEffect::Tell { report: entry, after },
                    MachineEffect::Begin(entry),
                ]);
            }
            MachineInput::Frame { frame, .. } => self.heard.push(frame),
            MachineInput::Timer(_) => {
                self.woken += 1;
                self.wake_later(now);
            }
            MachineInput::PeerUp(peer) => drop(self.peers.insert(peer, true)),
            MachineInput::PeerDown(peer) => drop(self.peers.insert(peer, false)),
            MachineInput::Synced { .. } | MachineInput::Done(_) => {}
        }
    }

    fn poll(&mut self) -> Option<MachineEffect<Self>> {
        self.effects.pop_front()
    }

    fn digest(&self) -> Digest {
        Digest::of("diary", &self.entries)
    }
}

impl Diary {
    fn wake_later(&mut self, now: Now) {
        let at = now.monotonic + Duration::from_millis(100);
        self.effects.push_back(MachineEffect::SetTimer { id: "tick", at });
    }
}

#[derive(Debug, Default)]
struct Diaries {
    told: Vec<(usize, u8)>,
    halted: Vec<String>,
    died: u32,
    steps_of_start: u32,
}

impl Cluster for Diaries {
    type Server = Diary;

    fn peer(&self, seat: usize) -> usize {
        seat
    }

    fn open(
        &mut self,
        _: usize,
        now: Now,
        disk: &mut LentDisk,
    ) -> Result<StartedServer<Diary>, String> {
        let entries = disk.disk().bytes(DIARY).unwrap_or_default().to_vec();
        for _ in 0..self.steps_of_start {
            disk.sync_dir(Folder::Log).map_err(|error| error.to_string())?;
        }
        if entries.contains(&0) {
            return Err("the diary is damaged".to_owned());
        }
        let durable = DurableMark(entries.len() as u64);
        let mut server = Diary { entries, ..Diary::default() };
        server.wake_later(now);
        Ok(StartedServer { server, durable })
    }

    fn stamp(frame: &u8) -> [u8; 8] {
        [*frame; 8]
    }

    fn told(&mut self, scene: &mut ClusterView<'_, Self>, report: u8) {
        self.told.push((scene.seat, report));
    }

    fn halted(&mut self, _: &mut ClusterView<'_, Self>, reason: &str) {
        self.halted.push(reason.to_owned());
    }

    fn died(&mut self, _: &mut ClusterView<'_, Self>) {
        self.died += 1;
    }
}

fn diaries(seed: u64, conditions: Conditions) -> Simulator<Diaries> {
    let mut world = Simulator::new(Diaries::default(), 4, seed, conditions, true);
    for seat in 0..4 {
        world.plan(Duration::ZERO, ClusterOrder::Start(seat));
    }
    world
}

/// Four diaries with crashes, loss and 60 entries.
fn stormy(seed: u64) -> Simulator<Diaries> {
    let mut world = diaries(seed, Conditions::draw(seed, 4));
    for entry in 1..=60 {
        let at = Duration::from_millis(u64::from(entry) * 17);
        world.request(at, usize::from(entry) % 4, entry);
    }
    for (ms, seat) in [(100, 1), (333, 2), (340, 1), (700, 0)] {
        let down = Duration::from_millis(40);
        world.plan(
            Duration::from_millis(ms),
            ClusterOrder::Crash { seat, tail: UnsyncedWrites::Lost, down },
        );
    }
    world.run_until(2 * SECOND);
    world
}

#[test]
fn one_seed_is_one_history_and_two_seeds_are_two() {
    for seed in 0..20 {
        let (a, b, other) = (stormy(seed), stormy(seed), stormy(seed + 1_000));

        assert_eq!(a.digest(), b.digest(), "seed {seed}");
        assert_eq!(a.trace().events(), b.trace().events(), "seed {seed}");
        assert_ne!(a.digest(), other.digest(), "seed {seed}");
        assert!(a.trace().lines().eq(b.trace().lines()), "seed {seed}");
    }
}

#[test]
fn what_was_told_survives_the_loss_of_unsynced_bytes() {
    let mut told = 0;
    for seed in 0..100 {
        let mut world = stormy(seed);
        world.plan(
            2 * SECOND,
            ClusterOrder::PowerLoss {
                tail: UnsyncedWrites::Lost,
                down: SECOND,
                stagger: Duration::ZERO,
            },
        );
        world.run_until(4 * SECOND);

        for (seat, entry) in &world.cluster.told {
            let diary = world.disk(*seat).bytes(DIARY).unwrap_or_default();
            assert!(diary.contains(entry), "seed {seed}: server {seat} forgot {entry}");
        }
        told += world.cluster.told.len();
    }
    assert!(told > 3_000, "only {told} entries were acknowledged");
}

#[test]
fn without_the_barrier_something_told_is_forgotten() {
    let forgets = |seed| {
        let conditions = Conditions { sync: Span::exactly_ms(5), ..Conditions::calm(5) };
        let mut world = diaries(seed, Conditions { barrier: false, ..conditions });
        world.request(SECOND, 0, 7);
        let at = SECOND + Duration::from_millis(2);
        world.plan(at, ClusterOrder::Crash { seat: 0, tail: UnsyncedWrites::Lost, down: SECOND });
        world.run_until(3 * SECOND);
        assert_eq!(world.cluster.told, [(0, 7)]);
        world.disk(0).bytes(DIARY) == Some(&[])
    };

    assert!(forgets(1));
}

#[test]
fn words_wait_for_the_disk_and_then_for_the_network() {
    let conditions = Conditions { sync: Span::exactly_ms(7), ..Conditions::calm(20) };
    let mut world = diaries(1, conditions);
    world.request(SECOND, 0, 9);

    world.run_until(SECOND + Duration::from_millis(6));
    assert!(world.cluster.told.is_empty());
    world.run_until(SECOND + Duration::from_millis(7));
    assert_eq!(world.cluster.told, [(0, 9)]);
    world.run_until(SECOND + Duration::from_millis(26));
    assert!(world.server(3).unwrap().heard.is_empty());
    world.run_until(SECOND + Duration::from_millis(27));
    assert_eq!(world.server(3).unwrap().heard, [9]);
}

#[test]
fn a_crash_point_stops_a_server_right_there() {
    let run = |point| {
        let mut world = diaries(1, Conditions::calm(1));
        let down = Duration::from_millis(100);
        world.crash_at(CrashPoint { seat: 0, point, tail: UnsyncedWrites::Lost, down });
        world.request(SECOND, 0, 5);
        world.run_until(3 * SECOND);
        let heard: Vec<_> = (1..4).map(|s| world.server(s).unwrap().heard.len()).collect();
        (world.server(0).unwrap().entries.len(), heard, world.crashes())
    };

    assert_eq!(run(Point::Change(1)), (0, vec![0, 0, 0], 1));
    assert_eq!(run(Point::Sync(1)), (1, vec![0, 0, 0], 1));
    assert_eq!(run(Point::Send(1)), (1, vec![1, 0, 0], 1));
    assert_eq!(run(Point::Send(2)), (1, vec![1, 1, 0], 1));
    assert_eq!(run(Point::Send(4)), (1, vec![1, 1, 1], 0), "there is no fourth");
}

#[test]
fn timers_of_a_dead_process_never_ring() {
    let mut world = diaries(1, Conditions::calm(1));
    let at = Duration::from_millis(350);
    world.plan(
        at,
        ClusterOrder::Crash { seat: 2, tail: UnsyncedWrites::Kept, down: Duration::ZERO },
    );

    world.run_until(SECOND);

    // 3 times before it died, 6 times after: one timer of the first life is void.
    assert_eq!(world.server(2).unwrap().woken, 6);
    assert_eq!(world.server(1).unwrap().woken, 10);
}

#[test]
fn servers_notice_who_died_and_who_came_back() {
    let mut world = diaries(1, Conditions::calm(10));
    world.plan(SECOND, ClusterOrder::Crash { seat: 3, tail: UnsyncedWrites::Kept, down: SECOND });

    world.run_until(SECOND - Duration::from_millis(1));
    assert_eq!(world.server(0).unwrap().peers, BTreeMap::from([(1, true), (2, true), (3, true)]));
    world.run_until(SECOND + Duration::from_millis(10));
    assert!(!world.server(0).unwrap().peers[&3]);
    world.run_until(3 * SECOND);
    assert!(world.server(0).unwrap().peers[&3]);
    assert_eq!(world.server(3).unwrap().peers, BTreeMap::from([(0, true), (1, true), (2, true)]));
}

#[test]
fn a_fast_clock_rings_earlier() {
    let conditions = Conditions { clocks: vec![(0, 0), (0, 100_000)], ..Conditions::calm(1) };
    let mut world = diaries(1, conditions);

    world.run_until(10 * SECOND);

    assert_eq!(world.server(0).unwrap().woken, 100);
    assert_eq!(world.server(1).unwrap().woken, 109);
}

#[test]
fn a_failed_sync_ends_the_process_before_anything_is_told() {
    let mut world = diaries(1, Conditions { sync_error_ppm: 1_000_000, ..Conditions::calm(1) });
    world.request(SECOND, 1, 4);

    world.run_until(2 * SECOND);

    assert_eq!((world.cluster.died, world.crashes()), (1, 1));
    assert!(world.cluster.told.is_empty());
    assert!(world.server(1).is_some(), "it starts again");
}

#[test]
fn a_server_that_cannot_start_stays_away_and_says_why() {
    let mut world = diaries(1, Conditions::calm(1));
    world.plan(SECOND, ClusterOrder::Kill(0));
    world.run_until(SECOND);
    world.disk_mut(0).append(DIARY, &[0]).unwrap();

    world.plan(2 * SECOND, ClusterOrder::Start(0));
    world.run_until(3 * SECOND);

    assert!(world.server(0).is_none());
    assert_eq!(world.cluster.halted, ["the diary is damaged"]);
}

#[test]
fn a_start_that_is_cut_off_is_tried_again_until_one_comes_through() {
    let conditions = Conditions { dies_at_start_ppm: 1_000_000, ..Conditions::calm(1) };
    let play = |steps_of_start| {
        let cluster = Diaries { steps_of_start, ..Diaries::default() };
        let mut world = Simulator::new(cluster, 1, 1, conditions.clone(), true);
        world.plan(Duration::ZERO, ClusterOrder::Start(0));
        world.run_until(5 * SECOND);
        assert!(world.server(0).is_some() && world.cluster.halted.is_empty());
        (world.fired().times(Class::CrashAtStart), world.crashes())
    };

    // A start that changes nothing cannot be cut off after a change; a long one is, as often as may be.
    assert_eq!(play(0), (0, 0));
    assert_eq!(play(40), (4, 4));
}

#[test]
fn who_is_stopped_while_its_start_was_cut_off_stays_away() {
    let conditions = Conditions {
        dies_at_start_ppm: 1_000_000,
        down: Span::exactly_ms(500),
        ..Conditions::calm(1)
    };
    let cluster = Diaries { steps_of_start: 40, ..Diaries::default() };
    let mut world = Simulator::new(cluster, 1, 1, conditions, true);
    world.plan(Duration::ZERO, ClusterOrder::Start(0));
    world.plan(SECOND / 5, ClusterOrder::Kill(0));

    world.run_until(5 * SECOND);

    assert!(world.server(0).is_none() && !world.is_wanted(0));
    assert_eq!(world.crashes(), 1);
}

#[test]
fn healing_ends_every_trouble() {
    let mut world = stormy(3);
    world.plan(world.now(), ClusterOrder::Split(vec![0]));
    world.run_until(3 * SECOND);
    world.heal();
    let heard = |world: &Simulator<Diaries>| -> Vec<usize> {
        (0..4).map(|seat| world.server(seat).unwrap().heard.len()).collect()
    };
    world.run_until(4 * SECOND);
    let before = heard(&world);

    world.request(world.now(), 1, 200);
    world.run_until(5 * SECOND);

    let after = heard(&world);
    assert_eq!(after, [before[0] + 1, before[1], before[2] + 1, before[3] + 1]);
}

#[test]
fn jobs_of_one_server_run_one_after_the_other() {
    let mut world = diaries(1, Conditions { job: Span::exactly_ms(30), ..Conditions::calm(1) });
    for entry in 1..=3 {
        world.request(SECOND, 0, entry);
    }

    world.run_until(2 * SECOND);

    let done: Vec<_> = world.trace().lines().filter(|l| l.contains("job done")).collect();
    let at = |line: &str| line.trim_start().split(' ').next().unwrap().to_owned();
    assert_eq!(done.iter().map(|l| at(l)).collect::<Vec<_>>(), ["1.030s", "1.060s", "1.090s"]);
}

#[test]
fn lossy_links_lose_and_steady_links_do_not() {
    let heard = |loss_ppm| {
        let links = Links { loss_ppm, ..Links::steady(3) };
        let mut world = diaries(1, Conditions { links, ..Conditions::calm(3) });
        for entry in 1..=200 {
            world.request(Duration::from_millis(10 * u64::from(entry)), 0, entry);
        }
        world.run_until(5 * SECOND);
        world.server(1).unwrap().heard.len()
    };

    assert_eq!(heard(0), 200);
    assert!((130..=190).contains(&heard(200_000)));
}
