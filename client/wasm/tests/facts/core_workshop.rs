//! What an author writes through the core.

use metatopia_protocol::*;
use metatopia_scripting::{Licence, Package, check};
use metatopia_types::*;
use serde_json::{Value, json};

use crate::{page::Page, stand::Stand};

const SOURCE: &str = "fn on_touch(other) {\n    say(\"Hello\");\n}\n";

/// What the page sends of a script, with these changes.
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
    page.result(id).expect("at once")["result"].clone()
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

    let mut found = |source: &str, imports: &Value| {
        let check = json!({ "do": "check", "source": source, "imports": imports });
        let id = page.command(check);
        page.result(id).expect("at once")["result"].as_array().expect("mistakes").len()
    };
    assert_eq!((found(source, &imports), found(source, &json!({}))), (0, 2));
    assert_eq!(found("import \"scores\" as s;\nfn on_touch(o) { s::add(1; }", &imports), 1);
    let id = publish(&mut page, json!({ "imports": { "scores": "nothing" } }));
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
