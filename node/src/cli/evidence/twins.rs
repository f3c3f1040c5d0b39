//! Two headers of one height that a neighbour certified: listed, written and verified.

use std::path::Path;

use metatopia_audit::evidence::{TwinFile, TwinLine, search_twins};
use metatopia_types::SimId;

use super::{EvidenceVerifyArgs, ListArgs, write_new};
use crate::cli::{console::Console, failure::Failure, sources::open_directory};

/// Tells the two headers of each border that is closed for good, and writes them if that is wanted.
///
/// # Errors
/// When the log cannot be read or the file not be written, or a border has its headers there no longer.
pub(super) fn list(
    args: &ListArgs,
    (dir, sim): (&Path, SimId),
    console: Console,
) -> Result<(), Failure> {
    let disk = open_directory(dir)?;
    // The first search told already which snapshots it passed over.
    let found = search_twins(&disk, sim, &mut |_| ())
        .map_err(|error| Failure::unverified(format!("{}: {error}", dir.display())))?;
    for twins in &found.twins {
        console.show(&TwinLine::of_own(twins))?;
    }
    if found.twins.is_empty() && found.lost.is_empty() {
        console.note("no neighbour certified two headers of one height");
    }
    if let Some(out) = &args.headers {
        let bytes = (!found.twins.is_empty()).then(|| TwinFile { twins: found.twins }.encode());
        write_new(out, bytes, console)?;
    }
    let Some((first, others)) = found.lost.split_first() else {
        return Ok(());
    };
    others.iter().for_each(|lost| console.warn(&lost.to_string()));
    Err(Failure::unverified(format!("{}: {first}", dir.display())))
}

/// Verifies a file of two headers by itself.
///
/// # Errors
/// When it is about another sim, is empty, or anything in it does not hold.
pub(super) fn verify(
    args: &EvidenceVerifyArgs,
    bytes: &[u8],
    console: Console,
) -> Result<(), Failure> {
    let name = args.file.display();
    let file =
        TwinFile::decode(bytes).map_err(|error| Failure::unverified(format!("{name}: {error}")))?;
    let mut wrong = None;
    for twins in &file.twins {
        let sim = twins.sim;
        if let Some(wanted) = args.sim.filter(|wanted| *wanted != sim) {
            let message = format!("{name} is about sim {sim}, not {wanted}");
            return Err(Failure::unverified(message));
        }
        let checked = twins.check(&args.validators);
        if let Err(error) = &checked {
            wrong.get_or_insert(*error);
        }
        console.show(&TwinLine::of(twins, checked))?;
    }
    match wrong {
        Some(error) => Err(Failure::unverified(format!("{name}: {error}"))),
        None if file.twins.is_empty() => {
            Err(Failure::unverified(format!("{name} holds no two headers")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use metatopia_audit::fixture::ForkedBorder;

    use super::super::{list, verify};
    use super::*;
    use crate::cli::{exit::Exit, fixture::FixtureDirectory};

    fn arguments(dir: PathBuf, headers: Option<PathBuf>) -> ListArgs {
        ListArgs { dir, genesis: None, out: None, headers }
    }

    #[test]
    fn two_headers_of_a_neighbour_are_written_and_verified_alone() {
        let border = ForkedBorder::play();
        let kept = FixtureDirectory::of(&border.genesis, "two-headers", &border.records(0));
        let path = kept.dir.join("garden.evidence");
        list(&arguments(kept.dir.clone(), Some(path.clone())), Console::quiet()).unwrap();
        let file = fs::read(&path).unwrap();
        let verified = |bytes: &[u8], sim| {
            fs::write(&path, bytes).unwrap();
            let args = EvidenceVerifyArgs { file: path.clone(), sim, validators: Vec::new() };
            verify(&args, Console::quiet()).map_err(|failure| {
                assert_eq!(failure.exit, Exit::Unverified);
                failure.message
            })
        };
        assert_eq!(verified(&file, Some(border.neighbour.id())), Ok(()));
        let told = verified(&file, Some(border.genesis.id())).unwrap_err();
        assert!(told.contains("is about sim"), "{told}");
        let mut bent = file.clone();
        *bent.last_mut().unwrap() ^= 1;
        let told = verified(&bent, None).unwrap_err();
        assert!(told.contains("a header is not certified"), "{told}");
        let told = verified(&file[..file.len() - 1], None).unwrap_err();
        assert!(told.contains("no file of two headers"), "{told}");
        let told = verified(&TwinFile { twins: Vec::new() }.encode(), None).unwrap_err();
        assert!(told.ends_with("holds no two headers"), "{told}");
    }

    #[test]
    fn where_no_neighbour_certified_two_headers_no_file_of_them_is_written() {
        let border = ForkedBorder::play();
        let records = border.records(0);
        let honest = &records[..records.len() - 8];
        let kept = FixtureDirectory::of(&border.genesis, "one-header", honest);
        let out = kept.dir.join("garden.evidence");
        list(&arguments(kept.dir.clone(), Some(out.clone())), Console::quiet()).unwrap();
        assert!(!out.exists());
    }
}
