//! What may happen to a packet, and what does happen to the n-th one of a link.

use std::time::Duration;

use metatopia_math::Stream;

use crate::SeatLink;

/// What packets meet on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weather {
    /// Travel time, at least.
    pub delay: Duration,
    /// More travel time, evenly from nothing to this: packets overtake each other.
    pub jitter: Duration,
    /// How many of a hundred packets are lost.
    pub loss_percent: u64,
    /// How many of a hundred packets come twice.
    pub double_percent: u64,
}

/// The dice of one direction of one link.
#[derive(Debug)]
pub struct PacketDice(Stream);

impl PacketDice {
    /// The dice of a link: each has its own, so that traffic of one does not shift those of another.
    #[must_use]
    pub fn new(seed: u64, (from, to): SeatLink) -> Self {
        Self(Stream::new(&[0; 32], "metatopia network v1", &[seed, from as u64, to as u64]))
    }

    /// Returns when the next packet comes after it was sent: never, once, or twice.
    pub fn of_packet(&mut self, weather: Weather) -> Vec<Duration> {
        // All dice are thrown for every packet, so that a change of weather shifts nothing either.
        let [lost, doubled, first, second] =
            [100, 100, JITTER_STEPS, JITTER_STEPS].map(|n| self.0.below(n));
        let after = |step: u64| {
            let jitter = weather.jitter.as_nanos() as u64 / JITTER_STEPS * step;
            weather.delay + Duration::from_nanos(jitter)
        };
        match () {
            () if lost < weather.loss_percent => Vec::new(),
            () if doubled < weather.double_percent => vec![after(first), after(second)],
            () => vec![after(first)],
        }
    }
}

/// Jitter comes in so many steps.
const JITTER_STEPS: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: Duration = Duration::from_millis(1);

    #[test]
    fn a_clear_sky_carries_every_packet_once_and_at_once() {
        let mut fates = PacketDice::new(1, (0, 1));
        for _ in 0..1_000 {
            assert_eq!(fates.of_packet(Weather::default()), [Duration::ZERO]);
        }
    }

    #[test]
    fn packets_come_within_delay_and_jitter_and_as_often_as_told() {
        let weather =
            Weather { delay: 20 * MILLI, jitter: 10 * MILLI, loss_percent: 20, double_percent: 10 };
        let mut fates = PacketDice::new(2, (3, 1));
        let all: Vec<_> = (0..10_000).map(|_| fates.of_packet(weather)).collect();
        assert!(all.iter().flatten().all(|after| (20 * MILLI..30 * MILLI).contains(after)));
        let lost = all.iter().filter(|copies| copies.is_empty()).count();
        let doubled = all.iter().filter(|copies| copies.len() == 2).count();
        // Three standard deviations of 10,000 throws are 1.2 and 0.9 of a hundred.
        assert!((1_850..2_150).contains(&lost), "{lost}");
        assert!((700..900).contains(&doubled), "{doubled}");
    }

    #[test]
    fn links_and_seeds_have_dice_of_their_own() {
        let weather = Weather { jitter: 10 * MILLI, ..Weather::default() };
        let mut three =
            [(1, (0, 1)), (1, (1, 0)), (2, (0, 1))].map(|(seed, link)| PacketDice::new(seed, link));
        let [one, back, other] = three.each_mut().map(|fates| fates.of_packet(weather));
        assert!(one != back && one != other);
    }
}
