//! Walking over a border: the session with the neighbour, before and after the line.

mod neighbour;

use std::{mem, time::Duration};

use metatopia_client::{
    BORDERS_FAR_AGAIN, NEAR_BORDER, NeighbourGround, PORTAL_SIGHT, Scene, SceneObject, edge_gap,
    is_into_portal, is_past_edge, square_of,
    text::{beyond_border, position, printable},
};
use metatopia_client_driver::{ClientDriver, GenesisTrust, NodeUrl};
use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{Answer, BorderEntry, BorderStanding, Question, Watching};
use metatopia_sim::Introduction;
use metatopia_types::{Digest, HandRefusal, HomeReason, ObjectId, SimId, Square};
use tokio::{task::JoinHandle, time::Instant};

use self::neighbour::NeighbourSession;
use crate::deeds::AT_REST;

/// Nearer than this to the line, a person has come to the border, in metres.
const AT_THE_LINE: Fx = Fx::from_int(3);

/// The borders are asked for again after this long.
const BORDERS_AGAIN: Duration = Duration::from_secs(2);

/// Digits of a sim's id that are told where its name is not known.
const SIM_DIGITS: usize = 12;

/// Time for the answer about borders.
const ANSWER: Duration = Duration::from_secs(2);

/// Time for the proof of what a neighbour is by now.
const PROOF: Duration = Duration::from_secs(5);

/// A crossing is settled after this long, if all goes well: some turns.
const SETTLED_IN: Duration = Duration::from_secs(1);

/// A neighbour that let nobody in is tried again after this long.
const TRY_AGAIN: Duration = Duration::from_secs(5);

/// Seconds short of the line, at its speed, within which a body that is seen no more has gone over the line.
/// A scene comes each fifth of a second.
const GONE_OVER: Fx = Fx::from_ratio(1, 2);

/// What was pushed and is gone before it was seen to roll had at least this speed, in metres a second: in the time of
/// [`GONE_OVER`] it comes as far as a push sends a ball.
const PUSHED: Fx = Fx::from_int(6);

/// A session that is being opened.
struct OpeningSession {
    neighbour: SimId,
    ground: NeighbourGround,
    task: JoinHandle<Result<(ClientDriver, Introduction), String>>,
}

/// What came of looking over the border.
pub(super) enum Passage {
    /// The avatar is where it was.
    None,
    /// The avatar is in the neighbour now.
    Arrived(Box<CrossedBorder>),
}

/// Somebody who has walked over a border.
pub(super) struct CrossedBorder {
    /// The session with the sim in which the avatar is.
    pub(super) driver: ClientDriver,
    /// What is in sight there.
    pub(super) scene: Scene,
    pub(super) way: WayOver,
}

/// How somebody came from one sim into another.
#[derive(Clone, Copy, Debug)]
pub(super) struct WayOver {
    /// What is added to coordinates of the sim before, to have those of the sim now.
    pub(super) shift: Vec2,
    /// Whether it was through a portal, and over no line.
    pub(super) through_portal: bool,
}

/// The borders of the sim that somebody is in, and the neighbour that is nearest.
#[derive(Default)]
pub(super) struct BorderWalk {
    borders: Vec<BorderEntry>,
    asked: Option<Instant>,
    opening: Option<OpeningSession>,
    ahead: Option<NeighbourSession>,
    /// What the person was told of what she holds.
    told: Vec<(ObjectId, HandRefusal)>,
    /// The last departure of hers after which she was told why she came home.
    told_back: Option<(SimId, u64)>,
    /// The moment since which something that she brought stays because it came just now.
    just_came: Option<Instant>,
    /// The neighbour that could not be entered, why, and when.
    failed: Option<(SimId, String, Instant)>,
    /// The house rules that the person was told since she came near.
    told_rules: Option<Digest>,
}

impl BorderWalk {
    /// Returns whether the avatar is between two sims: gone here, with a session that waits for it over
    /// there.
    pub(super) fn is_under_way(&self, own: Option<&Scene>) -> bool {
        self.ahead.is_some() && own.is_some_and(|scene| scene.me.is_none())
    }

    /// Returns what to tell somebody who has no avatar here.
    pub(super) fn not_here(&self, own: Option<&Scene>) -> String {
        match &self.ahead {
            Some(ahead) if self.is_under_way(own) => {
                let there = name_of(&ahead.driver);
                format!("You are on your way to {there}, which has not taken you in yet.")
            }
            _ => "You are not in the world yet.".to_owned(),
        }
    }

