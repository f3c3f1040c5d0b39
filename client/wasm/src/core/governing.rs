//! What moderators and admins order, and what was ordered, for the page.

use std::collections::BTreeSet;

use metatopia_client::ProvenOrders;
use metatopia_protocol::{OrdersAnswer, PersonEntry, RightEntry, SanctionEntry, span};
use metatopia_sim::{OrderedDeed, RecordedOrder};
use metatopia_types::{Act, GovernOrder, ObjectId, PublicKey, ReportSubject, RoleRight, Ruling};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    ClientCore,
    deeds::{Deed, DeedKind},
    units::variant,
};

/// An order in the words of the page. Times are seconds; none means for good.
#[derive(Debug, Deserialize)]
#[serde(tag = "verb", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum PageOrder {
    Grant { key: String, rights: BTreeSet<String>, seconds: Option<u32> },
    Revoke { key: String, rights: BTreeSet<String> },
    Appoint { key: String },
    Dismiss { key: String },
    Kick { key: String },
    Ban { key: String, seconds: Option<u32>, reason: String },
    Unban { key: String },
    Mute { key: String, seconds: Option<u32>, reason: String },
    Unmute { key: String },
    Freeze { object: ObjectId },
    Thaw { object: ObjectId },
    Return { object: ObjectId },
    Motd { text: String },
    Decide { report: u64, ruling: String, reason: String },
}

fn key(text: &str) -> Option<PublicKey> {
    text.parse().ok()
}

fn rights(words: &BTreeSet<String>) -> Option<BTreeSet<RoleRight>> {
    words.iter().map(|word| RoleRight::of(word)).collect()
}

impl PageOrder {
    /// Returns the order; nothing if it names no key, right or ruling.
    fn order(self) -> Option<GovernOrder> {
        Some(match self {
            Self::Grant { key: text, rights: words, seconds } => {
                GovernOrder::Grant { key: key(&text)?, rights: rights(&words)?, seconds }
            }
            Self::Revoke { key: text, rights: words } => {
                GovernOrder::Revoke { key: key(&text)?, rights: rights(&words)? }
            }
            Self::Appoint { key: text } => GovernOrder::NameAdmin { key: key(&text)? },
            Self::Dismiss { key: text } => GovernOrder::RemoveAdmin { key: key(&text)? },
            Self::Kick { key: text } => GovernOrder::Kick { key: key(&text)? },
            Self::Ban { key: text, seconds, reason } => {
                GovernOrder::Ban { key: key(&text)?, seconds, reason }
            }
            Self::Unban { key: text } => GovernOrder::Unban { key: key(&text)? },
            Self::Mute { key: text, seconds, reason } => {
                GovernOrder::Mute { key: key(&text)?, seconds, reason }
            }
            Self::Unmute { key: text } => GovernOrder::Unmute { key: key(&text)? },
            Self::Freeze { object } => GovernOrder::Freeze { object },
            Self::Thaw { object } => GovernOrder::Thaw { object },
            Self::Return { object } => GovernOrder::Return { object },
            Self::Motd { text } => GovernOrder::Announce { text },
            Self::Decide { report, ruling: word, reason } => {
                GovernOrder::Decide { report, ruling: Ruling::of(&word)?, reason }
            }
        })
    }
}

impl ClientCore {
    /// Gives an order.
    pub(super) fn govern(&mut self, id: u64, order: PageOrder) {
        match order.order() {
            Some(order) => self.act(Deed::new(DeedKind::Plain(id), Act::Govern(order))),
            None => self.failed(id, super::building::BAD_NAME, &Value::Null),
        }
    }

    /// Returns a page of what was ordered that ends below a number, proved; nothing if it does not hold.
    pub(super) fn proven_orders(&self, below: u64, answer: &OrdersAnswer) -> Option<Value> {
        let proven: ProvenOrders = self.session.light().orders(below, answer).ok()?;
        let orders: Vec<Value> = proven.orders.iter().rev().map(ordered).collect();
        Some(json!({ "orders": orders, "more": proven.goes_on(), "count": proven.count }))
    }
}

/// Returns a key with what was ordered about it.
pub(super) fn person(entry: &PersonEntry) -> Value {
    let right = |given: &RightEntry| json!({ "right": given.right.word(), "left": given.left });
    let sanction = |SanctionEntry { by, left, reason }: &SanctionEntry| {
        let by = by.to_string();
        json!({ "by": by, "left": left, "reason": reason })
    };
    json!({
        "key": entry.key.to_string(), "name": entry.name, "here": entry.here,
        "admin": entry.admin || entry.temp_admin,
        "rights": entry.rights.iter().map(right).collect::<Vec<Value>>(),
        "ban": entry.ban.as_ref().map(sanction), "mute": entry.mute.as_ref().map(sanction),
        "proven": false,
    })
}

