//! `admin set` changes the sim's name, or one of its agreed numbers.

use std::fmt;

use clap::{Args, builder::PossibleValuesParser};
use metatopia_sim::{AMENDABLE, AgreedPorts, AmendError, Parameters, is_name};
use metatopia_types::{Act, SimId};
use serde::Serialize;

use crate::cli::{console::Console, failure::Failure, say::carry_through, session::PlayerArgs};

#[derive(Debug, Args)]
pub(in crate::cli) struct SetArgs {
    /// The value to change.
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(AMENDABLE),
        hide_possible_values = true)]
    parameter: String,
    /// The new value: a number, `true` or `false`, a word, or a list of ports.
    value: String,
    #[command(flatten)]
    admin: PlayerArgs,
}

/// Returns the values that can be changed, for `--help`.
pub(super) fn names() -> String {
    let mut text = "Values:".to_owned();
    let mut width = 0;
    for (n, name) in AMENDABLE.into_iter().enumerate() {
        if n == 0 || width + name.len() > 90 {
            text.push_str("\n ");
            width = 0;
        }
        text.push(' ');
        text.push_str(name);
        width += name.len() + 1;
    }
    text.push_str(
        "\n\nExamples:\n  metatopia admin set first_login invite --key admin.key\n  \
         metatopia admin set building.open_ground false --key admin.key\n  \
         metatopia admin set chat.slow_seconds 10 --key admin.key     slow mode: a line in ten seconds\n\n\
         `chat.quiet_from` and `chat.quiet_until` are minutes of the day, UTC: 1320 and 360 are quiet \
         hours from\n22:00 to 6:00.\n\n\
         Permanent admins change values, and those to whom one of them gave `administer`. A temp admin \
         does not, so\nthat nobody keeps the sim by it. Ground, spawn and ticks of a turn stay as the sim \
         was founded.",
    );
    text
}

/// The line that tells of a changed value.
#[derive(Debug, Serialize)]
struct Changed {
    name: String,
    value: String,
    height: u64,
}

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {} from height {} on", self.name, self.value, self.height)
    }
}

/// Checks a value before an act is spent on it. The ranges are the same in every sim.
fn check(name: &str, value: &str) -> Result<(), Failure> {
    if name == "name" {
        let wrong = || Failure::usage(format!("{value:?} is no name: one short line, not empty"));
        return if is_name(value) { Ok(()) } else { Err(wrong()) };
    }
    if name == "world" {
        let wrong = |_| Failure::usage(format!("{value:?} is no id of a land office"));
        return value.parse::<SimId>().map(drop).map_err(wrong);
    }
    if let ("ports", Err(error)) = (name, AgreedPorts::default().changed_by(value)) {
        return Err(Failure::usage(error.to_string())
            .hint("`metatopia script ports` prints the digests of this program's ports"));
    }
    Parameters::default().amend(name, value).map_err(|error| match error {
        AmendError::Parameters(error) => Failure::usage(error.to_string()),
        AmendError::Value | AmendError::NoSuchName => {
            Failure::usage(format!("{value:?} is no value of {name}"))
                .hint("numbers look like 2.5 or 40, switches are true or false")
        }
    })
}

pub(super) async fn run(args: SetArgs, console: Console) -> Result<(), Failure> {
    let SetArgs { parameter: name, value, admin } = args;
    check(&name, &value)?;
    let mut driver = admin.open().await?;
    let act = Act::Amend { name: name.clone(), value: value.clone() };
    let set = carry_through(&mut driver, &admin, ("the change", (act, Vec::new())), console).await;
    driver.leave().await;
    console.show(&Changed { name, value, height: set?.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::exit::Exit;

    #[test]
    fn a_value_that_no_sim_can_have_is_told_with_its_range_before_anything_is_sent() {
        for (name, value, told) in [
            ("building.reach", "101", "building.reach is 101, outside of 1 to 100"),
            ("objects_max", "many", "\"many\" is no value of objects_max"),
            ("first_login", "ajar", "\"ajar\" is no value of first_login"),
            ("ports", "greeter", "ports are written PACKAGE:PORT:GAS:HEIGHT"),
            ("name", "", "\"\" is no name"),
            ("world", "Earth", "\"Earth\" is no id of a land office"),
        ] {
            let failure = check(name, value).expect_err("it is wrong");
            assert_eq!(failure.exit, Exit::Usage);
            assert!(failure.message.contains(told), "{failure}");
        }
        assert!(check("building.reach", "2.5").is_ok());
        assert!(check("name", "Harbour").is_ok());
    }

    #[test]
    fn the_help_lists_every_value_in_lines_of_a_terminal() {
        let help = names();
        assert!(AMENDABLE.iter().all(|name| help.contains(name)));
        assert!(help.lines().all(|line| line.len() <= 110), "{help}");
    }
}
