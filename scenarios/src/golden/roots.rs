//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "3152ab4adb475aa00443720f89a5928f6c4eeda9bb962138300c0885444fafef"),
    (Height(1), "2cd1ab8609a17b1da3803d445d8bca968a8d9b406096005f813c10a8493b50ed"),
    (Height(2), "c2790cd2e0878ee9e6fff3573fa8fcc27644fa7e5c56710b20e01ce03a8f1ebc"),
    (Height(10), "facad3f1b7377e2982a8c739685d82753f6ed05d7882f82d8b44a7f615bd608f"),
    (Height(50), "296ebc24f6435e1f99721dad9dddaa4d497661287afe67672374ee6ee5a50c23"),
    (Height(100), "df057bb68b1f68f2e1b93bab73ae0df3a17538d267d40c299235342fde93f421"),
    (Height(200), "f1985f7f6ba9a397788948f6e8947850c5d1e7e329b99b4c24f3a156f1c110b4"),
    (Height(300), "44206a3512ba87a864ddcd529ffaf6b34725c12455e207c70827ff0eaeea36f2"),
    (Height(399), "65b50c1a85594487bace86c67c0c4485eb1f217469197b376ff6e736912c7aef"),
    (Height(400), "222519328013cf0eff4c7f4f678d17d0fa622255a7e6c9e4fd02e42a44e1a305"),
];
