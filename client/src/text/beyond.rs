//! What there is beyond a border, in words.

use alloc::{
    format,
    string::{String, ToString as _},
};

use crate::{NeighbourGround, Scene};

/// Returns the line about a neighbour, of whose sim a client has seen the ground behind the line or the portal.
#[must_use]
pub fn beyond_border(ground: &NeighbourGround, name: &str, scene: &Scene) -> String {
    let people = scene.objects.iter().filter(|object| object.player.is_some()).count();
    let people = match people {
        0 => "nobody".to_string(),
        1 => "1 person".to_string(),
        more => format!("{more} people"),
    };
    match ground.portal() {
        Some(_) => format!("Through the portal: {name}, {people} near its other end."),
        None => {
            let edge = ground.edge();
            format!("Beyond the {edge} border: {name}, {people} near the line.")
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use metatopia_math::Vec2;
    use metatopia_protocol::{BorderEntry, BorderStanding, PortalEntry};
    use metatopia_types::{Height, SimId, Square, Tick};

    use super::*;

    #[test]
    fn nobody_beyond_a_border_is_told_as_well() {
        let east = BorderEntry {
            neighbour: SimId(metatopia_types::Digest([7; 32])),
            square: Square { x: 8, y: 0, doublings: 2 },
            portal: None,
            standing: BorderStanding::Open,
            epoch: 0,
            heard: Height(9),
            silent: None,
            under_way: 0,
            followed: Height(0),
            judged: 0,
            nodes: Vec::new(),
            answer: None,
        };
        let own = Square { x: 0, y: 0, doublings: 2 };
        let scene = Scene { height: Height(1), tick: Tick(3), me: None, objects: Vec::new() };
        let told = |border: &BorderEntry| {
            beyond_border(&NeighbourGround::of(own, border), "garden", &scene)
        };
        assert_eq!(told(&east), "Beyond the east border: garden, nobody near the line.");
        let portal = Some(PortalEntry { here: Vec2::ZERO, there: None });
        let far = BorderEntry { portal, ..east };
        assert_eq!(told(&far), "Through the portal: garden, nobody near its other end.");
    }
}
