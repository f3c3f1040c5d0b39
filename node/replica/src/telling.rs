//! What clients are told without asking: what they see and what they hear.

use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{ChatLine, Scene, SceneObject, ScenePlayer, ServerMessage};
use metatopia_sim::{Applied, NEARBY, Seen, Shape};
use metatopia_types::Height;

use crate::{Delivery, Replica, replica::SCENE_TURNS};

/// How far an avatar sees, in whole metres.
pub(crate) const SIGHT: i32 = 24;

/// Objects in one scene; the farthest are left out.
pub(crate) const SCENE_OBJECTS_MAX: usize = 128;

impl Replica {
    /// Every few turns, a scene for each client that watches; clients take turns, so that the work
    /// is spread.
    pub(crate) fn tell_scenes(&mut self, height: Height) {
        let Some(world) = self.world.as_deref() else {
            return;
        };
        let due = |client: u64| (client + height.0).is_multiple_of(SCENE_TURNS);
        let watchers: Vec<_> =
            self.sessions.watchers().filter(|(client, _)| due(client.0)).collect();
        let scenes: Vec<_> = watchers
            .into_iter()
            .map(|(client, key)| {
                let me = world.avatar(&key);
                let center = me.and_then(|id| world.object(id)).map(|object| object.position);
                let center = center.unwrap_or(world.parameters().avatar.spawn);
                let seen = world.scene(center, Fx::from_int(SIGHT), SCENE_OBJECTS_MAX);
                let objects = seen.into_iter().map(scene_object).collect();
                (client, Scene { height, tick: world.tick(), me, objects })
            })
            .collect();
        for (client, scene) in scenes {
            let message = ServerMessage::Scene(Box::new(scene));
            self.sessions.send(client, Delivery::Latest, &message);
        }
    }

    /// What was said in the turn, to every session whose avatar can hear it.
    pub(crate) fn tell_chat(&mut self, result: &Applied) {
        for line in &result.chat {
            let hearers: Vec<_> = {
                let Some(world) = self.world.as_deref() else {
                    return;
                };
                let hearing = world.parameters().hearing;
                let hears = |key| {
                    let avatar = world.avatar(&key).and_then(|id| world.object(id));
                    let near = |seen: Seen| seen.position.distance(line.place) <= hearing;
                    line.channel != NEARBY || avatar.is_some_and(near)
                };
                self.sessions
                    .open()
                    .filter(|(_, key)| hears(*key))
                    .map(|(client, _)| client)
                    .collect()
            };
            let message = ServerMessage::Heard(ChatLine {
                height: line.height,
                channel: line.channel,
                speaker: line.speaker,
                name: line.name.clone(),
                text: line.text.clone(),
            });
            for client in hearers {
                self.sessions.send(client, Delivery::Reliable, &message);
            }
        }
    }
}

fn scene_object(object: Seen) -> SceneObject {
    SceneObject {
        id: object.id,
        name: object.name,
        position: object.position,
        angle: object.angle,
        velocity: object.velocity,
        half: half(&object.shape),
        look: object.look,
        text: object.text,
        movable: object.movable,
        player: object.player.map(|(key, emote)| ScenePlayer { key, emote }),
        packages: object.scripts.into_iter().map(|(_, package)| package).collect(),
    }
}

fn half(shape: &Shape) -> Vec2 {
    match shape {
        Shape::Circle { radius } => Vec2::new(*radius, *radius),
        Shape::Rect { half } => *half,
    }
}