    /// Looks after the border that is nearest: opens the session with the neighbour, announces who comes,
    /// and tells when the avatar has arrived.
    pub(super) async fn attend(
        &mut self,
        driver: &mut ClientDriver,
        own: Option<&Scene>,
        watching: &Watching,
        has_agreed: impl Fn(Digest) -> bool,
    ) -> Passage {
        let Some(square) = square_of(&driver.trust().genesis) else { return Passage::None };
        if let Some(here) = own.and_then(position) {
            self.look(driver, square, here).await;
            if self.nearest(square, here).is_none() {
                self.turn_back();
                self.told_rules = None;
                return Passage::None;
            }
            if let Some(ahead) = &mut self.ahead {
                ahead.look_over(here, watching).await;
            }
            self.finish_opening(here, watching).await;
        }
        let from = driver.trust().sim;
        let Some(ahead) = &mut self.ahead else { return Passage::None };
        if let Err(why) = ahead.hear(from, has_agreed).await {
            let neighbour = ahead.driver.trust().sim;
            self.failed = Some((neighbour, why, Instant::now()));
            self.ahead = None;
            return Passage::None;
        }
        let has_left = own.is_some_and(|scene| scene.me.is_none());
        let is_there = ahead.scene.as_ref().is_some_and(|scene| scene.me.is_some());
        let Some(NeighbourSession { driver, ground, scene: Some(scene), .. }) =
            self.ahead.take_if(|_| has_left && is_there)
        else {
            return Passage::None;
        };
        let shift = ground.shift().unwrap_or_default();
        *self = Self::default();
        let way = WayOver { shift, through_portal: ground.portal().is_some() };
        Passage::Arrived(Box::new(CrossedBorder { driver, scene, way }))
    }

    /// Leaves a neighbour that is far off.
    fn turn_back(&mut self) {
        if let Some(ahead) = self.ahead.take() {
            tokio::spawn(ahead.driver.leave());
        }
        self.opening = None;
    }

    /// Asks for the borders if that was long ago, and opens a session with the neighbour that is nearest.
    async fn look(&mut self, driver: &mut ClientDriver, square: Square, here: Vec2) {
        let is_near = edge_gap(square, here).is_none_or(|gap| gap <= NEAR_BORDER)
            || self.nearest(square, here).is_some();
        let again = if is_near { BORDERS_AGAIN } else { BORDERS_FAR_AGAIN };
        if self.asked.is_none_or(|asked| asked.elapsed() >= again) {
            self.ask(driver).await;
        }
        let Some(nearest) = self.nearest(square, here).cloned() else { return };
        let is_there = |sim: SimId| sim == nearest.neighbour;
        let goes_on = self.ahead.as_ref().is_some_and(|a| is_there(a.driver.trust().sim))
            || self.opening.as_ref().is_some_and(|o| is_there(o.neighbour));
        let is_waiting = self
            .failed
            .as_ref()
            .is_some_and(|(sim, _, at)| is_there(*sim) && at.elapsed() < TRY_AGAIN);
        if goes_on || is_waiting {
            return;
        }
        self.turn_back();
        let nodes = nearest.nodes.iter().filter_map(|node| node.parse().ok()).collect();
        let task = tokio::spawn(open(nearest.neighbour, nodes, driver.signer()));
        let (neighbour, ground) = (nearest.neighbour, NeighbourGround::of(square, &nearest));
        self.opening = Some(OpeningSession { neighbour, ground, task });
    }

    /// Asks for the borders.
    async fn ask(&mut self, driver: &mut ClientDriver) {
        self.asked = Some(Instant::now());
        if let Ok(Answer::Borders(borders)) = driver.ask(borders_of(driver), ANSWER).await {
            self.borders = borders;
        }
    }

    /// Returns the border that is nearest to a place, if one is near.
    fn nearest(&self, square: Square, here: Vec2) -> Option<&BorderEntry> {
        let ground = |border: &&BorderEntry| NeighbourGround::of(square, border);
        let near = self.borders.iter().filter(|border| ground(border).is_near(here));
        near.min_by_key(|border| ground(border).gap(here))
    }

