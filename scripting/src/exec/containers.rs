//! Arrays, maps and ranges: the functions of the table that are the executor's own.

use alloc::{format, sync::Arc, vec::Vec};

use super::{
    calls::{bounded, check_bounds, fitting},
    datum::{Datum, DatumList},
    machine::CallMachine,
    meanings::LoadedCall,
    meter::{CallFault, CallOutcome},
    operators::equal,
    places::place_in,
    prices,
};
use crate::{
    ErrorKind,
    host::HostImplementation,
    limits::{CONTAINER_BYTES, TEXT_BYTES, VALUE_BYTES},
};

fn count(elements: usize) -> Datum {
    Datum::Int(i64::try_from(elements).unwrap_or(i64::MAX))
}

impl CallMachine<'_> {
    /// Answers a question about an array, map or range.
    pub(super) fn container(&mut self, name: &str, arguments: &mut [Datum]) -> CallOutcome<Datum> {
        match (name, &mut *arguments) {
            ("len", [Datum::Array(list)]) => Ok(count(list.items().len())),
            ("len", [Datum::Map(map)]) => Ok(count(map.entries().len())),
            ("contains", [Datum::Array(list), value]) => {
                Ok(Datum::Bool(self.position(list.items(), value)?.is_some()))
            }
            ("contains", [Datum::Map(map), Datum::Text(name)]) => {
                self.meter.pay(prices::MAP_LOOKUP + name.len() as u64)?;
                Ok(Datum::Bool(map.get(name).is_some()))
            }
            ("contains", [Datum::State, Datum::Text(name)]) => {
                let name = self.state_name(name)?;
                let variable = self.state_get(&name)?;
                Ok(Datum::Bool(!matches!(variable, Datum::Unit)))
            }
            ("contains", [Datum::Range(start, end), Datum::Int(value)]) => {
                Ok(Datum::Bool((*start..*end).contains(value)))
            }
            ("contains", [Datum::RangeTo(start, last), Datum::Int(value)]) => {
                Ok(Datum::Bool((*start..=*last).contains(value)))
            }
            ("index_of", [Datum::Array(list), Datum::Function(test)]) => {
                let (list, test) = (Arc::clone(list), Arc::clone(test));
                let found = self.first_that(&list, &test)?;
                Ok(found.map_or(Datum::Unit, count))
            }
            ("index_of", [Datum::Array(list), value]) => {
                Ok(self.position(list.items(), value)?.map_or(Datum::Unit, count))
            }
            ("keys", [Datum::Map(map)]) => {
                let each = |(name, _): &(Arc<str>, Datum)| TEXT_BYTES + name.len() as u64;
                let bytes: u64 = map.entries().iter().map(each).sum();
                let names = map.entries().len() as u64;
                self.meter.pay(names * prices::ALLOCATION)?;
                self.meter.take(CONTAINER_BYTES + VALUE_BYTES * names + bytes)?;
                let names = map.entries().iter().map(|(name, _)| Datum::text(&**name));
                self.new_list(DatumList::of(names.collect()))
            }
            ("values", [Datum::Map(map)]) => {
                let values = map.entries().len() as u64;
                self.meter.pay(values * prices::ELEMENT_COPY)?;
                self.meter.take(CONTAINER_BYTES + VALUE_BYTES * values)?;
                let values = map.entries().iter().map(|(_, value)| value.clone());
                self.new_list(DatumList::of(values.collect()))
            }
            ("==" | "!=", [a, b]) => {
                self.meter.walk(a)?;
                Ok(Datum::Bool(equal(a, b) == (name == "==")))
            }
            ("type_of", [value]) => {
                self.meter.take(TEXT_BYTES)?;
                Ok(Datum::text(value.kind_name()))
            }
            _ => self.callback(name, arguments),
        }
    }

    /// The first place with an equal element.
    fn position(&mut self, items: &[Datum], value: &Datum) -> CallOutcome<Option<usize>> {
        for (place, item) in items.iter().enumerate() {
            self.meter.pay(prices::ELEMENT)?;
            self.meter.walk(item)?;
            if equal(item, value) {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Changes an array or map.
    pub(super) fn container_change(
        &mut self,
        target: &mut Datum,
        call: &LoadedCall,
        arguments: &mut [Datum],
    ) -> CallOutcome<Datum> {
        self.meter.pay(prices::ELEMENT)?;
        let result = match &mut *target {
            Datum::Array(list) => self.change_list(list, call, arguments)?,
            Datum::Map(map) => match (call.name, &*arguments) {
                ("remove", [Datum::Text(name)]) => {
                    self.meter.pay(prices::MAP_LOOKUP + map.entries().len() as u64)?;
                    Some(self.own_map(map)?.remove(name).unwrap_or_default())
                }
                ("clear", []) => {
                    // What is in it is given back here.
                    self.meter.pay(map.entries().len() as u64 * prices::ALLOCATION)?;
                    self.own_map(map)?.clear();
                    Some(Datum::Unit)
                }
                _ => None,
            },
            _ => None,
        };
        let Some(result) = result else {
            let mut all = alloc::vec![target.clone()];
            all.extend_from_slice(arguments);
            // An object has a function of the same name as an array.
            let row = fitting(call, &all)?;
            if !matches!(row.run, HostImplementation::Executor) {
                return self.host(call, &mut all);
            }
            let words = format!("{} does not take {}", call.name, target.kind_name());
            return Err(CallFault::new(ErrorKind::Type, words));
        };
        check_bounds(target)?;
        Ok(result)
    }

    fn change_list(
        &mut self,
        list: &mut Arc<DatumList>,
        call: &LoadedCall,
        arguments: &mut [Datum],
    ) -> CallOutcome<Option<Datum>> {
        let length = list.items().len();
        let moved = length as u64 / 4;
        Ok(Some(match (call.name, arguments) {
            ("push", [value]) => {
                self.grow(list, 1)?;
                self.own_list(list)?.push(core::mem::take(value));
                Datum::Unit
            }
            ("pop", []) => self.own_list(list)?.pop().unwrap_or_default(),
            ("insert", [Datum::Int(place), value]) => {
                let place = place_in("an array", length + 1, *place)?;
                self.meter.pay(moved)?;
                self.grow(list, 1)?;
                self.own_list(list)?.insert(place, core::mem::take(value));
                Datum::Unit
            }
            ("remove", [Datum::Int(place)]) => {
                let place = place_in("an array", length, *place)?;
                self.meter.pay(moved)?;
                self.own_list(list)?.remove(place)
            }
            ("clear", []) => {
                self.meter.pay(length as u64 * prices::ALLOCATION)?;
                self.own_list(list)?.clear();
                Datum::Unit
            }
            ("reverse", []) => {
                self.meter.pay(length as u64)?;
                self.own_list(list)?.reverse();
                Datum::Unit
            }
            ("sort", []) => {
                self.sort(list, None)?;
                Datum::Unit
            }
            ("sort", [Datum::Function(comparison)]) => {
                let comparison = Arc::clone(comparison);
                self.sort(list, Some(&comparison))?;
                Datum::Unit
            }
            _ => return Ok(None),
        }))
    }

    /// A list of elements that a callback gave.
    pub(super) fn collected(&mut self, items: Vec<Datum>) -> CallOutcome<Datum> {
        self.meter.take(CONTAINER_BYTES + VALUE_BYTES * items.len() as u64)?;
        let list = self.new_list(DatumList::of(items))?;
        bounded(list)
    }
}
