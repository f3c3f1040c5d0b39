//! How avatars and things look: a body with its colour, and what an avatar wears on it.

use serde::{Deserialize, Serialize};

/// The highest colour, 0xRRGGBB.
pub const COLOR_MAX: u32 = 0x00ff_ffff;

/// How an avatar or object looks. Display only: it never changes what bodies do.
///
/// It takes 23 bytes at most: five for the body, six for each of head, hands and hat. Without these, as things
/// are, it takes eight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// The colour of the body as 0xRRGGBB.
    #[serde(default)]
    pub color: u32,
    /// The outline of the body.
    #[serde(default)]
    pub shape: BodyShape,
    /// A head above the body. A body without one has the face.
    #[serde(default)]
    pub head: Option<Wearable<HeadShape>>,
    /// Hands that differ from the body. Without them they are round, in its colour.
    #[serde(default)]
    pub hands: Option<Wearable<HandShape>>,
    /// A hat on the head, or on the body.
    #[serde(default)]
    pub hat: Option<Wearable<HatShape>>,
}

impl Look {
    /// Returns the look of a body that wears nothing.
    #[must_use]
    pub const fn plain(color: u32, shape: BodyShape) -> Self {
        Self { color, shape, head: None, hands: None, hat: None }
    }

    /// Says whether all colours have 24 bits.
    #[must_use]
    pub fn is_proper(&self) -> bool {
        let Self { color, shape: _, head, hands, hat } = self;
        let worn =
            [head.map(|worn| worn.color), hands.map(|worn| worn.color), hat.map(|w| w.color)];
        *color <= COLOR_MAX && worn.into_iter().flatten().all(|color| color <= COLOR_MAX)
    }
}

/// What an avatar wears at one place, and in which colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wearable<S> {
    /// The drawn shape.
    pub shape: S,
    /// The colour as 0xRRGGBB.
    pub color: u32,
}

/// Declares the twelve shapes of a part of the avatar, each with its word and the phrase that describes it.
macro_rules! shapes {
    (
        $(#[$doc:meta])* $name:ident;
        $($(#[$of:meta])* $shape:ident $word:literal $phrase:literal,)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $name {
            $($(#[$of])* $shape,)*
        }

        impl $name {
            /// All shapes, in the order of their numbers.
            pub const ALL: [Self; 12] = [$(Self::$shape,)*];

            /// Returns the word for this shape, as files and the page have it.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$shape => $word,)*
                }
            }

            /// Returns what people read of this shape.
            #[must_use]
            pub const fn phrase(self) -> &'static str {
                match self {
                    $(Self::$shape => $phrase,)*
                }
            }

            /// Returns the shape with this word.
            #[must_use]
            pub fn named(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|shape| shape.word() == word)
            }
        }
    };
}

shapes! {
    /// Outlines of bodies, seen from above. They point where the avatar walks.
    #[derive(Default)]
    BodyShape;
    /// The shape of a disc.
    #[default]
    Round "round" "round",
    /// A square with soft corners.
    Square "square" "square",
    /// A triangle that points ahead.
    Arrow "arrow" "an arrow",
    /// The shape of a star.
    Star "star" "a star",
    /// Six sides of one length.
    Hexagon "hexagon" "a hexagon",
    /// A heart whose tip points back.
    Heart "heart" "a heart",
    /// A flower of five petals.
    Flower "flower" "a flower",
    /// A drop whose tip points back.
    Drop "drop" "a drop",
    /// A cross of two beams.
    Cross "cross" "a cross",
    /// A wheel with eight teeth.
    Gear "gear" "a gear wheel",
    /// A leaf that is long and pointed.
    Leaf "leaf" "a leaf",
    /// A crescent that opens ahead.
    Moon "moon" "a crescent",
}

shapes! {
    /// Heads, seen from the front.
    HeadShape;
    /// A head like a ball.
    Round "round" "a round head",
    /// A head like a box.
    Square "square" "a square head",
    /// Pointed ears and whiskers.
    Cat "cat" "the head of a cat",
    /// Round ears and a snout.
    Bear "bear" "the head of a bear",
    /// Long ears that stand up.
    Rabbit "rabbit" "the head of a rabbit",
    /// Pointed ears and white cheeks.
    Fox "fox" "the head of a fox",
    /// A crest and a beak.
    Bird "bird" "the head of a bird",
    /// Eyes that stand out above.
    Frog "frog" "the head of a frog",
    /// Large rings around the eyes.
    Owl "owl" "the head of an owl",
    /// A box with an aerial.
    Robot "robot" "the head of a robot",
    /// Ribs and a stalk.
    Pumpkin "pumpkin" "a pumpkin for a head",
    /// Large round ears.
    Mouse "mouse" "the head of a mouse",
}

