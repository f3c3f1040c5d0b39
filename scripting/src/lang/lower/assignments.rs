//! Assignments to variables and to inner parts of them.

use alloc::{format, string::String};

use super::{Lowering, expressions::writes};
use crate::{
    ir::{BinaryOp, IrOp},
    lang::tree::{Expression, ExpressionKind, SourcePoint},
};

impl Lowering {
    pub(super) fn assign(
        &mut self,
        target: &Expression,
        operator: Option<&(String, SourcePoint)>,
        value: &Expression,
        at: SourcePoint,
    ) {
        let mark = self.mark();
        let op = operator.and_then(|(sign, at)| {
            let op = BinaryOp::ALL.into_iter().find(|op| op.sign() == sign);
            Some((op?, *at))
        });
        if let (None, Some((sign, at))) = (op, operator) {
            self.complain(*at, format!("the operator {sign}= is not part of the language"));
        }
        match &target.kind {
            ExpressionKind::Name(name) => self.assign_variable(name, op, value, target.at),
            ExpressionKind::Chain { root, links } => {
                // What an operator makes of the two shows only when it runs.
                self.judge_assignment(root, links, operator.is_none().then_some(value));
                let from = self.register(at);
                self.value_into(value, from);
                let (root, path) = self.place(root, links, target.at);
                match op {
                    Some((op, at)) => self.emit(IrOp::Change { op, root, path, value: from }, at),
                    None => self.emit(IrOp::Store { root, path, value: from }, links_end(links)),
                };
            }
            _ => self.complain(target.at, "this cannot be assigned to"),
        }
        self.free_to(mark);
    }

    fn assign_variable(
        &mut self,
        name: &str,
        op: Option<(BinaryOp, SourcePoint)>,
        value: &Expression,
        at: SourcePoint,
    ) {
        let Some(variable) = self.local(name) else {
            self.effects_of(value);
            return if self.is_global(name) {
                self.complain(at, format!("{name} cannot be assigned"));
            } else {
                self.unknown_variable(name, at);
            };
        };
        let to = variable.register;
        if variable.constant {
            self.complain(at, format!("{name} is a constant: it cannot be assigned"));
        }
        match op {
            Some((op, at)) => {
                let value = self.value(value);
                let path = self.path(alloc::vec![], at);
                self.emit(IrOp::Change { op, root: to, path, value }, at);
            }
            None if is_written_last(value) => self.value_into(value, to),
            None => {
                let from = self.register(at);
                self.value_into(value, from);
                self.emit(IrOp::Move { to, from }, at);
            }
        }
    }
}

fn links_end(links: &[crate::lang::tree::ChainLink]) -> SourcePoint {
    links.last().map_or_else(SourcePoint::default, |link| link.at)
}

/// Returns whether the code of this value writes its register only once everything in it is read.
fn is_written_last(value: &Expression) -> bool {
    match &value.kind {
        ExpressionKind::Literal(_) | ExpressionKind::Name(_) => true,
        ExpressionKind::Operator { arguments, .. } => !arguments.iter().any(writes),
        _ => false,
    }
}
