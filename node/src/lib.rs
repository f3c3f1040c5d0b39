//! The library behind the `metatopia` program: driver, transports, disk, HTTP and command line.
