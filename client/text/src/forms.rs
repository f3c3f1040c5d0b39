//! The forms and offers that things have shown, and to which of them a typed reply goes.

use metatopia_client::text;
use metatopia_protocol::FormMessage;
use metatopia_types::{Act, Outcome, Refusal};

use super::room::ActProgress;

/// Forms and offers that are kept.
const OPEN_MAX: usize = 16;

/// Words by which offers are answered.
const ANSWERS: [&str; 6] = ["yes", "y", "accept", "no", "n", "decline"];

/// Notes a form that is shown, as the newest. It takes the place of the form, or of the offer, that its thing
/// showed before.
pub(super) fn note(open: &mut Vec<FormMessage>, shown: FormMessage) {
    open.retain(|form| (form.object, is_offer(form)) != (shown.object, is_offer(&shown)));
    open.push(shown);
    if open.len() > OPEN_MAX {
        open.remove(0);
    }
}

/// Says whether nothing is open any more after a reply: it was taken, or there is no such offer. Whoever was
/// refused for another reason may reply again.
pub(super) const fn is_settled(fate: ActProgress) -> bool {
    matches!(
        fate,
        ActProgress::Done(Outcome::Ok | Outcome::Made(_) | Outcome::Refused(Refusal::NoOffer))
    )
}

/// Notes a reply: an offer is gone, and a form waits behind those that are not answered yet.
pub(super) fn note_reply(open: &mut Vec<FormMessage>, replied: &FormMessage) {
    let Some(at) = open.iter().position(|form| form == replied) else { return };
    let form = open.remove(at);
    if !is_offer(&form) {
        open.insert(0, form);
    }
}

/// Returns the form that a typed line is meant for, and the reply; or why it is for none of them. Of several
/// that it fits the newest is meant, but a yes or no is for an offer first, and all else for a form.
pub(super) fn meant(open: &[FormMessage], typed: &str) -> Result<(FormMessage, Act), String> {
    let (forms, words) = match addressed(open, typed) {
        Some((forms, words)) => (forms, words),
        None => (open.iter().collect(), typed),
    };
    let newest = forms.last().copied();
    let is_answer = ANSWERS.contains(&words.trim().to_lowercase().as_str());
    let (first, then): (Vec<&FormMessage>, Vec<&FormMessage>) =
        forms.iter().rev().partition(|form| is_offer(form) == is_answer);
    let mut why = "nothing has asked you anything".to_owned();
    for form in first.into_iter().chain(then) {
        match text::reply(form, words) {
            Ok(act) => return Ok((form.clone(), act)),
            Err(error) if Some(form) == newest => {
                why = format!("{error} ({} asked last)", text::printable(&form.name));
            }
            Err(_) => {}
        }
    }
    Err(why)
}

/// Returns the forms of the thing that `to NAME` names, and the words behind it; nothing if it names none.
fn addressed<'a, 'b>(
    open: &'a [FormMessage],
    typed: &'b str,
) -> Option<(Vec<&'a FormMessage>, &'b str)> {
    let rest = typed.trim().strip_prefix("to ")?.trim_start();
    let behind = |name: &str| {
        let (begin, words) = rest.split_at_checked(name.len())?;
        let is_whole = words.is_empty() || words.starts_with(char::is_whitespace);
        (!name.is_empty() && is_whole && begin.to_lowercase() == name.to_lowercase())
            .then_some(words)
    };
    // Of a lamp and a lamp shop the longer name is meant, if both are written.
    let names = open.iter().filter_map(|form| Some((&form.name, behind(&form.name)?)));
    let (name, words) = names.max_by_key(|(name, _)| name.len())?;
    Some((open.iter().filter(|form| form.name == *name).collect(), words.trim_start()))
}

const fn is_offer(form: &FormMessage) -> bool {
    form.form.offer.is_some()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use metatopia_types::{Form, Height, ObjectId, Offer, ShownOffer};

    use super::*;

    fn form(object: u64, name: &str, choices: &[&str], field: Option<&str>) -> FormMessage {
        FormMessage {
            height: Height(1),
            object: ObjectId(object),
            name: name.to_owned(),
            form: Form {
                tag: "tag".to_owned(),
                title: "Well?".to_owned(),
                text: String::new(),
                choices: choices.iter().map(ToString::to_string).collect(),
                field: field.map(Into::into),
                offer: None,
            },
        }
    }

    fn offer(object: u64, name: &str) -> FormMessage {
        let mut asked = form(object, name, &[], None);
        let terms = Offer { give: None, take: None, allow: BTreeSet::new() };
        let shown = ShownOffer { terms, given: String::new(), taken: String::new() };
        asked.form.offer = Some(Box::new(shown));
        asked
    }

    fn told(open: &[FormMessage], typed: &str) -> Result<u64, String> {
        meant(open, typed).map(|(form, _)| form.object.0)
    }

    /// One thing that asked again and again kept everybody from answering another.
    #[test]
    fn a_reply_goes_to_the_newest_form_that_it_fits() {
        let mut open = Vec::new();
        for shown in [
            form(1, "vote box", &["red", "blue"], Some("why")),
            form(2, "kiosk", &["tea"], None),
            offer(3, "shop"),
            form(2, "kiosk", &["tea"], None),
        ] {
            note(&mut open, shown);
        }
        assert_eq!(open.len(), 3);
        assert_eq!(told(&open, "1"), Ok(2));
        assert_eq!(told(&open, "2 because"), Ok(1));
        assert_eq!(told(&open, "yes"), Ok(3));
        assert_eq!(told(&open, "to Vote Box 1 so"), Ok(1));
        assert!(told(&open, "9").unwrap_err().contains("kiosk"));
        assert!(told(&[], "9").is_err());
    }

    #[test]
    fn an_offer_is_accepted_by_no_number_that_a_form_has() {
        let open = [form(1, "kiosk", &["tea"], None), offer(2, "shop")];
        assert_eq!(told(&open, "1"), Ok(1));
        let open = [offer(2, "shop"), form(1, "guest book", &[], Some("words"))];
        assert_eq!(told(&open, "no"), Ok(2));
        assert_eq!(told(&open, "to the moon"), Ok(1));
    }

    #[test]
    fn what_was_replied_to_waits_behind_the_others() {
        let mut open = vec![form(1, "box", &["a"], None), form(2, "kiosk", &["a"], None)];
        let (replied, _) = meant(&open, "1").unwrap();
        note_reply(&mut open, &replied);
        assert_eq!(told(&open, "1"), Ok(1));
        open.push(offer(3, "shop"));
        let (replied, _) = meant(&open, "yes").unwrap();
        note_reply(&mut open, &replied);
        assert_eq!(open.len(), 2);
    }

    /// Whoever was refused for the time being lost the offer, and could not reply to it again.
    #[test]
    fn a_refused_reply_leaves_the_offer_open_unless_there_is_no_such_offer() {
        let refused = |why| is_settled(ActProgress::Done(Outcome::Refused(why)));
        assert!(!refused(Refusal::TooOften) && !refused(Refusal::OutOfReach));
        assert!(!is_settled(ActProgress::Waiting));
        assert!(refused(Refusal::NoOffer) && is_settled(ActProgress::Done(Outcome::Ok)));
    }

    #[test]
    fn only_the_newest_forms_are_kept() {
        let mut open = Vec::new();
        (0..40).for_each(|n| note(&mut open, form(n, "box", &["a"], None)));
        assert_eq!(open.len(), OPEN_MAX);
        assert_eq!(told(&open, "1"), Ok(39));
    }
}
