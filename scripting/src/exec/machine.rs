//! Runs the code of a program: one loop, in which no function of the script costs native stack.

use alloc::{boxed::Box, format, sync::Arc, vec::Vec};

use metatopia_types::ObjectId;

use super::{
    calls::{
        changed_fixed, is_case, next_element, no_condition, no_function, not_iterable, put_fixed,
        put_int, row,
    },
    datum::{Datum, DatumClosure},
    frames::{CallFrame, FrameStack},
    loaded::{LoadedFunction, LoadedProgram},
    loaded_op::{LoadedOp, SlotWindow, WINDOW_SLOTS},
    meanings::NameMeaning,
    meter::{CallFault, CallMeter, CallOutcome},
    operators,
    origins::OperationAtWork,
    ported::PortedBody,
    prices,
    state::StateCache,
};
use crate::{
    ErrorKind, ScriptContext,
    ir::{BinaryOp, WHOLE_VARIABLE},
    lang::SourcePoint,
    limits::CALL_DEPTH_MAX,
};

/// A call under way.
pub(crate) struct CallMachine<'p> {
    pub(super) program: &'p LoadedProgram,
    /// The functions of the program in Rust, if it is a port.
    pub(super) bodies: &'p [PortedBody],
    pub(super) meter: CallMeter,
    /// The world; nothing while constants are computed.
    pub(super) scene: Option<&'p mut ScriptContext>,
    /// Variables that the call has read or written, once there are any.
    pub(super) state: Option<StateCache>,
    pub(super) me: ObjectId,
    pub(super) frames: FrameStack,
    catches: Vec<CatchFrame>,
}

/// A `try` block under way.
#[derive(Clone, Copy, Debug)]
struct CatchFrame {
    /// How many functions were under way.
    frames: usize,
    target: usize,
    /// The register for the error.
    error: usize,
}

/// Why the operations of one function are left.
pub(super) enum Leave {
    Call { function: u16, base: usize },
    CallValue { closure: Arc<DatumClosure>, count: u16, base: usize },
    Return(Datum),
    Fault(Box<CallFault>),
}

/// Goes on with a value, or leaves the loop with the fault.
macro_rules! get {
    ($outcome:expr) => {
        match $outcome {
            Ok(value) => value,
            Err(fault) => break Leave::Fault(fault),
        }
    };
}

impl<'p> CallMachine<'p> {
    pub(super) fn new(
        program: &'p LoadedProgram,
        scene: Option<&'p mut ScriptContext>,
        me: ObjectId,
        time: u64,
    ) -> Self {
        let meter = CallMeter::new(time);
        let (frames, catches) = (FrameStack::new(), Vec::new());
        Self { program, bodies: &[], meter, scene, state: None, me, frames, catches }
    }

    pub(super) fn scene(&mut self) -> CallOutcome<&mut ScriptContext> {
        let missing =
            || CallFault::new(ErrorKind::Argument, "a constant cannot depend on the world");
        self.scene.as_deref_mut().ok_or_else(missing)
    }

    /// Runs a function, and returns what its registers hold at its end.
    pub(super) fn registers_of(&mut self, function: u16) -> CallOutcome<Vec<Datum>> {
        let mut stack = Vec::new();
        self.call(&mut stack, function, 0)?;
        Ok(stack)
    }

    /// Runs a function on a stack that holds its arguments from `base` on.
    pub(super) fn call(
        &mut self,
        stack: &mut Vec<Datum>,
        function: u16,
        base: usize,
    ) -> CallOutcome<Datum> {
        let floor = self.frames.len();
        self.enter(stack, function, base)?;
        self.run_entered(stack, floor, function, base)
    }

    /// Enters a closure: what it captured lies behind its arguments.
    fn enter_closure(
        &mut self,
        stack: &mut Vec<Datum>,
        closure: &DatumClosure,
        count: u16,
        base: usize,
    ) -> CallOutcome<()> {
        self.pay_for_closure(closure, count)?;
        self.enter(stack, closure.function, base)?;
        let first = base + usize::from(count);
        stack[first..first + closure.captures.len()].clone_from_slice(&closure.captures);
        Ok(())
    }

    /// Checks that a closure takes so many arguments, and pays for what it captured.
    pub(super) fn pay_for_closure(
        &mut self,
        closure: &DatumClosure,
        count: u16,
    ) -> CallOutcome<()> {
        let function = &self.program.functions[usize::from(closure.function)];
        if function.parameters != count {
            let words = format!("the closure takes {} arguments, not {count}", function.parameters);
            return Err(CallFault::new(ErrorKind::Type, words));
        }
        self.meter.pay(closure.captures.len() as u64 * prices::ELEMENT_COPY)
    }

