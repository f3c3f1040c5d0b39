//! Finds out which registers of a function hold numbers, truths, handles and vectors for sure, and has them
//! lie in slots: operations on slots ask for no kind, and free no memory.
//!
//! The proof says of each value whether it lies in its register or in its slots; the other place may
//! hold an older one. Where ways meet on which a value lies in different places, and something reads it,
//! it is pinned to the register. Operations that know registers alone get what they read put there first.
//! Constants, copies and parts of vectors are read where they lie until the end of their block.
//!
//! The code pays, fails and ends at the same places as that of the program: random programs and the
//! comparison with stock rhai hold it to that. Not translated are functions with `try`, which can be
//! left in the middle of a block, and those over the bounds below.

mod block;
mod flow;
mod kinds;
mod operands;
mod operations;
#[cfg(test)]
mod tests;

use alloc::{vec, vec::Vec};

use self::{
    block::BlockUnderWay,
    flow::ControlFlow,
    kinds::{RegisterKind, RegisterSlots, RegisterState, join},
};
use super::{
    loaded::LoadedProgram,
    loaded_op::{LoadedOp, join_pairs},
};
use crate::{
    host::ValueKind,
    ir::{IrFunction, IrOp},
};

/// Operations of a function that is translated. What the proof takes grows with operations times
/// registers, and a package is loaded within the 20 milliseconds of its publication.
const OPERATIONS_MAX: usize = 2_048;

/// Registers of a function that is translated.
const REGISTERS_MAX: usize = 160;

/// How often a block is looked at before a function stays as it is: a kind changes twice at most, and few
/// loops lie inside one another.
const VISITS_PER_BLOCK: usize = 6;

/// How often the proof begins again because a register has to be pinned.
const ATTEMPTS: usize = 3;

/// Code on slots.
pub(super) struct TypedCode {
    pub(super) code: Vec<LoadedOp>,
    /// Which operation of the program each one stands for.
    pub(super) origins: Vec<u16>,
    /// What the last slots hold from the beginning.
    pub(super) constants: Vec<i64>,
}

/// What a function is translated from, and what is known of it.
struct Translation<'a> {
    loaded: &'a LoadedProgram,
    functions: &'a [IrFunction],
    function: &'a IrFunction,
    flow: ControlFlow,
    slots: RegisterSlots,
    /// Registers whose value stays in them.
    pinned: Vec<bool>,
    /// Whether one was pinned since the proof began.
    has_conflict: bool,
}

/// Translates a function whose parameters are of these kinds; nothing if it stays as it is.
pub(super) fn translate(
    loaded: &LoadedProgram,
    functions: &[IrFunction],
    function: &IrFunction,
    parameters: &[ValueKind],
) -> Option<TypedCode> {
    let code = &function.code[..];
    let leaves_blocks =
        |op: &IrOp| matches!(op, IrOp::Try { .. } | IrOp::EndTry | IrOp::Rethrow { .. });
    let registers = usize::from(function.registers);
    // Ports have functions without operations.
    let fits = (1..=OPERATIONS_MAX).contains(&code.len()) && registers <= REGISTERS_MAX;
    if !fits || code.iter().any(leaves_blocks) {
        return None;
    }
    let flow = ControlFlow::new(loaded, functions, function);
    let (slots, pinned) = (RegisterSlots::new(registers), vec![false; registers]);
    let mut translation =
        Translation { loaded, functions, function, flow, slots, pinned, has_conflict: false };
    for _ in 0..ATTEMPTS {
        let entries = translation.kinds(parameters)?;
        if !translation.has_conflict {
            return translation.emitted(parameters, entries);
        }
        translation.has_conflict = false;
    }
    None
}

