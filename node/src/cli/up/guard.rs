//! Watches the servers of a sim. It starts those again that end, less and less often if that does
//! not help, and says how many are live and what to do.

use std::{fmt, time::Duration};

use metatopia_client_driver::http;
use serde::Serialize;
use tokio::time::{Instant, sleep_until};

use super::{
    cluster::{ServerExit, ServerProcesses},
    world::LocalWorld,
};
use crate::cli::{
    console::Console,
    exit::Exit,
    failure::Failure,
    numbers::number_of,
    survey::{LocalServer, Quorum, Survey},
};

/// The seconds before a server is started again, by how often it has ended in a row.
const BACK_OFF: [u64; 7] = [1, 2, 4, 8, 16, 32, 60];

/// A server that has lived this long is well: its next end counts as its first.
const WELL: Duration = Duration::from_secs(60);

/// The time between two looks at a server that somebody else has started.
const LOOK: Duration = Duration::from_secs(10);

/// The exit codes of servers that would end the same way again.
const LASTING: [Exit; 5] =
    [Exit::Usage, Exit::NotFound, Exit::Refused, Exit::Unverified, Exit::OtherEngine];

/// What is done about a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SupervisionState {
    /// The server has run since this time.
    Runs(Instant),
    /// The server is started at this time.
    Due(Instant),
    /// Somebody else has started the server. It is looked at again at this time.
    Foreign(Instant),
    /// Nothing is done: the server would end again, or nobody wants it to be started.
    Left,
}

/// What is done about a server that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExitDecision {
    Restart(Duration),
    WouldEndAgain,
    NotWanted,
}

/// Watches servers, as the module describes.
#[derive(Debug)]
pub(super) struct Supervisor<'a> {
    cluster: &'a mut ServerProcesses,
    world: &'a LocalWorld,
    places: Vec<LocalServer>,
    console: Console,
    restarts: bool,
    care: Vec<SupervisionState>,
    /// How often each server has ended in a row.
    ends: Vec<usize>,
}

/// A server process that ended by itself.
#[derive(Debug, Serialize)]
struct Died {
    died: usize,
    pid: u32,
    status: String,
    /// The last line of the server's log, if it said why.
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<String>,
    voters: usize,
    alive: usize,
    needed: usize,
    /// The seconds until the server is started again; nothing if it is not.
    restart_in: Option<u64>,
    /// The command that starts the server.
    #[serde(skip)]
    advice: String,
}

impl fmt::Display for Died {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { died, pid, status, voters, alive, needed, .. } = self;
        write!(f, "server {died} (process {pid}) ended: {status}")?;
        if let Some(said) = &self.said {
            write!(f, ", saying `{said}`")?;
        }
        let voters = number_of(*voters, "server that votes", "servers that vote");
        let alive_now = number_of(*alive, "is", "are");
        write!(
            f,
            "; of {voters} {alive_now} live, and {} needed",
            number_of(*needed, "is", "are")
        )?;
        if alive < needed {
            write!(f, ": no turn is decided until {} more are live", needed - alive)?;
        }
        match self.restart_in {
            Some(seconds) => write!(f, "; it is started again in {seconds} s"),
            None => write!(f, "; {}", self.advice),
        }
    }
}

/// A server that was started again.
#[derive(Debug, Serialize)]
struct Restarted {
    restarted: usize,
    pid: u32,
}

impl fmt::Display for Restarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { restarted, pid } = self;
        write!(f, "server {restarted} is started again (process {pid})")
    }
}

impl<'a> Supervisor<'a> {
    /// Returns a supervisor of servers that all run. Without `restarts` it only tells of ends.
    ///
    /// # Errors
    /// Fails when the configuration of a server cannot be read.
    pub(super) fn new(
        cluster: &'a mut ServerProcesses,
        world: &'a LocalWorld,
        restarts: bool,
        console: Console,
    ) -> Result<Self, Failure> {
        let places = LocalServer::all(world.path())?;
        let count = places.len();
        let care = vec![SupervisionState::Runs(Instant::now()); count];
        Ok(Self { cluster, world, places, console, restarts, care, ends: vec![0; count] })
    }

