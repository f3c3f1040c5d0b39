//! Samples of all members that nobody can fill by talking much: each slot keeps the site whose name
//! has the least value under the slot's own secret. To be named often changes nothing; who wants half
//! of the slots needs half of all sites.

use metatopia_math::Stream;

use crate::{SiteName, limits::SAMPLES};

/// A slot: its secret, and the site that has it.
#[derive(Clone, Copy, Debug)]
struct SampleSlot {
    secret: u64,
    taken: Option<(u64, SiteName)>,
}

/// Samples of the sites that were spoken with.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    slots: Vec<SampleSlot>,
}

impl Sampler {
    pub(crate) fn new(stream: &mut Stream) -> Self {
        let slots = (0..SAMPLES).map(|_| SampleSlot { secret: stream.next_u64(), taken: None });
        Self { slots: slots.collect() }
    }

    /// Says whether a site would get a slot.
    pub(crate) fn wants(&self, name: SiteName) -> bool {
        self.slots.iter().any(|slot| slot.is_lost_to(name))
    }

    /// Gives a site the slots that are its own.
    pub(crate) fn offer(&mut self, name: SiteName) {
        for slot in self.slots.iter_mut().filter(|slot| slot.is_lost_to(name)) {
            slot.taken = Some((slot.value(name), name));
        }
    }

    pub(crate) fn remove(&mut self, name: SiteName) {
        for slot in &mut self.slots {
            slot.taken = slot.taken.filter(|(_, other)| *other != name);
        }
    }

    pub(crate) fn holds(&self, name: SiteName) -> bool {
        self.names().any(|other| other == name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = SiteName> {
        self.slots.iter().filter_map(|slot| slot.taken).map(|(_, name)| name)
    }
}

impl SampleSlot {
    fn value(&self, name: SiteName) -> u64 {
        // The last step of splitmix64: who does not know the secret cannot choose the value.
        let mut value = u64::from_le_bytes(name.0) ^ self.secret;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    fn is_lost_to(&self, name: SiteName) -> bool {
        self.taken.is_none_or(|(value, holder)| holder != name && self.value(name) < value)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn name(number: u64) -> SiteName {
        SiteName(number.to_le_bytes())
    }

    /// An attacker with a tenth of all sites talks a hundred times as much as all others.
    #[test]
    fn a_sampler_is_not_filled_by_one_attacker_however_much_it_talks() {
        let (honest, lying): (Vec<u64>, Vec<u64>) = ((0..180).collect(), (180..200).collect());
        let liars: BTreeSet<SiteName> = lying.iter().copied().map(name).collect();
        let mut filled = 0;
        for seed in 0..32 {
            let mut sampler = Sampler::new(&mut Stream::new(&[seed; 32], "sampler", &[]));
            let told = lying.iter().cycle().take(18_000).chain(&honest);
            told.for_each(|number| sampler.offer(name(*number)));
            let mut quiet = Sampler::new(&mut Stream::new(&[seed; 32], "sampler", &[]));
            honest.iter().chain(&lying).for_each(|number| quiet.offer(name(*number)));
            let names: Vec<SiteName> = sampler.names().collect();
            assert_eq!(names, quiet.names().collect::<Vec<_>>(), "who talked more got no slot");
            filled += names.iter().filter(|name| liars.contains(name)).count();
        }
        let slots = 32 * SAMPLES;
        assert!(filled > 0 && filled < slots / 5, "{filled} of {slots} slots");
    }
}
