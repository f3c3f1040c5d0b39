//! The story that the golden log tells: visitors come, walk, push, talk, touch, try what they may
//! not, and leave; the servers change. Everything in it follows from keys and a seed.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_math::{Angle, Fx, Stream, Vec2};
use metatopia_scenarios::golden::{genesis, server_key, visitor_key};
use metatopia_scripting::{Draft, Package, PackageAuthor};
use metatopia_sim::{ENGINE, Serial, Tools, World, WorldObject};
use metatopia_types::{
    Act, AssetLicence, Blob, BlobId, Blueprint, BodyShape, Build, BuiltMaterial, Digest, Ed25519,
    Emote, Envelope, Evidence, HandShape, HatShape, HeadShape, Header, HeaderId, Height, Lane,
    Look, Millis, NodeContact, ObjectId, Offer, Outcome, Outline, OutlinePart, OutlineParts,
    PackageId, PublicKey, Root, Round, ScriptId, Seq, SetChange, Sign, SignedEnvelope, SigningKey,
    TicketOrder, Turn, TurnBody, ValidatorSet, Vote, VoteKind, Wearable, wire,
};

/// Turns of the log.
const TURNS: u64 = 500;

/// Visitors, the admin among them.
const VISITORS: u8 = 7;

const NAMES: [&str; VISITORS as usize] = ["Root", "Ada", "Bob", "Cem", "Dag", "Eva", "Fei"];

/// The story as it was played.
pub(crate) struct Played {
    pub(crate) turns: Vec<Turn>,
    /// Roots by height, that of genesis first.
    pub(crate) roots: Vec<Root>,
    /// How often each kind of act had each outcome.
    pub(crate) outcomes: BTreeMap<(&'static str, String), u32>,
}

/// The log's bytes.
pub(crate) fn encode(turns: &[Turn]) -> Vec<u8> {
    let mut log = Vec::new();
    for turn in turns {
        let bytes = wire::encode(turn);
        let length = u32::try_from(bytes.len()).expect("a turn is short");
        log.extend(length.to_le_bytes());
        log.extend(bytes);
    }
    log
}

/// Plays the story from the beginning.
pub(crate) fn play() -> Played {
    let world = World::genesis(&genesis(), &Tools::new(Arc::new(Ed25519))).expect("the plaza");
    let mut teller = Teller {
        roots: vec![world.root()],
        world,
        turns: Vec::new(),
        outcomes: BTreeMap::new(),
        seqs: BTreeMap::new(),
        lanes: [1; VISITORS as usize],
        acts: Vec::new(),
        blobs: Vec::new(),
        offers: BTreeMap::new(),
        pieces: Vec::new(),
    };
    for height in (1..=TURNS).map(Height) {
        let mut dice = Stream::new(&[26; 32], "golden plaza", &[height.0]);
        for (visitor, pieces) in core::mem::take(&mut teller.pieces) {
            teller.act(visitor, Act::Assemble { pieces });
        }
        teller.visitors(&mut dice);
        teller.servers(height);
        teller.turn(height, &mut dice);
    }
    Played { turns: teller.turns, roots: teller.roots, outcomes: teller.outcomes }
}

struct Teller {
    world: World,
    turns: Vec<Turn>,
    roots: Vec<Root>,
    outcomes: BTreeMap<(&'static str, String), u32>,
    seqs: BTreeMap<(u8, u64), u64>,
    lanes: [u64; VISITORS as usize],
    acts: Vec<SignedEnvelope>,
    blobs: Vec<Blob>,
    /// The last offer that each visitor was shown.
    offers: BTreeMap<PublicKey, (ObjectId, Offer)>,
    /// The pieces of packages that the next turn puts together.
    pieces: Vec<(u8, Vec<BlobId>)>,
}

impl Teller {
    fn sign(&mut self, key: &SigningKey, who: u8, lane: u64, act: Act) {
        let seq = self.seqs.entry((who, lane)).or_default();
        *seq += 1;
        let envelope = Envelope {
            sim: self.world.sim(),
            author: key.public(),
            lane: Lane(lane),
            seq: Seq(*seq),
            last_valid: self.world.height().plus(40),
            act,
        };
        self.acts.push(envelope.sign(key));
    }

    fn act(&mut self, visitor: u8, act: Act) {
        let lane = self.lanes[usize::from(visitor)];
        self.sign(&visitor_key(visitor), visitor, lane, act);
    }

