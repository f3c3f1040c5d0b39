//! Statements; where the value of one is wanted, it goes into a register.

use super::Lowering;
use crate::{
    ir::IrOp,
    lang::tree::{Expression, SourcePoint, Statement, StatementKind},
};

impl Lowering {
    /// Statements in a scope of their own. The value is that of the last one.
    pub(super) fn block(&mut self, statements: &[Statement], to: Option<u16>, at: SourcePoint) {
        let Some((last, others)) = statements.split_last() else {
            return self.unit(to, at);
        };
        self.scoped(|this| {
            for statement in others {
                this.statement(statement, None);
            }
            this.statement(last, to);
        });
    }

    pub(super) fn unit(&mut self, to: Option<u16>, at: SourcePoint) {
        if let Some(to) = to {
            self.emit(IrOp::Unit { to }, at);
        }
    }

    fn statement(&mut self, statement: &Statement, to: Option<u16>) {
        use StatementKind as S;
        let at = statement.at;
        match &statement.kind {
            S::Expression(expression) => match to {
                Some(to) => self.value_into(expression, to),
                None => self.effects_of(expression),
            },
            S::Block(statements) => self.block(statements, to, at),
            S::Let { name, value, constant } => {
                let register = self.register(at);
                self.value_into(value, register);
                let kind = self.kind_of(value);
                self.free_name(name, at);
                self.declare(name, register, *constant, at);
                self.holds(kind);
                self.unit(to, at);
            }
            S::Assign { target, operator, value } => {
                self.assign(target, operator.as_ref(), value, at);
                self.unit(to, at);
            }
            S::If { condition, body, otherwise } => self.choose(condition, body, otherwise, to, at),
            S::Switch { value, arms } => self.switch(value, arms, to, at),
            S::While { condition, body } => self.repeat(condition.as_ref(), body, to, at),
            S::Do { condition, wanted, body } => {
                self.repeat_until(condition, *wanted, body, to, at)
            }
            S::For { name, counter, over, body } => {
                self.scoped(|this| this.each(name, counter.as_deref(), over, body, to, at));
            }
            S::Break(value) => self.leave_loop(value.as_ref(), at),
            S::Continue => self.next_round(at),
            S::Return(value) => {
                self.scoped(|this| {
                    let from = this.value_or_unit(value.as_ref(), at);
                    this.end_tries(0, at);
                    this.emit(IrOp::Return { from }, at);
                });
            }
            S::Throw(value) => self.throw(value.as_ref(), at),
            S::Try { body, name, rescue } => self.try_catch(body, name.as_deref(), rescue, to, at),
            S::Import { .. } => self.complain(at, "an import stands outside of functions"),
            S::Refused(words) => self.complain(at, words.clone()),
        }
    }

    fn value_or_unit(&mut self, value: Option<&Expression>, at: SourcePoint) -> u16 {
        let to = self.register(at);
        match value {
            Some(value) => self.value_into(value, to),
            None => self.unit(Some(to), at),
        }
        to
    }

    fn throw(&mut self, value: Option<&Expression>, at: SourcePoint) {
        if let (None, Some(error)) = (value, self.body.caught.last()) {
            let error = *error;
            self.emit(IrOp::Rethrow { error }, at);
            return;
        }
        self.scoped(|this| {
            let from = this.value_or_unit(value, at);
            this.emit(IrOp::Throw { from }, at);
        });
    }

    fn try_catch(
        &mut self,
        body: &[Statement],
        name: Option<&str>,
        rescue: &[Statement],
        to: Option<u16>,
        at: SourcePoint,
    ) {
        self.scoped(|this| {
            let error = this.row(2, at);
            let catch = this.emit(IrOp::Try { target: 0, error }, at);
            this.body.tries += 1;
            this.block(body, to, at);
            this.body.tries -= 1;
            this.emit(IrOp::EndTry, at);
            let done = this.jump(IrOp::Jump { target: 0 }, at);
            this.bind(&[catch], at);
            if let Some(name) = name {
                this.free_name(name, at);
                this.declare(name, error, false, at);
            }
            this.body.caught.push(error + 1);
            this.block(rescue, None, at);
            this.body.caught.pop();
            this.unit(to, at);
            this.bind(&[done], at);
        });
    }

    /// Leaves `try` blocks, down to so many.
    pub(super) fn end_tries(&mut self, left: u32, at: SourcePoint) {
        for _ in left..self.body.tries {
            self.emit(IrOp::EndTry, at);
        }
    }

    fn leave_loop(&mut self, value: Option<&Expression>, at: SourcePoint) {
        let Some(inner) = self.body.loops.last() else {
            return self.complain(at, "break stands inside of a loop");
        };
        let (to, tries) = (inner.to, inner.tries);
        match (to, value) {
            (Some(to), Some(value)) => {
                // The value may name variables that share the register.
                self.scoped(|this| {
                    let from = this.register(at);
                    this.value_into(value, from);
                    this.emit(IrOp::Move { to, from }, at);
                });
            }
            (None, Some(value)) => self.effects_of(value),
            (to, None) => self.unit(to, at),
        }
        self.end_tries(tries, at);
        let jump = self.jump(IrOp::Jump { target: 0 }, at);
        if let Some(inner) = self.body.loops.last_mut() {
            inner.breaks.push(jump);
        }
    }

    fn next_round(&mut self, at: SourcePoint) {
        let Some(tries) = self.body.loops.last().map(|inner| inner.tries) else {
            return self.complain(at, "continue stands inside of a loop");
        };
        self.end_tries(tries, at);
        let jump = self.jump(IrOp::Jump { target: 0 }, at);
        if let Some(inner) = self.body.loops.last_mut() {
            inner.continues.push(jump);
        }
    }
}
