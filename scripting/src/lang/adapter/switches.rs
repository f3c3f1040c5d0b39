//! What the arms of a `switch` compare with.
//!
//! The parser keeps hashes of the values alone, and hashes differ between machines. So the values are
//! taken from the tokens: they pass by here in the order of the source.

use alloc::{string::String, vec::Vec};
use core::cell::RefCell;

use rhai::{BinaryExpr, Expr, Position, Token};

use super::{TreeReader, point};
use crate::lang::tree::{CasePattern, LiteralValue, SourcePoint, SwitchArm};

/// What a token is to a `switch`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Mark {
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
pub(super) struct Marks(Vec<(SourcePoint, Mark)>);

std::thread_local! {
    /// The parser owns the function that sees the tokens, so they are kept here while it parses.
    static SEEN: RefCell<Marks> = const { RefCell::new(Marks(Vec::new())) };
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
        Token::Switch => Mark::Switch,
        Token::LeftBrace => Mark::Brace,
        Token::MapStart | Token::LeftParen | Token::LeftBracket | Token::QuestionBracket => {
            Mark::Open
        }
        Token::RightBrace => Mark::CloseBrace,
        Token::RightParen | Token::RightBracket => Mark::Close,
        Token::DoubleArrow => Mark::Arrow,
        Token::Comma => Mark::Comma,
        Token::If => Mark::If,
        Token::Pipe => Mark::Or,
        Token::Minus | Token::UnaryMinus => Mark::Minus,
        Token::Underscore => Mark::Default,
        Token::True => Mark::Value(L::Bool(true)),
        Token::False => Mark::Value(L::Bool(false)),
        Token::Unit => Mark::Value(L::Unit),
        Token::IntegerConstant(value) => Mark::Value(L::Int(*value)),
        Token::CharConstant(value) => Mark::Value(L::Text((*value).into())),
        Token::StringConstant(text) => Mark::Value(L::Text(text.as_str().into())),
        Token::InterpolatedString(_) => Mark::TextPart,
        Token::ExclusiveRange => Mark::Range { inclusive: false },
        Token::InclusiveRange => Mark::Range { inclusive: true },
        _ => Mark::Other,
    };
    SEEN.with_borrow_mut(|seen| seen.0.push((point(at), mark)));
}

/// How far the tokens of a `switch` are read.
#[derive(Debug, Default)]
struct SwitchReading {
    /// Tokens of the pattern under way, with its condition.
    pattern: Vec<Mark>,
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
    fn next(&mut self, mark: &Mark) -> Reading {
        let (here, closed) = (self.depth == 0, core::mem::take(&mut self.closed));
        match mark {
            Mark::CloseBrace if here => return Reading::End,
            Mark::Brace if here && !self.inside => {
                self.inside = true;
                return Reading::More;
            }
            Mark::TextPart => self.texts.push(self.depth),
            Mark::Brace | Mark::Open => self.depth += 1,
            Mark::CloseBrace | Mark::Close => {
                self.depth -= u32::from(!here);
                let ends_part = self.texts.pop_if(|depth| *depth == self.depth).is_some();
                self.closed = self.depth == 0 && *mark == Mark::CloseBrace && !ends_part;
            }
            Mark::Arrow if here && self.inside => {
                self.in_body = true;
                return Reading::Pattern;
            }
            Mark::Comma if here && self.in_body => {
                self.in_body = false;
                return Reading::More;
            }
            Mark::Value(_) | Mark::Minus | Mark::Default if here && closed => self.in_body = false,
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
        let begin = self.0.iter().position(|(place, mark)| *place == at && *mark == Mark::Switch);
        let unclear = || String::from("give the value of this switch a name first, with let");
        let rest = &self.0[begin.ok_or_else(unclear)? + 1..];
        let mut found = Vec::new();
        let mut reading = SwitchReading::default();
        for (_, mark) in rest {
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
fn read(pattern: &[Mark]) -> Result<Vec<CasePattern>, String> {
    let end = pattern.iter().position(|mark| *mark == Mark::If).unwrap_or(pattern.len());
    if pattern[..end] == [Mark::Default] {
        return Ok(Vec::new());
    }
    // A sign that stands behind the end of an arm is a token of its own.
    let pattern = signed(&pattern[..end]);
    let cases = pattern.split(|mark| *mark == Mark::Or);
    cases
        .map(|case| match case {
            [Mark::Value(value)] => Ok(CasePattern::Value(value.clone())),
            [
                Mark::Value(LiteralValue::Int(start)),
                Mark::Range { inclusive },
                Mark::Value(LiteralValue::Int(end)),
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
fn signed(pattern: &[Mark]) -> Vec<Mark> {
    let mut signed: Vec<Mark> = Vec::with_capacity(pattern.len());
    for mark in pattern {
        match (signed.last(), mark) {
            (Some(Mark::Minus), Mark::Value(LiteralValue::Int(value))) => {
                let opposite = LiteralValue::Int(value.wrapping_neg());
                signed.pop();
                signed.push(Mark::Value(opposite));
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
