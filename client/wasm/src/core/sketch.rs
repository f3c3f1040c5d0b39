//! Sketches: sims of what is in sight alone, in which a script is tried where a tab can have no copy of the
//! state.
//!
//! A sketch has the rules that the sim was founded with, and the things of the tiles that are held against
//! certified roots. It lacks all that no tile holds: scripts with their states, joints, other people, and what
//! acts changed of the rules.

use std::collections::BTreeMap;

use data_encoding::BASE64;
use metatopia_math::{Fx, Vec2};
use metatopia_physics::limits::BODIES_MAX;
use metatopia_sim::{AgreedPorts, FirstLogin, Genesis, ObjectSpec, Publishers, TierName};
use metatopia_types::{ObjectId, PublicKey};
use serde_json::{Value, json};

use super::ClientCore;

impl ClientCore {
    /// Tells the page of a sketch of the sim, and by which number the thing goes in it. It has the packages that are
    /// imported, as far as they came when the draft was looked over; a draft is told of others when it is tried.
    pub(super) fn sketch(
        &mut self,
        command: u64,
        thing: ObjectId,
        imports: BTreeMap<String, String>,
    ) {
        let packages = self.known_imports(imports);
        let sight = self.session.sight();
        // What is only seen from afar is in no tile, so nothing proves it.
        let seen = || sight.things().filter(|(_, _, far)| !far).map(|(entry, ..)| entry);
        let Some(author) = seen().find(|entry| Some(entry.id) == sight.me()) else {
            return self.failed(command, "NotLoggedIn", &Value::Null);
        };
        let ground = self.genesis.parameters.ground;
        // Just before she departs she stands past a line, where a genesis has nobody.
        let (name, at) = (author.object.name.clone(), ground.nearest(author.body.position()));
        let mut things: Vec<(ObjectId, ObjectSpec)> = Vec::new();
        for entry in seen().filter(|entry| entry.object.player.is_none()) {
            let spec = entry.object.listed(&entry.body);
            if ground.contains(spec.body.pose.position) && spec.check().is_ok() {
                things.push((entry.id, spec));
            }
        }
        let Some(place) = things.iter().position(|(id, _)| *id == thing) else {
            return self.failed(command, "NotInSight", &Value::Null);
        };
        let specs = things.into_iter().map(|(_, spec)| spec).collect();
        let genesis = Genesis { packages, ..sketch_of(&self.genesis, specs, self.key, at) };
        let told = json!({
            "genesis": BASE64.encode(&genesis.encode()), "sim": genesis.id().to_string(),
            // The objects of a genesis are numbered from 1.
            "object": place + 1, "name": name,
        });
        self.done(command, &told);
    }
}

/// Returns the genesis of a sketch. Its author is an admin, so that no rule is in the way that needs more to be
/// known of her than what is in sight.
fn sketch_of(genesis: &Genesis, objects: Vec<ObjectSpec>, author: PublicKey, at: Vec2) -> Genesis {
    let mut parameters = genesis.parameters.clone();
    parameters.tier = TierName::Basic;
    parameters.objects_max = BODIES_MAX as u32;
    parameters.first_login = FirstLogin::Open;
    parameters.publishers = Publishers::Anybody;
    parameters.ports = AgreedPorts::default();
    parameters.ttl_seconds = 0;
    // She comes where she stands, and the ground that is kept clear for arrivals is no larger than she is.
    (parameters.avatar.spawn, parameters.avatar.spawn_radius) = (at, Fx::ZERO);
    Genesis {
        name: genesis.name.clone(),
        parameters,
        admins: [author].into(),
        validators: genesis.validators.clone(),
        objects,
        lands: genesis.lands.clone(),
        floor_plan: genesis.floor_plan.clone(),
        licence: genesis.licence.clone(),
        asset_licence: genesis.asset_licence.clone(),
        ..Genesis::empty()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use metatopia_sim::{GenesisError, Tools, World};
    use metatopia_types::{Ed25519, NodeContact, Sign, SigningKey};

    use super::*;

    #[test]
    fn a_sketch_moves_on_the_basic_tier_and_lets_its_author_in_whatever_the_sim_was_founded_with() {
        let server = SigningKey::from_seed([1; 32]).public();
        let mut genesis = Genesis {
            name: "far".to_owned(),
            admins: [server].into(),
            validators: [(server, NodeContact::default())].into(),
            licence: "AGPL-3.0-or-later".to_owned(),
            asset_licence: "CC0-1.0".to_owned(),
            ..Genesis::empty()
        };
        genesis.parameters.tier = TierName::Advanced;
        genesis.parameters.first_login = FirstLogin::Closed;
        genesis.parameters.publishers = Publishers::Admins;
        let tools = Tools::new(Arc::new(Ed25519));
        let refused = World::genesis(&genesis, &tools).expect_err("no tier here");
        assert!(matches!(refused, GenesisError::Tier(_)), "{refused}");
        let author = SigningKey::from_seed([9; 32]).public();

        let sketch = sketch_of(&genesis, Vec::new(), author, Vec2::ZERO);

        let world = World::genesis(&sketch, &tools).expect("a sketch");
        let parameters = world.parameters();
        assert_eq!(parameters.tier, TierName::Basic);
        assert_eq!(parameters.first_login, FirstLogin::Open);
        assert_eq!(parameters.publishers, Publishers::Anybody);
        assert!(sketch.admins.contains(&author));
    }
}
