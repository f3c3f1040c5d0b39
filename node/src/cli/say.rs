//! `say` has one sentence said, and proves that it was said.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use clap::Args;
use metatopia_client::{Correspondence, text};
use metatopia_client_driver::{ClientDriver, DriverEvent, ProofError, Submitted};
use metatopia_protocol::{Answer, PlayerEntry, Question, SubmitRefusal};
use metatopia_types::{
    Act, ActId, Blob, ClubId, Height, Outcome, PublicKey, limits::CHAT_BYTES_MAX,
};
use tokio::time::timeout;

use super::{
    arguments::check_line,
    console::Console,
    entry::ActEntry,
    failure::Failure,
    session::{ANSWER, PlayerArgs, login_refused},
};

/// The time that an act has to be decided. It is valid for half a minute, and is never decided
/// after that.
const DECIDED: Duration = Duration::from_secs(40);

/// The time that the state after the act has to be certified, which takes two turns.
pub(super) const PROVEN: Duration = Duration::from_secs(10);

/// Arguments of `metatopia say`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    metatopia say \"good morning\" --key me.key\n  \
    metatopia say --everywhere \"the market opens\" --key me.key --json\n  \
    metatopia say --to Ada \"the key is under the mat\" --key me.key\n  \
    metatopia say --club Gardeners \"the roses bloom\" --key me.key\n\n\
    What is printed was proved: the receipt by the signatures of more than two thirds of the\n\
    servers, the outcome by the state that they signed two turns later.")]
pub(super) struct SayArgs {
    /// The words to say, at most 512 bytes.
    text: String,
    /// Let everybody in the sim hear the words, not only people nearby.
    #[arg(long)]
    everywhere: bool,
    /// Tell the words to one person, so that nobody else can read them: a name of somebody who is in the sim, or
    /// a key. Servers see who tells whom, when, and how much about.
    #[arg(long, value_name = "NAME|KEY", conflicts_with = "everywhere")]
    to: Option<String>,
    /// Say the words in a club of yours, so that its members hear them: its name, or its number. Servers can read
    /// them.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["everywhere", "to"])]
    club: Option<String>,
    #[command(flatten)]
    player: PlayerArgs,
}

pub(super) async fn run(args: SayArgs, console: Console) -> Result<(), Failure> {
    if args.text.is_empty() {
        let message = format!("the words must be one line of 1 to {CHAT_BYTES_MAX} bytes");
        return Err(Failure::usage(message));
    }
    check_line("the sentence", &args.text, CHAT_BYTES_MAX)?;
    let (mut driver, correspondence) =
        args.player.open_to_correspond(Arc::new(args.player.signer()?)).await?;
    let said = say(&mut driver, correspondence, &args, console).await;
    driver.leave().await;
    let entry = said?;
    console.show(&entry)?;
    match entry.refusal() {
        None => Ok(()),
        Some(why) => Err(Failure::refused(format!("the words were not heard: {why}"))),
    }
}

async fn say(
    driver: &mut ClientDriver,
    mut correspondence: Correspondence,
    args: &SayArgs,
    console: Console,
) -> Result<ActEntry, Failure> {
    let login = args.player.login(driver, console).await?;
    let login = driver.submit(login, Vec::new()).await?;
    let (act, blobs) = match (&args.to, &args.club) {
        (None, None) => text::say(u8::from(args.everywhere), &args.text),
        (None, Some(club)) => text::say_in_club(own_club(driver, club).await?, &args.text),
        (Some(to), _) => {
            let to = reader(driver, to).await?;
            let sealed = correspondence.seal(&to, &args.text);
            sealed.map_err(|error| Failure::usage(error.to_string()))?
        }
    };
    let words = driver.submit(act, blobs).await?;
    let decided = decide_in_time(driver, &[login.act, words.act]).await?;
    let place = |act: Submitted| decided.get(&act.act).copied().unwrap_or_default();
    if let Outcome::Refused(why) = prove(driver, place(login), login.act).await? {
        return Err(login_refused(why));
    }
    let (height, index) = place(words);
    let outcome = prove(driver, (height, index), words.act).await?;
    Ok(ActEntry {
        act: words.act.to_string(),
        author: driver.author().to_string(),
        lane: driver.lane().0,
        seq: words.seq.0,
        height: height.0,
        index,
        outcome: Some(outcome.to_string()),
        proven: true,
    })
}

/// Returns the club of the author that is meant.
async fn own_club(driver: &mut ClientDriver, typed: &str) -> Result<ClubId, Failure> {
    let of = driver.author();
    let question = Question::Clubs { of: Some(of), after: ClubId(0) };
    let Answer::Clubs(mut clubs) = driver.ask(question, ANSWER).await? else {
        return Err(Failure::failed("the node does not say in which clubs you are"));
    };
    clubs.retain(|club| club.member(&of).is_some());
    let found = text::club_meant(&clubs, typed).map(|club| club.club);
    found.ok_or_else(|| {
        Failure::not_found(format!("you are in no club called {typed}"))
            .hint("`clubs` of the text client lists yours")
    })
}

