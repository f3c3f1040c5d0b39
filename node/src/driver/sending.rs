//! What is to be done once a frame was handed to a client's session.

use metatopia_replica::Delivery;
use metatopia_transport::{framing::SendError, gateway::Sent};

/// What comes after a frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Followup {
    /// Nothing: it is on its way, a newer one is, or the client's own event tells that it is gone.
    Nothing,
    /// There was no room for the answer to this question: whoever asked is told so.
    Busy(u32),
    /// No carrier takes it, and the client would wait for it for ever: its session ends, for this reason.
    End(String),
}

/// Says what is to be done after a frame that was sent so.
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

    /// A frame that was too long was passed over, and whoever had asked waited for ever.
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
