//! Walks over the structure of a port as the Rust of it does, so that any program can be tried as a port
//! without a compiler.

use alloc::{boxed::Box, vec::Vec};

use crate::{
    exec::{
        CallMachine, CallOutcome, Datum, Located, copy, int, is, is_unit, is_within, iterate, next,
        rethrown, shift, state, taken, truth, unary, unit,
    },
    ir::{BinaryOp, IrFunction, IrOp},
    port::structure::{PortShape, PortStep, target},
};

/// How a function goes on.
enum Walked {
    On,
    /// It jumps to this place.
    To(usize),
    Done(Datum),
    Failed(Box<crate::exec::CallFault>),
}

/// Runs a function by its structure.
pub(super) fn walk(
    function: &IrFunction,
    shape: &PortShape,
    m: &mut CallMachine<'_>,
    r: &mut [Datum],
) -> CallOutcome<Datum> {
    let steps = &shape.steps[..];
    // What is under way: where it begins among the steps.
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    loop {
        let walked = match steps[at] {
            PortStep::Block(_) | PortStep::Loop(_) => {
                open.push(at);
                Walked::On
            }
            PortStep::End => {
                let begun = open.pop().expect("it began");
                if matches!(steps[begun], PortStep::Loop(_)) {
                    at = begun;
                    continue;
                }
                Walked::On
            }
            PortStep::Leave(start) => {
                let begun = open.pop().expect("it began");
                assert_eq!(steps[begun], PortStep::Loop(start));
                at = end_of(steps, begun);
                Walked::On
            }
            PortStep::Op(place) => match operate(function, place, m, r) {
                Ok(walked) => walked,
                Err(fault) => Walked::Failed(fault),
            },
        };
        let (target, from) = match walked {
            Walked::On => {
                at += 1;
                continue;
            }
            Walked::Done(value) => return Ok(value),
            Walked::To(target) => {
                let PortStep::Op(place) = steps[at] else { unreachable!("only operations jump") };
                if target == place + 1 {
                    at += 1;
                    continue;
                }
                (target, place)
            }
            Walked::Failed(fault) => {
                let PortStep::Op(place) = steps[at] else { unreachable!("only operations fail") };
                let Some(catch) = shape.catch(place) else { return Err(fault) };
                m.caught(r, fault, catch.error)?;
                (catch.target, place)
            }
        };
        // As `break` and `continue` do, out of what is under way alone.
        let label = if target > from { PortStep::Block(target) } else { PortStep::Loop(target) };
        loop {
            let begun = *open.last().expect("a jump leads to something that is under way");
            if steps[begun] == label {
                break;
            }
            open.pop();
        }
        let begun = open.pop().expect("it was found");
        at = if target > from { end_of(steps, begun) + 1 } else { begun };
    }
}

/// Returns where that ends which begins here.
fn end_of(steps: &[PortStep], begun: usize) -> usize {
    let mut depth = 0_usize;
    for (at, step) in steps.iter().enumerate().skip(begun) {
        match step {
            PortStep::Block(_) | PortStep::Loop(_) => depth += 1,
            PortStep::End => depth -= 1,
            PortStep::Op(_) | PortStep::Leave(_) => {}
        }
        if depth == 0 {
            return at;
        }
    }
    unreachable!("what begins ends")
}

#[expect(clippy::too_many_lines, reason = "one arm for each operation")]
fn operate(
    function: &IrFunction,
    place: usize,
    m: &mut CallMachine<'_>,
    r: &mut [Datum],
) -> CallOutcome<Walked> {
    let here = function.places[place];
    let op = u16::try_from(place).expect("functions are short");
    let sign = function.signs.binary_search_by_key(&op, |(op, _)| *op);
    let sign = sign.map_or(here, |found| function.signs[found].1);
    let op = function.code[place];
    let jumps = target(&op).unwrap_or_default();
    let to = |jumped: bool| if jumped { Walked::To(jumps) } else { Walked::On };
    let done = match op {
        IrOp::Charge(price) => m.pay(price.into()),
        IrOp::Constant { to, constant } => {
            m.constant(r, to, constant);
            Ok(())
        }
        IrOp::Int { to, value } => {
            int(r, to, value.into());
            Ok(())
        }
        IrOp::Unit { to } => {
            unit(r, to);
            Ok(())
        }
        IrOp::Bool { to, value } => {
            truth(r, to, value);
            Ok(())
        }
        IrOp::Own { to } => {
            m.own(r, to);
            Ok(())
        }
        IrOp::State { to } => {
            state(r, to);
            Ok(())
        }
        IrOp::Copy { to, from } => {
            copy(r, to, from);
            Ok(())
        }
        IrOp::Move { to, from } => {
            shift(r, to, from);
            Ok(())
        }
        IrOp::Add { to, a, b } => m.add(r, to, a, b),
        IrOp::Sub { to, a, b } => m.sub(r, to, a, b),
        IrOp::Mul { to, a, b } => m.mul(r, to, a, b),
        IrOp::Less { to, a, b } => m.operator(r, BinaryOp::Less, to, (a, b)),
        IrOp::Binary { op, to, a, b } => m.operator(r, op, to, (a, b)),
        IrOp::Unary { op, to, a } => unary(r, op, to, a),
        IrOp::Jump { .. } => return Ok(to(true)),
        IrOp::JumpIf { condition, wanted, .. } => {
            return is(r, condition, wanted).at_either(here, sign).map(to);
        }
        IrOp::JumpUnlessLess { a, b, .. } => {
            return m.is_less(r, a, b).at_either(here, sign).map(|less| to(!less));
        }
        IrOp::JumpIfUnit { value, wanted, .. } => return Ok(to(is_unit(r, value) == wanted)),
        IrOp::JumpUnlessCase { value, constant, .. } => {
            return Ok(to(!m.is_case(r, value, constant)));
        }
        IrOp::JumpUnlessWithin { value, first, .. } => return Ok(to(!is_within(r, value, first))),
        IrOp::Next { state, to: element, .. } => return Ok(to(!next(r, state, element))),
        IrOp::Array { to, first, count } => m.array_of(r, to, first, count),
        IrOp::Map { to, first, shape } => m.map_of(r, to, first, shape),
        IrOp::Text { to, first, count } => m.text_of(r, to, first, count),
        IrOp::Closure { to, first, function } => m.closure_of(r, to, first, function),
        IrOp::Get { to, of, name } => m.read(r, to, of, name),
        IrOp::Index { to, of, index } => m.element(r, to, of, index),
        IrOp::Store { root, path, value } => m.write(r, (root, path), value, here),
        IrOp::Change { op, root, path, value } => m.adjust(r, op, (root, path), value, here),
        IrOp::Method { root, path, call, first } => m.alter(r, (root, path), (call, first), here),
        IrOp::Call { function, first } => {
            return m.call_own(r, function, first, here).map(|()| Walked::On);
        }
        IrOp::CallValue { callee, first, count } => {
            return m.call_value(r, callee, (first, count), here).map(|()| Walked::On);
        }
        IrOp::Host { call, first } => m.world(r, call, first),
        IrOp::Iterate { state, from } => iterate(r, state, from),
        IrOp::Return { from } => return Ok(Walked::Done(taken(r, from))),
        IrOp::Try { .. } | IrOp::EndTry => Ok(()),
        IrOp::Throw { from } => return Err(m.throw(r, from, here)),
        IrOp::Rethrow { error } => return Err(rethrown(r, error)),
    };
    done.at_either(here, sign).map(|()| Walked::On)
}
