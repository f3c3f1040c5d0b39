//! A block under way: where each register's value lies, and what is emitted for that.

use alloc::vec::Vec;

use super::{
    super::loaded_op::{LoadedOp, SlotKind},
    Translation, TypedCode,
    kinds::{RegisterKind, RegisterState, fill, spill},
    operands::OperandTable,
};
use crate::ir::IrOp;

/// Operations among which one that empties a register is looked for: most are among the last four.
const LOOKED_BACK: usize = 8;

/// A block as far as it is translated.
pub(super) struct BlockUnderWay<'t, 'a> {
    pub(super) translation: &'t mut Translation<'a>,
    states: Vec<RegisterState>,
    /// Where the value of a register lies that has one in slots: in its own, or still where it came from.
    /// Nobody's value lies in the own slots of a register whose value lies elsewhere, so that one copy never
    /// needs another before it.
    places: Vec<[u8; 2]>,
    /// Registers whose value lies in slots of another one.
    guests: Vec<u16>,
    out: &'t mut TypedCode,
    /// Operations before this one stay where they are: others know their places.
    settled: usize,
    /// The operation of the program that is translated.
    origin: u16,
    /// The first operation of the program that is not yet translated: some are, together with the one before.
    pub(super) next: usize,
}

impl<'t, 'a> BlockUnderWay<'t, 'a> {
    pub(super) fn new(
        translation: &'t mut Translation<'a>,
        states: Vec<RegisterState>,
        out: &'t mut TypedCode,
    ) -> Self {
        let of = |(register, state): (u16, &RegisterState)| match state.kind {
            RegisterKind::Slots(kind) => translation.slots.of(register, kind),
            _ => [0; 2],
        };
        let places = (0..).zip(&states).map(of).collect();
        let (guests, settled) = (Vec::new(), out.code.len());
        Self { translation, states, places, guests, out, settled, origin: 0, next: 0 }
    }

    pub(super) fn into_states(self) -> Vec<RegisterState> {
        self.states
    }

