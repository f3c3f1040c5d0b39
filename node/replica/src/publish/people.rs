//! What clients are told about people, and whose sessions end because of an order.

use std::collections::BTreeSet;

use metatopia_protocol::{
    Answer, AreaRightEntry, DryRunEntry, Goodbye, GovernedThing, IntendedChange,
    IntendedChangeEntry, IntendedOrder, KeyHoldings, MAILBOX_PER_ANSWER_MAX, PEOPLE_PER_ANSWER_MAX,
    PersonEntry, REPORTS_PER_ANSWER_MAX, ReportEntry, RightEntry, RulingEntry, SanctionEntry,
    ToldMessage, TracedThings,
};
use metatopia_sim::{
    FiledReport, GivenRight, GivenRuling, KeptWords, Role, Sanction, TraceCount, World,
};
use metatopia_types::{Act, GovernOrder, LotId, ObjectId, Outcome, PublicKey, SignedEnvelope};

use crate::ClientId;

/// Returns what was ordered about a key.
pub(super) fn person(world: &World, key: PublicKey) -> PersonEntry {
    let player = world.player(&key);
    let governance = world.governance();
    let sanction = |sanction: &Sanction| SanctionEntry {
        by: sanction.by,
        left: left(world, sanction.until),
        reason: sanction.reason.clone(),
    };
    let (rights, area_rights) = rights(world, &key);
    PersonEntry {
        key,
        name: player.map_or_else(String::new, |player| player.name.clone()),
        here: player.is_some_and(|player| player.session.is_some()),
        admin: governance.admins.contains(&key),
        temp_admin: governance.temp_admin == Some(key),
        rights,
        area_rights,
        ban: world.ban(&key).map(sanction),
        mute: world.mute(&key).map(sanction),
    }
}

/// Returns the rights that a key has for the whole sim, and those for areas.
fn rights(world: &World, key: &PublicKey) -> (Vec<RightEntry>, Vec<AreaRightEntry>) {
    let (mut rights, mut area_rights) = (Vec::new(), Vec::new());
    for (area, right, GivenRight { by, until }) in world.role(key).into_iter().flat_map(Role::all) {
        let given = RightEntry { right, by, left: left(world, until) };
        match area {
            _ if given.left == Some(0) => {}
            None => rights.push(given),
            Some(area) => area_rights.push(AreaRightEntry { area, given }),
        }
    }
    (rights, area_rights)
}

/// Returns the milliseconds that are left until this governance time.
fn left(world: &World, until: Option<u64>) -> Option<u64> {
    until.map(|until| until.saturating_sub(world.governance().time))
}

/// Returns the keys after one about which something was ordered; as many as one answer has.
pub(super) fn governed(world: &World, after: Option<PublicKey>) -> Vec<PersonEntry> {
    let keys = world.governed_after(after, PEOPLE_PER_ANSWER_MAX);
    keys.into_iter().map(|key| person(world, key)).collect()
}

/// Returns what an order would do.
pub(super) fn dry_run(world: &World, intended: &IntendedOrder) -> DryRunEntry {
    let IntendedOrder { author, order } = intended;
    let verdict = world.may_order(author, order).map(|warrant| warrant.words().to_owned());
    DryRunEntry {
        verdict,
        person: order.person().or_else(|| affected(world, order)).map(|key| person(world, *key)),
        thing: order.object().and_then(|object| thing(world, object)),
        traced: traced(world, order),
        holdings: holdings(world, order),
    }
}

/// Returns what an amendment, a change of who votes, or an order about tickets or a border would do.
pub(super) fn try_change(world: &World, intended: &IntendedChange) -> IntendedChangeEntry {
    let IntendedChange { author, act, blob } = intended;
    let value = match act {
        Act::Amend { name, .. } => world.charter().value(name).unwrap_or_default(),
        _ => String::new(),
    };
    IntendedChangeEntry {
        verdict: world
            .may_change(author, act, blob.as_ref())
            .map(|warrant| warrant.words().to_owned()),
        value,
        players: count(world.player_count()),
        here: count(world.present().count()),
        voters: count(world.roster().members().len()),
    }
}

fn count(all: usize) -> u32 {
    u32::try_from(all).unwrap_or(u32::MAX)
}

