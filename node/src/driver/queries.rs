//! Questions that came by HTTP, and who waits for the answers.

use metatopia_protocol::{Answer, Question, SignedAnnouncement};
use metatopia_replica::Input;
use metatopia_types::{Height, Root, limits::ROOT_LAG};

use super::LoopState;
use crate::routes::{Busy, Query, Reply, RootUnknown};

/// Who waits for an answer.
#[derive(Debug)]
pub(super) enum QueryReply {
    Root(Reply<Result<Root, RootUnknown>>),
    Servers(Reply<Vec<SignedAnnouncement>>),
}

impl QueryReply {
    /// Passes the answer on; `newest` is the last height whose root is known here.
    pub(super) fn tell(self, answer: Answer, newest: Height) {
        // Who asked may be gone.
        match self {
            Self::Root(reply) => drop(reply.send(root(&answer, newest))),
            Self::Servers(reply) => drop(reply.send(match answer {
                Answer::Servers(known) => Ok(known),
                _ => Err(Busy),
            })),
        }
    }
}

fn root(answer: &Answer, newest: Height) -> Result<Result<Root, RootUnknown>, Busy> {
    let oldest = match answer {
        Answer::Busy => return Err(Busy),
        Answer::Root(root) => return Ok(Ok(*root)),
        // What the header of the oldest turn states is older.
        Answer::Pruned { oldest } => oldest.minus(ROOT_LAG).unwrap_or_default(),
        _ => Height(0),
    };
    Ok(Err(RootUnknown { oldest, newest }))
}

impl LoopState {
    pub(super) fn ask(&mut self, query: Query) -> Input {
        let token = self.next_token;
        self.next_token = self.next_token.wrapping_add(1);
        let (asker, question) = match query {
            Query::RootAt { height, reply } => (QueryReply::Root(reply), Question::Root { height }),
            Query::Servers { reply } => (QueryReply::Servers(reply), Question::Servers),
        };
        self.askers.insert(token, asker);
        Input::Ask { token, question }
    }

    /// Tells the one who asked for this answer, who may be gone by now.
    pub(super) fn answer(&mut self, token: u64, answer: Answer, newest: Height) {
        if let Some(asker) = self.askers.remove(&token) {
            asker.tell(answer, newest);
        }
    }

    /// Tells those who asked that nobody answers any more, because the replica that was asked has
    /// ended.
    pub(super) fn turn_askers_away(&mut self) {
        for asker in std::mem::take(&mut self.askers).into_values() {
            asker.tell(Answer::Busy, Height(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::Digest;
    use tokio::sync::oneshot::channel;

    use super::*;

    /// Returns what is known of a root by this answer.
    fn root_by(answer: Answer) -> Result<Result<Root, RootUnknown>, Busy> {
        let (reply, mut told) = channel();
        QueryReply::Root(reply).tell(answer, Height(42));
        told.try_recv().unwrap()
    }

    /// A root that was known was said to be known to archives alone, and servers not to be known at
    /// all, while a state was fetched.
    #[test]
    fn who_is_busy_does_not_say_that_it_knows_nothing() {
        assert_eq!(root_by(Answer::Busy), Err(Busy));
        let (reply, mut told) = channel();
        QueryReply::Servers(reply).tell(Answer::Busy, Height(42));
        assert_eq!(told.try_recv().unwrap(), Err(Busy));
    }

    #[test]
    fn askers_of_a_replica_that_has_ended_are_told_so() {
        let mut state = LoopState::default();
        let (reply, mut told) = channel();
        state.ask(Query::Servers { reply });
        state.turn_askers_away();
        assert_eq!(told.try_recv().unwrap(), Err(Busy));
    }

    #[test]
    fn which_roots_are_known_is_told_with_one_that_is_not() {
        let newest = Height(42);
        let pruned = root_by(Answer::Pruned { oldest: Height(9) });
        assert_eq!(pruned, Ok(Err(RootUnknown { oldest: Height(9 - ROOT_LAG), newest })));
        let unknown = root_by(Answer::Unknown);
        assert_eq!(unknown, Ok(Err(RootUnknown { oldest: Height(0), newest })));
        assert_eq!(root_by(Answer::Root(Root(Digest::ZERO))), Ok(Ok(Root(Digest::ZERO))));
    }
}
