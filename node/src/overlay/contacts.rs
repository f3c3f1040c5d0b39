//! The contacts of a member, in its data directory: those that answered last are tried first at the next
//! start.
//!
//! A line holds a member's key and its address:
//!
//! ```text
//! 3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29 /ip4/192.0.2.7/tcp/8083 http://192.0.2.7:8080
//! ```

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use metatopia_raynet::{
    SiteEndpoint,
    limits::{FIRST_CONTACTS_MAX, SITE_ADDRESS_BYTES_MAX},
};

use crate::atomic_file;

/// The longest file: twice as many lines as contacts are kept.
const CONTACTS_BYTES_MAX: usize = 2 * FIRST_CONTACTS_MAX * (SITE_ADDRESS_BYTES_MAX + 66);

/// The file with a member's contacts.
#[derive(Debug, Clone)]
pub struct ContactFile {
    path: PathBuf,
}

/// Reads a line; none if it is no contact.
fn contact(line: &str) -> Option<SiteEndpoint> {
    let (peer, address) = line.split_once(' ')?;
    let is_short = !address.is_empty() && address.len() <= SITE_ADDRESS_BYTES_MAX;
    let peer = peer.parse().ok()?;
    is_short.then(|| SiteEndpoint { peer, address: address.to_owned() })
}

impl ContactFile {
    /// Returns a file of this name in a member's folder.
    #[must_use]
    pub fn named(folder: &Path, name: &str) -> Self {
        Self { path: folder.join(name) }
    }

    /// Returns the contacts, the best first. A file that is missing, or a line that is none, gives none:
    /// contacts are worth a try and prove nothing.
    #[must_use]
    pub fn read(&self) -> Vec<SiteEndpoint> {
        let bytes = fs::read(&self.path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(CONTACTS_BYTES_MAX)]);
        let contacts = text.lines().filter_map(contact);
        contacts.take(FIRST_CONTACTS_MAX).collect()
    }

    /// Writes these contacts and no others.
    ///
    /// # Errors
    /// With what the system said. The file is the old one then.
    pub fn replace(&self, contacts: &[SiteEndpoint]) -> io::Result<()> {
        let line = |SiteEndpoint { peer, address }: &SiteEndpoint| format!("{peer} {address}\n");
        let text: String = contacts.iter().map(line).collect();
        if let Some(folder) = self.path.parent() {
            atomic_file::create_folder(folder)?;
        }
        atomic_file::replace(&self.path, text.as_bytes())
    }

    /// Writes contacts, and behind them those of earlier that are not among them.
    ///
    /// # Errors
    /// With what the system said. The file is the old one then.
    pub fn write(&self, newest: &[SiteEndpoint]) -> io::Result<()> {
        let mut all = newest.to_vec();
        let older = self.read().into_iter();
        all.extend(older.filter(|older| newest.iter().all(|newer| newer.peer != older.peer)));
        all.truncate(FIRST_CONTACTS_MAX);
        self.replace(&all)
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Sign as _, SigningKey};

    use super::*;
    use crate::scratch::Scratch;

    fn contact_of(n: u8) -> SiteEndpoint {
        let peer = SigningKey::from_seed([n; 32]).public();
        SiteEndpoint { peer, address: format!("/ip4/192.0.2.{n}/tcp/1 http://192.0.2.{n}:80") }
    }

    #[test]
    fn the_newest_come_first_and_the_older_ones_stay_as_long_as_there_is_room() {
        let scratch = Scratch::made("contacts-kept");
        let file = ContactFile::named(&scratch.0, "contacts");
        assert_eq!(file.read(), []);
        file.write(&[contact_of(1), contact_of(2)]).unwrap();
        let moved = SiteEndpoint { address: "/ip4/192.0.2.99/tcp/1".into(), ..contact_of(2) };
        file.write(&[contact_of(3), moved.clone()]).unwrap();
        assert_eq!(file.read(), [contact_of(3), moved, contact_of(1)]);

        let many: Vec<SiteEndpoint> = (10..200).map(contact_of).collect();
        file.write(&many).unwrap();
        assert_eq!(file.read(), many[..FIRST_CONTACTS_MAX]);
    }

    #[test]
    fn lines_that_are_no_contacts_are_passed_over() {
        let scratch = Scratch::made("contacts-torn");
        let good = contact_of(1);
        let long = "x".repeat(SITE_ADDRESS_BYTES_MAX + 1);
        let text = format!("what\n{} {}\n{} {long}\n", good.peer, good.address, contact_of(2).peer);
        scratch.file("contacts", text);
        assert_eq!(ContactFile::named(&scratch.0, "contacts").read(), [good]);
    }
}
