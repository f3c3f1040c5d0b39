//! What somebody may have meant.

use alloc::{format, string::String, vec::Vec};

/// `: did you mean x?` if a known name is close to `name`, else nothing.
pub(super) fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let far = name.chars().count().div_ceil(3).min(3);
    known
        .map(|known| (distance(name, known), known))
        .filter(|(distance, _)| *distance <= far)
        .min()
        .map_or_else(String::new, |(_, known)| format!(": did you mean {known}?"))
}

/// Characters to insert, remove or replace to make one of the other, at most 255 for long names.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(255).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().take(255).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
