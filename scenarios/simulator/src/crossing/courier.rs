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

/// The time before a node is asked that is busy, and before nodes are tried again, when all were tried once: then each
/// time twice as long, up to [`PAUSE_MAX`].
const PAUSE: Duration = Duration::from_secs(1);

/// The longest such time.
const PAUSE_MAX: Duration = Duration::from_secs(8);

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
    /// The neighbour's server that each round begins with.
    first: usize,
    /// So many of the neighbour's servers were left in this round.
    left: usize,
    /// The time before the next round.
    pause: Duration,
    /// The digest of the news that this node brought last.
    had: Option<Digest>,
    pub(super) question: Option<CourierQuestion>,
    next_at: Duration,
    /// What the own sim had taken in of the neighbour when that grew last; none before this node is asked.
    grown: Option<(Height, Duration)>,
    /// What it had taken in when this node was asked first; none before that.
    began_at: Option<Height>,
}

/// What the courier sees of the world in a moment.
#[derive(Debug, Clone)]
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
    /// Returns a courier that begins each round with a node of the neighbour.
    pub(super) fn new(first: usize) -> Self {
        Self {
            life: 0,
            first,
            left: 0,
            pause: PAUSE,
            had: None,
            question: None,
            next_at: Duration::ZERO,
            grown: None,
            began_at: None,
        }
    }

    /// Returns which of so many servers of the neighbour is asked.
    pub(super) const fn node(&self, nodes: usize) -> usize {
        (self.first + self.left) % nodes
    }

    /// Looks at the world, and leaves a node that is gone, silent or stale. Returns a question to put, if it is
    /// time for one.
    pub(super) fn mind(&mut self, view: &CourierView, own: SimId, token: u64) -> Option<Question> {
        let CourierView { now, ref border, .. } = *view;
        if self.life != view.life {
            *self = Self { life: view.life, next_at: now, ..Self::new(self.first) };
            // The view is one of the node that was asked before.
            return None;
        }
        if let Some(question) = self.question {
            if view.theirs != Some(question.life) || now > question.expires {
                self.fail(now, view.nodes);
            } else if border.is_near && !question.is_near {
                // Somebody came near: the question is put anew.
                self.question = None;
                self.next_at = now.max(question.began + BETWEEN);
            }
        }
        if self.question.is_some() || now < self.next_at {
            return None;
        }
        if self.is_stale(now, border) {
            // Of a node that brought something new it may be the own sim that stood still.
            if self.began_at.is_some_and(|began_at| border.reached > began_at) {
                self.pause = PAUSE;
            }
            self.go_on(now, view.nodes);
            return None;
        }
        let Some(life) = view.theirs else {
            self.fail(now, view.nodes);
            return None;
        };
        let wait = if border.is_near { NEAR_MS } else { DISPATCH_WAIT_MAX_MS };
        let expires = now + Duration::from_millis(wait.into()) + SLACK;
        let is_near = border.is_near;
        self.question = Some(CourierQuestion { token, life, began: now, expires, is_near });
        let BorderWatch { followed, judged, .. } = *border;
        let had = self.had;
        Some(Question::Dispatch(DispatchQuestion { neighbour: own, followed, judged, had, wait }))
    }

    /// Says whether the own sim has taken in nothing for too long since this node is asked.
    fn is_stale(&mut self, now: Duration, border: &BorderWatch) -> bool {
        let Some(grown) = &mut self.grown else {
            self.grown = Some((Height(0), now));
            self.began_at = Some(border.reached);
            return false;
        };
        if border.reached > grown.0 {
            *grown = (border.reached, now);
        }
        now.saturating_sub(grown.1) > if border.is_near { STALE_NEAR } else { STALE }
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
                let soon = question.began + BETWEEN;
                // Where as many questions stand as may, a node answers at once.
                let is_full = self.had == Some(news) && comes < soon;
                self.had = Some(news);
                self.next_at = if is_full { comes + PAUSE } else { comes.max(soon) };
                Some(dispatch)
            }
            // A node that is busy for a moment is asked again, and one that has nothing is left.
            Answer::Busy => {
                self.next_at = comes + PAUSE;
                None
            }
            _ => {
                self.fail(now, nodes);
                None
            }
        }
    }

    /// Leaves a node that says nothing, or nothing more: where it had said something, pauses are short again.
    pub(super) fn fail(&mut self, now: Duration, nodes: usize) {
        if self.had.is_some() {
            self.pause = PAUSE;
        }
        self.go_on(now, nodes);
    }

    /// Goes on with the next node, after a pause when all were tried.
    fn go_on(&mut self, now: Duration, nodes: usize) {
        (self.question, self.had, self.grown, self.began_at) = (None, None, None, None);
        self.left += 1;
        self.next_at = now + BETWEEN;
        if self.left == nodes {
            self.left = 0;
            self.next_at = now + self.pause;
            self.pause = (2 * self.pause).min(PAUSE_MAX);
        }
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
                validators: Vec::new(),
                judged: 0,
                reached,
                is_near: true,
            },
            nodes: 4,
            theirs: Some(1),
        }
    }

    fn courier(first: usize) -> VirtualCourier {
        VirtualCourier { life: 1, ..VirtualCourier::new(first) }
    }

    /// Has the courier be answered what is new to it, and returns what it brings.
    fn answer(courier: &mut VirtualCourier, seconds: u64, news: u8) -> Option<Vec<u8>> {
        let now = Duration::from_secs(seconds);
        let news = Digest([news; 32]);
        let answer = Answer::Dispatch(DispatchAnswer { news, dispatch: vec![5] });
        courier.answered(answer, (now, now), 4)
    }

    #[test]
    fn a_silent_node_and_one_that_brings_nothing_new_are_left() {
        let mut courier = courier(0);
        assert!(courier.mind(&view(1, 7), OWN, 1).is_some());
        assert!(courier.mind(&view(4, 7), OWN, 2).is_none(), "the question stands");
        assert!(courier.mind(&view(6, 7), OWN, 2).is_none());
        assert_eq!((courier.node(4), courier.question.is_none()), (1, true), "it was silent");

        for (seconds, reached) in [(20, 7), (21, 7), (26, 7), (28, 8), (33, 8)] {
            let asked = courier.mind(&view(seconds, reached), OWN, 2);
            assert!(asked.is_some(), "what grows is not stale: {seconds} s");
            assert!(answer(&mut courier, seconds, seconds as u8).is_some());
        }
        assert!(courier.mind(&view(34, 8), OWN, 2).is_none());
        assert_eq!(courier.node(4), 2, "for five seconds nothing was new");
        assert!(courier.mind(&view(60, 8), OWN, 2).is_some(), "each node has its time");
    }

    #[test]
    fn the_next_question_says_what_came_with_the_last_answer() {
        let mut courier = courier(3);
        assert!(courier.mind(&view(1, 1), OWN, 1).is_some());
        assert_eq!(answer(&mut courier, 1, 9), Some(vec![5]));

        let Some(Question::Dispatch(asked)) = courier.mind(&view(2, 2), OWN, 2) else {
            panic!("no question")
        };
        let had = Some(Digest([9; 32]));
        assert_eq!((asked.neighbour, asked.had, courier.node(4)), (OWN, had, 3));

        // As many questions stand as may, and it is answered at once.
        assert!(answer(&mut courier, 2, 9).is_some());
        assert_eq!(courier.next_at, Duration::from_secs(3));
    }

    /// Leaves one node after the other that cannot be reached, up to the end of the round. Returns the pause then.
    fn pause_after_round(courier: &mut VirtualCourier) -> u64 {
        loop {
            let now = courier.next_at;
            let view = CourierView { now, theirs: None, ..view(0, 1) };
            assert!(courier.mind(&view, OWN, 1).is_none());
            if courier.left == 0 {
                return (courier.next_at - now).as_secs();
            }
        }
    }

    /// The courier of the simulated world paused for a second after each round, and met neighbours sooner than
    /// the one of a server.
    #[test]
    fn a_pause_after_a_round_is_twice_the_last_one_until_a_node_that_had_answered_fails() {
        let mut courier = courier(2);
        let pauses = [(); 5].map(|()| pause_after_round(&mut courier));
        assert_eq!(pauses, [1, 2, 4, 8, 8]);

        // A node that answered, and is stale, changes nothing.
        assert!(courier.mind(&view(100, 1), OWN, 2).is_some());
        assert!(answer(&mut courier, 100, 1).is_some());
        assert!(courier.mind(&view(101, 1), OWN, 3).is_some());
        assert!(answer(&mut courier, 101, 2).is_some());
        assert!(courier.mind(&view(107, 1), OWN, 4).is_none());
        assert_eq!((courier.node(4), pause_after_round(&mut courier)), (3, 8));

        assert!(courier.mind(&view(200, 1), OWN, 5).is_some());
        assert!(answer(&mut courier, 200, 3).is_some());
        let pauses = [(); 2].map(|()| pause_after_round(&mut courier));
        assert_eq!(pauses, [1, 2]);

        // One that brought something new before it was stale is asked again soon.
        assert!(courier.mind(&view(300, 1), OWN, 6).is_some());
        assert!(answer(&mut courier, 300, 4).is_some());
        assert!(courier.mind(&view(301, 2), OWN, 7).is_some());
        assert!(answer(&mut courier, 301, 5).is_some());
        assert!(courier.mind(&view(307, 2), OWN, 8).is_none());
        assert_eq!(pause_after_round(&mut courier), 1);
    }
}
