//! Searches a log for two headers of one height that neighbours certified.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_consensus::Record;
use metatopia_replica::keeper::{AGREEMENT, newest_state};
use metatopia_sim::World;
use metatopia_store::{ReadDisk, scan};
use metatopia_types::{
    Act, Blob, BlobId, BorderOrder, Dispatch, Ed25519, GenesisHead, HeaderId, Height, Link, SimId,
    Turn, ValidatorSet, certified, follow, limits::DISPATCH_LINKS_MAX, wire,
};

use super::{TwinBasis, TwinFault, TwinHeader, TwinHeaders};
use crate::{evidence::EvidenceSearchError, read_log::read_log, tools};

/// What a log shows of neighbours that certified two headers of one height.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TwinsFound {
    /// The pairs, by sims and heights.
    pub twins: Vec<TwinHeaders>,
    /// The borders that are closed for good, and for which there is no pair.
    pub lost: Vec<TwinLost>,
}

/// The reason why there is no evidence for a border that is closed for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TwinLost {
    /// The log begins behind a header of the two.
    #[error(
        "sim {neighbour} certified two headers of height {height}, the first of them {header}, and the log no longer \
         holds both: it was pruned; search the log of another server of this sim, or a copy from before"
    )]
    Pruned {
        /// The sim that certified both.
        neighbour: SimId,
        /// The height of both headers.
        height: Height,
        /// The digest of the first, as the state keeps it.
        header: HeaderId,
    },
    /// Both headers are in the log, and nothing tells who voted.
    #[error(
        "the log holds headers of height {height} of sim {neighbour}, and neither it nor its snapshot tells who voted \
         there; search the log of another server of this sim, or a copy from before"
    )]
    Voters {
        /// The sim that certified both.
        neighbour: SimId,
        /// The height of both headers.
        height: Height,
    },
}

/// Searches the log of a sim for two headers of one height that a neighbour certified. Its server may run
/// meanwhile. `skipped` learns why a snapshot could not be used.
///
/// # Errors
/// When the log cannot be read.
pub fn search_twins(
    disk: &dyn ReadDisk,
    sim: SimId,
    skipped: &mut dyn FnMut(&str),
) -> Result<TwinsFound, EvidenceSearchError> {
    read_log(disk, || search_once(disk, sim, skipped), Result::is_ok)
}

fn search_once(
    disk: &dyn ReadDisk,
    sim: SimId,
    skipped: &mut dyn FnMut(&str),
) -> Result<TwinsFound, EvidenceSearchError> {
    let (state, passed_over) = newest_state(disk, &tools());
    passed_over.iter().for_each(|why| skipped(&why.to_string()));
    let mut search = TwinSearch::default();
    if let Some((_, world)) = &state {
        search.begin(world);
    }
    // A long log holds many headers and few twins, so only digests are kept at first.
    each_turn(disk, sim, |turn| search.note(turn))?;
    if !search.suspected.is_empty() {
        each_turn(disk, sim, |turn| search.collect(turn))?;
    }
    Ok(search.finish())
}

/// Hands over each turn that is in a log.
fn each_turn(
    disk: &dyn ReadDisk,
    sim: SimId,
    mut take: impl FnMut(&Turn),
) -> Result<(), EvidenceSearchError> {
    for record in scan(disk, sim)?.index.iter(disk) {
        let record = record?;
        if record.kind == AGREEMENT
            && let Record::Turn(turn) = Record::decode(&record.payload)?
        {
            take(&turn);
        }
    }
    Ok(())
}

/// A height of a neighbour.
type NeighbourHeight = (SimId, Height);

/// The search, as far as the log was read.
#[derive(Debug, Default)]
pub(super) struct TwinSearch {
    /// The first header of each height that was seen.
    seen: BTreeMap<NeighbourHeight, HeaderId>,
    /// The heights of which there seem to be two.
    suspected: BTreeSet<NeighbourHeight>,
    /// All headers of these heights, each once, by their bytes.
    headers: BTreeMap<NeighbourHeight, BTreeMap<Vec<u8>, TwinHeader>>,
    pub(super) heads: BTreeMap<SimId, GenesisHead>,
    links: BTreeMap<SimId, BTreeMap<(Height, Vec<u8>), Link>>,
    /// Who votes in neighbours, as a snapshot has it.
    pub(super) given: BTreeMap<SimId, TwinBasis>,
    /// The borders that are closed for good in that snapshot, with the header that was heard first.
    closed: BTreeMap<SimId, (Height, HeaderId)>,
}

