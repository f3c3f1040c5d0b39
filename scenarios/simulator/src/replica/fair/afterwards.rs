//! After the faults: the world must go on, and in time.

use std::time::Duration;

use metatopia_oracle::Law;
use metatopia_replica::Condition;
use metatopia_types::{Act, Emote, SignedEnvelope};

use super::rush::Rush;
use super::visitors::ReplicaRun;
use crate::calm::{CalmSettings, Dues, FaultRecovery, UNDER_WAY};
use crate::replica::lanes::LATE;
use crate::replica::{ActStatus, Person, ReplicaServer, ReplicaStage};
use crate::storm::Stormy as _;

/// How often it is looked at what came about.
const LOOK: Duration = Duration::from_millis(50);

/// Within so long a server finds that its disk has room again, or is started anew if it has failed.
const TO_FIND_ROOM: Duration = Duration::from_millis(2_500);

/// Turns that may be decided while an act travels from a client to its server, and on to the others.
const ON_ITS_WAY: u64 = 2;

/// Stops all faults, and sees how the world goes on until its time is over. None if it does not.
pub(super) fn go_on(run: &mut ReplicaRun) -> Option<FaultRecovery> {
    let healed = run.stage.world.now();
    run.stage.world.set_clocks_right();
    run.stage.world.heal();
    run.stage.run_until(healed);
    let limit = healed + TO_FIND_ROOM;
    run.stage.run_till(limit, |stage| stage.world.now() > healed && stage.are_disks_sound());
    let healed = run.stage.world.now();
    run.settle_members();
    let (bound, later) = (pace(run).turn_bound(round(run)), pace(run).turn_bound(0));
    let (laws, acts) = (&run.stage.world.cluster.oracle.laws, known_to_all(run));
    let mut dues = Dues::new(healed, laws, (bound, later), acts, faults_borne(run));
    let turn = new_turn(run, &mut dues, bound)?;
    let caught_up = catch_up(run, &mut dues, healed)?;
    let voters = run.voters();
    dues.caught_up(run.stage.world.now(), &run.stage.world.cluster.oracle.laws, voters);
    let act = decide_act(run, &mut dues)?;
    let mut rush = Rush::begin(run);
    while run.is_sound() && (run.stage.world.now() < run.plan.end || !dues.are_paid()) {
        let (now, end) = (run.stage.world.now(), run.plan.end);
        let next = now + Duration::from_millis(500);
        run.stage.run_until(if now < end { next.min(end) } else { next });
        run.tick();
        look(run, &mut dues);
        if let Some(rush) = &mut rush {
            rush.go_on(run, &mut dues);
        }
    }
    Some(FaultRecovery { turn, turn_bound: bound, caught_up, act })
}

pub(super) fn pace(run: &ReplicaRun) -> CalmSettings<'_> {
    let setting = run.stage.setting();
    CalmSettings {
        conditions: &run.plan.conditions,
        patience: setting.patience,
        turn: Duration::from_millis(setting.turn_length()),
        // A stream that lost a frame is found broken with the next one that comes, and what was in it
        // is said again.
        links: setting.patience.rebroadcast + 2 * LATE,
        faults_borne: faults_borne(run),
    }
}

pub(super) fn faults_borne(run: &ReplicaRun) -> u32 {
    let members = run.members().map_or(run.plan.founders, |members| members.len());
    u32::try_from(members.saturating_sub(1) / 3).unwrap_or(u32::MAX)
}

/// The latest round that a server is in, as it said last.
fn round(run: &ReplicaRun) -> u32 {
    let world = &run.stage.world;
    let servers = (0..world.seats()).filter_map(|seat| world.server(seat)?.status()?.round);
    servers.map(|round| round.0).max().unwrap_or(0)
}

/// Acts of people that wait at every honest server that votes.
fn known_to_all(run: &ReplicaRun) -> Vec<SignedEnvelope> {
    let waiting = |seat: usize| {
        let server = run.stage.world.server(seat)?;
        Some(server.replica().pending().collect::<Vec<_>>())
    };
    let all: Option<Vec<_>> = run.voters().into_iter().map(waiting).collect();
    let Some([first, others @ ..]) = all.as_deref() else {
        return Vec::new();
    };
    let of_people = |act: &SignedEnvelope| {
        run.stage.people.iter().any(|person| person.deeds.contains_key(&act.id()))
    };
    let everywhere = |act: &&&SignedEnvelope| others.iter().all(|acts| acts.contains(*act));
    first.iter().filter(everywhere).filter(|act| of_people(act)).map(|act| (*act).clone()).collect()
}

