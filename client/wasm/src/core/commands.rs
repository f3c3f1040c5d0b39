//! Commands of the page.

use std::collections::BTreeSet;

use metatopia_protocol::Question;
use metatopia_types::{
    Act, Emote, Height, Look, LotId, LotOrder, ObjectId, Offer, PackageId, ScriptId,
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    ClientCore,
    building::{BAD_NAME, BuildCommand},
    clubs::PageClubOrder,
    deeds::{Deed, DeedKind},
    governing::PageOrder,
    group_file::GroupCommand,
    inquiry::InquiryTask,
    lots::PageLotOrder,
    private::PageChannel,
    profiles::PageProfileChange,
    units::{PageNumber, to_vec},
    watching::TabPulse,
    workshop::WorkshopCommand,
};
use crate::CallError;

/// What the page may want, but for building and writing scripts.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum PageCommand {
    /// Comes into the world.
    Login { name: String, look: Look },
    /// Leaves the world.
    Leave,
    /// Goes to where people arrive, also from between walls.
    GoHome,
    /// Walks from now on.
    Walk { x: PageNumber, y: PageNumber },
    /// Touches a thing.
    Touch { object: ObjectId },
    /// Shoves a thing.
    Push { object: ObjectId },
    /// Sits down on a thing; on none, stands up.
    Sit { on: Option<ObjectId> },
    /// Says words to others.
    Say {
        text: String,
        #[serde(default)]
        channel: PageChannel,
    },
    /// Replies to a form.
    Reply {
        object: ObjectId,
        tag: String,
        choice: u8,
        #[serde(default)]
        text: String,
    },
    /// Accepts an offer or declines it.
    Answer { object: ObjectId, terms: Offer, accepts: bool },
    /// Takes back all that things were allowed to do.
    Forbid,
    /// Announces to this sim that the person comes over the border of a neighbour; she agreed to house rules of these
    /// digests.
    Approach { from: String, agreed: BTreeSet<String> },
    /// A neighbour lets the person over; none does, if none is named.
    MayPass { to: Option<String> },
    /// The person may come over a border into this sim.
    Expect { expected: bool },
    /// Looks at a place while there is no avatar.
    LookAt { x: PageNumber, y: PageNumber },
    /// The person has come over a border into this sim.
    Arrive { name: String, look: Look },
    /// The person is in another sim now.
    LetGo,
    /// Orders something about people or things.
    Govern { order: PageOrder },
    /// Claims a square of ground around a place.
    ClaimLot { x: PageNumber, y: PageNumber, side: u16 },
    /// Gives a lot back to the sim.
    ReturnLot { lot: LotId },
    /// Orders something about a club.
    Club { order: PageClubOrder },
    /// Orders something else about a lot.
    Lot { lot: LotId, order: PageLotOrder },
    /// Tells moderators of a thing, of the person with a key, or of private words by their number.
    FileReport {
        object: Option<ObjectId>,
        key: Option<String>,
        private: Option<u64>,
        words: String,
    },
    /// Takes back a report.
    WithdrawReport { report: u64 },
    /// Has every server forget words, by their turn and their hash.
    Forget { height: u64, body: String },
    /// Says that one's key is not lost.
    CancelRecovery,
    /// Names the friends who together get one's key back if it is lost; none takes back what was named.
    NameFriends { keys: BTreeSet<String>, need: u8 },
    /// Vouches for the new key of a friend who lost the old one.
    Vouch { old: String, new: String },
    /// Makes a gesture.
    Emote { kind: String },
    /// Looks otherwise from now on.
    SetLook { look: Look },
    /// Reads a profile that the page keeps, or that somebody gave it.
    ReadProfile { text: String },
    /// Changes the person's profile, which the page keeps as this text, and sends it to the sim.
    SetProfile {
        text: String,
        #[serde(default)]
        change: PageProfileChange,
    },
    /// Is the tab looked at?
    Watch { pulse: TabPulse },
    /// Shows at once where the avatar will be with this heading.
    Steer { x: PageNumber, y: PageNumber },
    /// Asks a question whose answer is wanted as it comes.
    Raw { question: RawQuestion },
    /// The work of a first login is done, or cannot be.
    Worked { work: u64, nonce: Option<String>, failed: Option<String> },
    /// The person's answer about the age of what is known.
    Trust { accept: bool },
}