/// The set changes of a neighbour that follow from a basis, each with who votes after it. A liar may bring any
/// number of others into a log, so all of them are gone through once and not for each height.
#[derive(Debug)]
struct FollowedLinks {
    after: Height,
    members: ValidatorSet,
    links: Vec<(Link, ValidatorSet)>,
}

impl FollowedLinks {
    /// Returns who votes at a height, with the set changes that lead there; nothing if the basis is past it.
    fn at(&self, height: Height) -> Option<(Vec<Link>, &ValidatorSet)> {
        if self.after >= height {
            return None;
        }
        let before = self.links.partition_point(|(link, _)| link.header.height < height);
        let (links, sets): (Vec<Link>, Vec<&ValidatorSet>) =
            self.links[..before].iter().map(|(link, set)| (link.clone(), set)).unzip();
        Some((links, sets.last().copied().unwrap_or(&self.members)))
    }
}

impl TwinSearch {
    /// Takes what a state knows of the neighbours.
    pub(super) fn begin(&mut self, world: &World) {
        for neighbour in world.borders().into_iter().map(|border| border.neighbour) {
            let Some(border) = world.border(&neighbour) else { continue };
            let (after, members) = (border.followed, border.validators.clone());
            self.given.insert(neighbour, TwinBasis::Given { after, members });
            let Some(heard) = &border.crossing.heard else { continue };
            self.seen.insert((neighbour, heard.proved_at), heard.header);
            if border.frozen {
                self.closed.insert(neighbour, (heard.proved_at, heard.header));
                self.suspected.insert((neighbour, heard.proved_at));
            }
        }
    }

    pub(super) fn note(&mut self, turn: &Turn) {
        for act in turn.body.acts() {
            match &act.envelope.act {
                Act::Border { order } => self.order(turn, *order),
                Act::Hear { neighbour, dispatch } => {
                    // Of a sim that nobody opened a border to nothing is ever believed.
                    let is_known =
                        self.heads.contains_key(neighbour) || self.given.contains_key(neighbour);
                    let Some(dispatch) = heard(turn, *dispatch).filter(|_| is_known) else {
                        continue;
                    };
                    self.hear(*neighbour, dispatch);
                }
                _ => {}
            }
        }
    }

    fn order(&mut self, turn: &Turn, order: BlobId) {
        let opened = blob(turn, order).and_then(|blob| BorderOrder::decode(&blob.0).ok());
        if let Some(BorderOrder::Open { head, .. }) = opened {
            self.heads.insert(head.id(), *head);
        }
    }

    fn hear(&mut self, neighbour: SimId, dispatch: Dispatch) {
        for twin in certified_headers(&dispatch) {
            let place = (neighbour, twin.header.height);
            let id = twin.header.id();
            if *self.seen.entry(place).or_insert(id) != id {
                self.suspected.insert(place);
            }
        }
        let links = self.links.entry(neighbour).or_default();
        for link in dispatch.links {
            links.insert((link.header.height, wire::encode(&link)), link);
        }
    }

    pub(super) fn collect(&mut self, turn: &Turn) {
        for act in turn.body.acts() {
            let Act::Hear { neighbour, dispatch } = &act.envelope.act else { continue };
            for twin in heard(turn, *dispatch).iter().flat_map(certified_headers) {
                let place = (*neighbour, twin.header.height);
                if self.suspected.contains(&place) {
                    let bytes = wire::encode(&(&twin.header, &twin.certificate));
                    self.headers.entry(place).or_default().insert(bytes, twin);
                }
            }
        }
    }

    /// Returns the pairs that hold, and what is lost.
    pub(super) fn finish(self) -> TwinsFound {
        let mut found = TwinsFound::default();
        let sims: BTreeSet<SimId> = self.headers.keys().map(|(sim, _)| *sim).collect();
        for sim in sims {
            let head = self.heads.get(&sim).map(|head| TwinBasis::Head(Box::new(head.clone())));
            let mut bases = head.into_iter().chain(self.given.get(&sim).cloned());
            found.twins.extend(bases.find_map(|basis| self.pair(sim, &basis)));
        }
        for (neighbour, (height, header)) in &self.closed {
            let (neighbour, height, header) = (*neighbour, *height, *header);
            let is_of = |twins: &TwinHeaders| {
                twins.sim == neighbour && twins.headers[0].header.height == height
            };
            if found.twins.iter().any(is_of) {
                continue;
            }
            let kept = self.headers.get(&(neighbour, height));
            let ids: BTreeSet<_> =
                kept.into_iter().flat_map(BTreeMap::values).map(|twin| twin.header.id()).collect();
            let is_whole = ids.len() > 1 && ids.contains(&header);
            found.lost.push(match is_whole {
                true => TwinLost::Voters { neighbour, height },
                false => TwinLost::Pruned { neighbour, height, header },
            });
        }
        found.lost.extend(self.behind_snapshot(&found));
        found
    }

