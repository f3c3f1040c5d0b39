//! Moderation in words: who did this, reports, rulings, and undo of what somebody did.

use crate::{
    bad_input::refused,
    lots::{ground, talks},
    plaza::{Folder, Person, Plaza, json, key, run},
};

#[test]
fn a_report_is_filed_ruled_on_and_heard_of_and_what_was_done_is_undone() {
    let folder = Folder::new("moderating");
    let sim = Plaza::start_at(&folder.join("world"), 1, &ground(&folder));
    let url = sim.servers[0].url.as_str();
    let admin = sim.dir.join("admin.key").display().to_string();
    let order = |words: &[&str]| {
        json(&[&["admin"], words, &["--json", "--node", url, "--key", &admin]].concat())
    };

    let mut pest = Person::enter_as("Pest", url, &key(&folder, "pest"));
    talks(&mut pest, &[("go north 12", "You walk"), ("build box 2 1 brown bench", "You build")]);
    let mut ada = Person::enter_as("Ada", url, &key(&folder, "ada"));
    talks(
        &mut ada,
        &[
            ("go north 8", "You walk"),
            ("who did bench", "made by Pest (key "),
            ("who did", "`who did` needs a thing"),
            ("report bench", "that is `report NAME WORDS`"),
            ("report bench it blocks the way", "Moderators are told of bench"),
            ("report bench again", "Your report of bench is open still"),
            ("stand", "You do not sit."),
            ("reports", "about bench"),
            ("tell 0000000000 hello", "Nobody of that name is here"),
            ("decide 1 upheld", "That did not work"),
        ],
    );
    let open = json(&["admin", "reports", "--json", "--node", url]);
    assert_eq!((&open["report"], &open["name"]), (&1.into(), &"bench".into()));
    assert_eq!(open["words"], "it blocks the way");
    let accused = open["accused"].as_str().expect("the pest's key").to_owned();

    let because = ["decide", "1", "--upheld", "--because", "no benches here"];
    let would = order(&[&because[..], &["--dry-run"]].concat());
    assert!(would["does"].as_str().is_some_and(|does| does.contains("about Pest")), "{would}");
    let ruled = order(&because);
    assert!(ruled["height"].is_u64(), "{ruled}");
    let heard = ada.sees("whispers to you");
    assert!(heard.ends_with("Your report 1 about bench was upheld: no benches here"), "{heard}");
    talks(&mut ada, &[("reports", "(upheld: no benches here)")]);

    let undo = ["undo", "--by", accused.as_str(), "--since", "1h"];
    let would = order(&[&undo[..], &["--dry-run"]].concat());
    let told = would["does"].as_str().unwrap_or_default().to_owned();
    assert!(told.contains("1 thing goes home or is deleted,"), "{would}");
    let undone = order(&undo);
    assert!(undone["height"].is_u64(), "{undone}");
    talks(&mut ada, &[("who did bench", "There is no bench in sight")]);
    let log = json(&["admin", "log", "--last", "1", "--json", "--node", url]);
    assert_eq!((&log["order"], &log["about"]), (&"undo".into(), &accused.into()));
    assert_eq!(log["terms"], "undone 1, stayed as they were 0");
    pest.leaves();
    ada.leaves();
    sim.stop();
}

#[test]
fn who_is_blocked_is_not_heard_also_from_afar_and_privately_and_moderators_act_in_words() {
    let folder = Folder::new("blocking");
    let sim = Plaza::start_at(&folder.join("world"), 1, &ground(&folder));
    let url = sim.servers[0].url.as_str();
    let mut pest = Person::enter_as("Pest", url, &key(&folder, "pest"));
    // Orders name only people who are here: an answer shows that the pest has entered.
    talks(&mut pest, &[("who", "that is you")]);
    let ada_key = key(&folder, "ada");
    let mut ada = Person::enter_as("Ada", url, &ada_key);
    talks(
        &mut ada,
        &[
            ("mute Pest for 1 hour because noise", "That did not work"),
            ("unblock Pest", "You blocked nobody of that name"),
            ("block Nobody", "Nobody of that name is here"),
            ("block Ada", "That is you."),
            ("block Pest", "You read no words of Pest any more; `unblock "),
            ("blocks", "Pest (key "),
        ],
    );
    talks(&mut pest, &[("shout pots", "You shout: pots"), ("tell Ada pans", "You tell Ada")]);
    let admin = sim.dir.join("admin.key").display().to_string();
    let mut warden = Person::enter_as("Warden", url, &admin);
    talks(&mut warden, &[("shout lids", "You shout: lids")]);
    ada.leaves();
    // The list lies beside the key. What was said meanwhile comes again, and is not shown either: the pots came
    // before the lids did.
    let mut ada = Person::enter_as("Ada", url, &ada_key);
    ada.sees("Warden shouts: lids");
    talks(&mut ada, &[("mailbox", "Your mailbox is empty"), ("unblock Pest", "You read words")]);
    talks(&mut pest, &[("shout kettles", "You shout: kettles")]);
    ada.sees("Pest shouts: kettles");
    assert!(!ada.has_seen("pots") && !ada.has_seen("pans"), "a blocked person is heard");

    talks(&mut warden, &[("mute Pest for 1 hour because noise", "Pest is muted for 1 hour")]);
    talks(&mut pest, &[("say hm", "muted you")]);
    talks(
        &mut warden,
        &[
            ("kick Pest for 1 hour", "that is `kick NAME`"),
            ("unmute Pest", "Pest may speak again"),
            ("ban Pest for 2 hours because spam", "Pest is banned for 2 hours; `unban "),
            ("unban Pest", "Nobody of that name is here"),
        ],
    );
    ada.leaves();
    warden.leaves();
}

