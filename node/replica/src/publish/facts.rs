//! What the state says about players, scripts and who decides, as clients are told it.

use std::collections::BTreeMap;

use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{
    AdminCountdown, BorderEntry, BorderStanding, CANDIDATES_MAX, CandidateEntry,
    DISPATCH_WAIT_MAX_MS, DelayedEntry, GovernanceEntry, JOINTS_PER_ANSWER_MAX, JointEntry,
    JointEntryKind, LOTS_PER_ANSWER_MAX, LotEntry, LotPerson, PACKAGES_PER_ANSWER_MAX,
    PackageEntry, PassAnswer, PlayerEntry, PortalEntry, SCRIPTS_PER_ANSWER_MAX, SIGHT, ScriptEntry,
    StowedThing, ThingEntry, TicketEntry,
};
use metatopia_sim::{
    BorderAnswer, BorderSummary, DelayedChange, IssuedTicket, JointKind, JointSpec, Lot,
    LuggageThing, Publication, RunningScript, Standings as _, Wall, World, WorldObject,
};
use metatopia_types::{Height, LotId, PackageId, PublicKey, ScriptId, SimId, limits::ROOT_LAG};

/// Returns the players who are present, ascending by key.
pub(crate) fn players(world: &World) -> Vec<PlayerEntry> {
    let present = world.present().filter_map(|(key, avatar)| {
        let player = world.player(&key)?;
        Some(PlayerEntry { name: player.name.clone(), key, avatar, look: player.look })
    });
    present.collect()
}

/// Returns the scripts that run after a script, ascending; as many as one answer has.
pub(crate) fn scripts(world: &World, after: ScriptId) -> Vec<ScriptEntry> {
    let entry = |running: RunningScript| ScriptEntry {
        script: running.script,
        object: running.object,
        name: running.name,
        package: running.package,
        owner: running.owner,
        failures: running.failures,
        last_failure: running.last_failure.map(|(tick, kind)| (tick, kind.to_string())),
        suspended: running.suspended,
        dropped: running.dropped,
        gas_used: running.gas_used,
    };
    world.scripts_after(after).take(SCRIPTS_PER_ANSWER_MAX).map(entry).collect()
}

/// Returns the packages after one, ascending; as many as one answer has.
pub(crate) fn packages(world: &World, after: PackageId) -> Vec<PackageEntry> {
    let entry = |(id, record, scripts): (&PackageId, &Publication, usize)| {
        let manifest = world.package(id).map(|package| package.manifest());
        PackageEntry {
            package: *id,
            name: manifest.map_or_else(String::new, |manifest| manifest.name.clone()),
            version: manifest.map_or_else(String::new, |manifest| manifest.version.to_string()),
            licence: record.licence.clone(),
            authors: record.authors.clone(),
            publisher: record.publisher,
            height: record.height,
            bytes: record.bytes,
            scripts: u32::try_from(scripts).unwrap_or(u32::MAX),
            left: record.left,
        }
    };
    world.publications_after(after).take(PACKAGES_PER_ANSWER_MAX).map(entry).collect()
}

/// Returns the borders, ascending by neighbour, each with the nodes of the neighbour that are known here, and
/// with what this person is told there.
pub(crate) fn borders(
    world: &World,
    nodes: &BTreeMap<SimId, Vec<String>>,
    of: Option<PublicKey>,
) -> Vec<BorderEntry> {
    let answer = |neighbour: &SimId| {
        let BorderAnswer { refused, hands, turned_back } = world.border_answer(neighbour, &of?);
        let turned_back = turned_back.map(|turned| (turned.number, turned.why));
        Some(PassAnswer { refused, hands, turned_back })
    };
    let entry = |border: BorderSummary| BorderEntry {
        neighbour: border.neighbour,
        square: border.square,
        portal: border.portal.map(|here| PortalEntry { here, there: border.portal_there }),
        standing: standing(world, &border),
        epoch: world.border(&border.neighbour).map_or(0, |border| border.crossing.said.epoch),
        heard: border.heard.map_or(Height(0), |(height, _)| height.plus(ROOT_LAG)),
        silent: silent(world, &border),
        under_way: u32::try_from(border.under_way).unwrap_or(u32::MAX),
        followed: border.followed,
        judged: world.border(&border.neighbour).map_or(0, |border| border.crossing.said.in_next),
        nodes: nodes.get(&border.neighbour).cloned().unwrap_or_default(),
        answer: answer(&border.neighbour),
    };
    world.borders().into_iter().map(entry).collect()
}

/// Returns for how many milliseconds nothing was heard of a neighbour; none if nothing ever was.
fn silent(world: &World, border: &BorderSummary) -> Option<u64> {
    border.heard_at.map(|at| world.time().since(at))
}

/// Says how a border stands. While nobody is near, a neighbour is asked every 10 s only, and a silence of
/// less than that is none.
fn standing(world: &World, border: &BorderSummary) -> BorderStanding {
    const QUIET_MS: u64 = DISPATCH_WAIT_MAX_MS as u64 + 3_000;
    let is_quiet = border.wall == Some(Wall::Silent)
        && border.near == 0
        && border.under_way == 0
        && silent(world, border).is_some_and(|silent| silent <= QUIET_MS);
    match &border.wall {
        Some(wall) if !is_quiet => BorderStanding::Wall(wall.to_string()),
        _ => BorderStanding::Open,
    }
}

