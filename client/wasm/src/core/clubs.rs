//! Clubs for the page: who is in which, by the word of the server, and what the person orders about them.

use metatopia_client::text::{club_person, say_in_club};
use metatopia_protocol::{ClubEntry, ClubInviteEntry, ClubPerson, Question, take_page};
use metatopia_types::{Act, ClubId, ClubOrder, PublicKey, limits::CHAT_BYTES_MAX};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    ClientCore,
    building::BAD_NAME,
    deeds::{Deed, DeedKind},
    inquiry::{InquiryStep, InquiryTask},
};

/// What the channel of a club begins with, in the words of the page; the number of the club follows.
const CLUB_CHANNEL: &str = "club:";

/// What the page orders about a club.
#[derive(Debug, Deserialize)]
#[serde(tag = "verb", rename_all = "snake_case")]
pub(super) enum PageClubOrder {
    /// Founds a club.
    Found { name: String },
    /// Invites the person with a key.
    Invite { club: ClubId, key: String },
    /// Accepts an invite.
    Accept { club: ClubId },
    /// Declines an invite.
    Decline { club: ClubId },
    /// Leaves a club.
    Leave { club: ClubId },
    /// Ends the membership of the person with a key, or takes the invite back.
    Remove { club: ClubId, key: String },
    /// Makes the member with a key the owner.
    HandOver { club: ClubId, key: String },
    /// Gives a club another name.
    Rename { club: ClubId, name: String },
    /// Ends a club.
    Dissolve { club: ClubId },
}

impl PageClubOrder {
    /// Returns the order; nothing if it names no key.
    fn order(self) -> Option<ClubOrder> {
        Some(match self {
            Self::Found { name } => ClubOrder::Found { name },
            Self::Invite { club, key } => ClubOrder::Invite { club, key: key.parse().ok()? },
            Self::Accept { club } => ClubOrder::Accept { club },
            Self::Decline { club } => ClubOrder::Decline { club },
            Self::Leave { club } => ClubOrder::Leave { club },
            Self::Remove { club, key } => ClubOrder::Remove { club, key: key.parse().ok()? },
            Self::HandOver { club, key } => ClubOrder::HandOver { club, to: key.parse().ok()? },
            Self::Rename { club, name } => ClubOrder::Rename { club, name },
            Self::Dissolve { club } => ClubOrder::Dissolve { club },
        })
    }
}

/// Returns the club whose channel the page names, if it is one's.
pub(super) fn club_of_channel(channel: &str) -> Option<ClubId> {
    channel.strip_prefix(CLUB_CHANNEL)?.parse().ok().map(ClubId)
}

impl InquiryTask {
    pub(super) const fn clubs(of: PublicKey) -> (Self, Question) {
        (Self::Clubs(Vec::new()), Question::Clubs { of: Some(of), after: ClubId(0) })
    }
}

impl ClientCore {
    /// Orders something about a club.
    pub(super) fn order_club(&mut self, id: u64, order: PageClubOrder) {
        match order.order() {
            Some(order) => self.act(Deed::new(DeedKind::Plain(id), Act::Club(order))),
            None => self.failed(id, BAD_NAME, &Value::Null),
        }
    }

    /// Says words to the members of a club.
    pub(super) fn say_in_club(&mut self, id: u64, club: ClubId, text: &str) {
        if text.len() > CHAT_BYTES_MAX {
            return self.failed(id, "TooLong", &Value::Null);
        }
        self.act(Deed::of(id, say_in_club(club, text)));
    }

    /// Takes a page of clubs in.
    pub(super) fn clubs_came(
        &mut self,
        all: &mut Vec<ClubEntry>,
        page: Vec<ClubEntry>,
    ) -> InquiryStep {
        match take_page(all, page) {
            Some(after) => InquiryStep::Ask(Question::Clubs { of: Some(self.key), after }),
            None => {
                let own = all.iter().filter(|club| club.member(&self.key).is_some());
                self.know_clubs(own.map(|club| club.club).collect());
                InquiryStep::Done(all.iter().map(|club| shown(club, &self.key)).collect())
            }
        }
    }
}

/// Returns a club as the page lists it.
fn shown(club: &ClubEntry, own: &PublicKey) -> Value {
    let person = |person: &ClubPerson| {
        json!({
            "name": club_person(person), "key": person.key.to_string(), "here": person.here,
        })
    };
    let by = |invite: &ClubInviteEntry| {
        let by = club.member(&invite.by).map_or_else(String::new, club_person);
        json!({ "name": by, "key": invite.by.to_string() })
    };
    json!({
        "club": club.club, "name": club.name, "channel": format!("{CLUB_CHANNEL}{}", club.club),
        "own": club.owner == *own, "invited": club.invite(own).map(by),
        "members": club.members.iter().map(person).collect::<Vec<Value>>(),
        "asked": club.invites.iter().map(|invite| person(&invite.invited)).collect::<Vec<Value>>(),
        "proven": false,
    })
}
