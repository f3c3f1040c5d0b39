//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "9d0308fc064f46bf83607a5150bf8e566bda178d31bd67bedb4f110265941953"),
    (Height(1), "3cf9011f076624a0fd3bd423096b42bae90a7b438b8de965af6a6ad7ec4df356"),
    (Height(2), "08bc61f073113a4bc16d242e3977d2e4b7c3bbe0e98ad56dfb773e1fb41218e0"),
    (Height(10), "e3016bdc97a0a7bf08d2cc0e548b9ad7a232b3c903db2b9780fc3bee314125ba"),
    (Height(50), "46be744165d3b3c2f32f7b53c2da3bd19fa160f580f97b562a75122ebce0f54e"),
    (Height(100), "f6feb1417d3a87c1d2013dad2fbe51b2e5636da09e72709bf0e1a3e437bc24f4"),
    (Height(200), "1d13013d55ae43986c2a898b94f8696cc3fec8f5136b6a8156506bf67be2c327"),
    (Height(300), "fbcca610562d463d61007c2fdfed39ff252823ad695cb0cce689134b96447e11"),
    (Height(499), "a972f2f060ee5fce66388d33df1dab910b774db4284b4ff87e0344e5b807292c"),
    (Height(500), "977810e66ad81a8608835d52c3b594414229ba166b087873da61fe687cbc6be5"),
];
