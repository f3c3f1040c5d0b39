//! Materials: what builders make things of, in the numbers of physics.

use metatopia_math::Fx;
use metatopia_physics::{Body, BodySpec, CombineRule as Rule, Shape};
use metatopia_types::BuiltMaterial;

use crate::limits::DENSITY;

/// The numbers of a material, in hundredths.
struct MaterialNumbers {
    /// The weight; that of wood is 100.
    weight: i64,
    friction: i64,
    restitution: i64,
    /// The share of speed and of spin that is lost in a second. It stands for the friction of the ground.
    damping: i64,
    rules: (Rule, Rule),
}

/// Returns the numbers of a material. Wood is as wood on wood: an impact takes nearly all of the speed, and a
/// crate of 24 kg that is pushed with 90 kg m/s slides for some 1.2 m. The others are such that one can tell them
/// from wood by a push. Real ice would carry a crate out of the plaza.
const fn numbers(material: BuiltMaterial) -> MaterialNumbers {
    const fn of(
        weight: i64,
        (friction, restitution, damping): (i64, i64, i64),
        rules: (Rule, Rule),
    ) -> MaterialNumbers {
        MaterialNumbers { weight, friction, restitution, damping, rules }
    }
    match material {
        BuiltMaterial::Wood => of(100, (40, 10, 300), (Rule::Usual, Rule::Usual)),
        BuiltMaterial::Stone => of(300, (70, 5, 500), (Rule::Usual, Rule::Usual)),
        BuiltMaterial::Steel => of(800, (30, 20, 300), (Rule::Usual, Rule::Usual)),
        BuiltMaterial::Rubber => of(120, (100, 85, 200), (Rule::Maximum, Rule::Maximum)),
        BuiltMaterial::Ice => of(100, (3, 5, 30), (Rule::Minimum, Rule::Usual)),
        BuiltMaterial::Foam => of(10, (60, 0, 600), (Rule::Usual, Rule::Minimum)),
    }
}

/// Returns a body that is made of a material. Physics clamps the mass.
pub(super) fn of_material(material: BuiltMaterial, body: BodySpec) -> BodySpec {
    let MaterialNumbers { weight, friction, restitution, damping, rules } = numbers(material);
    let part = |hundredths| Fx::from_ratio(hundredths, 100);
    BodySpec {
        mass: body.shape.area().saturating_mul(DENSITY).saturating_mul(part(weight)),
        friction: part(friction),
        restitution: part(restitution),
        friction_rule: rules.0,
        restitution_rule: rules.1,
        linear_damping: part(damping),
        angular_damping: part(damping),
        ..body
    }
}

/// Returns the material that a body is made of; none if a founder gave it numbers of its own.
fn material_of(body: &Body) -> Option<BuiltMaterial> {
    let is_made_of = |material: &BuiltMaterial| {
        let model = body.with_material(&of_material(*material, body.spec()));
        // The mass was rounded with the shape that the builder asked for, before physics rounded that.
        let gap = model.mass().saturating_sub(body.mass()).saturating_abs();
        let is_as_heavy = gap <= body.mass().saturating_mul(Fx::from_ratio(1, 1_024));
        is_as_heavy && body.with_material(&BodySpec { mass: body.mass(), ..model.spec() }) == *body
    };
    BuiltMaterial::ALL.iter().map(|(_, material)| *material).find(is_made_of)
}

/// Returns the mass that a body has with another shape: what it is made of stays. Physics clamps it.
pub(super) fn mass_reshaped(body: &Body, shape: Shape) -> Fx {
    if shape == body.shape() {
        return body.mass();
    }
    match material_of(body) {
        // A share would go on from a mass that was clamped.
        Some(material) => of_material(material, BodySpec { shape, ..body.spec() }).mass,
        None => {
            let share = body.mass().checked_div(body.shape().area()).unwrap_or(DENSITY);
            shape.area().saturating_mul(share)
        }
    }
}

/// Returns the mass of a body that gets the shape back that it had `before`. If it is of the same stuff as then,
/// that is the mass that it had.
pub(super) fn mass_of_shape_before(now: &Body, before: &Body) -> Fx {
    let mass = mass_reshaped(before, now.shape());
    let is_same = now.with_material(&BodySpec { mass, ..before.spec() }) == *now;
    if is_same { before.mass() } else { mass_reshaped(now, before.shape()) }
}

/// Returns the material that a body had `before`, with the mass for the shape that it has now.
pub(super) fn material_before(now: &Body, before: &Body) -> BodySpec {
    BodySpec { mass: mass_reshaped(before, now.shape()), ..before.spec() }
}
