//! The one module that names the parser's types: it parses a source, and gives our own tree.

mod headers;
mod switches;

use alloc::{
    boxed::Box,
    format,
    string::{String, ToString},
    sync::Arc,
    vec,
    vec::Vec,
};
use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::LazyLock,
};

use metatopia_math::Fx;
use rhai::{
    AST, ASTFlags, ASTNode, Dynamic, Engine, Expr, FnAccess, FnCallExpr, FnPtr, LexError, Module,
    Namespace, Position, ScriptFuncDef, Stmt, Token, TokenizeState,
};

use super::tree::{
    ChainLink, ChainLinkKind, Expression, ExpressionKind, LiteralValue, SourceFunction,
    SourcePoint, SourceTree, Statement, StatementKind,
};
use crate::{
    Diagnostic,
    limits::{
        CONSTANTS_MAX, EXPRESSION_DEPTH_MAX, FUNCTIONS_MAX, IMPORTS_MAX, LITERAL_ELEMENTS_MAX,
        STRING_BYTES_MAX,
    },
};
use headers::FunctionHeads;
use switches::Marks;

/// The parser keeps functions by hash and never tells a hash; a fixed seed makes even collisions repeat.
const HASHING_SEED: [u64; 4] = [0x6d65_7461, 0x746f_7069, 0x615f_7363, 0x7269_7074];

/// Prefix of the names that literals with a point are parsed as. No author can write it.
const NUMBER: char = '#';

/// Parses a source.
pub(super) fn parse(source: &str) -> Result<SourceTree, Vec<Diagnostic>> {
    switches::clear();
    headers::clear();
    OUTSIDE.set(OutsideOfFunctions::default());
    let parsed = catch_unwind(AssertUnwindSafe(|| parser().compile(source)));
    let marks = switches::take();
    let heads = headers::take();
    let ast = match parsed {
        Ok(Ok(ast)) => ast,
        Ok(Err(error)) => {
            let SourcePoint { line, column } = point(error.position());
            return Err(vec![Diagnostic { line, column, message: error.0.to_string() }]);
        }
        Err(_) => {
            let message = "the parser failed at this source".into();
            return Err(vec![Diagnostic { line: 0, column: 0, message }]);
        }
    };
    let reader = TreeReader { ast: &ast, marks: &marks, heads: &heads };
    Ok(reader.tree())
}

/// The one parser. It runs nothing: no function is registered with it.
fn parser() -> &'static Engine {
    static PARSER: LazyLock<Engine> = LazyLock::new(build);
    &PARSER
}

/// Gives hashes a fixed seed, before anything is hashed.
fn seed_hashes() {
    let seed = Some(HASHING_SEED);
    assert!(
        rhai::config::hashing::set_hashing_seed(seed).is_ok()
            || *rhai::config::hashing::get_hashing_seed() == seed,
        "somebody else in this process has seeded the parser's hashes"
    );
}

#[expect(deprecated, reason = "the parser's hook for tokens is marked so to say: volatile")]
fn build() -> Engine {
    seed_hashes();
    let mut engine = Engine::new_raw();
    engine
        .set_max_strings_interned(0)
        .set_max_expr_depths(EXPRESSION_DEPTH_MAX, EXPRESSION_DEPTH_MAX)
        .set_max_functions(FUNCTIONS_MAX)
        .set_max_string_size(STRING_BYTES_MAX)
        .set_max_array_size(LITERAL_ELEMENTS_MAX)
        .set_max_map_size(LITERAL_ELEMENTS_MAX)
        .on_parse_token(token);
    engine
}

/// A word that the parser keeps for later, and that is a function here.
const FREED: &str = "spawn";

/// Turns the literal `1.5` into the name `#1.5`, so that its text reaches our own numbers, and notes what
/// a `switch` needs.
fn token(token: Token, at: Position, _: &TokenizeState) -> Token {
    switches::note(&token, at);
    headers::note(&token, at);
    if let Some(error) = note_outside(&token) {
        return error;
    }
    let constant = match token {
        Token::DecimalConstant(constant) => constant,
        Token::Reserved(word) if word.as_str() == FREED => return Token::Identifier(word),
        token => return token,
    };
    let text = &constant.1;
    match Fx::parse(text) {
        Ok(_) => Token::Identifier(Box::new(format!("{NUMBER}{text}").into())),
        Err(error) => Token::LexError(Box::new(LexError::Runtime(format!("{text}: {error}")))),
    }
}

