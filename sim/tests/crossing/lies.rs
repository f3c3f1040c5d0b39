//! A neighbour all of whose servers lie: what it says is certified, and is judged all the same.

use metatopia_math::{Fx, Vec2};
use metatopia_sim::Wall;
use metatopia_types::{
    Act, BorderDeparture, BorderFrame, BorderVerdict, BroughtThing, Companions, Digest, Dispatch,
    DispatchedState, FrameBody, Header, HearRefusal, Height, Look, Millis, NearPerson, Outcome,
    Parcel, PublicKey, Refusal, Root, Said, StateProof, TravelRefusal, Traveller, TravellingPerson,
    leaf_hash,
    limits::{DEPARTURES_MAX, ROOT_LAG, VERDICTS_MAX},
    merkle, said_key,
};

use crate::town::{ADMIN, Place, at, places, public, step, town};

/// The west, which lies, and the east.
pub(crate) struct Liar {
    pub(crate) town: Vec<Place>,
    said: Said,
    parcels: Vec<Vec<u8>>,
}

const ADA: u8 = 1;

impl Liar {
    /// Founds two sims that have heard of one another. Ada has a pass of the east.
    pub(crate) fn new() -> Self {
        Self::of(town(2, 4))
    }

    /// The same in these two sims.
    pub(crate) fn of(mut town: Vec<Place>) -> Self {
        town[0].login(public(ADA));
        for _ in 0..5 {
            step(&mut town, 50);
        }
        let from = town[0].id();
        town[1].act(public(ADA), 1, Act::Approach { from, work: None });
        town[1].play(50);
        let border = town[0].world.border(&town[1].id()).expect("a border");
        let said = border.crossing.said.clone();
        let (height, time) = (said.height.plus(1_000), said.time.plus(50_000));
        Self { town, said: Said { height, time, ..said }, parcels: Vec::new() }
    }

    /// Signs a leaf with this content by a quorum of the west.
    fn signed(&self, content: Vec<u8>) -> Dispatch {
        let key = said_key(self.town[1].id());
        let leaf = leaf_hash(&key, &Digest(*blake3::hash(&content).as_bytes()));
        let place = merkle::Proof::of(&[leaf], 0).expect("a leaf");
        let height = self.town[0].world.height().plus(1);
        let set = self.town[0].world.validators(height).expect("a set");
        let header = Header {
            sim: self.town[0].id(),
            height: self.said.height.plus(ROOT_LAG),
            time: self.said.time,
            root: Root(leaf),
            validators: set.id(),
            next_validators: set.id(),
            ..Header::unstated()
        };
        let certificate = self.town[0].certify(&header, set);
        let said = StateProof { key, content, place };
        let parcels = self.parcels.clone();
        Dispatch {
            links: vec![],
            state: Some(DispatchedState { header, certificate, said, parcels }),
        }
    }

    /// Has the east hear a content of the leaf.
    fn hears(&mut self, content: Vec<u8>) -> Outcome {
        let dispatch = self.signed(content);
        let west = self.town[0].id();
        let act = self.town[1].hear(west, &dispatch);
        self.town[1].play(50);
        self.town[1].outcome(&act)
    }

    /// Has the east hear what the west says with this change.
    pub(crate) fn says(&mut self, change: impl FnOnce(&mut Said)) -> Outcome {
        self.said.height = self.said.height.plus(1);
        self.said.time = self.said.time.plus(50);
        change(&mut self.said);
        self.hears(self.said.encode())
    }

    /// Lists a departure of somebody with these bytes for a parcel.
    pub(crate) fn departs(&mut self, person: PublicKey, parcel: Vec<u8>) -> &mut Self {
        self.departs_as(Traveller::Person(person), parcel)
    }

    /// Lists a departure with these bytes for a parcel.
    pub(crate) fn departs_as(&mut self, traveller: Traveller, parcel: Vec<u8>) -> &mut Self {
        let number = self.said.out_next;
        let until = Millis(self.town[1].time + 5_000);
        let listed = BorderDeparture { number, traveller, until, parcel: Parcel::digest(&parcel) };
        self.said.departures.push(listed);
        self.said.out_next += 1;
        self.parcels.push(parcel);
        self
    }

