//! Forms in words: what a thing asks, and how a typed line replies to it.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use metatopia_protocol::FormMessage;
use metatopia_types::{Act, Form, Permission, ShownOffer, limits};

use super::printable;

/// Why a typed line is no reply to a form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// The form has choices, and the line names none of them.
    #[error("choose by a number from 1 to {0}")]
    Choice(usize),
    /// The form has a line to fill in, and nothing was typed for it.
    #[error("fill in: {0}")]
    Field(String),
    /// The form has no line to fill in.
    #[error("this takes a number and no words")]
    Words,
    /// The words are too many for one act.
    #[error("{0} bytes are too many for a reply; at most {max}", max = limits::CHAT_BYTES_MAX)]
    TooLong(usize),
    /// It is an offer, which is accepted or declined.
    #[error("this is an offer: `reply yes` or `reply no`")]
    Offer,
    /// The form only tells something.
    #[error("this asks for no reply")]
    Nothing,
}

/// Returns what a form says, a line each, and how to reply.
#[must_use]
pub fn form_lines(asked: &FormMessage) -> Vec<String> {
    let Form { title, text, choices, field, offer, .. } = &asked.form;
    if let Some(offer) = offer {
        return offer_lines(&asked.name, text, offer);
    }
    let words = [title, text].map(|words| printable(words));
    let words: Vec<String> = words.into_iter().filter(|words| !words.is_empty()).collect();
    let mut lines = Vec::from([format!("{} asks: {}", printable(&asked.name), words.join(" - "))]);
    for (number, choice) in (1..).zip(choices) {
        lines.push(format!("  {number}  {}", printable(choice)));
    }
    if let Some(field) = field {
        lines.push(format!("  {}: ____", printable(field)));
    }
    let how = match (choices.is_empty(), field) {
        (true, None) => return lines,
        (true, Some(_)) => "reply WORDS",
        (false, None) => "reply NUMBER",
        (false, Some(_)) => "reply NUMBER WORDS",
    };
    lines.push(format!("Answer with `{how}`."));
    lines
}

/// Returns what an offer says, a line each, and how to answer.
fn offer_lines(name: &str, text: &str, offer: &ShownOffer) -> Vec<String> {
    let name = printable(name);
    let asks = if text.is_empty() { String::new() } else { format!(": {}", printable(text)) };
    let mut lines = Vec::from([format!("{name} makes you an offer{asks}")]);
    let ShownOffer { terms, given, taken } = offer;
    if terms.give.is_some() {
        lines.push(format!("  You get {}.", printable(given)));
    }
    if terms.take.is_some() {
        lines.push(format!("  You hand over {}.", printable(taken)));
    }
    for permission in &terms.allow {
        let may = match permission {
            Permission::Move => "put you somewhere else",
            Permission::Dress => "draw you in other colours",
        };
        lines.push(format!("  {name} may {may}, until you leave or say `forbid`."));
    }
    lines.push("Answer with `reply yes` or `reply no`.".to_string());
    lines
}

/// Reads a typed line as the answer to an offer.
fn answer(asked: &FormMessage, offer: &ShownOffer, typed: &str) -> Result<Act, ReplyError> {
    let accepts = match typed.trim().to_lowercase().as_str() {
        "yes" | "y" | "1" | "accept" => true,
        "no" | "n" | "2" | "decline" => false,
        _ => return Err(ReplyError::Offer),
    };
    Ok(Act::Answer { object: asked.object, terms: offer.terms.clone(), accepts })
}

