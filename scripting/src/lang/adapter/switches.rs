//! What the arms of a `switch` compare with.
//!
//! The parser keeps hashes of the values alone, and hashes differ between machines. So the values are
//! taken from the tokens: they pass by here in the order of the source.

use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::cell::RefCell;

use rhai::{BinaryExpr, Expr, Position, Token};

use super::{TreeReader, point};
use crate::lang::tree::{CasePattern, LiteralValue, SourcePoint, SwitchArm};

/// What a token is to a `switch`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TokenMark {
    Switch,
    Brace,
    Open,
    CloseBrace,
    Close,
    Arrow,
    Comma,
    If,
    Or,
    Minus,
    Default,
    Value(LiteralValue),
    /// The part of a text before `${`.
    TextPart,
    Range {
        inclusive: bool,
    },
    Other,
}

/// Tokens of a source, in its order.
#[derive(Debug, Default)]
pub(super) struct Marks {
    marks: Vec<TokenMark>,
    /// The number of tokens up to each `switch`, that one included, by its place.
    switches: BTreeMap<SourcePoint, usize>,
}

std::thread_local! {
    /// The parser owns the function that sees the tokens, so they are kept here while it parses.
    static SEEN: RefCell<Marks> = const {
        RefCell::new(Marks { marks: Vec::new(), switches: BTreeMap::new() })
    };
}

pub(super) fn clear() {
    SEEN.take();
}

pub(super) fn take() -> Marks {
    SEEN.take()
}

pub(super) fn note(token: &Token, at: Position) {
    use LiteralValue as L;
    let mark = match token {
        Token::Switch => TokenMark::Switch,
        Token::LeftBrace => TokenMark::Brace,
        Token::MapStart | Token::LeftParen | Token::LeftBracket | Token::QuestionBracket => {
            TokenMark::Open
        }
        Token::RightBrace => TokenMark::CloseBrace,
        Token::RightParen | Token::RightBracket => TokenMark::Close,
        Token::DoubleArrow => TokenMark::Arrow,
        Token::Comma => TokenMark::Comma,
        Token::If => TokenMark::If,
        Token::Pipe => TokenMark::Or,
        Token::Minus | Token::UnaryMinus => TokenMark::Minus,
        Token::Underscore => TokenMark::Default,
        Token::True => TokenMark::Value(L::Bool(true)),
        Token::False => TokenMark::Value(L::Bool(false)),
        Token::Unit => TokenMark::Value(L::Unit),
        Token::IntegerConstant(value) => TokenMark::Value(L::Int(*value)),
        Token::CharConstant(value) => TokenMark::Value(L::Text((*value).into())),
        Token::StringConstant(text) => TokenMark::Value(L::Text(text.as_str().into())),
        Token::InterpolatedString(_) => TokenMark::TextPart,
        Token::ExclusiveRange => TokenMark::Range { inclusive: false },
        Token::InclusiveRange => TokenMark::Range { inclusive: true },
        _ => TokenMark::Other,
    };
    SEEN.with_borrow_mut(|seen| {
        let is_switch = mark == TokenMark::Switch;
        seen.marks.push(mark);
        if is_switch {
            seen.switches.entry(point(at)).or_insert(seen.marks.len());
        }
    });
}

/// How far the tokens of a `switch` are read.
#[derive(Debug, Default)]
struct SwitchReading {
    /// Tokens of the pattern under way, with its condition.
    pattern: Vec<TokenMark>,
    /// Brackets around the current token, inside of the braces of the `switch`.
    depth: u32,
    /// The braces of the `switch` were opened.
    inside: bool,
    /// What stands behind an arrow is read.
    in_body: bool,
    /// A block has just been closed there: an arm that is a block needs no comma behind it.
    closed: bool,
    /// How deep in brackets the texts are whose `${` is not closed yet.
    texts: Vec<u32>,
}

/// What a token of a `switch` ends.
enum Reading {
    More,
    Pattern,
    End,
}

