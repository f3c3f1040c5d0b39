//! What the state says about players, scripts and who decides, as clients are told it.

use metatopia_protocol::{
    CANDIDATES_MAX, CandidateEntry, DelayedEntry, GovernanceEntry, PACKAGES_PER_ANSWER_MAX,
    PackageEntry, PlayerEntry, SCRIPTS_PER_ANSWER_MAX, ScriptEntry, ThingEntry, TicketEntry,
};
use metatopia_sim::{
    DelayedChange, IssuedTicket, Publication, RunningScript, Standings as _, World, WorldObject,
};
use metatopia_types::{PackageId, PublicKey, ScriptId};

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
            publisher: record.publisher,
            height: record.height,
            bytes: record.bytes,
            scripts: u32::try_from(scripts).unwrap_or(u32::MAX),
            left: record.left,
        }
    };
    world.publications_after(after).take(PACKAGES_PER_ANSWER_MAX).map(entry).collect()
}

/// Returns what somebody owns, ascending by object.
pub(crate) fn things(world: &World, owner: &PublicKey) -> Vec<ThingEntry> {
    let entry = |seen: WorldObject| ThingEntry {
        object: seen.id,
        name: seen.name,
        kind: seen.kind,
        position: seen.position,
        text_bytes: u32::try_from(seen.text.len()).unwrap_or(u32::MAX),
        scripts: seen.scripts,
    };
    world.things(owner).map(entry).collect()
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
