//! What a call left, as a line: numbers and words with spaces between them, which a program of another
//! build can be compared by.

use std::fmt::Write as _;

use metatopia_scripting::{ScriptEffect, ScriptOutput, Value};

/// Returns what a call wrote, said, sent, kept and logged.
pub(crate) fn told(output: &ScriptOutput) -> String {
    let mut line = String::new();
    let _ = told_into(&mut line, output);
    line
}

fn told_into(line: &mut String, output: &ScriptOutput) -> std::fmt::Result {
    if let Some(velocity) = output.own.velocity {
        write!(line, "velocity {} {} ", velocity.x, velocity.y)?;
    }
    if let Some(spin) = output.own.spin {
        write!(line, "spin {spin} ")?;
    }
    for effect in &output.effects {
        match effect {
            ScriptEffect::Say { text } => write!(line, "say {text} ")?,
            ScriptEffect::Send { to, topic, data } => {
                write!(line, "send {} {topic} ", to.0)?;
                value(line, data)?;
            }
            other => write!(line, "{other:?} ")?,
        }
    }
    for (name, kept) in output.state.iter().flat_map(|state| &state.0) {
        write!(line, "state {name} ")?;
        value(line, kept)?;
    }
    for logged in &output.log {
        write!(line, "log {logged} ")?;
    }
    Ok(())
}

fn value(line: &mut String, kept: &Value) -> std::fmt::Result {
    match kept {
        Value::Int(number) => write!(line, "{number} "),
        Value::Fixed(number) => write!(line, "{number} "),
        Value::Map(values) => values.iter().try_for_each(|(name, kept)| {
            write!(line, "{name} ")?;
            value(line, kept)
        }),
        other => write!(line, "{other:?} "),
    }
}
