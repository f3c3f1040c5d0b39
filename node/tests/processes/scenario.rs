//! Stories are handed over to the program that plays them, if it is there.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::plaza::PROGRAM;

/// A folder beside the program, so that the program can be in it by another name.
struct Bin(PathBuf);

impl Bin {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("scenario-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&folder));
        fs::create_dir_all(&folder).expect("a new folder");
        Self(folder)
    }

    /// Lets a program of this system stand here for the one that plays.
    fn stand_in(&self, program: &str) {
        let found = ["/bin", "/usr/bin"].map(|folder| Path::new(folder).join(program));
        let found = found.iter().find(|path| path.is_file()).expect("every system has it");
        symlink(found, self.0.join("metatopia-simulator")).expect("our own folder");
    }
}

impl Drop for Bin {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Runs the program from `bin`, with nothing but `path` on PATH.
fn run(bin: &Bin, path: &Bin, words: &[&str]) -> Output {
    let program = bin.0.join("metatopia");
    if !program.exists() {
        fs::hard_link(PROGRAM, &program).expect("beside the program");
    }
    let mut command = Command::new(program);
    command.args(words).env("PATH", &path.0).output().expect("the program starts")
}

#[test]
fn stories_are_handed_over_with_their_words_output_and_exit_code() {
    let (bin, path) = (Bin::new("bin"), Bin::new("path"));
    path.stand_in("echo");
    let words = ["scenario", "run", "a.toml", "--seed", "7", "--json"];

    let told = run(&bin, &path, &words);

    assert_eq!(told.status.code(), Some(0), "{told:?}");
    let said = String::from_utf8_lossy(&told.stdout);
    assert_eq!(said.trim(), "scenario run --seed 7 --json -- a.toml");

    // The one beside comes first, and says that something did not hold.
    bin.stand_in("false");
    let told = run(&bin, &path, &words);
    assert_eq!(told.status.code(), Some(1), "{told:?}");
    assert!(told.stdout.is_empty() && told.stderr.is_empty(), "{told:?}");
}

#[test]
fn without_the_simulated_world_it_is_said_what_is_missing_and_how_to_build_it() {
    let (bin, path) = (Bin::new("lonely"), Bin::new("empty"));

    let told = run(&bin, &path, &["scenario", "check", "a.toml"]);

    assert_eq!(told.status.code(), Some(3), "{told:?}");
    let said = String::from_utf8_lossy(&told.stderr);
    let beside = bin.0.join("metatopia-simulator").display().to_string();
    for word in [&*beside, "PATH", "cargo build --release -p metatopia-simulator"] {
        assert!(said.contains(word), "`{said}` does not name {word}");
    }
}
