//! What the page sees and asks through the core.

use data_encoding::BASE64;
use metatopia_math::Vec2;
use metatopia_protocol::*;
use metatopia_types::*;
use serde_json::{Value, json};

use crate::{page::Page, stand::Stand};

fn script(n: u64, package: PackageId) -> ScriptEntry {
    ScriptEntry {
        script: ScriptId(n),
        object: ObjectId(n),
        name: format!("thing {n}"),
        package,
        owner: None,
        failures: 0,
        last_failure: Some((Tick(4), "no".to_owned())),
        suspended: Some(Tick(5)),
        dropped: 0,
        gas_used: 9,
    }
}

/// The only question under way of this kind.
fn question(page: &mut Page, is: impl Fn(&Question) -> bool) -> u32 {
    let asked = page.asked();
    let found: Vec<u32> = asked.iter().filter(|(_, asked)| is(asked)).map(|(id, _)| *id).collect();
    let [id] = found[..] else { panic!("{asked:?}") };
    id
}

#[test]
fn things_are_put_moved_and_taken_away_as_views_tell() {
    let mut page = Page::new();
    page.see();
    let view = page.events_of("view").pop().expect("a view");
    let put = view["put"].as_array().expect("things");
    let objects = page.stand.world().objects().count();
    assert_eq!((put.len(), &view["reset"], &view["gone"]), (objects, &true.into(), &json!([])));
    let me = &view["me"];
    let own = put.iter().find(|thing| thing["id"] == *me).expect("the own avatar");
    assert_eq!((&own["name"], &own["kind"]), (&"Ada".into(), &"avatar".into()));
    assert_eq!(
        (&own["round"], &own["movable"], &own["far"]),
        (&true.into(), &false.into(), &false.into())
    );
    assert_eq!(own["player"], key().to_string());
    let x = own["place"]["x"].as_f64().expect("metres");
    let place = page.stand.world().avatar(&key()).and_then(|me| page.stand.world().place(me));
    let exact = place.expect("it is there").x.to_bits() as f64 / 4_294_967_296.0;
    // Reading JSON may cost the last digit of a number.
    assert!((x - exact).abs() < 1e-12, "{x} {exact}");

    page.stand.turns(1);
    page.see();
    let view = page.events_of("view").pop().expect("a view");
    assert_eq!((&view["put"], &view["reset"]), (&json!([]), &false.into()));
    let moved = view["moved"].as_array().expect("moves");
    assert!(moved.iter().any(|moved| moved[0] == *me && moved[1].as_f64() > Some(x)), "{moved:?}");

    page.stand.turn(&[Act::Emote(Emote::Wave)]);
    let mut seen = page.view();
    seen.gestures = vec![(ObjectId(me.as_u64().expect("a number")), Emote::Wave)];
    page.tell(&ServerMessage::View(Box::new(seen)));
    let view = page.events_of("view").pop().expect("a view");
    assert_eq!(view["gestures"], json!([[me, "wave"]]));

    page.stand.turn(&[Act::Leave]);
    page.see();
    let view = page.events_of("view").pop().expect("a view");
    assert_eq!((&view["gone"], &view["me"]), (&json!([me]), &Value::Null));
}

fn key() -> PublicKey {
    Sign::public(&Stand::visitor())
}

#[test]
fn copies_go_on_at_another_server_and_the_picture_with_them() {
    let mut page = Page::new();
    page.see();
    page.events();
    page.core.disconnected(page.now, page.wall);
    page.greet();
    let said = page.said();
    let have = said.iter().find_map(|said| match said {
        ClientMessage::View(Some(watching)) => Some(watching.have.clone()),
        _ => None,
    });
    page.watcher.had = have.expect("views are asked for").into_iter().collect();
    assert!(!page.watcher.had.is_empty());
    page.stand.turns(3);
    let of = page.see();
    let view = page.events_of("view").pop().expect("a view");
    assert_eq!((&view["put"], &view["reset"]), (&json!([]), &false.into()));
    let proof = page.proof(of);
    page.prove(proof);
    assert_eq!(page.badge().expect("news")["level"], "green");
}