/// Most orders were never given as commands in a test: each is here, against a server that runs.
#[test]
fn each_order_is_a_command_and_its_refusal_ends_with_exit_code_4() {
    let folder = Folder::new("ordering");
    let sim = Plaza::start_at(&folder.join("world"), 1, &ground(&folder));
    let url = sim.servers[0].url.as_str();
    let admin = sim.dir.join("admin.key").display().to_string();
    let order = |words: &[&str]| {
        json(&[&["admin"], words, &["--json", "--node", url, "--key", &admin]].concat())
    };
    let [ada_key, pest_key, second_key] = ["ada", "pest", "second"].map(|name| key(&folder, name));
    let [ada, pest, second] = [&ada_key, &pest_key, &second_key].map(|file| public_of(file));
    let mut person = Person::enter_as("Pest", url, &pest_key);
    talks(&mut person, &[("go north 12", "You walk"), ("build box 2 1 brown bench", "You build")]);
    let mut helper = Person::enter_as("Ada", url, &ada_key);
    talks(&mut helper, &[("go north 8", "You walk"), ("report bench so", "Moderators are told")]);
    let open = json(&["admin", "reports", "--json", "--node", url]);
    let bench = open["object"].to_string();

    let given = |words: &[&str]| {
        let would = order(&[words, &["--dry-run"]].concat());
        assert_eq!((&would["dry_run"], would["height"].is_null()), (&true.into(), true), "{would}");
        let done = order(words);
        assert_eq!(done["dry_run"], false, "{done}");
        assert!(done["height"].is_u64() && done["order"].is_string(), "{done}");
        assert_eq!(done["does"], would["does"]);
    };
    for words in [
        &["freeze", bench.as_str()][..],
        &["thaw", &bench],
        &["return", &bench],
        &["grant", &ada, "moderate", "--for", "30d"],
        &["revoke", &ada, "moderate"],
        &["appoint", &ada],
        &["dismiss", &ada],
        &["motd", "Market day!"],
        &["mute", &pest, "--for", "1h", "--reason", "loud"],
        &["unmute", &pest],
        &["kick", &pest],
        &["ban", &pest, "--for", "7d", "--reason", "benches"],
    ] {
        given(words);
    }
    dry_runs_of_changes_tell_them_and_refuse_strangers(url, &admin, &ada_key);
    let admins = json(&["admin", "admins", "--json", "--node", url]);
    assert_eq!(admins["motd"], "Market day!");
    let banned = admins["people"][0]["banned"].as_str().unwrap_or_default();
    assert!(banned.ends_with("benches"), "{admins}");
    given(&["unban", &pest]);
    // A key logs in sixteen times in half a minute, as often as it may, so a second admin gives the rest.
    json(&["say", "here", "--json", "--node", url, "--key", &second_key]);
    order(&["appoint", &second]);
    // A script of single orders failed at the 17th login: one order takes several keys.
    let by_second = ["--json", "--node", url, "--key", &second_key];
    let both = |verb| run(&[&["admin", verb, &pest, &ada], &by_second[..]].concat());
    let lines =
        |output: &std::process::Output| String::from_utf8_lossy(&output.stdout).lines().count();
    let muted = both("mute");
    assert_eq!((muted.status.code(), lines(&muted)), (Some(0), 2), "{muted:?}");
    json(&[&["admin", "unmute", &pest], &by_second[..]].concat());
    let unmuted = both("unmute");
    refused(&unmuted, 4, &["already", &pest]);
    assert_eq!(lines(&unmuted), 1, "the other one is unmuted nevertheless");
    let log = json(&["admin", "log", "--last", "1", "--json", "--node", url]);
    assert_eq!(log["order"], "unmute");

    let ban = ["admin", "ban", &pest, "--node", url, "--key", &ada_key];
    refused(&run(&ban), 4, &["an admin gives it by a role"]);
    refused(&run(&[&ban[..], &["--dry-run"]].concat()), 4, &["metatopia admin admins"]);
    let twice = ["admin", "unban", &pest, "--dry-run", "--node", url, "--key", &admin];
    refused(&run(&twice), 4, &["already"]);

    // A sentence or an order without --name called whoever gave it a guest, and somebody else could take her name.
    let said = json(&["say", "here", "--json", "--node", url, "--key", &ada_key]);
    assert_eq!(said["proven"], true, "{said}");
    assert_eq!(order(&["kick", &ada, "--dry-run"])["name"], "Ada");
    // Whoever was kicked is not here any more, and leaves by herself.
    drop(person);
    sim.stop();
}