    /// Runs a closure on a stack that holds its arguments and nothing else.
    pub(super) fn call_closure(
        &mut self,
        stack: &mut Vec<Datum>,
        closure: &DatumClosure,
        count: u16,
    ) -> CallOutcome<Datum> {
        let floor = self.frames.len();
        self.meter.pay(prices::CALL)?;
        self.enter_closure(stack, closure, count, 0)?;
        let result = self.run_entered(stack, floor, closure.function, 0);
        if self.bodies.is_empty() {
            return result;
        }
        // The operation that had it called says where that was.
        result.map_err(|mut fault| {
            fault.trace.push((closure.function, SourcePoint::default()));
            fault
        })
    }

    fn enter(&mut self, stack: &mut Vec<Datum>, function: u16, base: usize) -> CallOutcome<()> {
        let registers = self.enter_frame(function, base)?;
        if stack.len() < base + registers {
            stack.resize_with(base + registers, Datum::default);
        }
        Ok(())
    }

    /// Pays for a function, and begins it. Returns how many registers it uses.
    pub(super) fn enter_frame(&mut self, function: u16, base: usize) -> CallOutcome<usize> {
        if self.frames.len() == CALL_DEPTH_MAX {
            let words = format!("more than {CALL_DEPTH_MAX} calls deep");
            return Err(CallFault::new(ErrorKind::Depth, words));
        }
        let registers = self.program.functions[usize::from(function)].registers();
        self.meter.pay(registers as u64 * prices::CLEARED_REGISTER)?;
        self.frames.push(CallFrame { function, next: 0, base });
        Ok(registers)
    }

    /// Runs until so many functions are left.
    pub(super) fn run(&mut self, stack: &mut Vec<Datum>, floor: usize) -> CallOutcome<Datum> {
        // Most calls are of one function: its slots ask for no memory.
        let mut first_window: Option<SlotWindow> = None;
        let mut windows: Vec<SlotWindow> = Vec::new();
        loop {
            let mut frame = self.frames.last().expect("one was entered");
            let program: &'p LoadedProgram = self.program;
            let function = &program.functions[usize::from(frame.function)];
            let registers = &mut stack[frame.base..frame.base + function.registers()];
            let depth = self.frames.len() - floor - 1;
            let leave = if function.uses_slots() {
                if windows.len() < depth {
                    windows.resize(depth, [0; WINDOW_SLOTS]);
                }
                let window = match depth.checked_sub(1) {
                    Some(inner) => &mut windows[inner],
                    None => first_window.get_or_insert([0; WINDOW_SLOTS]),
                };
                if frame.next == 0 {
                    let constants = program.slot_constants(function);
                    window[WINDOW_SLOTS - constants.len()..].copy_from_slice(constants);
                }
                self.operate(function, registers, window, &mut frame)
            } else {
                let leave = self.operate_plain(function, registers, &mut frame);
                leave.expect("all of it is plain")
            };
            self.frames.set_next(frame.next);
            match leave {
                Leave::Call { function, base } => {
                    if let Err(fault) = self.enter(stack, function, base) {
                        self.fail(stack, floor, fault)?;
                    }
                }
                Leave::CallValue { closure, count, base } => {
                    if let Err(fault) = self.enter_closure(stack, &closure, count, base) {
                        self.fail(stack, floor, fault)?;
                    }
                }
                Leave::Return(value) => {
                    self.frames.pop();
                    // Whoever gave the stack clears it, or wants what is in it.
                    if self.frames.len() == floor {
                        return Ok(value);
                    }
                    let end = frame.base + function.registers();
                    let left = &mut stack[frame.base..end];
                    left.iter_mut().for_each(|register| register.put(Datum::Unit));
                    left[0].put(value);
                }
                Leave::Fault(fault) => self.fail(stack, floor, fault)?,
            }
        }
    }

