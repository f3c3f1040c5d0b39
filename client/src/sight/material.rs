//! What a body is made of, by its numbers. Builders name a material, and the state keeps what physics needs of it.

use metatopia_math::Fx;
use metatopia_sim::{Body, limits::DENSITY};
use metatopia_types::BuiltMaterial;

/// Returns the weight, friction, restitution and damping of a material, in hundredths; the weight of wood is 100.
/// The sim has the same numbers: `client/tests/facts/things.rs` has it build of each material.
const fn numbers(material: BuiltMaterial) -> [i64; 4] {
    match material {
        BuiltMaterial::Wood => [100, 40, 10, 300],
        BuiltMaterial::Stone => [300, 70, 5, 500],
        BuiltMaterial::Steel => [800, 30, 20, 300],
        BuiltMaterial::Rubber => [120, 100, 85, 200],
        BuiltMaterial::Ice => [100, 3, 5, 30],
        BuiltMaterial::Foam => [10, 60, 0, 600],
    }
}

/// Returns the material that a body is made of; none if a founder or a script gave it numbers of its own.
pub(super) fn material_of(body: &Body) -> Option<BuiltMaterial> {
    BuiltMaterial::ALL.iter().map(|(_, material)| *material).find(|it| is_made_of(body, *it))
}

fn is_made_of(body: &Body, material: BuiltMaterial) -> bool {
    let [weight, friction, restitution, damping] = numbers(material);
    let part = |hundredths| Fx::from_ratio(hundredths, 100);
    let mut spec = body.spec();
    spec.mass = spec.shape.area().saturating_mul(DENSITY).saturating_mul(part(weight));
    (spec.friction, spec.restitution) = (part(friction), part(restitution));
    (spec.linear_damping, spec.angular_damping) = (part(damping), part(damping));
    let model = body.with_material(&spec);
    // The mass was rounded with the shape that the builder asked for, before physics rounded that.
    let gap = model.mass().saturating_sub(body.mass()).saturating_abs();
    if gap > body.mass().saturating_mul(Fx::from_ratio(1, 1_024)) {
        return false;
    }
    spec.mass = body.mass();
    body.with_material(&spec) == *body
}
