//! What moderators and admins order, and what was ordered, for the page.

use std::collections::BTreeSet;

use metatopia_client::ProvenOrders;
use metatopia_protocol::{
    AreaRightEntry, OrdersAnswer, PersonEntry, RightEntry, SanctionEntry, span,
};
use metatopia_sim::{OrderedDeed, RecordedOrder};
use metatopia_types::{
    Act, Blob, BorderOrder, GovernOrder, GroundArea, ObjectId, PublicKey, ReportSubject, RoleRight,
    Ruling,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ClientCore, deeds::Deed, units::variant};

/// An order in the words of the page. Times are seconds; none means for good.
#[derive(Debug, Deserialize)]
#[serde(tag = "verb", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum PageOrder {
    Grant { key: String, rights: BTreeSet<String>, seconds: Option<u32>, area: Option<PageArea> },
    Revoke { key: String, rights: BTreeSet<String>, area: Option<PageArea> },
    Appoint { key: String },
    Dismiss { key: String },
    Kick { key: String },
    Ban { key: String, seconds: Option<u32>, reason: String },
    Unban { key: String },
    Mute { key: String, seconds: Option<u32>, reason: String },
    Unmute { key: String },
    Unprofile { key: String },
    Freeze { object: ObjectId },
    Thaw { object: ObjectId },
    Return { object: ObjectId },
    Motd { text: String },
    Decide { report: u64, ruling: String, reason: String },
    Undo { key: String, seconds: u32 },
    LandSet { name: String, area: PageArea, title: String },
    LandRemove { name: String },
    Set { name: String, value: String },
    HouseRules { text: String },
    SendHome { object: ObjectId, sim: String },
}

/// Ground in the words of the page: its south-western corner, its width and its depth in whole metres.
#[derive(Debug, Deserialize)]
pub(super) struct PageArea {
    x: i32,
    y: i32,
    width: u16,
    depth: u16,
}

impl PageArea {
    const fn ground(&self) -> GroundArea {
        let Self { x, y, width, depth } = *self;
        GroundArea { x, y, width, depth }
    }
}

fn key(text: &str) -> Option<PublicKey> {
    text.parse().ok()
}

fn rights(words: &BTreeSet<String>) -> Option<BTreeSet<RoleRight>> {
    words.iter().map(|word| RoleRight::of(word)).collect()
}

impl PageOrder {
    /// Returns the act that orders it, with the blob that it names; nothing if it names no key, right, title, ruling
    /// or sim.
    pub(super) fn act(self) -> Option<(Act, Vec<Blob>)> {
        match self {
            Self::Set { name, value } => Some((Act::Amend { name, value }, Vec::new())),
            Self::HouseRules { text } => {
                let blob = (!text.is_empty()).then(|| Blob(text.into_bytes()));
                let order = GovernOrder::SetHouseRules { text: blob.as_ref().map(Blob::id) };
                Some((Act::Govern(order), blob.into_iter().collect()))
            }
            Self::SendHome { object, sim } => {
                let blob = BorderOrder::SendHome { neighbour: sim.parse().ok()?, object }.blob();
                Some((Act::Border { order: blob.id() }, vec![blob]))
            }
            order => Some((Act::Govern(order.order()?), Vec::new())),
        }
    }

