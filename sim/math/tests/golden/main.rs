//! Results as constants: a build for another processor, or with another compiler, that differs in a
//! single bit from the first one fails here. They may change only together with the engine number.

mod sweeps;
mod tables;

use metatopia_math::{Angle, Fx, Stream, Vec2};

fn fx(bits: i64) -> Fx {
    Fx::from_bits(bits)
}

#[test]
fn products_and_quotients_are_the_recorded_ones() {
    for (a, b, product, quotient) in tables::PRODUCTS.iter().copied() {
        assert_eq!(fx(a).checked_mul(fx(b)).map(Fx::to_bits), product, "{a} * {b}");
        assert_eq!(fx(a).checked_div(fx(b)).map(Fx::to_bits), quotient, "{a} / {b}");
    }
}

#[test]
fn roots_are_the_recorded_ones() {
    for (x, root) in tables::ROOTS.iter().copied() {
        assert_eq!(fx(x).sqrt().map(Fx::to_bits), Some(root), "root of {x}");
    }
}

#[test]
fn sines_are_the_recorded_ones() {
    for (x, sine, cosine) in tables::SINES.iter().copied() {
        assert_eq!(fx(x).sin_cos(), (fx(sine), fx(cosine)), "sine and cosine of {x}");
    }
    for (bits, sine, cosine, radians) in tables::ANGLES.iter().copied() {
        let angle = Angle::from_bits(bits);
        assert_eq!(angle.sin_cos(), (fx(sine), fx(cosine)), "sine and cosine of {angle:?}");
        assert_eq!(angle.to_radians(), fx(radians), "radians of {angle:?}");
    }
}

#[test]
fn directions_are_the_recorded_ones() {
    for (y, x, radians, angle) in tables::DIRECTIONS.iter().copied() {
        assert_eq!(Fx::atan2(fx(y), fx(x)), fx(radians), "direction of {x}, {y}");
        assert_eq!(Angle::atan2(fx(y), fx(x)).to_bits(), angle, "direction of {x}, {y}");
    }
    for (x, angle) in tables::TURNS.iter().copied() {
        assert_eq!(Angle::from_radians(fx(x)).to_bits(), angle, "angle of {x}");
    }
}

#[test]
fn vectors_are_the_recorded_ones() {
    let vector = |[x, y]: tables::Pair| Vec2::new(fx(x), fx(y));
    for (v, angle, length, unit, turned) in tables::VECTORS.iter().copied() {
        let v = vector(v);
        assert_eq!(v.length(), fx(length), "length of {v}");
        assert_eq!(v.normalize(), Some(vector(unit)), "direction of {v}");
        assert_eq!(v.rotate(Angle::from_bits(angle)), vector(turned), "{v} by {angle:#x}");
    }
}

#[test]
fn literals_are_the_recorded_ones() {
    for (literal, bits, exact) in tables::LITERALS.iter().copied() {
        assert_eq!(Fx::parse(literal), Ok(fx(bits)), "{literal}");
        assert_eq!(fx(bits).to_string(), exact);
    }
}

#[test]
fn streams_are_the_recorded_ones() {
    let mut stream = Stream::new(&[7; 32], "golden", &[1, 2]);
    assert_eq!([0; 4].map(|_| stream.next_u64()), tables::DRAWS);
    let drawn = (
        [1, 6, 1000, u64::MAX].map(|bound| stream.below(bound)),
        stream.fx_unit().to_bits(),
        stream.fx_between(Fx::from_int(-3), Fx::PI).to_bits(),
        stream.pick(&["a", "b", "c"]).copied(),
    );
    assert_eq!(drawn, tables::DRAWN);

    let mut items = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    stream.shuffle(&mut items);
    assert_eq!(items, tables::SHUFFLED);
}
