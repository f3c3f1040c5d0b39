//! Archives in the ustar format.

const BLOCK: usize = 512;

/// Returns an archive of files with these paths. A path that is too long for the format is left out;
/// those of packages never are.
pub(super) fn tar(entries: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (path, bytes) in entries {
        let Some(head) = head(path, bytes.len()) else {
            continue;
        };
        out.extend_from_slice(&head);
        out.extend_from_slice(bytes);
        out.resize(out.len().next_multiple_of(BLOCK), 0);
    }
    out.resize(out.len().saturating_add(2 * BLOCK), 0);
    out
}

/// Names longer than 100 bytes are cut in two at a slash.
fn split(path: &str) -> Option<(&str, &str)> {
    if path.len() <= 100 {
        return Some(("", path));
    }
    let cuts = path.match_indices('/').map(|(at, _)| (&path[..at], &path[at + 1..]));
    cuts.rev().find(|(prefix, name)| prefix.len() <= 155 && name.len() <= 100 && !name.is_empty())
}

fn head(path: &str, length: usize) -> Option<[u8; BLOCK]> {
    let (prefix, name) = split(path)?;
    let mut head = [0; BLOCK];
    let mut put = |at: usize, text: &str| {
        head[at..at + text.len()].copy_from_slice(text.as_bytes());
    };
    put(0, name);
    put(100, &format!("{:07o}\0", 0o644));
    put(108, &format!("{:07o}\0", 0));
    put(116, &format!("{:07o}\0", 0));
    put(124, &format!("{length:011o}\0"));
    put(136, &format!("{:011o}\0", 0));
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\0");
    put(263, "00");
    put(345, prefix);
    let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
    head[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Some(head)
}
