//! The command line of the program.
//!
//! [`main`] reads the arguments, runs one command and ends with an [`Exit`] code. Results go to
//! standard output, one JSON object per line with `--json`; everything else goes to standard error.

mod admin;
mod arguments;
mod bench;
mod beside_key;
mod bisect;
mod border;
mod bots;
mod capsule;
mod client;
mod code;
mod console;
mod entry;
mod evidence;
mod exit;
mod failure;
#[cfg(test)]
mod fixture;
mod folder;
mod genesis_file;
mod house_rules;
mod invite;
mod keys;
mod log;
mod net;
mod node;
mod numbers;
mod order;
mod page;
mod passphrase;
mod place;
mod ports;
mod receipt;
mod recover;
mod replay;
mod say;
mod scenario;
mod script;
mod session;
mod sim;
mod sources;
mod status;
mod survey;
mod ticket;
mod up;
mod world;

use std::{future::Future, process::ExitCode};

use clap::{Parser, Subcommand};

use self::console::Console;
pub use self::{exit::Exit, failure::Failure};

/// The world in one program: servers that agree on every turn, and the tools to live in it.
#[derive(Debug, Parser)]
#[command(
    name = "metatopia",
    version,
    about = "A virtual world that nobody can switch off, lie about, or close the source of",
    long_about = "A virtual world that nobody can switch off, lie about, or close the source of.\n\n\
        Without a command it does what `metatopia up` does: four servers on this machine that run \
        one world together.",
    after_help = after_help(),
    subcommand_required = false,
    disable_help_subcommand = true,
)]
pub struct Cli {
    /// Print results as JSON, one object per line.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start a world of several servers on this machine, or start it again.
    Up(up::UpArgs),
    /// Run one server.
    Node {
        #[command(subcommand)]
        command: node::NodeCommand,
    },
    /// Let somebody's node follow a sim.
    Invite {
        #[command(subcommand)]
        command: invite::InviteCommand,
    },
    /// Let people in whom a sim does not know; for its admins.
    Ticket {
        #[command(subcommand)]
        command: ticket::TicketCommand,
    },
    /// Order who may do what in a sim, and who votes; its numbers, lands and reports; for its admins.
    Admin {
        #[command(subcommand)]
        command: admin::AdminCommand,
    },
    /// How all servers here stand, or one.
    Status(status::StatusArgs),
    /// Make and look at keys.
    Keys {
        #[command(subcommand)]
        command: keys::KeysCommand,
    },
    /// Walk, talk and look around, in words.
    Client(client::ClientArgs),
    /// Say one thing, and print its receipt.
    Say(say::SayArgs),
    /// Fetch the receipt of an act, and check it.
    Receipt(receipt::ReceiptArgs),
    /// Let many signed players walk, push and talk, and count what becomes of their acts.
    Bots(bots::BotsArgs),
    /// Check what servers have written.
    Log {
        #[command(subcommand)]
        command: log::LogCommand,
    },
    /// Play a server's log or a capsule again, and compare every root.
    Replay(replay::ReplayArgs),
    /// Find the first turn, body or script, and field, in which two servers differ.
    Bisect(bisect::BisectArgs),
    /// What a server kept when its state parted from the others'.
    Capsule {
        #[command(subcommand)]
        command: capsule::CapsuleCommand,
    },
    /// Proof that a server signed two things at once.
    Evidence {
        #[command(subcommand)]
        command: evidence::EvidenceCommand,
    },
    /// Agree by hand which state a stalled sim goes on from; for its servers' operators.
    Recover {
        #[command(subcommand)]
        command: recover::RecoverCommand,
    },
    /// Carry on a sim whose servers are gone for good, and check one that does.
    Sim {
        #[command(subcommand)]
        command: sim::SimCommand,
    },
    /// Found a world of many sims, claim land in one, look at its map, and find who owns a point.
    World {
        #[command(subcommand)]
        command: world::WorldCommand,
    },
    /// Find out whether others reach what a node listens on.
    Net {
        #[command(subcommand)]
        command: net::NetCommand,
    },
    /// Open, close and list the borders that people walk over into other sims.
    Border {
        #[command(subcommand)]
        command: border::BorderCommand,
    },
    /// Make places of your own, check them, and write running sims as places.
    Place {
        #[command(subcommand)]
        command: place::PlaceCommand,
    },
    /// In which order a script got its events.
    Order {
        #[command(subcommand)]
        command: order::OrderCommand,
    },
    /// The page that browsers load, apart from any server.
    Page {
        #[command(subcommand)]
        command: page::PageFolderCommand,
    },
    /// Play stories of servers and faults in a simulated world.
    Scenario {
        #[command(subcommand)]
        command: scenario::ScenarioCommand,
    },
    /// Write, check and test scripts, bring them into a sim, and look at those that are there.
    Script {
        #[command(subcommand)]
        command: script::ScriptCommand,
    },
    /// Measure this machine against the figures that are promised.
    Bench {
        #[command(subcommand)]
        command: bench::BenchCommand,
    },
}

