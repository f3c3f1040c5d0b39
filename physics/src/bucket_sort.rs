//! Sorting of many numbers that are spread about evenly, as the places of bodies mostly are.

/// Fewer numbers than this are sorted as they are.
const COUNT_MIN: usize = 256;

/// The memory of sorting, which the next one uses again.
#[derive(Debug, Default)]
pub(crate) struct BucketMemory {
    /// Where each bucket begins, and while it is filled, where its next number goes.
    places: Vec<u32>,
    filled: Vec<u64>,
}

/// Sorts fewer than 2^32 numbers: first into about twice as many buckets by their leading bits, then each bucket.
///
/// Evenly spread numbers are mostly alone in their bucket, and in order then. Where many share one, that
/// bucket takes as long as if there were no others.
pub(crate) fn bucket_sort(numbers: &mut Vec<u64>, memory: &mut BucketMemory) {
    let (least, greatest) = numbers.iter().fold((u64::MAX, 0), |(least, greatest), number| {
        (least.min(*number), greatest.max(*number))
    });
    if numbers.len() < COUNT_MIN || least == greatest {
        numbers.sort_unstable();
        return;
    }
    let range_bits = u64::BITS - (greatest - least).leading_zeros();
    let shift = range_bits.saturating_sub(numbers.len().ilog2() + 1);
    let bucket = |number: u64| ((number - least) >> shift) as usize;
    let BucketMemory { places, filled } = memory;
    places.clear();
    places.resize(bucket(greatest) + 1, 0);
    for number in &*numbers {
        places[bucket(*number)] += 1;
    }
    let mut begin = 0;
    for place in &mut *places {
        begin += core::mem::replace(place, begin);
    }
    filled.clear();
    filled.resize(numbers.len(), 0);
    for number in &*numbers {
        let place = &mut places[bucket(*number)];
        filled[*place as usize] = *number;
        *place += 1;
    }
    let mut begin = 0;
    for end in places.iter().map(|end| *end as usize) {
        if end > begin + 1 {
            filled[begin..end].sort_unstable();
        }
        begin = end;
    }
    core::mem::swap(numbers, filled);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers of a range that begins anywhere: spread over all of it, in heaps, or all alike.
    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        let number = (any::<u64>(), 0..64_u32).prop_map(|(number, cut)| number >> cut);
        let in_heaps = (0..4_u64, 0..1_000_u64).prop_map(|(heap, place)| (heap << 50) | place);
        let list = |number: BoxedStrategy<u64>| prop::collection::vec(number, 0..1_500);
        prop_oneof![
            list(number.boxed()),
            list(in_heaps.boxed()),
            list(any::<u64>().boxed()),
            (any::<u64>(), 0..600_usize).prop_map(|(number, count)| vec![number; count]),
        ]
    }

    proptest! {
        #[test]
        fn numbers_are_sorted_whatever_they_are(mut lists in prop::collection::vec(numbers(), 1..4)) {
            let mut memory = BucketMemory::default();
            for list in &mut lists {
                let mut sorted = list.clone();
                sorted.sort_unstable();
                bucket_sort(list, &mut memory);
                prop_assert_eq!(list, &sorted);
            }
        }
    }
}
