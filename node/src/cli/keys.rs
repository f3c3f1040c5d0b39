//! `keys` makes key files and looks at them, and has friends get a lost one back.

mod friends;
mod profile;

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use metatopia_types::{Rotation, Sign as _, SigningKey};
use serde::Serialize;

use self::profile::Belongings;
use super::{
    beside_key::KeptLists, console::Console, exit::Exit, failure::Failure,
    passphrase::PassphraseArgs, wait,
};
use crate::keys::{self, CreateKeyError, LoadKeyError, LoadRotationError, UnsealError};

#[derive(Debug, Subcommand)]
pub(super) enum KeysCommand {
    /// Make a new key. A file that exists is never overwritten.
    #[command(after_help = "Examples:\n  metatopia keys new --out me.key\n  \
                            metatopia keys new --seal --out me.key              \
                            asks for a passphrase, and again each time the key is used")]
    New(NewArgs),
    /// Print the public half of a key.
    #[command(after_help = "Example:\n  metatopia keys show me.key")]
    Show(KeyShowArgs),
    /// Seal a key with a passphrase, in a new file for a backup or another machine. What proves a rotation
    /// goes along, in a file beside it: carry both.
    #[command(after_help = "Example:\n  metatopia keys export me.key --out me.sealed")]
    Export(SealArgs),
    /// Open a sealed key with its passphrase, into a new key file that needs none. Commands use a sealed key as it is.
    #[command(after_help = "Example:\n  metatopia keys import me.sealed --out me.key")]
    Import(SealArgs),
    /// Make a new key that takes the place of an old one, in each sim at your next login there. That of a sealed key
    /// is sealed by the same passphrase.
    #[command(after_help = "Example:\n  metatopia keys rotate me.key --out new.key\n  \
                            metatopia client --key new.key")]
    Rotate(RotateArgs),
    /// Set, show or check what a person says of herself: a line, pronouns and a picture.
    #[command(after_help = profile::PROFILE)]
    Profile(profile::ProfileArgs),
    /// Sign the block list and the buddy list beside a key as they are: those that nobody signed, or a lost key.
    #[command(after_help = "Example:\n  metatopia keys sign-lists me.key\n\n\
        Commands read the lists me.key.blocks and me.key.buddies only as the key signed them. Look at what they say \
        first:\na key and a name on each line. `metatopia keys rotate` signs them by the new key itself.")]
    SignLists(KeyShowArgs),
    /// Name the friends who together get you a new key if you lose yours, or show whom you named.
    #[command(after_help = friends::FRIENDS)]
    Friends(friends::FriendsArgs),
    /// Print what your friends need to vouch for your new key.
    #[command(after_help = friends::ASK)]
    Ask(friends::KeyAskArgs),
    /// Vouch for the new key of a friend who lost the old one.
    #[command(after_help = friends::VOUCH)]
    Vouch(friends::FriendVouchArgs),
    /// List the keys that friends want to replace, proved.
    #[command(after_help = friends::RECOVERIES)]
    Recoveries(friends::RecoveriesArgs),
    /// Say that your key is not lost, so that nobody takes its place.
    #[command(after_help = friends::CANCEL)]
    CancelRecovery(friends::CancelArgs),
}

#[derive(Debug, Args)]
pub(super) struct RotateArgs {
    /// The key that you give up.
    file: PathBuf,
    /// The file to write the new key to; the document that both keys sign lies beside it.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    words: PassphraseArgs,
}

#[derive(Debug, Args)]
pub(super) struct SealArgs {
    /// The file to read.
    file: PathBuf,
    /// The file to write; only you will be able to read it.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    words: PassphraseArgs,
}

#[derive(Debug, Args)]
pub(super) struct NewArgs {
    /// The file to write; only you will be able to read it.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Seal the key with a passphrase, for which each command that uses it asks; --passphrase-file does so too.
    #[arg(long)]
    seal: bool,
    #[command(flatten)]
    words: PassphraseArgs,
}

#[derive(Debug, Args)]
pub(super) struct KeyShowArgs {
    /// The key file.
    file: PathBuf,
    #[command(flatten)]
    words: PassphraseArgs,
}

#[derive(Debug, Serialize)]
struct Key {
    public: String,
    file: String,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {}", self.public, self.file)
    }
}

pub(super) fn run(command: KeysCommand, console: Console) -> Result<(), Failure> {
    let (key, file) = match command {
        KeysCommand::New(args) => (new(&args)?, args.out),
        KeysCommand::Show(args) => (args.words.open(&args.file)?, args.file),
        KeysCommand::Export(args) => {
            let key = keys::load(&args.file)?;
            let passphrase = args.words.chosen(&args.out)?;
            let rotation = keys::load_rotation(&args.file, key.public())?;
            let belongings = Belongings::of(&args.file, &key)?;
            // Before the key: without its rotation it would be somebody new.
            carry_rotation(&args.out, rotation.as_ref())?;
            keys::seal(&args.out, &key, &passphrase)?;
            belongings.keep(&args.out, &key)?;
            (key, args.out)
        }
        KeysCommand::Import(args) => {
            let key = keys::unseal(&args.file, &args.words.known(&args.file)?)?;
            let rotation = keys::load_rotation(&args.file, key.public())?;
            let belongings = Belongings::of(&args.file, &key)?;
            carry_rotation(&args.out, rotation.as_ref())?;
            keys::save(&args.out, &key)?;
            belongings.keep(&args.out, &key)?;
            (key, args.out)
        }
        KeysCommand::Rotate(args) => (rotate(&args)?, args.out),
        KeysCommand::SignLists(args) => {
            let key = args.words.open(&args.file)?;
            let failed = |error| Failure::failed(format!("{}: {error}", args.file.display()));
            KeptLists::recall(&args.file)?.keep(&args.file, &key).map_err(failed)?;
            (key, args.file)
        }
        KeysCommand::Profile(args) => return profile::run(args, console),
        KeysCommand::Friends(args) => return wait(friends::friends(args, console)),
        KeysCommand::Ask(args) => return friends::ask(&args, console),
        KeysCommand::Vouch(args) => return wait(friends::vouch(args, console)),
        KeysCommand::Recoveries(args) => return wait(friends::recoveries(args, console)),
        KeysCommand::CancelRecovery(args) => return wait(friends::cancel(args, console)),
    };
    let (public, file) = (key.public().to_string(), file.display().to_string());
    console.show(&Key { public, file })
}

