//! Walks a parsed source: everything that is not known to be the same on every machine is refused,
//! and every name is looked up before anything runs.

mod names;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use rhai::{AST, ASTFlags, Dynamic, Expr, FlowControl, FnCallExpr, Position, ScriptFuncDef, Stmt};

use crate::{Diagnostic, EventKind, host::FUNCTIONS, suggest::closest};

/// Complaints that are collected at most.
const DIAGNOSTICS_MAX: usize = 32;

/// The walk over one source.
#[derive(Default)]
pub(super) struct Lint {
    found: Vec<Diagnostic>,
    /// Functions of the source, by name and number of parameters.
    functions: BTreeSet<(String, usize)>,
    constants: BTreeSet<String>,
    literals: BTreeMap<String, Dynamic>,
    in_constant: bool,
}

/// Looks at a whole source. Gives the values of its literals by name (`#1.5`).
pub(super) fn lint(ast: &AST) -> Result<BTreeMap<String, Dynamic>, Vec<Diagnostic>> {
    let mut lint = Lint::default();
    let functions: Vec<_> = ast.iter_fn_def().filter(|f| !f.name.starts_with("anon$")).collect();
    for function in &functions {
        lint.functions.insert((function.name.to_string(), function.params.len()));
    }
    lint.top_level(ast.statements());
    for function in functions {
        lint.function(function);
    }
    lint.found.sort();
    lint.found.dedup();
    lint.found.truncate(DIAGNOSTICS_MAX);
    if lint.found.is_empty() { Ok(lint.literals) } else { Err(lint.found) }
}

/// A diagnostic at a place of the interpreter's.
pub(super) fn diagnostic(at: Position, message: impl Into<String>) -> Diagnostic {
    let small = |number: Option<usize>| u32::try_from(number.unwrap_or(0)).unwrap_or(u32::MAX);
    let (line, column) = (small(at.line()), small(at.position()));
    Diagnostic { line, column, message: message.into() }
}

impl Lint {
    fn complain(&mut self, at: Position, message: impl Into<String>) {
        self.found.push(diagnostic(at, message));
    }

    /// Constants are all that may stand outside of functions.
    fn top_level(&mut self, statements: &[Stmt]) {
        for statement in statements {
            match statement {
                Stmt::Noop(_) => {}
                Stmt::Var(variable, flags, at) if flags.contains(ASTFlags::CONSTANT) => {
                    let (name, value, _) = &**variable;
                    self.in_constant = true;
                    self.expression(value);
                    self.in_constant = false;
                    self.free_name(&name.name, *at);
                    if !self.constants.insert(name.name.to_string()) {
                        self.complain(*at, format!("there are two constants {}", name.name));
                    }
                }
                Stmt::Var(_, _, at) => self.complain(
                    *at,
                    "a variable outside of a function would be gone after the call: use const, \
                     or state.name inside of a handler",
                ),
                other => self.complain(
                    other.position(),
                    "only constants and functions stand outside of functions: put this into a \
                     handler such as on_start",
                ),
            }
        }
    }

    fn function(&mut self, function: &Arc<ScriptFuncDef>) {
        let (name, at) = (function.name.as_str(), function.body.start_position());
        if function.this_type.is_some() {
            self.complain(at, format!("{name}: functions of a type are not part of the language"));
        }
        let parameters = function.params.len();
        if FUNCTIONS.iter().any(|f| f.name == name && f.arguments.len() == parameters) {
            self.complain(at, format!("{name} is a function of the world: choose another name"));
        }
        for parameter in &function.params {
            self.free_name(parameter, at);
        }
        if name.starts_with("on_") {
            self.handler(name, parameters, at);
        }
        self.block(&super::statements_of(function));
    }

    fn handler(&mut self, name: &str, parameters: usize, at: Position) {
        let Some(kind) = EventKind::ALL.into_iter().find(|kind| kind.handler() == name) else {
            let names = EventKind::ALL.into_iter().map(EventKind::handler);
            let hint = closest(name, names);
            let all = EventKind::ALL.map(EventKind::handler).join(", ");
            self.complain(at, format!("there is no event for {name}{hint}; there are {all}"));
            return;
        };
        let most = kind.parameters();
        if parameters > most.len() {
            let message = match most {
                [] => format!("{name} takes no parameters"),
                _ => format!("{name} takes at most {}: {}", most.len(), most.join(", ")),
            };
            self.complain(at, message);
        }
        if self.functions.iter().filter(|(other, _)| other == name).count() > 1 {
            self.complain(at, format!("there are several functions {name}: which is the handler?"));
        }
    }

