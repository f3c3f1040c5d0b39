//! Materials: what builders make things of, in the numbers of physics.

use metatopia_math::Fx;
use metatopia_physics::{BodySpec, CombineRule as Rule};
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
