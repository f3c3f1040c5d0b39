//! Makes the directory of a sim, also where an earlier run of the same command was cut off.
//!
//! A sim is made beside its place and then put there. A directory that is there and empty is filled where it is,
//! because somebody may stand in it; what a run that was cut off left in it is taken up by the next one.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use metatopia_sim::Genesis;
use metatopia_types::{NodeContact, PublicKey, Sign as _, SigningKey, limits::BEACONS_MAX};

use super::{
    ADMIN_KEY, Beginning, Failure, Founders, GENESIS, LOCK, MARK, Make, cut_off, disk, entries,
    lock, seat, server_path, write_mark,
};
use crate::{
    atomic_file::{create_folder, folder_of, replace, sync_folder},
    cli::Exit,
    first_state::state_beside,
    keys::{self, LoadKeyError},
    overlay::OverlayFolder,
};

/// The folder of what a server keeps of a world.
const OVERLAY: &str = "overlay";

/// What the name of a draft has behind that of its place, before the number of a process.
const DRAFT: &str = ".new-";

/// Says that a directory is a draft, and of which place: the name of that place. A finished sim may have the name
/// of a draft, and has no such file.
pub(super) const DRAFT_MARK: &str = "draft";

/// Makes a sim beside its place and then puts it there, so that there is never half a one. A directory that is
/// there is filled where it is: somebody may stand in it.
pub(super) fn create(
    path: &Path,
    count: usize,
    in_world: bool,
    make: impl Make,
) -> Result<(), Failure> {
    if path.exists() {
        // So that no two runs fill it at once.
        let _lock = lock(path)?;
        // Another run may have made a sim there since this one looked.
        check_free(path, count, in_world).map_err(|failure| match failure.exit {
            Exit::Refused => busy(path),
            _ => failure,
        })?;
        return fill(path, count, in_world, make);
    }
    let parent = folder_of(path);
    create_folder(parent).map_err(|error| disk(parent, &error))?;
    let name = path.file_name().unwrap_or_default();
    sweep(parent, name);
    let draft = |number: u32| {
        let mut draft = name.to_owned();
        draft.push(format!("{DRAFT}{number}"));
        parent.join(draft)
    };
    // A sim of somebody may have that name.
    let draft = (std::process::id()..).map(draft).find(|draft| !draft.exists());
    let draft = draft.expect("no directory has four billion drafts");
    let made = put(&draft, path, |draft| fill(draft, count, in_world, make));
    if let Err(failure) = made {
        let is_lost = !draft.exists() || path.exists();
        // What failed is told; that the draft stays is not worth a second message.
        let _ = fs::remove_dir_all(&draft);
        if is_lost {
            return Err(busy(path));
        }
        // By the place that was named: of the draft's name nobody knows.
        let (own, named) = (draft.display().to_string(), path.display().to_string());
        return Err(Failure { message: failure.message.replace(&own, &named), ..failure });
    }
    let mark = path.join(DRAFT_MARK);
    fs::remove_file(&mark).map_err(|error| disk(&mark, &error))?;
    sync_folder(parent).map_err(|error| disk(parent, &error))
}