/// Looks at what is due. Who healed too often need not vote, nor whose state went wrong in the calm.
pub(super) fn look(run: &mut ReplicaRun, dues: &mut Dues) {
    let (now, voters) = (run.stage.world.now(), reliable(run));
    dues.look(now, &mut run.stage.world.cluster.oracle.laws, &voters);
}

/// The honest servers that have to vote.
pub(super) fn reliable(run: &ReplicaRun) -> Vec<usize> {
    let (mut voters, calm_from) = (run.voters(), run.plan.calm_from);
    let parted = &run.stage.world.cluster.parted;
    voters.retain(|seat| {
        let status = run.stage.world.server(*seat).and_then(ReplicaServer::status);
        let follows = status.is_some_and(|status| status.condition == Condition::Following);
        !follows && !parted.iter().any(|(at, by)| by == seat && *at >= calm_from)
    });
    voters
}

fn new_turn(run: &mut ReplicaRun, dues: &mut Dues, bound: Duration) -> Option<Duration> {
    let (now, last) = (run.stage.world.now(), dues.last());
    let decided = |stage: &ReplicaStage| stage.world.cluster.oracle.laws.last_decided();
    run.stage.run_till(now + bound, |stage| decided(stage) > last || !stage.is_sound());
    look(run, dues);
    run.is_sound().then(|| run.stage.world.now() - now)
}

/// Lets everybody who was behind come up to the others.
fn catch_up(run: &mut ReplicaRun, dues: &mut Dues, healed: Duration) -> Option<Duration> {
    let (top, heights) = (dues.last().0, run.stage.heights());
    let missed = run.behind().into_iter().map(|seat| top - heights[seat].unwrap_or(0).min(top));
    let limit = run.stage.world.now() + pace(run).catch_up_bound(missed.max().unwrap_or(0));
    while run.is_sound() && run.stage.world.now() < limit {
        run.stage.run_for(2 * LOOK);
        look(run, dues);
        if run.behind().is_empty() {
            return Some(run.stage.world.now() - healed);
        }
    }
    if run.is_sound() {
        let (behind, heights) = (run.behind(), run.stage.heights());
        run.stage.blame(Law::Behind, format!("{behind:?} are behind: {heights:?}"));
    }
    None
}

