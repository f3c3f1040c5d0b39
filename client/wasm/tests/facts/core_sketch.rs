//! Sims of what is in sight alone, for tries where a tab can have no copy of the state.

use std::{collections::BTreeMap, sync::Arc};

use data_encoding::BASE64;
use metatopia_math::Vec2;
use metatopia_scripting::Package;
use metatopia_sim::{Genesis, Tools, World};
use metatopia_types::*;
use metatopia_wasm::{ScriptTrial, TrialEvent};
use serde_json::{Value, json};

use crate::{
    core_workshop::{look, package},
    page::Page,
    stand::Stand,
};

/// Asks for a sketch, and returns what came of it.
fn asked(page: &mut Page, object: u64) -> Value {
    let id = page.command(json!({ "do": "sketch", "object": object }));
    page.result(id).expect("at once")
}

/// Returns the sim of a sketch.
fn world_of(sketch: &Value) -> World {
    let bytes = BASE64.decode(sketch["genesis"].as_str().expect("text").as_bytes());
    let genesis = Genesis::decode(&bytes.expect("base 64")).expect("a genesis");
    assert_eq!(sketch["sim"], genesis.id().to_string());
    World::genesis(&genesis, &Tools::new(Arc::new(Ed25519))).expect("a sim")
}

/// Returns the names and places of all things.
fn things(world: &World) -> BTreeMap<(String, Vec2), Option<PublicKey>> {
    let things = world.objects().filter(|object| object.player.is_none());
    things.map(|thing| ((thing.name.to_owned(), thing.position), thing.owner)).collect()
}

#[test]
fn a_sketch_has_all_things_in_sight_where_they_are_and_neither_people_nor_scripts() {
    let mut page = Page::new();
    page.see();
    let thing = page.stand.world().objects().find(|object| object.player.is_none());
    let (id, name) = thing.map(|thing| (thing.id, thing.name)).expect("a thing");

    let sketch = asked(&mut page, id.0)["result"].clone();

    let world = world_of(&sketch);
    assert_eq!(things(&world), things(page.stand.world()));
    assert!(world.objects().all(|object| object.player.is_none() && object.scripts.is_empty()));
    let number = ObjectId(sketch["object"].as_u64().expect("a number"));
    assert_eq!(world.object(number).expect("it is there").name, name);
    assert_eq!(sketch["name"], "Ada");
}

/// Returns the number of the thing that is nearest to the author, and where she stands.
fn nearest(page: &Page) -> (u64, Vec2) {
    let there = page.stand.world();
    let avatar = there.avatar(&Stand::visitor().public()).expect("she came");
    let stands = there.place(avatar).expect("she stands");
    let things = there.objects().filter(|object| object.player.is_none());
    let nearest = things.min_by_key(|thing| thing.position.distance(stands));
    (nearest.expect("a thing").id.0, stands)
}

/// Begins a try of this source, with these imports, in a sketch.
fn begun(sketch: &Value, source: &str, imports: &Value) -> ScriptTrial {
    let task = json!({
        "do": "begin", "author": Stand::visitor().public().to_string(), "name": sketch["name"],
        "script": null, "object": sketch["object"],
        "draft": {
            "name": "lamp", "version": "1.0.0", "entry": "lamp.rhai",
            "files": { "lamp.rhai": source }, "licence": "AGPL-3.0-or-later", "imports": imports,
        },
    });
    ScriptTrial::new(&world_of(sketch), task.to_string().as_bytes()).expect("a try")
}

#[test]
fn a_draft_is_tried_in_a_sketch_where_the_author_stands_also_on_a_thing_of_the_sim() {
    let mut page = Page::new();
    page.see();
    let (thing, stands) = nearest(&page);
    let sketch = asked(&mut page, thing)["result"].clone();
    let source = "fn on_start() { log(self_.name); } fn on_chat(from, text) { log(from.name); }";

    let mut trial = begun(&sketch, source, &json!({}));

    let report = trial.run(2);
    assert!(matches!(report.lines[0].what, TrialEvent::Logged { .. }), "{report:?}");
    assert!(!report.over);
    let avatar = trial.world().avatar(&Stand::visitor().public()).expect("she came");
    let came = trial.world().place(avatar).expect("she stands somewhere");
    assert_eq!(came, stands);
}

/// A draft that imports something was refused in every sketch.
#[test]
fn a_draft_is_tried_in_a_sketch_with_the_packages_that_came_when_it_was_looked_over() {
    let sums = package("sums", "fn sum(a, b) { a + b }", &[]);
    let uses = "import \"sums\" as sums;\nfn add(n) { sums::sum(n, 1) }";
    let scores = package("scores", uses, &[("sums", &sums)]);
    let source = "import \"scores\" as s;\nfn on_start() { log(`it is ${s::add(41)}`); }";
    let imports = json!({ "scores": scores.id().to_string() });
    let sketched = |sim: &[&Package]| {
        let mut page = Page::new();
        page.see();
        let told = look(&mut page, source, &scores, sim);
        assert_eq!(told["mistakes"] == json!([]), sim.len() == 2, "{told}");
        let (thing, _) = nearest(&page);
        let id = page.command(json!({ "do": "sketch", "object": thing, "imports": imports }));
        page.result(id).expect("at once")["result"].clone()
    };

    let report = begun(&sketched(&[&sums, &scores]), source, &imports).run(2);
    let TrialEvent::Logged { text, .. } = &report.lines[0].what else { panic!("{report:?}") };
    assert_eq!(text, "it is 42");

    // A package whose own import never came would be in no sim, so that there would be no sketch at all.
    assert_eq!(world_of(&sketched(&[&scores])).packages().count(), 0);
}

#[test]
fn what_cannot_be_sketched_says_why() {
    let mut page = Page::new();
    assert_eq!(asked(&mut page, 1)["code"], "NotLoggedIn");
    page.see();
    assert_eq!(asked(&mut page, 999_999)["code"], "NotInSight");
    let avatar = page.stand.world().avatar(&Stand::visitor().public()).expect("she came");
    assert_eq!(asked(&mut page, avatar.0)["code"], "NotInSight", "people are no things");
}
