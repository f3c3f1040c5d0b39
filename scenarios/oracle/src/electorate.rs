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
    /// Whose changes count; if it is nobody, those count that the servers say they carried out.
    admin: Option<PublicKey>,
    members: Members,
    standbys: BTreeSet<PublicKey>,
    /// Standbys that take the place of somebody absent, of whom acts say nothing.
    reserve: BTreeSet<PublicKey>,
    /// Can the members be followed from the acts?
    known: bool,
    sets: BTreeMap<Height, Members>,
    followed: Height,
}

impl Electorate {
    pub(crate) fn new(members: Members, admin: Option<PublicKey>) -> Self {
        let sets = (1..=LAG).map(|height| (Height(height), members.clone())).collect();
        let (standbys, reserve) = (BTreeSet::new(), BTreeSet::new());
        Self { admin, members, standbys, reserve, known: true, sets, followed: Height(0) }
    }

    /// Returns whether it finds out by itself which changes count.
    pub(crate) const fn judges(&self) -> bool {
        self.admin.is_some()
    }

    /// The height of the turn to follow next.
    pub(crate) fn next_height(&self) -> Height {
        self.followed.plus(1)
    }

    /// Does what the acts of the next turn say.
    pub(crate) fn follow(
        &mut self,
        turn: &Turn,
        carried_out: Option<&[bool]>,
        root: impl Fn(Height) -> Option<Root>,
    ) {
        let now = turn.header.height;
        match (self.admin, carried_out) {
            (Some(admin), _) => {
                self.follow_orders(turn, |author, act| may(admin, author, act, now, &root))
            }
            (None, Some(acts)) => self.follow_carried_out(turn, acts),
            (None, None) => {}
        }
        if self.known {
            self.sets.insert(now.plus(LAG), self.members.clone());
        }
        self.followed = now;
    }

    /// Does what counts by the rules of a sim with one admin: one change a turn, in the order of the acts.
    fn follow_orders(&mut self, turn: &Turn, may: impl Fn(PublicKey, &Act) -> bool) {
        let mut changed = false;
        for act in turn.body.acts() {
            let (author, act) = (act.envelope.author, &act.envelope.act);
            changed |= !changed && may(author, act) && self.carry_out(author, act);
        }
    }

    /// Does what servers say they carried out. They do so in an order of their own, so what has no effect yet is done
    /// after what makes room for it: a standby that is named and ready in one turn.
    fn follow_carried_out(&mut self, turn: &Turn, carried_out: &[bool]) {
        let is_of_votes =
            |act: &Act| matches!(act, Act::SetChange(_) | Act::Ready { .. } | Act::Report(_));
        let acts = turn.body.acts().iter().map(|act| (act.envelope.author, &act.envelope.act));
        let done =
            acts.zip(carried_out).filter(|((_, act), is_done)| **is_done && is_of_votes(act));
        let mut left: Vec<(PublicKey, &Act)> = done.map(|(act, _)| act).collect();
        loop {
            let before = left.len();
            left.retain(|(author, act)| {
                let lists = (self.members.clone(), self.standbys.clone(), self.reserve.clone());
                self.carry_out(*author, act);
                lists == (self.members.clone(), self.standbys.clone(), self.reserve.clone())
            });
            if left.len() == before {
                return;
            }
        }
    }

    /// Returns whether the members, or those who wait, became fewer or others.
    fn carry_out(&mut self, author: PublicKey, act: &Act) -> bool {
        match act {
            Act::SetChange(SetChange::Add { key, .. }) => self.wait(*key, false),
            Act::SetChange(SetChange::Reserve { key, .. }) => self.wait(*key, true),
            Act::SetChange(SetChange::Remove { key }) => {
                self.standbys.remove(key) || self.reserve.remove(key) || self.remove(key)
            }
            Act::Ready { .. } if self.reserve.contains(&author) => {
                self.known = false;
                true
            }
            Act::Ready { .. } if self.standbys.remove(&author) => {
                self.members.insert(author, 1);
                true
            }
            Act::Report(evidence) => self.remove(&evidence.accused().0),
            _ => false,
        }
    }

