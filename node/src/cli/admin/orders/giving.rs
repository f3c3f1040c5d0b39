//! Giving orders, several of them in one session, or asking what they would do.

use std::fmt;

use metatopia_client::text::would_do;
use metatopia_client_driver::ClientDriver;
use metatopia_protocol::{Answer, DryRunEntry, IntendedOrder, Question};
use metatopia_sim::limits::UNDONE_PER_ACT_MAX;
use metatopia_types::{Act, Blob, GovernOrder, Height, Outcome, PublicKey, Refusal};
use serde::Serialize;

use super::{OrderArgs, refusing::refused};
use crate::cli::{
    console::Console,
    failure::Failure,
    say::{decide_and_prove, do_after, leave_again},
    session::{ANSWER, PlayerArgs},
};

/// The line that tells of an order.
#[derive(Debug, Serialize)]
struct Ordered {
    order: &'static str,
    /// Says whether it was only asked what the order would do.
    dry_run: bool,
    person: Option<String>,
    name: Option<String>,
    object: Option<u64>,
    report: Option<u64>,
    /// The turn that carried it out.
    height: Option<u64>,
    /// What it does, in words.
    does: String,
}

impl fmt::Display for Ordered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.height {
            Some(height) => write!(f, "{} in turn {height}", self.does),
            None => write!(f, "would: {}", self.does),
        }
    }
}

/// Returns the failure of a session that ended at the order about this key, with so many orders to come.
fn ended_at(key: Option<&PublicKey>, rest: usize, failure: Failure) -> Failure {
    let key = key.map_or_else(String::new, |key| format!("{key}: "));
    let failure = Failure { message: format!("{key}{failure}"), ..failure };
    match rest {
        0 => failure,
        1 => failure.hint("the last order was not given"),
        rest => failure.hint(&format!("the last {rest} orders were not given")),
    }
}

/// Gives an order, or says what it would do.
pub(in crate::cli::admin) async fn carry_out(
    order: GovernOrder,
    args: OrderArgs,
    console: Console,
) -> Result<(), Failure> {
    carry_out_naming(order, None, args, console).await
}

/// Gives an order that names this blob, or says what it would do.
pub(in crate::cli::admin) async fn carry_out_naming(
    order: GovernOrder,
    blob: Option<Blob>,
    args: OrderArgs,
    console: Console,
) -> Result<(), Failure> {
    give_in_session(&[order], blob, args, console).await
}

/// Gives orders in one session, each by an act, or says what they would do. A refusal of one stops no other.
///
/// # Errors
/// That of the first order that is refused, or what ended the session.
pub(super) async fn carry_out_all(
    orders: &[GovernOrder],
    args: OrderArgs,
    console: Console,
) -> Result<(), Failure> {
    give_in_session(orders, None, args, console).await
}

async fn give_in_session(
    orders: &[GovernOrder],
    blob: Option<Blob>,
    OrderArgs { dry_run, admin }: OrderArgs,
    console: Console,
) -> Result<(), Failure> {
    let driver = admin.open().await?;
    let mut desk = OrderDesk { driver, admin, dry_run, was_here: None, blob };
    let done = desk.give_all(orders, console).await;
    leave_again(&mut desk.driver, desk.was_here.unwrap_or(true)).await;
    desk.driver.leave().await;
    done
}

/// Prints the line of an order that was given, or that was only asked about.
fn tell(
    (order, dry_run): (&GovernOrder, bool),
    (told, height): (&DryRunEntry, Option<u64>),
    console: Console,
) -> Result<(), Failure> {
    console.show(&Ordered {
        order: order.verb(),
        dry_run,
        person: order.person().map(ToString::to_string),
        name: told.person.as_ref().map(|person| person.name.clone()),
        object: order.object().map(|object| object.0),
        report: match order {
            GovernOrder::Decide { report, .. } => Some(*report),
            _ => None,
        },
        height,
        does: would_do(order, told),
    })
}

/// A session in which somebody gives orders, one after the other.
struct OrderDesk {
    driver: ClientDriver,
    admin: PlayerArgs,
    dry_run: bool,
    /// Once the login was submitted, whether the admin was in the sim before.
    was_here: Option<bool>,
    /// What its only order names, if it names anything.
    blob: Option<Blob>,
}

