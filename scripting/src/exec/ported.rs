//! What a port to Rust is made of: each operation of a program as a function, so that Rust takes the place
//! of the loop over operations and of nothing else. A port pays, allocates, fails and names places as the
//! program does.

use alloc::{boxed::Box, sync::Arc, vec::Vec};

use super::{
    calls::{
        changed_fixed, is_case, next_element, no_condition, no_function, not_iterable, put_fixed,
        put_int, row,
    },
    datum::Datum,
    machine::CallMachine,
    meter::{CallFault, CallOutcome},
    operators,
    origins::OperationAtWork,
};
use crate::{
    ir::{BinaryOp, UnaryOp, WHOLE_VARIABLE},
    lang::SourcePoint,
};

/// A function of a port. Its registers are the first ones that it is given; behind them lie those of the
/// functions that it calls.
#[derive(Clone, Copy)]
pub(crate) struct PortedBody {
    /// The function itself.
    pub(crate) body: fn(&mut CallMachine<'_>, &mut [Datum]) -> CallOutcome<Datum>,
    /// How many registers it needs with all that it calls.
    pub(crate) window: usize,
}

impl core::fmt::Debug for PortedBody {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PortedBody").field("window", &self.window).finish_non_exhaustive()
    }
}

/// Returns a place of the source.
pub(crate) const fn at(line: u32, column: u32) -> SourcePoint {
    SourcePoint { line, column }
}

/// An outcome that learns where it was.
pub(crate) trait Located: Sized {
    /// Says where a fault was, unless that is known.
    fn at(self, line: u32, column: u32) -> Self {
        self.at_either(at(line, column), at(line, column))
    }

    /// Says where a fault was: at the operation, or at its bracket if it is about what stands before that.
    fn at_either(self, place: SourcePoint, sign: SourcePoint) -> Self;
}

impl<T> Located for CallOutcome<T> {
    #[inline]
    fn at_either(self, place: SourcePoint, sign: SourcePoint) -> Self {
        self.map_err(|fault| located(fault, place, sign))
    }
}

#[cold]
fn located(mut fault: Box<CallFault>, place: SourcePoint, sign: SourcePoint) -> Box<CallFault> {
    if fault.at == SourcePoint::default() {
        fault.at = if fault.at_sign { sign } else { place };
    }
    // A closure that was called back does not know by what.
    if let Some((_, called)) = fault.trace.last_mut()
        && *called == SourcePoint::default()
    {
        *called = place;
    }
    fault
}

fn of(register: u16) -> usize {
    usize::from(register)
}

/// Puts a small whole number into a register.
pub(crate) fn int(r: &mut [Datum], to: u16, value: i32) {
    r[of(to)] = Datum::Int(value.into());
}

/// Puts `()` into a register.
pub(crate) fn unit(r: &mut [Datum], to: u16) {
    r[of(to)] = Datum::Unit;
}

/// Puts true or false into a register.
pub(crate) fn truth(r: &mut [Datum], to: u16, value: bool) {
    r[of(to)] = Datum::Bool(value);
}

/// Puts the script's state itself into a register.
pub(crate) fn state(r: &mut [Datum], to: u16) {
    r[of(to)] = Datum::State;
}

/// Copies a variable.
#[inline]
pub(crate) fn copy(r: &mut [Datum], to: u16, from: u16) {
    match &r[of(from)] {
        Datum::Fixed(value) => {
            let value = *value;
            put_fixed(&mut r[of(to)], value);
        }
        Datum::Int(value) => {
            let value = *value;
            put_int(&mut r[of(to)], value);
        }
        value => r[of(to)] = value.clone(),
    }
}

/// Moves a value that nobody needs any more.
#[inline]
pub(crate) fn shift(r: &mut [Datum], to: u16, from: u16) {
    r[of(to)] = taken(r, from);
}

/// Takes a value out of a register.
#[inline]
pub(crate) fn taken(r: &mut [Datum], from: u16) -> Datum {
    core::mem::take(&mut r[of(from)])
}

/// Says whether a condition, which must be true or false, is this.
#[inline]
pub(crate) fn is(r: &[Datum], condition: u16, wanted: bool) -> CallOutcome<bool> {
    match &r[of(condition)] {
        Datum::Bool(value) => Ok(*value == wanted),
        other => Err(no_condition(other)),
    }
}

