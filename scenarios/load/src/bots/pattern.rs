//! Decides what a bot does next, by chance from a seed and by what it sees.

use metatopia_client::{Scene, text};
use metatopia_math::{Angle, Fx, Stream, Vec2};
use metatopia_types::{Act, AssetLicence, Blob, Blueprint, Build, Emote, Outline, OutlineParts};

/// The distance from its start at which a bot turns back.
const ROAM: Fx = Fx::from_int(12);

/// How many of a hundred acts are pushes (if there is something to push), words and gestures. The
/// rest are walks.
const PUSHES: u64 = 15;
const WORDS: u64 = 3;
const GESTURES: u64 = 4;

/// How many of a hundred acts of a builder are building, if it sees where it is.
const BUILDS: u64 = 10;

/// The number of things that a builder puts up before it takes one back.
const BUILT_MAX: u32 = 4;

const SENTENCES: [&str; 6] = [
    "hello",
    "what a fine day on the plaza",
    "has anybody seen the door open?",
    "help",
    "mind the crate",
    "see you at the bell",
];

const EMOTES: [Emote; 5] = [Emote::Wave, Emote::Nod, Emote::Dance, Emote::Bow, Emote::Laugh];

/// The stream of acts of one bot. The same seed, index and scenes give the same acts.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    chance: Stream,
    home: Option<Vec2>,
    /// Says whether the bot builds.
    builds: bool,
    /// The number of things that it put up and did not take back.
    built: u32,
}

