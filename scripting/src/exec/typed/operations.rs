//! What each operation of the program becomes.

use alloc::vec::Vec;

use super::{
    super::{
        datum::Datum,
        loaded_op::{LoadedOp, SlotKind},
        meanings::FrequentCall,
    },
    block::BlockUnderWay,
    kinds::{RegisterKind, RegisterState, slot_kind},
    operands::OperandTable,
};
use crate::{
    host::ValueKind,
    ir::{BinaryOp, IrLinkKind, IrOp, UnaryOp, WHOLE_VARIABLE},
};

impl BlockUnderWay<'_, '_> {
    /// Translates the operation at a place of a block.
    pub(super) fn operation(&mut self, block: usize, place: usize) {
        if place < self.next {
            return;
        }
        self.begin(place);
        let op = self.translation.function.code[place];
        if op.target().is_some() {
            let written = if let IrOp::Next { to, .. } = op { Some(to) } else { None };
            self.settle_live(block, written);
            self.jump(op);
            return;
        }
        match op {
            // A build that measures what metering takes has none.
            IrOp::Charge(_) if cfg!(metatopia_unmetered) => {}
            IrOp::Charge(price) => self.emit(LoadedOp::Charge(price)),
            IrOp::Constant { to, constant } => self.constant(to, constant),
            IrOp::Int { to, value } => self.number(to, SlotKind::Int, value.into()),
            IrOp::Bool { to, value } => self.number(to, SlotKind::Bool, value.into()),
            IrOp::Own { to } => {
                self.make_room(to);
                let slot = self.translation.slots.own_object();
                self.lies(to, SlotKind::Object, [slot; 2]);
            }
            IrOp::Copy { to, from } | IrOp::Move { to, from } => self.copy(op, to, from),
            IrOp::Add { to, a, b } => self.binary(op, BinaryOp::Add, (to, a, b)),
            IrOp::Sub { to, a, b } => self.binary(op, BinaryOp::Sub, (to, a, b)),
            IrOp::Mul { to, a, b } => self.binary(op, BinaryOp::Mul, (to, a, b)),
            IrOp::Less { to, a, b } => self.binary(op, BinaryOp::Less, (to, a, b)),
            IrOp::Binary { op: sign, to, a, b } => self.binary(op, sign, (to, a, b)),
            IrOp::Change { op: sign, root, path: WHOLE_VARIABLE, value } if is_plain(sign) => {
                self.binary(op, sign, (root, root, value));
            }
            IrOp::Unary { op: sign, to, a } => self.unary(op, sign, to, a),
            IrOp::Get { to, of, name } => self.get(op, to, of, name),
            IrOp::Host { call, first } => self.host((block, place), call, first),
            IrOp::Store { root, .. } | IrOp::Change { root, .. } => self.change_part(op, root),
            IrOp::Iterate { state, from } => self.iterate(op, state, from),
            _ => {
                self.plain(op);
                self.written_by(&op);
            }
        }
    }

    /// Ends a block that goes on with the one behind it.
    pub(super) fn end(&mut self, block: usize, end: usize) {
        if self.translation.function.code[end - 1].target().is_none() {
            self.settle_live(block, None);
        }
    }

    /// Notes what an operation wrote to registers.
    fn written_by(&mut self, op: &IrOp) {
        let mut written = Vec::new();
        OperandTable::writes(op, &mut |register| written.push(register));
        for register in written {
            self.put(register, RegisterState::of_anything());
        }
    }

    fn number(&mut self, to: u16, kind: SlotKind, number: i64) {
        self.make_room(to);
        let slot = self.translation.slots.constant(number);
        self.lies(to, kind, [slot; 2]);
    }

    fn constant(&mut self, to: u16, constant: u16) {
        match &self.translation.loaded.constants[usize::from(constant)] {
            Datum::Fixed(number) => self.number(to, SlotKind::Fixed, number.to_bits()),
            Datum::Int(number) => self.number(to, SlotKind::Int, *number),
            Datum::Bool(truth) => self.number(to, SlotKind::Bool, (*truth).into()),
            _ => {
                self.make_room(to);
                self.wait_for(to, constant);
            }
        }
    }

    fn copy(&mut self, op: IrOp, to: u16, from: u16) {
        let kind = self.kind(from);
        if let RegisterKind::Slots(kind) = kind {
            if to != from {
                self.make_room(to);
                self.lies(to, kind, self.place(from));
            }
            return;
        }
        if let RegisterKind::Constant(constant) = kind {
            return self.constant(to, constant);
        }
        self.plain(op);
        if matches!(op, IrOp::Move { .. }) {
            self.put(from, RegisterState::EMPTY);
        }
        self.put(to, RegisterState { kind, has_memory: true });
    }

