//! After the faults: the world must go on, and in time.

use std::time::Duration;

use metatopia_oracle::Law;
use metatopia_types::{Height, SignedEnvelope};

use super::players::AgreementRun;
use crate::calm::{CalmSettings, Dues, FaultRecovery, UNDER_WAY};
use crate::storm::Stormy as _;

/// How often it is looked at what came about, but for the first turn.
const LOOK: Duration = Duration::from_millis(100);

/// Stops all faults, and sees how the world goes on until its time is over. None if it does not.
pub(super) fn go_on(run: &mut AgreementRun) -> Option<FaultRecovery> {
    let healed = run.stage.world.now();
    run.stage.world.set_clocks_right();
    run.stage.heal();
    run.join_some();
    give_to_all(run, &run.first_act());
    run.run_until(healed);
    let (bound, later) = (turn_bound(run), pace(run).turn_bound(0));
    let (oracle, acts) = (&run.stage.world.cluster.oracle, known_to_all(run));
    let mut dues = Dues::new(healed, oracle, (bound, later), acts, faults_borne(run));
    let turn = new_turn(run, &mut dues, bound)?;
    let caught_up = catch_up(run, &mut dues, healed)?;
    dues.caught_up(run.stage.world.now(), &run.stage.world.cluster.oracle, run.voters());
    let act = decide_act(run)?;
    while run.is_sound() && (run.stage.world.now() < run.plan.end || !dues.are_paid()) {
        let (now, end) = (run.stage.world.now(), run.plan.end);
        let next = now + Duration::from_millis(500);
        run.run_until(if now < end { next.min(end) } else { next });
        run.tick();
        look(run, &mut dues);
    }
    Some(FaultRecovery { turn, turn_bound: bound, caught_up, act })
}

fn faults_borne(run: &AgreementRun) -> u32 {
    u32::try_from((run.members() - 1) / 3).unwrap_or(u32::MAX)
}

fn pace(run: &AgreementRun) -> CalmSettings<'_> {
    let scenario = &run.plan.scenario;
    CalmSettings {
        conditions: &scenario.conditions,
        patience: scenario.patience,
        turn: Duration::from_millis(scenario.turn_length),
        links: Duration::ZERO,
        faults_borne: faults_borne(run),
    }
}

fn turn_bound(run: &AgreementRun) -> Duration {
    let world = &run.stage.world;
    let servers = (0..world.seats()).filter_map(|seat| world.server(seat));
    let round = servers.filter_map(|s| s.agreement().round()).map(|round| round.0).max();
    pace(run).turn_bound(round.unwrap_or(0))
}

fn give_to_all(run: &mut AgreementRun, act: &SignedEnvelope) {
    let now = run.stage.world.now();
    for seat in 0..run.stage.world.seats() {
        run.stage.world.request(now, seat, act.clone());
    }
}

/// Acts that wait at every honest server that votes.
fn known_to_all(run: &AgreementRun) -> Vec<SignedEnvelope> {
    let waiting = |seat: usize| run.stage.world.server(seat).map(|s| s.ledger().waiting());
    let all: Option<Vec<_>> = run.voters().into_iter().map(waiting).collect();
    let Some([first, others @ ..]) = all.as_deref() else {
        return Vec::new();
    };
    let everywhere = |act: &&SignedEnvelope| others.iter().all(|acts| acts.contains(act));
    first.iter().filter(everywhere).cloned().collect()
}

fn look(run: &mut AgreementRun, dues: &mut Dues) {
    let (now, voters) = (run.stage.world.now(), run.voters());
    dues.look(now, &mut run.stage.world.cluster.oracle, &voters);
}

fn new_turn(run: &mut AgreementRun, dues: &mut Dues, bound: Duration) -> Option<Duration> {
    let (now, last) = (run.stage.world.now(), dues.last());
    run.stage.world.run_while(now + bound, |world| {
        let oracle = &world.cluster.oracle;
        oracle.last_decided() == last && oracle.faults().is_empty()
    });
    look(run, dues);
    run.is_sound().then(|| run.stage.world.now() - now)
}

/// Lets everybody who was behind come up to the others.
fn catch_up(run: &mut AgreementRun, dues: &mut Dues, healed: Duration) -> Option<Duration> {
    let missed = run.behind().into_iter().filter_map(|seat| run.stage.world.server(seat));
    let lowest = missed.map(|server| server.height().0).min().unwrap_or(run.stage.top());
    let limit = run.stage.world.now() + pace(run).catch_up_bound(run.stage.top() - lowest);
    while run.is_sound() && run.stage.world.now() < limit {
        let next = run.stage.world.now() + LOOK;
        run.run_until(next);
        run.join_some();
        look(run, dues);
        if run.behind().is_empty() && run.stage.leader().is_some() {
            return Some(run.stage.world.now() - healed);
        }
    }
    if run.is_sound() {
        let (behind, heights) = (run.behind(), run.stage.heights());
        let what = || format!("{behind:?} are behind: {heights:?}");
        run.stage.world.cluster.oracle.blame(None, Law::Behind, what);
    }
    None
}