shapes! {
    /// Shapes of both hands.
    HandShape;
    /// Hands like balls.
    Round "round" "round hands",
    /// Hands with a thumb.
    Mittens "mittens" "mittens",
    /// Hands with a white cuff.
    Gloves "gloves" "gloves",
    /// Hands with soft pads.
    Paws "paws" "paws",
    /// Hands with three claws.
    Claws "claws" "claws",
    /// Hands with feathers.
    Wings "wings" "wings",
    /// Hands like those of a fish.
    Fins "fins" "fins",
    /// Hands like those of a crab.
    Pincers "pincers" "pincers",
    /// Hands like leaves of a tree.
    Leaves "leaves" "leaves for hands",
    /// Hands with five points.
    Stars "stars" "stars for hands",
    /// Hands like little hearts.
    Hearts "hearts" "hearts for hands",
    /// Hands that one can see through.
    Bubbles "bubbles" "bubbles for hands",
}

shapes! {
    /// Hats, seen from the front.
    HatShape;
    /// A cap with a peak.
    Cap "cap" "a cap",
    /// A knitted cap with a bobble.
    Beanie "beanie" "a beanie",
    /// A flat, round cap.
    Beret "beret" "a beret",
    /// A tall hat with a brim.
    Topper "topper" "a top hat",
    /// A band with five points.
    Crown "crown" "a crown",
    /// A tall cone with a brim.
    Wizard "wizard" "a wizard's hat",
    /// A half ball with a rim.
    Helmet "helmet" "a helmet",
    /// A wide hat against the sun.
    Straw "straw" "a straw hat",
    /// A bow of ribbon.
    Bow "bow" "a bow",
    /// A flower behind the ear.
    Flower "flower" "a flower",
    /// A ring that floats above.
    Halo "halo" "a halo",
    /// Two feelers with a ball each.
    Antenna "antenna" "a pair of feelers",
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;

    #[test]
    fn the_longest_look_takes_23_bytes_and_a_plain_one_eight() {
        let plain = Look::plain(COLOR_MAX, BodyShape::Moon);
        let longest = Look {
            head: Some(Wearable { shape: HeadShape::Mouse, color: COLOR_MAX }),
            hands: Some(Wearable { shape: HandShape::Bubbles, color: COLOR_MAX }),
            hat: Some(Wearable { shape: HatShape::Antenna, color: COLOR_MAX }),
            ..plain
        };
        assert_eq!(wire::encode(&plain).len(), 8);
        assert_eq!(wire::encode(&longest).len(), 23);
        assert_eq!(wire::decode_first::<Look>(&wire::encode(&longest)), Ok(longest));
    }

    #[test]
    fn each_colour_of_a_look_has_24_bits() {
        let plain = Look::default();
        let too_much = COLOR_MAX + 1;
        assert!(plain.is_proper());
        for look in [
            Look { color: too_much, ..plain },
            Look { head: Some(Wearable { shape: HeadShape::Cat, color: too_much }), ..plain },
            Look { hands: Some(Wearable { shape: HandShape::Paws, color: too_much }), ..plain },
            Look { hat: Some(Wearable { shape: HatShape::Cap, color: too_much }), ..plain },
        ] {
            assert!(!look.is_proper(), "{look:?}");
        }
    }

    #[test]
    fn shapes_are_found_by_their_words() {
        assert!(BodyShape::ALL.iter().all(|shape| BodyShape::named(shape.word()) == Some(*shape)));
        assert!(HeadShape::ALL.iter().all(|shape| HeadShape::named(shape.word()) == Some(*shape)));
        assert!(HandShape::ALL.iter().all(|shape| HandShape::named(shape.word()) == Some(*shape)));
        assert!(HatShape::ALL.iter().all(|shape| HatShape::named(shape.word()) == Some(*shape)));
        assert_eq!(HatShape::named("spoon"), None);
    }
}
