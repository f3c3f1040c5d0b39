//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "1d1156cbc631cf821c383b9667ca008c181f1121bb02276fc75717d7d3e84fb3"),
    (Height(1), "d04192f38688af87a6f5e45be1d47ae8ab7f22bc4095a5593ea701ac581b66a6"),
    (Height(2), "8ba5b3b9b955c2640e2e011bdbebb0a154423f8053fdb875d6e0f008ea29f752"),
    (Height(10), "d7bf07099f602d9796aa87ae4ee0dd485c975bd3db5d3a1ffbb5ad950681a87c"),
    (Height(50), "9a77d8ed72fc1cd48bbc5e101eda66d31cdf8437569b103dfaf543316b710e9f"),
    (Height(100), "385fc0cf3c037ca80942e3abfb83f28191550931197869294bd0873104f33814"),
    (Height(200), "01cabd65958a6c05e0d52d430cd617c915e0bb0df3e694efc92941506389959b"),
    (Height(300), "c67a5d2b22b55a340ec14b7b04d13887f6638a5c9169fb0558a58b452b3e6f51"),
    (Height(399), "44edd81de15e5e0b80e2404ccaee3747dfbe61887ad2dd9525fc66f07a299e6e"),
    (Height(400), "833902634921e4509a60a293220e8465105af3e0bc8972d1f0cd6131b7b4d7b2"),
];