    /// An operator on two values, with the operation that does it for any.
    fn binary(&mut self, op: IrOp, sign: BinaryOp, (to, a, b): (u16, u16, u16)) {
        use BinaryOp as B;
        use SlotKind as K;
        let kinds = (self.slot_kind(a), self.slot_kind(b));
        let (Some(of_a), Some(of_b)) = kinds else { return self.any_binary(op, sign, kinds) };
        match (sign, of_a, of_b) {
            (_, K::Fixed, K::Fixed) | (_, K::Int, K::Int) if is_plain(sign) => {
                self.arithmetic(sign, of_a, to, (a, b));
            }
            (_, K::Fixed, K::Int) | (_, K::Int, K::Fixed) if is_plain(sign) => {
                self.promoted(sign, to, (a, b));
            }
            (B::Less | B::AtMost, ..) if self.comparable(a, b).is_some() => {
                self.comparison(sign == B::Less, to, (a, b));
            }
            (B::More | B::AtLeast, ..) if self.comparable(b, a).is_some() => {
                self.comparison(sign == B::More, to, (b, a));
            }
            (B::Equal | B::Unequal, a_kind, b_kind) if a_kind == b_kind && a_kind != K::Vec2 => {
                self.make_room(to);
                let ([a, _], [b, _]) = (self.place(a), self.place(b));
                let [slot, _] = self.own_slots(to, K::Bool);
                self.emit(LoadedOp::Equal { to: slot, a, b, wanted: sign == B::Equal });
                self.written(to, K::Bool);
            }
            (B::Add | B::Sub, K::Vec2, K::Vec2) => {
                self.emit(LoadedOp::PayForOperands);
                self.make_room(to);
                let (a, b) = (self.place(a), self.place(b));
                self.each_part(sign, to, (a, b));
            }
            (B::Mul | B::Div, K::Vec2, K::Fixed | K::Int) => self.scaled(sign, to, (a, b), of_b),
            (B::Mul, K::Fixed | K::Int, K::Vec2) => self.scaled(sign, to, (b, a), of_a),
            _ => self.any_binary(op, sign, kinds),
        }
    }

    fn any_binary(
        &mut self,
        op: IrOp,
        sign: BinaryOp,
        kinds: (Option<SlotKind>, Option<SlotKind>),
    ) {
        self.plain(op);
        self.written_by(&op);
        let is_range = matches!(sign, BinaryOp::Range | BinaryOp::RangeTo);
        if let IrOp::Binary { to, .. } = op
            && is_range
            && kinds == (Some(SlotKind::Int), Some(SlotKind::Int))
        {
            self.put(to, RegisterState { kind: RegisterKind::Ints, has_memory: false });
        }
    }

    fn arithmetic(&mut self, sign: BinaryOp, kind: SlotKind, to: u16, (a, b): (u16, u16)) {
        self.make_room(to);
        let ([a, _], [b, _]) = (self.place(a), self.place(b));
        let [slot, _] = self.own_slots(to, kind);
        self.emit(arithmetic(sign, kind, (slot, a, b)));
        self.written(to, kind);
    }

    /// Translates an operator as [`BlockUnderWay::arithmetic`] does, where one number is a whole one.
    fn promoted(&mut self, sign: BinaryOp, to: u16, (a, b): (u16, u16)) {
        self.make_room(to);
        let is_int = |kind| kind == Some(SlotKind::Int);
        let (a_is_int, b_is_int) = (is_int(self.slot_kind(a)), is_int(self.slot_kind(b)));
        let ([a, _], [b, _]) = (self.place(a), self.place(b));
        let a = if a_is_int { self.promote(a) } else { a };
        let b = if b_is_int { self.promote(b) } else { b };
        let [slot, _] = self.own_slots(to, SlotKind::Fixed);
        self.emit(arithmetic(sign, SlotKind::Fixed, (slot, a, b)));
        self.written(to, SlotKind::Fixed);
    }

    /// Pays for operands of two kinds, and returns the slot of a whole number as a fixed-point number.
    fn promote(&mut self, int: u8) -> u8 {
        if let Some(slot) = self.translation.slots.promoted_constant(int) {
            self.emit(LoadedOp::PayForOperands);
            return slot;
        }
        let scratch = self.translation.slots.scratch();
        self.emit(LoadedOp::Promote { to: scratch, a: int });
        scratch
    }

