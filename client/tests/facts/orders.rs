//! Who ordered what: what a client believes of the leaves that say so.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_client::{Distrust, LightClient};
use metatopia_protocol::OrdersAnswer;
use metatopia_sim::{Governance, OrderedDeed, RecordedOrder, Warrant, limits::ORDERS_KEPT};
use metatopia_types::*;

use crate::stand::{certificate, key, set};

const MEMBERS: [u8; 4] = [200, 201, 202, 203];
const ALL: u64 = u64::MAX;

fn sim() -> SimId {
    SimId(Digest([7; 32]))
}

fn light() -> LightClient {
    LightClient::new(sim(), Height(1), set(&MEMBERS), std::sync::Arc::new(Ed25519))
}

fn order(n: u64) -> (u64, RecordedOrder) {
    let deed = OrderedDeed::Govern(GovernOrder::Thaw { object: ObjectId(n) });
    (n, RecordedOrder { height: Height(n), by: key(1).public(), warrant: Warrant::Role, deed })
}

/// Answers from a state of two leaves: it has so many orders, of which these are in the page.
fn answer(count: u64, numbers: impl IntoIterator<Item = u64>) -> OrdersAnswer {
    let governance = Governance {
        admins: BTreeSet::new(),
        time: 0,
        founded: 0,
        admin_login: 0,
        temp_admin: None,
        exposed: BTreeMap::new(),
        delayed: Vec::new(),
        motd: None,
        orders: count,
        reports: 0,
        told: 0,
    };
    let orders: Vec<_> = numbers.into_iter().map(order).collect();
    let leaves = [
        (LeafKey("governance".to_owned()), wire::encode(&governance)),
        (LeafKey("orders/0".to_owned()), wire::encode(&orders)),
    ];
    let hash = |(key, content): &(LeafKey, Vec<u8>)| {
        leaf_hash(key, &Digest(*blake3::hash(content).as_bytes()))
    };
    let tree = merkle::Tree::of(leaves.iter().map(hash).collect());
    let root = Root(tree.root());
    let [governance, page] = [0, 1].map(|n: u32| {
        let (key, content) = leaves[n as usize].clone();
        StateProof { key, content, place: tree.proof(n).expect("one of two leaves") }
    });
    let validators = set(&MEMBERS).id();
    let (height, next_validators) = (Height(9), validators);
    let header =
        Header { sim: sim(), height, root, validators, next_validators, ..Header::unstated() };
    let certificate = certificate(&header, &MEMBERS[..3]);
    OrdersAnswer { header, certificate, governance, page: Some(page) }
}

#[test]
fn a_page_is_believed_if_it_ends_with_the_last_order_that_is_asked_for() {
    let light = light();
    let all = light.orders(ALL, &answer(5, 0..5)).expect("five orders");
    assert_eq!((all.count, all.orders.len(), all.height), (5, 5, Height(7)));
    assert!(!all.goes_on());
    let some = light.orders(ALL, &answer(5, 3..5)).expect("the last two");
    assert!(some.goes_on());
    let earlier = light.orders(3, &answer(5, 0..5)).expect("those below");
    assert_eq!(earlier.orders.last(), Some(&order(2)));
    let none = OrdersAnswer { page: None, ..answer(0, []) };
    assert_eq!(light.orders(ALL, &none).map(|found| found.orders.len()), Ok(0));
    // Of many orders the state keeps the last ones, and asks end there.
    let count = ORDERS_KEPT + 3;
    let kept = light.orders(ALL, &answer(count, 3..count)).expect("all that are kept");
    assert!(!kept.goes_on());
}

#[test]
fn a_server_that_leaves_an_order_out_or_shows_other_leaves_is_found_out() {
    let light = light();
    let not = Err(Distrust::NotOrders(ALL));
    assert_eq!(light.orders(ALL, &answer(5, 0..4)), not, "the last one is missing");
    assert_eq!(light.orders(ALL, &answer(5, [0, 1, 3, 4])), not, "one in the middle is");
    assert_eq!(light.orders(ALL, &answer(5, [])), not, "all are");
    let good = answer(5, 0..5);
    let hidden = OrdersAnswer { page: None, ..good.clone() };
    assert_eq!(light.orders(ALL, &hidden), not);
    let other = OrdersAnswer { page: Some(good.governance.clone()), ..good.clone() };
    assert_eq!(light.orders(ALL, &other), not);
    let page = good.page.clone().expect("a page");
    let swapped = OrdersAnswer { governance: page.clone(), ..good.clone() };
    assert_eq!(light.orders(ALL, &swapped), not);
    let mut forged = page;
    forged.content.pop();
    let forged = OrdersAnswer { page: Some(forged), ..good.clone() };
    assert!(matches!(light.orders(ALL, &forged), Err(Distrust::State(_))));
    let certificate = certificate(&good.header, &MEMBERS[..2]);
    let few = OrdersAnswer { certificate, ..good };
    assert!(matches!(light.orders(ALL, &few), Err(Distrust::Certificate(_))));
}