    /// Has one or two visitors do something.
    fn visitors(&mut self, dice: &mut Stream) {
        for _ in 0..=dice.below(2) {
            let visitor = u8::try_from(dice.below(u64::from(VISITORS))).expect("a few visitors");
            let present = self.world.avatar(&visitor_key(visitor).public());
            match present {
                None if dice.below(8) != 0 => self.login(visitor, dice),
                Some(_) if self.offers.contains_key(&visitor_key(visitor).public()) => {
                    // An offer stands for a minute only, so whoever was shown one answers first.
                    let act = self.answer(visitor, ObjectId(0), dice);
                    self.act(visitor, act);
                }
                _ => self.wander(visitor, present, dice),
            }
        }
    }

    /// Answers the last offer, or one that nobody made.
    fn answer(&mut self, visitor: u8, target: ObjectId, dice: &mut Stream) -> Act {
        let offered = self.offers.remove(&visitor_key(visitor).public());
        let (object, terms) = offered.unwrap_or_else(|| (target, Offer::default()));
        Act::Answer { object, terms, accepts: dice.below(4) != 0 }
    }

    fn login(&mut self, visitor: u8, dice: &mut Stream) {
        self.lanes[usize::from(visitor)] += 1;
        let name = if dice.below(20) == 0 { "" } else { NAMES[usize::from(visitor)] };
        self.act(visitor, Act::login(name.to_owned(), look(dice)));
    }

    fn wander(&mut self, visitor: u8, avatar: Option<ObjectId>, dice: &mut Stream) {
        let seen = avatar.and_then(|avatar| self.world.object(avatar));
        let here = seen.map_or(Vec2::ZERO, |seen| seen.position);
        let near = self.world.scene(here, Fx::from_int(6), 5);
        let target = dice.pick(&near).map_or(ObjectId(999), |seen| seen.id);
        let movable = near.iter().find(|seen| seen.movable).map_or(target, |seen| seen.id);
        let is_asked = self.offers.contains_key(&visitor_key(visitor).public());
        let act = match dice.below(36) {
            _ if is_asked && dice.below(2) == 0 => self.answer(visitor, target, dice),
            0..=8 => Act::Walk { heading: self.heading(here, dice) },
            9 => Act::Walk { heading: Vec2::ZERO },
            10 if dice.below(5) == 0 => Act::Walk { heading: Vec2::new(Fx::MAX, Fx::ZERO) },
            10..=11 => Act::Push { object: target },
            12..=13 => Act::Push { object: movable },
            14..=16 => Act::Touch { object: target },
            17..=18 => return self.say(visitor, dice),
            19 if dice.below(3) == 0 => self.answer(visitor, target, dice),
            19 => {
                let choice = u8::try_from(dice.below(4)).expect("a few");
                let text = NAMES[usize::from(visitor)].to_owned();
                Act::Reply { object: target, tag: "chip".to_owned(), choice, text }
            }
            20 => Act::Emote(*dice.pick(&EMOTES).expect("there are some")),
            21 => Act::SetLook(look(dice)),
            22 if dice.below(4) == 0 => Act::Forbid,
            22 => Act::Heartbeat,
            24..=33 => Act::Build(self.build(visitor, here, dice)),
            34.. => return self.publish(visitor, dice),
            _ => {
                let stale = self.lanes[usize::from(visitor)].saturating_sub(1);
                if dice.below(2) == 0 {
                    return self.sign(&visitor_key(visitor), visitor, stale, Act::Heartbeat);
                }
                Act::Leave
            }
        };
        self.act(visitor, act);
    }

    /// Draws a heading towards something worth going to, or anywhere.
    fn heading(&self, here: Vec2, dice: &mut Stream) -> Vec2 {
        let names =
            ["bell", "door", "turntable", "ball", "crate 1", "crate 3", "crate 10", "crate 15"];
        let name = *dice.pick(&names).expect("there are some");
        let goal = self.world.objects().find(|seen| seen.name == name);
        match goal {
            Some(goal) if dice.below(5) != 0 => goal.position.saturating_sub(here),
            _ => Vec2::new(
                dice.fx_between(Fx::from_int(-1), Fx::ONE),
                dice.fx_between(Fx::from_int(-1), Fx::ONE),
            ),
        }
    }

