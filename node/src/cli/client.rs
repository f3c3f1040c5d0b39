//! `client` tells of the sim in words, for terminals, pipes and screen readers.

use std::{io, sync::Arc};

use clap::Args;
use metatopia_client_driver::ProofError;
use metatopia_text_client::{
    LineKind, MapFreshness, ScriptDesk, TextClientError, TextOutput, WorldDesk,
};
use metatopia_types::{PublicKey, Sign as _};
use serde::Serialize;

use super::{
    console::{Console, unwritten},
    failure::Failure,
    house_rules,
    script::desk::AuthorDesk,
    session::{ANSWER, PlayerArgs, login_refused},
    world::travel::{KeptByClient, TravelDesk},
};

/// Arguments of `metatopia client`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    metatopia client --key me.key\n  \
    printf 'push crate\\nlook\\n' | metatopia client --key me.key\n\n\
    Lines are carried out one after the other: each has taken effect before the next begins. In a\n\
    terminal a new line ends a walk that is still going on. Type `help` for the commands.\n\n\
    Receipts and what is in sight are checked against the sim's genesis: `look` says whether what you\n\
    see is proven, and a node that lies is left with exit code 5.")]
pub(super) struct ClientArgs {
    #[command(flatten)]
    pub(super) player: PlayerArgs,
    /// Agree to the house rules of the sim, if it has any, without being asked.
    #[arg(long)]
    pub(super) accept_rules: bool,
}

pub(super) async fn run(args: ClientArgs, console: Console) -> Result<(), Failure> {
    let key = Arc::new(args.player.signer()?);
    // Before anything is heard; a spoilt file ends the command here.
    let kept = KeptByClient::load(&args.player.key, key.public())?;
    let (mut driver, correspondence) = args.player.open_to_correspond(Arc::clone(&key)).await?;
    // Admins may have changed those of the genesis.
    let (_, charter) = driver.prove_charter(ANSWER).await.map_err(unproven)?;
    house_rules::agree(&charter.introduction, &key.public(), args.accept_rules, console)?;
    let login = args.player.login(&mut driver, console).await?;
    let lines = metatopia_text_client::lines()
        .map_err(|error| Failure::failed(format!("cannot read standard input: {error}")))?;
    let output: Box<dyn TextOutput> = Box::new(console);
    let desk: Box<dyn ScriptDesk> = Box::new(AuthorDesk::new());
    let sim = driver.trust().sim;
    let key = (args.player.key.clone(), key);
    let world: Box<dyn WorldDesk> = Box::new(TravelDesk::new(args.accept_rules, key, kept, sim));
    let interrupted = async {
        // If no signal can be waited for, the session ends as if a signal had come.
        let _ = tokio::signal::ctrl_c().await;
    };
    let (session, desks) = ((driver, correspondence), (output, desk, world));
    Ok(metatopia_text_client::run(session, login, lines, desks, interrupted).await?)
}

/// Returns the failure of a node that does not show what people agree to.
fn unproven(error: ProofError) -> Failure {
    match error {
        ProofError::Unknown => Failure::timed_out("the node proves no state of the sim now")
            .hint("it may be fetching one, or the sim stands still: try again later"),
        error => error.into(),
    }
}

#[derive(Serialize)]
struct OutputLine<'a> {
    kind: LineKind,
    text: &'a str,
}

/// Somebody who is in the sim, with the whole key.
#[derive(Serialize)]
struct PersonHereLine<'a> {
    kind: LineKind,
    text: &'a str,
    key: &'a str,
}

/// How far the map can be believed by which somebody goes to another sim.
#[derive(Serialize)]
struct MapLine<'a> {
    kind: &'static str,
    text: &'a str,
    /// How old the proof is, in seconds.
    age: u64,
    old: bool,
    one_door: bool,
}

impl Console {
    /// Returns a line as a person sees it: amber on a terminal, if it is a reason to doubt.
    fn shown(&self, kind: LineKind, text: &str) -> String {
        match kind {
            LineKind::Warned => self.amber(text),
            _ => text.to_owned(),
        }
    }
}

impl TextOutput for Console {
    fn tell(&self, kind: LineKind, text: &str) -> io::Result<()> {
        if self.is_json() {
            self.write(&serde_json::to_string(&OutputLine { kind, text })?)
        } else {
            self.write(&self.shown(kind, text))
        }
    }

    fn tell_map(&self, map: &MapFreshness) -> io::Result<()> {
        let lines = map.lines();
        if !self.is_json() {
            return lines.iter().try_for_each(|(kind, line)| self.tell(*kind, line));
        }
        let text = lines.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join(" ");
        self.write(&serde_json::to_string(&MapLine {
            kind: "map",
            text: &text,
            age: map.age.as_secs(),
            old: map.is_old(),
            one_door: map.one_door,
        })?)
    }

    fn tell_person(&self, text: &str, key: &PublicKey) -> io::Result<()> {
        if !self.is_json() {
            return self.tell(LineKind::Answer, text);
        }
        let (kind, key) = (LineKind::Answer, key.to_string());
        self.write(&serde_json::to_string(&PersonHereLine { kind, text, key: &key })?)
    }

    fn note(&self, text: &str) {
        self.note(text);
    }
}

impl From<TextClientError> for Failure {
    fn from(error: TextClientError) -> Self {
        let message = error.to_string();
        match error {
            TextClientError::Drive(error) => error.into(),
            TextClientError::Proof(error) => error.into(),
            TextClientError::Output(error) => unwritten(&error),
            TextClientError::LoginRefused(why) => login_refused(why),
            TextClientError::LoginNotTaken(_) => Self::refused(message),
            TextClientError::LoginNotDecided => {
                Self::timed_out(message).hint("see `metatopia status`")
            }
            TextClientError::OtherSource(_) => Self::unverified(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use metatopia_client_driver::{DriveError, ProofError};
    use metatopia_protocol::SubmitRefusal;
    use metatopia_types::{Digest, PackageId, Refusal};

    use super::*;
    use crate::cli::Exit;

    #[test]
    fn a_life_in_words_ends_with_the_documented_codes() {
        let exit = |error: TextClientError| Failure::from(error).exit;
        assert_eq!(exit(DriveError::NotOpen.into()), Exit::TimedOut);
        assert_eq!(exit(ProofError::Unknown.into()), Exit::NotFound);
        assert_eq!(exit(TextClientError::LoginRefused(Refusal::NotLoggedIn)), Exit::Refused);
        let replayed = SubmitRefusal::Replayed(1);
        assert_eq!(exit(TextClientError::LoginNotTaken(replayed)), Exit::Refused);
        assert_eq!(exit(TextClientError::LoginNotDecided), Exit::TimedOut);
        assert_eq!(exit(TextClientError::OtherSource(PackageId(Digest::ZERO))), Exit::Unverified);
    }

    #[test]
    fn whoever_read_and_has_enough_is_told_nothing_more() {
        let closed = TextClientError::Output(io::ErrorKind::BrokenPipe.into());
        assert_eq!(Failure::from(closed), Failure::quiet(Exit::Failed));
    }
}
