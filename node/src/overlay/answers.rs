//! What a member says of its world by HTTP, as JSON: who owns a point, and the map. Commands read the
//! same.

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use metatopia_client_driver::NodeUrl;
use metatopia_raynet::{
    LookupAnswer, LookupOutcome, Shelf, SignedSiteRecord, SiteEndpoint, TilePoint,
};
use metatopia_types::{LandGrant, SimId, Square};
use serde::{Deserialize, Serialize};

use super::{MapView, address::SiteAddress, reach::DialBackEntry};

/// Metres of a tile's side.
const TILE_METRES: u32 = 32;

/// Returns bytes in hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// Reads hexadecimal digits; nothing if they are none.
#[must_use]
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()
}

/// What a node says of the world that it takes part in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldAnswer {
    /// The world, in hexadecimal digits.
    pub world: String,
    /// The head of its land office's genesis, whose id is the world's.
    pub office: String,
    /// Changes of the land office's validators, encoded.
    pub links: String,
    /// The heads of the offices that it carries on, as far as they are known, the newest first.
    #[serde(default)]
    pub parents: Vec<String>,
    /// The sim that this node serves.
    pub sim: String,
    /// Where that sim lies; none of a member without a site.
    pub square: Option<SquareEntry>,
    /// This node's own key in the overlay.
    pub member: String,
    /// How many others a session is up with.
    pub up: usize,
    /// Where others may begin.
    pub contacts: Vec<EndpointEntry>,
    /// Servers of the land office that are known.
    pub office_servers: Vec<EndpointEntry>,
    /// The proof of the oldest part of the map that this node has, in hexadecimal digits; empty if it has
    /// none yet. Who joins the world by this node believes nothing older.
    #[serde(default)]
    pub map: String,
}

/// A square of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SquareEntry {
    /// The western edge, in tiles of 32 m.
    pub x: i32,
    /// The southern edge, in tiles of 32 m.
    pub y: i32,
    /// The side, in metres.
    pub side: u32,
}

impl From<Square> for SquareEntry {
    fn from(square: Square) -> Self {
        let tiles = square.side().unwrap_or_default().unsigned_abs();
        Self { x: square.x, y: square.y, side: tiles * TILE_METRES }
    }
}

/// A server that speaks for a site, or a member to begin with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointEntry {
    /// Its key in the overlay.
    pub member: String,
    /// Where the overlay is spoken.
    pub overlay: String,
    /// Where clients are let in.
    pub http: Option<String>,
}

impl From<&SiteEndpoint> for EndpointEntry {
    fn from(endpoint: &SiteEndpoint) -> Self {
        let member = endpoint.peer.to_string();
        match endpoint.address.parse::<SiteAddress>() {
            Ok(SiteAddress { overlay, clients }) => Self {
                member,
                overlay: overlay.to_string(),
                http: clients.map(|url| url.to_string()),
            },
            Err(_) => Self { member, overlay: endpoint.address.clone(), http: None },
        }
    }
}

impl EndpointEntry {
    /// Returns the entry of a server of this sim: one that may host others names it in its address.
    #[must_use]
    pub fn of(endpoint: &SiteEndpoint, sim: SimId) -> Self {
        let entry = Self::from(endpoint);
        let url = entry.http.as_deref().and_then(|http| http.parse::<NodeUrl>().ok());
        Self { http: url.map(|url| url.of(sim).to_string()), ..entry }
    }

    /// Returns the endpoint, if the entry is one.
    #[must_use]
    pub fn endpoint(&self) -> Option<SiteEndpoint> {
        let overlay = self.overlay.parse().ok()?;
        let clients = self.http.as_deref().map(str::parse).transpose().ok()?;
        let address = SiteAddress { overlay, clients }.to_string();
        Some(SiteEndpoint { peer: self.member.parse().ok()?, address })
    }
}

/// The certified state that an answer is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapEntry {
    /// The height of the land office's state.
    pub height: u64,
    /// The office's time then, in milliseconds since 1970.
    pub time: u64,
}

impl From<&Shelf> for MapEntry {
    fn from(shelf: &Shelf) -> Self {
        Self { height: shelf.height.0, time: shelf.time.0 }
    }
}

/// Who owns a point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindAnswer {
    /// The point, in tiles of 32 m.
    pub x: i32,
    /// The same northwards.
    pub y: i32,
    /// `owned`, `nobodys`, `unproved` or `busy`.
    pub outcome: String,
    /// The grant, where the point is owned.
    pub grant: Option<GrantEntry>,
    /// Servers that speak for the owner; none if it is down, or nobody knows.
    pub endpoints: Vec<EndpointEntry>,
    /// The certified state that says so.
    pub map: Option<MapEntry>,
    /// Sites that were asked on the way.
    pub hops: u32,
    /// Ways that were tried.
    pub ways: u32,
    /// How often somebody showed another map.
    pub disagreements: u32,
    /// All who are known are in one network, so one liar may be all that there is.
    pub one_door: bool,
    /// The encoded proof, in hexadecimal digits.
    pub proof: String,
}

