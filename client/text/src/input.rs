//! Typed lines, read by a thread of their own: standard input cannot be waited for otherwise.

use std::{
    io::{self, BufRead, IsTerminal as _, Read as _},
    sync::mpsc::{SyncSender, sync_channel},
    thread,
};

use tokio::sync::mpsc;

/// Longest line, in bytes: a chat of the largest size with its command, eight times over.
const LINE_BYTES_MAX: u64 = 4_096;

/// Lines that wait while others are carried out.
const LINES_MAX: usize = 16;

/// Lines that somebody types.
#[derive(Debug)]
pub struct TypedLines {
    pub(crate) lines: mpsc::Receiver<String>,
    /// Whether a person types them, who does not wait for what is under way.
    pub(crate) interactive: bool,
    /// Lets the thread read on, which waits after a line that starts an editor.
    go_on: SyncSender<()>,
}

impl TypedLines {
    /// Lets the thread read on after a line that [`pauses`] it.
    pub(crate) fn go_on(&self) {
        // A thread that has ended reads nothing more.
        let _ = self.go_on.try_send(());
    }
}

/// Says whether nothing is read after a line until it is carried out: an editor reads the same terminal.
pub(crate) fn pauses(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("edit"))
}

/// Starts to read the lines of standard input. The channel closes at the end of the input.
///
/// # Errors
/// When no thread can be started.
pub fn lines() -> io::Result<TypedLines> {
    let (tell, lines) = mpsc::channel(LINES_MAX);
    let (go_on, carried_out) = sync_channel(1);
    thread::Builder::new().name("input".into()).spawn(move || {
        let mut input = io::stdin().lock();
        while let Ok(Some(line)) = next(&mut input) {
            let is_last = pauses(&line);
            if tell.blocking_send(line).is_err() || (is_last && carried_out.recv().is_err()) {
                return;
            }
        }
    })?;
    Ok(TypedLines { lines, interactive: io::stdin().is_terminal(), go_on })
}

/// The next line without its end; what is too long is cut off. Bytes that are no UTF-8 are replaced.
fn next(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    if input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
    }
    Ok(Some(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut input: &[u8]) -> Vec<String> {
        std::iter::from_fn(|| next(&mut input).unwrap()).collect()
    }

    #[test]
    fn lines_end_with_or_without_a_last_line_break() {
        assert_eq!(read(b"look\nsay hi\r\n\nquit"), ["look", "say hi", "", "quit"]);
        assert!(read(b"").is_empty());
    }

    #[test]
    fn only_a_line_that_starts_an_editor_pauses_what_is_read() {
        assert!(pauses("edit lamp") && pauses("  Edit bell") && pauses("edit"));
        assert!(!pauses("say edit") && !pauses("editor") && !pauses(""));
    }

    #[test]
    fn an_endless_line_is_cut_and_the_next_one_is_whole() {
        let mut input = vec![b'x'; 3 * LINE_BYTES_MAX as usize];
        input.extend_from_slice(b"\nlook\n");
        let lines = read(&input);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].len() as u64, LINE_BYTES_MAX);
        assert_eq!(lines[1], "look");
    }
}