#[test]
fn packages_of_scripts_in_sight_are_learned_and_told() {
    let mut page = Page::new();
    page.said();
    page.see();
    let view = page.events_of("view").pop().expect("a view");
    let has = |thing: &&Value| thing["scripts"].as_array().is_some_and(|all| !all.is_empty());
    let thing = view["put"].as_array().expect("things").iter().find(has).expect("scripts").clone();
    assert_eq!(thing["scripts"][0]["package"], Value::Null);
    let id = question(&mut page, |asked| matches!(asked, Question::Scripts { .. }));
    let package = PackageId(Digest::of("package", b""));
    let n = thing["scripts"][0]["script"].as_u64().expect("a number");
    let entry =
        ScriptEntry { object: ObjectId(thing["id"].as_u64().expect("one")), ..script(n, package) };
    page.answer(id, Answer::Scripts(vec![entry]));
    page.stand.turns(1);
    page.see();
    let view = page.events_of("view").pop().expect("a view");
    assert_eq!(view["put"][0]["id"], thing["id"]);
    assert_eq!(view["put"][0]["scripts"][0]["package"], package.to_string());
}

#[test]
fn tabs_that_nobody_looks_at_ask_for_few_views() {
    let mut page = Page::new();
    page.said();
    page.command(json!({ "do": "watch", "pulse": "hidden" }));
    let said = page.said();
    let [ClientMessage::View(Some(hidden))] = &said[..] else { panic!("{said:?}") };
    assert_eq!((hidden.bytes_per_second, hidden.turns_apart), (4_000, 20));
    page.command(json!({ "do": "watch", "pulse": "hidden" }));
    assert!(page.said().is_empty());
    page.command(json!({ "do": "watch", "pulse": "active" }));
    let said = page.said();
    let [ClientMessage::View(Some(active))] = &said[..] else { panic!("{said:?}") };
    assert_eq!((active.bytes_per_second, active.turns_apart), (100_000, 1));
}

#[test]
fn answers_of_panels_say_whose_word_they_are() {
    let mut page = Page::new();
    page.said();
    let look = Look::plain(5, BodyShape::Star);
    let (name, key, avatar) = ("Eve".to_owned(), key(), ObjectId(8));
    let id = page.command(json!({ "do": "players" }));
    let asked = question(&mut page, |asked| *asked == Question::Players);
    page.answer(asked, Answer::Players(vec![PlayerEntry { name, key, avatar, look }]));
    let done = page.result(id).expect("known");
    let look = json!({ "color": 5, "shape": "star", "head": null, "hands": null, "hat": null });
    let player = json!({
        "name": "Eve", "key": key.to_string(), "avatar": 8, "look": look, "proven": false,
    });
    assert_eq!(done["result"], json!([player]));

    let id = page.command(json!({ "do": "things" }));
    let asked = question(&mut page, |asked| *asked == Question::Things { owner: key });
    let package = PackageId(Digest::of("package", b""));
    let thing = ThingEntry {
        object: ObjectId(4),
        name: "seat".to_owned(),
        kind: "bench".to_owned(),
        position: Vec2::new(metatopia_math::Fx::HALF, metatopia_math::Fx::ONE),
        text_bytes: 3,
        scripts: vec![(ScriptId(2), package)],
        guest: None,
        stowed: None,
    };
    page.answer(asked, Answer::Things(vec![thing]));
    let done = page.result(id).expect("known");
    let scripts = json!([{ "script": 2, "package": package.to_string() }]);
    let thing = json!({
        "object": 4, "name": "seat", "kind": "bench", "x": 0.5, "y": 1.0, "text_bytes": 3, "stowed": null,
        "scripts": scripts, "proven": false,
    });
    assert_eq!(done["result"], json!([thing]));

    let id = page.command(json!({ "do": "order", "height": 7, "script": 2 }));
    let wanted = Question::Order { height: Height(7), script: ScriptId(2) };
    let asked = question(&mut page, |asked| *asked == wanted);
    let (tick, sender, event) = (Tick(21), ObjectId(0), "tick".to_owned());
    page.answer(asked, Answer::Order(vec![OrderEntry { tick, sender, event }]));
    let order = json!([{ "tick": 21, "sender": 0, "event": "tick" }]);
    assert_eq!(page.result(id).expect("known")["result"], order);
}

