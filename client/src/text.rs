//! The world in words: typed lines become acts, scenes become sentences. For terminals, pipes and
//! screen readers: one line a fact, no colours, no columns.

mod beyond;
mod block;
mod club;
mod destination;
mod form;
mod friend;
mod lot;
mod moderate;
mod number;
mod order;
mod private;
mod profile;
mod report;
mod thing;
mod wear;
mod who_did;
mod would;

#[cfg(test)]
mod tests;

use alloc::{
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{ChatMessage, SoundMessage};
use metatopia_sim::{CLUB, NEARBY, WHISPERED};
use metatopia_types::{Act, Blob, Emote, ObjectId, limits};

pub use self::{
    beyond::beyond_border,
    block::BlockCommand,
    club::{ClubCommand, ClubLineError, club_line, club_meant, club_person, say_in_club},
    destination::Destination,
    form::{ReplyError, form_lines, reply},
    friend::{FriendCommand, FriendLineError, friends_lines, recovery_line},
    lot::{LotCommand, LotLineError},
    moderate::{ModerateCommand, ModerateLineError, ModerateMeasure},
    number::{coordinates, in_words, number_of},
    order::{TypedOrder, TypedOrderError},
    private::{PrivateCommand, PrivateLineError, told, unreadable},
    profile::{BuddyCommand, ProfileCommand, profile_lines},
    report::{ReportCommand, ReportLineError, report_line},
    thing::describe_thing,
    wear::{AvatarPart, WearCommand, WearError, look_words, wardrobe_lines},
    who_did::who_did,
    would::{would_do, would_set},
};
use crate::{
    ProvenSight, Scene, SceneObject, UnprovenSight,
    build::{self, BuildError, Building},
    mention::mentions,
};

/// A line that a person typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextCommand {
    /// Describe what is in sight.
    Look,
    /// Describe one thing of this name, and what it is joined to.
    LookAt(String),
    /// Walk in a direction, or towards something with this name.
    Go(String),
    /// Show the sims of the world.
    Map,
    /// Leave for another sim of the world.
    GoThere(Destination),
    /// Stops the walking avatar.
    Stop,
    /// Go to where people arrive.
    Home,
    /// Sit down on a thing of this name.
    Sit(String),
    /// Stand up from where one sits.
    Stand,
    /// List the lots.
    Lots,
    /// Take ground, or order something about it.
    Lot(LotCommand),
    /// Shoves a thing of this name.
    Push(String),
    /// Touches a thing of this name.
    Touch(String),
    /// Say something to whoever is near.
    Say(String),
    /// Say something to everybody.
    Shout(String),
    /// Tell one person something that nobody else can read, or read what was told.
    Private(PrivateCommand),
    /// Say something in a club, or order something about one.
    Club(ClubCommand),
    /// Show no words of a person any more, or show them again.
    Block(BlockCommand),
    /// Read what a person says of herself, or say something.
    Profile(ProfileCommand),
    /// Put a person on the list of those whom one likes to find, or take her off.
    Buddy(BuddyCommand),
    /// Name friends who get a lost key back, vouch for one, or cancel that.
    Friend(FriendCommand),
    /// Have every server forget one's last line, or the last line of a person.
    Forget(Option<String>),
    /// Mute, kick or ban a person, as a moderator, or end that.
    Moderate(ModerateCommand),
    /// Order about a thing, rights or the message of the day.
    Order(TypedOrder),
    /// Reply to the last form that was shown.
    Reply(String),
    /// Take back all that things were allowed to do.
    Forbid,
    /// Make a gesture.
    Emote(Emote),
    /// Change how one looks, or ask what there is to wear.
    Wear(WearCommand),
    /// Who is here?
    Who,
    /// Who made a thing, and who changed it last?
    WhoDid(String),
    /// Tell moderators of something, or decide what was told.
    Report(ReportCommand),
    /// Who decides for the sim, and what waits?
    Rules,
    /// Agree to the house rules that were told last.
    Agree,
    /// The source of the scripts on something.
    Source(String),
    /// Write the source of a script on something, or an example, into a folder, to change it there. The package of
    /// one of several scripts may stand behind the thing.
    Edit(String),
    /// Bring the package of a folder into the sim, and have a thing run it.
    Publish(String, Option<String>),
    /// What did the scripts on something log, and where did they fail?
    Logs(String),
    /// Is what is in sight proved?
    Proof,
    /// List the commands.
    Help,
    /// Build something, or change what was built.
    Build(Building),
    /// Leaves the sim and ends the program.
    Quit,
}