    fn block(&mut self, statements: &[Stmt]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn flow(&mut self, flow: &FlowControl) {
        self.expression(&flow.expr);
        self.block(flow.body.statements());
        self.block(flow.branch.statements());
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Noop(_) => {}
            Stmt::Expr(expression) => self.expression(expression),
            Stmt::FnCall(call, at) => self.call(call, *at),
            Stmt::Block(block) => self.block(block.statements()),
            Stmt::If(flow, _) | Stmt::While(flow, _) | Stmt::Do(flow, _, _) => self.flow(flow),
            Stmt::For(x, at) => {
                let (name, counter, flow) = &**x;
                self.free_name(&name.name, *at);
                if let Some(counter) = counter {
                    self.free_name(&counter.name, *at);
                }
                self.range_or_expression(&flow.expr);
                self.block(flow.body.statements());
            }
            Stmt::Var(variable, _, at) => {
                let (name, value, _) = &**variable;
                self.free_name(&name.name, *at);
                self.expression(value);
            }
            Stmt::Assignment(x) => {
                if let Expr::Variable(variable, short, at) = &x.1.lhs
                    && short.is_none()
                    && variable.0.is_none()
                    && self.is_global(&variable.1)
                {
                    self.complain(*at, format!("{} cannot be assigned", variable.1));
                } else {
                    self.expression(&x.1.lhs);
                }
                self.expression(&x.1.rhs);
            }
            Stmt::BreakLoop(value, _, _) | Stmt::Return(value, _, _) => {
                value.iter().for_each(|value| self.expression(value));
            }
            Stmt::Switch(_, at) => {
                self.complain(*at, "switch is not part of the language yet: use if and else if")
            }
            Stmt::TryCatch(_, at) => self.complain(
                *at,
                "try and catch are not part of the language: a call that fails changes nothing",
            ),
            Stmt::Share(_) => self.closure(statement.position()),
            other => self.complain(other.position(), "this statement is not part of the language"),
        }
    }

    fn closure(&mut self, at: Position) {
        self.complain(at, "closures are not part of the language yet: use a loop");
    }

    /// An expression in one of the places where a range may stand. Anywhere else it could come to
    /// index a text, and the interpreter cuts the bounds of such a range off to the machine's word:
    /// `text[4294967296..4294967298]` is empty on most servers and two letters on wasm32.
    fn range_or_expression(&mut self, expression: &Expr) {
        match expression {
            Expr::FnCall(call, _) if is_range(call) => {
                call.args.iter().for_each(|bound| self.expression(bound));
            }
            other => self.expression(other),
        }
    }

    /// As [`Lint::range_or_expression`], for an argument.
    fn range_or_argument(&mut self, argument: &Expr) {
        match argument {
            Expr::FnCall(call, _) if is_range(call) => self.range_or_expression(argument),
            other => self.argument(other),
        }
    }

    fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::BoolConstant(..)
            | Expr::IntegerConstant(..)
            | Expr::CharConstant(..)
            | Expr::Unit(_) => {}
            Expr::StringConstant(text, at) => self.text(text, *at),
            Expr::DynamicConstant(value, at) if value.is_fnptr() => self.closure(*at),
            Expr::DynamicConstant(..) => {}
            Expr::InterpolatedString(parts, _) => parts.iter().for_each(|e| self.expression(e)),
            Expr::Array(values, _) => values.iter().for_each(|e| self.expression(e)),
            Expr::Map(entries, at) => {
                for (name, value) in &entries.0 {
                    self.entry(&name.name, *at);
                    self.expression(value);
                }
            }
            Expr::And(parts, _) | Expr::Or(parts, _) | Expr::Coalesce(parts, _) => {
                parts.iter().for_each(|e| self.expression(e));
            }
            Expr::Stmt(block) => self.block(block.statements()),
            Expr::FnCall(call, at) => self.call(call, *at),
            Expr::MethodCall(call, at) => self.method(call, *at),
            Expr::Property(..) => {}
            Expr::Dot(x, _, _) => {
                if let (Expr::Variable(name, None, _), Expr::Property(property, at)) =
                    (&x.lhs, first_link(&x.rhs))
                {
                    self.own_property(&name.1, &property.2, *at);
                }
                match first_link(&x.rhs) {
                    Expr::MethodCall(call, _) if takes_range(call, call.args.len() + 1) => {
                        self.range_or_expression(&x.lhs);
                    }
                    _ => self.expression(&x.lhs),
                }
                self.expression(&x.rhs);
            }
            Expr::Index(x, _, _) => {
                self.expression(&x.lhs);
                self.expression(&x.rhs);
            }
            Expr::Variable(variable, short, at) => {
                if short.is_none() && variable.0.is_none() {
                    self.global(&variable.1, *at);
                }
            }
            Expr::ThisPtr(at) => {
                self.complain(*at, "this is not part of the language: self_ is the own object");
            }
            other => {
                self.complain(other.position(), "this expression is not part of the language");
            }
        }
    }
}

/// The first link of a chain `a.b.c` after `a`.
fn first_link(expression: &Expr) -> &Expr {
    match expression {
        Expr::Dot(x, _, _) | Expr::Index(x, _, _) => first_link(&x.lhs),
        other => other,
    }
}

/// `a..b` or `a..=b`.
fn is_range(call: &FnCallExpr) -> bool {
    matches!(call.name.as_str(), ".." | "..=")
}

/// A call of a host function that can do something with a range as its first argument.
fn takes_range(call: &FnCallExpr, arguments: usize) -> bool {
    matches!((call.name.as_str(), arguments), ("contains", 2) | ("type_of", 1))
}
