use clap::{CommandFactory as _, error::ErrorKind};

use super::*;

fn read(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(line.split(' ').map(|word| word.replace('@', " ")))
}

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn the_documented_lines_are_understood() {
    let key = "0".repeat(64);
    for line in [
        "metatopia",
        "metatopia --json",
        "metatopia up --servers 4 --data-dir /tmp/x --http-port 8080 --exit-after 30s --json",
        "metatopia up --servers 1",
        "metatopia node run --config server-0/metatopia.toml",
        "metatopia status --node http://127.0.0.1:8080 --at 7 --json",
        "metatopia keys new --out me.key",
        "metatopia keys show me.key --json",
        "metatopia keys export me.key --out me.sealed --passphrase-file words",
        "metatopia keys import me.sealed --out again.key",
        "metatopia say hello --node http://127.0.0.1:8080 --key me.key --json",
        "metatopia client --node http://127.0.0.1:8080 --key me.key",
        "metatopia bots --node http://a:1,http://b:2 --count 50 --rate 10 --duration 20s --json",
        "metatopia log verify /tmp/x --json",
        "metatopia log golden",
        "metatopia order show --node http://127.0.0.1:8080 --height 7 --script 2",
        "metatopia page export page --node http://127.0.0.1:8080 --node https://plaza.example",
        "metatopia script check door.rhai --json",
        "metatopia script new lamp --license AGPL-3.0-or-later --author Ada",
        "metatopia script new lamp --name lamp --licence MIT@OR@GPL-3.0-only",
        "metatopia script check lamp",
        "metatopia script test lamp --only test_it --json",
        "metatopia script publish lamp --key me.key --attach bench --json",
        "metatopia script upgrade lamp --script 9 --key me.key",
        "metatopia script attach 0123abcd bench --key me.key",
        "metatopia script detach 9 --key me.key",
        "metatopia script resume 9 --key me.key",
        "metatopia script reference",
        "metatopia script list --node http://127.0.0.1:8080",
        "metatopia script list --packages --json",
        "metatopia sim show plaza",
        "metatopia sim show --node http://127.0.0.1:8080 --at 7",
        "metatopia script top --over 10s --count 5",
        "metatopia script show 0123abcd",
        "metatopia script source 0123abcd -o lamp",
        "metatopia script source --all -o everything",
        "metatopia script fork 0123abcd my-lamp --author Ada",
        "metatopia script diff lamp my-lamp",
        "metatopia script logs -f 9",
        "metatopia bench plaza --json",
    ] {
        read(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    let receipt = format!("metatopia receipt {key} 5 2 --node http://127.0.0.1:8080");
    read(&receipt).unwrap_or_else(|error| panic!("{receipt}: {error}"));
}

#[test]
fn what_is_not_understood_is_a_usage_error() {
    for line in [
        "metatopia dance",
        "metatopia up --servers 0",
        "metatopia up --servers 32",
        "metatopia up --http-port 70000",
        "metatopia up --exit-after soon",
        "metatopia status --node 127.0.0.1:8080",
        "metatopia status --node ftp://127.0.0.1:8080",
        "metatopia receipt abc 1 1",
        "metatopia say hi",
        "metatopia bots --count 0",
        "metatopia bots --rate 0",
        "metatopia order show --height 1",
        "metatopia page export page",
        "metatopia say hi --key k --sim 12",
        "metatopia script new lamp --license GPL-3.0",
        "metatopia script source -o lamp",
        "metatopia script source 0123abcd --all -o lamp",
        "metatopia script publish lamp",
        "metatopia sim show",
        "metatopia sim show plaza --at 7",
        "metatopia sim show plaza --node http://127.0.0.1:8080",
    ] {
        let error = read(line).expect_err(line);
        assert!(error.use_stderr(), "{line}");
        assert_eq!(error.exit_code(), i32::from(Exit::Usage.code()), "{line}");
    }
}

#[test]
fn without_a_command_a_world_is_started() {
    let cli = read("metatopia --json").unwrap();
    assert!(cli.json && cli.command.is_none());
    let Some(Command::Up(asked)) = read("metatopia up").unwrap().command else { panic!("not up") };
    assert_eq!(format!("{asked:?}"), format!("{:?}", up::UpArgs::default()));
}

#[test]
fn help_ends_with_every_exit_code() {
    let help = Cli::command().render_long_help().to_string();
    for exit in Exit::ALL {
        let line = format!("{}  {}", exit.code(), exit.meaning());
        assert!(help.contains(&line), "{line} is not in\n{help}");
    }
    assert!(help.contains("Examples:"), "{help}");
}

#[test]
fn every_command_explains_itself() {
    fn check(command: &clap::Command, path: &str) {
        assert!(command.get_about().is_some(), "{path} says nothing about itself");
        for argument in command.get_arguments() {
            let id = argument.get_id();
            let told = argument.get_help().is_some() || argument.is_hide_set();
            assert!(told || *id == "help" || *id == "version", "{path} {id} has no help");
        }
        for sub in command.get_subcommands() {
            check(sub, &format!("{path} {}", sub.get_name()));
        }
    }
    check(&Cli::command(), "metatopia");
}

/// Returns the words of a line as a shell does that knows double quotes, up to where its output goes or to what
/// explains the line.
fn words_of(line: &str) -> Vec<String> {
    let (line, _) = line.split_once("    ").unwrap_or((line, ""));
    let (line, _) = line.split_once(" > ").unwrap_or((line, ""));
    let quoted = |(place, part): (usize, &str)| match place % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    };
    line.split('"').enumerate().flat_map(quoted).collect()
}

#[test]
fn the_commands_of_the_document_about_scripts_are_understood() {
    let document = include_str!("../../../docs/scripting.md");
    // A number stands for the script that it is, and no option begins with capitals.
    let document = document.replace("NUMBER", "9");
    let commands = document.lines().filter_map(|line| match line.split_once("| metatopia ") {
        Some((typed, rest)) if typed.starts_with("printf ") => Some(format!("metatopia {rest}")),
        _ => line.starts_with("metatopia ").then(|| line.to_owned()),
    });
    let mut count = 0;
    for line in commands {
        let read = Cli::try_parse_from(words_of(&line));
        read.unwrap_or_else(|error| panic!("{line}: {error}"));
        count += 1;
    }
    assert!(count > 15, "{count} commands were found");
}

#[test]
fn a_point_outside_of_the_plane_is_refused_by_name() {
    for (line, what) in [
        ("metatopia world find 2147483648 0", "'2147483648' for '<X>'"),
        ("metatopia world find 0 -2147483649", "'-2147483649' for '<Y>'"),
    ] {
        let refused = read(line).unwrap_err().to_string();
        assert!(refused.contains(what), "{refused}");
        assert!(refused.contains("is not in -2147483648..=2147483647"), "{refused}");
    }
    read("metatopia world find 2147483647 -2147483648").unwrap();
}

/// The numbers of both were one list, which was no point, so neither of them was heeded.
#[test]
fn a_second_point_is_a_fault_of_the_command_line() {
    for line in [
        "metatopia world map --around 1 2 --around 3 4",
        "metatopia world member x --near 1 2 --near 3 4",
    ] {
        let fault = read(line).expect_err(line);
        assert_eq!((fault.kind(), fault.exit_code()), (ErrorKind::ArgumentConflict, 2), "{line}");
    }
}

/// The help of `script test` listed half of what tests can do, as if that were all.
#[test]
fn the_help_of_tests_lists_all_that_they_can_do() {
    let mut command = Cli::command();
    let script = command.find_subcommand_mut("script").expect("a command");
    let test = script.find_subcommand_mut("test").expect("a command");
    let help = test.render_long_help().to_string();
    let prelude = include_str!("../../../scenarios/src/rehearsal/prelude.rhai");
    let names = prelude.lines().filter_map(|line| line.strip_prefix("fn ")?.split('(').next());
    let own = ["in_quotes", "is_same", "ask"];
    let names: Vec<&str> = names.filter(|name| !own.contains(name)).collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        assert!(help.contains(&format!(" {name}(")), "{name}: {help}");
    }
}
