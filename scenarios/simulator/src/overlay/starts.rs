//! How the sites of a scene begin, and how a hole is dug.

use super::{census::WHOLE, town::OverlayTown, truth::OverlayTruth};

/// First contacts of each site.
const CONTACTS: usize = 5;

/// Begins sites that know a few others each.
pub(super) fn found(town: &mut OverlayTown, count: usize) {
    for member in 0..count {
        let mut contacts = Vec::new();
        while contacts.len() < CONTACTS.min(count - 1) {
            let other = town.dice.index(count);
            if other != member && !contacts.contains(&other) {
                contacts.push(other);
            }
        }
        town.begin(member, &contacts);
    }
}

/// Begins sites that know their neighbours and a few others each.
pub(super) fn warm(town: &mut OverlayTown, count: usize) {
    let truth = OverlayTruth::of(town.land.extent, &town.land.middles, |site| site < count);
    for member in 0..count {
        town.begin(member, &[]);
    }
    for member in 0..count {
        let mut contacts = truth.neighbours(member);
        contacts.extend((0..CONTACTS).map(|_| town.dice.index(count)));
        contacts.retain(|contact| *contact != member);
        town.introduce(member, &contacts);
    }
}

/// Begins a site that knows a few of the living.
pub(super) fn join(town: &mut OverlayTown, member: usize) {
    let living = town.living();
    let contacts: Vec<usize> =
        (0..CONTACTS).map(|_| living[town.dice.index(living.len())]).collect();
    town.begin(member, &contacts);
}

/// Kills all sites in a disc around the middle of the world.
pub(super) fn dig(town: &mut OverlayTown, ppm: u64) {
    let extent = town.land.extent;
    let width = u128::from(extent.high.x.abs_diff(extent.low.x));
    let middle = |low: i32, high: i32| low.midpoint(high);
    let (x, y) = (middle(extent.low.x, extent.high.x), middle(extent.low.y, extent.high.y));
    let centre = metatopia_raynet::TilePoint { x, y };
    // A disc of radius r has the area 355 / 113 r^2.
    let reach = width * width * u128::from(ppm) / u128::from(WHOLE) * 113 / 355;
    for member in town.living() {
        if town.land.middles[member].distance_squared(centre) < reach {
            town.kill(member);
        }
    }
}