/// Reads a typed line as the reply to a form.
///
/// # Errors
/// See [`ReplyError`].
pub fn reply(asked: &FormMessage, typed: &str) -> Result<Act, ReplyError> {
    let Form { tag, choices, field, offer, .. } = &asked.form;
    if let Some(offer) = offer {
        return answer(asked, offer, typed);
    }
    if choices.is_empty() && field.is_none() {
        return Err(ReplyError::Nothing);
    }
    let typed = typed.trim();
    let (choice, text) = if choices.is_empty() {
        (0, typed)
    } else {
        let (number, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        let number = number.parse::<u8>().ok().and_then(|number| number.checked_sub(1));
        let number = number.filter(|number| usize::from(*number) < choices.len());
        (number.ok_or(ReplyError::Choice(choices.len()))?, rest.trim())
    };
    match field {
        Some(field) if text.is_empty() => Err(ReplyError::Field(printable(field))),
        None if !text.is_empty() => Err(ReplyError::Words),
        _ if text.len() > limits::CHAT_BYTES_MAX => Err(ReplyError::TooLong(text.len())),
        _ => Ok(Act::Reply {
            object: asked.object,
            tag: tag.clone(),
            choice,
            text: text.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Height, ObjectId, Offer};

    use super::*;

    fn asked(choices: &[&str], field: Option<&str>) -> FormMessage {
        FormMessage {
            height: Height(1),
            object: ObjectId(7),
            name: "kiosk".into(),
            form: Form {
                tag: "drink".into(),
                title: "Tea?".into(),
                text: String::new(),
                choices: choices.iter().map(ToString::to_string).collect(),
                field: field.map(Into::into),
                offer: None,
            },
        }
    }

    fn replied(form: &FormMessage, typed: &str) -> Result<(u8, String), ReplyError> {
        reply(form, typed).map(|act| match act {
            Act::Reply { object: ObjectId(7), tag, choice, text } if tag == "drink" => {
                (choice, text)
            }
            other => panic!("{other:?} is no reply to the form"),
        })
    }

    #[test]
    fn a_form_is_told_line_by_line_with_how_to_reply() {
        let lines = form_lines(&asked(&["Green", "Bla\u{7}ck"], Some("For whom?")));

        let wanted = [
            "kiosk asks: Tea?",
            "  1  Green",
            "  2  Bla ck",
            "  For whom?: ____",
            "Answer with `reply NUMBER WORDS`.",
        ];
        assert_eq!(lines, wanted);
        assert_eq!(form_lines(&asked(&[], None)), ["kiosk asks: Tea?"]);
    }

    #[test]
    fn a_typed_line_is_the_reply_that_the_form_asks_for() {
        let (both, one) = (asked(&["a", "b"], Some("For whom?")), asked(&["a", "b"], None));
        let (line, none) = (asked(&[], Some("Your name")), asked(&[], None));

        assert_eq!(replied(&both, "2  my aunt "), Ok((1, "my aunt".into())));
        assert_eq!(replied(&one, "1"), Ok((0, String::new())));
        assert_eq!(replied(&line, "Ada L."), Ok((0, "Ada L.".into())));

        assert_eq!(replied(&both, "2"), Err(ReplyError::Field("For whom?".into())));
        assert_eq!(replied(&one, "1 more"), Err(ReplyError::Words));
        for typed in ["0", "3", "a", "", "256"] {
            assert_eq!(replied(&one, typed), Err(ReplyError::Choice(2)), "{typed:?}");
        }
        let long = "x".repeat(limits::CHAT_BYTES_MAX + 1);
        assert_eq!(replied(&line, &long), Err(ReplyError::TooLong(513)));
        assert_eq!(replied(&none, "1"), Err(ReplyError::Nothing));
    }

    #[test]
    fn an_offer_says_what_changes_hands_and_is_taken_or_left() {
        let mut asked = asked(&[], None);
        let terms = Offer {
            give: Some(ObjectId(8)),
            take: Some(ObjectId(9)),
            allow: [Permission::Move].into(),
        };
        let (given, taken) = ("lamp".into(), "coin\u{1b}".into());
        asked.form = Form {
            text: "A good one.".into(),
            offer: Some(ShownOffer { terms: terms.clone(), given, taken }.into()),
            ..Form::default()
        };

        let lines = form_lines(&asked);
        assert_eq!(lines[0], "kiosk makes you an offer: A good one.");
        assert_eq!(lines[1], "  You get lamp.");
        assert!(lines[2].starts_with("  You hand over coin") && !lines[2].contains('\u{1b}'));
        assert!(lines[3].contains("kiosk may put you somewhere else"));
        assert_eq!(lines[4], "Answer with `reply yes` or `reply no`.");

        for (typed, accepts) in
            [("yes", true), (" Y ", true), ("1", true), ("no", false), ("2", false)]
        {
            let wanted = Act::Answer { object: ObjectId(7), terms: terms.clone(), accepts };
            assert_eq!(reply(&asked, typed), Ok(wanted), "{typed:?}");
        }
        assert_eq!(reply(&asked, "perhaps"), Err(ReplyError::Offer));
    }
}
