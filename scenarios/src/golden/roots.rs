//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "6d7e740435f8fb094929f8ee65b12cea58f493cea92768397bbfb7e6fd7b2479"),
    (Height(1), "a072536d39ad80c6a7ea6989a2abf553feeea550f248fbffc8d639961b835a9c"),
    (Height(2), "52ab2e1f28734d724c6f4da655909a88f03fcc2fc11e15a1f9b9e31f74df80ce"),
    (Height(10), "1a3b970ad72a576d114d9909ab1a39431e4a8bd522e7f8e93d293a0fef006c86"),
    (Height(50), "4ccb179101f7f9f3e2c51784847d3545bde9644a1c399a082737785a2654d08c"),
    (Height(100), "2b0470475dbdfd4be3dc33b2ac4dabd1a1da29af1c20ffcc12522c6fcdf94640"),
    (Height(200), "ce4ecacc2f5a61cd0e02e482846e8db94299bcb49c1204a03f1bbdc62f8dd960"),
    (Height(300), "f3c2078beec686d4c588bedb356f994828ee4a32e7a8f6162d870bf0ed8a1b57"),
    (Height(499), "143e19744a05168d18d72c925199d4825e4f6757a11d57c7efd11788c8c3cb77"),
    (Height(500), "37759c54d367e135da6eb45e3e30d47b2c302cae24c48070dfc26ca9a98b887a"),
];