impl Translation<'_> {
    fn at_entry(&self, parameters: &[ValueKind]) -> Vec<RegisterState> {
        let mut states = vec![RegisterState::EMPTY; usize::from(self.function.registers)];
        let given = usize::from(self.function.parameters + self.function.captures);
        for (index, state) in states[..given].iter_mut().enumerate() {
            *state = RegisterState::of_anything();
            if let Some(kind) = parameters.get(index).and_then(|kind| kinds::slot_kind(*kind))
                && !self.pinned[index]
                && self.flow.is_live_at_entry(index)
            {
                *state = RegisterState::of_slot(kind);
            }
        }
        states
    }

    /// Returns what the registers hold where each block begins; nothing for a block that is never reached.
    fn kinds(&mut self, parameters: &[ValueKind]) -> Option<Vec<Option<Vec<RegisterState>>>> {
        let count = self.flow.blocks.len();
        let mut entries: Vec<Option<Vec<RegisterState>>> = vec![None; count];
        entries[0] = Some(self.at_entry(parameters));
        let mut waiting = vec![false; count];
        waiting[0] = true;
        let mut visits = VISITS_PER_BLOCK * count;
        let mut scratch = TypedCode { code: vec![], origins: vec![], constants: vec![] };
        while let Some(block) = waiting.iter().position(|waits| *waits) {
            visits = visits.checked_sub(1)?;
            waiting[block] = false;
            let states = entries[block].clone().expect("what waits was reached");
            scratch.code.clear();
            scratch.origins.clear();
            let left = self.block(block, states, &mut scratch)?;
            for next in self.flow.next_of(block).into_iter().flatten() {
                let joined = match &entries[next] {
                    Some(before) => join(before, &left),
                    None => left.clone(),
                };
                if entries[next].as_ref() != Some(&joined) {
                    entries[next] = Some(joined);
                    waiting[next] = true;
                }
            }
        }
        Some(entries)
    }

    /// Translates a block into `out`, and returns what the registers hold at its end; nothing if there are not
    /// enough slots.
    fn block(
        &mut self,
        block: usize,
        states: Vec<RegisterState>,
        out: &mut TypedCode,
    ) -> Option<Vec<RegisterState>> {
        let (start, end) = self.flow.blocks[block];
        let mut under_way = BlockUnderWay::new(self, states, out);
        for place in start..end {
            under_way.operation(block, place);
        }
        under_way.end(block, end);
        let states = under_way.into_states();
        (!self.slots.is_full()).then_some(states)
    }

    fn emitted(
        &mut self,
        parameters: &[ValueKind],
        entries: Vec<Option<Vec<RegisterState>>>,
    ) -> Option<TypedCode> {
        let mut out = TypedCode { code: vec![], origins: vec![], constants: vec![] };
        let states = self.at_entry(parameters);
        for (register, state) in states.iter().enumerate() {
            if let RegisterKind::Slots(kind) = state.kind {
                let register = u16::try_from(register).ok()?;
                let slots = self.slots.of(register, kind);
                out.code.push(kinds::fill(kind, slots, register));
                out.origins.push(0);
            }
        }
        if let Some(slot) = self.slots.known_own_object() {
            out.code.push(LoadedOp::OwnSlot { to: slot });
            out.origins.push(0);
        }
        let mut starts = vec![0; self.function.code.len()];
        for (block, states) in entries.into_iter().enumerate() {
            let (start, end) = self.flow.blocks[block];
            starts[start] = u16::try_from(out.code.len()).ok()?;
            if let Some(states) = states {
                self.block(block, states, &mut out)?;
                continue;
            }
            for place in start..end {
                out.code.push(LoadedOp::plain(self.function.code[place]));
                out.origins.push(u16::try_from(place).ok()?);
            }
        }
        for op in &mut out.code {
            if let Some(target) = op.target_mut() {
                *target = starts[usize::from(*target)];
            }
        }
        join_pairs(&mut out.code);
        out.constants = self.slots.constants();
        // What has nothing in slots is left sooner without them.
        let is_of_use = !self.slots.is_full() && !self.slots.are_none();
        u16::try_from(out.code.len()).ok().filter(|_| is_of_use).map(|_| out)
    }
}