/// What the page may ask.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum PageQuestion {
    /// Asks who is here.
    Players,
    /// Asks what runs.
    Scripts,
    /// Asks what somebody owns: oneself, if nobody is named.
    Things { owner: Option<String> },
    /// Asks in which order a script got its events.
    Order { height: u64, script: u64 },
    /// Asks for the source of a package.
    Source { package: String },
    /// Asks which packages can be attached.
    Packages,
    /// Asks for all source, as one archive.
    AllSource,
    /// Asks who decides.
    Governance,
    /// Asks who votes.
    Validators,
    /// Asks where servers let clients in.
    Servers,
    /// Asks what was ordered about somebody: oneself, if nobody is named.
    Person { key: Option<String> },
    /// Asks what was ordered, below a number; from the last one, if none is named.
    Orders { below: Option<u64> },
    /// Asks for the borders near a place.
    Borders { x: PageNumber, y: PageNumber },
    /// Asks what people told moderators.
    Reports,
    /// Asks for the clubs of the person, and those to which she is invited.
    Clubs,
    /// Asks whether friends ask that another key take over one's own.
    Recovery,
    /// Asks what people say of themselves.
    Profiles { of: Vec<String> },
    /// Asks for the picture of a person, whose profile names it so.
    Picture { of: String, digest: String },
    /// Asks who one's friends are.
    Friends,
    /// Asks about whom something was ordered that holds still.
    People,
    /// Asks for the values of the charter that can be changed.
    Values,
    /// Asks what an order would do.
    Would { order: PageOrder },
}

/// What a replica of the page asks.
#[derive(Debug, Deserialize)]
enum RawQuestion {
    /// Means the question [`Question::Links`].
    Links { after: u64 },
    /// Means the question [`Question::Snapshot`].
    Snapshot,
    /// Means the question [`Question::SnapshotPart`].
    SnapshotPart { height: u64, part: u32 },
    /// Means the question [`Question::Turns`].
    Turns { from: u64 },
}

impl RawQuestion {
    const fn question(&self) -> Question {
        match *self {
            Self::Links { after } => Question::Links { after: Height(after) },
            Self::Snapshot => Question::Snapshot,
            Self::SnapshotPart { height, part } => {
                Question::SnapshotPart { height: Height(height), part }
            }
            Self::Turns { from } => Question::Turns { from: Height(from) },
        }
    }
}

fn emote(kind: &str) -> Option<Emote> {
    Some(match kind {
        "wave" => Emote::Wave,
        "nod" => Emote::Nod,
        "dance" => Emote::Dance,
        "bow" => Emote::Bow,
        "laugh" => Emote::Laugh,
        _ => return None,
    })
}

/// Words of commands that build.
const BUILDING: [&str; 26] = [
    "place",
    "move",
    "rotate",
    "resize",
    "color",
    "make_of",
    "make_sensor",
    "rename",
    "write",
    "copy",
    "remove",
    "give",
    "attach",
    "detach",
    "upgrade",
    "resume",
    "let_travel",
    "join",
    "unjoin",
    "unite",
    "take",
    "put_down",
    "stow",
    "fetch",
    "discard",
    "undo",
];

/// Words of commands of authors.
const WRITING: [&str; 4] = ["check", "reference", "publish", "sketch"];

/// Words of commands about files of things.
const FILING: [&str; 2] = ["group_file", "read_group"];

/// Words of commands that ask.
const ASKING: [&str; 22] = [
    "clubs",
    "profiles",
    "picture",
    "friends",
    "people",
    "values",
    "would",
    "recovery",
    "reports",
    "borders",
    "person",
    "orders",
    "players",
    "scripts",
    "things",
    "order",
    "source",
    "packages",
    "all_source",
    "governance",
    "validators",
    "servers",
];

/// Commands that nobody waits for, so that they need no number.
const UNNUMBERED: [&str; 3] = ["worked", "steer", "watch"];

/// A command of one of the five kinds.
enum ReadCommand {
    Build(BuildCommand),
    Write(WorkshopCommand),
    File(GroupCommand),
    Ask(PageQuestion),
    Do(PageCommand),
}

fn read(word: &str, command: Value) -> Result<ReadCommand, serde_json::Error> {
    Ok(if BUILDING.contains(&word) {
        ReadCommand::Build(serde_json::from_value(command)?)
    } else if WRITING.contains(&word) {
        ReadCommand::Write(serde_json::from_value(command)?)
    } else if FILING.contains(&word) {
        ReadCommand::File(serde_json::from_value(command)?)
    } else if ASKING.contains(&word) {
        ReadCommand::Ask(serde_json::from_value(command)?)
    } else {
        ReadCommand::Do(serde_json::from_value(command)?)
    })
}

