//! Neighbours that refuse everything, or everything but one: whoever and whatever was refused is home with a named
//! reason, the one is there, and nothing is lost or in two places.

use metatopia_math::{Fx, Vec2};
use metatopia_sim::ObjectSpec;
use metatopia_types::{
    Act, BorderVerdict, Build, CrossingPass, HomeReason, ObjectId, Origin, Outcome, PublicKey,
    TravelRefusal, Traveller,
};

use crate::{
    lies::Liar,
    people::{EAST, WEST, said},
    rolling::{QUIET, ball, first, geneses, let_travel, package, roller, thing, way},
    things::{amend, text},
    town::{ADMIN, Place, drive, places, places_of_thing, public, step, tell, town_of},
};

/// The first of the people, who has a ball in hand. Ada is in the west.
const BEA: u8 = 2;
const PEOPLE: u8 = 3;
/// So many balls roll by themselves. The next one is Bea's.
const ROLLERS: u64 = 3;

const REASONS: [TravelRefusal; 10] = [
    TravelRefusal::Late,
    TravelRefusal::Closed,
    TravelRefusal::NoPass,
    TravelRefusal::Full,
    TravelRefusal::Here,
    TravelRefusal::BadParcel,
    TravelRefusal::TooLarge,
    TravelRefusal::ShareFull,
    TravelRefusal::FewServers,
    TravelRefusal::Banned,
];

/// A liar in the west, and in the east people and balls that go there.
struct Refuser {
    liar: Liar,
    people: Vec<PublicKey>,
    balls: Vec<Origin>,
}

impl Refuser {
    fn new() -> Self {
        let mut founded = geneses(2, 4, 0);
        let quiet = package("quiet", QUIET);
        let east = &mut founded[1];
        east.packages.insert(quiet.id(), quiet.encode());
        east.parameters.avatar.reach = Fx::from_int(8);
        for n in 0..ROLLERS as i32 {
            let place = Vec2::new(Fx::from_int(-29), Fx::from_int(8 + 2 * n));
            east.objects.push(ball(place, &[roller().id()], &way(-1)));
        }
        let place = Vec2::new(Fx::from_int(-24), Fx::from_int(3));
        let own = ball(place, &[quiet.id()], &way(0));
        east.objects.push(ObjectSpec { owner: Some(public(BEA)), ..own });
        let mut liar = Liar::of(town_of(founded));
        let sim = liar.town[1].id();
        let people: Vec<PublicKey> = (BEA..BEA + PEOPLE).map(public).collect();
        let balls = (1..=ROLLERS + 1).map(|n| Origin { sim, number: ObjectId(n) }).collect();
        people.iter().for_each(|person| liar.town[1].login(*person));
        liar.town[1].play(50);
        let take = Build::Take { object: ObjectId(ROLLERS + 1) };
        let take = liar.town[1].act(public(BEA), 1, Act::Build(take));
        let mut refuser = Self { liar, people, balls };
        refuser.let_travel(true);
        refuser.hears(&[]);
        assert_eq!(refuser.east().outcome(&take), Outcome::Ok);
        refuser
    }

    fn east(&self) -> &Place {
        &self.liar.town[1]
    }

    fn let_travel(&mut self, travels: bool) {
        for ball in self.balls.clone() {
            let Some(object) = thing(self.east(), ball).map(|thing| thing.id) else { continue };
            let act = Act::Build(Build::LetTravel { object, travels });
            self.liar.town[1].act(public(ADMIN), 1, act);
        }
    }

    /// Has the east hear passes for all who are near, and these verdicts.
    fn hears(&mut self, verdicts: &[BorderVerdict]) {
        let near = said(&self.liar.town, 1, 0).near.clone();
        let heard = self.liar.says(|said| {
            let until = said.time.plus(5_000);
            let pass = |near: metatopia_types::NearPerson| CrossingPass {
                person: near.person,
                until,
                refused: None,
                mark: near.mark,
                hands: vec![None; near.brought.len()],
            };
            said.passes = near.into_iter().map(pass).collect();
            said.verdicts = verdicts.to_vec();
            let judged = verdicts.last().map(|last| last.number + 1);
            said.in_next = judged.unwrap_or(said.in_next);
        });
        assert_eq!(heard, Outcome::Ok);
    }