fn ordered((number, order): &(u64, RecordedOrder)) -> Value {
    let RecordedOrder { height, by, warrant, deed } = order;
    let mut told = match deed {
        OrderedDeed::Govern(order) => governed(order),
        OrderedDeed::Servers(change) => json!({ "verb": "servers", "detail": variant(change) }),
        OrderedDeed::Ticket(order) => json!({ "verb": "ticket", "detail": variant(order) }),
        OrderedDeed::Amend { name, value } => {
            json!({ "verb": "set", "detail": format!("{name} {value}") })
        }
        OrderedDeed::Build { object, step } => {
            json!({ "verb": "build", "object": object, "detail": step })
        }
        OrderedDeed::Publish => json!({ "verb": "publish" }),
        OrderedDeed::Border { word, neighbour } => {
            json!({ "verb": "border", "detail": format!("{word} {neighbour}") })
        }
        OrderedDeed::Lot { word, lot } => {
            let lot = lot.map_or_else(String::new, |lot| format!(" {lot}"));
            json!({ "verb": "lot", "detail": format!("{word}{lot}") })
        }
        OrderedDeed::Undo { key, undone, collided } => {
            let detail = format!("{undone} / {collided}");
            json!({ "verb": "undo", "person": key.to_string(), "detail": detail })
        }
        OrderedDeed::Decide { report, about, ruling, reason } => {
            let (person, object) = match about {
                ReportSubject::Person(key) | ReportSubject::Words { by: key, .. } => {
                    (Some(key.to_string()), None)
                }
                ReportSubject::Thing(object) => (None, Some(*object)),
            };
            let detail = format!("#{report} {}: {reason}", ruling.word());
            json!({ "verb": "decide", "person": person, "object": object, "detail": detail })
        }
        OrderedDeed::TakeBack { square } => {
            json!({ "verb": "takeback", "detail": square.to_string() })
        }
    };
    told["number"] = json!(number);
    told["height"] = json!(height);
    told["by"] = by.to_string().into();
    told["warrant"] = warrant.words().into();
    told
}

fn governed(order: &GovernOrder) -> Value {
    let words = |rights: &BTreeSet<RoleRight>| {
        rights.iter().map(|right| right.word()).collect::<Vec<_>>().join(", ")
    };
    let (detail, seconds) = match order {
        GovernOrder::Grant { rights, seconds, .. } => (words(rights), Some(seconds)),
        GovernOrder::Revoke { rights, .. } => (words(rights), None),
        GovernOrder::GrantArea { rights, area, seconds, .. } => {
            (format!("{}: {area}", words(rights)), Some(seconds))
        }
        GovernOrder::RevokeArea { rights, area, .. } => {
            (format!("{}: {area}", words(rights)), None)
        }
        GovernOrder::Ban { seconds, reason, .. } | GovernOrder::Mute { seconds, reason, .. } => {
            (reason.clone(), Some(seconds))
        }
        GovernOrder::Announce { text } => (text.clone(), None),
        GovernOrder::SetLand { name, area, title } => (format!("{name}: {area}, {title}"), None),
        GovernOrder::RemoveLand { name } => (name.clone(), None),
        _ => (String::new(), None),
    };
    let lasts = seconds.map(|seconds| match seconds {
        Some(seconds) => format!("for {}", span(u64::from(*seconds).saturating_mul(1_000))),
        None => "for good".to_owned(),
    });
    json!({
        "verb": order.verb(), "person": order.person().map(ToString::to_string),
        "object": order.object(), "detail": detail, "lasts": lasts,
    })
}

#[cfg(test)]
mod tests {
    use metatopia_sim::Warrant;
    use metatopia_types::{Height, Sign as _, SigningKey};

    use super::*;

    #[test]
    fn each_verb_of_the_page_is_the_order_of_that_word() {
        let key = SigningKey::from_seed([3; 32]).public().to_string();
        let about = |verb: &str| match verb {
            "grant" | "revoke" => json!({ "verb": verb, "key": key, "rights": ["moderate"] }),
            "ban" | "mute" => json!({ "verb": verb, "key": key, "seconds": 60, "reason": "spam" }),
            "freeze" | "thaw" | "return" => json!({ "verb": verb, "object": 7 }),
            "motd" => json!({ "verb": verb, "text": "hello" }),
            "decide" => {
                json!({ "verb": verb, "report": 3, "ruling": "upheld", "reason": "no walls" })
            }
            _ => json!({ "verb": verb, "key": key }),
        };
        let verbs = "grant revoke appoint dismiss kick ban unban mute unmute freeze thaw return motd decide";
        for verb in verbs.split(' ') {
            let order: PageOrder = serde_json::from_value(about(verb)).expect(verb);
            assert_eq!(order.order().map(|order| order.verb()), Some(verb));
        }
    }

    #[test]
    fn an_order_about_no_key_or_no_right_is_none() {
        for wrong in [
            json!({ "verb": "kick", "key": "ada" }),
            json!({ "verb": "grant", "key": "00".repeat(32), "rights": ["everything"] }),
            json!({ "verb": "decide", "report": 3, "ruling": "maybe", "reason": "" }),
        ] {
            let order: PageOrder =
                serde_json::from_value(wrong.clone()).expect("its form is right");
            assert_eq!(order.order(), None, "{wrong}");
        }
        assert!(serde_json::from_value::<PageOrder>(json!({ "verb": "shout" })).is_err());
    }

    #[test]
    fn what_was_ordered_is_told_with_who_why_and_by_what() {
        let by = SigningKey::from_seed([1; 32]).public();
        let key = SigningKey::from_seed([2; 32]).public();
        let order = GovernOrder::Ban { key, seconds: Some(60), reason: "spam".to_owned() };
        let deed = OrderedDeed::Govern(order);
        let (height, warrant) = (Height(9), Warrant::Role);
        let told = ordered(&(4, RecordedOrder { height, by, warrant, deed }));
        assert_eq!((&told["verb"], &told["detail"]), (&"ban".into(), &"spam".into()));
        assert_eq!((&told["number"], &told["lasts"]), (&4.into(), &"for 1 minute".into()));
        assert_eq!(told["person"], key.to_string());
        assert_eq!(told["warrant"], "by a role");
        let about = ReportSubject::Thing(ObjectId(7));
        let (ruling, reason) = (Ruling::Upheld, "no walls".to_owned());
        let deed = OrderedDeed::Decide { report: 3, about, ruling, reason };
        let told = ordered(&(5, RecordedOrder { height, by, warrant, deed }));
        assert_eq!((&told["verb"], &told["object"]), (&"decide".into(), &7.into()));
        assert_eq!(told["detail"], "#3 upheld: no walls");
    }
}
