//! Ports of scripts to Rust: written by `metatopia script port`, kept in the module `ports`.
//!
//! A port is the program of one package, with all that it imports, with Rust in place of its operations. It
//! calls the same functions for each operation, pays the same prices inside of a call, and so gives the same
//! outputs and the same errors at the same places, also where gas, memory or depth end. What it saves is the
//! loop that reads operations. What an event of it costs the sim is agreed among the servers, and the same for
//! all events.

mod files;
pub(crate) mod prelude;
mod print;
#[cfg(any(test, feature = "compare"))]
pub(crate) mod samples;
mod structure;
#[cfg(test)]
pub(crate) mod tests;
mod window;

use alloc::{string::String, sync::Arc, vec, vec::Vec};

use metatopia_types::{Digest, PackageId};

use crate::{
    CompileError, EventKind, Handler, LinkedPackage, ProgramError, ScriptHandler, ScriptProgram,
    Value,
    exec::PortedBody,
    ir::{IR_FORMAT, IrFunction, IrLink, IrLinkKind, IrPath},
    lang::SourcePoint,
};

/// A port that a program has.
#[derive(Clone)]
pub struct Port {
    /// The package that it replaces.
    pub package: PackageId,
    /// The digest of its own source.
    pub digest: Digest,
    /// Its own source, in Rust.
    pub source: &'static str,
    /// Handles events in place of the source of the package.
    pub handler: Arc<dyn Handler>,
}

impl core::fmt::Debug for Port {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { package, digest, .. } = self;
        f.debug_struct("Port")
            .field("package", package)
            .field("digest", digest)
            .finish_non_exhaustive()
    }
}

/// Why a package has no port.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PortError {
    /// Its source has mistakes.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Its program cannot be run at all.
    #[error(transparent)]
    Program(ProgramError),
    /// A function jumps into a loop.
    #[error("the function at {function} jumps into the middle of a loop, which Rust cannot say")]
    Tangled {
        /// Where the function begins, with the file before it if an import has it.
        function: String,
    },
}

/// Returns the digest by which the agreed parameters name a port with this source.
#[must_use]
pub fn port_digest(source: &str) -> Digest {
    Digest(blake3::derive_key("metatopia port v1", source.as_bytes()))
}

/// Writes the port of a package and of what it imports, as Rust.
///
/// # Errors
/// When the package or an import does not compile. What the port cannot say is an error too, and never other
/// code.
pub fn write_port(linked: &LinkedPackage<'_>) -> Result<String, PortError> {
    let entry = &linked.package().manifest().entry;
    let program = linked.imports().link(entry, linked.package().entry())?;
    print::print(linked, &program)
}

/// Returns the port of the handler `tick`, to be measured.
#[cfg(feature = "compare")]
#[must_use]
pub fn tick_port() -> Port {
    samples::tick::PORT.port(samples::TICK_PORT)
}

/// What a port replaces, and what it is made of: a program without operations.
#[derive(Debug)]
pub(crate) struct PortTables {
    pub(crate) package: &'static str,
    pub(crate) file: &'static str,
    pub(crate) functions: &'static [PortFunction],
    pub(crate) handlers: &'static [(EventKind, u16)],
    pub(crate) names: &'static [&'static str],
    pub(crate) shapes: &'static [&'static [u16]],
    pub(crate) calls: &'static [(&'static str, u8)],
    pub(crate) paths: &'static [&'static [IrLink]],
    pub(crate) constants: fn() -> Vec<Value>,
}

/// What the port of a package that imports others is made of: the program of all of them.
#[derive(Debug)]
pub(crate) struct LinkedPortTables {
    /// The files of the imports as messages name them, each with its first function.
    pub(crate) imports: &'static [(u16, &'static str)],
    /// The first function of the package itself.
    pub(crate) first: u16,
    pub(crate) tables: &'static PortTables,
}

/// A function of a port.
#[derive(Debug)]
pub(crate) struct PortFunction {
    pub(crate) name: &'static str,
    pub(crate) parameters: u16,
    pub(crate) captures: u16,
    pub(crate) registers: u16,
    pub(crate) at: SourcePoint,
    pub(crate) body: PortedBody,
}

/// Returns a link of a path.
pub(crate) const fn link(
    kind: IrLinkKind,
    optional: bool,
    at: SourcePoint,
    sign: SourcePoint,
) -> IrLink {
    IrLink { kind, optional, at, sign }
}

#[cfg_attr(
    not(test),
    expect(dead_code, reason = "ports of later scripts import others, and that of today does not")
)]
impl LinkedPortTables {
    /// Returns the port with these tables and this source.
    ///
    /// # Panics
    /// As [`PortTables::port`].
    pub(crate) fn port(&'static self, source: &'static str) -> Port {
        let own = (self.first, self.tables.file);
        let files = self.imports.iter().copied().chain([own]);
        self.tables.of_files(files.map(|(first, file)| (first, file.into())).collect(), source)
    }
}

impl PortTables {
    /// Returns the port with these tables and this source.
    ///
    /// # Panics
    /// When the tables name no package, or call what there is not: each port of this program is tested.
    pub(crate) fn port(&'static self, source: &'static str) -> Port {
        self.of_files(vec![(0, self.file.into())], source)
    }

    /// Returns the port of a program that was made of these files, each given with its first function.
    fn of_files(&'static self, files: Vec<(u16, String)>, source: &'static str) -> Port {
        let package = self.package.parse().expect("a port names a package");
        let bodies = self.functions.iter().map(|function| function.body).collect();
        let handler = ScriptHandler::port(package, files, &self.program(), bodies);
        let handler = Arc::new(handler.expect("a port calls what there is"));
        Port { package, digest: port_digest(source), source, handler }
    }

    fn program(&self) -> ScriptProgram {
        let function = |function: &PortFunction| IrFunction {
            name: function.name.into(),
            parameters: function.parameters,
            captures: function.captures,
            registers: function.registers,
            at: function.at,
            ..IrFunction::default()
        };
        ScriptProgram {
            format: IR_FORMAT,
            functions: self.functions.iter().map(function).collect(),
            handlers: self.handlers.to_vec(),
            constants: (self.constants)(),
            names: self.names.iter().map(|name| (*name).into()).collect(),
            shapes: self.shapes.iter().map(|shape| shape.to_vec()).collect(),
            calls: self.calls.iter().map(|(name, count)| ((*name).into(), *count)).collect(),
            paths: self.paths.iter().map(|links| IrPath { links: links.to_vec() }).collect(),
        }
    }
}
