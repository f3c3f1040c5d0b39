//! What avatars wear, in words: reads `wear a red crown`, and says how somebody looks.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use metatopia_types::{BodyShape, HandShape, HatShape, HeadShape, Look, Wearable};

use crate::build::{color, color_name, color_names};

/// The colour of a first hat, which stands out from most bodies.
const HAT_COLOR: u32 = 0x003b_4252;

/// Words between those that count.
const FILLERS: [&str; 10] = ["a", "an", "the", "my", "of", "in", "and", "with", "for", "pair"];

/// A part of an avatar that has a shape and a colour of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AvatarPart {
    /// The body, which everybody has.
    Body,
    /// The head above the body.
    Head,
    /// Both hands, which are alike.
    Hands,
    /// The hat on top.
    Hat,
}

/// What somebody types about the own avatar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WearCommand {
    /// Say what there is to wear.
    List,
    /// Go without this part.
    TakeOff(AvatarPart),
    /// Put on a shape, or change the colour of what is worn.
    PutOn {
        /// The part that changes.
        part: AvatarPart,
        /// The place of the shape in the list of its part; as it was if there is none.
        shape: Option<usize>,
        /// The colour as 0xRRGGBB; as it was if there is none.
        color: Option<u32>,
    },
}

/// Why a line about what is worn is not understood, or not followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WearError {
    /// A word is neither a colour nor a shape.
    #[error("`{0}` is nothing to wear, and no colour; `wear` lists both")]
    Unknown(String),
    /// A part without a shape or a colour.
    #[error("which {0}? `wear` lists what there is")]
    NoShape(&'static str),
    /// Several parts have a shape of this word.
    #[error("`{0}` can be {1}: say which, as in `wear {0} {2}`")]
    Ambiguous(String, String, &'static str),
    /// More than one shape, or more than one colour.
    #[error("one thing at a time: `wear a red crown`, then `wear white paws`")]
    TooMuch,
    /// A body cannot be taken off.
    #[error("nobody is without a body; `wear a star body` changes it")]
    NoBody,
    /// A colour for what is not worn.
    #[error("you wear no {0} whose colour could change; `wear` lists what there is")]
    NotWorn(&'static str),
}

impl AvatarPart {
    const ALL: [Self; 4] = [Self::Body, Self::Head, Self::Hands, Self::Hat];

    const fn word(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Head => "head",
            Self::Hands => "hands",
            Self::Hat => "hat",
        }
    }

    fn named(word: &str) -> Option<Self> {
        let word = if word == "hand" { "hands" } else { word };
        Self::ALL.into_iter().find(|part| part.word() == word)
    }

    /// Returns the word and the phrase of each shape.
    fn shapes(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Body => BodyShape::ALL.map(|shape| (shape.word(), shape.phrase())).into(),
            Self::Head => HeadShape::ALL.map(|shape| (shape.word(), shape.phrase())).into(),
            Self::Hands => HandShape::ALL.map(|shape| (shape.word(), shape.phrase())).into(),
            Self::Hat => HatShape::ALL.map(|shape| (shape.word(), shape.phrase())).into(),
        }
    }

    /// Returns the place of the shape that this word means.
    fn shape(self, word: &str, is_exact: bool) -> Option<usize> {
        let means = |(own, phrase): &(&str, &str)| {
            if is_exact {
                return *own == word;
            }
            let mut words = phrase.split([' ', '\'']).filter(|word| !is_filler(word));
            own.strip_suffix('s') == Some(word)
                || word.strip_suffix('s') == Some(own)
                || words.any(|other| other == word)
        };
        self.shapes().iter().position(means)
    }
}

/// Says whether a word tells nothing of a shape.
fn is_filler(word: &str) -> bool {
    FILLERS.contains(&word) || word == "s" || AvatarPart::named(word).is_some()
}

