//! What a world is like: links, disks, clocks. A run prints all of it when it fails.

use std::time::Duration;

use crate::chance::{Dice, Span};
use crate::crash::UnsyncedWrites;
use crate::network::Links;

/// The faults and delays of one world. Probabilities are parts per million.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conditions {
    /// How links behave.
    pub links: Links,
    /// How long a sync of the disk takes.
    pub sync: Span,
    /// A sync fails; the server stops at once, as it must, and starts again.
    pub sync_error_ppm: u32,
    /// How long a job takes, such as applying a turn. Jobs of one server run one after the other.
    pub job: Span,
    /// A process dies right after a write.
    pub dies_after_write_ppm: u32,
    /// A process dies right after a message left for one peer.
    pub dies_after_send_ppm: u32,
    /// A process dies while it starts, after one of its first steps on the disk.
    pub dies_at_start_ppm: u32,
    /// How long a process that dies by itself is away.
    pub down: Span,
    /// What may become of unsynced bytes when a process dies by itself.
    pub tails: Vec<UnsyncedWrites>,
    /// Servers notice when a peer dies or comes back, after one network delay.
    pub notices: bool,
    /// Effects wait for the disk as they ask. Only a negative control says no.
    pub barrier: bool,
    /// What each server's wall clock is ahead, in milliseconds, and how much faster its clocks
    /// run, in parts per million. Servers past the end have perfect clocks.
    pub clocks: Vec<(i64, i32)>,
    /// How many times as fast as the world's time all wall clocks go.
    pub haste: u32,
}

impl Conditions {
    /// A world without faults, in which every frame takes `ms` milliseconds.
    #[must_use]
    pub const fn calm(ms: u64) -> Self {
        Self {
            links: Links::steady(ms),
            sync: Span::exactly_ms(0),
            sync_error_ppm: 0,
            job: Span::exactly_ms(0),
            dies_after_write_ppm: 0,
            dies_after_send_ppm: 0,
            dies_at_start_ppm: 0,
            down: Span::ms(0, 200),
            tails: Vec::new(),
            notices: true,
            barrier: true,
            clocks: Vec::new(),
            haste: 1,
        }
    }

    /// A world drawn from `seed`: each kind of trouble is absent in a third of all worlds, so that
    /// some worlds have only one kind.
    #[must_use]
    pub fn draw(seed: u64, servers: usize) -> Self {
        let mut dice = Dice::new(seed, "conditions");
        let most = 5 + dice.below(60);
        let mut world = Self::calm(0);
        world.links.delay = Span::ms(1, most);
        let mut some = |most: u64| {
            if dice.below(3) == 0 { 0 } else { dice.below(most) as u32 }
        };
        world.links.loss_ppm = some(120_000);
        world.links.duplicate_ppm = some(300_000);
        world.links.straggler_ppm = some(20_000);
        world.sync = Span { least: Duration::ZERO, most: Duration::from_millis(some(12).into()) };
        world.sync_error_ppm = some(200);
        world.job = Span { least: Duration::ZERO, most: Duration::from_millis(some(40).into()) };
        world.links.straggle = Span::ms(50, 800);
        world.notices = dice.below(2) == 0;
        if dice.below(3) != 0 {
            let clock = |dice: &mut Dice| {
                (dice.below(800) as i64 - 400, dice.below(100_000) as i32 - 50_000)
            };
            world.clocks = (0..servers).map(|_| clock(&mut dice)).collect();
        }
        world
    }

    /// Draws what becomes of unsynced bytes when a process dies by itself, and how long it is away.
    pub(crate) fn death(&self, dice: &mut Dice) -> (UnsyncedWrites, Duration) {
        let tail =
            if self.tails.is_empty() { UnsyncedWrites::Kept } else { dice.pick(&self.tails) };
        (tail, dice.within(self.down))
    }

    /// The same world after its faults stopped: nothing is lost or delayed for long any more.
    #[must_use]
    pub fn healed(&self) -> Self {
        let links = Links { loss_ppm: 0, duplicate_ppm: 0, straggler_ppm: 0, ..self.links };
        Self {
            links,
            sync_error_ppm: 0,
            dies_after_write_ppm: 0,
            dies_after_send_ppm: 0,
            dies_at_start_ppm: 0,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Conditions;

    #[test]
    fn every_kind_of_trouble_is_absent_in_about_a_third_of_all_worlds() {
        let worlds: Vec<_> = (0..300).map(|seed| Conditions::draw(seed, 4)).collect();
        let absent = |is: fn(&Conditions) -> bool| worlds.iter().filter(|w| is(w)).count();

        for (kind, count) in [
            ("loss", absent(|w| w.links.loss_ppm == 0)),
            ("duplicates", absent(|w| w.links.duplicate_ppm == 0)),
            ("sync errors", absent(|w| w.sync_error_ppm == 0)),
            ("odd clocks", absent(|w| w.clocks.is_empty())),
        ] {
            assert!((70..=130).contains(&count), "{kind}: absent in {count} of 300");
        }
        assert_eq!(worlds[7], Conditions::draw(7, 4), "a seed is one world");
        assert_ne!(worlds[7], worlds[8]);
    }
}
