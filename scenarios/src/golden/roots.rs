//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "4a03d3248b3ff87111989134a3df1d5bfc2cf288fb1ed87cfed686abdd5d826b"),
    (Height(1), "dd88ee9bc1d343811e6af1a43488ad9ffcd11961afe5e1a9cae0200dcc46b9ac"),
    (Height(2), "b661be50964fe4574de40e35074103df2566103ee0c4940dab41f1882bfcd9f6"),
    (Height(10), "073d60883196211d6e0a630e561d2643aa3d3ff04c53c2f48946a5b88cab68f9"),
    (Height(50), "a423fd569da3d2a0e5d86efb8658a1cc9c5796496e341cce833fc0e168d77530"),
    (Height(100), "4db5cdc8c98b8af6c270e1e1354287a2fe50d681a4206b19e32f39c14a1d40ff"),
    (Height(200), "ac49aff5d7623e514000b3281949c1470732cdc4a5fe37e94abe048919426c69"),
    (Height(300), "97e586081b3b29486b472155185f3d13acdfcbe2d39f156fbf54a63886e9d321"),
    (Height(399), "06557c189283dfe618382bc4b9a14a9df4734e1644af4572f9557177debc3de7"),
    (Height(400), "0bb576c28ec3b4d284ada9d1a00c36a142ff199f4dff929ff9b1325eb224bcbf"),
];
