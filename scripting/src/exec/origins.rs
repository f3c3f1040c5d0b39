//! Where the operations of a function come from: what a failure names.

use alloc::boxed::Box;

use crate::lang::SourcePoint;

/// The place in the source of each operation of a function.
#[derive(Debug)]
pub(super) enum OperationOrigins {
    /// Lines and columns of 16 bits: no file is so long that an operation in it needs more, but for one in the
    /// very last column that a file can have.
    Short(Box<[[u16; 2]]>),
    /// Places as they are in any other function.
    Long(Box<[SourcePoint]>),
}

impl OperationOrigins {
    /// Keeps the places of all operations, in their order.
    pub(super) fn new(places: impl Iterator<Item = SourcePoint> + Clone) -> Self {
        let short = places.clone().map(|SourcePoint { line, column }| {
            Some([u16::try_from(line).ok()?, u16::try_from(column).ok()?])
        });
        match short.collect() {
            Some(short) => Self::Short(short),
            None => Self::Long(places.collect()),
        }
    }

    /// Returns where an operation comes from; nothing if there is none.
    pub(super) fn get(&self, operation: usize) -> Option<SourcePoint> {
        match self {
            Self::Short(places) => {
                let [line, column] = places.get(operation)?.map(u32::from);
                Some(SourcePoint { line, column })
            }
            Self::Long(places) => places.get(operation).copied(),
        }
    }

    /// Returns where an operation comes from that there is.
    pub(super) fn of(&self, operation: usize) -> SourcePoint {
        self.get(operation).expect("each operation has a place")
    }
}

#[cfg(test)]
mod tests {
    use super::{OperationOrigins, SourcePoint};

    #[test]
    fn places_come_back_as_they_were_however_far_they_lie() {
        let at = |line, column| SourcePoint { line, column };
        let near = [at(0, 0), at(1, 7), at(65_535, 65_535)];
        let far = [at(1, 7), at(1, 65_536), at(u32::MAX, 0)];
        for (places, is_short) in [(near, true), (far, false)] {
            let kept = OperationOrigins::new(places.iter().copied());
            assert_eq!(matches!(kept, OperationOrigins::Short(_)), is_short);
            assert_eq!([0, 1, 2].map(|operation| kept.of(operation)), places);
            assert_eq!(kept.get(3), None);
        }
    }
}
