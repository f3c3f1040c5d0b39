//! A sim computed along here, from a state and turns that its servers signed.
//!
//! Snapshots are many turns apart. What is newer than the last one follows from it and the turns.

use std::time::Duration;

use metatopia_client_driver::ClientDriver;
use metatopia_protocol::{Answer, Question};
use metatopia_sim::{Applied, Course, Serial};
use metatopia_types::{Certificate, Height, Turn};
use tokio::time::{Instant, sleep};

use crate::cli::{failure::Failure, session::ANSWER};

/// The time after which a node that had none for an answer is asked again.
const AGAIN: Duration = Duration::from_millis(200);

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
) -> Result<(), Failure> {
    // More turns are decided meanwhile. Those are for the next time, or this would not end.
    let decided = newest(driver, course.world().height()).await?;
    while course.world().height() < decided {
        let next = turns(driver, course.world().height().plus(1)).await?;
        if next.is_empty() {
            // The node that answers is behind the one that told of the height.
            return Ok(());
        }
        for (turn, certificate) in &next {
            course.check(turn, certificate).map_err(|error| {
                Failure::unverified(format!("turn {} of the node: {error}", turn.header.height))
            })?;
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
    match ask(driver, Question::Turn { height }).await? {
        Answer::Unknown => Ok(false),
        Answer::Busy => Err(busy()),
        _ => Ok(true),
    }
}

/// Asks until the node has time for an answer; the last answer when time is up.
async fn ask(driver: &mut ClientDriver, question: Question) -> Result<Answer, Failure> {
    let end = Instant::now() + ANSWER;
    loop {
        let answer = driver.ask(question.clone(), ANSWER).await?;
        if !matches!(answer, Answer::Busy) || Instant::now() + AGAIN > end {
            return Ok(answer);
        }
        sleep(AGAIN).await;
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
    match ask(driver, Question::Turns { from }).await? {
        Answer::Turns(turns) => Ok(turns),
        Answer::Pruned { oldest } => {
            let message = format!("the node has no turns before {oldest}");
            Err(Failure::not_found(message).hint("ask an archive"))
        }
        _ => Err(busy()),
    }
}
