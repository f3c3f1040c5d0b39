//! Questions that wait: for the world, for turns from the log, or for turns that are missing here.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use metatopia_protocol::Question;
use metatopia_types::PublicKey;

use crate::{Asker, PEER_QUESTIONS_MAX, QUESTIONS_MAX};

/// The longest time that a question for a receipt waits for missing turns. Recent turns are back in a
/// few seconds, if any peer has them.
const HELD_UP: Duration = Duration::from_secs(10);

/// The questions of one server that wait, at most [`QUESTIONS_MAX`].
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// Questions that are answered once the world is at hand.
    ready: VecDeque<(Asker, Question)>,
    /// Questions that wait for turns from the log.
    loading: BTreeMap<u64, (Asker, Question)>,
    /// Questions that wait for missing turns, and since when.
    held: VecDeque<(Duration, Asker, Question)>,
    next_load: u64,
}

impl Questions {
    /// Returns how many questions wait.
    pub(super) fn len(&self) -> usize {
        self.ready.len() + self.loading.len() + self.held.len()
    }

    /// Returns how many questions of a peer wait for the world or the log.
    fn of_peer(&self, peer: PublicKey) -> usize {
        let asks = |asker: &Asker| matches!(asker, Asker::Peer(other, _) if *other == peer);
        let ready = self.ready.iter().filter(|(asker, _)| asks(asker)).count();
        ready + self.loading.values().filter(|(asker, _)| asks(asker)).count()
    }

    /// Queues a question. Returns false if too many wait.
    pub(super) fn push(&mut self, asker: Asker, question: Question) -> bool {
        let crowded =
            matches!(asker, Asker::Peer(peer, _) if self.of_peer(peer) >= PEER_QUESTIONS_MAX);
        let has_room = !crowded && self.len() < QUESTIONS_MAX;
        if has_room {
            self.ready.push_back((asker, question));
        }
        has_room
    }

    /// Returns the next question that can be answered with the world.
    pub(super) fn pop(&mut self) -> Option<(Asker, Question)> {
        self.ready.pop_front()
    }

    /// Keeps a question until missing turns are back.
    pub(super) fn hold(&mut self, now: Duration, asker: Asker, question: Question) {
        self.held.push_back((now, asker, question));
    }

    /// Looks again at the questions that wait for missing turns. Returns the askers of those that
    /// waited too long.
    pub(super) fn look_at_held(
        &mut self,
        now: Duration,
        is_held_up: impl Fn(&Question) -> bool,
    ) -> Vec<Asker> {
        let mut given_up = Vec::new();
        for (since, asker, question) in std::mem::take(&mut self.held) {
            if !is_held_up(&question) {
                self.ready.push_back((asker, question));
            } else if now >= since + HELD_UP {
                given_up.push(asker);
            } else {
                self.held.push_back((since, asker, question));
            }
        }
        given_up
    }

    /// Returns when the first question has waited long enough for missing turns.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.held.front().map(|(since, ..)| *since + HELD_UP)
    }

    /// Keeps a question until turns come from the log, and returns the number of that load.
    pub(super) fn load(&mut self, asker: Asker, question: Question) -> u64 {
        let load = self.next_load;
        self.next_load = self.next_load.wrapping_add(1);
        self.loading.insert(load, (asker, question));
        load
    }

    /// Returns the question that waited for this load.
    pub(super) fn loaded(&mut self, load: u64) -> Option<(Asker, Question)> {
        self.loading.remove(&load)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClientId;

    fn full(asker: impl Fn(u32) -> Asker, most: usize) -> Questions {
        let mut questions = Questions::default();
        for number in 0..most as u32 {
            assert!(questions.push(asker(number), Question::Governance), "{number}");
        }
        questions
    }

    #[test]
    fn so_many_questions_wait_and_no_more_until_one_is_answered() {
        let client = |number: u32| Asker::Client(ClientId(u64::from(number)), number);
        let mut questions = full(client, QUESTIONS_MAX);
        assert!(!questions.push(client(0), Question::Governance));
        assert!(!questions.push(Asker::Driver(1), Question::Governance));
        // What waits for turns from the log counts as well.
        let (asker, question) = questions.pop().expect("they wait");
        let load = questions.load(asker, question);
        assert!(!questions.push(client(1), Question::Governance));
        questions.loaded(load).expect("it waits");
        assert!(questions.push(client(2), Question::Governance));
        assert_eq!(questions.len(), QUESTIONS_MAX);
    }

    #[test]
    fn one_server_has_a_few_questions_wait_whoever_else_asks() {
        let peer = |key: u8| move |number: u32| Asker::Peer(PublicKey([key; 32]), number);
        let mut questions = full(peer(1), PEER_QUESTIONS_MAX);
        assert!(!questions.push(peer(1)(99), Question::Governance));
        assert!(questions.push(peer(2)(99), Question::Governance));
        assert!(questions.push(Asker::Driver(1), Question::Governance));
    }
}
