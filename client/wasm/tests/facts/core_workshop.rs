//! What an author writes through the core.

use metatopia_protocol::*;
use metatopia_scripting::{Draft, Licence, Package, PackageAuthor, check};
use metatopia_types::*;
use serde_json::{Value, json};

use crate::{page::Page, stand::Stand};

const SOURCE: &str = "fn on_touch(other) {\n    say(\"Hello\");\n}\n";

/// Returns what the page sends of a script, with these changes.
fn draft(changes: Value) -> Value {
    let mut draft = json!({
        "name": "greeting", "version": "1.0.0", "api": null, "entry": "script.rhai",
        "files": { "script.rhai": SOURCE }, "licence": "AGPL-3.0-or-later", "authors": [],
        "parent": null,
    });
    for (name, value) in changes.as_object().expect("an object") {
        draft[name] = value.clone();
    }
    draft
}

fn publish(page: &mut Page, changes: Value) -> u64 {
    page.command(json!({ "do": "publish", "draft": draft(changes) }))
}

/// The only act that was sent, and the package that came with it.
fn published(page: &mut Page) -> (SignedEnvelope, Package) {
    let said = page.said();
    let [ClientMessage::Submit(submission)] = &said[..] else { panic!("{said:?}") };
    let [blob] = &submission.blobs[..] else { panic!("{submission:?}") };
    assert_eq!(submission.act.envelope.act, Act::Publish { source: blob.id() });
    (submission.act.clone(), Package::decode(&blob.0).expect("a package"))
}

fn mistakes(page: &mut Page, source: &str) -> Value {
    let id = page.command(json!({ "do": "check", "source": source }));
    page.result(id).expect("at once")["result"]["mistakes"].clone()
}

#[test]
fn a_source_is_checked_at_once_and_without_a_server() {
    let mut page = Page::unconnected(json!({}));
    assert_eq!(mistakes(&mut page, SOURCE), json!([]));
    let found = mistakes(&mut page, "fn on_touch(other) {\n    sya(\"Hello\");\n}\n");
    assert_eq!((&found[0]["line"], &found[0]["column"]), (&2.into(), &5.into()));
    let message = found[0]["message"].as_str().expect("words");
    assert!(message.contains("sya") && message.contains("say"), "{message}");
    assert_eq!(mistakes(&mut page, "fn f() {}\n}")[0]["line"], 2);
    // What cannot be seen is no source, though a compiler would take it.
    let hidden = mistakes(&mut page, "fn f() {}\n// a\u{202e}b\n");
    assert_eq!((&hidden[0]["line"], &hidden[0]["column"]), (&2.into(), &5.into()));
    let long = " ".repeat(metatopia_scripting::limits::FILE_BYTES_MAX + 1);
    assert_eq!(mistakes(&mut page, &long)[0]["line"], 0);
    assert!(page.said().is_empty());
}

#[test]
fn a_draft_is_published_as_the_package_that_it_makes() {
    let mut page = Page::new();
    page.log_in();
    let id = publish(&mut page, json!({}));
    let (act, package) = published(&mut page);
    let manifest = package.manifest();
    assert_eq!((manifest.name.as_str(), manifest.entry.as_str()), ("greeting", "script.rhai"));
    assert_eq!((package.entry(), manifest.parent), (SOURCE, None));
    let [author] = &manifest.authors[..] else { panic!("{manifest:?}") };
    assert_eq!((author.name.as_str(), author.key), ("Ada", Some(act.envelope.author)));

    let height = page.stand.height();
    page.tell(&ServerMessage::Outcome { act: act.id(), height, outcome: Outcome::Ok });
    let result = page.result(id).expect("known")["result"].clone();
    assert_eq!(
        (&result["ok"], &result["package"]),
        (&true.into(), &package.id().to_string().into())
    );
}

#[test]
fn a_publication_that_a_rule_refuses_says_which() {
    for (refusal, word) in [
        (Refusal::NotPublisher, "NotPublisher"),
        (Refusal::BadPackage, "BadPackage"),
        (Refusal::TooManyPackages, "TooManyPackages"),
    ] {
        let mut page = Page::new();
        page.log_in();
        let id = publish(&mut page, json!({}));
        let (act, _) = published(&mut page);
        let outcome = Outcome::Refused(refusal);
        page.tell(&ServerMessage::Outcome { act: act.id(), height: Height(9), outcome });
        let result = page.result(id).expect("known")["result"].clone();
        assert_eq!((&result["ok"], &result["refusal"]), (&false.into(), &word.into()));
    }
}

