//! The main job: four processes, one world, people in it, a proposer killed and brought back.

use std::{process::Command, time::Instant};

use serde_json::Value;

use crate::plaza::{Folder, PATIENCE, PROGRAM, Person, Plaza, json, key, run};

/// Returns what `log verify` says of every server's log below a folder.
fn verify(dir: &std::path::Path) -> Vec<Value> {
    let dir = dir.display().to_string();
    let output = run(&["log", "verify", "--json", &dir]);
    let text = String::from_utf8(output.stdout).expect("JSON is text");
    assert_eq!(output.status.code(), Some(0), "{text}");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story of one life")]
fn four_servers_carry_on_when_the_proposer_is_killed_and_agree_with_it_when_it_is_back() {
    let folder = Folder::new("main-job");
    let plaza = Plaza::start(&folder.join("world"), 4);
    let (ada, bob, eve) = (key(&folder, "ada"), key(&folder, "bob"), key(&folder, "eve"));

    // Three people at three servers: they hear each other, and see what one of them pushes.
    let mut first = Person::enter(&plaza.servers[0].url, &ada);
    let mut second = Person::enter(&plaza.servers[1].url, &bob);
    let mut third = Person::enter(&plaza.servers[2].url, &eve);
    for person in [&mut first, &mut second, &mut third] {
        person.types("look");
        person.sees("You stand at");
    }
    second.types("shout good morning");
    let words = first.sees("good morning");
    assert!(words.contains("shouts"), "{words}");
    third.sees("good morning");
    first.types("push crate");
    let pushed = first.sees("You push crate");
    assert!(pushed.contains("slides"), "{pushed}");

    // The crate is where it was pushed to, in everybody's state.
    let height = plaza.height(0);
    for index in 1..4 {
        plaza.reach(index, height);
    }
    let roots = plaza.roots(&[0, 1, 2, 3], height);
    assert!(roots.iter().all(|root| *root == roots[0]), "{roots:?}");

    // The proposer of the height under way dies; the others go on, and people with them.
    let proposer = plaza.status(3)["proposer"].as_str().expect("somebody proposes").to_owned();
    let victim = plaza.servers.iter().position(|server| server.key == proposer);
    let victim = victim.expect("the proposer is one of the four");
    let others: Vec<usize> = (0..4).filter(|index| *index != victim).collect();
    plaza.kill(victim);
    let gone_on = plaza.reach(others[0], plaza.height(others[0]) + 3);
    println!("three turns after the kill took {gone_on:?}");
    let after = json(&[
        "say",
        "we are still here",
        "--json",
        "--node",
        &plaza.servers[others[1]].url,
        "--key",
        &bob,
    ]);
    assert_eq!(after["outcome"], "ok");

    // It comes back on its own data, follows, and votes again.
    let began = Instant::now();
    let mut restarted = plaza.restart(victim);
    let target = plaza.height(others[0]);
    loop {
        let ended = restarted.try_wait().expect("it can be asked");
        assert!(ended.is_none(), "the restarted server ended: {ended:?}");
        let url = &plaza.servers[victim].url;
        let status = run(&["status", "--json", "--node", url]);
        let status: Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
        if status["root_height"].as_u64().is_some_and(|height| height >= target)
            && status["waiting_for"].is_null()
        {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "the server does not come back: {status}");
    }
    println!("the killed server votes again after {:?}", began.elapsed());
    let height = plaza.height(victim).min(plaza.height(others[0]));
    let roots = plaza.roots(&[victim, others[0], others[1]], height);
    assert!(roots.iter().all(|root| *root == roots[0]), "{roots:?}");

    for person in [first, second, third] {
        drop(person);
    }
    crate::plaza::interrupt(&restarted);
    assert!(restarted.wait().expect("it ends").success());
    let (dir, sim) = (plaza.dir.clone(), plaza.sim.clone());
    plaza.stop();
    let verdicts = verify(&dir);
    assert_eq!(verdicts.len(), 4);
    for verdict in &verdicts {
        assert_eq!(
            (&verdict["ok"], &verdict["sim"]),
            (&Value::Bool(true), &Value::String(sim.clone()))
        );
    }
}

#[test]
fn a_second_start_resumes_the_same_world_and_receipts_can_be_asked_for_again() {
    let folder = Folder::new("resume");
    let ada = key(&folder, "ada");
    let plaza = Plaza::start(&folder.join("world"), 4);
    let url = plaza.servers[2].url.clone();
    let said = json(&["say", "remember me", "--json", "--node", &url, "--key", &ada]);
    let text = |value: &Value| value.to_string().trim_matches('"').to_owned();
    let (author, lane, seq) = (text(&said["author"]), text(&said["lane"]), text(&said["seq"]));
    let other = plaza.servers[0].url.clone();
    let receipt = json(&["receipt", "--json", &author, &lane, &seq, "--node", &other]);
    assert_eq!((&receipt["height"], &receipt["index"]), (&said["height"], &said["index"]));
    let (sim, height) = (plaza.sim.clone(), plaza.height(0));
    plaza.stop();

    let plaza = Plaza::start(&folder.join("world"), 4);
    assert_eq!(plaza.sim, sim);
    plaza.reach(0, height + 5);
    let url = plaza.servers[1].url.clone();
    let receipt = json(&["receipt", "--json", &author, &lane, &seq, "--node", &url]);
    assert_eq!(receipt["height"], said["height"]);
    plaza.stop();
}

#[test]
fn one_server_is_a_world_of_its_own_and_ends_when_told_to() {
    let folder = Folder::new("alone");
    let dir = folder.join("world");
    let output = Command::new(PROGRAM)
        .args(["up", "--json", "--servers", "1", "--exit-after", "2s", "--http-port", "0"])
        .arg("--data-dir")
        .arg(&dir)
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let verdicts = verify(&dir);
    assert_eq!(verdicts.len(), 1);
    assert!(verdicts[0]["height"].as_u64().is_some_and(|height| height > 10), "{verdicts:?}");
}

#[test]
fn bots_lose_nothing_and_the_order_of_a_scripts_events_can_be_shown() {
    let folder = Folder::new("bots");
    let plaza = Plaza::start(&folder.join("world"), 4);
    let urls: Vec<&str> = plaza.servers.iter().map(|server| server.url.as_str()).collect();
    let report = json(&[
        "bots",
        "--json",
        "--node",
        &urls.join(","),
        "--count",
        "8",
        "--rate",
        "5",
        "--duration",
        "3s",
        "--build",
    ]);
    assert_eq!(report["lost"], 0, "{report}");
    assert!(report["acknowledged"].as_u64().is_some_and(|count| count > 50), "{report}");

    let ada = key(&folder, "ada");
    let said = json(&["say", "help", "--json", "--node", urls[0], "--key", &ada]);
    let height = said["height"].to_string();
    let scripts = run(&["script", "list", "--json", "--node", urls[0]]);
    let scripts = String::from_utf8(scripts.stdout).expect("JSON is text");
    let greeter = scripts
        .lines()
        .flat_map(|line| match serde_json::from_str(line).expect("JSON") {
            Value::Array(all) => all,
            one => vec![one],
        })
        .find(|script| script["name"] == "greeter")
        .expect("a greeter");
    let script = greeter["script"].to_string();
    let show = |url: &str| {
        run(&["order", "show", "--json", "--node", url, "--height", &height, "--script", &script])
    };
    let (here, there) = (show(urls[0]), show(urls[3]));
    let text = String::from_utf8_lossy(&here.stdout).into_owned();
    assert!(text.contains("help"), "{text}");
    assert_eq!(here.stdout, there.stdout, "two servers show two orders");
    // It was said of a script that there is not that it got no event, with exit code 0.
    let words = ["order", "show", "--node", urls[0], "--height", &height, "--script", "99999"];
    let nobody = run(&words);
    let told = String::from_utf8_lossy(&nobody.stderr);
    assert_eq!(nobody.status.code(), Some(3), "{told}");
    assert!(told.contains("no script 99999 runs there"), "{told}");
    plaza.stop();
}
