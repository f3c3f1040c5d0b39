//! What clients are told without asking: what they see and what they hear.

use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{
    ChatLine, Goodbye, Scene, SceneObject, ScenePlayer, ServerMessage, Watching,
};
use metatopia_sim::{Applied, NEARBY, Seen, Shape};
use metatopia_types::{Height, limits::ROOT_LAG};

use crate::{ClientId, Delivery, Replica, replica::SCENE_TURNS, views::ViewFault};

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

    /// A client wants to watch, or no more.
    pub(crate) fn watch(&mut self, client: ClientId, watching: Option<&Watching>) {
        if let Some(key) = self.sessions.key(client) {
            let fault = self.views.watch(client, key, watching).err();
            self.end_for(client, fault);
        }
    }

    /// Ends a session whose client said what it must not.
    pub(crate) fn end_for(&mut self, client: ClientId, fault: Option<ViewFault>) {
        if fault.is_some() {
            self.sessions.end(client, Goodbye::BadFrame);
        }
    }

    /// What clients see after a turn, and what is proved of earlier ones.
    pub(crate) fn tell_views(&mut self, result: &Applied) {
        let Some(world) = self.world.as_deref() else {
            return;
        };
        for (client, frame) in self.views.turn(world, result) {
            self.sessions.forward(client, Delivery::Reliable, frame);
        }
        // On a server that lags, the header that proves this turn is decided already.
        self.tell_proofs(result.height);
    }

    /// Proves the copies of a height, if the header that states its root is decided.
    pub(crate) fn tell_proofs(&mut self, of: Height) {
        let Some(decision) = self.agreement.decision(of.plus(ROOT_LAG)) else {
            return;
        };
        let (header, certificate) = (&decision.turn.header, &decision.certificate);
        for (client, frame) in self.views.prove(of, header, certificate) {
            self.sessions.forward(client, Delivery::Reliable, frame);
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
