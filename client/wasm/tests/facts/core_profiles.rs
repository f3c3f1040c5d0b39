//! Profiles through the core: the page keeps a text, and the core signs, sends and proves.

use data_encoding::BASE64;
use metatopia_client::{OwnProfile, ProfileChange};
use metatopia_protocol::*;
use metatopia_sim::KeptProfile;
use metatopia_types::*;
use serde_json::{Value, json};

use crate::{
    page::Page,
    stand::{Stand, certificate},
};

/// The first bytes of a PNG of 96 by 96 points, which is all that the core reads.
fn face() -> Vec<u8> {
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x60\0\0\0\x60".to_vec()
}

fn own(before: Option<&OwnProfile>, change: ProfileChange) -> OwnProfile {
    OwnProfile::changed(before, 0, &[change], &Stand::visitor()).expect("what may be said")
}

fn line(text: &str) -> ProfileChange {
    ProfileChange::Line(text.to_owned())
}

/// Returns what a sim proves that keeps these profiles.
fn proves(page: &mut Page, kept: &[&SignedProfile]) -> Answer {
    let entry = |signed: &&SignedProfile| {
        let SignedProfile { profile, .. } = signed;
        let signed = Some((*signed).clone());
        (profile.key, KeptProfile { version: profile.version, time: 1, sent: None, signed })
    };
    let mut entries: Vec<(PublicKey, KeptProfile)> = kept.iter().map(entry).collect();
    entries.sort_by_key(|(key, _)| *key);
    let (key, content) = (LeafKey("profiles".to_owned()), wire::encode(&entries));
    let hash = leaf_hash(&key, &Digest(*blake3::hash(&content).as_bytes()));
    let tree = merkle::Tree::of(vec![hash]);
    let of = page.stand.height();
    page.stand.turns(2);
    let header = Header { root: Root(tree.root()), ..page.stand.proof(of, &[]).header };
    let leaf = StateProof { key, content, place: tree.proof(0).expect("the only leaf") };
    let certificate = certificate(&header, &[200, 201, 202]);
    Answer::Profiles(Box::new(ProfilesAnswer { header, certificate, leaves: vec![leaf] }))
}

/// Returns the number of the only question for profiles, and whose.
fn asked(page: &mut Page) -> (u32, Vec<PublicKey>) {
    let profiles = |(id, question)| match question {
        Question::Profiles { of } => Some((id, of)),
        _ => None,
    };
    let mut found: Vec<_> = page.asked().into_iter().filter_map(profiles).collect();
    let (Some(only), true) = (found.pop(), found.is_empty()) else { panic!("one question") };
    only
}

fn told(page: &mut Page) -> Value {
    let mut events = page.events_of("profile");
    let (Some(only), true) = (events.pop(), events.is_empty()) else { panic!("{events:?}") };
    only["profile"].clone()
}

#[test]
fn what_the_page_changes_is_signed_kept_and_sent() {
    let mut page = Page::new();
    let me = Sign::public(&Stand::visitor());
    let change = json!({ "line": "I build mills.", "picture": BASE64.encode(&face()) });
    let id = page.command(json!({ "do": "set_profile", "text": "", "change": change }));
    let (question, of) = asked(&mut page);
    assert_eq!(of, [me]);
    page.answer(question, Answer::Unknown);
    let submitted = page.said().into_iter().find_map(|said| match said {
        ClientMessage::Submit(submission) => Some(*submission),
        _ => None,
    });
    let Submission { act, blobs } = submitted.expect("an act");
    assert_eq!(act.envelope.act, Act::SetProfile { profile: blobs[0].id() });
    let sent = SentProfile::decode(&blobs[0].0).expect("a profile");
    assert!(sent.signed.verify(&Ed25519) && sent.has_its_picture());
    let kept = told(&mut page);
    let address = format!("data:image/png;base64,{}", BASE64.encode(&face()));
    assert_eq!((&kept["version"], &kept["image"]), (&json!(1), &json!(address)));
    page.decide(act, Outcome::Refused(Refusal::TooOften));
    assert_eq!(page.result(id).expect("known")["result"]["refusal"], "TooOften");

    let text = kept["text"].as_str().expect("a text").to_owned();
    let id = page.command(json!({ "do": "read_profile", "text": text }));
    let read = page.result(id).expect("at once")["result"].clone();
    assert_eq!((&read["line"], &read["own"]), (&json!("I build mills."), &json!(true)));
    for wrong in [
        json!({ "do": "read_profile", "text": "I am Ada." }),
        json!({ "do": "set_profile", "text": "I am Ada." }),
        json!({ "do": "set_profile", "text": "", "change": { "picture": "*" } }),
    ] {
        let id = page.command(wrong.clone());
        assert_eq!(page.result(id).expect("at once")["code"], "profile-text", "{wrong}");
    }
    let id =
        page.command(json!({ "do": "set_profile", "text": text, "change": { "line": "a\nb" } }));
    let (question, _) = asked(&mut page);
    page.answer(question, Answer::Unknown);
    assert_eq!(page.result(id).expect("known")["code"], "profile-text");
}

