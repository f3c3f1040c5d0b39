//! `admin words` lists what was said of late, and `admin forget` has every server forget it.

use std::{fmt, str::FromStr};

use clap::Args;
use metatopia_client::text::printable;
use metatopia_client_driver::{ClientDriver, ProvenWords};
use metatopia_protocol::{Answer, Question};
use metatopia_sim::{CLUB, ChatEntry, ForgottenWords, KeptProfile, NEARBY, SHOUTED};
use metatopia_types::{Act, BlobId, Height, PublicKey};
use serde::Serialize;

use super::{orders::refused_as, set::try_change};
use crate::cli::{
    console::Console,
    failure::Failure,
    say::{PROVEN, log_in_and_do},
    session::{ANSWER, NodeArgs, PlayerArgs},
};

pub(super) const WORDS_HELP: &str = "Examples:\n  \
    metatopia admin words                       the last 20 lines, with what names each\n  \
    metatopia admin words --by KEY --last 256 --json\n\n\
    Who said what, and the hash of the words, is in a state that more than two thirds of the servers signed: that\n\
    of the newest snapshot, so lines of the last minute may not be in it. The words have that hash. Of the last 256\n\
    lines the state knows who said them. With --by, what the key says of itself in its profile comes last. What is\n\
    forgotten is listed as such, without who said it where a moderator had it forgotten.\n\n\
    Anybody may read this: it takes no key. `metatopia admin forget` does.";

pub(super) const FORGET_HELP: &str = "Examples:\n  \
    metatopia admin words --by KEY\n  \
    metatopia admin forget 8123:5f0c4a9e --key admin.key --dry-run\n  \
    metatopia admin forget 8123:5f0c4a9e --key admin.key\n  \
    metatopia admin forget --last-by KEY --key admin.key\n  \
    metatopia admin forget --profile-of KEY --key admin.key\n\n\
    Whoever said a line may have it forgotten, and who may moderate that of anybody with less to say. All servers\n\
    tell nobody of it any more, and drop the bytes from their logs three minutes later. The act, its author and the\n\
    hash stay: `metatopia log verify` says which turns are then verified by the chain and certificates alone. Of\n\
    words that the state does not know any more, give the whole hash. A profile goes with its picture, also one\n\
    that was taken away already.";

/// How a line is heard that is a profile.
const PROFILE: &str = "profile";

/// How a line was heard that is forgotten.
const FORGOTTEN: &str = "forgotten";

/// Digits of a hash that are shown.
const DIGITS: usize = 16;

/// Digits of a hash that name a line at least.
const DIGITS_MIN: usize = 8;

#[derive(Debug, Args)]
pub(in crate::cli) struct WordsArgs {
    /// Only lines of this key.
    #[arg(long, value_name = "KEY")]
    by: Option<PublicKey>,
    /// Teaches who gives a key, as other commands take one, that none is needed.
    #[arg(long, value_name = "KEY", hide = true, value_parser = no_key)]
    key: Option<String>,
    /// How many lines to list, the newest last.
    #[arg(long, default_value_t = 20, value_name = "COUNT")]
    last: usize,
    #[command(flatten)]
    at: NodeArgs,
}

#[derive(Debug, Args)]
#[group(id = "meant", required = true, multiple = false,
    args = ["words", "last_by", "profile_of"])]
pub(in crate::cli) struct ForgetArgs {
    /// The words: HEIGHT:HASH, as `admin words` lists them; 8 digits of the hash or more.
    #[arg(value_name = "HEIGHT:HASH")]
    words: Option<WordsName>,
    /// The last line of this key that the newest snapshot knows.
    #[arg(long, value_name = "KEY")]
    last_by: Option<PublicKey>,
    /// The profile that this key sent last, with its picture.
    #[arg(long, value_name = "KEY")]
    profile_of: Option<PublicKey>,
    /// Only say what it would do.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    author: PlayerArgs,
}

/// Refuses a key where none is needed, and says what was probably meant.
fn no_key(_: &str) -> Result<String, String> {
    Err("everybody may list words, so it takes no key; `--by KEY` lists those of one person, and \
         `metatopia admin forget HEIGHT:HASH --key FILE` has them forgotten"
        .to_owned())
}

