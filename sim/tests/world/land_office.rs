//! A land office to test with, and the sims of its world.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_sim::{Area, Genesis, LandClaims, World};
use metatopia_types::{
    Certificate, Digest, GenesisHead, Header, HeaderId, Height, LandOrder, LandSponsor, Link,
    Millis, OfficeFounding, Outcome, PublicKey, Refusal, Round, SignedEnvelope, SimId, Site,
    Square, Validator, ValidatorSet, Vote, VoteKind,
};

use crate::yard::{Builder, T0, Yard, key, public};

/// The admin of the office, who holds its square.
pub(crate) const ADMIN: u8 = 100;

/// A beacon of everybody.
pub(crate) const BEACON: u8 = 90;

pub(crate) const DAY_MS: u64 = 86_400 * 1_000;

pub(crate) fn square(x: i32, y: i32) -> Square {
    Square { x, y, doublings: 0 }
}

/// The genesis of a land office on the least square around (0, 0), and of nothing else.
pub(crate) fn office_builder() -> Builder {
    let mut builder = Builder::new();
    let square = square(0, 0);
    builder.genesis.parameters.ground = Area::of_square(square);
    let (holder, beacons) = (public(ADMIN), vec![public(BEACON)]);
    builder.genesis.office = Some(OfficeFounding { square, holder, beacons });
    builder
}

/// A land office in which the admin and the players 1 to 5 are.
pub(crate) fn office() -> Yard {
    visited(&office_builder())
}

/// The same, where everybody may claim anywhere, as many squares as there are.
pub(crate) fn free_office() -> Yard {
    let mut builder = office_builder();
    let parameters = &mut builder.genesis.parameters;
    parameters.land_claims = LandClaims::Anybody;
    (parameters.land_per_key, parameters.land_per_week) = (1_000, 1_000);
    visited(&builder)
}

pub(crate) fn visited(builder: &Builder) -> Yard {
    let mut yard = builder.build();
    come(&mut yard);
    yard
}

/// Lets everybody log in, who may have left by now.
pub(crate) fn come(yard: &mut Yard) {
    [ADMIN, 1, 2, 3, 4, 5].into_iter().for_each(|n| {
        yard.login(n);
    });
    yard.play();
}

/// The genesis of the sim of player `n` on a square of a world. Its validators are the keys from 20 n on.
pub(crate) fn sim_on(world: SimId, square: Square, n: u8, validators: u8) -> Genesis {
    let first = n.wrapping_mul(10).wrapping_add(20);
    Genesis {
        name: format!("place of {n} at {},{}", square.x, square.y),
        site: Some(Site { world, square }),
        admins: BTreeSet::from([public(n)]),
        validators: (first..first + validators).map(|n| (public(n), Default::default())).collect(),
        ..Genesis::empty()
    }
}

/// The head of the sim of player `n`.
pub(crate) fn head_of(yard: &Yard, n: u8, square: Square) -> GenesisHead {
    sim_on(yard.world.sim(), square, n, 1).head()
}

/// A claim of player `n` by a head, with the word of a sponsor.
pub(crate) fn claim_by(yard: &Yard, n: u8, head: GenesisHead, sponsor: Option<u8>) -> LandOrder {
    let square = head.site.expect("a head with a site").square;
    let word = |sponsor: u8| {
        LandSponsor::new(&key(sponsor), yard.world.sim(), head.id(), square, &public(n))
    };
    LandOrder::Claim { sponsor: sponsor.map(word), head, beacons: vec![public(BEACON)] }
}

/// A claim of player `n`.
pub(crate) fn claim(yard: &Yard, n: u8, square: Square, sponsor: Option<u8>) -> LandOrder {
    claim_by(yard, n, head_of(yard, n, square), sponsor)
}

/// Plays one order alone; gives what became of it.
pub(crate) fn ordered(yard: &mut Yard, n: u8, order: &LandOrder) -> Outcome {
    let act = yard.order(n, order.blob());
    yard.play();
    yard.outcome(&act)
}

pub(crate) const fn refused(refusal: Refusal) -> Outcome {
    Outcome::Refused(refusal)
}

/// Adds an order to the next turn.
pub(crate) fn order(yard: &mut Yard, n: u8, order: &LandOrder) -> SignedEnvelope {
    yard.order(n, order.blob())
}

/// The squares that are granted, by their corners.
pub(crate) fn granted(world: &World) -> BTreeMap<(i32, i32), SimId> {
    world.grants().map(|grant| ((grant.square.x, grant.square.y), grant.sim)).collect()
}

/// The set of these keys, each of power 1.
pub(crate) fn set_of(keys: impl IntoIterator<Item = u8>) -> ValidatorSet {
    let member = |n| Validator { key: public(n), power: 1 };
    ValidatorSet::new(keys.into_iter().map(member).collect(), |_| true).expect("a set")
}

/// What a sim may show of itself: a header of a height and a time, certified by these keys.
#[derive(Clone)]
pub(crate) struct Shown {
    pub(crate) sim: SimId,
    pub(crate) height: u64,
    pub(crate) time: u64,
    pub(crate) voters: Vec<u8>,
    pub(crate) next: Vec<u8>,
    pub(crate) signers: Vec<u8>,
}

impl Shown {
    /// A header of now, of a sim whose voters all sign.
    pub(crate) fn now(yard: &Yard, sim: SimId, height: u64, voters: &[u8]) -> Self {
        let time = yard.world.time().0.max(T0);
        let voters = voters.to_vec();
        Self { sim, height, time, next: voters.clone(), signers: voters.clone(), voters }
    }

    pub(crate) fn link(&self) -> Link {
        let next = set_of(self.next.iter().copied());
        let header = Header {
            sim: self.sim,
            height: Height(self.height),
            previous: HeaderId(Digest([9; 32])),
            time: Millis(self.time),
            validators: set_of(self.voters.iter().copied()).id(),
            next_validators: next.id(),
            ..Header::unstated()
        };
        let (height, id) = (header.height, header.id());
        let sign = |n: &u8| {
            let (kind, round, voter) = (VoteKind::Precommit, Round(0), public(*n));
            let vote = Vote { kind, height, round, header: Some(id), voter };
            (voter, vote.sign(self.sim, &key(*n)).signature)
        };
        let signatures = self.signers.iter().map(sign).collect();
        let certificate = Certificate { height, round: Round(0), header: id, signatures };
        Link { header, certificate, next: next.members().to_vec() }
    }

    /// A renewal that shows this header.
    pub(crate) fn renew(&self, square: Square, links: Vec<Link>) -> LandOrder {
        let Link { header, certificate, .. } = self.link();
        LandOrder::Renew { square, links, header, certificate }
    }
}

/// The only holder of a point, if it is granted.
pub(crate) fn holder(world: &World, square: Square) -> Option<PublicKey> {
    let grant = world.grant_at(metatopia_types::TilePoint::corner(square));
    grant.map(|grant| grant.holder)
}
