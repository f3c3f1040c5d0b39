//! All that the source of a port names.
#![cfg_attr(
    not(test),
    expect(unused_imports, reason = "ports of later scripts use what that of today does not")
)]

pub(crate) use alloc::vec::Vec;

pub(crate) use metatopia_math::{Fx, Vec2};

pub(crate) use super::{LinkedPortTables, PortFunction, PortTables, link};
pub(crate) use crate::{
    EventKind, Value,
    exec::{
        CallMachine, CallOutcome, Datum, Located, PortedBody, at, copy, int, is, is_unit,
        is_within, iterate, next, rethrown, shift, state, taken, truth, unary, unit,
    },
    ir::{BinaryOp, IrLinkKind, UnaryOp},
};
