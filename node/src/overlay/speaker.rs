//! The record of the own site: which servers speak for it, how many people are there, signed by a beacon.

use std::{fmt, sync::Arc, time::Duration};

use metatopia_raynet::{
    LandGrant, SignedSiteRecord, SiteAbout, SiteEndpoint, SiteEpoch, SiteRecord, TilePoint,
    limits::SITE_ENDPOINTS_MAX,
};
use metatopia_types::{Millis, Now, Sign as _, SigningKey, SimId, Square};

/// The time between two records where nothing changed. Each is told to all who know the site.
const AT_REST: Duration = Duration::from_secs(600);

/// The time between two records where the number of people changed.
const CHANGED: Duration = Duration::from_secs(60);

/// How long a record is good: half of what others take at most, so that clocks may differ.
const LIFE_MS: u64 = 12 * 3_600_000;

/// Says how many people are in the sim.
pub type CountClients = Arc<dyn Fn() -> u32 + Send + Sync>;

/// Speaks for a site, by a beacon of its grant.
pub struct SiteSpeaker {
    /// The world of the site.
    pub world: SimId,
    /// The sim that it is.
    pub sim: SimId,
    /// The ground that it lies on.
    pub square: Square,
    /// The servers that speak for it.
    pub endpoints: Vec<SiteEndpoint>,
    /// What people read about it.
    pub about: SiteAbout,
    /// The key that signs.
    pub beacon: SigningKey,
    /// Counts the people there.
    pub clients: CountClients,
    last: Option<SpokenRecord>,
    /// The epoch of the grant that names other beacons, once its operator was told.
    told: Option<u64>,
}

/// Returns the endpoints that a server names in the record of its site: itself, then followers that let
/// people in for the sim, then other servers, each once and as many as a record holds.
pub(super) fn endpoints_of(
    own: SiteEndpoint,
    followers: Vec<SiteEndpoint>,
    servers: Vec<SiteEndpoint>,
) -> Vec<SiteEndpoint> {
    let mut endpoints = vec![own];
    for other in followers.into_iter().chain(servers) {
        let is_new = endpoints.iter().all(|known| known.peer != other.peer);
        if is_new && endpoints.len() < SITE_ENDPOINTS_MAX {
            endpoints.push(other);
        }
    }
    endpoints
}

/// What was said last, and when.
#[derive(Debug)]
struct SpokenRecord {
    at: Duration,
    grant: u64,
    record: u64,
    clients: u32,
}

impl fmt::Debug for SiteSpeaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SiteSpeaker of {} by {}", self.sim, self.beacon.public())
    }
}

impl SiteSpeaker {
    /// Returns a speaker for a site that has said nothing yet.
    ///
    /// # Panics
    /// When a site has no endpoint, or more than a record holds.
    #[must_use]
    pub fn new(
        (world, sim, square): (SimId, SimId, Square),
        endpoints: Vec<SiteEndpoint>,
        about: SiteAbout,
        beacon: SigningKey,
        clients: CountClients,
    ) -> Self {
        assert!(
            (1..=SITE_ENDPOINTS_MAX).contains(&endpoints.len()),
            "{} endpoints",
            endpoints.len()
        );
        Self { world, sim, square, endpoints, about, beacon, clients, last: None, told: None }
    }

    /// Returns the corner of the site's square.
    #[must_use]
    pub const fn corner(&self) -> TilePoint {
        TilePoint { x: self.square.x, y: self.square.y }
    }

    /// Returns a new record if one is due, under the grant that the map has for the square. Where that is
    /// another sim's, or names other beacons, nothing is said.
    pub fn speak(&mut self, now: Now, grant: Option<&LandGrant>) -> Option<SignedSiteRecord> {
        let grant = grant.filter(|grant| grant.sim == self.sim && grant.square == self.square)?;
        if let Some(doubt) = self.doubt(grant) {
            tracing::warn!("{doubt}");
        }
        if !grant.beacons.contains(&self.beacon.public()) {
            return None;
        }
        let clients = (self.clients)();
        let is_due = self.last.as_ref().is_none_or(|last| {
            let age = now.monotonic.saturating_sub(last.at);
            last.grant != grant.epoch || age >= AT_REST || age >= CHANGED && last.clients != clients
        });
        if !is_due {
            return None;
        }
        let record = self.number(now.wall, grant);
        self.last = Some(SpokenRecord { at: now.monotonic, grant: grant.epoch, record, clients });
        let record = SiteRecord {
            world: self.world,
            sim: self.sim,
            square: self.square,
            endpoints: self.endpoints.clone(),
            clients,
            about: self.about.clone(),
            epoch: SiteEpoch { grant: grant.epoch, record },
            expires: Millis(now.wall.0.saturating_add(LIFE_MS)),
        };
        Some(record.sign(&self.beacon))
    }

    /// Returns what the operator is told, once for each grant, if that does not name this server's beacon. Nobody
    /// finds the site then, if no other server speaks for it.
    fn doubt(&mut self, grant: &LandGrant) -> Option<String> {
        let own = self.beacon.public();
        if grant.beacons.contains(&own) || self.told == Some(grant.epoch) {
            return None;
        }
        self.told = Some(grant.epoch);
        let named: Vec<String> = grant.beacons.iter().map(ToString::to_string).collect();
        let (square, named) = (grant.square, named.join(", "));
        Some(format!(
            "square {square} of this sim has the beacons {named}, and this server's overlay/beacon.key is \
             {own}: nothing that it says of the sim counts in the world; its holder {} names the keys anew \
             by `metatopia world beacons {square} --of DIR --key FILE`",
            grant.holder
        ))
    }

