//! What somebody may have meant.

use alloc::{format, string::String, vec, vec::Vec};

/// `: did you mean x?` if a known name is close to `name`, else nothing.
pub(crate) fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let far = name.chars().count().div_ceil(3).min(3);
    known
        .filter(|known| known.starts_with(|c: char| c.is_ascii_alphabetic()))
        .map(|known| {
            // Whoever writes length means len.
            let is_short = known.len() >= 3 && name.starts_with(known);
            let distance = distance(name, known);
            (if is_short { distance.min(far) } else { distance }, known)
        })
        .filter(|(distance, _)| *distance <= far)
        .min()
        .map_or_else(String::new, |(_, known)| format!(": did you mean {known}?"))
}

/// Characters to insert, remove, replace or swap with the next to make one of the other; only the
/// beginning of long names counts.
fn distance(a: &str, b: &str) -> usize {
    let [a, b] = [a, b].map(|name| name.chars().take(64).collect::<Vec<_>>());
    let mut rows: Vec<Vec<usize>> = (0..=a.len()).map(|i| vec![i; b.len() + 1]).collect();
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}
