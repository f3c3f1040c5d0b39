//! What there is beyond a border, in words.

use alloc::{
    format,
    string::{String, ToString as _},
};

use metatopia_types::Square;

use crate::{Scene, border_edge};

/// Returns the line about a neighbour, of whose sim a client has seen the ground behind the line. `squares` are
/// those of the own sim and of the neighbour.
#[must_use]
pub fn beyond_border(squares: (Square, Square), name: &str, scene: &Scene) -> String {
    let edge = border_edge(squares.0, squares.1);
    let people = scene.objects.iter().filter(|object| object.player.is_some()).count();
    let people = match people {
        0 => "nobody".to_string(),
        1 => "1 person".to_string(),
        more => format!("{more} people"),
    };
    format!("Beyond the {edge} border: {name}, {people} near the line.")
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use metatopia_types::{Height, Tick};

    use super::*;

    #[test]
    fn nobody_beyond_a_border_is_told_as_well() {
        let (own, east) =
            (Square { x: 0, y: 0, doublings: 2 }, Square { x: 8, y: 0, doublings: 2 });
        let scene = Scene { height: Height(1), tick: Tick(3), me: None, objects: Vec::new() };
        let line = "Beyond the east border: garden, nobody near the line.";
        assert_eq!(beyond_border((own, east), "garden", &scene), line);
    }
}
