//! The programs of the sim's packages, and who listens to what: both follow from the state.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use metatopia_scripting::{EventKind, Handler};
use metatopia_types::{PackageId, ScriptId};

/// The handlers of packages, and the scripts that handle each kind of event.
#[derive(Clone, Default)]
pub(crate) struct Programs {
    handlers: BTreeMap<PackageId, Arc<dyn Handler>>,
    subscribers: BTreeMap<EventKind, BTreeSet<ScriptId>>,
}

impl fmt::Debug for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Programs").field("subscribers", &self.subscribers).finish_non_exhaustive()
    }
}

impl Programs {
    /// Adds the program of a package, before any script of it begins.
    pub(crate) fn add(&mut self, package: PackageId, handler: Arc<dyn Handler>) {
        self.handlers.insert(package, handler);
    }

    /// Removes the program of a package, after every script of it has ended.
    pub(crate) fn remove(&mut self, package: &PackageId) {
        self.handlers.remove(package);
    }

    /// Registers a script that begins with its package, or removes one that has ended.
    pub(crate) fn follow(&mut self, script: ScriptId, package: Option<PackageId>) {
        let handler = package.and_then(|package| self.handlers.get(&package));
        for kind in EventKind::ALL {
            if handler.is_some_and(|handler| handler.handles(kind)) {
                self.subscribers.entry(kind).or_default().insert(script);
            } else if let Some(scripts) = self.subscribers.get_mut(&kind) {
                scripts.remove(&script);
            }
        }
    }

    /// Returns the handler of a package.
    pub(super) fn handler(&self, package: &PackageId) -> Option<&Arc<dyn Handler>> {
        self.handlers.get(package)
    }

    /// Returns the scripts that handle events of this kind, in the order of their ids.
    pub(crate) fn subscribers(&self, kind: EventKind) -> impl Iterator<Item = ScriptId> {
        self.subscribers.get(&kind).into_iter().flatten().copied()
    }

    /// Returns how many scripts handle events of this kind.
    pub(super) fn count(&self, kind: EventKind) -> usize {
        self.subscribers.get(&kind).map_or(0, BTreeSet::len)
    }

    /// Returns those of `scripts` that handle events of this kind.
    pub(crate) fn listening<'a>(
        &'a self,
        kind: EventKind,
        scripts: &'a [ScriptId],
    ) -> impl Iterator<Item = ScriptId> + 'a {
        let subscribers = self.subscribers.get(&kind);
        let listens = move |script: &&ScriptId| subscribers.is_some_and(|all| all.contains(script));
        scripts.iter().filter(listens).copied()
    }
}

#[cfg(test)]
mod tests;
