//! The way from jumps to blocks: Rust has no jump, so each target of one becomes the end of a labelled block,
//! or the beginning of a labelled loop.
//!
//! A jump forward from `i` to `t` leaves a block that begins at `i` or before and ends at `t`. A jump back from
//! `i` to `t` goes on with a loop that begins at `t` and ends behind `i`. Two of them may overlap only if one
//! is inside the other, so that blocks begin earlier and loops end later until that is so.

use alloc::{collections::BTreeMap, vec, vec::Vec};

use crate::ir::{IrFunction, IrOp};

/// The `try` block around an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CatchPlace {
    /// Where faults go on.
    pub(super) target: usize,
    /// The first of the two registers for the error.
    pub(super) error: u16,
}

/// One step of a function without jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PortStep {
    /// A block begins that jumps to this place leave.
    Block(usize),
    /// A loop begins that jumps back to this place go on with.
    Loop(usize),
    /// An operation stands here, by its place in the code.
    Op(usize),
    /// The loop that began last is left if nothing went on with it.
    Leave(usize),
    /// What began last ends.
    End,
}

/// A function without jumps.
#[derive(Debug)]
pub(super) struct PortShape {
    pub(super) steps: Vec<PortStep>,
    /// The `try` blocks around each operation, the innermost last; none for one that is never reached.
    catches: Vec<Option<Vec<CatchPlace>>>,
}

/// Jumps into the middle of a loop, which no source has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tangled {
    /// The operation that a jump leads to.
    pub(super) target: usize,
}

/// What begins and ends somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PortSpan {
    start: usize,
    end: usize,
    repeats: bool,
}

impl PortShape {
    pub(super) fn of(function: &IrFunction) -> Result<Self, Tangled> {
        let code = &function.code[..];
        let catches = reached(code)?;
        let spans = nested(spans(code, &catches))?;
        let steps = steps(code, &catches, &spans);
        Ok(Self { steps, catches })
    }

    /// Returns the `try` block to which faults of an operation go.
    pub(super) fn catch(&self, op: usize) -> Option<CatchPlace> {
        self.catches[op].as_ref()?.last().copied()
    }
}

/// Returns where an operation may jump to.
pub(super) fn target(op: &IrOp) -> Option<usize> {
    match op {
        IrOp::Jump { target }
        | IrOp::JumpIf { target, .. }
        | IrOp::JumpUnlessLess { target, .. }
        | IrOp::JumpIfUnit { target, .. }
        | IrOp::JumpUnlessCase { target, .. }
        | IrOp::JumpUnlessWithin { target, .. }
        | IrOp::Next { target, .. } => Some(usize::from(*target)),
        _ => None,
    }
}

/// Returns whether the operation behind this one may follow it.
const fn goes_on(op: &IrOp) -> bool {
    !matches!(
        op,
        IrOp::Jump { .. } | IrOp::Return { .. } | IrOp::Throw { .. } | IrOp::Rethrow { .. }
    )
}

/// Returns whether the operation can fail.
const fn fails(op: &IrOp) -> bool {
    !matches!(
        op,
        IrOp::Constant { .. }
            | IrOp::Int { .. }
            | IrOp::Unit { .. }
            | IrOp::Bool { .. }
            | IrOp::Own { .. }
            | IrOp::State { .. }
            | IrOp::Copy { .. }
            | IrOp::Move { .. }
            | IrOp::Jump { .. }
            | IrOp::JumpIfUnit { .. }
            | IrOp::JumpUnlessCase { .. }
            | IrOp::JumpUnlessWithin { .. }
            | IrOp::Next { .. }
            | IrOp::Return { .. }
            | IrOp::Try { .. }
            | IrOp::EndTry
    )
}

