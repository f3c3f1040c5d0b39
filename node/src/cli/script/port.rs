//! `script port` writes a script as Rust, `script ports` lists the ports of this program, and
//! `script port-check` plays one beside its source.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use clap::Args;
use metatopia_audit::{SimStart, verify::verify_log};
use metatopia_scripting::{
    LinkedPackage, PACKAGE_FILE, Package, Port, PortError, ports, write_port,
};
use metatopia_types::PackageId;
use serde::Serialize;

use super::{
    check::{self, ImportArgs},
    comparison::{PortCheckObserver, PortComparison},
    packages::{DIGITS_MIN, ScriptFolder},
};
use crate::{
    cli::{
        console::Console,
        exit::Exit,
        failure::Failure,
        genesis_file::read_genesis,
        log::{NEWER_PROGRAM, identified},
        sources::{only_directory, pool},
        up::world::GENESIS,
    },
    first_state::first_state,
};

#[derive(Debug, Args)]
pub(in crate::cli) struct ScriptPortArgs {
    /// The folder of a package, or its entry file.
    path: PathBuf,
    #[command(flatten)]
    imports: ImportArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ScriptPortCheckArgs {
    /// The package whose port is checked: its id, or the first digits.
    #[arg(value_name = "HASH")]
    package: String,
    /// The data directory of a server, whose turns are applied again.
    #[arg(long, value_name = "DIR")]
    log: PathBuf,
    /// The sim's genesis [default: the file `genesis` in the data directory].
    #[arg(long, value_name = "FILE")]
    genesis: Option<PathBuf>,
}

/// Writes the port of a package to standard output.
pub(super) fn write(args: &ScriptPortArgs, console: Console) -> Result<(), Failure> {
    let (folder, package) = read_package(args, console)?;
    let port = port_of(&folder, &package)?;
    if console.is_json() {
        return console.json(&WrittenPort { package: package.id().to_string(), port: &port });
    }
    console.line(port.trim_end_matches('\n'))
}

/// A port that was written, for programs.
#[derive(Debug, Serialize)]
struct WrittenPort<'a> {
    package: String,
    port: &'a str,
}

/// Returns the port of the package of a folder, with all that it imports.
fn port_of(folder: &ScriptFolder, package: &Package) -> Result<String, Failure> {
    let linked = LinkedPackage::new(package, &|id| folder.known().get(id));
    let linked = linked.map_err(|error| Failure::failed(format!("{}: {error}", folder.name())))?;
    write_port(&linked).map_err(|error| match error {
        PortError::Compile(error) => Failure::failed(error.to_string()),
        other => Failure::failed(format!("{}: {other}", folder.name())),
    })
}

/// Reads a package from its folder. The entry file stands for the folder that it lies in: a port names its
/// package, whose id is that of all files.
fn read_package(
    args: &ScriptPortArgs,
    console: Console,
) -> Result<(ScriptFolder, Package), Failure> {
    let path = args.path.as_path();
    if path.is_dir() {
        let folder = args.imports.folder(path)?;
        let package = folder.checked(console)?;
        return Ok((folder, package));
    }
    let name = path.display().to_string();
    // The source is judged with its folder, which knows what it imports.
    check::read(path)?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.join(PACKAGE_FILE).is_file() {
        let words = format!("there is no {PACKAGE_FILE} beside {name}");
        return Err(Failure::not_found(words)
            .hint("a port names the package that it replaces: write one with `script new`"));
    }
    let folder = args.imports.folder(folder)?;
    let package = folder.checked(console)?;
    if path.file_name().is_some_and(|file| *file != *package.manifest().entry) {
        let entry = &package.manifest().entry;
        let words = format!("{name} is not the entry of its package, which is {entry}");
        return Err(Failure::usage(words));
    }
    Ok((folder, package))
}

/// A port of this program.
#[derive(Debug, Serialize)]
struct KnownPortLine {
    package: String,
    port: String,
    title: String,
}

impl fmt::Display for KnownPortLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "package {}\nport    {}\n{}", self.package, self.port, self.title)
    }
}

/// Lists the ports of this program.
pub(super) fn list(console: Console) -> Result<(), Failure> {
    for port in ports() {
        let Port { package, digest, source, .. } = port;
        let first = source.lines().next().unwrap_or_default();
        let title = first.trim_start_matches("//! ").to_owned();
        console.show(&KnownPortLine {
            package: package.to_string(),
            port: digest.to_string(),
            title,
        })?;
    }
    Ok(())
}

/// The result of a check of a port.
#[derive(Debug, Serialize)]
struct CheckedPortLine {
    package: String,
    port: String,
    log: String,
    ok: bool,
    turns: u64,
    events: u64,
    difference: Option<String>,
}

impl fmt::Display for CheckedPortLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { log, turns, events, .. } = self;
        write!(f, "{log}: {turns} turns, {events} events of the package compared")?;
        match &self.difference {
            None => write!(f, ": the port does what the source does"),
            Some(difference) => write!(f, "\nDIFFERS: {difference}"),
        }
    }
}

/// Applies the turns of a log again, with the source and with the port, and compares each event.
pub(super) fn check(args: &ScriptPortCheckArgs, console: Console) -> Result<(), Failure> {
    compare(&named(&args.package, ports())?, args, console)
}

