//! The profile that a client keeps of its own person: the document that she signed, and the picture, in one text.
//!
//! ```text
//! # A profile of Metatopia, signed by the person's key.
//! metatopia-profile-1 BASE64
//! ```

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use data_encoding::BASE64;
use imagesize::ImageType;
use metatopia_types::{
    Act, Blob, Profile, SentProfile, Sign, SignedProfile, Verify,
    limits::{
        PROFILE_LINE_BYTES_MAX, PROFILE_PICTURE_BYTES_MAX, PRONOUNS_BYTES_MAX,
        SENT_PROFILE_BYTES_MAX,
    },
    picture_digest,
};

/// The first word of the line, which names the format and its version.
const TAG: &str = "metatopia-profile-1";

/// What the text says to people.
const COMMENT: &str = "# A profile of Metatopia, signed by the person's key. `metatopia keys profile check \
                       FILE` says whether it is.\n";

/// The longest text of a profile, in bytes: three of the document are four signs.
pub const PROFILE_TEXT_MAX: usize = SENT_PROFILE_BYTES_MAX / 3 * 4 + 512;

/// The widest and the tallest picture that is shown, in points.
pub const PICTURE_SIDE_MAX: usize = 256;

/// Says why a picture is not shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    /// It is too long.
    #[error("the picture has {0} bytes, and at most {PROFILE_PICTURE_BYTES_MAX} are shown")]
    TooLong(usize),
    /// It is of another kind.
    #[error("the picture is no PNG or JPEG file")]
    Kind,
    /// It is too wide or too tall.
    #[error(
        "the picture is {0} by {1} points, and at most {PICTURE_SIDE_MAX} by {PICTURE_SIDE_MAX} are shown"
    )]
    Size(usize, usize),
    /// It is another one than the profile names.
    #[error("the picture is not the one that the profile names")]
    Other,
}

/// Says why a text is no profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileTextError {
    /// It has another form.
    #[error("it is no profile: a line with `{TAG}` and its bytes is missing, or more than that")]
    Form,
    /// Its owner did not sign it, or it breaks the rules of texts.
    #[error("its owner did not sign it, or its texts are none that are shown")]
    Unsigned,
    /// Its picture is not shown.
    #[error(transparent)]
    Picture(#[from] PictureError),
}

/// Says why a profile is not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileChangeError {
    /// The line is too long, or none.
    #[error(
        "a line of a profile has at most {PROFILE_LINE_BYTES_MAX} bytes, and no signs that nobody sees"
    )]
    Line,
    /// The pronouns are too long, or no line.
    #[error("pronouns have at most {PRONOUNS_BYTES_MAX} bytes, and no signs that nobody sees")]
    Pronouns,
    /// The picture is none.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// There is no version after this one.
    #[error("the profile has no newer version; a new key begins at the first")]
    LastVersion,
}

/// What somebody changes of her profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileChange {
    /// The line; empty for none.
    Line(String),
    /// The pronouns; empty for none.
    Pronouns(String),
    /// The bytes of another picture.
    Picture(Vec<u8>),
    /// No picture any more.
    NoPicture,
    /// Nothing is said any more.
    Clear,
}

/// Checks that a picture is a short PNG or JPEG file of few points. Returns the kind as MIME has it.
///
/// # Errors
/// See [`PictureError`].
pub fn check_picture(picture: &[u8]) -> Result<&'static str, PictureError> {
    if picture.len() > PROFILE_PICTURE_BYTES_MAX {
        return Err(PictureError::TooLong(picture.len()));
    }
    let kind = match imagesize::image_type(picture) {
        Ok(ImageType::Png) => "image/png",
        Ok(ImageType::Jpeg) => "image/jpeg",
        _ => return Err(PictureError::Kind),
    };
    let size = imagesize::blob_size(picture).map_err(|_| PictureError::Kind)?;
    let fits = |side: usize| (1..=PICTURE_SIDE_MAX).contains(&side);
    if fits(size.width) && fits(size.height) {
        Ok(kind)
    } else {
        Err(PictureError::Size(size.width, size.height))
    }
}

/// Checks that a picture is the one that a profile names, and is shown.
///
/// # Errors
/// See [`PictureError`].
pub fn check_picture_of(profile: &Profile, picture: &[u8]) -> Result<&'static str, PictureError> {
    if profile.picture != Some(picture_digest(picture)) {
        return Err(PictureError::Other);
    }
    check_picture(picture)
}

/// A profile with its picture, whose signature was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnProfile(SentProfile);

