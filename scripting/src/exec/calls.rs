//! Small parts of the loop over operations, calls of host functions, and what a `catch` is told.

use alloc::{boxed::Box, format, string::String, sync::Arc, vec::Vec};

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;

use super::{
    convert::{into_datum, value_of},
    datum::{Datum, DatumClosure, DatumList, DatumMap},
    machine::CallMachine,
    meanings::{FrequentCall, LoadedCall},
    meter::{CallFault, CallOutcome},
    operators::fixed_of,
    prices,
};
use crate::{
    ErrorKind, Value,
    host::{HostFunction, HostImplementation, ValueKind},
    ir::BinaryOp,
    limits::{
        ARRAY_LENGTH_MAX, CONTAINER_BYTES, DATUM_BYTES_MAX, DATUM_DEPTH_MAX, MAP_LENGTH_MAX,
        STRING_BYTES_MAX, VALUE_BYTES,
    },
};

/// Arguments that a host function takes at most.
const HOST_ARGUMENTS_MAX: usize = 4;

/// Registers in a row.
pub(super) fn row(registers: &mut [Datum], first: u16, count: u16) -> &mut [Datum] {
    &mut registers[usize::from(first)..][..usize::from(count)]
}

/// Writes a number into a register; one that holds such a number needs nothing else.
#[inline]
pub(super) fn put_fixed(register: &mut Datum, value: Fx) {
    match register {
        Datum::Fixed(old) => *old = value,
        other => other.put(Datum::Fixed(value)),
    }
}

/// Puts a whole number into a register, as [`put_fixed`] does.
#[inline]
pub(super) fn put_int(register: &mut Datum, value: i64) {
    match register {
        Datum::Int(old) => *old = value,
        other => other.put(Datum::Int(value)),
    }
}

/// Changes a variable by an operator if both hold fixed-point numbers, and the result is one.
#[inline]
pub(super) fn changed_fixed(op: BinaryOp, registers: &mut [Datum], root: u16, value: u16) -> bool {
    let Datum::Fixed(value) = registers[usize::from(value)] else { return false };
    let Datum::Fixed(variable) = &mut registers[usize::from(root)] else { return false };
    let result = match op {
        BinaryOp::Add => variable.checked_add(value),
        BinaryOp::Sub => variable.checked_sub(value),
        BinaryOp::Mul => variable.checked_mul(value),
        _ => None,
    };
    result.map(|result| *variable = result).is_some()
}

/// Returns whether a value is the same as that of a case: of the same kind as well, unlike `==`.
pub(super) fn is_case(value: &Datum, case: &Datum) -> bool {
    match (value, case) {
        (Datum::Unit, Datum::Unit) => true,
        (Datum::Bool(a), Datum::Bool(b)) => a == b,
        (Datum::Int(a), Datum::Int(b)) => a == b,
        (Datum::Text(a), Datum::Text(b)) => a == b,
        _ => false,
    }
}

/// Takes the next element of what a loop goes over: its first register, with the second as its place.
pub(super) fn next_element(state: &mut [Datum]) -> Option<Datum> {
    let [over, place] = state else { unreachable!("a loop has two registers") };
    match over {
        Datum::Array(list) => {
            let Datum::Int(at) = place else { unreachable!("a place is an int") };
            let element = list.items().get(usize::try_from(*at).ok()?)?.clone();
            *at += 1;
            Some(element)
        }
        Datum::Found(objects) => {
            let Datum::Int(at) = place else { unreachable!("a place is an int") };
            let object = *objects.get(usize::try_from(*at).ok()?)?;
            *at += 1;
            Some(Datum::Object(object))
        }
        Datum::Range(next, end) => {
            if next >= end {
                return None;
            }
            *next += 1;
            Some(Datum::Int(*next - 1))
        }
        Datum::RangeTo(next, last) => {
            let element = *next;
            if element > *last {
                return None;
            }
            // The last number of all has none behind it: then the range is over.
            match next.checked_add(1) {
                Some(following) => *next = following,
                None => *over = Datum::Range(0, 0),
            }
            Some(Datum::Int(element))
        }
        _ => unreachable!("checked when the loop began"),
    }
}

#[cold]
pub(super) fn not_iterable(over: &Datum) -> Box<CallFault> {
    let words = format!("a loop goes over an array or a range, not over {}", over.kind_name());
    CallFault::new(ErrorKind::Type, words)
}

#[cold]
pub(super) fn no_condition(value: &Datum) -> Box<CallFault> {
    let words = format!("a condition is true or false, not {}", value.kind_name());
    CallFault::new(ErrorKind::Type, words)
}

#[cold]
pub(super) fn no_function(value: &Datum) -> Box<CallFault> {
    CallFault::new(ErrorKind::Type, format!("{} cannot be called", value.kind_name()))
}