impl SwitchReading {
    fn next(&mut self, mark: &TokenMark) -> Reading {
        let (here, closed) = (self.depth == 0, core::mem::take(&mut self.closed));
        match mark {
            TokenMark::CloseBrace if here => return Reading::End,
            TokenMark::Brace if here && !self.inside => {
                self.inside = true;
                return Reading::More;
            }
            TokenMark::TextPart => self.texts.push(self.depth),
            TokenMark::Brace | TokenMark::Open => self.depth += 1,
            TokenMark::CloseBrace | TokenMark::Close => {
                self.depth -= u32::from(!here);
                let ends_part = self.texts.pop_if(|depth| *depth == self.depth).is_some();
                self.closed = self.depth == 0 && *mark == TokenMark::CloseBrace && !ends_part;
            }
            TokenMark::Arrow if here && self.inside => {
                self.in_body = true;
                return Reading::Pattern;
            }
            TokenMark::Comma if here && self.in_body => {
                self.in_body = false;
                return Reading::More;
            }
            TokenMark::Value(_) | TokenMark::Minus | TokenMark::Default if here && closed => {
                self.in_body = false
            }
            _ => {}
        }
        if self.inside && !self.in_body {
            self.pattern.push(mark.clone());
        }
        Reading::More
    }
}

impl Marks {
    /// Returns the patterns of each arm of the `switch` at this place, which has so many.
    pub(super) fn patterns(
        &self,
        at: SourcePoint,
        arms: usize,
    ) -> Result<Vec<Vec<CasePattern>>, String> {
        let unclear = || String::from("give the value of this switch a name first, with let");
        let rest = &self.marks[*self.switches.get(&at).ok_or_else(unclear)?..];
        let mut found = Vec::new();
        let mut reading = SwitchReading::default();
        for mark in rest {
            match reading.next(mark) {
                Reading::More => {}
                Reading::Pattern => found.push(read(&core::mem::take(&mut reading.pattern))?),
                Reading::End => break,
            }
        }
        if found.len() == arms { Ok(found) } else { Err(unclear()) }
    }
}

/// Reads the patterns before `=>` or `if`.
fn read(pattern: &[TokenMark]) -> Result<Vec<CasePattern>, String> {
    let end = pattern.iter().position(|mark| *mark == TokenMark::If).unwrap_or(pattern.len());
    if pattern[..end] == [TokenMark::Default] {
        return Ok(Vec::new());
    }
    // A sign that stands behind the end of an arm is a token of its own.
    let pattern = signed(&pattern[..end]);
    let cases = pattern.split(|mark| *mark == TokenMark::Or);
    cases
        .map(|case| match case {
            [TokenMark::Value(value)] => Ok(CasePattern::Value(value.clone())),
            [
                TokenMark::Value(LiteralValue::Int(start)),
                TokenMark::Range { inclusive },
                TokenMark::Value(LiteralValue::Int(end)),
            ] => Ok(CasePattern::Range { start: *start, end: *end, inclusive: *inclusive }),
            _ => {
                Err("a case of a switch is a whole number, a text, true, false, () or a range of \
                      whole numbers: use if for others"
                    .into())
            }
        })
        .collect()
}

/// The same with numbers that have their signs.
fn signed(pattern: &[TokenMark]) -> Vec<TokenMark> {
    let mut signed: Vec<TokenMark> = Vec::with_capacity(pattern.len());
    for mark in pattern {
        match (signed.last(), mark) {
            (Some(TokenMark::Minus), TokenMark::Value(LiteralValue::Int(value))) => {
                let opposite = LiteralValue::Int(value.wrapping_neg());
                signed.pop();
                signed.push(TokenMark::Value(opposite));
            }
            (_, mark) => signed.push(mark.clone()),
        }
    }
    signed
}

impl TreeReader<'_> {
    pub(super) fn arms(
        &self,
        patterns: Vec<Vec<CasePattern>>,
        arms: &[BinaryExpr],
    ) -> Vec<SwitchArm> {
        let read = |(patterns, arm): (_, &BinaryExpr)| SwitchArm {
            patterns,
            condition: match &arm.lhs {
                Expr::BoolConstant(true, _) => None,
                condition => Some(self.expression(condition)),
            },
            body: self.expression(&arm.rhs),
        };
        patterns.into_iter().zip(arms).map(read).collect()
    }
}
