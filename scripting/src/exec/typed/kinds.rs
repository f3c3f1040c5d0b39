//! What a register holds at a place of the code, and which slots it has.

use alloc::{vec, vec::Vec};

use metatopia_math::Fx;

use super::super::loaded_op::{LoadedOp, SlotKind, WINDOW_SLOTS};
use crate::host::ValueKind;

/// What a register holds, as far as that is sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegisterKind {
    /// A value of this kind, which lies in its slots.
    Slots(SlotKind),
    /// A value, in the register.
    Anything,
    /// An array of objects, in the register.
    Objects,
    /// A range of whole numbers, in the register.
    Ints,
    /// A constant of the program, which is in no register before something needs it there.
    Constant(u16),
    /// Nothing that may be read: it was never written, was moved away, or lies here on one way and there on
    /// another.
    Nothing,
}

/// A register at a place of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RegisterState {
    pub(super) kind: RegisterKind,
    /// Whether the register may hold memory, also of a value that nobody reads any more: it has to be given
    /// back where the program writes the next one, for shared memory is paid for when it is changed.
    pub(super) has_memory: bool,
}

impl RegisterState {
    pub(super) const EMPTY: Self = Self { kind: RegisterKind::Nothing, has_memory: false };

    pub(super) const fn of_anything() -> Self {
        Self { kind: RegisterKind::Anything, has_memory: true }
    }

    pub(super) const fn of_slot(kind: SlotKind) -> Self {
        Self { kind: RegisterKind::Slots(kind), has_memory: false }
    }
}

/// Returns what registers hold where two ways meet.
pub(super) fn join(a: &[RegisterState], b: &[RegisterState]) -> Vec<RegisterState> {
    use RegisterKind as K;
    let join = |a: K, b: K| match (a, b) {
        (a, b) if a == b => a,
        (K::Anything | K::Objects | K::Ints, K::Anything | K::Objects | K::Ints) => K::Anything,
        _ => K::Nothing,
    };
    let joined = a.iter().zip(b).map(|(a, b)| RegisterState {
        kind: join(a.kind, b.kind),
        has_memory: a.has_memory || b.has_memory,
    });
    joined.collect()
}

/// Returns how values of a kind lie in slots, if they do.
pub(super) const fn slot_kind(kind: ValueKind) -> Option<SlotKind> {
    match kind {
        ValueKind::Bool => Some(SlotKind::Bool),
        ValueKind::Int => Some(SlotKind::Int),
        ValueKind::Fixed => Some(SlotKind::Fixed),
        ValueKind::Object => Some(SlotKind::Object),
        ValueKind::Vec2 => Some(SlotKind::Vec2),
        _ => None,
    }
}

/// Returns the operation that puts a register's value into slots.
pub(super) const fn fill(kind: SlotKind, [slot, second]: [u8; 2], register: u16) -> LoadedOp {
    match kind {
        SlotKind::Vec2 => LoadedOp::FillVector { x: slot, y: second, register },
        kind => LoadedOp::Fill { kind, slot, register },
    }
}

/// Returns the operation that puts the value of slots into a register.
pub(super) const fn spill(kind: SlotKind, [slot, second]: [u8; 2], register: u16) -> LoadedOp {
    match kind {
        SlotKind::Vec2 => LoadedOp::SpillVector { x: slot, y: second, register },
        kind => LoadedOp::Spill { kind, slot, register },
    }
}

/// Which slots registers have: from the first on, and constants from the last on downwards.
pub(super) struct RegisterSlots {
    own: Vec<[Option<u8>; 2]>,
    scratch: Option<u8>,
    /// The slot that holds the handle of the own object from the beginning.
    own_object: Option<u8>,
    taken: usize,
    constants: Vec<i64>,
    is_full: bool,
}

impl RegisterSlots {
    pub(super) fn new(registers: usize) -> Self {
        let own = vec![[None; 2]; registers];
        let (scratch, own_object) = (None, None);
        Self { own, scratch, own_object, taken: 0, constants: Vec::new(), is_full: false }
    }

    /// Returns whether more were asked for than there are. What was given since is not to be used.
    pub(super) const fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns whether nobody has asked for any.
    pub(super) const fn are_none(&self) -> bool {
        self.taken == 0 && self.constants.is_empty()
    }

    fn next(&mut self) -> u8 {
        if self.taken + self.constants.len() >= WINDOW_SLOTS {
            self.is_full = true;
            return 0;
        }
        self.taken += 1;
        u8::try_from(self.taken - 1).expect("a window has fewer")
    }

    /// Returns the slots of a register for a value of a kind; the second counts for vectors alone.
    pub(super) fn of(&mut self, register: u16, kind: SlotKind) -> [u8; 2] {
        let first = self.part(register, 0);
        [first, if kind == SlotKind::Vec2 { self.part(register, 1) } else { first }]
    }

    fn part(&mut self, register: u16, part: usize) -> u8 {
        if let Some(known) = self.own[usize::from(register)][part] {
            return known;
        }
        let slot = self.next();
        self.own[usize::from(register)][part] = Some(slot);
        slot
    }

    /// Says whether a slot is one of a register's own.
    pub(super) fn is_own(&self, register: u16, slot: u8) -> bool {
        self.own[usize::from(register)].contains(&Some(slot))
    }

    /// Returns the slot that lasts for one operation.
    pub(super) fn scratch(&mut self) -> u8 {
        if let Some(slot) = self.scratch {
            return slot;
        }
        let slot = self.next();
        self.scratch = Some(slot);
        slot
    }

    /// Returns the slot that holds the handle of the own object from the beginning.
    pub(super) fn own_object(&mut self) -> u8 {
        let slot = self.own_object.unwrap_or_else(|| self.next());
        self.own_object = Some(slot);
        slot
    }

    /// Returns that slot if something has asked for it.
    pub(super) const fn known_own_object(&self) -> Option<u8> {
        self.own_object
    }

    /// Returns the slot that holds a number from the beginning.
    pub(super) fn constant(&mut self, number: i64) -> u8 {
        let known = self.constants.iter().position(|known| *known == number);
        let place = known.unwrap_or_else(|| {
            if self.taken + self.constants.len() >= WINDOW_SLOTS {
                self.is_full = true;
                return 0;
            }
            self.constants.push(number);
            self.constants.len() - 1
        });
        u8::try_from(WINDOW_SLOTS - 1 - place).expect("a window has fewer")
    }

    /// Returns the slot that holds a whole number as a fixed-point number, if it is a constant and has such a form.
    pub(super) fn promoted_constant(&mut self, slot: u8) -> Option<u8> {
        let place = WINDOW_SLOTS - 1 - usize::from(slot);
        let promoted = Fx::checked_from_int(*self.constants.get(place)?)?;
        Some(self.constant(promoted.to_bits()))
    }

    /// Returns what the last slots hold from the beginning, in their order.
    pub(super) fn constants(&self) -> Vec<i64> {
        self.constants.iter().rev().copied().collect()
    }

    /// Says whether a slot holds the same from beginning to end.
    pub(super) fn is_constant(&self, slot: u8) -> bool {
        self.own_object == Some(slot) || usize::from(slot) >= WINDOW_SLOTS - self.constants.len()
    }
}
