//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "01e8bae39badb09ad4639bc6f9277584e6784153a1194fb73c7b7b4b75a6ad17"),
    (Height(1), "062ab69c693c1285d3baf6c718fb530974b0b54f6e2967e696ebd2059ac9f0a1"),
    (Height(2), "6a5952142bdcd8d7f81b61c5dcd41fcfc548d07531957bdc6aac61afa9e270d9"),
    (Height(10), "c19322dc8c2f0979b79916fce32e0fdb72c8c9bff6844d5334784b45226193dc"),
    (Height(50), "46c3d847f1b728e38eaf76eff3a878a4ffdfd2405aaaa68623ce27c838c2e84b"),
    (Height(100), "594cd7d136f63e47cf7b6d8d1e9664c4713b8e4cf7e9f373b0675385bc1f6c4b"),
    (Height(200), "44731ed4d5d400d1cbe4e182bebacb47630f1746d1d85bcb6fa63bacf8e23647"),
    (Height(300), "83fb8a2ba3e5472fff21518857e6cdaee50d15a98c188242ca49f2a9c0b5408c"),
    (Height(399), "93e9453fe6f1d8bf3e7c5df05f37731365f5fce27bbf1071fe274f407ac2db8b"),
    (Height(400), "4957073f746c7ae21965ac869ba9a8d8ed832f946830b59f20b63e9a39addd96"),
];