    /// Returns the number of the next record. A site makes one record for each number, though each of its
    /// servers makes records: so a number names the server by its last digit to the base four, and the
    /// rest is the time.
    fn number(&self, wall: Millis, grant: &LandGrant) -> u64 {
        let beacon = self.beacon.public();
        let place = grant.beacons.iter().position(|other| *other == beacon).unwrap_or_default();
        let number = wall.0.saturating_mul(SITE_ENDPOINTS_MAX as u64) + place as u64;
        let next = |last: &SpokenRecord| last.record + SITE_ENDPOINTS_MAX as u64;
        number.max(self.last.as_ref().map_or(0, next))
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Digest, Ed25519};

    use super::*;

    fn key(n: u8) -> SigningKey {
        SigningKey::from_seed([n; 32])
    }

    fn at(seconds: u64) -> Now {
        Now { monotonic: Duration::from_secs(seconds), wall: Millis(1_000_000) }
    }

    fn site() -> (SiteSpeaker, LandGrant) {
        let sim = SimId(Digest::of("a test", b"sim"));
        let square = Square { x: 4, y: -2, doublings: 0 };
        let endpoint = SiteEndpoint { peer: key(9).public(), address: "/ip4/1.2.3.4/tcp/1".into() };
        let grant = LandGrant {
            square,
            sim,
            holder: key(1).public(),
            beacons: vec![key(2).public(), key(3).public()],
            epoch: 7,
            until: Millis(u64::MAX),
            shown: metatopia_types::Height(0),
        };
        let world = SimId(Digest::of("a test", b"world"));
        let about = SiteAbout { label: "a place".to_owned(), licence: "CC0-1.0".to_owned() };
        let speaker =
            SiteSpeaker::new((world, sim, square), vec![endpoint], about, key(3), Arc::new(|| 5));
        (speaker, grant)
    }

    #[test]
    fn a_record_holds_against_the_grant_that_it_was_made_for_and_comes_seldom() {
        let (mut speaker, grant) = site();
        let said = speaker.speak(at(1), Some(&grant)).unwrap();
        assert_eq!(said.check_form(speaker.world, at(1).wall), Ok(()));
        assert_eq!(said.check_grant(Some(&grant), &Ed25519), Ok(()));
        assert_eq!((said.record.clients, said.record.epoch.grant), (5, 7));

        assert_eq!(speaker.speak(at(60), Some(&grant)), None, "nothing changed");
        speaker.clients = Arc::new(|| 6);
        assert!(speaker.speak(at(62), Some(&grant)).is_some(), "somebody came");
        let later = speaker.speak(at(662), Some(&grant)).unwrap();
        // The wall clock stands still in this test, and each record has a number of its own.
        assert!(later.record.epoch > said.record.epoch);
        let newer = LandGrant { epoch: 8, ..grant };
        let told = speaker.speak(at(663), Some(&newer)).unwrap();
        assert_eq!(told.record.epoch.grant, 8);
    }

    #[test]
    fn two_servers_of_a_site_never_make_two_records_of_one_number() {
        let (mut first, grant) = site();
        let (mut second, _) = site();
        second.beacon = key(2);
        let numbers = [&mut first, &mut second]
            .map(|speaker| speaker.speak(at(1), Some(&grant)).unwrap().record.epoch.record);
        assert_ne!(numbers[0], numbers[1]);
    }

    #[test]
    fn nothing_is_said_of_land_that_is_another_ones_or_by_a_key_that_is_no_beacon() {
        let (mut speaker, grant) = site();
        assert_eq!(speaker.speak(at(1), None), None);
        let other = LandGrant { sim: speaker.world, ..grant.clone() };
        assert_eq!(speaker.speak(at(1), Some(&other)), None);
        let other = LandGrant { beacons: vec![key(2).public()], ..grant };
        assert_eq!(speaker.speak(at(1), Some(&other)), None);
    }

    /// A site whose keys were exchanged was on no map, and nobody was told why.
    #[test]
    fn an_operator_is_told_once_that_a_grant_names_other_beacons() {
        let (mut speaker, grant) = site();
        assert_eq!(speaker.doubt(&grant), None);
        let other = LandGrant { beacons: vec![key(2).public()], ..grant };
        let told = speaker.doubt(&other).unwrap();
        let own = key(3).public().to_string();
        assert!(told.contains(&own) && told.contains(&key(2).public().to_string()), "{told}");
        assert!(told.contains("metatopia world beacons 4:-2:64 --of DIR"), "{told}");
        assert_eq!(speaker.doubt(&other), None, "told already");
        assert!(speaker.doubt(&LandGrant { epoch: 8, ..other }).is_some());
    }

    #[test]
    fn followers_are_named_before_other_servers_and_nobody_twice() {
        let at = |n: u8| SiteEndpoint {
            peer: SigningKey::from_seed([n; 32]).public(),
            address: format!("/ip4/192.0.2.{n}/tcp/1"),
        };
        let named =
            endpoints_of(at(1), vec![at(9), at(1)], vec![at(1), at(2), at(9), at(3), at(4)]);
        assert_eq!(named, [at(1), at(9), at(2), at(3)]);
        assert_eq!(named.len(), SITE_ENDPOINTS_MAX);
        assert_eq!(endpoints_of(at(1), Vec::new(), Vec::new()), [at(1)]);
    }
}
