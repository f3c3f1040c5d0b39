//! Writes inner parts of variables, in place.
//!
//! What is written is taken out of its variable first and put back afterwards, so that a copy is made
//! only of what somebody else holds too.

use alloc::{format, string::String, sync::Arc};

use metatopia_types::ObjectId;

use super::{
    calls::{check_bounds, too_long},
    convert::value_of,
    datum::{Datum, DatumList, DatumMap},
    machine::CallMachine,
    meanings::{LoadedCall, LoadedName},
    meter::{CallFault, CallOutcome},
    operators::{equal, fixed, fixed_of, ints},
    origins::OperationAtWork,
    places::{no_index, place_in, unknown_property},
    prices,
};
use crate::{
    ErrorKind,
    host::{Access, HostProperty, SetField},
    ir::{BinaryOp, IrLink, IrLinkKind},
    lang::SourcePoint,
    limits::{
        ARRAY_LENGTH_MAX, CONTAINER_BYTES, MAP_LENGTH_MAX, STRING_BYTES_MAX, TEXT_BYTES,
        VALUE_BYTES,
    },
};

/// Properties that say where an object is.
const POSE: [&str; 2] = ["pos", "angle"];

/// What is done to an inner part.
pub(super) enum PartChange<'a> {
    Store(Datum),
    Operator(BinaryOp, &'a Datum),
    Method(&'a LoadedCall, &'a mut [Datum]),
}

/// The way to an inner part, as far as it is not gone yet.
#[derive(Clone, Copy)]
struct PartPath<'a> {
    links: &'a [IrLink],
    /// Where the indices are.
    registers: &'a [Datum],
    /// The place of the operation.
    at: OperationAtWork,
}

/// Says where a fault was, unless that is known.
fn at_link<T>(outcome: CallOutcome<T>, link: &IrLink) -> CallOutcome<T> {
    outcome.map_err(|mut fault| {
        if fault.at == SourcePoint::default() {
            fault.at = if fault.at_sign { link.sign } else { link.at };
        }
        fault
    })
}

