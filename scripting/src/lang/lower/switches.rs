//! `switch`: its cases are tried in the order of the source.

use alloc::{vec, vec::Vec};

use super::Lowering;
use crate::{
    ir::IrOp,
    lang::tree::{CasePattern, Expression, LiteralValue, SourcePoint, SwitchArm},
};

impl Lowering {
    pub(super) fn switch(
        &mut self,
        value: &Expression,
        arms: &[SwitchArm],
        to: Option<u16>,
        at: SourcePoint,
    ) {
        self.scoped(|this| {
            let register = this.register(at);
            this.value_into(value, register);
            let mut done = Vec::new();
            let mut has_default = false;
            for arm in arms {
                has_default |= arm.patterns.is_empty();
                let mut others = this.cases(register, &arm.patterns, at);
                if let Some(condition) = &arm.condition {
                    others.extend(this.jump_unless(condition));
                }
                match to {
                    Some(to) => this.value_into(&arm.body, to),
                    None => this.effects_of(&arm.body),
                }
                done.push(this.jump(IrOp::Jump { target: 0 }, at));
                this.bind(&others, at);
            }
            if !has_default {
                this.unit(to, at);
            }
            this.bind(&done, at);
        });
    }

    /// Goes on behind this if one of the cases fits; returns the jumps for where none does.
    fn cases(&mut self, value: u16, patterns: &[CasePattern], at: SourcePoint) -> Vec<usize> {
        let mut others = Vec::new();
        let mut found = Vec::new();
        for (index, pattern) in patterns.iter().enumerate() {
            others = self.case(value, pattern, at);
            if index + 1 < patterns.len() {
                found.push(self.jump(IrOp::Jump { target: 0 }, at));
                self.bind(&others, at);
            }
        }
        self.bind(&found, at);
        others
    }

    fn case(&mut self, value: u16, pattern: &CasePattern, at: SourcePoint) -> Vec<usize> {
        match pattern {
            CasePattern::Value(literal) => {
                let constant = self.tables.literal(&mut self.program, literal);
                let constant = self.known(constant, at);
                vec![self.jump(IrOp::JumpUnlessCase { value, constant, target: 0 }, at)]
            }
            CasePattern::Range { start, end, inclusive } => {
                let last = if *inclusive { Some(*end) } else { end.checked_sub(1) };
                // A range that ends before the least number holds none.
                let (start, last) = last.map_or((0, -1), |last| (*start, last));
                let mark = self.mark();
                let first = self.row(2, at);
                self.literal_into(&LiteralValue::Int(start), first, at);
                self.literal_into(&LiteralValue::Int(last), first + 1, at);
                self.free_to(mark);
                vec![self.jump(IrOp::JumpUnlessWithin { value, first, target: 0 }, at)]
            }
        }
    }
}
