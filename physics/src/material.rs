//! Materials: how the frictions and restitutions of two bodies that meet become those of the contact.

use metatopia_math::Fx;
use serde::{Deserialize, Serialize};

use crate::body::Body;
use crate::fixed::{Q20, narrow, rounded};
use crate::limits::FRICTION_MAX;

/// How a coefficient of two bodies that meet becomes that of their contact.
///
/// Each of the two has a rule. Of different ones the later in this list counts, so a body that chooses
/// one is as it says against all bodies that choose none.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum CombineRule {
    /// The geometric mean of frictions, and the greater of restitutions.
    #[default]
    Usual,
    /// Half of the sum.
    Average,
    /// The lesser of the two: ice is slippery whatever stands on it.
    Minimum,
    /// The product. That of frictions is at most
    /// [`FRICTION_MAX`](crate::limits::FRICTION_MAX).
    Multiply,
    /// The greater of the two: rubber grips whatever it stands on.
    Maximum,
}

impl CombineRule {
    /// All rules, from the one that yields to all others to the one that yields to none.
    pub const ALL: [Self; 5] =
        [Self::Usual, Self::Average, Self::Minimum, Self::Multiply, Self::Maximum];
}

/// Both rules of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SurfaceRules {
    pub(crate) friction: CombineRule,
    pub(crate) restitution: CombineRule,
}

impl SurfaceRules {
    /// The rules of a body that chooses none.
    pub(crate) const USUAL: Self =
        Self { friction: CombineRule::Usual, restitution: CombineRule::Usual };
}

/// What a body is like where others touch it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surface {
    friction: Q20,
    /// The square root of the friction. The product of two roots is the geometric mean.
    friction_root: Q20,
    restitution: Q20,
    rules: SurfaceRules,
}

impl Surface {
    pub(crate) fn new(friction: Q20, restitution: Q20, rules: SurfaceRules) -> Self {
        let friction_root = Q20(narrow((i64::from(friction.0) << 20).isqrt()));
        Self { friction, friction_root, restitution, rules }
    }

    /// Returns the surface of a body, which is often of the same stuff as the body before it.
    pub(crate) fn after(before: Option<&Self>, body: &Body) -> Self {
        let (restitution, rules) = (body.restitution, body.role.rules);
        match before.filter(|before| before.friction == body.friction) {
            // A root takes longer than all else that a body's constants need.
            Some(before) => Self { restitution, rules, ..*before },
            None => Self::new(body.friction, restitution, rules),
        }
    }

    /// Returns the friction of a contact of both, 0 to [`FRICTION_MAX`].
    pub(crate) fn friction(&self, other: &Self) -> Q20 {
        match self.rules.friction.max(other.rules.friction) {
            CombineRule::Usual => self.friction_root * other.friction_root,
            rule => by_rule(rule, self.friction, other.friction).min(Q20::constant(FRICTION_MAX)),
        }
    }

    /// Returns the restitution of a contact of both, 0 to 1.
    pub(crate) fn restitution(&self, other: &Self) -> Q20 {
        match self.rules.restitution.max(other.rules.restitution) {
            CombineRule::Usual => self.restitution.max(other.restitution),
            rule => by_rule(rule, self.restitution, other.restitution).min(Q20::constant(Fx::ONE)),
        }
    }
}

/// Returns what a chosen rule makes of two coefficients.
fn by_rule(rule: CombineRule, one: Q20, other: Q20) -> Q20 {
    match rule {
        CombineRule::Usual => unreachable!("each coefficient has a usual rule of its own"),
        CombineRule::Average => Q20(narrow(rounded(i64::from(one.0) + i64::from(other.0), 1))),
        CombineRule::Minimum => one.min(other),
        CombineRule::Multiply => one * other,
        CombineRule::Maximum => one.max(other),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn surface() -> impl Strategy<Value = Surface> {
        let greatest = Q20::constant(FRICTION_MAX).0;
        let friction = prop_oneof![Just(0), Just(1), Just(greatest), 0..=greatest];
        let restitution = prop_oneof![Just(0), Just(Q20::ONE.0), 0..=Q20::ONE.0];
        let rule = || (0..CombineRule::ALL.len()).prop_map(|index| CombineRule::ALL[index]);
        (friction, restitution, rule(), rule()).prop_map(|(one, two, friction, restitution)| {
            Surface::new(Q20(one), Q20(two), SurfaceRules { friction, restitution })
        })
    }

    proptest! {
        #[test]
        fn a_contact_is_the_same_from_both_sides_and_within_the_limits(
            one in surface(),
            other in surface(),
        ) {
            let (friction, restitution) = (one.friction(&other), one.restitution(&other));
            prop_assert_eq!(friction, other.friction(&one));
            prop_assert_eq!(restitution, other.restitution(&one));
            prop_assert!((Q20::ZERO..=Q20::constant(FRICTION_MAX)).contains(&friction));
            prop_assert!((Q20::ZERO..=Q20::ONE).contains(&restitution));
        }
    }

    /// Returns the friction of 2 and 1/2, and the restitution of 1 and 1/4, by these rules.
    fn combined(own: CombineRule, other: CombineRule) -> (Q20, Q20) {
        let rules = |rule| SurfaceRules { friction: rule, restitution: rule };
        let constant = |over, under| Q20::constant(Fx::from_ratio(over, under));
        let one = Surface::new(constant(2, 1), Q20::ONE, rules(own));
        let two = Surface::new(constant(1, 2), constant(1, 4), rules(other));
        (one.friction(&two), one.restitution(&two))
    }

    #[test]
    fn of_two_rules_the_later_in_the_list_counts() {
        for (place, own) in CombineRule::ALL.into_iter().enumerate() {
            for other in CombineRule::ALL.into_iter().take(place + 1) {
                assert_eq!(combined(own, other), combined(own, own), "{own:?} over {other:?}");
                assert_eq!(combined(other, own), combined(own, own), "{own:?} over {other:?}");
            }
        }
    }

    #[test]
    fn each_rule_makes_of_two_coefficients_what_it_is_called() {
        let constant = |over, under| Q20::constant(Fx::from_ratio(over, under));
        for (rule, friction, restitution) in [
            (CombineRule::Average, constant(5, 4), constant(5, 8)),
            (CombineRule::Minimum, constant(1, 2), constant(1, 4)),
            (CombineRule::Multiply, Q20::ONE, constant(1, 4)),
            (CombineRule::Maximum, constant(2, 1), Q20::ONE),
        ] {
            assert_eq!(combined(rule, rule), (friction, restitution), "{rule:?}");
        }
        // Roots are rounded down.
        let (friction, restitution) = combined(CombineRule::Usual, CombineRule::Usual);
        assert!((Q20::ONE.0 - 2..=Q20::ONE.0).contains(&friction.0), "{friction:?}");
        assert_eq!(restitution, Q20::ONE);
    }
}
