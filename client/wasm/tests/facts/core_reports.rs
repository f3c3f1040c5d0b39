//! What the page learns of reports through the core, and what it sends about them.

use metatopia_protocol::*;
use metatopia_types::*;
use serde_json::{Value, json};

use crate::{page::Page, stand::Stand};

fn report(n: u64, by: PublicKey, ruling: Option<RulingEntry>) -> ReportEntry {
    ReportEntry {
        report: n,
        by,
        by_name: "Ada".to_owned(),
        about: ReportSubject::Thing(ObjectId(7)),
        name: "wall".to_owned(),
        accused: None,
        words: "it blocks the door".to_owned(),
        ago: 60_000,
        ruling,
        opened: None,
    }
}

/// Answers the only question for reports; returns after which one they were asked for.
fn answer(page: &mut Page, reports: Vec<ReportEntry>) -> u64 {
    let after = |(id, question)| match question {
        Question::Reports { after } => Some((id, after)),
        _ => None,
    };
    let asked: Vec<_> = page.asked().into_iter().filter_map(after).collect();
    let [(id, after)] = asked[..] else { panic!("{asked:?} is not one question") };
    page.answer(id, Answer::Reports(reports));
    after
}

#[test]
fn reports_are_listed_with_whose_they_are_and_whether_they_wait_page_after_page() {
    let mut page = Page::new();
    let (own, other) = (Sign::public(&Stand::visitor()), PublicKey([9; 32]));
    let ruling =
        RulingEntry { by: other, ruling: Ruling::Upheld, reason: String::new(), height: Height(3) };
    let id = page.command(json!({ "do": "reports" }));
    let full: Vec<ReportEntry> =
        (1..).take(REPORTS_PER_ANSWER_MAX).map(|n| report(n, other, None)).collect();
    let last = full.len() as u64;
    assert_eq!(answer(&mut page, full), 0);
    assert_eq!(answer(&mut page, vec![report(last + 1, own, Some(ruling))]), last);
    let told: Value = page.result(id).expect("all pages came")["result"].clone();
    let told = told.as_array().expect("a list");
    assert_eq!(told.len(), REPORTS_PER_ANSWER_MAX + 1);
    let text = "Report 1 by Ada about wall, 1 minute ago: it blocks the door (open)";
    let first = json!({ "report": 1, "text": text, "own": false, "open": true, "proven": false });
    assert_eq!(told[0], first);
    assert_eq!(
        (&told[REPORTS_PER_ANSWER_MAX]["own"], &told[REPORTS_PER_ANSWER_MAX]["open"]),
        (&json!(true), &json!(false))
    );
}

#[test]
fn who_reports_a_thing_or_a_person_or_rules_learns_what_came_of_it() {
    let mut page = Page::new();
    page.log_in();
    let key = PublicKey([9; 32]);
    let decide = json!({ "verb": "decide", "report": 1, "ruling": "dismissed", "reason": "no" });
    let (thing, person) = (ReportSubject::Thing(ObjectId(7)), ReportSubject::Person(key));
    let words = || "a wall".to_owned();
    for (command, act) in [
        (
            json!({ "do": "file_report", "object": 7, "words": "a wall" }),
            Act::FileReport { about: thing, words: words() },
        ),
        (
            json!({ "do": "file_report", "key": key.to_string(), "words": "a wall" }),
            Act::FileReport { about: person, words: words() },
        ),
        (json!({ "do": "withdraw_report", "report": 2 }), Act::WithdrawReport { report: 2 }),
        (
            json!({ "do": "govern", "order": decide }),
            Act::Govern(GovernOrder::Decide {
                report: 1,
                ruling: Ruling::Dismissed,
                reason: "no".to_owned(),
            }),
        ),
    ] {
        let id = page.command(command);
        let sent = page.act();
        assert_eq!(sent.envelope.act, act);
        page.decide(sent, Outcome::Refused(Refusal::NoReport));
        assert_eq!(page.result(id).expect("known")["result"]["refusal"], "NoReport");
    }
    let id = page.command(json!({ "do": "file_report", "key": "ada", "words": "a wall" }));
    assert_eq!(page.result(id).expect("at once")["code"], "BadName");
}