    /// Takes a session that was opened into use, and looks over the border from a place.
    async fn finish_opening(&mut self, here: Vec2, watching: &Watching) {
        let Some(opening) = self.opening.take_if(|opening| opening.task.is_finished()) else {
            return;
        };
        let OpeningSession { neighbour, ground, task } = opening;
        let opened = task.await.unwrap_or_else(|_| Err("its session broke".to_owned()));
        let opened = match opened {
            Ok((mut driver, introduction)) => {
                let lookout = ground.lookout(here).unwrap_or_default();
                let watching = Watching { at: Some(lookout), ..watching.clone() };
                let watched = driver.view(Some(watching)).await.map_err(|error| error.to_string());
                watched.map(|()| NeighbourSession::new(driver, introduction, (ground, lookout)))
            }
            Err(why) => Err(why),
        };
        match opened {
            Ok(ahead) => {
                self.failed = None;
                self.ahead = Some(ahead);
            }
            Err(why) => self.failed = Some((neighbour, why, Instant::now())),
        }
    }

    /// Returns what is held and does not come along over the border that is near, with the reason, where that is
    /// new since this was asked last.
    pub(super) fn stays(&mut self) -> Vec<(ObjectId, HandRefusal)> {
        let near = self.ahead.as_ref().map(|ahead| ahead.driver.trust().sim);
        let border = self.borders.iter().find(|border| Some(border.neighbour) == near);
        let hands = border.and_then(|border| Some(&border.answer.as_ref()?.hands));
        // What is not answered yet is so in a moment, and what came just now is settled in one, if all goes well.
        let waits = |(_, why): &(ObjectId, HandRefusal)| *why == HandRefusal::JustCame;
        let is_settling = hands.is_some_and(|hands| hands.iter().any(waits));
        self.just_came = is_settling.then(|| self.just_came.unwrap_or_else(Instant::now));
        let is_late = self.just_came.is_some_and(|since| since.elapsed() >= SETTLED_IN);
        let is_said = |stay: &&(ObjectId, HandRefusal)| match stay.1 {
            HandRefusal::Unanswered => false,
            HandRefusal::JustCame => is_late,
            _ => true,
        };
        let hands: Vec<_> = hands.into_iter().flatten().filter(is_said).copied().collect();
        new_of(&mut self.told, hands)
    }

    /// Returns the name of the neighbour that is near, and its house rules, if the person has not agreed to them and
    /// was not told them since she came near.
    pub(super) fn unread_rules(&mut self) -> Option<(String, Introduction)> {
        let ahead = self.ahead.as_ref()?;
        let held = ahead.held.filter(|held| self.told_rules != Some(*held))?;
        self.told_rules = Some(held);
        Some((name_of(&ahead.driver), ahead.introduction.clone()))
    }

    /// Returns the house rules that the person was told, and has to agree to before she goes over the border.
    pub(super) fn held(&self) -> Option<Digest> {
        self.ahead.as_ref()?.held.filter(|held| self.told_rules == Some(*held))
    }

    /// Returns why she came home from her last departure, and the name of the sim that she went to; nothing if she was
    /// told.
    pub(super) fn turned_back(&mut self) -> Option<(String, HomeReason)> {
        let back = |border: &BorderEntry| {
            let (number, why) = border.answer.as_ref()?.turned_back?;
            Some(((border.neighbour, number), why))
        };
        let (departure, why) = self.borders.iter().find_map(back)?;
        let is_new = self.told_back.replace(departure) != Some(departure);
        let ahead = self.ahead.as_ref().map(|ahead| &ahead.driver);
        let there = ahead.filter(|driver| driver.trust().sim == departure.0);
        let name = there.map_or_else(|| short_of(departure.0), name_of);
        is_new.then_some((name, why))
    }

    /// Returns what there is beyond the border that is near, in words, if there is a session with the neighbour.
    pub(super) fn beyond(&self) -> Option<String> {
        let ahead = self.ahead.as_ref()?;
        Some(beyond_border(&ahead.ground, &name_of(&ahead.driver), ahead.scene.as_ref()?))
    }

