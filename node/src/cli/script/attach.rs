//! `script attach`, `script detach` and `script resume`: which packages the things of an author run.

use std::fmt;

use clap::Args;
use serde::Serialize;

use super::{
    deeds::{AuthorSession, failed_at_once},
    packages,
};
use crate::cli::{console::Console, failure::Failure, session::PlayerArgs};

#[derive(Debug, Args)]
pub(in crate::cli) struct ScriptAttachArgs {
    /// The id of the package, which must be in the sim, or its first digits, at least eight.
    package: String,
    /// The thing: its number, or the name of a thing of yours.
    thing: String,
    #[command(flatten)]
    player: PlayerArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ScriptDetachArgs {
    /// The script: its number, or the name of the thing that runs it.
    script: String,
    #[command(flatten)]
    player: PlayerArgs,
}

/// A thing that runs a package from now on, or no more.
#[derive(Debug, Serialize)]
struct AttachedScript {
    script: Option<u64>,
    object: u64,
    package: String,
    attached: bool,
    height: u64,
}

impl fmt::Display for AttachedScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { script, object, package, attached, height } = self;
        let script = script.map_or_else(|| "a script".to_owned(), |id| format!("script {id}"));
        let runs = if *attached { "runs from turn" } else { "has not run since turn" };
        write!(f, "{script} of package {package} on object {object} {runs} {height} (proved)")
    }
}

pub(super) async fn attach(args: ScriptAttachArgs, console: Console) -> Result<(), Failure> {
    let mut session = AuthorSession::begin(&args.player, console).await?;
    let done = attached(&mut session, &args, console).await;
    session.end().await;
    let (attached, failure) = done?;
    console.show(&attached)?;
    failure.map_or(Ok(()), Err)
}

/// Has a thing run a package. Returns also the failure of its script, if its first event failed.
async fn attached(
    session: &mut AuthorSession,
    args: &ScriptAttachArgs,
    console: Console,
) -> Result<(AttachedScript, Option<Failure>), Failure> {
    let package = packages::named(session.driver(), &args.package).await?;
    let object = session.thing(&args.thing).await?;
    session.check_beside(object, &package, console).await?;
    let (script, height) = session.attach(object, package.id()).await?;
    let failure = failed_at_once(script.as_ref(), &package, height);
    let attached = AttachedScript {
        script: script.map(|entry| entry.script.0),
        object: object.0,
        package: package.id().to_string(),
        attached: true,
        height: height.0,
    };
    Ok((attached, failure))
}

pub(super) async fn detach(args: ScriptDetachArgs, console: Console) -> Result<(), Failure> {
    let mut session = AuthorSession::begin(&args.player, console).await?;
    let done = detached(&mut session, &args.script).await;
    session.end().await;
    console.show(&done?)
}

async fn detached(session: &mut AuthorSession, script: &str) -> Result<AttachedScript, Failure> {
    let running = session.script(script).await?;
    let height = session.detach(&running).await?;
    Ok(AttachedScript {
        script: Some(running.script.0),
        object: running.object.0,
        package: running.package.to_string(),
        attached: false,
        height: height.0,
    })
}

/// A script that runs again.
#[derive(Debug, Serialize)]
struct ResumedScript {
    script: u64,
    object: u64,
    height: u64,
}

impl fmt::Display for ResumedScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { script, object, height } = self;
        write!(f, "script {script} on object {object} runs again from turn {height} (proved)")
    }
}

pub(super) async fn resume(args: ScriptDetachArgs, console: Console) -> Result<(), Failure> {
    let mut session = AuthorSession::begin(&args.player, console).await?;
    let done = resumed(&mut session, &args.script).await;
    session.end().await;
    console.show(&done?)
}

async fn resumed(session: &mut AuthorSession, script: &str) -> Result<ResumedScript, Failure> {
    let running = session.script(script).await?;
    let script = running.script;
    if running.suspended.is_none() {
        return Err(Failure::refused(format!("script {script} is not suspended: it runs")));
    }
    let height = session.resume(&running).await?;
    Ok(ResumedScript { script: script.0, object: running.object.0, height: height.0 })
}
