//! Questions that only the node's loop can answer.
//!
//! A route is a plain function: it reads its parameters, makes a [`Query`] with [`Node::ask`], and
//! writes the answer. A new question is one more variant here and one more function.

use std::time::Duration;

use axum::{
    Json,
    extract::{Query as Parameters, State, rejection::QueryRejection},
    http::StatusCode,
};
use metatopia_protocol::SignedAnnouncement;
use metatopia_transport::http::ErrorAnswer;
use metatopia_types::{Height, Root};
use serde::Deserialize;
use tokio::{
    sync::{
        mpsc::{self, error::TrySendError},
        oneshot,
    },
    time::timeout,
};

use super::{Node, status::FullStatus};

/// Time that the node's loop has to answer.
pub const QUERY: Duration = Duration::from_secs(5);

/// The most questions that may wait for the node's loop.
pub const QUERIES_MAX: usize = 256;

/// Returns the way by which questions come to the node's loop.
#[must_use]
pub fn queries() -> (mpsc::Sender<Query>, mpsc::Receiver<Query>) {
    mpsc::channel(QUERIES_MAX)
}

/// Where the answer to a question goes.
pub type Reply<T> = oneshot::Sender<Result<T, Busy>>;

/// There is no answer now: too many questions wait, or the node is about to go on from a state that it
/// fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the node has too much to do, or is replacing its state; ask again, or ask another server")]
pub struct Busy;

/// A question to the node's loop. Whoever takes it answers it; dropping `reply` means that the loop
/// is stopping.
#[derive(Debug)]
pub enum Query {
    /// The root of the state after the turn of this height.
    RootAt {
        /// The height of the turn.
        height: Height,
        /// The way to the asker.
        reply: Reply<Result<Root, RootUnknown>>,
    },
    /// Where the sim's servers let clients in.
    Servers {
        /// The way to the asker.
        reply: Reply<Vec<SignedAnnouncement>>,
    },
}

/// The root after a height is not known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "no root after that height is known here: only after {oldest} to {newest}; ask an archive for \
     older ones"
)]
pub struct RootUnknown {
    /// The oldest height whose root is.
    pub oldest: Height,
    /// The newest one.
    pub newest: Height,
}

impl Node {
    /// Asks the node's loop, and waits for its answer.
    ///
    /// # Errors
    /// 503 when the node is [`Busy`] or the loop has stopped, 504 when it takes too long.
    pub async fn ask<T>(&self, question: impl FnOnce(Reply<T>) -> Query) -> Result<T, ErrorAnswer> {
        let (reply, answer) = oneshot::channel();
        self.queries.try_send(question(reply)).map_err(|error| match error {
            TrySendError::Full(_) => ErrorAnswer::unavailable("too many questions wait"),
            TrySendError::Closed(_) => ErrorAnswer::unavailable("the node has stopped"),
        })?;
        match timeout(QUERY, answer).await {
            Ok(Ok(Ok(answer))) => Ok(answer),
            Ok(Ok(Err(busy))) => Err(ErrorAnswer::unavailable(busy.to_string())),
            Ok(Err(_)) => Err(ErrorAnswer::unavailable("the node is stopping")),
            Err(_) => {
                let message = format!("no answer within {} s", QUERY.as_secs());
                Err(ErrorAnswer::new(StatusCode::GATEWAY_TIMEOUT, "timeout", message))
            }
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusParameters {
    at: Option<u64>,
    /// The sim that is asked, by which the request came here.
    #[serde(rename = "sim")]
    _sim: Option<String>,
}

/// Answers with the status. With `at`, its root is the one after that height.
pub(super) async fn status(
    State(node): State<Node>,
    parameters: Result<Parameters<StatusParameters>, QueryRejection>,
) -> Result<Json<FullStatus>, ErrorAnswer> {
    let Parameters(StatusParameters { at, .. }) =
        parameters.map_err(|rejection| ErrorAnswer::bad_request(rejection.body_text()))?;
    let status = node.status.borrow().clone();
    let mut status = status.ok_or_else(|| ErrorAnswer::unavailable("starting"))?;
    if let Some(height) = at.map(Height) {
        let root = node.ask(|reply| Query::RootAt { height, reply }).await?;
        let unknown = |why: RootUnknown| ErrorAnswer::not_found(format!("height {height}: {why}"));
        status.root = root.map_err(unknown)?;
        status.root_height = height;
    }
    Ok(Json(FullStatus { status, parent: node.session.parent.clone() }))
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use tokio::sync::watch;

    use super::{
        super::tests::{a_node, a_session},
        *,
    };

    #[tokio::test]
    async fn so_many_questions_wait_for_a_loop_that_takes_none_and_one_more_is_refused() {
        let (asked, mut taken) = queries();
        let node = a_node(a_session("127.0.0.1:8081"), watch::channel(None).1, asked);
        let ask = || Box::pin(node.ask(|reply| Query::Servers { reply }));
        let mut waiting: Vec<_> = (0..QUERIES_MAX).map(|_| ask()).collect();
        for question in &mut waiting {
            assert_eq!(question.now_or_never(), None, "it waits");
        }
        let refused = Err(ErrorAnswer::unavailable("too many questions wait"));
        assert_eq!(ask().now_or_never(), Some(refused));

        // There is room for one as soon as the loop takes one, which need not answer it at once.
        let Some(Query::Servers { reply }) = taken.recv().await else { panic!("no question") };
        assert_eq!(ask().now_or_never(), None);
        assert!(ask().now_or_never().is_some());
        reply.send(Ok(Vec::new())).expect("somebody waits");
        assert_eq!(waiting.remove(0).await, Ok(Vec::new()));
    }
}
