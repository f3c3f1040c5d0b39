//! What a session reports, and what its owner is told of it.

use metatopia_client::SessionEvent;
use metatopia_math::Fx;
use metatopia_protocol::{Answer, Goodbye, Question, SubmitRefusal};
use metatopia_types::ActId;

use super::{AnswerTarget, SessionTask};
use crate::{DriverEvent, End};

/// How far a person sees, in whole metres.
const SIGHT: i32 = 24;

/// Objects in one scene; the farthest are left out.
const OBJECTS_MAX: usize = 128;

impl SessionTask {
    pub(super) fn event(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::Open { height } => {
                (self.was_open, self.tries) = (true, 0);
                self.session.follow_servers(self.clock.elapsed());
                self.tell(DriverEvent::Open { url: self.url().clone(), height });
                let unsure: Vec<ActId> = self.checks.keys().copied().collect();
                unsure.into_iter().for_each(|act| self.check(act));
            }
            SessionEvent::Closed(why @ (Goodbye::Full | Goodbye::TooSlow | Goodbye::Stopping))
                if self.was_open || self.tries < self.nodes.len() =>
            {
                self.broke(why.to_string());
            }
            SessionEvent::Closed(why) => self.end = Some(End::Goodbye(why)),
            SessionEvent::Signed { seq, act } => self.signed(seq, act),
            // Nobody asks for frames here.
            SessionEvent::Frame { .. } => {}
            SessionEvent::Receipted { act, height, index } => {
                let after = self.acts.remove(&act).map(|(_, at)| at.elapsed());
                let after = after.unwrap_or_default();
                self.tell(DriverEvent::Receipted { act, height, index, after });
            }
            SessionEvent::Refused { act, why } => match why {
                // It may be in a turn whose receipt got lost with a connection.
                SubmitRefusal::Replayed(_) | SubmitRefusal::Expired { .. } => {
                    self.checks.insert(act, why);
                    self.check(act);
                }
                _ => self.refused(act, why),
            },
            SessionEvent::Outcome { act, height, outcome } => {
                self.tell(DriverEvent::Outcome { act, height, outcome });
            }
            SessionEvent::View { .. } => {
                let radius = Fx::from_int(SIGHT);
                let scene = self.session.sight().scene(self.spawn, radius, OBJECTS_MAX);
                self.tell(DriverEvent::Scene(Box::new(scene)));
            }
            SessionEvent::Proven(proven) => {
                // Where some of it is not proved, all of it is called unproved.
                let whole = self.session.proven().map(|_| *proven);
                self.tell(DriverEvent::Proof(Box::new(whole)));
            }
            SessionEvent::Unproven(why) => self.tell(DriverEvent::Proof(Box::new(Err(why)))),
            SessionEvent::Servers => self.learn_nodes(),
            SessionEvent::Pong { .. } => {}
            SessionEvent::Heard(line) => self.tell(DriverEvent::Heard(line)),
            SessionEvent::HeardEarlier(line) => self.tell(DriverEvent::HeardEarlier(line)),
            SessionEvent::Form(asked) => self.tell(DriverEvent::Form(asked)),
            SessionEvent::Sound(made) => self.tell(DriverEvent::Sound(made)),
            SessionEvent::Told(told) => self.tell(DriverEvent::Told(told)),
            SessionEvent::Forgotten(words) => self.tell(DriverEvent::Forgotten(words)),
            SessionEvent::Answer { id, answer } => self.answered(id, *answer),
            SessionEvent::Distrusted(why) => {
                self.end = Some(End::Distrusted { url: self.url().clone(), why });
            }
            SessionEvent::BadFrame(why) => {
                self.end = Some(End::BadFrame { url: self.url().clone(), why });
            }
        }
    }

    /// Asks whether an act was decided; again on the next connection, if this one breaks.
    pub(super) fn check(&mut self, act: ActId) {
        let Some((seq, _)) = self.acts.get(&act) else {
            return;
        };
        let (author, lane) = (self.author, self.session.lane());
        let question = Question::Receipt { author, lane, seq: *seq };
        if let Some(id) = self.session.ask(question) {
            self.asked.insert(id, AnswerTarget::Check(act));
        }
    }

    pub(super) fn answered(&mut self, id: u32, answer: Answer) {
        match self.asked.remove(&id) {
            Some(AnswerTarget::Owner(reply)) => {
                // The owner may have lost its patience.
                let _ = reply.send(answer);
            }
            Some(AnswerTarget::Check(act)) => self.checked(act, answer),
            None => {}
        }
    }

    pub(super) fn checked(&mut self, act: ActId, answer: Answer) {
        let Some(why) = self.checks.remove(&act) else {
            return;
        };
        let found = match answer {
            Answer::Receipt(found) if found.act.id() == act => found,
            _ => return self.refused(act, why),
        };
        match self.session.light().receipt(&found.act, &found.receipt) {
            Ok(()) => {
                let (height, index) = (found.receipt.header.height, found.receipt.place.index);
                let after = self.acts.remove(&act).map(|(_, at)| at.elapsed());
                let after = after.unwrap_or_default();
                self.tell(DriverEvent::Receipted { act, height, index, after });
                if let Some(outcome) = found.outcome {
                    self.tell(DriverEvent::Outcome { act, height, outcome });
                }
            }
            Err(_) => self.refused(act, why),
        }
    }

    pub(super) fn refused(&mut self, act: ActId, why: SubmitRefusal) {
        self.acts.remove(&act);
        self.tell(DriverEvent::Refused { act, why });
    }

    pub(super) fn tell(&mut self, news: DriverEvent) {
        // Of some news only the latest is of interest.
        self.waiting.retain(|older| !news.replaces(older));
        self.waiting.push_back(news);
    }
}
