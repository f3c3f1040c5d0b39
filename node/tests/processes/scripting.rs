//! The life of a script: written, checked, tested, published, attached, touched, upgraded, forked, compared.

use std::fs;

use crate::plaza::{Folder, Person, Plaza, json, key, run};

/// Runs a command that must end with this code, and returns all that it told.
fn told(code: i32, arguments: &[&str]) -> String {
    let output = run(arguments);
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8_lossy(&told).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
    told
}

#[test]
fn a_script_of_ones_own_runs_is_upgraded_and_forked() {
    let folder = Folder::new("scripting");
    let path = |name: &str| folder.join(name).display().to_string();
    let (lamp, fork, all) = (path("lamp"), path("fork"), path("all"));
    let plaza = Plaza::start(&folder.join("world"), 1);
    let (node, me) = (plaza.servers[0].url.as_str(), key(&folder, "ada"));
    let mut person = Person::enter(node, &me);
    person.types("go southeast 10");
    person.sees("You walk");
    person.types("build box 1 1 brown lantern");
    person.sees("You build lantern,");
    person.leaves();
    an_export_has_what_was_built_just_before(&folder, node);

    let made = json(&["script", "new", &lamp, "--author", "Ada", "--json"]);
    assert_eq!(made["licence"], "AGPL-3.0-or-later");
    assert!(told(0, &["script", "check", &lamp]).contains("fine"));
    assert!(told(0, &["script", "test", &lamp]).contains("passed  test_a_touch_lights_it"));

    let publish =
        ["script", "publish", &lamp, "--key", &me, "--node", node, "--attach", "lantern", "--json"];
    let published = json(&publish);
    assert_eq!(published["package"], made["package"]);
    assert!(published["height"].is_u64(), "{published}");
    let script = published["script"].as_u64().expect("the script's number").to_string();
    // Whoever logs in by a command takes over the session of the same key, so somebody else looks on.
    let mut person = Person::enter(node, &key(&folder, "bob"));
    person.types("go southeast 10");
    person.sees("You walk");
    // Whoever walks into it has touched it too, and each second touch puts the light out.
    person.types("touch lantern");
    person.types("touch lantern");
    person.sees("Hello, ");

    let text = fs::read_to_string(folder.join("lamp/lamp.rhai")).expect("the source");
    fs::write(folder.join("lamp/lamp.rhai"), text.replace("Hello,", "Welcome,")).expect("a file");
    assert!(told(1, &["script", "test", &lamp]).contains("tests.rhai:6:5: found"));
    let upgrade =
        ["script", "upgrade", &lamp, "--script", &script, "--key", &me, "--node", node, "--json"];
    let upgraded = json(&upgrade);
    assert_eq!(upgraded["before"], made["package"]);
    person.types("touch lantern");
    person.types("touch lantern");
    person.sees("Welcome, ");

    let id = upgraded["package"].as_str().expect("an id");
    let shown = json(&["script", "show", &id[..8], "--node", node, "--json"]);
    assert_eq!(shown["package"], id);
    assert_eq!(shown["runs"][0]["name"], "lantern");
    let packages = told(0, &["script", "list", "--packages", "--node", node]);
    assert!(packages.contains(&id[..8]) && packages.contains("lamp "), "{packages}");
    let forked = json(&["script", "fork", id, &fork, "--node", node, "--author", "Bob", "--json"]);
    assert_ne!(forked["package"], upgraded["package"]);
    let manifest = fs::read_to_string(folder.join("fork/package.toml")).expect("its manifest");
    assert!(manifest.contains(&format!("parent = \"{id}\"")), "{manifest}");
    let difference = told(0, &["script", "diff", id, &fork, "--node", node]);
    assert!(difference.contains("+parent = "), "{difference}");
    assert!(!difference.contains("b/lamp.rhai"), "only the manifest differs: {difference}");
    let first = made["package"].as_str().expect("an id");
    let difference = told(0, &["script", "diff", first, id, "--node", node]);
    assert!(difference.contains("+        say(`Welcome, ${other.name}!`);"), "{difference}");

    let written = told(0, &["script", "source", "--all", "-o", &all, "--node", node]);
    assert!(written.contains(&format!("re-hashes to {id}")), "{written}");
    assert!(folder.join("all/lamp/LICENSES/AGPL-3.0-or-later.txt").is_file());
    let top = told(0, &["script", "top", "--over", "1s", "--node", node]);
    assert!(top.contains("gas a second"), "{top}");
    told(0, &["script", "logs", "--node", node]);

    a_script_that_wears_out_is_resumed(&folder, node, &me, &mut person);
    a_long_package_goes_in_pieces_and_comes_out_whole(&folder, node, &me);
    an_upgrade_that_fails_is_told(&folder, &upgrade[..upgrade.len() - 1], id);
    assert!(told(3, &["script", "logs", "9999", "--node", node]).contains("no script 9999"));
    let detached = json(&["script", "detach", &script, "--key", &me, "--node", node, "--json"]);
    assert_eq!(detached["attached"], false);
    let missing = ["script", "upgrade", &lamp, "--script", &script, "--key", &me, "--node", node];
    assert!(told(3, &missing).contains("no script"));
    person.leaves();
    plaza.stop();
}

