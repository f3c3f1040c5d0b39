//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "6d4c1c2c33e3680a4d01c93d858d24dbabddf5f9b664a282481fb974cabb3b6d"),
    (Height(1), "354da12ffa1cb010fd47eb457bad8780914f56004338d85841ef7f2d85865861"),
    (Height(2), "3298a3685e08e4186d1305a3110e255493f2e422cae25833e6580915a05bf555"),
    (Height(10), "b69df7341cdb74e6661ecdb1880e6ed7746b0bdbc403b73c70cd13197964aefb"),
    (Height(50), "37e562b77b545e50d6237b28eb6253bc95bc1fd1f16f39db3107529bbe974e67"),
    (Height(100), "f52d7f7742fc9c2e240a686150b6f58ddc88529a6ea685c1e92c39316d02fee4"),
    (Height(200), "d477383d8fb7d0b1b6332b5f9485394afcd346de418f5f9dd7fe25b36f21c935"),
    (Height(300), "d03ff00efc770b765cf281b752877da942263ab650570626fc477871813ab120"),
    (Height(499), "b2cd429ebb8204ffa86021df2be7312d7c3855f471d40872b6d3e48c112e7efd"),
    (Height(500), "898bb0d5f1a622685e748bf9c766e04059f325412d584f3a455a563ba707aff6"),
];
