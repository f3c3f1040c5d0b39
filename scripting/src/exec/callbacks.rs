//! Functions of arrays that call back into the script. They are metered inside of the callback, and what
//! fails there fails here.

use alloc::{boxed::Box, format, sync::Arc, vec::Vec};
use core::cmp::Ordering;

use super::{
    datum::{Datum, DatumClosure, DatumList},
    machine::CallMachine,
    meter::{CallFault, CallOutcome},
    operators::order,
    prices,
};
use crate::{
    ErrorKind,
    limits::{CONTAINER_BYTES, VALUE_BYTES},
};

/// A closure that is called for one element after the other.
struct Callback<'c> {
    closure: &'c DatumClosure,
    /// It takes the place of the element as well.
    takes_place: bool,
    /// Its registers, while it runs.
    stack: Vec<Datum>,
}

#[cold]
fn no_truth(name: &str, value: &Datum) -> Box<CallFault> {
    let words = format!("{name}: the closure gives true or false, not {}", value.kind_name());
    CallFault::new(ErrorKind::Type, words)
}

fn truth(name: &str, value: &Datum) -> CallOutcome<bool> {
    match value {
        Datum::Bool(value) => Ok(*value),
        other => Err(no_truth(name, other)),
    }
}

impl CallMachine<'_> {
    fn ready_callback<'c>(&mut self, closure: &'c DatumClosure) -> CallOutcome<Callback<'c>> {
        let function = &self.program.functions[usize::from(closure.function)];
        let takes_place = function.parameters == 2;
        self.meter.pay(prices::ALLOCATION)?;
        Ok(Callback { closure, takes_place, stack: Vec::with_capacity(function.registers()) })
    }

    fn ask(
        &mut self,
        callback: &mut Callback<'_>,
        place: usize,
        item: &Datum,
    ) -> CallOutcome<Datum> {
        self.meter.pay(prices::ELEMENT_COPY)?;
        callback.stack.clear();
        callback.stack.push(item.clone());
        if callback.takes_place {
            callback.stack.push(Datum::Int(i64::try_from(place).unwrap_or(i64::MAX)));
        }
        let count = u16::try_from(callback.stack.len()).expect("one or two");
        self.call_closure(&mut callback.stack, callback.closure, count)
    }

    /// The first place whose element the closure says yes to.
    pub(super) fn first_that(
        &mut self,
        list: &DatumList,
        closure: &DatumClosure,
    ) -> CallOutcome<Option<usize>> {
        let mut callback = self.ready_callback(closure)?;
        for (place, item) in list.items().iter().enumerate() {
            if truth("the test", &self.ask(&mut callback, place, item)?)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    pub(super) fn callback(&mut self, name: &str, arguments: &mut [Datum]) -> CallOutcome<Datum> {
        let (list, closure, start) = match arguments {
            [Datum::Array(list), Datum::Function(closure)] => (list, closure, None),
            [Datum::Array(list), Datum::Function(closure), start] => (list, closure, Some(start)),
            _ => {
                let words = format!("{name} takes an array and a closure");
                return Err(CallFault::new(ErrorKind::Type, words));
            }
        };
        if let Some(start) = start {
            return self.reduce(list, closure, core::mem::take(start));
        }
        let mut callback = self.ready_callback(closure)?;
        let mut kept = Vec::new();
        for (place, item) in list.items().iter().enumerate() {
            let answer = self.ask(&mut callback, place, item)?;
            match name {
                "map" => {
                    self.meter.pay(prices::ELEMENT_COPY)?;
                    kept.push(answer);
                }
                "filter" => {
                    if truth(name, &answer)? {
                        self.meter.pay(prices::ELEMENT_COPY)?;
                        kept.push(item.clone());
                    }
                }
                "for_each" => {}
                "any" if truth(name, &answer)? => return Ok(Datum::Bool(true)),
                "all" if !truth(name, &answer)? => return Ok(Datum::Bool(false)),
                "any" | "all" => {}
                "find" if truth(name, &answer)? => return Ok(item.clone()),
                "find" => {}
                _ => unreachable!("{name} is in the table, and is done nowhere"),
            }
        }
        match name {
            "map" | "filter" => self.collected(kept),
            "any" => Ok(Datum::Bool(false)),
            "all" => Ok(Datum::Bool(true)),
            _ => Ok(Datum::Unit),
        }
    }

    fn reduce(
        &mut self,
        list: &DatumList,
        closure: &DatumClosure,
        start: Datum,
    ) -> CallOutcome<Datum> {
        let mut callback = self.ready_callback(closure)?;
        let mut sum = start;
        for item in list.items() {
            self.meter.pay(2 * prices::ELEMENT_COPY)?;
            callback.stack.clear();
            callback.stack.push(core::mem::take(&mut sum));
            callback.stack.push(item.clone());
            sum = self.call_closure(&mut callback.stack, closure, 2)?;
        }
        Ok(sum)
    }

    /// Sorts so that equal elements keep their order. The closure says which of two comes first by an int
    /// below zero, zero, or above; whatever it says, the sort ends, and ends the same everywhere.
    pub(super) fn sort(
        &mut self,
        list: &mut Arc<DatumList>,
        comparison: Option<&DatumClosure>,
    ) -> CallOutcome<()> {
        let length = list.items().len();
        self.meter.take(CONTAINER_BYTES + VALUE_BYTES * length as u64)?;
        if comparison.is_none() {
            self.sortable(list.items())?;
        }
        let mut callback = comparison.map(|closure| self.ready_callback(closure)).transpose()?;
        let list = self.own_list(list)?;
        let mut items = list.take_items();
        let sorted = self.merge_sort(&mut items, callback.as_mut());
        list.put_items(items);
        sorted
    }

    /// Numbers alone, or texts alone, have an order.
    fn sortable(&mut self, items: &[Datum]) -> CallOutcome<()> {
        self.meter.pay(items.len() as u64 * prices::ELEMENT)?;
        let Some(first) = items.first() else { return Ok(()) };
        let plain = |item: &Datum| matches!(item, Datum::Int(_) | Datum::Fixed(_) | Datum::Text(_));
        if items.iter().all(|item| plain(item) && order(first, item).is_some()) {
            return Ok(());
        }
        let words = "sort: only numbers, or only strings, have an order";
        Err(CallFault::new(ErrorKind::Type, words))
    }

    /// Merges from short runs to long ones. An element moves only within its run, so a fault loses none.
    fn merge_sort(
        &mut self,
        items: &mut [Datum],
        mut callback: Option<&mut Callback<'_>>,
    ) -> CallOutcome<()> {
        let mut width = 1;
        while width < items.len() {
            for run in items.chunks_mut(2 * width) {
                if run.len() > width {
                    self.merge(run, width, callback.as_deref_mut())?;
                }
            }
            width *= 2;
        }
        Ok(())
    }

    /// Merges two sorted runs, the second of which begins at `middle`.
    fn merge(
        &mut self,
        run: &mut [Datum],
        middle: usize,
        mut callback: Option<&mut Callback<'_>>,
    ) -> CallOutcome<()> {
        let mut merged: Vec<usize> = Vec::with_capacity(run.len());
        let (mut left, mut right) = (0, middle);
        while left < middle && right < run.len() {
            self.meter.pay(prices::COMPARISON)?;
            let second_first = match callback.as_deref_mut() {
                Some(callback) => self.comes_first(callback, &run[right], &run[left])?,
                None => order(&run[right], &run[left]).is_some_and(Ordering::is_lt),
            };
            if second_first {
                merged.push(right);
                right += 1;
            } else {
                merged.push(left);
                left += 1;
            }
        }
        merged.extend(left..middle);
        merged.extend(right..run.len());
        self.meter.pay(run.len() as u64 * prices::ELEMENT)?;
        let taken: Vec<Datum> =
            merged.iter().map(|place| core::mem::take(&mut run[*place])).collect();
        run.iter_mut().zip(taken).for_each(|(place, item)| *place = item);
        Ok(())
    }

    /// Returns whether the closure puts the first of two before the second.
    fn comes_first(
        &mut self,
        callback: &mut Callback<'_>,
        a: &Datum,
        b: &Datum,
    ) -> CallOutcome<bool> {
        self.meter.pay(2 * prices::ELEMENT_COPY)?;
        callback.stack.clear();
        callback.stack.extend([a.clone(), b.clone()]);
        match self.call_closure(&mut callback.stack, callback.closure, 2)? {
            Datum::Int(order) => Ok(order < 0),
            other => {
                let words = format!(
                    "sort: the closure gives an int, below 0 if the first of two comes first, not {}",
                    other.kind_name()
                );
                Err(CallFault::new(ErrorKind::Type, words))
            }
        }
    }
}
