//! The ball that a bot carries over the border: how it comes into the bot's hand.

use metatopia_client::Scene;
use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::{
    Act, AssetLicence, Blueprint, Build, ObjectId, Outline, OutlineParts, PublicKey,
};

/// Scenes after which acts that nothing came of are sent again.
const PATIENCE: u32 = 40;

/// A bot on its way to a ball in its hand.
#[derive(Debug, Default)]
pub(super) struct Burden {
    /// Scenes since a ball was placed.
    placed: u32,
    /// Scenes since the ball was taken.
    taken: u32,
    /// How often a ball was placed: each time elsewhere around the bot.
    tries: u32,
}

impl Burden {
    /// Returns the acts that bring a ball into the hand of the bot with this key, as it sees the sim.
    pub(super) fn acts(&mut self, scene: &Scene, key: PublicKey) -> Vec<Act> {
        let Some(me) = scene.me else { return Vec::new() };
        let own = scene.objects.iter().find(|thing| thing.owner == Some(key) && thing.id != me);
        let waited = if own.is_some() { &mut self.taken } else { &mut self.placed };
        let is_due = *waited == 0;
        *waited = (*waited + 1) % PATIENCE;
        match own {
            _ if !is_due => Vec::new(),
            Some(ball) => take(ball.id).into(),
            None => self.place(scene, me).into_iter().collect(),
        }
    }

    /// Learns that an act was refused: somebody stands there, or the ball has rolled away.
    pub(super) const fn refused(&mut self) {
        (self.placed, self.taken) = (0, 0);
    }

    fn place(&mut self, scene: &Scene, me: ObjectId) -> Option<Act> {
        let here = scene.objects.iter().find(|thing| thing.id == me)?.position;
        let bits = self.tries.wrapping_mul(0x2545_f491);
        self.tries += 1;
        let beside = Angle::from_bits(bits).direction();
        Some(Act::Build(Build::Place(Blueprint {
            kind: "ball".to_owned(),
            name: "ball".to_owned(),
            text: String::new(),
            color: 0x00c0_8040,
            outline: Outline::Disc { radius: Fx::from_ratio(1, 4) },
            movable: true,
            position: here.saturating_add(Vec2::new(beside.x, beside.y)),
            angle: Angle::ZERO,
            licence: AssetLicence::default(),
            parts: OutlineParts::default(),
        })))
    }
}

/// Returns the acts that let a ball leave the sim, and take it.
fn take(object: ObjectId) -> [Act; 2] {
    [Build::LetTravel { object, travels: true }, Build::Take { object }].map(Act::Build)
}
