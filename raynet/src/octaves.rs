//! Long links: some sites of every octave of distance. Kleinberg's law, a link of length d with
//! probability proportional to d to the power of minus the dimension, gives as many to each octave;
//! to count them per octave gives the law without the noise of drawing, and nobody can fill it with
//! sites of one place.

use std::collections::BTreeMap;

use crate::{SiteName, limits::LINKS_PER_OCTAVE};

/// Long links, by octave of distance. Who was there first stays while it lives.
#[derive(Clone, Debug, Default)]
pub(crate) struct LongLinks {
    octaves: BTreeMap<u32, Vec<SiteName>>,
}

impl LongLinks {
    pub(crate) fn has_room(&self, octave: u32) -> bool {
        self.octaves.get(&octave).is_none_or(|links| links.len() < LINKS_PER_OCTAVE)
    }

    /// Takes a site in, if its octave has room.
    pub(crate) fn offer(&mut self, octave: u32, name: SiteName) {
        let links = self.octaves.entry(octave).or_default();
        if links.len() < LINKS_PER_OCTAVE && !links.contains(&name) {
            links.push(name);
        }
    }

    pub(crate) fn remove(&mut self, name: SiteName) {
        for links in self.octaves.values_mut() {
            links.retain(|other| *other != name);
        }
    }

    pub(crate) fn holds(&self, name: SiteName) -> bool {
        self.names().any(|other| other == name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = SiteName> {
        self.octaves.values().flatten().copied()
    }
}
