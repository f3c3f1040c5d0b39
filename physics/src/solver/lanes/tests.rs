use proptest::prelude::*;

use super::*;
use crate::fixed::rounded;

fn four() -> impl Strategy<Value = [i32; 4]> {
    let number = prop_oneof![any::<i32>(), -9_i32..9, Just(i32::MIN), Just(i32::MAX)];
    [number.clone(), number.clone(), number.clone(), number]
}

fn each(one: [i32; 4], other: [i32; 4], of: impl Fn(i32, i32) -> i32) -> [i32; 4] {
    core::array::from_fn(|lane| of(one[lane], other[lane]))
}

proptest! {
    #[test]
    fn lanes_compute_what_one_number_after_the_other_does(a in four(), b in four(), c in four()) {
        let [one, two, three] = [a, b, c].map(Lanes::new);
        let product = |a: i32, b: i32| i64::from(a) * i64::from(b);
        let q20 = each(a, b, |a, b| rounded(product(a, b), 20) as i32);
        prop_assert_eq!(one.times_q20(two).array(), q20);
        let q30 = each(a, b, |a, b| rounded(product(a, b), 30) as i32);
        prop_assert_eq!(one.times_q30(two).array(), q30);
        let low = each(a, b, i32::wrapping_mul);
        prop_assert_eq!(one.times_low(two).array(), low);
        // A product of two is at most 2^62, and a sum of two of these may be more than fits.
        let halves = [a, b].map(|of| Lanes::new(of.map(|number| number / 2)));
        let sum = halves[0].times(halves[1]) + halves[0].times(halves[0]);
        let cut = each(a, b, |a, b| {
            let sum = product(a / 2, b / 2) + product(a / 2, a / 2);
            rounded(sum, 24).clamp(-1 << 30, (1 << 30) - 1) as i32
        });
        prop_assert_eq!(sum.cut24().array(), cut);
        prop_assert_eq!((one + two).array(), each(a, b, i32::wrapping_add));
        prop_assert_eq!((one - two).array(), each(a, b, i32::wrapping_sub));
        prop_assert_eq!(one.min(two).array(), each(a, b, i32::min));
        prop_assert_eq!(one.max(two).array(), each(a, b, i32::max));
        let lesser = each(a, b, |a, b| if a > b { b } else { a });
        prop_assert_eq!(two.where_or(one.above(two), one).array(), lesser);
        prop_assert_eq!(one.and(one.equals(two)).array(), each(a, b, |a, b| if a == b { a } else { 0 }));
        prop_assert_eq!(one.equals(two).all(), a == b);
        prop_assert!(one.equals(one).all());
        let small = a.iter().all(|number| (-1 << 23..1 << 23).contains(number));
        prop_assert_eq!(one.are_small(), small);
        let columns = Lanes::transposed([one, two, three, one]).map(Lanes::array);
        prop_assert_eq!(columns, core::array::from_fn(|lane| [a[lane], b[lane], c[lane], a[lane]]));
    }

    #[test]
    fn small_numbers_are_found_at_their_bound(a in prop::array::uniform4(-(1 << 23) - 2..(1 << 23) + 2)) {
        let small = a.iter().all(|number| (-1 << 23..1 << 23).contains(number));
        prop_assert_eq!(Lanes::new(a).are_small(), small);
    }
}
