//! Which registers an operation of the program reads and writes.

use super::super::loaded::LoadedProgram;
use crate::ir::{IrFunction, IrLinkKind, IrOp};

/// What operations name by number.
#[derive(Clone, Copy)]
pub(super) struct OperandTable<'a> {
    pub(super) loaded: &'a LoadedProgram,
    pub(super) functions: &'a [IrFunction],
}

impl OperandTable<'_> {
    /// Calls `told` with each register that an operation reads.
    pub(super) fn reads(self, op: &IrOp, told: &mut dyn FnMut(u16)) {
        match *op {
            IrOp::Copy { from, .. }
            | IrOp::Move { from, .. }
            | IrOp::Iterate { from, .. }
            | IrOp::Return { from }
            | IrOp::Throw { from } => told(from),
            IrOp::Add { a, b, .. }
            | IrOp::Sub { a, b, .. }
            | IrOp::Mul { a, b, .. }
            | IrOp::Less { a, b, .. }
            | IrOp::Binary { a, b, .. }
            | IrOp::JumpUnlessLess { a, b, .. } => [a, b].into_iter().for_each(told),
            IrOp::Unary { a, .. } => told(a),
            IrOp::JumpIf { condition, .. } => told(condition),
            IrOp::JumpIfUnit { value, .. } | IrOp::JumpUnlessCase { value, .. } => told(value),
            IrOp::JumpUnlessWithin { value, first, .. } => {
                [value, first, first + 1].into_iter().for_each(told);
            }
            IrOp::Get { of, .. } => told(of),
            IrOp::Index { of, index, .. } => [of, index].into_iter().for_each(told),
            IrOp::Store { root, path, value } | IrOp::Change { root, path, value, .. } => {
                [root, value].into_iter().for_each(&mut *told);
                self.path(path, told);
            }
            IrOp::Method { root, path, .. } => {
                told(root);
                self.path(path, told);
                self.row(op).into_iter().flatten().for_each(told);
            }
            IrOp::Next { state, .. } => [state, state + 1].into_iter().for_each(told),
            IrOp::CallValue { callee, .. } => {
                told(callee);
                self.row(op).into_iter().flatten().for_each(told);
            }
            IrOp::Rethrow { error } => told(error + 1),
            _ => self.row(op).into_iter().flatten().for_each(told),
        }
    }

    /// Calls `told` with each register that an operation writes with a value that may be read.
    pub(super) fn writes(op: &IrOp, told: &mut dyn FnMut(u16)) {
        match *op {
            IrOp::Constant { to, .. }
            | IrOp::Int { to, .. }
            | IrOp::Unit { to }
            | IrOp::Bool { to, .. }
            | IrOp::Own { to }
            | IrOp::State { to }
            | IrOp::Copy { to, .. }
            | IrOp::Move { to, .. }
            | IrOp::Add { to, .. }
            | IrOp::Sub { to, .. }
            | IrOp::Mul { to, .. }
            | IrOp::Less { to, .. }
            | IrOp::Binary { to, .. }
            | IrOp::Unary { to, .. }
            | IrOp::Array { to, .. }
            | IrOp::Map { to, .. }
            | IrOp::Text { to, .. }
            | IrOp::Closure { to, .. }
            | IrOp::Get { to, .. }
            | IrOp::Index { to, .. } => told(to),
            IrOp::Store { root, .. } | IrOp::Change { root, .. } => told(root),
            IrOp::Method { root, first, .. } => [root, first].into_iter().for_each(told),
            IrOp::Call { first, .. } | IrOp::Host { first, .. } | IrOp::CallValue { first, .. } => {
                told(first)
            }
            IrOp::Iterate { state, .. } => [state, state + 1].into_iter().for_each(told),
            IrOp::Next { state, to, .. } => [state, state + 1, to].into_iter().for_each(told),
            IrOp::Try { error, .. } => [error, error + 1].into_iter().for_each(told),
            IrOp::Charge(_)
            | IrOp::Jump { .. }
            | IrOp::JumpIf { .. }
            | IrOp::JumpUnlessLess { .. }
            | IrOp::JumpIfUnit { .. }
            | IrOp::JumpUnlessCase { .. }
            | IrOp::JumpUnlessWithin { .. }
            | IrOp::Return { .. }
            | IrOp::EndTry
            | IrOp::Throw { .. }
            | IrOp::Rethrow { .. } => {}
        }
    }

    /// Returns the registers in a row that an operation takes values from, if it does. Nothing is in them
    /// afterwards but its result.
    pub(super) fn row(self, op: &IrOp) -> Option<core::ops::Range<u16>> {
        let (first, count) = match *op {
            IrOp::Array { first, count, .. }
            | IrOp::Text { first, count, .. }
            | IrOp::CallValue { first, count, .. } => (first, usize::from(count)),
            IrOp::Map { first, shape, .. } => (first, self.loaded.shapes[usize::from(shape)].len()),
            IrOp::Closure { first, function, .. } => {
                (first, usize::from(self.functions[usize::from(function)].captures))
            }
            IrOp::Call { function, first } => {
                (first, usize::from(self.functions[usize::from(function)].parameters))
            }
            IrOp::Host { call, first } => (first, self.loaded.call(call).count),
            // What is changed comes from a variable.
            IrOp::Method { call, first, .. } => (first + 1, self.loaded.call(call).count - 1),
            _ => return None,
        };
        let count = u16::try_from(count).expect("registers have numbers of 16 bits");
        Some(first..first + count)
    }

    fn path(self, path: u16, told: &mut dyn FnMut(u16)) {
        for link in &self.loaded.paths[usize::from(path)] {
            if let IrLinkKind::Index(register) = link.kind {
                told(register);
            }
        }
    }
}
