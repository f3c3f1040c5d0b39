//! The work that a sim asks of a key that is new to it.

use std::time::{Duration, Instant};

use metatopia_protocol::{Answer, LoginTerms, Question};
use metatopia_types::{Act, Puzzle, Work};

use super::{Failure, console::Console, session::ANSWER};
use crate::client_driver::Driver;

/// Numbers that are tried before somebody is told how it goes.
const STEP: u64 = 1 << 20;

/// A person is told of work that takes longer than this.
const SILENT: Duration = Duration::from_secs(1);

/// Returns the login with the work that the sim asks of this driver's key, if it asks for any. Takes
/// some seconds of a processor then.
pub(super) async fn worked(
    driver: &mut Driver,
    login: Act,
    console: Option<Console>,
) -> Result<Act, Failure> {
    let key = driver.author();
    let terms = match driver.ask(Question::LoginTerms { key }, ANSWER).await? {
        Answer::LoginTerms(terms) => terms,
        Answer::Busy => return Err(Failure::timed_out("the node is busy; try again")),
        _ => return Err(Failure::failed("the node does not say what a login takes")),
    };
    let (height, header, tries) = match terms {
        LoginTerms::Free => return Ok(login),
        LoginTerms::Closed => {
            return Err(Failure::refused("this sim lets in nobody new; ask one of its admins"));
        }
        LoginTerms::Work { height, header, tries } => (height, header, tries),
    };
    let puzzle = Puzzle::new(driver.trust().sim, &key, &header, tries);
    let solve = move || {
        let (began, mut told) = (Instant::now(), false);
        let mut from = 0;
        loop {
            if let Some(nonce) = puzzle.solve(from, STEP) {
                return nonce;
            }
            from += STEP;
            if let Some(console) = console.filter(|_| !told && began.elapsed() > SILENT) {
                console.note("Your key is new here; the sim asks it for some seconds of work.");
                told = true;
            }
        }
    };
    let nonce = tokio::task::spawn_blocking(solve)
        .await
        .map_err(|error| Failure::failed(format!("the work of a login: {error}")))?;
    Ok(match login {
        Act::Login { name, look, bot, .. } => {
            Act::Login { name, look, bot, work: Some(Work { height, nonce }) }
        }
        other => other,
    })
}
