//! Views: what clients that watch are told after each turn, within the bytes that each of them
//! wants, and the proofs that it is so.
//!
//! A client has copies of the tiles around its avatar. The server remembers per client only the
//! height of each copy; [`stamps`] say what changed after that height. What waits for a client that
//! does not read, or for bytes, is never queued: the next view tells what is so then.
//!
//! Laws, which the tests check:
//!
//! - The copies of a client that applies what it is told are, at the heights that it has them of,
//!   the entries of the state.
//! - No client gets more than its bytes a second, over any time, but one second's bytes and one
//!   update in advance.
//! - No tile in sight starves. Waiting counts by nearness: 4 for the own tile, 2 for those within
//!   half a tile, 1 for others. So each that has something to tell is told before as many updates
//!   of others as the weights in sight add up to, which is 32 at most.

mod bucket;
mod frame;
mod proofs;
mod sight;
mod stamps;
mod watcher;

use std::collections::BTreeMap;

use metatopia_math::Fx;
use metatopia_protocol::{HAVE_MAX, PROOF_TURNS, ServerMessage, TileName, Watching, encode_server};
use metatopia_sim::{Applied, Tile, World};
use metatopia_types::{Certificate, Header, Height, PublicKey};

use crate::ClientId;

use self::{
    bucket::Budget,
    frame::Updates,
    proofs::Proofs,
    stamps::Stamps,
    watcher::{Numbers, TurnView, Watcher},
};
pub use self::{
    frame::{PIECE_BYTES, UPDATE_BYTES_MAX},
    proofs::PROOFS_WAITING_MAX,
    sight::SIGHT_KEPT,
    stamps::GONE_MAX,
    watcher::{FAR_MAX, FAR_REACH, FAR_SIGHT, FAR_TURNS, GESTURES_MAX, NEAR_MAX, VIEW_BYTES_MAX},
};

/// What a client must not say of views; its session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ViewFault {
    /// It says that it has more tiles than anybody can see.
    #[error("{0} tiles where at most {HAVE_MAX} are allowed")]
    TooManyTiles(usize),
    /// It has seen a view that was never sent.
    #[error("view {0} was never sent")]
    NeverSent(u32),
}

#[derive(Debug)]
struct ViewingClient {
    key: PublicKey,
    numbers: Numbers,
    watcher: Option<Watcher>,
    /// What is left of its bytes while it does not watch: asking anew fills no bucket.
    budget: Option<Budget>,
}

/// The views of all clients of one server.
#[derive(Debug)]
pub struct Views {
    stamps: Stamps,
    clients: BTreeMap<ClientId, ViewingClient>,
    proofs: Proofs,
    turns_per_second: u32,
}

impl Views {
    /// Begins without clients. What happened up to this height is not known.
    #[must_use]
    pub fn new(height: Height, turns_per_second: u32) -> Self {
        let (clients, proofs) = (BTreeMap::new(), Proofs::default());
        Self { stamps: Stamps::new(height), clients, proofs, turns_per_second }
    }

    /// Returns how many clients watch.
    #[must_use]
    pub fn len(&self) -> usize {
        self.clients.values().filter(|client| client.watcher.is_some()).count()
    }

    /// Returns whether nobody watches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Notes that a client wants to watch from now on, or no more.
    ///
    /// # Errors
    /// See [`ViewFault`].
    pub fn watch(
        &mut self,
        client: ClientId,
        key: PublicKey,
        watching: Option<&Watching>,
    ) -> Result<(), ViewFault> {
        if let Some(watching) = watching
            && watching.have.len() > HAVE_MAX
        {
            return Err(ViewFault::TooManyTiles(watching.have.len()));
        }
        let (numbers, turns) = (Numbers::default(), self.turns_per_second);
        let fresh = || ViewingClient { key, numbers, watcher: None, budget: None };
        let client = self.clients.entry(client).or_insert_with(fresh);
        client.budget = client.watcher.as_ref().map(|watcher| watcher.budget).or(client.budget);
        client.watcher = watching.map(|watching| Watcher::new(watching, client.budget, turns));
        Ok(())
    }

    /// Notes that a client took in the view of this number, and all before it.
    ///
    /// # Errors
    /// See [`ViewFault`].
    pub fn seen(&mut self, client: ClientId, number: u32) -> Result<(), ViewFault> {
        let Some(client) = self.clients.get_mut(&client) else {
            return Err(ViewFault::NeverSent(number));
        };
        if number > client.numbers.sent {
            return Err(ViewFault::NeverSent(number));
        }
        client.numbers.seen = client.numbers.seen.max(number);
        Ok(())
    }

    /// Forgets a client that is gone.
    pub fn forget(&mut self, client: ClientId) {
        self.clients.remove(&client);
    }

    /// Returns the frames that clients get after a turn was applied.
    pub fn turn(&mut self, world: &World, applied: &Applied) -> Vec<(ClientId, Vec<u8>)> {
        self.stamps.turn(applied);
        if self.is_empty() {
            return Vec::new();
        }
        let placed = |(id, emote)| Some((world.entry(id)?.0, id, emote));
        let large = world.large(Fx::from_int(FAR_REACH));
        let turn = TurnView {
            world,
            stamps: &self.stamps,
            height: applied.height,
            updates: Updates::default(),
            gestures: world.gestures().into_iter().filter_map(placed).collect(),
            large: large.map(|(id, place, reach)| (Tile::of(place), id, place, reach)).collect(),
        };
        let proves = applied.height.0.is_multiple_of(PROOF_TURNS);
        let (mut frames, mut exact) = (Vec::new(), BTreeMap::new());
        for (id, ViewingClient { key, numbers, watcher, .. }) in &mut self.clients {
            let Some(watcher) = watcher else { continue };
            let Some(frame) = watcher.view(&turn, key, numbers) else {
                continue;
            };
            frames.push((*id, frame));
            if proves && watcher.proofs {
                exact.insert(*id, watcher.exact(&turn).collect());
            }
        }
        if proves {
            self.proofs.expect(world, exact);
        }
        frames
    }

    /// Returns the frames that prove the copies of height `of`, once a header is decided that states
    /// the root after it. They are sent once the decision is durable.
    pub fn prove(
        &mut self,
        of: Height,
        header: &Header,
        certificate: &Certificate,
    ) -> Vec<(ClientId, Vec<u8>)> {
        let Some(waiting) = self.proofs.take(of) else {
            return Vec::new();
        };
        let (mut frames, mut encoded) = (Vec::new(), BTreeMap::new());
        for (id, tiles) in &waiting.exact {
            let watcher = self.clients.get_mut(id).and_then(|client| client.watcher.as_mut());
            let Some(watcher) = watcher.filter(|watcher| watcher.budget.proofs.is_open()) else {
                continue;
            };
            // Most clients have the same tiles.
            let proof = || waiting.proof(of, header, certificate, tiles);
            let encode = || encode_server(&ServerMessage::ViewProof(Box::new(proof())));
            let frame: &Vec<u8> = encoded.entry(tiles).or_insert_with(encode);
            watcher.budget.spend_on_proof(frame.len());
            frames.push((*id, frame.clone()));
        }
        frames
    }
}

/// Returns a tile's name on the wire. The world ends long before the numbers do.
fn tile_name(tile: Tile) -> TileName {
    let index = |index: i64| i32::try_from(index.clamp(i32::MIN.into(), i32::MAX.into()));
    let index = |wide| index(wide).expect("it was moved into the range");
    TileName { x: index(tile.x), y: index(tile.y) }
}
