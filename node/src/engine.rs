//! The program that a directory needs: the engine of its genesis, and the note that programs leave
//! there.
//!
//! A sim is its rules. A program of another engine would come to other states, so it leaves the
//! directory as it is, and names the program that can continue the sim.

use std::{fs, io, path::Path};

use metatopia_replica::keeper::PassedOver;
use metatopia_sim::{ENGINE, Genesis, Parent, RULES, is_name, rules_name};
use metatopia_store::{DiskError, ReadDisk, UnknownFormat, unknown_format};
use metatopia_types::Digest;
use serde::{Deserialize, Serialize};

use crate::atomic_file;

/// The file in a server's directory that notes which program ran on it last.
const NOTE: &str = "program.toml";

/// The longest note that is read, in bytes. A note of this program has some 300.
const NOTE_BYTES_MAX: u64 = 4_096;

/// The last commit of each engine whose programs left no note.
const LAST_COMMITS: [(u32, &str); 4] = [
    (1, "bfeb8749104ac05c5e0a3cfca0f782847b7ace3d"),
    (2, "f2f891d0bc1b6cd6a316a519410dce464d996985"),
    (3, "03170009291ad836f18bb3785b6fba1fd3b870ff"),
    (4, "815f8930aa7068b9dc78e1751b1c5dc729e4ff47"),
];

/// The facts that a program notes about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct BuildNote {
    engine: u32,
    version: String,
    commit: String,
    modified: String,
}

impl BuildNote {
    fn own() -> Self {
        Self {
            engine: ENGINE,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: env!("BUILD_COMMIT_OF_METATOPIA").to_owned(),
            modified: env!("BUILD_MODIFIED_OF_METATOPIA").to_owned(),
        }
    }

    /// Reads the note in a directory. Returns `None` if there is no readable note. Keys of later
    /// programs are skipped.
    fn read(directory: &Path) -> Option<Self> {
        let path = directory.join(NOTE);
        let length = fs::metadata(&path).ok()?.len();
        if length > NOTE_BYTES_MAX {
            return None;
        }
        toml::from_str(&fs::read_to_string(path).ok()?).ok()
    }
}

/// The error of a directory whose engine is not this program's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name} is of engine {found}{}, and this program runs engine {ENGINE}{}, so it is left as it \
     is; {}", by_rules(rules.as_ref()), by_rules(rules.and(Some(&RULES))),
    program(commit.as_deref())
)]
pub struct OtherEngine {
    /// The name of the directory, as people know it.
    pub name: String,
    /// The engine of the directory.
    pub found: u32,
    /// The rules of the directory, if its engine is this program's.
    pub rules: Option<Digest>,
    /// The git commit of a program that runs it, if one is known.
    pub commit: Option<String>,
}

fn by_rules(rules: Option<&Digest>) -> String {
    rules.map_or_else(String::new, |rules| format!(" by rules {}", rules_name(rules)))
}

fn program(commit: Option<&str>) -> String {
    match commit {
        Some(commit) => format!(
            "the program of commit {commit} runs it: `git checkout {commit}`, then build and start \
             that one"
        ),
        None => "a program of that engine runs it; which one is not known here".to_owned(),
    }
}

impl OtherEngine {
    /// Describes the directory, and names a program that runs its engine, by the note in it or by
    /// the list of known programs.
    pub(crate) fn new(name: String, found: u32, directory: Option<&Path>) -> Self {
        let note = directory.and_then(BuildNote::read).filter(|note| note.engine == found);
        let noted = note.map(|note| note.commit).filter(|commit| is_commit(commit));
        let last = LAST_COMMITS.iter().find(|(engine, _)| *engine == found);
        let commit = noted.or_else(|| last.map(|(_, commit)| (*commit).to_owned()));
        Self { name, found, rules: None, commit }
    }
}

/// Says why the files of a directory are not touched: one of them is for another program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OtherFile {
    /// The format of a file is not known.
    #[error("{name}: {format}, so nothing there is changed; {}", program(commit.as_deref()))]
    Format {
        /// The name of the directory, as people know it.
        name: String,
        /// The file and its format.
        format: UnknownFormat,
        /// The git commit of the program that ran there last, if that was not this one.
        commit: Option<String>,
    },
    /// A snapshot is of another engine.
    #[error("{name}: {state}, so nothing there is changed; {}", program(commit.as_deref()))]
    State {
        /// The name of the directory, as people know it.
        name: String,
        /// The snapshot and its engine.
        state: PassedOver,
        /// The git commit of the program that ran there last, if that was not this one.
        commit: Option<String>,
    },
    /// The files cannot be looked at.
    #[error("{name}: {source}")]
    Disk {
        /// The name of the directory, as people know it.
        name: String,
        /// The error of the disk.
        source: DiskError,
    },
}