    /// Returns the portals that one sees from a place, nearest first: where their middles are, and to which sims they
    /// lead, in words. Asks for the borders of a sim into which somebody has come just now.
    pub(super) async fn portals(
        &mut self,
        driver: &mut ClientDriver,
        here: Vec2,
    ) -> Vec<(Vec2, String)> {
        if self.asked.is_none() {
            self.ask(driver).await;
        }
        let portal = |border: &BorderEntry| Some((border.portal?.here, border.neighbour));
        let mut seen: Vec<(Vec2, SimId)> = self.borders.iter().filter_map(portal).collect();
        seen.retain(|(middle, _)| middle.distance(here) <= PORTAL_SIGHT);
        seen.sort_by_key(|(middle, sim)| (middle.distance(here), *sim));
        let ahead = self.ahead.as_ref().map(|ahead| &ahead.driver);
        let name = |sim: SimId| match ahead.filter(|ahead| ahead.trust().sim == sim) {
            Some(ahead) => name_of(ahead),
            None => short_of(sim),
        };
        seen.into_iter().map(|(middle, sim)| (middle, name(sim))).collect()
    }

    /// Returns how somebody or something has left that was seen last in this state and is seen no more, if that is
    /// over an open border: `over the line to garden`.
    pub(super) fn gone_over(&self, driver: &ClientDriver, last: &LastSeen) -> Option<String> {
        let square = square_of(&driver.trust().genesis)?;
        let there = left_for(square, &self.borders, last)?;
        let ahead = self.ahead.as_ref().filter(|it| it.driver.trust().sim == there.neighbour);
        let ground = NeighbourGround::of(square, there);
        Some(match (ahead.map(|ahead| name_of(&ahead.driver)), ground.portal()) {
            (Some(name), None) => format!("over the line to {name}"),
            (Some(name), Some(_)) => format!("through the portal to {name}"),
            (None, None) => format!("over the {} border to the neighbour", ground.edge()),
            (None, Some(_)) => "through the portal".to_owned(),
        })
    }

    /// Returns the borders whose line is at a place.
    fn with_line_at(&self, square: Square, here: Vec2) -> impl Iterator<Item = &BorderEntry> {
        self.borders.iter().filter(move |border| {
            let gap = NeighbourGround::of(square, border).gap(here);
            border.portal.is_none() && gap.is_some_and(|gap| gap <= AT_THE_LINE)
        })
    }

    /// Returns why nobody comes over the border at this place, if it is at a line that is a wall.
    pub(super) async fn wall(&mut self, driver: &mut ClientDriver, here: Vec2) -> Option<String> {
        let square = square_of(&driver.trust().genesis)?;
        if edge_gap(square, here)? > AT_THE_LINE {
            return None;
        }
        self.ask(driver).await;
        match self.with_line_at(square, here).next() {
            Some(border) => self.obstacle(border),
            None => Some("no border is open here".to_owned()),
        }
    }

    /// Says whether a walk to a place beyond the ground ends here: the line is a wall whoever comes.
    pub(super) async fn ends_at_wall(
        &mut self,
        driver: &mut ClientDriver,
        (here, goal): (Vec2, Vec2),
    ) -> bool {
        let Some(square) = square_of(&driver.trust().genesis) else { return false };
        let is_at_line = edge_gap(square, here).is_some_and(|gap| gap <= AT_THE_LINE);
        if !is_at_line || !is_past_edge(square, goal) {
            return false;
        }
        self.ask(driver).await;
        // At a corner one line may be open, and another one a wall.
        self.with_line_at(square, here).all(|border| {
            let is_ahead = NeighbourGround::of(square, border).gap(goal) == Some(Fx::ZERO);
            let is_wall = matches!(border.standing, BorderStanding::Wall(_));
            is_ahead && (is_wall || self.held_at(border).is_some())
        })
    }

    /// Returns the session with the neighbour behind a border, if the person has not agreed to its house rules.
    fn held_at(&self, border: &BorderEntry) -> Option<&NeighbourSession> {
        let ahead = self.ahead.as_ref()?;
        (ahead.driver.trust().sim == border.neighbour && ahead.held.is_some()).then_some(ahead)
    }

    /// Returns why nobody goes through the portal with this middle, if that is known.
    pub(super) async fn portal_wall(
        &mut self,
        driver: &mut ClientDriver,
        middle: Vec2,
    ) -> Option<String> {
        self.ask(driver).await;
        let is_it = |border: &&BorderEntry| border.portal.is_some_and(|it| it.here == middle);
        self.borders.iter().find(is_it).and_then(|border| self.obstacle(border))
    }

