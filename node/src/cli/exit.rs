//! Exit codes. Each has the same meaning in every command, so that programs can rely on it.

use std::process::ExitCode;

/// The way in which a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything that was asked for is done.
    Ok,
    /// The command failed for a reason that no other code names.
    Failed,
    /// The command line, a configuration or a file that was given is wrong.
    Usage,
    /// The thing that was asked for does not exist there.
    NotFound,
    /// A rule of the sim, or of a file's protection, refused it.
    Refused,
    /// Something is not what its signatures or hashes say.
    Unverified,
    /// Servers hold different states, or no turn is decided any more.
    Diverged,
    /// There was no quorum, or no answer in time.
    TimedOut,
    /// A directory or file is of another engine than this program, or needs a port that this program lacks; it is
    /// left as it is.
    OtherEngine,
}

impl Exit {
    /// All codes, in ascending order.
    pub const ALL: [Self; 9] = [
        Self::Ok,
        Self::Failed,
        Self::Usage,
        Self::NotFound,
        Self::Refused,
        Self::Unverified,
        Self::Diverged,
        Self::TimedOut,
        Self::OtherEngine,
    ];

    /// Returns the number that the process ends with.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Refused => 4,
            Self::Unverified => 5,
            Self::Diverged => 6,
            Self::TimedOut => 7,
            Self::OtherEngine => 8,
        }
    }

    /// Returns the meaning of the code in a few words.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Usage => "usage: the command line or a file given is wrong",
            Self::NotFound => "not found",
            Self::Refused => "refused by a rule",
            Self::Unverified => "verification failed",
            Self::Diverged => "divergence, or stalled",
            Self::TimedOut => "no quorum, or time-out",
            Self::OtherEngine => {
                "of another engine, or with a port that this program lacks: left as it is"
            }
        }
    }

    /// Returns the table of codes that `--help` ends with.
    #[must_use]
    pub fn table() -> String {
        let line = |exit: &Self| format!("  {}  {}\n", exit.code(), exit.meaning());
        Self::ALL.iter().map(line).collect()
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_the_documented_ones() {
        let codes = Exit::ALL.map(Exit::code);
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(Exit::Usage.code(), 2, "clap ends with 2 by itself");
        assert_eq!(Exit::Refused.code(), 4);
        assert_eq!(Exit::Unverified.code(), 5);
        assert_eq!(Exit::Diverged.code(), 6);
        assert_eq!(Exit::TimedOut.code(), 7);
        assert_eq!(Exit::OtherEngine.code(), 8);
    }

    #[test]
    fn the_table_has_a_line_for_every_code() {
        let table = Exit::table();
        assert_eq!(table.lines().count(), Exit::ALL.len());
        for (exit, line) in Exit::ALL.iter().zip(table.lines()) {
            assert_eq!(line, format!("  {}  {}", exit.code(), exit.meaning()));
        }
    }
}
