//! `keys profile`: what a person says of herself, in a file beside her key that everybody can check.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use metatopia_client::{
    OwnProfile, ProfileChange, ProfileChangeError,
    text::{printable, profile_lines},
};
use metatopia_types::{Sign as _, SigningKey};
use serde::Serialize;

use crate::cli::{
    beside_key::{self, KeptLists},
    console::Console,
    failure::Failure,
    passphrase::PassphraseArgs,
};

pub(super) const PROFILE: &str = "Examples:\n  \
    metatopia keys profile set me.key --line \"I build mills.\" --pronouns she/her --picture face.jpg\n  \
    metatopia keys profile show me.key\n  \
    metatopia keys profile check me.key.profile                  of anybody, without her key\n\n\
    The profile is the file me.key.profile: your key signs it, so whoever gets the file can check it. Your client \
    sends\nit to each sim that you come into and that has none of yours or an older one.";

#[derive(Debug, Args)]
pub(in crate::cli) struct ProfileArgs {
    #[command(subcommand)]
    command: ProfileFileCommand,
}

#[derive(Debug, Subcommand)]
enum ProfileFileCommand {
    /// Change what you say of yourself, and sign it anew.
    Set(ProfileSetArgs),
    /// Show what you say of yourself.
    Show(ProfileShowArgs),
    /// Check the file of anybody's profile, and show what it says.
    Check(ProfileCheckArgs),
}

#[derive(Debug, Args)]
struct ProfileSetArgs {
    /// The key file, beside which the profile lies.
    file: PathBuf,
    /// A line about you, of at most 160 bytes; empty for none.
    #[arg(long)]
    line: Option<String>,
    /// Your pronouns, of at most 32 bytes; empty for none.
    #[arg(long, value_name = "TEXT")]
    pronouns: Option<String>,
    /// A picture: a PNG or JPEG file of at most 8 KiB, and of at most 256 by 256 points.
    #[arg(long, value_name = "IMAGE")]
    picture: Option<PathBuf>,
    /// Show no picture any more.
    #[arg(long, conflicts_with = "picture")]
    no_picture: bool,
    /// Say nothing of yourself any more: sims take away what you said.
    #[arg(long, conflicts_with_all = ["line", "pronouns", "picture", "no_picture"])]
    clear: bool,
    #[command(flatten)]
    words: PassphraseArgs,
}

#[derive(Debug, Args)]
struct ProfileShowArgs {
    /// The key file, beside which the profile lies.
    file: PathBuf,
    #[command(flatten)]
    words: PassphraseArgs,
}

#[derive(Debug, Args)]
struct ProfileCheckArgs {
    /// The file of the profile.
    file: PathBuf,
    /// Write the picture to this file, which must be new.
    #[arg(long, value_name = "OUT")]
    picture: Option<PathBuf>,
}

/// A profile that was checked.
#[derive(Debug, Serialize)]
struct ProfileLine {
    key: String,
    version: u32,
    line: String,
    pronouns: String,
    picture: Option<String>,
    picture_bytes: usize,
}

impl ProfileLine {
    fn of(own: &OwnProfile) -> Self {
        let profile = own.profile();
        Self {
            key: profile.key.to_string(),
            version: profile.version,
            line: printable(&profile.line),
            pronouns: printable(&profile.pronouns),
            picture: profile.picture.map(|digest| digest.to_string()),
            picture_bytes: own.picture().len(),
        }
    }
}

/// Shows a profile that was checked.
fn show(own: &OwnProfile, console: Console) -> Result<(), Failure> {
    let profile = own.profile();
    let first = format!("Signed by {}, version {}.", profile.key, profile.version);
    let words = || [&[first], &profile_lines(profile)[..]].concat().join("\n");
    console.show_as(&ProfileLine::of(own), |_| words())
}