fn compare(port: &Port, args: &ScriptPortCheckArgs, console: Console) -> Result<(), Failure> {
    let dir = only_directory(&args.log)?;
    let path = args.genesis.clone().unwrap_or_else(|| dir.join(GENESIS));
    let (disk, identity) = identified(&dir)?;
    let (comparison, tools) = PortComparison::new(port);
    let genesis = read_genesis(&path)?;
    let first_state = first_state(&genesis, &path, &tools).map_err(|error| error.to_string());
    let start = SimStart { genesis, first_state };
    let mut observer = PortCheckObserver { comparison, turns: 0 };
    let checked = verify_log(&disk, identity, &start, &pool()?, &mut observer)?;
    let PortCheckObserver { comparison, turns } = observer;
    let (log, first) = (dir.display().to_string(), comparison.first());
    if let (None, Some(fault)) = (&first, checked.fault) {
        let failure = Failure::unverified(format!("{log}: {fault}"));
        return Err(match fault.kind.missing_port() {
            Some(_) => Failure { exit: Exit::OtherEngine, ..failure }.hint(NEWER_PROGRAM),
            None => failure,
        });
    }
    let events = comparison.events();
    if events == 0 {
        let words = format!("{log} has no event of a script of package {}", port.package);
        return Err(Failure::not_found(words).hint("use the log of a sim where it runs"));
    }
    console.show(&CheckedPortLine {
        package: port.package.to_string(),
        port: port.digest.to_string(),
        log,
        ok: first.is_none(),
        turns,
        events,
        difference: first.as_ref().map(ToString::to_string),
    })?;
    match first {
        None => Ok(()),
        Some(first) => {
            let words = format!("the port differs from its source in turn {}", first.height);
            Err(Failure::new(Exit::Diverged, words))
        }
    }
}

/// Returns the port of the package of this id, or whose id begins so.
fn named(name: &str, known: Vec<Port>) -> Result<Port, Failure> {
    let name = name.to_ascii_lowercase();
    let is_id = name.parse::<PackageId>().is_ok();
    let digits = name.len() >= DIGITS_MIN && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_id && !digits {
        return Err(Failure::usage(format!("{name:?} is no id of a package"))
            .hint("`metatopia script ports` prints those of which this program has ports"));
    }
    let mut found = known.into_iter().filter(|port| port.package.to_string().starts_with(&name));
    match (found.next(), found.next()) {
        (Some(port), None) => Ok(port),
        (None, _) => {
            let words = format!("this program has no port of package {name}");
            Err(Failure::not_found(words).hint("`metatopia script ports` lists them"))
        }
        (Some(_), Some(_)) => Err(Failure::usage(format!("several packages begin with {name}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use metatopia_audit::fixture::{honest_records, steps};
    use metatopia_scenarios::ExamplePackage;
    use metatopia_scripting::{Call, EventKind, Handler, ScriptError, ScriptOutput};

    use super::{super::packages, *};
    use crate::{cli::fixture::FixtureDirectory, scratch::Scratch};

    #[test]
    fn a_port_of_a_package_with_imports_names_their_files_and_licences() {
        let scratch = Scratch::made("port-imports");
        let race = ExamplePackage::named("race").expect("an example");
        let dir = scratch.0.join("race");
        packages::write(&dir, &race.package(), &race.imports()).expect("a new folder");
        let folder = ScriptFolder::read(&dir).expect("a folder");
        let port = port_of(&folder, &race.package()).expect("it has a port");
        let scores = race.imports()[0].id().to_string();
        let file = format!("        (0, \"scores@{}/scores.rhai\"),\n", &scores[..8]);
        assert!(port.contains(&file), "{port}");
        assert!(port.contains(&format!("    package: \"{}\",\n", race.package().id())), "{port}");
        assert!(port.contains("//! It imports `scores` 1.0.0.\n//!\n//! LGPL-3.0-or-later\n"));
    }

    #[test]
    fn a_port_is_named_by_the_first_digits_of_its_package() {
        let known = ports();
        let whole = known[0].package.to_string();
        for name in [&whole[..8], &whole.to_ascii_uppercase()[..], &whole[..]] {
            assert_eq!(named(name, ports()).expect("it is there").package, known[0].package);
        }
        assert_eq!(named("greeter", ports()).expect_err("no id").exit, Exit::Usage);
        assert_eq!(named("00000000", ports()).expect_err("no port").exit, Exit::NotFound);
    }

    /// A port that forgets to do anything.
    struct IdlePort(Arc<dyn Handler>);

    impl Handler for IdlePort {
        fn package(&self) -> PackageId {
            self.0.package()
        }

        fn handles(&self, kind: EventKind) -> bool {
            self.0.handles(kind)
        }

        fn call(&self, _: &Call<'_>) -> Result<ScriptOutput, ScriptError> {
            Ok(ScriptOutput::default())
        }
    }

    #[test]
    fn the_events_of_a_log_show_whether_a_port_does_what_its_source_does() {
        let kept = FixtureDirectory::write("port-check", &honest_records(&steps()));
        let port = ports().remove(0);
        let package = port.package.to_string();
        let args = ScriptPortCheckArgs { package, log: kept.dir.clone(), genesis: None };
        check(&args, Console::quiet()).expect("the port is written from its source");
        let idle = Port { handler: Arc::new(IdlePort(Arc::clone(&port.handler))), ..port.clone() };
        let failure = compare(&idle, &args, Console::quiet()).expect_err("it does nothing");
        assert_eq!(failure.exit, Exit::Diverged, "{failure}");
        assert!(failure.message.contains("in turn 1"), "{failure}");
        // Of a package that the sim does not have there is nothing to compare.
        let other = PackageId(metatopia_types::Digest([1; 32]));
        let absent = Port { package: other, ..port };
        let failure = compare(&absent, &args, Console::quiet()).expect_err("no such package");
        assert_eq!(failure.exit, Exit::NotFound, "{failure}");
    }
}
