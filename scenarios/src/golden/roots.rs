//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "d55d79b03cedef10c771f542b68e36e701871aee3425ea6f36869234d226175f"),
    (Height(1), "049e587031eb1517d45149766c15196cbb377f64143affbdb1508e3237f7dcc5"),
    (Height(2), "12d940dc88b8af5289cd1ca36fbd3f073ca6e6d6b0399fff22e7c74d14d64b6c"),
    (Height(10), "e53afa065aaa71007ac100ca67146f384604603d5141a7ec2a4a36e4d971d6cc"),
    (Height(50), "8dd8ec7aebce65077f80109dce9bb3b7e737771dc7a3fe7e567fa423fae626e9"),
    (Height(100), "3d22c19dd30f5fab38a5b2cb0708e32086f4c6967b9746b58a40655812f78a3f"),
    (Height(200), "b83ee93fa4cb760937a3213b1d7ca1b1806859d8bdfed8641ba670334969fb2c"),
    (Height(300), "5b55f923981c66047c8718b9f278997991dc93891527e017cf5e60d17b68250c"),
    (Height(499), "38672b339b9862d1d51701e7db45d94ee71f232e4d68ea492cf0caac427a628d"),
    (Height(500), "a1d6c37f96acb817a654603acade9ce3d1260e1957e1e9d87d05d3be36a2a419"),
];
