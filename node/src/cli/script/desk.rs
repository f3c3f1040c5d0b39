//! What the text client needs of the commands about scripts: folders, an editor, and logs.

use std::{
    collections::BTreeSet,
    env,
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    process::Command,
};

use metatopia_client_driver::ClientDriver;
use metatopia_scenarios::ExamplePackage;
use metatopia_scripting::{Package, PackageAuthor};
use metatopia_text_client::{DraftFolder, LogLines, ScriptDesk};
use metatopia_types::ScriptId;

use super::{follow, fork::fork, logs, packages};
use crate::cli::failure::Failure;

/// The folder in which drafts are written, below the one where the program was started.
const DRAFTS: &str = "drafts";

/// The editor where neither VISUAL nor EDITOR names one.
const EDITOR: &str = "vi";

/// The most lines of logs that the text client tells at once: the newest ones.
const LOG_LINES_MAX: usize = 100;

/// The disk and the editor of whoever runs the text client.
#[derive(Debug)]
pub(in crate::cli) struct AuthorDesk {
    /// The folder of drafts.
    drafts: PathBuf,
    /// The command that edits a file, with its arguments; nothing where nobody is at a terminal.
    editor: Option<String>,
}

impl AuthorDesk {
    /// Returns the desk of this process.
    pub(in crate::cli) fn new() -> Self {
        let chosen = || {
            let named = |name| env::var(name).ok().filter(|value| !value.trim().is_empty());
            named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| EDITOR.to_owned())
        };
        let is_person = io::stdin().is_terminal() && io::stdout().is_terminal();
        Self { drafts: PathBuf::from(DRAFTS), editor: is_person.then(chosen) }
    }
}

impl ScriptDesk for AuthorDesk {
    fn example(&self, name: &str) -> Option<Package> {
        ExamplePackage::named(name).map(|example| example.package())
    }

    fn examples(&self) -> Vec<&'static str> {
        ExamplePackage::ALL.iter().map(|example| example.name).collect()
    }

    fn example_imports(&self, name: &str) -> Vec<Package> {
        ExamplePackage::named(name).map(|example| example.imports()).unwrap_or_default()
    }

    fn draft(
        &self,
        parent: &Package,
        imports: &[Package],
        author: PackageAuthor,
    ) -> Result<DraftFolder, String> {
        let manifest = parent.manifest();
        let dir = self.drafts.join(&manifest.name);
        let file = dir.join(&manifest.entry);
        if dir.exists() {
            return Ok(DraftFolder { dir, file, is_new: false });
        }
        let package = fork(parent, None, Some(author)).map_err(|failure| failure.to_string())?;
        packages::write(&dir, &package, imports).map_err(|failure| failure.to_string())?;
        Ok(DraftFolder { dir, file, is_new: true })
    }

    fn editor(&self, draft: &DraftFolder) -> Option<Command> {
        let mut words = self.editor.as_deref()?.split_whitespace();
        let mut command = Command::new(words.next()?);
        command.args(words).arg(&draft.file);
        Some(command)
    }

    fn read(&self, dir: &str) -> Result<(Package, Vec<Package>), Vec<String>> {
        let one = |failure: Failure| vec![failure.to_string()];
        let folder = packages::ScriptFolder::read(Path::new(dir)).map_err(one)?;
        let package = folder.package().map_err(|mistakes| {
            mistakes.iter().map(ToString::to_string).collect::<Vec<String>>()
        })?;
        let publishable = packages::PublishablePackage::new(dir, &package, folder.known());
        let packages::PublishablePackage { package, imports } = publishable.map_err(one)?;
        Ok((package, imports))
    }

    fn logs<'a>(
        &'a self,
        driver: &'a mut ClientDriver,
        scripts: &'a BTreeSet<ScriptId>,
    ) -> LogLines<'a> {
        Box::pin(async move {
            let told = tell(driver, scripts).await;
            told.map(newest).map_err(|failure| failure.to_string())
        })
    }
}

/// Returns what scripts logged since the newest state that the servers signed.
async fn tell(
    driver: &mut ClientDriver,
    scripts: &BTreeSet<ScriptId>,
) -> Result<Vec<String>, Failure> {
    let mut course = follow::begin(driver, |_, _| ()).await?;
    let mut told = Vec::new();
    follow::catch_up(driver, &mut course, |applied| {
        let lines = logs::lines(applied, |script| scripts.contains(&script));
        told.extend(lines.iter().map(ToString::to_string));
        Ok(())
    })
    .await?;
    Ok(told)
}

/// Returns the newest lines, as many as are told at once.
fn newest(mut lines: Vec<String>) -> Vec<String> {
    lines.drain(..lines.len().saturating_sub(LOG_LINES_MAX));
    lines
}

#[cfg(test)]
mod tests {
    use metatopia_types::PublicKey;

    use super::*;
    use crate::scratch::Scratch;

    fn desk(scratch: &Scratch, editor: Option<&str>) -> AuthorDesk {
        AuthorDesk { drafts: scratch.0.join("drafts"), editor: editor.map(str::to_owned) }
    }

    fn ada() -> PackageAuthor {
        PackageAuthor { name: "Ada".to_owned(), key: Some(PublicKey([7; 32])) }
    }

    #[test]
    fn an_example_becomes_a_draft_that_is_read_again_and_never_overwritten() {
        let scratch = Scratch::made("desk-draft");
        let desk = desk(&scratch, None);
        let bell = desk.example("bell").expect("an example");
        let first = desk.draft(&bell, &[], ada()).expect("a new folder");
        assert!(first.is_new && first.file.ends_with("drafts/bell/bell.rhai"), "{first:?}");
        let (package, _) = desk.read(&first.dir.display().to_string()).expect("a package");
        assert_eq!(package.manifest().parent, Some(bell.id()));

        std::fs::write(&first.file, "fn on_touch(other) {\n    sya(1);\n}\n").expect("a file");
        let again = desk.draft(&bell, &[], ada()).expect("the same folder");
        assert!(!again.is_new);
        let mistakes = desk.read(&again.dir.display().to_string()).expect_err("a mistake");
        assert!(mistakes[0].contains("bell.rhai:2:5"), "{mistakes:?}");
        assert!(desk.example("nothing").is_none() && desk.examples().contains(&"bell"));
    }

    #[test]
    fn an_editor_may_have_arguments_and_where_nobody_types_there_is_none() {
        let scratch = Scratch::new("desk-editor");
        let file = PathBuf::from("drafts/bell/bell.rhai");
        let draft = DraftFolder { dir: PathBuf::from("drafts/bell"), file, is_new: true };
        let command = desk(&scratch, Some("code --wait")).editor(&draft).expect("an editor");
        assert_eq!(command.get_program(), "code");
        let arguments: Vec<_> = command.get_args().collect();
        assert_eq!(arguments, ["--wait", "drafts/bell/bell.rhai"]);
        assert!(desk(&scratch, None).editor(&draft).is_none());
    }

    #[test]
    fn of_many_lines_the_newest_are_told() {
        let lines: Vec<String> = (0..LOG_LINES_MAX + 5).map(|line| line.to_string()).collect();
        assert_eq!(newest(lines.clone()), lines[5..]);
        assert_eq!(newest(lines[..3].to_vec()), lines[..3]);
    }

    #[test]
    fn a_folder_that_is_not_there_is_a_sentence() {
        let scratch = Scratch::new("desk-read");
        let told = desk(&scratch, None).read("nowhere/at-all").expect_err("no folder");
        assert!(told[0].contains("there is no folder"), "{told:?}");
    }
}