/// Says whether a value is `()`.
#[inline]
pub(crate) fn is_unit(r: &[Datum], value: u16) -> bool {
    matches!(r[of(value)], Datum::Unit)
}

/// Says whether a value is an int from `first` up to the int in the next register.
#[inline]
pub(crate) fn is_within(r: &[Datum], value: u16, first: u16) -> bool {
    match (&r[of(value)], &r[of(first)..]) {
        (Datum::Int(value), [Datum::Int(start), Datum::Int(last), ..]) => {
            start <= value && value <= last
        }
        _ => false,
    }
}

/// Puts the result of an operator on one value into a register.
#[inline]
pub(crate) fn unary(r: &mut [Datum], op: UnaryOp, to: u16, a: u16) -> CallOutcome<()> {
    r[of(to)] = CallMachine::unary(op, &r[of(a)])?;
    Ok(())
}

/// Begins to take the elements of an array or range; two registers hold how far it is.
pub(crate) fn iterate(r: &mut [Datum], state: u16, from: u16) -> CallOutcome<()> {
    let over = taken(r, from);
    if !matches!(over, Datum::Array(_) | Datum::Range(..) | Datum::RangeTo(..)) {
        return Err(not_iterable(&over));
    }
    r[of(state)] = over;
    r[of(state) + 1] = Datum::Int(0);
    Ok(())
}

/// Takes the next element, and says whether there was one.
#[inline]
pub(crate) fn next(r: &mut [Datum], state: u16, to: u16) -> bool {
    match next_element(&mut r[of(state)..of(state) + 2]) {
        Some(element) => {
            r[of(to)] = element;
            true
        }
        None => false,
    }
}

/// Returns the whole error that a `catch` block keeps.
pub(crate) fn rethrown(r: &[Datum], error: u16) -> Box<CallFault> {
    match &r[of(error)] {
        Datum::Fault(fault) => Box::new(CallFault::clone(fault)),
        _ => unreachable!("a catch block keeps its error"),
    }
}

/// Defines an operator of numbers of one kind, which is done at once.
macro_rules! operator {
    ($name:ident, $op:ident, $checked:ident, $sign:literal, $words:literal) => {
        #[doc = $words]
        #[inline]
        pub(crate) fn $name(
            &mut self,
            r: &mut [Datum],
            to: u16,
            a: u16,
            b: u16,
        ) -> CallOutcome<()> {
            match (&r[of(a)], &r[of(b)]) {
                (Datum::Fixed(a), Datum::Fixed(b)) => match a.$checked(*b) {
                    Some(result) => put_fixed(&mut r[of(to)], result),
                    None => return Err(operators::out_of_range($sign)),
                },
                (Datum::Int(a), Datum::Int(b)) => match a.$checked(*b) {
                    Some(result) => put_int(&mut r[of(to)], result),
                    None => return Err(operators::out_of_range($sign)),
                },
                (a, b) => r[of(to)] = self.binary(BinaryOp::$op, a, b)?,
            }
            Ok(())
        }
    };
}

