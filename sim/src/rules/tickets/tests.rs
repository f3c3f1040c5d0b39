use super::*;

const ADMIN: PublicKey = PublicKey([1; 32]);
const TICKET: PublicKey = PublicKey([9; 32]);

fn issued(uses: u32, height: u64) -> Tickets {
    let mut tickets = Tickets::default();
    assert_eq!(tickets.check_issue(&ADMIN, &TICKET, uses, 1), Ok(()));
    tickets.issue(TICKET, ADMIN, uses, 1, (Height(height), 0));
    tickets
}

#[test]
fn a_ticket_counts_for_turns_that_are_judged_by_a_state_in_which_it_is_open() {
    let mut tickets = issued(2, 10);
    let heights = |tickets: &Tickets| {
        (1..30).filter(|height| tickets.accepts(&TICKET, Height(*height))).collect::<Vec<_>>()
    };
    assert_eq!(heights(&tickets), (10 + ROOT_LAG..30).collect::<Vec<_>>());

    tickets.withdraw(&TICKET, Height(15));
    assert!(!tickets.has_use(&TICKET));
    let open = 10 + ROOT_LAG..15 + ROOT_LAG;
    assert_eq!(heights(&tickets), open.clone().collect::<Vec<_>>());

    // A server that has applied a later turn judges by the same tickets.
    for height in 16..=15 + ENDED_HEIGHTS {
        tickets.pass(0, Height(height));
        assert!(tickets.accepts(&TICKET, Height(open.end - 1)), "after turn {height}");
    }
    tickets.pass(0, Height(16 + ENDED_HEIGHTS));
    assert_eq!(tickets, Tickets::default());
}

#[test]
fn a_ticket_lets_in_as_many_keys_as_its_admin_said_and_no_longer() {
    let mut tickets = issued(2, 1);
    tickets.take(&TICKET, Height(5));
    assert!(tickets.has_use(&TICKET));
    tickets.take(&TICKET, Height(6));
    assert!(!tickets.has_use(&TICKET));

    let mut tickets = issued(2, 1);
    tickets.pass(DAY_MS - 1, Height(7));
    assert!(tickets.has_use(&TICKET));
    tickets.pass(DAY_MS, Height(8));
    assert!(!tickets.has_use(&TICKET));
}

#[test]
fn only_so_many_tickets_are_open() {
    let mut tickets = Tickets::default();
    let key = |n: usize| {
        let mut key = [3; 32];
        key[..8].copy_from_slice(&n.to_be_bytes());
        PublicKey(key)
    };
    for n in 0..TICKETS_MAX {
        let by = key(1_000 + n / TICKETS_PER_ADMIN_MAX);
        assert_eq!(tickets.check_issue(&by, &key(n), 1, 1), Ok(()));
        tickets.issue(key(n), by, TICKET_USES_MAX, TICKET_DAYS_MAX, (Height(u64::MAX), 1));
        if n % TICKETS_PER_ADMIN_MAX == TICKETS_PER_ADMIN_MAX - 1 {
            let full = tickets.check_issue(&by, &TICKET, 1, 1);
            assert_eq!(full, Err(Refusal::TooManyTickets));
        }
    }
    assert_eq!(tickets.check_issue(&ADMIN, &TICKET, 1, 1), Err(Refusal::TooManyTickets));
    let bytes = metatopia_types::wire::length(&tickets);
    assert!(bytes <= metatopia_types::limits::LEAF_BYTES_MAX * 2 / 5, "{bytes} bytes");
}

#[test]
fn a_ticket_is_issued_once_for_a_number_of_keys_and_days_that_is_allowed() {
    let tickets = issued(1, 1);
    assert_eq!(tickets.check_issue(&ADMIN, &TICKET, 1, 1), Err(Refusal::OutOfRange));
    let wrong = [(0, 1), (TICKET_USES_MAX + 1, 1), (1, 0), (1, TICKET_DAYS_MAX + 1)];
    for (uses, days) in wrong {
        let other = PublicKey([8; 32]);
        assert_eq!(tickets.check_issue(&ADMIN, &other, uses, days), Err(Refusal::OutOfRange));
    }
}
