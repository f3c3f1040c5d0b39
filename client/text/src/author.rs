//! The commands of authors: changing the source of a script, publishing it, and reading what it logs.

use std::{collections::BTreeSet, time::Duration};

use metatopia_client::{PublishingStep, build, publishing_steps, text::printable};
use metatopia_protocol::{Answer, Question, ScriptEntry};
use metatopia_scripting::{LinkedPackage, Package, PackageAuthor, limits::LINKED_PACKAGES_MAX};
use metatopia_types::{Act, Build, ObjectId, Outcome, PackageId, Refusal, ScriptId};
use tokio::{task::spawn_blocking, time::sleep_until};

use super::{
    builder::{self, Thing},
    charter, deeds,
    room::{ActProgress, TextClient},
    scripts::{ScriptOnThing, edited, replaced, scripted},
};
use crate::{DraftFolder, HEARTBEAT, LineKind, TextClientError};

/// Time for one question.
const ANSWER: Duration = Duration::from_secs(5);

type AuthorResult = Result<(), TextClientError>;

/// Writes the source of a script on a thing, or an example, into a folder, and has it edited. The name of a
/// script's package may stand behind that of the thing.
pub(super) async fn edit(room: &mut TextClient, named: &str) -> AuthorResult {
    let (parent, imports) = match edited_on(room, named).await? {
        Some(Ok(package)) => {
            let imports = imports_of(room, &package).await?;
            (package, imports)
        }
        Some(Err(why)) => return room.tell(LineKind::Refused, &why),
        None => match room.desk.example(&named.to_lowercase()) {
            Some(package) => (package, room.desk.example_imports(&named.to_lowercase())),
            None => {
                let line = format!(
                    "Nothing in sight that is called {} runs a script, and it is no example: {}.",
                    printable(named),
                    room.desk.examples().join(", ")
                );
                return room.tell(LineKind::Refused, &line);
            }
        },
    };
    let author = PackageAuthor { name: room.own_name(), key: Some(room.driver.author()) };
    let draft = match room.desk.draft(&parent, &imports, author) {
        Ok(draft) => draft,
        Err(why) => return room.tell(LineKind::Refused, &printable(&why)),
    };
    let (dir, file) = (draft.dir.display().to_string(), draft.file.display().to_string());
    if !draft.is_new {
        room.tell(LineKind::Answer, &format!("{dir} is there already; you go on with it."))?;
    }
    if let Some(done) = edit_draft(room, &draft).await? {
        return match done {
            Ok(()) => tell_check(room, &dir),
            Err(why) => room.tell(LineKind::Refused, &format!("The editor failed: {why}.")),
        };
    }
    room.tell(LineKind::Answer, &format!("Change {file}, then: publish {dir} THING"))
}

