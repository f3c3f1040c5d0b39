//! The borders of the sim, as somebody sees them who stands in it.

use metatopia_client::{
    NEAR_BORDER, border_edge, border_ends, border_gap, border_lookout, border_shift, edge_gap,
    square_of,
};
use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{BorderEntry, BorderStanding, Question};
use metatopia_types::{HandRefusal, ObjectId, Square};
use serde_json::{Value, json};

use super::{ClientCore, inquiry::InquiryTask, units::from_fx};

impl ClientCore {
    /// Asks for the borders near a place, nearest first. Far from every edge there is none to ask for.
    pub(super) fn ask_borders(&mut self, command: u64, place: Vec2) {
        let square = square_of(&self.genesis);
        let is_near = |square| edge_gap(square, place).is_none_or(|gap| gap <= NEAR_BORDER);
        match square.filter(|square| is_near(*square)) {
            Some(square) => {
                let task = InquiryTask::Borders(square, place);
                let of = Some(self.key);
                self.inquire(Some(command), task, Question::Borders { of });
            }
            None => self.done(command, &json!([])),
        }
    }
}

/// Returns the borders near a place of the sim on this square, nearest first.
pub(super) fn near(square: Square, place: Vec2, borders: &[BorderEntry]) -> Value {
    let gap = |border: &BorderEntry| border_gap(square, border.square, place);
    let borders = borders.iter().filter_map(|border| Some((gap(border)?, border)));
    let mut near: Vec<(Fx, &BorderEntry)> =
        borders.filter(|(gap, _)| *gap <= NEAR_BORDER).collect();
    near.sort_by_key(|(gap, border)| (*gap, border.neighbour));
    near.into_iter().map(|(gap, border)| entry(square, (place, gap), border)).collect()
}

fn entry(square: Square, (place, gap): (Vec2, Fx), border: &BorderEntry) -> Value {
    let point = |at: Vec2| json!({ "x": from_fx(at.x), "y": from_fx(at.y) });
    let line = border_ends(square, border.square).map(|(from, to)| [point(from), point(to)]);
    // What is near has a shift: its gap was found by it.
    let shift = border_shift(square, border.square).unwrap_or_default();
    let (open, why) = match &border.standing {
        BorderStanding::Open => (true, None),
        BorderStanding::Wall(why) => (false, Some(why)),
    };
    let answer = border.answer.clone().unwrap_or_default();
    let stay =
        |(thing, why): &(ObjectId, HandRefusal)| json!({ "id": thing.0, "why": why.to_string() });
    let stays: Vec<Value> = answer.hands.iter().map(stay).collect();
    json!({
        "neighbour": border.neighbour.to_string(), "open": open, "why": why, "gap": from_fx(gap),
        "edge": border_edge(square, border.square),
        "shift": point(shift), "nodes": border.nodes, "line": line,
        "lookout": border_lookout(square, border.square, place).map(point),
        "refused": answer.refused.map(|why| why.to_string()), "stays": stays,
    })
}

#[cfg(test)]
mod tests {
    use metatopia_protocol::PassAnswer;
    use metatopia_types::{Digest, Height, PassRefusal, SimId, TravelRefusal};

    use super::*;

    fn border(n: u8, x: i32, standing: BorderStanding) -> BorderEntry {
        BorderEntry {
            neighbour: SimId(Digest([n; 32])),
            square: Square { x, y: 0, doublings: 2 },
            standing,
            epoch: 0,
            heard: Height(9),
            silent: Some(0),
            under_way: 0,
            nodes: vec!["http://192.0.2.7:8080".to_owned()],
            answer: Some(PassAnswer {
                refused: Some(PassRefusal::Full),
                hands: vec![(ObjectId(7), HandRefusal::There(TravelRefusal::ShareFull))],
            }),
        }
    }

    #[test]
    fn borders_are_told_nearest_first_with_the_way_to_the_other_coordinates() {
        let own = Square { x: 0, y: 0, doublings: 2 };
        let wall = BorderStanding::Wall("it is silent".to_owned());
        let borders = [border(1, -8, wall), border(2, 8, BorderStanding::Open)];
        let place = Vec2::new(Fx::from_int(120), Fx::ZERO);
        let told = near(own, place, &borders);
        assert_eq!(told.as_array().map(Vec::len), Some(1), "the western one is far: {told}");
        assert_eq!(told[0]["neighbour"], "02".repeat(32));
        assert_eq!((&told[0]["open"], &told[0]["gap"]), (&true.into(), &8.0.into()));
        assert_eq!(told[0]["edge"], "east");
        assert_eq!(told[0]["refused"], PassRefusal::Full.to_string());
        let why = HandRefusal::There(TravelRefusal::ShareFull).to_string();
        assert_eq!(told[0]["stays"], json!([{ "id": 7, "why": why }]));
        assert_eq!(told[0]["shift"], json!({ "x": -256.0, "y": 0.0 }));
        assert_eq!(told[0]["lookout"], json!({ "x": -128.0, "y": 0.0 }));
        let ends = json!([{ "x": 128.0, "y": -128.0 }, { "x": 128.0, "y": 128.0 }]);
        assert_eq!(told[0]["line"], ends);

        let west = Vec2::new(Fx::from_int(-128), Fx::ZERO);
        let told = near(own, west, &borders);
        assert_eq!((&told[0]["open"], &told[0]["why"]), (&false.into(), &"it is silent".into()));
    }
}
