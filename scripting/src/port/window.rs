//! How many registers a function of a port needs with all that it calls, so that they are there before.

use alloc::{collections::BTreeMap, vec::Vec};

use crate::{
    ir::{IrFunction, IrOp, ScriptProgram},
    limits::CALL_DEPTH_MAX,
};

/// Returns how many registers each function needs with all that it calls.
pub(super) fn windows(program: &ScriptProgram) -> Vec<usize> {
    let ops = program.functions.iter().flat_map(|function| &function.code);
    let closures = ops.filter_map(|op| match op {
        IrOp::Closure { function, .. } => Some(*function),
        _ => None,
    });
    let mut search = WindowSearch { program, closures: closures.collect(), known: BTreeMap::new() };
    let functions = 0..u16::try_from(program.functions.len()).unwrap_or(u16::MAX);
    functions.map(|function| search.window(function, CALL_DEPTH_MAX)).collect()
}

struct WindowSearch<'p> {
    program: &'p ScriptProgram,
    closures: Vec<u16>,
    /// What is known, by the function and by how many may be under way from it on.
    known: BTreeMap<(u16, usize), usize>,
}

impl WindowSearch<'_> {
    fn window(&mut self, function: u16, depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        if let Some(window) = self.known.get(&(function, depth)) {
            return *window;
        }
        let program = self.program;
        let IrFunction { registers, code, .. } = &program.functions[usize::from(function)];
        let mut window = usize::from(*registers);
        for op in code {
            let called = match op {
                IrOp::Call { function, first } => {
                    usize::from(*first) + self.window(*function, depth - 1)
                }
                IrOp::CallValue { first, count, .. } => {
                    let takes = |function: &u16| {
                        program.functions[usize::from(*function)].parameters == *count
                    };
                    let closures: Vec<u16> = self.closures.iter().copied().filter(takes).collect();
                    let windows = closures.iter().map(|closure| self.window(*closure, depth - 1));
                    usize::from(*first) + windows.max().unwrap_or(0)
                }
                _ => 0,
            };
            window = window.max(called);
        }
        self.known.insert((function, depth), window);
        window
    }
}
