//! Who may order what, held against a small model of the rules: lists that are looked through from the
//! beginning each time. A history is some days of logins and orders by a handful of people.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_math::Stream;
use metatopia_types::{
    Act, Digest, Envelope, GovernOrder, GroundArea, HeaderId, Height, Lane, Look, Millis, Outcome,
    PublicKey, Refusal, RoleRight, Seq, Signature, SignedEnvelope,
};

use super::super::super::{
    executor::{ActExecutor, InjectedPanics},
    tests::{test_genesis, test_turn},
};
use crate::{
    rules::{ActTarget, Denied, Right},
    scripts::Programs,
    space::Area,
    state::{Genesis, State, Tools},
};

const DAY: u64 = 86_400_000;
const PEOPLE: u8 = 6;
const ADMIN_DAYS: u64 = 3;
const PLAYER_DAYS: u64 = 2;
const SEEN_DAYS: u64 = 2;

/// Areas for which rights are given: two side by side, and one north of both.
const AREAS: [GroundArea; 3] = [
    GroundArea { x: 0, y: 0, width: 2, depth: 2 },
    GroundArea { x: 2, y: 0, width: 2, depth: 2 },
    GroundArea { x: 0, y: 2, width: 4, depth: 1 },
];

/// The rights that are for areas.
const FOR_AREAS: [RoleRight; 3] = [RoleRight::Build, RoleRight::Moderate, RoleRight::Land];

/// Histories of a run. They take some seconds.
const HISTORIES: u64 = 100_000;

fn key(n: u8) -> PublicKey {
    PublicKey([n + 10; 32])
}

/// A player, as the model has it.
#[derive(Clone, Copy, Debug)]
struct Known {
    first: u64,
    last: u64,
    days: u64,
    here: bool,
}

/// The rules, by a look at everything.
#[derive(Clone, Debug, Default)]
struct Model {
    time: u64,
    admins: BTreeSet<u8>,
    admin_login: u64,
    players: BTreeMap<u8, Known>,
    /// Who has which right, on which of the [`AREAS`] if not in the whole sim, and until when.
    rights: Vec<(u8, Option<usize>, RoleRight, u64)>,
    bans: Vec<(u8, u64)>,
    mutes: Vec<(u8, u64)>,
}

impl Model {
    fn is_banned(&self, n: u8) -> bool {
        self.bans.iter().any(|(of, until)| *of == n && *until > self.time)
    }

    fn is_muted(&self, n: u8) -> bool {
        self.mutes.iter().any(|(of, until)| *of == n && *until > self.time)
    }

    fn has(&self, n: u8, right: RoleRight) -> bool {
        self.has_at(n, None, right)
    }

    fn has_at(&self, n: u8, area: Option<usize>, right: RoleRight) -> bool {
        let is = |(of, at, is, until): &(u8, Option<usize>, RoleRight, u64)| {
            (*of, *at, *is) == (n, area, right) && *until > self.time
        };
        self.rights.iter().any(is)
    }

    /// Says whether somebody has a right on all square metres of some ground, by one area or another.
    fn has_on(&self, n: u8, right: RoleRight, ground: GroundArea) -> bool {
        let metres = |area: GroundArea| {
            let (width, depth) = (i32::from(area.width), i32::from(area.depth));
            (0..width).flat_map(move |x| (0..depth).map(move |y| (area.x + x, area.y + y)))
        };
        let has = |place: (i32, i32)| {
            let mut areas = (0..AREAS.len()).filter(|area| self.has_at(n, Some(*area), right));
            areas.any(|area| metres(AREAS[area]).any(|other| other == place))
        };
        metres(ground).all(has)
    }

    fn temp_admin(&self) -> Option<u8> {
        if self.time - self.admin_login < ADMIN_DAYS * DAY {
            return None;
        }
        let stands = |(n, known): &(&u8, &Known)| {
            let recent = self.time - known.last <= PLAYER_DAYS * DAY;
            recent && known.days >= SEEN_DAYS && !self.admins.contains(n) && !self.is_banned(**n)
        };
        let line = self.players.iter().filter(stands);
        line.min_by_key(|(n, known)| (known.first, **n)).map(|(n, _)| *n)
    }

