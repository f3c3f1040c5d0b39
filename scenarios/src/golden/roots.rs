//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "395af44023b4f5ce614f93477e5c473703f9775ec8e2606fd854c08134c6fcbc"),
    (Height(1), "bd262d8ead15e1a0180701c9cefc7ad6b3113ba0102234740481e647acbe7916"),
    (Height(2), "ee22897e14115d2a1c39ae09b41bb3f0a3d62dbd806a1029b132225754a484e7"),
    (Height(10), "d526c5700a4765bdb8fc1a20b47185275b38bbab103101c77b3fd7a6ecaa3681"),
    (Height(50), "c129bd979c09f62e1f47bbd8fdca2cf337ef56c51bb3fbb7fc97fcc10950fb2f"),
    (Height(100), "f58bf88c7b2d3941dc96fa18d3b58504a999df75dfd5f5f321cb9f76a491c7d3"),
    (Height(200), "7f4951fb01e796f9baca14c7d5f6af15c067861c8042b5bc9acdfdd5931d7bf4"),
    (Height(300), "ee4fe89bb5698efb81b5c4d0a0f97696b5f19b6977047528b933c9820740130b"),
    (Height(499), "7a97ef5380424222cd4c800abf9d6c92f56563598f3c37bfb3463b8206492726"),
    (Height(500), "6619f140dc7aa18d06319d89e39c511dad0d10845fbe8585399c6d2a2461d184"),
];