#[test]
fn a_fork_names_its_parent_and_all_who_wrote_it() {
    let mut page = Page::new();
    page.log_in();
    let (parent, _) = Stand::genesis().packages.into_iter().next().expect("a package");
    let (eve, parent) = ("09".repeat(32), parent.to_string());
    let authors = json!([{ "name": "Eve", "key": eve }, { "name": "Somebody", "key": null }]);
    publish(&mut page, json!({ "authors": authors, "parent": parent, "version": "2.0.1" }));
    let (_, package) = published(&mut page);
    let manifest = package.manifest();
    assert_eq!(manifest.parent.map(|id| id.to_string()), Some(parent.clone()));
    let names: Vec<&str> = manifest.authors.iter().map(|author| author.name.as_str()).collect();
    assert_eq!(names, ["Eve", "Somebody", "Ada"]);

    // Whoever is one of them already is not named twice.
    let own = manifest.authors[2].key.expect("a key").to_string();
    let authors = json!([{ "name": "Ada of old", "key": own }]);
    publish(&mut page, json!({ "authors": authors, "parent": parent }));
    let (_, package) = published(&mut page);
    assert_eq!(package.manifest().authors.len(), 1);
}

#[test]
fn a_draft_keeps_its_imports_and_the_sim_judges_what_it_says_of_them() {
    let mut page = Page::new();
    page.log_in();
    let (id, source) = ("ab".repeat(32), "import \"scores\" as s;\nfn on_touch(o) { s::add(1); }");
    let imports = json!({ "scores": id });
    publish(&mut page, json!({ "imports": imports, "files": { "script.rhai": source } }));
    let (_, package) = published(&mut page);
    assert_eq!(package.manifest().imports["scores"].to_string(), id);

    let id = publish(&mut page, json!({ "imports": { "scores": "nothing" } }));
    assert_eq!(page.result(id).expect("at once")["code"], "BadName");
}

/// A package with this source, which imports these.
pub(crate) fn package(name: &str, source: &str, imports: &[(&str, &Package)]) -> Package {
    let imports = imports.iter().map(|(name, package)| ((*name).to_owned(), package.id()));
    let draft = Draft {
        name: name.into(),
        version: "1.0.0".into(),
        api: 1,
        entry: "main.rhai".into(),
        files: [("main.rhai".into(), source.into())].into(),
        imports: imports.collect(),
        licence: "AGPL-3.0-or-later".into(),
        authors: vec![PackageAuthor { name: "Ada".into(), key: None }],
        ..Draft::default()
    };
    Package::build(draft).expect("a package")
}

/// Looks over a source with one import; the sim has these packages, and each is asked for once at most.
pub(crate) fn look(page: &mut Page, source: &str, import: &Package, sim: &[&Package]) -> Value {
    let imports = json!({ "scores": import.id().to_string() });
    let id = page.command(json!({ "do": "check", "source": source, "imports": imports }));
    for _ in 0..=sim.len() {
        // A page that sees something asks about that as well.
        let source = page.asked().into_iter().find_map(|(number, question)| match question {
            Question::Source { package } => Some((number, package)),
            _ => None,
        });
        let Some((number, package)) = source else { break };
        let found = sim.iter().find(|there| there.id() == package);
        let answer = found.map_or(Answer::Unknown, |there| Answer::Source(there.encode()));
        page.answer(number, answer);
    }
    page.result(id).expect("it came")["result"].clone()
}

