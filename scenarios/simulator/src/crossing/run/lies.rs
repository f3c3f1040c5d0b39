//! Lies that all servers of a sim tell the neighbour together, of one departure at a time.
//!
//! What is said of a turn has one content: whoever lists the departure lies of it alike, lest two certified headers of
//! one height close the border for good.

use std::collections::BTreeMap;

use metatopia_types::{
    BorderDeparture, Certificate, Digest, Dispatch, DispatchedState, Look, Origin, Parcel, Root,
    Said, StateProof, TravellingPerson, TravellingThing, Vote, VoteKind, leaf_hash, merkle,
};

use super::CrossingRun;
use crate::crossing::beyond;
use crate::crossing::plan::DepartureLie;

/// The number of a person who is in no sim, and whom none gave a pass.
const STRANGER: u64 = 900;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct ToldLies {
    /// What each sim lies of the next departure that fits, and the first number that nobody was told of before.
    next: [Option<(DepartureLie, u64)>; 2],
    /// Lies by the sim that tells them, and by the number of the departure.
    told: BTreeMap<(usize, u64), ToldLie>,
    /// Whether each sim conceals what came home to it.
    pub(super) conceals: [bool; 2],
}

/// A departure as the neighbour is told of it.
#[derive(Debug)]
struct ToldLie {
    /// The digest of what departed.
    departed: Digest,
    departure: BorderDeparture,
    parcel: Vec<u8>,
}

impl ToldLies {
    /// Ends with the lies that were begun.
    pub(super) const fn plan_no_more(&mut self) {
        self.next = [None; 2];
    }

    /// Says whether a sim may lie in what it says now.
    fn may_lie(&self, sim: usize) -> bool {
        let has_told = self.told.range((sim, 0)..=(sim, u64::MAX)).next().is_some();
        has_told || self.next[sim].is_some() || self.conceals[sim]
    }
}

impl CrossingRun {
    /// Plans that a sim lies of a departure that has not been told of yet.
    pub(super) fn plan_lie(&mut self, sim: usize, lie: DepartureLie) {
        let border = self.states[sim].border(&self.ids[beyond(sim)]);
        // What the furthest state has not listed nobody was told of: a word is proved two turns later.
        let first = border.map_or(0, |border| border.crossing.said.out_next);
        self.lies.next[sim].get_or_insert((lie, first));
    }

    /// Returns what all servers of a sim make of a dispatch of theirs.
    pub(super) fn lie(&mut self, sim: usize, dispatch: Vec<u8>) -> Vec<u8> {
        if !self.lies.may_lie(sim) {
            return dispatch;
        }
        let Ok(mut told) = Dispatch::decode(&dispatch) else { return dispatch };
        let Some(state) = &mut told.state else { return dispatch };
        let Ok(honest) = Said::decode(&state.said.content) else { return dispatch };
        self.begin_lie(sim, &honest);
        let mut said = honest.clone();
        if self.lies.conceals[sim] {
            said.came_home.clear();
        }
        for departure in &mut said.departures {
            let Some(lie) = self.lies.told.get(&(sim, departure.number)) else { continue };
            *departure = lie.departure;
            let parcels = state.parcels.iter_mut();
            parcels
                .filter(|parcel| Parcel::digest(parcel) == lie.departed)
                .for_each(|parcel| parcel.clone_from(&lie.parcel));
        }
        if said == honest {
            return dispatch;
        }
        self.certify(sim, state, &said);
        told.blob().0
    }

    /// Has a sim lie of the first departure that is told of now and fits what was planned.
    fn begin_lie(&mut self, sim: usize, said: &Said) {
        let Some((lie, first)) = self.lies.next[sim] else { return };
        for departure in said.departures.iter().filter(|listed| listed.number >= first) {
            if let Some(told) = self.lie_of(sim, lie, departure) {
                self.lies.told.insert((sim, departure.number), told);
                self.lies.next[sim] = None;
                return;
            }
            self.lies.next[sim] = Some((lie, departure.number + 1));
        }
    }