    /// Says whether the temp admin has to go when this person comes back.
    fn is_before_temp_admin(&self, n: u8) -> bool {
        let (Some(temp), Some(known)) = (self.temp_admin(), self.players.get(&n)) else {
            return false;
        };
        let stands = known.days + 1 >= SEEN_DAYS && !self.admins.contains(&n);
        stands && (known.first, n) < (self.players[&temp].first, temp)
    }

    fn rank(&self, n: u8) -> u8 {
        match n {
            _ if self.admins.contains(&n) => 5,
            _ if self.temp_admin() == Some(n) => 4,
            _ if self.has(n, RoleRight::Administer) => 3,
            _ if self.has(n, RoleRight::Moderate) => 2,
            _ if self.has(n, RoleRight::Land) => 1,
            _ => {
                let mut own =
                    self.rights.iter().filter(|(of, _, _, until)| *of == n && *until > self.time);
                own.any(|(_, area, ..)| area.is_some()).into()
            }
        }
    }

    fn login(&mut self, n: u8) -> Outcome {
        if self.is_banned(n) {
            return Outcome::Refused(Refusal::Banned);
        }
        let time = self.time;
        let fresh = Known { first: time, last: time, days: 0, here: true };
        let known = self.players.entry(n).or_insert(fresh);
        if known.days == 0 || known.last / DAY != time / DAY {
            known.days += 1;
        }
        (known.last, known.here) = (time, true);
        if self.admins.contains(&n) {
            self.admin_login = time;
        }
        Outcome::Ok
    }

    fn order(&mut self, n: u8, order: &ModelOrder) -> Outcome {
        match self.refusal(n, order) {
            Some(why) => return Outcome::Refused(why),
            None => self.carry_out(order),
        }
        Outcome::Ok
    }

    fn refusal(&self, n: u8, order: &ModelOrder) -> Option<Refusal> {
        if self.is_banned(n) {
            return Some(Refusal::Banned);
        }
        let rank = self.rank(n);
        let may = |right| rank >= 4 || self.has(n, right);
        match order.kind {
            Kind::Grant | Kind::Revoke if order.right.is_great() && order.area.is_none() => {
                match rank {
                    5 => {}
                    4 => return Some(Refusal::NotPermanent),
                    _ => return Some(Refusal::NotAdmin),
                }
            }
            Kind::NameAdmin | Kind::RemoveAdmin => match rank {
                5 => {}
                4 => return Some(Refusal::NotPermanent),
                _ => return Some(Refusal::NotAdmin),
            },
            Kind::Grant | Kind::Revoke if !may(RoleRight::Administer) => {
                return Some(Refusal::NoRight);
            }
            Kind::Grant | Kind::Revoke if rank <= self.rank(order.to) => {
                return Some(Refusal::Outranked);
            }
            Kind::Grant | Kind::Revoke => {}
            Kind::Ban if self.is_before_temp_admin(order.to) => match rank {
                5 => {}
                4 => return Some(Refusal::NotPermanent),
                _ => return Some(Refusal::NotAdmin),
            },
            _ if !may(RoleRight::Moderate) => return Some(Refusal::NoRight),
            _ if rank <= self.rank(order.to) => return Some(Refusal::Outranked),
            _ => {}
        }
        if !self.players.get(&n).is_some_and(|known| known.here) {
            return Some(Refusal::NotLoggedIn);
        }
        let to = self.players.get(&order.to);
        let trusted = || match to {
            None => Some(Refusal::NoPlayer),
            Some(_) if self.is_banned(order.to) => Some(Refusal::Banned),
            Some(_) => None,
        };
        let already = |so: bool| so.then_some(Refusal::AlreadySo);
        match order.kind {
            Kind::Grant if order.area.is_some() && !FOR_AREAS.contains(&order.right) => {
                Some(Refusal::NotForArea)
            }
            Kind::Grant => trusted(),
            Kind::Revoke => already(!self.has_at(order.to, order.area, order.right)),
            Kind::NameAdmin => already(self.admins.contains(&order.to)).or_else(trusted),
            Kind::RemoveAdmin if !self.admins.contains(&order.to) => Some(Refusal::AlreadySo),
            Kind::RemoveAdmin => (self.admins.len() == 1).then_some(Refusal::LastAdmin),
            Kind::Kick => (!to.is_some_and(|known| known.here)).then_some(Refusal::NotHere),
            Kind::Ban | Kind::Mute => None,
            Kind::Unban => already(!self.is_banned(order.to)),
            Kind::Unmute => already(!self.is_muted(order.to)),
        }
    }

