//! Answers to lookups.

use core::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use crate::{LandGrant, Shelf, SiteEndpoint, TilePoint};

/// Who owns a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookupOutcome {
    /// A sim does.
    Owned {
        /// The grant of that sim.
        grant: Box<LandGrant>,
        /// Servers that speak for it; at most
        /// [`LOOKUP_ENDPOINTS_MAX`](crate::limits::LOOKUP_ENDPOINTS_MAX). None if no record of it was
        /// found: it is down, or nobody knows.
        endpoints: Vec<SiteEndpoint>,
    },
    /// Nobody does; that is proved.
    Nobodys,
    /// Nobody showed a certified map that is new enough.
    Unproved,
    /// Too many lookups are under way.
    Busy,
}

/// The answer to a lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupAnswer {
    /// From the question.
    pub id: u64,
    /// The point that was asked for.
    pub point: TilePoint,
    /// Who owns it.
    pub outcome: LookupOutcome,
    /// The proof: the newest shelf of the map about the point. Its time says how old it is.
    pub shelf: Option<Arc<Shelf>>,
    /// Sites that were asked on the way.
    pub hops: u32,
    /// Ways that were tried.
    pub ways: u32,
    /// Whether anybody else than this member showed the map.
    pub is_answered: bool,
    /// How often somebody showed a map that says something else.
    pub disagreements: u32,
    /// All who are known are behind one door, so one liar may be all that there is.
    pub one_door: bool,
}

impl LookupAnswer {
    /// Returns the answer to a lookup that is one too many.
    pub(crate) const fn refused(id: u64, point: TilePoint) -> Self {
        Self {
            id,
            point,
            outcome: LookupOutcome::Busy,
            shelf: None,
            hops: 0,
            ways: 0,
            is_answered: false,
            disagreements: 0,
            one_door: false,
        }
    }
}

/// Returns the door of an address: its first 16 bits for IPv4, its first 32 for IPv6, and all of it
/// when it holds no number.
pub(crate) fn door(address: &str) -> String {
    let of_v4 = |part: &str| {
        part.parse::<Ipv4Addr>().ok().map(|ip| format!("{}.{}", ip.octets()[0], ip.octets()[1]))
    };
    let of_v6 = |part: &str| {
        part.parse::<Ipv6Addr>()
            .ok()
            .map(|ip| format!("{:x}:{:x}", ip.segments()[0], ip.segments()[1]))
    };
    let v4 = address.split(['/', ':']).find_map(of_v4);
    let v6 = || address.split(['/', '[', ']']).find_map(of_v6);
    v4.or_else(v6).unwrap_or_else(|| address.to_owned())
}

#[cfg(test)]
mod tests {
    use super::door;

    #[test]
    fn a_door_is_a_network_that_one_owner_may_have() {
        let doors = [
            "/ip4/10.1.2.3/tcp/1",
            "10.1.9.9:80",
            "/ip6/2001:db8:1::2/tcp/1",
            "[2001:db8:9::1]:80",
            "/dns/a.example/tcp/1",
        ];
        let doors = doors.map(door);
        assert_eq!(doors, ["10.1", "10.1", "2001:db8", "2001:db8", "/dns/a.example/tcp/1"]);
    }
}
