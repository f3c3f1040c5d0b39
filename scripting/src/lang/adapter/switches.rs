//! What the arms of a `switch` compare with.
//!
//! The parser keeps hashes of the values alone, and hashes differ between machines. So the values are
//! taken from the tokens: they pass by here in the order of the source.

use alloc::{string::String, vec::Vec};
use core::cell::RefCell;

use rhai::{BinaryExpr, Expr, Position, Token};

use super::{Reader, point};
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
    Default,
    Value(LiteralValue),
    Range { inclusive: bool },
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
        Token::Underscore => Mark::Default,
        Token::True => Mark::Value(L::Bool(true)),
        Token::False => Mark::Value(L::Bool(false)),
        Token::Unit => Mark::Value(L::Unit),
        Token::IntegerConstant(value) => Mark::Value(L::Int(*value)),
        Token::CharConstant(value) => Mark::Value(L::Text((*value).into())),
        Token::StringConstant(text) => Mark::Value(L::Text(text.as_str().into())),
        Token::ExclusiveRange => Mark::Range { inclusive: false },
        Token::InclusiveRange => Mark::Range { inclusive: true },
        _ => Mark::Other,
    };
    SEEN.with_borrow_mut(|seen| seen.0.push((point(at), mark)));
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
        // The tokens of the pattern that may be under way, and how deep in brackets they are.
        let (mut pattern, mut depth, mut inside): (Vec<&Mark>, u32, bool) = (Vec::new(), 0, false);
        for (_, mark) in rest {
            let here = depth == 0;
            match mark {
                Mark::CloseBrace if here => break,
                Mark::Brace if here && !inside => {
                    inside = true;
                    continue;
                }
                Mark::Brace | Mark::Open => depth += 1,
                Mark::CloseBrace | Mark::Close => depth = depth.saturating_sub(1),
                Mark::Arrow if here && inside => found.push(read(&pattern)?),
                _ => {}
            }
            // An arm ends at a comma, or where its block does.
            let ends = depth == 0 && matches!(mark, Mark::CloseBrace | Mark::Comma | Mark::Arrow);
            if ends {
                pattern.clear();
            } else if inside {
                pattern.push(mark);
            }
        }
        if found.len() == arms { Ok(found) } else { Err(unclear()) }
    }
}

/// Reads the patterns before `=>` or `if`.
fn read(pattern: &[&Mark]) -> Result<Vec<CasePattern>, String> {
    let end = pattern.iter().position(|mark| **mark == Mark::If).unwrap_or(pattern.len());
    if pattern[..end] == [&Mark::Default] {
        return Ok(Vec::new());
    }
    let cases = pattern[..end].split(|mark| **mark == Mark::Or);
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

impl Reader<'_> {
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
