//! Guests who come in by tickets.

use std::process::Output;

use crate::plaza::{Folder, Plaza, json, key, run};

const WORDS: &str = "good morning";

fn says(output: &Output, code: i32, text: &str) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{errors}");
    assert!(errors.contains(text), "`{text}` is not in: {errors}");
}

#[test]
fn a_sim_by_invitation_lets_in_who_has_a_ticket_once_and_the_same_key_for_good() {
    let folder = Folder::new("tickets");
    let plaza = Plaza::start_ruled(&folder.join("world"), 4, "invite");
    let url = plaza.servers[1].url.as_str();
    let [ada, bob] = ["ada", "bob"].map(|name| key(&folder, name));
    let admin = folder.join("world").join("admin.key").display().to_string();
    let say = |key: &str| run(&["say", WORDS, "--node", url, "--key", key]);
    let say_by = |key: &str, ticket: &str| {
        run(&["say", WORDS, "--node", url, "--key", key, "--ticket", ticket])
    };
    says(&say(&ada), 4, "ask one of its admins for one, and give it by --ticket");

    let dry = ["ticket", "new", "--node", url, "--key", &admin, "--dry-run", "--json"];
    let would = json(&dry);
    assert_eq!(would["would"], "let in 1 new key by a link that is good for 7 days");
    assert_eq!((&would["dry_run"], &would["by"]), (&true.into(), &"as admin".into()));
    let list = run(&["ticket", "list", "--node", url]);
    assert!(list.status.success() && list.stdout.is_empty(), "nothing was done: {list:?}");

    let made = json(&["ticket", "new", "--node", url, "--key", &admin, "--json"]);
    let link = made["link"].as_str().expect("a link");
    assert!(link.contains("/#ticket="), "{link}");
    says(&say_by(&ada, link), 0, "");
    says(&say(&ada), 0, "");
    says(&say_by(&bob, link), 4, "shows no ticket that is open");

    let other = json(&["ticket", "new", "--node", url, "--key", &admin, "--uses", "5", "--json"]);
    let (id, ticket) = (other["id"].as_str().unwrap(), other["ticket"].as_str().unwrap());
    let open = json(&["ticket", "list", "--node", url, "--json"]);
    assert_eq!((open["id"].as_str(), open["left"].as_u64()), (Some(id), Some(5)));
    let withdraw = || run(&["ticket", "withdraw", id, "--node", url, "--key", &admin]);
    let dry = ["ticket", "withdraw", id, "--node", url, "--key", &admin, "--dry-run"];
    says(&run(&dry), 0, "");
    says(&withdraw(), 0, "");
    says(&run(&dry), 4, "there is no such ticket, or it is used up");
    says(&say_by(&bob, ticket), 4, "shows no ticket that is open");
    says(&withdraw(), 4, "there is no such ticket, or it is used up");
    plaza.stop();
}

#[test]
fn only_an_admin_makes_tickets_and_a_mistyped_one_says_what_one_looks_like() {
    let folder = Folder::new("ticket-makers");
    let plaza = Plaza::start(&folder.join("world"), 1);
    let url = plaza.servers[0].url.as_str();
    let ada = key(&folder, "ada");

    let made = run(&["ticket", "new", "--node", url, "--key", &ada]);
    says(&made, 4, "only an admin may do this");
    let tried = run(&["ticket", "new", "--node", url, "--key", &ada, "--dry-run"]);
    says(&tried, 4, "only an admin may do this");
    let typed = run(&["say", WORDS, "--node", url, "--key", &ada, "--ticket", "12"]);
    says(&typed, 2, "a ticket is 64 hexadecimal digits, or a link");
    for (flag, value) in [("--uses", "0"), ("--uses", "1001"), ("--days", "31")] {
        says(&run(&["ticket", "new", "--key", &ada, flag, value]), 2, "is not in 1..=");
    }
    plaza.stop();
}

/// A server that lets somebody in by a ticket does not know yet that another one does so as well: the turn decides.
#[test]
fn a_ticket_for_one_that_two_people_show_at_two_servers_at_once_lets_one_of_them_in() {
    let folder = Folder::new("ticket-twice");
    let plaza = Plaza::start_ruled(&folder.join("world"), 4, "invite");
    let admin = folder.join("world").join("admin.key").display().to_string();
    let url = |server: usize| plaza.servers[server].url.as_str();
    let made = json(&["ticket", "new", "--node", url(0), "--key", &admin, "--json"]);
    let ticket = made["ticket"].as_str().expect("a ticket");
    let keys = ["ada", "bob"].map(|name| key(&folder, name));
    let shows = |server: usize, key: &str| {
        run(&["say", WORDS, "--node", url(server), "--key", key, "--ticket", ticket])
    };
    let [first, second] = std::thread::scope(|scope| {
        let all = [(1, &keys[0]), (2, &keys[1])];
        let all = all.map(|(server, key)| scope.spawn(move || shows(server, key)));
        all.map(|one| one.join().expect("it is answered"))
    });
    let (inside, outside) = match first.status.code() {
        Some(0) => (&keys[0], &keys[1]),
        _ => (&keys[1], &keys[0]),
    };
    let refused = if inside == &keys[0] { &second } else { &first };
    // The server has heard of the turn already, or the turn says so.
    says(refused, 4, "no ");
    says(refused, 4, "ticket");
    // All four agree who is in.
    for server in 0..4 {
        let say = |key: &str| run(&["say", WORDS, "--node", url(server), "--key", key]);
        says(&say(inside), 0, "");
        says(&say(outside), 4, "ask one of its admins for one");
    }
    plaza.stop();
}
