//! What was ordered up to the last turns, to prove it: kept as the [shelves](super::land) of a land office
//! are.

use std::collections::VecDeque;

use metatopia_consensus::Decision;
use metatopia_protocol::OrdersAnswer;
use metatopia_sim::{ProvableOrders, World};
use metatopia_types::{Height, limits::ROOT_LAG};

/// States whose orders are kept: the newest ones, of which one is certified.
const STATES_KEPT: usize = ROOT_LAG as usize + 1;

/// What was ordered, by the last states, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct RecentOrders(VecDeque<ProvableOrders>);

impl RecentOrders {
    /// Keeps what was ordered up to a state.
    pub(crate) fn keep(&mut self, world: &World) {
        let orders = world.provable_orders();
        // A state that was computed again takes the place of what was computed before.
        self.0.retain(|kept| kept.height() < orders.height());
        self.0.push_back(orders);
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
    ) -> Option<OrdersAnswer> {
        self.0.iter().rev().find_map(|orders| {
            let decision = decision(orders.height().plus(ROOT_LAG))?;
            let header = &decision.turn.header;
            // A server whose state is wrong proves nothing from it.
            (header.root == orders.root()).then(|| OrdersAnswer {
                header: header.clone(),
                certificate: decision.certificate.clone(),
                governance: orders.governance(),
                page: orders.page(below),
            })
        })
    }
}