pub(super) fn run(args: ProfileArgs, console: Console) -> Result<(), Failure> {
    match args.command {
        ProfileFileCommand::Set(args) => set(args, console),
        ProfileFileCommand::Show(ProfileShowArgs { file, words }) => {
            let key = words.open(&file)?;
            let own = beside_key::profile(&file)?.filter(|own| own.profile().key == key.public());
            let missing = || {
                let message = format!("there is no profile of the key in {}", file.display());
                Failure::not_found(message).hint("`metatopia keys profile set` makes one")
            };
            show(&own.ok_or_else(missing)?, console)
        }
        ProfileFileCommand::Check(args) => check(&args, console),
    }
}

fn set(args: ProfileSetArgs, console: Console) -> Result<(), Failure> {
    let key = args.words.open(&args.file)?;
    let before = beside_key::profile(&args.file)?;
    let mut changes = Vec::new();
    changes.extend(args.line.map(ProfileChange::Line));
    changes.extend(args.pronouns.map(ProfileChange::Pronouns));
    changes.extend(args.no_picture.then_some(ProfileChange::NoPicture));
    changes.extend(args.clear.then_some(ProfileChange::Clear));
    if let Some(file) = &args.picture {
        changes.push(ProfileChange::Picture(beside_key::picture(file)?));
    }
    if changes.is_empty() {
        let message = "--line, --pronouns, --picture, --no-picture or --clear says what to change";
        return Err(Failure::usage(message));
    }
    let own = OwnProfile::changed(before.as_ref(), 0, &changes, &key)?;
    let told = |error| Failure::failed(format!("{}.profile: {error}", args.file.display()));
    beside_key::keep_profile(&args.file, &own).map_err(told)?;
    show(&own, console)
}

fn check(args: &ProfileCheckArgs, console: Console) -> Result<(), Failure> {
    let path = args.file.display();
    let own = beside_key::profile_of(&args.file)
        .map_err(|failure| Failure::unverified(failure.message))?
        .ok_or_else(|| Failure::not_found(format!("there is no file {path}")))?;
    if let Some(out) = &args.picture {
        if own.picture().is_empty() {
            return Err(Failure::not_found(format!("the profile in {path} has no picture")));
        }
        write_new(out, own.picture())?;
    }
    show(&own, console)
}

/// Writes a file that must not be there yet.
fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let told = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::refused(format!("{} exists, and is not overwritten", path.display()))
        }
        _ => Failure::failed(format!("{}: {error}", path.display())),
    };
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path).map_err(told)?;
    std::io::Write::write_all(&mut file, bytes).map_err(told)
}

/// What lies beside a key and goes along to another file of it, or to the key that takes its place.
pub(super) struct Belongings {
    lists: KeptLists,
    profile: Option<OwnProfile>,
}

impl Belongings {
    /// Reads what lies beside the file of a key. It is read before another file is written, so that a spoilt
    /// one leaves nothing half done.
    ///
    /// # Errors
    /// When a file is spoilt or of somebody else.
    pub(super) fn of(file: &Path, key: &SigningKey) -> Result<Self, Failure> {
        let lists = KeptLists::load(file, key.public())?;
        // What lies there may be somebody else's, which the key would show nobody either.
        let profile = beside_key::profile(file)?;
        let profile = profile.filter(|profile| profile.profile().key == key.public());
        Ok(Self { lists, profile })
    }

    /// Writes all of it beside the file of a key, which signs it.
    ///
    /// # Errors
    /// When the disk fails.
    pub(super) fn keep(self, out: &Path, key: &SigningKey) -> Result<(), Failure> {
        let told = |error: std::io::Error| Failure::failed(format!("{}: {error}", out.display()));
        self.lists.keep(out, key).map_err(told)?;
        let profile = self.profile.map(|own| match own.profile().key == key.public() {
            true => own,
            false => own.rotated(key),
        });
        profile.map_or(Ok(()), |own| beside_key::keep_profile(out, &own).map_err(told))
    }
}

impl From<ProfileChangeError> for Failure {
    fn from(error: ProfileChangeError) -> Self {
        Self::usage(error.to_string())
    }
}
