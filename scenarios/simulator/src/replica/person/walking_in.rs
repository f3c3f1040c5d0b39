//! People of two sims: they come over a border, where they do not log in.

use std::time::Duration;

use metatopia_types::{Act, Blob, Seq};

use super::Person;

impl Person {
    /// Returns the same person, who does not log in: they walk in over a border.
    #[must_use]
    pub fn walking_in(self) -> Self {
        Self { arrived: true, ..self }
    }

    /// Does something like [`Person::act`], with the blobs that the act names.
    pub fn act_with(&mut self, now: Duration, act: Act, blobs: Vec<Blob>) -> Option<Seq> {
        let seq = self.session.submit(now, act.clone(), blobs).ok()?;
        self.unsigned.insert(seq, act);
        if let Some(act) = self.session.act_at(seq) {
            self.signed(now, seq, act);
        }
        self.flush(now);
        Some(seq)
    }
}
