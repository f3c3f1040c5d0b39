//! Where the operations of a program come from, and what its functions are called: what a failure names. Nothing
//! else reads it, so that it lies in few bytes, most operations in one.
//!
//! For each function there are its name, where its body begins, where the entries of each group of operations
//! begin but for the first, and an entry for each operation. An entry says how far its place lies from that of
//! the operation before it, or of the body if it is the first of its group.

use alloc::{boxed::Box, vec::Vec};

use crate::lang::SourcePoint;

/// Operations of a group. A failure that is caught reads the entries of one at most, in less time than it is
/// paid for.
const GROUP: usize = 32;

/// Bytes that say where a group begins.
const GROUP_PLACE: usize = size_of::<u32>();

/// The first bit of an entry: the line differs.
const HAS_LINE: u64 = 1;

/// The second bit of an entry: the operation has a bracket.
const HAS_SIGN: u64 = 2;

/// Bits of an entry before its column.
const FLAGS: u32 = 2;

/// The places of all operations of a program.
#[derive(Debug)]
pub(super) struct OperationOrigins(Box<[u8]>);

/// The operation that is at work: what has no need of its place does not look for it.
#[derive(Clone, Copy, Debug)]
pub(super) enum OperationAtWork {
    /// One of a port, which knows its place.
    Ported(SourcePoint),
    /// One of a function of the program.
    Loaded { function: u16, operation: u16 },
}

/// The place of an operation, and of its bracket if it has one.
type OperationPlace = (SourcePoint, Option<SourcePoint>);

/// Origins under way.
#[derive(Debug, Default)]
pub(super) struct OriginWriter(Vec<u8>);

impl OriginWriter {
    /// Adds a function, and returns where what is said of it begins.
    pub(super) fn add(
        &mut self,
        name: &str,
        begins: SourcePoint,
        places: impl ExactSizeIterator<Item = OperationPlace>,
    ) -> u32 {
        let start = self.place();
        self.number(name.len() as u64);
        self.0.extend_from_slice(name.as_bytes());
        self.number(begins.line.into());
        self.number(begins.column.into());
        let groups = self.0.len();
        self.0.resize(groups + GROUP_PLACE * later_groups(places.len()), 0);
        let mut before = begins;
        for (index, (place, sign)) in places.enumerate() {
            if index > 0 && index % GROUP == 0 {
                before = begins;
                let at = groups + GROUP_PLACE * (index / GROUP - 1);
                let here = self.place().to_le_bytes();
                self.0[at..at + GROUP_PLACE].copy_from_slice(&here);
            }
            self.entry(before, place, sign);
            before = place;
        }
        start
    }

    pub(super) fn finish(self) -> OperationOrigins {
        OperationOrigins(self.0.into())
    }

    fn place(&self) -> u32 {
        u32::try_from(self.0.len()).expect("sources are bounded, and so is what is made of them")
    }

    fn entry(&mut self, before: SourcePoint, place: SourcePoint, sign: Option<SourcePoint>) {
        let has_line = if place.line == before.line { 0 } else { HAS_LINE };
        let has_sign = if sign.is_some() { HAS_SIGN } else { 0 };
        let column = difference(before.column, place.column) << FLAGS;
        self.number(column | has_line | has_sign);
        if has_line != 0 {
            self.number(difference(before.line, place.line));
        }
        if let Some(sign) = sign {
            self.number(difference(place.line, sign.line));
            self.number(difference(place.column, sign.column));
        }
    }

