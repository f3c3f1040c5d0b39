//! A source as a tree of our own: what the pinned parser gives, without the parser's types.

use alloc::{boxed::Box, string::String, vec::Vec};

use metatopia_math::Fx;
use serde::{Deserialize, Serialize};

/// A place in a source, in characters from 1; 0 where none is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct SourcePoint {
    /// Its line, from 1.
    pub(crate) line: u32,
    /// Its column, from 1.
    pub(crate) column: u32,
}

/// A whole source: constants and functions, in the order of the source.
#[derive(Debug, Default)]
pub(super) struct SourceTree {
    pub(super) statements: Vec<Statement>,
    pub(super) functions: Vec<SourceFunction>,
}

/// A function that the source defines by name.
#[derive(Debug)]
pub(super) struct SourceFunction {
    pub(super) name: String,
    /// The place of its name, where people look for a mistake in its head. What runs knows the place of the body alone.
    pub(super) named_at: SourcePoint,
    pub(super) parameters: Vec<String>,
    /// The place of its body.
    pub(super) at: SourcePoint,
    pub(super) body: Vec<Statement>,
    /// It is a method of a type, which the language does not have.
    pub(super) is_method: bool,
    /// What imports the source cannot call it.
    pub(super) is_private: bool,
}

/// A statement with its place.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) at: SourcePoint,
    pub(super) kind: StatementKind,
}

/// What a statement does.
#[derive(Debug)]
pub(super) enum StatementKind {
    Expression(Expression),
    Block(Vec<Statement>),
    Let {
        name: String,
        value: Expression,
        constant: bool,
    },
    /// With an operator: `target op= value`.
    Assign {
        target: Expression,
        operator: Option<(String, SourcePoint)>,
        value: Expression,
    },
    If {
        condition: Expression,
        body: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    Switch {
        value: Expression,
        arms: Vec<SwitchArm>,
    },
    /// Without a condition: `loop`.
    While {
        condition: Option<Expression>,
        body: Vec<Statement>,
    },
    /// Repeats while the condition is `wanted`.
    Do {
        condition: Expression,
        wanted: bool,
        body: Vec<Statement>,
    },
    For {
        name: String,
        counter: Option<String>,
        over: Expression,
        body: Vec<Statement>,
    },
    Break(Option<Expression>),
    Continue,
    Return(Option<Expression>),
    Throw(Option<Expression>),
    Try {
        body: Vec<Statement>,
        name: Option<String>,
        rescue: Vec<Statement>,
    },
    /// `import "path" as alias`.
    Import {
        path: String,
        alias: String,
    },
    /// Something that is not part of the language, with what to do instead.
    Refused(String),
}

/// One arm of a `switch`; without patterns it is the default.
#[derive(Debug)]
pub(super) struct SwitchArm {
    pub(super) patterns: Vec<CasePattern>,
    pub(super) condition: Option<Expression>,
    pub(super) body: Expression,
}

/// What a value is compared with by an arm of a `switch`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CasePattern {
    Value(LiteralValue),
    /// From a number up to another, which is in it if `inclusive`.
    Range {
        start: i64,
        end: i64,
        inclusive: bool,
    },
}

/// A value that stands in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LiteralValue {
    Unit,
    Bool(bool),
    Int(i64),
    Fixed(Fx),
    Text(String),
}

/// An expression with its place.
#[derive(Debug)]
pub(super) struct Expression {
    /// Where it is reported: an operator's own sign, a call's name.
    pub(super) at: SourcePoint,
    /// Where it begins.
    pub(super) start: SourcePoint,
    pub(super) kind: ExpressionKind,
}

/// What an expression computes.
#[derive(Debug)]
pub(super) enum ExpressionKind {
    Literal(LiteralValue),
    Text(Vec<Expression>),
    Array(Vec<Expression>),
    Map(Vec<(String, Expression)>),
    Name(String),
    And(Vec<Expression>),
    Or(Vec<Expression>),
    Coalesce(Vec<Expression>),
    Block(Vec<Statement>),
    Operator {
        sign: String,
        arguments: Vec<Expression>,
    },
    Call {
        name: String,
        arguments: Vec<Expression>,
    },
    /// A call that is written `name!(..)`.
    BangCall {
        name: String,
    },
    Chain {
        root: Box<Expression>,
        links: Vec<ChainLink>,
    },
    Closure {
        parameters: Vec<String>,
        captures: Vec<String>,
        body: Vec<Statement>,
    },
    /// Something that is not part of the language, with what to do instead.
    Refused(String),
}

/// One link of `root.property[index].method(..)`.
#[derive(Debug)]
pub(super) struct ChainLink {
    /// The place of the dot or bracket.
    pub(super) sign: SourcePoint,
    /// The place of what follows it.
    pub(super) at: SourcePoint,
    /// Written with a question mark: `()` ends the chain.
    pub(super) optional: bool,
    pub(super) kind: ChainLinkKind,
}

/// What a link leads to.
#[derive(Debug)]
pub(super) enum ChainLinkKind {
    Property(String),
    Index(Expression),
    Method { name: String, arguments: Vec<Expression> },
}