/// An export had the state of the last snapshot, half a minute old, and lost what was built since.
fn an_export_has_what_was_built_just_before(folder: &Folder, node: &str) {
    let copy = folder.join("copy").display().to_string();
    told(0, &["place", "export", &copy, "--node", node]);
    let place = fs::read_to_string(folder.join("copy/place.toml")).expect("the file");
    assert!(place.contains("name = \"lantern\""), "{place}");
    assert!(folder.join("copy/LICENSES/AGPL-3.0-or-later.txt").is_file());
}

/// An upgrade that the sim had taken back already was called done.
fn an_upgrade_that_fails_is_told(folder: &Folder, upgrade: &[&str], before: &str) {
    let text = fs::read_to_string(folder.join("lamp/lamp.rhai")).expect("the source");
    let failing = format!("{text}\nfn on_upgrade() {{ throw \"cracked\"; }}\n");
    fs::write(folder.join("lamp/lamp.rhai"), failing).expect("a file");
    let fallen = told(1, upgrade);
    assert!(fallen.contains(&format!("runs what it ran before: package {before}")), "{fallen}");
}

/// Publishes a package that is too long for one act, and fetches its source.
fn a_long_package_goes_in_pieces_and_comes_out_whole(folder: &Folder, node: &str, me: &str) {
    let (novel, again) = (folder.join("novel"), folder.join("again"));
    let (dir, out) = (novel.display().to_string(), again.display().to_string());
    json(&["script", "new", &dir, "--json"]);
    let notes: String = (0..5_500).map(|n| format!("Line {n} of what happens.\n")).collect();
    for (n, part) in notes.as_bytes().chunks(60_000).enumerate() {
        fs::write(novel.join(format!("notes{n}.txt")), part).expect("a file");
    }
    let publish = ["script", "publish", &dir, "--key", me, "--node", node, "--attach", "lantern"];
    let published = told(0, &publish);
    assert!(published.contains("novel: piece 1 of 5"), "{published}");
    assert!(published.contains("runs     as script "), "{published}");
    let id = published.split_whitespace().skip_while(|word| *word != "package").nth(1);
    let id = id.expect("an id");
    let written = told(0, &["script", "source", id, "-o", &out, "--node", node]);
    assert!(written.contains(&format!("which re-hashes to {id}")), "{written}");
    let last = fs::read(again.join("notes2.txt")).expect("the last notes");
    assert_eq!(last, fs::read(novel.join("notes2.txt")).expect("a file"));
    // Others write as much in a minute, but nobody twice as much.
    let more = fs::write(novel.join("notes3.txt"), "The end.\n".repeat(6_000));
    more.expect("a file");
    let refused = told(4, &publish[..7]);
    assert!(refused.contains("wait a minute"), "{refused}");
}

