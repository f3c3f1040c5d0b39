//! All acts, held against all rights of roles: with the right, without it, and with the right taken away
//! earlier in the same turn; for the whole sim, and for an area on which all of the act's ground lies, or half of
//! it, or none.

use std::collections::BTreeSet;

use metatopia_math::Vec2;
use metatopia_physics::Motion;
use metatopia_sim::{Area, Land, Publishers, Sender, SimClock, World, group_key};
use metatopia_types::{
    ACT_NUMBERS, Act, AssetLicence, Blob, BlobId, Blueprint, Build, BuiltJoint, BuiltMaterial,
    ClubId, ClubOrder, Digest, Emote, Evidence, GovernOrder, GroundArea, HeaderId, Height, LeafKey,
    Look, LotId, LotOrder, NewKeyWord, NodeContact, ObjectId, Offer, Outcome, Outline,
    OutlineParts, PackageId, Refusal, ReportSubject, RoleRight, Round, Ruling, ScriptId, SetChange,
    SimId, TicketOrder, Title, Vote, VoteKind, wire,
};

use crate::yard::{Builder, Yard, key, public, vec2};

const ADMIN: u8 = 100;
const ADA: u8 = 1;
const BOB: u8 = 2;
const MUTED: u8 = 3;
const BANNED: u8 = 4;

/// The turn in which Bob says [`SAID`].
const SAID_AT: Height = Height(5);
const SAID: &[u8] = b"loud";

/// An act, with how it is refused to whom no right lets, and the rights that let.
struct Row {
    act: Act,
    denied: Option<Refusal>,
    lets: &'static [RoleRight],
    /// The ground on which the rights that let must hold, before and after the act; none if only rights for the
    /// whole sim let it.
    ground: Option<GroundArea>,
}

impl Row {
    /// Sets the ground that an act is about.
    fn on(self, x: i32, y: i32, width: u16, depth: u16) -> Self {
        Self { ground: Some(GroundArea { x, y, width, depth }), ..self }
    }
}

fn open(act: Act) -> Row {
    Row { act, denied: None, lets: &[], ground: None }
}

fn row(act: Act, denied: Refusal, lets: &'static [RoleRight]) -> Row {
    Row { act, denied: Some(denied), lets, ground: None }
}

/// Returns what everybody may do.
fn open_acts(thing: ObjectId) -> Vec<Row> {
    let vote = |header| {
        let (height, round, voter) = (Height(3), Round(2), public(201));
        Vote { kind: VoteKind::Precommit, height, round, header, voter }
            .sign(SimId(Digest::ZERO), &key(201))
    };
    let both = Evidence::votes(vote(None), vote(Some(HeaderId(Digest::ZERO))));
    let terms = Offer { give: None, take: None, allow: BTreeSet::new() };
    let nowhere = BlobId(Digest::ZERO);
    [
        Act::login("Ada".to_owned(), Look::default()),
        Act::Leave,
        Act::Heartbeat,
        Act::Walk { heading: Vec2::ZERO },
        Act::Touch { object: thing },
        Act::Push { object: thing },
        Act::Say { channel: 0, body: nowhere },
        Act::Emote(Emote::Bow),
        Act::SetLook(Look::default()),
        Act::Ready { height: Height(1), proof: Digest::ZERO },
        Act::Report(both),
        Act::Reply { object: thing, tag: String::new(), choice: 0, text: String::new() },
        Act::Land { order: nowhere },
        Act::Answer { object: thing, terms, accepts: false },
        Act::Forbid,
        Act::GoHome,
        Act::Sit { on: Some(thing) },
        Act::FileReport { about: ReportSubject::Person(public(ADMIN)), words: "loud".to_owned() },
        Act::WithdrawReport { report: 1 },
        Act::Tell { to: public(ADMIN), sealed: nowhere },
        Act::EmptyMailbox { up_to: 1 },
        Act::NameFriends { friends: vec![public(BOB)], need: 1 },
        Act::Vouch { old: public(BOB), new: NewKeyWord::new(&key(8), &public(BOB)) },
        Act::CancelRecovery,
        // The state knows nothing of such words, so each server drops them if they are the author's.
        Act::Forget { height: Height(1), body: nowhere },
        Act::Club(ClubOrder::Found { name: "Rowers".to_owned() }),
        Act::Club(ClubOrder::Invite { club: ClubId(1), key: public(ADMIN) }),
        Act::Club(ClubOrder::Accept { club: ClubId(1) }),
        Act::Club(ClubOrder::Decline { club: ClubId(1) }),
        Act::Club(ClubOrder::Leave { club: ClubId(1) }),
        Act::Club(ClubOrder::Remove { club: ClubId(1), key: public(BOB) }),
        Act::Club(ClubOrder::HandOver { club: ClubId(1), to: public(ADA) }),
        Act::Club(ClubOrder::Rename { club: ClubId(1), name: "Growers".to_owned() }),
        Act::Club(ClubOrder::Dissolve { club: ClubId(1) }),
        Act::Club(ClubOrder::Say { club: ClubId(1), body: nowhere }),
        Act::SetProfile { profile: nowhere },
        Act::Hear { neighbour: SimId(Digest::ZERO), dispatch: nowhere },
        Act::Approach { from: SimId(Digest::ZERO), work: None },
        // Of what she built herself, whatever she may do elsewhere.
        Act::Build(Build::Undo { skip: 0 }),
    ]
    .map(open)
    .into()
}