    /// Returns why this person does not go over a border, if that is known.
    fn obstacle(&self, border: &BorderEntry) -> Option<String> {
        if let BorderStanding::Wall(why) = &border.standing {
            return Some(why.clone());
        }
        if let Some(ahead) = self.held_at(border) {
            let there = name_of(&ahead.driver);
            return Some(format!("you have not agreed to the house rules of {there}"));
        }
        let answer = border.answer.as_ref();
        let is_unanswered = |(_, why): &&(ObjectId, HandRefusal)| *why == HandRefusal::Unanswered;
        let waits = answer.and_then(|answer| answer.hands.iter().find(is_unanswered));
        let told = answer.and_then(|answer| answer.refused).map(|why| why.to_string());
        let told = told.or_else(|| waits.map(|(_, why)| why.to_string()));
        let ahead = self.ahead.as_ref().filter(|a| a.driver.trust().sim == border.neighbour);
        // By its words `this sim` is the other one.
        let says = |ahead: &NeighbourSession| {
            let why = ahead.refused.as_ref()?;
            Some(format!("{} says: {why}", name_of(&ahead.driver)))
        };
        let refused = told.or_else(|| ahead.and_then(says));
        let failed = || match &self.failed {
            Some((sim, why, _)) if *sim == border.neighbour => Some(why.clone()),
            _ => None,
        };
        refused.or_else(failed)
    }
}

/// Where somebody or something was when it was seen last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LastSeen {
    pub(super) name: String,
    position: Vec2,
    velocity: Vec2,
    /// Whether it may leave over a border: people may.
    travels: bool,
}

impl From<&SceneObject> for LastSeen {
    fn from(seen: &SceneObject) -> Self {
        Self {
            name: printable(&seen.name),
            position: seen.position,
            velocity: seen.velocity,
            travels: seen.travels || seen.player.is_some(),
        }
    }
}

impl LastSeen {
    /// Returns how it was seen last, if somebody at this place has pushed it since: it went on at the speed of a push,
    /// as it rolled, or away from her if nobody saw it roll.
    pub(super) fn pushed_from(self, person: Vec2) -> Self {
        let rolls = self.velocity.length() >= AT_REST;
        let away = self.position.saturating_sub(person);
        let way = if rolls { self.velocity } else { away }.normalize();
        let velocity = way.filter(|_| self.velocity.length() < PUSHED);
        let velocity = velocity.map_or(self.velocity, |way| way.scale(PUSHED));
        Self { velocity, ..self }
    }
}

/// Returns the open border of the sim on this square over which somebody or something has left that was seen last
/// in this state; none if it was not about to.
fn left_for<'a>(
    square: Square,
    borders: &'a [BorderEntry],
    last: &LastSeen,
) -> Option<&'a BorderEntry> {
    let soon = last.position.saturating_add(last.velocity.scale(GONE_OVER));
    let is_there = |border: &&BorderEntry| {
        let ground = NeighbourGround::of(square, border);
        let is_past = match ground.portal() {
            Some(portal) => is_into_portal(portal.here, last.position, soon),
            None => ground.gap(soon) == Some(Fx::ZERO) && is_past_edge(square, soon),
        };
        border.standing == BorderStanding::Open && is_past
    };
    borders.iter().find(is_there).filter(|_| last.travels)
}

/// Opens a session with a neighbour, whose id the border names: no genesis of another sim is believed. Returns also
/// what it says of itself by now.
async fn open(
    neighbour: SimId,
    nodes: Vec<NodeUrl>,
    key: std::sync::Arc<dyn metatopia_types::Sign>,
) -> Result<(ClientDriver, Introduction), String> {
    let trust = GenesisTrust::learn_from(&nodes, Some(neighbour)).await;
    let trust = trust.map_err(|error| error.to_string())?;
    let opened = ClientDriver::open(nodes, trust, key).await;
    let mut driver = opened.map_err(|error| error.to_string())?;
    match driver.prove_charter(PROOF).await {
        Ok((_, charter)) => Ok((driver, charter.introduction)),
        Err(why) => {
            driver.leave().await;
            Err(format!("its house rules are not proved: {why}"))
        }
    }
}

/// Remembers what stays now, and returns what of it was not told before.
fn new_of(
    told: &mut Vec<(ObjectId, HandRefusal)>,
    stays: Vec<(ObjectId, HandRefusal)>,
) -> Vec<(ObjectId, HandRefusal)> {
    let before = mem::replace(told, stays);
    told.iter().filter(|stay| !before.contains(stay)).copied().collect()
}