/// Puts a second script on the lantern of `me`, which fails again and again when `person` touches it.
fn a_script_that_wears_out_is_resumed(folder: &Folder, node: &str, me: &str, person: &mut Person) {
    // It works once, and then fails at each touch.
    let worn = folder.join("worn").display().to_string();
    json(&["script", "new", &worn, "--json"]);
    let source =
        "fn on_touch(other) {\n    if state.n == 1 { throw \"worn out\"; }\n    state.n = 1;\n}\n";
    fs::write(folder.join("worn/worn.rhai"), source).expect("a file");
    let publish =
        ["script", "publish", &worn, "--key", me, "--node", node, "--attach", "lantern", "--json"];
    let second = json(&publish)["script"].as_u64().expect("the script's number").to_string();
    let resume = ["script", "resume", &second, "--key", me, "--node", node];
    assert!(told(4, &resume).contains("is not suspended"));
    (0..4).for_each(|_| person.types("touch lantern"));
    person.types("say done");
    person.sees("You say: done");
    let list = told(0, &["script", "list", "--node", node]);
    assert!(
        list.contains(&format!("`metatopia script resume {second}` has it run again")),
        "{list}"
    );
    let logs = told(0, &["script", "logs", &second, "--node", node]);
    assert!(logs.contains("worn.rhai:2:23") && logs.contains("worn out"), "{logs}");
    assert!(told(0, &resume).contains("runs again from turn"));
    assert!(!told(0, &["script", "list", "--node", node]).contains("suspended"));
}

/// The form comes after the outcome of the touch, and lines of a pipe came before it.
#[test]
fn a_reply_in_a_pipe_waits_for_what_the_thing_asks() {
    let folder = Folder::new("scripting-reply");
    let own = folder.join("shop").display().to_string();
    json(&["place", "new", &own, "--template", "workshop", "--json"]);
    let shop = Plaza::start_at(&folder.join("world"), 1, &own);
    let mut person = Person::enter(shop.servers[0].url.as_str(), &key(&folder, "ada"));
    person.types("reply 1");
    person.sees("Nothing has asked you anything.");
    person.types("go drinks");
    person.sees("You walk");
    person.types("touch drinks");
    person.types("reply 2");
    person.sees("drinks asks: What would you like?");
    person.sees("You reply to drinks.");
    person.leaves();
    shop.stop();
}

#[test]
fn what_a_rule_of_the_sim_refuses_is_quoted() {
    let folder = Folder::new("scripting-refused");
    let path = |name: &str| folder.join(name).display().to_string();
    let (lamp, place) = (path("lamp"), path("yard"));
    json(&["place", "new", &place, "--template", "empty", "--json"]);
    let file = folder.join("yard/place.toml");
    let text = fs::read_to_string(&file).expect("the file");
    let closed = text.replacen("spawn = ", "publishers = \"admins\"\nspawn = ", 1);
    fs::write(&file, closed).expect("the file");
    json(&["script", "new", &lamp, "--json"]);
    let yard = Plaza::start_at(&folder.join("world"), 1, &place);
    let (node, me) = (yard.servers[0].url.as_str(), key(&folder, "ada"));

    let refused = told(4, &["script", "publish", &lamp, "--key", &me, "--node", node]);
    let rule = "the sim does not let this author publish source";
    let named = "the rule is `publishers = \"admins\"`: only admins publish";
    assert!(refused.contains(rule) && refused.contains(named), "{refused}");
    let mut person = Person::enter_from(&folder.join("."), node, &me);
    person.types("publish lamp");
    person.sees("The rule is `publishers = \"admins\"`: only admins publish");
    person.leaves();
    // An admin of the sim may, and finds the package there afterwards.
    let admin = folder.join("world/admin.key").display().to_string();
    let publish = ["script", "publish", &lamp, "--key", &admin, "--node", node, "--json"];
    assert!(json(&publish)["height"].is_u64());
    assert!(json(&publish)["height"].is_null());
    yard.stop();
}