/// Returns what only some may build.
fn building(thing: ObjectId) -> Vec<Row> {
    let (build, script) = (&[RoleRight::Build][..], &[RoleRight::Script][..]);
    let blueprint = Blueprint {
        kind: "box".to_owned(),
        name: "a box".to_owned(),
        outline: Outline::Box { half: vec2(1, 1) },
        position: vec2(20, 20),
        angle: metatopia_math::Angle::ZERO,
        color: 0,
        text: String::new(),
        movable: false,
        licence: AssetLicence::Cc0,
        parts: OutlineParts::default(),
    };
    let package = PackageId(Digest::ZERO);
    let kind = BuiltJoint::Hinge;
    let join = Build::Join { object: thing, to: None, at: vec2(4, 4), kind };
    let own = |act: Build, lets| row(Act::Build(act), Refusal::NotYours, lets);
    // The thing covers a square metre around (2, 2).
    let here = |act: Build| own(act, build).on(1, 1, 2, 2);
    let land = |act: Build| row(Act::Build(act), Refusal::ClosedLand, &[RoleRight::Land]);
    let outline = Outline::Disc { radius: vec2(1, 1).x };
    vec![
        land(Build::Place(blueprint)).on(19, 19, 2, 2),
        land(Build::Copy { object: thing, position: vec2(20, 20) }).on(19, 19, 2, 2),
        land(Build::PutDown { object: thing, position: vec2(20, 20) }).on(19, 19, 2, 2),
        here(Build::Recolor { object: thing, color: 7 }),
        here(Build::MakeOf { object: thing, material: BuiltMaterial::Ice }),
        here(Build::MakeSensor { object: thing, sensor: true }),
        here(Build::Rename { object: thing, name: "mine".to_owned() }),
        here(Build::Write { object: thing, text: String::new() }),
        here(Build::Give { object: thing, to: public(ADA) }),
        here(Build::LetTravel { object: thing, travels: true }),
        here(Build::Delete { object: thing }),
        here(Build::Rotate { object: thing, angle: metatopia_math::Angle::ZERO }),
        here(Build::Resize { object: thing, outline }),
        here(Build::Unjoin { object: thing, from: None }),
        // Either half has one end of the way, or of the joint.
        own(Build::Move { object: thing, position: vec2(4, 4) }, build).on(1, 1, 4, 4),
        own(join, build).on(1, 1, 4, 4),
        own(Build::Take { object: thing }, build),
        own(Build::Attach { object: thing, package }, script),
        own(Build::Detach { object: thing, script: ScriptId(1) }, script),
        own(Build::Upgrade { object: thing, script: ScriptId(1), package }, script),
        own(Build::Resume { object: thing, script: ScriptId(1) }, script),
    ]
}

