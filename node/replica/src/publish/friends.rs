//! What servers tell of the friends who get a lost key back.

use metatopia_protocol::{Answer, FriendEntry, FriendListEntry, FriendsEntry, RecoveryEntry};
use metatopia_sim::{FriendList, KeyFriends, World};
use metatopia_types::{Act, PublicKey};

/// Returns the friends of a key; none if nobody was named.
pub(super) fn friends(world: &World, of: PublicKey) -> Answer {
    let kept = world.friends(&of).cloned().unwrap_or_default();
    Answer::Friends(Box::new(Ok(entry(world, of, &kept))))
}

/// Returns what an act about friends would lead to at this moment.
pub(super) fn attempt(world: &World, author: PublicKey, act: &Act) -> Answer {
    let tried = world.try_friends(&author, act);
    Answer::Friends(Box::new(tried.map(|(of, kept)| entry(world, of, &kept))))
}

/// Returns what is told of the friends of a key.
fn entry(world: &World, of: PublicKey, kept: &KeyFriends) -> FriendsEntry {
    let time = world.governance().time;
    let friend = |key: PublicKey| FriendEntry {
        key,
        name: world.player(&key).map_or_else(String::new, |player| player.name.clone()),
    };
    let list = |list: &FriendList| FriendListEntry {
        friends: list.friends.iter().copied().map(friend).collect(),
        need: list.need,
    };
    let waits = kept.next.as_ref().filter(|(_, from)| *from > time);
    FriendsEntry {
        of: friend(of),
        counted: list(kept.counted(time)),
        next: waits.map(|(next, from)| (list(next), from - time)),
        recovery: kept.recovery.as_ref().map(|open| RecoveryEntry {
            vouches: open.vouches.iter().map(|(by, new)| (friend(*by), *new)).collect(),
            chosen: open.chosen,
            left: open.ends.saturating_sub(time),
        }),
    }
}
