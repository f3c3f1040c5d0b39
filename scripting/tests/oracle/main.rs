//! The oracle: stock rhai and the executor of our own run the same random programs, and agree on values,
//! on kinds of errors and on their places.
#![expect(clippy::unwrap_used, reason = "tests state facts")]

mod differences;
mod grammar;
mod judged;
mod own;
#[path = "../stage/starting.rs"]
mod starting;
#[path = "../stage/stock.rs"]
mod stock;
mod world;

use std::collections::BTreeMap;

use metatopia_scripting::{ErrorKind, ScriptOutput, Value};

use grammar::Grammar;

/// Programs of one run, unless the environment says how many.
const PROGRAMS: u64 = 10_000;

/// What a program gives: a value and what it did to the world, or the kind and place of its error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Value(Value, Box<ScriptOutput>),
    Error {
        kind: ErrorKind,
        line: u32,
        column: u32,
    },
    /// It is refused before it runs.
    Refused,
    /// It is refused before it runs, because a value surely has no such property or function; stock rhai
    /// fails there if it ever comes to that place.
    RefusedMember,
    /// It ran into a bound of one executor, which means nothing for the other.
    TooMuch,
}

#[expect(
    clippy::disallowed_methods,
    reason = "how many programs a run plays is for whoever runs it"
)]
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn random_programs_mean_what_stock_rhai_says() {
    let (programs, first) = (setting("METATOPIA_PROGRAMS", PROGRAMS), setting("METATOPIA_SEED", 1));
    let engine = stock::engine();
    let mut coverage: BTreeMap<&'static str, u64> = BTreeMap::new();
    let (mut long, mut failed, mut too_much, mut refused) = (0_u64, 0_u64, 0_u64, 0_u64);
    let (mut mismatches, mut refused_by_one, mut members) = (0_u64, 0_u64, 0_u64);
    for seed in first..first + programs {
        let source = Grammar::new(seed).program(&mut coverage);
        let (expected, operations) = judged::run(&engine, &source);
        let found = own::run(&source);
        long += u64::from(operations > 100);
        failed += u64::from(matches!(expected, Verdict::Error { .. }));
        if found == Verdict::RefusedMember {
            members += 1;
            continue;
        }
        // A call of a closure is an expression more in stock rhai, so one of the two may be too deep.
        let one_refuses = (found == Verdict::Refused) != (expected == Verdict::Refused);
        refused += u64::from(found == Verdict::Refused || expected == Verdict::Refused);
        refused_by_one += u64::from(one_refuses);
        if one_refuses || found == Verdict::TooMuch || expected == Verdict::TooMuch {
            too_much += 1;
        } else if found != expected {
            mismatches += 1;
            if mismatches <= setting("METATOPIA_SHOWN", 5) {
                let text = own::text(&source);
                let line = |verdict: &Verdict| match verdict {
                    Verdict::Error { line, .. } => {
                        text.lines().nth(*line as usize - 1).unwrap_or("")
                    }
                    _ => "",
                };
                println!("seed {seed}: stock {expected:?} {}", line(&expected));
                println!(" own {found:?} {}", line(&found));
                if mismatches == 1 {
                    println!("{text}");
                }
            }
        }
    }
    println!("seeds {first}..{}: {mismatches} mismatches in {programs} programs", first + programs);
    println!("{long} of more than 100 operations, {failed} end in an error, {too_much} in a bound");
    println!(
        "{refused} are refused, {refused_by_one} of them by one alone; {members} for a member"
    );
    for (node, count) in &coverage {
        println!("{count:>9} {node}");
    }
    assert_eq!(mismatches, 0, "of {programs} programs from seed {first} on");
    assert!(refused_by_one * 1_000 <= programs, "{refused_by_one} are refused by one alone");
    assert!(too_much * 50 <= programs, "{too_much} of {programs} end in a bound");
    assert!(members * 40 <= programs, "{members} are refused for a member");
    assert!(long * 10 >= programs * 3, "only {long} of {programs} have more than 100 operations");
    let rare: Vec<_> = coverage.iter().filter(|(_, count)| **count * 500 < programs).collect();
    assert!(rare.is_empty(), "hardly ever played: {rare:?}");
}
