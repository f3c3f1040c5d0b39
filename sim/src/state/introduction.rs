//! What a sim says of itself before anybody enters it.

use std::collections::BTreeSet;

use metatopia_types::{Digest, is_line, limits::HOUSE_RULES_BYTES_MAX};
use serde::{Deserialize, Serialize};

use crate::limits::{DESCRIPTION_BYTES_MAX, PICTURE_BYTES_MAX, TAG_BYTES_MAX, TAGS_MAX};

pub use metatopia_types::picture_digest;

/// What a sim says of itself before anybody enters it. Admins may change the house rules while the sim
/// runs; people agree to words by their digest, and are asked again about others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Introduction {
    /// What there is to see and to do, in a few lines; empty if nothing is said.
    pub description: String,
    /// Words by which it is found: small letters, digits and hyphens.
    pub tags: BTreeSet<String>,
    /// What people agree to before they enter; empty if they need not agree to anything.
    pub house_rules: String,
    /// The digest of the picture, if there is one: see [`picture_digest`].
    pub picture: Option<Digest>,
}

/// The kinds of files that a picture may be: the ending of a file's name, and the first bytes of all
/// such files, with where they stand.
const PICTURE_KINDS: [(&str, usize, &[u8]); 3] =
    [("png", 0, b"\x89PNG\r\n\x1a\n"), ("jpg", 0, b"\xff\xd8\xff"), ("webp", 8, b"WEBP")];

/// Why an introduction, or its picture, cannot be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IntroductionError {
    /// A text is too long, or holds characters that nobody sees.
    #[error("the {what} must be text of at most {max} bytes, without control characters")]
    Text {
        /// The name of the text.
        what: &'static str,
        /// The most bytes that it may have.
        max: usize,
    },
    /// A tag is no word.
    #[error("{0:?} is no tag: write 1 to {TAG_BYTES_MAX} small letters, digits and hyphens")]
    Tag(String),
    /// There are more tags than a sim may have.
    #[error("{0} tags where at most {TAGS_MAX} are allowed")]
    TooManyTags(usize),
    /// The picture is too long.
    #[error("a picture of {0} bytes where at most {PICTURE_BYTES_MAX} are allowed")]
    PictureSize(usize),
    /// The picture is of no kind that every browser shows.
    #[error("the picture is no PNG, JPEG or WebP file")]
    PictureKind,
    /// The picture is another one than the introduction says.
    #[error("the picture is not the one that the introduction names")]
    OtherPicture,
}

impl Introduction {
    /// Returns the digest by which somebody remembers what they agreed to; `None` if there is nothing to
    /// agree to.
    #[must_use]
    pub fn house_rules_digest(&self) -> Option<Digest> {
        let digest = || Digest::of("metatopia house rules v1", self.house_rules.as_bytes());
        (!self.house_rules.is_empty()).then(digest)
    }

    /// Checks the texts and tags.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), IntroductionError> {
        for (what, text, max) in [
            ("description", &self.description, DESCRIPTION_BYTES_MAX),
            ("house rules", &self.house_rules, HOUSE_RULES_BYTES_MAX),
        ] {
            if text.len() > max || !text.split('\n').all(is_line) {
                return Err(IntroductionError::Text { what, max });
            }
        }
        if let Some(tag) = self.tags.iter().find(|tag| !is_tag(tag)) {
            return Err(IntroductionError::Tag(tag.clone()));
        }
        if self.tags.len() > TAGS_MAX {
            return Err(IntroductionError::TooManyTags(self.tags.len()));
        }
        Ok(())
    }
}

fn is_tag(tag: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=TAG_BYTES_MAX).contains(&tag.len()) && tag.bytes().all(known)
}

/// Returns the ending of the names of files of a picture's kind: `png`, `jpg` or `webp`.
///
/// # Errors
/// When it is too long, or of no such kind.
pub fn picture_kind(picture: &[u8]) -> Result<&'static str, IntroductionError> {
    if picture.len() > PICTURE_BYTES_MAX {
        return Err(IntroductionError::PictureSize(picture.len()));
    }
    let is_of = |(_, at, first): &&(&str, usize, &[u8])| {
        picture.get(*at..).is_some_and(|rest| rest.starts_with(first))
    };
    let found = PICTURE_KINDS.iter().find(is_of);
    found.map(|(ending, ..)| *ending).ok_or(IntroductionError::PictureKind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(tags: &[&str]) -> Introduction {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        Introduction { tags, ..Introduction::default() }
    }

    #[test]
    fn an_introduction_is_text_that_people_see() {
        let fine = Introduction {
            description: "A harbour.\n\nBring a boat.".to_owned(),
            house_rules: "x".repeat(HOUSE_RULES_BYTES_MAX),
            ..tags(&["boats", "build-2"])
        };
        assert_eq!(fine.check(), Ok(()));

        let long = "x".repeat(DESCRIPTION_BYTES_MAX + 1);
        for (what, max, description, house_rules) in [
            ("description", DESCRIPTION_BYTES_MAX, long, String::new()),
            ("description", DESCRIPTION_BYTES_MAX, "a\u{202e}b".to_owned(), String::new()),
            (
                "house rules",
                HOUSE_RULES_BYTES_MAX,
                String::new(),
                "x".repeat(HOUSE_RULES_BYTES_MAX + 1),
            ),
        ] {
            let wrong = Introduction { description, house_rules, ..Introduction::default() };
            assert_eq!(wrong.check(), Err(IntroductionError::Text { what, max }));
        }
    }

    #[test]
    fn a_tag_is_one_short_word() {
        let longest = "x".repeat(TAG_BYTES_MAX);
        assert_eq!(tags(&[&longest]).check(), Ok(()));
        let longer = "x".repeat(TAG_BYTES_MAX + 1);
        for tag in ["", "Boats", "two words", longer.as_str()] {
            assert_eq!(tags(&[tag]).check(), Err(IntroductionError::Tag(tag.to_owned())));
        }
        let many: Vec<String> = (0..=TAGS_MAX).map(|n| format!("tag-{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(tags(&many[1..]).check(), Ok(()));
        assert_eq!(tags(&many).check(), Err(IntroductionError::TooManyTags(TAGS_MAX + 1)));
    }

    #[test]
    fn a_picture_is_a_short_file_that_every_browser_shows() {
        assert_eq!(picture_kind(b"\x89PNG\r\n\x1a\n..."), Ok("png"));
        assert_eq!(picture_kind(b"\xff\xd8\xff\xe0..."), Ok("jpg"));
        assert_eq!(picture_kind(b"RIFF....WEBPVP8 "), Ok("webp"));
        for other in [&b""[..], b"<svg onload='x()'>", b"GIF89a"] {
            assert_eq!(picture_kind(other), Err(IntroductionError::PictureKind));
        }
        let mut long = b"\xff\xd8\xff".to_vec();
        long.resize(PICTURE_BYTES_MAX, 0);
        assert_eq!(picture_kind(&long), Ok("jpg"));
        long.push(0);
        let size = PICTURE_BYTES_MAX + 1;
        assert_eq!(picture_kind(&long), Err(IntroductionError::PictureSize(size)));
    }
}
