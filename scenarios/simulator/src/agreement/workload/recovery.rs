//! How agreement goes on after the faults.

use std::time::Duration;

use metatopia_oracle::Law;
use metatopia_types::{Height, Round, SignedEnvelope};

use super::players::{AgreementRun, Players};
use crate::agreement::{AgreementServer, AgreementStage};
use crate::calm::{CalmLevel, Dues, NEAR, UNDER_WAY};
use crate::stage::ClusterStage as _;

fn give_to_all(run: &mut AgreementRun, act: &SignedEnvelope) {
    let now = run.now();
    for seat in 0..run.stage.world.seats() {
        run.stage.world.request(now, seat, act.clone());
    }
}

impl CalmLevel for Players {
    fn heal(run: &mut AgreementRun) -> Duration {
        let healed = run.now();
        run.stage.heal();
        run.join_some();
        give_to_all(run, &run.first_act());
        run.stage.play_until(healed);
        healed
    }

    fn round(server: &AgreementServer) -> Option<Round> {
        server.agreement().round()
    }

    fn waiting(run: &AgreementRun, seat: usize) -> Option<Vec<SignedEnvelope>> {
        run.stage.world.server(seat).map(|server| server.ledger().waiting().to_vec())
    }

    fn await_turn(stage: &mut AgreementStage, last: Height, limit: Duration) {
        stage.world.run_while(limit, |world| {
            world.cluster.oracle.last_decided() == last && world.is_sound()
        });
    }

    fn missed(run: &AgreementRun, _: Height) -> u64 {
        let (world, top) = (&run.stage.world, run.stage.top());
        let missed = Self::behind(run).into_iter().filter_map(|seat| world.server(seat));
        top - missed.map(|server| server.height().0).min().unwrap_or(top)
    }

    fn help(run: &mut AgreementRun) {
        run.join_some();
    }

    /// Returns who is behind the furthest by more than a few turns, or waits for a state to begin with, of
    /// those who run or shall run.
    fn behind(run: &AgreementRun) -> Vec<usize> {
        let (world, top) = (&run.stage.world, run.stage.top());
        let is_behind =
            |seat: &usize| world.server(*seat).is_none_or(|server| server.height().0 + NEAR < top);
        let wanted = world.honest().filter(|seat| world.is_wanted(*seat));
        let joining = run.own.joining.iter().map(|(seat, _)| *seat);
        wanted.filter(is_behind).chain(joining).collect()
    }