/// Returns the question for the borders, and for what the person of a session is told there.
fn borders_of(driver: &ClientDriver) -> Question {
    Question::Borders { of: Some(driver.signer().public()) }
}

/// Returns the words for a sim whose name is not known.
fn short_of(sim: SimId) -> String {
    format!("sim {}", sim.to_string().chars().take(SIM_DIGITS).collect::<String>())
}

/// Returns the name of the sim of a session.
pub(super) fn name_of(driver: &ClientDriver) -> String {
    printable(&driver.trust().genesis.name)
}

#[cfg(test)]
mod tests {
    use metatopia_protocol::PortalEntry;
    use metatopia_types::{Digest, Height, TravelRefusal};

    use super::*;

    /// Whoever watched somebody walk over a line was told that she is out of sight.
    #[test]
    fn what_was_on_its_way_over_an_open_border_has_gone_over_it_and_nothing_else_has() {
        let square = |x: i32| Square { x, y: 0, doublings: 2 };
        let border = |x: i32, standing| BorderEntry {
            neighbour: SimId(Digest([7; 32])),
            square: square(x),
            portal: None,
            standing,
            epoch: 0,
            heard: Height(9),
            silent: None,
            under_way: 0,
            followed: Height(0),
            judged: 0,
            nodes: Vec::new(),
            answer: None,
        };
        let seen = |x: i32, east: i32, travels| LastSeen {
            name: "ball".to_owned(),
            position: Vec2::new(Fx::from_int(x), Fx::ZERO),
            velocity: Vec2::new(Fx::from_int(east), Fx::ZERO),
            travels,
        };
        let open = [border(8, BorderStanding::Open)];
        let has_gone =
            |borders: &[BorderEntry], last: LastSeen| left_for(square(0), borders, &last).is_some();
        assert!(has_gone(&open, seen(127, 4, true)), "on its way");
        assert!(has_gone(&open, seen(129, 0, true)), "over the line");
        assert!(!has_gone(&open, seen(127, 4, false)), "it stays in this sim");
        assert!(!has_gone(&open, seen(127, 0, true)), "it stood still: it left by itself");
        assert!(!has_gone(&open, seen(127, -4, true)), "it came from there");
        assert!(!has_gone(&open, seen(-127, -4, true)), "at another edge");
        // A ball that a push sent over the line before it was seen to roll was told to be out of sight.
        let at = |x: i32| Vec2::new(Fx::from_int(x), Fx::ZERO);
        assert!(has_gone(&open, seen(126, 0, true).pushed_from(at(125))), "pushed over it");
        assert!(!has_gone(&open, seen(126, 0, true).pushed_from(at(127))), "pushed away");
        assert!(!has_gone(&open, seen(120, 0, true).pushed_from(at(119))), "too far off");
        let portal = Some(PortalEntry { here: Vec2::new(Fx::from_int(9), Fx::ZERO), there: None });
        let through = [BorderEntry { portal, ..border(80, BorderStanding::Open) }];
        assert!(has_gone(&through, seen(9, 0, true)), "in the portal");
        assert!(has_gone(&through, seen(7, 4, true)), "on its way into it");
        assert!(!has_gone(&through, seen(127, 4, true)), "at an edge behind which nobody is");
        let wall = BorderStanding::Wall("closed".to_owned());
        assert!(!has_gone(&[border(8, wall)], seen(127, 4, true)), "a wall");
    }

    #[test]
    fn why_a_thing_stays_is_told_once_and_again_when_the_reason_is_another_one() {
        let (lantern, full) = (ObjectId(7), HandRefusal::There(TravelRefusal::ShareFull));
        let mut told = Vec::new();
        let mut says = |stays: &[(ObjectId, HandRefusal)]| new_of(&mut told, stays.to_vec());
        assert_eq!(says(&[(lantern, full)]), [(lantern, full)]);
        assert_eq!(says(&[(lantern, full)]), []);
        let other = (lantern, HandRefusal::NotLetGo);
        assert_eq!(says(&[other]), [other]);
        // It is put down, and taken again.
        assert_eq!(says(&[]), []);
        assert_eq!(says(&[other]), [other]);
    }
}