    /// Returns the slots of two numbers that can be compared as they lie there: of one kind, or one of them a
    /// constant that can be of the other kind too.
    fn comparable(&mut self, a: u16, b: u16) -> Option<[u8; 2]> {
        use SlotKind as K;
        let kinds = (self.slot_kind(a)?, self.slot_kind(b)?);
        let ([a, _], [b, _]) = (self.place(a), self.place(b));
        let slots = &mut self.translation.slots;
        match kinds {
            (K::Fixed, K::Fixed) | (K::Int, K::Int) => Some([a, b]),
            (K::Fixed, K::Int) => Some([a, slots.promoted_constant(b)?]),
            (K::Int, K::Fixed) => Some([slots.promoted_constant(a)?, b]),
            _ => None,
        }
    }

    fn comparison(&mut self, is_strict: bool, to: u16, (a, b): (u16, u16)) {
        self.make_room(to);
        let [a, b] = self.comparable(a, b).expect("asked before");
        let [to_slot, _] = self.own_slots(to, SlotKind::Bool);
        self.emit(match is_strict {
            true => LoadedOp::LessSlots { to: to_slot, a, b },
            false => LoadedOp::AtMost { to: to_slot, a, b },
        });
        self.written(to, SlotKind::Bool);
    }

    /// A vector times or by a number, of which a whole one is promoted first.
    fn scaled(&mut self, sign: BinaryOp, to: u16, (vector, factor): (u16, u16), of: SlotKind) {
        self.make_room(to);
        let [mut slot, _] = self.place(factor);
        if of == SlotKind::Int {
            slot = self.promote(slot);
        } else {
            self.emit(LoadedOp::PayForOperands);
        }
        if self.own_slots(to, SlotKind::Vec2)[0] == slot {
            // The first part is written before the second reads the factor.
            let scratch = self.translation.slots.scratch();
            self.emit(LoadedOp::CopySlot { to: scratch, from: slot });
            slot = scratch;
        }
        let vector = self.place(vector);
        self.each_part(sign, to, (vector, [slot; 2]));
    }

    /// The same operator on both parts of vectors.
    fn each_part(&mut self, sign: BinaryOp, to: u16, (a, b): ([u8; 2], [u8; 2])) {
        let own = self.own_slots(to, SlotKind::Vec2);
        for part in 0..2 {
            let op = arithmetic(sign, SlotKind::Fixed, (own[part], a[part], b[part]));
            self.emit(op);
        }
        self.written(to, SlotKind::Vec2);
    }

    fn unary(&mut self, op: IrOp, sign: UnaryOp, to: u16, a: u16) {
        let kind = self.slot_kind(a);
        match (sign, kind) {
            (UnaryOp::Plus, Some(kind @ (SlotKind::Fixed | SlotKind::Int))) => {
                self.make_room(to);
                self.lies(to, kind, self.place(a));
            }
            (UnaryOp::Negate, Some(kind @ (SlotKind::Fixed | SlotKind::Int)))
            | (UnaryOp::Not, Some(kind @ SlotKind::Bool)) => {
                self.make_room(to);
                let [a, _] = self.place(a);
                let [slot, _] = self.own_slots(to, kind);
                self.emit(match sign {
                    UnaryOp::Not => LoadedOp::Not { to: slot, a },
                    _ => LoadedOp::Negate { to: slot, a },
                });
                self.written(to, kind);
            }
            _ => {
                self.plain(op);
                self.written_by(&op);
            }
        }
    }

    fn get(&mut self, op: IrOp, to: u16, of: u16, name: u16) {
        let known = &self.translation.loaded.names[usize::from(name)];
        let meaning = known.meaning;
        let part = meaning.coordinate.map(|_| usize::from(&*known.text != "x"));
        match (self.slot_kind(of), part, meaning.vector) {
            (Some(SlotKind::Vec2), Some(part), _) => {
                self.make_room(to);
                let slot = self.place(of)[part];
                self.lies(to, SlotKind::Fixed, [slot; 2]);
            }
            (Some(SlotKind::Object), _, Some(property)) => {
                self.make_room(to);
                let [of, _] = self.place(of);
                let [x, y] = self.own_slots(to, SlotKind::Vec2);
                self.emit(LoadedOp::Vector { property, x, y, of });
                self.written(to, SlotKind::Vec2);
            }
            (kind, ..) => {
                self.plain(op);
                self.put(to, RegisterState::of_anything());
                let property = meaning.property.filter(|_| kind == Some(SlotKind::Object));
                if let Some(kind) = property.and_then(|property| slot_kind(property.kind)) {
                    self.fill(to, kind);
                }
            }
        }
    }