    /// Returns what is told of a departure; nothing if the lie does not fit it.
    fn lie_of(
        &self,
        sim: usize,
        lie: DepartureLie,
        departure: &BorderDeparture,
    ) -> Option<ToldLie> {
        let mut parcels = self.states[sim].parcels(self.ids[beyond(sim)]);
        let parcel = parcels.find(|bytes| Parcel::digest(bytes) == departure.parcel)?;
        let parcel = Parcel::decode(parcel).ok()?;
        let parcel = match lie {
            DepartureLie::NoPass => self.without_pass(&parcel),
            DepartureLie::Here => self.of_what_is_there(sim, parcel)?,
            DepartureLie::BadParcel => contradicted(parcel),
        };
        let (traveller, bytes) = (parcel.traveller(), parcel.encode());
        let told = BorderDeparture { traveller, parcel: Parcel::digest(&bytes), ..*departure };
        Some(ToldLie { departed: departure.parcel, departure: told, parcel: bytes })
    }

    /// Returns a parcel with somebody who goes where whatever is in another parcel went.
    fn without_pass(&self, parcel: &Parcel) -> Parcel {
        let (position, velocity) = match parcel {
            Parcel::Person(person) => (person.position, person.velocity),
            Parcel::Thing(thing, _) => (thing.position, thing.velocity),
        };
        Parcel::Person(TravellingPerson {
            key: self.plan.walker(STRANGER),
            name: "stranger".to_owned(),
            look: Look::default(),
            bot: false,
            position,
            velocity,
            heading: velocity,
            waited: 0,
            hands: Vec::new(),
            mount: None,
            companions: metatopia_types::Companions::default(),
        })
    }

    /// Returns a parcel with the post of the neighbour in the place of a thing; nothing if it is somebody's.
    fn of_what_is_there(&self, sim: usize, parcel: Parcel) -> Option<Parcel> {
        let Parcel::Thing(thing, companions) = parcel else { return None };
        let origin = self.post(beyond(sim))?;
        Some(Parcel::Thing(Box::new(TravellingThing { origin, ..*thing }), companions))
    }

    /// Returns the origin of the thing of a sim that never leaves it.
    fn post(&self, sim: usize) -> Option<Origin> {
        let mut things = self.states[sim].objects().filter(|seen| seen.player.is_none());
        things.find(|seen| !seen.movable).map(|seen| seen.origin)
    }

    /// Has those who certified a state certify another one of the same height, in which this is said.
    fn certify(&self, sim: usize, state: &mut DispatchedState, said: &Said) {
        let (key, content) = (state.said.key.clone(), said.encode());
        let leaf = leaf_hash(&key, &Digest(*blake3::hash(&content).as_bytes()));
        let place = merkle::Proof::of(&[leaf], 0).expect("a tree of one leaf");
        state.said = StateProof { key, content, place };
        state.header.root = Root(leaf);
        let (header, round) = (state.header.id(), state.certificate.round);
        let height = state.header.height;
        let sign = |voter| {
            let keys = self.stages[sim].setting().keys.iter();
            let key = keys.clone().find(|key| key.public() == voter).expect("a key of a member");
            let vote =
                Vote { kind: VoteKind::Precommit, height, round, header: Some(header), voter };
            (voter, key.sign(&vote.sign_bytes(state.header.sim)))
        };
        let voters = state.certificate.signatures.iter().map(|(voter, _)| *voter);
        let signatures = voters.map(sign).collect();
        state.certificate = Certificate { height, round, header, signatures };
    }
}

/// Returns a parcel that says of itself what is not so.
fn contradicted(parcel: Parcel) -> Parcel {
    match parcel {
        // She left the sim in its middle.
        Parcel::Person(person) => {
            Parcel::Person(TravellingPerson { position: metatopia_math::Vec2::ZERO, ..person })
        }
        Parcel::Thing(mut thing, companions) => {
            match thing.scripts.first_mut() {
                // No script remembers anything that begins like this.
                Some(script) => script.state = vec![9, 9],
                // It moves faster than its body does.
                None => thing.velocity = thing.velocity.saturating_add(metatopia_math::Vec2::X),
            }
            Parcel::Thing(thing, companions)
        }
    }
}