/// How words are named: their turn, and the beginning of their hash.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WordsName {
    height: Height,
    digits: String,
}

impl FromStr for WordsName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let like = "words are named like 8123:5f0c4a9e, by turn and hash, as `metatopia admin words` lists \
                    them; --last-by KEY and --profile-of KEY name others";
        let (height, digits) = text.split_once(':').ok_or(like)?;
        let height = height.parse().map(Height).map_err(|_| like)?;
        let digits = digits.to_lowercase();
        let is_hash = digits.chars().all(|c| c.is_ascii_hexdigit());
        if !is_hash || !(DIGITS_MIN..=64).contains(&digits.len()) {
            return Err(format!("{DIGITS_MIN} to 64 digits of the hash; {like}"));
        }
        Ok(Self { height, digits })
    }
}

impl WordsName {
    /// Returns the line that is meant: one of these, or the one with the whole hash.
    fn find(&self, lines: &[ChatEntry]) -> Result<(Height, BlobId), Failure> {
        if let Ok(body) = self.digits.parse::<BlobId>() {
            return Ok((self.height, body));
        }
        let is_meant = |line: &&ChatEntry| {
            line.height == self.height && line.body.to_string().starts_with(&self.digits)
        };
        let mut found = lines.iter().filter(is_meant);
        match (found.next(), found.next()) {
            (Some(line), other) if other.is_none_or(|other| other.body == line.body) => {
                Ok((line.height, line.body))
            }
            (Some(_), _) => Err(Failure::usage("several lines of that turn begin with that hash")
                .hint("give more digits")),
            (None, _) => {
                let Self { height, digits } = self;
                let message = format!("the state knows no line {height}:{digits}");
                Err(Failure::not_found(message)
                    .hint("`metatopia admin words` lists them; an older one takes its whole hash"))
            }
        }
    }
}

/// The line of something that was said.
#[derive(Debug, Serialize)]
struct WordsLine {
    height: u64,
    body: String,
    /// Who said it; nobody if it was a thing.
    by: Option<String>,
    /// `nearby`, `everywhere`, `shouted`, `in a club` or `profile`; `forgotten` where nobody knows any more.
    heard: &'static str,
    /// The words, if the node has them.
    text: Option<String>,
    /// Whether every server forgets them.
    forgotten: bool,
}

impl fmt::Display for WordsLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { height, body, by, text, heard, forgotten } = self;
        write!(f, "{height}:{}  ", &body[..DIGITS])?;
        match by {
            Some(by) => write!(f, "{}  ", &by[..8])?,
            None if *forgotten => f.write_str("..        ")?,
            None => f.write_str("a thing   ")?,
        }
        if *heard == PROFILE {
            f.write_str("(profile) ")?;
        }
        let missing = match forgotten {
            true => "(forgotten)",
            false => "(the node does not have the words)",
        };
        f.write_str(text.as_deref().unwrap_or(missing))
    }
}

/// The line of words that were forgotten.
#[derive(Debug, Serialize)]
struct ForgottenLine {
    height: u64,
    body: String,
    dry_run: bool,
    /// What lets them be forgotten, in a dry run.
    by: Option<String>,
    /// The turn that carried it out.
    in_turn: Option<u64>,
}

impl fmt::Display for ForgottenLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { height, body, by, in_turn, .. } = self;
        match (in_turn, by) {
            (Some(turn), _) => write!(
                f,
                "forgot {height}:{body} in turn {turn}; `metatopia admin words` says so within a minute, and \
                 logs drop the bytes in three"
            ),
            (None, by) => {
                let by = by.as_deref().unwrap_or_default();
                write!(f, "would: forget {height}:{body} {by}")
            }
        }
    }
}

pub(in crate::cli) async fn list(args: WordsArgs, console: Console) -> Result<(), Failure> {
    let mut driver = args.at.open_to_ask().await?;
    let told = lines(&mut driver, &args).await;
    driver.leave().await;
    let told = told?;
    if told.is_empty() {
        console.note("the state knows of nothing that was said");
    }
    told.iter().try_for_each(|line| console.show(line))
}