    fn host(&mut self, (block, place): (usize, usize), call: u16, first: u16) {
        let op = IrOp::Host { call, first };
        let call = self.translation.loaded.call(call);
        if call.frequent == Some(FrequentCall::Vec2)
            && [first, first + 1].map(|register| self.slot_kind(register))
                == [Some(SlotKind::Fixed); 2]
        {
            self.make_room(first);
            let ([x, _], [y, _]) = (self.place(first), self.place(first + 1));
            self.lies(first, SlotKind::Vec2, [x, y]);
            return;
        }
        let is_short = match call.frequent {
            Some(FrequentCall::Send) => self.send((block, place), first),
            Some(FrequentCall::Nearby) => self.look_around((block, place), first),
            _ => false,
        };
        if is_short {
            return;
        }
        self.plain(op);
        self.put(first, RegisterState::of_anything());
        let gives_objects = matches!((call.name, call.count), ("nearby" | "find", 1));
        if gives_objects {
            self.put(first, RegisterState { kind: RegisterKind::Objects, has_memory: true });
        } else if let Some(kind) = result_of(call.rows.iter().map(|row| row.result)) {
            self.fill(first, kind);
        }
    }

    /// Looks around for a loop, if the next operation begins one over what is found. That operation cannot fail,
    /// so both have one place.
    fn look_around(&mut self, (block, place): (usize, usize), first: u16) -> bool {
        let (_, end) = self.translation.flow.blocks[block];
        let next = self.translation.function.code[..end].get(place + 1);
        let Some(IrOp::Iterate { state, from }) = next.copied() else { return false };
        let kind = self.slot_kind(first);
        let Some(kind @ (SlotKind::Int | SlotKind::Fixed)) = kind.filter(|_| from == first) else {
            return false;
        };
        let [radius, _] = self.place(first);
        self.make_room(first);
        self.emit(LoadedOp::LookAround { kind, radius, state });
        self.put(first, RegisterState::EMPTY);
        self.begun(state, RegisterKind::Objects);
        self.next = place + 2;
        true
    }

    /// Sends a value that lies in slots under a topic that stands in the source, if these are.
    fn send(&mut self, (block, place): (usize, usize), first: u16) -> bool {
        let (to, topic, data) = (first, first + 1, first + 2);
        let (Some(SlotKind::Object), RegisterKind::Constant(topic)) =
            (self.slot_kind(to), self.kind(topic))
        else {
            return false;
        };
        let constant = &self.translation.loaded.constants[usize::from(topic)];
        let Some(kind) = self.slot_kind(data).filter(|_| matches!(constant, Datum::Text(_))) else {
            return false;
        };
        let ([to, _], [x, y]) = (self.place(to), self.place(data));
        self.make_room(first);
        self.emit(LoadedOp::Send { to, kind, x, y, topic });
        if self.is_read_behind(block, place, first) {
            self.emit(LoadedOp::Clear { register: first });
            self.put(first, RegisterState { has_memory: false, ..RegisterState::of_anything() });
        } else {
            self.put(first, RegisterState::EMPTY);
        }
        true
    }

    /// Says whether somebody may read what the operation at a place of a block put into a register.
    fn is_read_behind(&self, block: usize, place: usize, register: u16) -> bool {
        let (_, end) = self.translation.flow.blocks[block];
        for op in &self.translation.function.code[place + 1..end] {
            let (mut is_read, mut is_written) = (false, false);
            self.operands().reads(op, &mut |read| is_read |= read == register);
            OperandTable::writes(op, &mut |written| is_written |= written == register);
            if is_read || is_written {
                return is_read;
            }
        }
        self.translation.flow.is_live_behind(block, register)
    }

    /// A change of an inner part: an object stays the same one, and a vector a vector.
    fn change_part(&mut self, op: IrOp, root: u16) {
        let is_whole = matches!(op, IrOp::Change { path: WHOLE_VARIABLE, .. });
        let before = self.slot_kind(root).filter(|_| !is_whole);
        let lies = self.place(root);
        let start = self.set_own(op);
        self.plain(op);
        if let Some(start) = start {
            self.skip_from(start);
        }
        if let IrOp::Store { value, .. } = op {
            self.put(value, RegisterState::EMPTY);
        }
        match before {
            Some(SlotKind::Object) => self.lies(root, SlotKind::Object, lies),
            Some(SlotKind::Vec2) => self.fill(root, SlotKind::Vec2),
            _ => self.put(root, RegisterState::of_anything()),
        }
    }

