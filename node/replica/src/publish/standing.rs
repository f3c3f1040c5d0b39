//! Standing questions: what this sim says to a neighbour, answered once there is news.

use std::time::Duration;

use metatopia_protocol::{DISPATCH_WAIT_MAX_MS, DispatchQuestion};
use metatopia_types::{Digest, SimId};

use crate::{Asker, ClientId};

/// Standing questions of one session or peer: a neighbour's courier has one.
pub const STANDING_PER_ASKER_MAX: usize = 2;

/// Standing questions in all: 16 neighbours of 16 servers each.
pub const STANDING_MAX: usize = 256;

/// A question that stands.
#[derive(Debug)]
struct StandingQuestion {
    asker: Asker,
    question: DispatchQuestion,
    /// The moment at which it is answered although there is no news, in monotonic time.
    until: Duration,
}

/// What becomes of a question for a dispatch.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It stands. An older one of the same session for the same neighbour does not any more.
    Stands(Option<Asker>),
    /// As many of this asker stand as may.
    Full,
    /// As many stand in all as may: it is answered at once, so that who takes all the places keeps no
    /// courier from the news.
    AllFull,
}

/// The questions of one server that stand, the oldest first.
#[derive(Debug, Default)]
pub(super) struct StandingQuestions(Vec<StandingQuestion>);

impl StandingQuestions {
    /// Returns how many stand.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes a question. The newest one of a session takes the place of an older one for the same
    /// neighbour: its asker cannot wait any more as it said before.
    pub(super) fn take(
        &mut self,
        now: Duration,
        asker: Asker,
        question: DispatchQuestion,
    ) -> Taken {
        let is_same = |other: &StandingQuestion| {
            is_of_one(&other.asker, &asker) && other.question.neighbour == question.neighbour
        };
        let replaced = self.0.iter().position(is_same).map(|at| self.0.remove(at).asker);
        let own = self.0.iter().filter(|other| is_of_one(&other.asker, &asker)).count();
        if own >= STANDING_PER_ASKER_MAX {
            return Taken::Full;
        }
        if self.0.len() >= STANDING_MAX {
            return Taken::AllFull;
        }
        let wait = Duration::from_millis(question.wait.min(DISPATCH_WAIT_MAX_MS).into());
        self.0.push(StandingQuestion { asker, question, until: now + wait });
        Taken::Stands(replaced)
    }

    /// Removes and returns the questions that are answered now: there is news, or they stood for long
    /// enough. `news` is the digest of the newest news for a neighbour, if there is any that can be
    /// proved.
    pub(super) fn due(
        &mut self,
        now: Duration,
        news: impl Fn(SimId) -> Option<Digest>,
    ) -> Vec<(Asker, DispatchQuestion)> {
        let is_due = |standing: &StandingQuestion| {
            let newest = news(standing.question.neighbour);
            now >= standing.until || (newest.is_some() && newest != standing.question.had)
        };
        let due = self.0.extract_if(.., |standing| is_due(standing));
        due.map(|standing| (standing.asker, standing.question)).collect()
    }

    /// Returns when the first question has stood for long enough.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.0.iter().map(|standing| standing.until).min()
    }

    /// Forgets the questions of a client that is gone.
    pub(super) fn forget(&mut self, client: ClientId) {
        self.0.retain(
            |standing| !matches!(standing.asker, Asker::Client(other, _) if other == client),
        );
    }
}

/// Says whether two questions came by one session, or from one peer.
fn is_of_one(one: &Asker, other: &Asker) -> bool {
    match (one, other) {
        (Asker::Client(one, _), Asker::Client(other, _)) => one == other,
        (Asker::Peer(one, _), Asker::Peer(other, _)) => one == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::Height;

    use super::*;

    const WAIT: u32 = 1_000;

    const NEW: Option<Digest> = Some(Digest([7; 32]));

    fn sim(n: u8) -> SimId {
        SimId(Digest([n; 32]))
    }

    fn question(neighbour: u8, had: Option<Digest>) -> DispatchQuestion {
        let (neighbour, followed) = (sim(neighbour), Height(0));
        DispatchQuestion { neighbour, followed, judged: 0, had, wait: WAIT }
    }

    fn asker(client: u64, id: u32) -> Asker {
        Asker::Client(ClientId(client), id)
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_question_is_answered_at_once_when_there_is_news_and_else_when_its_time_is_over() {
        let mut standing = StandingQuestions::default();
        for (client, had) in [(1, None), (2, NEW), (3, Some(Digest([6; 32])))] {
            let taken = standing.take(ms(0), asker(client, 1), question(9, had));
            assert_eq!(taken, Taken::Stands(None));
        }
        // Nothing is certified yet, so there is nothing to tell.
        assert_eq!(standing.due(ms(10), |_| None), []);
        let due = standing.due(ms(20), |_| NEW);
        let askers: Vec<Asker> = due.iter().map(|(asker, _)| *asker).collect();
        assert_eq!(askers, [asker(1, 1), asker(3, 1)], "who had it waits on");
        assert_eq!(standing.deadline(), Some(ms(1_000)));
        assert_eq!(standing.due(ms(999), |_| NEW), []);
        assert_eq!(standing.due(ms(1_000), |_| NEW).len(), 1);
        assert_eq!((standing.len(), standing.deadline()), (0, None));
    }

    #[test]
    fn nobody_makes_a_question_stand_for_longer_than_the_limit() {
        let mut standing = StandingQuestions::default();
        let asked = DispatchQuestion { wait: u32::MAX, ..question(9, NEW) };
        standing.take(ms(0), asker(1, 1), asked);
        let end = ms(DISPATCH_WAIT_MAX_MS.into());
        assert_eq!(standing.deadline(), Some(end));
        assert_eq!(standing.due(end, |_| NEW).len(), 1);
    }

    #[test]
    fn the_newest_question_of_a_session_for_a_neighbour_takes_the_place_of_the_older_one() {
        let mut standing = StandingQuestions::default();
        standing.take(ms(0), asker(1, 1), question(9, None));
        let newer = standing.take(ms(0), asker(1, 2), question(9, None));
        assert_eq!(newer, Taken::Stands(Some(asker(1, 1))));
        assert_eq!(standing.len(), 1);
    }

    #[test]
    fn questions_of_one_session_and_of_all_are_bounded_and_go_with_their_client() {
        let mut standing = StandingQuestions::default();
        for neighbour in 0..STANDING_PER_ASKER_MAX as u8 {
            let taken = standing.take(ms(0), asker(1, 1), question(neighbour, None));
            assert_eq!(taken, Taken::Stands(None));
        }
        assert_eq!(standing.take(ms(0), asker(1, 1), question(99, None)), Taken::Full);
        standing.forget(ClientId(1));
        assert_eq!(standing.len(), 0);

        for client in 0..STANDING_MAX as u64 {
            let taken = standing.take(ms(0), asker(client, 1), question(9, None));
            assert_eq!(taken, Taken::Stands(None));
        }
        assert_eq!(standing.take(ms(0), asker(9_999, 1), question(9, None)), Taken::AllFull);
    }
}
