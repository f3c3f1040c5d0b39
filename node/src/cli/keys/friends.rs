//! `keys friends`, `vouch`, `recoveries` and `cancel-recovery`: a lost key that friends get back.

use std::{collections::BTreeSet, fmt, path::PathBuf, time::Duration};

use clap::Args;
use metatopia_client::text::{friends_lines, recovery_line};
use metatopia_client_driver::ClientDriver;
use metatopia_protocol::{
    Answer, FriendEntry, FriendListEntry, FriendsEntry, Question, RecoveryEntry,
};
use metatopia_sim::{KeyFriends, limits::FRIENDS_MAX};
use metatopia_types::{Act, NewKeyWord, PublicKey, Refusal};
use serde::Serialize;

use crate::{
    cli::{
        console::Console,
        failure::Failure,
        passphrase::PassphraseArgs,
        say::{PROVEN, carry_through, reader},
        session::{ANSWER, NodeArgs, PlayerArgs},
    },
    clock::SystemClock,
};

/// A snapshot is offered each half a minute. One that is older than this is of a sim that stands still, or of a
/// node that shows no newer one.
const OLD: Duration = Duration::from_secs(300);

pub(super) const FRIENDS: &str = "Examples:\n  \
    metatopia keys friends --key me.key                        whom you named\n  \
    metatopia keys friends Bob Carol Dan --need 2 --key me.key any two of three\n  \
    metatopia keys friends --nobody --key me.key               take it back\n\n\
    Friends get you a new key in one sim if you lose yours. Each sim is told by itself. Of several friends it \
    takes\nat least two, so no one of them can do it alone. What you name counts after 72 hours of the time in \
    which the\nsim runs, so who steals your key cannot name friends of his own and be done with it. Ask them \
    before, and talk\nto them by other ways than the sim: they must know that it is you who asks.";

pub(super) const VOUCH: &str = "Examples:\n  \
    metatopia keys vouch --for OLD --new TEXT --key me.key --dry-run\n  \
    metatopia keys vouch --for OLD --new TEXT --key me.key\n\n\
    Do it only if she asked you face to face, or in a voice that you know. She makes a new key by `metatopia \
    keys new`,\nand the TEXT by `metatopia keys ask`; she must not log in with that key yet. Once enough friends \
    vouch for the\nsame key, 72 hours pass in which the old key hears of it at each login and may cancel. Then \
    the new key has the name, the\nthings, the land and the days seen, and OLD is refused. What the sim trusted OLD \
    with ends: an admin\ngives the new key its rights.";

pub(super) const ASK: &str = "Example:\n  \
    metatopia keys new --out new.key\n  metatopia keys ask new.key --for OLD\n\n\
    Give the text to your friends, by another way than the sim. It says that the new key takes the place of OLD \
    wherever\nthey vouch for it, and nobody else can use it.";

pub(super) const RECOVERIES: &str = "Examples:\n  \
    metatopia keys recoveries\n  metatopia keys recoveries --json\n\n\
    Each line was proved: it is in the newest snapshot of the node, whose state more than two thirds of the \
    servers\nsigned. That is some hundred turns old, and none that was open then is missing.";

pub(super) const CANCEL: &str = "Example:\n  metatopia keys cancel-recovery --key me.key\n\n\
    The friends who vouched may not vouch for your key again for 30 days. If you do not trust them, name \
    others by\n`metatopia keys friends`.";

#[derive(Debug, Args)]
pub(in crate::cli) struct FriendsArgs {
    /// The friends: names of people who are in the sim, or keys. Without any, it shows whom you named.
    #[arg(value_name = "NAME|KEY")]
    friends: Vec<String>,
    /// How many of them it takes [default: all but one, and at least two].
    #[arg(long, value_name = "M", requires = "friends")]
    need: Option<u8>,
    /// Name nobody: then nobody gets your key back.
    #[arg(long, conflicts_with = "friends")]
    nobody: bool,
    /// Only say what it would do.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    player: PlayerArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct KeyAskArgs {
    /// The file of the new key.
    file: PathBuf,
    /// The key that was lost: 64 hexadecimal digits. Friends see it beside your name.
    #[arg(long = "for", value_name = "OLD")]
    old: PublicKey,
    #[command(flatten)]
    words: PassphraseArgs,
}

/// What the owner of a new key gives her friends.
#[derive(Debug, Serialize)]
struct AskLine {
    old: String,
    new: String,
    text: String,
}