/// Returns whether a function takes this as an argument of the kind.
pub(super) fn fits(kind: ValueKind, value: &Datum) -> bool {
    match kind {
        ValueKind::Any => true,
        ValueKind::Number => matches!(value, Datum::Int(_) | Datum::Fixed(_)),
        kind => value.kind() == Some(kind),
    }
}

impl CallMachine<'_> {
    pub(super) fn array(&mut self, row: &mut [Datum]) -> CallOutcome<Datum> {
        self.meter.take(CONTAINER_BYTES + VALUE_BYTES * row.len() as u64)?;
        let list = DatumList::of(row.iter_mut().map(core::mem::take).collect());
        self.new_list(list)
    }

    /// A list that was made, if it is not too large.
    pub(super) fn new_list(&mut self, list: DatumList) -> CallOutcome<Datum> {
        if list.items().len() > ARRAY_LENGTH_MAX {
            return Err(too_long("an array", ARRAY_LENGTH_MAX, "elements"));
        }
        bounded(Datum::Array(Arc::new(list)))
    }

    pub(super) fn map(&mut self, shape: &[u16], row: &mut [Datum]) -> CallOutcome<Datum> {
        let each = VALUE_BYTES + prices::MAP_LOOKUP;
        self.meter.take(CONTAINER_BYTES + each * row.len() as u64)?;
        let mut map = DatumMap::default();
        for (name, value) in shape.iter().zip(row) {
            let name = &self.program.names[usize::from(*name)].text;
            map.insert(name, core::mem::take(value));
        }
        if map.entries().len() > MAP_LENGTH_MAX {
            return Err(too_long("a map", MAP_LENGTH_MAX, "entries"));
        }
        bounded(Datum::Map(Arc::new(map)))
    }

    pub(super) fn closure(&mut self, function: u16, captured: Vec<Datum>) -> CallOutcome<Datum> {
        self.meter.take(CONTAINER_BYTES + VALUE_BYTES * captured.len() as u64)?;
        bounded(Datum::Function(Arc::new(DatumClosure::new(function, captured))))
    }

    /// Calls a host function that leaves its arguments as they are.
    pub(super) fn host(
        &mut self,
        call: &LoadedCall,
        arguments: &mut [Datum],
    ) -> CallOutcome<Datum> {
        if let Some(frequent) = call.frequent
            && let Some(result) = self.frequent(frequent, arguments)?
        {
            return Ok(result);
        }
        let row = match &call.rows[..] {
            // The function itself says what it does not take.
            [row] if !matches!(row.run, HostImplementation::Executor) => *row,
            [_] => fitting(call, arguments)?,
            _ => {
                let row = fitting(call, arguments)?;
                self.meter.pay(prices::host(row))?;
                row
            }
        };
        let mut values: [Value; HOST_ARGUMENTS_MAX] = Default::default();
        let values = &mut values[..arguments.len()];
        match row.run {
            HostImplementation::Executor => self.container(row.name, arguments),
            HostImplementation::Pure(work) => {
                self.values(arguments, values)?;
                let result = work(values)?;
                self.made(result)
            }
            HostImplementation::Scene(work) => {
                self.values(arguments, values)?;
                let scene = self.scene()?;
                let result = work(scene, values)?;
                let looked = scene.take_looked() as u64;
                self.meter.pay(looked * prices::LOOK)?;
                self.made(result)
            }
        }
    }

    /// Does what scripts do most, without values of the world's own between; nothing if that is not possible.
    /// It pays what the function of the table would.
    fn frequent(&mut self, call: FrequentCall, arguments: &[Datum]) -> CallOutcome<Option<Datum>> {
        Ok(match (call, arguments) {
            (FrequentCall::Vec2, [Datum::Fixed(x), Datum::Fixed(y)]) => {
                Some(Datum::Vec2(Vec2::new(*x, *y)))
            }
            (FrequentCall::Sqrt, [Datum::Fixed(x)]) => x.sqrt().map(Datum::Fixed),
            (FrequentCall::Nearby, [radius @ (Datum::Fixed(_) | Datum::Int(_))]) => {
                let found = self.look_around(radius)?;
                Some(Datum::Array(Arc::new(DatumList::of_objects(found))))
            }
            (FrequentCall::Send, [Datum::Object(to), Datum::Text(topic), data]) => {
                self.pay_for(arguments)?;
                let data = value_of(data)?;
                self.scene()?.send(*to, topic, data)?;
                Some(Datum::Unit)
            }
            (FrequentCall::Split, [Datum::Text(text), Datum::Text(by)]) => {
                self.pay_for(arguments)?;
                let parts = match by.as_str() {
                    "" => text.chars().count(),
                    by => text.matches(by).count() + 1,
                };
                if parts > ARRAY_LENGTH_MAX {
                    return Err(too_long("an array", ARRAY_LENGTH_MAX, "elements"));
                }
                // Each part has memory of its own: asked for twice, and given back.
                self.meter.pay(2 * prices::ALLOCATION * parts as u64)?;
                None
            }
            _ => None,
        })
    }

    /// Returns the objects around the own one, and pays for an array of them.
    pub(super) fn look_around(&mut self, radius: &Datum) -> CallOutcome<Vec<ObjectId>> {
        let radius = fixed_of("nearby", radius)?;
        let scene = self.scene()?;
        let found = scene.nearby(radius)?;
        let looked = scene.take_looked() as u64;
        self.meter.pay(looked * prices::LOOK)?;
        self.meter.take(DatumList::size_of_objects(found.len()))?;
        Ok(found)
    }

    /// Pays for handing arguments to the world.
    pub(super) fn pay_for(&mut self, arguments: &[Datum]) -> CallOutcome<()> {
        for argument in arguments {
            if !matches!(argument, Datum::Int(_) | Datum::Fixed(_) | Datum::Vec2(_)) {
                self.meter.pay(argument.size() * prices::HANDED_PER_BYTE)?;
            }
        }
        Ok(())
    }

    /// Arguments as the functions of the table take them.
    fn values(&mut self, arguments: &[Datum], values: &mut [Value]) -> CallOutcome<()> {
        self.pay_for(arguments)?;
        for (value, argument) in values.iter_mut().zip(arguments) {
            *value = value_of(argument)?;
        }
        Ok(())
    }

    /// Turns what a function of the table gave into a datum.
    fn made(&mut self, result: Value) -> CallOutcome<Datum> {
        let datum = into_datum(result);
        if matches!(datum, Datum::Text(_) | Datum::Array(_) | Datum::Map(_)) {
            self.meter.take(datum.size())?;
        }
        match &datum {
            Datum::Text(text) if text.len() > STRING_BYTES_MAX => {
                Err(too_long("a text", STRING_BYTES_MAX, "bytes"))
            }
            Datum::Array(list) if list.items().len() > ARRAY_LENGTH_MAX => {
                Err(too_long("an array", ARRAY_LENGTH_MAX, "elements"))
            }
            _ => bounded(datum),
        }
    }

    pub(super) fn thrown(&mut self, value: Datum) -> Box<CallFault> {
        let mut words = String::new();
        if let Err(fault) = self.print(&value, &mut words) {
            return fault;
        }
        let mut fault = CallFault::new(ErrorKind::Thrown, words);
        fault.thrown = Some(value);
        fault
    }

    /// Returns what a `catch` is told: the value that was thrown, or what failed and where.
    pub(super) fn told(&mut self, fault: &CallFault) -> CallOutcome<Datum> {
        self.meter.pay(prices::FAILURE)?;
        if let Some(value) = &fault.thrown {
            return Ok(value.clone());
        }
        let mut map = DatumMap::default();
        let mut put = |name: &str, value| map.insert(&Arc::from(name), value);
        put("kind", Datum::text(format!("{}", fault.kind)));
        put("message", Datum::text(fault.message.as_str()));
        put("line", Datum::Int(fault.at.line.into()));
        put("column", Datum::Int(fault.at.column.into()));
        let map = Datum::Map(Arc::new(map));
        self.meter.take(map.size())?;
        bounded(map)
    }
}

