//! Seats in namespaces of their own, and the switch between them.

use std::{
    fs::File,
    io,
    net::Ipv4Addr,
    process::{Child, Command},
    thread,
};

use nix::{
    errno::Errno,
    sched::{CloneFlags, setns, unshare},
};
use tun::{Configuration, Device};

use crate::{NetworkConditions, SEATS, Switch, switch::PACKET_BYTES_MAX};

/// The first three numbers of every address here.
pub(crate) const NETWORK: [u8; 3] = [10, 78, 0];

/// Why there is no lab.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// No namespace can be made, or entered.
    #[error("network namespace: {0}")]
    Namespace(#[from] Errno),
    /// No TUN device can be made.
    #[error("TUN device: {0}")]
    Device(String),
    /// A thread or process cannot be started.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

fn system(what: &'static str) -> impl Fn(io::Error) -> LabError {
    move |source| LabError::System { what, source }
}

/// A network namespace with one device.
#[derive(Debug)]
pub struct LabSeat {
    namespace: File,
    /// The host's own address.
    pub address: Ipv4Addr,
}

impl LabSeat {
    /// Starts a process in this seat's network.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn spawn(&self, command: &mut Command) -> Result<Child, LabError> {
        // Threads have networks of their own, and children that of the thread which starts them.
        thread::scope(|scope| {
            let spawn = || {
                setns(&self.namespace, CloneFlags::CLONE_NEWNET)?;
                command.spawn().map_err(system("start a process"))
            };
            scope.spawn(spawn).join().expect("starting a process does not panic")
        })
    }
}

/// A namespace for each server, one for who looks on, and a switch between all of them.
#[derive(Debug)]
pub struct Lab {
    seats: Vec<LabSeat>,
    /// Carries the packets.
    pub switch: Switch,
}

impl Lab {
    /// Makes [`SEATS`] seats, and one more, in which this thread then is: it sees all others, and
    /// threads that it starts do so too.
    ///
    /// # Errors
    /// See [`LabError`].
    pub fn new(seed: u64) -> Result<Self, LabError> {
        let made: Result<Vec<(LabSeat, Device)>, LabError> = (0..=SEATS)
            .map(|n| thread::scope(|s| s.spawn(|| seat(n)).join().expect("no panic")))
            .collect();
        let (seats, devices): (Vec<LabSeat>, Vec<Device>) = made?.into_iter().unzip();
        let switch = Switch::start(devices, NetworkConditions::new(SEATS), seed)
            .map_err(system("start a thread"))?;
        setns(&seats[SEATS].namespace, CloneFlags::CLONE_NEWNET)?;
        Ok(Self { seats, switch })
    }

    /// A server's seat.
    #[must_use]
    pub fn seat(&self, number: usize) -> &LabSeat {
        &self.seats[number]
    }

    /// A clear sky everywhere, and no cuts.
    pub fn calm(&self) {
        *self.switch.conditions() = NetworkConditions::new(SEATS);
    }
}

/// Puts the calling thread into a new namespace, with a device.
fn seat(number: usize) -> Result<(LabSeat, Device), LabError> {
    unshare(CloneFlags::CLONE_NEWNET)?;
    let [a, b, c] = NETWORK;
    let last = u8::try_from(number + 1).expect("a handful of seats");
    let address = Ipv4Addr::new(a, b, c, last);
    let mut device = Configuration::default();
    device.tun_name("sim0").address(address).netmask((255, 255, 255, 0)).mtu(PACKET_BYTES_MAX).up();
    let device = tun::create(&device).map_err(|error| LabError::Device(error.to_string()))?;
    let namespace = File::open("/proc/thread-self/ns/net").map_err(system("name a namespace"))?;
    Ok((LabSeat { namespace, address }, device))
}