/// Makes a new key, and seals it if a passphrase is asked for.
fn new(args: &NewArgs) -> Result<SigningKey, Failure> {
    let is_sealed = args.seal || args.words.is_named();
    let passphrase = is_sealed.then(|| args.words.chosen(&args.out)).transpose()?;
    Ok(keys::create_as(&args.out, passphrase.as_deref().map(Vec::as_slice))?)
}

/// Makes a new key in the place of an old one, and carries along what lies beside that.
fn rotate(args: &RotateArgs) -> Result<SigningKey, Failure> {
    let old = args.words.open_with(&args.file)?;
    let before = keys::load_rotation(&args.file, old.key.public())?;
    let number = before.map_or(1, |rotation| rotation.number.saturating_add(1));
    let belongings = Belongings::of(&args.file, &old.key)?;
    // Whoever names a passphrase for an open key wants the new one sealed.
    let sealed_now = old.passphrase.is_none() && args.words.is_named();
    let chosen = sealed_now.then(|| args.words.chosen(&args.out)).transpose()?;
    let passphrase = old.passphrase.or(chosen);
    let passphrase = passphrase.as_deref().map(Vec::as_slice);
    let new = keys::rotate(&args.out, (&old.key, passphrase), number)?.0;
    belongings.keep(&args.out, &new)?;
    Ok(new)
}

/// Writes the rotation of a key beside its new file, if it has one.
fn carry_rotation(out: &Path, rotation: Option<&Rotation>) -> Result<(), Failure> {
    rotation.map_or(Ok(()), |rotation| Ok(keys::carry_rotation(out, rotation)?))
}

impl From<UnsealError> for Failure {
    fn from(error: UnsealError) -> Self {
        match error {
            UnsealError::Load(error) => error.into(),
            UnsealError::Format { .. } => Self::usage(error.to_string()),
            UnsealError::Passphrase { .. } => Self::refused(error.to_string()),
        }
    }
}

impl From<LoadRotationError> for Failure {
    fn from(error: LoadRotationError) -> Self {
        match error {
            LoadRotationError::Load(error) => error.into(),
            LoadRotationError::Format { .. } | LoadRotationError::OtherKey { .. } => {
                Self::usage(error.to_string())
            }
        }
    }
}

impl From<CreateKeyError> for Failure {
    fn from(error: CreateKeyError) -> Self {
        let exit = match error {
            CreateKeyError::Exists { .. } => Exit::Refused,
            CreateKeyError::Write { .. } | CreateKeyError::Random(_) => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}

/// Advice about a server's key that is gone: another key has no vote.
const NO_VOTE_KEY: &str = "bring back the server's own key from a backup, for another key has no vote; \
    without one, join anew as a follower, and have an admin promote it";

impl From<LoadKeyError> for Failure {
    fn from(error: LoadKeyError) -> Self {
        let missing = |source: &io::Error| source.kind() == io::ErrorKind::NotFound;
        let exit = match &error {
            LoadKeyError::Read { source, .. } if missing(source) => Exit::NotFound,
            LoadKeyError::Read { .. } => Exit::Failed,
            LoadKeyError::NotAFile { .. } | LoadKeyError::Format { .. } => Exit::Usage,
            LoadKeyError::Exposed { .. } | LoadKeyError::Foreign { .. } => Exit::Refused,
        };
        let failure = Self::new(exit, error.to_string());
        match exit {
            Exit::NotFound => match &error {
                LoadKeyError::Read { path, .. } if path.ends_with("vote.key") => {
                    failure.hint(NO_VOTE_KEY)
                }
                _ => failure.hint("`metatopia keys new --out FILE` makes one"),
            },
            _ => failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever lost the key by which a server votes was told to make another one, which has no vote.
    #[test]
    fn a_vote_key_that_is_gone_is_not_made_anew() {
        let told = |name: &str| {
            let (path, source) = (PathBuf::from(name), io::ErrorKind::NotFound.into());
            Failure::from(LoadKeyError::Read { path, source })
        };
        assert!(told("server-0/vote.key").message.ends_with(NO_VOTE_KEY));
        assert!(told("me.key").message.ends_with("`metatopia keys new --out FILE` makes one"));
        assert_eq!(told("server-0/vote.key").exit, Exit::NotFound);
    }
}