    /// Writes a number in groups of seven bits, the lowest first; all but the last have the eighth bit.
    fn number(&mut self, mut number: u64) {
        while number > 0x7f {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}

impl OperationOrigins {
    /// Returns the name of a function of which it says from `start` on; none for a closure.
    pub(super) fn name(&self, start: u32) -> &str {
        let (name, _) = self.named(start);
        str::from_utf8(name).expect("it was a text")
    }

    /// Returns where the body of a function begins.
    pub(super) fn begin(&self, start: u32) -> SourcePoint {
        self.named(start).1.point()
    }

    /// Returns the place of an operation of a function that has so many; nothing if there is none.
    pub(super) fn get(&self, start: u32, count: usize, operation: usize) -> Option<OperationPlace> {
        if operation >= count {
            return None;
        }
        let (_, mut rest) = self.named(start);
        let mut place = rest.point();
        let groups = rest.take(GROUP_PLACE * later_groups(count));
        if let Some(group) = (operation / GROUP).checked_sub(1) {
            let (groups, _) = groups.as_chunks();
            rest = self.reader(u32::from_le_bytes(groups[group]));
        }
        let mut sign = None;
        for _ in 0..=operation % GROUP {
            (place, sign) = rest.entry(place);
        }
        Some((place, sign))
    }

    fn reader(&self, start: u32) -> OriginReader<'_> {
        OriginReader(&self.0[start as usize..])
    }

    fn named(&self, start: u32) -> (&[u8], OriginReader<'_>) {
        let mut reader = self.reader(start);
        let length = reader.number();
        (reader.take(length as usize), reader)
    }
}

/// Reads what [`OriginWriter`] wrote.
struct OriginReader<'a>(&'a [u8]);

impl<'a> OriginReader<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let [byte] = *self.take(1) else { unreachable!("one was taken") };
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return number;
            }
        }
    }

    fn point(&mut self) -> SourcePoint {
        let (line, column) = (self.number() as u32, self.number() as u32);
        SourcePoint { line, column }
    }

    fn entry(&mut self, before: SourcePoint) -> OperationPlace {
        let entry = self.number();
        let column = moved(before.column, entry >> FLAGS);
        let line = match entry & HAS_LINE {
            0 => before.line,
            _ => moved(before.line, self.number()),
        };
        let place = SourcePoint { line, column };
        let sign = (entry & HAS_SIGN != 0).then(|| {
            let line = moved(line, self.number());
            SourcePoint { line, column: moved(column, self.number()) }
        });
        (place, sign)
    }
}

/// Returns how many groups there are behind the first.
const fn later_groups(operations: usize) -> usize {
    operations.saturating_sub(1) / GROUP
}

/// Returns how far it is from one number to another; the lowest bit is its sign, so that small ways are small
/// numbers.
const fn difference(from: u32, to: u32) -> u64 {
    let way = to as i64 - from as i64;
    ((way << 1) ^ (way >> 63)).cast_unsigned()
}

/// Returns the number that lies so far from another.
const fn moved(from: u32, way: u64) -> u32 {
    let way = (way >> 1).cast_signed() ^ -(way & 1).cast_signed();
    (from as i64 + way) as u32
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::{GROUP, OperationPlace, OriginWriter, SourcePoint};

    const fn at(line: u32, column: u32) -> SourcePoint {
        SourcePoint { line, column }
    }

    #[test]
    fn places_come_back_as_they_were_however_far_they_lie_and_however_many_there_are() {
        let near = |index: u32| (at(1 + index / 7, 3 * (index % 7)), None);
        let far = vec![
            (at(0, 0), None),
            (at(1, 7), Some(at(1, 2))),
            (at(u32::MAX, 0), Some(at(0, u32::MAX))),
            (at(65_536, u32::MAX), None),
        ];
        let mut functions: Vec<Vec<OperationPlace>> = vec![far];
        for count in [0, 1, GROUP - 1, GROUP, GROUP + 1, 5 * GROUP] {
            functions.push((0..).take(count).map(near).collect());
        }
        let mut writer = OriginWriter::default();
        let add = |places: &Vec<OperationPlace>| {
            writer.add(&"f".repeat(places.len()), at(7, 9), places.iter().copied())
        };
        let starts: Vec<u32> = functions.iter().map(add).collect();
        let origins = writer.finish();
        for (places, start) in functions.iter().zip(starts) {
            assert_eq!(origins.name(start).len(), places.len());
            assert_eq!(origins.begin(start), at(7, 9));
            let get = |operation| origins.get(start, places.len(), operation);
            let found: Vec<_> = (0..=places.len()).map(get).collect();
            let expected = places.iter().copied().map(Some).chain([None]);
            assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_place_takes_a_byte_where_the_one_before_it_is_in_the_same_line() {
        let mut writer = OriginWriter::default();
        let place = |column| (at(4, column), None);
        writer.add("", at(4, 20), [place(30), place(22), place(22), place(36)].into_iter());
        assert_eq!(writer.0.len(), 3 + 4);
    }
}
