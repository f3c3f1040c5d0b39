//! The head of the successor of a land office, learned of nodes and checked.
//!
//! The state of a sim names the world that it lies in, and the id of a world is the digest of the head of its
//! land office. So nobody is believed: a head that somebody shows has that id or it has not. Its parent must be
//! an office that is known here, or carry one on, so that an admin who mistypes an id loses nothing.

use std::path::Path;

use metatopia_client::LandOfficeError;
use metatopia_client_driver::NodeUrl;
use metatopia_types::SimId;

use super::{
    OfficeSets, OverlayFolder,
    address::SiteAddress,
    contacts::ContactFile,
    folder::OverlayFolderError,
    learned::{LearnWorldError, LearnedWorld},
};

/// The most nodes that are asked about a world at one time. Each of them has some seconds to answer.
const NODES_ASKED: usize = 32;

/// Says why a land office is not followed to the world that a sim's state names.
#[derive(Debug, thiserror::Error)]
pub enum SuccessorError {
    /// The office carries on no office that is known here.
    #[error(
        "world {world}, which the sim's state names, is none that carries on world {known}: its land office \
         {}; a permanent admin sets `world` to the successor of {known}",
        parent_words(*parent)
    )]
    NotSuccessor {
        /// The world of the state.
        world: SimId,
        /// The office that its office carries on.
        parent: Option<SimId>,
        /// The newest world that is known here.
        known: SimId,
    },
    /// No land office is known here at all.
    #[error("no land office is known here; `metatopia world join URL DIR` writes one")]
    NoOffice,
    /// Nobody who was asked takes part in that world.
    #[error(
        "none of {asked} nodes shows the land office of world {world}, which the sim's state names{}; \
         `metatopia world join URL DIR --world {world}` learns it from a node of it",
        last.as_ref().map(|last| format!(" ({last})")).unwrap_or_default()
    )]
    Unknown {
        /// The world of the state.
        world: SimId,
        /// How many were asked.
        asked: usize,
        /// What the last of them came to.
        last: Option<Box<LearnWorldError>>,
    },
    /// An office in between is none.
    #[error(transparent)]
    Office(#[from] LandOfficeError),
    /// The files are of no use.
    #[error(transparent)]
    Folder(#[from] OverlayFolderError),
}

/// Says which office an office carries on.
fn parent_words(parent: Option<SimId>) -> String {
    parent.map_or("carries on none".to_owned(), |parent| format!("carries on {parent}"))
}

/// Returns the folder for a world whose office carries on one that is kept in this data directory, itself or
/// by offices that the node showed as well: these are kept too. Nothing is kept there any more of another
/// successor.
///
/// # Errors
/// When it carries on none of those that are kept.
pub fn folder_for(
    data_dir: &Path,
    learned: &LearnedWorld,
) -> Result<OverlayFolder, SuccessorError> {
    let newest = OverlayFolder::at(data_dir).office()?.ok_or(SuccessorError::NoOffice)?;
    let mut between = Vec::new();
    let mut parent = learned.sets.parent();
    let mut shown = learned.parents.iter();
    let kept = loop {
        let kept = match parent {
            Some(parent) => OverlayFolder::of(data_dir, parent)?,
            None => None,
        };
        match (kept, shown.next()) {
            (Some((folder, _)), _) => break folder,
            (None, Some(head)) => {
                between.push(head);
                parent = head.parent.map(|parent| parent.sim);
            }
            (None, None) => {
                let (world, known) = (learned.sets.world(), newest.world());
                return Err(SuccessorError::NotSuccessor { world, parent, known });
            }
        }
    };
    let mut folder = kept.next();
    folder.forget_world()?;
    while let Some(head) = between.pop() {
        folder.keep_office(&OfficeSets::new(head.id(), head.clone())?)?;
        folder = folder.next();
    }
    Ok(folder)
}

/// Returns the nodes that may know a world, by what is kept here: servers of the land offices, servers of the
/// own sim, and contacts.
fn known_nodes(folder: &OverlayFolder, (sim, world): (SimId, SimId)) -> Vec<NodeUrl> {
    let urls = |file: ContactFile| {
        let kept = file.read().into_iter();
        kept.filter_map(|node| node.address.parse::<SiteAddress>().ok()?.clients)
    };
    // A process that hosts several sims answers for the first of them, unless one is named.
    let office = urls(folder.office_servers()).flat_map(|url| [url.of(world), url]);
    let own = urls(folder.endpoints()).map(|url| url.of(sim));
    office.chain(own).chain(urls(folder.contacts())).collect()
}

/// Learns the land office of a world that a sim's state names, of nodes that are kept in the data directory or
/// were met, and writes what a member of that world needs.
///
/// # Errors
/// See [`SuccessorError`]. Then nothing is written.
pub async fn learn(
    data_dir: &Path,
    (sim, world): (SimId, SimId),
    met: Vec<NodeUrl>,
) -> Result<(OverlayFolder, OfficeSets), SuccessorError> {
    let mut nodes: Vec<NodeUrl> = Vec::new();
    for node in known_nodes(&OverlayFolder::at(data_dir), (sim, world)).into_iter().chain(met) {
        if nodes.len() < NODES_ASKED && !nodes.contains(&node) {
            nodes.push(node);
        }
    }
    let (asked, mut last) = (nodes.len(), None);
    for node in nodes {
        match LearnedWorld::from(&node, Some(world)).await {
            Ok(learned) => {
                let _worlds = OverlayFolder::at(data_dir).lock_worlds()?;
                // Somebody may have joined it meanwhile.
                if let Some(kept) = OverlayFolder::of(data_dir, world)? {
                    return Ok(kept);
                }
                let folder = folder_for(data_dir, &learned)?;
                learned.keep(&folder)?;
                return Ok((folder, learned.sets));
            }
            Err(error) => {
                tracing::debug!(%error, "the land office is not learned by this node");
                last = Some(Box::new(error));
            }
        }
    }
    Err(SuccessorError::Unknown { world, asked, last })
}

#[cfg(test)]
mod tests {
    use metatopia_types::Digest;

    use super::*;
    use crate::{
        overlay::{
            learned::learned_of_tests,
            office::{office_of_tests, successor_of_tests},
        },
        scratch::Scratch,
    };

    /// Anybody can found an office, and an admin may mistype the id of one that is there.
    #[test]
    fn only_an_office_that_carries_on_a_known_one_is_followed() {
        let scratch = Scratch::new("followed-office");
        let (old, dir) = (office_of_tests(), &scratch.0);
        let new = successor_of_tests(&old);
        let later = successor_of_tests(&new);
        let followed = |office, shown: &[&OfficeSets]| {
            let learned = learned_of_tests(office, shown);
            let folder = folder_for(dir, &learned)?;
            Ok::<_, SuccessorError>(learned.keep(&folder)?)
        };
        assert!(matches!(followed(&new, &[]), Err(SuccessorError::NoOffice)));
        OverlayFolder::at(dir).keep_office(&old).unwrap();
        for (office, parent) in [(&old, None), (&later, Some(new.world()))] {
            let refused = followed(office, &[]).unwrap_err();
            let SuccessorError::NotSuccessor { world, parent: told, known } = refused else {
                panic!("{refused}");
            };
            assert_eq!((world, told, known), (office.world(), parent, old.world()));
        }
        followed(&new, &[]).unwrap();
        // Now that one is known as well.
        followed(&later, &[]).unwrap();
        let newest = OverlayFolder::at(dir);
        assert_eq!(newest.parents().unwrap(), [new.head().clone(), old.head().clone()]);
    }

    /// A server was away while its land office was carried on twice.
    #[test]
    fn an_office_in_between_is_kept_as_the_node_shows_it() {
        let scratch = Scratch::new("office-between");
        let (old, dir) = (office_of_tests(), &scratch.0);
        let new = successor_of_tests(&old);
        let later = successor_of_tests(&new);
        OverlayFolder::at(dir).keep_office(&old).unwrap();
        let learned = learned_of_tests(&later, &[&new, &old]);
        learned.keep(&folder_for(dir, &learned).unwrap()).unwrap();
        let newest = OverlayFolder::at(dir);
        assert_eq!(newest.office().unwrap().map(|sets| sets.world()), Some(later.world()));
        assert_eq!(newest.parents().unwrap(), [new.head().clone(), old.head().clone()]);
    }

    #[tokio::test]
    async fn a_world_that_nobody_shows_is_told_by_its_id_and_how_it_is_learned() {
        let scratch = Scratch::new("unknown-office");
        OverlayFolder::at(&scratch.0).keep_office(&office_of_tests()).unwrap();
        let world = SimId(Digest([7; 32]));
        let nobody = learn(&scratch.0, (world, world), Vec::new()).await.unwrap_err();
        assert!(matches!(nobody, SuccessorError::Unknown { asked: 0, .. }), "{nobody}");
        let told = nobody.to_string();
        assert!(told.contains(&world.to_string()) && told.contains("world join"), "{told}");
    }
}