impl CallMachine<'_> {
    operator!(add, Add, checked_add, "+", "Puts a sum into a register.");
    operator!(sub, Sub, checked_sub, "-", "Puts a difference into a register.");
    operator!(mul, Mul, checked_mul, "*", "Puts a product into a register.");

    /// Pays for all that follows, up to the next payment.
    #[inline]
    pub(crate) fn pay(&mut self, nanoseconds: u64) -> CallOutcome<()> {
        self.meter.pay(nanoseconds)
    }

    /// Puts a constant of the program into a register.
    #[inline]
    pub(crate) fn constant(&mut self, r: &mut [Datum], to: u16, constant: u16) {
        match &self.program.constants[of(constant)] {
            Datum::Fixed(value) => put_fixed(&mut r[of(to)], *value),
            value => r[of(to)] = value.clone(),
        }
    }

    /// Puts the handle of the own object into a register.
    pub(crate) fn own(&mut self, r: &mut [Datum], to: u16) {
        r[of(to)] = Datum::Object(self.me);
    }

    /// Puts the result of any other operator into a register.
    #[inline]
    pub(crate) fn operator(
        &mut self,
        r: &mut [Datum],
        op: BinaryOp,
        to: u16,
        (a, b): (u16, u16),
    ) -> CallOutcome<()> {
        r[of(to)] = self.binary(op, &r[of(a)], &r[of(b)])?;
        Ok(())
    }

    /// Says whether `a` is below `b`.
    #[inline]
    pub(crate) fn is_less(&mut self, r: &[Datum], a: u16, b: u16) -> CallOutcome<bool> {
        Ok(match (&r[of(a)], &r[of(b)]) {
            (Datum::Fixed(a), Datum::Fixed(b)) => a < b,
            (Datum::Int(a), Datum::Int(b)) => a < b,
            (a, b) => matches!(self.binary(BinaryOp::Less, a, b)?, Datum::Bool(true)),
        })
    }

    /// Says whether a value is the same as one of the program's, in kind as well.
    #[inline]
    pub(crate) fn is_case(&mut self, r: &[Datum], value: u16, constant: u16) -> bool {
        is_case(&r[of(value)], &self.program.constants[of(constant)])
    }

    /// Makes an array of values that lie in a row.
    pub(crate) fn array_of(
        &mut self,
        r: &mut [Datum],
        to: u16,
        first: u16,
        count: u16,
    ) -> CallOutcome<()> {
        r[of(to)] = self.array(row(r, first, count))?;
        Ok(())
    }

    /// Makes a map of values that lie in a row.
    pub(crate) fn map_of(
        &mut self,
        r: &mut [Datum],
        to: u16,
        first: u16,
        shape: u16,
    ) -> CallOutcome<()> {
        let shape = &self.program.shapes[of(shape)];
        let count = u16::try_from(shape.len()).unwrap_or(u16::MAX);
        r[of(to)] = self.map(shape, row(r, first, count))?;
        Ok(())
    }

    /// Joins values that lie in a row as text.
    pub(crate) fn text_of(
        &mut self,
        r: &mut [Datum],
        to: u16,
        first: u16,
        count: u16,
    ) -> CallOutcome<()> {
        r[of(to)] = self.join(&r[of(first)..][..of(count)])?;
        Ok(())
    }

    /// Makes a closure; what it captures lies in a row.
    pub(crate) fn closure_of(
        &mut self,
        r: &mut [Datum],
        to: u16,
        first: u16,
        function: u16,
    ) -> CallOutcome<()> {
        let captures = self.program.functions[of(function)].captures;
        let captured = row(r, first, captures).to_vec();
        r[of(to)] = self.closure(function, captured)?;
        Ok(())
    }

    /// Reads a property.
    #[inline]
    pub(crate) fn read(
        &mut self,
        r: &mut [Datum],
        to: u16,
        from: u16,
        name: u16,
    ) -> CallOutcome<()> {
        let name = &self.program.names[of(name)];
        match (&r[of(from)], name.meaning.coordinate) {
            (Datum::Vec2(vector), Some(coordinate)) => {
                let value = *coordinate(&mut { *vector });
                put_fixed(&mut r[of(to)], value);
            }
            (from, _) => r[of(to)] = self.get(from, name)?,
        }
        Ok(())
    }

    /// Reads an element.
    #[inline]
    pub(crate) fn element(
        &mut self,
        r: &mut [Datum],
        to: u16,
        from: u16,
        index: u16,
    ) -> CallOutcome<()> {
        r[of(to)] = self.index(&r[of(from)], &r[of(index)])?;
        Ok(())
    }

    /// Writes an inner part of a variable, given as its register and its path.
    pub(crate) fn write(
        &mut self,
        r: &mut [Datum],
        part: (u16, u16),
        value: u16,
        at: SourcePoint,
    ) -> CallOutcome<()> {
        let value = taken(r, value);
        self.store(r, part, value, OperationAtWork::Ported(at))
    }

    /// Changes a variable, or an inner part of it, by an operator.
    #[inline]
    pub(crate) fn adjust(
        &mut self,
        r: &mut [Datum],
        op: BinaryOp,
        part: (u16, u16),
        value: u16,
        at: SourcePoint,
    ) -> CallOutcome<()> {
        if part.1 == WHOLE_VARIABLE && changed_fixed(op, r, part.0, value) {
            return Ok(());
        }
        self.change(r, op, part, value, OperationAtWork::Ported(at))
    }

    /// Calls a host function that changes its first argument, which is part of a variable.
    pub(crate) fn alter(
        &mut self,
        r: &mut [Datum],
        part: (u16, u16),
        (call, first): (u16, u16),
        at: SourcePoint,
    ) -> CallOutcome<()> {
        self.method(r, part, (call, first), OperationAtWork::Ported(at))
    }

    /// Calls a host function; arguments lie in a row, and its result replaces the first.
    pub(crate) fn world(&mut self, r: &mut [Datum], call: u16, first: u16) -> CallOutcome<()> {
        let call = self.program.call(call);
        let row = &mut r[of(first)..][..call.count.max(1)];
        let result = self.host(call, &mut row[..call.count])?;
        row.fill(Datum::Unit);
        row[0] = result;
        Ok(())
    }

    /// Calls a function of the port; arguments lie in a row, and its result replaces the first.
    pub(crate) fn call_own(
        &mut self,
        r: &mut [Datum],
        function: u16,
        first: u16,
        at: SourcePoint,
    ) -> CallOutcome<()> {
        self.enter_frame(function, 0).at_either(at, at)?;
        self.run_ported(&mut r[of(first)..], function, at)
    }

    /// Calls a closure in the same way.
    pub(crate) fn call_value(
        &mut self,
        r: &mut [Datum],
        callee: u16,
        (first, count): (u16, u16),
        at: SourcePoint,
    ) -> CallOutcome<()> {
        let closure = match &r[of(callee)] {
            Datum::Function(closure) => Arc::clone(closure),
            other => return Err(no_function(other)).at_either(at, at),
        };
        self.pay_for_closure(&closure, count).at_either(at, at)?;
        self.enter_frame(closure.function, 0).at_either(at, at)?;
        let stack = &mut r[of(first)..];
        let captured = of(count)..of(count) + closure.captures.len();
        stack[captured].clone_from_slice(&closure.captures);
        self.run_ported(stack, closure.function, at)
    }

    /// Returns the fault of a value that the script throws.
    pub(crate) fn throw(&mut self, r: &mut [Datum], from: u16, at: SourcePoint) -> Box<CallFault> {
        let value = taken(r, from);
        located(self.thrown(value), at, at)
    }

    /// Goes on at the `catch` of a fault: two registers hold it, as the script sees it and whole.
    ///
    /// # Errors
    /// The fault ends the call: no script can catch it, or nothing is left to tell it.
    pub(crate) fn caught(
        &mut self,
        r: &mut [Datum],
        fault: Box<CallFault>,
        error: u16,
    ) -> CallOutcome<()> {
        if !fault.is_catchable() {
            return Err(fault);
        }
        match self.told(&fault) {
            Ok(told) => {
                r[of(error)] = told;
                r[of(error) + 1] = Datum::Fault(Arc::new(*fault));
                Ok(())
            }
            Err(spent) => Err(Box::new(CallFault { at: fault.at, ..*spent })),
        }
    }

    /// Runs the function that was entered last: by its operations, or by its body in Rust.
    pub(super) fn run_entered(
        &mut self,
        stack: &mut Vec<Datum>,
        floor: usize,
        function: u16,
        base: usize,
    ) -> CallOutcome<Datum> {
        let Some(ported) = self.bodies.get(usize::from(function)) else {
            return self.run(stack, floor);
        };
        if stack.len() < base + ported.window {
            stack.resize_with(base + ported.window, Datum::default);
        }
        let result = (ported.body)(self, &mut stack[base..]);
        self.frames.truncate(floor);
        result
    }

    /// Enters a function of a port, whose registers lie in `stack` from its beginning on, and runs it.
    pub(super) fn run_ported(
        &mut self,
        stack: &mut [Datum],
        function: u16,
        at: SourcePoint,
    ) -> CallOutcome<()> {
        let registers = self.program.functions[usize::from(function)].registers();
        let result = (self.bodies[usize::from(function)].body)(self, stack);
        self.frames.pop();
        stack[..registers].iter_mut().for_each(|register| register.put(Datum::Unit));
        match result {
            Ok(value) => {
                stack[0] = value;
                Ok(())
            }
            Err(mut fault) => {
                fault.trace.push((function, at));
                Err(fault)
            }
        }
    }
}
