//! Stories on the command line: their words, their last line, their exit codes, the files they name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A folder for one test's files.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stories-{name}"));
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).expect("a new folder");
    folder
}

fn run(verb: &str, file: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metatopia-simulator"));
    command.args(["scenario", verb]).arg(file).args(words).output().expect("the program runs")
}

fn last_line(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {output:?}"))
}

const SHORT: &str = "title = \"short\"\nlength = \"1s\"\n[[people]]\ncount = 1\n[[act]]\nperson = 1\n\
    does = \"laugh\"\nat = \"500ms\"\n[[fault]]\nkind = \"poison\"\nact = \"laugh\"\n[expect]\n";

#[test]
fn a_story_ends_with_a_line_that_says_what_came_of_it() {
    let folder = folder("line");
    let (holds, fails) = (folder.join("holds.toml"), folder.join("fails.toml"));
    fs::write(&holds, format!("{SHORT}refused = {{ crashed = 1 }}")).expect("our own folder");
    fs::write(&fails, format!("{SHORT}crashes = 7\nparted = [2]")).expect("our own folder");

    let told = run("run", &holds, &["--seed", "9", "--json"]);
    assert_eq!(told.status.code(), Some(0), "{told:?}");
    assert!(told.stderr.is_empty(), "what panics on purpose is not told: {told:?}");
    let line = last_line(&told);
    assert_eq!((&line["scenario"], &line["passed"]), (&"holds".into(), &true.into()), "{line}");
    assert_eq!((&line["seed"], &line["faults"]), (&9.into(), &Value::Array(vec![])), "{line}");
    assert!(line["turns"].as_u64() > Some(10) && line["acts"].as_u64() > Some(1), "{line}");
    assert_eq!(line, last_line(&run("run", &holds, &["--seed", "9", "--json"])));

    let told = run("run", &fails, &["--json"]);
    assert_eq!(told.status.code(), Some(1), "{told:?}");
    let line = last_line(&told);
    let failed = |n: usize| (&line["failed"][n]["expectation"], &line["failed"][n]["seen"]);
    assert_eq!(failed(0), (&"crashes".into(), &"0".into()), "{line}");
    assert_eq!(failed(1), (&"parted".into(), &"{}".into()), "{line}");
    assert_eq!(line["passed"], false);
    let words = String::from_utf8_lossy(&run("run", &fails, &[]).stdout).into_owned();
    assert!(words.contains("FAILED parted: expected {2}; seen: {}"), "{words}");
}

#[test]
fn a_wrong_story_is_told_with_its_line_and_an_absent_one_by_name() {
    let folder = folder("wrong");
    let wrong = folder.join("wrong.toml");
    fs::write(&wrong, format!("{SHORT}stoled = []")).expect("our own folder");

    for verb in ["run", "check"] {
        let told = run(verb, &wrong, &[]);
        let words = String::from_utf8_lossy(&told.stderr).into_owned();
        assert_eq!(told.status.code(), Some(2), "{words}");
        assert!(words.contains("wrong.toml:13:1: ") && words.contains("`stalled`"), "{words}");

        let told = run(verb, &folder.join("absent.toml"), &[]);
        assert_eq!(told.status.code(), Some(3), "{told:?}");
        assert!(String::from_utf8_lossy(&told.stderr).contains("absent.toml"), "{told:?}");
    }
}

#[test]
fn a_story_can_bring_a_place_packages_and_a_script_from_files() {
    let folder = folder("place");
    let places = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let packages = ["bell", "door", "greeter", "turntable"];
    let packages = packages.map(|name| places.join("packages").join(name));
    fs::write(folder.join("hello.rhai"), "fn on_start() { say(\"hello\"); }").expect("a file");
    let text = format!(
        "title = \"a town\"\nlength = \"1s\"\nplace = {:?}\npackages = {packages:?}\n[[script]]\n\
         name = \"hello\"\nfile = \"hello.rhai\"\n",
        places.join("templates/plaza.toml")
    );
    let story = folder.join("town.toml");
    fs::write(&story, &text).expect("our own folder");

    let told = run("check", &story, &["--json"]);
    assert_eq!(told.status.code(), Some(0), "{told:?}");
    assert_eq!(last_line(&told)["title"], "a town");

    let many = folder.join("many");
    fs::create_dir_all(&many).expect("our own folder");
    for number in 0..65 {
        fs::write(many.join(format!("{number}.rhai")), "").expect("our own folder");
    }
    let packages = format!("{:?}", places.join("packages/bell"));
    fs::write(&story, text.replacen(&packages, "\"many\"", 1)).expect("our own folder");
    let told = run("check", &story, &[]);
    assert_eq!(told.status.code(), Some(2), "{told:?}");
    assert!(String::from_utf8_lossy(&told.stderr).contains("more than 64 files"), "{told:?}");
}
