//! How whole servers go on after the faults.

use std::time::Duration;

use metatopia_consensus::Patience;
use metatopia_oracle::Law;
use metatopia_replica::Condition;
use metatopia_types::{Act, Emote, Height, Round, SignedEnvelope};

use super::rush::Rush;
use super::visitors::{ReplicaRun, Visitors};
use crate::calm::{CalmLevel, Dues, NEAR, UNDER_WAY};
use crate::replica::lanes::LATE;
use crate::replica::{ActStatus, Person, ReplicaServer, ReplicaStage};
use crate::swarm_run::SwarmLevel as _;

/// How often it is looked at what came about.
const LOOK: Duration = Duration::from_millis(50);

/// Within so long a server finds that its disk has room again, or is started anew if it has failed.
const TO_FIND_ROOM: Duration = Duration::from_millis(2_500);

/// Turns that may be decided while an act travels from a client to its server, and on to the others.
const ON_ITS_WAY: u64 = 2;

impl CalmLevel for Visitors {
    fn heal(run: &mut ReplicaRun) -> Duration {
        let healed = run.now();
        run.stage.world.heal();
        run.stage.run_until(healed);
        let limit = healed + TO_FIND_ROOM;
        run.stage.run_till(limit, |stage| stage.world.now() > healed && stage.are_disks_sound());
        // The admin changes nothing any more.
        run.changes.clear();
        run.now()
    }

    fn round(server: &ReplicaServer) -> Option<Round> {
        server.status()?.round
    }

    /// A stream that lost a frame is found broken with the next one that comes, and what was in it is
    /// said again.
    fn links(patience: Patience) -> Duration {
        patience.rebroadcast + 2 * LATE
    }

    fn waiting(run: &ReplicaRun, seat: usize) -> Option<Vec<SignedEnvelope>> {
        let of_people = |act: &SignedEnvelope| {
            run.stage.people.iter().any(|person| person.deeds.contains_key(&act.id()))
        };
        let pending = run.stage.world.server(seat)?.replica().pending();
        Some(pending.filter(|act| of_people(act)).cloned().collect())
    }

    /// Returns the servers that have to vote: not those that healed too often, nor those whose state went
    /// wrong in the calm.
    fn reliable(run: &ReplicaRun) -> Vec<usize> {
        let (mut voters, calm_from) = (run.voters(), run.plan.calm_from);
        let parted = &run.stage.world.cluster.parted;
        voters.retain(|seat| {
            let status = run.stage.world.server(*seat).and_then(ReplicaServer::status);
            let follows = status.is_some_and(|status| status.condition == Condition::Following);
            !follows && !parted.iter().any(|(at, by)| by == seat && *at >= calm_from)
        });
        voters
    }

    fn await_turn(stage: &mut ReplicaStage, last: Height, limit: Duration) {
        let decided = |stage: &ReplicaStage| stage.world.cluster.oracle.laws.last_decided();
        stage.run_till(limit, |stage| decided(stage) > last || !stage.world.is_sound());
    }

    fn missed(run: &ReplicaRun, last: Height) -> u64 {
        let heights = run.stage.world.heights();
        let behind = Self::behind(run).into_iter();
        behind.map(|seat| last.0 - heights[seat].unwrap_or(0).min(last.0)).max().unwrap_or(0)
    }

    /// Returns who is behind the furthest by more than a few turns, of those who run or shall run.
    fn behind(run: &ReplicaRun) -> Vec<usize> {
        let world = &run.stage.world;
        let (top, heights) = (world.cluster.oracle.laws.last_decided().0, world.heights());
        let members = Self::members(run).unwrap_or_default();
        let is_behind = |seat: &usize| heights[*seat].is_none_or(|height| height + NEAR < top);
        let counts = |seat: &usize| {
            let member = members.contains(&run.stage.setting().name(*seat));
            (member || run.plan.own.invited().contains(seat)) && world.is_wanted(*seat)
        };
        world.honest().filter(counts).filter(is_behind).collect()
    }

    /// Lets somebody act who did nothing before.
    fn decide_act(run: &mut ReplicaRun, dues: &mut Dues) -> Option<u64> {
        let limit = run.now() + Duration::from_secs(10);
        let person = run.own.witness;
        if !run.stage.run_till(limit, |stage| stage.people[person].is_open()) {
            run.stage.world.blame(None, Law::Stuck, "a client gets no session with any server");
            return None;
        }
        let after = run.stage.world.top();
        let waves = |somebody: &mut Person, now| somebody.act(now, Act::Emote(Emote::Wave), None);
        let act = run.stage.prompt(person, waves)?;
        let last = after + ON_ITS_WAY + UNDER_WAY + run.faults_borne() as u64 + 2;
        let limit = run.now() + Duration::from_secs(30);
        let fate = |stage: &ReplicaStage| stage.people[person].fate(act);
        let is_over = |stage: &ReplicaStage| {
            !stage.world.is_sound()
                || fate(stage) != ActStatus::Waiting
                || stage.world.top() > last + ON_ITS_WAY
        };
        while !is_over(&run.stage) && run.now() < limit {
            run.stage.run_for(LOOK);
            run.look(dues);
        }
        if !run.is_sound() {
            return None;
        }
        match fate(&run.stage) {
            ActStatus::Receipted { height, .. } if height.0 <= last => {
                run.own.rush = Rush::begin(run);
                Some(height.0.saturating_sub(after))
            }
            other => {
                let what =
                    format!("{act} is in none of the turns from {after} to {last}: {other:?}");
                run.stage.world.blame(None, Law::LateAct, what);
                None
            }
        }
    }

    fn go_on(run: &mut ReplicaRun, dues: &mut Dues) {
        if let Some(mut rush) = run.own.rush.take() {
            rush.go_on(run, dues);
            run.own.rush = Some(rush);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use metatopia_oracle::Law;

    use super::{CalmLevel as _, Dues, NEAR, ReplicaRun, Visitors};
    use crate::class::Class;
    use crate::cluster::ClusterOrder;
    use crate::course::SeedRun;
    use crate::crash::UnsyncedWrites;

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
        let top = run.stage.world.top();
        let bound = 3 * SECOND;
        let laws = &run.stage.world.cluster.oracle.laws;
        let mut dues = Dues::new(now, laws, (bound, bound), Vec::new(), 1);

        assert_eq!(run.new_turn(&mut dues, bound), None);

        assert!(run.stage.world.top() > top, "all have restarted, and applied what they had");
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
            if run.stage.world.heights().iter().flatten().any(|height| height + NEAR < decided) {
                assert!(
                    !Visitors::behind(&run).is_empty(),
                    "{:?} of {decided}",
                    run.stage.world.heights()
                );
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

        run.calm_down();

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
        run.look(&mut dues);

        let faults = run.stage.world.cluster.oracle.faults();
        let blamed: Vec<_> = faults.iter().map(|fault| (fault.seat, fault.law)).collect();
        assert_eq!(blamed, [(Some(3), Law::Silent)]);
    }
}