/// Returns what is about servers and tickets.
fn admitting() -> Vec<Row> {
    let (server, contact) = (public(205), NodeContact::default());
    let change = |change| row(Act::SetChange(change), Refusal::NotAdmin, &[RoleRight::Servers]);
    let ticket = |order| row(Act::Ticket(order), Refusal::NotAdmin, &[RoleRight::Moderate]);
    vec![
        change(SetChange::Add { key: server, contact: contact.clone() }),
        change(SetChange::Reserve { key: server, contact }),
        change(SetChange::Remove { key: server }),
        ticket(TicketOrder::Issue { ticket: public(9), uses: 1, days: 1 }),
        ticket(TicketOrder::Withdraw { ticket: public(9) }),
    ]
}

/// Returns what is about lots.
fn about_lots(thing: ObjectId) -> Vec<Row> {
    let (lot, ground) = (LotId(1), GroundArea { x: 20, y: 20, width: 8, depth: 8 });
    let claim = Act::Lot(LotOrder::Claim { ground, name: "garden".to_owned() });
    let land = |order: LotOrder| row(Act::Lot(order), Refusal::NotYours, &[RoleRight::Land]);
    let about_lot = |order: LotOrder| land(order).on(-18, -18, 8, 8);
    vec![
        row(claim, Refusal::ClosedLand, &[RoleRight::Land]).on(20, 20, 8, 8),
        about_lot(LotOrder::Name { lot, name: "orchard".to_owned() }),
        about_lot(LotOrder::Give { lot, to: public(ADA) }),
        about_lot(LotOrder::Open { lot, to: public(ADA) }),
        about_lot(LotOrder::Shut { lot, to: public(ADA) }),
        about_lot(LotOrder::OpenToClub { lot, club: ClubId(1) }),
        about_lot(LotOrder::ShutToClub { lot }),
        about_lot(LotOrder::Return { lot }),
        land(LotOrder::SendHome { lot, object: thing }).on(-18, -18, 22, 22),
    ]
}

