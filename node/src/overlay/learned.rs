//! What is learned of a world by the address of one of its nodes, and checked.

use metatopia_client_driver::{HttpError, NodeUrl, http};
use metatopia_types::{GenesisHead, Height, Link, SimId, wire};

use super::{
    OfficeSets, OverlayFolder,
    answers::{EndpointEntry, WorldAnswer, unhex},
    folder::{HEAD_BYTES_MAX, OverlayFolderError},
};

/// The most bytes of links that are read: what an answer by HTTP may have.
const LINKS_BYTES_MAX: usize = 1 << 20;

/// A world as one of its nodes tells of it. Its land office is checked; contacts are worth a try.
#[derive(Debug)]
pub struct LearnedWorld {
    /// What the node said.
    pub answer: WorldAnswer,
    /// The land office, whose head has the id of the world.
    pub sets: OfficeSets,
    /// The heads of the offices that this one carries on, as far as the node has them, the newest first: each
    /// has the id that the one after it names as its parent.
    pub parents: Vec<GenesisHead>,
    /// The height of the map that it showed; 0 if it has none yet.
    pub map_from: Height,
}

/// Reads the heads of the offices that an office carries on, the newest first; nothing if it does not.
fn parents(office: &GenesisHead, told: &[String]) -> Option<Vec<GenesisHead>> {
    let (mut heads, mut parent) = (Vec::new(), office.parent);
    for text in told {
        let head: GenesisHead = wire::decode(&unhex(text)?, HEAD_BYTES_MAX).ok()?;
        if head.id() != parent?.sim {
            return None;
        }
        parent = head.parent;
        heads.push(head);
    }
    Some(heads)
}

/// Says why nothing is learned of a world by a node.
#[derive(Debug, thiserror::Error)]
pub enum LearnWorldError {
    /// The node does not answer, or takes part in no world.
    #[error("{node} {source}")]
    Unanswered {
        /// Who was asked.
        node: NodeUrl,
        /// What came of it.
        source: HttpError,
    },
    /// The node takes part in another world.
    #[error("{node} takes part in world {told}, not in {world}")]
    OtherWorld {
        /// Who was asked.
        node: NodeUrl,
        /// The world that was meant.
        world: SimId,
        /// The world that it takes part in.
        told: SimId,
    },
    /// What the node tells is not so.
    #[error("{node} tells {what}")]
    NotSo {
        /// Who was asked.
        node: NodeUrl,
        /// What is wrong.
        what: String,
    },
}

impl LearnedWorld {
    /// Asks a node which world it takes part in, and checks the land office.
    ///
    /// # Errors
    /// When it does not answer, takes part in none or in another one, or tells what is not so.
    pub async fn from(node: &NodeUrl, world: Option<SimId>) -> Result<Self, LearnWorldError> {
        let answer: Result<WorldAnswer, HttpError> = http::get(node.join("/api/world")).await;
        let unanswered = |source| LearnWorldError::Unanswered { node: node.clone(), source };
        Self::check(node, answer.map_err(unanswered)?, world)
    }

    /// Checks what a node told.
    fn check(
        node: &NodeUrl,
        answer: WorldAnswer,
        world: Option<SimId>,
    ) -> Result<Self, LearnWorldError> {
        let not_so =
            |what: &str| LearnWorldError::NotSo { node: node.clone(), what: what.to_owned() };
        let told: SimId = answer.world.parse().map_err(|_| not_so("no id of a world"))?;
        if let Some(world) = world.filter(|world| *world != told) {
            return Err(LearnWorldError::OtherWorld { node: node.clone(), world, told });
        }
        let head: GenesisHead = unhex(&answer.office)
            .and_then(|bytes| wire::decode(&bytes, HEAD_BYTES_MAX).ok())
            .ok_or_else(|| not_so("no head of a land office"))?;
        let sets = OfficeSets::new(told, head).map_err(|error| not_so(&error.to_string()))?;
        let links: Vec<Link> = unhex(&answer.links)
            .and_then(|bytes| wire::decode(&bytes, LINKS_BYTES_MAX).ok())
            .ok_or_else(|| not_so("changes of validators that are none"))?;
        sets.follow(&links).map_err(|error| not_so(&error.to_string()))?;
        let parents = parents(sets.head(), &answer.parents)
            .ok_or_else(|| not_so("heads of offices that its own does not carry on"))?;
        let map_from = if answer.map.is_empty() {
            Height(0)
        } else {
            let proof =
                unhex(&answer.map).ok_or_else(|| not_so("a map that is no text of bytes"))?;
            sets.prove(&proof)
                .map_err(|error| not_so(&format!("a map without proof: {error}")))?
                .height
        };
        Ok(Self { answer, sets, parents, map_from })
    }

