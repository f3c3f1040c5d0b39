//! `invite` makes and shows invites, by which other people's nodes follow a sim.

mod short;

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Subcommand, ValueEnum};
use metatopia_client_driver::{ClientDriver, NodeUrl, random};
use metatopia_protocol::{
    Answer, Grant, INVITE_ADDRESSES_MAX, INVITE_USES_MAX, INVITE_VALID_MAX_MS, Invite, InviteError,
    InviteTextError, Question, SignedInvite,
};
use metatopia_scenarios::text_of_file;
use metatopia_types::{
    Certificate, Ed25519, Millis, PublicKey, RoleRight, Sign as _, SigningKey, ValidatorSet,
};
use serde::Serialize;

pub(super) use self::short::called;
use super::{
    arguments, code,
    console::Console,
    exit::Exit,
    failure::Failure,
    passphrase::PassphraseArgs,
    session::{ANSWER, NODE, NodeArgs},
    up::world::{ADMIN_KEY, CONFIG},
};
use crate::{
    clock::SystemClock,
    config,
    joining::{ShortInvite, ShortInviteError},
    keys,
};

/// The number of heights that are tried for a checkpoint. A header that changes the validators
/// cannot be one.
const TRIES_MAX: usize = 8;

#[derive(Debug, Subcommand)]
pub(super) enum InviteCommand {
    /// Make an invite: text, and a code for cameras.
    #[command(after_help = "Examples:\n  \
        metatopia invite create --data-dir ~/.local/state/metatopia/plaza\n  \
        metatopia invite create --node http://203.0.113.5:8080 --key admin.key --uses 5 --expires 7d\n\n\
        Whoever has the invite starts a follower with `metatopia node join INVITE --data-dir DIR`. \
        Each server\ncounts for itself how many nodes an invite let in, and keeps that in the file \
        `followers` of its data\ndirectory. So `--uses 5` lets up to 35 different nodes into a sim of \
        seven servers.\n\nWith --data-dir the invite is short: its server \
        keeps the rest. With --node and --key alone it is whole,\nand long.")]
    Create(CreateArgs),
    /// Read an invite and check it: its checkpoint, its signature, its time.
    Show(InviteShowArgs),
}

#[derive(Debug, Args)]
pub(super) struct CreateArgs {
    /// The directory of `metatopia up`, or a server's data directory. The key in it signs the
    /// invite.
    #[arg(long, value_name = "DIR", conflicts_with = "key")]
    data_dir: Option<PathBuf>,
    /// A node of the sim [default: the one of --data-dir, else http://127.0.0.1:8080].
    #[arg(long, value_name = "URL[,URL..]", value_delimiter = ',')]
    node: Vec<NodeUrl>,
    /// Your key file; you must be an admin of the sim, have `moderate`, or be one of its servers.
    #[arg(long, value_name = "FILE", required_unless_present = "data_dir")]
    key: Option<PathBuf>,
    #[command(flatten)]
    words: PassphraseArgs,
    /// What the invite lets its holder do: `follow`, or also `stand-by` for a vote.
    #[arg(long, value_enum, default_value_t = GrantArg::Follow)]
    grant: GrantArg,
    /// How many nodes each server lets in by the invite.
    #[arg(long, default_value_t = 1, value_name = "COUNT",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(INVITE_USES_MAX)))]
    uses: u32,
    /// How long the invite is valid, such as 30m, 24h or 7d; at most 30d.
    #[arg(long, default_value = "7d", value_parser = validity, value_name = "DURATION")]
    expires: Duration,
    /// Print no code for cameras.
    #[arg(long)]
    no_code: bool,
}

/// Reads how long an invite is valid: at most as long as servers accept one.
fn validity(text: &str) -> Result<Duration, String> {
    let most = Duration::from_millis(INVITE_VALID_MAX_MS);
    match arguments::days(text)? {
        time if time <= most => Ok(time),
        _ => Err("an invite is good for 30d at most".to_owned()),
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum GrantArg {
    Follow,
    StandBy,
}

#[derive(Debug, Args)]
pub(super) struct InviteShowArgs {
    /// The invite: its text, an address that ends in it, or a file that holds it.
    invite: String,
}

/// A summary of an invite, for people and programs.
#[derive(Debug, Serialize)]
struct InviteSummary {
    /// The text to hand on.
    invite: String,
    /// The whole invite as text, which needs no server to complete it.
    whole: String,
    id: String,
    sim: String,
    issuer: String,
    grant: &'static str,
    uses: u32,
    /// When the invite expires, in milliseconds since 1970.
    expires: u64,
    height: u64,
    validators: usize,
    addresses: Vec<String>,
    valid: bool,
    #[serde(skip)]
    left: Duration,
}

impl InviteSummary {
    fn of(signed: &SignedInvite, now: Millis) -> Self {
        let (invite, text) = (&signed.invite, signed.text());
        Self {
            whole: text.clone(),
            invite: text,
            id: invite.id().to_string(),
            sim: invite.sim().to_string(),
            issuer: invite.issuer.to_string(),
            grant: match invite.grant {
                Grant::Follow => "follow",
                Grant::StandBy => "stand-by",
            },
            uses: invite.uses,
            expires: invite.expires.0,
            height: invite.header.height.0,
            validators: invite.validators.members().len(),
            addresses: invite.addresses.clone(),
            valid: true,
            left: Duration::from_millis(invite.expires.0.saturating_sub(now.0)),
        }
    }
}

impl fmt::Display for InviteSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = self.left.as_secs() / 60;
        let (days, hours) = (minutes / 1_440, minutes / 60 % 24);
        writeln!(f, "sim         {}", self.sim)?;
        writeln!(f, "issuer      {}", self.issuer)?;
        writeln!(f, "grant       {}", self.grant)?;
        writeln!(f, "uses        {} at each server", self.uses)?;
        writeln!(f, "good for    {days} d {hours} h {} min", minutes % 60)?;
        writeln!(f, "checkpoint  height {}, {} validators", self.height, self.validators)?;
        for address in &self.addresses {
            writeln!(f, "server      {address}")?;
        }
        write!(f, "\n{}", self.invite)
    }
}

