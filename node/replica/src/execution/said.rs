//! What this sim says to its neighbours after its last turns, to prove it to them.
//!
//! A header states the root of the state two turns before it, and the world goes on meanwhile. So the
//! leaves of the last states are kept, each with its proof and the parcels that it tells of.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use metatopia_consensus::Decision;
use metatopia_protocol::{DispatchAnswer, DispatchQuestion};
use metatopia_sim::World;
use metatopia_types::{
    BorderDeparture, Digest, Dispatch, DispatchedState, Height, Link, Root, Said, SimId,
    StateProof, ValidatorSet,
    limits::{BLOB_BYTES_MAX, DISPATCH_LINKS_MAX, ROOT_LAG},
    said_key, wire,
};

/// States of which it is kept what they say: the newest ones, of which one is certified.
pub(crate) const SAID_KEPT: usize = ROOT_LAG as usize + 1;

/// Bytes that the numbers before the parts of a dispatch take at most: its format, and three lengths.
const DISPATCH_FRAME_BYTES: usize = 16;

/// What the last states say to neighbours, the oldest first. Empty in a sim without borders.
#[derive(Debug, Default)]
pub(crate) struct ProvableSaid(VecDeque<SaidState>);

#[derive(Debug)]
struct SaidState {
    height: Height,
    root: Root,
    /// Who votes at the height whose header states the root.
    set: ValidatorSet,
    said: BTreeMap<SimId, SaidToNeighbour>,
}

/// What a state says to one neighbour.
#[derive(Debug)]
struct SaidToNeighbour {
    news: Digest,
    proof: StateProof,
    /// What departed and is not settled, by its number.
    parcels: BTreeMap<u64, Arc<Vec<u8>>>,
}

impl ProvableSaid {
    /// Keeps what a state says.
    pub(crate) fn keep(&mut self, world: &World) {
        let neighbours = world.borders().into_iter().map(|border| border.neighbour);
        let said: BTreeMap<SimId, SaidToNeighbour> = neighbours
            .filter_map(|neighbour| Some((neighbour, self.said_by(world, neighbour)?)))
            .collect();
        if said.is_empty() {
            return self.0.clear();
        }
        let (height, root) = (world.height(), world.root());
        let set = world.validators(height.plus(ROOT_LAG));
        let set = set.expect("a world knows the sets to come").clone();
        // A state that was computed again takes the place of what was computed before.
        self.0.retain(|kept| kept.height < height);
        self.0.push_back(SaidState { height, root, set, said });
        while self.0.len() > SAID_KEPT {
            self.0.pop_front();
        }
    }

    /// Returns what a state says to one neighbour. Parcels are shared with the states before.
    fn said_by(&self, world: &World, neighbour: SimId) -> Option<SaidToNeighbour> {
        let proof = world.proof(&said_key(neighbour))?;
        let said = Said::decode(&proof.content).expect("the sim's own leaf");
        let before = self.0.back().and_then(|state| state.said.get(&neighbour));
        let parcel = |(departure, bytes): (&BorderDeparture, &[u8])| {
            let kept = before.and_then(|before| before.parcels.get(&departure.number)).cloned();
            (departure.number, kept.unwrap_or_else(|| Arc::new(bytes.to_vec())))
        };
        let parcels = said.departures.iter().zip(world.parcels(neighbour)).map(parcel);
        Some(SaidToNeighbour { news: said.news(), proof, parcels: parcels.collect() })
    }

    /// Forgets everything, because the state was wrong.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Says whether a sim is a neighbour to which something is said.
    pub(crate) fn knows(&self, neighbour: SimId) -> bool {
        self.0.back().is_some_and(|state| state.said.contains_key(&neighbour))
    }

    /// Returns the newest state whose root is certified, with the turn whose header states it. A server
    /// whose state is wrong proves nothing from it.
    fn newest<'a>(
        &self,
        decision: impl Fn(Height) -> Option<&'a Decision>,
    ) -> Option<(&SaidState, &'a Decision)> {
        self.0.iter().rev().find_map(|state| {
            let decision = decision(state.height.plus(ROOT_LAG))?;
            let header = &decision.turn.header;
            let is_stated = header.root == state.root && header.validators == state.set.id();
            is_stated.then_some((state, decision))
        })
    }

    /// Returns the digest of the newest news for a neighbour that can be proved.
    pub(crate) fn news<'a>(
        &self,
        neighbour: SimId,
        decision: impl Fn(Height) -> Option<&'a Decision>,
    ) -> Option<Digest> {
        let (state, _) = self.newest(decision)?;
        state.said.get(&neighbour).map(|said| said.news)
    }

    /// Returns the newest dispatch for a neighbour: the changes of who votes that it lacks, what this sim
    /// says to it, and as many parcels as fit. With more changes than fit there is nothing but changes.
    pub(crate) fn dispatch<'a>(
        &self,
        question: &DispatchQuestion,
        links: &[Link],
        decision: impl Fn(Height) -> Option<&'a Decision>,
    ) -> Option<DispatchAnswer> {
        let (state, decision) = self.newest(decision)?;
        let said = state.said.get(&question.neighbour)?;
        let header = decision.turn.header.clone();
        let lacked = |link: &&Link| {
            link.header.height > question.followed && link.header.height < header.height
        };
        let mut links: Vec<Link> = links.iter().filter(lacked).cloned().collect();
        let is_links_only = links.len() > DISPATCH_LINKS_MAX;
        links.truncate(DISPATCH_LINKS_MAX);
        let certificate = decision.certificate.thinned(&state.set);
        let (proof, parcels) = (said.proof.clone(), Vec::new());
        let told = DispatchedState { header, certificate, said: proof, parcels };
        let mut dispatch = Dispatch { links, state: Some(told) };
        let fits =
            |dispatch: &Dispatch| wire::length(dispatch) + DISPATCH_FRAME_BYTES <= BLOB_BYTES_MAX;
        if is_links_only || !fits(&dispatch) {
            dispatch.state = None;
            while dispatch.links.len() > 1 && !fits(&dispatch) {
                dispatch.links.pop();
            }
        }
        let mut room =
            BLOB_BYTES_MAX.saturating_sub(wire::length(&dispatch) + DISPATCH_FRAME_BYTES);
        if let Some(told) = &mut dispatch.state {
            for (_, parcel) in said.parcels.range(question.judged..) {
                let bytes = parcel.len() + DISPATCH_FRAME_BYTES;
                if bytes > room {
                    break;
                }
                room -= bytes;
                told.parcels.push(parcel.as_ref().clone());
            }
        }
        Some(DispatchAnswer { news: said.news, dispatch: dispatch.blob().0 })
    }
}
