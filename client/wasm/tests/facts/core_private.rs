//! Private words through the core: the page types and reads them, and nothing else.

use metatopia_client::Correspondence;
use metatopia_protocol::*;
use metatopia_types::*;
use serde_json::{Value, json};

use crate::{page::Page, stand::Stand};

fn ada() -> SigningKey {
    SigningKey::from_seed([9; 32])
}

/// Returns words of Ada to somebody, as a server hands them on.
fn words(page: &Page, to: PublicKey, number: u64, text: &str) -> ToldMessage {
    let sim = page.stand.sim();
    let mut random = [0; 32];
    random[0] = number as u8;
    let sealed = Correspondence::new(sim, &ada(), random).seal(&to, text);
    let (act, mut blobs) = sealed.expect("words that can be told");
    let (author, lane, seq) = (ada().public(), Lane(1), Seq(number));
    let envelope = Envelope { sim, author, lane, seq, last_valid: Height(900), act };
    ToldMessage {
        number,
        height: Height(2),
        ago: 0,
        name: "Ada".to_owned(),
        act: envelope.sign(&ada()),
        sealed: blobs.remove(0).0,
    }
}

/// Returns the only submission that was sent.
fn submission(page: &mut Page) -> Submission {
    let submitted = page.said().into_iter().find_map(|said| match said {
        ClientMessage::Submit(submission) => Some(*submission),
        _ => None,
    });
    submitted.expect("an act")
}

#[test]
fn what_is_said_to_one_person_is_sealed_and_what_is_told_is_shown_once() {
    let mut page = Page::new();
    let own = Sign::public(&Stand::visitor());
    let key = ada().public().to_string();
    let id = page.command(json!({ "do": "say", "text": "under the mat", "channel": key }));
    let Submission { act, blobs } = submission(&mut page);
    assert_eq!(act.envelope.act, Act::Tell { to: ada().public(), sealed: blobs[0].id() });
    let plain = |bytes: &[u8]| bytes.windows(5).any(|found| found == b"under");
    assert!(!plain(&blobs[0].0), "the words are in the clear");
    let told =
        ToldMessage { act: act.clone(), sealed: blobs[0].0.clone(), ..words(&page, own, 1, "-") };
    let mut reader = Correspondence::new(page.stand.sim(), &ada(), [0; 32]);
    let read = reader.take(&told).expect("words for Ada").expect("new words");
    assert_eq!(read.text, "under the mat");
    page.decide(act, Outcome::Refused(Refusal::SlowMode(7)));
    assert_eq!(page.result(id).expect("known")["result"]["refusal"], "SlowMode 7");

    let told = words(&page, own, 5, "which mat?");
    page.tell(&ServerMessage::Told(Box::new(told.clone())));
    page.tell(&ServerMessage::Told(Box::new(told)));
    let heard = page.events_of("heard");
    let [line] = &heard[..] else { panic!("{heard:?}") };
    assert_eq!(line["by"], ada().public().to_string(), "whom to block is known");
    assert_eq!((&line["text"], &line["channel"]), (&json!("which mat?"), &json!(4)));
    assert_eq!((&line["name"], &line["words"]), (&json!("Ada"), &json!(1)));
    assert_eq!((&line["earlier"], &line["proven"]), (&json!(false), &Value::Null));

    let id = page.command(json!({ "do": "file_report", "private": 1, "words": "rude" }));
    let Submission { act, blobs } = submission(&mut page);
    let about = ReportSubject::Words { by: ada().public(), opened: blobs[0].id() };
    assert_eq!(act.envelope.act, Act::FileReport { about, words: "rude".to_owned() });
    page.decide(act, Outcome::Ok);
    assert_eq!(page.result(id).expect("known")["result"]["ok"], true);
    let id = page.command(json!({ "do": "file_report", "private": 2, "words": "rude" }));
    assert_eq!(page.result(id).expect("at once")["code"], "BadName");
    for (channel, text, code) in [("nobody", "hello", "BadName"), (key.as_str(), "", "TooLong")] {
        let id = page.command(json!({ "do": "say", "text": text, "channel": channel }));
        assert_eq!(page.result(id).expect("at once")["code"], code);
    }
}

#[test]
fn a_login_brings_what_is_in_the_mailbox_and_broken_words_are_told_as_such() {
    let mut page = Page::new();
    let own = Sign::public(&Stand::visitor());
    let look = json!({ "color": 255, "shape": "star" });
    page.command(json!({ "do": "login", "name": "Eve", "look": look }));
    let act = page.act();
    page.decide(act, Outcome::Ok);
    page.events();
    let mailbox = |(id, question)| match question {
        Question::Mailbox { of, after: 0 } => Some((id, of)),
        _ => None,
    };
    let asked: Vec<_> = page.asked().into_iter().filter_map(mailbox).collect();
    let [(id, of)] = asked[..] else { panic!("{asked:?} is not one question") };
    assert_eq!(of, own);
    let kept = words(&page, own, 3, "come back");
    // Somebody sealed these for another reader, and signed them nevertheless.
    let mut broken = words(&page, ada().public(), 4, "not for you");
    broken.act.envelope.act = Act::Tell { to: own, sealed: Blob(broken.sealed.clone()).id() };
    broken.act = broken.act.envelope.clone().sign(&ada());
    // What the author did not sign is the server's own invention.
    let mut forged = words(&page, own, 6, "forged");
    forged.act.envelope.seq = Seq(77);
    page.answer(id, Answer::Mailbox(vec![kept, broken, forged]));
    let heard = page.events_of("heard");
    let texts: Vec<&Value> = heard.iter().map(|line| &line["text"]).collect();
    let unread = "Private words of Ada cannot be read: the seal is broken.";
    assert_eq!(texts, ["come back", unread]);
    assert!(heard.iter().all(|line| line["earlier"] == true && line["channel"] == 4));
}
