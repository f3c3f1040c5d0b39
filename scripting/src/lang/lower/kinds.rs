//! What values are for sure, by the source alone: so that a member which a value cannot have is a mistake
//! before anything runs.

use alloc::{format, string::String};

use super::{
    Lowering,
    deeds::{NamedDeed, deeds_in},
    failures::KnownArgument,
};
use crate::{
    host::{FUNCTIONS, HostFunction, NAMES, PROPERTIES, ValueKind},
    lang::tree::{
        ChainLink, ChainLinkKind, Expression, ExpressionKind, LiteralValue, SourcePoint, Statement,
    },
};

impl ValueKind {
    /// Returns whether a place for values of this kind may take one of the other kind.
    pub(super) const fn takes(self, value: Self) -> bool {
        match (self, value) {
            (Self::Any, _)
            | (_, Self::Any)
            | (Self::Number, Self::Int | Self::Fixed)
            | (Self::Int | Self::Fixed, Self::Number) => true,
            _ => self as u8 == value as u8,
        }
    }
}

fn takes_first(function: &HostFunction, value: ValueKind) -> bool {
    function.arguments.first().is_some_and(|(_, kind)| kind.takes(value))
}

/// Returns the plural word for values of a kind.
const fn plural(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Unit => "empty values",
        ValueKind::Bool => "truths",
        ValueKind::Int | ValueKind::Fixed | ValueKind::Number => "numbers",
        ValueKind::Text => "strings",
        ValueKind::Vec2 => "vectors",
        ValueKind::Object => "objects",
        ValueKind::Array => "arrays",
        ValueKind::Map => "maps",
        ValueKind::Range => "ranges",
        ValueKind::Function => "functions",
        ValueKind::State => "the variables of the state",
        ValueKind::Any => "values",
    }
}

impl Lowering {
    /// Notes which names of functions a body calls.
    pub(super) fn note_called(&mut self, body: &[Statement]) {
        deeds_in(body, &mut |deed| {
            if let NamedDeed::Called(name) = deed {
                self.called.insert(name.clone());
            }
        });
    }

    /// Returns the kind of an expression's value, if that is sure.
    pub(super) fn kind_of(&self, expression: &Expression) -> Option<ValueKind> {
        use ExpressionKind as E;
        match &expression.kind {
            E::Literal(LiteralValue::Unit) => None,
            E::Literal(LiteralValue::Bool(_)) => Some(ValueKind::Bool),
            E::Literal(LiteralValue::Int(_)) => Some(ValueKind::Int),
            E::Literal(LiteralValue::Fixed(_)) => Some(ValueKind::Fixed),
            E::Literal(LiteralValue::Text(_)) | E::Text(_) => Some(ValueKind::Text),
            E::Array(_) => Some(ValueKind::Array),
            E::Map(_) => Some(ValueKind::Map),
            E::Closure { .. } => Some(ValueKind::Function),
            E::Name(name) => self.kind_of_name(name),
            E::Operator { sign, arguments } => self.kind_of_operator(sign, arguments),
            E::Call { name, arguments } => {
                let is_own = self.functions.contains_key(&(name.clone(), arguments.len()));
                let first = arguments.first().and_then(|first| self.kind_of(first));
                let first = first.unwrap_or(ValueKind::Any);
                let is_known = !is_own && self.local(name).is_none();
                is_known.then(|| result_of(name, arguments.len(), first)).flatten()
            }
            E::Chain { root, links } => self.kind_behind_all(root, links),
            _ => None,
        }
    }

    /// Returns the kind of what a chain leads to, if that is sure.
    pub(super) fn kind_behind_all(
        &self,
        root: &Expression,
        links: &[ChainLink],
    ) -> Option<ValueKind> {
        links.iter().try_fold(self.kind_of(root)?, |of, link| {
            // What may be nothing is nothing behind `?.`.
            let is_sure = !(link.optional && of == ValueKind::Any);
            is_sure.then(|| kind_behind(of, link)).flatten()
        })
    }

    fn kind_of_name(&self, name: &str) -> Option<ValueKind> {
        if let Some(variable) = self.local(name) {
            return variable.kind;
        }
        if let Some(known) = NAMES.iter().find(|known| known.name == name) {
            return Some(known.kind);
        }
        let place = self.constants.get(name).filter(|_| self.has_constants)?;
        let kind = self.program.constants.get(usize::from(*place))?.kind();
        (kind != ValueKind::Unit).then_some(kind)
    }

