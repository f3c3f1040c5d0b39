//! Places of one's own: written, changed, founded, exported, and founded again.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::plaza::{Folder, PROGRAM, Person, Plaza, json, key, run};

#[test]
fn a_place_of_ones_own_runs_and_comes_out_of_its_sim_as_the_same_text() {
    let folder = Folder::new("places");
    let path = |name: &str| folder.join(name).display().to_string();
    let (own, copy, again) = (path("harbour"), path("copy"), path("again"));

    let made = json(&["place", "new", &own, "--template", "house", "--json"]);
    assert_eq!((made["name"].as_str(), made["packages"].as_u64()), (Some("harbour"), Some(2)));
    let checked = json(&["place", "check", &own, "--json"]);
    assert_eq!(checked["name"], "harbour");

    let plaza = Plaza::start_at(&folder.join("world"), 1, &own);
    let node = plaza.servers[0].url.as_str();
    plaza.reach(0, 3);
    let exported = json(&["place", "export", &copy, "--node", node, "--json"]);
    assert_eq!(exported["objects"], made["objects"]);
    let taken = run(&["place", "export", &copy, "--node", node]);
    assert_eq!(taken.status.code(), Some(4), "a folder that is not empty stays as it is");
    drop(plaza);

    let founded = Plaza::start_at(&folder.join("other"), 1, &copy);
    founded.reach(0, 3);
    let node = founded.servers[0].url.as_str();
    json(&["place", "export", &again, "--node", node, "--json"]);
    let text = |dir: &str| fs::read_to_string(format!("{dir}/place.toml")).expect("the file");
    assert_eq!(text(&again), text(&copy));
    let door = |dir: &str| fs::read_to_string(format!("{dir}/packages/door/door.rhai"));
    assert_eq!(door(&again).expect("the source"), door(&own).expect("the source"));
}

/// Writes an empty place whose text is changed, and returns its folder.
fn changed_place(folder: &Folder, change: impl FnOnce(&str) -> String) -> String {
    let own = folder.join("yard").display().to_string();
    json(&["place", "new", &own, "--template", "empty", "--json"]);
    let file = format!("{own}/place.toml");
    let text = fs::read_to_string(&file).expect("the file");
    fs::write(&file, change(&text)).expect("the file");
    own
}

#[test]
fn mistakes_in_a_place_are_named_before_anything_is_founded() {
    let folder = Folder::new("places-wrong");
    let mut line = 0;
    let own = changed_place(&folder, |text| {
        line = text.lines().count() + 1;
        format!("{text}[[object]]\nkind = \"lamp\"\nname = \"lamp\"\n")
    });
    let file = format!("{own}/place.toml");
    mistake_is_named(&own, &folder.join("world"), &format!("{file}:{line}:1: an object needs"));
}

#[test]
fn a_place_with_a_port_that_the_program_lacks_is_not_founded() {
    let folder = Folder::new("places-port");
    let (package, port) = ("08".repeat(32), "09".repeat(32));
    let ports = format!("ports = \"{package}:{port}:300:60\"\nspawn = ");
    let own = changed_place(&folder, |text| text.replacen("spawn = ", &ports, 1));
    let mistake =
        format!("stop before height 60: from height 60 on the sim runs package {package}");
    mistake_is_named(&own, &folder.join("world"), &mistake);
}

/// Checks a place and starts a sim of it in this directory: both name the mistake, and nothing is founded.
pub(crate) fn mistake_is_named(place: &str, world: &Path, mistake: &str) {
    let dir = world.display().to_string();
    for arguments in
        [vec!["place", "check", place], vec!["up", "--place", place, "--data-dir", &dir]]
    {
        let output = run(&arguments);
        let told = [output.stdout, output.stderr].concat();
        let told = String::from_utf8_lossy(&told);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains(mistake), "{told}");
    }
    assert!(!world.exists());
}