/// Returns the `try` blocks around each operation that can be reached.
fn reached(code: &[IrOp]) -> Result<Vec<Option<Vec<CatchPlace>>>, Tangled> {
    let mut catches: Vec<Option<Vec<CatchPlace>>> = vec![None; code.len()];
    let mut open = vec![(0, Vec::new())];
    while let Some((place, around)) = open.pop() {
        if let Some(known) = &catches[place] {
            if *known != around {
                return Err(Tangled { target: place });
            }
            continue;
        }
        catches[place] = Some(around.clone());
        let op = &code[place];
        if let (true, Some((catch, outer))) = (fails(op), around.split_last()) {
            open.push((catch.target, outer.to_vec()));
        }
        open.extend(target(op).map(|target| (target, around.clone())));
        if goes_on(op) {
            let mut around = around;
            match op {
                IrOp::Try { target, error } => {
                    around.push(CatchPlace { target: usize::from(*target), error: *error });
                }
                IrOp::EndTry => {
                    around.pop();
                }
                _ => {}
            }
            open.push((place + 1, around));
        }
    }
    Ok(catches)
}

/// Returns a block for each target of a jump forward, and a loop for each of one back.
fn spans(code: &[IrOp], catches: &[Option<Vec<CatchPlace>>]) -> Vec<PortSpan> {
    let (mut blocks, mut loops) = (BTreeMap::new(), BTreeMap::new());
    for (place, around) in catches.iter().enumerate() {
        let Some(around) = around else { continue };
        let op = &code[place];
        let catch = around.last().filter(|_| fails(op)).map(|catch| catch.target);
        let jump = target(op).filter(|target| *target != place + 1);
        for target in jump.into_iter().chain(catch) {
            if target > place {
                let start = blocks.entry(target).or_insert(place);
                *start = place.min(*start);
            } else {
                let end = loops.entry(target).or_insert(place + 1);
                *end = (place + 1).max(*end);
            }
        }
    }
    let blocks = blocks.into_iter().map(|(end, start)| PortSpan { start, end, repeats: false });
    let loops = loops.into_iter().map(|(start, end)| PortSpan { start, end, repeats: true });
    loops.chain(blocks).collect()
}

/// Lets loops end later and blocks begin earlier until of any two that overlap one is inside the other.
fn nested(mut spans: Vec<PortSpan>) -> Result<Vec<PortSpan>, Tangled> {
    loop {
        let mut changed = false;
        for first in 0..spans.len() {
            for second in 0..spans.len() {
                let (a, b) = (spans[first], spans[second]);
                if !(a.start < b.start && b.start < a.end && a.end < b.end) {
                    continue;
                }
                match (a.repeats, b.repeats) {
                    (_, false) => spans[second].start = a.start,
                    (true, true) => spans[first].end = b.end,
                    (false, true) => return Err(Tangled { target: a.end }),
                }
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    // What is outside comes first; of a block and a loop with the same ends the block is outside.
    spans.sort_by_key(|span| (span.start, usize::MAX - span.end, span.repeats));
    Ok(spans)
}

#[expect(clippy::needless_range_loop, reason = "blocks may end behind the last operation")]
fn steps(code: &[IrOp], catches: &[Option<Vec<CatchPlace>>], spans: &[PortSpan]) -> Vec<PortStep> {
    let mut steps = Vec::new();
    let mut under_way: Vec<PortSpan> = Vec::new();
    let mut opening = spans.iter().peekable();
    let mut live = true;
    for place in 0..=code.len() {
        while let Some(span) = under_way.pop_if(|span| span.end == place) {
            if span.repeats && live {
                steps.push(PortStep::Leave(span.start));
            }
            live |= !span.repeats;
            steps.push(PortStep::End);
        }
        while let Some(span) = opening.next_if(|span| span.start == place) {
            let step = if span.repeats { PortStep::Loop } else { PortStep::Block };
            steps.push(step(if span.repeats { span.start } else { span.end }));
            under_way.push(*span);
        }
        if catches.get(place).is_some_and(Option::is_some) {
            assert!(live, "what is reached follows something, or a jump leads to it");
            steps.push(PortStep::Op(place));
            live = goes_on(&code[place])
                || matches!(code[place], IrOp::Jump { target } if usize::from(target) == place + 1);
        }
    }
    steps
}