impl fmt::Display for AskLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct FriendVouchArgs {
    /// The key that was lost: 64 hexadecimal digits.
    #[arg(long = "for", value_name = "OLD")]
    old: PublicKey,
    /// What `keys ask` printed for the owner of the new key.
    #[arg(long, value_name = "TEXT")]
    new: NewKeyWord,
    /// Only say what it would do.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    player: PlayerArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RecoveriesArgs {
    #[command(flatten)]
    at: NodeArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CancelArgs {
    /// Only say what it would do.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    player: PlayerArgs,
}

/// Friends as a line of JSON has them.
#[derive(Debug, Default, Serialize)]
struct FriendsLine {
    friends: Vec<String>,
    need: u8,
    /// Milliseconds of governance time until they count.
    counts_in: u64,
}

/// A recovery as a line of JSON has it.
#[derive(Debug, Serialize)]
struct KeyRecoveryLine {
    key: String,
    /// Each friend who vouched, with the new key.
    vouches: Vec<(String, String)>,
    need: u8,
    /// The new key for which enough did.
    new: Option<String>,
    /// Milliseconds of governance time until it takes the place, or until the recovery falls.
    left: u64,
    #[serde(skip)]
    text: String,
}

impl fmt::Display for KeyRecoveryLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  {}", self.key, self.text)
    }
}

/// The line of all that a sim keeps of the friends of a key.
#[derive(Debug, Serialize)]
struct KeptLine {
    key: String,
    /// Whether it was only asked what it would do.
    dry_run: bool,
    /// The turn that carried it out; none if nothing changed.
    height: Option<u64>,
    counted: FriendsLine,
    next: Option<FriendsLine>,
    recovery: Option<KeyRecoveryLine>,
    #[serde(skip)]
    text: String,
}

impl fmt::Display for KeptLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dry_run {
            f.write_str("would be:\n")?;
        }
        f.write_str(&self.text)?;
        self.height.map_or(Ok(()), |height| write!(f, "\nby turn {height}"))
    }
}

fn list(list: &FriendListEntry, counts_in: u64) -> FriendsLine {
    let friends = list.friends.iter().map(|friend| friend.key.to_string()).collect();
    FriendsLine { friends, need: list.need, counts_in }
}

fn recovery(of: PublicKey, need: u8, open: &RecoveryEntry) -> KeyRecoveryLine {
    let vouch = |(by, new): &(FriendEntry, PublicKey)| (by.key.to_string(), new.to_string());
    KeyRecoveryLine {
        key: of.to_string(),
        vouches: open.vouches.iter().map(vouch).collect(),
        need,
        new: open.chosen.map(|new| new.to_string()),
        left: open.left,
        text: recovery_line(open, need),
    }
}

fn line(entry: &FriendsEntry, dry_run: bool, height: Option<u64>) -> KeptLine {
    let open = entry.recovery.as_ref();
    KeptLine {
        key: entry.of.key.to_string(),
        dry_run,
        height,
        counted: list(&entry.counted, 0),
        next: entry.next.as_ref().map(|(next, left)| list(next, *left)),
        recovery: open.map(|open| recovery(entry.of.key, entry.counted.need, open)),
        text: friends_lines(entry).join("\n"),
    }
}

pub(super) async fn friends(args: FriendsArgs, console: Console) -> Result<(), Failure> {
    let mut driver = args.player.open().await?;
    let done = name(&mut driver, &args, console).await;
    driver.leave().await;
    console.show(&done?)
}

/// Names friends, or asks who they are.
async fn name(
    driver: &mut ClientDriver,
    args: &FriendsArgs,
    console: Console,
) -> Result<KeptLine, Failure> {
    if args.friends.is_empty() && !args.nobody {
        let of = driver.author();
        return Ok(line(&asked(driver, Question::Friends { of }).await?, false, None));
    }
    let mut named = BTreeSet::new();
    for typed in &args.friends {
        let key = reader(driver, typed).await?;
        if !named.insert(key) {
            let message = format!("{key} is named twice, and counts once");
            return Err(Failure::usage(message).hint("name each friend once"));
        }
    }
    let count = u8::try_from(named.len()).unwrap_or(u8::MAX);
    let need = args.need.unwrap_or_else(|| count.saturating_sub(1).max(count.min(2)));
    let act = Act::NameFriends { friends: named.into_iter().collect(), need };
    act_or_try(driver, act, (&args.player, args.dry_run), console).await
}

/// Prints the word of a new key that it takes the place of a lost one.
pub(super) fn ask(args: &KeyAskArgs, console: Console) -> Result<(), Failure> {
    let word = NewKeyWord::new(&args.words.open(&args.file)?, &args.old);
    let (old, new) = (args.old.to_string(), word.key.to_string());
    console.show(&AskLine { old, new, text: word.to_string() })
}

pub(super) async fn vouch(args: FriendVouchArgs, console: Console) -> Result<(), Failure> {
    let FriendVouchArgs { old, new, dry_run, player } = args;
    act_by(Act::Vouch { old, new }, (player, dry_run), console).await
}

pub(super) async fn cancel(args: CancelArgs, console: Console) -> Result<(), Failure> {
    act_by(Act::CancelRecovery, (args.player, args.dry_run), console).await
}

