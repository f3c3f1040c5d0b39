//! What the text client needs of the commands about worlds: the map, who owns a point, and house rules.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use metatopia_client::{BlockList, BuddyList, OwnProfile};
use metatopia_client_driver::{ClientDriver, GenesisTrust, NodeUrl, passing_key};
use metatopia_text_client::{FromWorld, KnownMap, KnownOwner, KnownSim, WorldDesk};
use metatopia_types::{Digest, LandGrant, PublicKey, Sign, SigningKey, SimId, TilePoint};

use super::{
    find::by_learned,
    learned::{CheckedFind, LearnedWorld, age_of, asked_map},
    map::{listed, prove_all},
};
use crate::{
    cli::{
        beside_key::{self, KeptLists},
        failure::Failure,
        house_rules,
    },
    overlay::answers::{EndpointEntry, MapAnswer, MapSite},
};

/// The time that a node has for one answer about the state of its sim.
const ANSWER: Duration = Duration::from_secs(10);

/// What a person's client keeps beside her key.
#[derive(Debug, Default)]
pub(in crate::cli) struct KeptByClient {
    lists: KeptLists,
    profile: Option<OwnProfile>,
}

impl KeptByClient {
    /// Reads what lies beside a file of this key.
    ///
    /// # Errors
    /// When a file cannot be read, is spoilt, or is of somebody else.
    pub(in crate::cli) fn load(key: &Path, public: PublicKey) -> Result<Self, Failure> {
        let lists = KeptLists::load(key, public)?;
        Ok(Self { lists, profile: beside_key::profile(key)? })
    }
}

/// Asks nodes about a world, and proves what they say.
#[derive(Debug)]
pub(in crate::cli) struct TravelDesk {
    /// Whether the person agrees to all house rules, as an argument of the program says.
    accepts: bool,
    /// House rules that were agreed to since the program started.
    agreed: RefCell<BTreeSet<Digest>>,
    /// The person's key file, beside which the others lie.
    path: PathBuf,
    /// Her key, which signs her lists.
    key: Arc<SigningKey>,
    /// What lies beside it.
    kept: RefCell<KeptByClient>,
    /// The sim in which the session begins. Who travelled has a node that names its sim.
    sim: SimId,
}

impl TravelDesk {
    /// Returns the desk of a person with this key in this file, and what lies beside it, in this sim.
    pub(in crate::cli) fn new(
        accepts: bool,
        (path, key): (PathBuf, Arc<SigningKey>),
        kept: KeptByClient,
        sim: SimId,
    ) -> Self {
        Self { accepts, agreed: RefCell::default(), path, key, kept: RefCell::new(kept), sim }
    }

    /// Learns the world of the person's sim of one of its nodes.
    ///
    /// # Errors
    /// When the node takes part in another world than the one in which the sim was founded, and the state of
    /// the sim does not prove that it lies there by now.
    async fn learn(&self, node: &NodeUrl, founded: SimId) -> Result<LearnedWorld, Failure> {
        let learned = LearnedWorld::from(node, None).await?;
        let told = learned.sets.world();
        let sim = node.sim().unwrap_or(self.sim);
        if told != founded && proven_world(node, sim).await? != Some(told) {
            return Err(Failure::unverified(format!(
                "{node} takes part in world {told}, and the state of the sim does not prove \
                 that the sim lies there"
            )));
        }
        Ok(learned)
    }
}

