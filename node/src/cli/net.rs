//! `net check` finds out whether others reach what a node listens on.

use std::{collections::BTreeSet, fmt, net::IpAddr};

use clap::{Args, Subcommand};
use metatopia_client_driver::{NodeUrl, http};
use serde::Serialize;

use super::{
    console::Console,
    exit::Exit,
    failure::Failure,
    numbers::number_of,
    session::{NODE, http_exit},
};
use crate::overlay::{
    answers::{ReachAnswer, ReachEntry},
    reach::{DialBackEntry, ReachScope},
};

#[derive(Debug, Subcommand)]
pub(super) enum NetCommand {
    /// Ask two members of the world to dial this node back, and say what they reach.
    #[command(after_help = "Examples:\n  \
        metatopia net check\n  \
        metatopia net check --node http://127.0.0.1:8180 --json\n\n\
        Each TCP port on which the node listens is dialled from outside, at the address from which the \
        members hear\nthe node. The UDP port for clients is not dialled: browsers and programs come by \
        TCP where UDP does not\npass. Exit code 0 when all ports are reached, 1 when one is not, 7 when \
        nobody could say.")]
    Check(CheckArgs),
}

/// Arguments of `metatopia net check`.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The node that is checked: one that takes part in a world.
    #[arg(long, value_name = "URL", default_value = NODE)]
    node: NodeUrl,
}

/// What was found out about a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum PortReach {
    /// Somebody came through.
    Reached,
    /// Nobody of those who answered came through.
    Unreached,
    /// Nobody could say.
    Unknown,
}

/// From how far away those are who were asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum SeenFrom {
    Machine,
    Network,
    Everywhere,
}

/// A port, as the command prints it.
#[derive(Debug, Serialize)]
struct PortLine {
    what: String,
    port: u16,
    reach: PortReach,
    /// The farthest place of those who answered; none if nobody did.
    seen_from: Option<SeenFrom>,
    /// The addresses that were dialled, which are the node's as others see it.
    observed: BTreeSet<IpAddr>,
    asked: Vec<DialBackEntry>,
    advice: Option<String>,
}

impl PortLine {
    fn of(entry: ReachEntry) -> Self {
        let ReachEntry { what, port, asked } = entry;
        let answered = |asked: &&DialBackEntry| ANSWERS.contains(&asked.outcome.as_str());
        let told: Vec<&DialBackEntry> = asked.iter().filter(answered).collect();
        let reach = match (told.is_empty(), told.iter().any(|asked| asked.outcome == OPEN)) {
            (true, _) => PortReach::Unknown,
            (false, true) => PortReach::Reached,
            (false, false) => PortReach::Unreached,
        };
        // One who came through from afar says more than one who is near.
        let decisive =
            told.iter().filter(|asked| reach != PortReach::Reached || asked.outcome == OPEN);
        let seen_from =
            decisive.map(|asked| ReachScope::of(asked.from)).max().map(|scope| match scope {
                ReachScope::Machine => SeenFrom::Machine,
                ReachScope::Network => SeenFrom::Network,
                ReachScope::Everywhere => SeenFrom::Everywhere,
            });
        let observed = asked.iter().filter_map(|asked| asked.observed).collect();
        let advice = advice(port, reach, seen_from, &asked);
        Self { what, port, reach, seen_from, observed, asked, advice }
    }
}

/// The outcome of a connection that opened.
const OPEN: &str = "open";

/// Outcomes that say something about a port.
const ANSWERS: [&str; 3] = [OPEN, "closed", "silent"];

/// Returns what to do about a port, if something is to be done.
fn advice(
    port: u16,
    reach: PortReach,
    seen_from: Option<SeenFrom>,
    asked: &[DialBackEntry],
) -> Option<String> {
    let far = "so this says nothing about people elsewhere";
    match (reach, seen_from) {
        (PortReach::Reached, Some(SeenFrom::Machine)) => {
            Some(format!("only members on this machine were asked, {far}"))
        }
        (PortReach::Reached, Some(SeenFrom::Network)) => {
            Some(format!("only members in your own network were asked, {far}"))
        }
        (PortReach::Reached, _) => None,
        (PortReach::Unreached, _) => Some(format!(
            "forward TCP port {port} of your router to this machine and let it through the firewall, or \
             run a follower of the sim on a machine with a public address"
        )),
        (PortReach::Unknown, _) if asked.is_empty() => Some(
            "the node is in touch with no member of its world; ask again in a while".to_owned(),
        ),
        (PortReach::Unknown, _) => Some(
            "those who were asked do not answer, or dial too often already; ask again".to_owned(),
        ),
    }
}

