//! `up --watch`: brings what changes in the packages of a place's folder into the running sim.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    fmt, fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use metatopia_client_driver::NodeUrl;
use metatopia_protocol::{PackageEntry, ScriptEntry};
use metatopia_scenarios::{PACKAGES_FOLDER, PLACE_FILE, Place};
use metatopia_scripting::Package;
use metatopia_types::{Height, PackageId, PublicKey, Sign as _, SimId};
use serde::Serialize;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::{
    cli::{
        console::Console,
        failure::Failure,
        folder::{FolderEntry, entries},
        place::folder::{PLACE_FILES_MAX, PlaceFolder},
        script::{deeds::AuthorSession, packages},
        session::{NodeArgs, PlayerArgs},
    },
    keys,
};

/// The time between two looks at the folder. A change is brought in once two looks saw the same, for an
/// editor may be in the middle of a file. What was saved runs within a second.
const LOOK: Duration = Duration::from_millis(200);

/// The time after which a change is tried again that could not be brought in.
const RETRY: Duration = Duration::from_secs(10);

/// When each file changed, and how long it is.
type FileStamps = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// A folder that is watched, and the admin in whose name its packages are brought into the sim.
#[derive(Debug)]
pub(super) struct PlaceWatch {
    dir: PathBuf,
    admin: PlayerArgs,
    console: Console,
    /// The last failure that was told, which is not told again.
    told: Option<String>,
}

/// A package of the folder that is in the sim now.
#[derive(Debug, Serialize)]
struct BroughtPackage {
    brought: String,
    version: String,
    package: String,
    /// The scripts that run it now and ran an older one before.
    scripts: Vec<u64>,
    /// The height of the last of its turns; nothing if the sim had it all.
    height: Option<u64>,
}

impl fmt::Display for BroughtPackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { brought, version, package, scripts, height } = self;
        write!(f, "{brought} {version} ")?;
        match &scripts[..] {
            [] => write!(f, "is in the sim, and nothing runs it")?,
            [one] => write!(f, "runs as script {one}")?,
            all => {
                let all: Vec<String> = all.iter().map(u64::to_string).collect();
                write!(f, "runs as scripts {}", all.join(", "))?;
            }
        }
        if let Some(height) = height {
            write!(f, ", from turn {height} on")?;
        }
        write!(f, " (package {package})")
    }
}

/// What must be done so that the sim has a package of the folder.
#[derive(Debug)]
struct PackageUpdate<'a> {
    package: &'a Package,
    /// The scripts that run an older package of its name.
    scripts: Vec<ScriptEntry>,
}

impl PlaceWatch {
    /// Returns a watch over a place's folder, for the sim at these nodes.
    pub(super) const fn new(
        dir: PathBuf,
        sim: SimId,
        node: Vec<NodeUrl>,
        key: PathBuf,
        console: Console,
    ) -> Self {
        let at = NodeArgs { node, sim: Some(sim) };
        let admin = PlayerArgs { at, key, name: None, ticket: None };
        Self { dir, admin, console, told: None }
    }

