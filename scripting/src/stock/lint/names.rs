//! Looks up every name of a source before it runs.

use alloc::{format, string::String};

use metatopia_math::Fx;
use rhai::{Dynamic, Expr, FnCallExpr, Position};

use super::{Lint, is_range, takes_range};
use crate::{
    host::{FUNCTIONS, NAMES, PROPERTIES, Purity, ValueKind},
    limits::{LITERAL_NAME_BYTES_MAX, LITERAL_TEXT_BYTES_MAX, LITERAL_VALUES_MAX},
    suggest::closest,
};

/// Values as which a list or map counts in a literal, beside what is in it.
const LITERAL_CONTAINER: usize = 4;

impl Lint {
    /// A name that is no variable of the function.
    pub(super) fn global(&mut self, name: &str, at: Position) {
        if let Some(text) = name.strip_prefix('#') {
            match Fx::parse(text) {
                Ok(value) => drop(self.literals.insert(name.into(), Dynamic::from(value))),
                Err(error) => self.complain(at, format!("{text}: {error}")),
            }
        } else if self.in_constant && ["self_", "state"].contains(&name) {
            self.complain(at, format!("a constant cannot depend on {name}"));
        } else if !self.is_global(name) {
            let known = NAMES.iter().map(|name| name.name);
            let hint = closest(name, known.chain(self.constants.iter().map(String::as_str)));
            self.complain(at, format!("there is no variable {name}{hint}"));
        }
    }

    pub(super) fn is_global(&self, name: &str) -> bool {
        NAMES.iter().any(|known| known.name == name) || self.constants.contains(name)
    }

    pub(super) fn free_name(&mut self, name: &str, at: Position) {
        if NAMES.iter().any(|known| known.name == name) {
            self.complain(at, format!("{name} has a meaning already: choose another name"));
        }
    }

    /// An argument. The interpreter makes a literal that stands there at once, whatever is in it.
    pub(super) fn argument(&mut self, argument: &Expr) {
        self.expression(argument);
        if !self.in_constant
            && argument.is_constant()
            && literal_values(argument) > LITERAL_VALUES_MAX
        {
            let message = format!(
                "a literal of more than {LITERAL_VALUES_MAX} values as an argument, each list or map \
                 in it counted as {LITERAL_CONTAINER}: name it with const or let"
            );
            self.complain(argument.start_position(), message);
        }
    }

    /// A text that stands there as it is. Whatever is done with it, it costs one unit of gas; constants
    /// and variables pay for their length.
    pub(super) fn text(&mut self, text: &str, at: Position) {
        if !self.in_constant && text.len() > LITERAL_TEXT_BYTES_MAX {
            let message = format!(
                "a literal text of {} bytes where {LITERAL_TEXT_BYTES_MAX} are allowed: name it with const",
                text.len(),
            );
            self.complain(at, message);
        }
    }

    /// A name in a literal map.
    pub(super) fn entry(&mut self, name: &str, at: Position) {
        if !self.in_constant && name.len() > LITERAL_NAME_BYTES_MAX {
            let message = format!(
                "a name of {} bytes in a literal map where {LITERAL_NAME_BYTES_MAX} are allowed: name the \
                 map with const",
                name.len(),
            );
            self.complain(at, message);
        }
    }

    pub(super) fn own_property(&mut self, variable: &str, property: &str, at: Position) {
        let of_objects = || PROPERTIES.iter().filter(|p| p.of == ValueKind::Object);
        if variable == "self_" && !of_objects().any(|p| p.name == property) {
            let hint = closest(property, of_objects().map(|p| p.name));
            self.complain(at, format!("objects have no property {property}{hint}"));
        }
    }

    pub(super) fn call(&mut self, call: &FnCallExpr, at: Position) {
        let mut arguments = call.args.iter();
        if takes_range(call, call.args.len()) {
            arguments.next().into_iter().for_each(|range| self.range_or_argument(range));
        }
        arguments.for_each(|argument| self.argument(argument));
        if is_range(call) {
            let message = "a range stands after in, or is asked whether it contains a number: \
                           text.sub(start, length) gives a part of a text";
            self.complain(at, message);
        }
        if call.is_operator_call() {
            return;
        }
        let (name, count) = (call.name.as_str(), call.args.len());
        if call.capture_parent_scope {
            self.complain(at, format!("{name}! is not part of the language: call {name}(..)"));
        } else if self.functions.contains(&(name.into(), count)) {
            if self.in_constant {
                self.complain(at, "a constant cannot call a function of the script");
            }
        } else {
            self.host_function(name, count, at);
        }
    }

    /// `value.name(..)`: the value is the first argument of a host function.
    pub(super) fn method(&mut self, call: &FnCallExpr, at: Position) {
        call.args.iter().for_each(|argument| self.argument(argument));
        let (name, count) = (call.name.as_str(), call.args.len() + 1);
        let own = self.functions.iter().any(|(own, _)| own == name);
        if own && !FUNCTIONS.iter().any(|f| f.name == name) {
            let message = format!("{name} is a function of this script: call it as {name}(value)");
            self.complain(at, message);
        } else {
            self.host_function(name, count, at);
        }
    }

    fn host_function(&mut self, name: &str, count: usize, at: Position) {
        let named = || FUNCTIONS.iter().filter(|function| function.name == name);
        if let Some(function) = named().find(|function| function.arguments.len() == count) {
            if self.in_constant && function.purity != Purity::Pure {
                self.complain(at, format!("a constant cannot depend on {name}"));
            }
            return;
        }
        let message = if let Some(function) = named().next() {
            format!("{name} does not take {count} arguments: {}", function.signature())
        } else if self.functions.iter().any(|(own, _)| own == name) {
            format!("the function {name} of this script does not take {count} arguments")
        } else {
            let known = FUNCTIONS.iter().map(|function| function.name);
            let hint = closest(name, known.chain(self.functions.iter().map(|f| f.0.as_str())));
            format!("there is no function {name}{hint}")
        };
        self.complain(at, message);
    }
}

/// How many values there are in a literal.
fn literal_values(literal: &Expr) -> usize {
    match literal {
        Expr::Array(values, _) => {
            LITERAL_CONTAINER + values.iter().map(literal_values).sum::<usize>()
        }
        Expr::Map(entries, _) => {
            let values = entries.0.iter().map(|(_, value)| 1 + literal_values(value));
            LITERAL_CONTAINER + values.sum::<usize>()
        }
        _ => 1,
    }
}
