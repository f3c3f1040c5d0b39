//! The file in which a server's certificates outlast its process.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    path::PathBuf,
};

use metatopia_transport::certificates::{CertificateStorage, STORED_BYTES_MAX};
use zeroize::Zeroizing;

use crate::atomic_file;

/// A file of certificates and their keys, which only its owner may read. Its folder must exist.
#[derive(Debug)]
pub struct CertificateFile(PathBuf);

impl CertificateFile {
    /// Returns the file at this path, which need not exist.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }
}

impl fmt::Display for CertificateFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

impl CertificateStorage for CertificateFile {
    fn load(&self) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let file = match File::open(&self.0) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = Zeroizing::new(Vec::new());
        file.take(STORED_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    fn store(&self, bytes: &[u8]) -> io::Result<()> {
        atomic_file::replace(&self.0, bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

    use metatopia_types::Millis;

    use super::*;
    use metatopia_transport::certificates::Certificates;

    /// Some day in 2026.
    const NOW: Millis = Millis(1_790_000_000_000);

    fn hashes(path: &Path) -> [metatopia_transport::tls::CertificateHash; 2] {
        let file = CertificateFile::at(path.to_owned());
        Certificates::open(Box::new(file), NOW).unwrap().hashes()
    }

    #[test]
    fn a_restart_finds_the_certificates_in_their_file_which_is_its_owners_alone() {
        let folder = std::env::temp_dir().join(format!("metatopia-shown-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("certificates");
        let announced = hashes(&path);

        assert_eq!(hashes(&path), announced);
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        fs::write(&path, vec![7; STORED_BYTES_MAX * 2]).unwrap();
        let read = CertificateFile::at(path.clone()).load().unwrap().expect("it is there");
        assert_eq!(read.len(), STORED_BYTES_MAX + 1, "no more than is needed is read");
        let fresh = hashes(&path);
        assert_ne!(fresh, announced);
        assert_eq!(hashes(&path), fresh);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_directory_that_is_not_there_is_an_error_that_names_the_file() {
        let missing = CertificateFile::at("/nonexistent/certificates".into());
        let error = Certificates::open(Box::new(missing), NOW).unwrap_err().to_string();
        assert!(error.starts_with("certificates in /nonexistent/certificates: "), "{error}");
    }
}
