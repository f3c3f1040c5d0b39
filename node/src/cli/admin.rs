//! `admin` changes who votes, the sim's name and numbers, and who may do what, by acts that an admin signs.

mod admins;
mod area;
mod clubs;
mod flag;
mod house_rules;
mod land;
mod log;
mod meanings;
mod orders;
mod reports;
mod set;
mod words;

use std::{
    fmt,
    time::{Duration, Instant},
};

use clap::{Args, Subcommand};
use futures::{StreamExt as _, stream::FuturesUnordered};
use metatopia_client_driver::ClientDriver;
use metatopia_protocol::{Answer, Question};
use metatopia_sim::is_line;
use metatopia_types::{
    Act, Blob, NodeContact, Outcome, PublicKey, Refusal, SetChange,
    limits::{CONTACT_BYTES_MAX, STANDBYS_MAX, VALIDATORS_MIN},
};
use serde::Serialize;
use tokio::time::sleep;

use super::{
    arguments,
    console::Console,
    exit::Exit,
    failure::Failure,
    numbers::number_of,
    say::{decide_in_time, leave_again, prove},
    session::{ANSWER, PlayerArgs},
    status::ServerStatus,
};

/// The advice after a refused change: where to see who votes.
const WHO_VOTES: &str = "`metatopia status --json` lists who votes";

/// The time between two questions whether a change is in force.
const ASK: Duration = Duration::from_millis(200);

#[derive(Debug, Subcommand)]
pub(super) enum AdminCommand {
    /// Name a follower a standby. It votes once its own node has said that it follows.
    #[command(after_help = "Examples:\n  \
        metatopia admin candidates\n  \
        metatopia admin promote KEY --key admin.key [--dry-run]\n  \
        metatopia admin promote KEY --reserve --key admin.key      votes once a server is absent\n  \
        metatopia admin promote KEY --contact PEER_ID@/ip4/203.0.113.9/tcp/8082 --key admin.key\n\n\
        KEY is the key that the node votes with, as `metatopia node join` prints it. The node says \
        by itself that it\nfollows, and votes three turns later. `metatopia up` keeps the admin's \
        key in admin.key of its directory.\n\nFrom one voter to two or three, all of them must run from \
        then on, or nothing is decided: four can spare one.\nThere is no way back, because `demote` \
        never goes below four.")]
    Promote(PromoteArgs),
    /// Take a server out of the set, or a standby off the list. Its node may go on following.
    #[command(after_help = "Examples:\n  \
        metatopia admin demote KEY --key admin.key --dry-run\n  \
        metatopia admin demote KEY --key admin.key\n\n\
        A set never shrinks below four servers: exit code 4.")]
    Demote(ChangeArgs),
    /// List the followers that stand by for a vote.
    #[command(after_help = "Examples:\n  metatopia admin candidates\n  \
        metatopia admin candidates --node http://127.0.0.1:8080 --json")]
    Candidates(CandidatesArgs),
    /// Change the sim's name, or one of its agreed numbers.
    #[command(after_help = set::names())]
    Set(set::SetArgs),
    /// List the lands, on which not everybody builds, and change them.
    #[command(subcommand)]
    Land(land::LandCommand),
    /// List the feature flags that scripts ask for, and switch them on at a height.
    #[command(subcommand)]
    Flag(flag::FlagCommand),
    /// Change what people agree to before they enter.
    #[command(
        after_help = "Examples:\n  metatopia admin house-rules rules.txt --key admin.key --dry-run\n  \
        metatopia admin house-rules rules.txt --key admin.key\n  \
        metatopia admin house-rules --clear --key admin.key\n\n\
        The text client asks people when they come, and the page also those who are there. Whoever agreed to \
        other\nwords is asked again. At most 4,096 bytes."
    )]
    HouseRules(house_rules::HouseRulesArgs),
    /// List the clubs of people, and end one.
    #[command(subcommand)]
    Club(clubs::AdminClubCommand),
    /// List who may do what here: admins, who takes over, roles, bans and mutes.
    #[command(after_help = "Examples:\n  metatopia admin admins\n  \
        metatopia admin admins --node http://127.0.0.1:8080 --json")]
    Admins(admins::AdminsArgs),
    /// Tell who ordered what, under which right. It is proved, and none can be left out.
    #[command(after_help = log::HELP)]
    Log(log::LogArgs),
    /// List what people told moderators and nobody decided yet.
    #[command(after_help = reports::HELP)]
    Reports(reports::ReportsArgs),
    /// List what people said of late, with what names each line.
    #[command(after_help = words::WORDS_HELP)]
    Words(words::WordsArgs),
    /// Have every server forget words: one's own, or others' as a moderator.
    #[command(after_help = words::FORGET_HELP)]
    Forget(words::ForgetArgs),
    #[command(flatten)]
    Order(orders::GovernCommand),
}

