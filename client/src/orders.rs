//! What was ordered in a sim, from leaves that more than two thirds of the voting power signed.

use alloc::vec::Vec;

use metatopia_protocol::OrdersAnswer;
use metatopia_sim::{Governance, RecordedOrder, limits::ORDERS_KEPT};
use metatopia_types::{Height, limits::LEAF_BYTES_MAX, wire};

use crate::{Distrust, LightClient};

/// A page of what was ordered, proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenOrders {
    /// Orders up to the turn of this height.
    pub height: Height,
    /// How many orders there were so far: the last one has the number below.
    pub count: u64,
    /// The orders of the page with their numbers, ascending and without a gap.
    pub orders: Vec<(u64, RecordedOrder)>,
}

impl ProvenOrders {
    /// Says whether there are orders below this page that the state keeps.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        let first = self.orders.first().map_or(self.count, |(number, _)| *number);
        first > self.count.saturating_sub(ORDERS_KEPT)
    }
}

impl LightClient {
    /// The page of orders that ends below a number. A server can leave out none of them: they are counted.
    ///
    /// # Errors
    /// See [`Distrust`]; [`Distrust::OtherValidators`] may mean that set changes are missing.
    pub fn orders(&self, below: u64, answer: &OrdersAnswer) -> Result<ProvenOrders, Distrust> {
        let OrdersAnswer { header, certificate, governance, page } = answer;
        self.believe_now(header, certificate)?;
        governance.verify(header.root)?;
        let not = || Distrust::NotOrders(below);
        if governance.key.0 != "governance" {
            return Err(not());
        }
        let content: Governance =
            wire::decode(&governance.content, LEAF_BYTES_MAX).map_err(|_| not())?;
        let count = content.orders;
        let mut orders: Vec<(u64, RecordedOrder)> = Vec::new();
        if let Some(page) = page {
            page.verify(header.root)?;
            let is_page = page.key.0 == "orders" || page.key.0.starts_with("orders/");
            if !is_page {
                return Err(not());
            }
            orders = wire::decode(&page.content, LEAF_BYTES_MAX).map_err(|_| not())?;
        }
        let follows = |pair: &[(u64, RecordedOrder)]| pair[0].0.checked_add(1) == Some(pair[1].0);
        if !orders.windows(2).all(follows) {
            return Err(not());
        }
        // The last order below the number that is asked for is one of these, unless none is kept.
        orders.retain(|(number, _)| *number < below);
        let last = below.min(count);
        let oldest = count.saturating_sub(ORDERS_KEPT);
        let expected = (last > oldest).then(|| last - 1);
        if orders.last().map(|(number, _)| *number) != expected {
            return Err(not());
        }
        let height = header.height.minus(metatopia_types::limits::ROOT_LAG).unwrap_or_default();
        Ok(ProvenOrders { height, count, orders })
    }
}
