//! Blocks of a function: where each goes on, and which registers are read behind it.

use alloc::{collections::BTreeSet, vec, vec::Vec};

use super::{super::loaded::LoadedProgram, operands::OperandTable};
use crate::ir::{IrFunction, IrOp};

/// Blocks of operations that are entered at their first one alone.
pub(super) struct ControlFlow {
    /// The first operation of each block, and the one behind its last.
    pub(super) blocks: Vec<(usize, usize)>,
    next: Vec<[Option<usize>; 2]>,
    /// Which registers somebody may read behind each block.
    live_out: Vec<Vec<bool>>,
    /// Which registers somebody may read at the beginning.
    live_at_entry: Vec<bool>,
}

impl ControlFlow {
    pub(super) fn new(
        loaded: &LoadedProgram,
        functions: &[IrFunction],
        function: &IrFunction,
    ) -> Self {
        let code = &function.code[..];
        let target = |op: &IrOp| op.target().map(usize::from);
        let mut starts = BTreeSet::from([0]);
        for (place, op) in code.iter().enumerate() {
            starts.extend(target(op));
            if ends_block(op) {
                starts.insert(place + 1);
            }
        }
        starts.remove(&code.len());
        let starts: Vec<usize> = starts.into_iter().collect();
        let ends = starts.iter().skip(1).copied().chain([code.len()]);
        let blocks: Vec<_> = starts.iter().copied().zip(ends).collect();
        let block_at = |place: usize| starts.binary_search(&place).ok();
        let next = blocks.iter().map(|(_, end)| {
            let last = &code[end - 1];
            let goes_on = !matches!(
                last,
                IrOp::Jump { .. } | IrOp::Return { .. } | IrOp::Throw { .. } | IrOp::Rethrow { .. }
            );
            [target(last).and_then(block_at), goes_on.then(|| block_at(*end)).flatten()]
        });
        let next = next.collect();
        let live_out = vec![vec![false; usize::from(function.registers)]; blocks.len()];
        let mut flow = Self { blocks, next, live_out, live_at_entry: Vec::new() };
        flow.find_live(OperandTable { loaded, functions }, code);
        flow
    }

    /// Returns the blocks that may follow.
    pub(super) fn next_of(&self, block: usize) -> [Option<usize>; 2] {
        self.next[block]
    }

    /// Says whether somebody may read a register behind a block.
    pub(super) fn is_live_behind(&self, block: usize, register: u16) -> bool {
        self.live_out[block][usize::from(register)]
    }

    /// Says whether somebody may read what a register holds at the beginning.
    pub(super) fn is_live_at_entry(&self, register: usize) -> bool {
        self.live_at_entry[register]
    }

    fn find_live(&mut self, named: OperandTable<'_>, code: &[IrOp]) {
        let mut live_in = self.live_out.clone();
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for block in (0..self.blocks.len()).rev() {
                let mut live = vec![false; self.live_out[block].len()];
                for next in self.next[block].into_iter().flatten() {
                    live.iter_mut().zip(&live_in[next]).for_each(|(live, next)| *live |= next);
                }
                self.live_out[block].clone_from(&live);
                let (start, end) = self.blocks[block];
                for op in code[start..end].iter().rev() {
                    OperandTable::writes(op, &mut |register| live[usize::from(register)] = false);
                    named.reads(op, &mut |register| live[usize::from(register)] = true);
                }
                if live_in[block] != live {
                    live_in[block] = live;
                    is_changed = true;
                }
            }
        }
        self.live_at_entry = live_in.swap_remove(0);
    }
}

const fn ends_block(op: &IrOp) -> bool {
    op.target().is_some()
        || matches!(op, IrOp::Return { .. } | IrOp::Throw { .. } | IrOp::Rethrow { .. })
}