    /// Walks west until everybody and everything is under way. Gives who and what is, in the order of the numbers.
    fn depart(&mut self) -> Vec<(u64, Traveller)> {
        self.let_travel(true);
        for _ in 0..200 {
            for person in self.people.clone() {
                self.liar.town[1].act(person, 1, Act::Walk { heading: WEST });
            }
            self.hears(&[]);
            self.check_all_in_one_place();
            let listed = &said(&self.liar.town, 1, 0).departures;
            // Bea's ball is in her parcel.
            if listed.len() == self.people.len() + self.balls.len() - 1 {
                return listed.iter().map(|one| (one.number, one.traveller)).collect();
            }
        }
        panic!("they do not all depart: {:?}", said(&self.liar.town, 1, 0).departures);
    }

    fn check_all_in_one_place(&self) {
        for person in &self.people {
            assert_eq!(places(&self.liar.town, person), 1, "{person}");
        }
        for ball in &self.balls {
            assert_eq!(places_of_thing(&self.liar.town, *ball), 1, "{ball:?}");
        }
    }

    /// Checks that somebody or something is home at the line, and was told this reason.
    fn check_home(&self, traveller: Traveller, why: TravelRefusal) {
        check_home(&self.liar.town, (1, 0), traveller, why);
    }
}

/// Checks that somebody or something is at home at the line to another sim, and was told why.
fn check_home(
    town: &[Place],
    (home, other): (usize, usize),
    traveller: Traveller,
    why: TravelRefusal,
) {
    let near = Fx::from_int(31);
    match traveller {
        Traveller::Person(person) => {
            let place = town[home].place_of(&person).expect("she is home");
            assert!(place.x.saturating_abs() >= near, "{place:?}");
            let answer = town[home].world.border_answer(&town[other].id(), &person);
            let told = answer.turned_back.map(|turned| turned.why);
            assert_eq!(told, Some(HomeReason::Refused(why)), "{person}");
        }
        Traveller::Thing(origin) => {
            let home_again = thing(&town[home], origin).expect("it is home");
            assert_eq!(home_again.id, origin.number);
            assert!(home_again.position.x.saturating_abs() >= near, "{home_again:?}");
            assert_eq!(text(&town[home], origin), format!("refused: {}", why.word()));
        }
    }
}

#[test]
fn a_neighbour_that_refuses_everything_has_all_come_home_with_its_reasons_again_and_again() {
    let mut refuser = Refuser::new();
    let mut given = 0;
    for _ in 0..4 {
        let under_way = refuser.depart();
        // A thing that comes home is still while this is looked at.
        let reason = |n: usize| REASONS[(given + n) % REASONS.len()];
        let verdict = |(n, (number, _)): (usize, &(u64, Traveller))| BorderVerdict {
            number: *number,
            refused: Some(reason(n)),
        };
        let verdicts: Vec<_> = under_way.iter().enumerate().map(verdict).collect();
        refuser.hears(&verdicts);
        refuser.check_all_in_one_place();
        assert_eq!(said(&refuser.liar.town, 1, 0).departures, []);
        for (n, (_, traveller)) in under_way.iter().enumerate() {
            refuser.check_home(*traveller, reason(n));
        }
        // What she held lies beside her. She takes it again.
        let own = *refuser.balls.last().expect("Bea's");
        let object = thing(refuser.east(), own).expect("it is home").id;
        assert_eq!(object, own.number);
        let take = refuser.liar.town[1].act(public(BEA), 1, Act::Build(Build::Take { object }));
        refuser.hears(&verdicts);
        assert_eq!(refuser.east().outcome(&take), Outcome::Ok);
        given += under_way.len();
        assert_eq!(refuser.east().world.root(), refuser.east().world.rehash());
    }
    assert!(given >= 2 * REASONS.len(), "each reason was given: {given}");
}

/// The one that is said to be taken is the neighbour's to keep, and a later lie does not bring it back.
#[test]
fn of_a_neighbour_that_refuses_everything_but_one_all_but_that_one_come_home() {
    let count = usize::from(PEOPLE) + ROLLERS as usize;
    for taken in 0..count {
        let mut refuser = Refuser::new();
        let under_way = refuser.depart();
        let reason = |n: usize| (n != taken).then_some(REASONS[n]);
        let verdict = |(n, (number, _)): (usize, &(u64, Traveller))| BorderVerdict {
            number: *number,
            refused: reason(n),
        };
        let mut verdicts: Vec<_> = under_way.iter().enumerate().map(verdict).collect();
        for is_told_again in [false, true] {
            if is_told_again {
                verdicts[taken].refused = Some(TravelRefusal::Full);
            }
            refuser.hears(&verdicts);
            let (_, gone) = under_way[taken];
            for person in refuser.people.iter().map(|person| Traveller::Person(*person)) {
                let Traveller::Person(key) = person else { unreachable!("a person") };
                let found = places(&refuser.liar.town, &key);
                assert_eq!(found, usize::from(person != gone), "{person:?}");
            }
            for ball in &refuser.balls {
                let is_hers = ball.number.0 == ROLLERS + 1;
                let is_gone = gone == Traveller::Thing(*ball)
                    || (is_hers && gone == Traveller::Person(public(BEA)));
                let found = places_of_thing(&refuser.liar.town, *ball);
                assert_eq!(found, usize::from(!is_gone), "{ball:?}");
            }
        }
        for (n, (_, traveller)) in under_way.iter().enumerate().filter(|(n, _)| *n != taken) {
            refuser.check_home(*traveller, reason(n).expect("it was refused"));
        }
        let border = refuser.east().world.borders()[0].clone();
        assert_eq!((border.under_way, border.pinned), (0, 0));
        assert_eq!(refuser.east().world.root(), refuser.east().world.rehash());
    }
}