    /// Returns where the servers of the land office let clients in, as far as that node knows.
    #[must_use]
    pub fn office_urls(&self) -> Vec<NodeUrl> {
        let servers = self.answer.office_servers.iter();
        servers.filter_map(|server| server.http.as_deref()?.parse().ok()).collect()
    }

    /// Writes what a member needs into its folder. The head of the land office comes last: a world is kept
    /// once that is there.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn keep(&self, folder: &OverlayFolder) -> Result<(), OverlayFolderError> {
        for (file, entries) in [
            (folder.contacts(), &self.answer.contacts),
            (folder.office_servers(), &self.answer.office_servers),
        ] {
            let endpoints: Vec<_> = entries.iter().filter_map(EndpointEntry::endpoint).collect();
            file.replace(&endpoints).map_err(|source| folder.failed(source))?;
        }
        // Whoever joins again may ask a node that has an older map.
        folder.keep_map_from(self.map_from.max(folder.map_from()?))?;
        folder.keep_office(&self.sets)
    }
}

/// Returns what a node without a map tells of this office, and of those that it carries on.
#[cfg(test)]
pub(crate) fn learned_of_tests(office: &OfficeSets, parents: &[&OfficeSets]) -> LearnedWorld {
    let text = |of: &OfficeSets| super::answers::hex(&wire::encode(of.head()));
    let answer = WorldAnswer {
        world: office.world().to_string(),
        office: text(office),
        links: super::answers::hex(&wire::encode(&office.links())),
        parents: parents.iter().map(|parent| text(parent)).collect(),
        sim: String::new(),
        square: None,
        member: String::new(),
        up: 0,
        contacts: Vec::new(),
        office_servers: Vec::new(),
        map: String::new(),
    };
    let node = "http://127.0.0.1:1".parse().expect("an address");
    LearnedWorld::check(&node, answer, None).expect("all of it is so")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        overlay::{
            answers::hex,
            office::{office_of_tests, successor_of_tests},
        },
        scratch::Scratch,
    };

    fn told_of(sets: &OfficeSets) -> WorldAnswer {
        learned_of_tests(sets, &[]).answer
    }

    /// The world of a sim is in its state; a node that shows another head for it was the only thing to fear.
    #[test]
    fn the_head_of_another_office_is_not_taken_for_that_of_a_world() {
        let (office, node) = (office_of_tests(), "http://127.0.0.1:1".parse().unwrap());
        let successor = successor_of_tests(&office);
        let world = Some(successor.world());
        assert!(LearnedWorld::check(&node, told_of(&successor), world).is_ok());
        let other = LearnedWorld::check(&node, told_of(&office), world).unwrap_err();
        assert!(matches!(other, LearnWorldError::OtherWorld { .. }), "{other}");
        let claimed = successor.world().to_string();
        let false_head = WorldAnswer { world: claimed, ..told_of(&office) };
        let other = LearnedWorld::check(&node, false_head, world).unwrap_err();
        assert!(matches!(other, LearnWorldError::NotSo { .. }), "{other}");
    }

    #[test]
    fn the_offices_that_an_office_carries_on_are_told_in_order_and_by_their_ids() {
        let (first, node) = (office_of_tests(), "http://127.0.0.1:1".parse().unwrap());
        let second = successor_of_tests(&first);
        let third = successor_of_tests(&second);
        let [one, two, three] = [&first, &second, &third].map(|of| hex(&wire::encode(of.head())));
        let check = |parents: &[&String]| {
            let parents = parents.iter().map(|head| (*head).clone()).collect();
            LearnedWorld::check(&node, WorldAnswer { parents, ..told_of(&third) }, None)
        };
        let learned = check(&[&two, &one]).unwrap();
        assert_eq!(learned.parents, [second.head().clone(), first.head().clone()]);
        assert_eq!(check(&[&two]).unwrap().parents.len(), 1);
        for wrong in [&[&one][..], &[&one, &two], &[&three], &[&two, &one, &one]] {
            let other = check(wrong).unwrap_err();
            assert!(matches!(other, LearnWorldError::NotSo { .. }), "{other}");
        }
    }

    /// Whoever joins again may ask a node that has an older map, and would believe old maps from then on.
    #[test]
    fn joining_again_never_lowers_the_height_from_which_maps_count() {
        let scratch = Scratch::new("joined-again");
        let folder = OverlayFolder::at(&scratch.0);
        let join = |height| {
            let learned = learned_of_tests(&office_of_tests(), &[]);
            LearnedWorld { map_from: Height(height), ..learned }.keep(&folder).unwrap();
            folder.map_from().unwrap()
        };
        assert_eq!([9, 4, 0, 12, 11].map(join), [9, 9, 9, 12, 12].map(Height));
    }
}
