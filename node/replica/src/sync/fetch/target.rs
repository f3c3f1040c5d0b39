//! The state that is being fetched.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use metatopia_protocol::{LEAVES_PER_QUESTION_MAX, SNAPSHOT_PART_BYTES, SnapshotOffer};
use metatopia_sim::{Manifest, SNAPSHOT_BYTES_MAX, StateRestoreError};
use metatopia_types::{Digest, Header, Height, PublicKey, wire::DecodeError};

use super::provider::ProviderFault;

#[cfg(test)]
mod tests;

/// A state whose root is certified, as far as it is there.
#[derive(Debug)]
pub(super) struct Target {
    offer: SnapshotOffer,
    /// When it was chosen, or some of it came last.
    pub(super) moved: Duration,
    /// The headers of its height and the next.
    heads: [Option<Header>; 2],
    /// Who gives the manifest, and what of the snapshot's beginning came from there.
    giver: Option<PublicKey>,
    beginning: Vec<u8>,
    /// The bytes of the beginning when it was decoded last, without success.
    decoded: usize,
    manifest: Option<Manifest>,
    /// Leaves to be asked for.
    missing: VecDeque<u32>,
    /// Bytes of leaves that are not there.
    missing_bytes: u64,
    bytes: u64,
}

/// Returns what this fault of a manifest says of whoever gave it.
fn fault(why: StateRestoreError) -> ProviderFault {
    match why {
        StateRestoreError::Snapshot(why) => ProviderFault::NoManifest(why),
        why => ProviderFault::Manifest(why),
    }
}

impl Target {
    pub(super) fn new(offer: SnapshotOffer, now: Duration) -> Self {
        Self {
            offer,
            moved: now,
            heads: [None, None],
            giver: None,
            beginning: Vec::new(),
            decoded: 0,
            manifest: None,
            missing: VecDeque::new(),
            missing_bytes: 0,
            bytes: 0,
        }
    }

    pub(super) fn height(&self) -> Height {
        self.offer.height
    }

    pub(super) fn offer(&self) -> &SnapshotOffer {
        &self.offer
    }

    /// Returns the bytes of leaves that are there, and of all.
    pub(super) fn bytes(&self) -> (u64, u64) {
        (self.bytes.saturating_sub(self.missing_bytes), self.bytes)
    }

    /// Returns whether this is one of the heights whose headers are needed.
    pub(super) fn covers(&self, height: Height) -> bool {
        height == self.height() || height == self.height().plus(1)
    }

    /// Returns the height of the header to fetch next: the later one first, which names the other.
    pub(super) fn wanted_head(&self) -> Option<Height> {
        let wanted = self.heads.iter().rposition(Option::is_none)?;
        Some(self.height().plus(wanted as u64))
    }

    /// Returns both headers, once they are there.
    pub(super) fn heads(&self) -> Option<[Header; 2]> {
        let [Some(state), Some(next)] = &self.heads else {
            return None;
        };
        Some([state.clone(), next.clone()])
    }

    pub(super) fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// Takes a header. The certified one, or the one between, says which it must be.
    pub(super) fn head(&mut self, height: Height, header: Header) -> Result<(), ProviderFault> {
        let (at, named) = if height == self.height().plus(1) {
            (1, Some(self.offer.header.previous))
        } else {
            (0, self.heads[1].as_ref().map(|next| next.previous))
        };
        if header.height != height || named != Some(header.id()) {
            return Err(ProviderFault::OtherHeader(height));
        }
        self.heads[at] = Some(header);
        Ok(())
    }

    /// Returns the part of the snapshot that `provider` may be asked for, until the manifest is there.
    pub(super) fn wanted_part(&mut self, provider: PublicKey) -> Option<u32> {
        if self.manifest.is_some() || *self.giver.get_or_insert(provider) != provider {
            return None;
        }
        u32::try_from(self.beginning.len() / SNAPSHOT_PART_BYTES).ok()
    }