/// Returns the commit of the program that ran on a directory last, unless it is of this engine.
fn commit_of_another(directory: &Path) -> Option<String> {
    let note = BuildNote::read(directory).filter(|note| note.engine != ENGINE);
    note.map(|note| note.commit).filter(|commit| is_commit(commit))
}

/// Checks that this program knows the format of every file of a directory, before any is repaired
/// or removed. Files of another program are not damaged files.
///
/// # Errors
/// Returns the first file that this program does not know.
pub(crate) fn check_files(directory: &Path, disk: &dyn ReadDisk) -> Result<(), OtherFile> {
    let name = || directory.display().to_string();
    let found = unknown_format(disk).map_err(|source| OtherFile::Disk { name: name(), source })?;
    let Some(format) = found else {
        return Ok(());
    };
    Err(OtherFile::Format { name: name(), format, commit: commit_of_another(directory) })
}

/// Checks that no snapshot was skipped because it is of another engine.
///
/// # Errors
/// Returns the first such snapshot.
pub(crate) fn check_states(directory: &Path, passed_over: &[PassedOver]) -> Result<(), OtherFile> {
    let other = |why: &&PassedOver| matches!(why, PassedOver::OtherEngine { .. });
    let Some(state) = passed_over.iter().find(other).cloned() else {
        return Ok(());
    };
    let (name, commit) = (directory.display().to_string(), commit_of_another(directory));
    Err(OtherFile::State { name, state, commit })
}

/// Returns whether the text is the id of a commit. Text from a file ends up in a command that
/// people type.
fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Checks that this is the genesis of a sim that this program runs. `directory` holds the files of
/// its server.
///
/// # Errors
/// Fails when the genesis is of another engine or of other rules, or when a program of a later
/// engine has continued the sim. Bytes that are no genesis of any engine pass: whoever decodes them
/// reports that.
pub(crate) fn check(directory: &Path, genesis: &[u8]) -> Result<(), OtherEngine> {
    let noted = BuildNote::read(directory).map(|note| note.engine);
    let other = |found| OtherEngine::new(directory.display().to_string(), found, Some(directory));
    match of_genesis(genesis).or(noted) {
        Some(found) if found != ENGINE => return Err(other(found)),
        _ => {}
    }
    if let Some(later) = noted.filter(|noted| *noted > ENGINE) {
        return Err(other(later));
    }
    match Genesis::decode(genesis).map(|genesis| genesis.rules) {
        Ok(rules) if rules != RULES => Err(OtherEngine { rules: Some(rules), ..other(ENGINE) }),
        _ => Ok(()),
    }
}

/// Returns the engine of a genesis, even if this program cannot decode the rest. The name and the
/// engine come first, after the parent if there is one.
fn of_genesis(bytes: &[u8]) -> Option<u32> {
    if let Ok(genesis) = Genesis::decode(bytes) {
        return Some(genesis.engine);
    }
    let (name, rest) = postcard::take_from_bytes::<String>(bytes).ok()?;
    let rest = if name.is_empty() {
        let (_, rest) = postcard::take_from_bytes::<Parent>(rest).ok()?;
        let (name, rest) = postcard::take_from_bytes::<String>(rest).ok()?;
        is_name(&name).then_some(rest)?
    } else {
        is_name(&name).then_some(rest)?
    };
    let (engine, _) = postcard::take_from_bytes::<u32>(rest).ok()?;
    Some(engine)
}

/// Notes in a server's directory that this program runs it. The same note is not written again.
///
/// # Errors
/// Returns what the system said.
pub(crate) fn note(directory: &Path) -> io::Result<()> {
    let own = BuildNote::own();
    if BuildNote::read(directory).as_ref() == Some(&own) {
        return Ok(());
    }
    let text = toml::to_string(&own).expect("strings and a number");
    let head = "# The program that ran here last. Only one of this engine can go on from it.\n";
    atomic_file::replace(&directory.join(NOTE), format!("{head}{text}").as_bytes())
}

#[cfg(test)]
mod tests;
