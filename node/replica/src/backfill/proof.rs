//! Proving turns of the past: each by its certificate, held against those who voted then, whom the set
//! changes since genesis name; and each names the one before it, up to one that is there.

use std::sync::Arc;

use metatopia_consensus::{Decision, JoinPackError, certified};
use metatopia_sim::Genesis;
use metatopia_types::{Certificate, Height, Now, Turn, ValidatorSet};

use super::{ASK_PAUSE, Batch, CHECK_PAUSE, FILL_BYTES_MAX, SIGNATURES_AT_ONCE};
use crate::{Effect, FetchEvent, RECALL_HEIGHTS, Replica, fetch::ProviderFault, start::outcomes};

impl Replica {
    /// Proves some of the turns that came, and hands the batch over once it is whole.
    pub(super) fn prove(&mut self, now: Now) {
        let batch = self.backfill.batch.take();
        let mut batch = batch.expect("turns are proved only for a batch that asked for them");
        self.look_at_voters();
        let mut checked = 0;
        while checked < SIGNATURES_AT_ONCE
            && let Some((turn, certificate)) = batch.came.pop_front()
        {
            let Some(voters) = self.voters_at(batch.next) else {
                // The set changes were forgotten meanwhile: the next batch asks for later turns.
                return;
            };
            checked += certificate.signatures.len().max(1);
            if let Err(why) = self.check_missing(&batch, &turn, &certificate, &voters) {
                let peer = batch.from;
                self.backfill.liars.insert(peer);
                self.effects.push_back(Effect::Fetch(FetchEvent::Dropped { peer, why }));
                self.backfill.rests = now.monotonic + ASK_PAUSE;
                return;
            }
            batch.take(Decision { certificate, turn: Arc::new(turn) });
        }
        let pause = if batch.came.is_empty() { ASK_PAUSE } else { CHECK_PAUSE };
        self.backfill.rests = now.monotonic + pause;
        if batch.next <= batch.last {
            self.backfill.batch = Some(batch);
            return;
        }
        let long = batch.bytes > FILL_BYTES_MAX / 2;
        let turns = batch.proved.len() as u64;
        self.backfill.turns = Some(if long { turns } else { 2 * turns });
        self.backfill.is_putting = true;
        for turn in &batch.proved {
            self.recall(turn);
        }
        if !self.controls.nothing_is_put_back {
            self.effects.push_back(Effect::PutBack(batch.proved.into()));
        }
    }

    /// Checks that this turn was decided at the batch's next height.
    fn check_missing(
        &self,
        batch: &Batch,
        turn: &Turn,
        certificate: &Certificate,
        voters: &ValidatorSet,
    ) -> Result<(), ProviderFault> {
        let (header, height) = (&turn.header, batch.next);
        if header.height != height {
            return Err(ProviderFault::Unasked);
        }
        certified(self.config.sim, header, certificate, voters, &*self.config.agreement.scheme)?;
        turn.check_body().map_err(|_| ProviderFault::OtherBody(height))?;
        if batch.proved.back().is_some_and(|before| before.id() != header.previous) {
            return Err(JoinPackError::Chain(height).into());
        }
        if height < batch.last {
            return Ok(());
        }
        // The turn after it names it, or the state that this server began with.
        let named = self.backfill.gaps.ending(height).and_then(|gap| gap.names);
        let named = named.or_else(|| self.agreement.base(height).map(|base| base.header));
        match named {
            Some(named) if named != certificate.header => Err(JoinPackError::Chain(height).into()),
            _ => Ok(()),
        }
    }

    /// Finds the first height whose voters are known, and reports it if turns are missing before it.
    pub(super) fn look_at_voters(&mut self) {
        let (oldest, named) = match self.agreement.links().first() {
            Some(link) => (link.header.height.plus(1), link.header.validators),
            None => {
                let height = self.agreement.height();
                let Some(current) = self.agreement.validators(height) else {
                    // Not an error: the set of this height follows from a turn that is being applied.
                    return;
                };
                (height, current.id())
            }
        };
        // Before the oldest change the first validators voted, unless older ones are forgotten.
        let genesis = self.first_validators().is_some_and(|genesis| genesis.id() == named);
        let fill = &mut self.backfill;
        fill.provable = if genesis { Height(1) } else { oldest };
        let unprovable = fill.gaps.newest.iter().find(|gap| gap.last < fill.provable);
        if let Some(gap) = unprovable
            && gap.last > fill.reported_unprovable
        {
            fill.reported_unprovable = gap.last;
            self.effects.push_back(Effect::Fetch(FetchEvent::Unprovable(gap.last)));
        }
    }

    /// Returns the voters of a past height, if they are still known.
    fn voters_at(&mut self, height: Height) -> Option<ValidatorSet> {
        if height < self.backfill.provable {
            return None;
        }
        let links = self.agreement.links();
        let changes = links.partition_point(|link| link.header.height < height);
        match changes.checked_sub(1) {
            Some(last) => ValidatorSet::new(links[last].next.clone(), |_| true).ok(),
            None => self.first_validators().cloned(),
        }
    }

    fn first_validators(&mut self) -> Option<&ValidatorSet> {
        let config = &self.config;
        let genesis = self
            .backfill
            .genesis
            .get_or_insert_with(|| Genesis::decode(&config.genesis).ok()?.first_validators().ok());
        genesis.as_ref()
    }

    /// Lets clients ask about a turn that was missing, if it is recent enough.
    fn recall(&mut self, turn: &Decision) {
        let height = turn.height();
        if height.plus(RECALL_HEIGHTS) > self.height {
            self.archive.decided(&turn.turn);
            let outcomes = self.world().map(|world| outcomes(world, height));
            self.archive.record_outcomes(height, &outcomes.unwrap_or_default());
        }
    }
}
