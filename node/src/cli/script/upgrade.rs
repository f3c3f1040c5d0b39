//! `script upgrade` has a script run another package.

use std::{fmt, path::PathBuf};

use clap::Args;
use serde::Serialize;

use super::{
    deeds::AuthorSession,
    packages::{PublishablePackage, to_publish},
};
use crate::cli::{console::Console, failure::Failure, session::PlayerArgs};

#[derive(Debug, Args)]
pub(in crate::cli) struct ScriptUpgradeArgs {
    /// The folder of the package that is to run.
    dir: PathBuf,
    /// The script: its number, or the name of the thing that runs it.
    #[arg(long)]
    script: String,
    #[command(flatten)]
    player: PlayerArgs,
}

/// A script that runs another package from now on.
#[derive(Debug, Serialize)]
struct UpgradedScript {
    script: u64,
    object: u64,
    before: String,
    package: String,
    height: u64,
}

impl fmt::Display for UpgradedScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { script, object, before, package, height } = self;
        writeln!(f, "script   {script} on object {object}")?;
        writeln!(f, "runs     {package} from turn {height} on (proved)")?;
        write!(f, "before   {before}")
    }
}

pub(super) async fn run(args: ScriptUpgradeArgs, console: Console) -> Result<(), Failure> {
    let package = to_publish(&args.dir, &args.player.at, console).await?;
    let mut session = AuthorSession::begin(&args.player, console).await?;
    let done = upgrade(&mut session, &package, &args.script).await;
    session.end().await;
    console.show(&done?)?;
    console.note(
        "It stays so if the first event that the new source handles ends well. If not, the script runs what \
         it ran before.",
    );
    Ok(())
}

async fn upgrade(
    session: &mut AuthorSession,
    package: &PublishablePackage,
    script: &str,
) -> Result<UpgradedScript, Failure> {
    let running = session.script(script).await?;
    let script = running.script;
    if running.package == package.package.id() {
        return Err(Failure::refused(format!("script {script} runs this very package already")));
    }
    session.publish(package).await?;
    let package = &package.package;
    let height = session.upgrade_all(core::slice::from_ref(&running), package.id()).await?;
    let height = height.expect("there is a script to upgrade");
    if !session.fallen(core::slice::from_ref(&running), package.id()).await?.is_empty() {
        let (name, before) = (&package.manifest().name, running.package);
        let message = format!(
            "script {script} failed with the new {name} in turn {height}, and runs what it ran before: \
             package {before}"
        );
        return Err(
            Failure::failed(message).hint(&format!("`metatopia script logs {script}` tells why"))
        );
    }
    Ok(UpgradedScript {
        script: script.0,
        object: running.object.0,
        before: running.package.to_string(),
        package: package.id().to_string(),
        height: height.0,
    })
}