    /// Watches without end. What is wrong in the folder is told, and waits for the next change.
    pub(super) async fn run(mut self) -> Infallible {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut before, mut done, mut retry) = (None, None, None);
        loop {
            looks.tick().await;
            let seen = Some(stamps(&self.dir));
            let is_still = before == seen;
            before = seen;
            let is_due = done != before || retry.is_some_and(|at| at <= Instant::now());
            if !is_still || !is_due {
                continue;
            }
            done.clone_from(&before);
            retry = match self.bring().await {
                Ok(()) => {
                    self.told = None;
                    None
                }
                Err(failure) => {
                    self.tell(&failure);
                    Some(Instant::now() + RETRY)
                }
            };
        }
    }

    /// Tells a failure, unless it is the same as the last one.
    fn tell(&mut self, failure: &Failure) {
        let text = failure.to_string();
        if self.told.as_ref() != Some(&text) {
            self.console.warn(&format!(
                "warning: the packages of {} are not in the sim: {text}; it is tried again",
                self.dir.display()
            ));
            self.told = Some(text);
        }
    }

    /// Brings every package of the folder into the sim that it lacks, and lets scripts run them.
    async fn bring(&self) -> Result<(), Failure> {
        let place = match PlaceFolder::read(&self.dir)?.place() {
            Ok(place) => place,
            Err(mistakes) => {
                for mistake in mistakes {
                    self.console.warn(&mistake.to_string());
                }
                return Ok(());
            }
        };
        let admin = keys::load(&self.admin.key)?.public();
        let mut asking = self.admin.at.open_to_ask().await?;
        let known = packages::known(&mut asking).await?;
        let running = packages::running(&mut asking).await?;
        asking.leave().await;
        let updates = updates(&place, &known, &running, admin);
        if updates.is_empty() {
            return Ok(());
        }
        let mut session = AuthorSession::begin(&self.admin, self.console).await?;
        let done = self.update(&mut session, &updates).await;
        session.end().await;
        done
    }

    async fn update(
        &self,
        session: &mut AuthorSession,
        updates: &[PackageUpdate<'_>],
    ) -> Result<(), Failure> {
        for PackageUpdate { package, scripts } in updates {
            let mut height = session.publish(package).await?;
            for script in scripts {
                height = Some(session.upgrade(script, package.id()).await?);
            }
            self.show(package, scripts, height)?;
        }
        let running = packages::running(session.driver()).await?;
        for PackageUpdate { package, scripts } in updates {
            for before in scripts {
                let now = running.iter().find(|entry| entry.script == before.script);
                if now.is_some_and(|entry| entry.package != package.id()) {
                    self.console.warn(&format!(
                        "script {0} failed with {1}, and runs what it ran before: `metatopia script \
                         logs {0}` tells why",
                        before.script.0,
                        package.manifest().name
                    ));
                }
            }
        }
        Ok(())
    }

    fn show(
        &self,
        package: &Package,
        scripts: &[ScriptEntry],
        height: Option<Height>,
    ) -> Result<(), Failure> {
        let manifest = package.manifest();
        self.console.show(&BroughtPackage {
            brought: manifest.name.clone(),
            version: manifest.version.to_string(),
            package: package.id().to_string(),
            scripts: scripts.iter().map(|entry| entry.script.0).collect(),
            height: height.map(|height| height.0),
        })
    }
}

/// Returns what must be done so that the sim has the packages of a place.
///
/// A script runs an older package if its own is not in the folder, has the name of one that is, and came with
/// the sim or by this admin: what others published under the same name stays. Where two packages of the folder
/// have one name, scripts stay as they are, for nobody knows which is meant.
fn updates<'a>(
    place: &'a Place,
    known: &[PackageEntry],
    running: &[ScriptEntry],
    admin: PublicKey,
) -> Vec<PackageUpdate<'a>> {
    let kept: BTreeSet<PackageId> = place.packages().map(Package::id).collect();
    let ours = |entry: &&PackageEntry| {
        entry.publisher.is_none_or(|publisher| publisher == admin) && !kept.contains(&entry.package)
    };
    let older = |name: &str| -> BTreeSet<PackageId> {
        let named = known.iter().filter(ours).filter(|entry| entry.name == name);
        named.map(|entry| entry.package).collect()
    };
    let of_name = |name: &str| place.packages().filter(|p| p.manifest().name == name).count();
    let update = |package: &'a Package| {
        let name = &package.manifest().name;
        let older = if of_name(name) == 1 { older(name) } else { BTreeSet::new() };
        let scripts = running.iter().filter(|entry| older.contains(&entry.package));
        PackageUpdate { package, scripts: scripts.cloned().collect() }
    };
    let is_there = |package: &Package| {
        known.iter().any(|entry| entry.package == package.id() && entry.left.is_none())
    };
    let all = place.packages().map(update);
    all.filter(|update| !update.scripts.is_empty() || !is_there(update.package)).collect()
}

/// Returns the stamps of what a place is read from, but its picture.
fn stamps(dir: &Path) -> FileStamps {
    let mut stamps = FileStamps::new();
    stamp(&dir.join(PLACE_FILE), &mut stamps);
    stamps_below(&dir.join(PACKAGES_FOLDER), &mut stamps);
    stamps
}

/// Adds the stamps of the files below a folder, at most one more than a place may have. A folder or file that
/// is gone by now has none.
fn stamps_below(dir: &Path, stamps: &mut FileStamps) {
    for FolderEntry { path, is_dir, is_file, .. } in entries(dir).unwrap_or_default() {
        if stamps.len() > PLACE_FILES_MAX {
            return;
        }
        if is_dir {
            stamps_below(&path, stamps);
        } else if is_file {
            stamp(&path, stamps);
        }
    }
}