#[test]
fn a_sim_with_a_time_to_live_ends_and_its_servers_stop() {
    let folder = Folder::new("places-ttl");
    let own = changed_place(&folder, |text| text.replace("spawn = ", "ttl = \"3s\"\nspawn = "));
    let world = folder.join("world").display().to_string();
    let up = ["up", "--servers", "1", "--http-port", "0", "--place", &own, "--data-dir", &world];
    // A sim that does not end by itself is stopped by this, and says something else.
    let up = [&up[..], &["--exit-after", "60s"]].concat();

    let ended = run(&up);
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(0), "{told}");
    assert!(told.contains("the sim has ended, as its charter says"), "{told}");

    let again = run(&up);
    let told = String::from_utf8_lossy(&again.stderr).into_owned();
    assert_eq!(again.status.code(), Some(4), "{told}");
    assert!(told.contains("the sim has ended") && told.contains("--data-dir"), "{told}");
}

#[test]
fn whoever_enters_agrees_to_the_house_rules_and_is_told_the_room() {
    let folder = Folder::new("places-rules");
    let path = |name: &str| folder.join(name).display().to_string();
    let (own, copy, key) = (path("house"), path("copy"), path("me.key"));
    json(&["place", "new", &own, "--template", "house", "--json"]);
    let file = format!("{own}/place.toml");
    let text = fs::read_to_string(&file).expect("the file");
    let ruled =
        text.replace("spawn = [0, -15]", "house_rules = \"Wipe your feet.\"\nspawn = [0, 0]");
    fs::write(&file, ruled.replace("spawn_radius = 3", "spawn_radius = 0")).expect("the file");
    let picture = b"\xff\xd8\xff\xe0 a picture of a house";
    fs::write(folder.join("house/picture.jpg"), picture).expect("the picture");
    json(&["keys", "new", "--out", &key, "--json"]);

    let house = Plaza::start_at(&folder.join("world"), 1, &own);
    house.reach(0, 3);
    let node = house.servers[0].url.as_str();
    let enter = |more: &[&str]| {
        let output = Command::new(PROGRAM)
            .args(["client", "--node", node, "--key", &key])
            .args(more)
            .env("XDG_STATE_HOME", folder.join("state"))
            .stdin(Stdio::null())
            .output()
            .expect("the program starts");
        let told = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&told).into_owned())
    };
    let (code, told) = enter(&[]);
    assert_eq!(code, Some(4), "{told}");
    assert!(told.contains("Wipe your feet.") && told.contains("--accept-rules"), "{told}");
    let (code, told) = enter(&["--accept-rules"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("You are in the hall."), "{told}");
    let (code, told) = enter(&[]);
    assert_eq!(code, Some(0), "they were agreed to before: {told}");
    assert!(!told.contains("Wipe your feet."), "{told}");

    // An admin has other words agreed to, and nobody is taken to have agreed to these.
    let (words, admin) = (path("rules.txt"), path("world/admin.key"));
    fs::write(&words, "Shut the door.\r\n").expect("the words");
    let order = |more: &[&str]| {
        let said = ["admin", "house-rules", "--node", node, "--key", &admin];
        json(&[&said[..], more, &["--json"]].concat())
    };
    let told = order(&[&words, "--dry-run"]);
    assert_eq!(told["does"], "have everybody agree to these house rules before entering");
    assert_eq!((enter(&[]).0, told["height"].is_null()), (Some(0), true));
    order(&[&words]);
    let (code, told) = enter(&[]);
    assert_eq!(code, Some(4), "they are others: {told}");
    assert!(told.contains("Shut the door.") && !told.contains("Wipe your feet."), "{told}");
    assert_eq!(enter(&["--accept-rules"]).0, Some(0));

    json(&["place", "export", &copy, "--node", node, "--json"]);
    assert_eq!(fs::read(folder.join("copy/picture.jpg")).expect("the picture"), picture);
    let text = fs::read_to_string(folder.join("copy/place.toml")).expect("the file");
    assert!(text.contains("house_rules = \"Shut the door.\""), "{text}");
    assert!(text.contains("[[sector]]\nname = \"hall\""), "{text}");
}