/// Returns the lines to be listed, with their words.
async fn lines(driver: &mut ClientDriver, args: &WordsArgs) -> Result<Vec<WordsLine>, Failure> {
    let ProvenWords { mut lines, mut forgotten } = driver.prove_words(PROVEN).await?;
    let is_listed = |by: Option<PublicKey>| args.by.is_none_or(|key| by == Some(key));
    lines.retain(|line| is_listed(line.by));
    // Of words that a moderator had forgotten nobody knows any more who said them.
    forgotten.retain(|words| is_listed(words.by));
    let older = lines.len().saturating_sub(args.last);
    let mut told = Vec::new();
    for line in lines.drain(older..) {
        let text = words(driver, &line).await?;
        told.push(WordsLine {
            height: line.height.0,
            body: line.body.to_string(),
            by: line.by.map(|key| key.to_string()),
            heard: match line.channel {
                NEARBY => "nearby",
                SHOUTED => "shouted",
                CLUB => "in a club",
                _ => "everywhere",
            },
            text,
            forgotten: false,
        });
    }
    told.extend(forgotten.iter().map(forgotten_line));
    told.sort_by_key(|line| line.height);
    told.drain(..told.len().saturating_sub(args.last));
    if let Some(by) = args.by {
        told.extend(profile(driver, by).await?.as_ref().and_then(|kept| profile_line(by, kept)));
    }
    Ok(told)
}

/// Returns the line of words that every server forgets.
fn forgotten_line(words: &ForgottenWords) -> WordsLine {
    WordsLine {
        height: words.height.0,
        body: words.body.to_string(),
        by: words.by.map(|key| key.to_string()),
        heard: FORGOTTEN,
        text: None,
        forgotten: true,
    }
}

/// Returns what is kept of the profile of a key, proved.
async fn profile(driver: &mut ClientDriver, of: PublicKey) -> Result<Option<KeptProfile>, Failure> {
    Ok(driver.prove_profiles(&[of], Height(0), PROVEN).await?.remove(&of))
}

/// Returns the line of a profile; none if a key sent it that its owner has no more.
fn profile_line(by: PublicKey, kept: &KeptProfile) -> Option<WordsLine> {
    let (height, body) = kept.sent?;
    let text = match kept.signed.as_ref().map(|signed| &signed.profile) {
        None => "taken away".to_owned(),
        Some(profile) => {
            let picture = if profile.picture.is_some() { ", with a picture" } else { "" };
            printable(&format!("\"{}\", version {}{picture}", profile.line, profile.version))
        }
    };
    Some(WordsLine {
        height: height.0,
        body: body.to_string(),
        by: Some(by.to_string()),
        heard: PROFILE,
        text: Some(text),
        forgotten: false,
    })
}

/// Returns the words of a line, which have its hash; none if the node does not have them, or a thing said them.
async fn words(driver: &mut ClientDriver, line: &ChatEntry) -> Result<Option<String>, Failure> {
    if line.by.is_none() {
        return Ok(None);
    }
    let Answer::Turn(found) = driver.ask(Question::Turn { height: line.height }, ANSWER).await?
    else {
        return Ok(None);
    };
    let blob = found.0.body.blobs().iter().find(|blob| blob.id() == line.body);
    Ok(blob.map(|blob| printable(&String::from_utf8_lossy(&blob.0))))
}

pub(in crate::cli) async fn forget(args: ForgetArgs, console: Console) -> Result<(), Failure> {
    let mut driver = args.author.open().await?;
    let done = forget_in(&mut driver, &args, console).await;
    driver.leave().await;
    console.show(&done?)
}