#[test]
fn who_decides_is_told_with_who_votes() {
    let mut page = Page::new();
    page.said();
    let id = page.command(json!({ "do": "governance" }));
    let asked = question(&mut page, |asked| *asked == Question::Governance);
    let contact = NodeContact { peer_id: "p".to_owned(), address: "a".to_owned() };
    let change = SetChange::Add { key: key(), contact };
    let entry = GovernanceEntry {
        admins: vec![key()],
        temp_admin: None,
        admin_days: 30,
        player_days: 7,
        seen_days: 3,
        time: 172_800_004,
        admin_login: 4,
        countdown: 9,
        time_left: Some(60_000),
        players: 2,
        candidates: vec![CandidateEntry {
            name: "Ada".to_owned(),
            key: key(),
            first_seen: 1,
            last_login: 2,
        }],
        exposed: vec![(key(), Height(6))],
        delayed: vec![DelayedEntry { change, by: key(), left: 8 }],
        motd: "Market day".to_owned(),
        orders: 3,
    };
    page.answer(asked, Answer::Governance(Box::new(entry)));
    let result = page.result(id).expect("known")["result"].clone();
    let own = key().to_string();
    assert_eq!((&result["admins"], &result["countdown"]), (&json!([own]), &9.into()));
    assert_eq!(result["validators"].as_array().map(Vec::len), Some(4));
    assert_eq!(result["exposed"], json!([[own, 6]]));
    let contact = json!({ "peer_id": "p", "address": "a" });
    let change = json!({ "Add": { "key": own, "contact": contact } });
    assert_eq!(result["delayed"], json!([{ "change": change, "by": own, "left": 8 }]));
    assert_eq!(result["candidates"][0]["last_login"], 2);
    assert_eq!(result["motd"], "Market day");
    assert!(result["away"].as_str().is_some_and(|words| words.ends_with("takes over: Ada")));
    assert_eq!(result["proven"], false);
}

#[test]
fn a_busy_node_is_asked_eight_times_a_quarter_second_apart() {
    let mut page = Page::new();
    page.said();
    let id = page.command(json!({ "do": "players" }));
    for tries in 1..=8 {
        let asked = question(&mut page, |asked| *asked == Question::Players);
        page.answer(asked, Answer::Busy);
        if tries < 8 {
            assert_eq!(page.result(id), None);
            page.wait(249.0);
            assert!(page.asked().is_empty());
            page.wait(1.0);
        }
    }
    assert_eq!(page.result(id).expect("known")["code"], "Busy");
    let id = page.command(json!({ "do": "players" }));
    let asked = question(&mut page, |asked| *asked == Question::Players);
    page.answer(asked, Answer::Unknown);
    assert_eq!(page.result(id).expect("known")["code"], "Unknown");
}

#[test]
fn questions_are_asked_again_where_the_session_goes_on() {
    let mut page = Page::new();
    let id = page.command(json!({ "do": "players" }));
    page.core.disconnected(page.now, page.wall);
    page.greet();
    let asked = question(&mut page, |asked| *asked == Question::Players);
    page.answer(asked, Answer::Players(Vec::new()));
    assert_eq!(page.result(id).expect("known")["result"], json!([]));
}

#[test]
fn scripts_come_page_after_page() {
    let mut page = Page::new();
    page.said();
    let id = page.command(json!({ "do": "scripts" }));
    let package = PackageId(Digest::of("package", b""));
    let first = question(&mut page, |asked| *asked == Question::Scripts { after: ScriptId(0) });
    let most = SCRIPTS_PER_ANSWER_MAX as u64;
    page.answer(first, Answer::Scripts((1..=most).map(|n| script(n, package)).collect()));
    let next = question(&mut page, |asked| *asked == Question::Scripts { after: ScriptId(most) });
    page.answer(next, Answer::Scripts(vec![script(most + 1, package)]));
    let all = page.result(id).expect("known")["result"].clone();
    assert_eq!(all.as_array().map(Vec::len), Some(SCRIPTS_PER_ANSWER_MAX + 1));
    assert_eq!(all[0]["last_failure"], json!([4, "no"]));

    // Pages that go back end it.
    let id = page.command(json!({ "do": "scripts" }));
    let first = question(&mut page, |asked| *asked == Question::Scripts { after: ScriptId(0) });
    page.answer(first, Answer::Scripts((1..=most).map(|n| script(n, package)).collect()));
    let next = question(&mut page, |asked| *asked == Question::Scripts { after: ScriptId(most) });
    page.answer(next, Answer::Scripts((1..=most).map(|n| script(n, package)).collect()));
    assert!(page.result(id).is_some());
}

