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
    says(&withdraw(), 0, "");
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
    let typed = run(&["say", WORDS, "--node", url, "--key", &ada, "--ticket", "12"]);
    says(&typed, 2, "a ticket is 64 hexadecimal digits, or a link");
    for (flag, value) in [("--uses", "0"), ("--uses", "1001"), ("--days", "31")] {
        says(&run(&["ticket", "new", "--key", &ada, flag, value]), 2, "is not in 1..=");
    }
    plaza.stop();
}
