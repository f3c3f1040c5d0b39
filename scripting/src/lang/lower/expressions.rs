//! Expressions: each puts its value into a register.

use alloc::{format, string::String, vec::Vec};

use super::{
    Lowering,
    deeds::{NamedDeed, deeds_in},
    names::changes,
    tables::value_of,
};
use crate::{
    Value,
    ir::{BinaryOp, IrOp, UnaryOp},
    lang::tree::{ChainLinkKind, Expression, ExpressionKind, LiteralValue, SourcePoint},
    limits::VALUE_DEPTH_MAX,
};

impl Lowering {
    /// Returns a register that holds the value: a variable's own one, or a new one.
    pub(super) fn value(&mut self, expression: &Expression) -> u16 {
        if let ExpressionKind::Name(name) = &expression.kind
            && let Some(variable) = self.local(name)
        {
            return variable.register;
        }
        let to = self.register(expression.at);
        self.value_into(expression, to);
        to
    }

    /// Does what [`Lowering::value`] does, where what is computed next could change that variable.
    fn value_before(&mut self, expression: &Expression, next: &Expression) -> u16 {
        if !writes(next) {
            return self.value(expression);
        }
        let to = self.register(expression.at);
        self.value_into(expression, to);
        to
    }

    /// Puts the value into a register, which nothing names before that is done.
    pub(super) fn value_into(&mut self, expression: &Expression, to: u16) {
        use ExpressionKind as E;
        let (at, mark) = (expression.at, self.mark());
        match &expression.kind {
            E::Literal(literal) => self.literal_into(literal, to, at),
            E::Text(parts) => {
                let first = self.values_in_row(parts, at);
                let count = self.known(u16::try_from(parts.len()).ok(), at);
                self.emit(IrOp::Text { to, first, count }, at);
            }
            E::Array(_) | E::Map(_) => self.container_into(expression, to),
            E::Name(name) => match self.local(name).map(|variable| variable.register) {
                Some(from) if from == to => {}
                Some(from) => {
                    self.emit(IrOp::Copy { to, from }, at);
                }
                None => self.global_into(name, to, at),
            },
            E::And(parts) => self.all_into(parts, false, to, at),
            E::Or(parts) => self.all_into(parts, true, to, at),
            E::Coalesce(parts) => {
                let mut jumps = Vec::new();
                for (index, part) in parts.iter().enumerate() {
                    self.value_into(part, to);
                    if index + 1 < parts.len() {
                        let jump = IrOp::JumpIfUnit { value: to, wanted: false, target: 0 };
                        jumps.push(self.jump(jump, at));
                    }
                }
                self.bind(&jumps, at);
            }
            E::Block(statements) => self.block(statements, Some(to), at),
            E::Operator { sign, arguments } => self.operator_into(sign, arguments, to, at),
            E::Call { name, arguments } => self.call_into(name, arguments, to, at),
            E::BangCall { name } => {
                let words = format!("{name}! is not part of the language: call {name}(..)");
                self.complain(at, words);
            }
            E::Chain { root, links } => self.chain_into(root, links, to, at),
            E::Closure { parameters, captures, body } => {
                // Constants and names of the world need not be captured.
                let mut named: Vec<&String> = captures.iter().collect();
                deeds_in(body, &mut |deed| {
                    if let NamedDeed::Called(name) = deed {
                        named.push(name);
                    }
                });
                let mut captured: Vec<(String, u16)> = Vec::new();
                for name in named.into_iter().filter(|name| !parameters.contains(name)) {
                    if let Some(variable) = self.local(name)
                        && captured.iter().all(|(known, _)| known != name)
                    {
                        captured.push((name.clone(), variable.register));
                    }
                }
                let (names, from): (Vec<_>, Vec<_>) = captured.into_iter().unzip();
                let first = self.row(names.len(), at);
                for (to, from) in (first..).zip(from) {
                    self.emit(IrOp::Copy { to, from }, at);
                }
                let function = self.closure(parameters, &names, body, at);
                self.emit(IrOp::Closure { to, first, function }, at);
            }
            E::Refused(words) => self.complain(at, words.clone()),
        }
        self.free_to(mark);
    }

