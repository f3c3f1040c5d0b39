//! `up --watch`: brings what changes in the packages and things of a place's folder into the running sim.

mod held;
mod looks;
mod retry;
mod things;

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    fmt,
    path::PathBuf,
    time::Duration,
};

use metatopia_client_driver::NodeUrl;
use metatopia_protocol::{PackageEntry, ScriptEntry};
use metatopia_scenarios::{KnownPackages, PLACE_FILE, Place};
use metatopia_scripting::Package;
use metatopia_types::{Height, PackageId, PublicKey, ScriptId, Sign as _, SimId};
use serde::Serialize;
use tokio::time::{Instant, MissedTickBehavior, interval};

use self::{
    held::HeldSave,
    looks::{FolderLooks, LOOK, stamps},
    retry::{Retries, is_passing, told},
    things::FollowedThings,
};
use crate::{
    cli::{
        console::Console,
        failure::Failure,
        place::folder::PlaceFolder,
        script::{
            deeds::AuthorSession,
            lines::shown,
            packages::{self, PublishablePackage},
        },
        session::{NodeArgs, PlayerArgs},
    },
    keys,
};

/// The time between two questions whether scripts still run what was brought.
const ASK: Duration = Duration::from_secs(3);

/// A folder that is watched, and the admin in whose name its packages and things are brought into the sim.
#[derive(Debug)]
pub(super) struct PlaceWatch {
    dir: PathBuf,
    admin: PlayerArgs,
    console: Console,
    /// The last failure that was told, which is not told again.
    told: Option<String>,
    /// The scripts that run what was brought. Their first event may be far off, and fail then.
    brought: BTreeMap<ScriptId, BroughtScript>,
    /// The scripts that failed with a package, which they are not given again.
    fallen: BTreeSet<(ScriptId, PackageId)>,
    /// The packages that were refused since the last save, which are not given again before the next one.
    refused: BTreeSet<PackageId>,
    things: FollowedThings,
    held: HeldSave,
}

/// A script that was given a package of the folder.
#[derive(Debug)]
struct BroughtScript {
    name: String,
    /// What it ran before. Where it was given several, one after the other, these are all but the last.
    before: BTreeSet<PackageId>,
    now: PackageId,
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
    /// Whether the sim lacks it.
    is_new: bool,
    /// The scripts that run an older package of its name.
    scripts: Vec<ScriptEntry>,
}

impl PlaceWatch {
    /// Returns a watch over a place's folder, for the sim at these nodes. The folder held `place` as `up` started, and
    /// `is_founded` says whether the sim was founded of that.
    pub(super) fn new(
        dir: PathBuf,
        (place, is_founded): (Place, bool),
        (sim, node): (SimId, Vec<NodeUrl>),
        key: PathBuf,
        console: Console,
    ) -> Self {
        let at = NodeArgs { node, sim: Some(sim) };
        let admin = PlayerArgs::of(at, key);
        let (brought, fallen, refused) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        let things = FollowedThings::new(place, is_founded, console);
        Self {
            dir,
            admin,
            console,
            told: None,
            brought,
            fallen,
            refused,
            things,
            held: HeldSave::default(),
        }
    }

