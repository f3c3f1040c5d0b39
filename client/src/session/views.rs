//! Watching: views are taken in and acknowledged, and their proofs checked.

use alloc::boxed::Box;

use metatopia_protocol::{ClientMessage, TileName, View, ViewProof, Watching};
use metatopia_types::Height;

use super::{Session, SessionEvent};
use crate::{Distrust, LATE_TURNS, ProvenSight, Sight, UnprovenSight, sight::ProvenTiles};

impl Session {
    /// Wants views in this way, or no more; remembered over connections. What it has copies of is
    /// filled in here.
    pub fn view(&mut self, watching: Option<Watching>) {
        self.watching = watching;
        self.headers.glimpse = false;
        if self.watching.is_none() {
            // What is not followed any more cannot be gone on from.
            self.sight.clear();
        }
        if self.open {
            self.ask_views();
        }
    }

    /// Returns what is in sight.
    #[must_use]
    pub const fn sight(&self) -> &Sight {
        &self.sight
    }

    /// The newest proof of what is in sight, if all of it is proved.
    ///
    /// # Errors
    /// Why it is not; see [`UnprovenSight`].
    pub fn proven(&self) -> Result<&ProvenSight, UnprovenSight> {
        if !self.watching.as_ref().is_some_and(|watching| watching.proofs) {
            return Err(UnprovenSight::Unasked);
        }
        let proven = self.proven.as_deref().ok_or(UnprovenSight::NoneYet)?;
        let (of, height) = (proven.of, self.sight.height());
        if of.plus(LATE_TURNS) < height {
            return Err(UnprovenSight::Late { of, height });
        }
        if !proven.lagging.is_empty() {
            let lagging = proven.lagging.clone();
            let all = lagging.len() + proven.tiles.len();
            return Err(UnprovenSight::Lagging { of, lagging, all });
        }
        Ok(proven)
    }

    /// Forgets what is in sight, and asks for all of it again: for who stays with a server that was
    /// found to lie, to see what it says now.
    pub fn see_anew(&mut self) {
        if self.open && self.watching.is_some() {
            self.fetch_anew();
        }
    }

    /// Returns the tiles in sight that were not proved for [`LATE_TURNS`] turns: the line is too slow
    /// for them, or they are hidden.
    pub fn late_tiles(&self) -> impl Iterator<Item = TileName> {
        let of = self.proven.as_ref().map_or(Height(0), |proven| proven.of);
        let late = move |since: &Height| since.plus(LATE_TURNS) < of;
        self.missed.iter().filter(move |(_, since)| late(since)).map(|(tile, _)| *tile)
    }

    pub(super) fn ask_views(&mut self) {
        let watching = self.watching.clone();
        let have = self.sight.have();
        let watching = watching.map(|watching| Watching { have, ..watching });
        self.send(&ClientMessage::View(watching));
    }

    /// The node let us in: it may be another one than before.
    pub(super) fn begin_views(&mut self) {
        self.sight.begin();
        self.unchecked.clear();
        (self.proven, self.late, self.anew) = (None, false, None);
        self.missed.clear();
        if self.watching.is_some() {
            self.ask_views();
        }
    }

    pub(super) fn view_came(&mut self, view: &View) {
        self.send(&ClientMessage::Seen { number: view.number });
        let inherited = self.sight.is_inherited();
        let looking = self.watching.is_some() && self.anew.is_none();
        self.height_seen(view.height);
        let taken = if looking { self.sight.apply(view) } else { self.sight.pass_over(view) };
        match taken {
            Ok(()) if looking => {
                self.event(SessionEvent::View { height: view.height });
                self.look_for_proof();
            }
            Ok(()) => {}
            Err(_) if inherited => self.fetch_anew(),
            Err(error) => self.distrust(error.into()),
        }
    }

    /// Says once when proofs stay away.
    fn look_for_proof(&mut self) {
        match self.proven() {
            Err(late @ UnprovenSight::Late { .. }) if !self.late => {
                self.late = true;
                self.event(SessionEvent::Unproven(late));
            }
            _ => {}
        }
    }

    /// Drops what was brought from another server and asks for all views anew, because copies did not fit.
    /// The other server may have been wrong.
    fn fetch_anew(&mut self) {
        self.sight.clear();
        self.missed.clear();
        self.unchecked.clear();
        self.ask_views();
        // Frames keep their order, so whatever comes before the answer to this ping is an answer to
        // what was asked before.
        self.anew = Some(self.mark());
        self.event(SessionEvent::Unproven(UnprovenSight::Anew));
    }

    pub(super) fn proof_came(&mut self, proof: Box<ViewProof>) {
        if self.watching.is_none() || self.anew.is_some() {
            return;
        }
        let inherited = self.sight.is_inherited();
        match self.sight.check(&proof) {
            Ok(Some(shown)) => self.believe_view(shown, proof),
            Ok(None) => self.event(SessionEvent::Unproven(UnprovenSight::Forgotten(proof.of))),
            Err(_) if inherited => self.fetch_anew(),
            Err(disproof) => self.distrust(disproof.into()),
        }
    }

    pub(super) fn believe_view(&mut self, shown: ProvenTiles, proof: Box<ViewProof>) {
        match self.light.view(&shown, &proof) {
            Ok(proven) => self.view_proved(proven),
            Err(Distrust::OtherValidators(_)) => self.proof_waits(shown, proof),
            // A server that is slow knows no better. What it shows is not proved, and is told as such.
            Err(Distrust::Behind(_)) => {}
            Err(distrust) => self.distrust(distrust),
        }
    }

    fn view_proved(&mut self, proven: ProvenSight) {
        self.verified(&proven.header);
        // Nothing was shown, and so nothing is proved.
        if proven.tiles.is_empty() && proven.lagging.is_empty() {
            return;
        }
        if self.proven.as_ref().is_some_and(|known| known.of >= proven.of) {
            return;
        }
        if proven.lagging.is_empty() {
            self.sight.settle();
        }
        self.late = false;
        let since = |tile: &TileName| (*tile, *self.missed.get(tile).unwrap_or(&proven.of));
        self.missed = proven.lagging.iter().map(since).collect();
        self.proven = Some(Box::new(proven.clone()));
        self.event(SessionEvent::Proven(Box::new(proven)));
    }
}
