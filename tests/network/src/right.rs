//! The right to make namespaces.

use std::{fs, io};

use nix::{
    errno::Errno,
    mount::{MsFlags, mount},
    sched::{CloneFlags, unshare},
    unistd::{Gid, Uid},
};

/// Why there can be no lab on this machine.
#[derive(Debug, thiserror::Error)]
pub enum TakeRightsError {
    /// Neither root, nor may others make user namespaces.
    #[error("namespaces are not permitted here: {0}")]
    Namespaces(Errno),
    /// A user namespace is there, but cannot be filled.
    #[error("a user namespace cannot be set up: {0}")]
    Users(io::Error),
    /// There is no `/dev/net/tun`.
    #[error("/dev/net/tun is missing or closed: {0}")]
    Tun(io::Error),
}

/// Gives this process mounts of its own and the right to make network namespaces; as root at once,
/// else by becoming root of a user namespace.
///
/// # Errors
/// See [`TakeRightsError`]. To be called before any thread is started: user namespaces ask for that.
pub fn take_rights() -> Result<(), TakeRightsError> {
    let tun = fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    let (user, group) = (Uid::effective(), Gid::effective());
    if user.is_root() {
        unshare(CloneFlags::CLONE_NEWNS).map_err(TakeRightsError::Namespaces)?;
    } else {
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWNET)
            .map_err(TakeRightsError::Namespaces)?;
        let map = |file: &str, text: String| {
            fs::write(format!("/proc/self/{file}"), text).map_err(TakeRightsError::Users)
        };
        map("setgroups", "deny".into())?;
        map("uid_map", format!("0 {user} 1"))?;
        map("gid_map", format!("0 {group} 1"))?;
    }
    tun.map_err(TakeRightsError::Tun)?;
    // What is mounted here is nobody else's business, and goes away with this process.
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, private, None::<&str>)
        .map_err(TakeRightsError::Namespaces)
}