fn after_help() -> String {
    format!(
        "Examples:\n  \
        metatopia                                     four servers, one world, this machine\n  \
        metatopia keys new --out me.key               a key of your own\n  \
        metatopia client --key me.key                 walk around; type `help` there\n  \
        metatopia say \"hello\" --key me.key --json     one sentence, and its receipt\n  \
        metatopia place new my-place                  a place of your own, to change\n  \
        metatopia script new lamp                     a script of your own, to change\n  \
        metatopia world new my-world                  a world that others claim land in\n  \
        metatopia status --watch                      all servers here, and turns a second\n  \
        metatopia log verify ~/.local/state/metatopia/plaza\n\n\
        Every command explains itself with --help.\n\n\
        Exit codes:\n{}",
        Exit::table()
    )
}

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are results; all else is usage. Without a place to print there is
            // nobody to tell.
            let _ = error.print();
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Ok };
            return exit.into();
        }
    };
    let console = Console::new(cli.json);
    let command = cli.command.unwrap_or_else(|| Command::Up(up::UpArgs::default()));
    match run(command, console) {
        Ok(()) => Exit::Ok.into(),
        Err(failure) => {
            console.error(&failure);
            failure.exit.into()
        }
    }
}

fn run(command: Command, console: Console) -> Result<(), Failure> {
    match command {
        Command::Up(args) => wait(up::run(args, console)),
        Command::Node { command } => node::run(command, console),
        Command::Invite { command } => invite::run(command, console),
        Command::Ticket { command } => wait(ticket::run(command, console)),
        Command::Admin { command } => wait(admin::run(command, console)),
        Command::Status(args) => wait(status::run(args, console)),
        Command::Keys { command } => keys::run(command, console),
        Command::Client(args) => wait(client::run(args, console)),
        Command::Say(args) => wait(say::run(args, console)),
        Command::Receipt(args) => wait(receipt::run(args, console)),
        Command::Bots(args) => wait(bots::run(args, console)),
        Command::Log { command } => log::run(command, console),
        Command::Replay(args) => replay::run(&args, console),
        Command::Bisect(args) => bisect::run(&args, console),
        Command::Capsule { command } => capsule::run(command, console),
        Command::Evidence { command } => evidence::run(command, console),
        Command::Recover { command } => recover::run(command, console),
        Command::Sim { command } => sim::run(command, console),
        Command::World { command } => world::run(command, console),
        Command::Net { command } => net::run(command, console),
        Command::Border { command } => wait(border::run(command, console)),
        Command::Place { command } => place::run(command, console),
        Command::Order { command } => wait(order::run(command, console)),
        Command::Page { command } => page::run(command, console),
        Command::Scenario { command } => scenario::run(command, console),
        Command::Script { command } => script::run(command, console),
        Command::Bench { command } => wait(bench::run(command, console)),
    }
}

/// Runs a command that waits for sockets.
fn wait<F: Future<Output = Result<(), Failure>>>(command: F) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot start threads: {error}")))?;
    let result = runtime.block_on(command);
    // A thread that still reads standard input must not keep the program alive.
    runtime.shutdown_background();
    result
}

#[cfg(test)]
mod tests;