#[derive(Debug, Args)]
pub(super) struct ChangeArgs {
    /// The key that the node votes with: 64 hexadecimal digits.
    server: PublicKey,
    #[command(flatten)]
    admin: PlayerArgs,
    /// How long to wait until the change is in force; 0s does not wait.
    #[arg(long, default_value = "30s", value_parser = arguments::duration, value_name = "DURATION")]
    wait: Duration,
    /// Only say what it would do.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub(super) struct PromoteArgs {
    /// Where the server's node is reached [default: what the node said when it asked to stand by].
    #[arg(long, value_name = "PEER_ID@MULTIADDRESS", value_parser = contact)]
    contact: Option<NodeContact>,
    /// Keep the server in reserve: it votes in the place of a server that is absent.
    #[arg(long)]
    reserve: bool,
    #[command(flatten)]
    change: ChangeArgs,
}

#[derive(Debug, Args)]
pub(super) struct CandidatesArgs {
    #[command(flatten)]
    at: super::session::NodeArgs,
}

/// The result of a change.
#[derive(Debug, Serialize)]
struct ChangeLine {
    change: &'static str,
    server: String,
    act: String,
    height: u64,
    /// Says whether the change is in force; false if nobody waited for that.
    in_force: bool,
    validators: Vec<String>,
}

/// The line that tells what an order would do.
#[derive(Debug, Serialize)]
struct WouldOrder<'a> {
    would: &'a str,
    dry_run: bool,
    /// What lets its author do so.
    by: String,
}

impl fmt::Display for WouldOrder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "would: {} {}", self.would, self.by)
    }
}

/// Asks what an order about tickets or a border would do, and tells it; or returns the rule that refuses it.
pub(super) async fn try_order(
    player: &PlayerArgs,
    ordered: (Act, Option<Blob>),
    would: &str,
    console: Console,
) -> Result<Result<(), Refusal>, Failure> {
    let mut driver = player.open().await?;
    let told = set::try_change(&mut driver, ordered).await;
    driver.leave().await;
    match told?.verdict {
        Ok(by) => console.show(&WouldOrder { would, dry_run: true, by }).map(Ok),
        Err(why) => Ok(Err(why)),
    }
}

/// The line that tells what a change would do.
#[derive(Debug, Serialize)]
struct WouldChange {
    change: &'static str,
    server: String,
    dry_run: bool,
    /// How many servers vote now.
    voters: u32,
    /// What lets its author do so.
    by: String,
}

impl fmt::Display for WouldChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { change, server, voters, by, .. } = self;
        write!(f, "would: {change} {server} {by}; servers that vote now: {voters}")?;
        match (*change, voters.saturating_add(1)) {
            ("promote", after) => write!(f, "{}", Without(after)),
            _ => Ok(()),
        }
    }
}

/// What so many voters cannot do without, of a set that is too small to spare one; else nothing.
struct Without(u32);

