//! The machine that figures were measured on: without it they mean nothing.

use std::{env::consts, fmt, fs, thread};

use serde::Serialize;

/// The facts about a machine and a build that figures depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MachineSpec {
    cpu: String,
    cores: usize,
    memory_mb: Option<u64>,
    os: &'static str,
    arch: &'static str,
    build: &'static str,
    version: &'static str,
}

impl MachineSpec {
    /// Returns the facts of this machine and this build.
    #[must_use]
    pub fn here() -> Self {
        let cpu = fs::read_to_string("/proc/cpuinfo").ok();
        let memory = fs::read_to_string("/proc/meminfo").ok();
        Self {
            cpu: cpu.as_deref().and_then(model).unwrap_or("unknown processor").to_owned(),
            cores: thread::available_parallelism().map_or(1, Into::into),
            memory_mb: memory
                .as_deref()
                .and_then(|text| kilobytes(text, "MemTotal:"))
                .map(|k| k / 1024),
            os: consts::OS,
            arch: consts::ARCH,
            build: if cfg!(debug_assertions) { "debug" } else { "release" },
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

impl fmt::Display for MachineSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu, cores, os, arch, build, version, .. } = self;
        write!(f, "{cpu}, {cores} cores")?;
        if let Some(memory) = self.memory_mb {
            write!(f, ", {memory} MB")?;
        }
        write!(f, ", {os} {arch}, metatopia {version} {build} build")
    }
}

/// Returns the processor's name from text like `/proc/cpuinfo`.
fn model(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim())
}

/// Returns the value of a line in kB from text like `/proc/meminfo` and `/proc/PID/status`.
pub(crate) fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line[name.len()..].trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_proc_are_read() {
        let cpu = "processor\t: 0\nmodel name\t: Abacus 9000 @ 3 Hz\nflags\t\t: fpu\n";
        assert_eq!(model(cpu), Some("Abacus 9000 @ 3 Hz"));
        assert_eq!(model("none"), None);
        assert_eq!(kilobytes("MemTotal:       16384 kB\n", "MemTotal:"), Some(16_384));
        assert_eq!(kilobytes("VmPeak:\t 9 kB\nVmRSS:\t  1234 kB\n", "VmRSS:"), Some(1_234));
        assert_eq!(kilobytes("VmRSS: many\n", "VmRSS:"), None);
    }
}
