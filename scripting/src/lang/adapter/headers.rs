//! Where the names of functions stand.
//!
//! The parser keeps the place of a function's body alone. So the places of names are taken from the tokens: they pass
//! by here in the order of the source.

use alloc::collections::BTreeMap;
use core::cell::RefCell;

use rhai::{Position, Token};

use super::point;
use crate::lang::tree::SourcePoint;

/// How far the head of a function passed by.
#[derive(Clone, Copy, Debug, Default)]
enum HeadReading {
    /// No head is being read.
    #[default]
    None,
    /// `fn`, and of the words behind it the last one: in front of a method's name stands that of a type.
    Name(Option<SourcePoint>),
    /// All up to its parameters.
    Parameters(SourcePoint),
}

/// The places of the names of functions, by those of the braces that open their bodies.
#[derive(Debug, Default)]
pub(super) struct FunctionHeads {
    names: BTreeMap<SourcePoint, SourcePoint>,
    reading: HeadReading,
}

std::thread_local! {
    /// The parser owns the function that sees the tokens, so they are kept here while it parses.
    static SEEN: RefCell<FunctionHeads> = const {
        RefCell::new(FunctionHeads { names: BTreeMap::new(), reading: HeadReading::None })
    };
}

pub(super) fn clear() {
    SEEN.take();
}

pub(super) fn take() -> FunctionHeads {
    SEEN.take()
}

/// Notes a token of the source.
pub(super) fn note(token: &Token, at: Position) {
    SEEN.with_borrow_mut(|seen| seen.read(token, point(at)));
}

impl FunctionHeads {
    fn read(&mut self, token: &Token, at: SourcePoint) {
        use HeadReading as R;
        self.reading = match (self.reading, token) {
            (_, Token::Fn) => R::Name(None),
            (R::Name(Some(name)), Token::LeftParen | Token::Unit) => R::Parameters(name),
            (R::Name(name), Token::Period) => R::Name(name),
            (R::Name(_), _) => R::Name(Some(at)),
            (R::Parameters(name), Token::LeftBrace) => {
                self.names.insert(at, name);
                R::None
            }
            (reading, _) => reading,
        };
    }

    /// Returns where the name of a function stands whose body begins here.
    pub(super) fn name_of(&self, body: SourcePoint) -> SourcePoint {
        self.names.get(&body).copied().unwrap_or(body)
    }
}
