//! The thing that a bot carries over the border: how it comes into the bot's hand.

use metatopia_client::{Scene, SceneObject};
use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::{
    Act, AssetLicence, Blueprint, Build, ObjectId, Outline, OutlineParts, PublicKey,
};

/// Scenes after which acts that nothing came of are sent again.
const PATIENCE: u32 = 40;

/// What the thing is called that the sim itself has, and that bots copy.
pub const MODEL_KIND: &str = "burden";

/// What a copy says of itself once its scripts remember all that they are to remember.
pub const MODEL_LADEN: &str = "laden";

/// What each bot carries over the border.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BurdenKind {
    /// A ball that it makes, without scripts.
    #[default]
    Ball,
    /// A copy of the thing of the sim that is called [`MODEL_KIND`].
    Copy,
}

/// A bot on its way to a thing in its hand.
#[derive(Debug, Default)]
pub(super) struct Burden {
    kind: BurdenKind,
    /// Scenes since the thing was made.
    placed: u32,
    /// Scenes since the thing was taken.
    taken: u32,
    /// How often a thing was made: each time elsewhere around the bot.
    tries: u32,
}

impl Burden {
    pub(super) fn of(kind: BurdenKind) -> Self {
        Self { kind, ..Self::default() }
    }

    /// Returns the acts that bring a thing into the hand of the bot with this key, as it sees the sim.
    pub(super) fn acts(&mut self, scene: &Scene, key: PublicKey) -> Vec<Act> {
        let Some(me) = scene.me else { return Vec::new() };
        let own = scene.objects.iter().find(|thing| thing.owner == Some(key) && thing.id != me);
        if self.kind == BurdenKind::Copy && own.is_some_and(|thing| thing.text != MODEL_LADEN) {
            return Vec::new();
        }
        let waited = if own.is_some() { &mut self.taken } else { &mut self.placed };
        let is_due = *waited == 0;
        *waited = (*waited + 1) % PATIENCE;
        match own {
            _ if !is_due => Vec::new(),
            Some(thing) => take(thing.id).into(),
            None => self.make(scene, me).map(Act::Build).into_iter().collect(),
        }
    }

    /// Learns that an act was refused: somebody stands there, or the thing has rolled away.
    pub(super) const fn refused(&mut self) {
        (self.placed, self.taken) = (0, 0);
    }

    fn make(&mut self, scene: &Scene, me: ObjectId) -> Option<Build> {
        let here = scene.objects.iter().find(|thing| thing.id == me)?.position;
        let bits = self.tries.wrapping_mul(0x2545_f491);
        self.tries += 1;
        let beside = Angle::from_bits(bits).direction();
        let position = here.saturating_add(Vec2::new(beside.x, beside.y));
        match self.kind {
            BurdenKind::Ball => Some(Build::Place(ball(position))),
            BurdenKind::Copy => {
                let is_model =
                    |thing: &&SceneObject| thing.owner.is_none() && thing.kind == MODEL_KIND;
                let object = scene.objects.iter().find(is_model)?.id;
                Some(Build::Copy { object, position })
            }
        }
    }
}

fn ball(position: Vec2) -> Blueprint {
    Blueprint {
        kind: "ball".to_owned(),
        name: "ball".to_owned(),
        text: String::new(),
        color: 0x00c0_8040,
        outline: Outline::Disc { radius: Fx::from_ratio(1, 4) },
        movable: true,
        position,
        angle: Angle::ZERO,
        licence: AssetLicence::default(),
        parts: OutlineParts::default(),
    }
}

/// Returns the acts that let a thing leave the sim, and take it.
fn take(object: ObjectId) -> [Act; 2] {
    [Build::LetTravel { object, travels: true }, Build::Take { object }].map(Act::Build)
}