#[test]
fn sources_are_hashed_again() {
    let mut page = Page::new();
    page.said();
    let (id, bytes) = Stand::genesis().packages.into_iter().next().expect("a package");
    for (bytes, good) in [(bytes.clone(), true), (spoiled(&bytes), false)] {
        let command = page.command(json!({ "do": "source", "package": id.to_string() }));
        let asked = question(&mut page, |asked| *asked == Question::Source { package: id });
        page.answer(asked, Answer::Source(bytes));
        let source = page.result(command).expect("known")["result"].clone();
        assert_eq!((&source["id"], &source["verified"]), (&id.to_string().into(), &good.into()));
        let files = source["files"].as_array().expect("files");
        assert_eq!(files.iter().all(|file| file["verified"] == true), good);
        assert!(source["manifest"]["licence"].is_string());
    }
}

fn listed(n: u8, scripts: u32, publisher: Option<u8>) -> PackageEntry {
    PackageEntry {
        package: PackageId(Digest([n; 32])),
        name: format!("package {n}"),
        version: "1.0.0".to_owned(),
        licence: "AGPL-3.0-or-later".to_owned(),
        authors: "Ada".to_owned(),
        publisher: publisher.map(|n| PublicKey([n; 32])),
        height: Height(7),
        bytes: 300,
        scripts,
        left: None,
    }
}

#[test]
fn packages_that_can_be_attached_come_page_after_page() {
    let mut page = Page::new();
    page.said();
    let command = page.command(json!({ "do": "packages" }));
    let first = PackageId(Digest::ZERO);
    let asked = question(&mut page, |asked| *asked == Question::Packages { after: first });
    let gone = |n: usize| {
        let mut id = [1; 32];
        id[24..].copy_from_slice(&(n as u64).to_be_bytes());
        let package = PackageId(Digest(id));
        PackageEntry { package, left: Some(Height(9)), ..listed(1, 0, Some(5)) }
    };
    let full: Vec<PackageEntry> = (0..PACKAGES_PER_ANSWER_MAX).map(gone).collect();
    let after = full[PACKAGES_PER_ANSWER_MAX - 1].package;
    page.answer(asked, Answer::Packages(full));
    let asked = question(&mut page, |asked| *asked == Question::Packages { after });
    page.answer(asked, Answer::Packages(vec![listed(2, 1, None), listed(3, 0, Some(5))]));

    let all = page.result(command).expect("known")["result"].clone();
    let names: Vec<&str> =
        all.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["package 2", "package 3"], "what has left is not there");
    assert_eq!(all[0]["publisher"], Value::Null);
}

/// The same package with one letter of a file changed.
fn spoiled(bytes: &[u8]) -> Vec<u8> {
    let at = bytes.windows(3).rposition(|part| part == b"fn ").expect("a function");
    let mut bytes = bytes.to_vec();
    bytes[at] = b'F';
    bytes
}

#[test]
fn all_source_is_one_archive() {
    let mut page = Page::new();
    page.said();
    let command = page.command(json!({ "do": "all_source" }));
    let asked = question(&mut page, |asked| matches!(asked, Question::Packages { .. }));
    let packages = Stand::genesis().packages;
    let mut all: Vec<PackageEntry> = packages
        .keys()
        .map(|id| PackageEntry { package: *id, ..listed(1, 0, None) })
        .chain([listed(0xfe, 0, Some(5))])
        .collect();
    all.sort_by_key(|entry| entry.package);
    page.answer(asked, Answer::Packages(all));
    for (id, bytes) in &packages {
        let asked = question(&mut page, |asked| *asked == Question::Source { package: *id });
        page.answer(asked, Answer::Source(bytes.clone()));
    }
    let result = page.result(command).expect("known")["result"].clone();
    let list = result["list"].as_array().expect("a list");
    assert_eq!(list.len(), packages.len());
    assert!(list.iter().all(|package| package["verified"] == true));
    let tar = BASE64.decode(result["archive"].as_str().expect("text").as_bytes()).expect("base 64");
    assert_eq!((tar.len() % 512, &tar[..20]), (0, &b"source/MANIFEST.json"[..]));
    assert_eq!(&tar[257..263], b"ustar\0");
    let length = std::str::from_utf8(&tar[124..135]).expect("digits");
    let length = usize::from_str_radix(length, 8).expect("octal");
    let list: Value = serde_json::from_slice(&tar[512..512 + length]).expect("JSON");
    assert_eq!(list["sim"], page.stand.sim().to_string());
    let sum: u32 = tar[..512]
        .iter()
        .enumerate()
        .map(|(at, byte)| match at {
            148..156 => u32::from(b' '),
            _ => u32::from(*byte),
        })
        .sum();
    assert_eq!(std::str::from_utf8(&tar[148..154]).expect("digits"), format!("{sum:06o}"));
    let names: Vec<&[u8]> = tar.chunks(512).filter(|block| block[257..262] == *b"ustar").collect();
    assert!(names.len() > 2 * packages.len());
}