    /// Watches without end. What is wrong in the folder is told, and waits for the next change.
    pub(super) async fn run(mut self) -> Infallible {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut done, mut retries) = (None, Retries::default());
        let mut asked = Instant::now();
        let mut folder = FolderLooks::new(asked);
        loop {
            looks.tick().await;
            if !self.brought.is_empty() && asked.elapsed() >= ASK {
                // A node that is gone for a moment is asked again.
                let _ = self.tell_fallen().await;
                asked = Instant::now();
            }
            let is_still = folder.look(stamps(&self.dir), Instant::now());
            let is_saved = done.as_ref() != Some(&folder.seen);
            if !is_still || !(is_saved || retries.is_due(Instant::now())) {
                continue;
            }
            let file = self.dir.join(PLACE_FILE);
            let is_file_saved = done.is_some_and(|done| done.get(&file) != folder.seen.get(&file));
            done = Some(folder.seen.clone());
            if is_saved {
                self.note_saved();
                retries = Retries::default();
            }
            match self.bring(is_file_saved).await {
                Ok(()) => retries = Retries::default(),
                Err(failure) => {
                    let wait = retries.note(&failure, Instant::now());
                    self.tell(&told(&failure, wait));
                }
            }
        }
    }

    /// Notes that somebody saved: what was refused is tried once more, and told again.
    fn note_saved(&mut self) {
        self.told = None;
        self.refused.clear();
        self.things.note_saved();
    }

    /// Tells what is not in the sim, unless it is the same as the last time.
    fn tell(&mut self, why: &str) {
        if self.told.as_deref() != Some(why) {
            let dir = self.dir.display();
            self.console.warn(&format!("warning: not all of {dir} is in the sim: {why}"));
            self.told = Some(why.to_owned());
        }
    }

    /// Brings every package of the folder into the sim that it lacks, lets scripts run them, and brings in what changed
    /// in the folder's things. What is refused is told. `is_file_saved` says that the place's file was saved just now.
    ///
    /// # Errors
    /// Fails when the folder cannot be read, no node answers, or a turn is not decided. What can be brought in is.
    async fn bring(&mut self, is_file_saved: bool) -> Result<(), Failure> {
        let place = match PlaceFolder::read(&self.dir)?.place() {
            Ok(place) => place,
            Err(mistakes) => {
                for mistake in mistakes {
                    self.console.warn(&shown(&mistake.to_string()));
                }
                return Ok(());
            }
        };
        let admin = keys::load(&self.admin.key)?.public();
        if let Some(question) = self.held.question(&place, &self.things.lost(&place), is_file_saved)
        {
            self.console.warn(&question);
            return Ok(());
        }
        let packages = self.bring_packages(&place, admin).await;
        // A package that is refused holds up no thing, but what runs it.
        self.things.follow(&place, (&self.admin, admin)).await?;
        packages
    }

    /// Brings every package of the folder into the sim that it lacks, and lets scripts run them. One that is refused is
    /// told, and waits for the next save.
    ///
    /// # Errors
    /// Fails when one of them is not brought in for a reason that passes. The others are.
    async fn bring_packages(&mut self, place: &Place, admin: PublicKey) -> Result<(), Failure> {
        let mut asking = self.admin.at.open_to_ask().await?;
        let known = packages::known(&mut asking).await;
        let running = packages::running(&mut asking).await;
        asking.leave().await;
        let (known, running) = (known?, running?);
        // What failed meanwhile is known before anything is given again.
        self.note_fallen(&running);
        let mut updates = updates(place, &known, &running, admin);
        for update in &mut updates {
            let id = update.package.id();
            update.scripts.retain(|entry| !self.fallen.contains(&(entry.script, id)));
        }
        updates.retain(|update| {
            let is_refused = self.refused.contains(&update.package.id());
            !is_refused && (update.is_new || !update.scripts.is_empty())
        });
        if updates.is_empty() {
            return Ok(());
        }
        let all = place.packages().map(|package| (package.id(), package.clone())).collect();
        let mut session = AuthorSession::begin(&self.admin, self.console).await?;
        let mut failed = None;
        for update in updates {
            let id = update.package.id();
            // A package that is refused does not hold up the others.
            match self.update(&mut session, update, &all).await {
                Err(failure) if is_passing(&failure) => failed = Some(failure),
                Err(failure) => {
                    self.refused.insert(id);
                    self.tell(&told(&failure, None));
                }
                Ok(()) => {}
            }
        }
        session.end().await;
        failed.map_or(Ok(()), Err)
    }

    /// Brings one package into the sim, and lets scripts run it.
    async fn update(
        &mut self,
        session: &mut AuthorSession,
        PackageUpdate { package, scripts, .. }: PackageUpdate<'_>,
        known: &KnownPackages,
    ) -> Result<(), Failure> {
        let publishable = PublishablePackage::new(&package.manifest().name, package, known)?;
        let mut height = session.publish(&publishable).await?;
        let upgraded = session.upgrade_all(&scripts, package.id()).await;
        // An `on_upgrade` that fails has done so by now.
        let running = packages::running(session.driver()).await;
        for script in &scripts {
            // Where one is refused, others run it all the same, and may fail later. The others are tried again.
            if upgraded.is_ok() || is_run(running.as_deref().unwrap_or_default(), script, package) {
                self.note_brought(script, package);
            }
        }
        height = upgraded?.or(height);
        let running = running?;
        self.note_fallen(&running);
        let holds = |entry: &ScriptEntry| !self.fallen.contains(&(entry.script, package.id()));
        let holding: Vec<ScriptEntry> = scripts.iter().filter(|e| holds(e)).cloned().collect();
        if holding.is_empty() && !scripts.is_empty() {
            return Ok(());
        }
        self.show(package, &holding, height)
    }

    /// Remembers that a script was given a package.
    fn note_brought(&mut self, script: &ScriptEntry, package: &Package) {
        let mut before = BTreeSet::from([script.package]);
        if let Some(last) = self.brought.remove(&script.script) {
            // That one may be on trial still, and then the script falls back to what it ran before it.
            before.extend(last.before);
        }
        before.remove(&package.id());
        let name = package.manifest().name.clone();
        self.brought.insert(script.script, BroughtScript { name, before, now: package.id() });
    }

    /// Asks what runs, and tells what failed.
    ///
    /// # Errors
    /// Fails when no node answers.
    async fn tell_fallen(&mut self) -> Result<(), Failure> {
        let mut asking = self.admin.at.open_to_ask().await?;
        let running = packages::running(&mut asking).await;
        asking.leave().await;
        self.note_fallen(&running?);
        Ok(())
    }

    /// Tells which scripts run again what they ran before, because their new source failed.
    fn note_fallen(&mut self, running: &[ScriptEntry]) {
        let running: BTreeMap<ScriptId, PackageId> =
            running.iter().map(|entry| (entry.script, entry.package)).collect();
        for (script, BroughtScript { name, before, now }) in core::mem::take(&mut self.brought) {
            match running.get(&script) {
                Some(package) if *package == now => {
                    self.brought.insert(script, BroughtScript { name, before, now });
                }
                Some(package) if before.contains(package) => {
                    self.fallen.insert((script, now));
                    self.console.warn(&format!(
                        "script {script} failed with the new {name}, and runs what it ran before: \
                         `metatopia script logs {script}` tells why"
                    ));
                }
                // Somebody took it off its thing, or gave it another package.
                _ => {}
            }
        }
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

/// Says whether a script runs a package, as the sim says.
fn is_run(running: &[ScriptEntry], script: &ScriptEntry, package: &Package) -> bool {
    running.iter().any(|entry| entry.script == script.script && entry.package == package.id())
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
        let is = |entry: &PackageEntry| entry.package == package.id() && entry.left.is_none();
        let is_new = !known.iter().any(is);
        PackageUpdate { package, is_new, scripts: scripts.cloned().collect() }
    };
    let all = place.packages().map(update);
    all.filter(|update| update.is_new || !update.scripts.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use metatopia_scenarios::{PLACE_FILE, parse_folder};
    use metatopia_types::{Digest, SigningKey};

    use super::*;

    /// Returns a place whose packages have these folders and names.
    fn place(packages: &[(&str, &str, &str)]) -> Place {
        let text = "name = \"yard\"\nlicence = \"AGPL-3.0-or-later\"\n\
                    asset_licence = \"CC-BY-SA-4.0\"\nspawn = [0, 0]\nspawn_radius = 3\n";
        let mut files = BTreeMap::from([(PLACE_FILE.to_owned(), text.to_owned())]);
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
            authors: "Ada".into(),
            publisher,
            height: Height(1),
            bytes: 1,
            scripts: 1,
            left: None,
        }
    }

    fn runs(script: u64, package: PackageId) -> ScriptEntry {
        packages::runs(script, "post", package)
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

    /// Two saves in a row that both failed went untold: the sim puts back what ran before both.
    #[test]
    fn a_script_that_falls_back_behind_two_packages_is_told_and_not_given_the_last_again() {
        let sim = (SimId(Digest::ZERO), Vec::new());
        let yard = (place(&[]), true);
        let mut watch = PlaceWatch::new("yard".into(), yard, sim, "key".into(), Console::quiet());
        let [second, third] = ["2.0.0", "3.0.0"].map(|version| {
            let place = place(&[("lamp", "lamp", version)]);
            place.packages().next().expect("its package").clone()
        });
        watch.note_brought(&runs(1, id(1)), &second);
        watch.note_brought(&runs(1, second.id()), &third);
        watch.note_fallen(&[runs(1, third.id())]);
        assert!(watch.fallen.is_empty(), "it is on trial");

        watch.note_fallen(&[runs(1, id(1))]);
        assert_eq!(watch.fallen, BTreeSet::from([(ScriptId(1), third.id())]));
        assert!(watch.brought.is_empty());
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
