//! Lots for the page: whose ground is where, by the word of the server.

use std::{collections::BTreeSet, time::Duration};

use metatopia_client::build::claim_around;
use metatopia_math::Fx;
use metatopia_protocol::{LotEntry, LotPerson, Question};
use metatopia_types::{Act, ClubId, LotId, LotOrder, ObjectId};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    ClientCore,
    deeds::{Deed, DeedKind},
    inquiry::InquiryTask,
    units::{PageNumber, from_fx, to_vec},
};

/// Between two questions for the lots.
const LEARN_AGAIN: Duration = Duration::from_secs(10);

/// What the page knows of lots.
#[derive(Debug, Default)]
pub(super) struct LotsTold {
    asked_at: Option<Duration>,
    /// The clubs in which the person is, as they were told the last time.
    clubs: BTreeSet<ClubId>,
    /// As the page was told the last time.
    list: Option<Value>,
}

/// An order about a lot in the words of the page; keys are hexadecimal digits.
#[derive(Debug, Deserialize)]
#[serde(tag = "verb", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum PageLotOrder {
    Name { name: String },
    Give { to: String },
    Open { to: String },
    Shut { to: String },
    SendHome { object: ObjectId },
    OpenClub { club: ClubId },
    ShutClub {},
}

impl PageLotOrder {
    /// Returns the order about this lot; nothing if it names no key.
    pub(super) fn about(self, lot: LotId) -> Option<LotOrder> {
        Some(match self {
            Self::Name { name } => LotOrder::Name { lot, name },
            Self::Give { to } => LotOrder::Give { lot, to: to.parse().ok()? },
            Self::Open { to } => LotOrder::Open { lot, to: to.parse().ok()? },
            Self::Shut { to } => LotOrder::Shut { lot, to: to.parse().ok()? },
            Self::SendHome { object } => LotOrder::SendHome { lot, object },
            Self::OpenClub { club } => LotOrder::OpenToClub { lot, club },
            Self::ShutClub {} => LotOrder::ShutToClub { lot },
        })
    }
}

/// Returns what a person is called: by the first digits of the key, if nobody knows a name.
fn called(person: &LotPerson) -> String {
    match person.name.as_str() {
        "" => format!("{}..", &person.key.to_string()[..8]),
        name => name.to_owned(),
    }
}

impl InquiryTask {
    pub(super) const fn lots() -> (Self, Question) {
        (Self::Lots(Vec::new()), Question::Lots { after: LotId(0) })
    }
}

impl ClientCore {
    /// Asks for the lots, at most every ten seconds. A tab that nobody looks at does not ask.
    pub(super) fn learn_lots(&mut self) {
        let early = self.lots.asked_at.is_some_and(|at| self.now < at.saturating_add(LEARN_AGAIN));
        if !early && self.pulse.is_active() {
            self.lots.asked_at = Some(self.now);
            let (task, question) = InquiryTask::lots();
            self.inquire(None, task, question);
        }
    }

    /// Asks again with the next view, as an order of one's own changed the lots.
    pub(super) const fn lots_changed(&mut self) {
        self.lots.asked_at = None;
    }

    /// Notes in which clubs the person is: their lots let her build.
    pub(super) fn know_clubs(&mut self, clubs: BTreeSet<ClubId>) {
        self.lots.clubs = clubs;
    }

    /// Tells the page of the lots, if they are others than it knows.
    pub(super) fn tell_lots(&mut self, all: &[LotEntry]) {
        let list: Value = all.iter().map(|entry| self.shown_lot(entry)).collect();
        if self.lots.list.as_ref() != Some(&list) {
            self.tell(&json!({ "type": "lots", "list": list, "proven": false }));
            self.lots.list = Some(list);
        }
    }

    /// Returns a lot as an outline that the page draws.
    fn shown_lot(&self, entry: &LotEntry) -> Value {
        let half = entry.high.saturating_sub(entry.low).scale(Fx::HALF);
        let middle = entry.low.saturating_add(half);
        let friend = |friend: &LotPerson| {
            let key = friend.key.to_string();
            json!({ "key": key, "name": called(friend) })
        };
        let friends: Vec<Value> = entry.friends.iter().map(friend).collect();
        json!({
            "lot": entry.lot, "name": entry.name, "holder": called(&entry.holder),
            "friends": friends,
            "own": entry.holder.key == self.key,
            "lets": entry.friends.iter().any(|friend| friend.key == self.key)
                || entry.club.as_ref().is_some_and(|club| self.lots.clubs.contains(&club.club)),
            "club": entry.club.as_ref().map(|club| club.name.as_str()),
            "x": from_fx(middle.x), "y": from_fx(middle.y), "angle": 0, "round": false,
            "hx": from_fx(half.x), "hy": from_fx(half.y),
        })
    }

    /// Claims a square of ground around a place.
    pub(super) fn claim_lot(&mut self, id: u64, x: PageNumber, y: PageNumber, side: u16) {
        match to_vec(x, y) {
            Some(here) => self.order_lot(id, claim_around(here, side, side)),
            None => self.failed(id, "OutOfRange", &Value::Null),
        }
    }

    /// Orders something about a lot.
    pub(super) fn order_lot(&mut self, id: u64, order: LotOrder) {
        self.act(Deed::new(DeedKind::Plain(id), Act::Lot(order)));
    }
}
