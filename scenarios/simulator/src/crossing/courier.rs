//! The couriers of one server, as `node/src/courier.rs` is one, over the time of the simulated world: it asks
//! the neighbour's servers what they say, one after the other.

use std::time::Duration;

use metatopia_protocol::{
    Answer, DISPATCH_WAIT_MAX_MS, DispatchAnswer, DispatchQuestion, Question,
};
use metatopia_replica::BorderWatch;
use metatopia_types::{Digest, Height, SimId};

use crate::seat::Life;

/// The time that a question stands while somebody is near the border, in milliseconds.
const NEAR_MS: u32 = 1_000;

/// The time that a neighbour has for an answer, after its question has stood for long enough.
const SLACK: Duration = Duration::from_secs(3);

/// The time between two questions to a node that answers.
const BETWEEN: Duration = Duration::from_millis(50);

/// The time before a node is asked that is busy, and before all nodes are tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// The time after which a node is left that answers, while the own sim takes in nothing of what it brings.
const STALE_NEAR: Duration = Duration::from_secs(5);
const STALE: Duration = Duration::from_secs(25);

/// A question that is under way, or stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct CourierQuestion {
    /// The token that comes back with its answer.
    pub(super) token: u64,
    /// The life of the server that is asked: a later one knows nothing of it.
    life: Life,
    began: Duration,
    expires: Duration,
    is_near: bool,
}

/// The courier of one server, for its only border.
#[derive(Debug, Clone)]
pub(super) struct VirtualCourier {
    /// The life of the own server.
    life: Life,
    /// The neighbour's server that is asked.
    pub(super) node: usize,
    /// So many of the neighbour's servers were tried in vain, one after the other.
    vain: usize,
    /// The digest of the news that was brought last.
    had: Option<Digest>,
    pub(super) question: Option<CourierQuestion>,
    next_at: Duration,
    /// What the own sim had taken in of the neighbour when that grew last.
    grown: (Height, Duration),
}

/// What the courier sees of the world in a moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct CourierView {
    /// The time of the world.
    pub(super) now: Duration,
    /// The life of the own server.
    pub(super) life: Life,
    /// How the border stands, as the own server said last.
    pub(super) border: BorderWatch,
    /// How many servers the neighbour has.
    pub(super) nodes: usize,
    /// The life of the server that is asked; none if it cannot be reached.
    pub(super) theirs: Option<Life>,
}

impl VirtualCourier {
    /// Returns a courier that begins with a node of the neighbour.
    pub(super) fn new(node: usize) -> Self {
        Self {
            life: 0,
            node,
            vain: 0,
            had: None,
            question: None,
            next_at: Duration::ZERO,
            grown: (Height(0), Duration::ZERO),
        }
    }

    /// Looks at the world, and leaves a node that is gone, silent or stale. Returns a question to put, if it is
    /// time for one.
    pub(super) fn mind(&mut self, view: &CourierView, own: SimId, token: u64) -> Option<Question> {
        let CourierView { now, border, .. } = *view;
        if self.life != view.life {
            *self = Self { life: view.life, next_at: now, ..Self::new(self.node) };
            self.grown = (border.reached, now);
        }
        if border.reached > self.grown.0 {
            self.grown = (border.reached, now);
        }
        if let Some(question) = self.question {
            if view.theirs != Some(question.life) || now > question.expires {
                self.leave(now, view.nodes);
            } else if border.is_near && !question.is_near {
                // Somebody came near: the question is put anew.
                self.question = None;
                self.next_at = now;
            }
        }
        if self.question.is_some() || now < self.next_at {
            return None;
        }
        let patience = if border.is_near { STALE_NEAR } else { STALE };
        if now.saturating_sub(self.grown.1) > patience {
            self.grown.1 = now;
            self.leave(now, view.nodes);
            return None;
        }
        let Some(life) = view.theirs else {
            self.leave(now, view.nodes);
            return None;
        };
        let wait = if border.is_near { NEAR_MS } else { DISPATCH_WAIT_MAX_MS };
        let expires = now + Duration::from_millis(wait.into()) + SLACK;
        let is_near = border.is_near;
        self.question = Some(CourierQuestion { token, life, began: now, expires, is_near });
        let BorderWatch { followed, judged, .. } = border;
        let had = self.had;
        Some(Question::Dispatch(DispatchQuestion { neighbour: own, followed, judged, had, wait }))
    }

    /// Takes the answer to its question, which comes after so long. Returns what is to be brought.
    pub(super) fn answered(
        &mut self,
        answer: Answer,
        (now, comes): (Duration, Duration),
        nodes: usize,
    ) -> Option<Vec<u8>> {
        let question = self.question.take()?;
        match answer {
            Answer::Dispatch(DispatchAnswer { news, dispatch }) => {
                (self.had, self.vain) = (Some(news), 0);
                self.next_at = (question.began + BETWEEN).max(comes);
                Some(dispatch)
            }
            // A node that is busy for a moment is asked again, and one that has nothing is left.
            Answer::Busy => {
                self.next_at = comes + PAUSE;
                None
            }
            _ => {
                self.leave(now, nodes);
                None
            }
        }
    }

    /// Goes on with the next node, after a pause when all were tried.
    pub(super) fn leave(&mut self, now: Duration, nodes: usize) {
        self.question = None;
        self.had = None;
        self.node = (self.node + 1) % nodes;
        self.vain += 1;
        let pause = if self.vain.is_multiple_of(nodes) { PAUSE } else { BETWEEN };
        self.next_at = now + pause;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use metatopia_protocol::{Answer, DispatchAnswer, Question};
    use metatopia_replica::BorderWatch;
    use metatopia_types::{Digest, Height, SimId};

    use super::{CourierView, VirtualCourier};

    const OWN: SimId = SimId(Digest([1; 32]));

    fn view(seconds: u64, reached: u64) -> CourierView {
        let neighbour = SimId(Digest([2; 32]));
        let reached = Height(reached);
        CourierView {
            now: Duration::from_secs(seconds),
            life: 1,
            border: BorderWatch {
                neighbour,
                followed: Height(0),
                judged: 0,
                reached,
                is_near: true,
            },
            nodes: 4,
            theirs: Some(1),
        }
    }

    #[test]
    fn a_silent_node_and_one_that_brings_nothing_new_are_left() {
        let mut courier = VirtualCourier::new(0);
        assert!(courier.mind(&view(1, 7), OWN, 1).is_some());
        assert!(courier.mind(&view(4, 7), OWN, 2).is_none(), "the question stands");
        assert!(courier.mind(&view(6, 7), OWN, 2).is_none());
        assert_eq!((courier.node, courier.question.is_none()), (1, true), "it was silent");

        assert!(courier.mind(&view(7, 7), OWN, 2).is_none());
        assert_eq!(courier.node, 2, "for five seconds nothing was new");
        assert!(courier.mind(&view(8, 8), OWN, 3).is_some(), "what grows is no longer stale");
    }

    #[test]
    fn the_next_question_says_what_came_with_the_last_answer() {
        let mut courier = VirtualCourier::new(3);
        assert!(courier.mind(&view(1, 1), OWN, 1).is_some());
        let news = Digest([9; 32]);
        let answer = Answer::Dispatch(DispatchAnswer { news, dispatch: vec![5] });
        let now = Duration::from_secs(1);
        assert_eq!(courier.answered(answer, (now, now), 4), Some(vec![5]));

        let Some(Question::Dispatch(asked)) = courier.mind(&view(2, 2), OWN, 2) else {
            panic!("no question")
        };
        assert_eq!((asked.neighbour, asked.had, courier.node), (OWN, Some(news), 3));
    }
}
