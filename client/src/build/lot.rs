//! Claims of lots.

use alloc::borrow::ToOwned;

use metatopia_math::{Fx, Vec2};
use metatopia_types::{GroundArea, LotOrder};

/// What a lot is called until its holder names it.
const NEW_NAME: &str = "lot";

/// Returns the order that claims ground with these sides, in metres, around a place.
#[must_use]
pub fn claim_around(here: Vec2, width: u16, depth: u16) -> LotOrder {
    let corner = |at: Fx, side: u16| {
        let half = Fx::from_ratio(i64::from(side), 2);
        i32::try_from(at.saturating_sub(half).round_int()).unwrap_or(i32::MAX)
    };
    let ground = GroundArea { x: corner(here.x, width), y: corner(here.y, depth), width, depth };
    LotOrder::Claim { ground, name: NEW_NAME.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_claims_stands_in_the_middle() {
        let here = Vec2::new(Fx::from_ratio(41, 4), Fx::from_int(-3));
        let order = claim_around(here, 8, 6);
        let ground = GroundArea { x: 6, y: -6, width: 8, depth: 6 };
        assert_eq!(order, LotOrder::Claim { ground, name: "lot".to_owned() });
    }
}
