//! `script` writes, checks and tests scripts, brings them into a sim, and shows those that are there.

mod attach;
mod check;
mod comparison;
pub(super) mod deeds;
pub(super) mod desk;
mod diff;
pub(super) mod follow;
mod fork;
pub(super) mod lines;
mod list;
mod logs;
mod mistakes;
mod new;
pub(super) mod packages;
mod port;
mod publish;
mod reference;
mod show;
mod source;
mod test;
mod upgrade;

use clap::Subcommand;

use super::{console::Console, failure::Failure};

#[derive(Debug, Subcommand)]
pub(super) enum ScriptCommand {
    /// Write a new package into a folder, for you to change: a script that works, and its tests.
    #[command(after_help = "Examples:\n  \
        metatopia script new lamp\n  \
        metatopia script new lamp --license GPL-3.0-or-later --author Ada\n  \
        metatopia script new my-door --example door\n\n\
        Examples are arena, bell, door, garden, goal, greeter, guide, lift, music-box, pad, race,\n\
        scores, shop, tag, turntable, vending and vote-box: docs/cookbook.md says what they do.\n\n\
        A package needs a licence that allows a copyleft choice. docs/scripting.md shows the way from\n\
        here to a script that runs.")]
    New(new::ScriptNewArgs),
    /// Show what is wrong with a script or a package, by line and column. Nothing is run.
    #[command(after_help = "Examples:\n  \
        metatopia script check lamp            the folder of a package, with its licence\n  \
        metatopia script check lamp/lamp.rhai  one source\n  \
        metatopia script check lamp --node http://127.0.0.1:8080\n\n\
        What a package imports is looked for in its folder IMPORTS, in the folders beside its own, and in\n\
        the sim of the node, if one is named.\n\
        Mistakes end with exit code 1.")]
    Check(check::ScriptCheckArgs),
    /// Run the tests of a package in a small simulated sim.
    #[command(after_help = "Examples:\n  \
        metatopia script test lamp\n  \
        metatopia script test lamp --only test_it_shines\n\n\
        Tests are functions `test_...` in the file tests.rhai of the package. They can use what scripts\n\
        can, and:\n  \
        touch() chat(text) walk(x, y) ball(x, y) touch_thing(name) visitor(name)\n  \
        reply(choice, text) accept() decline() wait(seconds)\n  \
        said() logged() sounds() asked() shown() color() position()\n  \
        things() count(name) kept(name) expect(fact) expect_eq(found, wanted)\n\
        docs/scripting.md says what they do. A test that fails ends with exit code 1.")]
    Test(test::ScriptTestArgs),
    /// Bring a package into a sim, where everybody can read, run and fork it.
    #[command(after_help = "Examples:\n  \
        metatopia script publish lamp --key me.key\n  \
        metatopia script publish lamp --key me.key --attach bench\n\n\
        What is printed was proved by the signatures of more than two thirds of the servers. A rule of\n\
        the sim that refuses it is quoted, and ends with exit code 4. A script that fails at once stays\n\
        on the thing, and ends the command with exit code 1.")]
    Publish(publish::ScriptPublishArgs),
    /// Have a script run another package from now on. It keeps what it remembers.
    #[command(after_help = "Example:\n  \
        metatopia script upgrade lamp --script 9 --key me.key\n\n\
        The package is published first, if the sim does not have it. `metatopia script list` prints\n\
        the numbers of scripts. If the first event of the new source fails, the script runs what it ran\n\
        before, and the command ends with exit code 1.")]
    Upgrade(upgrade::ScriptUpgradeArgs),
    /// Have a thing of yours run a package of the sim.
    #[command(after_help = "Example:\n  metatopia script attach PACKAGE bench --key me.key\n\n\
        A script that fails at once stays on the thing, and ends the command with exit code 1.")]
    Attach(attach::ScriptAttachArgs),
    /// Take a script off a thing of yours. What it remembers is lost.
    #[command(after_help = "Example:\n  metatopia script detach 9 --key me.key")]
    Detach(attach::ScriptDetachArgs),
    /// Have a script run again that was suspended because it failed three times in five seconds.
    ///
    /// It keeps what it remembers, and begins with on_start. An upgrade also has it run again.
    #[command(after_help = "Example:\n  metatopia script resume 9 --key me.key")]
    Resume(attach::ScriptDetachArgs),
    /// List the scripts that run, with the packages of their source; or all packages of the sim.
    #[command(after_help = "Examples:\n  \
        metatopia script list --node http://127.0.0.1:8080\n  \
        metatopia script list --packages                    what can be attached, shown and forked\n\n\
        With --packages the node also names packages whose source has left, as no script ran it.")]
    List(list::ScriptListArgs),
    /// Show which scripts take most gas.
    #[command(after_help = "Example:\n  metatopia script top --over 10s --count 5")]
    Top(list::ScriptTopArgs),
    /// Show what a package says of itself, and where it runs.
    #[command(after_help = "Example:\n  metatopia script show PACKAGE\n\n\
        PACKAGE is 64 hexadecimal digits, of which the first eight do.")]
    Show(show::ScriptShowArgs),
    /// Write the source of a package into a folder, or of all packages of the sim.
    #[command(after_help = "Examples:\n  \
        metatopia script source PACKAGE -o lamp\n  \
        metatopia script source --all -o everything\n\n\
        What is written re-hashes to the id of the package. With --all it comes out of the present state,\n\
        which follows from a state and turns that the sim's servers signed. The texts of the licences\n\
        lie beside it, in LICENSES.")]
    Source(source::ScriptSourceArgs),
    /// Write the source of a package into a folder as a package of your own, which names its parent.
    #[command(after_help = "Example:\n  metatopia script fork PACKAGE my-lamp --author Ada")]
    Fork(fork::ScriptForkArgs),
    /// Show how two packages or files differ, line by line.
    #[command(after_help = "Examples:\n  \
        metatopia script diff lamp my-lamp\n  \
        metatopia script diff PACKAGE my-lamp\n\n\
        Each side is a folder, a file, or a package of the sim.")]
    Diff(diff::ScriptDiffArgs),
    /// Show what scripts log, and where they fail.
    #[command(after_help = "Examples:\n  \
        metatopia script logs\n  \
        metatopia script logs -f 9\n\n\
        No server keeps these lines. They are computed here, from a state and turns that the sim's\n\
        servers signed: from the newest snapshot on, and with -f as long as you like.")]
    Logs(logs::ScriptLogsArgs),
    /// Write a script as Rust that does the same: a port, for the program of the servers.
    #[command(after_help = "Examples:\n  \
        metatopia script port scenarios/packages/greeter > port.rs\n  \
        metatopia script port lamp/lamp.rhai > scripting/src/ports/lamp.rs\n\n\
        The port names the package that it replaces. It runs once it is part of the program, in the list\n\
        of scripting/src/ports.rs, and the admins have agreed on it: docs/scripting.md says how. Mistakes\n\
        of the source end with exit code 1, with line and column. A port has in it all that the package imports.")]
    Port(port::ScriptPortArgs),
    /// List the ports that this program has: their packages, and the digests of their source.
    #[command(after_help = "Example:\n  metatopia script ports\n\n\
        Admins name both in `metatopia admin set ports +PACKAGE:PORT:GAS:HEIGHT`.")]
    Ports,
    /// Apply the turns of a log again with a port beside its source, and show where both differ.
    #[command(after_help = "Examples:\n  \
        metatopia script ports                            the packages that have ports\n  \
        metatopia script port-check 36d76017 --log ~/.local/state/metatopia/plaza/server-0\n\n\
        Nothing is changed, and the server may be running. Each event of each script of the package is\n\
        handled by both. Exit code 0 with the number of events if they did the same; 6 with the first\n\
        difference: its turn, event, and what differs; 3 if the program has no such port, or the log no\n\
        such event; 5 if the log is wrong.")]
    PortCheck(port::ScriptPortCheckArgs),
    /// Print what scripts can use: language, handlers, functions and properties.
    #[command(after_help = "Example:\n  metatopia script reference | less")]
    Reference,
}

