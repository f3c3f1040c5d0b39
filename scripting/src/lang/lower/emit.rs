//! The function under way: its registers, names, and operations.

use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

use super::{
    Lowering,
    deeds::{NamedDeed, deeds_in},
};
use crate::{
    host::ValueKind,
    ir::{IrFunction, IrOp},
    lang::tree::{SourcePoint, Statement},
    limits::{REGISTERS_MAX, VARIABLES_MAX},
};

/// A function as far as it is lowered.
#[derive(Debug, Default)]
pub(super) struct FunctionBody {
    code: Vec<IrOp>,
    places: Vec<SourcePoint>,
    signs: Vec<(u16, SourcePoint)>,
    /// The first register that is free.
    top: u16,
    /// Most registers that were in use at one time.
    most: u16,
    variables: Vec<LocalVariable>,
    /// Names of variables that something else is assigned to somewhere.
    assigned: BTreeSet<String>,
    pub(super) loops: Vec<LoopUnderWay>,
    /// `try` blocks around the current place.
    pub(super) tries: u32,
    /// Registers of the whole errors that the `catch` blocks around the current place caught.
    pub(super) caught: Vec<u16>,
}

/// A variable that can be named at the current place.
#[derive(Clone, Debug)]
pub(super) struct LocalVariable {
    name: String,
    pub(super) register: u16,
    pub(super) constant: bool,
    /// What it holds, if that is sure.
    pub(super) kind: Option<ValueKind>,
}

/// A loop around the current place.
#[derive(Debug)]
pub(super) struct LoopUnderWay {
    /// Where its value goes.
    pub(super) to: Option<u16>,
    /// Jumps out of it.
    pub(super) breaks: Vec<usize>,
    /// Jumps to its next round.
    pub(super) continues: Vec<usize>,
    /// `try` blocks around it.
    pub(super) tries: u32,
}

impl FunctionBody {
    pub(super) fn into_function(mut self, name: String, at: SourcePoint) -> IrFunction {
        self.code.shrink_to_fit();
        self.places.shrink_to_fit();
        self.signs.shrink_to_fit();
        let Self { code, places, signs, most: registers, .. } = self;
        IrFunction { name, parameters: 0, captures: 0, registers, at, code, places, signs }
    }
}

impl Lowering {
    pub(super) fn take_body(&mut self) -> FunctionBody {
        core::mem::take(&mut self.body)
    }

    /// Takes the next free register.
    pub(super) fn register(&mut self, at: SourcePoint) -> u16 {
        self.row(1, at)
    }

    /// Takes registers in a row, and returns the first.
    pub(super) fn row(&mut self, count: usize, at: SourcePoint) -> u16 {
        let first = self.body.top;
        let end = usize::from(first) + count;
        if end > REGISTERS_MAX && !self.in_constant {
            let words = format!(
                "this needs more than {REGISTERS_MAX} values at once (REGISTERS_MAX): split it"
            );
            self.complain(at, words);
            return first;
        }
        self.body.top = self.known(u16::try_from(end).ok(), at);
        self.body.most = self.body.most.max(self.body.top);
        first
    }

    /// The first free register: whoever gives it back frees all that were taken since.
    pub(super) const fn mark(&self) -> u16 {
        self.body.top
    }

    pub(super) const fn free_to(&mut self, mark: u16) {
        self.body.top = mark;
    }

    /// The last register that is in use, where nothing lies behind it.
    pub(super) const fn is_last(&self, register: u16) -> bool {
        register + 1 == self.body.top
    }

    pub(super) fn declare(&mut self, name: &str, register: u16, constant: bool, at: SourcePoint) {
        if self.body.variables.len() == VARIABLES_MAX && !self.in_constant {
            let words = format!(
                "more than {VARIABLES_MAX} variables at one place (VARIABLES_MAX): split this"
            );
            self.complain(at, words);
        }
        let name = name.into();
        self.body.variables.push(LocalVariable { name, register, constant, kind: None });
    }

    /// Notes the variables of a body that do not keep the kind which they have at first.
    pub(super) fn note_assigned(&mut self, body: &[Statement]) {
        deeds_in(body, &mut |deed| {
            if let NamedDeed::Assigned(name) = deed {
                self.body.assigned.insert(name.clone());
            }
        });
    }

    /// Notes what the variable that was declared last holds, unless that changes.
    pub(super) fn holds(&mut self, kind: Option<ValueKind>) {
        if let Some(variable) = self.body.variables.last_mut()
            && !self.body.assigned.contains(&variable.name)
        {
            variable.kind = kind;
        }
    }

    pub(super) fn local(&self, name: &str) -> Option<&LocalVariable> {
        self.body.variables.iter().rev().find(|variable| variable.name == name)
    }

    pub(super) fn local_names(&self) -> impl Iterator<Item = &str> {
        self.body.variables.iter().map(|variable| variable.name.as_str())
    }

    /// Does something in a scope of its own: its variables and registers are gone afterwards.
    pub(super) fn scoped(&mut self, work: impl FnOnce(&mut Self)) {
        let (variables, mark) = (self.body.variables.len(), self.mark());
        work(self);
        self.body.variables.truncate(variables);
        self.free_to(mark);
    }

    pub(super) fn emit(&mut self, op: IrOp, at: SourcePoint) -> usize {
        self.body.code.push(op);
        self.body.places.push(at);
        self.body.code.len() - 1
    }

    /// Does what [`Lowering::emit`] does, for an operation whose bracket stands elsewhere.
    pub(super) fn emit_signed(&mut self, op: IrOp, at: SourcePoint, sign: SourcePoint) {
        let place = self.emit(op, at);
        if let (IrOp::Index { .. }, Ok(place)) = (op, u16::try_from(place)) {
            self.body.signs.push((place, sign));
        }
    }

    /// Begins a part of the code that is paid for at once.
    pub(super) fn leader(&mut self, at: SourcePoint) -> u16 {
        match (self.body.code.last(), self.body.places.last_mut()) {
            // One is enough, and the later place is the one that is under way.
            (Some(IrOp::Charge(_)), Some(place)) => *place = at,
            _ => {
                self.emit(IrOp::Charge(0.into()), at);
            }
        }
        // Too long a function is refused when it is whole.
        u16::try_from(self.body.code.len() - 1).unwrap_or(u16::MAX)
    }

    /// Emits a jump whose target is not known yet.
    pub(super) fn jump(&mut self, op: IrOp, at: SourcePoint) -> usize {
        let place = self.emit(op, at);
        if !matches!(op, IrOp::Jump { .. }) {
            self.leader(at);
        }
        place
    }

    /// Lets these jumps go on here.
    pub(super) fn bind(&mut self, jumps: &[usize], at: SourcePoint) {
        if jumps.is_empty() {
            return;
        }
        let here = self.leader(at);
        self.bind_to(jumps, here);
    }

    pub(super) fn bind_to(&mut self, jumps: &[usize], here: u16) {
        for place in jumps {
            let op = &mut self.body.code[*place];
            *op.target_mut().expect("only jumps go on elsewhere") = here;
        }
    }
}