    fn carry_out(&mut self, order: &ModelOrder) {
        let to = order.to;
        let until =
            order.seconds.map_or(u64::MAX, |seconds| self.time + u64::from(seconds) * 1_000);
        let leave = |players: &mut BTreeMap<u8, Known>| {
            if let Some(known) = players.get_mut(&to) {
                known.here = false;
            }
        };
        match order.kind {
            Kind::Grant => {
                self.rights
                    .retain(|(of, at, is, _)| (*of, *at, *is) != (to, order.area, order.right));
                self.rights.push((to, order.area, order.right, until));
            }
            Kind::Revoke => {
                self.rights
                    .retain(|(of, at, is, _)| (*of, *at, *is) != (to, order.area, order.right));
            }
            Kind::NameAdmin => drop(self.admins.insert(to)),
            Kind::RemoveAdmin => drop(self.admins.remove(&to)),
            Kind::Kick => leave(&mut self.players),
            Kind::Ban => {
                leave(&mut self.players);
                self.bans.retain(|(of, _)| *of != to);
                self.bans.push((to, until));
            }
            Kind::Unban => self.bans.retain(|(of, _)| *of != to),
            Kind::Mute => {
                self.mutes.retain(|(of, _)| *of != to);
                self.mutes.push((to, until));
            }
            Kind::Unmute => self.mutes.retain(|(of, _)| *of != to),
        }
    }
}

/// The kinds of orders that are about people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Grant,
    Revoke,
    NameAdmin,
    RemoveAdmin,
    Kick,
    Ban,
    Unban,
    Mute,
    Unmute,
}

const KINDS: [Kind; 9] = [
    Kind::Grant,
    Kind::Revoke,
    Kind::NameAdmin,
    Kind::RemoveAdmin,
    Kind::Kick,
    Kind::Ban,
    Kind::Unban,
    Kind::Mute,
    Kind::Unmute,
];

/// An order, as the model has it.
#[derive(Clone, Copy, Debug)]
struct ModelOrder {
    kind: Kind,
    to: u8,
    right: RoleRight,
    area: Option<usize>,
    seconds: Option<u32>,
}

impl ModelOrder {
    fn draw(dice: &mut Stream, model: &Model) -> Self {
        let below = |dice: &mut Stream, most: u64| dice.below(most) as usize;
        let mut drawn = Self {
            kind: KINDS[below(dice, KINDS.len() as u64)],
            to: below(dice, u64::from(PEOPLE)) as u8,
            right: RoleRight::ALL[below(dice, 8)].1,
            area: Some(below(dice, 6)).filter(|area| *area < AREAS.len()),
            // Some hours, a day or two, or for good.
            seconds: [None, Some(7_200), Some(86_400), Some(180_000)][below(dice, 4)],
        };
        // What can be taken back is most often what is there, and not everybody is shut out.
        let any = |dice: &mut Stream, count: usize| dice.below(count.max(1) as u64) as usize;
        match drawn.kind {
            Kind::Revoke => {
                if let Some((to, area, right, _)) = model.rights.get(any(dice, model.rights.len()))
                {
                    (drawn.to, drawn.area, drawn.right) = (*to, *area, *right);
                }
            }
            Kind::Unban => {
                if let Some((to, _)) = model.bans.get(any(dice, model.bans.len())) {
                    drawn.to = *to;
                }
            }
            Kind::Unmute => {
                if let Some((to, _)) = model.mutes.get(any(dice, model.mutes.len())) {
                    drawn.to = *to;
                }
            }
            Kind::Ban if dice.below(2) == 0 => drawn.kind = Kind::Grant,
            _ => {}
        }
        drawn
    }