    /// Tells the east, and returns its verdict on the last departure.
    fn verdict(&mut self) -> Option<BorderVerdict> {
        self.said.height = self.said.height.plus(1);
        self.said.time = self.said.time.plus(50);
        assert_eq!(self.hears(self.said.encode()), Outcome::Ok);
        let border = self.town[1].world.border(&self.town[0].id()).expect("a border");
        let last = self.said.out_next.checked_sub(1);
        let verdicts = border.crossing.said.verdicts.iter();
        verdicts.copied().find(|verdict| Some(verdict.number) == last)
    }

    /// Tells the east of a border frame, and returns what became of the dispatch.
    pub(crate) fn frames(&mut self, bodies: Vec<FrameBody>) -> Outcome {
        self.said.height = self.said.height.plus(1);
        self.said.time = self.said.time.plus(50);
        self.said.frame = BorderFrame { made: self.said.time, bodies };
        self.hears(self.said.encode())
    }

    /// Tells the east that Ada is near the border with these things, and returns what her pass says of them.
    pub(crate) fn brings(&mut self, brought: Vec<BroughtThing>) -> Vec<Option<TravelRefusal>> {
        self.said.height = self.said.height.plus(1);
        self.said.time = self.said.time.plus(50);
        self.said.near = vec![NearPerson { person: public(ADA), mark: [1; 8], brought }];
        assert_eq!(self.hears(self.said.encode()), Outcome::Ok);
        let border = self.town[1].world.border(&self.town[0].id()).expect("a border");
        let passes = &border.crossing.said.passes;
        passes.iter().find(|pass| pass.person == public(ADA)).expect("her pass").hands.clone()
    }

    /// Lists nothing any more.
    pub(crate) fn forget(&mut self) {
        self.said.departures.clear();
        self.parcels.clear();
    }

    pub(crate) fn refusal(&mut self) -> Option<TravelRefusal> {
        self.verdict().expect("a verdict").refused
    }
}

/// Ada, half a metre past the line in metres of the west.
pub(crate) fn ada() -> TravellingPerson {
    TravellingPerson {
        key: public(ADA),
        name: "Ada".into(),
        look: Look::default(),
        bot: false,
        position: at(32, 0).saturating_add(Vec2::new(Fx::HALF, Fx::ZERO)),
        velocity: at(8, 0),
        heading: at(1, 0),
        waited: 0,
        hands: vec![],
        mount: None,
        companions: Companions::default(),
    }
}

pub(crate) fn parcel(person: TravellingPerson) -> Vec<u8> {
    Parcel::Person(person).encode()
}

#[test]
fn a_parcel_that_lies_is_refused_and_an_honest_one_is_taken() {
    let lies = [
        TravellingPerson { key: public(2), ..ada() },
        TravellingPerson { name: "two\nlines".into(), ..ada() },
        TravellingPerson { name: "A\u{200b}da".into(), ..ada() },
        TravellingPerson { name: "~".into(), ..ada() },
        TravellingPerson { look: Look { color: 1 << 24, ..Look::default() }, ..ada() },
        TravellingPerson { position: at(0, 0), ..ada() },
        TravellingPerson { position: at(60, 0), ..ada() },
        TravellingPerson { position: Vec2::new(Fx::MAX, Fx::MIN), ..ada() },
    ];
    let mut bytes: Vec<Vec<u8>> = lies.into_iter().map(parcel).collect();
    bytes.extend([vec![], vec![2, 0], vec![1; 400]]);
    for lie in bytes {
        let mut liar = Liar::new();
        assert_eq!(liar.departs(public(ADA), lie).refusal(), Some(TravelRefusal::BadParcel));
        assert!(liar.town[1].world.avatar(&public(ADA)).is_none());
    }
    let fast = TravellingPerson {
        velocity: Vec2::new(Fx::MAX, Fx::MIN),
        heading: Vec2::new(Fx::MAX, Fx::MAX),
        waited: u64::MAX,
        ..ada()
    };
    for honest in [ada(), fast] {
        let mut liar = Liar::new();
        assert_eq!(liar.departs(public(ADA), parcel(honest)).refusal(), None);
        let place = liar.town[1].place_of(&public(ADA)).expect("she is taken");
        assert!(place.x >= Fx::from_int(-32) && place.x < Fx::from_int(-25), "{place:?}");
    }
}