impl fmt::Display for Without {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(voters) = self;
        match voters {
            2..=3 => write!(
                f,
                "; with {voters} voters all {voters} must run, or nothing is decided, and `admin demote` \
                 never goes below {VALIDATORS_MIN}: promote until {VALIDATORS_MIN} vote"
            ),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for ChangeLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { change, server, height, .. } = self;
        write!(f, "{change} {server}: decided at height {height}")?;
        if self.in_force {
            let voters = u32::try_from(self.validators.len()).unwrap_or(u32::MAX);
            write!(f, ", in force; {}", number_of(voters, "server votes", "servers vote"))?;
            if *change == "promote" {
                write!(f, "{}", Without(voters))?;
            }
        }
        Ok(())
    }
}

#[derive(Debug, Serialize)]
struct CandidateLine {
    server: String,
    peer_id: String,
    address: String,
}

impl fmt::Display for CandidateLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {}@{}", self.server, self.peer_id, self.address)
    }
}

/// Reads a contact: `PEER_ID@MULTIADDRESS`.
fn contact(text: &str) -> Result<NodeContact, String> {
    let like = "a contact looks like 12D3KooW..@/ip4/203.0.113.9/tcp/8082";
    let (peer_id, address) = text.split_once('@').ok_or(like)?;
    let bad = |error: &dyn fmt::Display| format!("{error}; {like}");
    peer_id.parse::<libp2p::PeerId>().map_err(|error| bad(&error))?;
    address.parse::<libp2p::Multiaddr>().map_err(|error| bad(&error))?;
    let longest = peer_id.len().max(address.len());
    if longest > CONTACT_BYTES_MAX || !is_line(peer_id) || !is_line(address) {
        return Err(format!("at most {CONTACT_BYTES_MAX} bytes; {like}"));
    }
    Ok(NodeContact { peer_id: peer_id.to_owned(), address: address.to_owned() })
}

pub(super) async fn run(command: AdminCommand, console: Console) -> Result<(), Failure> {
    match command {
        AdminCommand::Promote(args) => promote(args, console).await,
        AdminCommand::Demote(args) => demote(args, console).await,
        AdminCommand::Candidates(args) => candidates(args, console).await,
        AdminCommand::Set(args) => set::run(args, console).await,
        AdminCommand::Land(command) => land::run(command, console).await,
        AdminCommand::Flag(command) => flag::run(command, console).await,
        AdminCommand::Club(command) => clubs::run(command, console).await,
        AdminCommand::HouseRules(args) => house_rules::run(args, console).await,
        AdminCommand::Admins(args) => admins::run(args, console).await,
        AdminCommand::Log(args) => log::run(args, console).await,
        AdminCommand::Reports(args) => reports::run(args, console).await,
        AdminCommand::Words(args) => words::list(args, console).await,
        AdminCommand::Forget(args) => words::forget(args, console).await,
        AdminCommand::Order(command) => orders::run(command, console).await,
    }
}

async fn candidates(args: CandidatesArgs, console: Console) -> Result<(), Failure> {
    let Answer::Applicants(all) = args.at.ask(Question::Applicants).await? else {
        return Err(Failure::failed("the node does not say who stands by"));
    };
    for one in all {
        let NodeContact { peer_id, address } = one.contact;
        console.show(&CandidateLine { server: one.key.to_string(), peer_id, address })?;
    }
    Ok(())
}

async fn promote(args: PromoteArgs, console: Console) -> Result<(), Failure> {
    let PromoteArgs { contact, reserve, mut change } = args;
    if reserve {
        // A reserve votes when it is needed, and nobody waits for that.
        change.wait = Duration::ZERO;
    }
    let mut driver = change.admin.open().await?;
    let promoted = async {
        let contact = match contact {
            Some(contact) => contact,
            None => stated_contact(&mut driver, &change).await?,
        };
        let key = change.server;
        let act = match reserve {
            true => SetChange::Reserve { key, contact },
            false => SetChange::Add { key, contact },
        };
        attempt(&mut driver, &change, act, console).await
    };
    let told = promoted.await;
    driver.leave().await;
    let what = if reserve { "reserve" } else { "promote" };
    conclude(&change, what, told?, true, console).await
}

