//! Packs the source that this program is built from, for `/source.tar.gz`: whoever runs the program has
//! to be able to offer exactly that.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use flate2::{Compression, write::GzEncoder};

/// In an archive: which commit it is of, and the names of its files. A build of what was unpacked reads
/// it, for there is no git there to ask.
const CONTENTS: &str = "SOURCE";

/// What the first lines of [`CONTENTS`] begin with; names of files follow.
const COMMIT: &str = "commit ";

/// Large, and no part of the program: pictures for documents.
const LEFT_OUT: &str = "docs/images/";

/// Ends of names of sources. Where git does not say what belongs to the source, nothing else is packed:
/// keys that somebody has made beside it are nobody's business.
const ENDINGS: [&str; 21] = [
    "c",
    "css",
    "hex",
    "html",
    "ico",
    "js",
    "json",
    "lock",
    "log",
    "md",
    "mjs",
    "png",
    "proto",
    "rhai",
    "rs",
    "sh",
    "svg",
    "toml",
    "txt",
    "wasm",
    "webmanifest",
];

/// Files of the source whose names have no end.
const UNENDED: [&str; 20] = [
    ".ci/aarch64",
    ".ci/advisories",
    ".ci/browser",
    ".ci/digests",
    ".ci/module",
    ".ci/mutants",
    ".ci/mutants-equal.txt",
    ".ci/network",
    ".ci/pace",
    ".ci/profile",
    ".ci/run",
    ".ci/test-runner",
    ".ci/wasm",
    ".ci/wasm-toolchain",
    ".ci/words",
    ".gitignore",
    "LICENSE",
    "tests/browser/.npmrc",
    "tests/fuzz/.gitignore",
    "tests/fuzz/run",
];

/// Folders in which nothing is source.
const FOREIGN: [&str; 3] = ["target", "node_modules", ".git"];

/// When every file of an archive was changed, so that the same files are the same bytes: the first
/// second of 2020.
const CHANGED: u64 = 1_577_836_800;

/// The commit that an unpacked archive is of.
pub(crate) fn carried_commit(root: &Path) -> Option<String> {
    let contents = fs::read_to_string(root.join(CONTENTS)).ok()?;
    let commit = contents.lines().find_map(|line| line.strip_prefix(COMMIT))?;
    Some(commit.to_owned())
}

/// Writes the archive to `out`. A build without one still works, and says so.
pub(crate) fn pack(root: &Path, out: &Path, commit: &str, sources: &[&str]) {
    let packed = files(root, sources).and_then(|files| write(root, &files, commit));
    let bytes = packed.unwrap_or_else(|error| {
        println!("cargo::warning=this program cannot offer its source: {error}");
        Vec::new()
    });
    fs::write(out, bytes).expect("cargo made the folder");
}

/// The files of the source, by name: those that git knows, with new ones among the sources; else those
/// that the archive brought, and all that look like source, for somebody may have added some.
fn files(root: &Path, sources: &[&str]) -> io::Result<BTreeSet<String>> {
    let found = match of_git(root, sources) {
        Some(found) => found,
        None => {
            let contents = fs::read_to_string(root.join(CONTENTS)).unwrap_or_default();
            let names = contents.lines().filter(|line| !line.is_empty() && !line.contains(' '));
            let mut found: BTreeSet<String> = names.map(str::to_owned).collect();
            walk(root, Path::new(""), &mut found)?;
            found
        }
    };
    let wanted = |name: &String| {
        // What was removed since is no part of this build.
        !name.starts_with(LEFT_OUT) && name != CONTENTS && root.join(name).is_file()
    };
    Ok(found.into_iter().filter(wanted).collect())
}

fn of_git(root: &Path, sources: &[&str]) -> Option<BTreeSet<String>> {
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    if Path::new(top.trim()).canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    let tracked = git(root, &["ls-files", "-z", "--cached"])?;
    let mut others = vec!["ls-files", "-z", "--others", "--exclude-standard", "--"];
    others.extend(sources);
    let new = git(root, &others)?;
    let new = new.split('\0').filter(|name| is_source(name));
    let all = tracked.split('\0').chain(new).filter(|name| !name.is_empty());
    Some(all.map(str::to_owned).collect())
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("--no-optional-locks").args(arguments).current_dir(root);
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

fn is_source(name: &str) -> bool {
    let end = Path::new(name).extension().and_then(|end| end.to_str()).unwrap_or_default();
    ENDINGS.contains(&end) || UNENDED.contains(&name)
}

fn walk(root: &Path, folder: &Path, found: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let Ok(own) = entry.file_name().into_string() else {
            continue;
        };
        let path = folder.join(&own);
        let kind = entry.file_type()?;
        if kind.is_dir() && !FOREIGN.contains(&own.as_str()) {
            walk(root, &path, found)?;
        } else if kind.is_file() {
            let name = path.to_string_lossy().into_owned();
            if is_source(&name) {
                found.insert(name);
            }
        }
    }
    Ok(())
}

/// The archive: a folder with the files, and with what it holds.
fn write(root: &Path, files: &BTreeSet<String>, commit: &str) -> io::Result<Vec<u8>> {
    let folder = PathBuf::from(format!("metatopia-{}", commit.get(..12).unwrap_or(commit)));
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    let mut add = |name: &str, bytes: &[u8], runs: bool| {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(if runs { 0o755 } else { 0o644 });
        header.set_mtime(CHANGED);
        header.set_cksum();
        archive.append_data(&mut header, folder.join(name), bytes)
    };
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let contents = format!(
        "The source of metatopia. To build it: cargo build --release\n\n{COMMIT}{commit}\n\n{}\n",
        names.join("\n")
    );
    add(CONTENTS, contents.as_bytes(), false)?;
    for name in files {
        let path = root.join(name);
        add(name, &fs::read(&path)?, runs(&path)?)?;
    }
    archive.into_inner()?.finish()
}

#[cfg(unix)]
fn runs(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::metadata(path)?.permissions().mode() & 0o100 != 0)
}

#[cfg(not(unix))]
fn runs(path: &Path) -> io::Result<bool> {
    // Scripts say in their first bytes who runs them.
    Ok(fs::read(path)?.starts_with(b"#!"))
}