/// Opens a session of the player, and has an act decided in it.
async fn act_by(
    act: Act,
    (player, dry_run): (PlayerArgs, bool),
    console: Console,
) -> Result<(), Failure> {
    let mut driver = player.open().await?;
    let done = act_or_try(&mut driver, act, (&player, dry_run), console).await;
    driver.leave().await;
    console.show(&done?)
}

/// Has an act decided, unless it is only asked what it would do. Returns what is kept afterwards.
async fn act_or_try(
    driver: &mut ClientDriver,
    act: Act,
    (player, dry_run): (&PlayerArgs, bool),
    console: Console,
) -> Result<KeptLine, Failure> {
    let author = driver.author();
    let tried = Question::TryFriends { author, act: Box::new(act.clone()) };
    if dry_run {
        return Ok(line(&asked(driver, tried).await?, true, None));
    }
    let of = if let Act::Vouch { old, .. } = &act { *old } else { author };
    // What a node says decides nothing: the turn does, and its outcome is proved.
    let done = carry_through(driver, player, ("it", (act, Vec::new())), console).await;
    let height = done.map_err(hinted)?;
    let kept = asked(driver, Question::Friends { of }).await?;
    Ok(line(&kept, false, Some(height.0)))
}

/// Adds what to do about a refusal.
fn hinted(failure: Failure) -> Failure {
    let is = |why: Refusal| failure.message.ends_with(&why.to_string());
    if is(Refusal::KnownKey) {
        return failure.hint("`metatopia keys new --out new.key` makes one");
    }
    if is(Refusal::RecoveryOpen) {
        return failure.hint("`metatopia keys recoveries` lists it");
    }
    failure
}

/// Asks about friends.
async fn asked(driver: &mut ClientDriver, question: Question) -> Result<FriendsEntry, Failure> {
    let Answer::Friends(told) = driver.ask(question, ANSWER).await? else {
        return Err(Failure::failed("the node does not say who is a friend"));
    };
    (*told).map_err(|why| Failure::refused(format!("it would be refused: {why}")))
}

pub(super) async fn recoveries(args: RecoveriesArgs, console: Console) -> Result<(), Failure> {
    let mut driver = args.at.open_to_ask().await?;
    let proved = driver.prove_friends(PROVEN).await;
    driver.leave().await;
    let proved = proved?;
    let open = proved.friends.iter().filter_map(|(key, kept)| proven(*key, kept, proved.time));
    let open: Vec<KeyRecoveryLine> = open.collect();
    let wall = SystemClock::default().now().wall;
    let ago = Duration::from_secs(wall.0.saturating_sub(proved.stated.0) / 1_000);
    if ago > OLD {
        console.note(&format!(
            "the newest state that the node shows is from {} ago, so what happened since is not known; \
             ask another node",
            humantime::format_duration(ago)
        ));
    }
    if open.is_empty() {
        console.note(&format!("no recovery was open after turn {}", proved.height));
    }
    open.iter().try_for_each(|open| console.show(open))
}

/// Returns the line of a recovery that is proved, if one is open.
fn proven(key: PublicKey, kept: &KeyFriends, time: u64) -> Option<KeyRecoveryLine> {
    let open = kept.recovery.as_ref()?;
    // The state has no names beside the keys.
    let friend = |key: PublicKey| FriendEntry { key, name: String::new() };
    let entry = RecoveryEntry {
        vouches: open.vouches.iter().map(|(by, new)| (friend(*by), *new)).collect(),
        chosen: open.chosen,
        left: open.ends.saturating_sub(time),
    };
    Some(recovery(key, kept.counted(time).need, &entry))
}

const _: () = assert!(FRIENDS_MAX <= u8::MAX as usize, "a number of friends is a byte");

#[cfg(test)]
mod tests {
    use metatopia_sim::{FriendList, OpenRecovery};

    use super::*;

    #[test]
    fn a_proven_recovery_is_listed_with_who_vouched_and_how_long_it_waits() {
        let [old, bob, carol, new] = [1, 2, 3, 4].map(|n| PublicKey([n; 32]));
        let list = FriendList { friends: [bob, carol].into(), need: 2 };
        let mut kept = KeyFriends { list, ..KeyFriends::default() };
        assert!(proven(old, &kept, 0).is_none());
        let vouches = [(bob, new), (carol, new)].into();
        let open = OpenRecovery { vouches, ends: 7_200_000, chosen: Some(new), newcomer: true };
        kept.recovery = Some(open);
        let told = proven(old, &kept, 3_600_000).expect("it is open");
        assert_eq!((told.vouches.len(), told.need, told.left), (2, 2, 3_600_000));
        let text = format!("{old}\n  In 1 hour of the sim's time the key {new} takes its place.");
        assert_eq!(told.to_string(), text);
        let json = serde_json::to_value(&told).expect("a line");
        assert_eq!(json["new"], new.to_string());
    }
}