/// Has a person edit a draft, and goes on living meanwhile; nothing where nobody is at a terminal.
async fn edit_draft(
    room: &mut TextClient,
    draft: &DraftFolder,
) -> Result<Option<Result<(), String>>, TextClientError> {
    let Some(mut command) = room.desk.editor(draft) else {
        return Ok(None);
    };
    let mut editing = spawn_blocking(move || command.status());
    room.is_editing = true;
    let ended = loop {
        let beat = room.last_act() + HEARTBEAT;
        tokio::select! {
            ended = &mut editing => break ended,
            () = room.hear_or_read() => {}
            () = sleep_until(beat) => room.send(Act::Heartbeat).await?,
        }
        room.report()?;
    };
    room.is_editing = false;
    Ok(Some(match ended {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(status.to_string()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(error) => Err(error.to_string()),
    }))
}

/// Tells the mistakes of a folder, or what to do with it.
fn tell_check(room: &TextClient, dir: &str) -> AuthorResult {
    match room.desk.read(dir) {
        Ok(_) => room.tell(LineKind::Done, &format!("No mistakes. Now: publish {dir} THING")),
        Err(mistakes) => tell_mistakes(room, &mistakes),
    }
}

fn tell_mistakes(room: &TextClient, mistakes: &[String]) -> AuthorResult {
    mistakes.iter().try_for_each(|line| room.tell(LineKind::Refused, &printable(line)))
}

/// Brings the package of a folder into the sim. A thing that is named runs it then: in place of a script of
/// the same name, or beside those that it has.
pub(super) async fn publish(room: &mut TextClient, dir: &str, thing: Option<&str>) -> AuthorResult {
    let (package, imports) = match room.desk.read(dir) {
        Ok(read) => read,
        Err(mistakes) => return tell_mistakes(room, &mistakes),
    };
    // This comes first, so that nothing is published for a thing that is not there.
    let thing = match thing {
        Some(named) => match builder::meant(room, named).await? {
            Some(thing) => Some(thing),
            None => return Ok(()),
        },
        None => None,
    };
    let has_it = fetch(room, package.id()).await?.is_some();
    for import in imports.iter().filter(|_| !has_it) {
        if !bring(room, import, &imports).await? {
            return Ok(());
        }
    }
    if !bring(room, &package, &imports).await? {
        return Ok(());
    }
    match thing {
        Some(thing) => run_on(room, &thing, &package).await,
        None => Ok(()),
    }
}

/// Publishes a package, if the sim lacks it. What it imports is among the `known`. Says whether the sim has it then.
async fn bring(
    room: &mut TextClient,
    package: &Package,
    known: &[Package],
) -> Result<bool, TextClientError> {
    let (id, name) = (package.id(), package.manifest().name.clone());
    if fetch(room, id).await?.is_some() {
        room.tell(LineKind::Answer, &format!("The sim has {name} already, as package {id}."))?;
        return Ok(true);
    }
    let find = |id: &PackageId| known.iter().find(|known| known.id() == *id);
    let weight = match LinkedPackage::new(package, &find) {
        Ok(linked) => linked.weight(),
        Err(why) => {
            room.tell(LineKind::Refused, &printable(&why.to_string()))?;
            return Ok(false);
        }
    };
    let mut steps = publishing_steps(package.encode(), weight);
    let last = steps.pop().expect("an act brings the package");
    let pieces = steps.len();
    for (n, step) in steps.into_iter().enumerate() {
        let done = format!("Piece {} of {pieces} is there.", n + 1);
        if !publish_step(room, step, &done).await? {
            return Ok(false);
        }
    }
    publish_step(room, last, &format!("You publish {name}, as package {id}.")).await
}

/// Has an act of publishing decided, and tells what became of it. Says whether it is done.
async fn publish_step(
    room: &mut TextClient,
    PublishingStep { act, blob }: PublishingStep,
    done: &str,
) -> Result<bool, TextClientError> {
    let fate = room.perform(act, blob.into_iter().collect()).await?;
    match fate {
        ActProgress::Done(Outcome::Refused(why)) => tell_refusal(room, why).await?,
        fate => deeds::conclude(room, fate, done)?,
    }
    Ok(matches!(fate, ActProgress::Done(Outcome::Ok | Outcome::Made(_))))
}

/// Tells why a package was refused, and the rule of the sim, if that is why and the node proves it now.
async fn tell_refusal(room: &mut TextClient, why: Refusal) -> AuthorResult {
    let rule = match why {
        Refusal::NotPublisher => charter::proved(room).await?,
        _ => None,
    };
    let rule = rule.and_then(|charter| build::next(why, &charter.parameters));
    let rule = rule.map_or_else(String::new, |rule| format!(" {rule}"));
    room.tell(LineKind::Refused, &format!("That did not work: {why}.{rule}"))
}

/// Has a thing run a package.
async fn run_on(room: &mut TextClient, thing: &Thing, package: &Package) -> AuthorResult {
    let (object, id, name) = (thing.id, package.id(), printable(&thing.name));
    room.it = Some(object);
    match replaced(&running_on(room, object).await?, package) {
        Err(there) => {
            let line = format!(
                "On {name} run {there}. `metatopia script upgrade FOLDER --script NUMBER` puts it in the \
                 place of one of them."
            );
            room.tell(LineKind::Refused, &line)
        }
        Ok(Some(script)) => {
            let done = format!("Script {script} on {name} runs it now.");
            builder::perform(room, Build::Upgrade { object, script, package: id }, &done).await
        }
        Ok(None) => {
            let done = format!("It runs on {name} now.");
            builder::perform(room, Build::Attach { object, package: id }, &done).await
        }
    }
}

/// Tells what the scripts on a thing logged, and where they failed.
pub(super) async fn logs(room: &mut TextClient, named: &str) -> AuthorResult {
    let Some(thing) = builder::meant(room, named).await? else {
        return Ok(());
    };
    room.it = Some(thing.id);
    let scripts: BTreeSet<ScriptId> =
        scripts_on(room, thing.id).await?.into_iter().map(|entry| entry.script).collect();
    let name = printable(&thing.name);
    if scripts.is_empty() {
        return room.tell(LineKind::Answer, &format!("Nothing runs on {name}."));
    }
    match room.desk.logs(&mut room.driver, &scripts).await {
        Ok(lines) if lines.is_empty() => {
            let line = format!("Of late the scripts on {name} logged nothing, and none failed.");
            room.tell(LineKind::Answer, &line)
        }
        Ok(lines) => lines.iter().try_for_each(|line| room.tell(LineKind::Answer, line)),
        Err(why) => room.tell(LineKind::Refused, &printable(&why)),
    }
}

/// Returns the package of the script on a thing in sight that was typed, or why it is not clear which; nothing
/// if no script runs there.
async fn edited_on(
    room: &mut TextClient,
    named: &str,
) -> Result<Option<Result<Package, String>>, TextClientError> {
    let Some(scene) = room.look_around().await? else {
        return Ok(None);
    };
    let Some((thing, script)) = scripted(&scene, room.it, named) else {
        return Ok(None);
    };
    let running = running_on(room, thing.id).await?;
    let found = || edited(&running, &thing.name, script).cloned();
    Ok((!running.is_empty()).then(found))
}

/// Fetches the packages of the scripts on a thing, as far as the node has them.
async fn running_on(
    room: &mut TextClient,
    object: ObjectId,
) -> Result<Vec<ScriptOnThing>, TextClientError> {
    let mut running: Vec<ScriptOnThing> = Vec::new();
    for ScriptEntry { script, package: id, .. } in scripts_on(room, object).await? {
        let known = running.iter().find(|one| one.package.id() == id);
        let package = match known.map(|one| one.package.clone()) {
            Some(package) => Some(package),
            None => fetch(room, id).await?,
        };
        running.extend(package.map(|package| ScriptOnThing { script, package }));
    }
    Ok(running)
}

/// Fetches what a package imports, as far as the node has it; a few, as no package imports more.
async fn imports_of(
    room: &mut TextClient,
    package: &Package,
) -> Result<Vec<Package>, TextClientError> {
    let mut ids: Vec<PackageId> = package.imports().collect();
    let mut imports: Vec<Package> = Vec::new();
    while let Some(id) = ids.pop() {
        if imports.len() < LINKED_PACKAGES_MAX
            && imports.iter().all(|known| known.id() != id)
            && let Some(import) = fetch(room, id).await?
        {
            ids.extend(import.imports());
            imports.push(import);
        }
    }
    Ok(imports)
}

/// Asks which scripts run on a thing.
async fn scripts_on(
    room: &mut TextClient,
    object: ObjectId,
) -> Result<Vec<ScriptEntry>, TextClientError> {
    let mut scripts = room.driver.scripts(ANSWER).await?.unwrap_or_default();
    scripts.retain(|entry| entry.object == object);
    Ok(scripts)
}

/// Fetches a package, which hashes to its id; nothing if the node does not have it.
pub(super) async fn fetch(
    room: &mut TextClient,
    id: PackageId,
) -> Result<Option<Package>, TextClientError> {
    match room.driver.ask(Question::Source { package: id }, ANSWER).await? {
        Answer::Source(bytes) => match Package::decode(&bytes) {
            Ok(package) if package.id() == id => Ok(Some(package)),
            _ => Err(TextClientError::OtherSource(id)),
        },
        _ => Ok(None),
    }
}