/// Returns what the person has here whom a ban or a kick is about.
fn holdings(world: &World, order: &GovernOrder) -> KeyHoldings {
    let (GovernOrder::Ban { key, .. } | GovernOrder::Kick { key }) = order else {
        return KeyHoldings::default();
    };
    let is_here = world.player(key).is_some_and(|player| player.session.is_some());
    let lots = world.lots_after(LotId(0)).filter(|(_, lot)| lot.holder == *key);
    KeyHoldings {
        sessions: is_here.into(),
        things: count(world.things(key).count()),
        lots: count(lots.count()),
    }
}

/// Returns whom a report is about that an order decides, or whose club it ends.
fn affected<'a>(world: &'a World, order: &GovernOrder) -> Option<&'a PublicKey> {
    match order {
        GovernOrder::Decide { report, .. } => world.report(*report)?.accused.as_ref(),
        GovernOrder::EndClub { club } => world.club(*club).map(|club| &club.owner),
        _ => None,
    }
}

/// Returns how many things an undo is about.
fn traced(world: &World, order: &GovernOrder) -> TracedThings {
    let GovernOrder::Undo { key, seconds } = order else { return TracedThings::default() };
    let TraceCount { made, changed, deleted } = world.traced(key, *seconds);
    TracedThings { made, changed, deleted }
}

/// Returns the reports after one; as many as one answer has.
pub(super) fn reports(world: &World, after: u64) -> Vec<ReportEntry> {
    let ruling = |GivenRuling { by, ruling, reason, height }: &GivenRuling| RulingEntry {
        by: *by,
        ruling: *ruling,
        reason: reason.clone(),
        height: *height,
    };
    let entry = |(report, filed): (u64, &FiledReport)| ReportEntry {
        report,
        by: filed.by,
        by_name: world.player(&filed.by).map_or_else(String::new, |player| player.name.clone()),
        about: filed.about,
        name: filed.name.clone(),
        accused: filed.accused,
        words: filed.words.clone(),
        ago: world.governance().time.saturating_sub(filed.time),
        ruling: filed.ruling.as_ref().map(ruling),
        opened: filed.opened.clone(),
    };
    world.reports_after(after).take(REPORTS_PER_ANSWER_MAX).map(entry).collect()
}

/// Returns the words in a mailbox after one; as many as one answer has.
pub(super) fn mailbox(world: &World, of: PublicKey, after: u64) -> Answer {
    let entry = |(number, words): (u64, &KeptWords)| {
        let name = world.player(&words.by()).map(|player| player.name.clone());
        told_message(world, number, name.unwrap_or_default(), words)
    };
    let kept = world.mailbox(of, after).take(MAILBOX_PER_ANSWER_MAX);
    Answer::Mailbox(kept.map(entry).collect())
}

/// Returns words as their reader is told of them.
pub(super) fn told_message(
    world: &World,
    number: u64,
    name: String,
    words: &KeptWords,
) -> ToldMessage {
    ToldMessage {
        number,
        height: words.height,
        ago: world.governance().time.saturating_sub(words.time),
        name,
        act: words.act.clone(),
        sealed: words.sealed.clone(),
    }
}

/// Returns the thing that an order is about.
fn thing(world: &World, object: ObjectId) -> Option<GovernedThing> {
    let seen = world.object(object).filter(|seen| seen.player.is_none())?;
    Some(GovernedThing {
        object,
        name: seen.name,
        owner: seen.owner,
        scripts: u32::try_from(seen.scripts.len()).unwrap_or(u32::MAX),
        frozen: world.frozen(object).is_some(),
        way_back: world.way_back(object),
    })
}

/// Returns the sessions that end after a turn: of keys that are banned, and of players whom the turn sent
/// away. A banned key that connects anew is told so after the next turn.
pub(crate) fn sent_away(
    world: &World,
    acts: &[SignedEnvelope],
    outcomes: &[Outcome],
    sessions: &[(ClientId, PublicKey)],
) -> Vec<(ClientId, Goodbye)> {
    let kicked = |(act, outcome): (&SignedEnvelope, &Outcome)| match &act.envelope.act {
        Act::Govern(GovernOrder::Kick { key }) if outcome.is_done() => Some(*key),
        _ => None,
    };
    let kicked: BTreeSet<PublicKey> = acts.iter().zip(outcomes).filter_map(kicked).collect();
    if kicked.is_empty() && !world.has_bans() {
        return Vec::new();
    }
    let why = |key: &PublicKey| match key {
        key if world.ban(key).is_some() => Some(Goodbye::Banned),
        key if kicked.contains(key) => Some(Goodbye::Kicked),
        _ => None,
    };
    sessions.iter().filter_map(|(client, key)| Some((*client, why(key)?))).collect()
}
