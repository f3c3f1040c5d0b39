//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "c1337903c1946d1747d1133e0d511d38c039e13442cc4b983d4fcae1c353fd06"),
    (Height(1), "4d7eccfd51a94c2b52e0b2ec2f8ae3236db0028e64609936e92e83769fadef4b"),
    (Height(2), "b30e7e06a83a53797a651330beae4b8ba78da8cb402d5a6869a5010b7027e0d9"),
    (Height(10), "e641d8924fc9bd661b18f485ed39163cf0672c0587f40329c3f0cf5f7fe2e8a0"),
    (Height(50), "fcb82956892680a3bad53a99c069929ab1a3794150d494154ece839ded0ecbf1"),
    (Height(100), "0130a3bb28f37d15268407b9d0d5ca1df46b23eca90e220e30f61ec15f111607"),
    (Height(200), "1f9e7b46e29b1b7e792447bfa07cad6f6096193b197eb7efaaa0c3b122d874b8"),
    (Height(300), "fce782b17a5e2ff6da545fce1e63fc4c6a0bbd12ab5c704c349241f125eaecb3"),
    (Height(499), "e866bc14b225e88de2a20b44b52b43eefb36a8703c34dd17797cc689bdc15574"),
    (Height(500), "c0bd02f60b140392a7ce95752eb69f66ba2ebb7ea47a9e90112c08ec1cc75729"),
];
