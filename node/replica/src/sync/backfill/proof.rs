//! Proving turns of the past: each by its certificate, held against those who voted then, whom the set
//! changes since genesis name; and each names the one before it, up to one that is there.

use std::sync::Arc;

use metatopia_consensus::{Decision, JoinPackError};
use metatopia_sim::Genesis;
use metatopia_types::{Certificate, Height, Turn, ValidatorSet, certified};

use super::{
    ASK_PAUSE, Backfill, Batch, CHECK_PAUSE, FILL_BYTES_MAX, SIGNATURES_AT_ONCE, SyncContext,
};
use crate::{Config, Effect, FetchEvent, RECALL_HEIGHTS, fetch::ProviderFault};

impl Backfill {
    /// Proves some of the turns that came, and hands the batch over once it is whole.
    pub(super) fn prove(&mut self, ctx: &mut SyncContext<'_>) {
        let now = ctx.now.monotonic;
        let batch = self.batch.take();
        let mut batch = batch.expect("turns are proved only for a batch that asked for them");
        self.look_at_voters(ctx);
        let mut checked = 0;
        while checked < SIGNATURES_AT_ONCE
            && let Some((turn, certificate)) = batch.came.pop_front()
        {
            let Some(voters) = self.voters_at(ctx, batch.next) else {
                // The set changes were forgotten meanwhile: the next batch asks for later turns.
                return;
            };
            checked += certificate.signatures.len().max(1);
            if let Err(why) = self.check(ctx, &batch, &turn, &certificate, &voters) {
                let peer = batch.from;
                self.liars.insert(peer);
                ctx.out.emit(Effect::Fetch(FetchEvent::Dropped { peer, why }));
                self.rests = now + ASK_PAUSE;
                return;
            }
            batch.take(Decision { certificate, turn: Arc::new(turn) });
        }
        let pause = if batch.came.is_empty() { ASK_PAUSE } else { CHECK_PAUSE };
        self.rests = now + pause;
        if batch.next <= batch.last {
            self.batch = Some(batch);
            return;
        }
        let long = batch.bytes > FILL_BYTES_MAX / 2;
        let turns = batch.proved.len() as u64;
        self.turns = Some(if long { turns } else { 2 * turns });
        self.is_putting = true;
        for turn in &batch.proved {
            recall(ctx, turn);
        }
        if !self.nothing_is_put_back {
            ctx.out.emit(Effect::PutBack(batch.proved.into()));
        }
    }

    /// Checks that this turn was decided at the batch's next height.
    fn check(
        &self,
        ctx: &SyncContext<'_>,
        batch: &Batch,
        turn: &Turn,
        certificate: &Certificate,
        voters: &ValidatorSet,
    ) -> Result<(), ProviderFault> {
        let (header, height) = (&turn.header, batch.next);
        if header.height != height {
            return Err(ProviderFault::Unasked);
        }
        certified(ctx.config.sim, header, certificate, voters, &*ctx.config.agreement.scheme)
            .map_err(JoinPackError::from)?;
        turn.check_body().map_err(|_| ProviderFault::OtherBody(height))?;
        if batch.proved.back().is_some_and(|before| before.id() != header.previous) {
            return Err(JoinPackError::Chain(height).into());
        }
        if height < batch.last {
            return Ok(());
        }
        // The turn after it names it, or the state that this server began with.
        let named = self.gaps.ending(height).and_then(|gap| gap.names);
        let named = named.or_else(|| ctx.agreement.base(height).map(|base| base.header));
        match named {
            Some(named) if named != certificate.header => Err(JoinPackError::Chain(height).into()),
            _ => Ok(()),
        }
    }

    /// Finds the first height whose voters are known, and reports it if turns are missing before it.
    pub(super) fn look_at_voters(&mut self, ctx: &mut SyncContext<'_>) {
        let (oldest, named) = match ctx.agreement.links().first() {
            Some(link) => (link.header.height.plus(1), link.header.validators),
            None => {
                let height = ctx.agreement.height();
                let Some(current) = ctx.agreement.validators(height) else {
                    // Not an error: the set of this height follows from a turn that is being applied.
                    return;
                };
                (height, current.id())
            }
        };
        // Before the oldest change the first validators voted, unless older ones are forgotten.
        let genesis =
            self.first_validators(ctx.config).is_some_and(|genesis| genesis.id() == named);
        self.provable = if genesis { Height(1) } else { oldest };
        let unprovable = self.gaps.newest.iter().find(|gap| gap.last < self.provable);
        if let Some(gap) = unprovable
            && gap.last > self.reported_unprovable
        {
            self.reported_unprovable = gap.last;
            ctx.out.emit(Effect::Fetch(FetchEvent::Unprovable(gap.last)));
        }
    }

    /// Returns the voters of a past height, if they are still known.
    fn voters_at(&mut self, ctx: &SyncContext<'_>, height: Height) -> Option<ValidatorSet> {
        if height < self.provable {
            return None;
        }
        let links = ctx.agreement.links();
        let changes = links.partition_point(|link| link.header.height < height);
        match changes.checked_sub(1) {
            Some(last) => ValidatorSet::new(links[last].next.clone(), |_| true).ok(),
            None => self.first_validators(ctx.config).cloned(),
        }
    }

    fn first_validators(&mut self, config: &Config) -> Option<&ValidatorSet> {
        let decode = || Genesis::decode(&config.genesis).ok()?.first_validators().ok();
        self.genesis.get_or_insert_with(decode).as_ref()
    }
}

/// Lets clients ask about a turn that was missing, if it is recent enough.
fn recall(ctx: &mut SyncContext<'_>, turn: &Decision) {
    if turn.height().plus(RECALL_HEIGHTS) > ctx.execution.height() {
        ctx.execution.recall(turn);
    }
}
