//! `place export` writes the present state of a running sim as the folder of a place.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use metatopia_client_driver::FetchStateError;
use metatopia_scenarios::Place;

use super::{PlaceReport, folder::write_place};
use crate::cli::{
    console::Console,
    failure::Failure,
    folder::check_empty,
    session::{ANSWER, NodeArgs},
};

/// The time between two notes of progress.
const TELL_APART: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub(in crate::cli) struct PlaceExportArgs {
    /// The folder to write. It must be new or empty.
    dir: PathBuf,
    #[command(flatten)]
    at: NodeArgs,
}

/// Fetches the state, checks it, and writes it as a place.
pub(super) async fn run(args: PlaceExportArgs, console: Console) -> Result<(), Failure> {
    // This comes first, so that nothing is fetched for a folder that cannot be written.
    check_empty(&args.dir)?;
    let mut driver = args.at.open_to_ask().await?;
    let mut told = std::time::Instant::now();
    let fetched = driver
        .fetch_state(&metatopia_audit::tools(), ANSWER, |received, bytes| {
            if told.elapsed() >= TELL_APART {
                told = std::time::Instant::now();
                console.note(&format!("{received} of {bytes} bytes of the state"));
            }
        })
        .await;
    let picture = driver.trust().genesis.picture.clone();
    driver.leave().await;
    let world = fetched?;
    let mut place = Place::of_world(&world);
    if !picture.is_empty() {
        place.set_picture(picture).map_err(|error| Failure::unverified(error.to_string()))?;
    }
    write_place(&args.dir, &place)?;
    console.note(&format!("sim {} after turn {}", world.sim(), world.height()));
    console.show(&PlaceReport::of(&args.dir, &place))
}

impl From<FetchStateError> for Failure {
    fn from(error: FetchStateError) -> Self {
        let message = error.to_string();
        match error {
            FetchStateError::Proof(error) => error.into(),
            FetchStateError::Download(_) => Self::unverified(message),
        }
    }
}