    /// Goes on at the `catch` of a fault, or gives it back when all functions down to `floor` are left.
    fn fail(
        &mut self,
        stack: &mut [Datum],
        floor: usize,
        mut fault: Box<CallFault>,
    ) -> CallOutcome<()> {
        self.locate(&mut fault);
        let catch = self.catches.last().copied();
        let mut catch = catch.filter(|catch| catch.frames > floor && fault.is_catchable());
        let mut told = Datum::Unit;
        if catch.is_some() {
            match self.told(&fault) {
                Ok(value) => told = value,
                Err(spent) => {
                    fault = Box::new(CallFault { at: fault.at, ..*spent });
                    catch = None;
                }
            }
        }
        let left = catch.map_or(floor, |catch| catch.frames);
        while self.frames.len() > left {
            let frame = self.frames.pop().expect("there are more");
            let function = &self.program.functions[usize::from(frame.function)];
            stack[frame.base..frame.base + function.registers()].fill(Datum::Unit);
            if let Some(caller) = self.frames.last() {
                fault.trace.push((frame.function, self.place(&caller)));
            }
        }
        let Some(catch) = catch else {
            self.catches.retain(|catch| catch.frames <= floor);
            return Err(fault);
        };
        self.catches.pop();
        self.frames.set_next(catch.target);
        let frame = self.frames.last().expect("its try block is under way");
        let error = frame.base + catch.error;
        stack[error] = told;
        stack[error + 1] = Datum::Fault(Arc::new(*fault));
        Ok(())
    }

    /// The place of the operation that is under way.
    fn place(&self, frame: &CallFrame) -> SourcePoint {
        self.program.origin(frame.function, frame.next.wrapping_sub(1)).0
    }

    fn locate(&self, fault: &mut CallFault) {
        if fault.at == SourcePoint::default()
            && let Some(frame) = self.frames.last()
        {
            let (place, sign) = self.program.origin(frame.function, frame.next.wrapping_sub(1));
            fault.at = sign.filter(|_| fault.at_sign).unwrap_or(place);
        }
    }

