//! Machines that fail their servers.

use std::{fs, thread, time::Duration};

use nix::{
    mount::{MsFlags, mount},
    sys::signal::Signal,
};

use super::{Length, StoryBound, StoryFigure, StoryResult, links::played};
use crate::{
    Bots, LabServers,
    servers::{LabResult, told},
};

/// Which server it happens to.
const HERE: usize = 3;

/// The small disk: snapshots and a few minutes of log.
const DISK_BYTES: u64 = 16 * 1_024 * 1_024;

/// Room that is left on it: less than half a second of log.
const LEFT_BYTES: usize = 16 * 1_024;

pub(super) fn paused(servers: &mut LabServers<'_>, length: Length) -> StoryResult {
    let time = length.seconds(3, 10);
    let bots = Bots::at(servers, &[0, 1, 2], time + Duration::from_secs(3))?;
    let from = servers.height(0)?;
    servers.signal(HERE, Signal::SIGSTOP)?;
    thread::sleep(time);
    let meanwhile = servers.height(0)? - from;
    servers.signal(HERE, Signal::SIGCONT)?;
    let back = servers.until(HERE, "catches up", |now| now.height >= from + meanwhile)?;
    let mut figures = vec![
        StoryFigure::new(
            "turns meanwhile",
            meanwhile,
            "turns",
            StoryBound::AtLeast(10 * time.as_secs()),
        ),
        StoryFigure::time("it catches up after", back, StoryBound::AtMost(3_000)),
    ];
    figures.extend(played(servers, bots)?);
    Ok(figures)
}

pub(super) fn disk_full(servers: &mut LabServers<'_>, length: Length) -> StoryResult {
    move_to_small_disk(servers)?;
    let time = length.seconds(2, 10);
    let bots = Bots::at(servers, &[0, 1, 2], time * 2 + Duration::from_secs(2))?;
    let ballast = servers.folder(HERE).join("ballast");
    fill(&ballast)?;
    let noticed = servers.until(HERE, "says that its disk is full", |now| !now.voting)?;
    let from = servers.height(0)?;
    thread::sleep(time);
    let meanwhile = servers.height(0)? - from;
    fs::remove_file(&ballast).map_err(told("remove the ballast"))?;
    let back = servers.until(HERE, "votes again", |now| now.voting)?;
    let mut figures = vec![
        StoryFigure::time("noticed after", noticed, StoryBound::None),
        StoryFigure::new(
            "turns without it",
            meanwhile,
            "turns",
            StoryBound::AtLeast(10 * time.as_secs()),
        ),
        StoryFigure::time("room again to voting", back, StoryBound::AtMost(5_000)),
    ];
    figures.extend(played(servers, bots)?);
    Ok(figures)
}

/// Puts a small disk where the server's folder is, with the same files.
fn move_to_small_disk(servers: &mut LabServers<'_>) -> LabResult<()> {
    servers.stop(HERE)?;
    let folder = servers.folder(HERE);
    let aside = folder.with_extension("aside");
    fs::rename(&folder, &aside).map_err(told("move a folder"))?;
    fs::create_dir(&folder).map_err(told("make a folder"))?;
    let size = format!("size={DISK_BYTES},mode=0700");
    mount(Some("tmpfs"), &folder, Some("tmpfs"), MsFlags::empty(), Some(size.as_str()))
        .map_err(told("mount a small disk"))?;
    crate::servers::copy(&aside, &folder).map_err(told("copy a folder"))?;
    servers.run(HERE)?;
    servers.until(HERE, "votes on its small disk", |now| now.voting)?;
    Ok(())
}

/// Fills a disk but for [`LEFT_BYTES`].
fn fill(ballast: &std::path::Path) -> LabResult<()> {
    use std::io::Write as _;
    let mut file = fs::File::create(ballast).map_err(told("make ballast"))?;
    let block = [0x5a; 4_096];
    while file.write_all(&block).is_ok() {}
    let full = file.metadata().map_err(told("weigh the ballast"))?.len();
    file.set_len(full.saturating_sub(LEFT_BYTES as u64)).map_err(told("drop some ballast"))
}
