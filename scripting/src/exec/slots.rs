//! Runs code on slots.

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;

use super::{
    calls::next_element,
    datum::Datum,
    frames::CallFrame,
    loaded::LoadedFunction,
    loaded_op::{LoadedOp, SlotKind, SlotWindow},
    machine::{CallMachine, Leave},
    meanings::NameMeaning,
    meter::CallOutcome,
    operators::{fixed, fixed_of, ints, out_of_range},
    prices,
};
use crate::{Value, ir::BinaryOp, limits::VALUE_BYTES, scene::VectorProperty};

/// What lies in slots: bits of numbers, of handles, and 1 or 0 for true or false.
pub(super) trait Slots {
    /// Returns the bits that a slot holds.
    fn number(&self, slot: u8) -> i64;

    /// Puts bits into a slot.
    fn put(&mut self, slot: u8, number: i64);

    fn fixed(&self, slot: u8) -> Fx {
        Fx::from_bits(self.number(slot))
    }

    fn object(&self, slot: u8) -> ObjectId {
        ObjectId(self.number(slot).cast_unsigned())
    }

    /// Returns what a slot holds as a value of its kind, which is not a vector.
    fn value(&self, kind: SlotKind, slot: u8) -> Datum {
        match kind {
            SlotKind::Bool => Datum::Bool(self.number(slot) != 0),
            SlotKind::Int => Datum::Int(self.number(slot)),
            SlotKind::Fixed => Datum::Fixed(self.fixed(slot)),
            SlotKind::Object => Datum::Object(self.object(slot)),
            SlotKind::Vec2 => unreachable!("a vector has two slots"),
        }
    }

    /// Returns what one or two slots hold as a value that outlives the call.
    fn kept(&self, kind: SlotKind, [x, y]: [u8; 2]) -> Value {
        match kind {
            SlotKind::Bool => Value::Bool(self.number(x) != 0),
            SlotKind::Int => Value::Int(self.number(x)),
            SlotKind::Fixed => Value::Fixed(self.fixed(x)),
            SlotKind::Object => Value::Object(self.object(x)),
            SlotKind::Vec2 => Value::Vec2(Vec2::new(self.fixed(x), self.fixed(y))),
        }
    }
}

impl Slots for SlotWindow {
    // No slot is outside, as the compiler sees: it checks nothing.
    #[inline]
    fn number(&self, slot: u8) -> i64 {
        self[usize::from(slot)]
    }

    #[inline]
    fn put(&mut self, slot: u8, number: i64) {
        self[usize::from(slot)] = number;
    }
}

/// Takes the next object that a loop goes over: from its register, and from the one behind it its place.
#[inline]
pub(super) fn next_object(state: &mut [Datum]) -> Option<ObjectId> {
    let [over, Datum::Int(place), ..] = state else {
        unreachable!("a loop over objects has them and a place")
    };
    let at = usize::try_from(*place).ok()?;
    let object = match over {
        Datum::Found(objects) => *objects.get(at)?,
        Datum::Array(list) => match list.items().get(at)? {
            Datum::Object(object) => *object,
            _ => unreachable!("the world gave objects"),
        },
        _ => unreachable!("a loop over objects has them"),
    };
    *place += 1;
    Some(object)
}

/// Takes the next number of a range.
#[inline]
pub(super) fn next_int(range: &mut Datum) -> Option<i64> {
    if let Datum::Range(next, end) = range {
        if *next >= *end {
            return None;
        }
        *next += 1;
        return Some(*next - 1);
    }
    let mut state = [core::mem::take(range), Datum::Int(0)];
    let element = next_element(&mut state);
    *range = core::mem::take(&mut state[0]);
    match element? {
        Datum::Int(int) => Some(int),
        _ => unreachable!("a range has whole numbers"),
    }
}

/// Goes on, or leaves the loop with the fault.
macro_rules! get {
    ($outcome:expr) => {
        match $outcome {
            Ok(value) => value,
            Err(fault) => break Leave::Fault(fault),
        }
    };
}

/// Puts the result of a checked operation into the first of three slots, or leaves the loop with a fault.
macro_rules! checked {
    ($window:ident, $operation:ident, $sign:literal, $to:expr, $a:expr, $b:expr) => {
        match $window.number($a).$operation($window.number($b)) {
            Some(result) => $window.put($to, result),
            None => break Leave::Fault(out_of_range($sign)),
        }
    };
}

/// As `checked!`, for a product of fixed-point numbers.
macro_rules! product {
    ($window:ident, $to:expr, $a:expr, $b:expr) => {
        match $window.fixed($a).checked_mul($window.fixed($b)) {
            Some(result) => $window.put($to, result.to_bits()),
            None => break Leave::Fault(out_of_range("*")),
        }
    };
}