/// Returns what is about the sim, and about people.
fn governing(thing: ObjectId) -> Vec<Row> {
    let moderate = &[RoleRight::Moderate][..];
    let rights = |right| BTreeSet::from([right]);
    let (key, reason) = (public(BOB), String::new());
    let order = |order: GovernOrder, lets| row(Act::Govern(order), Refusal::NoRight, lets);
    let great = |order: GovernOrder| row(Act::Govern(order), Refusal::NotAdmin, &[]);
    let amend = Act::Amend { name: "name".to_owned(), value: "Harbour".to_owned() };
    let source = BlobId(Digest::ZERO);
    let administer = &[RoleRight::Administer][..];
    let decide = GovernOrder::Decide { report: 1, ruling: Ruling::Upheld, reason: reason.clone() };
    let announce = GovernOrder::Announce { text: "hello".to_owned() };
    let build = rights(RoleRight::Build);
    let area = GroundArea { x: 1, y: 1, width: 2, depth: 2 };
    let grant_area = GovernOrder::GrantArea { key, rights: build.clone(), area, seconds: None };
    let border = Act::Border { order: BlobId(Digest::ZERO) };
    let forget = Act::Forget { height: SAID_AT, body: Blob(SAID.to_vec()).id() };
    let ground = GroundArea { x: 20, y: 20, width: 8, depth: 8 };
    let (name, title) = ("green".to_owned(), Title::Open);
    let set_land = GovernOrder::SetLand { name, area: ground, title };
    let remove_land = GovernOrder::RemoveLand { name: "park".to_owned() };
    let house_rules = GovernOrder::SetHouseRules { text: Some(Blob(SAID.to_vec()).id()) };
    let about_thing = |of: GovernOrder| order(of, moderate).on(1, 1, 2, 2);
    vec![
        row(border, Refusal::NotAdmin, &[RoleRight::Borders]),
        row(amend, Refusal::NotAdmin, administer),
        row(Act::Govern(set_land), Refusal::NotAdmin, administer),
        row(Act::Govern(remove_land), Refusal::NotAdmin, administer),
        row(Act::Govern(house_rules), Refusal::NotAdmin, administer),
        row(Act::Publish { source }, Refusal::NotPublisher, &[RoleRight::Script]),
        row(Act::PublishPiece { piece: source }, Refusal::NotPublisher, &[RoleRight::Script]),
        row(Act::Assemble { pieces: vec![source] }, Refusal::NotPublisher, &[RoleRight::Script]),
        order(GovernOrder::Grant { key, rights: build.clone(), seconds: None }, administer),
        order(GovernOrder::Revoke { key, rights: build.clone() }, administer),
        order(grant_area, administer),
        order(GovernOrder::RevokeArea { key, rights: build, area }, administer),
        great(GovernOrder::Grant { key, rights: rights(RoleRight::Servers), seconds: None }),
        great(GovernOrder::Revoke { key, rights: rights(RoleRight::Administer) }),
        great(GovernOrder::NameAdmin { key }),
        great(GovernOrder::RemoveAdmin { key: public(ADMIN) }),
        order(GovernOrder::Kick { key }, moderate),
        order(GovernOrder::Ban { key, seconds: None, reason: reason.clone() }, moderate),
        order(GovernOrder::Unban { key }, moderate),
        order(GovernOrder::Mute { key, seconds: None, reason }, moderate),
        order(GovernOrder::Unmute { key }, moderate),
        order(GovernOrder::Unprofile { key }, moderate),
        about_thing(GovernOrder::Freeze { object: thing }),
        about_thing(GovernOrder::Thaw { object: thing }),
        about_thing(GovernOrder::Return { object: thing }),
        order(decide, moderate),
        row(forget, Refusal::NoRight, moderate),
        order(GovernOrder::EndClub { club: ClubId(1) }, moderate),
        order(GovernOrder::Undo { key, seconds: 60 }, moderate),
        order(announce, &[RoleRight::Speak]),
    ]
}

fn rows(thing: ObjectId) -> Vec<Row> {
    let more = governing(thing).into_iter().chain(admitting()).chain(about_lots(thing));
    open_acts(thing).into_iter().chain(building(thing)).chain(more).collect()
}

/// A sim with closed ground, in which all are logged in, one of them is muted, and another one is banned.
fn world() -> (World, ObjectId) {
    let mut builder = Builder::new();
    let thing = builder.thing(Motion::Dynamic, (2, 2), &[]);
    builder.genesis.objects[0].owner = Some(public(BOB));
    builder.genesis.parameters.publishers = Publishers::Admins;
    let area = Area::between(vec2(10, 10), vec2(40, 40));
    builder.genesis.lands.push(Land { name: "park".to_owned(), area, title: Title::Sim });
    let mut yard = builder.build();
    for n in [ADMIN, ADA, BOB, MUTED, BANNED] {
        yard.login(n);
    }
    yard.play();
    let ground = GroundArea { x: -18, y: -18, width: 8, depth: 8 };
    let claim = LotOrder::Claim { ground, name: "Bob's".to_owned() };
    assert_eq!(yard.try_act(BOB, Act::Lot(claim)), Outcome::Ok);
    let club = ClubOrder::Found { name: "Gardeners".to_owned() };
    assert_eq!(yard.try_act(BOB, Act::Club(club)), Outcome::Ok);
    let about = ReportSubject::Person(public(MUTED));
    let report = Act::FileReport { about, words: "loud".to_owned() };
    assert_eq!(yard.try_act(BOB, report), Outcome::Ok);
    yard.say(BOB, 1, "loud");
    yard.play();
    assert_eq!(yard.world.chat().0.back().map(|line| line.height), Some(SAID_AT));
    let (seconds, reason) = (None, String::new());
    let mute = GovernOrder::Mute { key: public(MUTED), seconds, reason: reason.clone() };
    assert_eq!(yard.try_act(ADMIN, Act::Govern(mute)), Outcome::Ok);
    let ban = GovernOrder::Ban { key: public(BANNED), seconds, reason };
    assert_eq!(yard.try_act(ADMIN, Act::Govern(ban)), Outcome::Ok);
    (yard.world, thing)
}