#[test]
fn in_words_a_source_is_edited_published_upgraded_and_its_failures_are_read() {
    let folder = Folder::new("scripting-in-words");
    let plaza = Plaza::start(&folder.join("world"), 1);
    let (node, me) = (plaza.servers[0].url.as_str(), key(&folder, "ada"));
    let mut person = Person::enter_from(&folder.join("."), node, &me);
    person.types("go southeast 10");
    person.sees("You walk");
    person.types("build box 1 1 brown lantern");
    person.sees("You build lantern,");

    // On a pipe nobody is at an editor, so the file is named.
    person.types("edit nothing-at-all");
    person.sees("it is no example: arena, bell,");
    person.types("edit bell");
    person.sees("Change drafts/bell/bell.rhai, then: publish drafts/bell THING");
    person.types("publish drafts/bell lantern");
    person.sees("You publish bell, as package ");
    person.sees("It runs on lantern now.");
    person.types("logs lantern");
    person.sees("Of late the scripts on lantern logged nothing, and none failed.");
    person.types("publish drafts/bell");
    person.sees("The sim has bell already");
    let notes = folder.join("drafts/bell/notes.txt");
    for (n, name) in ["notes.txt", "more.txt"].into_iter().enumerate() {
        let file = folder.join("drafts/bell").join(name);
        fs::write(file, format!("{n} ").repeat(20_000)).expect("a file");
    }
    person.types("publish drafts/bell lantern");
    person.sees("Piece 3 of 3 is there.");
    person.sees("on lantern runs it now.");
    fs::remove_file(notes).expect("the file");

    let source = folder.join("drafts/bell/bell.rhai");
    fs::write(&source, "fn on_touch(other) {\n    sya(1);\n}\n").expect("a file");
    person.types("publish drafts/bell lantern");
    person.sees("bell.rhai:2:5");
    let failing = "fn on_upgrade() {}\nfn on_touch(other) {\n    log(\"rung\");\n    [][3]\n}\n";
    fs::write(&source, failing).expect("a file");
    person.types("edit lantern");
    person.sees("drafts/bell is there already; you go on with it.");
    person.types("edit lantern door");
    person.sees("No door runs on lantern, but bell (script ");
    person.types("publish drafts/bell lantern");
    person.sees("on lantern runs it now.");
    person.types("touch lantern");
    person.sees("You touch lantern.");
    person.types("logs lantern");
    person.sees("FAILED bell.rhai:4:");
    person.leaves();
    plaza.stop();
}

/// Whoever agreed on a port that no program has, by a slip in its digest, heard of it when all servers had stopped.
#[test]
fn a_server_stops_before_the_height_of_a_port_that_it_lacks_and_names_it() {
    let folder = Folder::new("ports");
    let dir = folder.join("world");
    let known = told(0, &["script", "ports"]);
    let package = known.split_whitespace().nth(1).expect("`package` and its id").to_owned();
    let port = "09".repeat(32);
    let mut plaza = Plaza::start(&dir, 1);
    plaza.reach(0, 3);
    let (node, admin) = (plaza.servers[0].url.clone(), dir.join("admin.key").display().to_string());
    let set =
        |value: &str| told(0, &["admin", "set", "ports", value, "--node", &node, "--key", &admin]);
    let from = plaza.height(0) + 100;
    let agreed = format!("+{package}:{port}:300:{from}");
    let warned = set(&agreed);
    assert!(warned.contains("warning: ") && warned.contains(&port), "{warned}");
    set(&format!("+{package}:none"));
    set(&agreed);

    let stop =
        format!("stops before height {from}: from height {from} on the sim runs package {package}");
    let died = plaza.told_by_up();
    let words = died["said"].as_str().unwrap_or_default();
    assert!(words.contains(&stop) && words.contains(&port), "{died}");
    drop(plaza);
    let dir = dir.display().to_string();
    let again = told(8, &["up", "--http-port", "0", "--data-dir", &dir]);
    assert!(again.contains(&stop), "{again}");
    // The turn was decided, and is applied by a program that has the port.
    let verified = told(8, &["log", "verify", &dir, "--json"]);
    assert!(verified.contains(&format!("\"height\":{from},")), "{verified}");
    assert!(verified.contains("\"ok\":false") && verified.contains(&port), "{verified}");
    assert!(verified.contains("\"lacks_port\":true"), "{verified}");
}

