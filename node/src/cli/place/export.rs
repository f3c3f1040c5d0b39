//! `place export` writes the present state of a running sim as the folder of a place.

use std::{
    fmt,
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::Args;
use metatopia_client_driver::{ClientDriver, FetchStateError};
use metatopia_scenarios::{PLACE_FILE, Place};
use metatopia_sim::Course;
use serde::Serialize;

use super::{PlaceReport, folder::write_place};
use crate::cli::{
    console::Console,
    failure::Failure,
    folder::check_empty,
    script::follow::{self, CatchUpError},
    session::NodeArgs,
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

/// A place that was exported, and what it is a copy of.
#[derive(Debug, Serialize)]
struct ExportReport {
    #[serde(flatten)]
    report: PlaceReport,
    sim: String,
    /// The turn after which the sim had this state.
    height: u64,
}

impl fmt::Display for ExportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.report, f)
    }
}

/// Fetches the state, checks it, and writes it as a place.
pub(super) async fn run(args: PlaceExportArgs, console: Console) -> Result<(), Failure> {
    // This comes first, so that nothing is fetched for a folder that cannot be written.
    check_empty(&args.dir)?;
    let mut driver = args.at.open_to_ask().await?;
    let fetched = present(&mut driver, console).await;
    let picture = driver.trust().genesis.picture.clone();
    driver.leave().await;
    let course = fetched?;
    let world = course.world();
    let mut place = Place::of_world(world);
    if !picture.is_empty() {
        place.set_picture(picture).map_err(|error| Failure::unverified(error.to_string()))?;
    }
    write_place(&args.dir, &place)?;
    for thing in place.in_the_way() {
        console.warn(&format!(
            "warning: {:?} stands where people appear, so `metatopia place check` refuses the place: move \
             it, or `spawn`, in {}",
            thing.name,
            args.dir.join(PLACE_FILE).display()
        ));
    }
    for (first, again) in place.doubled() {
        console.warn(&format!(
            "warning: {:?} is {:?} once more, so `metatopia place check` refuses the place: take one away in {}",
            again.name,
            first.name,
            args.dir.join(PLACE_FILE).display()
        ));
    }
    console.note(&format!("sim {} after turn {}", world.sim(), world.height()));
    console.show(&ExportReport {
        report: PlaceReport::of(&args.dir, &place),
        sim: world.sim().to_string(),
        height: world.height().0,
    })
}

/// Fetches the newest state that the servers signed, which may be half a minute old, and computes the turns
/// that are decided since then.
///
/// # Errors
/// Fails when no node answers, an answer proves nothing, or the turns contradict the state.
async fn present(driver: &mut ClientDriver, console: Console) -> Result<Course, Failure> {
    let mut told = Instant::now();
    let mut is_time = move || {
        let is_time = told.elapsed() >= TELL_APART;
        if is_time {
            told = Instant::now();
        }
        is_time
    };
    let mut course = follow::begin(driver, |received, bytes| {
        if is_time() {
            console.note(&format!("{received} of {bytes} bytes of the state"));
        }
    })
    .await?;
    let computed = follow::catch_up(driver, &mut course, |applied| {
        if is_time() {
            console.note(&format!("computed up to turn {}", applied.height));
        }
        Ok(())
    });
    match computed.await {
        // A sim may run what this program cannot. What was computed before that can still be written.
        Err(error @ CatchUpError::MissingPort { .. }) => console.warn(&format!(
            "warning: {}; so the folder has the state after turn {}, and lacks what was done since",
            Failure::from(error),
            course.world().height()
        )),
        computed => computed?,
    }
    Ok(course)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// People were told of which sim and turn the place is a copy, and programs were not.
    #[test]
    fn programs_read_of_which_sim_and_turn_a_place_is_a_copy() {
        let report = PlaceReport {
            place: "copy".to_owned(),
            name: "yard".to_owned(),
            objects: 2,
            scripts: 1,
            packages: 1,
            lands: 0,
        };
        let words = report.to_string();
        let exported = ExportReport { report, sim: "ab".repeat(32), height: 90 };
        assert_eq!(exported.to_string(), words);
        let json = serde_json::to_value(&exported).expect("JSON");
        assert_eq!(json["place"], "copy");
        assert_eq!(json["objects"], 2);
        assert_eq!(json["sim"], "ab".repeat(32));
        assert_eq!(json["height"], 90);
    }
}