    /// Computes something for its effects alone.
    pub(super) fn effects_of(&mut self, expression: &Expression) {
        let mark = self.mark();
        let to = self.register(expression.at);
        self.value_into(expression, to);
        self.free_to(mark);
    }

    pub(super) fn literal_into(&mut self, literal: &LiteralValue, to: u16, at: SourcePoint) {
        let op = match literal {
            LiteralValue::Unit => IrOp::Unit { to },
            LiteralValue::Bool(value) => IrOp::Bool { to, value: *value },
            LiteralValue::Int(int) if i32::try_from(*int).is_ok() => {
                IrOp::Int { to, value: i32::try_from(*int).expect("checked above").into() }
            }
            literal => {
                let place = self.tables.literal(&mut self.program, literal);
                IrOp::Constant { to, constant: self.known(place, at) }
            }
        };
        self.emit(op, at);
    }

    /// Puts values into registers in a row, and returns the first.
    pub(super) fn values_in_row(&mut self, values: &[Expression], at: SourcePoint) -> u16 {
        let first = self.row(values.len(), at);
        for (to, value) in (first..).zip(values) {
            self.value_into(value, to);
        }
        first
    }

    fn container_into(&mut self, expression: &Expression, to: u16) {
        let at = expression.at;
        // What stands there as it is needs to be made only once.
        if let Some(value) = literal_value(expression, VALUE_DEPTH_MAX) {
            let place = self.tables.own_constant(&mut self.program, value);
            let constant = self.known(place, at);
            self.emit(IrOp::Constant { to, constant }, at);
            return;
        }
        match &expression.kind {
            ExpressionKind::Array(values) => {
                let first = self.values_in_row(values, at);
                let count = self.known(u16::try_from(values.len()).ok(), at);
                self.emit(IrOp::Array { to, first, count }, at);
            }
            ExpressionKind::Map(entries) => {
                let first = self.row(entries.len(), at);
                for (to, (_, value)) in (first..).zip(entries) {
                    self.value_into(value, to);
                }
                let names = entries.iter().map(|(name, _)| self.name(name, at)).collect();
                let shape = self.tables.shape(&mut self.program, names);
                let shape = self.known(shape, at);
                self.emit(IrOp::Map { to, first, shape }, at);
            }
            _ => unreachable!("asked for arrays and maps alone"),
        }
    }

    /// `&&` ends at the first false, `||` at the first true.
    fn all_into(&mut self, parts: &[Expression], ends_at: bool, to: u16, at: SourcePoint) {
        let mut jumps = Vec::new();
        for part in parts {
            self.value_into(part, to);
            let jump = IrOp::JumpIf { condition: to, wanted: ends_at, target: 0 };
            jumps.push(self.jump(jump, part.at));
        }
        self.bind(&jumps, at);
    }

    fn operator_into(&mut self, sign: &str, arguments: &[Expression], to: u16, at: SourcePoint) {
        self.judge_operator(sign, arguments, at);
        match arguments {
            [a] => {
                let op = match sign {
                    "-" => UnaryOp::Negate,
                    "+" => UnaryOp::Plus,
                    "!" => UnaryOp::Not,
                    _ => return self.unknown_operator(sign, at),
                };
                let a = self.value(a);
                self.emit(IrOp::Unary { op, to, a }, at);
            }
            [a, b] => {
                let Some(op) = BinaryOp::ALL.into_iter().find(|op| op.sign() == sign) else {
                    return self.unknown_operator(sign, at);
                };
                let (a, b) = (self.value_before(a, b), self.value(b));
                let op = match op {
                    BinaryOp::Add => IrOp::Add { to, a, b },
                    BinaryOp::Sub => IrOp::Sub { to, a, b },
                    BinaryOp::Mul => IrOp::Mul { to, a, b },
                    BinaryOp::Less => IrOp::Less { to, a, b },
                    op => IrOp::Binary { op, to, a, b },
                };
                self.emit(op, at);
            }
            _ => self.unknown_operator(sign, at),
        }
    }

    fn unknown_operator(&mut self, sign: &str, at: SourcePoint) {
        self.complain(at, format!("the operator {sign} is not part of the language"));
    }

