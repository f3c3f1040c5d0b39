//! Who may vote at which height, followed from the acts of decided turns.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{Act, Height, PublicKey, Root, SetChange, Turn};

/// Heights between a turn and the set it fixes, as the design says.
const LAG: u64 = 3;
/// A `Ready` may name a root of this many heights ago, at most.
const READY_HEIGHTS: u64 = 64;
/// Sets do not shrink below this.
const LEAST: usize = 4;
/// More do not wait.
const STANDBYS: usize = 16;

type Members = BTreeMap<PublicKey, u64>;

/// See the module.
#[derive(Debug)]
pub(crate) struct Electorate {
    admin: PublicKey,
    members: Members,
    standbys: BTreeSet<PublicKey>,
    sets: BTreeMap<Height, Members>,
    followed: Height,
}

impl Electorate {
    pub(crate) fn new(members: Members, admin: PublicKey) -> Self {
        let sets = (1..=LAG).map(|height| (Height(height), members.clone())).collect();
        Self { admin, members, standbys: BTreeSet::new(), sets, followed: Height(0) }
    }

    /// The height of the turn to follow next.
    pub(crate) fn next_height(&self) -> Height {
        self.followed.plus(1)
    }

    /// Does what the acts of the next turn say.
    pub(crate) fn follow(&mut self, turn: &Turn, root: impl Fn(Height) -> Option<Root>) {
        let now = turn.header.height;
        let mut changed = false;
        for act in turn.body.acts() {
            let author = act.envelope.author;
            match &act.envelope.act {
                _ if changed => {}
                Act::SetChange(SetChange::Add { key, .. }) if author == self.admin => {
                    let known = self.members.contains_key(key) || self.standbys.contains(key);
                    if !known && self.standbys.len() < STANDBYS {
                        self.standbys.insert(*key);
                    }
                }
                Act::SetChange(SetChange::Remove { key }) if author == self.admin => {
                    changed = self.standbys.remove(key) || self.remove(key);
                }
                Act::Ready { height, root: named } => {
                    let recent = *height < now && now.0 - height.0 <= READY_HEIGHTS;
                    if recent && root(*height) == Some(*named) && self.standbys.remove(&author) {
                        self.members.insert(author, 1);
                        changed = true;
                    }
                }
                _ => {}
            }
        }
        self.sets.insert(now.plus(LAG), self.members.clone());
        self.followed = now;
    }

    fn remove(&mut self, key: &PublicKey) -> bool {
        self.members.len() > LEAST && self.members.remove(key).is_some()
    }

    /// The voting power of some members of a height, each counted once, and that of all; none while
    /// it is not known who they are.
    pub(crate) fn power_of(
        &self,
        height: Height,
        names: impl Iterator<Item = PublicKey>,
    ) -> Option<(u64, u64)> {
        let set = self.sets.get(&height)?;
        let names: BTreeSet<_> = names.collect();
        Some((names.iter().filter_map(|name| set.get(name)).sum(), set.values().sum()))
    }

    /// Is it known that this name has no vote at that height?
    pub(crate) fn has_voted_outside(&self, name: &PublicKey, height: Height) -> bool {
        self.sets.get(&height).is_some_and(|set| !set.contains_key(name))
    }
}
