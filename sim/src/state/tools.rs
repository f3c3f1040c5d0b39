//! The tools of a world: what it uses, but does not contain.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_physics::{Tier, TierMaker, TierStateError};
use metatopia_scripting::{
    CompileError, Executor, Handler, LinkedPackage, Port, default_executor, ports,
};
use metatopia_types::{Digest, Height, PackageId, Verify};

use super::{
    agreed_ports::{AgreedPort, AgreedPorts, MissingPort},
    parameters::TierName,
};
use crate::scripts::CheckedPort;

/// The tools that a world uses, but does not contain.
#[derive(Clone)]
pub struct Tools {
    /// Checks signatures in evidence.
    pub verify: Arc<dyn Verify>,
    /// Executes the sources of packages. Every server of a sim must use the same one.
    pub executor: Arc<dyn Executor>,
    /// Handlers that stand in for the source of packages from the first turn on, without agreement and
    /// with the gas that they say: tests have them.
    pub stand_ins: BTreeMap<PackageId, Arc<dyn Handler>>,
    /// The ports that this program has, by the package and by the digest of their source.
    pub ports: BTreeMap<(PackageId, Digest), Arc<dyn Handler>>,
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
    /// Returns tools with the executor that sims run by, and with the ports of this program.
    #[must_use]
    pub fn new(verify: Arc<dyn Verify>) -> Self {
        let known = |port: Port| ((port.package, port.digest), port.handler);
        let ports = ports().into_iter().map(known).collect();
        let (executor, stand_ins) = (default_executor(), BTreeMap::new());
        Self { verify, executor, stand_ins, ports, advanced: None }
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

    /// Returns the handler of a port that was agreed.
    ///
    /// # Panics
    /// When the port is not there: a program that lacks it stops before that turn, and one that went on
    /// would be wrong.
    pub(crate) fn agreed_port(&self, agreed: &AgreedPort) -> Arc<dyn Handler> {
        let port = self.ports.get(&(agreed.package, agreed.port));
        let port = port.expect("a program without an agreed port stops before its turn");
        Arc::new(CheckedPort::agreed(Arc::clone(port), agreed.gas))
    }

    /// Returns the first of these ports that runs in the turn of this height, and is not there.
    #[must_use]
    pub fn missing_port(&self, ports: &AgreedPorts, height: Height) -> Option<MissingPort> {
        let runs = ports.0.iter().filter(|agreed| agreed.from <= height);
        let mut missing =
            runs.filter(|agreed| !self.ports.contains_key(&(agreed.package, agreed.port)));
        missing.next().map(|AgreedPort { package, port, from, .. }| MissingPort {
            package: *package,
            port: *port,
            from: *from,
        })
    }

    /// Returns the handler of a package: its stand-in if there is one, or else its compiled source.
    pub(crate) fn compile(
        &self,
        package: &LinkedPackage<'_>,
    ) -> Result<Arc<dyn Handler>, CompileError> {
        match self.stand_ins.get(&package.package().id()) {
            Some(handler) => Ok(Arc::new(CheckedPort::stand_in(Arc::clone(handler)))),
            None => self.executor.compile(package),
        }
    }
}

impl core::fmt::Debug for Tools {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Tools")
            .field("stand_ins", &self.stand_ins.keys())
            .field("ports", &self.ports.keys())
            .finish_non_exhaustive()
    }
}