#[test]
fn a_first_word_of_before_the_first_turn_is_refused_where_it_once_ended_the_sim() {
    let town = town(2, 4);
    let border = town[1].world.border(&town[0].id()).expect("a border");
    assert!(border.crossing.heard.is_none());
    // The east says where its bodies are on its own ground.
    let frame = BorderFrame::empty();
    let said = Said { height: Height(0), frame, ..border.crossing.said.clone() };
    let mut liar = Liar { town, said, parcels: Vec::new() };
    let content = liar.said.encode();
    assert_eq!(liar.hears(content), Outcome::Refused(Refusal::NotHeard(HearRefusal::BadSaid)));
    liar.said.height = Height(1);
    let content = liar.said.encode();
    assert_eq!(liar.hears(content), Outcome::Ok);
}

#[test]
fn a_neighbour_changes_neither_the_name_nor_the_standing_of_whom_the_sim_knows() {
    let mut liar = Liar::new();
    let named = Act::login("Ada Lovelace".to_owned(), Look::default());
    liar.town[1].act(public(ADA), 2, named);
    liar.town[1].play(50);
    liar.town[1].act(public(ADA), 2, Act::Leave);
    liar.town[1].play(50);
    let from = liar.town[0].id();
    liar.town[1].act(public(ADA), 1, Act::Approach { from, work: None });
    liar.town[1].play(50);
    let lie = TravellingPerson { name: "Mud".into(), bot: true, ..ada() };
    assert_eq!(liar.departs(public(ADA), parcel(lie)).refusal(), None);
    let player = liar.town[1].world.player(&public(ADA)).expect("she is known");
    assert_eq!((player.name.as_str(), player.bot), ("Ada Lovelace", false));
}

#[test]
fn a_traveller_whose_name_is_held_here_arrives_under_it_and_a_part_of_her_key() {
    let mut liar = Liar::new();
    let login = |name: &str| Act::login(name.to_owned(), Look::default());
    liar.town[1].act(public(2), 1, login("ADA"));
    liar.town[1].play(50);
    assert_eq!(liar.departs(public(ADA), parcel(ada())).refusal(), None);
    let name = |liar: &Liar| liar.town[1].world.player(&public(ADA)).map(|it| it.name.clone());
    let marked = format!("Ada~{}", &public(ADA).to_string()[..16]);
    assert_eq!(name(&liar), Some(marked.clone()));

    // She logs in as she is called everywhere, and goes on as what she is here.
    let act = liar.town[1].act(public(ADA), 5, login("Ada"));
    liar.town[1].play(50);
    assert_eq!(liar.town[1].outcome(&act), Outcome::Ok);
    assert_eq!(name(&liar), Some(marked));

    // The name that she brings from elsewhere loses what that sim put behind it.
    let mut liar = Liar::new();
    let from_elsewhere = TravellingPerson { name: "Ada~0123456789abcdef".into(), ..ada() };
    assert_eq!(liar.departs(public(ADA), parcel(from_elsewhere)).refusal(), None);
    assert_eq!(name(&liar), Some("Ada".to_owned()));
}

#[test]
fn whoever_has_no_pass_is_here_or_finds_no_place_is_refused() {
    let stranger = TravellingPerson { key: public(2), ..ada() };
    let mut liar = Liar::new();
    let refusal = liar.departs(public(2), parcel(stranger)).refusal();
    assert_eq!(refusal, Some(TravelRefusal::NoPass));

    // She logged in since she got the pass.
    let mut liar = Liar::new();
    liar.town[1].login(public(ADA));
    liar.town[1].play(50);
    let refusal = liar.departs(public(ADA), parcel(ada())).refusal();
    assert_eq!(refusal, Some(TravelRefusal::Here));

    // All seats were taken since.
    let mut liar = Liar::new();
    let amend = |name: &str, value: &str| Act::Amend { name: name.into(), value: value.into() };
    let act = liar.town[1].act(public(ADMIN), 1, amend("avatars_max", "1"));
    liar.town[1].play(50);
    assert_eq!(liar.town[1].outcome(&act), Outcome::Ok);
    let refusal = liar.departs(public(ADA), parcel(ada())).refusal();
    assert_eq!(refusal, Some(TravelRefusal::Full));

    // She was banned while she was under way.
    let mut liar = Liar::new();
    let (key, reason) = (public(ADA), String::new());
    let ban = metatopia_types::GovernOrder::Ban { key, seconds: None, reason };
    liar.town[1].act(public(ADMIN), 1, Act::Govern(ban));
    liar.town[1].play(50);
    let refusal = liar.departs(public(ADA), parcel(ada())).refusal();
    assert_eq!(refusal, Some(TravelRefusal::Banned));

    let mut liar = Liar::new();
    let neighbour = liar.town[0].id();
    liar.town[1].order(&metatopia_types::BorderOrder::Close { neighbour });
    liar.town[1].play(50);
    let refusal = liar.departs(public(ADA), parcel(ada())).refusal();
    assert_eq!(refusal, Some(TravelRefusal::Closed));
}