#[test]
fn what_an_author_saves_in_the_folder_runs_in_the_sim_and_scripts_keep_their_state() {
    let folder = Folder::new("places-watch");
    let own = folder.join("shop").display().to_string();
    json(&["place", "new", &own, "--template", "empty", "--json"]);
    let script = folder.join("shop/packages/bell");
    fs::create_dir_all(&script).expect("a folder");
    let write = |name: &str, text: &str| fs::write(script.join(name), text).expect("a file");
    write(
        "package.toml",
        "name = \"bell\"\nversion = \"1.0.0\"\napi = 1\nentry = \"bell.rhai\"\n\
         licence = \"AGPL-3.0-or-later\"\nauthors = [\"Ada\"]\n",
    );
    let says = |words: &str| {
        format!(
            "fn on_start() {{ state.rings = 0; }}\n\
             fn on_touch(other) {{ state.rings += 1; say(`{words} ${{state.rings}}`); }}\n"
        )
    };
    write("bell.rhai", &says("Ring"));
    let file = folder.join("shop/place.toml");
    let text = fs::read_to_string(&file).expect("the file");
    let bell = "[[object]]\nkind = \"bell\"\nname = \"bell\"\nat = [0, 5]\nbox = [1, 1]\n\
                scripts = [{ package = \"bell\" }]\n";
    // A person who walks to the bell bumps into it, and each bump rings it: she appears beside it instead.
    let beside =
        text.replace("spawn = [0, 0]\nspawn_radius = 3", "spawn = [0, \"3.5\"]\nspawn_radius = 0");
    assert_ne!(beside, text);
    fs::write(&file, format!("{beside}\n{bell}")).expect("the file");

    let mut shop = Plaza::start_watched(&folder.join("world"), 1, &own);
    let node = shop.servers[0].url.clone();
    let mut person = Person::enter(&node, &key(&folder, "ada"));
    person.types("touch bell");
    person.sees("Ring 1");

    // A source with a mistake is named, and changes nothing.
    write("bell.rhai", "fn on_touch(other) { say(1 }");
    shop.warned_by_up("packages/bell/bell.rhai:1:");
    person.types("touch bell");
    person.sees("Ring 2");
    write("bell.rhai", &says("Ding"));
    let told = shop.told_by_up();
    assert_eq!((told["brought"].as_str(), told["version"].as_str()), (Some("bell"), Some("1.0.0")));
    assert_eq!(told["scripts"].as_array().map(Vec::len), Some(1), "{told}");
    assert!(told["height"].is_u64(), "{told}");
    person.types("touch bell");
    person.sees("Ding 3");

    // A source that fails at its first event is left again, however late that comes.
    write("bell.rhai", "fn on_touch(other) { throw \"cracked\"; }\n");
    assert_eq!(shop.told_by_up()["brought"], "bell");
    person.types("touch bell");
    person.sees("Ding 4");
    shop.warned_by_up("failed with the new bell, and runs what it ran before");

    // One that fails before that runs nowhere, and is not said to.
    write("bell.rhai", "fn on_upgrade() { throw \"split\"; }\nfn on_touch(other) {}\n");
    shop.warned_by_up("failed with the new bell, and runs what it ran before");

    // A package that nothing runs is brought too, so that it can be attached.
    let other = folder.join("shop/packages/gong");
    fs::create_dir_all(&other).expect("a folder");
    let manifest = fs::read_to_string(script.join("package.toml")).expect("the manifest");
    let manifest = manifest.replace("name = \"bell\"", "name = \"gong\"");
    fs::write(other.join("bell.rhai"), says("Gong")).expect("a file");
    fs::write(other.join("package.toml"), manifest).expect("a file");
    let told = shop.told_by_up();
    assert_eq!(
        (told["brought"].as_str(), told["scripts"].as_array()),
        (Some("gong"), Some(&vec![]))
    );
    person.leaves();
    shop.stop();
}