#[test]
fn a_login_sends_what_the_sim_does_not_know_and_takes_what_is_newer() {
    let first = own(None, line("one"));
    let second = own(Some(&first), line("two"));
    for (sim, news) in [(None, true), (Some(&first), false), (Some(&second), false)] {
        let mut page = Page::new();
        let id = page.command(json!({ "do": "set_profile", "text": first.export() }));
        let (question, _) = asked(&mut page);
        let kept: Vec<&SignedProfile> = sim.into_iter().map(OwnProfile::signed).collect();
        let answer = proves(&mut page, &kept);
        page.answer(question, answer);
        let acts = page.acts();
        let sends = acts.iter().any(|act| matches!(act.envelope.act, Act::SetProfile { .. }));
        assert_eq!(sends, news, "{sim:?}");
        if sim == Some(&second) {
            assert_eq!(told(&mut page)["text"], json!(second.export()));
        } else if !news {
            assert_eq!(page.result(id).expect("at once")["result"], Value::Null);
        }
    }
    // Nobody is asked about somebody who says nothing.
    let mut page = Page::new();
    let id = page.command(json!({ "do": "set_profile", "text": "" }));
    assert_eq!(page.result(id).expect("at once")["result"], Value::Null);
}

#[test]
fn what_people_say_is_told_proved_with_the_picture_that_it_names_and_no_other() {
    let mut page = Page::new();
    let mine = own(Some(&own(None, line("hi"))), ProfileChange::Picture(face()));
    let me = mine.profile().key.to_string();
    let nobody = SigningKey::from_seed([77; 32]).public().to_string();
    let ask = json!({ "do": "profiles", "of": [me, nobody] });
    let id = page.command(ask.clone());
    let (question, _) = asked(&mut page);
    let answer = proves(&mut page, &[mine.signed()]);
    page.answer(question, answer.clone());
    let list = page.result(id).expect("known")["result"].clone();
    let picture = picture_digest(&face()).to_string();
    let expected = json!([{
        "key": me, "version": 2, "line": "hi", "pronouns": "", "picture": picture,
    }]);
    assert_eq!(list, expected);
    let id = page.command(ask);
    let (question, _) = asked(&mut page);
    let Answer::Profiles(mut forged) = answer else { panic!("profiles") };
    forged.leaves[0].content[40] ^= 1;
    page.answer(question, Answer::Profiles(forged));
    assert_eq!(page.result(id).expect("known")["code"], "Unproven");

    for (bytes, good) in [(face(), true), (b"<svg/>".to_vec(), false)] {
        let id = page.command(json!({ "do": "picture", "of": me, "digest": picture }));
        let (question, _) = page.asked().pop().expect("a question");
        page.answer(question, Answer::Picture(bytes));
        let result = page.result(id).expect("known");
        match good {
            true => assert!(result["result"].as_str().is_some_and(|to| to.starts_with("data:"))),
            false => assert_eq!(result["code"], "Unproven"),
        }
    }
    let many = vec![me; PROFILES_PER_QUESTION_MAX + 1];
    let id = page.command(json!({ "do": "profiles", "of": many }));
    assert_eq!(page.result(id).expect("at once")["code"], "BadName");
}