    /// A deed near the visitor, mostly on something of the visitor's own.
    fn build(&self, visitor: u8, here: Vec2, dice: &mut Stream) -> Build {
        let me = visitor_key(visitor).public();
        let own: Vec<WorldObject> = self.world.things(&me).collect();
        let near = self.world.scene(here, Fx::from_int(8), 9);
        let pick = if dice.below(5) == 0 { &near } else { &own };
        let thing = dice.pick(pick);
        let object = thing.map_or(ObjectId(1), |seen| seen.id);
        let offset = |dice: &mut Stream| dice.fx_between(Fx::from_int(-5), Fx::from_int(5));
        let position = here.saturating_add(Vec2::new(offset(dice), offset(dice)));
        let half = Vec2::new(size(dice), size(dice));
        let outline = match dice.below(2) {
            0 => Outline::Disc { radius: half.x },
            _ => Outline::Box { half },
        };
        let angle = Angle::from_bits(u32::try_from(dice.below(1 << 32)).expect("32 bits"));
        let script = thing.and_then(|seen| Some(seen.scripts.first()?.0)).unwrap_or(ScriptId(999));
        let name = NAMES[usize::from(visitor)].to_owned();
        let licence = *dice.pick(&AssetLicence::ALL).expect("there are some");
        let color = look(dice).color;
        match dice.below(30) {
            0..=5 => Build::Place(Blueprint {
                kind: "thing".to_owned(),
                name,
                text: String::new(),
                color,
                outline,
                movable: dice.below(2) == 0,
                position,
                angle,
                licence,
                parts: maybe_two(outline, dice),
            }),
            6 | 29 => Build::Move { object, position },
            27 | 28 => Build::Unite { objects: newest_two(&own) },
            7 => Build::Rotate { object, angle },
            8 => Build::Resize { object, outline },
            9 | 25 => Build::Recolor { object, color },
            26 => {
                let (_, material) = BuiltMaterial::ALL[color as usize % BuiltMaterial::ALL.len()];
                Build::MakeOf { object, material }
            }
            10 if color.is_multiple_of(2) => even_is_sensor(object),
            10 => Build::Rename { object, name },
            11 => Build::Write { object, text: format!("{name} was here") },
            12 => Build::Copy { object, position },
            13 | 22 => Build::Delete { object },
            14 => Build::Give { object, to: visitor_key((visitor + 1) % VISITORS).public() },
            15 | 16 => {
                let packages: Vec<PackageId> = self.world.packages().map(Package::id).collect();
                let package = *dice.pick(&packages).expect("there are some");
                Build::Attach { object, package }
            }
            17 | 18 => {
                // Few things have scripts: one that has is looked for.
                let running = own.iter().find_map(|seen| Some((seen.id, seen.scripts.first()?.0)));
                let (object, script) = running.unwrap_or((object, script));
                Build::Detach { object, script }
            }
            19..=21 => {
                let running = own.iter().find_map(|seen| Some((seen.id, seen.scripts.first()?.0)));
                let (object, script) = running.unwrap_or((object, script));
                let packages: Vec<PackageId> = self.world.packages().map(Package::id).collect();
                let package = *dice.pick(&packages).expect("there are some");
                Build::Upgrade { object, script, package }
            }
            24 => {
                let running = own.iter().find_map(|seen| Some((seen.id, seen.scripts.first()?.0)));
                let (object, script) = running.unwrap_or((object, script));
                Build::Resume { object, script }
            }
            _ => Build::Undo { skip: u8::try_from(dice.below(4) / 3).expect("small") },
        }
    }

    fn say(&mut self, visitor: u8, dice: &mut Stream) {
        let words = ["hello", "help", "time", "hi there", "what a day", "push!", "two\nlines"];
        let text = *dice.pick(&words).expect("there are some");
        let blob = Blob(text.as_bytes().to_vec());
        let body = blob.id();
        if dice.below(15) != 0 {
            self.blobs.push(blob);
        }
        let channel = u8::try_from(dice.below(16) / 7).expect("below 3");
        self.act(visitor, Act::Say { channel, body });
    }

