//! After the faults: the world must go on, and in time.

use std::time::Duration;

use metatopia_oracle::Law;
use metatopia_types::Height;

use super::run::Run;
use crate::calm::{Pace, Recovery, UNDER_WAY};
use crate::storm::Stormy as _;

/// Stops all faults, and sees how the world goes on until its time is over. None if it does not.
pub(super) fn go_on(run: &mut Run) -> Option<Recovery> {
    let healed = run.stage.world.now();
    run.stage.world.set_clocks_right();
    run.stage.heal();
    run.join_some();
    run.run_until(healed);
    let bound = turn_bound(run);
    let turn = new_turn(run, healed, bound)?;
    let caught_up = catch_up(run, healed)?;
    let act = decide_act(run)?;
    while run.is_sound() && run.stage.world.now() < run.plan.end {
        let next = run.stage.world.now() + Duration::from_millis(500);
        run.run_until(next.min(run.plan.end));
        run.tick();
    }
    Some(Recovery { turn, turn_bound: bound, caught_up, act })
}

fn faults_borne(run: &Run) -> u32 {
    u32::try_from((run.members() - 1) / 3).unwrap_or(u32::MAX)
}

fn pace(run: &Run) -> Pace<'_> {
    let scenario = &run.plan.scenario;
    Pace {
        conditions: &scenario.conditions,
        patience: scenario.patience,
        turn: Duration::from_millis(scenario.turn_length),
        links: Duration::ZERO,
        faults_borne: faults_borne(run),
    }
}

fn turn_bound(run: &Run) -> Duration {
    let world = &run.stage.world;
    let servers = (0..world.seats()).filter_map(|seat| world.server(seat));
    let round = servers.filter_map(|s| s.agreement().round()).map(|round| round.0).max();
    pace(run).turn_bound(round.unwrap_or(0))
}

fn new_turn(run: &mut Run, healed: Duration, bound: Duration) -> Option<Duration> {
    let top = run.stage.top();
    let limit = healed + bound;
    run.stage.world.run_while(limit, |world| {
        let honest = |seat: &usize| world.cluster.oracle.is_honest(*seat);
        let servers = (0..world.seats()).filter(honest).filter_map(|seat| world.server(seat));
        let new = servers.map(|server| server.height().0).any(|height| height > top);
        !new && world.cluster.oracle.faults().is_empty()
    });
    if run.is_sound() && run.stage.top() == top {
        let heights = run.stage.heights();
        let what = || format!("no turn after {top} within {bound:.3?}: {heights:?}");
        run.stage.world.cluster.oracle.blame(None, Law::LateTurn, what);
    }
    run.is_sound().then(|| run.stage.world.now() - healed)
}

/// Lets everybody who was behind come up to the others.
fn catch_up(run: &mut Run, healed: Duration) -> Option<Duration> {
    let missed = run.behind().into_iter().filter_map(|seat| run.stage.world.server(seat));
    let lowest = missed.map(|server| server.height().0).min().unwrap_or(run.stage.top());
    let limit = run.stage.world.now() + pace(run).catch_up_bound(run.stage.top() - lowest);
    while run.is_sound() && run.stage.world.now() < limit {
        let next = run.stage.world.now() + Duration::from_millis(100);
        run.run_until(next);
        run.join_some();
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
fn decide_act(run: &mut Run) -> Option<u64> {
    let act = run.next_act();
    let after = Height(run.stage.top());
    let now = run.stage.world.now();
    for seat in 0..run.stage.world.seats() {
        run.stage.world.request(now, seat, act.clone());
    }
    let slots = u64::from(faults_borne(run)) + 2;
    let last = after.plus(UNDER_WAY + slots);
    for height in after.0 + 1..=last.0 {
        if !run.stage.run_to_top_within(height, Duration::from_secs(30)) {
            let what = || format!("no turn {height} after {after}");
            run.stage.world.cluster.oracle.blame(None, Law::Stuck, what);
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