/// Reads what follows `wear`.
pub(super) fn parse(rest: &str) -> Result<WearCommand, WearError> {
    let line = rest.to_lowercase();
    let words: Vec<&str> = line.split([' ', '\t', '\'', ',']).filter(|w| !w.is_empty()).collect();
    let part = words.iter().find_map(|word| AvatarPart::named(word));
    let mut told = words.iter().filter(|word| !is_filler(word)).copied().peekable();
    if told.next_if_eq(&"no").is_some() {
        let part = match (told.next(), part) {
            (Some(word), _) => find(word, part)?.0,
            (None, Some(part)) => part,
            (None, None) => return Err(WearError::NoShape("part")),
        };
        return if told.next().is_none() { taken_off(part) } else { Err(WearError::TooMuch) };
    }
    let (mut shade, mut worn) = (None, None);
    for word in told {
        let is_first = match color(word) {
            Some(color) => shade.replace(color).is_none(),
            None => worn.replace(find(word, part)?).is_none(),
        };
        if !is_first {
            return Err(WearError::TooMuch);
        }
    }
    Ok(match (worn, part, shade) {
        (Some((part, shape)), _, color) => WearCommand::PutOn { part, shape: Some(shape), color },
        (None, None, None) => WearCommand::List,
        (None, Some(part), None) => return Err(WearError::NoShape(part.word())),
        (None, part, color) => {
            WearCommand::PutOn { part: part.unwrap_or(AvatarPart::Body), shape: None, color }
        }
    })
}

/// Returns the command of somebody who takes off what is worn at a part.
const fn taken_off(part: AvatarPart) -> Result<WearCommand, WearError> {
    match part {
        AvatarPart::Body => Err(WearError::NoBody),
        part => Ok(WearCommand::TakeOff(part)),
    }
}

/// Returns the part and the place of the shape that a word means.
fn find(word: &str, part: Option<AvatarPart>) -> Result<(AvatarPart, usize), WearError> {
    let meant = |is_exact| -> Vec<(AvatarPart, usize)> {
        let parts = AvatarPart::ALL.into_iter().filter(|own| part.is_none_or(|part| part == *own));
        parts.filter_map(|part| Some((part, part.shape(word, is_exact)?))).collect()
    };
    let mut found = meant(true);
    if found.is_empty() {
        found = meant(false);
    }
    match found[..] {
        [] => Err(WearError::Unknown(word.to_string())),
        [one] => Ok(one),
        [(first, _), ..] => {
            let parts: Vec<&str> = found.iter().map(|(part, _)| part.word()).collect();
            Err(WearError::Ambiguous(word.to_string(), parts.join(" or "), first.word()))
        }
    }
}

impl WearCommand {
    /// Returns how somebody looks who looked like this and does as the line says. A list changes nothing.
    ///
    /// # Errors
    /// Fails when a colour is for what is not worn, or the body is taken off.
    pub fn applied(self, look: Look) -> Result<Look, WearError> {
        let (part, shape, color) = match self {
            Self::List => return Ok(look),
            Self::TakeOff(AvatarPart::Body) => return Err(WearError::NoBody),
            Self::TakeOff(AvatarPart::Head) => return Ok(Look { head: None, ..look }),
            Self::TakeOff(AvatarPart::Hands) => return Ok(Look { hands: None, ..look }),
            Self::TakeOff(AvatarPart::Hat) => return Ok(Look { hat: None, ..look }),
            Self::PutOn { part, shape, color } => (part, shape, color),
        };
        let body = look.color;
        Ok(match part {
            AvatarPart::Body => Look {
                color: color.unwrap_or(body),
                shape: shape.map_or(look.shape, |place| BodyShape::ALL[place]),
                ..look
            },
            AvatarPart::Head => Look {
                head: Some(worn(part, look.head, (&HeadShape::ALL, shape), color, body)?),
                ..look
            },
            AvatarPart::Hands => Look {
                hands: Some(worn(part, look.hands, (&HandShape::ALL, shape), color, body)?),
                ..look
            },
            AvatarPart::Hat => Look {
                hat: Some(worn(part, look.hat, (&HatShape::ALL, shape), color, HAT_COLOR)?),
                ..look
            },
        })
    }
}

/// Returns what is worn at a part from now on. A first one without colour has the usual one.
fn worn<S: Copy>(
    part: AvatarPart,
    before: Option<Wearable<S>>,
    (all, place): (&[S; 12], Option<usize>),
    color: Option<u32>,
    usual: u32,
) -> Result<Wearable<S>, WearError> {
    let shape = match (place, before) {
        (Some(place), _) => all[place],
        (None, Some(before)) => before.shape,
        (None, None) => return Err(WearError::NotWorn(part.word())),
    };
    let color = color.or(before.map(|before| before.color)).unwrap_or(usual);
    Ok(Wearable { shape, color })
}