/// Returns what somebody owns, ascending by object: first what has a place, then what is in luggage.
pub(crate) fn things(world: &World, owner: &PublicKey) -> Vec<ThingEntry> {
    let bytes = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let entry = |seen: WorldObject| ThingEntry {
        object: seen.id,
        name: seen.name,
        kind: seen.kind,
        position: seen.position,
        text_bytes: bytes(seen.text.len()),
        scripts: seen.scripts,
        guest: seen.guest,
        stowed: None,
    };
    let stowed = |thing: &LuggageThing| ThingEntry {
        object: thing.id,
        name: thing.name.clone(),
        kind: thing.kind.clone(),
        position: thing.position,
        text_bytes: bytes(thing.text),
        scripts: Vec::new(),
        guest: thing.guest.map(|guest| guest.from),
        stowed: Some(StowedThing {
            half: thing.half,
            movable: thing.movable,
            packages: thing.packages.clone(),
        }),
    };
    world.things(owner).map(entry).chain(world.luggage(owner).map(stowed)).collect()
}

/// Returns the lots after a lot, ascending; as many as one answer has.
pub(crate) fn lots(world: &World, after: LotId) -> Vec<LotEntry> {
    let person = |key: &PublicKey| LotPerson {
        key: *key,
        name: world.player(key).map_or_else(String::new, |player| player.name.clone()),
    };
    let entry = |(id, lot): (LotId, &Lot)| LotEntry {
        lot: id,
        name: lot.name.clone(),
        low: lot.area.low,
        high: lot.area.high,
        holder: person(&lot.holder),
        friends: lot.friends.iter().map(person).collect(),
        club: lot.club.and_then(|club| world.club_name(club)),
    };
    world.lots_after(after).take(LOTS_PER_ANSWER_MAX).map(entry).collect()
}

/// Returns the joints near a place, the oldest first; as many as one answer has.
pub(crate) fn joints(world: &World, near: Vec2) -> Vec<JointEntry> {
    let entry = |spec: &JointSpec| JointEntry {
        a: spec.a,
        b: spec.b,
        anchor_a: spec.anchor_a,
        anchor_b: spec.anchor_b,
        kind: match spec.kind {
            JointKind::Revolute { motor: Some(_), .. } => JointEntryKind::Motor,
            JointKind::Revolute { .. } => JointEntryKind::Hinge,
            JointKind::Distance { spring: Some(_), .. } => JointEntryKind::Spring,
            JointKind::Distance { min, max, .. } if min < max => JointEntryKind::Rope,
            JointKind::Distance { .. } => JointEntryKind::Rod,
            JointKind::Weld { .. } => JointEntryKind::Weld,
            JointKind::Prismatic { axis, .. } => JointEntryKind::Slider { along: axis.angle() },
            JointKind::Target { .. } => JointEntryKind::Target,
        },
    };
    let near = world.joints_near(near, Fx::from_int(SIGHT as i32));
    near.take(JOINTS_PER_ANSWER_MAX).map(entry).collect()
}

/// Returns who governs the sim, and who would be next.
pub(crate) fn governance(world: &World) -> GovernanceEntry {
    let (state, parameters) = (world.governance(), world.parameters());
    let candidate = |(key, player): (_, &metatopia_sim::Player)| CandidateEntry {
        name: player.name.clone(),
        key,
        first_seen: player.first_seen,
        last_login: player.last_login,
    };
    GovernanceEntry {
        admins: state.admins.iter().copied().collect(),
        temp_admin: state.temp_admin,
        admin_days: parameters.admin_days,
        player_days: parameters.player_days,
        seen_days: parameters.seen_days,
        time: state.time,
        admin_login: state.admin_login,
        countdown: state.countdown(parameters.admin_days),
        time_left: world.time_left(),
        players: u32::try_from(world.player_count()).unwrap_or(u32::MAX),
        candidates: world.candidates(CANDIDATES_MAX).into_iter().map(candidate).collect(),
        exposed: state.exposed.iter().map(|(key, height)| (*key, *height)).collect(),
        delayed: delayed(world),
        motd: state.motd.as_ref().map_or_else(String::new, |motd| motd.text.clone()),
        orders: state.orders,
    }
}

/// Returns the tickets that are open.
pub(crate) fn tickets(world: &World) -> Vec<TicketEntry> {
    let time = world.governance().time;
    let open = world.first_logins().tickets().open(world.height());
    let entry = |(ticket, issued): (&PublicKey, &IssuedTicket)| TicketEntry {
        ticket: *ticket,
        by: issued.by,
        left: issued.left,
        lasts: issued.until.saturating_sub(time),
    };
    open.map(entry).collect()
}

/// Returns how long admins have been away, and who takes over.
pub(crate) fn admin_countdown(world: &World) -> AdminCountdown {
    let (state, parameters) = (world.governance(), world.parameters());
    let of = |key: PublicKey| {
        (world.player(&key).map_or_else(String::new, |player| player.name.clone()), key)
    };
    let first = world.candidates(1).into_iter().next();
    AdminCountdown {
        away: state.time.saturating_sub(state.admin_login),
        left: state.countdown(parameters.admin_days),
        temp_admin: state.temp_admin.map(of),
        next: first.map(|(key, _)| of(key)),
    }
}

/// Returns the changes of the validators that wait.
pub(crate) fn delayed(world: &World) -> Vec<DelayedEntry> {
    let state = world.governance();
    let entry = |delayed: &DelayedChange| DelayedEntry {
        change: delayed.change.clone(),
        by: delayed.by,
        left: delayed.due.saturating_sub(state.time),
    };
    state.delayed.iter().map(entry).collect()
}

#[cfg(test)]
mod tests;