impl OwnProfile {
    /// Reads a profile from the text that [`OwnProfile::export`] wrote, and checks it.
    ///
    /// # Errors
    /// See [`ProfileTextError`].
    pub fn import(text: &str, scheme: &dyn Verify) -> Result<Self, ProfileTextError> {
        let form = || ProfileTextError::Form;
        if text.len() > PROFILE_TEXT_MAX {
            return Err(form());
        }
        let mut lines = text.lines().map(str::trim);
        let mut lines = lines.by_ref().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let line = lines.next().and_then(|line| line.strip_prefix(TAG)?.strip_prefix(' '));
        let bytes = BASE64.decode(line.ok_or_else(form)?.as_bytes()).map_err(|_| form())?;
        let sent = SentProfile::decode(&bytes).ok_or_else(form)?;
        if lines.next().is_some() {
            return Err(form());
        }
        Self::of(sent, scheme)
    }

    /// Returns a profile as it is sent, if it is whole: with its owner's signature, and with its picture.
    ///
    /// # Errors
    /// See [`ProfileTextError`].
    pub fn of(sent: SentProfile, scheme: &dyn Verify) -> Result<Self, ProfileTextError> {
        if !sent.signed.verify(scheme) {
            return Err(ProfileTextError::Unsigned);
        }
        if sent.signed.profile.picture.is_some() || !sent.picture.is_empty() {
            check_picture_of(&sent.signed.profile, &sent.picture)?;
        }
        Ok(Self(sent))
    }

    /// Writes the profile as text: whoever gets it can check it.
    #[must_use]
    pub fn export(&self) -> String {
        format!("{COMMENT}{TAG} {}\n", BASE64.encode(&self.0.encode()))
    }

    /// Returns the profile of a person after a change, signed anew: newer than the one before, and than the version
    /// that a sim knows.
    ///
    /// # Errors
    /// See [`ProfileChangeError`].
    pub fn changed(
        before: Option<&Self>,
        known: u32,
        changes: &[ProfileChange],
        key: &dyn Sign,
    ) -> Result<Self, ProfileChangeError> {
        let owner = key.public();
        let own = before.filter(|own| own.profile().key == owner);
        let mut profile = own.map_or(Profile::empty(owner), |own| own.profile().clone());
        let mut picture = own.map(|own| own.picture().to_vec()).unwrap_or_default();
        for change in changes {
            match change {
                ProfileChange::Line(line) => profile.line = line.trim().to_string(),
                ProfileChange::Pronouns(words) => profile.pronouns = words.trim().to_string(),
                ProfileChange::Picture(bytes) => {
                    check_picture(bytes)?;
                    picture.clone_from(bytes);
                }
                ProfileChange::NoPicture => picture.clear(),
                ProfileChange::Clear => {
                    (profile.line, profile.pronouns) = (String::new(), String::new());
                    picture.clear();
                }
            }
        }
        profile.picture = (!picture.is_empty()).then(|| picture_digest(&picture));
        let newest = profile.version.max(known);
        profile.version = newest.checked_add(1).ok_or(ProfileChangeError::LastVersion)?;
        if !profile.is_proper() {
            let line = Profile { pronouns: String::new(), ..profile };
            let is_pronouns = line.is_proper();
            return Err(if is_pronouns {
                ProfileChangeError::Pronouns
            } else {
                ProfileChangeError::Line
            });
        }
        Ok(Self(SentProfile { signed: profile.sign(key), picture }))
    }

    /// Returns the same words and picture, in the same version, signed by the key that takes the place of the old one.
    #[must_use]
    pub fn rotated(&self, new: &dyn Sign) -> Self {
        let profile = Profile { key: new.public(), ..self.profile().clone() };
        Self(SentProfile { signed: profile.sign(new), picture: self.0.picture.clone() })
    }

    /// Returns the document with its signature.
    #[must_use]
    pub const fn signed(&self) -> &SignedProfile {
        &self.0.signed
    }

    /// Returns the document.
    #[must_use]
    pub const fn profile(&self) -> &Profile {
        &self.0.signed.profile
    }

    /// Returns the picture; empty if there is none.
    #[must_use]
    pub fn picture(&self) -> &[u8] {
        &self.0.picture
    }

    /// Returns the act by which a sim shows it, with its blob.
    #[must_use]
    pub fn act(&self) -> (Act, Vec<Blob>) {
        let blob = Blob(self.0.encode());
        (Act::SetProfile { profile: blob.id() }, Vec::from([blob]))
    }

    /// Says whether a sim that knows this version, or none, is to be sent it: a person who says nothing is told to no
    /// sim that knows nothing.
    #[must_use]
    pub fn is_news(&self, known: Option<u32>) -> bool {
        match known {
            None => !self.profile().is_empty(),
            Some(version) => version < self.profile().version,
        }
    }
}
