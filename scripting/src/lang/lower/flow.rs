//! Conditions and loops.

use alloc::{vec, vec::Vec};

use super::{Lowering, emit::LoopUnderWay};
use crate::{
    ir::{BinaryOp, IrOp},
    lang::tree::{Expression, ExpressionKind, SourcePoint, Statement},
};

impl Lowering {
    /// Goes on behind this if the condition holds; returns the jumps for where it does not.
    pub(super) fn jump_unless(&mut self, condition: &Expression) -> Vec<usize> {
        let (at, mark) = (condition.at, self.mark());
        let jumps = match &condition.kind {
            ExpressionKind::And(parts) => {
                parts.iter().flat_map(|part| self.jump_unless(part)).collect()
            }
            ExpressionKind::Operator { sign, arguments } if sign == "<" || sign == ">" => {
                let from = self.register(at);
                let first = self.mark();
                let (a, b) = match &arguments[..] {
                    [a, b] if !super::expressions::writes(b) => (self.value(a), self.value(b)),
                    [a, b] => {
                        self.value_into(a, from);
                        (from, self.value(b))
                    }
                    _ => unreachable!("it is between two values"),
                };
                self.free_to(first);
                let (a, b) = if sign == "<" { (a, b) } else { (b, a) };
                vec![self.jump(IrOp::JumpUnlessLess { a, b, target: 0 }, at)]
            }
            _ => {
                let condition = self.value(condition);
                let jump = IrOp::JumpIf { condition, wanted: false, target: 0 };
                vec![self.jump(jump, at)]
            }
        };
        self.free_to(mark);
        jumps
    }

    pub(super) fn choose(
        &mut self,
        condition: &Expression,
        body: &[Statement],
        otherwise: &[Statement],
        to: Option<u16>,
        at: SourcePoint,
    ) {
        let jumps = self.jump_unless(condition);
        self.block(body, to, at);
        if otherwise.is_empty() && to.is_none() {
            return self.bind(&jumps, at);
        }
        let done = self.jump(IrOp::Jump { target: 0 }, at);
        self.bind(&jumps, at);
        self.block(otherwise, to, at);
        self.bind(&[done], at);
    }

    fn begin_loop(&mut self, to: Option<u16>) {
        let tries = self.body.tries;
        self.body.loops.push(LoopUnderWay { to, breaks: vec![], continues: vec![], tries });
    }

    fn end_loop(&mut self) -> LoopUnderWay {
        self.body.loops.pop().expect("it was begun")
    }

    /// `while`, or `loop` without a condition.
    pub(super) fn repeat(
        &mut self,
        condition: Option<&Expression>,
        body: &[Statement],
        to: Option<u16>,
        at: SourcePoint,
    ) {
        let start = self.leader(at);
        let exits = condition.map_or_else(Vec::new, |condition| self.jump_unless(condition));
        self.begin_loop(to);
        self.block(body, None, at);
        let ended = self.end_loop();
        self.bind_to(&ended.continues, start);
        self.emit(IrOp::Jump { target: start }, at);
        self.bind(&exits, at);
        if condition.is_some() {
            self.unit(to, at);
        }
        self.bind(&ended.breaks, at);
    }

    /// `do .. while` or `do .. until`.
    pub(super) fn repeat_until(
        &mut self,
        condition: &Expression,
        wanted: bool,
        body: &[Statement],
        to: Option<u16>,
        at: SourcePoint,
    ) {
        let start = self.leader(at);
        self.begin_loop(to);
        self.block(body, None, at);
        let ended = self.end_loop();
        let again = self.leader(at);
        // A round that was cut short begins the next without asking.
        self.bind_to(&ended.continues, start);
        let mark = self.mark();
        let register = self.value(condition);
        let jump = IrOp::JumpIf { condition: register, wanted, target: start };
        self.jump(jump, condition.at);
        self.free_to(mark);
        debug_assert!(again >= start, "code only grows");
        self.unit(to, at);
        self.bind(&ended.breaks, at);
    }

    /// `for name in over`, in a scope of its own.
    pub(super) fn each(
        &mut self,
        name: &str,
        counter: Option<&str>,
        over: &Expression,
        body: &[Statement],
        to: Option<u16>,
        at: SourcePoint,
    ) {
        let state = self.row(2, at);
        let mark = self.mark();
        let from = self.register(at);
        self.value_into(over, from);
        self.emit(IrOp::Iterate { state, from }, over.start);
        self.free_to(mark);
        let counters = counter.map(|counter| {
            let first = self.row(2, at);
            self.emit(IrOp::Int { to: first, value: (-1).into() }, at);
            self.emit(IrOp::Int { to: first + 1, value: 1.into() }, at);
            self.free_name(counter, at);
            self.declare(counter, first, false, at);
            first
        });
        let variable = self.register(at);
        self.free_name(name, at);
        self.declare(name, variable, false, at);
        self.holds(self.element_of(over));
        let start = self.leader(at);
        let exit = self.jump(IrOp::Next { state, to: variable, target: 0 }, at);
        if let Some(first) = counters {
            let path = self.path(vec![], at);
            let op = BinaryOp::Add;
            self.emit(IrOp::Change { op, root: first, path, value: first + 1 }, at);
        }
        self.begin_loop(to);
        self.block(body, None, at);
        let ended = self.end_loop();
        self.bind_to(&ended.continues, start);
        self.emit(IrOp::Jump { target: start }, at);
        self.bind(&[exit], at);
        self.unit(to, at);
        self.bind(&ended.breaks, at);
    }
}