fn dry_runs_of_changes_tell_them_and_refuse_strangers(url: &str, admin: &str, stranger: &str) {
    let set =
        |key| ["admin", "set", "objects_max", "1500", "--dry-run", "--node", url, "--key", key];
    let would = json(&[&set(admin)[..], &["--json"]].concat());
    assert_eq!((&would["would"]["by"], would["height"].is_null()), (&"as admin".into(), true));
    assert!(would["would"]["players"].as_u64() >= Some(3), "the admin and two others: {would}");
    refused(&run(&set(stranger)), 4, &["metatopia admin admins"]);
    let status = json(&["status", "--json", "--node", url]);
    let voter = status["validators"][0].as_str().expect("who votes");
    let contact = "12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN@/ip4/127.0.0.1/tcp/9";
    let promote = ["admin", "promote", voter, "--contact", contact, "--dry-run", "--node", url];
    refused(&run(&[&promote[..], &["--key", admin]].concat()), 4, &["votes already"]);
}

fn public_of(file: &str) -> String {
    let shown = json(&["keys", "show", file, "--json"]);
    shown["public"].as_str().expect("a key").to_owned()
}

#[test]
fn an_admin_opens_ground_to_everybody_and_closes_it_again() {
    let folder = Folder::new("lands");
    let sim = Plaza::start(&folder.join("world"), 1);
    let url = sim.servers[0].url.as_str();
    let admin = sim.dir.join("admin.key").display().to_string();
    let at = ["--json", "--node", url];
    let order =
        |words: &[&str]| json(&[&["admin", "land"], words, &at, &["--key", &admin]].concat());
    let lands = || {
        let listed = run(&[&["admin", "land", "list"][..], &at].concat());
        String::from_utf8_lossy(&listed.stdout).into_owned()
    };
    let before = lands();
    let market = ["set", "market", "-20", "4", "30", "16", "--owner", "open"];
    let would = order(&[&market[..], &["--dry-run"]].concat());
    assert_eq!((&would["dry_run"], lands()), (&true.into(), before.clone()), "{would}");
    assert_eq!(order(&market)["does"], would["does"]);
    let open = lands();
    let first = open.lines().next().unwrap_or_default();
    assert!(first.contains("market") && first.contains("\"owner\":\"open\""), "{open}");
    let again = [&["admin", "land"], &market[..], &at, &["--key", &admin]].concat();
    refused(&run(&again), 4, &["it is so already"]);
    order(&["remove", "market"]);
    assert_eq!(lands(), before);
    let none = [&["admin", "land", "remove", "market"], &at[..], &["--key", &admin]].concat();
    refused(&run(&none), 4, &["no land of this name", "admin land list"]);
    sim.stop();
}

/// A ban was tried at one server only, in a test without sockets.
#[test]
fn a_ban_that_one_server_takes_ends_the_session_of_the_key_at_another_one() {
    let folder = Folder::new("banning");
    let sim = Plaza::start(&folder.join("world"), 4);
    let url = |server: usize| sim.servers[server].url.as_str();
    let admin = sim.dir.join("admin.key").display().to_string();
    let pest_key = key(&folder, "pest");
    let mut pest = Person::enter_as("Pest", url(2), &pest_key);
    talks(&mut pest, &[("say hello", "hello")]);
    let mut ada = Person::enter_as("Ada", url(2), &key(&folder, "ada"));

    let pest_public = public_of(&pest_key);
    let ban = ["admin", "ban", &pest_public, "--json", "--node", url(0), "--key", &admin];
    assert!(json(&ban)["height"].is_u64());

    let code = pest.ends_by_itself();
    assert!(code.is_some_and(|code| code != 0), "{code:?}");
    // The key is refused at every server, and whoever is not banned goes on.
    for server in 0..4 {
        let again = run(&["say", "hello", "--node", url(server), "--key", &pest_key]);
        assert_eq!(again.status.code(), Some(4), "server {server}: {again:?}");
    }
    talks(&mut ada, &[("say good morning", "good morning")]);
    ada.leaves();
    sim.stop();
}
