//! How the materials of two bodies that meet become one, in rapier.
//!
//! Rapier's own rule for the usual friction wins against all others, and here it yields to all. So a body
//! that chose a rule has its contacts looked at, and they get the friction and the restitution that the
//! region's rules make. Of bodies that chose none, rapier sees nothing new.

use metatopia_physics::{BodySpec, CombineRule, limits::FRICTION_MAX};
use rapier2d::prelude::{
    ActiveHooks, CoefficientCombineRule, ContactModificationContext, PhysicsHooks,
};

use crate::numbers::float;

/// Combines the materials of contacts of which a body chose a rule.
pub(super) struct SurfaceHooks;

/// Returns what rapier asks [`SurfaceHooks`] about the contacts of a body.
pub(super) fn hooks(spec: &BodySpec) -> ActiveHooks {
    if (spec.friction_rule, spec.restitution_rule) == (CombineRule::Usual, CombineRule::Usual) {
        ActiveHooks::empty()
    } else {
        ActiveHooks::MODIFY_SOLVER_CONTACTS
    }
}

/// Returns the rule of rapier that a collider's rule of friction is noted as.
pub(super) const fn noted_friction_rule(rule: CombineRule) -> CoefficientCombineRule {
    match rule {
        CombineRule::Usual => CoefficientCombineRule::GeometricMean,
        CombineRule::Average => CoefficientCombineRule::Average,
        CombineRule::Minimum => CoefficientCombineRule::Min,
        CombineRule::Multiply => CoefficientCombineRule::Multiply,
        CombineRule::Maximum => CoefficientCombineRule::Max,
    }
}

/// Returns the rule of rapier that a collider's rule of restitution is noted as. The greater one is both the
/// usual rule and one to choose; the chosen one is noted by a rule that is not used otherwise.
pub(super) const fn noted_restitution_rule(rule: CombineRule) -> CoefficientCombineRule {
    match rule {
        CombineRule::Usual => CoefficientCombineRule::Max,
        CombineRule::Average => CoefficientCombineRule::Average,
        CombineRule::Minimum => CoefficientCombineRule::Min,
        CombineRule::Multiply => CoefficientCombineRule::Multiply,
        CombineRule::Maximum => CoefficientCombineRule::ClampedSum,
    }
}

/// Returns the rule that was noted so; the usual one for what was noted of none.
fn noted(
    found: CoefficientCombineRule,
    note: fn(CombineRule) -> CoefficientCombineRule,
) -> CombineRule {
    let rule = CombineRule::ALL.into_iter().find(|rule| note(*rule) == found);
    rule.unwrap_or_default()
}

/// Returns what a chosen rule makes of two coefficients, or nothing for the usual one.
fn combined(rule: CombineRule, one: f32, other: f32) -> Option<f32> {
    Some(match rule {
        CombineRule::Usual => return None,
        CombineRule::Average => (one + other) * 0.5,
        CombineRule::Minimum => one.min(other),
        CombineRule::Multiply => one * other,
        CombineRule::Maximum => one.max(other),
    })
}

impl PhysicsHooks for SurfaceHooks {
    fn modify_solver_contacts(&self, context: &mut ContactModificationContext<'_>) {
        let colliders = [context.collider1, context.collider2];
        let [Some(one), Some(other)] = colliders.map(|handle| context.colliders.get(handle)) else {
            return;
        };
        let pair = [one, other];
        let rules = pair.map(|it| noted(it.friction_combine_rule(), noted_friction_rule));
        let friction = combined(rules[0].max(rules[1]), one.friction(), other.friction());
        let rules = pair.map(|it| noted(it.restitution_combine_rule(), noted_restitution_rule));
        let restitution = combined(rules[0].max(rules[1]), one.restitution(), other.restitution());
        let Some(manifold) = context.rigid_mut() else {
            return;
        };
        if let Some(friction) = friction {
            *manifold.friction = friction.min(float(FRICTION_MAX));
        }
        if let Some(restitution) = restitution {
            *manifold.restitution = restitution.min(1.0);
        }
    }
}