/// Gives an act to everybody. Returns how many turns later it was decided.
fn decide_act(run: &mut AgreementRun) -> Option<u64> {
    let act = run.next_act();
    let after = Height(run.stage.top());
    give_to_all(run, &act);
    let bound = pace(run).turn_bound(0);
    let slots = u64::from(faults_borne(run)) + 2;
    let last = after.plus(UNDER_WAY + slots);
    for height in after.0 + 1..=last.0 {
        if !run.stage.run_to_top_within(height, bound) {
            let what = || format!("no turn {height} within {bound:.3?}");
            run.stage.world.cluster.oracle.blame(None, Law::LateTurn, what);
        }
        if !run.is_sound() {
            return None;
        }
        if run.stage.world.cluster.oracle.history().has_act(act.id(), after, last) {
            return Some(height - after.0);
        }
    }
    let what = || format!("{:?} is in none of the turns from {after} to {last}", act.id());
    run.stage.world.cluster.oracle.blame(None, Law::LateAct, what);
    None
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use metatopia_consensus::AgreementControls;
    use metatopia_oracle::Law;

    use super::{Dues, decide_act, give_to_all, go_on, known_to_all, look};
    use crate::agreement::Swarm;
    use crate::agreement::workload::players::AgreementRun;
    use crate::class::Class;
    use crate::cluster::ClusterOrder;
    use crate::storm::Stormy as _;

    const SECOND: Duration = Duration::from_secs(1);

    /// A world with these faults only.
    fn only(classes: &[Class], seed: u64, span: Duration) -> Swarm {
        let mut swarm = Swarm::new(seed.into(), span);
        swarm.without =
            Class::ALL.iter().copied().filter(|class| !classes.contains(class)).collect();
        swarm
    }

    /// A world without faults, after two seconds.
    fn begun(span: Duration) -> AgreementRun {
        let mut run = AgreementRun::new(&only(&[], 1, span));
        run.run_until(2 * SECOND);
        run
    }

    fn broken(run: &AgreementRun) -> Vec<Law> {
        run.stage.world.cluster.oracle.faults().iter().map(|fault| fault.law).collect()
    }

    /// No two halves have a quorum, from a moment on for 20 seconds.
    fn part(run: &mut AgreementRun, at: Duration) {
        run.stage.world.plan(at, ClusterOrder::SplitFor(Class::Split, vec![0, 1]));
        run.stage.world.plan(at + 20 * SECOND, ClusterOrder::Mend(Class::Split));
    }

    #[test]
    fn each_turn_until_an_act_is_decided_comes_in_time() {
        let mut run = begun(10 * SECOND);
        assert!(decide_act(&mut run).is_some());

        let now = run.stage.world.now();
        part(&mut run, now);
        run.run_until(now);

        assert_eq!(decide_act(&mut run), None);
        assert_eq!(broken(&run), [Law::LateTurn]);
    }

    #[test]
    fn turns_come_in_time_until_a_world_ends() {
        let mut run = begun(40 * SECOND);
        part(&mut run, 12 * SECOND);

        go_on(&mut run);

        assert_eq!(broken(&run), [Law::LateTurn]);
        let late = run.stage.world.now();
        assert!(late > 12 * SECOND && late < 25 * SECOND, "{late:?}");
    }

    #[test]
    fn an_act_that_all_servers_know_is_decided_soon_after_the_faults() {
        let mut run = begun(10 * SECOND);
        let act = run.first_act();
        let now = run.stage.world.now();
        assert!(known_to_all(&run).is_empty());
        let oracle = &run.stage.world.cluster.oracle;
        let mut dues = Dues::new(now, oracle, (SECOND, SECOND), vec![act.clone()], 1);
        dues.caught_up(now, oracle, run.voters());
        run.run_until(now + 2 * SECOND);
        look(&mut run, &mut dues);
        assert_eq!(broken(&run), [Law::LateAct], "nobody was given it");

        let mut run = begun(10 * SECOND);
        give_to_all(&mut run, &act);
        run.run_until(now);
        assert_eq!(known_to_all(&run), [act]);
        let oracle = &run.stage.world.cluster.oracle;
        let mut dues = Dues::new(now, oracle, (SECOND, SECOND), known_to_all(&run), 1);
        dues.caught_up(now, oracle, run.voters());
        run.run_until(now + 2 * SECOND);
        look(&mut run, &mut dues);
        assert!(broken(&run).is_empty(), "{:?}", broken(&run));
        assert!(dues.are_paid());
    }

    #[test]
    fn who_waits_for_something_to_begin_with_is_behind() {
        let mut run = begun(10 * SECOND);
        assert!(run.behind().is_empty());

        run.stage.lose_disk(3);
        run.joining.push((3, false));

        assert_eq!(run.behind(), [3]);
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