    fn call_into(&mut self, name: &str, arguments: &[Expression], to: u16, at: SourcePoint) {
        // With its first argument where the result is wanted, the result needs no way.
        let place = if self.is_last(to) && !arguments.is_empty() { to } else { self.mark() };
        if place == to {
            self.free_to(to);
        }
        let place_taken = self.row(arguments.len().max(1), at);
        debug_assert_eq!(place, place_taken, "it was the first free one");
        let op = if let Some(callee) = self.local(name).map(|variable| variable.register) {
            self.arguments_into(arguments, place);
            let count = self.known(u16::try_from(arguments.len()).ok(), at);
            IrOp::CallValue { callee, first: place, count }
        } else if let Some(function) = self.functions.get(&(name.into(), arguments.len())).copied()
        {
            if self.in_constant {
                self.complain(at, "a constant cannot call a function of the script");
            }
            self.arguments_into(arguments, place);
            IrOp::Call { function, first: place }
        } else {
            let call = self.host(name, arguments.len(), at).unwrap_or(0);
            let known = self.known_arguments(arguments);
            self.judge_call(name, &known, at);
            match arguments {
                [target, rest @ ..] if changes(name) => {
                    self.arguments_into(rest, place + 1);
                    let root = self.changed_variable(target, at);
                    let path = self.path(Vec::new(), at);
                    IrOp::Method { root, path, call, first: place }
                }
                all => {
                    self.arguments_into(all, place);
                    IrOp::Host { call, first: place }
                }
            }
        };
        self.emit(op, at);
        if place != to {
            self.emit(IrOp::Move { to, from: place }, at);
        }
    }

    fn arguments_into(&mut self, arguments: &[Expression], first: u16) {
        for (to, argument) in (first..).zip(arguments) {
            self.value_into(argument, to);
        }
    }

    /// The register of a variable that a function changes, or of a value that is gone afterwards.
    fn changed_variable(&mut self, target: &Expression, at: SourcePoint) -> u16 {
        if let ExpressionKind::Name(name) = &target.kind {
            self.changeable(name, at);
        }
        self.value(target)
    }

    /// Complains if a name stands for something that cannot be changed.
    pub(super) fn changeable(&mut self, name: &str, at: SourcePoint) {
        let constant = match self.local(name) {
            Some(variable) => variable.constant,
            None => self.constants.contains_key(name),
        };
        if constant {
            let words = format!("{name} is a constant: copy it with let to change the copy");
            self.complain(at, words);
        }
    }
}

/// The value of a literal array or map with nothing in it that must be computed.
fn literal_value(expression: &Expression, levels: u32) -> Option<Value> {
    let levels = levels.checked_sub(1)?;
    match &expression.kind {
        ExpressionKind::Literal(literal) => Some(value_of(literal)),
        ExpressionKind::Array(values) => {
            let values: Option<_> = values.iter().map(|v| literal_value(v, levels)).collect();
            values.map(Value::Array)
        }
        ExpressionKind::Map(entries) => {
            let values =
                entries.iter().map(|(name, v)| Some((name.clone(), literal_value(v, levels)?)));
            values.collect::<Option<_>>().map(Value::Map)
        }
        _ => None,
    }
}

/// Returns whether this could change a variable of the function.
pub(super) fn writes(expression: &Expression) -> bool {
    use ExpressionKind as E;
    match &expression.kind {
        E::Literal(_) | E::Name(_) | E::Closure { .. } | E::BangCall { .. } | E::Refused(_) => {
            false
        }
        E::Block(_) => true,
        E::Text(all) | E::Array(all) | E::And(all) | E::Or(all) | E::Coalesce(all) => {
            all.iter().any(writes)
        }
        E::Map(entries) => entries.iter().any(|(_, value)| writes(value)),
        E::Operator { arguments, .. } => arguments.iter().any(writes),
        E::Call { name, arguments } => changes(name) || arguments.iter().any(writes),
        E::Chain { root, links } => {
            writes(root)
                || links.iter().any(|link| match &link.kind {
                    ChainLinkKind::Property(_) => false,
                    ChainLinkKind::Index(index) => writes(index),
                    ChainLinkKind::Method { name, arguments } => {
                        changes(name) || arguments.iter().any(writes)
                    }
                })
        }
    }
}
