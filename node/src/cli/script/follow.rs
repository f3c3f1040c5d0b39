//! A sim computed along here, from a state and turns that its servers signed.
//!
//! Snapshots are many turns apart. What is newer than the last one follows from it and the turns.

use metatopia_client_driver::ClientDriver;
use metatopia_protocol::{Answer, Question};
use metatopia_sim::{Applied, Course, MissingPort, Serial, Unsound};
use metatopia_types::{Certificate, Height, Turn};

use crate::cli::{exit::Exit, failure::Failure, session::ANSWER};

/// Says why a sim is not computed up to its newest turn.
#[derive(Debug)]
pub(in crate::cli) enum CatchUpError {
    /// This program lacks a port that the next turn runs.
    MissingPort {
        /// The height of that turn.
        height: Height,
        /// The port, and the package that it replaces.
        missing: MissingPort,
    },
    /// No node answers, or an answer proves nothing.
    Failed(Failure),
}

impl CatchUpError {
    /// Returns the error of a turn that does not follow from those before it.
    fn of(height: Height, error: Unsound) -> Self {
        match error {
            Unsound::MissingPort(missing) => Self::MissingPort { height, missing },
            error => {
                Self::Failed(Failure::unverified(format!("turn {height} of the node: {error}")))
            }
        }
    }
}

impl From<Failure> for CatchUpError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<CatchUpError> for Failure {
    fn from(error: CatchUpError) -> Self {
        match error {
            CatchUpError::MissingPort { height, missing } => {
                Self::new(Exit::OtherEngine, format!("turn {height} of the node: {missing}"))
            }
            CatchUpError::Failed(failure) => failure,
        }
    }
}

/// Fetches the newest signed state, to go on from it, and tells how many of its bytes have come.
///
/// # Errors
/// Fails when no node answers, or an answer proves nothing.
pub(in crate::cli) async fn begin(
    driver: &mut ClientDriver,
    told: impl FnMut(u64, u64),
) -> Result<Course, Failure> {
    Ok(Course::new(driver.fetch_state(&metatopia_audit::tools(), ANSWER, told).await?))
}

/// Fetches the turns that are decided by now, checks and applies them, and tells of each.
///
/// # Errors
/// As [`begin`]; also when a turn is not the next one, or `told` fails.
pub(in crate::cli) async fn catch_up(
    driver: &mut ClientDriver,
    course: &mut Course,
    mut told: impl FnMut(&Applied) -> Result<(), Failure>,
) -> Result<(), CatchUpError> {
    // More turns are decided meanwhile. Those are for the next time, or this would not end.
    let decided = newest(driver, course.world().height()).await?;
    while course.world().height() < decided {
        let next = turns(driver, course.world().height().plus(1)).await?;
        if next.is_empty() {
            // The node that answers is behind the one that told of the height.
            return Ok(());
        }
        for (turn, certificate) in &next {
            course
                .check(turn, certificate)
                .map_err(|error| CatchUpError::of(turn.header.height, error))?;
            told(&course.follow(turn, &Serial, &mut ()))?;
        }
    }
    Ok(())
}

/// Returns the height of the newest decided turn that the node has, from one that is decided. It goes up
/// in steps that double, and then closer in steps that halve.
async fn newest(driver: &mut ClientDriver, decided: Height) -> Result<Height, Failure> {
    let (mut height, mut step) = (decided, 1);
    while has(driver, height.plus(step)).await? {
        height = height.plus(step);
        step = step.saturating_mul(2);
    }
    while step > 1 {
        step /= 2;
        if has(driver, height.plus(step)).await? {
            height = height.plus(step);
        }
    }
    Ok(height)
}

/// Asks whether a turn is decided.
async fn has(driver: &mut ClientDriver, height: Height) -> Result<bool, Failure> {
    match driver.ask(Question::Turn { height }, ANSWER).await? {
        Answer::Unknown => Ok(false),
        Answer::Busy => Err(busy()),
        _ => Ok(true),
    }
}

fn busy() -> Failure {
    Failure::timed_out("the node is too busy to hand out turns").hint("try again")
}

/// Asks for decided turns.
async fn turns(
    driver: &mut ClientDriver,
    from: Height,
) -> Result<Vec<(Turn, Certificate)>, Failure> {
    match driver.ask(Question::Turns { from }, ANSWER).await? {
        Answer::Turns(turns) => Ok(turns),
        Answer::Pruned { oldest } => {
            let message = format!("the node has no turns before {oldest}");
            Err(Failure::not_found(message).hint("ask an archive"))
        }
        _ => Err(busy()),
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Digest, PackageId, Root};

    use super::*;

    /// A state that the servers' own turns contradicted was exported with a warning, as if a port were missing.
    #[test]
    fn a_missing_port_is_told_apart_from_turns_that_contradict_the_state() {
        let [stated, found] = [1, 2].map(|byte| Root(Digest([byte; 32])));
        let contradicted = Unsound::Root { of: Height(7), stated, found };
        let error = CatchUpError::of(Height(9), contradicted);
        assert!(
            matches!(&error, CatchUpError::Failed(failure) if failure.exit == Exit::Unverified)
        );
        let package = PackageId(Digest([3; 32]));
        let missing = MissingPort { package, port: Digest([4; 32]), from: Height(9) };
        let error = CatchUpError::of(Height(9), Unsound::MissingPort(missing));
        assert!(matches!(error, CatchUpError::MissingPort { height: Height(9), .. }), "{error:?}");
        let failure = Failure::from(error);
        assert_eq!(failure.exit, Exit::OtherEngine);
        assert!(failure.message.starts_with("turn 9 of the node: "), "{failure}");
    }
}
