//! The borders of the sim, as somebody sees them who stands in it.

use metatopia_client::{
    BORDERS_FAR_AGAIN, NEAR_BORDER, NeighbourGround, PORTAL_SIGHT, edge_gap, square_of,
};
use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{BorderEntry, BorderStanding, Question};
use metatopia_types::{HandRefusal, ObjectId, Square};
use serde_json::{Value, json};

use super::{ClientCore, inquiry::InquiryTask, units::from_fx};

impl ClientCore {
    /// Asks for the borders near a place, nearest first. Far from all that are known, what was told last is good enough
    /// for a while.
    pub(super) fn ask_borders(&mut self, command: u64, place: Vec2) {
        let Some(square) = square_of(&self.genesis) else {
            return self.done(command, &json!([]));
        };
        let known = &self.passage.borders;
        let is_due =
            self.passage.asked.is_none_or(|at| self.now.saturating_sub(at) >= BORDERS_FAR_AGAIN);
        let is_near = edge_gap(square, place).is_none_or(|gap| gap <= NEAR_BORDER)
            || known.iter().any(|border| is_in_sight(square, place, border));
        if is_due || is_near {
            self.passage.asked = Some(self.now);
            let task = InquiryTask::Borders(square, place);
            let of = Some(self.key);
            self.inquire(Some(command), task, Question::Borders { of });
        } else {
            self.done(command, &json!([]));
        }
    }
}

/// Says whether a border is near a place, or its portal so near that one sees it.
fn is_in_sight(square: Square, place: Vec2, border: &BorderEntry) -> bool {
    let ground = NeighbourGround::of(square, border);
    let is_seen =
        ground.portal().is_some() && ground.gap(place).is_some_and(|gap| gap <= PORTAL_SIGHT);
    is_seen || ground.is_near(place)
}

/// Returns the borders near a place of the sim on this square, and the portals that one sees from there, nearest first.
pub(super) fn near(square: Square, place: Vec2, borders: &[BorderEntry]) -> Value {
    let seen = borders.iter().filter(|border| is_in_sight(square, place, border));
    let gap = |border| NeighbourGround::of(square, border).gap(place);
    let mut near: Vec<(Fx, &BorderEntry)> =
        seen.filter_map(|border| Some((gap(border)?, border))).collect();
    near.sort_by_key(|(gap, border)| (*gap, border.neighbour));
    near.into_iter().map(|(gap, border)| entry(square, (place, gap), border)).collect()
}

fn entry(square: Square, (place, gap): (Vec2, Fx), border: &BorderEntry) -> Value {
    let ground = NeighbourGround::of(square, border);
    let point = |at: Vec2| json!({ "x": from_fx(at.x), "y": from_fx(at.y) });
    let line = ground.ends().map(|(from, to)| [point(from), point(to)]);
    // A portal of which the neighbour said nothing has no other end yet, and is a wall.
    let shift = ground.shift().unwrap_or_default();
    let (open, why) = match &border.standing {
        BorderStanding::Open => (true, None),
        BorderStanding::Wall(why) => (false, Some(why)),
    };
    let answer = border.answer.clone().unwrap_or_default();
    let stay =
        |(thing, why): &(ObjectId, HandRefusal)| json!({ "id": thing.0, "why": why.to_string() });
    let stays: Vec<Value> = answer.hands.iter().map(stay).collect();
    let back = answer.turned_back.map(|(_, why)| why.to_string());
    json!({
        "neighbour": border.neighbour.to_string(), "open": open, "why": why, "gap": from_fx(gap),
        "far": !ground.is_near(place), "edge": ground.edge(),
        "portal": ground.portal().map(|portal| point(portal.here)),
        "shift": point(shift), "nodes": border.nodes, "line": line,
        "lookout": ground.lookout(place).map(point),
        "refused": answer.refused.map(|why| why.to_string()), "stays": stays,
        "back": back,
    })
}

#[cfg(test)]
mod tests {
    use metatopia_protocol::{PassAnswer, PortalEntry};
    use metatopia_types::{Digest, Height, HomeReason, PassRefusal, SimId, TravelRefusal};

    use super::*;

    fn border(n: u8, x: i32, standing: BorderStanding) -> BorderEntry {
        BorderEntry {
            neighbour: SimId(Digest([n; 32])),
            square: Square { x, y: 0, doublings: 2 },
            portal: None,
            standing,
            epoch: 0,
            heard: Height(9),
            silent: Some(0),
            under_way: 0,
            followed: Height(0),
            judged: 0,
            nodes: vec!["http://192.0.2.7:8080".to_owned()],
            answer: Some(PassAnswer {
                refused: Some(PassRefusal::Full),
                hands: vec![(ObjectId(7), HandRefusal::There(TravelRefusal::ShareFull))],
                turned_back: Some((4, HomeReason::Refused(TravelRefusal::Full))),
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
        assert_eq!(told[0]["back"], TravelRefusal::Full.to_string());
        assert_eq!(told[0]["shift"], json!({ "x": -256.0, "y": 0.0 }));
        assert_eq!(told[0]["lookout"], json!({ "x": -128.0, "y": 0.0 }));
        let ends = json!([{ "x": 128.0, "y": -128.0 }, { "x": 128.0, "y": 128.0 }]);
        assert_eq!(told[0]["line"], ends);

        let (here, there) = (Vec2::new(Fx::from_int(90), Fx::ZERO), Some(Vec2::ZERO));
        let portal = Some(PortalEntry { here, there });
        let far = BorderEntry { portal, ..border(3, 800, BorderStanding::Open) };
        let told = near(own, place, &[far]);
        assert_eq!((&told[0]["gap"], &told[0]["far"]), (&30.0.into(), &true.into()), "{told}");
        assert_eq!(told[0]["portal"], json!({ "x": 90.0, "y": 0.0 }));
        assert_eq!((&told[0]["line"], &told[0]["shift"]["x"]), (&Value::Null, &(-90.0).into()));

        let west = Vec2::new(Fx::from_int(-128), Fx::ZERO);
        let told = near(own, west, &borders);
        assert_eq!((&told[0]["open"], &told[0]["why"]), (&false.into(), &"it is silent".into()));
    }
}
