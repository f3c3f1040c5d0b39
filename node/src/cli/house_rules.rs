//! House rules: what a sim asks people to agree to before they enter.
//!
//! Agreeing is between people. It is kept on this machine alone, for each key, and asked for again when a sim has
//! other words.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    path::PathBuf,
};

use metatopia_client::text::printable;
use metatopia_sim::Introduction;
use metatopia_types::{Digest, PublicKey};

use super::{console::Console, failure::Failure};

/// The file with the digests of the house rules that were agreed to, each on a line with the key of who did.
const AGREED: &str = "agreed";

/// The most bytes of that file that are read: some 8,000 lines.
const AGREED_BYTES_MAX: u64 = 1 << 20;

/// Makes sure that somebody has agreed to the house rules of a sim, if it has any.
///
/// # Errors
/// Fails when somebody does not agree, or cannot be asked.
pub(super) fn agree(
    introduction: &Introduction,
    person: &PublicKey,
    accepts: bool,
    console: Console,
) -> Result<(), Failure> {
    let Some(digest) = introduction.house_rules_digest() else { return Ok(()) };
    let file = agreed_file(|name| env::var_os(name));
    if file.as_ref().is_some_and(|file| is_listed(file, digest, person)) {
        return Ok(());
    }
    let lines: Vec<String> = introduction.house_rules.lines().map(printable).collect();
    // Also where notes are not shown: nobody agrees to words that were not there.
    console.warn(&format!("The house rules:\n\n{}\n", lines.join("\n")));
    let is_asked = !accepts && !console.is_json() && io::stdin().is_terminal();
    if !accepts && !is_asked {
        return Err(Failure::refused("nobody has agreed to the house rules of the sim")
            .hint("read them above, and add --accept-rules"));
    }
    if is_asked && !says_yes(&mut io::stdin().lock()) {
        return Err(Failure::refused("you have not agreed to the house rules of the sim"));
    }
    if let Some(file) = file
        && let Err(error) = list(&file, digest, person)
    {
        console.warn(&format!("{}: {error}: you will be asked again", file.display()));
    }
    Ok(())
}

/// Says whether the person of this key has agreed on this machine to house rules of this digest.
pub(super) fn is_agreed(digest: Digest, person: &PublicKey) -> bool {
    agreed_file(|name| env::var_os(name)).is_some_and(|file| is_listed(&file, digest, person))
}

/// Keeps on this machine that the person of this key has agreed to house rules of this digest.
///
/// # Errors
/// When the disk fails.
pub(super) fn keep(digest: Digest, person: &PublicKey) -> io::Result<()> {
    agreed_file(|name| env::var_os(name)).map_or(Ok(()), |file| list(&file, digest, person))
}

/// Asks on the terminal, and returns whether the answer is yes.
fn says_yes(input: &mut dyn io::BufRead) -> bool {
    // If the question cannot be shown, the answer will be no.
    let _ = write!(io::stderr(), "Type `yes` if you agree: ");
    let mut answer = String::new();
    input.read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("yes")
}

/// Returns where the digests are kept, if this user has a home.
fn agreed_file(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("metatopia").join(AGREED))
}

fn is_listed(file: &PathBuf, digest: Digest, person: &PublicKey) -> bool {
    let Ok(file) = fs::File::open(file) else { return false };
    let limited = io::Read::take(file, AGREED_BYTES_MAX);
    let wanted = format!("{digest} {person}");
    io::BufReader::new(limited).lines().map_while(Result::ok).any(|line| line == wanted)
}

fn list(file: &PathBuf, digest: Digest, person: &PublicKey) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    writeln!(fs::OpenOptions::new().create(true).append(true).open(file)?, "{digest} {person}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn only_yes_agrees() {
        for (answer, agrees) in [("yes\n", true), (" YES ", true), ("y\n", false), ("", false)] {
            assert_eq!(says_yes(&mut answer.as_bytes()), agrees, "{answer:?}");
        }
    }

    /// One key's agreement let every key of the machine in unasked.
    #[test]
    fn words_that_a_key_agreed_to_are_remembered_of_it_and_others_are_not() {
        let home = Scratch::new("agreed");
        let file = agreed_file(|name| (name == "HOME").then(|| home.0.clone().into_os_string()));
        let file = file.expect("a home");
        let (one, other) = (Digest([1; 32]), Digest([2; 32]));
        let [ada, bob] = [PublicKey([3; 32]), PublicKey([4; 32])];
        assert!(!is_listed(&file, one, &ada));
        list(&file, one, &ada).expect("a folder of ours");
        assert!(is_listed(&file, one, &ada) && !is_listed(&file, other, &ada));
        assert!(!is_listed(&file, one, &bob));
        list(&file, other, &ada).expect("a folder of ours");
        assert!(is_listed(&file, one, &ada) && is_listed(&file, other, &ada));
        assert_eq!(agreed_file(|_| None), None);
    }
}
