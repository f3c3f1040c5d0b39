//! What somebody may have meant.

use alloc::{format, string::String};

/// Characters of a name for which there are suggestions. It is read for a price that no hint is part of, so one
/// must cost next to nothing: at most 7 cells a character and known name.
const NAME_CHARS_MAX: usize = 32;

/// The most differences of a suggestion.
const FAR_MAX: usize = 3;

/// The characters of a name.
struct NameChars {
    all: [char; NAME_CHARS_MAX],
    count: usize,
}

impl NameChars {
    /// Returns the characters, or nothing if there are too many.
    fn of(name: &str) -> Option<Self> {
        let (mut all, mut count) = (['\0'; NAME_CHARS_MAX], 0);
        for char in name.chars() {
            *all.get_mut(count)? = char;
            count += 1;
        }
        Some(Self { all, count })
    }

    fn all(&self) -> &[char] {
        &self.all[..self.count]
    }
}

/// Returns `: did you mean x?` if a known name is close to `name`, else nothing.
pub fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let Some(meant) = NameChars::of(name) else { return String::new() };
    // More than a third of a short name is another name: of `rand` that is `any`, of `take` it is `tie`.
    let far = (meant.count / 3).clamp(1, FAR_MAX);
    known
        .filter(|known| known.starts_with(|c: char| c.is_ascii_alphabetic()))
        .filter_map(|known| {
            // Whoever writes length means len.
            let is_short = known.len() >= 3 && name.starts_with(known);
            let distance = NameChars::of(known)
                .and_then(|known| distance(meant.all(), known.all(), far))
                .or(is_short.then_some(far));
            Some((distance?, known))
        })
        .min()
        .map_or_else(String::new, |(_, known)| format!(": did you mean {known}?"))
}

/// Returns how many characters are to be inserted, removed, replaced or swapped with the next to make one of
/// the other; nothing if that is more than `far`, which is at most [`FAR_MAX`].
fn distance(a: &[char], b: &[char], far: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > far {
        return None;
    }
    let over = far + 1;
    // The rows before the last, the last and this one. What is farther from the diagonal than `far` is over it.
    let [mut first, mut second, mut third] = [[over; NAME_CHARS_MAX + 1]; 3];
    for (j, cell) in second.iter_mut().enumerate().take(over) {
        *cell = j;
    }
    for i in 1..=a.len() {
        let (low, high) = (i.saturating_sub(far), (i + far).min(b.len()));
        third.fill(over);
        if low == 0 {
            third[0] = i;
        }
        let mut least = third[0];
        for j in low.max(1)..=high {
            let replaced = second[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(second[j] + 1).min(third[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(first[j - 2] + 1);
            }
            third[j] = best.min(over);
            least = least.min(best);
        }
        // A swap reaches over one row, so two in a row have to be far.
        let before = second.iter().copied().min().unwrap_or(over);
        if least > far && before > far {
            return None;
        }
        (first, second, third) = (second, third, first);
    }
    Some(second[b.len()]).filter(|distance| *distance <= far)
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use metatopia_math::Stream;

    use super::*;

    /// The whole table, without a limit.
    fn by_table(a: &[char], b: &[char]) -> usize {
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

    #[test]
    fn a_distance_is_that_of_the_whole_table_as_far_as_it_counts() {
        let mut stream = Stream::new(&[7; 32], "names", &[]);
        let mut near = 0;
        for _ in 0..20_000 {
            let length = stream.below(NAME_CHARS_MAX as u64) as usize + 1;
            let a: Vec<char> =
                (0..length).map(|_| ['a', 'b', 'c'][stream.below(3) as usize]).collect();
            let mut b = a.clone();
            for _ in 0..stream.below(6) {
                let at = stream.below(b.len() as u64 + 1) as usize;
                match stream.below(4) {
                    0 if b.len() < NAME_CHARS_MAX => b.insert(at, 'd'),
                    1 if at < b.len() => drop(b.remove(at)),
                    2 if at < b.len() => b[at] = 'a',
                    _ if at + 1 < b.len() => b.swap(at, at + 1),
                    _ => {}
                }
            }
            for far in 0..=FAR_MAX {
                let expected = Some(by_table(&a, &b)).filter(|distance| *distance <= far);
                near += usize::from(expected.is_some());
                assert_eq!(distance(&a, &b, far), expected, "{a:?} {b:?} {far}");
            }
        }
        assert!(near > 20_000, "{near} near ones of 80,000");
    }

    #[test]
    fn a_short_name_has_only_close_suggestions() {
        let known = ["any", "tie", "edit", "color", "on_touch", "len"];
        let hint = |name| closest(name, known.into_iter());
        for name in ["rand", "take", "wait", "mass"] {
            assert_eq!(hint(name), "", "{name}");
        }
        for (name, meant) in
            [("colour", "color"), ("on_tuch", "on_touch"), ("lenght", "len"), ("tye", "tie")]
        {
            assert_eq!(hint(name), format!(": did you mean {meant}?"));
        }
    }

    /// A package of 28 KB took most of a second, and was refused for a price of milliseconds.
    #[test]
    fn a_long_name_has_no_suggestion() {
        let name = "k".repeat(NAME_CHARS_MAX);
        let other = name.replacen('k', "j", 1);
        assert_eq!(closest(&name, [&*other].into_iter()), format!(": did you mean {other}?"));
        let (name, other) = (format!("{name}k"), format!("{other}k"));
        assert_eq!(closest(&name, [&*other].into_iter()), "");
    }
}
