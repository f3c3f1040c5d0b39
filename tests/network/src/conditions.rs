//! The weather of now, and which links are cut.

use std::collections::BTreeSet;

use crate::{SeatLink, Weather};

/// What a switch asks for every packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkConditions {
    /// Between all servers.
    pub everywhere: Weather,
    cut: BTreeSet<SeatLink>,
    /// From this seat on, seats have clear sky: those who look on are not part of the story.
    onlookers_from: usize,
}

impl NetworkConditions {
    /// A clear sky; seats from `onlookers_from` on keep it, whatever is said about the others.
    #[must_use]
    pub fn new(onlookers_from: usize) -> Self {
        Self { onlookers_from, ..Self::default() }
    }

    /// Cuts one direction.
    pub fn cut(&mut self, link: SeatLink) {
        self.cut.insert(link);
    }

    /// Cuts everything between those of `one` side and all other seats that are no onlookers.
    pub fn split(&mut self, one: &[usize]) {
        let others = (0..self.onlookers_from).filter(|seat| !one.contains(seat));
        for other in others {
            self.cut.extend(one.iter().flat_map(|seat| [(*seat, other), (other, *seat)]));
        }
    }

    /// Mends all cuts.
    pub fn heal(&mut self) {
        self.cut.clear();
    }

    /// Returns what a packet meets on a link, or `None` if the link is cut.
    #[must_use]
    pub fn of(&self, link: SeatLink) -> Option<Weather> {
        if self.cut.contains(&link) {
            return None;
        }
        if link.0.max(link.1) >= self.onlookers_from {
            return Some(Weather::default());
        }
        Some(self.everywhere)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAIN: Weather = Weather {
        delay: std::time::Duration::ZERO,
        jitter: std::time::Duration::ZERO,
        loss_percent: 2,
        double_percent: 0,
    };

    #[test]
    fn a_cut_holds_in_one_direction_until_it_is_mended() {
        let mut now = NetworkConditions::new(4);
        now.cut((0, 1));
        assert_eq!((now.of((0, 1)), now.of((1, 0))), (None, Some(Weather::default())));
        now.heal();
        assert_eq!(now.of((0, 1)), Some(Weather::default()));
    }

    #[test]
    fn a_split_leaves_each_side_and_the_onlookers_whole() {
        let mut now = NetworkConditions::new(4);
        now.everywhere = RAIN;
        now.split(&[0, 1]);
        let through = |link| now.of(link).is_some();
        assert!(through((0, 1)) && through((3, 2)) && through((4, 0)) && through((2, 4)));
        for link in [(0, 2), (0, 3), (1, 2), (1, 3), (2, 0), (2, 1), (3, 0), (3, 1)] {
            assert!(!through(link), "{link:?}");
        }
        assert_eq!(now.of((4, 0)), Some(Weather::default()), "onlookers stay dry");
    }
}
