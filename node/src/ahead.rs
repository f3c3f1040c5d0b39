//! Packages that are compiled ahead: once a server has taken in the act that publishes one, and before the turn of the
//! act is agreed.
//!
//! 64 KiB take up to 16 ms (`metatopia-abuse worst_compile`), and a turn has 50. What a package compiles to follows
//! from its id, which covers what it imports. So a turn looks up what is kept, or compiles the package itself and comes
//! to the same.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
};

use metatopia_scripting::{
    CompileError, Executor, Handler, LinkedPackage, Package, default_executor,
};
use metatopia_sim::{Tools, World, limits::PUBLISHED_BYTES_PER_TURN_MAX};
use metatopia_types::{Blob, Height, PackageId};

use crate::executor::STACK_BYTES;

/// Packages that wait for the thread. What finds no room is compiled by its turn.
const COMPILES_WAITING_MAX: usize = 8;

/// Programs, and errors in the place of programs, that are kept for their turns; the oldest go first.
const COMPILED_MAX: usize = 16;

/// What became of a package.
type Compiled = Result<Arc<dyn Handler>, CompileError>;

/// The executor that sims run by, with what was compiled ahead.
#[derive(Default)]
pub struct AheadExecutor(Mutex<VecDeque<(PackageId, Compiled)>>);

impl std::fmt::Debug for AheadExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AheadExecutor")
    }
}

impl AheadExecutor {
    /// Returns the tools of a sim that looks up what this one has compiled.
    #[must_use]
    pub fn tools(self: &Arc<Self>) -> Tools {
        let executor: Arc<dyn Executor> = Arc::<Self>::clone(self);
        Tools { executor, ..metatopia_audit::tools() }
    }

    /// Compiles packages until nobody can send any more.
    fn compile_all(&self, packages: &mpsc::Receiver<PackageSources>) {
        packages.iter().for_each(|sources| self.compile_ahead(&sources));
    }

    /// Compiles a package, and keeps what becomes of it.
    fn compile_ahead(&self, sources: &PackageSources) {
        let find = |id: &PackageId| sources.imports.iter().find(|import| import.id() == *id);
        // What cannot be linked is refused by its turn, which says why.
        let Ok(linked) = LinkedPackage::new(&sources.package, &find) else { return };
        let compiled = default_executor().compile(&linked);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.truncate(COMPILED_MAX - 1);
        kept.push_front((sources.package.id(), compiled));
    }
}

impl Executor for AheadExecutor {
    fn compile(&self, package: &LinkedPackage<'_>) -> Compiled {
        let id = package.package().id();
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|(known, _)| *known == id).map(|(_, known)| known.clone());
        drop(kept);
        found.unwrap_or_else(|| default_executor().compile(package))
    }
}

/// A package that is not in the sim yet, with all that it imports.
#[derive(Debug)]
struct PackageSources {
    package: Package,
    imports: Vec<Package>,
    /// How much a turn counts it for.
    weight: u64,
}

impl PackageSources {
    /// Decodes a package, and finds what it imports in a sim. Returns `None` if the sim has the package already, or
    /// will refuse it.
    fn new(source: &Blob, world: &World) -> Option<Self> {
        let package = Package::decode(&source.0).ok()?;
        if world.package(&package.id()).is_some() {
            return None;
        }
        let linked = LinkedPackage::new(&package, &|id| world.package(id)).ok()?;
        let imports = linked.imports().packages().cloned().collect();
        // One that weighs more than a turn takes comes in pieces, however short it is, and counts for what is compiled.
        let is_whole = linked.weight() as u64 <= PUBLISHED_BYTES_PER_TURN_MAX;
        let weight = if is_whole { linked.weight() } else { linked.compiled_bytes() } as u64;
        Some(Self { package, imports, weight })
    }
}

/// The way to the thread that compiles packages.
///
/// After each turn it takes as many bytes of source as a turn compiles. Turns have room for four times as many, and
/// refuse what is beyond: without a bound, whoever sends that would keep the thread of each server busy.
#[derive(Debug)]
pub struct CompileQueue {
    packages: mpsc::SyncSender<PackageSources>,
    /// The turn after which the bytes were taken.
    height: Height,
    /// The bytes of source that were decoded since, with all that is compiled of it.
    taken: u64,
}

impl CompileQueue {
    /// Starts the thread. It ends when nobody can send it packages any more.
    ///
    /// # Errors
    /// Fails when no thread can be started.
    pub fn start(executor: Arc<AheadExecutor>) -> io::Result<Self> {
        let (sender, packages) = mpsc::sync_channel::<PackageSources>(COMPILES_WAITING_MAX);
        let compiler = thread::Builder::new().name("compiler".into()).stack_size(STACK_BYTES);
        compiler.spawn(move || executor.compile_all(&packages))?;
        Ok(Self::to(sender))
    }

    const fn to(packages: mpsc::SyncSender<PackageSources>) -> Self {
        Self { packages, height: Height(0), taken: 0 }
    }

    /// Has a package compiled that will come in a turn of this world, if there is room. Returns whether there is.
    pub fn compile(&mut self, source: &Blob, world: &World) -> bool {
        if self.height != world.height() {
            (self.height, self.taken) = (world.height(), 0);
        }
        // What is decoded counts, whether it is compiled or not: else bytes that make no package could be decoded for
        // ever. One that came in pieces may be longer than a turn, and is decoded behind no other.
        let decoded = (source.0.len() as u64).min(PUBLISHED_BYTES_PER_TURN_MAX);
        if self.taken + decoded > PUBLISHED_BYTES_PER_TURN_MAX {
            return false;
        }
        self.taken += decoded;
        let Some(sources) = PackageSources::new(source, world) else { return false };
        let more = sources.weight.saturating_sub(decoded);
        if self.taken + more > PUBLISHED_BYTES_PER_TURN_MAX {
            return false;
        }
        self.taken += more;
        self.packages.try_send(sources).is_ok()
    }
}

#[cfg(test)]
mod tests;