/// What stands outside of functions, as far as the tokens of a source passed by.
#[derive(Clone, Copy, Default)]
struct OutsideOfFunctions {
    /// Braces that are open.
    braces: usize,
    /// Constants that stand in none.
    constants: usize,
    /// Imports, which stand nowhere else.
    imports: usize,
}

std::thread_local! {
    /// The parser owns the function that sees the tokens, so it is kept here while it parses.
    static OUTSIDE: Cell<OutsideOfFunctions> = const {
        Cell::new(OutsideOfFunctions { braces: 0, constants: 0, imports: 0 })
    };
}

/// Counts the constants and imports outside of functions. Returns what ends the parse where there are too
/// many: it looks for each one among all before it, and took twice what a turn may compile.
fn note_outside(token: &Token) -> Option<Token> {
    let OutsideOfFunctions { mut braces, mut constants, mut imports } = OUTSIDE.get();
    let mut refused = None;
    match token {
        Token::LeftBrace | Token::MapStart => braces += 1,
        Token::RightBrace => braces = braces.saturating_sub(1),
        Token::Const if braces == 0 => constants += 1,
        Token::Import if braces == 0 => imports += 1,
        Token::Import => refused = Some("an import stands outside of functions".into()),
        Token::Export => {
            let words = "export is not part of the language: what imports a package can use each \
                         function and constant of it that is not private";
            refused = Some(words.into());
        }
        _ => {}
    }
    OUTSIDE.set(OutsideOfFunctions { braces, constants, imports });
    if constants > CONSTANTS_MAX {
        refused = Some(format!(
            "more than {CONSTANTS_MAX} constants (CONSTANTS_MAX): put some into a map"
        ));
    } else if imports > IMPORTS_MAX {
        refused = Some(format!("more than {IMPORTS_MAX} imports (IMPORTS_MAX)"));
    }
    refused.map(|words| Token::LexError(Box::new(LexError::Runtime(words))))
}

fn point(at: Position) -> SourcePoint {
    let small = |number: Option<usize>| u32::try_from(number.unwrap_or(0)).unwrap_or(u32::MAX);
    SourcePoint { line: small(at.line()), column: small(at.position()) }
}

/// Returns the statements of a function's body. The type that holds them has no public name, so they are collected
/// from a walk over a tree that has this function alone.
fn statements_of(function: &Arc<ScriptFuncDef>) -> Vec<Stmt> {
    let mut alone = Module::new();
    alone.set_script_fn(Arc::clone(function));
    let mut statements = Vec::new();
    AST::new([], alone).walk(&mut |path| {
        if let [ASTNode::Stmt(statement)] = path {
            statements.push((*statement).clone());
        }
        true
    });
    statements
}

/// The walk over a parsed source.
struct TreeReader<'a> {
    ast: &'a AST,
    marks: &'a Marks,
    heads: &'a FunctionHeads,
}