impl ClientCore {
    /// Takes a command in.
    pub(super) fn obey(&mut self, command: Value) -> Result<(), CallError> {
        let word = command.get("do").and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = match command.get("id").and_then(Value::as_u64) {
            Some(id) => id,
            None if UNNUMBERED.contains(&word.as_str()) => 0,
            None => return Err(CallError::input("a command has an id")),
        };
        match read(&word, command) {
            Ok(ReadCommand::Build(wanted)) => self.build(id, wanted),
            Ok(ReadCommand::Write(wanted)) => self.work_on(id, wanted),
            Ok(ReadCommand::File(wanted)) => self.keep_group(id, wanted),
            Ok(ReadCommand::Ask(question)) => self.ask_for(id, question),
            Ok(ReadCommand::Do(wanted)) => self.carry_out(id, wanted),
            Err(error) => self.failed(id, "BadCommand", &error.to_string().into()),
        }
        Ok(())
    }

    fn carry_out(&mut self, id: u64, command: PageCommand) {
        let plain = |act| Deed::new(DeedKind::Plain(id), act);
        match command {
            PageCommand::Login { name, look } => self.login(Some(id), name, look),
            PageCommand::Leave => self.leave_world(id),
            PageCommand::GoHome => self.act(plain(Act::GoHome)),
            PageCommand::Walk { x, y } => self.walk(id, x, y),
            PageCommand::Touch { object } => self.act(plain(Act::Touch { object })),
            PageCommand::Push { object } => self.act(plain(Act::Push { object })),
            PageCommand::Sit { on } => self.act(plain(Act::Sit { on })),
            PageCommand::Say { text, channel } => self.speak(id, &text, &channel),
            PageCommand::Reply { object, tag, choice, text } => {
                self.act(plain(Act::Reply { object, tag, choice, text }));
            }
            PageCommand::Answer { object, terms, accepts } => {
                self.act(plain(Act::Answer { object, terms, accepts }));
            }
            PageCommand::Approach { from, agreed } => match from.parse() {
                Ok(from) => self.approach(id, from, &agreed),
                Err(_) => self.failed(id, BAD_NAME, &from.into()),
            },
            PageCommand::MayPass { to } => self.may_pass(id, to.as_deref()),
            PageCommand::Expect { expected } => self.expect(id, expected),
            PageCommand::LookAt { x, y } => self.look_over(id, to_vec(x, y)),
            PageCommand::Arrive { name, look } => self.arrive(id, name, look),
            PageCommand::LetGo => self.let_go(id),
            PageCommand::Govern { order } => self.govern(id, order),
            PageCommand::Club { order } => self.order_club(id, order),
            PageCommand::ClaimLot { x, y, side } => self.claim_lot(id, x, y, side),
            PageCommand::ReturnLot { lot } => self.order_lot(id, LotOrder::Return { lot }),
            PageCommand::Lot { lot, order } => match order.about(lot) {
                Some(order) => self.order_lot(id, order),
                None => self.failed(id, BAD_NAME, &Value::Null),
            },
            PageCommand::FileReport { private: Some(number), words, .. } => {
                self.report_private(id, number, words);
            }
            PageCommand::FileReport { object, key, words, .. } => {
                self.file_report(id, (object, key), words);
            }
            PageCommand::WithdrawReport { report } => {
                self.act(plain(Act::WithdrawReport { report }));
            }
            PageCommand::Forget { height, body } => match body.parse() {
                Ok(body) => self.act(plain(Act::Forget { height: Height(height), body })),
                Err(_) => self.failed(id, BAD_NAME, &body.into()),
            },
            PageCommand::CancelRecovery => self.act(plain(Act::CancelRecovery)),
            PageCommand::NameFriends { keys, need } => self.name_friends(id, &keys, need),
            PageCommand::Vouch { old, new } => self.vouch(id, &old, &new),
            PageCommand::Forbid => self.act(plain(Act::Forbid)),
            PageCommand::Emote { kind } => match emote(&kind) {
                Some(emote) => self.act(plain(Act::Emote(emote))),
                None => self.failed(id, BAD_NAME, &kind.into()),
            },
            PageCommand::SetLook { look } => self.set_look(id, look),
            PageCommand::ReadProfile { text } => self.read_profile(id, &text),
            PageCommand::SetProfile { text, change } => self.set_profile(id, &text, change),
            PageCommand::Worked { work, nonce, failed } => {
                let nonce = nonce.and_then(|nonce| nonce.parse().ok());
                self.worked(work, nonce, failed.as_deref());
            }
            PageCommand::Raw { question } => self.ask_raw(id, question.question()),
            PageCommand::Watch { .. } | PageCommand::Steer { .. } | PageCommand::Trust { .. } => {
                self.note(command);
                self.done(id, &Value::Null);
            }
        }
    }

