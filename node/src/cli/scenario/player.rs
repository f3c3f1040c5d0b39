//! The program that plays stories. It is found, or built from the source that this one was built
//! from.

use std::{
    env,
    env::consts::EXE_SUFFIX,
    path::{Path, PathBuf},
    process,
};

use crate::cli::{console::Console, failure::Failure};

/// The name of the simulator, as a program and as a package.
pub(super) const NAME: &str = "metatopia-simulator";

/// The workspace that this program was built from, if it is still there.
const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The file that cargo puts into every folder that it builds into.
const TARGET_MARK: &str = "CACHEDIR.TAG";

/// A call of cargo that builds the simulator beside a program that cargo has built.
#[derive(Debug, PartialEq, Eq)]
struct CargoBuild {
    workspace: PathBuf,
    target: PathBuf,
    profile: String,
}

impl CargoBuild {
    /// Returns the build for a program, or `None` if the program was taken elsewhere or its source
    /// is gone: another source could play by other rules.
    fn of(program: &Path, workspace: &Path) -> Option<Self> {
        let folder = program.parent()?;
        let target = folder.parent()?;
        let is_source = workspace.join("scenarios/simulator/Cargo.toml").is_file();
        if !target.join(TARGET_MARK).is_file() || !is_source {
            return None;
        }
        let profile = match folder.file_name()?.to_str()? {
            "debug" => "dev",
            other => other,
        };
        let workspace = workspace.canonicalize().ok()?;
        Some(Self { workspace, target: target.to_owned(), profile: profile.to_owned() })
    }

    fn run(&self, console: Console) -> Result<(), Failure> {
        let Self { workspace, target, profile } = self;
        console.note(&format!(
            "stories are played by a program of its own, {NAME}: building it from the source in \
             {}, once; this takes a few minutes",
            workspace.display()
        ));
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = process::Command::new(cargo);
        command.current_dir(workspace).args(["build", "--locked", "--package", NAME]);
        command.args(["--profile", profile, "--target-dir"]).arg(target);
        if console.is_json() {
            command.arg("--quiet");
        }
        let built = command.status().map_err(|error| unbuilt(&error.to_string()))?;
        if built.success() { Ok(()) } else { Err(unbuilt(&built.to_string())) }
    }
}

fn unbuilt(why: &str) -> Failure {
    Failure::failed(format!("{NAME}, which plays stories, cannot be built: cargo: {why}"))
        .hint("`cargo build --release -p metatopia-simulator` in the source builds it")
}

/// Returns the simulator beside this program, or else the first one on `PATH`, or else one that is
/// built now.
///
/// # Errors
/// Fails when there is none and none can be built.
pub(super) fn found_or_built(console: Console) -> Result<PathBuf, Failure> {
    let name = format!("{NAME}{EXE_SUFFIX}");
    let own = env::current_exe().ok();
    let beside = own.as_deref().and_then(Path::parent).map(|folder| folder.join(&name));
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).map(|folder| folder.join(&name));
    let found = beside.iter().cloned().chain(on_path).find(|program| program.is_file());
    if let Some(found) = found {
        return Ok(found);
    }
    let build = own.as_deref().and_then(|own| CargoBuild::of(own, Path::new(WORKSPACE)));
    if let (Some(build), Some(beside)) = (build, &beside) {
        build.run(console)?;
        return Ok(beside.clone());
    }
    let place = beside.map_or(name, |program| program.display().to_string());
    Err(Failure::not_found(format!(
        "stories are played by a program of its own, {NAME}, which is neither {place} nor on PATH"
    ))
    .hint("build it with `cargo build --release -p metatopia-simulator`"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn it_is_built_beside_a_program_that_cargo_put_there_and_nowhere_else() {
        let folder = env::temp_dir().join(format!("metatopia-player-{}", process::id()));
        let target = folder.join("target");
        fs::create_dir_all(&target).unwrap();
        let workspace = Path::new(WORKSPACE);
        let installed = CargoBuild::of(&target.join("release/metatopia"), workspace);
        fs::write(target.join(TARGET_MARK), "").unwrap();

        let profile = |of: &str| {
            let build = CargoBuild::of(&target.join(of).join("metatopia"), workspace).unwrap();
            assert_eq!(build.target, target);
            build.profile
        };

        assert_eq!(installed, None);
        assert_eq!(["debug", "release", "dist"].map(profile), ["dev", "release", "dist"]);
        assert_eq!(
            CargoBuild::of(&target.join("debug/metatopia"), &folder),
            None,
            "no source there"
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