impl CallMachine<'_> {
    /// Writes an inner part of a variable.
    pub(super) fn store(
        &mut self,
        registers: &mut [Datum],
        (root, path): (u16, u16),
        value: Datum,
        at: OperationAtWork,
    ) -> CallOutcome<()> {
        let links = &self.program.paths[usize::from(path)][..];
        if let ([link], Datum::Object(object)) = (links, &registers[usize::from(root)])
            && *object == self.me
            && let IrLinkKind::Name(name) = link.kind
            && let Some(property) = self.program.names[usize::from(name)].meaning.property
            && let Access::Field(_, Some(set)) = property.access
        {
            self.meter.pay(prices::PATH_LINK)?;
            return at_link(self.set_own(property.name, set, &value), link);
        }
        let mut variable = core::mem::take(&mut registers[usize::from(root)]);
        let path = PartPath { links, registers, at };
        let result = self.walk(&mut variable, path, PartChange::Store(value));
        registers[usize::from(root)] = variable;
        result.map(drop)
    }

    /// Changes a variable, or an inner part of it, by an operator.
    #[inline]
    pub(super) fn change(
        &mut self,
        registers: &mut [Datum],
        op: BinaryOp,
        (root, path): (u16, u16),
        value: u16,
        at: OperationAtWork,
    ) -> CallOutcome<()> {
        let links = &self.program.paths[usize::from(path)][..];
        let mut variable = core::mem::take(&mut registers[usize::from(root)]);
        let itself;
        let value = if root == value {
            itself = variable.clone();
            &itself
        } else {
            &registers[usize::from(value)]
        };
        let result = if links.is_empty() {
            self.operate_on(op, &mut variable, value)
        } else {
            let path = PartPath { links, registers, at };
            self.walk(&mut variable, path, PartChange::Operator(op, value)).map(drop)
        };
        registers[usize::from(root)] = variable;
        result
    }

    /// Calls a function that changes an inner part of a variable.
    pub(super) fn method(
        &mut self,
        registers: &mut [Datum],
        (root, path): (u16, u16),
        (call, first): (u16, u16),
        at: OperationAtWork,
    ) -> CallOutcome<()> {
        let call = self.program.call(call);
        let links = &self.program.paths[usize::from(path)][..];
        // None of them has more than two besides what is changed.
        let mut arguments: [Datum; 2] = core::array::from_fn(|index| {
            let given = index + 1 < call.count;
            let place = usize::from(first) + index + 1;
            if given { core::mem::take(&mut registers[place]) } else { Datum::Unit }
        });
        let mut variable = core::mem::take(&mut registers[usize::from(root)]);
        let path = PartPath { links, registers, at };
        let given = &mut arguments[..call.count - 1];
        let result = self.walk(&mut variable, path, PartChange::Method(call, given));
        registers[usize::from(root)] = variable;
        registers[usize::from(first)] = result?;
        Ok(())
    }

    fn change_part(&mut self, target: &mut Datum, change: PartChange<'_>) -> CallOutcome<Datum> {
        match change {
            PartChange::Store(value) => *target = value,
            PartChange::Operator(op, value) => self.operate_on(op, target, value)?,
            PartChange::Method(call, arguments) => {
                return self.container_change(target, call, arguments);
            }
        }
        Ok(Datum::Unit)
    }

    /// Follows the path, does the change at its end, and puts back what was taken out on the way.
    fn walk(
        &mut self,
        target: &mut Datum,
        path: PartPath<'_>,
        change: PartChange<'_>,
    ) -> CallOutcome<Datum> {
        let Some((link, rest)) = path.links.split_first() else {
            return self.change_part(target, change).map_err(|mut fault| {
                if fault.at == SourcePoint::default() {
                    fault.at = self.program.place(path.at);
                }
                fault
            });
        };
        if link.optional && matches!(target, Datum::Unit) {
            return Ok(Datum::Unit);
        }
        self.meter.pay(prices::PATH_LINK)?;
        let rest = PartPath { links: rest, ..path };
        let program = self.program;
        let result = match link.kind {
            IrLinkKind::Name(name) => {
                self.walk_name(target, &program.names[usize::from(name)], rest, change)
            }
            IrLinkKind::Index(register) => {
                self.walk_index(target, &path.registers[usize::from(register)], rest, change)
            }
        };
        let result = at_link(result, link)?;
        check_bounds(target)?;
        Ok(result)
    }

    fn walk_name(
        &mut self,
        target: &mut Datum,
        name: &LoadedName,
        rest: PartPath<'_>,
        change: PartChange<'_>,
    ) -> CallOutcome<Datum> {
        match (&mut *target, name.meaning.coordinate, name.meaning.property) {
            (Datum::Vec2(vector), Some(coordinate), _) => {
                let mut inner = Datum::Fixed(*coordinate(vector));
                let result = self.walk(&mut inner, rest, change)?;
                *coordinate(vector) = fixed_of("a coordinate", &inner)?;
                Ok(result)
            }
            (Datum::Object(object), _, Some(property)) => {
                self.walk_field(*object, property, rest, change)
            }
            (Datum::Map(map), ..) => self.walk_entry(map, &name.text, rest, change),
            (Datum::State, ..) => self.walk_state(&name.text, rest, change),
            _ => Err(unknown_property(target, &name.text)),
        }
    }

    fn walk_index(
        &mut self,
        target: &mut Datum,
        index: &Datum,
        rest: PartPath<'_>,
        change: PartChange<'_>,
    ) -> CallOutcome<Datum> {
        match (&mut *target, index) {
            (Datum::Array(list), Datum::Int(place)) => {
                let place = place_in("an array", list.items().len(), *place)?;
                let list = self.own_list(list)?;
                let mut inner = list.take(place);
                let result = self.walk(&mut inner, rest, change);
                list.put(place, inner);
                result
            }
            (Datum::Map(map), Datum::Text(name)) => {
                let name = self.state_name(name)?;
                self.walk_entry(map, &name, rest, change)
            }
            (Datum::State, Datum::Text(name)) => {
                let name = self.state_name(name)?;
                self.walk_state(&name, rest, change)
            }
            (Datum::Text(text), Datum::Int(place)) => {
                let mut inner = self.index(&Datum::Text(Arc::clone(text)), index)?;
                let result = self.walk(&mut inner, rest, change)?;
                *target = self.with_letter(text, *place, &inner)?;
                Ok(result)
            }
            _ => Err(no_index(target, index)),
        }
    }

    fn walk_entry(
        &mut self,
        map: &mut Arc<DatumMap>,
        name: &Arc<str>,
        rest: PartPath<'_>,
        change: PartChange<'_>,
    ) -> CallOutcome<Datum> {
        self.meter.pay(prices::MAP_LOOKUP + name.len() as u64)?;
        let map = self.own_map(map)?;
        if let Some(mut inner) = map.take(name) {
            let result = self.walk(&mut inner, rest, change);
            map.insert(name, inner);
            return result;
        }
        let is_new = rest.links.is_empty() && !matches!(change, PartChange::Method(..));
        let mut inner = Datum::Unit;
        let result = self.walk(&mut inner, rest, change)?;
        if is_new {
            if map.entries().len() == MAP_LENGTH_MAX {
                return Err(too_long("a map", MAP_LENGTH_MAX, "entries"));
            }
            self.meter.take(2 * VALUE_BYTES + name.len() as u64)?;
            self.meter.pay(map.entries().len() as u64)?;
            map.insert(name, inner);
        }
        Ok(result)
    }

    fn walk_state(
        &mut self,
        name: &Arc<str>,
        rest: PartPath<'_>,
        change: PartChange<'_>,
    ) -> CallOutcome<Datum> {
        let mut inner = self.state_take(name)?;
        match self.walk(&mut inner, rest, change) {
            Ok(result) => {
                self.state_put(name, inner, rest.at)?;
                Ok(result)
            }
            Err(fault) => {
                self.state_back(name, inner);
                Err(fault)
            }
        }
    }

    fn walk_field(
        &mut self,
        object: ObjectId,
        property: &HostProperty,
        rest: PartPath<'_>,
        change: PartChange<'_>,
    ) -> CallOutcome<Datum> {
        let writes = rest.links.is_empty() && object == self.me;
        if let (true, PartChange::Store(value), Access::Field(_, Some(set))) =
            (writes, &change, property.access)
        {
            self.set_own(property.name, set, value)?;
            return Ok(Datum::Unit);
        }
        let before = self.field(object, property)?;
        let mut inner = before.clone();
        let result = self.walk(&mut inner, rest, change)?;
        // Whoever calls a method on a part of it has not written it.
        if inner.kind() == before.kind() && equal(&inner, &before) {
            return Ok(result);
        }
        let Access::Field(_, set) = property.access else {
            unreachable!("properties of objects are fields")
        };
        let name = property.name;
        let refused = |words: String| CallFault::new(ErrorKind::Argument, words);
        let set = set.ok_or_else(|| refused(format!("{name} cannot be written")))?;
        if object != self.me {
            let words = format!("{name} of another object cannot be written: send it a message");
            return Err(refused(words));
        }
        self.set_own(name, set, &inner)?;
        Ok(result)
    }

    /// Pays for writing a value that counts so many bytes to a field of the own object.
    pub(super) fn pay_for_own(&mut self, name: &str, bytes: u64) -> CallOutcome<()> {
        self.meter.pay(if POSE.contains(&name) { prices::POSE } else { 0 })?;
        self.meter.pay(bytes / prices::WALKED_PER_NANOSECOND)
    }

    /// Writes a field of the own object. The world itself sees whether that changes anything.
    fn set_own(&mut self, name: &str, set: SetField, value: &Datum) -> CallOutcome<()> {
        self.pay_for_own(name, value.size())?;
        let value = value_of(value)?;
        set(self.scene()?, &[value])?;
        Ok(())
    }

    fn with_letter(&mut self, text: &str, place: i64, letter: &Datum) -> CallOutcome<Datum> {
        let letter = match letter {
            Datum::Text(letter) if letter.chars().count() == 1 => letter,
            other => {
                let words =
                    format!("a place in a text holds one letter, not {}", other.kind_name());
                return Err(CallFault::new(ErrorKind::Type, words));
            }
        };
        self.meter.take(TEXT_BYTES + text.len() as u64 + 4)?;
        self.meter.pay(2 * text.len() as u64)?;
        let place = place_in("a text", text.chars().count(), place)?;
        let (start, old) = text.char_indices().nth(place).unwrap_or((text.len(), ' '));
        let end = (start + old.len_utf8()).min(text.len());
        Ok(Datum::text([&text[..start], letter.as_str(), &text[end..]].concat()))
    }

    /// Changes a value by an operator; texts and arrays grow in place.
    #[inline]
    pub(super) fn operate_on(
        &mut self,
        op: BinaryOp,
        target: &mut Datum,
        value: &Datum,
    ) -> CallOutcome<()> {
        match (&mut *target, value) {
            (Datum::Fixed(a), Datum::Fixed(b)) if is_plain(op) => *a = fixed(op, *a, *b)?,
            (Datum::Int(a), Datum::Int(b)) if is_plain(op) => *a = ints(op, *a, *b)?,
            (Datum::Text(text), Datum::Text(more)) if op == BinaryOp::Add => {
                self.append(text, more)?;
            }
            (Datum::Array(list), value) if op == BinaryOp::Add => {
                self.extend(list, value)?;
                check_bounds(target)?;
            }
            _ => *target = self.binary(op, target, value)?,
        }
        Ok(())
    }

    fn append(&mut self, text: &mut Arc<String>, more: &str) -> CallOutcome<()> {
        let length = text.len() + more.len();
        if length > STRING_BYTES_MAX {
            return Err(too_long("a text", STRING_BYTES_MAX, "bytes"));
        }
        if let Some(own) = Arc::get_mut(text) {
            self.meter.take(more.len() as u64)?;
            own.push_str(more);
        } else {
            self.meter.take(TEXT_BYTES + length as u64)?;
            *text = Arc::new([text.as_str(), more].concat());
        }
        Ok(())
    }

    fn extend(&mut self, list: &mut Arc<DatumList>, value: &Datum) -> CallOutcome<()> {
        let more = match value {
            Datum::Array(more) => more.items(),
            one => core::slice::from_ref(one),
        };
        self.grow(list, more.len())?;
        let list = self.own_list(list)?;
        more.iter().for_each(|value| list.push(value.clone()));
        Ok(())
    }

    /// Pays for more elements of an array, if it may have so many.
    pub(super) fn grow(&mut self, list: &DatumList, more: usize) -> CallOutcome<()> {
        if list.items().len() + more > ARRAY_LENGTH_MAX {
            return Err(too_long("an array", ARRAY_LENGTH_MAX, "elements"));
        }
        self.meter.pay(more as u64 * prices::ELEMENT_COPY)?;
        self.meter.take(VALUE_BYTES * more as u64)
    }

    /// The list itself; a copy if others hold it too.
    pub(super) fn own_list<'l>(
        &mut self,
        list: &'l mut Arc<DatumList>,
    ) -> CallOutcome<&'l mut DatumList> {
        if Arc::get_mut(list).is_none() {
            let count = list.items().len() as u64;
            self.meter.pay(count * prices::ELEMENT_COPY)?;
            self.meter.take(CONTAINER_BYTES + VALUE_BYTES * count)?;
        }
        Ok(Arc::make_mut(list))
    }

    /// The map itself; a copy if others hold it too.
    pub(super) fn own_map<'m>(
        &mut self,
        map: &'m mut Arc<DatumMap>,
    ) -> CallOutcome<&'m mut DatumMap> {
        if Arc::get_mut(map).is_none() {
            let count = map.entries().len() as u64;
            self.meter.pay(2 * count * prices::ELEMENT_COPY)?;
            self.meter.take(CONTAINER_BYTES + 2 * VALUE_BYTES * count)?;
        }
        Ok(Arc::make_mut(map))
    }
}

/// Operators whose result is of the same kind as two equal ones.
const fn is_plain(op: BinaryOp) -> bool {
    use BinaryOp as B;
    matches!(op, B::Add | B::Sub | B::Mul | B::Div | B::Rem)
}
