//! What orders would do, about whom some hold still, and which values can be changed, for the page of who governs.

use metatopia_client::text::{would_do, would_set};
use metatopia_protocol::{
    DryRunEntry, IntendedChange, IntendedChangeEntry, IntendedOrder, PersonEntry, Question,
    take_page,
};
use metatopia_sim::{AMENDABLE, Charter, Land, limits::UNDONE_PER_ACT_MAX};
use metatopia_types::{Act, Blob, GovernOrder, PublicKey, Refusal};
use serde_json::{Value, json};

use super::{inquiry::InquiryTask, outcomes::rule};

impl InquiryTask {
    /// Asks about whom something was ordered that holds still.
    pub(super) const fn people() -> (Self, Question) {
        (Self::People(Vec::new()), Question::People { after: None })
    }

    /// Asks what an order, or a change of a value, would do.
    pub(super) fn would(author: PublicKey, act: Act, mut blobs: Vec<Blob>) -> (Self, Question) {
        match act {
            Act::Govern(order) => {
                let intended = IntendedOrder { author, order: order.clone() };
                (Self::Would(Box::new(order)), Question::DryRun(Box::new(intended)))
            }
            act => {
                let intended = IntendedChange { author, act: act.clone(), blob: blobs.pop() };
                (Self::WouldChange(Box::new(act)), Question::TryChange(Box::new(intended)))
            }
        }
    }
}

/// Takes a page of people in; returns the question for the next one, if there is one.
pub(super) fn take_people(all: &mut Vec<PersonEntry>, page: Vec<PersonEntry>) -> Option<Question> {
    take_page(all, page).map(|after| Question::People { after: Some(after) })
}

/// Returns what an order would do, in words; or the rule that refuses it.
pub(super) fn told(order: &GovernOrder, told: &DryRunEntry) -> Value {
    let mut shown = verdict(&told.verdict, would_do(order, told));
    // What one act of an undo leaves, the next ones do.
    let acts = told.traced.all().div_ceil(UNDONE_PER_ACT_MAX as u32).max(1);
    shown["acts"] = acts.into();
    shown
}

/// Returns what the change of a value would do, or the sending home of a thing.
pub(super) fn told_change(act: &Act, told: &IntendedChangeEntry) -> Value {
    let does = match act {
        Act::Amend { name, value } => would_set(name, value, told),
        _ => "send it back over the border that it came over".to_owned(),
    };
    verdict(&told.verdict, does)
}

fn verdict(verdict: &Result<String, Refusal>, does: String) -> Value {
    match verdict {
        Ok(by) => json!({ "does": does, "by": by, "refusal": null, "acts": 1, "proven": false }),
        Err(why) => {
            json!({
                "does": does, "by": null, "refusal": rule(*why), "acts": 1, "proven": false,
            })
        }
    }
}

/// Returns the values of the charter that can be changed, and its lands, the topmost first.
pub(super) fn values(charter: &Charter) -> Value {
    let value = |name: &&str| charter.value(name).map(|value| json!([name, value]));
    let land = |land: &Land| json!({ "name": land.name, "title": land.title.to_string() });
    json!({
        "values": AMENDABLE.iter().filter_map(value).collect::<Vec<Value>>(),
        "lands": charter.lands.iter().rev().map(land).collect::<Vec<Value>>(),
        "proven": true,
    })
}