/// Runs a command about scripts.
pub(super) fn run(command: ScriptCommand, console: Console) -> Result<(), Failure> {
    use super::wait;
    match command {
        ScriptCommand::New(args) => new::run(&args, console),
        ScriptCommand::Check(args) => check::run(&args, console),
        ScriptCommand::Test(args) => test::run(&args, console),
        ScriptCommand::Publish(args) => wait(publish::run(args, console)),
        ScriptCommand::Upgrade(args) => wait(upgrade::run(args, console)),
        ScriptCommand::Attach(args) => wait(attach::attach(args, console)),
        ScriptCommand::Detach(args) => wait(attach::detach(args, console)),
        ScriptCommand::Resume(args) => wait(attach::resume(args, console)),
        ScriptCommand::List(args) => wait(list::list(args, console)),
        ScriptCommand::Top(args) => wait(list::top(args, console)),
        ScriptCommand::Show(args) => wait(show::run(args, console)),
        ScriptCommand::Source(args) => wait(source::run(args, console)),
        ScriptCommand::Fork(args) => wait(fork::run(args, console)),
        ScriptCommand::Diff(args) => wait(diff::run(args, console)),
        ScriptCommand::Logs(args) => wait(logs::run(args, console)),
        ScriptCommand::Port(args) => port::write(&args, console),
        ScriptCommand::Ports => port::list(console),
        ScriptCommand::PortCheck(args) => port::check(&args, console),
        ScriptCommand::Reference => reference::run(console),
    }
}
