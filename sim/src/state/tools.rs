//! The tools of a world: what it uses, but does not contain.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_scripting::{CompileError, Executor, Handler, Package, default_executor};
use metatopia_types::{PackageId, Verify};

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
}

impl Tools {
    /// Returns tools without ports, with the executor that sims run by.
    #[must_use]
    pub fn new(verify: Arc<dyn Verify>) -> Self {
        Self { verify, executor: default_executor(), ports: BTreeMap::new() }
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