    fn order(self) -> GovernOrder {
        let (key, seconds, reason) = (key(self.to), self.seconds, "a test".to_owned());
        let rights = BTreeSet::from([self.right]);
        match (self.kind, self.area.map(|area| AREAS[area])) {
            (Kind::Grant, Some(area)) => GovernOrder::GrantArea { key, rights, area, seconds },
            (Kind::Revoke, Some(area)) => GovernOrder::RevokeArea { key, rights, area },
            (Kind::Grant, None) => GovernOrder::Grant { key, rights, seconds },
            (Kind::Revoke, None) => GovernOrder::Revoke { key, rights },
            (Kind::NameAdmin, _) => GovernOrder::NameAdmin { key },
            (Kind::RemoveAdmin, _) => GovernOrder::RemoveAdmin { key },
            (Kind::Kick, _) => GovernOrder::Kick { key },
            (Kind::Ban, _) => GovernOrder::Ban { key, seconds, reason },
            (Kind::Unban, _) => GovernOrder::Unban { key },
            (Kind::Mute, _) => GovernOrder::Mute { key, seconds, reason },
            (Kind::Unmute, _) => GovernOrder::Unmute { key },
        }
    }
}

/// The state that a history begins with.
fn first_state() -> State {
    let mut genesis = Genesis { admins: BTreeSet::from([key(0)]), ..test_genesis() };
    genesis.parameters.admin_days = ADMIN_DAYS as u32;
    genesis.parameters.player_days = PLAYER_DAYS as u32;
    genesis.parameters.seen_days = SEEN_DAYS as u32;
    State::from_genesis(&genesis).expect("a small genesis")
}

/// Has a person act alone in the state; returns what became of it.
fn act(state: &mut State, n: u8, seq: u64, act: Act) -> Outcome {
    let (programs, panics, turn) = (Programs::default(), InjectedPanics::default(), test_turn());
    let tools = Tools::new(std::sync::Arc::new(metatopia_types::Ed25519));
    let executor = ActExecutor::new(&programs, &tools, &panics, &turn);
    let (sim, lane, last_valid) = (state.charter.sim, Lane(1), Height(u64::MAX));
    let envelope = Envelope { sim, author: key(n), lane, seq: Seq(seq), last_valid, act };
    let signed = SignedEnvelope { envelope, signature: Signature::from_bytes([0; 64]) };
    executor.execute(state, &[signed]).0[0]
}

/// Compares who is what, and who may say something and bear which rights.
fn compare(state: &State, model: &Model, seed: u64) {
    let temp = model.temp_admin().map(key);
    assert_eq!(state.governance.temp_admin, temp, "seed {seed}: {model:?}");
    for n in 0..PEOPLE {
        let told = state.may(&key(n), Right::Speak, &ActTarget::SIM).map(drop);
        let expected = match n {
            _ if model.is_banned(n) => Err(Denied::Banned),
            _ if model.is_muted(n) => Err(Denied::Muted),
            _ => Ok(()),
        };
        assert_eq!(told, expected, "seed {seed}: {n} in {model:?}");
        let servers = state.may(&key(n), Right::Servers, &ActTarget::SIM).is_ok();
        let may = model.rank(n) >= 4 || model.has(n, RoleRight::Servers);
        assert_eq!(servers, may && !model.is_banned(n), "seed {seed}: {n} in {model:?}");
        assert_eq!(state.rank(&key(n)) as u8, model.rank(n), "seed {seed}: {n} in {model:?}");
        if model.rights.iter().any(|(of, area, ..)| *of == n && area.is_some()) {
            compare_grounds(state, model, n, seed);
        }
    }
}