impl Pattern {
    pub(crate) fn new(seed: u64, index: u64, builds: bool) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let chance = Stream::new(&key, "metatopia bots v1", &[index]);
        Self { chance, home: None, builds, built: 0 }
    }

    /// Returns the next act, with the blobs that it names.
    pub(super) fn next(&mut self, scene: Option<&Scene>) -> (Act, Vec<Blob>) {
        let die = self.chance.below(100);
        if die < PUSHES {
            let thing =
                scene.and_then(|s| s.objects.iter().find(|o| o.movable && o.player.is_none()));
            if let Some(thing) = thing {
                return (Act::Push { object: thing.id }, Vec::new());
            }
        } else if die < PUSHES + WORDS {
            return text::say(0, self.pick(&SENTENCES));
        } else if die < PUSHES + WORDS + GESTURES {
            return (Act::Emote(self.pick(&EMOTES)), Vec::new());
        } else if self.builds
            && die >= 100 - BUILDS
            && let Some(here) = scene.and_then(text::position)
        {
            return (Act::Build(self.build(here)), Vec::new());
        }
        (Act::Walk { heading: self.heading(scene) }, Vec::new())
    }

    /// Puts a box up beside the bot, or takes back what it built last. Where the bot may not build,
    /// the sim refuses the act, and that counts as an answer.
    fn build(&mut self, here: Vec2) -> Build {
        if self.built == BUILT_MAX || (self.built > 0 && self.chance.below(3) == 0) {
            self.built -= 1;
            return Build::Undo { skip: 0 };
        }
        self.built += 1;
        let bits = u32::try_from(self.chance.below(1 << 32)).expect("below 2^32");
        let beside = Angle::from_bits(bits).direction().scale(Fx::from_int(2));
        Build::Place(Blueprint {
            kind: "box".into(),
            name: "box".into(),
            text: String::new(),
            color: u32::try_from(self.chance.below(1 << 24)).expect("below 2^24"),
            outline: Outline::Box { half: Vec2::new(Fx::HALF, Fx::HALF) },
            movable: false,
            position: here.saturating_add(beside),
            angle: Angle::ZERO,
            licence: AssetLicence::default(),
            parts: OutlineParts::default(),
        })
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let at = self.chance.below(from.len() as u64);
        from[usize::try_from(at).expect("below a length")]
    }

    fn heading(&mut self, scene: Option<&Scene>) -> Vec2 {
        let bits = u32::try_from(self.chance.below(1 << 32)).expect("below 2^32");
        let anywhere = Angle::from_bits(bits).direction();
        let Some(here) = scene.and_then(text::position) else {
            return anywhere;
        };
        let home = *self.home.get_or_insert(here);
        let back = home.saturating_sub(here);
        if back.length() > ROAM { back.normalize().unwrap_or(anywhere) } else { anywhere }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use metatopia_client::SceneObject;
    use metatopia_physics::Shape;
    use metatopia_types::{Height, Look, ObjectId, Tick};

    use super::*;

    fn kind(act: &Act) -> &'static str {
        match act {
            Act::Walk { .. } => "walk",
            Act::Say { .. } => "say",
            Act::Emote(_) => "emote",
            _ => "other",
        }
    }

    #[test]
    fn the_same_seed_and_index_do_the_same() {
        let acts = |seed, index| {
            let mut pattern = Pattern::new(seed, index, false);
            (0..50).map(|_| pattern.next(None)).collect::<Vec<_>>()
        };
        assert_eq!(acts(1, 2), acts(1, 2));
        assert_ne!(acts(1, 2), acts(1, 3));
        assert_ne!(acts(1, 2), acts(2, 2));
    }

    #[test]
    fn bots_walk_talk_and_wave_and_name_their_words() {
        let mut pattern = Pattern::new(7, 0, false);
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for _ in 0..1_000 {
            let (act, blobs) = pattern.next(None);
            *counts.entry(kind(&act)).or_default() += 1;
            match act {
                Act::Say { body, .. } => assert_eq!(blobs[0].id(), body),
                Act::Walk { heading } => {
                    assert!(heading.length() <= Fx::from_ratio(1_001, 1_000), "{heading:?}");
                }
                _ => assert!(blobs.is_empty()),
            }
        }
        assert!(counts["walk"] > 800 && counts["say"] > 5 && counts["emote"] > 5, "{counts:?}");
        assert!(!counts.contains_key("other"), "there is nothing to push in sight");
    }

    #[test]
    fn a_builder_that_sees_where_it_is_builds_and_takes_back_no_more_than_it_built() {
        let me = ObjectId(7);
        let avatar = SceneObject {
            id: me,
            kind: "avatar".into(),
            name: "bot 0".into(),
            owner: None,
            author: None,
            changed: None,
            position: Vec2::new(Fx::from_int(3), Fx::ZERO),
            angle: Angle::ZERO,
            velocity: Vec2::ZERO,
            half: Vec2::new(Fx::HALF, Fx::HALF),
            shape: Shape::Circle { radius: Fx::HALF },
            look: Look::default(),
            text: String::new(),
            movable: false,
            player: None,
            scripts: Vec::new(),
            held: None,
            material: None,
            sensor: false,
            travels: false,
            guest: None,
        };
        let objects = vec![avatar];
        let scene = Scene { height: Height(1), tick: Tick(3), me: Some(me), objects };
        let mut pattern = Pattern::new(7, 0, true);
        let (mut standing, mut placed) = (0_u32, 0_u32);
        for _ in 0..2_000 {
            match pattern.next(Some(&scene)).0 {
                Act::Build(Build::Place(box_)) => {
                    let away = box_.position.distance(scene.objects[0].position);
                    assert!(away < Fx::from_int(3), "{away}");
                    (standing, placed) = (standing + 1, placed + 1);
                }
                Act::Build(Build::Undo { skip: 0 }) => {
                    standing = standing.checked_sub(1).expect("there was something to take back");
                }
                Act::Build(other) => panic!("{other:?}"),
                _ => {}
            }
            assert!(standing <= BUILT_MAX);
        }
        assert!(placed > 50, "{placed}");
        let blind = (0..500).map(|_| kind(&pattern.next(None).0));
        assert_eq!(blind.filter(|kind| *kind == "other").count(), 0);
    }
}