/// The page looked over the syntax alone of a source that imports something, and the sim refused it.
#[test]
fn a_source_is_looked_over_with_all_that_it_imports() {
    let mut page = Page::new();
    page.log_in();
    let sums = package("sums", "fn sum(a, b) { a + b }", &[]);
    let uses = "import \"sums\" as sums;\nconst MOST = 9;\nfn add(n) { sums::sum(n, 1) }";
    let scores = package("scores", uses, &[("sums", &sums)]);
    let sim = [&sums, &scores];
    let good = "import \"scores\" as s;\nfn on_touch(other) { log(s::add(1)); }";
    let told = look(&mut page, good, &scores, &sim);
    assert_eq!(told, json!({ "mistakes": [], "names": ["s::MOST", "s::add"] }));

    // What was fetched once is there, also for what is typed next.
    let wrong = "import \"scores\" as s;\nfn on_touch(other) { log(s::ad(1)); }";
    let told = look(&mut page, wrong, &scores, &[]);
    let mistake = &told["mistakes"][0];
    assert_eq!((&mistake["line"], told["mistakes"].as_array().map(Vec::len)), (&2.into(), Some(1)));
    assert!(mistake["message"].as_str().is_some_and(|words| words.contains("ad")), "{mistake}");
    let hidden = look(&mut page, "import \"scores\" as s;\n// a\u{202e}b\n", &scores, &[]);
    assert_eq!(
        (&hidden["mistakes"][0]["line"], &hidden["names"][0]),
        (&2.into(), &"s::MOST".into())
    );

    // Without a node the syntax is told all the same.
    let mut alone = Page::unconnected(json!({}));
    let broken = "import \"scores\" as s;\nfn on_touch(other) { s::add(1; }";
    assert_eq!(look(&mut alone, broken, &scores, &[])["mistakes"][0]["line"], 2);
    assert_eq!(look(&mut alone, good, &scores, &[]), json!({ "mistakes": [], "names": [] }));

    // A node that has it not, or hands out another one, is found out.
    let other = package("other", "fn add(n) { n }", &[]);
    let told = look(&mut page, good, &other, &[]);
    assert_eq!(told["mistakes"][0]["line"], 0);
    let words = told["mistakes"][0]["message"].as_str().expect("words");
    assert!(words.contains("scores") && words.contains(&other.id().to_string()), "{words}");
    let id = page.command(json!({
        "do": "check", "source": good, "imports": { "scores": other.id().to_string() },
    }));
    let [(number, _)] = page.asked()[..] else { panic!("one question") };
    page.answer(number, Answer::Source(sums.encode()));
    let told = page.result(id).expect("it came")["result"].clone();
    assert_eq!(told["mistakes"].as_array().map(Vec::len), Some(1));
    let id = page.command(json!({ "do": "check", "source": good, "imports": { "scores": "no" } }));
    assert_eq!(page.result(id).expect("at once")["code"], "BadName");
}

#[test]
fn a_draft_that_breaks_a_rule_says_so_in_words_and_signs_nothing() {
    let mut page = Page::new();
    page.log_in();
    let wrong = "fn on_touch(other) { sya(1) }";
    for (changes, code, words) in [
        (json!({ "licence": "MIT" }), "BadPackage", "no copyleft choice"),
        (json!({ "name": "My Script" }), "BadPackage", "no package name"),
        (json!({ "version": "one" }), "BadPackage", "no version"),
        (json!({ "api": 77 }), "BadPackage", "api 77"),
        (json!({ "entry": "other.rhai" }), "BadPackage", "entry"),
        (json!({ "files": { "script.rhai": wrong } }), "BadPackage", "sya"),
        (json!({ "parent": "nothing" }), "BadName", ""),
        (json!({ "authors": [{ "name": "Eve", "key": "nobody" }] }), "BadName", ""),
    ] {
        let id = publish(&mut page, changes.clone());
        let failed = page.result(id).expect("at once");
        assert_eq!(failed["code"], code, "{changes}");
        let detail = failed["detail"].as_str().unwrap_or_default();
        assert!(detail.contains(words), "{changes}: {detail}");
    }
    let comment = |bytes: usize| format!("// {}\n", "x".repeat(bytes));
    let notes = comment(limits::BLOB_BYTES_MAX / 2);
    let files = json!({ "script.rhai": SOURCE, "a.rhai": notes, "b.rhai": notes });
    let id = publish(&mut page, json!({ "files": files }));
    assert_eq!(page.result(id).expect("at once")["code"], "TooLong");
    assert!(page.said().is_empty());
}

#[test]
fn the_example_works_and_every_licence_to_choose_is_copyleft() {
    let mut page = Page::unconnected(json!({}));
    let id = page.command(json!({ "do": "reference" }));
    let result = page.result(id).expect("at once")["result"].clone();
    let example = result["example"].as_str().expect("a source");
    assert_eq!((check(example), example.contains("fn on_touch")), (Vec::new(), true));
    let licences = result["licences"].as_array().expect("licences");
    assert_eq!(licences[0], "AGPL-3.0-or-later");
    for licence in licences.iter().filter_map(Value::as_str) {
        assert!(Licence::parse(licence).is_ok(), "{licence}");
    }
    let entries = result["entries"].as_array().expect("entries");
    let form = |name: &str| {
        let entry = entries.iter().find(|entry| entry["name"] == name);
        entry.unwrap_or_else(|| panic!("{name}"))["form"].as_str().expect("words").to_owned()
    };
    assert_eq!(form("on_chat"), "fn on_chat(from, text)");
    assert_eq!(form("say"), "say(text: string) -> ()");
    assert_eq!(form("color"), "object.color: int");
    assert_eq!(form("self_"), "self_");
    assert!(entries.iter().all(|entry| entry["name"] != "+"), "operators are no names");
}
