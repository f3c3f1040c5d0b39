//! Decides what the driver does after it has handed a frame to a client's session.

use metatopia_protocol::Delivery;
use metatopia_transport::{framing::SendError, gateway::Sent};

/// The step that follows a frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Followup {
    /// Nothing is left to do: the frame or a newer one is on its way, or the client's own event
    /// tells that the client is gone.
    Nothing,
    /// There was no room for the answer to this question, so the client is told so.
    Busy(u32),
    /// No carrier takes the frame, and the client would wait for it for ever. Its session ends for
    /// this reason.
    End(String),
}

/// Returns the step that follows a frame that was sent with this result.
pub(super) fn after(delivery: Delivery, sent: Result<Sent, SendError>) -> Followup {
    match (delivery, sent) {
        (Delivery::Answer(question), Ok(Sent::Dropped)) => Followup::Busy(question),
        (_, Err(error @ SendError::Size { .. })) => Followup::End(error.to_string()),
        (_, Ok(_) | Err(SendError::Gone | SendError::TooSlow)) => Followup::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame that was too long was once skipped, and the client that had asked waited for ever.
    #[test]
    fn nobody_waits_for_a_frame_that_no_carrier_takes() {
        let size = SendError::Size { bytes: 600_000, max: 528_384 };
        for delivery in [Delivery::Reliable, Delivery::Answer(7), Delivery::Latest] {
            let Followup::End(why) = after(delivery, Err(size)) else {
                panic!("{delivery:?} goes on");
            };
            assert!(why.contains("600000"), "{why}");
        }
    }

    #[test]
    fn an_answer_without_room_is_told_and_a_client_that_is_gone_is_nobodys_concern() {
        assert_eq!(after(Delivery::Answer(7), Ok(Sent::Dropped)), Followup::Busy(7));
        assert_eq!(after(Delivery::Latest, Ok(Sent::Dropped)), Followup::Nothing);
        for error in [SendError::Gone, SendError::TooSlow] {
            assert_eq!(after(Delivery::Answer(7), Err(error)), Followup::Nothing);
        }
    }
}
