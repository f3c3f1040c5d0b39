//! Offers: what changes hands, and what things may do to people, once these people signed for it.

use metatopia_physics::Motion;
use metatopia_scripting::Value;
use metatopia_sim::{
    ShownForm,
    limits::{OFFER_SECONDS, OFFERS_MAX, PERMIT_BYTES, PERMITS_MAX, SPAWNED_PER_OBJECT_MAX},
};
use metatopia_types::{
    Act, Blueprint, Build, ObjectId, Offer, Outcome, Permission, PublicKey, Refusal,
};

use crate::{
    building::{block, built, place, refused, site},
    byte_budget::{leave, script},
    yard::{Builder, Yard, public, vec2},
};

/// A market: it gives what it spawned for a coin, asks for permissions, and remembers the answers.
const MARKET: &str = r#"
    fn on_start() { state.told = []; }
    fn coin() { nearby(30).find(|thing| thing.name == "coin") }
    fn on_chat(from, text) {
        switch text {
            "stock" => spawn(#{ name: "lamp", pos: self_.pos + vec2(0, 3) }),
            "sell" => offer(from, #{ tag: "lamp", text: "A good one.", give: state.lamp, take: coin() }),
            "beg" => offer(from, #{ tag: "beg", take: coin() }),
            "gift" => offer(from, #{ tag: "gift", give: state.lamp }),
            "back" => offer(from, #{ tag: "back", give: coin() }),
            "house" => offer(from, #{ tag: "house", give: self_ }),
            "move" => ask(from, "move"),
            "dress" => ask(from, "dress"),
            "go" => carry(from, vec2(6, 6)),
            "red" => dress(from, 0xff0000),
            "ask" => { state.may = allowed(from, "move"); }
        }
    }
    fn on_spawn(thing, tag) { state.lamp = thing; }
    fn on_answer(who, tag, accepted) { state.told.push(`${who.name} ${tag} ${accepted}`); }
"#;

/// A yard with a market of player 1 at (3, 0), in whose hearing both players stand.
struct Market {
    yard: Yard,
    market: ObjectId,
}

impl Market {
    fn open() -> Self {
        let mut builder = Builder::new();
        let package = builder.package("market", MARKET);
        let mut yard = site(&mut builder);
        let market = place(&mut yard, 1, block(3, 0));
        let attach = Build::Attach { object: market, package };
        assert_eq!(built(&mut yard, 1, attach), Outcome::Ok);
        yard.play();
        let mut market = Self { yard, market };
        market.say(1, "stock");
        market
    }

    /// Has a player say something. Returns what things showed people then.
    fn say(&mut self, n: u8, text: &str) -> Vec<ShownForm> {
        self.yard.say(n, 0, text);
        let turns = [self.yard.play(), self.yard.play()];
        turns.into_iter().flat_map(|applied| applied.forms).collect()
    }

    /// Has the market offer something. Returns what is offered.
    fn offered(&mut self, n: u8, text: &str) -> Offer {
        let shown = self.say(n, text);
        let [shown] = shown.as_slice() else { panic!("{shown:?}") };
        assert_eq!((shown.object, shown.player), (self.market, public(n)));
        shown.form.offer.clone().expect("an offer").terms
    }

    fn answer(&mut self, n: u8, terms: &Offer, accepts: bool) -> Outcome {
        let (object, terms) = (self.market, terms.clone());
        self.yard.try_act(n, Act::Answer { object, terms, accepts })
    }

    fn coin(&mut self, n: u8) -> ObjectId {
        place(&mut self.yard, n, Blueprint { name: "coin".to_owned(), ..block(-2, -2) })
    }

    fn owner(&self, thing: ObjectId) -> Option<PublicKey> {
        self.yard.world.object(thing).expect("it is there").owner
    }

    fn lamp(&self) -> ObjectId {
        self.yard.world.objects().find(|thing| thing.name == "lamp").expect("it was spawned").id
    }

    fn told(&mut self) -> Vec<String> {
        self.yard.play();
        let Some(Value::Array(told)) = script(&self.yard.world, 1).state.0.get("told").cloned()
        else {
            panic!("it remembers")
        };
        told.iter().map(ToString::to_string).collect()
    }
}

#[test]
fn a_lamp_and_a_coin_change_hands_together_or_not_at_all() {
    let mut market = Market::open();
    let (coin, lamp) = (market.coin(2), market.lamp());

    let shown = market.say(2, "sell");
    let offer = shown[0].form.offer.clone().expect("an offer");
    assert_eq!((offer.given.as_str(), offer.taken.as_str()), ("lamp", "coin"));
    assert_eq!(shown[0].form.text, "A good one.");
    let terms = offer.terms;
    assert_eq!((terms.give, terms.take), (Some(lamp), Some(coin)));
    assert_eq!((market.owner(lamp), market.owner(coin)), (Some(public(1)), Some(public(2))));

    assert_eq!(market.answer(2, &terms, true), Outcome::Ok);
    assert_eq!((market.owner(lamp), market.owner(coin)), (Some(public(2)), Some(public(1))));
    assert_eq!(market.told(), ["player 2 lamp true"]);
    // It happens once.
    assert_eq!(market.answer(2, &terms, true), refused(Refusal::NoOffer));
    assert_eq!(market.yard.world.root(), market.yard.world.rehash());
}

#[test]
fn what_was_declined_stays_where_it_is_and_the_script_is_told() {
    let mut market = Market::open();
    let lamp = market.lamp();
    let terms = market.offered(2, "gift");

    assert_eq!(market.answer(2, &terms, false), Outcome::Ok);

    assert_eq!(market.owner(lamp), Some(public(1)));
    assert_eq!(market.told(), ["player 2 gift false"]);
    assert_eq!(market.answer(2, &terms, true), refused(Refusal::NoOffer));
}

#[test]
fn nobody_accepts_what_was_not_offered_to_them() {
    let mut market = Market::open();
    let coin = market.coin(2);
    let terms = market.offered(2, "gift");

    // It was offered to player 2 alone, and nothing else was.
    assert_eq!(market.answer(1, &terms, true), refused(Refusal::NoOffer));
    let more = Offer { take: Some(coin), ..terms.clone() };
    assert_eq!(market.answer(2, &more, true), refused(Refusal::NoOffer));
    let free = Offer { give: Some(market.market), ..terms.clone() };
    assert_eq!(market.answer(2, &free, true), refused(Refusal::NoOffer));
    let elsewhere = Act::Answer { object: coin, terms: terms.clone(), accepts: true };
    assert_eq!(market.yard.try_act(2, elsewhere), refused(Refusal::NoOffer));
    assert_eq!(market.answer(2, &terms, true), Outcome::Ok);
}

#[test]
fn an_offer_is_over_after_a_minute() {
    let mut market = Market::open();
    let terms = market.offered(2, "gift");
    // Twenty turns a second, of which a few have gone by.
    for _ in 0..OFFER_SECONDS {
        market.yard.act(2, Act::Heartbeat);
        market.yard.idle(20);
    }
    assert_eq!(market.answer(2, &terms, true), refused(Refusal::NoOffer));
}

#[test]
fn a_thing_takes_only_what_is_the_persons_and_may_give_it_back() {
    let mut market = Market::open();
    let coin = market.coin(1);
    let theirs = market.offered(2, "beg");
    assert_eq!(market.answer(2, &theirs, true), refused(Refusal::NotYours));
    // The owner of the market has nothing to hand over to it.
    let own = market.offered(1, "beg");
    assert_eq!(market.answer(1, &own, true), refused(Refusal::NoOffer));

    assert_eq!(
        built(&mut market.yard, 1, Build::Give { object: coin, to: public(2) }),
        Outcome::Ok
    );
    let terms = market.offered(2, "beg");
    assert_eq!(market.answer(2, &terms, true), Outcome::Ok);
    assert_eq!(market.owner(coin), Some(public(1)));
    let back = market.offered(2, "back");
    assert_eq!(market.answer(2, &back, true), Outcome::Ok);
    assert_eq!(market.owner(coin), Some(public(2)));
}

/// Whoever accepted a thing with a script would otherwise have handed all their things to its author.
#[test]
fn a_script_gives_nothing_that_its_thing_neither_spawned_nor_took() {
    let mut market = Market::open();
    let coin = market.coin(1);
    let terms = market.offered(2, "back");
    assert_eq!(terms.give, Some(coin));
    assert_eq!(market.answer(2, &terms, true), refused(Refusal::NoOffer));
    assert_eq!(market.owner(coin), Some(public(1)));
}

#[test]
fn a_thing_that_gives_itself_away_leaves_what_it_took_with_its_owner() {
    let mut market = Market::open();
    let (coin, id) = (market.coin(2), market.market);
    let terms = market.offered(2, "beg");
    assert_eq!(market.answer(2, &terms, true), Outcome::Ok);

    let house = market.offered(2, "house");
    assert_eq!(market.answer(2, &house, true), Outcome::Ok);

    assert_eq!((market.owner(id), market.owner(coin)), (Some(public(2)), Some(public(1))));
    // The coin belongs to no thing any more, so it stays when the market goes.
    assert_eq!(built(&mut market.yard, 2, Build::Delete { object: id }), Outcome::Ok);
    market.yard.idle(2);
    assert_eq!(market.owner(coin), Some(public(1)));
    assert_eq!(market.yard.world.root(), market.yard.world.rehash());
}

#[test]
fn what_a_thing_took_goes_with_it() {
    let mut market = Market::open();
    let coin = market.coin(2);
    let terms = market.offered(2, "beg");
    assert_eq!(market.answer(2, &terms, true), Outcome::Ok);
    let delete = Build::Delete { object: market.market };
    assert_eq!(built(&mut market.yard, 1, delete), Outcome::Ok);
    market.yard.idle(2);
    assert!(market.yard.world.object(coin).is_none());
    assert_eq!(market.yard.world.root(), market.yard.world.rehash());
}

#[test]
fn a_gift_needs_room_with_its_receiver_and_a_toll_with_the_owner_of_the_thing() {
    let mut builder = Builder::new();
    builder.genesis.parameters.building.objects_per_player = 3;
    let package = builder.package("market", MARKET);
    let mut yard = site(&mut builder);
    let id = place(&mut yard, 1, block(3, 0));
    let attach = Build::Attach { object: id, package };
    assert_eq!(built(&mut yard, 1, attach), Outcome::Ok);
    yard.play();
    let mut market = Market { yard, market: id };
    market.say(1, "stock");
    market.coin(2);
    let toll = market.offered(2, "beg");
    // The owner has the market, the lamp, and one thing more.
    place(&mut market.yard, 1, block(0, 4));
    assert_eq!(market.answer(2, &toll, true), refused(Refusal::NoRoomForGifts));

    for y in [4, 6] {
        place(&mut market.yard, 2, block(-3, y));
    }
    let gift = market.offered(2, "gift");
    assert_eq!(market.answer(2, &gift, true), refused(Refusal::TooManyObjects));
}

#[test]
fn a_thing_takes_as_many_things_as_it_may_spawn() {
    let mut builder = Builder::new();
    let source = "fn on_touch(other) { for n in 0..8 {
            spawn(#{ name: \"pin\", radius: 0.1, pos: self_.pos + vec2(0, 4) }); } }
        fn on_chat(from, text) {
            offer(from, #{ take: nearby(30).find(|thing| thing.name == \"coin\") }); }";
    let package = builder.package("maker", source);
    let maker = builder.thing(Motion::Static, (3, 0), &[package]);
    let mut yard = site(&mut builder);
    yard.play();
    // So near that the thing sees it before its pins.
    place(&mut yard, 2, Blueprint { name: "coin".to_owned(), ..block(3, -2) });
    let mut market = Market { yard, market: maker };
    for _ in 0..SPAWNED_PER_OBJECT_MAX / 8 {
        assert_eq!(market.yard.try_act(2, Act::Touch { object: maker }), Outcome::Ok);
        market.yard.idle(20);
    }
    let spawned = market.yard.world.objects().filter(|thing| thing.name == "pin").count();
    assert_eq!(spawned, SPAWNED_PER_OBJECT_MAX);
    let terms = market.offered(2, "coin");
    assert_eq!(market.answer(2, &terms, true), refused(Refusal::TooManyObjects));
}

#[test]
fn a_person_is_moved_and_dressed_by_whom_they_allowed_it_and_until_they_forbid_it() {
    let mut market = Market::open();
    let avatar = market.yard.avatar(2);
    // Unasked, the script fails and the person stays.
    market.say(2, "go");
    assert!(market.yard.position(avatar).distance(vec2(6, 6)) > metatopia_math::Fx::from_int(5));

    let terms = market.offered(2, "move");
    assert_eq!(terms.allow, [Permission::Move].into());
    assert_eq!(market.answer(2, &terms, true), Outcome::Ok);
    assert_eq!(market.told(), ["player 2 move true"]);
    market.say(2, "go");
    assert_eq!(market.yard.position(avatar), vec2(6, 6));
    market.say(2, "ask");
    assert_eq!(script(&market.yard.world, 1).state.0.get("may"), Some(&Value::Bool(true)));

    // One permission is not the other.
    market.say(2, "red");
    let color = |market: &Market| market.yard.world.object(avatar).expect("here").look.color;
    assert_ne!(color(&market), 0x00ff_0000);
    let dress = market.offered(2, "dress");
    assert_eq!(market.answer(2, &dress, true), Outcome::Ok);
    market.say(2, "red");
    assert_eq!(color(&market), 0x00ff_0000);

    assert_eq!(market.yard.try_act(2, Act::Forbid), Outcome::Ok);
    market.say(2, "ask");
    assert_eq!(script(&market.yard.world, 1).state.0.get("may"), Some(&Value::Bool(false)));
    assert_eq!(market.yard.world.root(), market.yard.world.rehash());
}

#[test]
fn a_permission_ends_with_the_session() {
    let mut market = Market::open();
    let terms = market.offered(2, "move");
    assert_eq!(market.answer(2, &terms, true), Outcome::Ok);
    market.yard.login(2);
    market.yard.play();
    market.say(2, "ask");
    assert_eq!(script(&market.yard.world, 1).state.0.get("may"), Some(&Value::Bool(false)));
}

#[test]
fn a_full_world_takes_no_further_offer_and_no_further_permission() {
    let mut market = Market::open();
    let terms = market.offered(2, "move");
    leave(&mut market.yard.world, PERMIT_BYTES as u64 - 1);
    assert_eq!(market.answer(2, &terms, true), refused(Refusal::Full));
    let dropped = script(&market.yard.world, 1).dropped;
    assert!(market.say(2, "dress").is_empty());
    assert!(script(&market.yard.world, 1).dropped > dropped);
}

#[test]
fn of_too_many_offers_and_permissions_the_oldest_end() {
    let mut builder = Builder::new();
    let source = "fn on_chat(from, text) {
            if text == \"ask\" { state.may = allowed(from, \"move\"); return; }
            for n in 0..6 { offer(from, #{ tag: `${n}`, give: self_ }); }
        }
        fn on_touch(other) { ask(other, \"move\"); }";
    let package = builder.package("pushy", source);
    let count = PERMITS_MAX + 1;
    let y = |n: usize| i32::try_from(n).expect("a few things");
    let things: Vec<ObjectId> =
        (0..count).map(|n| builder.thing(Motion::Static, (3, y(n)), &[package])).collect();
    let mut yard = site(&mut builder);
    yard.play();
    yard.say(2, 0, "hello");
    yard.idle(2);
    let scripts = 1..=count as u64;
    let offers = scripts.clone().map(|id| script(&yard.world, id).offers.len());
    assert_eq!(offers.collect::<Vec<_>>(), vec![OFFERS_MAX; count]);

    for thing in &things {
        yard.act(2, Act::Touch { object: *thing });
        yard.idle(2);
        let terms = Offer { allow: [Permission::Move].into(), ..Offer::default() };
        let answer = Act::Answer { object: *thing, terms, accepts: true };
        assert_eq!(yard.try_act(2, answer), Outcome::Ok);
    }
    yard.say(2, 0, "ask");
    yard.idle(2);
    let may = |id| script(&yard.world, id).state.0.get("may") == Some(&Value::Bool(true));
    let allowed: Vec<u64> = scripts.filter(|id| may(*id)).collect();
    assert_eq!(allowed, (2..=count as u64).collect::<Vec<_>>());
}
