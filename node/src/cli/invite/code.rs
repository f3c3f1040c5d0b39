//! An invite as a code for cameras, in the characters of a terminal.

use qrcode::{Color, EcLevel, QrCode};

/// Light modules around a code, so that cameras find it.
const QUIET: usize = 2;

/// Draws `text` two modules to a character, dark on light whatever the terminal's colours are.
/// Nothing if it is too long for a code.
pub(super) fn draw(text: &str) -> Option<String> {
    // Codes of capitals and digits are a third smaller, and case means nothing in an invite.
    let code = QrCode::with_error_correction_level(text.to_uppercase(), EcLevel::L).ok()?;
    let (width, colors) = (code.width(), code.to_colors());
    let side = width + 2 * QUIET;
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

    #[test]
    fn a_code_has_its_three_corners_and_a_quiet_border() {
        let drawn = draw("metatopia1abc").unwrap();
        let lines: Vec<Vec<char>> = drawn
            .lines()
            .map(|line| line.trim_start_matches("\x1b[30;107m").trim_end_matches("\x1b[0m"))
            .map(|line| line.chars().collect())
            .collect();
        let side = lines[0].len();
        assert_eq!(lines.len(), side.div_ceil(2));
        assert!(lines[0].iter().all(|c| *c == ' '), "the border is light");
        // Each corner begins with a dark square of seven modules.
        let dark = |line: usize, from: usize| lines[line][from..from + 7].iter().all(|c| *c != ' ');
        assert!(dark(1, QUIET) && dark(1, side - QUIET - 7));
        assert!(dark((side - QUIET - 7) / 2, QUIET));
    }

    #[test]
    fn what_is_too_long_for_a_code_is_not_drawn() {
        assert!(draw(&"a".repeat(4_296)).is_some());
        assert_eq!(draw(&"a".repeat(4_297)), None);
    }
}
