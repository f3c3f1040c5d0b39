//! The network between servers: how long a frame takes, and whether it arrives at all.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::chance::{Dice, Span};
use crate::class::{Class, Fired};

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
    /// No frame overtakes an earlier one of the same link.
    pub in_order: bool,
}

impl Links {
    /// The links on which each frame takes exactly `ms` milliseconds and nothing is lost.
    #[must_use]
    pub const fn steady(ms: u64) -> Self {
        Self {
            delay: Span::exactly_ms(ms),
            loss_ppm: 0,
            duplicate_ppm: 0,
            straggler_ppm: 0,
            straggle: Span::exactly_ms(0),
            in_order: false,
        }
    }
}

/// Which directed links are cut or clogged, and the dice for the others. Seats are numbered from 0.
#[derive(Debug, Clone)]
pub struct Network {
    links: Links,
    cut: BTreeMap<(usize, usize), Class>,
    /// Until when a link holds up its frames.
    clogged: BTreeMap<(usize, usize), Duration>,
    /// When the last frame of a link arrives.
    last: BTreeMap<(usize, usize), Duration>,
    dice: Dice,
    fired: Fired,
}

impl Network {
    /// A network without cuts.
    #[must_use]
    pub fn new(seed: u64, links: Links) -> Self {
        Self {
            links,
            cut: BTreeMap::new(),
            clogged: BTreeMap::new(),
            last: BTreeMap::new(),
            dice: Dice::new(seed, "network"),
            fired: Fired::default(),
        }
    }

    /// Sets how links behave from now on. Frames under way keep their delays.
    pub fn set_links(&mut self, links: Links) {
        self.links = links;
    }

    /// Cuts the way from `from` to `to`; the other direction is as it was. Frames that are lost because of it
    /// count for `class`.
    pub fn cut(&mut self, from: usize, to: usize, class: Class) {
        self.cut.insert((from, to), class);
    }

    /// Cuts both directions between every seat of `group` and every one of `0..seats` outside it.
    pub fn split(&mut self, group: &[usize], seats: usize, class: Class) {
        for from in 0..seats {
            for to in 0..seats {
                if group.contains(&from) != group.contains(&to) {
                    self.cut(from, to, class);
                }
            }
        }
    }

    /// Frames from `from` to `to` arrive no sooner than at `until`.
    pub fn clog(&mut self, from: usize, to: usize, until: Duration) {
        self.clogged.insert((from, to), until);
    }

    /// Restores the links that were cut for this class of faults.
    pub fn mend(&mut self, class: Class) {
        self.cut.retain(|_, cut| *cut != class);
    }

    /// Restores all links.
    pub fn heal(&mut self) {
        self.cut.clear();
        self.clogged.clear();
    }

    /// Returns whether `from` reaches `to`.
    #[must_use]
    pub fn reaches(&self, from: usize, to: usize) -> bool {
        !self.cut.contains_key(&(from, to))
    }

    /// Returns what happened to frames.
    #[must_use]
    pub const fn fired(&self) -> &Fired {
        &self.fired
    }

    /// The delays of the copies of one frame that will arrive: none, one or two.
    pub fn deliver(&mut self, at: Duration, from: usize, to: usize) -> Vec<Duration> {
        let links = self.links;
        if let Some(class) = self.cut.get(&(from, to)) {
            self.fired.note(*class);
            return Vec::new();
        }
        if self.dice.happens(links.loss_ppm) {
            self.fired.note(Class::Drop);
            return Vec::new();
        }
        let twice = self.dice.happens(links.duplicate_ppm);
        if twice {
            self.fired.note(Class::Duplicate);
        }
        (0..if twice { 2 } else { 1 }).map(|_| self.travel(at, from, to)).collect()
    }

    /// Draws how long a copy that leaves now is under way.
    fn travel(&mut self, at: Duration, from: usize, to: usize) -> Duration {
        let mut delay = self.delay();
        if delay > self.links.delay.least {
            self.fired.note(Class::Delay);
        }
        if let Some(until) = self.clogged.get(&(from, to)).filter(|until| **until > at) {
            delay += *until - at;
            self.fired.note(Class::Clog);
        }
        let last = self.last.entry((from, to)).or_default();
        if at + delay < *last {
            if self.links.in_order {
                delay = *last - at;
            } else {
                self.fired.note(Class::Reorder);
            }
        }
        *last = (*last).max(at + delay);
        delay
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
    use crate::class::Class;
    use std::time::Duration;

    #[test]
    fn a_one_way_cut_stops_one_direction_only() {
        let mut network = Network::new(1, Links::steady(20));

        network.cut(0, 1, Class::OneWay);

        assert!(network.deliver(Duration::ZERO, 0, 1).is_empty());
        assert_eq!(network.deliver(Duration::ZERO, 1, 0).len(), 1);
        assert_eq!(network.fired().times(Class::OneWay), 1);
        network.heal();
        assert_eq!(network.deliver(Duration::ZERO, 0, 1).len(), 1);
    }

    #[test]
    fn a_split_cuts_across_and_leaves_both_sides_whole() {
        let mut network = Network::new(1, Links::steady(20));

        network.split(&[0, 3], 4, Class::Split);

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
            match network.deliver(Duration::ZERO, 0, 1).len() {
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

        let delays: Vec<_> = (0..20).flat_map(|_| network.deliver(Duration::ZERO, 0, 1)).collect();

        assert!(delays.iter().all(|d| (1..=30).contains(&d.as_millis())));
        assert!(delays.windows(2).any(|pair| pair[0] > pair[1]));
    }

    #[test]
    fn a_link_in_order_holds_back_what_would_overtake() {
        for in_order in [true, false] {
            let links = Links { delay: Span::ms(1, 30), in_order, ..Links::steady(1) };
            let mut network = Network::new(3, links);
            let at = |ms| Duration::from_millis(ms);

            let arrivals: Vec<_> =
                (0..50).map(|ms| at(ms) + network.deliver(at(ms), 0, 1)[0]).collect();

            let ordered = arrivals.windows(2).all(|pair| pair[0] <= pair[1]);
            assert_eq!(ordered, in_order);
            assert_eq!(network.fired().times(Class::Reorder) == 0, in_order);
        }
    }

    #[test]
    fn a_clogged_link_lets_everything_through_in_the_end() {
        let mut network = Network::new(1, Links::steady(20));
        let (second, later) = (Duration::from_secs(1), Duration::from_secs(5));

        network.clog(0, 1, later);

        assert_eq!(network.deliver(second, 0, 1), [Duration::from_millis(4_020)]);
        assert_eq!(network.deliver(later, 0, 1), [Duration::from_millis(20)]);
        assert_eq!(network.fired().times(Class::Clog), 1);
    }
}
