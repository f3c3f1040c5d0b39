//! Passphrases, and the keys of persons that they open: from a file, or typed where nobody sees it.

use std::{
    io::{self, BufRead as _, IsTerminal as _, Read as _},
    path::{Path, PathBuf},
};

use clap::Args;
use metatopia_client::keys::KeyTextError;
use metatopia_types::SigningKey;
use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use super::failure::Failure;
use crate::keys::{self, LoadKeyError, PASSPHRASE_BYTES_MAX};

/// The bytes of a passphrase, which are wiped after use.
pub(super) type Passphrase = Zeroizing<Vec<u8>>;

/// Where the passphrase of a sealed key comes from.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct PassphraseArgs {
    /// A file with the passphrase of a sealed key in its one line, which only you can read; without it, you are asked.
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
}

/// A person's key, and what opened it.
pub(super) struct OpenedKey {
    pub(super) key: SigningKey,
    /// The passphrase, if the key is sealed in its file.
    pub(super) passphrase: Option<Passphrase>,
}

impl PassphraseArgs {
    /// Says whether a file is named.
    pub(super) const fn is_named(&self) -> bool {
        self.passphrase_file.is_some()
    }

    /// Reads a person's key, and opens it by its passphrase if it is sealed. It is open in memory alone.
    ///
    /// # Errors
    /// When the file holds no key, the passphrase is another one, or nobody is there to say it.
    pub(super) fn open(&self, file: &Path) -> Result<SigningKey, Failure> {
        Ok(self.open_with(file)?.key)
    }

    /// Reads a person's key as [`PassphraseArgs::open`] does, and keeps what opened it.
    ///
    /// # Errors
    /// See [`PassphraseArgs::open`].
    pub(super) fn open_with(&self, file: &Path) -> Result<OpenedKey, Failure> {
        match keys::load(file) {
            Err(LoadKeyError::Format { source: KeyTextError::Sealed, .. }) => {
                let passphrase = self.known(file)?;
                let key = keys::unseal(file, &passphrase)?;
                Ok(OpenedKey { key, passphrase: Some(passphrase) })
            }
            loaded => Ok(OpenedKey { key: loaded?, passphrase: None }),
        }
    }

    /// Returns the passphrase of a sealed key: from its file, or from whoever types it.
    ///
    /// # Errors
    /// When nobody is there, or what is given is no passphrase.
    pub(super) fn known(&self, of: &Path) -> Result<Passphrase, Failure> {
        self.read(|| ask(&format!("Passphrase of {}: ", of.display())), of)
    }

    /// Returns a passphrase for a key that is to be sealed in this file; whoever types it does so twice.
    ///
    /// # Errors
    /// When nobody is there, or what is given is no passphrase.
    pub(super) fn chosen(&self, to: &Path) -> Result<Passphrase, Failure> {
        let ask_twice = || {
            let typed = ask(&format!("New passphrase for {}: ", to.display()))?;
            match ask("The same once more: ")? == typed {
                true => Ok(typed),
                false => Err(Failure::usage("the two passphrases differ")),
            }
        };
        self.read(ask_twice, to)
    }

    fn read(
        &self,
        typed: impl FnOnce() -> Result<Passphrase, Failure>,
        key: &Path,
    ) -> Result<Passphrase, Failure> {
        let passphrase = match &self.passphrase_file {
            Some(file) => {
                let text = keys::read_private(file).map_err(|error| match error {
                    // Advice about keys does not help there.
                    LoadKeyError::Read { .. } => Failure::not_found(error.to_string()),
                    error => error.into(),
                })?;
                let text = text.strip_suffix(b"\n").unwrap_or(&text);
                Zeroizing::new(text.strip_suffix(b"\r").unwrap_or(text).to_vec())
            }
            None if !io::stdin().is_terminal() => {
                let key = key.display();
                let message = format!("nobody is there to type the passphrase of {key}");
                return Err(Failure::usage(message)
                    .hint("--passphrase-file FILE names a file that holds it"));
            }
            None => typed()?,
        };
        let length = passphrase.len();
        if passphrase.contains(&b'\n') || length == 0 || length > PASSPHRASE_BYTES_MAX {
            let message = format!("a passphrase is one line of 1 to {PASSPHRASE_BYTES_MAX} bytes");
            return Err(Failure::usage(message));
        }
        Ok(passphrase)
    }
}

/// Asks for a line that the terminal does not show.
fn ask(prompt: &str) -> Result<Passphrase, Failure> {
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