    /// Watches until the sim has ended, as its charter says.
    ///
    /// # Errors
    /// Fails when no turn can be decided and nothing is left to be tried.
    pub(super) async fn watch(mut self) -> Result<(), Failure> {
        loop {
            let due = self.care.iter().filter_map(|care| match care {
                SupervisionState::Due(at) | SupervisionState::Foreign(at) => Some(*at),
                SupervisionState::Runs(_) | SupervisionState::Left => None,
            });
            let due = due.min();
            let until_due = async {
                match due {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            let done = tokio::select! {
                death = self.cluster.death() => {
                    if death.sim_ended {
                        return Ok(());
                    }
                    self.mourn(death).await
                }
                () = until_due => self.start_due().await,
            };
            done?;
        }
    }

    /// Tells of an end, and decides what is done about it.
    async fn mourn(&mut self, death: ServerExit) -> Result<(), Failure> {
        let index = death.index;
        let lived = match self.care[index] {
            SupervisionState::Runs(since) => since.elapsed(),
            _ => Duration::ZERO,
        };
        self.ends[index] = ends_in_a_row(self.ends[index], lived);
        let next = next(self.restarts, death.code, self.ends[index]);
        self.care[index] = match next {
            ExitDecision::Restart(after) => SupervisionState::Due(Instant::now() + after),
            ExitDecision::WouldEndAgain | ExitDecision::NotWanted => SupervisionState::Left,
        };
        let (Quorum { voters, live, needed }, unreached) = self.quorum().await;
        let exit = death.exit_of_up(Exit::TimedOut);
        let died = Died {
            died: index,
            pid: death.pid,
            status: death.status,
            said: death.code.and_then(|_| self.cluster.last_words(index)),
            voters,
            alive: live,
            needed,
            restart_in: match next {
                ExitDecision::Restart(after) => Some(after.as_secs()),
                ExitDecision::WouldEndAgain | ExitDecision::NotWanted => None,
            },
            advice: self.advice(index, next),
        };
        self.tell(&died)?;
        let is_tried = self
            .care
            .iter()
            .any(|care| matches!(care, SupervisionState::Due(_) | SupervisionState::Foreign(_)));
        // A server that votes elsewhere and is not reached from here may still be live.
        if live + unreached >= needed || is_tried {
            return Ok(());
        }
        let lives = number_of(live, "server lives", "servers live");
        let needed = number_of(needed, "is", "are");
        let message = format!("{lives} where {needed} needed: no quorum");
        Err(Failure::new(exit, message)
            .hint(&format!("see {}", self.cluster.log_path(index).display())))
    }

    fn advice(&self, index: usize, next: ExitDecision) -> String {
        let log = self.cluster.log_path(index);
        let config = self.world.servers()[index].config();
        let start = format!("metatopia node run --config {}", config.display());
        match next {
            ExitDecision::WouldEndAgain => format!(
                "it is not started again, because it would end the same way: see {}, and then \
                 start it by `{start}`",
                log.display()
            ),
            ExitDecision::Restart(_) | ExitDecision::NotWanted => format!("start it by `{start}`"),
        }
    }

    /// Starts the servers whose time has come, except those that somebody else has started.
    async fn start_due(&mut self) -> Result<(), Failure> {
        for index in 0..self.care.len() {
            let (SupervisionState::Due(at) | SupervisionState::Foreign(at)) = self.care[index]
            else {
                continue;
            };
            if at > Instant::now() {
                continue;
            }
            let live = self.cluster.ports(index).url().join("/health/live");
            if http::get_text(live).await.is_ok() {
                self.care[index] = SupervisionState::Foreign(Instant::now() + LOOK);
                continue;
            }
            match self.cluster.restart(index) {
                Ok(()) => {
                    self.care[index] = SupervisionState::Runs(Instant::now());
                    let pid = self.cluster.pid(index);
                    self.tell(&Restarted { restarted: index, pid })?;
                }
                Err(failure) => {
                    self.ends[index] += 1;
                    self.care[index] =
                        SupervisionState::Due(Instant::now() + back_off(self.ends[index]));
                    self.console.warn(&failure.to_string());
                }
            }
        }
        Ok(())
    }

    /// Counts the live servers, which are our own processes and those that answer, and the servers
    /// that vote elsewhere and did not answer.
    async fn quorum(&self) -> (Quorum, usize) {
        let survey = Survey::take(&self.places).await;
        let is_live = |index| self.cluster.is_running(index) || survey.servers[index].is_live();
        let unreached = survey.elsewhere.iter().filter(|other| !other.is_live).count();
        (survey.quorum(is_live), unreached)
    }

    fn tell<T: Serialize + fmt::Display>(&self, what: &T) -> Result<(), Failure> {
        if self.console.is_json() {
            return self.console.json(what);
        }
        self.console.warn(&what.to_string());
        Ok(())
    }
}

/// Decides what is done about a server that ended with this code, or by a signal, this often in a
/// row.
fn next(restarts: bool, code: Option<i32>, ends: usize) -> ExitDecision {
    if !restarts {
        return ExitDecision::NotWanted;
    }
    match code {
        Some(code) if LASTING.iter().any(|exit| i32::from(exit.code()) == code) => {
            ExitDecision::WouldEndAgain
        }
        _ => ExitDecision::Restart(back_off(ends)),
    }
}

/// Returns how long a server is left alone that ended this often in a row.
fn back_off(ends: usize) -> Duration {
    let last = BACK_OFF.len() - 1;
    Duration::from_secs(BACK_OFF[ends.saturating_sub(1).min(last)])
}

/// Returns what people who start so few servers should know; nothing if one server may lie or
/// vanish, or if there is only one to be trusted.
pub(super) fn warning(servers: usize) -> Option<String> {
    let spare = Quorum::of(servers, servers).spare();
    (servers > 1 && spare == 0).then(|| {
        format!(
            "warning: {servers} servers tolerate no fault: when one of them is down or lies, no turn \
             is decided; 4 tolerate one"
        )
    })
}

/// Returns how often a server has ended in a row that ended so often before, and then lived so long.
const fn ends_in_a_row(before: usize, lived: Duration) -> usize {
    if lived.as_millis() >= WELL.as_millis() { 1 } else { before + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_server_count_anew_once_it_was_well_for_so_long() {
        assert_eq!(ends_in_a_row(5, WELL), 1);
        assert_eq!(ends_in_a_row(5, WELL - Duration::from_millis(1)), 6);
    }

    #[test]
    fn a_server_is_started_again_less_and_less_often() {
        let waits: Vec<u64> = (1..=9).map(|ends| back_off(ends).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(next(true, None, 1), ExitDecision::Restart(Duration::from_secs(1)));
        assert_eq!(next(true, Some(1), 3), ExitDecision::Restart(Duration::from_secs(4)));
        assert_eq!(
            next(true, Some(101), 1),
            ExitDecision::Restart(Duration::from_secs(1)),
            "a panic"
        );
        assert_eq!(next(false, None, 1), ExitDecision::NotWanted);
    }

    #[test]
    fn who_would_end_the_same_way_is_not_started_again() {
        for code in [2, 3, 4, 5, 8] {
            assert_eq!(next(true, Some(code), 1), ExitDecision::WouldEndAgain, "{code}");
        }
    }

    /// Whether a server lacked a port before or after it answered decided between the codes 8 and 7.
    #[test]
    fn up_ends_as_the_server_whose_program_lacks_something() {
        let exit = |code| {
            let status = String::new();
            let death = ServerExit { index: 0, pid: 77, status, code, sim_ended: false };
            death.exit_of_up(Exit::TimedOut)
        };
        assert_eq!(exit(Some(8)), Exit::OtherEngine);
        for code in [None, Some(1), Some(2), Some(101)] {
            assert_eq!(exit(code), Exit::TimedOut, "{code:?}");
        }
    }

    #[test]
    fn an_end_is_told_with_who_is_needed_and_what_comes_of_it() {
        let mut died = Died {
            died: 1,
            pid: 77,
            status: "signal: 9 (SIGKILL)".into(),
            said: None,
            voters: 5,
            alive: 4,
            needed: 4,
            restart_in: Some(2),
            advice: "start it by `x`".into(),
        };
        assert_eq!(
            died.to_string(),
            "server 1 (process 77) ended: signal: 9 (SIGKILL); of 5 servers that vote 4 are live, \
             and 4 are needed; it is started again in 2 s"
        );
        (died.alive, died.restart_in) = (2, None);
        let told = died.to_string();
        assert!(told.contains("no turn is decided until 2 more are live; start it by"), "{told}");
    }

    #[test]
    fn two_and_three_servers_are_warned_of() {
        for servers in [2, 3] {
            let told = warning(servers).unwrap();
            assert!(told.contains(&format!("{servers} servers tolerate no fault")), "{told}");
        }
        assert_eq!([1, 4, 5, 7, 31].map(warning), [const { None }; 5]);
    }
}