pub(super) fn run(command: InviteCommand, console: Console) -> Result<(), Failure> {
    match command {
        InviteCommand::Create(args) => super::wait(create(args, console)),
        InviteCommand::Show(args) => super::wait(show(args, console)),
    }
}

async fn show(args: InviteShowArgs, console: Console) -> Result<(), Failure> {
    let now = SystemClock::default().now().wall;
    let signed = read(&args.invite).await?;
    let checked = signed.check(now, &Ed25519);
    let valid = checked.is_ok();
    console.show(&InviteSummary {
        valid,
        invite: args.invite,
        ..InviteSummary::of(&signed, now)
    })?;
    Ok(checked?)
}

/// The advice for somebody without an invite.
const MADE_BY: &str = "`metatopia invite create` makes one";

/// Reads an invite from the command line, or from the file that is named there. The server of a
/// short invite gives the whole one.
pub(super) async fn read(text: &str) -> Result<SignedInvite, Failure> {
    let file = fs::read(text).ok().map(|bytes| text_of_file(text, bytes)).transpose();
    let file = file.map_err(|mistake| Failure::usage(mistake.to_string()))?;
    match file.as_deref().unwrap_or(text).parse::<ShortInvite>() {
        Ok(short) => return short::fetch(&short).await,
        // The text may be a whole invite.
        Err(ShortInviteError::NoMark) => {}
        Err(error) => return Err(error.into()),
    }
    match file {
        Some(content) => Ok(SignedInvite::read(&content)?),
        None => match SignedInvite::read(text) {
            Err(error @ InviteTextError::NoMark) => {
                Err(Failure::usage(format!("what is given is no file, and {error}")).hint(MADE_BY))
            }
            read => Ok(read?),
        },
    }
}

impl From<InviteTextError> for Failure {
    fn from(error: InviteTextError) -> Self {
        let failure = Self::usage(error.to_string());
        match error {
            InviteTextError::NoMark => failure.hint(MADE_BY),
            _ => failure.hint("copy all of it, and nothing behind it"),
        }
    }
}

impl From<InviteError> for Failure {
    fn from(error: InviteError) -> Self {
        let message = format!("the invite is not good: {error}");
        match error {
            InviteError::Expired { .. } => Self::refused(message).hint("ask for a new one"),
            _ => Self::unverified(message).hint("ask for it again, and copy all of it"),
        }
    }
}

async fn create(args: CreateArgs, console: Console) -> Result<(), Failure> {
    let (key, found) = match (&args.data_dir, &args.key) {
        (Some(dir), _) => own_key(dir)?,
        (None, Some(key)) => (args.words.open(key)?, None),
        (None, None) => return Err(Failure::usage("neither --data-dir nor --key is given")),
    };
    let node = match (args.node.is_empty(), found) {
        (false, _) => args.node.clone(),
        (true, Some(url)) => vec![url],
        (true, None) => vec![NODE.parse().expect("an address like its example")],
    };
    let at = NodeArgs { node, sim: None };
    let mut driver = at.open_to_ask().await?;
    let now = SystemClock::default().now().wall;
    let made = make(&mut driver, &args, &at.node, (&key, now)).await;
    let called = called(&mut driver, &at.node[0]).await;
    driver.leave().await;
    let signed = made?;
    signed.check(now, &Ed25519)?;
    let mut shown = InviteSummary::of(&signed, now);
    if let Some(dir) = &args.data_dir {
        // The invite names the node of the command line, or else what the server announces, or else
        // where it listens.
        let named = (!args.node.is_empty()).then(|| at.node[0].clone());
        let server = named.or(called).unwrap_or_else(|| at.node[0].clone());
        shown.invite = short::keep(&signed, dir, server, now)?.to_string();
    }
    console.show(&shown)?;
    if !console.is_json() && !args.no_code {
        // Codes of capitals and digits are a third smaller, and an invite means the same in any
        // case.
        match code::draw(&shown.invite.to_uppercase()) {
            Some(code) => console.line(&format!("\n{code}"))?,
            None => console.note("too long for a code in 80 columns; --data-dir makes a short one"),
        }
    }
    Ok(())
}