    /// Emits the short way to write a property of an object, if there is one, and returns its place.
    fn set_own(&mut self, op: IrOp) -> Option<usize> {
        let IrOp::Store { root, path, value } = op else { return None };
        let loaded = self.translation.loaded;
        let [link] = &loaded.paths[usize::from(path)][..] else { return None };
        let IrLinkKind::Name(name) = link.kind else { return None };
        let meaning = loaded.names[usize::from(name)].meaning;
        if self.slot_kind(root) != Some(SlotKind::Object) {
            return None;
        }
        let ([of, _], skipped) = (self.place(root), 0);
        let [x, y] = self.place(value);
        let short = match self.slot_kind(value)? {
            SlotKind::Vec2 if meaning.set_vector.is_some() => {
                LoadedOp::SetVector { of, x, y, skipped, name }
            }
            SlotKind::Fixed if meaning.set_number.is_some() => {
                LoadedOp::SetNumber { of, value: x, skipped, name }
            }
            _ => return None,
        };
        let place = self.here();
        self.emit(short);
        Some(place)
    }

    fn iterate(&mut self, op: IrOp, state: u16, from: u16) {
        let over = self.kind(from);
        self.plain(op);
        self.put(from, RegisterState::EMPTY);
        let kind = match over {
            kind @ (RegisterKind::Objects | RegisterKind::Ints) => kind,
            _ => RegisterKind::Anything,
        };
        self.begun(state, kind);
    }

    /// Notes that two registers hold how far a loop is, which goes over something of a kind.
    fn begun(&mut self, state: u16, kind: RegisterKind) {
        let plain = RegisterState { has_memory: false, ..RegisterState::of_anything() };
        self.put(state + 1, plain);
        self.put(state, RegisterState { kind, has_memory: true });
    }

    fn jump(&mut self, op: IrOp) {
        match op {
            IrOp::Jump { target } => self.emit(LoadedOp::Jump { target }),
            IrOp::JumpIf { condition, wanted, target }
                if self.slot_kind(condition) == Some(SlotKind::Bool) =>
            {
                let [condition, _] = self.place(condition);
                self.emit(LoadedOp::JumpIfSlot { condition, wanted, target });
            }
            IrOp::JumpUnlessLess { a, b, target } if let Some([a, b]) = self.comparable(a, b) => {
                self.emit(LoadedOp::JumpUnlessLessSlots { a, b, target });
            }
            // What lies in slots is never `()`.
            IrOp::JumpIfUnit { value, wanted, target } if self.slot_kind(value).is_some() => {
                if !wanted {
                    self.emit(LoadedOp::Jump { target });
                }
            }
            IrOp::Next { state, to, target } => self.next(op, state, to, target),
            _ => {
                self.plain(op);
                self.written_by(&op);
            }
        }
    }

    fn next(&mut self, op: IrOp, state: u16, to: u16, target: u16) {
        let kind = match self.kind(state) {
            RegisterKind::Objects => SlotKind::Object,
            RegisterKind::Ints => SlotKind::Int,
            _ => {
                self.plain(op);
                return self.put(to, RegisterState::of_anything());
            }
        };
        self.make_room(to);
        let [slot, _] = self.own_slots(to, kind);
        self.emit(match kind {
            SlotKind::Object => LoadedOp::NextObject { to: slot, state, target },
            _ => LoadedOp::NextInt { to: slot, state, target },
        });
        self.written(to, kind);
    }
}

/// Returns how results lie in slots, if all of them do in the same way.
fn result_of(mut results: impl Iterator<Item = ValueKind>) -> Option<SlotKind> {
    let kind = slot_kind(results.next()?)?;
    results.all(|other| slot_kind(other) == Some(kind)).then_some(kind)
}

/// Returns the operation on numbers of a kind that an operator of arithmetic is.
const fn arithmetic(sign: BinaryOp, kind: SlotKind, (to, a, b): (u8, u8, u8)) -> LoadedOp {
    match (sign, kind) {
        (BinaryOp::Add, _) => LoadedOp::AddSlots { to, a, b },
        (BinaryOp::Sub, _) => LoadedOp::SubSlots { to, a, b },
        (BinaryOp::Mul, SlotKind::Fixed) => LoadedOp::MulFixed { to, a, b },
        (op, SlotKind::Fixed) => LoadedOp::Fixed { op, to, a, b },
        (op, _) => LoadedOp::Ints { op, to, a, b },
    }
}

/// Operators of arithmetic, whose result is of the kind of two equal operands.
const fn is_plain(sign: BinaryOp) -> bool {
    use BinaryOp as B;
    matches!(sign, B::Add | B::Sub | B::Mul | B::Div | B::Rem)
}
