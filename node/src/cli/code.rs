//! Draws texts as codes for cameras (QR), in the characters of a terminal.

use qrcode::{Color, EcLevel, QrCode};

/// The light modules around a code, as ISO/IEC 18004 asks for. Without them cameras do not find the
/// code.
const QUIET: usize = 4;

/// The most columns that a code may take: a new terminal window has as many.
const COLUMNS_MAX: usize = 80;

/// Draws `text` with two modules to a character, dark on light whatever the terminal's colours are.
/// Returns `None` if the code would be wider than [`COLUMNS_MAX`]: its lines would break, and no
/// camera could read it.
pub(super) fn draw(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let (width, colors) = (code.width(), code.to_colors());
    let side = width + 2 * QUIET;
    if side > COLUMNS_MAX {
        return None;
    }
    let is_dark = |x: usize, y: usize| {
        let inside = (QUIET..QUIET + width).contains(&x) && (QUIET..QUIET + width).contains(&y);
        inside && colors[(y - QUIET) * width + x - QUIET] == Color::Dark
    };
    let mut drawn = String::new();
    for y in (0..side).step_by(2) {
        drawn.push_str("\x1b[30;107m");
        for x in 0..side {
            drawn.push(match (is_dark(x, y), is_dark(x, y + 1)) {
                (true, true) => '\u{2588}',
                (true, false) => '\u{2580}',
                (false, true) => '\u{2584}',
                (false, false) => ' ',
            });
        }
        drawn.push_str("\x1b[0m\n");
    }
    drawn.pop();
    Some(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what a camera sees, by rows of half characters: true where the terminal is light.
    fn seen(drawn: &str) -> Vec<Vec<bool>> {
        let mut rows = Vec::new();
        for line in drawn.lines() {
            let line = line.strip_prefix("\x1b[30;107m").unwrap().strip_suffix("\x1b[0m").unwrap();
            rows.push(line.chars().map(|c| matches!(c, '\u{2588}' | '\u{2580}')).collect());
            rows.push(line.chars().map(|c| matches!(c, '\u{2588}' | '\u{2584}')).collect());
        }
        rows
    }

    /// Reads a code with a library that does not know how it was drawn, at four pixels to a module.
    fn read(drawn: &str) -> String {
        let seen = seen(drawn);
        let (width, height) = (seen[0].len(), seen.len());
        let pixel = |x: usize, y: usize| if seen[y / 4][x / 4] { 0 } else { 255 };
        let mut image = rqrr::PreparedImage::prepare_from_greyscale(4 * width, 4 * height, pixel);
        image.detect_grids()[0].decode().unwrap().1
    }

    #[test]
    fn a_reader_reads_what_was_drawn_within_eighty_columns() {
        let invite = format!("METATOPIA2{}", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".repeat(6));
        let address = "http://[2001:db8:1234:5678:9abc:def0:1234:5678]:65535/";
        for text in ["http://192.168.1.20:8080/", address, &invite[..200]] {
            let drawn = draw(text).unwrap();
            assert_eq!(read(&drawn), text);
            assert!(seen(&drawn)[0].len() <= COLUMNS_MAX);
        }
    }

    #[test]
    fn the_border_is_light() {
        let seen = seen(&draw("http://192.168.1.20:8080/").unwrap());
        let width = seen[0].len();
        assert!(seen[..QUIET].iter().flatten().all(|dark| !dark));
        assert!(seen.iter().all(|row| !row[..QUIET].iter().any(|dark| *dark)));
        assert!(seen.iter().all(|row| !row[width - QUIET..].iter().any(|dark| *dark)));
    }

    #[test]
    fn what_would_be_wider_than_a_terminal_is_not_drawn() {
        // Version 13 has 69 modules a side, version 14 has 73; with the border 77 and 81.
        assert!(draw(&"a".repeat(425)).is_some());
        assert_eq!(draw(&"a".repeat(426)), None);
    }
}
