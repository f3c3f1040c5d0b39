//! What a server finds on its disk, and goes on from.

use metatopia_replica::keeper::{
    Keeper, Log, PassedOver, StartError, begin_log, newest_state, open_log, open_replica,
};
use metatopia_replica::{Input, Replica};
use metatopia_store::{Disk, Identity, Opening};
use metatopia_types::{Now, Round};

use super::place_setting::ReplicaSetting;
use crate::lent::LentDisk;

/// Segments of simulated logs are short, so that logs have several.
pub const SEGMENT_BYTES: u64 = 128 * 1_024;

/// What a disk holds, ready to go on from.
#[derive(Debug)]
pub(crate) struct OpenedDisk {
    pub(crate) keeper: Keeper<LentDisk>,
    pub(crate) replica: Replica,
    /// What was found damaged of the log, and put aside.
    pub(crate) damage: Option<String>,
    /// Why stored states cannot be used that are newer than what it begins with.
    pub(crate) passed_over: Vec<PassedOver>,
}

impl OpenedDisk {
    /// Opens the disk of the server in `seat`, as the node does. `fresh` says that its key was never
    /// used.
    pub(crate) fn open(
        setting: &ReplicaSetting,
        seat: usize,
        fresh: bool,
        now: Now,
        disk: &mut dyn Disk,
    ) -> Result<Self, String> {
        let (sim, server) = (setting.sim, setting.name(seat));
        let mut opening = Opening::new(Identity { sim, server });
        opening.segment_bytes = SEGMENT_BYTES;
        let Log { mut store, aside, .. } =
            open_log(disk, opening).map_err(|error| error.to_string())?;
        if fresh {
            begin_log(&mut store).map_err(|error| error.to_string())?;
        }
        let (state, passed_over) = newest_state(store.disk(), &setting.tools());
        let (base, mut world) = state.unwrap_or_else(|| (setting.base(), setting.beginning()));
        setting.break_rules(seat, Round::default(), &mut world);
        let config = setting.config(seat, now.wall);
        let mut replica = match open_replica(&store, config.clone(), (base, world), now) {
            Ok((replica, _)) => replica,
            Err(StartError::NoStart(why)) => {
                let least = why.least(store.index());
                Replica::stateless(config, setting.beginning(), least, now)
            }
            Err(StartError::Records(error)) => return Err(error.to_string()),
        };
        let keeper = Keeper::new(store, setting.history(seat));
        replica.handle(now, Input::Gaps(keeper.gaps().clone()));
        let keeper = keeper.on(LentDisk::default());
        let damage = aside.map(|aside| aside.fault.to_string());
        Ok(Self { keeper, replica, damage, passed_over })
    }
}
