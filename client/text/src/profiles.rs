//! What people say of themselves.

use std::{collections::BTreeMap, time::Duration};

use metatopia_client::{
    OwnProfile, ProfileChange,
    text::{ProfileCommand, printable, profile_lines},
};
use metatopia_sim::KeptProfile;
use metatopia_types::{Outcome, PublicKey, Refusal};

use super::{
    builder::player,
    charter::may_pass,
    deeds::conclude,
    room::{ActProgress, TextClient},
};
use crate::{LineKind, TextClientError};

/// Time for one question.
const ANSWER: Duration = Duration::from_secs(5);

pub(super) async fn obey(
    room: &mut TextClient,
    what: ProfileCommand,
) -> Result<(), TextClientError> {
    let change = match what {
        ProfileCommand::Own => return own(room).await,
        ProfileCommand::Of(name) => return of(room, &name).await,
        ProfileCommand::Line(line) => ProfileChange::Line(line),
        ProfileCommand::Pronouns(words) => ProfileChange::Pronouns(words),
        ProfileCommand::NoPicture => ProfileChange::NoPicture,
        ProfileCommand::Clear => ProfileChange::Clear,
        ProfileCommand::Picture(file) => match room.world.read_picture(&file) {
            Ok(picture) => ProfileChange::Picture(picture),
            Err(why) => return refuse(room, &why),
        },
    };
    self::change(room, change).await
}

fn refuse(room: &TextClient, why: &str) -> Result<(), TextClientError> {
    room.tell(LineKind::Refused, &format!("That did not work: {}.", printable(why)))
}

/// Returns what the sim keeps of people's profiles, proved, with what the person's own acts changed; nothing where
/// the node proves nothing.
pub(super) async fn kept(
    room: &mut TextClient,
    of: &[PublicKey],
) -> Result<BTreeMap<PublicKey, KeptProfile>, TextClientError> {
    let after = room.changed;
    match room.driver.prove_profiles(of, after, ANSWER).await {
        Ok(kept) => Ok(kept),
        Err(error) if may_pass(&error) => Ok(BTreeMap::new()),
        Err(error) => Err(error.into()),
    }
}

/// Returns what the sim keeps of the person's own profile.
async fn kept_of_own(room: &mut TextClient) -> Result<Option<KeptProfile>, TextClientError> {
    let key = room.driver.author();
    Ok(kept(room, &[key]).await?.remove(&key))
}

/// Tells of the person of this name, who is here, or of this key.
async fn of(room: &mut TextClient, name: &str) -> Result<(), TextClientError> {
    let Some((key, called)) = player(room, name).await? else { return Ok(()) };
    let kept = kept(room, &[key]).await?.remove(&key);
    let Some(signed) = kept.and_then(|kept| kept.signed) else {
        return room.tell(LineKind::Answer, &format!("{called} says nothing here."));
    };
    let version = signed.profile.version;
    let line = format!("{called} says, in version {version}, signed and proved:");
    room.tell(LineKind::Answer, &line)?;
    profile_lines(&signed.profile).iter().try_for_each(|line| room.tell(LineKind::Answer, line))
}

/// Tells what the person says of herself, and whether the sim shows it.
async fn own(room: &mut TextClient) -> Result<(), TextClientError> {
    let kept = kept_of_own(room).await?;
    let Some(own) = room.world.profile() else {
        let line = "You say nothing of yourself; `profile line WORDS` begins.";
        return room.tell(LineKind::Answer, line);
    };
    for line in profile_lines(own.profile()) {
        room.tell(LineKind::Answer, &line)?;
    }
    let version = own.profile().version;
    let shown = kept.as_ref().and_then(|kept| kept.signed.as_ref());
    let line = match (&kept, shown) {
        (_, Some(shown)) if shown == own.signed() => {
            format!("Others see it here, in version {version}.")
        }
        (_, Some(shown)) => format!(
            "Others see version {} here; yours is version {version}.",
            shown.profile.version
        ),
        (Some(kept), None) if kept.version >= version && !own.profile().is_empty() => {
            format!(
                "A moderator took it away here; a version newer than {} is shown.",
                kept.version
            )
        }
        _ => "Nobody sees it here.".to_owned(),
    };
    room.tell(LineKind::Answer, &line)
}

/// Takes the newer one of what the client keeps, and of what another device of hers sent to the sim.
async fn newest(
    room: &mut TextClient,
    kept: Option<&KeptProfile>,
) -> Result<Option<OwnProfile>, TextClientError> {
    let own = room.world.profile();
    let version = own.as_ref().map(|own| own.profile().version);
    let signed = kept.and_then(|kept| kept.signed.as_ref());
    let Some(signed) = signed.filter(|signed| Some(signed.profile.version) > version) else {
        return Ok(own);
    };
    let Some(other) = room.driver.own_profile(signed, ANSWER).await? else { return Ok(own) };
    keep(room, &other)?;
    Ok(Some(other))
}

/// Keeps the profile for the next time.
fn keep(room: &TextClient, profile: &OwnProfile) -> Result<(), TextClientError> {
    match room.world.keep_profile(profile) {
        Ok(()) => Ok(()),
        Err(why) => {
            room.tell(LineKind::Refused, &format!("It cannot be kept for the next time: {why}."))
        }
    }
}

/// Changes what the person says of herself, keeps it, and has the sim show it.
async fn change(room: &mut TextClient, change: ProfileChange) -> Result<(), TextClientError> {
    let kept = kept_of_own(room).await?;
    let before = newest(room, kept.as_ref()).await?;
    let known = kept.map_or(0, |kept| kept.version);
    let signer = room.driver.signer();
    let changed = OwnProfile::changed(before.as_ref(), known, &[change], &*signer);
    let profile = match changed {
        Ok(profile) => profile,
        Err(why) => return refuse(room, &why.to_string()),
    };
    keep(room, &profile)?;
    let (act, blobs) = profile.act();
    let fate = room.perform(act, blobs).await?;
    match fate {
        ActProgress::Done(Outcome::Refused(Refusal::TooOften)) => room.tell(
            LineKind::Refused,
            "You have it; the sim takes one a minute, and gets it when you come the next time.",
        ),
        // What nobody saw needs not be taken away.
        ActProgress::Done(Outcome::Refused(Refusal::AlreadySo)) => {
            room.tell(LineKind::Done, "Nobody sees a profile of yours here.")
        }
        fate if profile.profile().is_empty() => {
            conclude(room, fate, "You say nothing of yourself any more.")
        }
        fate => conclude(room, fate, "Others see now what you say of yourself."),
    }
}

/// Sends the person's profile to a sim that she came into, if it has none or an older one.
pub(super) async fn send(room: &mut TextClient) -> Result<(), TextClientError> {
    if room.world.profile().is_none() {
        return Ok(());
    }
    let kept = kept_of_own(room).await?;
    let Some(own) = newest(room, kept.as_ref()).await? else { return Ok(()) };
    if !own.is_news(kept.map(|kept| kept.version)) {
        return Ok(());
    }
    let (act, blobs) = own.act();
    if let ActProgress::Done(Outcome::Refused(why)) = room.perform(act, blobs).await? {
        room.note(&format!("The sim does not show your profile: {why}."));
    }
    Ok(())
}
