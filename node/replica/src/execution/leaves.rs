//! What the sim is, what was ordered and what people say of themselves up to the last turns, to prove it: kept as the
//! [shelves](super::land) of a land office are.

use std::collections::VecDeque;

use metatopia_consensus::Decision;
use metatopia_protocol::{
    Answer, CharterAnswer, OrdersAnswer, PROFILES_PER_QUESTION_MAX, ProfilesAnswer,
};
use metatopia_sim::{ProvableLeaves, World};
use metatopia_types::{Height, PublicKey, StateProof, limits::ROOT_LAG};

/// States whose leaves are kept: the newest ones, of which one is certified.
const STATES_KEPT: usize = ROOT_LAG as usize + 1;

/// What the sim is and what was ordered, by the last states, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct RecentLeaves(VecDeque<ProvableLeaves>);

impl RecentLeaves {
    /// Keeps what the sim is and what was ordered up to a state.
    pub(crate) fn keep(&mut self, world: &World) {
        let leaves = world.provable_leaves();
        // A state that was computed again takes the place of what was computed before.
        self.0.retain(|kept| kept.height() < leaves.height());
        self.0.push_back(leaves);
        while self.0.len() > STATES_KEPT {
            self.0.pop_front();
        }
    }

    /// Forgets everything, because the state was wrong.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Proves the page with the last order below a number, from the newest state whose root is certified.
    pub(crate) fn page<'a>(
        &self,
        below: u64,
        decision: impl Fn(Height) -> Option<&'a Decision>,
    ) -> Option<Answer> {
        let (leaves, decision) = self.newest_certified(decision)?;
        Some(Answer::Orders(Box::new(OrdersAnswer {
            header: decision.turn.header.clone(),
            certificate: decision.certificate.clone(),
            governance: leaves.governance(),
            page: leaves.page(below),
        })))
    }

    /// Proves the charter, from the newest state whose root is certified.
    pub(crate) fn charter<'a>(
        &self,
        decision: impl Fn(Height) -> Option<&'a Decision>,
    ) -> Option<Answer> {
        let (leaves, decision) = self.newest_certified(decision)?;
        Some(Answer::Charter(Box::new(CharterAnswer {
            header: decision.turn.header.clone(),
            certificate: decision.certificate.clone(),
            charter: leaves.charter(),
        })))
    }

    /// Proves what people say of themselves, from the newest state whose root is certified. Of too many, the first.
    pub(crate) fn profiles<'a>(
        &self,
        of: &[PublicKey],
        decision: impl Fn(Height) -> Option<&'a Decision>,
    ) -> Option<Answer> {
        let (leaves, decision) = self.newest_certified(decision)?;
        let mut found: Vec<StateProof> = Vec::new();
        for proof in of.iter().take(PROFILES_PER_QUESTION_MAX).filter_map(|key| leaves.profile(key))
        {
            if found.iter().all(|known| known.key != proof.key) {
                found.push(proof);
            }
        }
        Some(Answer::Profiles(Box::new(ProfilesAnswer {
            header: decision.turn.header.clone(),
            certificate: decision.certificate.clone(),
            leaves: found,
        })))
    }

    fn newest_certified<'a>(
        &self,
        decision: impl Fn(Height) -> Option<&'a Decision>,
    ) -> Option<(&ProvableLeaves, &'a Decision)> {
        self.0.iter().rev().find_map(|leaves| {
            let decision = decision(leaves.height().plus(ROOT_LAG))?;
            // A server whose state is wrong proves nothing from it.
            (decision.turn.header.root == leaves.root()).then_some((leaves, decision))
        })
    }
}
