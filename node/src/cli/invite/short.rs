//! Short invites: their makers keep the whole ones with servers, and their holders fetch them
//! there.

use std::path::{Path, PathBuf};

use metatopia_client_driver::{ClientDriver, NodeEndpoint, NodeUrl, http, random};
use metatopia_protocol::{Answer, Question, SignedInvite};
use metatopia_types::Millis;
use serde::Deserialize;

use crate::{
    cli::{Exit, Failure, session::ANSWER},
    joining::{InviteStore, SHORT_CHARS_MAX, ShortInvite, ShortInviteError},
};

/// Keeps an invite in the directory of every server here, and returns the short one.
///
/// # Errors
/// Fails when the disk fails, or when the server's address is too long.
pub(super) fn keep(
    invite: &SignedInvite,
    dir: &Path,
    server: NodeUrl,
    now: Millis,
) -> Result<ShortInvite, Failure> {
    let secret = random();
    let mut hash = None;
    for place in places(dir) {
        let kept = InviteStore::at(&place).keep(invite, &secret, now);
        hash = Some(kept.map_err(|error| {
            Failure::failed(format!("the invite is not kept in {}: {error}", place.display()))
        })?);
    }
    let hash = hash.ok_or_else(|| {
        Failure::new(Exit::NotFound, format!("there is no server in {}", dir.display()))
    })?;
    // A process gives the invites of all its sims, so the sim would only make the text longer.
    let short = ShortInvite { server: server.node(), hash, secret };
    let length = short.to_string().len();
    if length <= SHORT_CHARS_MAX {
        return Ok(short);
    }
    let message =
        format!("an invite of {length} characters is above the limit of {SHORT_CHARS_MAX}");
    Err(Failure::usage(message).hint("name a server by a shorter address, by --node"))
}

/// Returns the directories of servers: those of a sim of `up`, or the only one.
fn places(dir: &Path) -> Vec<PathBuf> {
    let server = |index: usize| dir.join(format!("server-{index}"));
    let all: Vec<PathBuf> = (0..).map(server).take_while(|path| path.is_dir()).collect();
    if all.is_empty() { vec![dir.to_owned()] } else { all }
}

/// Returns the URL that this server announces, or none if it announces nothing.
pub(in crate::cli) async fn called(driver: &mut ClientDriver, url: &NodeUrl) -> Option<NodeUrl> {
    let own = NodeEndpoint::ask(url, None).await.ok()?.server;
    let Ok(Answer::Servers(known)) = driver.ask(Question::Servers, ANSWER).await else {
        return None;
    };
    known.iter().find(|signed| signed.announcement.server == own)?.announcement.http.parse().ok()
}

#[derive(Deserialize)]
struct Covered {
    invite: Vec<u8>,
}

/// Fetches the whole invite.
///
/// # Errors
/// Fails when the server is not reached, does not have the invite, or returns another one.
pub(super) async fn fetch(short: &ShortInvite) -> Result<SignedInvite, Failure> {
    let found = http::get(short.server.join(&format!("/api/invites/{}", short.hash))).await;
    let Covered { invite } = found.map_err(|error| match error {
        http::HttpError::Status { code: 404, .. } => Failure::refused(format!(
            "{} has no such invite: it has expired, or never was",
            short.server
        ))
        .hint("ask for a new one"),
        error => Failure::timed_out(format!("{} {error}", short.server))
            .hint("is it running, and reached from here?"),
    })?;
    Ok(short.uncover(invite)?)
}

impl From<ShortInviteError> for Failure {
    fn from(error: ShortInviteError) -> Self {
        match error {
            ShortInviteError::Other => Self::new(Exit::Unverified, error.to_string())
                .hint("ask for it again, and copy all of it"),
            _ => Self::usage(error.to_string()).hint("copy all of it, and nothing behind it"),
        }
    }
}