impl From<&LookupAnswer> for FindAnswer {
    fn from(answer: &LookupAnswer) -> Self {
        let TilePoint { x, y } = answer.point;
        let (outcome, grant, endpoints) = match &answer.outcome {
            LookupOutcome::Owned { grant, endpoints } => {
                let entry = |endpoint| EndpointEntry::of(endpoint, grant.sim);
                let endpoints = endpoints.iter().map(entry).collect();
                ("owned", Some(GrantEntry::from(&**grant)), endpoints)
            }
            LookupOutcome::Nobodys => ("nobodys", None, Vec::new()),
            LookupOutcome::Unproved => ("unproved", None, Vec::new()),
            LookupOutcome::Busy => ("busy", None, Vec::new()),
        };
        Self {
            x,
            y,
            outcome: outcome.to_owned(),
            grant,
            endpoints,
            map: answer.shelf.as_deref().map(MapEntry::from),
            hops: answer.hops,
            ways: answer.ways,
            disagreements: answer.disagreements,
            one_door: answer.one_door,
            proof: answer.shelf.as_ref().map(|shelf| hex(&shelf.proof)).unwrap_or_default(),
        }
    }
}

/// A square, and who holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantEntry {
    /// The ground that is granted.
    #[serde(flatten)]
    pub square: SquareEntry,
    /// The sim that lies there.
    pub sim: String,
    /// Who may give it away.
    pub holder: String,
    /// Until when, in milliseconds of the land office's governance time; none if it never ends, as that of the
    /// land office itself.
    pub until: Option<u64>,
    /// The newest height of the sim that the land office has seen; 0 if it has seen none.
    pub shown: u64,
}

/// Returns when a grant ends; none if it never does.
#[must_use]
pub fn end_of(grant: &LandGrant) -> Option<u64> {
    Some(grant.until.0).filter(|until| *until != u64::MAX)
}

impl From<&LandGrant> for GrantEntry {
    fn from(grant: &LandGrant) -> Self {
        Self {
            square: grant.square.into(),
            sim: grant.sim.to_string(),
            holder: grant.holder.to_string(),
            until: end_of(grant),
            shown: grant.shown.0,
        }
    }
}

/// The map, as far as a member has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapAnswer {
    /// The world, in hexadecimal digits.
    pub world: String,
    /// All that is granted, in order of the squares.
    pub sites: Vec<MapSite>,
    /// The oldest certified state that a part of the map is from.
    pub oldest: Option<MapEntry>,
    /// The proofs of all parts.
    pub proofs: Vec<String>,
    /// All who are known are in one network, so one liar may be all that there is.
    #[serde(default)]
    pub one_door: bool,
}

/// Whether others reach what a node listens on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReachAnswer {
    /// Each TCP port.
    pub ports: Vec<ReachEntry>,
}

/// A TCP port, and what those say who were asked to dial it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReachEntry {
    /// What listens there: `overlay`, `http` or `servers`.
    pub what: String,
    /// The number of the port.
    pub port: u16,
    /// What each member says; empty if this node knows none.
    pub asked: Vec<DialBackEntry>,
}

/// A square of the map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapSite {
    /// The square, and who holds it.
    #[serde(flatten)]
    pub grant: GrantEntry,
    /// Whether this member has met it.
    pub met: bool,
    /// How many people are there, as its servers say.
    pub people: Option<u32>,
    /// What the sim is called, as its servers say.
    pub label: Option<String>,
    /// The licence of what is built there, as its servers say.
    pub licence: Option<String>,
    /// Servers that speak for it.
    pub endpoints: Vec<EndpointEntry>,
}

impl MapAnswer {
    /// Returns the map that a view is.
    #[must_use]
    pub fn of(world: String, view: &MapView) -> Self {
        let record = |grant: &LandGrant| -> Option<&SignedSiteRecord> {
            view.sites.iter().find(|site| site.record.sim == grant.sim)
        };
        let site = |grant: &LandGrant| {
            let record = record(grant).map(|signed| &signed.record);
            MapSite {
                grant: grant.into(),
                met: record.is_some(),
                people: record.map(|record| record.clients),
                label: record.map(|record| record.about.label.clone()),
                licence: record.map(|record| record.about.licence.clone()),
                endpoints: record
                    .iter()
                    .flat_map(|record| &record.endpoints)
                    .map(|endpoint| EndpointEntry::of(endpoint, grant.sim))
                    .collect(),
            }
        };
        let mut grants: Vec<&LandGrant> =
            view.shelves.iter().flat_map(|shelf| &shelf.grants).collect();
        // Shelves of two ages may both have a square: the newest one says who holds it.
        let newest = |grant: &LandGrant| {
            let point = TilePoint::corner(grant.square);
            let about = view.shelves.iter().filter(|shelf| shelf.block.contains(point));
            let newest = about.max_by_key(|shelf| shelf.height);
            newest.is_some_and(|shelf| shelf.grants.contains(grant))
        };
        grants.retain(|grant| newest(grant));
        grants.sort_by_key(|grant| grant.square);
        grants.dedup();
        Self {
            world,
            sites: grants.into_iter().map(site).collect(),
            oldest: view
                .shelves
                .iter()
                .min_by_key(|shelf| shelf.height)
                .map(|shelf| (&**shelf).into()),
            proofs: view.shelves.iter().map(|shelf| hex(&shelf.proof)).collect(),
            one_door: view.one_door,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_back_and_others_are_none() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(unhex(&hex(&bytes)), Some(bytes));
        assert_eq!(unhex(""), Some(Vec::new()));
        for text in ["0", "0g", "+1", "\u{e9}"] {
            assert_eq!(unhex(text), None, "{text}");
        }
    }

    #[test]
    fn an_endpoint_is_read_back_from_its_entry() {
        let peer = metatopia_types::PublicKey([7; 32]);
        for address in ["/ip4/192.0.2.7/tcp/1 http://192.0.2.7:80", "/ip4/192.0.2.7/tcp/1"] {
            let endpoint = SiteEndpoint { peer, address: address.to_owned() };
            assert_eq!(EndpointEntry::from(&endpoint).endpoint(), Some(endpoint));
        }
    }
}