/// Fills a draft, and puts it at its place.
fn put(
    draft: &Path,
    path: &Path,
    fill: impl FnOnce(&Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    create_folder(draft).map_err(|error| disk(draft, &error))?;
    // Before the mark, without which nobody removes the draft.
    let _lock = lock(draft)?;
    let mark = draft.join(DRAFT_MARK);
    let name = path.file_name().unwrap_or_default();
    replace(&mark, name.as_encoded_bytes()).map_err(|error| disk(&mark, &error))?;
    fill(draft)?;
    fs::rename(draft, path).map_err(|error| disk(path, &error))
}

/// Returns the failure of a command whose place another process fills.
fn busy(path: &Path) -> Failure {
    Failure::failed(format!("another process is at it: it made something in {}", path.display()))
        .hint("look what is there, or name another directory")
}

/// Removes the drafts of a place whose runs were cut off: nobody holds their locks, and nobody ever used their
/// keys. One that cannot be read or removed stays: it is in nobody's way.
fn sweep(parent: &Path, name: &OsStr) {
    let prefix = format!("{}{DRAFT}", name.to_string_lossy());
    for entry in entries(parent).unwrap_or_default() {
        let digits = entry.to_str().and_then(|entry| entry.strip_prefix(&prefix));
        let is_named = digits.is_some_and(|digits| digits.parse::<u32>().is_ok());
        let draft = parent.join(&entry);
        let is_draft =
            || fs::read(draft.join(DRAFT_MARK)).is_ok_and(|of| of == name.as_encoded_bytes());
        let is_ours = || has_only_what_is_made(&draft, usize::MAX).unwrap_or(false);
        if is_named && is_draft() && is_ours() {
            let Ok(_lock) = lock(&draft) else { continue };
            // Its run may have put it at its place since it was looked at.
            if is_draft() {
                let _stays = fs::remove_dir_all(&draft);
            }
        }
    }
}

/// Says whether a sim can be made in a directory: it is empty, or has in it what a run that was cut off left there.
///
/// # Errors
/// When it has something else in it, or when the disk fails; names the path.
pub(super) fn check_free(path: &Path, count: usize, in_world: bool) -> Result<(), Failure> {
    if entries(path)?.is_empty() {
        return Ok(());
    }
    if !is_unfinished(path, count, in_world)? {
        return Err(Failure::refused(format!("{} is not empty", path.display()))
            .hint("name a new directory"));
    }
    // Somebody may have claimed land for what has all its files. A successor gets land once it has its mark.
    let is_claimed = |genesis: &Genesis| genesis.site.is_some() && genesis.parent.is_none();
    if unmarked(path)?.is_some_and(|(genesis, _)| is_claimed(&genesis)) {
        return Err(cut_off(path));
    }
    Ok(())
}

/// Says whether a directory holds what a run that was cut off left there on its way to a sim of `count` servers.
/// One that lies in no world has nothing of a world in it.
pub(super) fn is_unfinished(path: &Path, count: usize, in_world: bool) -> Result<bool, Failure> {
    if path.join(MARK).exists() || !path.join(ADMIN_KEY).exists() {
        // The lock is taken before the first key is made.
        return Ok(entries(path)? == [LOCK]);
    }
    let is_of_world = || (0..count).any(|n| server_path(path, n).join(OVERLAY).exists());
    Ok(has_only_what_is_made(path, count)? && (in_world || !is_of_world()))
}

/// Says whether a directory has nothing in it but what is made for a sim of at most `count` servers, none of
/// which has run.
fn has_only_what_is_made(path: &Path, count: usize) -> Result<bool, Failure> {
    let state = state_beside(Path::new(GENESIS));
    let of_server = ["vote.key", "node.key", GENESIS, OVERLAY].map(OsStr::new);
    let of_server = |name: &OsStr| of_server.contains(&name) || name == state.as_os_str();
    for entry in entries(path)? {
        if [ADMIN_KEY, MARK, LOCK, DRAFT_MARK].map(OsStr::new).contains(&written(&entry)) {
            continue;
        }
        let number = entry.to_str().and_then(|name| name.strip_prefix("server-")?.parse().ok());
        let is_server = number.is_some_and(|number: usize| number < count);
        let server = path.join(&entry);
        if !is_server || !entries(&server)?.iter().all(|name| of_server(written(name))) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the name that a file gets: it has `.new` behind that while it is written.
fn written(entry: &OsStr) -> &OsStr {
    let path = Path::new(entry);
    let draft = path.file_stem().filter(|_| path.extension() == Some(OsStr::new("new")));
    draft.unwrap_or(entry)
}

/// Returns the genesis of a sim that has all its files but the mark, and how many servers it has. A successor has the
/// state that it begins with, too.
pub(super) fn unmarked(path: &Path) -> Result<Option<(Genesis, usize)>, Failure> {
    if path.join(MARK).exists() || !has_only_what_is_made(path, usize::MAX)? {
        return Ok(None);
    }
    let count = (0..).take_while(|n| server_path(path, *n).exists()).count();
    let read = |n| fs::read(server_path(path, n).join(GENESIS)).ok();
    let files: Option<BTreeSet<Vec<u8>>> = (0..count).map(read).collect();
    // Files that differ are of a run that was cut off while it replaced them.
    let files: Vec<Vec<u8>> = files.unwrap_or_default().into_iter().collect();
    let [bytes] = &files[..] else { return Ok(None) };
    let Ok(genesis) = Genesis::decode(bytes) else { return Ok(None) };
    let has_state = |n| state_beside(&server_path(path, n).join(GENESIS)).exists();
    if genesis.parent.is_some() && !(0..count).all(has_state) {
        return Ok(None);
    }
    let seats: Result<Vec<_>, _> = (0..count).map(|n| seat(path, n)).collect();
    let Ok(seats) = seats else { return Ok(None) };
    let voters: BTreeSet<PublicKey> = seats.iter().map(|seat| seat.key).collect();
    Ok(genesis.validators.keys().eq(&voters).then_some((genesis, count)))
}

/// Fills a directory, durably: servers promise what they log, and none can be checked without this genesis. Keys
/// that are there stay. The mark is the last thing to be there.
fn fill(draft: &Path, count: usize, in_world: bool, make: impl Make) -> Result<(), Failure> {
    let write =
        |file: &Path, bytes: &[u8]| replace(file, bytes).map_err(|error| disk(file, &error));
    create_folder(draft).map_err(|error| disk(draft, &error))?;
    let admin = own_key(draft.join(ADMIN_KEY))?;
    let (mut validators, mut beacons) = (BTreeMap::new(), Vec::new());
    for index in 0..count {
        let server = server_path(draft, index);
        let vote = own_key(server.join("vote.key"))?;
        let node = own_key(server.join("node.key"))?;
        let peer_id = keys::peer_keypair(&node).public().to_peer_id().to_string();
        // Addresses change from start to start; the configuration files have them.
        validators.insert(vote.public(), NodeContact { peer_id, address: String::new() });
        if in_world {
            let folder = OverlayFolder::at(&server);
            own_key(folder.member_key_path())?;
            if beacons.len() < BEACONS_MAX {
                beacons.push(own_key(folder.beacon_key_path())?.public());
            }
        }
    }
    let admin = admin.public();
    let Beginning { genesis, state } = make(Founders { validators, admin, beacons })?;
    for index in 0..count {
        let file = server_path(draft, index).join(GENESIS);
        write(&file, &genesis.encode())?;
        if let Some(state) = &state {
            write(&state_beside(&file), state)?;
        }
    }
    sync_folder(draft).map_err(|error| disk(draft, &error))?;
    write_mark(draft, &genesis, count)
}

/// Returns the key of a sim that is being made: the one that a run which was cut off made, or a new one. Half a key
/// is of no use, and no genesis names it.
fn own_key(path: PathBuf) -> Result<SigningKey, Failure> {
    match keys::load(&path) {
        Ok(key) => return Ok(key),
        Err(LoadKeyError::Read { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
        }
        Err(LoadKeyError::Format { .. }) => {
            fs::remove_file(&path).map_err(|error| disk(&path, &error))?;
        }
        Err(error) => return Err(error.into()),
    }
    Ok(keys::create(&path)?)
}