    /// Gives an act to everybody.
    fn decide_act(run: &mut AgreementRun, _: &mut Dues) -> Option<u64> {
        let act = run.next_act();
        let after = Height(run.stage.top());
        give_to_all(run, &act);
        let bound = run.turn_bound(0);
        let last = after.plus(UNDER_WAY + run.faults_borne() as u64 + 2);
        for height in after.0 + 1..=last.0 {
            if !run.stage.run_to_top_within(height, bound) {
                let what = format!("no turn {height} within {bound:.3?}");
                run.stage.world.blame(None, Law::LateTurn, what);
            }
            if !run.is_sound() {
                return None;
            }
            if run.stage.world.cluster.oracle.history().has_act(act.id(), after, last) {
                return Some(height - after.0);
            }
        }
        let what = format!("{:?} is in none of the turns from {after} to {last}", act.id());
        run.stage.world.blame(None, Law::LateAct, what);
        None
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use metatopia_consensus::AgreementControls;
    use metatopia_oracle::Law;

    use super::{AgreementRun, CalmLevel as _, Dues, Players, give_to_all};
    use crate::agreement::Swarm;
    use crate::class::Class;
    use crate::cluster::ClusterOrder;
    use crate::stage::ClusterStage as _;

    const SECOND: Duration = Duration::from_secs(1);

    /// A world with these faults only.
    fn only(classes: &[Class], seed: u64, span: Duration) -> Swarm {
        let mut swarm = Swarm::new(seed.into(), span);
        swarm.course.without =
            Class::ALL.iter().copied().filter(|class| !classes.contains(class)).collect();
        swarm
    }

    /// A world without faults, after two seconds.
    fn begun(span: Duration) -> AgreementRun {
        let mut run = AgreementRun::new(&only(&[], 1, span));
        run.stage.play_until(2 * SECOND);
        run
    }

    fn broken(run: &AgreementRun) -> Vec<Law> {
        run.stage.world.cluster.oracle.faults().iter().map(|fault| fault.law).collect()
    }

    /// Splits the servers in two, from a moment on for 20 seconds, so that no half has a quorum.
    fn part(run: &mut AgreementRun, at: Duration) {
        run.stage.world.plan(at, ClusterOrder::SplitFor(Class::Split, vec![0, 1]));
        run.stage.world.plan(at + 20 * SECOND, ClusterOrder::Mend(Class::Split));
    }

    #[test]
    fn each_turn_until_an_act_is_decided_comes_in_time() {
        let mut run = begun(10 * SECOND);
        let oracle = &run.stage.world.cluster.oracle;
        let mut dues = Dues::new(run.now(), oracle, (SECOND, SECOND), Vec::new(), 1);
        assert!(Players::decide_act(&mut run, &mut dues).is_some());

        let now = run.stage.world.now();
        part(&mut run, now);
        run.stage.play_until(now);

        assert_eq!(Players::decide_act(&mut run, &mut dues), None);
        assert_eq!(broken(&run), [Law::LateTurn]);
    }

    #[test]
    fn turns_come_in_time_until_a_world_ends() {
        let mut run = begun(40 * SECOND);
        part(&mut run, 12 * SECOND);

        run.calm_down();

        assert_eq!(broken(&run), [Law::LateTurn]);
        let late = run.stage.world.now();
        assert!(late > 12 * SECOND && late < 25 * SECOND, "{late:?}");
    }

    #[test]
    fn an_act_that_all_servers_know_is_decided_soon_after_the_faults() {
        let mut run = begun(10 * SECOND);
        let act = run.first_act();
        let now = run.stage.world.now();
        assert!(run.known_to_all().is_empty());
        let oracle = &run.stage.world.cluster.oracle;
        let mut dues = Dues::new(now, oracle, (SECOND, SECOND), vec![act.clone()], 1);
        dues.caught_up(now, oracle, run.voters());
        run.stage.play_until(now + 2 * SECOND);
        run.look(&mut dues);
        assert_eq!(broken(&run), [Law::LateAct], "nobody was given it");

        let mut run = begun(10 * SECOND);
        give_to_all(&mut run, &act);
        run.stage.play_until(now);
        assert_eq!(run.known_to_all(), [act]);
        let oracle = &run.stage.world.cluster.oracle;
        let mut dues = Dues::new(now, oracle, (SECOND, SECOND), run.known_to_all(), 1);
        dues.caught_up(now, oracle, run.voters());
        run.stage.play_until(now + 2 * SECOND);
        run.look(&mut dues);
        assert!(broken(&run).is_empty(), "{:?}", broken(&run));
        assert!(dues.are_paid());
    }

    #[test]
    fn who_waits_for_something_to_begin_with_is_behind() {
        let mut run = begun(10 * SECOND);
        assert!(Players::behind(&run).is_empty());

        run.stage.lose_disk(3);
        run.own.joining.push((3, false));

        assert_eq!(Players::behind(&run), [3]);
    }

    #[test]
    fn a_server_that_lost_its_log_and_never_signs_again_is_seen() {
        let silent = |seed| {
            let swarm = only(Class::DAMAGES, seed, 25 * SECOND);
            let controls = AgreementControls { stays_silent: true, ..AgreementControls::default() };
            (swarm.clone(), Swarm { controls, ..swarm }.play().outcome)
        };
        let mut seeds = (0..20).map(silent);
        let found = seeds.find(|(_, outcome)| outcome.shows(Law::Silent));

        let (clean, outcome) = found.expect("a server loses its log");
        assert!(outcome.faults.iter().all(|fault| fault.law == Law::Silent), "{outcome:#?}");
        assert!(clean.play().is_sound());
    }
}