/// The row of the table that takes these arguments.
pub(super) fn fitting(
    call: &LoadedCall,
    arguments: &[Datum],
) -> CallOutcome<&'static HostFunction> {
    let fitting = |row: &&&HostFunction| {
        row.arguments.iter().zip(arguments).all(|((_, kind), value)| fits(*kind, value))
    };
    call.rows.iter().find(fitting).copied().ok_or_else(|| {
        let kinds: Vec<String> = arguments.iter().map(Datum::kind_name).collect();
        let words = format!("{} does not take ({})", call.name, kinds.join(", "));
        CallFault::new(ErrorKind::Type, words)
    })
}

#[cold]
pub(super) fn too_long(what: &str, most: usize, of: &str) -> Box<CallFault> {
    CallFault::new(ErrorKind::Memory, format!("{what} of more than {most} {of}"))
}

/// The value, unless it is too large or too deep: whatever walks over it is bounded by that.
pub(super) fn bounded(value: Datum) -> CallOutcome<Datum> {
    check_bounds(&value)?;
    Ok(value)
}

pub(super) fn check_bounds(value: &Datum) -> CallOutcome<()> {
    if value.depth() > DATUM_DEPTH_MAX {
        let words = format!("arrays and maps nested deeper than {DATUM_DEPTH_MAX}");
        Err(CallFault::new(ErrorKind::Depth, words))
    } else if value.size() > DATUM_BYTES_MAX {
        Err(CallFault::new(
            ErrorKind::Memory,
            format!("a value of more than {DATUM_BYTES_MAX} bytes"),
        ))
    } else {
        Ok(())
    }
}
