//! `script publish` brings a package into a sim, and has a thing run it.

use std::{fmt, path::PathBuf};

use clap::Args;
use serde::Serialize;

use super::{
    deeds::{AuthorSession, failed_at_once},
    packages::{PublishablePackage, to_publish},
};
use crate::cli::{console::Console, failure::Failure, session::PlayerArgs};

#[derive(Debug, Args)]
pub(in crate::cli) struct ScriptPublishArgs {
    /// The folder of the package.
    dir: PathBuf,
    /// Have this thing run the package: its number, or the name of a thing of yours.
    #[arg(long, value_name = "THING")]
    attach: Option<String>,
    #[command(flatten)]
    player: PlayerArgs,
}

/// A package that is in the sim.
#[derive(Debug, Serialize)]
struct PublishedPackage {
    package: String,
    name: String,
    version: String,
    licence: String,
    /// The height of the turn that brought it; nothing if the sim had it before.
    height: Option<u64>,
    /// The thing that runs it, if that was asked for.
    object: Option<u64>,
    script: Option<u64>,
}

impl fmt::Display for PublishedPackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { package, name, version, licence, height, object, script } = self;
        writeln!(f, "package  {package}")?;
        write!(f, "source   {name} {version}, {licence}, ")?;
        match height {
            Some(height) => write!(f, "published in turn {height} (proved)")?,
            None => write!(f, "which the sim had already")?,
        }
        if let Some(object) = object {
            let script = script.map_or_else(|| "a script".to_owned(), |id| format!("script {id}"));
            write!(f, "\nruns     as {script} on object {object} (proved)")?;
        }
        Ok(())
    }
}

pub(super) async fn run(args: ScriptPublishArgs, console: Console) -> Result<(), Failure> {
    let package = to_publish(&args.dir, &args.player.at, console).await?;
    let mut session = AuthorSession::begin(&args.player, console).await?;
    let done = publish(&mut session, &package, args.attach.as_deref(), console).await;
    session.end().await;
    let (published, failure) = done?;
    console.show(&published)?;
    failure.map_or(Ok(()), Err)
}

/// Brings a package into the sim, and has a thing run it. Returns also the failure of its script, if its first event
/// failed.
async fn publish(
    session: &mut AuthorSession,
    package: &PublishablePackage,
    thing: Option<&str>,
    console: Console,
) -> Result<(PublishedPackage, Option<Failure>), Failure> {
    // This comes first, so that nothing is published for a thing that may not run it.
    let object = match thing {
        Some(thing) => {
            let object = session.thing(thing).await?;
            session.check_attach(object, &package.package, console).await?;
            Some(object)
        }
        None => None,
    };
    let height = session.publish(package).await?;
    let package = &package.package;
    let (script, failure) = match object {
        Some(object) => {
            let attached = session.attach(object, package.id()).await;
            let (script, height) = attached.map_err(|why| {
                why.hint(&format!("package {} is in the sim all the same", package.id()))
            })?;
            let failure = failed_at_once(script.as_ref(), package, height);
            (script, failure)
        }
        None => (None, None),
    };
    let manifest = package.manifest();
    let published = PublishedPackage {
        package: package.id().to_string(),
        name: manifest.name.clone(),
        version: manifest.version.to_string(),
        licence: manifest.licence.chosen.clone(),
        height: height.map(|height| height.0),
        object: object.map(|object| object.0),
        script: script.map(|entry| entry.script.0),
    };
    Ok((published, failure))
}