    /// Runs operations of the program until the function is left, or until one on slots comes. It stands
    /// alone, for beside it the loop over slots has no processor registers left for what it needs each time.
    #[inline(never)]
    #[expect(
        clippy::too_many_lines,
        reason = "one arm for each operation: parts would hide the loop"
    )]
    pub(super) fn operate_plain(
        &mut self,
        function: &LoadedFunction,
        registers: &mut [Datum],
        frame: &mut CallFrame,
    ) -> Option<Leave> {
        let program: &'p LoadedProgram = self.program;
        let code = &function.code[..];
        let mut next = frame.next;
        let leave = loop {
            let op = &code[next];
            next += 1;
            match *op {
                LoadedOp::Charge(price) => get!(self.meter.pay(price.into())),
                LoadedOp::Add { to, a, b } => {
                    match (&registers[usize::from(a)], &registers[usize::from(b)]) {
                        (Datum::Fixed(a), Datum::Fixed(b)) => match a.checked_add(*b) {
                            Some(result) => put_fixed(&mut registers[usize::from(to)], result),
                            None => break Leave::Fault(operators::out_of_range("+")),
                        },
                        (Datum::Int(a), Datum::Int(b)) => match a.checked_add(*b) {
                            Some(result) => put_int(&mut registers[usize::from(to)], result),
                            None => break Leave::Fault(operators::out_of_range("+")),
                        },
                        (a, b) => {
                            let result = get!(self.binary(BinaryOp::Add, a, b));
                            registers[usize::from(to)].put(result);
                        }
                    }
                }
                LoadedOp::Sub { to, a, b } => {
                    match (&registers[usize::from(a)], &registers[usize::from(b)]) {
                        (Datum::Fixed(a), Datum::Fixed(b)) => match a.checked_sub(*b) {
                            Some(result) => put_fixed(&mut registers[usize::from(to)], result),
                            None => break Leave::Fault(operators::out_of_range("-")),
                        },
                        (Datum::Int(a), Datum::Int(b)) => match a.checked_sub(*b) {
                            Some(result) => put_int(&mut registers[usize::from(to)], result),
                            None => break Leave::Fault(operators::out_of_range("-")),
                        },
                        (a, b) => {
                            let result = get!(self.binary(BinaryOp::Sub, a, b));
                            registers[usize::from(to)].put(result);
                        }
                    }
                }
                LoadedOp::Mul { to, a, b } => {
                    match (&registers[usize::from(a)], &registers[usize::from(b)]) {
                        (Datum::Fixed(a), Datum::Fixed(b)) => match a.checked_mul(*b) {
                            Some(result) => put_fixed(&mut registers[usize::from(to)], result),
                            None => break Leave::Fault(operators::out_of_range("*")),
                        },
                        (Datum::Int(a), Datum::Int(b)) => match a.checked_mul(*b) {
                            Some(result) => put_int(&mut registers[usize::from(to)], result),
                            None => break Leave::Fault(operators::out_of_range("*")),
                        },
                        (a, b) => {
                            let result = get!(self.binary(BinaryOp::Mul, a, b));
                            registers[usize::from(to)].put(result);
                        }
                    }
                }
                LoadedOp::JumpUnlessLess { a, b, target } => {
                    let less = match (&registers[usize::from(a)], &registers[usize::from(b)]) {
                        (Datum::Fixed(a), Datum::Fixed(b)) => a < b,
                        (Datum::Int(a), Datum::Int(b)) => a < b,
                        (a, b) => {
                            matches!(get!(self.binary(BinaryOp::Less, a, b)), Datum::Bool(true))
                        }
                    };
                    if !less {
                        next = usize::from(target);
                    }
                }
                LoadedOp::Less { to, a, b } => {
                    let (a, b) = (&registers[usize::from(a)], &registers[usize::from(b)]);
                    let result = get!(self.binary(BinaryOp::Less, a, b));
                    registers[usize::from(to)].put(result);
                }
                LoadedOp::Binary { op, to, a, b } => {
                    let (a, b) = (&registers[usize::from(a)], &registers[usize::from(b)]);
                    let result = get!(self.binary(op, a, b));
                    registers[usize::from(to)].put(result);
                }
                LoadedOp::Unary { op, to, a } => {
                    let result = get!(Self::unary(op, &registers[usize::from(a)]));
                    registers[usize::from(to)].put(result);
                }
                LoadedOp::Change { op, root, path: WHOLE_VARIABLE, value }
                    if changed_fixed(op, registers, root, value) => {}
                LoadedOp::Change { op, root, path, value } => {
                    let at = at_work(frame, next);
                    get!(self.change(registers, op, (root, path), value, at));
                }
                LoadedOp::Get { to, of, name } => {
                    let name = &program.names[usize::from(name)];
                    let NameMeaning { coordinate, vector, .. } = *name.meaning;
                    match (&registers[usize::from(of)], coordinate, vector) {
                        (Datum::Vec2(vector), Some(coordinate), _) => {
                            let value = *coordinate(&mut { *vector });
                            put_fixed(&mut registers[usize::from(to)], value);
                        }
                        (Datum::Object(object), _, Some(property)) => {
                            let vector = get!(self.vector_of(*object, property));
                            registers[usize::from(to)].put(Datum::Vec2(vector));
                        }
                        (of, ..) => {
                            let value = get!(self.get(of, name));
                            registers[usize::from(to)].put(value);
                        }
                    }
                }
                LoadedOp::Index { to, of, index } => {
                    let (of, index) = (&registers[usize::from(of)], &registers[usize::from(index)]);
                    let result = get!(self.index(of, index));
                    registers[usize::from(to)].put(result);
                }
                LoadedOp::Store { root, path, value } => {
                    let value = core::mem::take(&mut registers[usize::from(value)]);
                    let at = at_work(frame, next);
                    get!(self.store(registers, (root, path), value, at));
                }
                LoadedOp::Method { call, root, path, first } => {
                    self.frames.set_next(next);
                    let at = at_work(frame, next);
                    get!(self.method(registers, (root, path), (call.into(), first), at));
                }
                LoadedOp::Constant { to, constant } => {
                    match &program.constants[usize::from(constant)] {
                        Datum::Fixed(value) => put_fixed(&mut registers[usize::from(to)], *value),
                        value => {
                            let value = value.clone();
                            registers[usize::from(to)].put(value);
                        }
                    }
                }
                LoadedOp::Int { to, value } => {
                    registers[usize::from(to)].put(Datum::Int(value.into()))
                }
                LoadedOp::Clear { register } => registers[usize::from(register)].put(Datum::Unit),
                LoadedOp::Bool { to, value } => registers[usize::from(to)].put(Datum::Bool(value)),
                LoadedOp::Own { to } => registers[usize::from(to)].put(Datum::Object(self.me)),
                LoadedOp::State { to } => registers[usize::from(to)].put(Datum::State),
                LoadedOp::Copy { to, from } => match &registers[usize::from(from)] {
                    Datum::Fixed(value) => {
                        let value = *value;
                        put_fixed(&mut registers[usize::from(to)], value);
                    }
                    Datum::Int(value) => {
                        let value = *value;
                        put_int(&mut registers[usize::from(to)], value);
                    }
                    value => {
                        let value = value.clone();
                        registers[usize::from(to)].put(value);
                    }
                },
                LoadedOp::Move { to, from } => {
                    let value = core::mem::take(&mut registers[usize::from(from)]);
                    registers[usize::from(to)].put(value);
                }
                LoadedOp::Jump { target } => next = usize::from(target),
                LoadedOp::JumpIf { condition, wanted, target } => {
                    match &registers[usize::from(condition)] {
                        Datum::Bool(value) if *value == wanted => next = usize::from(target),
                        Datum::Bool(_) => {}
                        other => break Leave::Fault(no_condition(other)),
                    }
                }
                LoadedOp::JumpIfUnit { value, wanted, target } => {
                    if matches!(registers[usize::from(value)], Datum::Unit) == wanted {
                        next = usize::from(target);
                    }
                }
                LoadedOp::JumpUnlessCase { value, constant, target } => {
                    let case = &program.constants[usize::from(constant)];
                    if !is_case(&registers[usize::from(value)], case) {
                        next = usize::from(target);
                    }
                }
                LoadedOp::JumpUnlessWithin { value, first, target } => {
                    let first = usize::from(first);
                    let within = match (&registers[usize::from(value)], &registers[first..]) {
                        (Datum::Int(value), [Datum::Int(start), Datum::Int(last), ..]) => {
                            start <= value && value <= last
                        }
                        _ => false,
                    };
                    if !within {
                        next = usize::from(target);
                    }
                }
                LoadedOp::Array { to, first, count } => {
                    let row = row(registers, first, count);
                    registers[usize::from(to)] = get!(self.array(row));
                }
                LoadedOp::Map { to, first, shape } => {
                    let shape = &program.shapes[usize::from(shape)];
                    let count = u16::try_from(shape.len()).unwrap_or(u16::MAX);
                    let row = row(registers, first, count);
                    registers[usize::from(to)] = get!(self.map(shape, row));
                }
                LoadedOp::Text { to, first, count } => {
                    let parts = &registers[usize::from(first)..][..usize::from(count)];
                    registers[usize::from(to)] = get!(self.join(parts));
                }
                LoadedOp::Closure { to, first, function } => {
                    let made = &program.functions[usize::from(function)];
                    let captured = row(registers, first, made.captures).to_vec();
                    registers[usize::from(to)] = get!(self.closure(function, captured));
                }
                LoadedOp::Iterate { state, from } => {
                    let over = core::mem::take(&mut registers[usize::from(from)]);
                    if !matches!(over, Datum::Array(_) | Datum::Range(..) | Datum::RangeTo(..)) {
                        break Leave::Fault(not_iterable(&over));
                    }
                    registers[usize::from(state)] = over;
                    registers[usize::from(state) + 1] = Datum::Int(0);
                }
                LoadedOp::Next { state, to, target } => {
                    let state = usize::from(state);
                    match next_element(&mut registers[state..state + 2]) {
                        Some(element) => registers[usize::from(to)].put(element),
                        None => next = usize::from(target),
                    }
                }
                LoadedOp::Call { function, first } => {
                    let base = frame.base + usize::from(first);
                    break Leave::Call { function, base };
                }
                LoadedOp::CallValue { callee, first, count } => {
                    let closure = match &registers[usize::from(callee)] {
                        Datum::Function(closure) => Arc::clone(closure),
                        other => break Leave::Fault(no_function(other)),
                    };
                    let base = frame.base + usize::from(first);
                    break Leave::CallValue { closure, count, base };
                }
                LoadedOp::Host { call, first } => {
                    let call = program.call(call);
                    let row = &mut registers[usize::from(first)..][..call.count.max(1)];
                    self.frames.set_next(next);
                    let result = get!(self.host(call, &mut row[..call.count]));
                    row.iter_mut().for_each(|register| register.put(Datum::Unit));
                    row[0].put(result);
                }
                LoadedOp::ReturnUnit => break Leave::Return(Datum::Unit),
                LoadedOp::Return { from } => {
                    break Leave::Return(core::mem::take(&mut registers[usize::from(from)]));
                }
                LoadedOp::Try { target, error } => {
                    let (target, error) = (usize::from(target), usize::from(error));
                    let frames = self.frames.len();
                    self.catches.push(CatchFrame { frames, target, error });
                }
                LoadedOp::EndTry => {
                    self.catches.pop();
                }
                LoadedOp::Throw { from } => {
                    let value = core::mem::take(&mut registers[usize::from(from)]);
                    break Leave::Fault(self.thrown(value));
                }
                LoadedOp::Rethrow { error } => {
                    break match &registers[usize::from(error)] {
                        Datum::Fault(fault) => Leave::Fault(Box::new(CallFault::clone(fault))),
                        _ => unreachable!("a catch block keeps its error"),
                    };
                }
                _ => {
                    frame.next = next - 1;
                    return None;
                }
            }
        };
        frame.next = next;
        Some(leave)
    }
}

/// Returns the operation before the one that comes next.
fn at_work(frame: &CallFrame, next: usize) -> OperationAtWork {
    let operation = u16::try_from(next - 1).expect("code has places of 16 bits");
    OperationAtWork::Loaded { function: frame.function, operation }
}
