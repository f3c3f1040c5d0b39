//! How much builders may have.

use metatopia_types::{PublicKey, Refusal};

use super::{Case, Change};
use crate::{
    building::{Job, Work},
    history::Back,
    limits::SCRIPTS_PER_OBJECT_MAX,
    object::Object,
};

/// What something takes of its owner's share.
#[derive(Clone, Copy, Default)]
pub(super) struct Share {
    pub(super) objects: usize,
    pub(super) scripts: usize,
    pub(super) text: usize,
}

impl Case<'_> {
    /// Has an owner room for more? `parts` is 1 for all of what the owner may have, 2 for half.
    pub(super) fn check_share(
        &self,
        owner: &PublicKey,
        more: Share,
        parts: u32,
    ) -> Result<(), Refusal> {
        let mut all = more;
        for (_, thing) in self.state.things(owner) {
            all.objects = all.objects.saturating_add(1);
            all.scripts = all.scripts.saturating_add(thing.scripts.len());
            all.text = all.text.saturating_add(thing.text.len());
        }
        let rules = self.rules();
        let beyond = |count: usize, max: u32| count > (max / parts) as usize;
        if more.objects > 0 && beyond(all.objects, rules.objects_per_player) {
            return Err(Refusal::TooManyObjects);
        }
        if more.scripts > 0 && beyond(all.scripts, rules.scripts_per_player) {
            return Err(Refusal::TooManyScripts);
        }
        if more.text > 0 && beyond(all.text, rules.text_bytes_per_player) {
            return Err(Refusal::TooMuchText);
        }
        Ok(())
    }

    /// Does this leave more in the state than it takes out? What is deleted moves to its builder's
    /// history, without its scripts.
    pub(super) fn grows(&self, change: &Change) -> bool {
        match change {
            Change::Work(work) => !matches!(**work, Work::On(_, Job::Raze | Job::Detach(_))),
            Change::Undo(skip) => {
                let history = self.state.histories.get(&self.author());
                let deed = history.and_then(|history| history.deed(*skip));
                deed.is_some_and(|deed| !matches!(deed.back, Back::Raze | Back::Detach(_)))
            }
            _ => false,
        }
    }

    /// May a thing have one more script? The sim's own things are bounded each by itself only.
    pub(super) fn check_one_more_script(&self, thing: &Object) -> Result<(), Refusal> {
        if thing.scripts.len() >= SCRIPTS_PER_OBJECT_MAX {
            return Err(Refusal::TooManyScripts);
        }
        let more = Share { scripts: 1, ..Share::default() };
        thing.owner.map_or(Ok(()), |owner| self.check_share(&owner, more, 1))
    }

    /// May a thing show this text instead of its own?
    pub(super) fn check_more_text(&self, thing: &Object, text: &str) -> Result<(), Refusal> {
        let text = text.len().saturating_sub(thing.text.len());
        let more = Share { text, ..Share::default() };
        thing.owner.map_or(Ok(()), |owner| self.check_share(&owner, more, 1))
    }
}