#[test]
fn what_comes_without_its_parcel_waits_and_all_behind_it_up_to_its_deadline() {
    let mut liar = Liar::new();
    liar.departs(public(ADA), parcel(ada()));
    let parcels = core::mem::take(&mut liar.parcels);
    assert_eq!(liar.verdict(), None);
    // Another word says the same, with the parcel: that is news.
    liar.parcels = parcels;
    assert_eq!(liar.refusal(), None);

    let mut liar = Liar::new();
    liar.departs(public(ADA), parcel(ada()));
    liar.parcels.clear();
    assert_eq!(liar.verdict(), None);
    liar.town[1].time += 5_000;
    liar.town[1].play(50);
    assert_eq!(liar.refusal(), Some(TravelRefusal::Late));
}

#[test]
fn a_departure_that_is_listed_again_under_its_number_is_judged_once() {
    let mut liar = Liar::new();
    assert_eq!(liar.departs(public(ADA), parcel(ada())).refusal(), None);
    // She leaves, and the liar still lists her.
    liar.town[1].act(public(ADA), 1, Act::Leave);
    liar.town[1].play(1_000);
    assert_eq!(liar.refusal(), None);
    assert!(liar.town[1].world.avatar(&public(ADA)).is_none());
    assert_eq!(liar.town[1].world.borders()[0].pinned, 1);
}

#[test]
fn more_than_a_sim_may_say_is_nothing_and_a_later_format_makes_a_wall() {
    let mut liar = Liar::new();
    for _ in 0..DEPARTURES_MAX {
        liar.departs(public(2), vec![]);
    }
    assert_eq!(liar.refusal(), Some(TravelRefusal::BadParcel));
    let border = &liar.town[1].world.borders()[0];
    assert_eq!(border.verdicts, DEPARTURES_MAX);
    assert!(border.verdicts <= VERDICTS_MAX);
    liar.departs(public(2), vec![]).said.height = liar.said.height.plus(9);
    let not = |why| Outcome::Refused(Refusal::NotHeard(why));
    assert_eq!(liar.hears(liar.said.encode()), not(HearRefusal::TooMuch));
    liar.parcels.clear();
    assert_eq!(liar.hears(liar.said.encode()), not(HearRefusal::BadSaid));
    let mut later = liar.said.encode();
    later[0] = Said::FORMAT + 1;
    assert_eq!(liar.hears(later), not(HearRefusal::OtherFormat));
    liar.town[1].play(60_000);
    assert_eq!(liar.town[1].world.borders()[0].wall, Some(Wall::Silent));
}

#[test]
fn verdicts_on_what_never_departed_and_epochs_out_of_nowhere_change_nothing_here() {
    let mut liar = Liar::new();
    let before = places(&liar.town, &public(ADA));
    liar.said.in_next = 50;
    liar.said.verdicts = (0..50).map(|number| BorderVerdict { number, refused: None }).collect();
    liar.said.came_home = vec![3, 9];
    liar.said.out_next = 10;
    liar.said.epoch = 7;
    liar.said.taken_up = 1 << 40;
    let _ = liar.verdict();
    assert_eq!(places(&liar.town, &public(ADA)), before);
    let border = liar.town[1].world.border(&liar.town[0].id()).expect("a border");
    assert_eq!((border.crossing.said.taken_up, border.crossing.said.out_next), (7, 0));
    assert_eq!(border.crossing.said.in_next, 10, "what came home is never judged");
    assert!(liar.said.height > Height(0));
}
