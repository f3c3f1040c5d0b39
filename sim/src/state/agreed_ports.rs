//! The ports of a sim: which packages run as Rust, from which height on, and what their events cost.
//!
//! Servers agree on them, because a port may be written by hand: then only a review says that it does what
//! its package does.

use std::{collections::BTreeSet, fmt, str::FromStr};

use metatopia_scripting::limits::{GAS_PER_CALL_MAX, GAS_PER_CALL_MIN};
use metatopia_types::{Digest, Height, PackageId};
use serde::{Deserialize, Serialize};

use crate::limits::{PORT_NOTICE, PORTS_MAX};

/// What a list without ports is called.
const NO_PORTS: &str = "none";

/// A package that runs as a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgreedPort {
    /// The package whose source the port replaces.
    pub package: PackageId,
    /// The digest of the port's own source.
    pub port: Digest,
    /// What each event costs, however much the port does.
    pub gas: u64,
    /// The first turn in which the port runs.
    pub from: Height,
}

/// The ports of a sim, in the order in which an admin named them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgreedPorts(pub Vec<AgreedPort>);

/// Why a list of ports is none that a sim may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AgreedPortsError {
    /// There are too many.
    #[error("{0} ports where at most {PORTS_MAX} are allowed")]
    TooMany(usize),
    /// A package is named twice.
    #[error("package {0} is named twice, and has one port at a time")]
    Twice(PackageId),
    /// An event costs too little or too much.
    #[error(
        "an event of package {package} costs {gas} gas, outside of {GAS_PER_CALL_MIN} to \
         {GAS_PER_CALL_MAX}"
    )]
    Gas {
        /// The package that the port replaces.
        package: PackageId,
        /// What an event would cost.
        gas: u64,
    },
    /// A port begins before the first turn.
    #[error("the port of package {0} begins at height 0, before the first turn")]
    NoHeight(PackageId),
    /// A port begins before the servers can be ready.
    #[error(
        "the port of package {package} begins at height {from}: a change at height {now} begins at \
         height {} at the earliest", now.plus(PORT_NOTICE)
    )]
    TooSoon {
        /// The package that the port replaces.
        package: PackageId,
        /// Where its port would begin.
        from: Height,
        /// The height of the change.
        now: Height,
    },
}

/// The text is no list of ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "ports are written PACKAGE:PORT:GAS:HEIGHT, with commas between them, or {NO_PORTS}; +PACKAGE:.. \
     adds one, and +PACKAGE:{NO_PORTS} takes one away"
)]
pub struct PortsTextError;

/// A port that the sim runs, and that a program lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "from height {from} on the sim runs package {package} as port {port}, which this program is made \
     without: it can prove what the sim shows, and not replay it"
)]
pub struct MissingPort {
    /// The package that the port replaces.
    pub package: PackageId,
    /// The digest of the port's source.
    pub port: Digest,
    /// The first turn in which the port runs.
    pub from: Height,
}

impl AgreedPorts {
    /// Returns the port that a package runs as in the turn of this height.
    #[must_use]
    pub fn at(&self, package: PackageId, height: Height) -> Option<&AgreedPort> {
        self.0.iter().find(|agreed| agreed.package == package && agreed.from <= height)
    }

    /// Returns the list that a text makes of this one: another list, or this one with a change after a plus.
    /// A whole list may be longer than an act.
    ///
    /// # Errors
    /// When the text is neither.
    pub fn changed_by(&self, text: &str) -> Result<Self, PortsTextError> {
        let Some(change) = text.strip_prefix('+') else { return text.parse() };
        let mut ports = self.clone();
        let (named, port) = change.split_once(':').ok_or(PortsTextError)?;
        let named: PackageId = named.parse().map_err(|_| PortsTextError)?;
        ports.0.retain(|agreed| agreed.package != named);
        if port != NO_PORTS {
            let [added] = change.parse::<Self>()?.0[..] else { return Err(PortsTextError) };
            ports.0.push(added);
        }
        Ok(ports)
    }

    /// Checks a list by itself.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn check(&self) -> Result<(), AgreedPortsError> {
        if self.0.len() > PORTS_MAX {
            return Err(AgreedPortsError::TooMany(self.0.len()));
        }
        let mut named = BTreeSet::new();
        for AgreedPort { package, gas, from, .. } in &self.0 {
            if !named.insert(*package) {
                return Err(AgreedPortsError::Twice(*package));
            }
            if !(GAS_PER_CALL_MIN..=GAS_PER_CALL_MAX).contains(gas) {
                return Err(AgreedPortsError::Gas { package: *package, gas: *gas });
            }
            if *from == Height(0) {
                return Err(AgreedPortsError::NoHeight(*package));
            }
        }
        Ok(())
    }

    /// Checks that what is new in this list, which an act at the height `now` puts in the place of
    /// `before`, begins late enough for servers to stop.
    ///
    /// # Errors
    /// [`AgreedPortsError::TooSoon`] for the first port that does not.
    pub fn check_new(&self, before: &Self, now: Height) -> Result<(), AgreedPortsError> {
        let new = |agreed: &&AgreedPort| !before.0.contains(agreed);
        let soon = |agreed: &&AgreedPort| agreed.from < now.plus(PORT_NOTICE);
        match self.0.iter().filter(new).find(soon) {
            None => Ok(()),
            Some(AgreedPort { package, from, .. }) => {
                Err(AgreedPortsError::TooSoon { package: *package, from: *from, now })
            }
        }
    }
}

impl fmt::Display for AgreedPorts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(NO_PORTS);
        }
        for (n, AgreedPort { package, port, gas, from }) in self.0.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            write!(f, "{comma}{package}:{port}:{gas}:{from}")?;
        }
        Ok(())
    }
}

impl FromStr for AgreedPorts {
    type Err = PortsTextError;

    fn from_str(text: &str) -> Result<Self, PortsTextError> {
        if text == NO_PORTS {
            return Ok(Self::default());
        }
        let mut ports = Vec::new();
        for part in text.split(',') {
            let words: Vec<&str> = part.trim().split(':').collect();
            let [package, port, gas, from] = words[..] else { return Err(PortsTextError) };
            let wrong = |_| PortsTextError;
            ports.push(AgreedPort {
                package: package.parse().map_err(|_| PortsTextError)?,
                port: port.parse().map_err(|_| PortsTextError)?,
                gas: gas.parse().map_err(wrong)?,
                from: Height(from.parse().map_err(wrong)?),
            });
            // A longer list is refused whole, and nobody makes it much longer than that.
            if ports.len() > PORTS_MAX + 1 {
                break;
            }
        }
        Ok(Self(ports))
    }
}
