//! Pulls of evidence: it is told when it is found, so newcomers, and those who dropped some, ask for it.

use std::{collections::BTreeSet, time::Duration};

use metatopia_types::{Digest, PublicKey};

use super::Overlay;
use crate::{
    EvidencePull, EvidenceSubject, OverlayMessage, limits, pace, peers::PeerLink, sites::KnownSite,
};

/// What a member asked others about evidence.
#[derive(Clone, Debug, Default)]
pub(super) struct EvidencePulls {
    /// When the next one is asked.
    due: Duration,
    /// How many were asked since the member began.
    asked: usize,
    /// Who was asked last which evidence it keeps, and has not answered.
    of: Option<PublicKey>,
    /// What it was asked for then. Others have it, so it is told to nobody.
    wanted: BTreeSet<Digest>,
    /// Who was asked for it.
    giver: Option<PublicKey>,
    /// How many pieces had ever been kept when it was asked.
    kept: u64,
}

impl Overlay {
    /// Asks one of those who have a role here which evidence it keeps: in each cycle at first, and while
    /// there is news; seldom at rest, and when there is more than it remembers. Each time it is another one, and
    /// no random number is drawn for it.
    pub(super) fn pull_evidence(&mut self) {
        if self.now.monotonic < self.pulls.due {
            return;
        }
        let members = self.members();
        let [first, ..] = self.config.peer.0;
        let place = (usize::from(first) + self.pulls.asked).checked_rem(members.len());
        let site = place.and_then(|place| self.sites.get(members[place]));
        let Some(speaker) = site.and_then(KnownSite::speaker).cloned() else { return };
        let kept = self.evidence.ever();
        let is_news = kept > self.pulls.kept && !self.evidence.is_full();
        let is_soon = self.pulls.asked < pace::FIRST_PULLS || is_news;
        let due = self.cycles(if is_soon { 1 } else { pace::REST_PULL_CYCLES });
        let asked = self.pulls.asked.saturating_add(1);
        let (of, wanted) = (Some(speaker.peer), BTreeSet::new());
        self.pulls = EvidencePulls { due, asked, of, wanted, giver: None, kept };
        let message = OverlayMessage::Pull(EvidencePull::Ask);
        self.send(speaker.peer, Some(&speaker.address), &message);
    }

    /// Asks in the next cycle: evidence was dropped.
    pub(super) fn pull_soon(&mut self) {
        self.pulls.due = self.now.monotonic;
    }

    /// Takes in what somebody says about pulling evidence.
    pub(super) fn pulled(&mut self, from: PublicKey, said: EvidencePull) {
        if let EvidencePull::Kept(kept) = said {
            if self.pulls.of == Some(from) {
                self.want_evidence(from, &kept);
            } else {
                self.counts.rationed += 1;
            }
            return;
        }
        if !self.peers.get_mut(from).is_some_and(PeerLink::takes_pull) {
            self.counts.rationed += 1;
            return;
        }
        match said {
            EvidencePull::Want(subjects) => {
                let pieces = subjects.iter().filter_map(|subject| self.evidence.get(subject));
                let pieces: Vec<_> = pieces.cloned().map(OverlayMessage::Evidence).collect();
                pieces.iter().for_each(|piece| self.send(from, None, piece));
            }
            EvidencePull::Ask | EvidencePull::Kept(_) => {
                let kept = self.evidence.kept().collect();
                self.send(from, None, &OverlayMessage::Pull(EvidencePull::Kept(kept)));
            }
        }
    }

    /// Asks for some of the evidence that is news. Who says that it keeps a piece may never give it, so each time
    /// the search begins elsewhere.
    fn want_evidence(&mut self, from: PublicKey, kept: &[EvidenceSubject]) {
        self.pulls.of = None;
        let news = kept.iter().filter(|about| self.evidence.is_news(**about));
        let mut news: Vec<Digest> = news.map(|about| about.subject).collect();
        if news.is_empty() {
            return;
        }
        let begin = (self.pulls.asked * limits::EVIDENCE_PER_WANT_MAX) % news.len();
        news.rotate_left(begin);
        news.truncate(limits::EVIDENCE_PER_WANT_MAX);
        self.pulls.wanted = news.iter().copied().collect();
        self.pulls.giver = Some(from);
        self.send(from, None, &OverlayMessage::Pull(EvidencePull::Want(news)));
    }

    /// Says whether a piece is what was asked of who gives it, so that whoever is near can have it as well.
    /// Who only says that it has a piece must not keep another one about the same from being told on.
    pub(super) fn was_pulled(&mut self, about: EvidenceSubject, from: Option<PublicKey>) -> bool {
        let is_wanted = self.pulls.wanted.remove(&about.subject);
        is_wanted && from.is_some() && from == self.pulls.giver
    }
}