/// Returns the key of who is to read private words.
pub(super) async fn reader(driver: &mut ClientDriver, typed: &str) -> Result<PublicKey, Failure> {
    if let Ok(key) = typed.parse() {
        return Ok(key);
    }
    let Answer::Players(players) = driver.ask(Question::Players, ANSWER).await? else {
        return Err(Failure::failed("the node does not say who is in the sim"));
    };
    let is_called = |player: &&PlayerEntry| player.name.eq_ignore_ascii_case(typed);
    match players.iter().find(is_called) {
        Some(PlayerEntry { key, .. }) => Ok(*key),
        None => Err(Failure::not_found(format!("nobody called {typed} is in the sim"))
            .hint("a key works also for who is not there")),
    }
}

/// Logs in, and has one more act with its blobs decided and proved. Returns the height of its turn; `what` names
/// the act in a refusal.
pub(super) async fn carry_through(
    driver: &mut ClientDriver,
    player: &PlayerArgs,
    (what, (act, blobs)): (&str, (Act, Vec<Blob>)),
    console: Console,
) -> Result<Height, Failure> {
    match log_in_and_do(driver, player, (act, blobs), console).await? {
        (_, Outcome::Refused(why)) => Err(Failure::refused(format!("{what} was refused: {why}"))),
        (height, _) => Ok(height),
    }
}

/// Logs in, and has one more act with its blobs decided; then the player leaves, unless she was there before.
/// Returns the height of its turn and its proved outcome.
///
/// # Errors
/// When the login is refused, or something is not decided or not proved.
pub(super) async fn log_in_and_do(
    driver: &mut ClientDriver,
    player: &PlayerArgs,
    act: (Act, Vec<Blob>),
    console: Console,
) -> Result<(Height, Outcome), Failure> {
    let (login, was_here) = player.login_over(driver, console).await?;
    let done = do_after(driver, login, act).await;
    leave_again(driver, was_here).await;
    done
}

/// Has a login and one more act with its blobs decided. Returns the height of its turn and its proved outcome.
///
/// # Errors
/// As [`log_in_and_do`].
pub(super) async fn do_after(
    driver: &mut ClientDriver,
    login: Act,
    (act, blobs): (Act, Vec<Blob>),
) -> Result<(Height, Outcome), Failure> {
    let login = driver.submit(login, Vec::new()).await?.act;
    let act = driver.submit(act, blobs).await?.act;
    let places = decide_in_time(driver, &[login, act]).await?;
    let place = |act: ActId| places.get(&act).copied().unwrap_or_default();
    if let Outcome::Refused(why) = prove(driver, place(login), login).await? {
        return Err(login_refused(why));
    }
    Ok((place(act).0, prove(driver, place(act), act).await?))
}

/// Leaves the sim, unless the player was there before: whoever came for an order alone leaves no avatar behind.
pub(super) async fn leave_again(driver: &mut ClientDriver, was_here: bool) {
    if !was_here {
        // Whoever does not get through is gone when the lease is over.
        let _ = driver.submit(Act::Leave, Vec::new()).await;
    }
}

/// Has an act with its blobs decided in a session whose login was. Returns the height of its turn and its proved
/// outcome.
///
/// # Errors
/// When it is not decided or not proved.
pub(super) async fn decide_and_prove(
    driver: &mut ClientDriver,
    (act, blobs): (Act, Vec<Blob>),
) -> Result<(Height, Outcome), Failure> {
    let act = driver.submit(act, blobs).await?.act;
    let places = decide_in_time(driver, &[act]).await?;
    let place = places.get(&act).copied().unwrap_or_default();
    Ok((place.0, prove(driver, place, act).await?))
}

pub(super) async fn prove(
    driver: &mut ClientDriver,
    place: (Height, u32),
    act: ActId,
) -> Result<Outcome, Failure> {
    driver.prove_outcome(place, act, PROVEN).await.map_err(|error| match error {
        ProofError::Unknown => {
            let message = format!("the act is in turn {}, but its outcome was not proved", place.0);
            Failure::timed_out(message).hint("`metatopia receipt` can ask another node")
        }
        error => error.into(),
    })
}

/// Waits until all these acts are in decided turns, but not for ever. Returns their places.
pub(super) async fn decide_in_time(
    driver: &mut ClientDriver,
    acts: &[ActId],
) -> Result<BTreeMap<ActId, (Height, u32)>, Failure> {
    timeout(DECIDED, decide(driver, acts)).await.map_err(|_| {
        Failure::timed_out(format!("no receipt within {} s", DECIDED.as_secs()))
            .hint("see `metatopia status`")
    })?
}

/// Returns the failure of an act that a node did not take. A node that has no room now may have some later.
fn refused_by_node(why: SubmitRefusal) -> Failure {
    use SubmitRefusal as R;
    let message = format!("the node refused the act: {why}");
    match why {
        R::QuotaExceeded | R::TooManyLanes | R::Full | R::Expired { .. } => {
            Failure::timed_out(message)
        }
        _ => Failure::refused(message),
    }
}

async fn decide(
    driver: &mut ClientDriver,
    acts: &[ActId],
) -> Result<BTreeMap<ActId, (Height, u32)>, Failure> {
    let mut places = BTreeMap::new();
    while places.len() < acts.len() {
        match driver.news().await {
            DriverEvent::Receipted { act, height, index, .. } if acts.contains(&act) => {
                places.insert(act, (height, index));
            }
            DriverEvent::Refused { act, why } if acts.contains(&act) => {
                return Err(refused_by_node(why));
            }
            DriverEvent::Ended(end) => return Err(end.into()),
            _ => {}
        }
    }
    Ok(places)
}
