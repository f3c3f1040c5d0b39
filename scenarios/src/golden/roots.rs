//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "b42845e0694499bd4ca0f547d939371e4751c308667850f30be17315885e7f16"),
    (Height(1), "d5dbfd6d50bbcf90da2f86492176ba97a176e845cbc6c5b359353fc7b4842c7b"),
    (Height(2), "0b81bdc7650130053b41c9bd17265335940f71f892d4b635489ab64617fea971"),
    (Height(10), "04af67708768f4446998d9465212491c3d30aad7befa543e060250d7510ce4ff"),
    (Height(50), "45406fd1b7b061119f2fe45c2501224f6f47f69ac524293c71c63c2744b74e89"),
    (Height(100), "5fd09d76fe663f51725e676750055a3ec40b1fd78cf4319f57f3d5c75f029e98"),
    (Height(200), "d1294df05d7ec1370fca29a195415f7aaa70fc9fa31d60a84800cd9142e90939"),
    (Height(300), "5250ca062c4502d408aae4473d8bf0c6492445b437d4def42928cde13e4f5676"),
    (Height(399), "e17bdb69cc879c058f3e1fb1a52a92ee8acf87d1025cf42ec7a595e34cd34b49"),
    (Height(400), "8b1e65218eed745615360ed5a306f43711bac77c0895a363637aef8aa494aea9"),
];