/// Compares on which ground somebody has a right: on areas, across their seams, and beyond them.
fn compare_grounds(state: &State, model: &Model, n: u8, seed: u64) {
    for (x, y, width, depth) in
        [(0, 0, 2, 2), (0, 0, 4, 2), (1, 1, 2, 2), (0, 0, 4, 3), (3, 1, 2, 1)]
    {
        let ground = GroundArea { x, y, width, depth };
        for right in FOR_AREAS {
            let (area, time) = (Area::of_ground(ground), state.governance.time);
            let told = state.people.has_right_on(&key(n), right, &area, time);
            let expected = model.has_on(n, right, ground);
            assert_eq!(told, expected, "seed {seed}: {n} has {right:?} on {ground} in {model:?}");
        }
    }
}

/// Draws who acts: half of the time somebody who has something to say.
fn author(dice: &mut Stream, model: &Model) -> u8 {
    let powers: Vec<u8> = (0..PEOPLE).filter(|n| model.rank(*n) > 0).collect();
    let any = dice.below(u64::from(PEOPLE)) as u8;
    match powers.len() as u64 {
        0 => any,
        count if dice.below(2) == 0 => powers[dice.below(count) as usize],
        _ => any,
    }
}

/// Plays one history in both. Counts the orders that were carried out, and acts under a temp admin.
fn play(seed: u64, first: &State, done: &mut BTreeMap<String, u64>) {
    let key_of_dice = Digest::of("histories of orders", &seed.to_le_bytes());
    let mut dice = Stream::new(&key_of_dice.0, "orders", &[]);
    let mut state = first.clone();
    let mut model = Model { admins: BTreeSet::from([0]), ..Model::default() };
    for turn in 1..=10_u64 {
        // Hours or days in which nobody did anything: only time counts then.
        let hours = [0, 1, 5, 20, 30, 50][dice.below(6) as usize];
        state.governance.time += hours * 3_600_000;
        model.time = state.governance.time;
        state.begin_turn(Height(turn), Millis(1), HeaderId(Digest::of("a turn", &[turn as u8])));
        for n in 0..dice.below(5) {
            let who = author(&mut dice, &model);
            let (told, expected) = if dice.below(3) == 0 {
                let login = Act::login(format!("player {who}"), Look::default());
                (act(&mut state, who, 10 * turn + n, login), model.login(who))
            } else {
                let order = ModelOrder::draw(&mut dice, &model);
                let told = act(&mut state, who, 10 * turn + n, Act::Govern(order.order()));
                let before = model.clone();
                let expected = model.order(who, &order);
                assert_eq!(told, expected, "seed {seed}: {who} orders {order:?} in {before:?}");
                if told == Outcome::Ok {
                    let on = order.order().area().map_or("", |_| " for an area");
                    *done.entry(format!("{:?}{on}", order.kind)).or_default() += 1;
                }
                (told, expected)
            };
            assert_eq!(told, expected, "seed {seed}: {who} in {model:?}");
            compare(&state, &model, seed);
            if model.temp_admin().is_some() {
                *done.entry("under a temp admin".to_owned()).or_default() += 1;
            }
        }
    }
}

#[test]
fn in_all_histories_the_rules_say_what_the_model_says() {
    let (first, mut done) = (first_state(), BTreeMap::new());
    (0..HISTORIES).for_each(|seed| play(seed, &first, &mut done));
    println!("{HISTORIES} histories, 0 mismatches; carried out: {done:?}");
    // The comparison is worth what happens in the histories.
    assert_eq!(done.len(), KINDS.len() + 3, "each kind, those about areas, and the temp admin");
    assert!(done.values().all(|count| *count > HISTORIES / 1_000), "{done:?}");
}
