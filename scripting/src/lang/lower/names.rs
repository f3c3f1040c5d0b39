//! Looks up names, and says what was probably meant.

use alloc::{format, string::String};

use super::{HINTS_MAX, Lowering};
use crate::{
    host::{FUNCTIONS, NAMES, Purity},
    ir::IrOp,
    lang::tree::{LiteralValue, SourcePoint},
    suggest::closest,
};

/// Functions of the table that change their first argument.
const CHANGING: [&str; 7] = ["push", "pop", "insert", "remove", "clear", "reverse", "sort"];

/// Doors out of other languages, and what to do instead of going through them.
const REFUSED: [(&str, &str); 9] = [
    ("print", "use log"),
    ("debug", "use log"),
    ("eval", "a text cannot be executed: use a function"),
    ("sleep", "a call cannot wait: use timer and on_timer"),
    ("Fn", "use a closure such as |x| x + 1"),
    ("call", "call a closure by its name, as f(x)"),
    ("curry", "a closure keeps the values of the variables that it names"),
    ("timestamp", "use now"),
    ("exit", "use return"),
];

/// Returns whether this function of the table changes its first argument.
pub(super) fn changes(name: &str) -> bool {
    CHANGING.contains(&name)
}

impl Lowering {
    /// Returns what may have been meant by a name. Only so many mistakes are told with one, because each
    /// is compared with all that is known.
    pub(super) fn hint<'a>(&self, name: &str, known: impl Iterator<Item = &'a str>) -> String {
        if self.found.len() < HINTS_MAX { closest(name, known) } else { String::new() }
    }

    /// Puts what a name stands for, which is no variable of the function, into a register.
    pub(super) fn global_into(&mut self, name: &str, to: u16, at: SourcePoint) {
        if self.in_constant && ["self_", "state"].contains(&name) {
            self.complain(at, format!("a constant cannot depend on {name}"));
        } else if name == "self_" {
            self.emit(IrOp::Own { to }, at);
        } else if name == "state" {
            self.emit(IrOp::State { to }, at);
        } else if let Some(value) = NAMES.iter().find(|n| n.name == name).and_then(|n| n.value) {
            self.literal_into(&LiteralValue::Fixed(value), to, at);
        } else if let Some(constant) = self.constants.get(name).copied() {
            self.emit(IrOp::Constant { to, constant }, at);
        } else {
            self.unknown_variable(name, at);
        }
    }

    pub(super) fn is_global(&self, name: &str) -> bool {
        NAMES.iter().any(|known| known.name == name) || self.constants.contains_key(name)
    }

    pub(super) fn unknown_variable(&mut self, name: &str, at: SourcePoint) {
        if name.contains("::") {
            return self.unknown_import(name, None, at);
        }
        if self.functions.keys().any(|(own, _)| own == name) {
            let message = format!(
                "there is no variable {name}: to hand the function on, use a closure such as \
                 |x| {name}(x)"
            );
            return self.complain(at, message);
        }
        let known = NAMES.iter().map(|name| name.name);
        let own = self.constants.keys().filter(|name| !name.contains("::"));
        let known = known.chain(own.map(String::as_str));
        let hint = self.hint(name, known.chain(self.local_names()));
        self.complain(at, format!("there is no variable {name}{hint}"));
    }

    pub(super) fn free_name(&mut self, name: &str, at: SourcePoint) {
        if NAMES.iter().any(|known| known.name == name) {
            self.complain(at, format!("{name} has a meaning already: choose another name"));
        }
    }

    /// Returns the place of a host function that takes so many arguments.
    pub(super) fn host(&mut self, name: &str, count: usize, at: SourcePoint) -> Option<u16> {
        if name.contains("::") {
            self.unknown_import(name, Some(count), at);
            return None;
        }
        let named = || FUNCTIONS.iter().filter(move |function| function.name == name);
        if let Some(function) = named().find(|function| function.arguments.len() == count) {
            if self.in_constant && function.purity != Purity::Pure {
                self.complain(at, format!("a constant cannot depend on {name}"));
                return None;
            }
            let count = u8::try_from(count).expect("as many as a row of the table has");
            let place = self.tables.call(&mut self.program, name, count);
            return Some(self.known(place, at));
        }
        let message = if named().next().is_some() {
            let known: Vec<String> = named().map(|function| function.signature()).collect();
            format!("{name} does not take {count} arguments: {}", known.join(" or "))
        } else if let Some((_, instead)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            format!("{name} is not part of the language: {instead}")
        } else if self.functions.keys().any(|(own, _)| own == name) {
            format!("the function {name} of this script does not take {count} arguments")
        } else {
            let known = FUNCTIONS.iter().map(|function| function.name);
            let own = self.functions.keys().map(|f| f.0.as_str()).filter(|f| !f.contains("::"));
            let hint = self.hint(name, known.chain(own));
            format!("there is no function {name}{hint}")
        };
        self.complain(at, message);
        None
    }

    pub(super) fn name(&mut self, name: &str, at: SourcePoint) -> u16 {
        let place = self.tables.name(&mut self.program, name);
        self.known(place, at)
    }
}
