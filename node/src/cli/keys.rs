//! `keys` makes key files and looks at them.

use std::{fmt, path::PathBuf};

use clap::{Args, Subcommand};
use metatopia_types::Sign as _;
use serde::Serialize;

use super::{console::Console, exit::Exit, failure::Failure};
use crate::keys::{self, CreateKeyError, LoadKeyError};

#[derive(Debug, Subcommand)]
pub(super) enum KeysCommand {
    /// Make a new key. A file that exists is never overwritten.
    #[command(after_help = "Example:\n  metatopia keys new --out me.key")]
    New(NewArgs),
    /// Print the public half of a key.
    Show(KeyShowArgs),
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
    };
    let (public, file) = (key.public().to_string(), file.display().to_string());
    console.show(&Key { public, file })
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

impl From<LoadKeyError> for Failure {
    fn from(error: LoadKeyError) -> Self {
        let missing = |source: &std::io::Error| source.kind() == std::io::ErrorKind::NotFound;
        let exit = match &error {
            LoadKeyError::Read { source, .. } if missing(source) => Exit::NotFound,
            LoadKeyError::Read { .. } => Exit::Failed,
            LoadKeyError::NotAFile { .. } | LoadKeyError::Format { .. } => Exit::Usage,
            LoadKeyError::Exposed { .. } | LoadKeyError::Foreign { .. } => Exit::Refused,
        };
        let failure = Self::new(exit, error.to_string());
        match exit {
            Exit::NotFound => failure.hint("`metatopia keys new --out FILE` makes one"),
            _ => failure,
        }
    }
}
