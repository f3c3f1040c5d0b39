//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "6d4c1c2c33e3680a4d01c93d858d24dbabddf5f9b664a282481fb974cabb3b6d"),
    (Height(1), "354da12ffa1cb010fd47eb457bad8780914f56004338d85841ef7f2d85865861"),
    (Height(2), "3298a3685e08e4186d1305a3110e255493f2e422cae25833e6580915a05bf555"),
    (Height(10), "b69df7341cdb74e6661ecdb1880e6ed7746b0bdbc403b73c70cd13197964aefb"),
    (Height(50), "9bd5faa9fa0c10f3f4c61005cd4d942154d1293cf5e462a3dc7d6738567d69b4"),
    (Height(100), "ff331f31033c3d71ffc63d61d3aa136daf6830c03669784e2b72bee91f267da9"),
    (Height(200), "b09013808be34152bf53fb12070b742d1e4cc6527bb27a87257afa22515dd61d"),
    (Height(300), "23dbb0cd58a0f989276cde955518e0476367382e3d07ed269d3670b014d80c3a"),
    (Height(499), "17cafa56f6610c06eeb5bbedb1d8c4cda61223e51ba1754f6a8f962522303eb0"),
    (Height(500), "adcab8a2d82226c939e5d47b5a0f74153a82e5e3a54ecffcc77b2caea034cde0"),
];
