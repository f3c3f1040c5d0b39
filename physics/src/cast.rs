//! Which bodies take part in a step.
//!
//! In each substep an impulse gets from a body that moves to those that touch it, and no further.
//! So a step concerns the bodies that do not rest, whatever they can meet, what that can meet, and
//! so on for as many rings as there are substeps. All others are as if they were not there: what
//! rests far from anything that moves costs nothing, and each body and contact comes out as if
//! everybody had taken part.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::ObjectId;

use crate::body::Body;
use crate::broad::{self, Concern, PairKey, concern, pair_key};
use crate::contact::Contact;
use crate::grid::Grid;
use crate::limits::{PARTNERS_MAX, SUBSTEPS};
use crate::matter::Matter;
use crate::solid::{Going, Solid};

#[cfg(test)]
mod tests;

/// With one in so many bodies taking part, it costs less to let all of them.
const SHARE: usize = 8;

/// What a step sees of a region.
pub(crate) struct Ground<'a> {
    /// In id order.
    pub(crate) bodies: &'a [Body],
    /// The matter of each body, at its place.
    pub(crate) matters: &'a [Matter],
    /// In id order.
    pub(crate) contacts: &'a [Contact],
    /// The places of the bodies that do not rest, in order.
    pub(crate) awake: Vec<u32>,
    /// Bodies that are gone since the last step, and left contacts behind.
    pub(crate) gone: &'a [ObjectId],
    pub(crate) grid: &'a Grid,
}

/// Those who take part.
pub(crate) struct Cast {
    /// Their places in the region, in order.
    pub(crate) places: Vec<u32>,
    pub(crate) solids: Vec<Solid>,
    pub(crate) goings: Vec<Going>,
    /// The pairs that are looked at, in order, by places among those who take part.
    pub(crate) keys: Vec<PairKey>,
    /// Whose contacts are made anew, in order; nothing if everybody's are.
    pub(crate) renewed: Option<Vec<ObjectId>>,
}

impl Ground<'_> {
    /// Everybody takes part.
    pub(crate) fn everybody(&self) -> Cast {
        let all = self.bodies.iter().zip(self.matters);
        let (solids, goings): (Vec<_>, Vec<_>) =
            all.map(|(body, matter)| Solid::new(body, matter)).unzip();
        let keys = broad::pairs(&solids);
        Cast { places: (0..solids.len() as u32).collect(), solids, goings, keys, renewed: None }
    }

    /// Those who must take part; nothing if they are so many that everybody might.
    pub(crate) fn few(&self) -> Option<Cast> {
        let most = self.bodies.len() / SHARE;
        if self.awake.len() > most {
            return None;
        }
        let mut scout = Scout { ground: self, met: BTreeMap::new(), along_x: None };
        let mut members: BTreeSet<u32> = self.awake.iter().copied().collect();
        let mut movers = members.clone();
        let mut keys = BTreeSet::new();
        let mut ring = self.awake.clone();
        for _ in 0..SUBSTEPS {
            let mut next = Vec::new();
            for place in ring {
                if members.len() > most {
                    return None;
                }
                for Meeting { other, movable } in scout.meetings(place) {
                    members.insert(other);
                    keys.insert(pair_key(place, other));
                    if movable && movers.insert(other) {
                        next.push(other);
                    }
                }
            }
            ring = next;
        }
        // Those of the last ring may be moved, but nothing follows from it in this step.
        let last: BTreeSet<u32> = ring.into_iter().collect();
        let moving = movers.difference(&last).map(|place| self.bodies[*place as usize].id);
        let mut renewed: Vec<ObjectId> = moving.chain(self.gone.iter().copied()).collect();
        renewed.sort_unstable();
        let places: Vec<u32> = members.into_iter().collect();
        let among = |place: usize| {
            let found = places.binary_search(&(place as u32));
            found.expect("whoever is of a pair takes part") as u32
        };
        let local = |key| {
            let (a, b) = broad::places(key);
            pair_key(among(a), among(b))
        };
        let keys = keys.into_iter().map(local).collect();
        let (solids, goings) = places.iter().map(|place| self.cast(*place)).unzip();
        Some(Cast { solids, goings, keys, renewed: Some(renewed), places })
    }

    fn cast(&self, place: u32) -> (Solid, Going) {
        Solid::new(&self.bodies[place as usize], &self.matters[place as usize])
    }

    fn solid(&self, place: u32) -> Solid {
        self.cast(place).0
    }

    /// The places of the bodies whose boxes meet that of a body, in order.
    fn meeting(&self, place: u32, solid: &Solid) -> Vec<(u32, Solid)> {
        let extent = solid.extent();
        let near = self.grid.around(extent).filter_map(|id| {
            let other = self.bodies.binary_search_by_key(&id, |body| body.id).ok()? as u32;
            let its = self.solid(other);
            (other != place && its.extent().meets(&extent)).then_some((other, its))
        });
        let mut near: Vec<(u32, Solid)> = near.collect();
        near.sort_unstable_by_key(|(place, _)| *place);
        near
    }
}