fn stamp(path: &Path, stamps: &mut FileStamps) {
    if let Ok(found) = fs::symlink_metadata(path) {
        stamps.insert(path.to_owned(), (found.modified().ok(), found.len()));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use metatopia_scenarios::parse_folder;
    use metatopia_types::{Digest, ObjectId, ScriptId, SigningKey};

    use super::*;

    /// Returns a place whose packages have these folders and names.
    fn place(packages: &[(&str, &str, &str)]) -> Place {
        let mut files = BTreeMap::from([(PLACE_FILE.to_owned(), "name = \"yard\"\n".to_owned())]);
        for (folder, name, version) in packages {
            let manifest = format!(
                "name = \"{name}\"\nversion = \"{version}\"\napi = 1\nentry = \"main.rhai\"\n\
                 licence = \"AGPL-3.0-or-later\"\nauthors = [\"Ada\"]\n"
            );
            files.insert(format!("packages/{folder}/package.toml"), manifest);
            files.insert(format!("packages/{folder}/main.rhai"), "fn on_start() {}\n".into());
        }
        parse_folder("yard", &files).expect("a place")
    }

    fn id(package: u8) -> PackageId {
        PackageId(Digest([package; 32]))
    }

    fn has(package: PackageId, name: &str, publisher: Option<PublicKey>) -> PackageEntry {
        PackageEntry {
            package,
            name: name.into(),
            version: "1.0.0".into(),
            licence: "AGPL-3.0-or-later".into(),
            publisher,
            height: Height(1),
            bytes: 1,
            scripts: 1,
            left: None,
        }
    }

    fn runs(script: u64, package: PackageId) -> ScriptEntry {
        ScriptEntry {
            script: ScriptId(script),
            object: ObjectId(script),
            name: "post".into(),
            package,
            owner: None,
            failures: 0,
            last_failure: None,
            dropped: 0,
            gas_used: 0,
        }
    }

    fn found(
        place: &Place,
        known: &[PackageEntry],
        running: &[ScriptEntry],
    ) -> Vec<(String, Vec<u64>)> {
        let admin = SigningKey::from_seed([1; 32]).public();
        let all = updates(place, known, running, admin).into_iter();
        let scripts = |all: Vec<ScriptEntry>| all.iter().map(|entry| entry.script.0).collect();
        all.map(|u| (u.package.manifest().name.clone(), scripts(u.scripts))).collect()
    }

    #[test]
    fn scripts_of_the_sim_and_of_the_admin_run_what_the_folder_has() {
        let (admin, other) = ([1; 32], [2; 32]);
        let key = |seed| Some(SigningKey::from_seed(seed).public());
        let place = place(&[("lamp", "lamp", "2.0.0")]);
        let known = [
            has(id(1), "lamp", None),
            has(id(2), "lamp", key(admin)),
            has(id(3), "lamp", key(other)),
            has(id(4), "bell", None),
        ];
        let running = [runs(1, id(1)), runs(2, id(2)), runs(3, id(3)), runs(4, id(4))];
        assert_eq!(found(&place, &known, &running), [("lamp".to_owned(), vec![1, 2])]);
    }

    #[test]
    fn what_the_sim_has_needs_nothing_and_what_it_lacks_is_brought() {
        let place = place(&[("lamp", "lamp", "1.0.0")]);
        let package = place.packages().next().expect("its package").id();
        let there = [has(package, "lamp", None)];
        assert_eq!(found(&place, &there, &[runs(1, package)]), []);
        assert_eq!(found(&place, &[], &[]), [("lamp".to_owned(), vec![])]);
        let left = [PackageEntry { left: Some(Height(9)), ..has(package, "", None) }];
        assert_eq!(found(&place, &left, &[]), [("lamp".to_owned(), vec![])]);
    }

    #[test]
    fn of_two_packages_with_one_name_none_replaces_what_runs() {
        let place = place(&[("lamp", "lamp", "1.0.0"), ("lamp-2", "lamp", "2.0.0")]);
        let known: Vec<PackageEntry> =
            place.packages().map(|package| has(package.id(), "lamp", None)).collect();
        let known = [&known[..], &[has(id(1), "lamp", None)]].concat();
        assert_eq!(found(&place, &known, &[runs(1, id(1))]), []);
    }
}