#[test]
fn things_that_an_author_saves_in_the_folder_move_come_and_go_in_the_sim() {
    let folder = Folder::new("places-things");
    let own = folder.join("yard").display().to_string();
    json(&["place", "new", &own, "--template", "empty", "--json"]);
    let file = folder.join("yard/place.toml");
    let head = fs::read_to_string(&file).expect("the file");
    let thing = |name: &str, at: &str, more: &str| {
        format!(
            "\n[[object]]\nkind = \"{name}\"\nname = \"{name}\"\nat = {at}\nbox = [1, 1]\n{more}"
        )
    };
    let save = |things: &[String]| {
        fs::write(&file, format!("{head}{}", things.concat())).expect("the file");
    };
    let (bell, lamp) = (thing("bell", "[0, 5]", ""), thing("lamp", "[4, 5]", ""));
    save(&[bell, lamp]);
    let world = folder.join("world");
    let mut yard = Plaza::start_watched(&world, 1, &own);

    // One is moved, one is gone, and one is new.
    let (moved, post) = (thing("bell", "[1, 6]", "text = \"ding\"\n"), thing("post", "[6, 6]", ""));
    save(&[post.clone(), moved.clone()]);
    let mut told = [yard.told_by_up(), yard.told_by_up(), yard.told_by_up()];
    told.sort_by_key(|line| line["object"].as_u64());
    let [first, second, third] = &told;
    assert_eq!((&first["thing"], &first["object"]), (&"bell".into(), &1.into()));
    assert_eq!(first["done"], serde_json::json!(["moved", "given its text"]), "{first}");
    assert_eq!((&second["thing"], &second["object"]), (&"lamp".into(), &2.into()));
    assert_eq!(second["done"], serde_json::json!(["deleted"]), "{second}");
    assert_eq!((&third["thing"], &third["done"]), (&"post".into(), &serde_json::json!(["made"])));
    assert!(told.iter().all(|line| line["height"].is_u64()), "{told:?}");

    // A mistake changes nothing. What no act changes is told, and what one changes is done all the same.
    save(&["\n[[object]]\nkind = 1\n".to_owned()]);
    yard.warned_by_up("place.toml:");
    let heavy = thing("bell", "[2, 6]", "text = \"ding\"\nmass = 9\n");
    save(&[post.clone(), heavy.clone()]);
    yard.warned_by_up("bell (thing 1): no act changes mass");
    assert_eq!(yard.told_by_up()["done"], serde_json::json!(["moved"]));

    // What the sim refuses is told, and holds up nothing.
    let far = thing("post", "[90, 6]", "");
    save(&[far, moved]);
    assert_eq!(yard.told_by_up()["done"], serde_json::json!(["moved"]));
    yard.warned_by_up("bell (thing 1): mass: again as the sim has it");
    yard.warned_by_up("by `metatopia admin set`, and then save again");
    save(&[post.clone(), heavy]);
    yard.warned_by_up("bell (thing 1): no act changes mass");
    assert_eq!(yard.told_by_up()["done"], serde_json::json!(["moved"]));

    let copy = folder.join("copy").display().to_string();
    json(&["place", "export", &copy, "--node", &yard.servers[0].url, "--json"]);
    let text = fs::read_to_string(folder.join("copy/place.toml")).expect("its file");
    let names: Vec<&str> = text.lines().filter(|line| line.starts_with("name =")).collect();
    assert_eq!(names[1..], ["name = \"bell\"", "name = \"post\""]);
    assert!(text.contains("at = [2, 6]") && text.contains("at = [6, 6]"), "{text}");
    yard.stop();

    // Another start finds by their names what the folder has, and brings what changes from then on.
    let mut yard = Plaza::start_watched(&world, 1, &own);
    save(&[post]);
    let told = yard.told_by_up();
    assert_eq!((&told["thing"], &told["object"]), (&"bell".into(), &1.into()));
    save(&[thing("post", "[7, 7]", "")]);
    let told = yard.told_by_up();
    assert_eq!((&told["thing"], &told["object"]), (&"post".into(), &third["object"]));
    yard.stop();
}
