use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use super::*;
use crate::scratch::Scratch;

const NEW: &[u8] = b"what comes after";

/// The bytes of a file: as they were written, and as far as a power cut spares them.
#[derive(Clone, Default)]
struct Bytes {
    written: Vec<u8>,
    atomic_file: Vec<u8>,
}

type Names = BTreeMap<PathBuf, usize>;

/// A folder on a disk that keeps only what it was told to keep. After each step it looks at
/// everything that a power cut could leave.
struct Medium {
    files: Rc<RefCell<Vec<Bytes>>>,
    names: Names,
    atomic_file: Names,
    path: PathBuf,
    old: Option<Vec<u8>>,
}

/// A handle of an open file.
struct Handle(Rc<RefCell<Vec<Bytes>>>, usize);

impl Write for Handle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut()[self.1].written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Medium {
    fn with(path: &Path, old: Option<&[u8]>) -> Self {
        let file = old.map(|old| Bytes { written: old.to_vec(), atomic_file: old.to_vec() });
        let names: Names = file.iter().map(|_| (path.to_owned(), 0)).collect();
        Self {
            files: Rc::new(RefCell::new(file.into_iter().collect())),
            atomic_file: names.clone(),
            names,
            path: path.to_owned(),
            old: old.map(<[u8]>::to_vec),
        }
    }

    /// Returns what the file may be after a power cut. Names and bytes may or may not be on the
    /// disk.
    fn outcomes(&self) -> Vec<Option<Vec<u8>>> {
        let files = self.files.borrow();
        let found = [&self.names, &self.atomic_file].map(|names| names.get(&self.path));
        let bytes = |file: &usize| [files[*file].written.clone(), files[*file].atomic_file.clone()];
        found
            .into_iter()
            .flat_map(|file| file.map_or(vec![None], |file| bytes(file).map(Some).to_vec()))
            .collect()
    }

    fn check(&self) {
        for outcome in self.outcomes() {
            let whole = outcome == self.old || outcome.as_deref() == Some(NEW);
            assert!(whole, "a power cut leaves {outcome:?}");
        }
    }
}

impl Steps for Medium {
    type File = Handle;

    fn create(&mut self, path: &Path) -> io::Result<Handle> {
        let number = self.files.borrow().len();
        self.files.borrow_mut().push(Bytes::default());
        self.names.insert(path.to_owned(), number);
        self.check();
        Ok(Handle(Rc::clone(&self.files), number))
    }

    fn sync(&mut self, file: &Handle) -> io::Result<()> {
        let Bytes { written, atomic_file } = &mut self.files.borrow_mut()[file.1];
        atomic_file.clone_from(written);
        Ok(())
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let file = self.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
        self.names.insert(to.to_owned(), file);
        self.check();
        Ok(())
    }

    fn sync_folder(&mut self, path: &Path) -> io::Result<()> {
        assert_eq!(path, folder_of(&self.path));
        self.atomic_file = self.names.clone();
        self.check();
        Ok(())
    }
}

#[test]
fn a_power_cut_at_any_step_leaves_the_old_file_or_the_new_one() {
    for path in ["a/file", "file"].map(Path::new) {
        for old in [Some(&b"what was before"[..]), None] {
            let mut medium = Medium::with(path, old);
            replace_by(&mut medium, path, &draft_of(path), NEW).unwrap();
            assert_eq!(medium.outcomes(), vec![Some(NEW.to_vec()); 4], "it is done");
        }
    }
}

#[cfg(unix)]
#[test]
fn what_replaces_a_file_is_for_its_owner_alone_and_nothing_is_left_beside_it() {
    use std::os::unix::fs::PermissionsExt as _;

    let scratch = Scratch::made("replace");
    let path = scratch.0.join("genesis.state");
    for open in [&path, &draft_of(&path)] {
        fs::write(open, b"longer than what comes after, and left by somebody").unwrap();
    }

    replace(&path, NEW).unwrap();

    assert_eq!(fs::read(&path).unwrap(), NEW);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1);
}

#[test]
fn what_cannot_be_replaced_leaves_no_draft() {
    let scratch = Scratch::made("no-draft");
    let path = scratch.0.join("folder");
    fs::create_dir(&path).unwrap();

    assert!(replace(&path, NEW).is_err());

    assert!(path.is_dir());
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1);
}
