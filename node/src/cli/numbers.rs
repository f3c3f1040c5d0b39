//! Counts in sentences.

use std::fmt;

/// Returns a count with what is counted: the first form after 1, and the second one after every other number.
pub(super) fn number_of<N: From<u8> + PartialEq + fmt::Display>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    format!("{count} {}", if count == N::from(1) { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid of one square had 1 sims.
    #[test]
    fn one_of_a_kind_is_named_in_the_singular() {
        let servers = |count: u32| number_of(count, "server", "servers");
        assert_eq!(
            [0, 1, 2, 11].map(servers),
            ["0 servers", "1 server", "2 servers", "11 servers"]
        );
    }
}
