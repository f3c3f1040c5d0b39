//! `keys` makes key files and looks at them, and has friends get a lost one back.

mod friends;

use std::{
    fmt,
    io::{self, BufRead as _, IsTerminal as _, Read as _},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use metatopia_types::{Rotation, Sign as _};
use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
use serde::Serialize;
use zeroize::Zeroizing;

use super::{console::Console, exit::Exit, failure::Failure, wait};
use crate::keys::{
    self, CreateKeyError, LoadKeyError, LoadRotationError, PASSPHRASE_BYTES_MAX, UnsealError,
};

#[derive(Debug, Subcommand)]
pub(super) enum KeysCommand {
    /// Make a new key. A file that exists is never overwritten.
    #[command(after_help = "Example:\n  metatopia keys new --out me.key")]
    New(NewArgs),
    /// Print the public half of a key.
    #[command(after_help = "Example:\n  metatopia keys show me.key")]
    Show(KeyShowArgs),
    /// Seal a key with a passphrase, in a new file for a backup or another machine. What proves a rotation
    /// goes along, in a file beside it: carry both.
    #[command(after_help = "Example:\n  metatopia keys export me.key --out me.sealed")]
    Export(SealArgs),
    /// Open a sealed key with its passphrase, into a new key file.
    #[command(after_help = "Example:\n  metatopia keys import me.sealed --out me.key")]
    Import(SealArgs),
    /// Make a new key that takes the place of an old one, in each sim at your next login there.
    #[command(after_help = "Example:\n  metatopia keys rotate me.key --out new.key\n  \
                            metatopia client --key new.key")]
    Rotate(RotateArgs),
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
}

#[derive(Debug, Args)]
pub(super) struct SealArgs {
    /// The file to read.
    file: PathBuf,
    /// The file to write; only you will be able to read it.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// A file with the passphrase in its one line, which only you can read; without it, you are asked.
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct NewArgs {
    /// The file to write; only you will be able to read it.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct KeyShowArgs {
    /// The key file.
    file: PathBuf,
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
        KeysCommand::New(args) => (keys::create(&args.out)?, args.out),
        KeysCommand::Show(args) => (keys::load(&args.file)?, args.file),
        KeysCommand::Export(args) => {
            let key = keys::load(&args.file)?;
            let passphrase = passphrase(args.passphrase_file.as_deref(), true)?;
            let rotation = keys::load_rotation(&args.file, key.public())?;
            // Before the key: without its rotation it would be somebody new.
            carry_rotation(&args.out, rotation.as_ref())?;
            keys::seal(&args.out, &key, &passphrase)?;
            (key, args.out)
        }
        KeysCommand::Import(args) => {
            let passphrase = passphrase(args.passphrase_file.as_deref(), false)?;
            let key = keys::unseal(&args.file, &passphrase)?;
            let rotation = keys::load_rotation(&args.file, key.public())?;
            carry_rotation(&args.out, rotation.as_ref())?;
            keys::save(&args.out, &key)?;
            (key, args.out)
        }
        KeysCommand::Rotate(args) => {
            let old = keys::load(&args.file)?;
            let before = keys::load_rotation(&args.file, old.public())?;
            let number = before.map_or(1, |rotation| rotation.number.saturating_add(1));
            keys::rotate(&args.out, &old, number)?;
            (keys::load(&args.out)?, args.out)
        }
        KeysCommand::Friends(args) => return wait(friends::friends(args, console)),
        KeysCommand::Ask(args) => return friends::ask(&args, console),
        KeysCommand::Vouch(args) => return wait(friends::vouch(args, console)),
        KeysCommand::Recoveries(args) => return wait(friends::recoveries(args, console)),
        KeysCommand::CancelRecovery(args) => return wait(friends::cancel(args, console)),
    };
    let (public, file) = (key.public().to_string(), file.display().to_string());
    console.show(&Key { public, file })
}

/// Writes the rotation of a key beside its new file, if it has one.
fn carry_rotation(out: &Path, rotation: Option<&Rotation>) -> Result<(), Failure> {
    rotation.map_or(Ok(()), |rotation| Ok(keys::carry_rotation(out, rotation)?))
}

/// Returns the passphrase from its file, or asks a person for it; for a new one twice.
fn passphrase(file: Option<&Path>, is_new: bool) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let passphrase = match file {
        Some(file) => {
            let text = keys::read_private(file)?;
            let text = text.strip_suffix(b"\n").unwrap_or(&text);
            Zeroizing::new(text.strip_suffix(b"\r").unwrap_or(text).to_vec())
        }
        None if !io::stdin().is_terminal() => {
            let message = "nobody is there to type a passphrase; --passphrase-file FILE names one";
            return Err(Failure::usage(message));
        }
        None => {
            let typed = ask("Passphrase: ")?;
            if is_new && ask("The same once more: ")? != typed {
                return Err(Failure::usage("the two passphrases differ"));
            }
            typed
        }
    };
    let length = passphrase.len();
    if passphrase.contains(&b'\n') || length == 0 || length > PASSPHRASE_BYTES_MAX {
        let message = format!("a passphrase is one line of 1 to {PASSPHRASE_BYTES_MAX} bytes");
        return Err(Failure::usage(message));
    }
    Ok(passphrase)
}

/// Asks for a line that the terminal does not show.
fn ask(prompt: &str) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let failed = |error: io::Error| Failure::failed(format!("the terminal: {error}"));
    let stdin = io::stdin();
    let before = tcgetattr(&stdin).map_err(|error| failed(error.into()))?;
    let mut silent = before.clone();
    silent.local_flags.remove(LocalFlags::ECHO);
    eprint!("{prompt}");
    tcsetattr(&stdin, SetArg::TCSAFLUSH, &silent).map_err(|error| failed(error.into()))?;
    let mut line = Zeroizing::new(Vec::with_capacity(PASSPHRASE_BYTES_MAX + 2));
    let room = PASSPHRASE_BYTES_MAX as u64 + 2;
    let read = stdin.lock().take(room).read_until(b'\n', &mut line);
    // The terminal first: it must show what is typed after this, whatever was read.
    tcsetattr(&stdin, SetArg::TCSAFLUSH, &before).map_err(|error| failed(error.into()))?;
    eprintln!();
    read.map_err(failed)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(line)
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
