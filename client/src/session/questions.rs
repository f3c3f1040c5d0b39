//! Questions under way.

use alloc::vec::Vec;

use metatopia_protocol::{ClientMessage, Question};

use super::Session;

/// Questions under way.
pub const QUESTIONS_MAX: usize = 256;

/// A question without an answer.
#[derive(Debug)]
pub(super) struct AskedQuestion {
    question: Question,
    /// It is asked again on the next connection.
    pub(super) kept: bool,
    /// The whole frame of the answer is wanted.
    raw: bool,
}

impl Session {
    /// Asks a question; nothing while the session is closed or too many are under way.
    pub fn ask(&mut self, question: Question) -> Option<u32> {
        if !self.open {
            return None;
        }
        self.put(AskedQuestion { question, kept: false, raw: false })
    }

    /// Asks a question, now and on each later connection until it is answered; nothing if too many are
    /// under way. Who wants the answer `raw` gets its whole frame, as [`SessionEvent::Frame`].
    ///
    /// [`SessionEvent::Frame`]: super::SessionEvent::Frame
    pub fn inquire(&mut self, question: Question, raw: bool) -> Option<u32> {
        self.put(AskedQuestion { question, kept: true, raw })
    }

    fn put(&mut self, asked: AskedQuestion) -> Option<u32> {
        if self.questions.len() >= QUESTIONS_MAX {
            return None;
        }
        let id = self.next_question;
        self.next_question = id.wrapping_add(1);
        if self.open {
            self.send(&ClientMessage::Ask { id, question: asked.question.clone() });
        }
        self.questions.insert(id, asked);
        Some(id)
    }

    /// Asks again what the last connection did not answer.
    pub(super) fn ask_again(&mut self) {
        let question = |(id, asked): (&u32, &AskedQuestion)| (*id, asked.question.clone());
        let kept: Vec<(u32, Question)> = self.questions.iter().map(question).collect();
        for (id, question) in kept {
            self.send(&ClientMessage::Ask { id, question });
        }
    }

    pub(super) fn is_wanted_raw(&self, id: u32) -> bool {
        self.questions.get(&id).is_some_and(|asked| asked.raw)
    }
}
