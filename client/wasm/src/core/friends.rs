//! Friends who get a lost key back, for the page: whom the person named, and for whom she vouches.

use std::collections::BTreeSet;

use metatopia_client::text::friends_lines;
use metatopia_protocol::{FriendEntry, FriendsEntry, span};
use metatopia_types::{Act, PublicKey, Refusal};
use serde_json::{Value, json};

use super::{
    ClientCore,
    building::BAD_NAME,
    deeds::{Deed, DeedKind},
    units::variant,
};

impl ClientCore {
    /// Names the friends who together get the person's key back.
    pub(super) fn name_friends(&mut self, id: u64, keys: &BTreeSet<String>, need: u8) {
        let friends: Result<BTreeSet<PublicKey>, _> = keys.iter().map(|key| key.parse()).collect();
        match friends {
            Ok(friends) => {
                let friends = friends.into_iter().collect();
                let act = Act::NameFriends { friends, need };
                self.act(Deed::new(DeedKind::Plain(id), act));
            }
            Err(_) => self.failed(id, BAD_NAME, &Value::Null),
        }
    }

    /// Vouches for the new key of a friend, with the word of that key.
    pub(super) fn vouch(&mut self, id: u64, old: &str, new: &str) {
        match (old.trim().parse(), new.trim().parse()) {
            (Ok(old), Ok(new)) => {
                self.act(Deed::new(DeedKind::Plain(id), Act::Vouch { old, new }));
            }
            _ => self.failed(id, BAD_NAME, &Value::Null),
        }
    }
}

/// Returns who asks that which key take over the person's; nothing if nobody does.
pub(super) fn recovery(told: &Result<FriendsEntry, Refusal>) -> Value {
    let Ok(FriendsEntry { counted, recovery: Some(open), .. }) = told else { return Value::Null };
    let by = |(friend, _): &(FriendEntry, PublicKey)| match friend.name.as_str() {
        "" => friend.key.to_string()[..8].to_owned(),
        name => name.to_owned(),
    };
    json!({
        "by": open.vouches.iter().map(by).collect::<Vec<String>>(), "need": counted.need,
        "key": open.chosen.map(|key| key.to_string()), "left": span(open.left), "proven": false,
    })
}

/// Returns who the person's friends are, in lines.
pub(super) fn friends(told: &Result<FriendsEntry, Refusal>) -> Value {
    match told {
        Ok(entry) => json!({ "lines": friends_lines(entry), "proven": false }),
        Err(why) => json!({ "lines": [], "refusal": variant(why), "proven": false }),
    }
}
