//! Reports for the page: what people tell moderators, by the word of the server.

use metatopia_client::text::report_line;
use metatopia_protocol::{Question, ReportEntry};
use metatopia_types::{Act, ObjectId, PublicKey, ReportSubject};
use serde_json::{Value, json};

use super::{
    ClientCore,
    building::BAD_NAME,
    deeds::{Deed, DeedKind},
    inquiry::InquiryTask,
};

impl InquiryTask {
    pub(super) const fn reports() -> (Self, Question) {
        (Self::Reports(Vec::new()), Question::Reports { after: 0 })
    }
}

impl ClientCore {
    /// Tells moderators of a thing, or of the person with a key.
    pub(super) fn file_report(
        &mut self,
        id: u64,
        (object, key): (Option<ObjectId>, Option<String>),
        words: String,
    ) {
        let person = key.and_then(|key| key.parse().ok()).map(ReportSubject::Person);
        match object.map(ReportSubject::Thing).or(person) {
            Some(about) => {
                self.act(Deed::new(DeedKind::Plain(id), Act::FileReport { about, words }));
            }
            None => self.failed(id, BAD_NAME, &Value::Null),
        }
    }

    /// Returns the reports as the page lists them.
    pub(super) fn shown_reports(&self, all: &[ReportEntry]) -> Value {
        all.iter().map(|entry| shown(entry, &self.key)).collect()
    }
}

fn shown(entry: &ReportEntry, own: &PublicKey) -> Value {
    json!({
        "report": entry.report, "text": report_line(entry), "own": entry.by == *own,
        "open": entry.ruling.is_none(), "proven": false,
    })
}