/// Why a line is no command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The first word is no command.
    #[error("unknown command `{0}`; type `help` for the list")]
    Unknown(String),
    /// The command needs something more.
    #[error("`{0}` needs {1}")]
    Missing(&'static str, &'static str),
    /// No such gesture.
    #[error("unknown gesture `{0}`; there are wave, nod, dance, bow and laugh")]
    Gesture(String),
    /// Too many words for one act.
    #[error("{0} bytes are too many to say at once; at most {max}", max = limits::CHAT_BYTES_MAX)]
    TooLong(usize),
    /// A line about a lot that is not understood.
    #[error(transparent)]
    Lot(#[from] LotLineError),
    /// A line about a club that is not understood.
    #[error(transparent)]
    Club(#[from] ClubLineError),
    /// A line about private words that is not understood.
    #[error(transparent)]
    Private(#[from] PrivateLineError),
    /// A line about reports that is not understood.
    #[error(transparent)]
    Report(#[from] ReportLineError),
    /// A line about friends that is not understood.
    #[error(transparent)]
    Friend(#[from] FriendLineError),
    /// A moderator's line that is not understood.
    #[error(transparent)]
    Moderate(#[from] ModerateLineError),
    /// A line with another order that is not understood.
    #[error(transparent)]
    Order(#[from] TypedOrderError),
    /// A line about what is worn that is not understood.
    #[error(transparent)]
    Wear(#[from] WearError),
    /// A builder's line that is not understood.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// What `help` prints.
pub const HELP: &str = "\
look            what is in sight; `look at THING` tells of one thing, and what it is joined to
go DIRECTION    walk: north, south, east, west, northeast, ..
go THING        walk towards it; `go portal` into the nearest portal
map             the sims of this world, and where you are
go there NAME   leave for that sim; `go there X Y` for the one at a point of the map
stop            stand still
home            go to where people arrive, also from between walls
lot claim 8x8   take ground around you; then `lot name`, `lot open to NAME`, `lot give to NAME`, `lot return`
lots            whose ground is where; `lot open to club NAME` lets its members build
sit on THING    walk up to it and sit down; `stand` ends that, as walking does
push THING      walk up to it and shove it
touch THING     open, ring, switch: whatever it does
take THING      carry what you may build with; `put THING down` puts it before you, `hands` lists what you hold
say WORDS       to whoever is near; `shout` to everybody
tell NAME WORDS to one person, sealed: servers see who tells whom, when, and how much about, and cannot read it
club NAME: ..   to the members of a club who are here; servers can read it. `clubs` lists yours and who is in them
club new NAME   found a club; then `club invite PERSON to NAME`; `club join NAME`, `club leave NAME`
mailbox         what you were told in the last seven days; `mailbox empty` takes out what you have read
forget          have every server forget your last line; `forget NAME`, for moderators, that person's
block NAME      show no words of that person; `unblock NAME` ends it, and `blocks` lists whom you blocked
buddy NAME      mark that person in `who` and hear of her when you come; `unbuddy NAME`, `buddies`
profile NAME    what that person says of herself; `profile` tells what you say
profile line W  say W of yourself; also `profile pronouns W`, `profile picture FILE`, `profile clear`
reply NUMBER    choose what a thing asks you; `reply WORDS` fills in a line, `reply yes` takes an offer
forbid          take back what you allowed things to do to you
emote GESTURE   wave, nod, dance, bow or laugh
wear WHAT       change how you look: `wear a red crown`, `wear no hat`; `wear` lists what there is
who             who is here; `who did THING`: who made it, and who changed it last
report NAME ..  tell moderators what is wrong with a person or a thing; `reports` tells what they decided
report words N  show moderators private words of that number, with what is wrong; they read no others
mute NAME       for moderators, as `kick`, `ban`, `unmute`, `unprofile`, `unban`: `mute NAME for 2 hours because WORDS`
freeze THING    for moderators: it stands still until `thaw THING`; `return THING` sends it to its owner
send home THING for admins: it goes back over the border that it came over
grant NAME ..   for admins: `grant NAME build, land for 7 days`, `revoke NAME build`; `motd WORDS` greets who comes
friends         who gets your key back if you lose it; `friends are ADA, BOB, CAROL need 2` names them
vouch for A KEY A lost her key and has this one; if she did not, `recovery cancel` of hers stops it
rules           who decides, and which changes of who votes wait
agree           agree to the house rules of another sim that you were told just now
source THING    the source of the scripts on it
edit THING      change that source in your editor; `edit THING PACKAGE` one of several, `edit bell` an example
publish FOLDER  bring a script of yours into the sim; `publish FOLDER THING` runs it there
logs THING      what its scripts log, and where they fail
proof           who signed for what is in sight
build WHAT      box, wall, disc, crate, ..; `help build` tells of move, copy, undo and more
mine            what you have built
quit            leave";

/// Reads a line.
///
/// ```
/// use metatopia_client::text::{Destination, TextCommand, parse};
///
/// let publish = |dir: &str, thing: Option<&str>| {
///     Ok(TextCommand::Publish(dir.to_owned(), thing.map(str::to_owned)))
/// };
/// assert_eq!(parse("publish drafts/lamp my lantern"), publish("drafts/lamp", Some("my lantern")));
/// assert_eq!(parse("publish \"my drafts/lamp\" it"), publish("my drafts/lamp", Some("it")));
/// assert_eq!(parse("publish lamp"), publish("lamp", None));
/// assert_eq!(parse("edit bell"), Ok(TextCommand::Edit("bell".to_owned())));
/// assert_eq!(parse("edit lantern bell"), Ok(TextCommand::Edit("lantern bell".to_owned())));
/// assert_eq!(parse("logs").unwrap_err().to_string(), "`logs` needs a thing");
/// assert_eq!(parse("go there 9 -2"), Ok(TextCommand::GoThere(Destination::read("9 -2"))));
/// assert_eq!(parse("go thereabouts"), Ok(TextCommand::Go("thereabouts".to_owned())));
/// assert_eq!(parse("who did lantern"), Ok(TextCommand::WhoDid("lantern".to_owned())));
/// assert_eq!(parse("who did").unwrap_err().to_string(), "`who did` needs a thing");
/// assert!(parse("go there").unwrap_err().to_string().starts_with("`go there` needs the name"));
/// ```
///
/// # Errors
/// See [`ParseError`].
pub fn parse(line: &str) -> Result<TextCommand, ParseError> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let need = |command, what| {
        if rest.is_empty() { Err(ParseError::Missing(command, what)) } else { Ok(rest.to_string()) }
    };
    let first = word.to_lowercase();
    if let Some(building) = build::parse(&first, rest)? {
        return Ok(TextCommand::Build(building));
    }
    if let Some(command) = moderate::parse(&first, rest) {
        return Ok(TextCommand::Moderate(command?));
    }
    if let Some(command) = order::parse(&first, rest) {
        return Ok(TextCommand::Order(command?));
    }
    Ok(match first.as_str() {
        "look" | "l" => match rest.strip_prefix("at") {
            Some(thing) if thing.starts_with(' ') => TextCommand::LookAt(thing.trim().to_string()),
            Some("") => return Err(ParseError::Missing("look at", "a thing")),
            _ => TextCommand::Look,
        },
        "map" => TextCommand::Map,
        "go" | "walk" if is_journey(rest) => TextCommand::GoThere(journey(rest)?),
        "go" | "walk" => TextCommand::Go(need("go", "a direction or a thing")?),
        "stop" => TextCommand::Stop,
        "home" => TextCommand::Home,
        "sit" => TextCommand::Sit(seat(&need("sit", "a thing to sit on")?)),
        "stand" => TextCommand::Stand,
        "lots" => TextCommand::Lots,
        "lot" => TextCommand::Lot(lot::parse(rest)?),
        "push" => TextCommand::Push(need("push", "a thing")?),
        "touch" | "use" | "open" | "ring" => TextCommand::Touch(need("touch", "a thing")?),
        "say" => TextCommand::Say(words(need("say", "words")?)?),
        "shout" => TextCommand::Shout(words(need("shout", "words")?)?),
        "block" | "unblock" | "blocks" => TextCommand::Block(block::parse(&first, rest)?),
        "profile" => TextCommand::Profile(profile::parse(rest)?),
        "buddy" | "unbuddy" | "buddies" => TextCommand::Buddy(profile::parse_buddy(&first, rest)?),
        "friends" | "vouch" | "recovery" => TextCommand::Friend(friend::parse(&first, rest)?),
        "clubs" | "club" => TextCommand::Club(club::parse(&first, rest)?),
        "tell" | "mailbox" => TextCommand::Private(private::parse(&first, rest)?),
        "forget" => TextCommand::Forget(Some(rest.to_string()).filter(|whose| !whose.is_empty())),
        "reply" => TextCommand::Reply(need("reply", "the number of a choice, or words")?),
        "forbid" => TextCommand::Forbid,
        "emote" => TextCommand::Emote(emote(&need("emote", "a gesture")?)?),
        "wear" => TextCommand::Wear(wear::parse(rest)?),
        "who" => who(rest)?,
        "rules" => TextCommand::Rules,
        "agree" => TextCommand::Agree,
        "report" | "reports" | "decide" => TextCommand::Report(report::parse(&first, rest)?),
        "proof" => TextCommand::Proof,
        "source" => TextCommand::Source(need("source", "a thing")?),
        "edit" => TextCommand::Edit(need("edit", "a thing, or the name of an example")?),
        "publish" => publish(&need("publish", "the folder of a package")?),
        "logs" => TextCommand::Logs(need("logs", "a thing")?),
        "help" | "?" => TextCommand::Help,
        "quit" | "exit" => TextCommand::Quit,
        _ => return Err(ParseError::Unknown(word.to_string())),
    })
}

/// Returns what somebody wants to sit on: `on bench`, `down on the bench` or `bench`.
fn seat(rest: &str) -> String {
    let rest = rest.strip_prefix("down ").unwrap_or(rest);
    rest.strip_prefix("on ").unwrap_or(rest).trim().to_string()
}

/// Reads whether somebody asks who is here, or who did a thing.
fn who(rest: &str) -> Result<TextCommand, ParseError> {
    let (did, thing) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match (did.eq_ignore_ascii_case("did"), thing.trim()) {
        (false, _) => Ok(TextCommand::Who),
        (true, "") => Err(ParseError::Missing("who did", "a thing")),
        (true, thing) => Ok(TextCommand::WhoDid(thing.to_string())),
    }
}

/// Says whether somebody wants to go to another sim: the first word is `there`.
fn is_journey(rest: &str) -> bool {
    rest.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("there"))
}

/// Reads the way to another sim.
fn journey(rest: &str) -> Result<Destination, ParseError> {
    let typed = rest.split_once(char::is_whitespace).map_or("", |(_, typed)| typed.trim());
    if typed.is_empty() {
        return Err(ParseError::Missing("go there", "the name of a sim, or a point of the map"));
    }
    Ok(Destination::read(typed))
}

/// Reads what is published, and on what it is to run. A folder with spaces stands between quotes.
fn publish(rest: &str) -> TextCommand {
    let quoted = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let (dir, thing) =
        quoted.or_else(|| rest.split_once(char::is_whitespace)).unwrap_or((rest, ""));
    let thing = Some(thing.trim()).filter(|thing| !thing.is_empty());
    TextCommand::Publish(dir.to_string(), thing.map(ToString::to_string))
}

fn words(text: String) -> Result<String, ParseError> {
    if text.len() > limits::CHAT_BYTES_MAX {
        Err(ParseError::TooLong(text.len()))
    } else {
        Ok(text)
    }
}

fn emote(name: &str) -> Result<Emote, ParseError> {
    Ok(match name.to_lowercase().as_str() {
        "wave" => Emote::Wave,
        "nod" => Emote::Nod,
        "dance" => Emote::Dance,
        "bow" => Emote::Bow,
        "laugh" => Emote::Laugh,
        _ => return Err(ParseError::Gesture(name.to_string())),
    })
}

/// Says something: the act, and the blob with the words.
#[must_use]
pub fn say(channel: u8, text: &str) -> (Act, Vec<Blob>) {
    let blob = Blob(text.as_bytes().to_vec());
    (Act::Say { channel, body: blob.id() }, vec![blob])
}

const DIRECTIONS: [(&str, i32, i32); 8] = [
    ("east", 1, 0),
    ("northeast", 1, 1),
    ("north", 0, 1),
    ("northwest", -1, 1),
    ("west", -1, 0),
    ("southwest", -1, -1),
    ("south", 0, -1),
    ("southeast", 1, -1),
];

/// The heading of a named direction, or nothing if there is none of that name.
#[must_use]
pub fn direction(name: &str) -> Option<Vec2> {
    let name = name.to_lowercase();
    let short = |full: &str| match full {
        "northeast" => "ne".to_string(),
        "northwest" => "nw".to_string(),
        "southeast" => "se".to_string(),
        "southwest" => "sw".to_string(),
        _ => full[..1].to_string(),
    };
    DIRECTIONS
        .iter()
        .find(|(full, ..)| *full == name || short(full) == name)
        .map(|(_, x, y)| Vec2 { x: Fx::from_int(*x), y: Fx::from_int(*y) })
}

/// The compass name of a direction.
#[must_use]
pub fn compass(towards: Vec2) -> &'static str {
    // Eight sectors of an eighth of a turn, the first one around east.
    let turn = towards.angle().to_bits().wrapping_add(1 << 28);
    DIRECTIONS[(turn >> 29) as usize].0
}

/// Returns which way things fall and how fast; nothing where they do not.
#[must_use]
pub fn falls(gravity: Vec2) -> Option<String> {
    let falls = gravity != Vec2::ZERO;
    falls.then(|| format!("{}, by {:.1} m/s^2", compass(gravity), gravity.length()))
}

/// Returns the object with the number that was typed, as in `object 28`, or else the nearest one whose name starts
/// with, or holds, what was typed; never oneself.
#[must_use]
pub fn find<'a>(scene: &'a Scene, typed: &str) -> Option<&'a SceneObject> {
    let typed = typed.trim().to_lowercase();
    let typed = typed.strip_prefix("the ").unwrap_or(&typed);
    let others = || scene.objects.iter().filter(|object| Some(object.id) != scene.me);
    let number = typed.strip_prefix("object ").and_then(|number| number.trim().parse().ok());
    others()
        .find(|object| Some(object.id.0) == number)
        .or_else(|| others().find(|object| object.name.to_lowercase().starts_with(typed)))
        .or_else(|| others().find(|object| object.name.to_lowercase().contains(typed)))
}

/// Returns where the client's avatar is.
#[must_use]
pub fn position(scene: &Scene) -> Option<Vec2> {
    let me = scene.objects.iter().find(|object| Some(object.id) == scene.me)?;
    Some(me.position)
}

/// Describes what is in sight: a line for each thing, nearest first; walls and the like come last, as a
/// count.
#[must_use]
pub fn describe(scene: &Scene) -> Vec<String> {
    let Some(here) = position(scene) else {
        return vec!["You are not in the world yet.".into()];
    };
    let mut lines = vec![format!("You stand at {}.", coordinates(here))];
    if let Some(held) = scene.me.and_then(|me| names_in_hands(scene, me)) {
        lines.push(format!("You hold {held}."));
    }
    let before = lines.len();
    // Whoever is in sight is told of with what is in hand.
    let is_told = |object: &&SceneObject| {
        let holder = |by: ObjectId| scene.objects.iter().any(|other| other.id == by);
        Some(object.id) != scene.me && !object.held.is_some_and(holder)
    };
    let others = scene.objects.iter().filter(is_told);
    lines.extend(others.map(|object| thing::describe_object(scene, here, object)));
    if lines.len() == before {
        lines.push("Nothing is near.".into());
    }
    lines
}

/// Returns the names of what somebody holds, if that is anything.
fn names_in_hands(scene: &Scene, avatar: ObjectId) -> Option<String> {
    let held = scene.in_hands_of(avatar);
    let names: Vec<&str> = held.iter().map(|held| held.name.as_str()).collect();
    (!names.is_empty()).then(|| names.join(" and "))
}

/// Tells in one sentence whether what is in sight is proved.
#[must_use]
pub fn proof(proven: &Result<ProvenSight, UnprovenSight>) -> String {
    match proven {
        Ok(proven) => format!(
            "Turn {}, signed by {} of {}; what you see is proven.",
            proven.of,
            proven.signers.len(),
            proven.members
        ),
        Err(why) => format!("What you see is not proven: {why}."),
    }
}

/// A chat line as it is printed.
#[must_use]
pub fn heard(line: &ChatMessage) -> String {
    let verb = match (line.channel, &line.club) {
        (CLUB, Some(club)) => format!("says in {}", printable(&club.name)),
        (NEARBY, _) => "says".to_string(),
        (WHISPERED, _) => "whispers to you".to_string(),
        _ => "shouts".to_string(),
    };
    format!("{} {verb}: {}", line.name, printable(&line.text))
}

/// A chat line as it is printed for the person of this name: marked in front if it names her.
#[must_use]
pub fn heard_by(line: &ChatMessage, name: &str) -> String {
    let mark = if mentions(&line.text, name) { "(you are named) " } else { "" };
    format!("{mark}{}", heard(line))
}

/// Returns the sentence for a sound.
#[must_use]
pub fn sounded(made: &SoundMessage) -> String {
    format!("You hear a {} from {}.", made.sound.name(), printable(&made.name))
}

/// Text of strangers without control characters, which could rewrite a terminal.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