/// Refuses a key whose invites no server takes, if the node says who that is.
///
/// # Errors
/// When the key is neither a server's nor of somebody who may moderate.
async fn check_issuer(
    driver: &mut ClientDriver,
    key: PublicKey,
    validators: &ValidatorSet,
) -> Result<(), Failure> {
    if validators.get(&key).is_some() {
        return Ok(());
    }
    let Answer::Person(known) = driver.ask(Question::Person { key }, ANSWER).await? else {
        return Ok(());
    };
    let moderates = known.rights.iter().any(|given| given.right == RoleRight::Moderate);
    if known.admin || known.temp_admin || moderates {
        return Ok(());
    }
    let message = format!("no server would let anybody in by an invite of key {key}");
    Err(Failure::refused(message).hint(
        "give the key of an admin, of who has `moderate`, or of a server: `metatopia admin admins` lists \
         them, and --data-dir finds the one of a directory",
    ))
}

async fn make(
    driver: &mut ClientDriver,
    args: &CreateArgs,
    nodes: &[NodeUrl],
    (key, now): (&SigningKey, Millis),
) -> Result<SignedInvite, Failure> {
    let mut height = driver.decided(ANSWER).await?;
    let (header, certificate, validators) = 'found: {
        for _ in 0..TRIES_MAX {
            let (turn, certificate) = driver.prove_turn(height, ANSWER).await?;
            let header = turn.header;
            if header.validators == header.next_validators
                && let Some(set) = driver.validators(height)
            {
                break 'found (header, certificate, set);
            }
            height = height.plus(1);
        }
        return Err(Failure::timed_out("the validators change all the time; try again"));
    };
    if args.data_dir.is_none() {
        check_issuer(driver, key.public(), &validators).await?;
    }
    let mut addresses: Vec<String> = nodes.iter().map(|url| url.to_string()).collect();
    if let Answer::Servers(servers) = driver.ask(Question::Servers, ANSWER).await? {
        let urls = servers.iter().filter_map(|word| word.announcement.http.parse::<NodeUrl>().ok());
        addresses.extend(urls.map(|url| url.to_string()));
    }
    let mut seen = std::collections::BTreeSet::new();
    addresses.retain(|address| seen.insert(address.clone()));
    addresses.truncate(INVITE_ADDRESSES_MAX);
    let expires = u64::try_from(args.expires.as_millis()).unwrap_or(u64::MAX);
    let invite = Invite {
        header,
        certificate: quorum_of(certificate, &validators),
        validators,
        addresses,
        grant: match args.grant {
            GrantArg::Follow => Grant::Follow,
            GrantArg::StandBy => Grant::StandBy,
        },
        uses: args.uses,
        expires: now.plus(expires),
        issuer: key.public(),
        nonce: u64::from_le_bytes(random()),
    };
    Ok(invite.sign(key))
}

/// Returns the certificate with no more signatures than a quorum needs, because an invite should be
/// short.
fn quorum_of(mut certificate: Certificate, set: &ValidatorSet) -> Certificate {
    let mut power = 0;
    certificate.signatures.retain(|(key, _)| {
        let needed = power < set.quorum();
        power += set.get(key).map_or(0, |member| u64::from(member.power));
        needed
    });
    certificate
}

/// Returns the key that a directory can sign invites with, and the URL of the server that runs from
/// it.
fn own_key(dir: &Path) -> Result<(SigningKey, Option<NodeUrl>), Failure> {
    let (key, config) = if dir.join(ADMIN_KEY).exists() {
        (dir.join(ADMIN_KEY), dir.join("server-0").join(CONFIG))
    } else {
        (dir.join("vote.key"), dir.join(CONFIG))
    };
    if !key.exists() {
        let message = format!("{} holds neither admin.key nor vote.key", dir.display());
        return Err(Failure::new(Exit::NotFound, message)
            .hint("name the directory of `metatopia up`, or of a server"));
    }
    let listens = config::read(&config).ok().and_then(|layer| layer.http_listen);
    let url = listens.and_then(|address| format!("http://{address}").parse().ok());
    Ok((keys::load(&key)?, url))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error said twice that the text is no invite, before and behind the semicolon.
    #[tokio::test]
    async fn a_text_that_is_no_invite_is_told_once_with_what_makes_one() {
        let told = async |text: &str| read(text).await.unwrap_err().to_string();
        let advice = "`metatopia invite create` makes one";
        let nothing = "what is given is no file, and no invite: it has no `metatopia1` in it";
        assert_eq!(told("nothing").await, format!("{nothing}; {advice}"));
        let empty = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(told(empty).await, format!("no invite: it has no `metatopia1` in it; {advice}"));
        let scratch = crate::scratch::Scratch::made("invite-bytes");
        let file = scratch.file("invite.txt", b"\xff\xfem\0").display().to_string();
        assert!(told(&file).await.starts_with(&format!("{file}:1:1: the file is not UTF-8")));
        assert!(told("metatopia1!").await.ends_with("; copy all of it, and nothing behind it"));
    }
}