/// Returns how somebody looks, as the end of a sentence: `round, in green, with a crown in gold`.
#[must_use]
pub fn look_words(look: &Look) -> String {
    let Look { color, shape, head, hands, hat } = look;
    let worn = [
        head.map(|worn| (worn.shape.phrase(), worn.color)),
        hands.map(|worn| (worn.shape.phrase(), worn.color)),
        hat.map(|worn| (worn.shape.phrase(), worn.color)),
    ];
    let worn = worn.into_iter().flatten();
    let worn: Vec<String> =
        worn.map(|(what, color)| format!("{what} in {}", color_name(color))).collect();
    let body = format!("{}, in {}", shape.phrase(), color_name(*color));
    match &worn[..] {
        [] => body,
        [one] => format!("{body}, with {one}"),
        [others @ .., last] => format!("{body}, with {} and {last}", others.join(", ")),
    }
}

/// Returns what there is to wear, a line a part, and the colours.
#[must_use]
pub fn wardrobe_lines() -> Vec<String> {
    let line = |part: AvatarPart| {
        let words: Vec<&str> = part.shapes().into_iter().map(|(word, _)| word).collect();
        format!("{}: {}", part.word(), words.join(", "))
    };
    let mut lines: Vec<String> = AvatarPart::ALL.into_iter().map(line).collect();
    lines.push(format!("colours: {}, or six digits, rrggbb", color_names().join(", ")));
    lines.push(
        "as in `wear a red crown`, `wear a white fox head`, `wear blue hands`, `wear no hat`"
            .into(),
    );
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(lines: &[&str]) -> Result<Look, WearError> {
        let look = Look::plain(0x004c_a64c, BodyShape::Round);
        lines.iter().try_fold(look, |look, line| parse(line)?.applied(look))
    }

    fn words(lines: &[&str]) -> String {
        look_words(&after(lines).expect("something to wear"))
    }

    #[test]
    fn somebody_dresses_in_words_and_is_described_by_them() {
        assert_eq!(words(&[]), "round, in green");
        assert_eq!(words(&["a red crown"]), "round, in green, with a crown in red");
        assert_eq!(words(&["crown", "gold hat"]), "round, in green, with a crown in gold");
        assert_eq!(words(&["a red crown", "no hat"]), "round, in green");
        assert_eq!(words(&["a red crown", "no crown"]), "round, in green");
        assert_eq!(words(&["blue"]), "round, in blue");
        assert_eq!(words(&["a star body in #e68020"]), "a star, in orange");
        assert_eq!(
            words(&["an orange fox head", "White Paws", "the wizard's hat, purple"]),
            "round, in green, with the head of a fox in orange, paws in white and a wizard's hat in purple"
        );
        assert_eq!(words(&["a top hat"]), "round, in green, with a top hat in black");
        assert_eq!(words(&["paw"]), "round, in green, with paws in green");
    }

    #[test]
    fn every_shape_is_found_by_its_word_and_its_part_and_by_its_phrase() {
        for part in AvatarPart::ALL {
            for (place, (word, phrase)) in part.shapes().into_iter().enumerate() {
                let meant = Ok(WearCommand::PutOn { part, shape: Some(place), color: None });
                assert_eq!(parse(&format!("{word} {}", part.word())), meant);
                if part != AvatarPart::Body && phrase != "a flower" {
                    assert_eq!(parse(phrase), meant, "{phrase}");
                }
            }
        }
    }

    #[test]
    fn lines_about_what_nobody_can_wear_are_refused_with_what_helps() {
        let says = |line: &str| after(&[line]).expect_err("nothing to wear").to_string();
        assert_eq!(says("a spoon"), "`spoon` is nothing to wear, and no colour; `wear` lists both");
        assert_eq!(
            says("round"),
            "`round` can be body or head or hands: say which, as in `wear round body`"
        );
        assert_eq!(after(&["red blue hat"]), Err(WearError::TooMuch));
        assert_eq!(after(&["crown halo"]), Err(WearError::TooMuch));
        assert_eq!(after(&["no body"]), Err(WearError::NoBody));
        assert_eq!(after(&["no star"]), Err(WearError::NoBody));
        assert_eq!(after(&["no crown halo"]), Err(WearError::TooMuch));
        assert_eq!(
            says("no spoon"),
            "`spoon` is nothing to wear, and no colour; `wear` lists both"
        );
        assert_eq!(after(&["red hat"]), Err(WearError::NotWorn("hat")));
        assert_eq!(says("hat"), "which hat? `wear` lists what there is");
        assert_eq!(says("no"), "which part? `wear` lists what there is");
        assert_eq!(parse(""), Ok(WearCommand::List));
    }
}