/// Returns the order that gives Ada a right for the whole sim, or for an area.
fn grant(right: RoleRight, area: Option<GroundArea>) -> Act {
    let (key, rights, seconds) = (public(ADA), BTreeSet::from([right]), None);
    Act::Govern(match area {
        None => GovernOrder::Grant { key, rights, seconds },
        Some(area) => GovernOrder::GrantArea { key, rights, area, seconds },
    })
}

/// Returns the order that takes it away again.
fn revoke(right: RoleRight, area: Option<GroundArea>) -> Act {
    let (key, rights) = (public(ADA), BTreeSet::from([right]));
    Act::Govern(match area {
        None => GovernOrder::Revoke { key, rights },
        Some(area) => GovernOrder::RevokeArea { key, rights, area },
    })
}

/// Returns what becomes of an act of Ada, who has this right.
fn with(world: &World, right: RoleRight, area: Option<GroundArea>, act: &Act) -> Outcome {
    let mut yard = Yard::of(world.clone());
    assert_eq!(yard.try_act(ADMIN, grant(right, area)), Outcome::Ok);
    yard.try_act(ADA, act.clone())
}

/// Says whether the author of the last turn of two acts was decided after the admin.
fn came_after(yard: &Yard, before: &World) -> bool {
    let clock = yard.world.leaf(&LeafKey("clock".to_owned())).expect("every state has this leaf");
    let clock: SimClock = wire::decode(&clock, clock.len()).expect("a clock");
    let (seed, tick) = (clock.seed, before.tick().plus(1));
    let place = |n: u8| group_key(&seed, tick, ScriptId(0), &Sender::Player(public(n)));
    place(ADMIN) < place(ADA)
}

/// Has Ada act in the turn in which the admin takes her right away; returns what became of the act, for
/// both orders of the two.
fn lost(world: &World, right: RoleRight, area: Option<GroundArea>, act: &Act) -> [Outcome; 2] {
    let mut yard = Yard::of(world.clone());
    assert_eq!(yard.try_act(ADMIN, grant(right, area)), Outcome::Ok);
    let mut found = [None; 2];
    for _ in 0..64 {
        let mut turn = Yard::of(yard.world.clone());
        turn.act(ADMIN, revoke(right, area));
        let act = turn.act(ADA, act.clone());
        turn.play();
        found[usize::from(came_after(&turn, &yard.world))].get_or_insert(turn.outcome(&act));
        if let [Some(before), Some(after)] = found {
            return [before, after];
        }
        // The next turn has other dice.
        yard.play();
    }
    panic!("64 turns in one order of two authors");
}

#[test]
fn every_act_is_let_by_the_rights_of_the_table_and_by_no_other() {
    let (world, thing) = world();
    let all: Vec<Row> = rows(thing);
    let (mut looks, mut kinds) = (0, BTreeSet::new());
    for Row { act, denied, lets, .. } in &all {
        kinds.insert(act.number());
        let refused = denied.map(Outcome::Refused);
        let alone = Yard::of(world.clone()).try_act(ADA, act.clone());
        match refused {
            Some(refused) => assert_eq!(alone, refused, "{act:?} by anybody"),
            None => assert!(!is_denial(alone), "{act:?} by anybody: {alone}"),
        }
        let by_admin = Yard::of(world.clone()).try_act(ADMIN, act.clone());
        assert!(!is_denial(by_admin), "{act:?} by an admin: {by_admin}");
        for (word, right) in RoleRight::ALL {
            let has = with(&world, right, None, act);
            let is_let = denied.is_none() || lets.contains(&right);
            assert_eq!(is_denial(has), !is_let, "{act:?} by who has {word}: {has}");
            let [before, after] = lost(&world, right, None, act);
            assert_eq!(is_denial(before), !is_let, "{act:?} before {word} is lost: {before}");
            assert_eq!(is_denial(after), denied.is_some(), "{act:?} after {word} is lost: {after}");
            looks += 3;
        }
    }
    assert_eq!(kinds.len(), ACT_NUMBERS.len(), "every act that is known has a row");
    println!("{} acts, {} rights, {looks} looks", all.len(), RoleRight::ALL.len());
}

