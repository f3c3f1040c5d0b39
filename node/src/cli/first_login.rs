//! What a sim asks of a key that is new to it: a ticket, or some seconds of work.

use std::time::{Duration, Instant};

use metatopia_protocol::{Answer, LoginTerms, Question};
use metatopia_types::{Act, Pass, Puzzle, TicketPass, Work};

use super::{Failure, console::Console, session::ANSWER, ticket::TicketSecret};
use crate::client_driver::ClientDriver;

/// Numbers that are tried before somebody is told how it goes.
const STEP: u64 = 1 << 20;

/// A person is told of work that takes longer than this.
const SILENT: Duration = Duration::from_secs(1);

/// Returns the login with the pass that the sim asks of this driver's key, if it asks for any: by the
/// ticket if there is one, else by some seconds of a processor.
pub(super) async fn with_pass(
    driver: &mut ClientDriver,
    login: Act,
    ticket: Option<&TicketSecret>,
    console: Option<Console>,
) -> Result<Act, Failure> {
    let key = driver.author();
    let terms = match driver.ask(Question::LoginTerms { key }, ANSWER).await? {
        Answer::LoginTerms(terms) => terms,
        Answer::Busy => return Err(Failure::timed_out("the node is busy; try again")),
        _ => return Err(Failure::failed("the node does not say what a login takes")),
    };
    let sim = driver.trust().sim;
    let (height, header, tries) = match (terms, ticket) {
        (LoginTerms::Free, _) => return Ok(login),
        (LoginTerms::Closed, _) => {
            return Err(Failure::refused("this sim lets in nobody new; ask one of its admins"));
        }
        (LoginTerms::Work { .. } | LoginTerms::Ticket, Some(ticket)) => {
            let pass = TicketPass::new(&ticket.key(), sim, &key);
            return Ok(showing(login, Pass::Ticket(pass)));
        }
        (LoginTerms::Ticket, None) => {
            let message = "your key is new to this sim, which lets in who has a ticket";
            return Err(Failure::refused(message)
                .hint("ask one of its admins for one, and give it by --ticket"));
        }
        (LoginTerms::Work { height, header, tries }, None) => (height, header, tries),
    };
    let puzzle = Puzzle::new(sim, &key, &header, tries);
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
    Ok(showing(login, Pass::Work(Work { height, nonce })))
}

/// Returns the login with this pass.
fn showing(login: Act, pass: Pass) -> Act {
    match login {
        Act::Login { name, look, bot, .. } => Act::Login { name, look, bot, pass: Some(pass) },
        other => other,
    }
}