    /// Takes in what the page says and nobody has to answer.
    fn note(&mut self, command: PageCommand) {
        match command {
            PageCommand::Watch { pulse } => self.watch(pulse),
            PageCommand::Steer { x, y } => {
                if let Some(heading) = to_vec(x, y) {
                    self.steer(heading);
                }
            }
            PageCommand::Trust { accept: true } => self.session.accept_age(self.now),
            PageCommand::Trust { accept: false } => {}
            _ => unreachable!("every other command has an answer"),
        }
    }

    fn ask_for(&mut self, id: u64, question: PageQuestion) {
        let (task, question) = match question {
            PageQuestion::Players => (InquiryTask::Players, Question::Players),
            PageQuestion::Governance => (InquiryTask::Governance, Question::Governance),
            PageQuestion::Scripts => InquiryTask::scripts(),
            PageQuestion::AllSource => InquiryTask::all_source(),
            PageQuestion::Packages => InquiryTask::packages(),
            PageQuestion::Order { height, script } => {
                let (height, script) = (Height(height), ScriptId(script));
                (InquiryTask::Order, Question::Order { height, script })
            }
            PageQuestion::Things { owner } => {
                let owner = owner.map_or(Ok(self.key), |owner| owner.parse());
                let Ok(owner) = owner else {
                    return self.failed(id, BAD_NAME, &Value::Null);
                };
                (InquiryTask::Things, Question::Things { owner })
            }
            PageQuestion::Source { package } => {
                let Ok(package) = package.parse::<PackageId>() else {
                    return self.failed(id, BAD_NAME, &Value::Null);
                };
                (InquiryTask::Source(package), Question::Source { package })
            }
            PageQuestion::Validators => return self.done(id, &self.members()),
            PageQuestion::Person { key } => {
                let Ok(key) = key.map_or(Ok(self.key), |key| key.parse()) else {
                    return self.failed(id, BAD_NAME, &Value::Null);
                };
                (InquiryTask::Person, Question::Person { key })
            }
            PageQuestion::Orders { below } => {
                let below = below.unwrap_or(u64::MAX);
                (InquiryTask::Orders(below), Question::Orders { below })
            }
            PageQuestion::Borders { x, y } => match to_vec(x, y) {
                Some(place) => return self.ask_borders(id, place),
                None => return self.failed(id, "OutOfRange", &Value::Null),
            },
            PageQuestion::Profiles { of } => return self.ask_profiles(id, &of),
            PageQuestion::Picture { of, digest } => return self.ask_picture(id, &of, &digest),
            PageQuestion::Reports => InquiryTask::reports(),
            PageQuestion::Clubs => InquiryTask::clubs(self.key),
            PageQuestion::Recovery => (InquiryTask::Recovery, Question::Friends { of: self.key }),
            PageQuestion::Friends => (InquiryTask::Friends, Question::Friends { of: self.key }),
            PageQuestion::People => InquiryTask::people(),
            PageQuestion::Values => (InquiryTask::Values, Question::Charter),
            PageQuestion::Would { order } => match order.act() {
                Some((act, blobs)) => InquiryTask::would(self.key, act, blobs),
                None => return self.failed(id, BAD_NAME, &Value::Null),
            },
            PageQuestion::Servers => return self.done(id, &self.known_servers()),
        };
        self.inquire(Some(id), task, question);
    }

    /// Wants to walk this way.
    fn walk(&mut self, id: u64, x: PageNumber, y: PageNumber) {
        match to_vec(x, y) {
            Some(heading) => {
                self.steer(heading);
                self.walker.walk(heading, id);
            }
            None => self.failed(id, "OutOfRange", &Value::Null),
        }
    }
}