#[test]
fn a_right_for_an_area_lets_what_it_lets_elsewhere_where_all_ground_of_the_act_is_in_it() {
    let (world, thing) = world();
    let (mut looks, mut let_by_areas) = (0, 0);
    let anywhere = GroundArea { x: -20, y: -20, width: 60, depth: 60 };
    let off = GroundArea { x: -20, y: 20, width: 8, depth: 8 };
    for (word, right) in RoleRight::ALL {
        let given = Yard::of(world.clone()).try_act(ADMIN, grant(right, Some(off)));
        if !right.is_for_area() {
            assert_eq!(given, Outcome::Refused(Refusal::NotForArea), "{word}");
            continue;
        }
        for Row { act, denied, lets, ground } in rows(thing) {
            let Some(denied) = denied.map(Outcome::Refused) else {
                let has = with(&world, right, Some(anywhere), &act);
                assert!(!is_denial(has), "{act:?} by who has {word}: {has}");
                continue;
            };
            let is_let = lets.contains(&right) && ground.is_some();
            let whole = ground.unwrap_or(anywhere);
            for area in [whole, anywhere] {
                let has = with(&world, right, Some(area), &act);
                assert_eq!(is_denial(has), !is_let, "{act:?} by who has {word} on {area}: {has}");
            }
            let half = GroundArea { width: whole.width / 2, ..whole };
            let other = GroundArea { x: whole.x + i32::from(half.width), ..half };
            for area in [half, other, off] {
                let has = with(&world, right, Some(area), &act);
                assert_eq!(has, denied, "{act:?} by who has {word} on {area}");
            }
            let [before, after] = lost(&world, right, Some(whole), &act);
            assert_eq!(is_denial(before), !is_let, "{act:?} before {word} is lost: {before}");
            assert_eq!(after, denied, "{act:?} after {word} is lost");
            (looks, let_by_areas) = (looks + 7, let_by_areas + usize::from(is_let));
        }
    }
    println!("{looks} looks; {let_by_areas} acts that a right for an area lets");
    assert!(let_by_areas > 20);
}

#[test]
fn who_is_muted_may_do_all_but_speak_and_who_is_banned_may_only_show_facts() {
    let (world, thing) = world();
    for Row { act, .. } in rows(thing) {
        let muted = Yard::of(world.clone()).try_act(MUTED, act.clone());
        let speaks = matches!(
            act,
            Act::Say { .. }
                | Act::Tell { .. }
                | Act::SetProfile { .. }
                | Act::Club(
                    ClubOrder::Say { .. }
                        | ClubOrder::Invite { .. }
                        | ClubOrder::Found { .. }
                        | ClubOrder::Rename { .. }
                )
        );
        assert_eq!(muted == Outcome::Refused(Refusal::Muted), speaks, "{act:?}: {muted}");
        let banned = Yard::of(world.clone()).try_act(BANNED, act.clone());
        let shows = matches!(
            act,
            Act::Ready { .. } | Act::Report(_) | Act::Hear { .. } | Act::CancelRecovery
        );
        assert_eq!(banned != Outcome::Refused(Refusal::Banned), shows, "{act:?}: {banned}");
    }
}

/// Says whether an act was refused because its author may not do such a thing.
fn is_denial(outcome: Outcome) -> bool {
    let Outcome::Refused(why) = outcome else { return false };
    matches!(
        why,
        Refusal::NotAdmin
            | Refusal::NotPermanent
            | Refusal::NotYours
            | Refusal::NotPublisher
            | Refusal::ClosedLand
            | Refusal::NoRight
            | Refusal::Outranked
            | Refusal::Banned
            | Refusal::Muted
            | Refusal::Frozen
    )
}
