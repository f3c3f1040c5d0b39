//! The place of a running sim.

use std::collections::BTreeMap;

use metatopia_physics::JointSpec;
use metatopia_sim::{Introduction, ObjectSpec, Parameters, World};
use metatopia_types::ObjectId;

use super::{Place, state};

impl Place {
    /// Returns the place that a sim is now: its rules, lands, packages, and its things with their scripts
    /// and what these remember. Players and their avatars are no part of it, and what stays is at rest
    /// for as long as nobody founds it.
    ///
    /// Things get new numbers, in the order of those that they have. A handle of a thing that is not
    /// there any more stays one of nothing.
    #[must_use]
    pub fn of_world(world: &World) -> Self {
        let (charter, things) = (world.charter(), world.specs());
        let numbers: BTreeMap<ObjectId, ObjectId> =
            things.iter().zip(1..).map(|((old, _), new)| (*old, ObjectId(new))).collect();
        let objects = things.into_iter().map(|(_, thing)| renumbered(thing, &numbers)).collect();
        let joints = world.joints().into_iter();
        let joints = joints.filter_map(|joint| renumbered_joint(joint, &numbers)).collect();
        let packages = world.packages().map(|package| (package.id(), package.clone()));
        Self {
            name: charter.name.clone(),
            licence: charter.licence.clone(),
            asset_licence: charter.asset_licence.clone(),
            parameters: Parameters {
                // The turns of the next sim begin anew.
                flags: charter.parameters.flags.after(world.height()),
                ..charter.parameters.clone()
            },
            packages: packages.collect(),
            objects,
            joints,
            lands: charter.lands.clone(),
            floor_plan: charter.floor_plan.clone(),
            // The picture is no part of a state: whoever has the genesis puts it there.
            introduction: Introduction { picture: None, ..charter.introduction.clone() },
            picture: Vec::new(),
            first_login: Some(charter.parameters.first_login),
            publishers: Some(charter.parameters.publishers),
        }
    }
}

/// Gives the handles that scripts remember the numbers that things have from now on.
pub(super) fn renumbered(
    mut thing: ObjectSpec,
    numbers: &BTreeMap<ObjectId, ObjectId>,
) -> ObjectSpec {
    for value in thing.scripts.iter_mut().flat_map(|script| script.state.0.values_mut()) {
        state::renumber(value, &|id| numbers.get(&id).copied().unwrap_or(state::NOTHING));
    }
    thing.spawner = thing.spawner.and_then(|spawner| numbers.get(&spawner).copied());
    thing
}

/// Gives the ends of a joint the numbers that things have from now on; nothing if an end is no thing.
pub(super) fn renumbered_joint(
    joint: JointSpec,
    numbers: &BTreeMap<ObjectId, ObjectId>,
) -> Option<JointSpec> {
    let b = *numbers.get(&joint.b)?;
    let a = match joint.a {
        Some(a) => Some(*numbers.get(&a)?),
        None => None,
    };
    Some(JointSpec { a, b, ..joint })
}
