//! What a place says of itself, and how long its sims live.

use core::time::Duration;

use metatopia_sim::{Introduction, IntroductionError, Parameters, picture_digest, picture_kind};

use super::{Place, file::PlaceFile, rules::written};
use crate::{Mistake, TomlSource};

impl TomlSource<'_> {
    /// Returns what the file says of the place.
    pub(super) fn introduction(&self, file: &PlaceFile) -> Result<Introduction, Mistake> {
        let text = |text: &Option<toml::Spanned<String>>| {
            text.as_ref().map(|text| text.get_ref().trim_end().to_owned()).unwrap_or_default()
        };
        let introduction = Introduction {
            description: text(&file.description),
            tags: file.tags.iter().map(|tag| tag.get_ref().clone()).collect(),
            house_rules: text(&file.house_rules),
            picture: None,
        };
        introduction.check().map_err(|error| {
            let at = match &error {
                IntroductionError::Tag(wrong) => {
                    file.tags.iter().find(|tag| tag.get_ref() == wrong)
                }
                IntroductionError::TooManyTags(_) => file.tags.last(),
                IntroductionError::Text { what: "description", .. } => file.description.as_ref(),
                _ => file.house_rules.as_ref(),
            };
            match at {
                Some(at) => self.mistake(at, error),
                None => Mistake::in_file(self.file, error),
            }
        })?;
        Ok(introduction)
    }

    /// Sets how long a sim of the place lives, if the file says it.
    pub(super) fn ttl(&self, file: &PlaceFile, rules: &mut Parameters) -> Result<(), Mistake> {
        let Some(ttl) = &file.ttl else { return Ok(()) };
        let wrong = || {
            let text = ttl.get_ref();
            self.mistake(ttl, format!("{text:?} is no time to live: write one such as \"2h 30m\""))
        };
        let life = humantime::parse_duration(ttl.get_ref()).map_err(|_| wrong())?;
        if life.as_secs() == 0 || life.subsec_nanos() > 0 {
            return Err(wrong());
        }
        rules.ttl_seconds = life.as_secs();
        rules.check().map_err(|error| self.mistake(ttl, error))
    }
}

impl PlaceFile {
    /// Writes down what the place says of itself.
    pub(super) fn note_introduction(&mut self, introduction: &Introduction, ttl_seconds: u64) {
        let text = |text: &String| Some(text).filter(|text| !text.is_empty()).cloned().map(written);
        self.description = text(&introduction.description);
        self.house_rules = text(&introduction.house_rules);
        self.tags = introduction.tags.iter().cloned().map(written).collect();
        let life = humantime::format_duration(Duration::from_secs(ttl_seconds));
        self.ttl = (ttl_seconds > 0).then(|| written(life.to_string()));
    }
}

impl Place {
    /// Returns the name of the file with the picture, and the picture, if the place has one.
    #[must_use]
    pub fn picture(&self) -> Option<(String, &[u8])> {
        let kind = picture_kind(&self.picture).ok()?;
        Some((format!("{PICTURE}.{kind}"), &self.picture))
    }

    /// Gives the place this picture.
    ///
    /// # Errors
    /// When it is too large, or no PNG, JPEG or WebP file.
    pub fn set_picture(&mut self, picture: Vec<u8>) -> Result<(), IntroductionError> {
        picture_kind(&picture)?;
        self.introduction.picture = Some(picture_digest(&picture));
        self.picture = picture;
        Ok(())
    }
}

/// The name of the file with the picture of a place, without its ending.
const PICTURE: &str = "picture";

/// The files in which the picture of a place may be.
pub const PICTURE_FILES: [&str; 3] = ["picture.jpg", "picture.png", "picture.webp"];