impl WorldDesk for TravelDesk {
    fn map(&self, node: NodeUrl, world: SimId) -> FromWorld<'_, KnownMap> {
        Box::pin(async move {
            let map = async { known_map(&node, self.learn(&node, world).await?).await };
            map.await.map_err(|failure: Failure| failure.message)
        })
    }

    fn owner(&self, node: NodeUrl, world: SimId, point: TilePoint) -> FromWorld<'_, KnownOwner> {
        Box::pin(async move {
            let found = async { by_learned(&node, &self.learn(&node, world).await?, point).await };
            let found: Result<CheckedFind, Failure> = found.await;
            let found = found.map_err(|failure| failure.message)?;
            let map = found.freshness();
            let CheckedFind { answer, grant, .. } = found;
            let sim = grant.map(|grant| KnownSim {
                is_met: !answer.endpoints.is_empty(),
                servers: servers(&answer.endpoints, grant.sim),
                ..known(&grant)
            });
            Ok(KnownOwner { sim, map })
        })
    }

    fn has_agreed(&self, rules: Digest) -> bool {
        self.accepts
            || self.agreed.borrow().contains(&rules)
            || house_rules::is_agreed(rules, &self.key.public())
    }

    fn agree(&self, rules: Digest) {
        self.agreed.borrow_mut().insert(rules);
        // Where it cannot be kept, the person is asked again next time.
        let _asked_again = house_rules::keep(rules, &self.key.public());
    }

    fn blocked(&self) -> BlockList {
        self.kept.borrow().lists.blocked.clone()
    }

    fn keep_blocked(&self, blocked: &BlockList) -> Result<(), String> {
        let kept = beside_key::keep_blocks(&self.path, blocked, &*self.key);
        kept.map_err(|error| error.to_string())
    }

    fn buddies(&self) -> BuddyList {
        self.kept.borrow().lists.buddies.clone()
    }

    fn keep_buddies(&self, buddies: &BuddyList) -> Result<(), String> {
        let kept = beside_key::keep_buddies(&self.path, buddies, &*self.key);
        kept.map_err(|error| error.to_string())
    }

    fn profile(&self) -> Option<OwnProfile> {
        self.kept.borrow().profile.clone()
    }

    fn keep_profile(&self, profile: &OwnProfile) -> Result<(), String> {
        self.kept.borrow_mut().profile = Some(profile.clone());
        beside_key::keep_profile(&self.path, profile).map_err(|error| error.to_string())
    }

    fn read_picture(&self, file: &str) -> Result<Vec<u8>, String> {
        beside_key::picture(Path::new(file)).map_err(|failure| failure.message)
    }
}

/// Returns the world that a sim lies in, as a certified state of it says.
async fn proven_world(node: &NodeUrl, sim: SimId) -> Result<Option<SimId>, Failure> {
    let nodes = vec![node.of(sim)];
    let trust = GenesisTrust::learn_from(&nodes, Some(sim)).await?;
    let mut driver = ClientDriver::open(nodes, trust, passing_key()).await?;
    let charter = driver.prove_charter(ANSWER).await;
    driver.leave().await;
    let (_, charter) = charter?;
    Ok(charter.site.map(|site| site.world))
}

/// Asks a node for the map of its world, and proves all of it.
async fn known_map(node: &NodeUrl, learned: LearnedWorld) -> Result<KnownMap, Failure> {
    let answer = asked_map(node).await?;
    let proved = prove_all(&learned.sets, &answer)?;
    let MapAnswer { sites, one_door, .. } = answer;
    let sites = listed(&proved, sites)?;
    let sim = |(site, grant): (&MapSite, &LandGrant)| KnownSim {
        name: site.label.clone(),
        people: site.people,
        licence: site.licence.clone(),
        is_met: site.met,
        servers: servers(&site.endpoints, grant.sim),
        ..known(grant)
    };
    let sims = sites.iter().zip(&proved.grants).map(sim).collect();
    Ok(KnownMap { sims, age: proved.oldest.map(age_of), one_door })
}

/// Returns a sim of which only the grant is known.
const fn known(grant: &LandGrant) -> KnownSim {
    KnownSim {
        sim: grant.sim,
        square: grant.square,
        holder: grant.holder,
        name: None,
        people: None,
        licence: None,
        is_met: false,
        servers: Vec::new(),
    }
}

/// Returns where the servers of a sim let people in.
pub(super) fn servers(endpoints: &[EndpointEntry], sim: SimId) -> Vec<NodeUrl> {
    let url = |entry: &EndpointEntry| entry.http.as_deref()?.parse::<NodeUrl>().ok();
    endpoints.iter().filter_map(url).map(|url| url.of(sim)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_without_a_way_in_are_left_out_and_others_name_the_sim() {
        let sim = SimId(Digest([7; 32]));
        let entry = |http: Option<&str>| EndpointEntry {
            member: String::new(),
            overlay: "/ip4/192.0.2.7/tcp/8083".to_owned(),
            http: http.map(str::to_owned),
        };
        let entries = [entry(None), entry(Some("here")), entry(Some("http://192.0.2.7:8080"))];
        let expected: NodeUrl = "http://192.0.2.7:8080".parse().unwrap();
        assert_eq!(servers(&entries, sim), [expected.of(sim)]);
    }

    #[test]
    fn house_rules_are_agreed_to_once_or_by_an_argument() {
        let rules = Digest([0x5e; 32]);
        let desk = |accepts| {
            let sim = SimId(Digest::ZERO);
            let key = (PathBuf::new(), Arc::new(SigningKey::from_seed([1; 32])));
            TravelDesk::new(accepts, key, KeptByClient::default(), sim)
        };
        assert!(desk(true).has_agreed(rules));
        let desk = desk(false);
        assert!(!desk.has_agreed(rules));
        desk.agreed.borrow_mut().insert(rules);
        assert!(desk.has_agreed(rules));
    }
}