async fn demote(change: ChangeArgs, console: Console) -> Result<(), Failure> {
    let mut driver = change.admin.open().await?;
    let act = SetChange::Remove { key: change.server };
    let told = attempt(&mut driver, &change, act, console).await;
    driver.leave().await;
    conclude(&change, "demote", told?, false, console).await
}

/// What came of a change: its act and height, or how many vote and by what it may be made.
enum Attempted {
    Decided((String, u64)),
    Would(u32, String),
}

/// Submits the change, or only asks what it would do.
async fn attempt(
    driver: &mut ClientDriver,
    change: &ChangeArgs,
    wanted: SetChange,
    console: Console,
) -> Result<Attempted, Failure> {
    if !change.dry_run {
        return submit(driver, change, wanted, console).await.map(Attempted::Decided);
    }
    let told = set::try_change(driver, (Act::SetChange(wanted.clone()), None)).await?;
    match told.verdict {
        Ok(by) => Ok(Attempted::Would(told.voters, by)),
        Err(Refusal::BadSetChange) => {
            Err(broken_rule(&wanted, &status(change, |_| true).await?.validators))
        }
        Err(why) => Err(orders::refused_as("the change", why)),
    }
}

/// Tells what a change would do, or waits until it is in force.
async fn conclude(
    change: &ChangeArgs,
    what: &'static str,
    told: Attempted,
    votes: bool,
    console: Console,
) -> Result<(), Failure> {
    match told {
        Attempted::Decided(decided) => finish(change, what, decided, votes, console).await,
        Attempted::Would(voters, by) => {
            let server = change.server.to_string();
            console.show(&WouldChange { change: what, server, dry_run: true, voters, by })
        }
    }
}

/// Returns the address that the node of a standby has stated.
async fn stated_contact(
    driver: &mut ClientDriver,
    change: &ChangeArgs,
) -> Result<NodeContact, Failure> {
    let server = change.server;
    let answer = driver.ask(Question::Applicants, ANSWER).await?;
    let Answer::Applicants(all) = answer else {
        return Err(Failure::failed("the node does not say who stands by"));
    };
    if let Some(found) = all.into_iter().find(|one| one.key == server) {
        return Ok(found.contact);
    }
    let votes = |status: &ServerStatus| status.validators.contains(&server.to_string());
    if votes(&status(change, votes).await?) {
        return Err(Failure::refused(format!("{server} votes already")).hint(WHO_VOTES));
    }
    let message = format!("the node knows of no follower that would vote with {server}");
    Err(Failure::not_found(message)
        .hint("ask its owner to join by an invite that grants stand-by, or give --contact"))
}

/// Returns the status of the first node whose answer is `enough`. If no answer is, returns the
/// status of the node with the highest height: the other nodes may be cut off.
async fn status(
    change: &ChangeArgs,
    enough: impl Fn(&ServerStatus) -> bool,
) -> Result<ServerStatus, Failure> {
    let each = change.admin.at.node.iter().map(|node| ServerStatus::ask(node, None));
    let mut answers: FuturesUnordered<_> = each.collect();
    let mut told = Err(Failure::usage("no node was given"));
    let mut furthest = None;
    while let Some(answer) = answers.next().await {
        match answer {
            Ok(status) if enough(&status) => return Ok(status),
            Ok(status) if furthest.is_none_or(|height| height < status.height) => {
                furthest = Some(status.height);
                told = Ok(status);
            }
            Err(failure) if furthest.is_none() => told = Err(failure),
            Ok(_) | Err(_) => {}
        }
    }
    told
}

