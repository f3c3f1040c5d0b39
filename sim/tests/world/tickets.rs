//! Tickets of admins, by which keys come in that the sim does not know.

use metatopia_sim::{
    ActFault, FirstLogin, Judging, LaneWindows, Standings as _, limits::TICKETS_PER_ADMIN_MAX,
};
use metatopia_types::{
    Act, Height, Look, Outcome, Pass, Refusal, TicketOrder, TicketPass, limits::ROOT_LAG,
};

use crate::yard::{Builder, Yard, key, public};

const ADMIN: u8 = 100;
const TICKET: u8 = 240;

fn yard() -> Yard {
    let mut builder = Builder::new();
    builder.genesis.parameters.first_login = FirstLogin::Invite;
    let mut yard = builder.build();
    yard.login(ADMIN);
    yard.play();
    yard
}

fn issue(n: u8, uses: u32) -> Act {
    Act::Ticket(TicketOrder::Issue { ticket: public(n), uses, days: 1 })
}

fn withdraw(n: u8) -> Act {
    Act::Ticket(TicketOrder::Withdraw { ticket: public(n) })
}

/// The first login of the n-th key by the ticket.
fn entering(yard: &Yard, n: u8) -> Act {
    let pass = TicketPass::new(&key(TICKET), yard.world.sim(), &public(n));
    let (name, look) = (format!("guest {n}"), Look::default());
    Act::Login { name, look, bot: false, pass: Some(Pass::Ticket(pass)) }
}

/// Judges the n-th key's first login in a turn of this height.
fn judged(yard: &Yard, n: u8, height: Height) -> Result<(), ActFault> {
    let mut other = Yard::of(yard.world.clone());
    let act = other.act(n, entering(yard, n)).envelope;
    let act = metatopia_types::Envelope { last_valid: height.plus(9), ..act };
    let judging = Judging { standings: &yard.world, proposer: None };
    LaneWindows::default().admission(height, None, judging).check(&act)
}

#[test]
fn an_admin_lets_as_many_people_in_as_the_ticket_says() {
    let mut yard = yard();
    assert_eq!(yard.try_act(ADMIN, issue(TICKET, 2)), Outcome::Ok);
    let issued = yard.world.height();

    // Turns are judged by the state whose root their headers carry.
    assert_eq!(judged(&yard, 1, issued.plus(1)), Err(ActFault::NoTicket));
    assert_eq!(judged(&yard, 1, issued.plus(ROOT_LAG)), Ok(()));
    yard.idle(ROOT_LAG);

    let entered: Vec<_> = (1..=3).map(|n| yard.act(n, entering(&yard, n))).collect();
    yard.play();
    let mut outcomes: Vec<_> = entered.iter().map(|act| yard.outcome(act)).collect();
    outcomes.sort_by_key(|outcome| !outcome.is_done());
    let full = Outcome::Refused(Refusal::NoTicket);
    assert_eq!(outcomes, [Outcome::Ok, Outcome::Ok, full], "three came by a ticket for two");

    yard.idle(ROOT_LAG);
    let height = yard.world.height().plus(1);
    assert_eq!(judged(&yard, 9, height), Err(ActFault::NoTicket), "it is used up");
    assert_eq!(yard.world.first_logins().tickets().open(height).count(), 0);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn who_came_in_by_a_ticket_comes_again_without_one() {
    let mut yard = yard();
    yard.try_act(ADMIN, issue(TICKET, 1));
    assert_eq!(yard.try_act(1, entering(&yard, 1)), Outcome::Ok);
    assert_eq!(yard.try_act(1, Act::Leave), Outcome::Ok);

    let again = yard.login(1);
    yard.play();

    assert_eq!(yard.outcome(&again), Outcome::Ok);
}

#[test]
fn a_ticket_that_was_withdrawn_or_is_too_old_lets_nobody_in() {
    let mut yard = yard();
    yard.turn_ms = 60_000;
    yard.try_act(ADMIN, issue(TICKET, 9));
    assert_eq!(yard.try_act(ADMIN, withdraw(TICKET)), Outcome::Ok);
    assert_eq!(yard.try_act(1, entering(&yard, 1)), Outcome::Refused(Refusal::NoTicket));
    assert_eq!(yard.try_act(ADMIN, withdraw(TICKET)), Outcome::Refused(Refusal::NoTicket));

    yard.idle(2 * ROOT_LAG);
    yard.login(ADMIN);
    assert_eq!(yard.try_act(ADMIN, issue(TICKET, 9)), Outcome::Ok);
    yard.idle(24 * 60);
    assert_eq!(yard.try_act(1, entering(&yard, 1)), Outcome::Refused(Refusal::NoTicket));
}

#[test]
fn only_admins_issue_tickets_and_only_so_many() {
    let mut yard = yard();
    yard.try_act(ADMIN, issue(TICKET, 1));
    assert_eq!(yard.try_act(1, entering(&yard, 1)), Outcome::Ok);
    for act in [issue(TICKET - 1, 1), withdraw(TICKET)] {
        assert_eq!(yard.try_act(1, act), Outcome::Refused(Refusal::NotAdmin));
    }

    let wrong = Act::Ticket(TicketOrder::Issue { ticket: public(1), uses: 0, days: 1 });
    assert_eq!(yard.try_act(ADMIN, wrong), Outcome::Refused(Refusal::OutOfRange));
    for n in 0..TICKETS_PER_ADMIN_MAX {
        assert_eq!(yard.try_act(ADMIN, issue(n as u8, 1)), Outcome::Ok, "ticket {n}");
    }
    assert_eq!(yard.try_act(ADMIN, issue(99, 1)), Outcome::Refused(Refusal::TooManyTickets));
}