/// A refused `--attach` had published the package for good, and whoever published twice had two scripts on one thing.
#[test]
fn what_a_thing_may_not_run_is_not_published() {
    let folder = Folder::new("scripting-attach");
    let path = |name: &str| folder.join(name).display().to_string();
    let (lamp, other) = (path("lamp"), path("other"));
    let plaza = Plaza::start(&folder.join("world"), 1);
    let node = plaza.servers[0].url.as_str();
    let (ada, bob) = (key(&folder, "ada"), key(&folder, "bob"));
    let mut person = Person::enter(node, &ada);
    person.types("go southeast 10");
    person.sees("You walk");
    person.types("build box 1 1 brown lantern");
    person.sees("You build lantern,");
    person.leaves();
    json(&["script", "new", &lamp, "--author", "Ada", "--json"]);
    let attach = |dir: &str, thing: &str, key: &str| {
        run(&["script", "publish", dir, "--key", key, "--node", node, "--attach", thing, "--json"])
    };
    let published = attach(&lamp, "lantern", &ada);
    let published: serde_json::Value =
        serde_json::from_slice(&published.stdout).expect("one object");
    let (object, script) = (published["object"].to_string(), published["script"].to_string());

    let refused = |dir: &str, thing: &str, key: &str, why: &str| {
        let output = attach(dir, thing, key);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(4), "{told}");
        assert!(told.contains(why), "{told}");
    };
    let already = format!("runs this package already, as script {script}");
    refused(&lamp, "lantern", &ada, &already);
    let package = published["package"].as_str().expect("an id");
    let twice = ["script", "attach", package, "lantern", "--key", &ada, "--node", node];
    assert!(told(4, &twice).contains(&already));
    let nowhere = ["script", "attach", package, "99999", "--key", &ada, "--node", node];
    assert!(told(3, &nowhere).contains("there is no such object"));
    let made = json(&["script", "new", &other, "--author", "Bob", "--json"]);
    refused(&other, &object, &bob, "belongs to somebody else");
    let id = made["package"].as_str().expect("an id");
    told(3, &["script", "show", id, "--node", node]);

    // Another text of the same name runs beside the first one, which is told.
    let source = folder.join("lamp/lamp.rhai");
    let text = fs::read_to_string(&source).expect("the source");
    fs::write(&source, format!("// Another one.\n{text}")).expect("a file");
    let output = attach(&lamp, "lantern", &ada);
    let warned = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{warned}");
    assert!(warned.contains(&format!("runs lamp already, as script {script}")), "{warned}");
    let by_name = ["script", "detach", "lantern", "--key", &ada, "--node", node];
    assert!(told(2, &by_name).contains(&format!("run the scripts {script}, ")));
    told(0, &["script", "detach", &script, "--key", &ada, "--node", node]);
    assert!(told(0, &by_name).contains("has not run since turn"));

    // What fails at once was told as a script that runs.
    fs::write(&source, "fn on_start() { loop {} }\n").expect("a file");
    let output = attach(&lamp, "lantern", &ada);
    let failed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{failed}");
    assert!(failed.contains(" failed with the new lamp in turn "), "{failed}");
}