    /// Notes that the provider gives the manifest no more.
    pub(super) fn begin_again(&mut self, provider: PublicKey) {
        if self.giver.take_if(|giver| *giver == provider).is_some() {
            self.beginning.clear();
            self.decoded = 0;
        }
    }

    /// Takes a part of the snapshot's beginning from a provider that offered it with so many bytes.
    /// Nothing proves that length, so no other provider is held against it. The beginning is decoded
    /// again only when it has grown by an eighth, lest a long one is decoded for each of its parts.
    pub(super) fn part(
        &mut self,
        (from, offered): (PublicKey, u64),
        part: u32,
        bytes: &[u8],
        have: &BTreeMap<Digest, Vec<u8>>,
    ) -> Result<(), ProviderFault> {
        let next = u32::try_from(self.beginning.len() / SNAPSHOT_PART_BYTES);
        if self.manifest.is_some() || self.giver != Some(from) || next != Ok(part) {
            return Ok(());
        }
        if bytes.is_empty() || bytes.len() > SNAPSHOT_PART_BYTES {
            return Err(ProviderFault::Unasked);
        }
        self.beginning.extend_from_slice(bytes);
        let length = self.beginning.len();
        let is_last = bytes.len() < SNAPSHOT_PART_BYTES
            || length as u64 >= offered.min(SNAPSHOT_BYTES_MAX as u64);
        if !is_last && length < self.decoded + self.decoded / 8 {
            return Ok(());
        }
        self.decoded = length;
        let Some(manifest) = Manifest::decode_beginning(&self.beginning).map_err(fault)? else {
            return if is_last {
                Err(ProviderFault::NoManifest(DecodeError::Malformed))
            } else {
                Ok(())
            };
        };
        manifest.check(self.offer.header.root).map_err(ProviderFault::Manifest)?;
        for (place, leaf) in (0..).zip(&manifest.leaves) {
            self.bytes = self.bytes.saturating_add(u64::from(leaf.bytes));
            if !have.contains_key(&leaf.hash) {
                self.missing.push_back(place);
                self.missing_bytes = self.missing_bytes.saturating_add(u64::from(leaf.bytes));
            }
        }
        self.beginning = Vec::new();
        self.manifest = Some(manifest);
        Ok(())
    }

    /// Leaves for one question.
    pub(super) fn wanted_leaves(&mut self) -> Vec<u32> {
        let Some(manifest) = &self.manifest else {
            return Vec::new();
        };
        let (mut wanted, mut left) = (Vec::new(), SNAPSHOT_PART_BYTES as u64);
        while let Some(leaf) = self.missing.front() {
            let bytes = manifest.leaves.get(*leaf as usize).map_or(0, |leaf| u64::from(leaf.bytes));
            if wanted.len() >= LEAVES_PER_QUESTION_MAX || !wanted.is_empty() && bytes > left {
                break;
            }
            left = left.saturating_sub(bytes);
            wanted.extend(self.missing.pop_front());
        }
        wanted
    }

    /// Leaves that did not come: they are asked for first.
    pub(super) fn give_back(&mut self, leaves: Vec<u32>) {
        for leaf in leaves.into_iter().rev() {
            self.missing.push_front(leaf);
        }
    }

    /// Takes a leaf, and returns its hash if it is the right one.
    pub(super) fn leaf(&mut self, place: u32, content: &[u8]) -> Result<Digest, ProviderFault> {
        let entry = self.manifest.as_ref().and_then(|m| m.leaves.get(place as usize));
        let entry = entry.ok_or(ProviderFault::Unasked)?;
        let hash = Digest(*blake3::hash(content).as_bytes());
        if entry.hash != hash {
            return Err(ProviderFault::Leaf(entry.key.clone()));
        }
        self.missing_bytes = self.missing_bytes.saturating_sub(u64::from(entry.bytes));
        Ok(hash)
    }
}
