//! Questions that came by HTTP, and the tasks that wait for the answers.

use metatopia_protocol::{Answer, Question, SignedAnnouncement};
use metatopia_replica::Input;
use metatopia_types::{Height, Root, limits::ROOT_LAG};

use super::LoopState;
use crate::routes::{Busy, Query, Reply, RootUnknown};

/// The task that waits for an answer.
#[derive(Debug)]
pub(super) enum QueryReply {
    Root(Reply<Result<Root, RootUnknown>>),
    Servers(Reply<Vec<SignedAnnouncement>>),
}

impl QueryReply {
    /// Passes the answer to the task that waits; `newest` is the last height whose root is known
    /// here.
    pub(super) fn tell(self, answer: Answer, newest: Height) {
        // The task that asked may have ended.
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
        // The header of the oldest turn states the root of an older height.
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

    /// Passes the answer to the task that asked with this token, if the task still waits.
    pub(super) fn answer(&mut self, token: u64, answer: Answer, newest: Height) {
        if let Some(asker) = self.askers.remove(&token) {
            asker.tell(answer, newest);
        }
    }

    /// Tells all tasks that wait that the server is busy, because the replica that was asked has
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

    /// Returns what this answer says about a root.
    fn root_by(answer: Answer) -> Result<Result<Root, RootUnknown>, Busy> {
        let (reply, mut told) = channel();
        QueryReply::Root(reply).tell(answer, Height(42));
        told.try_recv().unwrap()
    }

    /// While a state was fetched, a known root was once said to be known to archives alone, and
    /// servers were said to be unknown.
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
