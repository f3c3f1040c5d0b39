//! Who and what went over a border: gone from the tiles of this sim, and not seen in the other one yet.
//!
//! A server says of both only that they are gone. But nothing ends at a border by itself, so what was on its way
//! over the edge is drawn on, where it would be if nothing were in its way.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_client::{Sight, is_into_portal, is_past_edge};
use metatopia_math::{Fx, Vec2};
use metatopia_sim::Body;
use metatopia_types::{ObjectId, PublicKey, Tick, limits::TICKS_PER_SECOND};
use serde_json::Value;

use super::picture::{DrawnThing, Picture, moved_to};

/// Things that are drawn on after they departed: as many as may be under way to two neighbours.
pub(super) const DEPARTED_MAX: usize = 64;

/// Ticks for which somebody else, or a thing, is drawn on at most: two seconds. A sim that has not taken them
/// by then may be another one than the client looks at.
const DRAWN_ON_TICKS: u64 = 2 * TICKS_PER_SECOND;

/// Ticks for which the own avatar is under way at most: the deadline of a departure, and the way home.
const OWN_TICKS: u64 = 12 * TICKS_PER_SECOND;

/// Ticks for which a departed body keeps moving: twice the time that a departure usually takes.
const COAST_TICKS: u64 = TICKS_PER_SECOND;

/// What is seen last may be this far before the edge, as a share of the way that it goes in a second: views are
/// passed over on a slow line.
const AHEAD: Fx = Fx::HALF;

/// What a view puts, and what it moves.
type Told<'a> = (&'a mut Vec<Value>, &'a mut Vec<(ObjectId, f64, f64, f64, f64, f64)>);

impl Picture {
    /// Returns whether the own avatar is under way to a neighbour.
    pub(super) fn is_own_departed(&self) -> bool {
        let own = self.me.and_then(|me| self.shown.get(&me));
        own.is_some_and(|own| own.departed.is_some())
    }

    /// Forgets which avatar is the person's own. She is in the neighbour, so her avatar here is one like
    /// others.
    pub(super) fn let_go(&mut self) {
        self.me = None;
    }

    /// Goes on showing what departed, of what was shown before and is not any more; what is gone stays there.
    pub(super) fn keep_departed(
        &mut self,
        before: &mut BTreeMap<ObjectId, DrawnThing>,
        sight: &Sight,
        told: Told<'_>,
    ) {
        let now = sight.tick();
        let players = self.shown.values().filter_map(|thing| thing.object.player);
        let players: BTreeSet<PublicKey> = players.collect();
        let came_back = |thing: &DrawnThing| {
            thing.object.player.is_some_and(|player| players.contains(&player))
        };
        let own = self.me.filter(|_| sight.me().is_none());
        let departs = |id: &ObjectId, thing: &DrawnThing| {
            let lasts = if own == Some(*id) { OWN_TICKS } else { DRAWN_ON_TICKS };
            let since = thing.departed.unwrap_or(now);
            let is_over = thing.departed.is_some() || self.goes_over(&thing.body);
            !thing.far && is_over && !came_back(thing) && now.0 < since.0.saturating_add(lasts)
        };
        let mut all: BTreeSet<ObjectId> =
            before.iter().filter(|(id, thing)| departs(id, thing)).map(|(id, _)| *id).collect();
        // What is in hand goes where its holder goes.
        let in_hand = |thing: &DrawnThing| {
            thing.object.held.as_ref().is_some_and(|held| all.contains(&held.by))
        };
        let held: Vec<ObjectId> =
            before.iter().filter(|(_, thing)| in_hand(thing)).map(|(id, _)| *id).collect();
        all.extend(held);
        for id in all.into_iter().take(DEPARTED_MAX) {
            if let Some(thing) = before.remove(&id) {
                self.draw_on(id, thing, now, (&mut *told.0, &mut *told.1));
            }
        }
        let is_under_way = |me: &ObjectId| self.shown.get(me).is_some_and(|t| t.departed.is_some());
        self.me = sight.me().or(self.me.filter(is_under_way));
        self.tick = now;
    }

    /// Shows a thing that departed where it would be by now.
    fn draw_on(&mut self, id: ObjectId, mut thing: DrawnThing, now: Tick, (put, moved): Told<'_>) {
        let is_news = thing.departed.is_none();
        let since = *thing.departed.get_or_insert(self.tick);
        let until = now.0.min(since.0.saturating_add(COAST_TICKS));
        let ticks = until.saturating_sub(self.tick.0.max(since.0));
        let seconds = ticks as f64 / TICKS_PER_SECOND as f64;
        thing.place.x += thing.place.vx * seconds;
        thing.place.y += thing.place.vy * seconds;
        if ticks == 0 {
            (thing.place.vx, thing.place.vy) = (0.0, 0.0);
        }
        if is_news {
            put.push(self.put(id, &thing, None));
        } else {
            moved.push(moved_to(id, thing.place));
        }
        self.shown.insert(id, thing);
    }