/// Returns the turn and the hash of the words that are meant.
async fn meant(driver: &mut ClientDriver, args: &ForgetArgs) -> Result<(Height, BlobId), Failure> {
    if let Some(of) = args.profile_of {
        let sent = profile(driver, of).await?.and_then(|kept| kept.sent);
        return sent.ok_or_else(|| {
            Failure::not_found("the state knows of no profile that this key sent")
                .hint("one of the last minute may not be in the newest snapshot: try again")
        });
    }
    let is_whole = args.words.as_ref().is_some_and(|name| name.digits.len() == 64);
    let known = if is_whole { Vec::new() } else { driver.prove_lines(PROVEN).await? };
    match (&args.words, args.last_by) {
        (Some(name), _) => name.find(&known),
        (None, by) => {
            let last = known.iter().rev().find(|line| line.by.is_some() && line.by == by);
            let last = last.ok_or_else(|| {
                Failure::not_found("the state knows of nothing that this key said")
                    .hint("lines of the last minute may not be in the newest snapshot: try again")
            })?;
            Ok((last.height, last.body))
        }
    }
}

async fn forget_in(
    driver: &mut ClientDriver,
    args: &ForgetArgs,
    console: Console,
) -> Result<ForgottenLine, Failure> {
    let (height, body) = meant(driver, args).await?;
    let (act, line) = (Act::Forget { height, body }, (height.0, body.to_string()));
    let (height, body) = line;
    let dry_run = args.dry_run;
    if dry_run {
        let told = try_change(driver, (act, None)).await?;
        let by = told.verdict.map_err(|why| refused_as("it", why))?;
        return Ok(ForgottenLine { height, body, dry_run, by: Some(by), in_turn: None });
    }
    match log_in_and_do(driver, &args.author, (act, Vec::new()), console).await? {
        (_, metatopia_types::Outcome::Refused(why)) => Err(refused_as("it", why)),
        (turn, _) => Ok(ForgottenLine { height, body, dry_run, by: None, in_turn: Some(turn.0) }),
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Digest, ObjectId, Tick};

    use super::*;
    use crate::cli::exit::Exit;

    fn line(height: u64, seed: u8) -> ChatEntry {
        let body = BlobId(Digest([seed; 32]));
        let (tick, channel, speaker) = (Tick(1), NEARBY, ObjectId(7));
        ChatEntry { height: Height(height), tick, channel, speaker, body, by: None }
    }

    #[test]
    fn words_are_named_by_their_turn_and_the_beginning_of_their_hash() {
        let lines = [line(8, 0xab), line(8, 0xab), line(8, 0xcd), line(9, 0xab)];
        let find = |text: &str| text.parse::<WordsName>().expect(text).find(&lines);
        assert_eq!(find("8:ABABABAB").expect("said"), (Height(8), lines[0].body));
        assert_eq!(find("8:cdcdcdcdcd").expect("said"), (Height(8), lines[2].body));
        assert_eq!(find("7:abababab").expect_err("another turn").exit, Exit::NotFound);
        let whole = format!("3:{}", BlobId(Digest([9; 32])));
        assert_eq!(find(&whole).expect("a whole hash"), (Height(3), BlobId(Digest([9; 32]))));
        for wrong in ["8", "8:abc", "x:abababab", "8:ghghghgh", ":", "8:"] {
            assert!(wrong.parse::<WordsName>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_line_is_listed_with_what_names_it_and_a_dry_run_says_by_what() {
        let told = WordsLine {
            height: 8,
            body: "ab".repeat(32),
            by: Some("cd".repeat(32)),
            heard: "nearby",
            text: Some("hello".to_owned()),
            forgotten: false,
        };
        assert_eq!(told.to_string(), "8:abababababababab  cdcdcdcd  hello");
        let (body, time) = (BlobId(Digest([0xab; 32])), 0);
        let gone = ForgottenWords { height: Height(8), body, by: None, time };
        assert_eq!(forgotten_line(&gone).to_string(), "8:abababababababab  ..        (forgotten)");
        let (height, body) = (8, "ab".repeat(32));
        let would = ForgottenLine {
            height,
            body,
            dry_run: true,
            by: Some("by a role".to_owned()),
            in_turn: None,
        };
        assert_eq!(would.to_string(), format!("would: forget 8:{} by a role", "ab".repeat(32)));
    }
}