#[test]
fn answers_that_are_wanted_raw_come_with_their_frames() {
    let mut page = Page::new();
    page.said();
    for question in [
        json!("Snapshot"),
        json!({ "Links": { "after": 0 } }),
        json!({ "SnapshotPart": { "height": 3, "part": 1 } }),
        json!({ "Turns": { "from": 5 } }),
    ] {
        let command = page.command(json!({ "do": "raw", "question": question }));
        let [(id, _)] = page.asked()[..] else { panic!("{question}") };
        let message = ServerMessage::Answer { id, answer: Box::new(Answer::Unknown) };
        page.tell(&message);
        let frame = BASE64.encode(&encode_server(&message));
        let event = json!({ "type": "answer", "id": command, "kind": "Unknown", "frame": frame });
        assert_eq!(page.events_of("answer"), [event]);
    }
}

#[test]
fn where_servers_are_is_told_as_they_signed_it() {
    let mut page = Page::unconnected(json!({}));
    page.greet();
    let asked = question(&mut page, |asked| *asked == Question::Servers);
    let server = crate::stand::key(201);
    let announcement = EndpointAnnouncement {
        sim: page.stand.sim(),
        server: Sign::public(&server),
        http: "http://127.0.0.1:8080".to_owned(),
        quic: "127.0.0.1:9000".to_owned(),
        certificates: Vec::new(),
        issued: Millis(5),
    };
    let entry = json!({
        "server": announcement.server.to_string(), "http": announcement.http,
        "quic": announcement.quic, "issued": 5,
    });
    page.answer(asked, Answer::Servers(vec![announcement.sign(&server)]));
    assert_eq!(page.events_of("servers"), [json!({ "type": "servers", "list": [entry] })]);
    let id = page.command(json!({ "do": "servers" }));
    assert_eq!(page.result(id).expect("known")["result"], json!([entry]));
}

/// The page took the world from the genesis, and showed no map of a sim that follows another land office.
#[test]
fn what_the_sim_is_by_now_is_asked_once_a_minute_and_told_if_it_is_proved() {
    let mut page = Page::new();
    page.see();
    for signers in [&[200, 201][..], &[200, 201, 202]] {
        let asked = question(&mut page, |asked| *asked == Question::Charter);
        page.prove_charter(asked, signers);
        let told = page.events_of("charter");
        let now = json!([
            { "type": "charter", "world": null, "houseRules": "", "houseRulesDigest": null },
        ]);
        assert_eq!(json!(told), if signers.len() == 3 { now } else { json!([]) });

        if signers.len() < 3 {
            // What did not hold is asked again soon.
            page.wait(2_000.0);
            page.stand.turns(1);
            page.see();
            continue;
        }

        // A server that says nothing for long is left.
        for token in 0..59 {
            page.wait(1_000.0);
            page.tell(&ServerMessage::Pong { token });
        }
        page.see();
        let early = page.asked();
        assert!(!early.iter().any(|(_, asked)| *asked == Question::Charter), "{early:?}");
        page.wait(2_000.0);
        page.stand.turns(1);
        page.see();
    }
}

#[test]
fn the_values_of_the_charter_that_can_be_changed_are_proved_before_they_are_shown() {
    let mut page = Page::new();
    page.see();
    for (signers, proved) in [(&[200, 201][..], false), (&[200, 201, 202], true)] {
        page.asked();
        let id = page.command(json!({ "do": "values" }));
        let asked = question(&mut page, |asked| *asked == Question::Charter);
        page.prove_charter(asked, signers);
        let told = page.result(id).expect("it came");
        if !proved {
            assert_eq!(told["code"], "Unproven");
            continue;
        }
        let values = told["result"]["values"].as_array().expect("a list").clone();
        assert_eq!(values.len(), metatopia_sim::AMENDABLE.len());
        assert_eq!(values[0], json!(["name", "plaza"]));
        assert!(told["result"]["lands"].is_array());
    }
}
