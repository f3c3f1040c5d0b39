//! Values while a call runs. Copies share their memory until one of them is written to.

mod text;

use alloc::{boxed::Box, string::String, sync::Arc, vec::Vec};
use core::cmp::Ordering;

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;

use super::meter::CallFault;
use crate::{
    host::ValueKind,
    limits::{CONTAINER_BYTES, TEXT_BYTES, VALUE_BYTES},
};

/// A value of a running script.
#[derive(Clone, Debug, Default)]
pub(crate) enum Datum {
    #[default]
    Unit,
    Bool(bool),
    Int(i64),
    Fixed(Fx),
    Vec2(Vec2),
    Object(ObjectId),
    Text(Arc<String>),
    Array(Arc<DatumList>),
    Map(Arc<DatumMap>),
    /// From a number up to, not including, another.
    Range(i64, i64),
    /// From a number up to another.
    RangeTo(i64, i64),
    Function(Arc<DatumClosure>),
    /// The script's persistent variables.
    State,
    /// A whole error, which no script can name.
    Fault(Arc<CallFault>),
    /// Objects that a loop goes over, and that nothing else has: no script can name them.
    Found(Box<[ObjectId]>),
}

/// Elements of an array, with what they count.
#[derive(Clone, Debug, Default)]
pub(crate) struct DatumList {
    items: Vec<Datum>,
    /// What the elements count together; shared ones as often as they are in it.
    bytes: u64,
    /// How many arrays and maps are inside one another, itself included. It never falls.
    depth: u8,
}

/// Entries of a map in the order of their names, with what they count.
#[derive(Clone, Debug, Default)]
pub(crate) struct DatumMap {
    entries: Vec<(Arc<str>, Datum)>,
    bytes: u64,
    depth: u8,
}

/// A function with what it captured.
#[derive(Debug)]
pub(crate) struct DatumClosure {
    pub(super) function: u16,
    pub(super) captures: Vec<Datum>,
    bytes: u64,
    depth: u8,
}

impl Datum {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(Arc::new(text.into()))
    }

    /// Says whether it holds no memory of its own.
    #[inline]
    const fn is_plain(&self) -> bool {
        matches!(
            self,
            Self::Unit
                | Self::Bool(_)
                | Self::Int(_)
                | Self::Fixed(_)
                | Self::Vec2(_)
                | Self::Object(_)
                | Self::Range(..)
                | Self::RangeTo(..)
                | Self::State
        )
    }

    /// Puts another value in its place. Most values hold no memory: the call that would drop one took as long
    /// as the operation itself.
    #[inline]
    #[expect(clippy::mem_forget, reason = "a plain value has nothing that a drop would free")]
    pub(super) fn put(&mut self, value: Self) {
        if self.is_plain() {
            core::mem::forget(core::mem::replace(self, value));
        } else {
            *self = value;
        }
    }

    /// Drops it. Most values hold no memory, and need no call for that.
    #[inline]
    #[expect(clippy::mem_forget, reason = "a plain value has nothing that a drop would free")]
    pub(super) fn release(self) {
        if self.is_plain() {
            core::mem::forget(self);
        }
    }

    /// Its kind; none for what no script can name.
    pub(super) const fn kind(&self) -> Option<ValueKind> {
        Some(match self {
            Self::Unit => ValueKind::Unit,
            Self::Bool(_) => ValueKind::Bool,
            Self::Int(_) => ValueKind::Int,
            Self::Fixed(_) => ValueKind::Fixed,
            Self::Vec2(_) => ValueKind::Vec2,
            Self::Object(_) => ValueKind::Object,
            Self::Text(_) => ValueKind::Text,
            Self::Array(_) => ValueKind::Array,
            Self::Map(_) => ValueKind::Map,
            Self::Range(..) | Self::RangeTo(..) => ValueKind::Range,
            Self::Function(_) => ValueKind::Function,
            Self::State => ValueKind::State,
            Self::Fault(_) | Self::Found(_) => return None,
        })
    }

    /// Its kind, in words.
    pub(super) fn kind_name(&self) -> String {
        self.kind().map_or_else(|| "error".into(), |kind| alloc::format!("{kind}"))
    }

    /// Bytes that it counts with all that is in it: the same on every machine.
    pub(super) fn size(&self) -> u64 {
        VALUE_BYTES
            + match self {
                Self::Text(text) => TEXT_BYTES + text.len() as u64,
                Self::Array(list) => CONTAINER_BYTES.saturating_add(list.bytes),
                Self::Map(map) => CONTAINER_BYTES.saturating_add(map.bytes),
                Self::Function(closure) => CONTAINER_BYTES.saturating_add(closure.bytes),
                _ => 0,
            }
    }

    /// Returns how many arrays, maps and closures are inside one another, at most.
    pub(super) fn depth(&self) -> u8 {
        match self {
            Self::Array(list) => list.depth(),
            Self::Map(map) => map.depth(),
            Self::Function(closure) => closure.depth,
            _ => 0,
        }
    }
}

