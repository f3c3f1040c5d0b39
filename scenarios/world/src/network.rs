//! The network between servers: how long a frame takes, and whether it arrives at all.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::chance::{Dice, Span};

/// How links behave. Probabilities are parts per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Links {
    /// One way. A range that is wider than the gap between two frames reorders them.
    pub delay: Span,
    /// A frame vanishes.
    pub loss_ppm: u32,
    /// A frame arrives twice, the second time with a delay of its own.
    pub duplicate_ppm: u32,
    /// A frame is held up for `straggle` on top of its delay.
    pub straggler_ppm: u32,
    /// How long a straggler is held up.
    pub straggle: Span,
}

impl Links {
    /// Each frame takes exactly `ms` milliseconds; nothing is lost.
    #[must_use]
    pub const fn steady(ms: u64) -> Self {
        Self {
            delay: Span::exactly_ms(ms),
            loss_ppm: 0,
            duplicate_ppm: 0,
            straggler_ppm: 0,
            straggle: Span::exactly_ms(0),
        }
    }
}

/// Which directed links are cut, and the dice for the others. Seats are numbered from 0.
#[derive(Debug, Clone)]
pub struct Network {
    links: Links,
    cut: BTreeSet<(usize, usize)>,
    dice: Dice,
}

impl Network {
    /// A network without cuts.
    #[must_use]
    pub fn new(seed: u64, links: Links) -> Self {
        Self { links, cut: BTreeSet::new(), dice: Dice::new(seed, "network") }
    }

    /// From now on links behave like this; frames under way keep their delays.
    pub fn set_links(&mut self, links: Links) {
        self.links = links;
    }

    /// Nothing from `from` reaches `to` any more; the other direction is as it was.
    pub fn cut(&mut self, from: usize, to: usize) {
        self.cut.insert((from, to));
    }

    /// Cuts both directions between every seat of `group` and every one of `0..seats` outside it.
    pub fn split(&mut self, group: &[usize], seats: usize) {
        for from in 0..seats {
            for to in 0..seats {
                if group.contains(&from) != group.contains(&to) {
                    self.cut(from, to);
                }
            }
        }
    }

    /// All links work again.
    pub fn heal(&mut self) {
        self.cut.clear();
    }

    /// Whether `from` reaches `to`.
    #[must_use]
    pub fn reaches(&self, from: usize, to: usize) -> bool {
        !self.cut.contains(&(from, to))
    }

    /// The delays of the copies of one frame that will arrive: none, one or two.
    pub fn deliver(&mut self, from: usize, to: usize) -> Vec<Duration> {
        let links = self.links;
        if !self.reaches(from, to) || self.dice.happens(links.loss_ppm) {
            return Vec::new();
        }
        let copies = if self.dice.happens(links.duplicate_ppm) { 2 } else { 1 };
        (0..copies).map(|_| self.delay()).collect()
    }

    /// One delay, as a frame would have it: also how long it takes until a peer is missed.
    pub fn delay(&mut self) -> Duration {
        let links = self.links;
        let held_up = self.dice.happens(links.straggler_ppm);
        let extra = if held_up { self.dice.within(links.straggle) } else { Duration::ZERO };
        self.dice.within(links.delay) + extra
    }
}

#[cfg(test)]
mod tests {
    use super::{Links, Network};
    use crate::chance::Span;

    #[test]
    fn a_one_way_cut_stops_one_direction_only() {
        let mut network = Network::new(1, Links::steady(20));

        network.cut(0, 1);

        assert!(network.deliver(0, 1).is_empty());
        assert_eq!(network.deliver(1, 0).len(), 1);
        network.heal();
        assert_eq!(network.deliver(0, 1).len(), 1);
    }

    #[test]
    fn a_split_cuts_across_and_leaves_both_sides_whole() {
        let mut network = Network::new(1, Links::steady(20));

        network.split(&[0, 3], 4);

        for (from, to, reaches) in [(0, 3, true), (1, 2, true), (0, 1, false), (2, 3, false)] {
            assert_eq!(network.reaches(from, to), reaches, "{from} to {to}");
            assert_eq!(network.reaches(to, from), reaches, "{to} to {from}");
        }
    }

    #[test]
    fn loss_and_duplication_come_about_as_often_as_told() {
        let links = Links { loss_ppm: 200_000, duplicate_ppm: 100_000, ..Links::steady(1) };
        let mut network = Network::new(7, links);
        let (mut none, mut two) = (0, 0);

        for _ in 0..10_000 {
            match network.deliver(0, 1).len() {
                0 => none += 1,
                2 => two += 1,
                _ => {}
            }
        }

        assert!((1_800..=2_200).contains(&none), "{none} lost of 10,000");
        assert!((650..=950).contains(&two), "{two} doubled of 10,000");
    }

    #[test]
    fn a_wide_range_of_delays_reorders() {
        let links = Links { delay: Span::ms(1, 30), ..Links::steady(1) };
        let mut network = Network::new(3, links);

        let delays: Vec<_> = (0..20).flat_map(|_| network.deliver(0, 1)).collect();

        assert!(delays.iter().all(|d| (1..=30).contains(&d.as_millis())));
        assert!(delays.windows(2).any(|pair| pair[0] > pair[1]));
    }
}