/// Somebody that a body is looked at with.
#[derive(Clone, Copy)]
struct Meeting {
    other: u32,
    /// Whether the two push each other, and the other one can be pushed.
    movable: bool,
}

/// What is known of the surroundings of a body.
struct Met {
    /// All that its kind is concerned with, whoever of the two the pair counts for.
    all: Vec<Meeting>,
    /// With whom the pair counts for this body, and is one of as many as count: in order.
    counted: Vec<u32>,
}

/// Looks around bodies, around each of them once.
struct Scout<'a> {
    ground: &'a Ground<'a>,
    met: BTreeMap<u32, Met>,
    /// Whether the wide phase sweeps along the x axis.
    along_x: Option<bool>,
}

impl Scout<'_> {
    /// The pairs of a body that a step looks at.
    fn meetings(&mut self, place: u32) -> Vec<Meeting> {
        let all = self.look(place).all.clone();
        let mut pairs = Vec::with_capacity(all.len());
        for meeting in all {
            let counts = |met: &Met, other: u32| met.counted.binary_search(&other).is_ok();
            if counts(self.look(place), meeting.other) || counts(self.look(meeting.other), place) {
                pairs.push(meeting);
            }
        }
        pairs
    }

    fn look(&mut self, place: u32) -> &Met {
        if !self.met.contains_key(&place) {
            let met = self.survey(place);
            self.met.insert(place, met);
        }
        &self.met[&place]
    }

    fn survey(&mut self, place: u32) -> Met {
        let own = self.ground.solid(place);
        let (mut all, mut counted) = (Vec::new(), [const { Vec::new() }; Concern::COUNT]);
        for (other, its) in self.ground.meeting(place, &own) {
            let found = if place < other {
                concern((place, &own), (other, &its))
            } else {
                concern((other, &its), (place, &own))
            };
            let Some((whose, why)) = found else { continue };
            let pushes = !own.sensor && !its.sensor;
            all.push(Meeting { other, movable: pushes && !its.is_braced() });
            if whose == place {
                counted[why as usize].push(other);
            }
        }
        for kind in &mut counted {
            self.cut(place, kind);
        }
        let mut counted = counted.concat();
        counted.sort_unstable();
        Met { all, counted }
    }

    /// Keeps as many partners as count: those that the wide phase comes to first.
    fn cut(&mut self, place: u32, partners: &mut Vec<u32>) {
        if partners.len() <= usize::from(PARTNERS_MAX) {
            return;
        }
        let bodies = self.ground.bodies;
        let along_x = *self
            .along_x
            .get_or_insert_with(|| broad::sweeps_along_x(bodies.iter().map(|body| body.position)));
        let begins = |place: u32| {
            let low = self.ground.solid(place).extent().low;
            (if along_x { low.x.0 } else { low.y.0 }, place)
        };
        let own = begins(place);
        partners.sort_by_cached_key(|other| {
            let other = begins(*other);
            (own.min(other), own.max(other))
        });
        partners.truncate(usize::from(PARTNERS_MAX));
    }
}
