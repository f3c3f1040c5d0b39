//! The newest header that was believed: acts are signed for heights that it shows, never for claimed ones.

use alloc::{boxed::Box, vec::Vec};
use core::time::Duration;

use metatopia_protocol::{Answer, BYTES_PER_SECOND, ClientMessage, Question, Watching};
use metatopia_types::{Certificate, Header, Height};

use super::Session;
use crate::{Distrust, TrustCheckpoint};

/// The time for which acts are signed by a header that was verified: 300 turns at the usual pace, half of the
/// turns for which an act is valid.
pub const HEADER_FRESH: Duration = Duration::from_secs(15);

/// The time for which a height that a node spoke of is taken for that of its newest turn.
const CLAIM_FRESH: Duration = Duration::from_secs(2);

/// A header that a node did not have is asked for again after this long.
const SEEK_AGAIN: Duration = Duration::from_millis(500);

/// A header that did not come at all is asked for again after this long.
const SEEK_LOST: Duration = Duration::from_secs(5);

/// What is known of the newest turns, by proof and by hearsay.
#[derive(Debug, Default)]
pub(super) struct NewestHeader {
    /// The greatest that was verified, and when one was verified last.
    verified: Option<Box<Header>>,
    at: Duration,
    /// The greatest height that this node spoke of, and so perhaps a lie: where to look for a header.
    claim: Height,
    claim_at: Duration,
    /// The question for a header that is under way.
    pub(super) asked: Option<u32>,
    pub(super) again_at: Option<Duration>,
    /// Views are asked for, although nobody watches, to hear of the newest height.
    pub(super) glimpse: bool,
    /// A header by validators that are not known yet.
    pub(super) unproven: Option<Box<(Header, Certificate)>>,
}

impl NewestHeader {
    /// Forgets what the node said.
    pub(super) fn disconnected(&mut self) {
        (self.asked, self.again_at, self.glimpse, self.unproven) = (None, None, false, None);
    }

    /// A node let us in. What another one said of heights may have been a lie.
    pub(super) fn welcomed(&mut self, height: Height, now: Duration) {
        (self.claim, self.claim_at) = (height, now);
    }
}

impl Session {
    /// Returns the newest header that was verified.
    #[must_use]
    pub fn newest_header(&self) -> Option<&Header> {
        self.headers.verified.as_deref()
    }

    /// Returns the greatest height of a header that was verified; 0 before the first.
    #[must_use]
    pub fn certain(&self) -> Height {
        self.newest_header().map_or(Height(0), |header| header.height)
    }

    /// Returns the height of the newest turn: verified, or else as the node says.
    #[must_use]
    pub fn height(&self) -> Height {
        self.headers.claim.max(self.certain())
    }

    /// Returns what a later session can begin from: who votes by now, and since when that was known.
    #[must_use]
    pub fn checkpoint(&self) -> Option<TrustCheckpoint> {
        let header = self.newest_header().filter(|_| self.trust_age().is_none())?;
        let Header { sim, height, validators, time, .. } = *header;
        Some(TrustCheckpoint { sim, height, validators, time })
    }

    /// The node spoke of a height.
    pub(super) fn claimed(&mut self, height: Height) {
        self.headers.claim = self.headers.claim.max(height);
        self.headers.claim_at = self.now;
    }

    /// Handles a header that was verified, so that acts can be signed by it.
    pub(super) fn verified(&mut self, header: &Header) {
        // An old receipt is as good as a new one, and says nothing of now.
        if self.light.is_behind(header.height) {
            return;
        }
        let headers = &mut self.headers;
        if headers.verified.as_ref().is_none_or(|known| known.height < header.height) {
            headers.verified = Some(Box::new(header.clone()));
        }
        headers.at = self.now;
        headers.again_at = None;
        self.age.met(header.time);
        self.sign_or_seek();
    }

    /// Returns the height that acts are reckoned from, if a header was verified a short while ago and
    /// what it rests on is not too old.
    pub(super) fn signing_height(&self) -> Option<Height> {
        let header = self.newest_header()?;
        let fresh = self.now.saturating_sub(self.headers.at) <= HEADER_FRESH;
        (fresh && self.trust_age().is_none()).then_some(header.height)
    }

    /// Returns when to look for a header again, while acts wait for one.
    pub(super) fn seek_at(&self) -> Option<Duration> {
        let waits = !self.unsigned.is_empty() && self.trust_age().is_none();
        self.headers.again_at.filter(|_| waits)
    }

    /// Notes a height that a view told of. If it is new, there is a header to ask for.
    pub(super) fn height_seen(&mut self, height: Height) {
        self.claimed(height);
        if core::mem::take(&mut self.headers.glimpse) {
            self.send(&ClientMessage::View(None));
        }
        if !self.unsigned.is_empty() && self.headers.asked.is_none() {
            self.headers.again_at = None;
            self.sign_or_seek();
        }
    }

    /// Asks for the newest header, unless that was asked already. The whole turn is the cheapest answer
    /// that has header and certificate and can be had of every height: a snapshot's is half a minute
    /// old. Who watches hears of new heights all the time; who does not, takes one glimpse.
    pub(super) fn seek_header(&mut self) {
        let early = self.headers.again_at.is_some_and(|at| self.now < at);
        if !self.open || early {
            return;
        }
        if let Some(lost) = self.headers.asked.take() {
            self.questions.remove(&lost);
        }
        self.headers.again_at = Some(self.now.saturating_add(SEEK_LOST));
        let height = self.headers.claim;
        let heard = self.now.saturating_sub(self.headers.claim_at) <= CLAIM_FRESH;
        // Genesis is no turn, and a sim that has none yet decides one soon.
        if heard && height > Height(0) {
            self.headers.asked = self.ask(Question::Turn { height });
        } else if self.watching.is_none() {
            self.headers.glimpse = true;
            let glimpse = Watching {
                bytes_per_second: *BYTES_PER_SECOND.start(),
                turns_apart: 1,
                proofs: false,
                at: None,
                have: Vec::new(),
            };
            self.send(&ClientMessage::View(Some(glimpse)));
        }
    }

    /// The answer to the question for a header.
    pub(super) fn header_came(&mut self, answer: Answer) {
        self.headers.asked = None;
        self.headers.again_at = Some(self.now.saturating_add(SEEK_AGAIN));
        // A node that is busy, or does not have the turn, is asked again later.
        if let Answer::Turn(found) = answer {
            let (turn, certificate) = *found;
            self.believe_header(turn.header, certificate);
        }
    }

    pub(super) fn believe_header(&mut self, header: Header, certificate: Certificate) {
        match self.light.believe_now(&header, &certificate) {
            Ok(()) => self.verified(&header),
            // A server that is slow knows no better. A later turn is asked for.
            Err(Distrust::Behind(_)) => {}
            Err(Distrust::OtherValidators(_)) => {
                self.headers.unproven = Some(Box::new((header, certificate)));
                self.follow();
            }
            Err(distrust) => self.distrust(distrust),
        }
    }
}
