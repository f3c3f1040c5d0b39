//! What servers tell of clubs.

use metatopia_protocol::{Answer, CLUBS_PER_ANSWER_MAX, ClubEntry, ClubInviteEntry, ClubPerson};
use metatopia_sim::{Club, SpokenLine, World};
use metatopia_types::{ClubId, PublicKey};

/// Returns the clubs of greater numbers: of somebody who is in them or invited to them, or all.
pub(super) fn clubs(world: &World, of: Option<PublicKey>, after: ClubId) -> Answer {
    let entry = |(id, club): (ClubId, &Club)| entry(world, id, club);
    let most = CLUBS_PER_ANSWER_MAX;
    let found = match of {
        Some(key) => {
            let own = world.clubs_of(&key).into_iter().filter(|(id, _)| *id > after);
            own.take(most).map(entry).collect()
        }
        None => world.clubs_after(after).take(most).map(entry).collect(),
    };
    Answer::Clubs(found)
}

/// Returns what is told of a club.
fn entry(world: &World, club: ClubId, found: &Club) -> ClubEntry {
    let time = world.governance().time;
    let person = |key: &PublicKey| {
        let player = world.player(key);
        ClubPerson {
            key: *key,
            name: player.map_or_else(String::new, |player| player.name.clone()),
            here: player.is_some_and(|player| player.session.is_some()),
        }
    };
    let open = found.invites.iter().filter(|(_, invite)| invite.until > time);
    ClubEntry {
        club,
        name: found.name.clone(),
        owner: found.owner,
        members: found.members.keys().map(person).collect(),
        invites: open
            .map(|(key, invite)| ClubInviteEntry {
                invited: person(key),
                by: invite.by,
                left: invite.until - time,
            })
            .collect(),
    }
}

/// Says whether somebody hears a line of a club: a member who is logged in.
pub(super) fn hears_club(world: &World, key: &PublicKey, line: &SpokenLine) -> bool {
    let found = line.club.as_ref().and_then(|told| world.club(told.club));
    let is_member = found.is_some_and(|club| club.members.contains_key(key));
    is_member && world.player(key).is_some_and(|player| player.session.is_some())
}
