//! The block list of a person, in a file beside her key.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use metatopia_client::BlockList;

use super::failure::Failure;

/// The most bytes of the file that are read: a full list has fewer than 350,000.
const BYTES_MAX: u64 = 1 << 19;

/// What the first line of the file says to people.
const COMMENT: &str = "# People whose words are not shown: a key and a name on each line.\n";

/// Returns where the block list of a key file lies.
fn blocks_path(key: &Path) -> PathBuf {
    let mut path = key.as_os_str().to_owned();
    path.push(".blocks");
    path.into()
}

/// Reads the block list beside a key file; an empty one if there is no such file.
///
/// # Errors
/// Fails when the file cannot be read, or is no block list: it would be lost with the next change.
pub(super) fn load(key: &Path) -> Result<BlockList, Failure> {
    let path = blocks_path(key);
    let told = |why: &dyn std::fmt::Display| Failure::failed(format!("{}: {why}", path.display()));
    let mut text = String::new();
    match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BlockList::default()),
        Err(error) => return Err(told(&error)),
        Ok(file) => file.take(BYTES_MAX).read_to_string(&mut text).map_err(|error| told(&error))?,
    };
    BlockList::import(&text).map_err(|error| told(&error))
}

/// Writes the block list beside a key file, in place of the one before. Only its owner may read it.
///
/// # Errors
/// When the disk fails. The list before is there still.
pub(super) fn keep(key: &Path, list: &BlockList) -> io::Result<()> {
    let path = blocks_path(key);
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(COMMENT.as_bytes())?;
    file.write_all(list.export().as_bytes())?;
    file.sync_all()?;
    fs::rename(new, path)
}

#[cfg(test)]
mod tests {
    use metatopia_types::PublicKey;

    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn a_block_list_is_kept_beside_the_key_and_a_spoilt_one_is_not_written_over() {
        let folder = Scratch::made("blocks");
        let key = folder.0.join("me.key");
        assert_eq!(load(&key), Ok(BlockList::default()));
        let mut list = BlockList::default();
        list.block(PublicKey([7; 32]), "Bob").unwrap();
        keep(&key, &list).unwrap();
        keep(&key, &list).unwrap();
        assert_eq!(load(&key), Ok(list));
        folder.file("me.key.blocks", "Bob\n");
        let spoilt = load(&key).unwrap_err();
        assert!(spoilt.message.contains("line 1 of the block list"), "{}", spoilt.message);
    }
}
