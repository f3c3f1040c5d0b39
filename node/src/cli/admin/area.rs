//! The ground on which alone rights hold, on the command line.

use clap::{ArgAction, Args};
use metatopia_types::GroundArea;

use crate::cli::failure::Failure;

/// The ground on which alone rights hold.
#[derive(Debug, Args)]
pub(super) struct AreaArgs {
    /// Only on this ground, in whole metres: its south-western corner, how wide it is, and how deep.
    #[arg(
        long,
        action = ArgAction::Set,
        num_args = 4,
        value_names = ["X", "Y", "WIDTH", "DEPTH"],
        allow_negative_numbers = true
    )]
    area: Option<Vec<i32>>,
}

impl AreaArgs {
    /// Returns the area, if there is one.
    pub(super) fn area(self) -> Result<Option<GroundArea>, Failure> {
        let Some(numbers) = self.area else { return Ok(None) };
        of(numbers.try_into().expect("the command line takes four numbers")).map(Some)
    }
}

/// Returns the area of these numbers: its south-western corner, its width and its depth.
pub(super) fn of([x, y, width, depth]: [i32; 4]) -> Result<GroundArea, Failure> {
    let side = |metres: i32| u16::try_from(metres).ok().filter(|metres| *metres > 0);
    match (side(width), side(depth)) {
        (Some(width), Some(depth)) => Ok(GroundArea { x, y, width, depth }),
        _ => Err(Failure::usage("an area is 1 to 65535 m wide, and as deep")),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Parser, error::ErrorKind};

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        on: AreaArgs,
        /// Says whether more of the line is read.
        #[arg(long)]
        dry_run: bool,
    }

    fn read(line: &str) -> Option<Result<Option<GroundArea>, Failure>> {
        let words = line.split_whitespace();
        Line::try_parse_from(std::iter::once("grant").chain(words)).ok().map(|line| line.on.area())
    }

    #[test]
    fn an_area_is_four_numbers_and_has_ground() {
        let area = GroundArea { x: -4, y: -20, width: 16, depth: 8 };
        let told = read("--area -4 -20 16 8 --dry-run").expect("it is read").expect("it is one");
        assert_eq!(told, Some(area));
        assert_eq!(read("--dry-run").expect("it is read").expect("no area"), None);
        for none in ["--area 1 2 0 4", "--area 1 2 4 -1", "--area 1 2 70000 4"] {
            assert!(read(none).expect(none).is_err(), "{none}");
        }
        assert!(read("--area 1 2 3").is_none() && read("--area 1 2 3 x").is_none());
    }

    /// The numbers of both were one list of eight, and the command ended in a panic.
    #[test]
    fn a_second_area_is_a_fault_of_the_command_line() {
        let words = "grant --area 1 2 3 4 --area 5 6 7 8".split_whitespace();
        let fault = Line::try_parse_from(words).expect_err("there are two areas");
        assert_eq!((fault.kind(), fault.exit_code()), (ErrorKind::ArgumentConflict, 2));
    }
}