impl TreeReader<'_> {
    fn tree(&self) -> SourceTree {
        let named = self.ast.iter_fn_def().filter(|f| !f.name.starts_with("anon$"));
        let mut functions: Vec<SourceFunction> = named.map(|f| self.function(f)).collect();
        // The parser keeps them by hash.
        functions.sort_by_key(|function| (function.at, function.name.clone()));
        SourceTree { statements: self.statements(self.ast.statements()), functions }
    }

    fn function(&self, function: &Arc<ScriptFuncDef>) -> SourceFunction {
        let at = point(function.body.start_position());
        SourceFunction {
            name: function.name.to_string(),
            named_at: self.heads.name_of(at),
            parameters: function.params.iter().map(ToString::to_string).collect(),
            at,
            body: self.statements(&statements_of(function)),
            is_method: function.this_type.is_some(),
            is_private: function.access == FnAccess::Private,
        }
    }

    fn statements(&self, statements: &[Stmt]) -> Vec<Statement> {
        let told = statements.iter().filter(|s| !matches!(s, Stmt::Noop(_) | Stmt::Share(_)));
        told.map(|statement| self.statement(statement)).collect()
    }

    fn statement(&self, statement: &Stmt) -> Statement {
        let at = point(statement.position());
        Statement { at, kind: self.statement_kind(statement, at) }
    }

    fn statement_kind(&self, statement: &Stmt, at: SourcePoint) -> StatementKind {
        use StatementKind as S;
        match statement {
            Stmt::Expr(expression) => S::Expression(self.expression(expression)),
            Stmt::FnCall(call, at) => {
                let (at, kind) = (point(*at), self.call(call));
                S::Expression(Expression { at, start: at, kind })
            }
            Stmt::Block(block) => S::Block(self.statements(block.statements())),
            Stmt::If(flow, _) => S::If {
                condition: self.expression(&flow.expr),
                body: self.statements(flow.body.statements()),
                otherwise: self.statements(flow.branch.statements()),
            },
            Stmt::While(flow, _) => S::While {
                condition: match flow.expr {
                    Expr::Unit(_) | Expr::BoolConstant(true, _) => None,
                    ref condition => Some(self.expression(condition)),
                },
                body: self.statements(flow.body.statements()),
            },
            Stmt::Do(flow, flags, _) => S::Do {
                condition: self.expression(&flow.expr),
                wanted: !flags.contains(ASTFlags::NEGATED),
                body: self.statements(flow.body.statements()),
            },
            Stmt::For(x, _) => S::For {
                name: x.0.name.to_string(),
                counter: x.1.as_ref().map(|counter| counter.name.to_string()),
                over: self.expression(&x.2.expr),
                body: self.statements(x.2.body.statements()),
            },
            Stmt::Var(x, flags, _) => S::Let {
                name: x.0.name.to_string(),
                value: self.expression(&x.1),
                constant: flags.contains(ASTFlags::CONSTANT),
            },
            Stmt::Assignment(x) => S::Assign {
                target: self.expression(&x.1.lhs),
                operator: x
                    .0
                    .get_op_assignment_info()
                    .map(|info| (String::from(info.5), point(x.0.position()))),
                value: self.expression(&x.1.rhs),
            },
            Stmt::BreakLoop(value, flags, _) => {
                let value = value.as_ref().map(|value| self.expression(value));
                if flags.contains(ASTFlags::BREAK) { S::Break(value) } else { S::Continue }
            }
            Stmt::Return(value, flags, _) => {
                let value = value.as_ref().map(|value| self.expression(value));
                if flags.contains(ASTFlags::BREAK) { S::Throw(value) } else { S::Return(value) }
            }
            Stmt::TryCatch(flow, _) => S::Try {
                body: self.statements(flow.body.statements()),
                name: match &flow.expr {
                    Expr::Variable(variable, ..) => Some(variable.1.to_string()),
                    _ => None,
                },
                rescue: self.statements(flow.branch.statements()),
            },
            Stmt::Switch(x, _) => match self.marks.patterns(at, x.1.expressions.len()) {
                Ok(patterns) => S::Switch {
                    value: self.expression(&x.0),
                    arms: self.arms(patterns, &x.1.expressions),
                },
                Err(message) => S::Refused(message),
            },
            Stmt::Import(import, _) => import_of(&import.0, &import.1.name),
            _ => S::Refused("this statement is not part of the language".into()),
        }
    }

    fn expression(&self, expression: &Expr) -> Expression {
        let (at, start) = (point(expression.position()), point(expression.start_position()));
        Expression { at, start, kind: self.expression_kind(expression) }
    }

    fn expressions<'e>(&self, all: impl IntoIterator<Item = &'e Expr>) -> Vec<Expression> {
        all.into_iter().map(|expression| self.expression(expression)).collect()
    }

    fn expression_kind(&self, expression: &Expr) -> ExpressionKind {
        use ExpressionKind as E;
        use LiteralValue as L;
        match expression {
            Expr::Unit(_) => E::Literal(L::Unit),
            Expr::BoolConstant(value, _) => E::Literal(L::Bool(*value)),
            Expr::IntegerConstant(value, _) => E::Literal(L::Int(*value)),
            Expr::CharConstant(value, _) => E::Literal(L::Text((*value).into())),
            Expr::StringConstant(text, _) => E::Literal(L::Text(text.as_str().into())),
            Expr::DynamicConstant(value, _) => self.constant(value, &[]),
            Expr::InterpolatedString(parts, _) => E::Text(self.expressions(&**parts)),
            Expr::Array(values, _) => E::Array(self.expressions(&**values)),
            Expr::Map(entries, _) => E::Map(
                (entries.0.iter())
                    .map(|(name, value)| (name.name.to_string(), self.expression(value)))
                    .collect(),
            ),
            Expr::Variable(variable, ..) if !variable.2.is_empty() => {
                E::Name(qualified(&variable.2, &variable.1))
            }
            Expr::Variable(variable, ..) => name_or_number(&variable.1),
            Expr::ThisPtr(_) => {
                E::Refused("this is not part of the language: self_ is the own object".into())
            }
            Expr::And(parts, _) => E::And(self.expressions(parts.iter())),
            Expr::Or(parts, _) => E::Or(self.expressions(parts.iter())),
            Expr::Coalesce(parts, _) => E::Coalesce(self.expressions(parts.iter())),
            Expr::Stmt(block) => match block.statements() {
                // A closure that captures: its variables are noted, then it is made.
                [Stmt::Share(_), Stmt::Expr(made)] => self.expression_kind(made),
                statements => E::Block(self.statements(statements)),
            },
            Expr::FnCall(call, _) => self.call(call),
            Expr::Dot(..) | Expr::Index(..) => self.chain(expression),
            _ => E::Refused("this expression is not part of the language".into()),
        }
    }

    /// A value that the parser made: of interest are the names of closures alone.
    fn constant(&self, value: &Dynamic, captured: &[Expr]) -> ExpressionKind {
        let refused = || ExpressionKind::Refused("this value is not part of the language".into());
        let Some(pointer) = value.read_lock::<FnPtr>() else { return refused() };
        let mut all = self.ast.iter_fn_def();
        let Some(function) = all.find(|f| f.name.as_str() == pointer.fn_name()) else {
            return refused();
        };
        let mut names = function.params.iter().map(ToString::to_string);
        ExpressionKind::Closure {
            captures: names.by_ref().take(captured.len()).collect(),
            parameters: names.collect(),
            body: self.statements(&statements_of(function)),
        }
    }

    fn call(&self, call: &FnCallExpr) -> ExpressionKind {
        let name = qualified(&call.namespace, &call.name);
        if call.capture_parent_scope {
            return ExpressionKind::BangCall { name };
        }
        if let ("curry", [Expr::DynamicConstant(closure, _), captured @ ..]) =
            (name.as_str(), &*call.args)
        {
            return self.constant(closure, captured);
        }
        let arguments = self.expressions(&*call.args);
        if call.is_operator_call() {
            ExpressionKind::Operator { sign: name, arguments }
        } else {
            ExpressionKind::Call { name, arguments }
        }
    }

    fn chain(&self, expression: &Expr) -> ExpressionKind {
        let (mut links, mut parent, mut root) = (Vec::new(), expression, None);
        while let Expr::Dot(x, flags, sign) | Expr::Index(x, flags, sign) = parent {
            root.get_or_insert(&x.lhs);
            let goes_on = matches!(x.rhs, Expr::Dot(..) | Expr::Index(..))
                && !(matches!(parent, Expr::Index(..)) && flags.contains(ASTFlags::BREAK));
            let here = match &x.rhs {
                Expr::Dot(next, ..) | Expr::Index(next, ..) if goes_on => &next.lhs,
                last => last,
            };
            links.push(ChainLink {
                sign: point(*sign),
                at: point(here.start_position()),
                optional: flags.contains(ASTFlags::NEGATED),
                kind: match (parent, here) {
                    (Expr::Dot(..), Expr::Property(property, _)) => {
                        ChainLinkKind::Property(property.2.to_string())
                    }
                    (Expr::Dot(..), Expr::MethodCall(call, _)) => ChainLinkKind::Method {
                        name: call.name.to_string(),
                        arguments: self.expressions(&*call.args),
                    },
                    (_, index) => ChainLinkKind::Index(self.expression(index)),
                },
            });
            if !goes_on {
                break;
            }
            parent = &x.rhs;
        }
        let root = root.expect("a chain has a beginning");
        ExpressionKind::Chain { root: Box::new(self.expression(root)), links }
    }
}

/// Returns the name of something with the names before it, as `scores::best`. No other name has `::` in it.
fn qualified(namespace: &Namespace, name: &str) -> String {
    let before = namespace.path.iter().map(|part| format!("{}::", part.name));
    before.chain([name.to_owned()]).collect()
}

/// Returns what `import path as alias` says.
fn import_of(path: &Expr, alias: &str) -> StatementKind {
    let example = "import \"scores\" as scores";
    match path {
        Expr::StringConstant(path, _) if alias.is_empty() => {
            StatementKind::Refused(format!("an import needs a name: {example}, here \"{path}\""))
        }
        Expr::StringConstant(path, _) => {
            StatementKind::Import { path: path.as_str().into(), alias: alias.into() }
        }
        _ => StatementKind::Refused(format!("an import names a package in quotes: {example}")),
    }
}

fn name_or_number(name: &str) -> ExpressionKind {
    match name.strip_prefix(NUMBER).map(Fx::parse) {
        Some(Ok(value)) => ExpressionKind::Literal(LiteralValue::Fixed(value)),
        Some(Err(error)) => ExpressionKind::Refused(format!("{name}: {error}")),
        None => ExpressionKind::Name(name.into()),
    }
}