    pub(super) const fn operands(&self) -> OperandTable<'a> {
        OperandTable { loaded: self.translation.loaded, functions: self.translation.functions }
    }

    /// Begins an operation of the program.
    pub(super) fn begin(&mut self, place: usize) {
        self.origin = u16::try_from(place).expect("code has places of 16 bits");
    }

    /// Adds an operation. One that empties a register is left out if this one overwrites it, or returns it.
    pub(super) fn emit(&mut self, mut op: LoadedOp) {
        if let LoadedOp::Return { from } = op
            && let Some(place) = self.cleared(from)
        {
            self.leave_out(place);
            op = LoadedOp::ReturnUnit;
        } else if let Some(place) = op.overwrites().and_then(|register| self.cleared(register)) {
            self.leave_out(place);
        }
        self.out.code.push(op);
        self.out.origins.push(self.origin);
    }

    /// Returns the place of a late operation that empties a register, if all behind it leave that alone.
    fn cleared(&self, register: u16) -> Option<usize> {
        let start = self.settled.max(self.out.code.len().saturating_sub(LOOKED_BACK));
        let late = &self.out.code[start..];
        let place = late.iter().rposition(|op| !op.leaves_alone(register))?;
        (late[place] == LoadedOp::Clear { register }).then_some(start + place)
    }

    fn leave_out(&mut self, place: usize) {
        self.out.code.remove(place);
        self.out.origins.remove(place);
    }

    /// Returns the place of the operation that is emitted next, and which stays there.
    pub(super) const fn here(&mut self) -> usize {
        self.settled = self.out.code.len();
        self.settled
    }

    /// Has a short way, which was emitted at a place, skip all that was emitted since.
    pub(super) fn skip_from(&mut self, place: usize) {
        let since =
            u8::try_from(self.out.code.len() - place - 1).expect("one operation is no more");
        self.settled = self.out.code.len();
        match &mut self.out.code[place] {
            LoadedOp::SetVector { skipped, .. } | LoadedOp::SetNumber { skipped, .. } => {
                *skipped = since;
            }
            other => unreachable!("{other:?} is no short way"),
        }
    }

    /// Returns the kind of a register's value, which somebody reads.
    pub(super) fn kind(&mut self, register: u16) -> RegisterKind {
        let kind = self.states[usize::from(register)].kind;
        if kind == RegisterKind::Nothing {
            // On some way to here it lies in the register: then it has to on all.
            self.translation.pinned[usize::from(register)] = true;
            self.translation.has_conflict = true;
            return RegisterKind::Anything;
        }
        kind
    }

    /// Returns how a register's value lies in slots, if it does.
    pub(super) fn slot_kind(&mut self, register: u16) -> Option<SlotKind> {
        match self.kind(register) {
            RegisterKind::Slots(kind) => Some(kind),
            _ => None,
        }
    }

    /// Returns the slots where a register's value lies.
    pub(super) fn place(&self, register: u16) -> [u8; 2] {
        self.places[usize::from(register)]
    }

    /// Moves a value that is a guest to the register's own slots, and a constant to the register.
    fn settle(&mut self, register: u16) {
        let kind = match self.states[usize::from(register)].kind {
            RegisterKind::Slots(kind) => kind,
            RegisterKind::Constant(constant) => return self.put_constant(register, constant),
            _ => return,
        };
        let (own, lies) = (self.translation.slots.of(register, kind), self.place(register));
        let parts = if kind == SlotKind::Vec2 { 2 } else { 1 };
        for part in 0..parts {
            if own[part] != lies[part] {
                self.emit(LoadedOp::CopySlot { to: own[part], from: lies[part] });
            }
        }
        self.places[usize::from(register)] = own;
        self.guests.retain(|guest| *guest != register);
    }

    /// Notes that a register holds a constant of the program as soon as something needs it there.
    pub(super) fn wait_for(&mut self, register: u16, constant: u16) {
        if self.translation.pinned[usize::from(register)] {
            return self.put_constant(register, constant);
        }
        let kind = RegisterKind::Constant(constant);
        self.put(register, RegisterState { kind, has_memory: false });
    }

    fn put_constant(&mut self, register: u16, constant: u16) {
        self.emit(LoadedOp::Constant { to: register, constant });
        self.put(register, RegisterState::of_anything());
    }

    /// Makes room for another value of a register: guests of its slots move out, and memory is given back.
    pub(super) fn make_room(&mut self, register: u16) {
        let guests = self.guests.iter().copied().filter(|guest| *guest != register);
        let slots = &self.translation.slots;
        let hosted: Vec<u16> = guests
            .filter(|guest| self.place(*guest).iter().any(|slot| slots.is_own(register, *slot)))
            .collect();
        hosted.into_iter().for_each(|guest| self.settle(guest));
        let state = &mut self.states[usize::from(register)];
        if state.has_memory {
            state.has_memory = false;
            self.emit(LoadedOp::Clear { register });
        }
    }

    /// Returns the own slots of a register, for which [`BlockUnderWay::make_room`] made room.
    pub(super) fn own_slots(&mut self, register: u16, kind: SlotKind) -> [u8; 2] {
        self.translation.slots.of(register, kind)
    }

    /// Notes that the own slots of a register hold its value.
    pub(super) fn written(&mut self, register: u16, kind: SlotKind) {
        let own = self.translation.slots.of(register, kind);
        self.lies(register, kind, own);
    }

    /// Notes that slots of others, or its own, hold the value of a register.
    pub(super) fn lies(&mut self, register: u16, kind: SlotKind, slots: [u8; 2]) {
        let index = usize::from(register);
        self.guests.retain(|guest| *guest != register);
        self.states[index] = RegisterState::of_slot(kind);
        self.places[index] = slots;
        if self.translation.pinned[index] {
            self.emit(spill(kind, slots, register));
            self.states[index] =
                RegisterState { has_memory: false, ..RegisterState::of_anything() };
            return;
        }
        let parts = if kind == SlotKind::Vec2 { 2 } else { 1 };
        let table = &self.translation.slots;
        let is_guest = |slot: &u8| !table.is_own(register, *slot) && !table.is_constant(*slot);
        if slots[..parts].iter().any(is_guest) {
            self.guests.push(register);
        }
    }

    /// Notes that an operation of the program put a value into a register.
    pub(super) fn put(&mut self, register: u16, state: RegisterState) {
        self.guests.retain(|guest| *guest != register);
        self.states[usize::from(register)] = state;
    }

    /// Puts a value of a kind that an operation of the program put into a register into slots.
    pub(super) fn fill(&mut self, register: u16, kind: SlotKind) {
        let plain = RegisterState { has_memory: false, ..RegisterState::of_anything() };
        self.put(register, plain);
        if !self.translation.pinned[usize::from(register)] {
            self.make_room(register);
            let own = self.own_slots(register, kind);
            self.emit(fill(kind, own, register));
            self.written(register, kind);
        }
    }

    /// Emits an operation of the program as it is, with all that it reads in registers. What it took from a row
    /// is gone.
    pub(super) fn plain(&mut self, op: IrOp) {
        let mut reads = Vec::new();
        self.operands().reads(&op, &mut |register| reads.push(register));
        for register in reads {
            match self.kind(register) {
                RegisterKind::Slots(kind) => {
                    self.emit(spill(kind, self.place(register), register));
                }
                RegisterKind::Constant(constant) => self.put_constant(register, constant),
                _ => {}
            }
        }
        self.emit(LoadedOp::plain(op));
        let keeps_memory = matches!(op, IrOp::Text { .. } | IrOp::Closure { .. });
        for register in self.operands().row(&op).into_iter().flatten() {
            let had_memory = self.states[usize::from(register)].has_memory;
            let has_memory = keeps_memory && had_memory;
            self.put(register, RegisterState { has_memory, ..RegisterState::EMPTY });
        }
    }

    /// Has what is read behind the block lie in its own slots, but for a register that is written last.
    pub(super) fn settle_live(&mut self, block: usize, but: Option<u16>) {
        for register in 0..self.translation.function.registers {
            let is_live = self.translation.flow.is_live_behind(block, register);
            let state = self.states[usize::from(register)];
            if is_live && but != Some(register) {
                self.settle(register);
            } else if let RegisterKind::Constant(_) = state.kind {
                self.put(register, RegisterState { kind: RegisterKind::Nothing, ..state });
            }
        }
    }
}
