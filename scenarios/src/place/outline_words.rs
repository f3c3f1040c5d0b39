//! What physics refuses of an outline, in the words of a place's file.

use metatopia_math::Fx;
use metatopia_physics::{
    ChainError, InsertError, Motion, ShapeError, SizeError,
    limits::{CHAIN_POINTS_MAX, COORDINATE_MAX, SIZE_MIN, STATIC_SIZE_MAX},
};

use super::{file::ObjectFile, outline::OutlineKeys};

/// Returns why physics takes no body of this table, by the keys that the table has.
pub(super) fn refused_body(described: &ObjectFile, error: &InsertError) -> String {
    match error {
        InsertError::Shape(ShapeError::Size(error)) => {
            refused_size(&described.outline(), error, false)
        }
        error => error.to_string(),
    }
}

/// Returns which number of an outline, of a part or a whole, is out of range. Physics counts from the middle, and a
/// file from end to end.
pub(super) fn refused_size(keys: &OutlineKeys<'_>, error: &SizeError, is_part: bool) -> String {
    let SizeError { field, size, limit, motion } = *error;
    let OutlineKeys { disc, capsule, .. } = keys;
    let (what, times) = match field {
        "half.x" => ("the width, the first number of `box`,", 2),
        "half.y" => ("the height, the second number of `box`,", 2),
        "half" => ("the length, the first number of `capsule`,", 2),
        "radius" if disc.is_some() => ("the radius, the number of `disc`,", 1),
        "radius" if capsule.is_some() => ("the radius, the second number of `capsule`,", 1),
        "reach" if is_part => ("the way from the centre of mass to the furthest point of it", 1),
        "reach" => ("the way from the middle to the furthest one of the `corners`", 1),
        _ => return error.to_string(),
    };
    let (times, moves) = (Fx::from_int(times), motion != Motion::Static);
    let [size, low, high] = [size, SIZE_MIN, limit].map(|metres| metres.saturating_mul(times));
    let which = if moves { " of a thing that moves" } else { "" };
    format!("{what} is {size} m, outside of {low} to {high}{which}")
}

/// Returns that a part is too far away.
pub(super) fn refused_offset() -> String {
    format!("`at` of a part is more than {STATIC_SIZE_MAX} m from the middle on an axis")
}

/// Returns why points are no line. A point `before` the line is none of its own.
pub(super) fn refused_line(error: ChainError, has_before: bool, points: usize) -> String {
    let own = |n: usize| match n.checked_sub(usize::from(has_before)) {
        None => "the point `before`".to_owned(),
        Some(n) if n >= points => "the point `after`".to_owned(),
        Some(n) => format!("point {} of `line`", n + 1),
    };
    match error {
        ChainError::Points { found, least } => {
            format!("`line` has {found} of {least} to {CHAIN_POINTS_MAX} points")
        }
        ChainError::Outside(n) => {
            format!("{} is more than {COORDINATE_MAX} m from the origin on an axis", own(n))
        }
        ChainError::Short(n) => {
            format!("{} is less than {SIZE_MIN} m from the next one", own(n))
        }
        ChainError::Long(n) => {
            let most = STATIC_SIZE_MAX.saturating_mul(Fx::from_int(2));
            format!("{} is more than {most} m from the next one", own(n))
        }
    }
}