impl OrderDesk {
    async fn give_all(&mut self, orders: &[GovernOrder], console: Console) -> Result<(), Failure> {
        let mut first = None;
        for (index, order) in orders.iter().enumerate() {
            let given = self.give(order, console).await;
            let failure = match given {
                Ok((told, height)) => {
                    tell((order, self.dry_run), (&told, height), console)?;
                    continue;
                }
                Err(Ungiven::Refused(why)) => {
                    let ground = self.driver.trust().genesis.parameters.ground;
                    refused(order, why, ground)
                }
                Err(Ungiven::Failed(failure)) => {
                    let rest = orders.len() - index - 1;
                    return Err(ended_at(
                        order.person().filter(|_| orders.len() > 1),
                        rest,
                        failure,
                    ));
                }
            };
            if orders.len() == 1 {
                return Err(failure);
            }
            // The others are given nevertheless.
            console.error(&failure);
            first = first.or(Some(Failure::quiet(failure.exit)));
        }
        first.map_or(Ok(()), Err)
    }

    /// Gives an order, unless it is only asked what it would do. Returns what that is, and the turn that
    /// carried it out.
    async fn give(
        &mut self,
        order: &GovernOrder,
        console: Console,
    ) -> Result<(DryRunEntry, Option<u64>), Ungiven> {
        let intended = IntendedOrder { author: self.driver.author(), order: order.clone() };
        let question = Question::DryRun(Box::new(intended));
        let Answer::DryRun(told) =
            self.driver.ask(question, ANSWER).await.map_err(Failure::from)?
        else {
            return Err(Failure::failed("the node does not say what an order would do").into());
        };
        if self.dry_run {
            return match told.verdict {
                Ok(_) => Ok((*told, None)),
                Err(why) => Err(Ungiven::Refused(why)),
            };
        }
        // What one node says decides nothing: the turn does. Only a rule that is known already costs no act.
        if let Err(why @ (Refusal::NoObject | Refusal::Person | Refusal::NoReport)) = told.verdict {
            return Err(Ungiven::Refused(why));
        }
        let mut height = self.act(order, console).await?;
        // What one act leaves, the next ones do.
        let more = told.traced.all().saturating_sub(1) / UNDONE_PER_ACT_MAX as u32;
        for _ in 0..more {
            height = self.act(order, console).await?;
        }
        Ok((*told, Some(height.0)))
    }

    /// Has the act of an order decided, after the login if that is still to come. Returns the height of its turn.
    async fn act(&mut self, order: &GovernOrder, console: Console) -> Result<Height, Ungiven> {
        let act = (Act::Govern(order.clone()), self.blob.iter().cloned().collect());
        let (height, outcome) = match self.was_here {
            Some(_) => decide_and_prove(&mut self.driver, act).await?,
            None => {
                let (login, was_here) = self.admin.login_over(&mut self.driver, console).await?;
                self.was_here = Some(was_here);
                do_after(&mut self.driver, login, act).await?
            }
        };
        match outcome {
            Outcome::Refused(why) => Err(Ungiven::Refused(why)),
            _ => Ok(height),
        }
    }
}

/// Why an order was not given.
enum Ungiven {
    /// A rule of the sim refused it.
    Refused(Refusal),
    /// The session failed.
    Failed(Failure),
}

impl From<Failure> for Ungiven {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::exit::Exit;

    /// A node that went away at the 20th of 50 keys left nobody knowing which of them were banned.
    #[test]
    fn a_session_that_ends_early_names_its_order_and_how_many_were_not_given() {
        let key = PublicKey([7; 32]);
        let away = || Failure::timed_out("no answer within 5s");
        let ended = ended_at(Some(&key), 30, away());
        let told = format!("{key}: no answer within 5s; the last 30 orders were not given");
        assert_eq!((ended.exit, ended.message), (Exit::TimedOut, told));
        assert!(ended_at(Some(&key), 1, away()).message.ends_with("the last order was not given"));
        assert_eq!(ended_at(None, 0, away()), away());
    }
}