/// The order of two texts by code points. Where one is empty nothing is compared: to find that out, byte by
/// byte, took forty nanoseconds, and seven times that in a large map.
pub(super) fn order_of_texts(a: &str, b: &str) -> Ordering {
    if a.is_empty() || b.is_empty() { a.len().cmp(&b.len()) } else { a.cmp(b) }
}

/// Returns the bytes without those that are gone and with those that came, in a sum that cannot leave its range.
const fn swapped(bytes: u64, gone: u64, came: u64) -> u64 {
    bytes.saturating_sub(gone).saturating_add(came)
}

impl DatumList {
    pub(super) fn of(items: Vec<Datum>) -> Self {
        let bytes = items.iter().map(Datum::size).fold(0, u64::saturating_add);
        let depth = items.iter().map(Datum::depth).max().unwrap_or(0);
        Self { items, bytes, depth }
    }

    /// Returns what an array of so many objects counts.
    pub(super) const fn size_of_objects(count: usize) -> u64 {
        VALUE_BYTES + CONTAINER_BYTES + VALUE_BYTES * count as u64
    }

    /// Returns a list of objects, each of which counts the same.
    pub(super) fn of_objects(objects: Vec<ObjectId>) -> Self {
        let bytes = VALUE_BYTES * objects.len() as u64;
        Self { items: objects.into_iter().map(Datum::Object).collect(), bytes, depth: 0 }
    }

    #[inline]
    pub(super) fn items(&self) -> &[Datum] {
        &self.items
    }

    pub(super) const fn depth(&self) -> u8 {
        self.depth.saturating_add(1)
    }

    fn came(&mut self, depth: u8, size: u64) {
        self.bytes = self.bytes.saturating_add(size);
        self.depth = self.depth.max(depth);
    }

    pub(super) fn push(&mut self, value: Datum) {
        self.came(value.depth(), value.size());
        self.items.push(value);
    }

    pub(super) fn insert(&mut self, place: usize, value: Datum) {
        self.came(value.depth(), value.size());
        self.items.insert(place, value);
    }

    pub(super) fn pop(&mut self) -> Option<Datum> {
        let value = self.items.pop()?;
        self.bytes = swapped(self.bytes, value.size(), 0);
        Some(value)
    }

    pub(super) fn remove(&mut self, place: usize) -> Datum {
        let value = self.items.remove(place);
        self.bytes = swapped(self.bytes, value.size(), 0);
        value
    }

    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.bytes = 0;
    }

    pub(super) fn reverse(&mut self) {
        self.items.reverse();
    }

    /// Takes all elements, to put them back in another order.
    pub(super) fn take_items(&mut self) -> Vec<Datum> {
        core::mem::take(&mut self.items)
    }

    pub(super) fn put_items(&mut self, items: Vec<Datum>) {
        self.items = items;
    }

    /// Takes an element out to change it; [`DatumList::put`] puts it back.
    pub(super) fn take(&mut self, place: usize) -> Datum {
        let value = core::mem::take(&mut self.items[place]);
        self.bytes = swapped(self.bytes, value.size(), 0);
        value
    }

    pub(super) fn put(&mut self, place: usize, value: Datum) {
        self.came(value.depth(), value.size());
        self.items[place] = value;
    }
}

impl DatumMap {
    pub(super) fn entries(&self) -> &[(Arc<str>, Datum)] {
        &self.entries
    }

    pub(super) const fn depth(&self) -> u8 {
        self.depth.saturating_add(1)
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|(known, _)| order_of_texts(known, name))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Datum> {
        self.place(name).ok().map(|place| &self.entries[place].1)
    }

    fn entry_size(name: &str, value: &Datum) -> u64 {
        VALUE_BYTES + name.len() as u64 + value.size()
    }

    /// Puts a value under a name; returns the one that was there.
    pub(super) fn insert(&mut self, name: &Arc<str>, value: Datum) -> Option<Datum> {
        self.depth = self.depth.max(value.depth());
        let came = Self::entry_size(name, &value);
        match self.place(name) {
            Ok(place) => {
                let before = core::mem::replace(&mut self.entries[place].1, value);
                self.bytes = swapped(self.bytes, Self::entry_size(name, &before), came);
                Some(before)
            }
            Err(place) => {
                self.bytes = self.bytes.saturating_add(came);
                self.entries.insert(place, (Arc::clone(name), value));
                None
            }
        }
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<Datum> {
        let (name, value) = self.entries.remove(self.place(name).ok()?);
        self.bytes = swapped(self.bytes, Self::entry_size(&name, &value), 0);
        Some(value)
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.bytes = 0;
    }

    /// Takes a value out to change it, if there is one; [`DatumMap::insert`] puts it back.
    pub(super) fn take(&mut self, name: &str) -> Option<Datum> {
        let place = self.place(name).ok()?;
        let value = core::mem::take(&mut self.entries[place].1);
        self.bytes = swapped(self.bytes, value.size(), VALUE_BYTES);
        Some(value)
    }
}

impl DatumClosure {
    pub(super) fn new(function: u16, captures: Vec<Datum>) -> Self {
        let bytes = captures.iter().map(Datum::size).fold(0, u64::saturating_add);
        let depth = captures.iter().map(Datum::depth).max().unwrap_or(0).saturating_add(1);
        Self { function, captures, bytes, depth }
    }
}