    /// Returns the lowest pair of headers that those certified who vote by a basis: one is enough, and a sim whose
    /// servers all lie makes any number. What was refused is in the log as well, so each signature is checked.
    fn pair(&self, sim: SimId, basis: &TwinBasis) -> Option<TwinHeaders> {
        let chain = self.followed(sim, basis).ok()?;
        let mut heights = self.headers.iter().filter(|((of, _), _)| *of == sim);
        heights.find_map(|((_, height), headers)| {
            let (links, set) = chain.at(*height)?;
            let mut good = headers.values().filter(|TwinHeader { header, certificate }| {
                certified(sim, header, certificate, set, &Ed25519).is_ok()
            });
            let first = good.next()?;
            let other = good.find(|other| other.header != first.header)?;
            let headers = [first.clone(), other.clone()];
            Some(TwinHeaders { sim, basis: basis.clone(), links, headers })
        })
    }

    /// Returns the set changes of a neighbour that follow from a basis.
    fn followed(&self, sim: SimId, basis: &TwinBasis) -> Result<FollowedLinks, TwinFault> {
        let (after, members) = basis.voters(sim)?;
        let (mut before, mut set) = (after, members.clone());
        let mut links = Vec::new();
        for link in self.links.get(&sim).into_iter().flat_map(BTreeMap::values) {
            let at = link.header.height;
            if at <= before {
                continue;
            }
            if let Ok(next) = follow([link], sim, (before, &set), at.plus(1), &Ed25519) {
                (before, set) = (at, next.clone());
                links.push((link.clone(), next));
            }
        }
        Ok(FollowedLinks { after, members, links })
    }

    /// Returns the heights of which the snapshot knows one header, and the log another one that is certified.
    fn behind_snapshot(&self, found: &TwinsFound) -> Vec<TwinLost> {
        let mut lost = Vec::new();
        for (place, headers) in &self.headers {
            let (neighbour, height) = *place;
            let Some(header) = self.seen.get(place).copied() else { continue };
            let is_told = self.closed.contains_key(&neighbour)
                || found.twins.iter().any(|twins| twins.sim == neighbour);
            let has_first = headers.values().any(|twin| twin.header.id() == header);
            let basis = self.given.get(&neighbour).filter(|_| !is_told && !has_first);
            let Some(Ok(chain)) = basis.map(|basis| self.followed(neighbour, basis)) else {
                continue;
            };
            let Some((_, set)) = chain.at(height) else { continue };
            let is_certified = |twin: &TwinHeader| {
                certified(neighbour, &twin.header, &twin.certificate, set, &Ed25519).is_ok()
            };
            if headers.values().any(is_certified) {
                lost.push(TwinLost::Pruned { neighbour, height, header });
            }
        }
        lost
    }
}

fn blob(turn: &Turn, id: BlobId) -> Option<&Blob> {
    turn.body.blobs().iter().find(|blob| blob.id() == id)
}

/// Returns the dispatch that a turn brings, if its blob is one.
fn heard(turn: &Turn, id: BlobId) -> Option<Dispatch> {
    let dispatch = Dispatch::decode(&blob(turn, id)?.0).ok()?;
    // No server believes a longer one.
    (dispatch.links.len() <= DISPATCH_LINKS_MAX).then_some(dispatch)
}

/// Returns the headers of a dispatch that come with a certificate.
fn certified_headers(dispatch: &Dispatch) -> impl Iterator<Item = TwinHeader> {
    let links = dispatch.links.iter().map(|link| (&link.header, &link.certificate));
    let state = dispatch.state.iter().map(|state| (&state.header, &state.certificate));
    links.chain(state).map(|(header, certificate)| TwinHeader {
        header: header.clone(),
        certificate: certificate.clone(),
    })
}