impl CallMachine<'_> {
    /// Runs operations of one function until it is left. It stands alone, for beside what is around it the loop has
    /// too few of the processor's registers.
    #[inline(never)]
    #[expect(
        clippy::too_many_lines,
        reason = "one arm for each operation: parts would hide the loop"
    )]
    pub(super) fn operate(
        &mut self,
        function: &LoadedFunction,
        registers: &mut [Datum],
        window: &mut SlotWindow,
        frame: &mut CallFrame,
    ) -> Leave {
        let code = &function.code[..];
        // Places have 16 bits, and each is looked at: no sum of them can leave its range.
        let mut next = frame.next;
        let leave = loop {
            let op = &code[next];
            next = next.wrapping_add(1);
            match *op {
                LoadedOp::Charge(price) => get!(self.meter.pay(price.into())),
                LoadedOp::PayForOperands => get!(self.meter.pay(prices::OTHER_OPERANDS)),
                LoadedOp::CopySlot { to, from } => window.put(to, window.number(from)),
                LoadedOp::AddSlots { to, a, b } => checked!(window, checked_add, "+", to, a, b),
                LoadedOp::SubSlots { to, a, b } => checked!(window, checked_sub, "-", to, a, b),
                LoadedOp::MulFixed { to, a, b } => product!(window, to, a, b),
                LoadedOp::LessSlots { to, a, b } => {
                    window.put(to, (window.number(a) < window.number(b)).into());
                }
                LoadedOp::AtMost { to, a, b } => {
                    window.put(to, (window.number(a) <= window.number(b)).into());
                }
                LoadedOp::Not { to, a } => window.put(to, window.number(a) ^ 1),
                LoadedOp::Jump { target } => next = usize::from(target),
                LoadedOp::JumpIfSlot { condition, wanted, target } => {
                    if window.number(condition) == i64::from(wanted) {
                        next = usize::from(target);
                    }
                }
                LoadedOp::JumpUnlessLessSlots { a, b, target } => {
                    if window.number(a) >= window.number(b) {
                        next = usize::from(target);
                    }
                }
                LoadedOp::OwnSlot { to } => window.put(to, self.me.0.cast_signed()),
                LoadedOp::Vector { property, x, y, of } => {
                    get!(self.read_vector(window, (x, y), of, property));
                }
                LoadedOp::NextObject { to, state, target } => {
                    match next_object(&mut registers[usize::from(state)..]) {
                        Some(object) => window.put(to, object.0.cast_signed()),
                        None => next = usize::from(target),
                    }
                }
                LoadedOp::NextInt { to, state, target } => {
                    match next_int(&mut registers[usize::from(state)]) {
                        Some(int) => window.put(to, int),
                        None => next = usize::from(target),
                    }
                }
                LoadedOp::Spill { kind, slot, register } => {
                    registers[usize::from(register)].put(window.value(kind, slot));
                }
                LoadedOp::SpillVector { x, y, register } => {
                    let vector = Vec2::new(window.fixed(x), window.fixed(y));
                    registers[usize::from(register)].put(Datum::Vec2(vector));
                }
                LoadedOp::Clear { register } => registers[usize::from(register)].put(Datum::Unit),
                LoadedOp::ReturnUnit => break Leave::Return(Datum::Unit),
                LoadedOp::Return { from } => {
                    break Leave::Return(core::mem::take(&mut registers[usize::from(from)]));
                }
                LoadedOp::SetVector { of, x, y, skipped, name } => {
                    if window.object(of) == self.me {
                        let vector = Vec2::new(window.fixed(x), window.fixed(y));
                        get!(self.set_vector(name, vector));
                        next = next.wrapping_add(usize::from(skipped));
                    }
                }
                LoadedOp::SetNumber { of, value, skipped, name } => {
                    if window.object(of) == self.me {
                        get!(self.set_number(name, window.fixed(value)));
                        next = next.wrapping_add(usize::from(skipped));
                    }
                }
                LoadedOp::Send { to, kind, x, y, topic } => {
                    get!(self.send_slots(window.object(to), topic, window.kept(kind, [x, y])));
                }
                LoadedOp::ChargeAndJump { price, target } => {
                    get!(self.meter.pay(price.into()));
                    next = usize::from(target);
                }
                LoadedOp::ChargeAndJumpUnlessLess { price, a, b, target } => {
                    get!(self.meter.pay(price.into()));
                    next = next.wrapping_add(1);
                    if window.number(a) >= window.number(b) {
                        next = usize::from(target);
                    }
                }
                LoadedOp::ChargeAndNextObject { price, to, state, target } => {
                    get!(self.meter.pay(price.into()));
                    next = next.wrapping_add(1);
                    match next_object(&mut registers[usize::from(state)..]) {
                        Some(object) => window.put(to, object.0.cast_signed()),
                        None => next = usize::from(target),
                    }
                }
                LoadedOp::ChargeAndNextInt { price, to, state, target } => {
                    get!(self.meter.pay(price.into()));
                    next = next.wrapping_add(1);
                    match next_int(&mut registers[usize::from(state)]) {
                        Some(int) => window.put(to, int),
                        None => next = usize::from(target),
                    }
                }
                LoadedOp::ChargeAndVector { price, property, x, y, of } => {
                    get!(self.meter.pay(price.into()));
                    next = next.wrapping_add(1);
                    get!(self.read_vector(window, (x, y), of, property));
                }
                LoadedOp::ChargeAndDivide { price, to, a, b } => {
                    get!(self.meter.pay(price.into()));
                    next = next.wrapping_add(1);
                    match window.fixed(a).checked_div(window.fixed(b)) {
                        Some(quotient) => window.put(to, quotient.to_bits()),
                        None => get!(self.on_slots(&code[next - 1], registers, window)),
                    }
                }
                LoadedOp::ChargeAndCopies {
                    price,
                    first: [to, from],
                    second: [next_to, other],
                } => {
                    get!(self.meter.pay(price.into()));
                    window.put(to, window.number(from));
                    window.put(next_to, window.number(other));
                    next = next.wrapping_add(2);
                }
                LoadedOp::Copies { first: [to, from], second: [next_to, next_from] } => {
                    window.put(to, window.number(from));
                    window.put(next_to, window.number(next_from));
                    next = next.wrapping_add(1);
                }
                LoadedOp::Adds { first: [to, a, b], second: [next_to, c, d] } => {
                    checked!(window, checked_add, "+", to, a, b);
                    next = next.wrapping_add(1);
                    checked!(window, checked_add, "+", next_to, c, d);
                }
                LoadedOp::Subs { first: [to, a, b], second: [next_to, c, d] } => {
                    checked!(window, checked_sub, "-", to, a, b);
                    next = next.wrapping_add(1);
                    checked!(window, checked_sub, "-", next_to, c, d);
                }
                LoadedOp::Products { first: [to, a, b], second: [next_to, c, d] } => {
                    product!(window, to, a, b);
                    next = next.wrapping_add(1);
                    product!(window, next_to, c, d);
                }
                LoadedOp::ProductAndSum { first: [to, a, b], second: [next_to, c, d] } => {
                    product!(window, to, a, b);
                    next = next.wrapping_add(1);
                    checked!(window, checked_add, "+", next_to, c, d);
                }
                LoadedOp::ProductAndDifference { first: [to, a, b], second: [next_to, c, d] } => {
                    product!(window, to, a, b);
                    next = next.wrapping_add(1);
                    checked!(window, checked_sub, "-", next_to, c, d);
                }
                LoadedOp::Fixed { op: BinaryOp::Div, to, a, b }
                    if let Some(quotient) = window.fixed(a).checked_div(window.fixed(b)) =>
                {
                    window.put(to, quotient.to_bits());
                }
                LoadedOp::Fixed { .. }
                | LoadedOp::Ints { .. }
                | LoadedOp::Promote { .. }
                | LoadedOp::Negate { .. }
                | LoadedOp::Equal { .. }
                | LoadedOp::LookAround { .. }
                | LoadedOp::Fill { .. }
                | LoadedOp::FillVector { .. } => get!(self.on_slots(op, registers, window)),
                // All are named: one that stands for all others would be looked for before each operation.
                LoadedOp::Constant { .. }
                | LoadedOp::Int { .. }
                | LoadedOp::Bool { .. }
                | LoadedOp::Own { .. }
                | LoadedOp::State { .. }
                | LoadedOp::Copy { .. }
                | LoadedOp::Move { .. }
                | LoadedOp::Add { .. }
                | LoadedOp::Sub { .. }
                | LoadedOp::Mul { .. }
                | LoadedOp::Less { .. }
                | LoadedOp::Binary { .. }
                | LoadedOp::Unary { .. }
                | LoadedOp::JumpIf { .. }
                | LoadedOp::JumpUnlessLess { .. }
                | LoadedOp::JumpIfUnit { .. }
                | LoadedOp::JumpUnlessCase { .. }
                | LoadedOp::JumpUnlessWithin { .. }
                | LoadedOp::Array { .. }
                | LoadedOp::Map { .. }
                | LoadedOp::Text { .. }
                | LoadedOp::Closure { .. }
                | LoadedOp::Get { .. }
                | LoadedOp::Index { .. }
                | LoadedOp::Store { .. }
                | LoadedOp::Change { .. }
                | LoadedOp::Method { .. }
                | LoadedOp::Call { .. }
                | LoadedOp::Host { .. }
                | LoadedOp::CallValue { .. }
                | LoadedOp::Iterate { .. }
                | LoadedOp::Next { .. }
                | LoadedOp::Try { .. }
                | LoadedOp::EndTry
                | LoadedOp::Throw { .. }
                | LoadedOp::Rethrow { .. } => {
                    frame.next = next - 1;
                    if let Some(leave) = self.operate_plain(function, registers, frame) {
                        return leave;
                    }
                    next = frame.next;
                }
            }
        };
        frame.next = next;
        leave
    }

    /// Reads a property of an object that is a vector.
    #[inline]
    fn read_vector(
        &mut self,
        window: &mut SlotWindow,
        (x, y): (u8, u8),
        of: u8,
        property: VectorProperty,
    ) -> CallOutcome<()> {
        let vector = self.vector_of(window.object(of), property)?;
        window.put(x, vector.x.to_bits());
        window.put(y, vector.y.to_bits());
        Ok(())
    }

    /// Returns a property of the own object that is written, and pays as [`CallMachine::store`] does.
    fn own_property(&mut self, name: u16) -> CallOutcome<&'static NameMeaning> {
        let name = &self.program.names[usize::from(name)];
        self.meter.pay(prices::PATH_LINK)?;
        self.pay_for_own(&name.text, VALUE_BYTES)?;
        Ok(name.meaning)
    }

    #[inline(never)]
    fn set_vector(&mut self, name: u16, vector: Vec2) -> CallOutcome<()> {
        let set = self.own_property(name)?.set_vector.expect("only such properties are written so");
        Ok(set(self.scene()?, vector)?)
    }

    #[inline(never)]
    fn set_number(&mut self, name: u16, number: Fx) -> CallOutcome<()> {
        let set = self.own_property(name)?.set_number.expect("only such properties are written so");
        Ok(set(self.scene()?, number)?)
    }

    /// Sends a value, and pays for it as [`CallMachine::host`] does.
    #[inline(never)]
    fn send_slots(&mut self, to: ObjectId, topic: u16, data: Value) -> CallOutcome<()> {
        let topic = &self.program.constants[usize::from(topic)];
        let Datum::Text(text) = topic else { unreachable!("only texts are topics") };
        let of_data = match data {
            Value::Bool(_) | Value::Object(_) => VALUE_BYTES,
            _ => 0,
        };
        self.meter.pay((VALUE_BYTES + topic.size() + of_data) * prices::HANDED_PER_BYTE)?;
        Ok(self.scene()?.send(to, text, data)?)
    }

    /// Does what is rarer, or longer, than the rest of a loop over numbers.
    #[inline(never)]
    fn on_slots(
        &mut self,
        op: &LoadedOp,
        registers: &mut [Datum],
        window: &mut SlotWindow,
    ) -> CallOutcome<()> {
        match *op {
            LoadedOp::Fixed { op, to, a, b } => {
                window.put(to, fixed(op, window.fixed(a), window.fixed(b))?.to_bits());
            }
            LoadedOp::Ints { op, to, a, b } => {
                window.put(to, ints(op, window.number(a), window.number(b))?);
            }
            LoadedOp::Promote { to, a } => {
                self.meter.pay(prices::OTHER_OPERANDS)?;
                window.put(to, fixed_of("", &Datum::Int(window.number(a)))?.to_bits());
            }
            LoadedOp::Negate { to, a } => {
                let opposite = window.number(a).checked_neg();
                window.put(to, opposite.ok_or_else(|| out_of_range("-"))?);
            }
            LoadedOp::Equal { to, a, b, wanted } => {
                self.meter.pay(VALUE_BYTES / prices::WALKED_PER_NANOSECOND)?;
                window.put(to, ((window.number(a) == window.number(b)) == wanted).into());
            }
            LoadedOp::LookAround { kind, radius, state } => {
                let found = self.look_around(&window.value(kind, radius))?;
                let state = usize::from(state);
                registers[state].put(Datum::Found(found.into()));
                registers[state + 1].put(Datum::Int(0));
            }
            LoadedOp::Fill { slot, register, .. } => {
                window.put(
                    slot,
                    match &registers[usize::from(register)] {
                        Datum::Bool(truth) => (*truth).into(),
                        Datum::Int(int) => *int,
                        Datum::Fixed(fixed) => fixed.to_bits(),
                        Datum::Object(object) => object.0.cast_signed(),
                        other => unreachable!("a {} has no slot", other.kind_name()),
                    },
                );
            }
            LoadedOp::FillVector { x, y, register } => {
                let Datum::Vec2(vector) = &registers[usize::from(register)] else {
                    unreachable!("it is a vector for sure")
                };
                window.put(x, vector.x.to_bits());
                window.put(y, vector.y.to_bits());
            }
            other => unreachable!("the loop itself does {other:?}"),
        }
        Ok(())
    }
}