    fn wait(&mut self, key: PublicKey, in_reserve: bool) -> bool {
        let waiting = self.standbys.len() + self.reserve.len();
        let known = self.members.contains_key(&key)
            || self.standbys.contains(&key)
            || self.reserve.contains(&key);
        if !known && waiting < STANDBYS {
            let list = if in_reserve { &mut self.reserve } else { &mut self.standbys };
            list.insert(key);
        }
        false
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

    /// Returns whether this name is known to have no vote at that height.
    pub(crate) fn has_voted_outside(&self, name: &PublicKey, height: Height) -> bool {
        self.sets.get(&height).is_some_and(|set| !set.contains_key(name))
    }
}

/// Returns whether an act may change who votes, by the rules of a sim with one admin.
fn may(
    admin: PublicKey,
    author: PublicKey,
    act: &Act,
    now: Height,
    root: &impl Fn(Height) -> Option<Root>,
) -> bool {
    match act {
        Act::SetChange(SetChange::Add { .. } | SetChange::Remove { .. }) => author == admin,
        // Simulated servers of agreement alone show the root itself.
        Act::Ready { height, proof } => {
            let recent = *height < now && now.0 - height.0 <= READY_HEIGHTS;
            recent && root(*height) == Some(Root(*proof))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Electorate, LAG};
    use crate::samples::{SIM, key, with_acts};
    use metatopia_types::{
        Act, Digest, Envelope, HeaderId, Height, Lane, NodeContact, Root, Seq, SetChange,
        Sign as _, SignedEnvelope,
    };

    fn act(author: u8, act: Act) -> SignedEnvelope {
        let (sim, key, last_valid) = (SIM, key(author), Height(9));
        let (author, lane, seq) = (key.public(), Lane(1), Seq(1));
        Envelope { sim, author, lane, seq, last_valid, act }.sign(&key)
    }

    fn add(author: u8, seat: u8, reserve: bool) -> SignedEnvelope {
        let (key, contact) = (key(seat).public(), NodeContact::default());
        let change = if reserve {
            SetChange::Reserve { key, contact }
        } else {
            SetChange::Add { key, contact }
        };
        act(author, Act::SetChange(change))
    }

    fn ready(seat: u8) -> SignedEnvelope {
        act(seat, Act::Ready { height: Height(0), proof: Root(Digest::ZERO).0 })
    }

    /// Four members, and each of these acts in a turn of its own, with what the servers say of it.
    /// Returns the voting power in force after the last.
    fn total(admin: Option<u8>, acts: &[(SignedEnvelope, Option<bool>)]) -> Option<u64> {
        let members = (0..4).map(|seat| (key(seat).public(), 1)).collect();
        let mut electorate = Electorate::new(members, admin.map(|seat| key(seat).public()));
        for (height, (act, done)) in (1..).zip(acts) {
            let turn = with_acts(height, 50, HeaderId::BEFORE_FIRST, vec![act.clone()]);
            let done = done.map(|done| vec![done]);
            electorate.follow(&turn, done.as_deref(), |_| Some(Root(Digest::ZERO)));
        }
        let last = Height(acts.len() as u64 + LAG);
        electorate.power_of(last, std::iter::empty()).map(|(_, total)| total)
    }

    #[test]
    fn with_an_admin_it_judges_changes_by_itself() {
        assert_eq!(total(Some(0), &[(add(0, 4, false), None), (ready(4), None)]), Some(5));
        assert_eq!(total(Some(1), &[(add(0, 4, false), None), (ready(4), None)]), Some(4));
    }

    #[test]
    fn without_an_admin_changes_count_that_were_carried_out() {
        let join = |added, ready_done| {
            total(None, &[(add(9, 4, false), Some(added)), (ready(4), Some(ready_done))])
        };

        assert_eq!(join(true, true), Some(5));
        assert_eq!(join(true, false), Some(4));
        assert_eq!(join(false, true), Some(4), "nobody was waiting");
    }

    /// A standby showed its state before the order that named it, in the list of one turn, and the servers carried both
    /// out in another order: who had voted by then was unknown to the laws (seed 179 of crossing).
    #[test]
    fn what_was_carried_out_in_one_turn_counts_in_any_order() {
        for swapped in [false, true] {
            let members = (0..4).map(|seat| (key(seat).public(), 1)).collect();
            let mut electorate = Electorate::new(members, None);
            let mut acts = vec![add(9, 4, false), ready(4)];
            if swapped {
                acts.reverse();
            }
            let turn = with_acts(1, 50, HeaderId::BEFORE_FIRST, acts);
            electorate.follow(&turn, Some(&[true, true]), |_| Some(Root(Digest::ZERO)));
            let power = electorate.power_of(Height(1 + LAG), std::iter::empty());
            assert_eq!(power, Some((0, 5)), "swapped: {swapped}");
        }
    }

    #[test]
    fn whom_a_standby_in_reserve_replaces_is_not_in_the_acts() {
        let join = |done| total(None, &[(add(9, 4, true), Some(true)), (ready(4), Some(done))]);

        assert_eq!(join(false), Some(4));
        assert_eq!(join(true), None);
    }
}
