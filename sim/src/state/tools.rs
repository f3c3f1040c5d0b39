//! The tools of a world: what it uses, but does not contain.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_physics::{Tier, TierMaker, TierStateError};
use metatopia_scripting::{CompileError, Executor, Handler, Package, default_executor};
use metatopia_types::{PackageId, Verify};

use super::parameters::TierName;
use crate::scripts::CheckedPort;

/// The tools that a world uses, but does not contain.
#[derive(Clone)]
pub struct Tools {
    /// Checks signatures in evidence.
    pub verify: Arc<dyn Verify>,
    /// Executes the sources of packages. Every server of a sim must use the same one.
    pub executor: Arc<dyn Executor>,
    /// Handlers that replace the compiled source of packages. Every server of a sim must use the
    /// same ones.
    pub ports: BTreeMap<PackageId, Arc<dyn Handler>>,
    /// Makes what moves the bodies of sims on the advanced tier, if this program is made with it.
    pub advanced: Option<Arc<dyn TierMaker>>,
}

/// Why what moves the bodies of a sim is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MissingTier {
    /// The program is made without it.
    #[error(
        "the sim is on the {} tier of physics, which this program is made without: it can prove what \
         such a sim shows, and not replay it",
        .0.name()
    )]
    Unmade(TierName),
    /// Its state is none, or one of another version.
    #[error(transparent)]
    State(#[from] TierStateError),
    /// There are more bodies than it moves.
    #[error(transparent)]
    TooManyBodies(#[from] metatopia_physics::TooManyForTier),
}

impl Tools {
    /// Returns tools without ports, with the executor that sims run by.
    #[must_use]
    pub fn new(verify: Arc<dyn Verify>) -> Self {
        Self { verify, executor: default_executor(), ports: BTreeMap::new(), advanced: None }
    }

    /// Returns what moves the bodies on this tier, if it is not the solver that every program has. It
    /// goes on from a state, if there is one.
    pub(crate) fn tier(
        &self,
        name: TierName,
        state: Option<&[u8]>,
    ) -> Result<Option<Box<dyn Tier>>, MissingTier> {
        if name == TierName::Basic {
            return Ok(None);
        }
        let maker = self.advanced.as_ref().ok_or(MissingTier::Unmade(name))?;
        let restored = state.map(|state| maker.restore(state)).transpose()?;
        Ok(Some(restored.unwrap_or_else(|| maker.begin())))
    }

    /// Returns the handler of a package: its port if there is one, or else its compiled source.
    pub(crate) fn compile(
        &self,
        id: PackageId,
        package: &Package,
    ) -> Result<Arc<dyn Handler>, CompileError> {
        match self.ports.get(&id) {
            Some(port) => Ok(Arc::new(CheckedPort(Arc::clone(port)))),
            None => self.executor.compile(package),
        }
    }
}

impl core::fmt::Debug for Tools {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Tools").field("ports", &self.ports.keys()).finish_non_exhaustive()
    }
}
