//! After the faults: the world must go on, and in time.

use std::time::Duration;

use metatopia_types::{Act, Emote};

use super::run::Run;
use crate::calm::{Pace, Recovery, UNDER_WAY};
use crate::replica::Fate;
use crate::replica::lanes::LATE;
use crate::storm::Stormy as _;
use metatopia_oracle::Law;

/// How often it is looked at what came about.
const LOOK: Duration = Duration::from_millis(50);

/// Within so long a server finds that its disk has room again, or is started anew if it has failed.
const TO_FIND_ROOM: Duration = Duration::from_millis(2_500);

/// Turns that may be decided while an act travels from a client to its server, and on to the others.
const ON_ITS_WAY: u64 = 2;

/// Stops all faults, and sees how the world goes on until its time is over. None if it does not.
pub(super) fn go_on(run: &mut Run) -> Option<Recovery> {
    let healed = run.stage.world.now();
    run.stage.world.set_clocks_right();
    run.stage.world.heal();
    run.stage.run_until(healed);
    let limit = healed + TO_FIND_ROOM;
    run.stage.run_till(limit, |stage| stage.world.now() > healed && stage.are_disks_sound());
    let healed = run.stage.world.now();
    run.settle_members();
    let bound = pace(run).turn_bound(round(run));
    let turn = new_turn(run, healed, bound)?;
    let caught_up = catch_up(run, healed)?;
    let act = decide_act(run)?;
    while run.is_sound() && run.stage.world.now() < run.plan.end {
        let next = run.stage.world.now() + Duration::from_millis(500);
        run.stage.run_until(next.min(run.plan.end));
        run.tick();
    }
    Some(Recovery { turn, turn_bound: bound, caught_up, act })
}

fn pace(run: &Run) -> Pace<'_> {
    let setting = run.stage.setting();
    Pace {
        conditions: &run.plan.conditions,
        patience: setting.patience,
        turn: Duration::from_millis(setting.turn_length()),
        // A stream that lost a frame is found broken with the next one that comes, and what was in it
        // is said again.
        links: setting.patience.rebroadcast + 2 * LATE,
        faults_borne: faults_borne(run),
    }
}

fn faults_borne(run: &Run) -> u32 {
    let members = run.members().map_or(run.plan.founders, |members| members.len());
    u32::try_from(members.saturating_sub(1) / 3).unwrap_or(u32::MAX)
}

/// The latest round that a server is in, as it said last.
fn round(run: &Run) -> u32 {
    let world = &run.stage.world;
    let servers = (0..world.seats()).filter_map(|seat| world.server(seat)?.status()?.round);
    servers.map(|round| round.0).max().unwrap_or(0)
}

fn new_turn(run: &mut Run, healed: Duration, bound: Duration) -> Option<Duration> {
    let top = run.stage.top();
    let limit = healed + bound;
    let came = run.stage.run_till(limit, |stage| stage.top() > top || !stage.is_sound());
    if !came {
        let heights = run.stage.heights();
        let what = format!("no turn after {top} within {bound:.3?}: {heights:?}");
        run.stage.blame(Law::LateTurn, what);
    }
    run.is_sound().then(|| run.stage.world.now() - healed)
}

/// Lets everybody who was behind come up to the others.
fn catch_up(run: &mut Run, healed: Duration) -> Option<Duration> {
    let (top, heights) = (run.stage.top(), run.stage.heights());
    let missed = run.behind().into_iter().map(|seat| top - heights[seat].unwrap_or(0).min(top));
    let limit = run.stage.world.now() + pace(run).catch_up_bound(missed.max().unwrap_or(0));
    while run.is_sound() && run.stage.world.now() < limit {
        run.stage.run_for(2 * LOOK);
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
fn decide_act(run: &mut Run) -> Option<u64> {
    let limit = run.stage.world.now() + Duration::from_secs(10);
    let person = run.witness;
    if !run.stage.run_till(limit, |stage| stage.people[person].is_open()) {
        run.stage.blame(Law::Stuck, "a client gets no session with any server");
        return None;
    }
    let after = run.stage.top();
    let waves = |somebody: &mut crate::replica::Person, now| {
        somebody.act(now, Act::Emote(Emote::Wave), None)
    };
    let act = run.stage.prompt(person, waves)?;
    let last = after + ON_ITS_WAY + UNDER_WAY + u64::from(faults_borne(run)) + 2;
    let limit = run.stage.world.now() + Duration::from_secs(30);
    let fate = |stage: &crate::replica::Stage| stage.people[person].deeds[&act].fate;
    run.stage.run_till(limit, |stage| {
        !stage.is_sound() || fate(stage) != Fate::Waiting || stage.top() > last + ON_ITS_WAY
    });
    if !run.is_sound() {
        return None;
    }
    match fate(&run.stage) {
        Fate::Receipted { height, .. } if height.0 <= last => Some(height.0.saturating_sub(after)),
        other => {
            let what = format!("{act} is in none of the turns from {after} to {last}: {other:?}");
            run.stage.blame(Law::LateAct, what);
            None
        }
    }
}