    /// Returns the order about people, things or land.
    fn order(self) -> Option<GovernOrder> {
        Some(match self {
            Self::Set { .. } | Self::HouseRules { .. } | Self::SendHome { .. } => return None,
            Self::Grant { key: text, rights: words, seconds, area } => {
                let (key, rights) = (key(&text)?, rights(&words)?);
                match area.map(|area| area.ground()) {
                    None => GovernOrder::Grant { key, rights, seconds },
                    Some(area) => GovernOrder::GrantArea { key, rights, area, seconds },
                }
            }
            Self::Revoke { key: text, rights: words, area } => {
                let (key, rights) = (key(&text)?, rights(&words)?);
                match area.map(|area| area.ground()) {
                    None => GovernOrder::Revoke { key, rights },
                    Some(area) => GovernOrder::RevokeArea { key, rights, area },
                }
            }
            Self::Undo { key: text, seconds } => GovernOrder::Undo { key: key(&text)?, seconds },
            Self::LandSet { name, area, title } => {
                GovernOrder::SetLand { name, area: area.ground(), title: title.parse().ok()? }
            }
            Self::LandRemove { name } => GovernOrder::RemoveLand { name },
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
            Self::Unprofile { key: text } => GovernOrder::Unprofile { key: key(&text)? },
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
        match order.act() {
            Some(act) => self.act(Deed::of(id, act)),
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
    let on_ground = |AreaRightEntry { area, given }: &AreaRightEntry| {
        let mut told = right(given);
        told["area"] = area.to_string().into();
        told
    };
    let sanction = |SanctionEntry { by, left, reason }: &SanctionEntry| {
        let by = by.to_string();
        json!({ "by": by, "left": left, "reason": reason })
    };
    json!({
        "key": entry.key.to_string(), "name": entry.name, "here": entry.here,
        "admin": entry.admin || entry.temp_admin,
        "rights": entry.rights.iter().map(right).collect::<Vec<Value>>(),
        "areas": entry.area_rights.iter().map(on_ground).collect::<Vec<Value>>(),
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
        OrderedDeed::Forget { height, body, person } => {
            let person = person.map(|key| key.to_string());
            json!({ "verb": "forget", "person": person, "detail": format!("{height}:{body}") })
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
        GovernOrder::EndClub { club } => (format!("club {club}"), None),
        GovernOrder::SetHouseRules { text: Some(text) } => (text.to_string(), None),
        _ => (String::new(), None),
    };
    let lasts = seconds.map(|seconds| match seconds {
        Some(seconds) => format!("for {}", span(u64::from(*seconds).saturating_mul(1_000))),
        None => "for good".to_owned(),
    });
    json!({
        // The words of the page are found by it, and their names have no spaces.
        "verb": order.verb().replace(' ', "-"), "person": order.person().map(ToString::to_string),
        "object": order.object(), "detail": detail, "lasts": lasts,
    })
}

#[cfg(test)]
mod tests {
    use metatopia_sim::Warrant;
    use metatopia_types::{Digest, Height, Sign as _, SigningKey, SimId};

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
            "undo" => json!({ "verb": verb, "key": key, "seconds": 60 }),
            "land_set" => {
                let area = json!({ "x": 4, "y": -20, "width": 16, "depth": 8 });
                json!({ "verb": verb, "name": "market", "area": area, "title": "open" })
            }
            "land_remove" => json!({ "verb": verb, "name": "market" }),
            _ => json!({ "verb": verb, "key": key }),
        };
        let verbs = "grant revoke appoint dismiss kick ban unban mute unmute freeze thaw return motd decide \
                     undo land_set land_remove";
        for verb in verbs.split_whitespace() {
            let order: PageOrder = serde_json::from_value(about(verb)).expect(verb);
            let word = verb.replace('_', " ");
            assert_eq!(order.order().map(|order| order.verb()), Some(word.as_str()));
        }
        let set = json!({ "verb": "set", "name": "objects_max", "value": "4000" });
        let set: PageOrder = serde_json::from_value(set).expect("a value");
        let (name, value) = ("objects_max".to_owned(), "4000".to_owned());
        assert_eq!(set.act(), Some((Act::Amend { name, value }, Vec::new())));
        let rules = |text: &str| PageOrder::HouseRules { text: text.to_owned() }.act();
        let blob = Blob(b"Be kind.".to_vec());
        let order = |text| Act::Govern(GovernOrder::SetHouseRules { text });
        assert_eq!(rules("Be kind."), Some((order(Some(blob.id())), vec![blob])));
        assert_eq!(rules(""), Some((order(None), Vec::new())));
        let sent = |sim: String| PageOrder::SendHome { object: ObjectId(7), sim }.act();
        let neighbour = SimId(Digest([6; 32]));
        let blob = BorderOrder::SendHome { neighbour, object: ObjectId(7) }.blob();
        let act = Act::Border { order: blob.id() };
        assert_eq!(sent(neighbour.to_string()), Some((act, vec![blob])));
        assert_eq!(sent("garden".to_owned()), None);
    }

    #[test]
    fn a_right_is_given_and_taken_for_an_area_as_for_the_whole_sim() {
        let key = SigningKey::from_seed([3; 32]).public();
        let area = json!({ "x": 4, "y": -20, "width": 16, "depth": 8 });
        let ground = GroundArea { x: 4, y: -20, width: 16, depth: 8 };
        for (verb, area, on) in [
            ("grant", area.clone(), Some(ground)),
            ("grant", Value::Null, None),
            ("revoke", area, Some(ground)),
            ("revoke", Value::Null, None),
        ] {
            let mut order = json!({
                "verb": verb, "key": key.to_string(), "rights": ["build"], "area": area,
            });
            if verb == "grant" {
                order["seconds"] = Value::Null;
            }
            let order: PageOrder = serde_json::from_value(order).expect("an order");
            let order = order.order().expect("a key and a right");
            assert_eq!((order.verb(), order.area(), order.person()), (verb, on, Some(&key)));
        }
    }

    #[test]
    fn an_order_about_no_key_or_no_right_is_none() {
        for wrong in [
            json!({ "verb": "kick", "key": "ada" }),
            json!({ "verb": "grant", "key": "00".repeat(32), "rights": ["everything"] }),
            json!({ "verb": "decide", "report": 3, "ruling": "maybe", "reason": "" }),
            json!({
                "verb": "land_set", "name": "market", "title": "everybody",
                "area": { "x": 0, "y": 0, "width": 4, "depth": 4 },
            }),
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