    fn kind_of_operator(&self, sign: &str, arguments: &[Expression]) -> Option<ValueKind> {
        use ValueKind as K;
        match (sign, arguments) {
            ("==" | "!=" | "<" | "<=" | ">" | ">=" | "!", _) => Some(K::Bool),
            (".." | "..=", _) => Some(K::Range),
            ("-", [a]) => {
                self.kind_of(a).filter(|a| matches!(a, K::Int | K::Fixed | K::Number | K::Vec2))
            }
            ("+" | "-" | "*" | "/", [a, b]) => match (sign, self.kind_of(a)?, self.kind_of(b)?) {
                ("+", K::Text, _) | ("+", _, K::Text) => Some(K::Text),
                (_, K::Int, K::Int) => Some(K::Int),
                (_, K::Int | K::Fixed, K::Int | K::Fixed) => Some(K::Fixed),
                ("+" | "-", K::Vec2, K::Vec2) | ("*" | "/", K::Vec2, K::Int | K::Fixed) => {
                    Some(K::Vec2)
                }
                ("*", K::Int | K::Fixed, K::Vec2) => Some(K::Vec2),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the kind of what a loop takes from this, one after the other.
    pub(super) fn element_of(&self, over: &Expression) -> Option<ValueKind> {
        if self.kind_of(over) == Some(ValueKind::Range) {
            return Some(ValueKind::Int);
        }
        let name = match &over.kind {
            // A variable may hold a closure of the same name.
            ExpressionKind::Call { name, .. } if self.local(name).is_none() => name,
            ExpressionKind::Chain { links, .. } => match &links.last()?.kind {
                ChainLinkKind::Method { name, .. } => name,
                _ => return None,
            },
            _ => return None,
        };
        let is_own = self.functions.keys().any(|(own, _)| own == name);
        match name.as_str() {
            "nearby" if !is_own => Some(ValueKind::Object),
            "keys" | "split" if !is_own => Some(ValueKind::Text),
            _ => None,
        }
    }

    /// Complains about members of a chain that the values before them cannot have.
    pub(super) fn members(&mut self, root: &Expression, links: &[ChainLink]) {
        let mut of = self.kind_of(root);
        for link in links {
            match (&link.kind, of) {
                (ChainLinkKind::Property(name), Some(kind)) => self.property(kind, name, link.at),
                (ChainLinkKind::Method { name, arguments }, _) => {
                    let count = arguments.len() + 1;
                    if of.is_none_or(|kind| self.receiver(kind, name, count, link.at)) {
                        let mut all = alloc::vec![KnownArgument::receiver(of)];
                        all.extend(self.known_arguments(arguments));
                        self.judge_call(name, &all, link.at);
                    }
                }
                _ => {}
            }
            of = of.and_then(|kind| kind_behind(kind, link));
        }
    }

    fn property(&mut self, of: ValueKind, name: &str, at: SourcePoint) {
        use ValueKind as K;
        let of_kind = || PROPERTIES.iter().filter(|p| p.of == of).map(|p| p.name);
        if matches!(of, K::Map | K::State | K::Any | K::Unit) || of_kind().any(|n| n == name) {
            return;
        }
        let functions = || FUNCTIONS.iter().filter(|function| takes_first(function, of));
        let hint: String = match functions().find(|function| function.name == name) {
            Some(function) if function.arguments.len() == 1 => format!(": call it, as .{name}()"),
            Some(function) => format!(": call it, {}", function.signature()),
            None => self.hint(name, of_kind().chain(functions().map(|function| function.name))),
        };
        self.complain(at, format!("{} have no property {name}{hint}", plural(of)));
    }

    /// Complains if a function that is called as a method takes no such value. Returns whether it takes one.
    fn receiver(&mut self, of: ValueKind, name: &str, count: usize, at: SourcePoint) -> bool {
        let rows = || FUNCTIONS.iter().filter(|f| f.name == name && f.arguments.len() == count);
        if let Some(row) = rows().next()
            && !rows().any(|row| takes_first(row, of))
        {
            let words = format!("{} have no function {name}: {}", plural(of), row.signature());
            self.complain(at, words);
            return false;
        }
        true
    }
}

/// Returns what a host function gives, if all that could be meant give the same.
fn result_of(name: &str, count: usize, first: ValueKind) -> Option<ValueKind> {
    let rows = FUNCTIONS.iter().filter(|f| f.name == name && f.arguments.len() == count);
    let mut results =
        rows.filter(|row| count == 0 || takes_first(row, first)).map(|row| row.result);
    let kind = results.next()?;
    let is_sure = !matches!(kind, ValueKind::Any | ValueKind::Unit);
    (is_sure && results.all(|other| other == kind)).then_some(kind)
}

/// Returns the kind of what a link leads to, from a value of a kind.
fn kind_behind(of: ValueKind, link: &ChainLink) -> Option<ValueKind> {
    match &link.kind {
        ChainLinkKind::Property(name) => {
            let property = PROPERTIES.iter().find(|p| p.of == of && p.name == name)?;
            Some(property.kind)
        }
        ChainLinkKind::Index(_) => (of == ValueKind::Text).then_some(ValueKind::Text),
        ChainLinkKind::Method { name, arguments } => result_of(name, arguments.len() + 1, of),
    }
}