    /// Publishes a source of the visitor's own: it does not compile, its upgrades fail, it fails from the
    /// second tick on, or it spawns things, some of which run it too, and speaks to whoever comes near.
    fn publish(&mut self, visitor: u8, dice: &mut Stream) {
        let source = match dice.below(6) {
            0 => "fn on_touch(other) { say(\"ouch\" }".to_owned(),
            1 => "fn on_upgrade() { throw \"no\"; }".to_owned(),
            2 | 5 => "fn on_tick(dt) {
                      if state.n == 1 { throw \"tired\"; }
                      state.n = 1;
                  }"
            .to_owned(),
            n => format!(
                "fn on_upgrade() {{ self_.text = \"new\"; }}
                 fn on_start() {{
                     zone(vec2(9, 4));
                     if self_.spawner == () {{ on_touch(self_); timer(\"tick\", 1.5); }}
                 }}
                 fn on_timer(name) {{ on_touch(self_); }}
                 fn on_enter(other) {{
                     sound(\"pop\", {n});
                     if other.player != () {{ whisper(other, \"psst\"); ask(other, \"move\"); }}
                     let met = ray(self_.pos, other.pos);
                     if met != () && met.object != other {{ shout(\"who is there?\"); }}
                 }}
                 fn on_leave(other) {{ state.left = other; zone(4); }}
                 fn on_answer(who, tag, accepted) {{ state[tag] = accepted; }}
                 fn on_ui(who, tag, choice, text) {{ state[tag + choice] = text; }}
                 fn on_touch(other) {{
                     say(\"ouch {n} {}\");
                     if other.player != () {{
                         ui(other, #{{ tag: \"chip\", title: \"Another?\" }});
                         if allowed(other, \"move\") {{ carry(other, other.pos + vec2(0, 1)); }}
                     }}
                     if self_.spawner != () {{ despawn(self_); return; }}
                     let place = self_.pos + vec2(random(-2, 2), 2);
                     spawn(#{{ name: \"chip\", pos: place, scripted: {}, movable: {}, tag: \"chip\" }});
                 }}
                 fn on_spawn(thing, tag) {{ if thing != () {{ state[tag] = thing; }} }}
                 fn on_chat(from) {{ if exists(state.chip ?? self_) {{ despawn(state.chip ?? self_); }} }}",
                dice.below(4),
                n == 3,
                dice.below(2) == 0,
            ),
        };
        let package = Package::build(Draft {
            name: "ouch".to_owned(),
            version: "1.0.0".to_owned(),
            api: 1,
            entry: "ouch.rhai".to_owned(),
            files: [("ouch.rhai".to_owned(), source.into_bytes())].into(),
            licence: "AGPL-3.0-or-later".to_owned(),
            authors: vec![PackageAuthor {
                name: NAMES[usize::from(visitor)].to_owned(),
                key: None,
            }],
            ..Draft::default()
        });
        let blob = Blob(package.expect("it keeps the rules of packages").encode());
        if dice.below(4) == 0 {
            return self.publish_in_pieces(visitor, &blob);
        }
        let source = blob.id();
        if dice.below(15) != 0 {
            self.blobs.push(blob);
        }
        self.act(visitor, Act::Publish { source });
    }

    /// Publishes a package in two pieces, which the next turn puts together.
    fn publish_in_pieces(&mut self, visitor: u8, package: &Blob) {
        let (first, second) = package.0.split_at(package.0.len() / 2);
        let pieces = [first, second].map(|bytes| {
            let blob = Blob(bytes.to_vec());
            let piece = blob.id();
            self.blobs.push(blob);
            self.act(visitor, Act::PublishPiece { piece });
            piece
        });
        self.pieces.push((visitor, pieces.to_vec()));
    }

    /// The admin brings in two servers, one of which is caught lying, and has a ticket for some days;
    /// visitors may not do that.
    fn servers(&mut self, height: Height) {
        let add = |n: u8| SetChange::Add {
            key: server_key(n).public(),
            contact: NodeContact {
                peer_id: format!("golden-{n}"),
                address: "/ip4/127.0.0.1".to_owned(),
            },
        };
        let ticket = server_key(9).public();
        match height.0 {
            100 | 200 | 300 => self.login_admin(),
            101 => self.act(0, Act::SetChange(add(4))),
            102 => self.act(1, Act::SetChange(add(5))),
            103 => self.act(0, Act::Ticket(TicketOrder::Issue { ticket, uses: 3, days: 7 })),
            104 => self.act(1, Act::Ticket(TicketOrder::Withdraw { ticket })),
            105 => self.act(0, amend("admin_days", "31")),
            106 => self.act(0, amend("ticks_per_turn", "4")),
            107 => self.act(1, amend("admin_days", "1")),
            202 | 203 => self.act(0, Act::Ticket(TicketOrder::Withdraw { ticket })),
            204 => self.act(0, Act::Ticket(TicketOrder::Issue { ticket, uses: 0, days: 7 })),
            110 => {
                let wrong = Act::Ready { height: Height(100), proof: Digest::ZERO };
                self.sign(&server_key(4), 204, 1, wrong);
            }
            121 => self.ready(4, 204),
            201 => self.act(0, Act::SetChange(add(5))),
            221 => self.ready(5, 205),
            240 | 241 => self.act(2, self.lie(5, height)),
            250 => self.act(3, self.lie(9, height)),
            301 => self.act(0, Act::SetChange(SetChange::Remove { key: server_key(0).public() })),
            302 => self.act(0, Act::SetChange(SetChange::Remove { key: server_key(1).public() })),
            _ => {}
        }
    }

    /// A standby shows that the state is there, at a height at which the sim asks for it.
    fn ready(&mut self, n: u8, who: u8) {
        let (key, height) = (server_key(n), self.world.height());
        let proof = self.world.readiness(&key.public()).expect("asked for here");
        self.sign(&key, who, 1, Act::Ready { height, proof });
    }

    fn login_admin(&mut self) {
        self.lanes[0] += 1;
        let look = Look::plain(0x00ff_ffff, BodyShape::Star);
        self.act(0, Act::login(NAMES[0].to_owned(), look));
    }

    fn lie(&self, n: u8, height: Height) -> Act {
        let key = server_key(n);
        let vote = |header: u8| {
            let header = Some(HeaderId(Digest([header; 32])));
            let kind = VoteKind::Prevote;
            let vote = Vote { kind, height, round: Round(0), header, voter: key.public() };
            vote.sign(self.world.sim(), &key)
        };
        Act::Report(Evidence::votes(vote(1), vote(2)))
    }

    fn turn(&mut self, height: Height, dice: &mut Stream) {
        let body = TurnBody::new(core::mem::take(&mut self.acts), core::mem::take(&mut self.blobs))
            .expect("a few acts");
        let set = |at| self.world.validators(at).expect("the sets of the next heights");
        // Now and then a proposer misses its turn.
        let round = Round(u32::from(dice.below(40) == 0));
        let lagging = self.roots.len().saturating_sub(2);
        let header = Header {
            sim: self.world.sim(),
            engine: ENGINE,
            height,
            previous: self.turns.last().map_or(HeaderId::BEFORE_FIRST, Turn::id),
            proposer: set(height).proposer(height, round),
            round,
            time: Millis(1_700_000_000_000 + 50 * height.0 + dice.below(20)),
            root: self.roots[lagging],
            validators: set(height).id(),
            next_validators: ValidatorSet::id(set(height.plus(1))),
            ..Header::unstated()
        };
        let turn = Turn::of(header, body);
        let applied = self.world.apply(&turn, &Serial);
        self.roots.push(applied.root);
        for shown in &applied.forms {
            let offer = shown.form.offer.as_ref().map(|offer| offer.terms.clone());
            self.offers.extend(offer.map(|terms| (shown.player, (shown.object, terms))));
        }
        for (act, outcome) in turn.body.acts().iter().zip(&applied.outcomes) {
            let outcome = match outcome {
                Outcome::Ok | Outcome::Made(_) => "ok".to_owned(),
                Outcome::Refused(why) => why.to_string(),
            };
            *self.outcomes.entry((kind(&act.envelope.act), outcome)).or_default() += 1;
        }
        self.turns.push(turn);
    }
}

const EMOTES: [Emote; 5] = [Emote::Wave, Emote::Nod, Emote::Dance, Emote::Bow, Emote::Laugh];

/// Draws a size from a little too small to a little too large.
fn size(dice: &mut Stream) -> Fx {
    let sizes = [(1, 20), (1, 4), (1, 3), (1, 2), (3, 4), (1, 1), (11, 2)];
    let (over, under) = *dice.pick(&sizes).expect("there are some");
    Fx::from_ratio(over, under)
}

fn look(dice: &mut Stream) -> Look {
    let shapes = [BodyShape::Round, BodyShape::Square, BodyShape::Arrow, BodyShape::Star];
    let color = u32::try_from(dice.below((1 << 24) + (1 << 19))).expect("below 2^25");
    let look = Look::plain(color, *dice.pick(&shapes).expect("there are some"));
    // The colour chooses what is worn, so that no other throw of the dice follows.
    let worn = (color % 12) as usize;
    Look {
        head: (color % 3 != 0)
            .then_some(Wearable { shape: HeadShape::ALL[worn], color: color / 3 }),
        hands: (color % 5 == 0)
            .then_some(Wearable { shape: HandShape::ALL[worn], color: color / 5 }),
        hat: (color % 2 == 0).then_some(Wearable { shape: HatShape::ALL[worn], color: color / 2 }),
        ..look
    }
}

/// Returns the step by which a thing of even number becomes a sensor; one of odd number stays as solid as it was.
fn even_is_sensor(object: ObjectId) -> Build {
    Build::MakeSensor { object, sensor: object.0.is_multiple_of(2) }
}

/// Returns the act that gives the value of this name another one.
fn amend(name: &str, value: &str) -> Act {
    Act::Amend { name: name.to_owned(), value: value.to_owned() }
}

fn kind(act: &Act) -> &'static str {
    match act {
        Act::Login { .. } => "Login",
        Act::Leave => "Leave",
        Act::Heartbeat => "Heartbeat",
        Act::Walk { .. } => "Walk",
        Act::Touch { .. } => "Touch",
        Act::Push { .. } => "Push",
        Act::Say { .. } => "Say",
        Act::Emote(_) => "Emote",
        Act::SetLook(_) => "SetLook",
        Act::SetChange(_) => "SetChange",
        Act::Ready { .. } => "Ready",
        Act::Report(_) => "Report",
        Act::Ticket(_) => "Ticket",
        Act::Amend { .. } => "Amend",
        Act::Publish { .. } => "Publish",
        Act::Reply { .. } => "Reply",
        Act::Land { .. } => "Land",
        Act::Answer { .. } => "Answer",
        Act::Forbid => "Forbid",
        Act::Hear { .. } => "Hear",
        Act::Approach { .. } => "Approach",
        Act::Border { .. } => "Border",
        Act::Govern(_) => "Govern",
        Act::Lot(_) => "Lot",
        Act::GoHome => "GoHome",
        Act::Sit { .. } => "Sit",
        Act::FileReport { .. } => "FileReport",
        Act::WithdrawReport { .. } => "WithdrawReport",
        Act::Tell { .. } => "Tell",
        Act::EmptyMailbox { .. } => "EmptyMailbox",
        Act::NameFriends { .. } => "NameFriends",
        Act::Vouch { .. } => "Vouch",
        Act::CancelRecovery => "CancelRecovery",
        Act::Forget { .. } => "Forget",
        Act::Club(_) => "Club",
        Act::SetProfile { .. } => "SetProfile",
        Act::PublishPiece { .. } => "PublishPiece",
        Act::Assemble { .. } => "Assemble",
        Act::Unknown { .. } => "Unknown",
        Act::Build(build) => match build {
            Build::Place(_) => "Place",
            Build::Move { .. } => "Move",
            Build::Rotate { .. } => "Rotate",
            Build::Resize { .. } => "Resize",
            Build::Recolor { .. } => "Recolor",
            Build::Rename { .. } => "Rename",
            Build::Write { .. } => "Write",
            Build::Copy { .. } => "Copy",
            Build::Delete { .. } => "Delete",
            Build::Give { .. } => "Give",
            Build::Attach { .. } => "Attach",
            Build::Detach { .. } => "Detach",
            Build::Undo { .. } => "Undo",
            Build::Upgrade { .. } => "Upgrade",
            Build::Resume { .. } => "Resume",
            Build::LetTravel { .. } => "LetTravel",
            Build::Take { .. } => "Take",
            Build::PutDown { .. } => "PutDown",
            Build::Stow { .. } => "Stow",
            Build::Fetch { .. } => "Fetch",
            Build::Discard { .. } => "Discard",
            Build::Join { .. } => "Join",
            Build::Unjoin { .. } => "Unjoin",
            Build::MakeOf { .. } => "MakeOf",
            Build::MakeSensor { .. } => "MakeSensor",
            Build::Unite { .. } => "Unite",
        },
    }
}

/// Returns the part that makes one thing of four one of two parts: an outline beside the first.
fn maybe_two(outline: Outline, dice: &mut Stream) -> OutlineParts {
    let offset = Vec2::new(Fx::ONE, Fx::HALF);
    let part = OutlinePart { outline, offset, angle: Angle::EIGHTH };
    let parts = if dice.below(4) == 0 { vec![part] } else { Vec::new() };
    OutlineParts::new(parts).expect("two parts")
}

/// Returns the things that were made last.
fn newest_two(own: &[WorldObject]) -> Vec<ObjectId> {
    own.iter().rev().take(2).map(|seen| seen.id).collect()
}
