//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "32591daa205c530d825ad408de3bdc727f401f7fed8f19d2092e8eff5d9c40ab"),
    (Height(1), "9dc4e53f3a6a27947ee5fcdee8505939f023b49d423a744dd035a34d4872bcf7"),
    (Height(2), "3247dfb96e4d13a37c866e146ad16af1a34302d6b4815701c5782f6b99c011b7"),
    (Height(10), "d0b30aa1cdd53d128bf7e2b7d4bef58cfbeb2679709b4cab081f0f7bc06f7ff7"),
    (Height(50), "0d16960041e2098f6d6efec7884a9cac81c6b2757c9f2b44eb166a00d98d8bf9"),
    (Height(100), "37e68a85224c10da080fa8f0e4fe16c794428e4e57baa17ad81a13bec32a6766"),
    (Height(200), "153c25ff373475b2f8dcb7d8236a4d84db0482eb0971ee3bb4d8133eb13c12db"),
    (Height(300), "120af1db53602adf7bc3f60cdf5d03e10be5c705e207c38dd56b91a78efe32b5"),
    (Height(399), "d5b8f58f776be3c6ed0e29993bf622b02477c10ff5035696b1b4d55e7d815b73"),
    (Height(400), "bc8a9fc487fbeaacfc526c946ab9f4d0b4913b76dca4fa618c64b1819dea9db3"),
];