/// Lets somebody act who did nothing before. Returns how many turns later that was decided.
fn decide_act(run: &mut ReplicaRun, dues: &mut Dues) -> Option<u64> {
    let limit = run.stage.world.now() + Duration::from_secs(10);
    let person = run.witness;
    if !run.stage.run_till(limit, |stage| stage.people[person].is_open()) {
        run.stage.blame(Law::Stuck, "a client gets no session with any server");
        return None;
    }
    let after = run.stage.top();
    let waves = |somebody: &mut Person, now| somebody.act(now, Act::Emote(Emote::Wave), None);
    let act = run.stage.prompt(person, waves)?;
    let last = after + ON_ITS_WAY + UNDER_WAY + u64::from(faults_borne(run)) + 2;
    let limit = run.stage.world.now() + Duration::from_secs(30);
    let fate = |stage: &ReplicaStage| stage.people[person].fate(act);
    let is_over = |stage: &ReplicaStage| {
        !stage.is_sound() || fate(stage) != ActStatus::Waiting || stage.top() > last + ON_ITS_WAY
    };
    while !is_over(&run.stage) && run.stage.world.now() < limit {
        run.stage.run_for(LOOK);
        look(run, dues);
    }
    if !run.is_sound() {
        return None;
    }
    match fate(&run.stage) {
        ActStatus::Receipted { height, .. } if height.0 <= last => {
            Some(height.0.saturating_sub(after))
        }
        other => {
            let what = format!("{act} is in none of the turns from {after} to {last}: {other:?}");
            run.stage.blame(Law::LateAct, what);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use metatopia_oracle::Law;

    use super::{Dues, go_on, look, new_turn};
    use crate::calm::NEAR;
    use crate::class::Class;
    use crate::cluster::ClusterOrder;
    use crate::course::SeedRun;
    use crate::crash::UnsyncedWrites;
    use crate::replica::fair::visitors::ReplicaRun;

    const SECOND: Duration = Duration::from_secs(1);

    /// A world without faults, after two seconds.
    fn begun(span: Duration) -> ReplicaRun {
        let mut course = SeedRun::new(1.into(), span);
        course.without = Class::ALL.iter().copied().collect();
        let mut run = ReplicaRun::new(&course);
        run.stage.run_until(2 * SECOND);
        run
    }

    fn broken(run: &ReplicaRun) -> Vec<Law> {
        run.stage.world.cluster.oracle.faults().iter().map(|fault| fault.law).collect()
    }

    #[test]
    fn a_turn_that_is_applied_again_is_no_new_turn() {
        let mut run = begun(10 * SECOND);
        let (now, down) = (run.stage.world.now(), SECOND / 20);
        run.stage.world.plan(now, ClusterOrder::Split(vec![0, 1]));
        run.stage.world.plan(
            now,
            ClusterOrder::PowerLoss { tail: UnsyncedWrites::Kept, down, stagger: Duration::ZERO },
        );
        run.stage.run_until(now);
        let top = run.stage.top();
        let bound = 3 * SECOND;
        let laws = &run.stage.world.cluster.oracle.laws;
        let mut dues = Dues::new(now, laws, (bound, bound), Vec::new(), 1);

        assert_eq!(new_turn(&mut run, &mut dues, bound), None);

        assert!(run.stage.top() > top, "all have restarted, and applied what they had");
        assert_eq!(broken(&run), [Law::LateTurn]);
    }

    /// After a power loss all servers calculated the turns of their logs again. Nobody had a state in
    /// hands then, so nobody was known to vote, and nobody to be behind: an act was owed in turns that
    /// had been decided before it was said (whole seed 48, 24 s, with few classes of faults).
    #[test]
    fn who_calculates_turns_again_is_behind() {
        let mut run = begun(20 * SECOND);
        run.stage.run_until(8 * SECOND);
        let (now, down) = (run.stage.world.now(), SECOND / 20);
        run.stage.world.plan(
            now,
            ClusterOrder::PowerLoss { tail: UnsyncedWrites::Kept, down, stagger: Duration::ZERO },
        );
        run.stage.run_until(now + down);

        let mut seen = 0;
        for _ in 0..400 {
            run.stage.run_for(SECOND / 1_000);
            let decided = run.stage.world.cluster.oracle.laws.last_decided().0;
            if run.stage.heights().iter().flatten().any(|height| height + NEAR < decided) {
                assert!(!run.behind().is_empty(), "{:?} of {decided}", run.stage.heights());
                seen += 1;
            }
        }
        assert!(seen > 20, "{seen}");
    }

    #[test]
    fn turns_come_in_time_until_a_world_ends() {
        let mut run = begun(40 * SECOND);
        run.stage.world.plan(14 * SECOND, ClusterOrder::SplitFor(Class::Split, vec![0, 1]));
        run.stage.world.plan(34 * SECOND, ClusterOrder::Mend(Class::Split));

        go_on(&mut run);

        assert_eq!(broken(&run), [Law::LateTurn]);
        let late = run.stage.world.now();
        assert!(late > 14 * SECOND && late < 28 * SECOND, "{late:?}");
    }

    #[test]
    fn a_member_that_signs_nothing_is_seen() {
        let mut run = begun(10 * SECOND);
        let now = run.stage.world.now();
        run.stage.world.plan(now, ClusterOrder::Kill(3));
        let laws = &run.stage.world.cluster.oracle.laws;
        let mut dues = Dues::new(now, laws, (SECOND, SECOND), Vec::new(), 1);
        dues.caught_up(now, laws, run.voters());

        run.stage.run_for(6 * SECOND);
        look(&mut run, &mut dues);

        let faults = run.stage.world.cluster.oracle.faults();
        let blamed: Vec<_> = faults.iter().map(|fault| (fault.seat, fault.law)).collect();
        assert_eq!(blamed, [(Some(3), Law::Silent)]);
    }
}