/// Names the rule of the validator set that a change broke, judged by who votes, and says what to
/// do.
fn broken_rule(change: &SetChange, voters: &[String]) -> Failure {
    let refused = |why: String| Failure::refused(format!("the change was refused: {why}"));
    let votes = |key: &PublicKey| voters.contains(&key.to_string());
    match change {
        SetChange::Add { key, .. } | SetChange::Reserve { key, .. } if votes(key) => {
            refused(format!("{key} votes already")).hint(WHO_VOTES)
        }
        SetChange::Add { key, .. } | SetChange::Reserve { key, .. } => refused(format!(
            "{key} stands by already, or {STANDBYS_MAX} others do, or another server has its peer id"
        ))
        .hint(
            "a standby votes once its own node follows: is it running? `metatopia admin demote` \
                 takes one off the list",
        ),
        SetChange::Remove { key } if !votes(key) => {
            refused(format!("{key} neither votes nor stands by")).hint(WHO_VOTES)
        }
        SetChange::Remove { .. } if voters.len() <= VALIDATORS_MIN => {
            let (now, least) = (voters.len(), VALIDATORS_MIN);
            refused(format!("{now} servers vote, and the set never shrinks below {least}"))
                .hint("promote another one first")
        }
        SetChange::Remove { .. } => {
            refused("other changes of who votes are under way".into()).hint(WHO_VOTES)
        }
    }
}

/// Submits the change, and returns its act and the height that it was decided at.
async fn submit(
    driver: &mut ClientDriver,
    change: &ChangeArgs,
    wanted: SetChange,
    console: Console,
) -> Result<(String, u64), Failure> {
    let (login, was_here) = change.admin.login_over(driver, console).await?;
    let login = driver.submit(login, Vec::new()).await?;
    let act = driver.submit(Act::SetChange(wanted.clone()), Vec::new()).await?.act;
    let places = decide_in_time(driver, &[login.act, act]).await?;
    leave_again(driver, was_here).await;
    for (what, act) in [("the login", login.act), ("the change", act)] {
        let place = places.get(&act).copied().unwrap_or_default();
        let knows = |status: &ServerStatus| status.height >= place.0.0;
        match prove(driver, place, act).await? {
            Outcome::Refused(Refusal::BadSetChange) => {
                return Err(broken_rule(&wanted, &status(change, knows).await?.validators));
            }
            Outcome::Refused(why) => {
                return Err(Failure::refused(format!("{what} was refused: {why}")));
            }
            _ => {}
        }
    }
    let (height, _) = places.get(&act).copied().unwrap_or_default();
    Ok((act.to_string(), height.0))
}

/// Waits until the server votes, or no longer votes.
async fn finish(
    args: &ChangeArgs,
    change: &'static str,
    (act, height): (String, u64),
    votes: bool,
    console: Console,
) -> Result<(), Failure> {
    let (server, validators) = (args.server.to_string(), Vec::new());
    let mut changed = ChangeLine { change, server, act, height, in_force: false, validators };
    if args.wait.is_zero() {
        return console.show(&changed);
    }
    let began = Instant::now();
    let server = changed.server.clone();
    // The answer does not say which of several changes brought the set about.
    let in_force = |status: &ServerStatus| {
        status.height >= height && status.validators.contains(&server) == votes
    };
    // The change is decided, so a node that does not answer is asked again.
    let told = loop {
        let told = status(args, in_force).await;
        changed.in_force = told.as_ref().is_ok_and(in_force);
        if changed.in_force || began.elapsed() > args.wait {
            break told.map(|status| changed.validators = status.validators);
        }
        sleep(ASK).await;
    };
    console.show(&changed)?;
    match told {
        Ok(()) if changed.in_force => Ok(()),
        Ok(()) => {
            let message = format!("it is not in force after {} s", args.wait.as_secs());
            Err(Failure::new(Exit::TimedOut, message)
                .hint("a standby votes once its own node follows: is it running?"))
        }
        Err(Failure { exit, message }) => {
            let message = format!("whether it is in force is not known: {message}");
            let failure = Failure::new(exit, message);
            // The failure that no node answered has its own advice.
            Err(if exit == Exit::TimedOut { failure } else { failure.hint(WHO_VOTES) })
        }
    }
}

#[cfg(test)]
mod tests;