    /// Returns whether a body is past the edge of the sim's ground or in a portal, or will be at the end of
    /// the time that is looked ahead.
    fn goes_over(&self, body: &Body) -> bool {
        let way = body.velocity().scale(AHEAD);
        let ahead: Vec2 = body.position().saturating_add(way);
        let is_past = |place| self.square.is_some_and(|square| is_past_edge(square, place));
        let mut portals = self.portals.iter();
        let is_into = |middle: &Vec2| is_into_portal(*middle, body.position(), ahead);
        is_past(body.position()) || is_past(ahead) || portals.any(is_into)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use metatopia_protocol::View;
    use metatopia_scenarios::plaza;
    use metatopia_sim::{Held, Motion, Object, Tile, TileEntry, Tools, World};
    use metatopia_types::{Ed25519, Height, Movement, NodeContact, Sign as _, SigningKey, Square};
    use serde_json::json;

    use super::*;
    use crate::core::picture::DrawnPlace;

    /// A square of 256 m, with an edge at 128 m.
    const SQUARE: Square = Square { x: 0, y: 0, doublings: 2 };

    /// A thing of the plaza that can be pushed, here and with this speed to the east.
    fn thing(x: i32, speed: i32, change: impl Fn(&mut Object)) -> DrawnThing {
        let server = (SigningKey::from_seed([200; 32]).public(), NodeContact::default());
        let genesis = plaza::genesis([server].into(), [].into());
        let world = World::genesis(&genesis, &Tools::new(Arc::new(Ed25519))).expect("a plaza");
        let tiles = world.objects().map(|seen| Tile::of(seen.position)).collect::<Vec<Tile>>();
        let entries = tiles.into_iter().flat_map(|tile| world.entries(tile));
        let mut all = entries.map(|(_, bytes)| TileEntry::decode(bytes).expect("an entry"));
        let TileEntry { mut object, mut body, .. } =
            all.find(|entry| entry.body.motion() == Motion::Dynamic).expect("there are crates");
        let (position, velocity) = (Some([x << 20, 0]), Some([speed << 20, 0]));
        body.follow(&Movement { position, velocity, ..Movement::default() }).expect("a place");
        change(&mut object);
        let place = DrawnPlace::of(&body);
        DrawnThing { object, body, far: false, place, departed: None }
    }

    /// A sight with nothing in it, this many ticks later than the things were.
    fn empty(ticks: u64) -> Sight {
        let mut sight = Sight::of(PublicKey([1; 32]));
        let view = View {
            number: 1,
            height: Height(ticks),
            tick: Tick(30 + ticks),
            me: None,
            tiles: Vec::new(),
            left: Vec::new(),
            near: Vec::new(),
            far: Vec::new(),
            gestures: Vec::new(),
        };
        sight.apply(&view).expect("an honest view");
        sight
    }

    /// A picture that showed these things in tick 30.
    fn picture(things: Vec<DrawnThing>) -> Picture {
        let mut picture = Picture::on(Some(SQUARE));
        picture.tick = Tick(30);
        picture.shown = (1..).map(ObjectId).zip(things).collect();
        picture
    }

    fn plain(_: &mut Object) {}

    fn person(object: &mut Object) {
        object.player = Some(PublicKey([1; 32]));
    }

    #[test]
    fn what_walked_over_the_edge_is_drawn_on_where_it_would_be_and_all_else_is_gone() {
        let still_in_the_middle = thing(20, 0, plain);
        let before_the_edge = thing(126, 1, plain);
        let over_it = thing(127, 4, plain);
        let mut picture = picture(vec![still_in_the_middle, before_the_edge, over_it]);
        let told = json!(picture.take(&empty(3)));
        assert_eq!(told["gone"], json!([1, 2]));
        let put = &told["put"][0];
        assert_eq!((&put["id"], &put["departed"]), (&3.into(), &true.into()));
        let x = put["place"]["x"].as_f64().expect("a number");
        assert!((x - 127.2).abs() < 1e-9, "{x}");

        let told = json!(picture.take(&empty(33)));
        assert_eq!(told["moved"][0][1].as_f64().map(f64::round), Some(129.0));
        // After two seconds nobody waits any more.
        assert_eq!(json!(picture.take(&empty(119)))["gone"], json!([]));
        assert_eq!(json!(picture.take(&empty(120)))["gone"], json!([3]));
    }

    #[test]
    fn the_own_avatar_stays_the_own_one_with_what_it_holds_until_it_is_handed_over() {
        let mut lantern = thing(128, 0, plain);
        let filter = lantern.body.filter();
        lantern.object.held = Some(Held { by: ObjectId(1), filter });
        let mut picture = picture(vec![thing(128, 4, person), lantern]);
        picture.me = Some(ObjectId(1));
        let told = json!(picture.take(&empty(3)));
        assert_eq!((&told["me"], &told["gone"]), (&1.into(), &json!([])));
        assert!(picture.is_own_departed());
        // A departure that nobody takes comes home after ten seconds.
        assert_eq!(json!(picture.take(&empty(660)))["me"], 1);
        picture.let_go();
        let told = json!(picture.take(&empty(663)));
        assert_eq!((&told["me"], &told["gone"]), (&json!(null), &json!([1, 2])));
        assert!(!picture.is_own_departed());
    }

    #[test]
    fn no_more_than_so_many_things_are_drawn_on() {
        let mut picture = picture(vec![thing(128, 1, plain); DEPARTED_MAX + 1]);
        let told = json!(picture.take(&empty(3)));
        assert_eq!(told["gone"], json!([DEPARTED_MAX + 1]));
    }
}
