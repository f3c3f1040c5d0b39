//! Profiles for the page: what people say of themselves, proved; and what the person says of herself, as the page
//! keeps it.

use data_encoding::BASE64;
use metatopia_client::{
    OwnProfile, ProfileChange, ProfileTextError, ProvenProfiles, check_picture_of, text::printable,
};
use metatopia_protocol::{PROFILES_PER_QUESTION_MAX, ProfilesAnswer, Question};
use metatopia_types::{Digest, Ed25519, Profile, PublicKey, SentProfile, SignedProfile};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    ClientCore,
    building::BAD_NAME,
    deeds::Deed,
    inquiry::{InquiryStep, InquiryTask},
    outcomes::ActFailure,
};

/// Why a profile of the page is none, or is not changed.
const BAD_PROFILE: &str = "profile-text";

/// What the page changes of the person's profile. What is not there stays as it is.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PageProfileChange {
    line: Option<String>,
    pronouns: Option<String>,
    /// The bytes of the picture, in base 64; empty for none.
    picture: Option<String>,
}

impl PageProfileChange {
    /// Returns the changes; nothing if the picture is in no base 64.
    fn changes(self) -> Option<Vec<ProfileChange>> {
        let mut changes = Vec::new();
        changes.extend(self.line.map(ProfileChange::Line));
        changes.extend(self.pronouns.map(ProfileChange::Pronouns));
        match self.picture.as_deref() {
            None => {}
            Some("") => changes.push(ProfileChange::NoPicture),
            Some(text) => {
                changes.push(ProfileChange::Picture(BASE64.decode(text.as_bytes()).ok()?));
            }
        }
        Some(changes)
    }
}

/// The person's own profile on its way to a sim.
#[derive(Debug)]
pub(super) struct OwnProfileTask {
    /// The command that waits for what comes of it.
    pub(super) command: u64,
    /// As the page keeps it.
    own: Option<OwnProfile>,
    changes: Vec<ProfileChange>,
    /// The version that the sim knows.
    known: Option<u32>,
    /// A newer one, which another device of the person sent.
    pub(super) newer: Option<SignedProfile>,
}

/// Returns a profile in the words of the page.
fn shown(profile: &Profile) -> Value {
    json!({
        "key": profile.key.to_string(), "version": profile.version,
        "line": printable(&profile.line), "pronouns": printable(&profile.pronouns),
        "picture": profile.picture.map(|digest| digest.to_string()),
    })
}

/// Returns a picture as an address that an image shows, if it is the one that a profile names.
fn address(profile: &Profile, picture: &[u8]) -> Option<String> {
    let kind = check_picture_of(profile, picture).ok()?;
    Some(format!("data:{kind};base64,{}", BASE64.encode(picture)))
}

/// Returns a kept profile in the words of the page, with its picture.
fn shown_own(own: &OwnProfile) -> Value {
    let mut told = shown(own.profile());
    told["text"] = own.export().into();
    told["image"] = address(own.profile(), own.picture()).into();
    told
}

impl ClientCore {
    /// Asks what these people say of themselves.
    pub(super) fn ask_profiles(&mut self, id: u64, of: &[String]) {
        let of: Result<Vec<PublicKey>, _> = of.iter().map(|key| key.parse()).collect();
        match of {
            Ok(of) if of.len() <= PROFILES_PER_QUESTION_MAX => {
                let task = InquiryTask::Profiles(of.clone());
                self.inquire(Some(id), task, Question::Profiles { of });
            }
            _ => self.failed(id, BAD_NAME, &Value::Null),
        }
    }

    /// Returns what these people say of themselves, proved.
    pub(super) fn proven_profiles(
        &self,
        of: &[PublicKey],
        answer: &ProfilesAnswer,
    ) -> Option<Value> {
        let ProvenProfiles { kept, .. } = self.session.light().profiles(answer).ok()?;
        let signed = of.iter().filter_map(|key| kept.get(key)?.signed.as_ref());
        Some(signed.map(|signed| shown(&signed.profile)).collect())
    }

    /// Asks for the picture of a person, whose profile names it so.
    pub(super) fn ask_picture(&mut self, id: u64, of: &str, digest: &str) {
        match (of.parse::<PublicKey>(), digest.parse::<Digest>()) {
            (Ok(of), Ok(digest)) => {
                self.inquire(Some(id), InquiryTask::Picture(digest), Question::Picture { of });
            }
            _ => self.failed(id, BAD_NAME, &Value::Null),
        }
    }