impl fmt::Display for PortLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, port, asked, .. } = self;
        let open = asked.iter().filter(|asked| asked.outcome == OPEN).count();
        let at: Vec<String> = self.observed.iter().map(IpAddr::to_string).collect();
        let at = if at.is_empty() { String::new() } else { format!(" at {}", at.join(" and ")) };
        let told = match self.reach {
            PortReach::Reached => "is reached",
            PortReach::Unreached => "is not reached",
            PortReach::Unknown => "is not known to be reached",
        };
        let members = number_of(asked.len(), "member", "members");
        write!(f, "{what}: TCP port {port} {told}{at}; {open} of {members} came through")?;
        match &self.advice {
            Some(advice) => write!(f, "\n  {advice}"),
            None => Ok(()),
        }
    }
}

pub(super) fn run(command: NetCommand, console: Console) -> Result<(), Failure> {
    match command {
        NetCommand::Check(args) => super::wait(check(args, console)),
    }
}

async fn check(args: CheckArgs, console: Console) -> Result<(), Failure> {
    let answer: ReachAnswer = http::get(args.node.join("/api/world/reach"))
        .await
        .map_err(|error| Failure::new(http_exit(&error), format!("{} {error}", args.node)))?;
    let lines: Vec<PortLine> = answer.ports.into_iter().map(PortLine::of).collect();
    for line in &lines {
        console.show(line)?;
    }
    match exit(lines.iter().map(|line| line.reach)) {
        Exit::Ok => Ok(()),
        exit => Err(Failure::quiet(exit)),
    }
}

fn exit(ports: impl Iterator<Item = PortReach>) -> Exit {
    let found: Vec<PortReach> = ports.collect();
    match found {
        found if found.contains(&PortReach::Unreached) => Exit::Failed,
        found if found.contains(&PortReach::Unknown) || found.is_empty() => Exit::TimedOut,
        _ => Exit::Ok,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(from: &str, outcome: &str) -> DialBackEntry {
        DialBackEntry {
            port: 8_083,
            member: "ab".to_owned(),
            from: from.parse().unwrap(),
            outcome: outcome.to_owned(),
            observed: Some("198.51.100.4".parse().unwrap()),
        }
    }

    fn line(asked: Vec<DialBackEntry>) -> PortLine {
        PortLine::of(ReachEntry { what: "overlay".to_owned(), port: 8_083, asked })
    }

    #[test]
    fn a_port_that_somebody_far_off_reached_needs_nothing() {
        let line = line(vec![asked("203.0.113.9", "open"), asked("203.0.113.8", "silent")]);
        assert_eq!((line.reach, line.advice.as_ref()), (PortReach::Reached, None));
        assert_eq!(
            line.to_string(),
            "overlay: TCP port 8083 is reached at 198.51.100.4; 1 of 2 members came through"
        );
    }

    #[test]
    fn who_is_near_says_nothing_about_people_elsewhere() {
        for (from, told) in [("127.0.0.1", "on this machine"), ("192.168.1.7", "your own network")]
        {
            // That somebody far off did not come through is not made good by somebody near.
            let line = line(vec![asked(from, "open"), asked(from, "busy")]);
            assert_eq!(line.reach, PortReach::Reached);
            assert!(line.to_string().contains(told), "{line}");
        }
    }

    #[test]
    fn a_port_that_nobody_reached_is_to_be_forwarded() {
        let line = line(vec![asked("203.0.113.9", "closed"), asked("203.0.113.8", "none")]);
        assert_eq!(line.reach, PortReach::Unreached);
        assert!(line.to_string().contains("forward TCP port 8083 of your router"), "{line}");
    }

    #[test]
    fn where_nobody_can_say_the_command_asks_for_patience() {
        let (none, busy) = (line(Vec::new()), line(vec![asked("203.0.113.9", "busy")]));
        assert!(none.to_string().contains("in touch with no member"), "{none}");
        assert!(busy.to_string().contains("ask again"), "{busy}");
        assert_eq!((none.reach, busy.reach), (PortReach::Unknown, PortReach::Unknown));
    }

    #[test]
    fn the_codes_are_the_documented_ones() {
        use PortReach::{Reached, Unknown, Unreached};
        assert_eq!(exit([Reached, Reached].into_iter()), Exit::Ok);
        assert_eq!(exit([Reached, Unknown, Unreached].into_iter()), Exit::Failed);
        assert_eq!(exit([Reached, Unknown].into_iter()), Exit::TimedOut);
        assert_eq!(exit([].into_iter()), Exit::TimedOut);
    }
}
