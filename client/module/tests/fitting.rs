//! A small workspace, a module that was made of it, and what may change before it is stale.

use std::{
    fs,
    path::{Path, PathBuf},
};

use metatopia_module::{FRESH, Fit, KEPT, MADE_OF, WASM, choose, fit, parts};

const WORKSPACE: &str = "\
[workspace]
resolver = \"3\"
members = [\"sim\", \"client/wasm\", \"node\"]

[workspace.package]
version = \"0.1.0\"

[workspace.dependencies]
metatopia-sim = { path = \"sim\" }
metatopia-wasm = { path = \"client/wasm\" }
metatopia-node = { path = \"node\" }
# A remark.
hasher = { version = \"1\", features = [\"one\"] }
server = \"2\"

[profile.dev]
opt-level = 1
[profile.release]
overflow-checks = true
[profile.wasm]
inherits = \"release\"
";

const LOCK: &str = "\
version = 4

[[package]]
name = \"hasher\"
version = \"1.0.0\"
checksum = \"h1\"
dependencies = [
 \"words\",
]

[[package]]
name = \"metatopia-sim\"
version = \"0.1.0\"
dependencies = [
 \"hasher\",
 \"tester\",
]

[[package]]
name = \"metatopia-wasm\"
version = \"0.1.0\"
dependencies = [
 \"metatopia-sim\",
]

[[package]]
name = \"server\"
version = \"2.0.0\"
checksum = \"s1\"

[[package]]
name = \"tester\"
version = \"1.0.0\"
checksum = \"t1\"

[[package]]
name = \"words\"
version = \"1.0.0\"
checksum = \"w1\"
";

const SIM: &str = "[dependencies]\nhasher.workspace = true\n[dev-dependencies]\ntester = \"1\"\n";

/// A workspace in a folder of its own.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&root);
        let tree = Self(root);
        for (path, text) in [
            ("Cargo.toml", WORKSPACE),
            ("Cargo.lock", LOCK),
            (".ci/module", "build it"),
            (".ci/wasm-toolchain", "by this"),
            ("rust-toolchain.toml", "of 1"),
            ("sim/Cargo.toml", SIM),
            ("sim/src/lib.rs", "pub mod turn;"),
            ("sim/src/turn/apply.rs", "// All of it."),
            ("sim/tests/facts.rs", "// Held."),
            ("client/wasm/Cargo.toml", "[dependencies]\nmetatopia-sim.workspace = true\n"),
            ("client/wasm/src/lib.rs", "//! By a C interface."),
            ("node/Cargo.toml", "[dependencies]\nserver.workspace = true\n"),
            ("node/src/lib.rs", "//! The program."),
        ] {
            tree.write(path, text);
        }
        tree
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("a file in a folder")).expect("a folder");
        fs::write(path, text).expect("a written file");
    }

    fn replace(&self, path: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.0.join(path)).expect("a file");
        assert!(text.contains(from), "{path} holds no {from}");
        self.write(path, &text.replace(from, to));
    }

    /// Puts a module there, with a text that says that it was made of these sources.
    fn make(&self, folder: &str, wasm: &str) {
        let made_of =
            parts(&self.0).expect("sources that fit together").with_module(wasm.as_bytes());
        self.write(&format!("{folder}/{WASM}"), wasm);
        self.write(&format!("{folder}/{MADE_OF}"), &format!("# For readers.\n{made_of}"));
    }

    fn fit(&self) -> Fit {
        let parts = parts(&self.0).expect("sources that fit together");
        fit(&self.0.join(KEPT), &parts).expect("readable files")
    }
}

#[test]
fn whatever_goes_into_a_module_makes_it_stale_and_the_part_is_named() {
    for (number, (path, from, to, part)) in [
        ("sim/src/turn/apply.rs", "All", "None", "sim"),
        ("sim/Cargo.toml", "1", "2", "sim"),
        ("client/wasm/src/lib.rs", "C", "D", "client/wasm"),
        ("Cargo.lock", "h1", "h2", "Cargo.lock"),
        ("Cargo.lock", "w1", "w2", "Cargo.lock"),
        ("Cargo.toml", "true", "false", "Cargo.toml"),
        ("Cargo.toml", "\"release\"", "\"dev\"", "Cargo.toml"),
        ("Cargo.toml", "\"one\"", "\"two\"", "Cargo.toml"),
        ("Cargo.toml", "\"0.1.0\"", "\"0.2.0\"", "Cargo.toml"),
        ("Cargo.toml", "\"3\"", "\"2\"", "Cargo.toml"),
        (".ci/module", "build", "make", ".ci/module"),
        (".ci/wasm-toolchain", "this", "that", ".ci/wasm-toolchain"),
        ("rust-toolchain.toml", "1", "2", "rust-toolchain.toml"),
    ]
    .into_iter()
    .enumerate()
    {
        let tree = Tree::new(&format!("stale-{number}"));
        tree.make(KEPT, "code");
        assert_eq!(tree.fit(), Fit::Fits);

        tree.replace(path, from, to);

        assert_eq!(tree.fit(), Fit::Stale(vec![part.to_owned()]), "{path}: {from} -> {to}");
        tree.replace(path, to, from);
        assert_eq!(tree.fit(), Fit::Fits, "{path}, as it was");
    }
}

#[test]
fn files_that_come_go_or_change_their_names_make_a_module_stale() {
    let tree = Tree::new("files");
    tree.make(KEPT, "code");
    let stale = Fit::Stale(vec!["sim".to_owned()]);
    let sim = tree.0.join("sim");

    tree.write("sim/src/more.rs", "");
    assert_eq!(tree.fit(), stale, "one more");
    fs::remove_file(sim.join("src/more.rs")).unwrap();
    assert_eq!(tree.fit(), Fit::Fits);
    fs::rename(sim.join("src/turn/apply.rs"), sim.join("src/turn/refuse.rs")).unwrap();
    assert_eq!(tree.fit(), stale, "another name");
    fs::rename(sim.join("src/turn/refuse.rs"), sim.join("src/turn/apply.rs")).unwrap();
    tree.write("sim/build.rs", "fn main() {}");
    assert_eq!(tree.fit(), stale, "a build script");
}

#[test]
fn a_crate_that_comes_to_be_used_becomes_a_part() {
    let tree = Tree::new("crate");
    tree.make(KEPT, "code");

    tree.replace(
        "sim/Cargo.toml",
        "[dependencies]\n",
        "[dependencies]\nmetatopia-node.workspace = true\n",
    );
    tree.replace("Cargo.lock", "[[package]]\nname = \"server\"", concat!(
        "[[package]]\nname = \"metatopia-node\"\nversion = \"0.1.0\"\ndependencies = [\n \"server\",\n]\n\n",
        "[[package]]\nname = \"server\"",
    ));

    let parts = ["Cargo.lock", "Cargo.toml", "node", "sim"].map(str::to_owned);
    assert_eq!(tree.fit(), Fit::Stale(parts.to_vec()));
}

#[test]
fn what_does_not_go_into_a_module_leaves_it_as_it_is() {
    let tree = Tree::new("fits");
    tree.make(KEPT, "code");

    tree.replace("node/src/lib.rs", "program", "node");
    tree.replace("sim/tests/facts.rs", "Held", "Not held");
    tree.replace("Cargo.lock", "t1", "t2");
    tree.replace("Cargo.lock", "s1", "s2");
    tree.replace("Cargo.toml", "opt-level = 1", "opt-level = 2");
    tree.replace("Cargo.toml", "A remark", "Another");
    tree.replace("Cargo.toml", "server = \"2\"", "server = \"2.1\"");
    tree.write("sim/src/lib.rs~", "what an editor left");
    tree.write("sim/src/.lib.rs.swp", "what another one left");
    // Written again, with the time of now: as a checkout does.
    tree.replace("sim/src/lib.rs", "turn", "turn");

    assert_eq!(tree.fit(), Fit::Fits);
}

#[test]
fn a_text_beside_another_file_or_after_a_failed_merge_says_nothing() {
    let tree = Tree::new("unknown");
    assert_eq!(tree.fit(), Fit::Missing);
    tree.write(&format!("{KEPT}/{WASM}"), "code");
    assert_eq!(tree.fit(), Fit::Unknown(format!("there is no {MADE_OF} beside it")));
    tree.make(KEPT, "code");
    tree.write(&format!("{KEPT}/{WASM}"), "other code");
    assert_eq!(tree.fit(), Fit::Unknown(format!("{MADE_OF} is of another file")));
    tree.make(KEPT, "code");
    tree.replace(&format!("{KEPT}/{MADE_OF}"), "# For readers.", "# One.\n<<<<<<< HEAD");
    let why = format!("{MADE_OF}: line 2 is not a digest and a name");
    assert_eq!(tree.fit(), Fit::Unknown(why));
    tree.write(&format!("{KEPT}/{MADE_OF}"), "");
    assert_eq!(tree.fit(), Fit::Unknown(format!("{MADE_OF} is of another file")));
}

#[test]
fn between_two_landings_the_fresh_one_is_chosen() {
    let tree = Tree::new("fresh");
    tree.make(KEPT, "code");
    let folders = [KEPT, FRESH].map(|folder| tree.0.join(folder));
    let choice = || choose(&folders, &parts(&tree.0).unwrap()).unwrap();
    assert_eq!(choice(), Ok(folders[0].join(WASM)));

    tree.replace("sim/src/lib.rs", "turn", "tick");
    assert_eq!(choice(), Err(Fit::Stale(vec!["sim".to_owned()])));
    tree.make(FRESH, "new code");
    assert_eq!(choice(), Ok(folders[1].join(WASM)));
    tree.replace("sim/src/lib.rs", "tick", "turn");
    assert_eq!(choice(), Ok(folders[0].join(WASM)));
}

#[test]
fn sources_that_do_not_fit_together_are_named() {
    let tree = Tree::new("unclear");
    tree.replace("sim/Cargo.toml", "hasher", "crusher");
    let said = parts(&tree.0).unwrap_err().to_string();
    assert_eq!(said, "Cargo.lock does not say which crusher it is that metatopia-sim uses");
    tree.replace("sim/Cargo.toml", "crusher", "hasher");
    tree.replace("Cargo.toml", "metatopia-wasm", "metatopia-web");
    assert_eq!(
        parts(&tree.0).unwrap_err().to_string(),
        "Cargo.toml names no folder of metatopia-wasm"
    );
}