    /// Reads a profile that the page keeps, or that somebody gave it as a file.
    pub(super) fn read_profile(&mut self, id: u64, text: &str) {
        match OwnProfile::import(text, &Ed25519) {
            Ok(profile) => {
                let mut told = shown_own(&profile);
                told["own"] = (profile.profile().key == self.key).into();
                self.done(id, &told);
            }
            Err(why) => self.bad_profile(id, &why),
        }
    }

    fn bad_profile(&mut self, id: u64, why: &ProfileTextError) {
        self.failed(id, BAD_PROFILE, &why.to_string().into());
    }

    /// Changes the person's profile as the page keeps it, and sends it to a sim that knows none or an older one. The
    /// page is told what it keeps from now on.
    pub(super) fn set_profile(&mut self, id: u64, text: &str, change: PageProfileChange) {
        let own = match OwnProfile::import(text, &Ed25519) {
            // A profile of the key before is none of this one's.
            Ok(own) => Some(own).filter(|own| own.profile().key == self.key),
            Err(_) if text.is_empty() => None,
            Err(why) => return self.bad_profile(id, &why),
        };
        let Some(changes) = change.changes() else {
            return self.failed(id, BAD_PROFILE, &"the picture is in no base 64".into());
        };
        if own.is_none() && changes.is_empty() {
            return self.done(id, &Value::Null);
        }
        let task = OwnProfileTask { command: id, own, changes, known: None, newer: None };
        let question = Question::Profiles { of: vec![self.key] };
        self.inquire(None, InquiryTask::OwnProfile(Box::new(task)), question);
    }

    /// Goes on with the person's own profile, once it is known what the sim has of it.
    pub(super) fn own_profile_known(
        &mut self,
        task: &mut OwnProfileTask,
        answer: Option<&ProfilesAnswer>,
    ) -> InquiryStep {
        if let Some(answer) = answer {
            let Ok(proven) = self.session.light().profiles(answer) else {
                return InquiryStep::Failed(ActFailure::new("Unproven"));
            };
            let kept = proven.kept.get(&self.key);
            task.known = kept.map(|kept| kept.version);
            let own = task.own.as_ref().map(|own| own.profile().version);
            let signed = kept.and_then(|kept| kept.signed.clone());
            task.newer = signed.filter(|signed| Some(signed.profile.version) > own);
        }
        match &task.newer {
            Some(newer) if newer.profile.picture.is_some() => {
                InquiryStep::Ask(Question::Picture { of: self.key })
            }
            _ => self.own_profile_whole(task, &[]),
        }
    }

    /// Changes the person's own profile, and sends it, once its newest version is there with its picture.
    pub(super) fn own_profile_whole(
        &mut self,
        task: &mut OwnProfileTask,
        picture: &[u8],
    ) -> InquiryStep {
        let OwnProfileTask { command: id, own, changes, known, newer } = task;
        let newer = newer.take().and_then(|signed| {
            OwnProfile::of(SentProfile { signed, picture: picture.to_vec() }, &Ed25519).ok()
        });
        let is_newer = newer.is_some();
        let mut next = newer.or_else(|| own.take());
        if !changes.is_empty() {
            let version = known.unwrap_or_default();
            match OwnProfile::changed(next.as_ref(), version, changes, &*self.signer) {
                Ok(changed) => next = Some(changed),
                Err(why) => {
                    self.failed(*id, BAD_PROFILE, &why.to_string().into());
                    return InquiryStep::Done(Value::Null);
                }
            }
        }
        let news = next.filter(|next| !changes.is_empty() || is_newer || next.is_news(*known));
        match news {
            None => self.done(*id, &Value::Null),
            Some(next) => {
                self.tell(&json!({ "type": "profile", "profile": shown_own(&next) }));
                match next.is_news(*known) {
                    true => self.act(Deed::of(*id, next.act())),
                    false => self.done(*id, &Value::Null),
                }
            }
        }
        InquiryStep::Done(Value::Null)
    }
}

/// Returns a picture that came, as an address that an image shows; nothing if it is another one.
pub(super) fn picture(digest: Digest, picture: &[u8]) -> Option<Value> {
    let named = Profile { picture: Some(digest), ..Profile::empty(PublicKey([0; 32])) };
    address(&named, picture).map(Value::from)
}