/// Sends people and balls of the west on their way together. The east has this much room for them.
fn under_way(room: [(&str, &str); 2]) -> (Vec<Place>, Vec<PublicKey>, Vec<Origin>) {
    let mut town = town_of(geneses(2, 4, 3));
    let sim = first(&town).sim;
    let balls = (1..=3).map(|n| Origin { sim, number: ObjectId(n) }).collect();
    let people: Vec<PublicKey> = [1, 2].map(public).to_vec();
    people.iter().for_each(|person| town[0].login(*person));
    // All of them have a pass before the first one departs.
    for _ in 0..8 {
        people.iter().for_each(|person| drive(&mut town, *person, Vec2::ZERO));
        tell(&mut town, 0, 1);
        town[1].play(50);
        tell(&mut town, 1, 0);
        town[0].play(50);
    }
    let_travel(&mut town[..1], true);
    for _ in 0..60 {
        people.iter().for_each(|person| drop(town[0].act(*person, 1, Act::Walk { heading: EAST })));
        town[1].play(50);
        tell(&mut town, 1, 0);
        town[0].play(50);
        if said(&town, 0, 1).departures.len() == people.len() + 3 {
            break;
        }
    }
    let listed = &said(&town, 0, 1).departures;
    assert_eq!(listed.len(), people.len() + 3, "{listed:?}");
    // Two turns later that is proved.
    town[0].idle(2);
    room.into_iter().for_each(|(name, value)| amend(&mut town[1], name, value));
    (town, people, balls)
}

#[test]
fn where_the_neighbour_has_room_for_one_that_one_is_there_and_all_others_are_home() {
    // Besides the admin of the east there is room for one ball, for one person, or for nobody.
    let narrow = [
        ([("border_things", "1"), ("avatars_max", "1")], 1),
        ([("border_things", "0"), ("avatars_max", "2")], 1),
        ([("border_things", "0"), ("avatars_max", "1")], 0),
    ];
    for (room, taken) in narrow {
        let (mut town, people, balls) = under_way(room);
        tell(&mut town, 0, 1);
        town[1].play(50);
        let verdicts = said(&town, 1, 0).verdicts.clone();
        let listed = said(&town, 0, 1).departures.clone();
        assert_eq!(verdicts.len(), listed.len());
        let refused = verdicts.iter().filter(|verdict| verdict.refused.is_some()).count();
        assert_eq!(verdicts.len() - refused, taken, "{room:?}: {verdicts:?}");
        town[1].idle(2);
        tell(&mut town, 1, 0);
        town[0].play(50);
        for (verdict, departure) in verdicts.iter().zip(&listed) {
            assert_eq!(verdict.number, departure.number);
            let traveller = departure.traveller;
            let (one, is_there) = match traveller {
                Traveller::Person(key) => {
                    (places(&town, &key), town[1].world.avatar(&key).is_some())
                }
                Traveller::Thing(origin) => {
                    (places_of_thing(&town, origin), thing(&town[1], origin).is_some())
                }
            };
            assert_eq!((one, is_there), (1, verdict.refused.is_none()), "{traveller:?}");
            let is_person = matches!(traveller, Traveller::Person(_));
            let why = if is_person { TravelRefusal::Full } else { TravelRefusal::ShareFull };
            if let Some(refused) = verdict.refused {
                assert_eq!(refused, why);
                check_home(&town, (0, 1), traveller, why);
            }
        }
        assert_eq!((people.len(), balls.len()), (2, 3));
        town.iter().for_each(|place| assert_eq!(place.world.root(), place.world.rehash()));
        step(&mut town, 50);
        town.iter_mut().for_each(Place::restore);
    }
}
