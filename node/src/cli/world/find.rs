//! `world find` finds who owns a point, and checks the proof.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use metatopia_client::text::printable;
use metatopia_client_driver::{HttpError, NodeUrl, http};
use metatopia_text_client::ONE_DOOR;
use metatopia_types::{LandGrant, Millis, SimId, Square, TilePoint};
use serde::Serialize;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use super::{
    invite,
    learned::{CheckedFind, LearnedWorld, OLD, age_of, aged, check, unanswered},
    member::{self, MemberPlan},
    square::WrittenSquare,
};
use crate::{
    cli::{console::Console, exit::Exit, failure::Failure, numbers::number_of, session::NODE},
    overlay::{
        WorldPlace,
        answers::{EndpointEntry, FindAnswer, MapEntry, end_of},
        world_invite::WorldInvite,
    },
};

/// The time that a member which just started has to find a proof.
const PATIENCE: Duration = Duration::from_secs(20);

/// The time that it has, of these, to find a server of the owner.
pub(super) const SERVER_PATIENCE: Duration = Duration::from_secs(6);

/// The time between two tries meanwhile.
pub(super) const AGAIN: Duration = Duration::from_millis(200);

/// Where a command asks about a world.
#[derive(Debug, Args)]
pub(super) struct AskArgs {
    /// The node that is asked.
    #[arg(long, value_name = "URL", default_value = NODE, conflicts_with_all = ["data_dir", "invite"])]
    pub(super) node: NodeUrl,
    /// Ask the nodes of an invite of `metatopia world invite`; no map older than its own counts.
    #[arg(long, value_name = "INVITE", conflicts_with = "data_dir")]
    pub(super) invite: Option<WorldInvite>,
    /// Ask the world itself, as the member of this directory of `metatopia world join`.
    #[arg(long, value_name = "DIR")]
    pub(super) data_dir: Option<PathBuf>,
    /// Find its members in the local network too, by mDNS.
    #[arg(long, requires = "data_dir")]
    pub(super) lan: bool,
    /// The world that it must be: 64 hexadecimal digits [default: the one that the node names].
    #[arg(long, value_name = "ID")]
    pub(super) world: Option<SimId>,
}

/// A point of a world's plane, as people write it.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct PointArgs {
    /// Tiles of 32 m eastwards from the origin.
    #[arg(allow_negative_numbers = true)]
    pub(super) x: i32,
    /// Tiles of 32 m northwards from the origin.
    #[arg(allow_negative_numbers = true)]
    pub(super) y: i32,
}

impl PointArgs {
    /// Returns the point.
    pub(super) const fn point(self) -> TilePoint {
        TilePoint { x: self.x, y: self.y }
    }
}

/// Arguments of `metatopia world find`.
#[derive(Debug, Args)]
pub(in crate::cli) struct FindArgs {
    #[command(flatten)]
    at: PointArgs,
    #[command(flatten)]
    ask: AskArgs,
}

/// Who owns a point, as the command prints it. All but the servers is proved.
#[derive(Debug, Serialize)]
struct FoundLine {
    /// The world whose land office proves it.
    world: String,
    /// Whether that world was known before, and not by the word of the node that was asked.
    known: bool,
    x: i32,
    y: i32,
    owned: bool,
    sim: Option<String>,
    square: Option<String>,
    holder: Option<String>,
    until: Option<u64>,
    servers: Vec<EndpointEntry>,
    map: MapEntry,
    /// How old the map is, in seconds.
    age: u64,
    old: bool,
    hops: u32,
    one_door: bool,
    disagreements: u32,
    ms: u64,
    proven: bool,
}

impl FoundLine {
    /// Returns it in words. A reason to doubt is amber on a terminal.
    fn words(&self, console: &Console) -> String {
        let Self { x, y, age, hops, ms, .. } = self;
        let mut lines = match (&self.sim, &self.square, &self.holder) {
            (Some(sim), Some(square), Some(holder)) => vec![
                format!("{x} {y} is in square {square} of sim {sim}"),
                format!("held by {holder}"),
            ],
            _ => vec![format!("{x} {y} is nobody's")],
        };
        let age = aged(Duration::from_secs(*age));
        let proved = format!("proved by the map of height {}, {age} old", self.map.height);
        lines.push(if self.old {
            console.amber(&format!("{proved}, so it may have changed"))
        } else {
            proved
        });
        let word =
            if self.known { "" } else { ", which the node names (--world says which it must be)" };
        lines.push(format!("of world {}{word}", self.world));
        for server in &self.servers {
            let http = server.http.as_deref().unwrap_or("nobody is let in there");
            lines.push(format!("  {}  ({})", printable(http), printable(&server.overlay)));
        }
        if self.owned && self.servers.is_empty() {
            lines.push("  no server of it was found: it is down, or far away".to_owned());
        }
        if self.one_door {
            lines.push(console.amber(ONE_DOOR));
        }
        lines.push(format!("asked {} in {ms} ms", number_of(*hops, "site", "sites")));
        lines.join("\n")
    }
}

pub(super) async fn run(args: FindArgs, console: Console) -> Result<(), Failure> {
    let point = args.at.point();
    let began = Instant::now();
    let AskArgs { world, data_dir, invite, .. } = &args.ask;
    let known = world.is_some() || data_dir.is_some() || invite.is_some();
    let CheckedFind { answer, grant, map, world } = locate(&args.ask, point).await?;
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let age = age_of(Millis(map.time));
    let is_owned = grant.is_some();
    let square = |grant: &LandGrant| WrittenSquare(grant.square).to_string();
    let found = FoundLine {
        world: world.to_string(),
        known,
        x: args.at.x,
        y: args.at.y,
        owned: is_owned,
        sim: grant.as_ref().map(|grant| grant.sim.to_string()),
        square: grant.as_ref().map(square),
        holder: grant.as_ref().map(|grant| grant.holder.to_string()),
        until: grant.as_ref().and_then(end_of),
        servers: answer.endpoints,
        map,
        age: age.as_secs(),
        old: age > OLD,
        hops: answer.hops,
        one_door: answer.one_door,
        disagreements: answer.disagreements,
        ms,
        proven: true,
    };
    console.show_as(&found, |console| found.words(console))?;
    if is_owned { Ok(()) } else { Err(Failure::quiet(Exit::NotFound)) }
}

/// Finds who owns a point, and checks the proof.
///
/// # Errors
/// When nobody proves it.
pub(super) async fn locate(ask: &AskArgs, point: TilePoint) -> Result<CheckedFind, Failure> {
    match (&ask.data_dir, &ask.invite) {
        (Some(dir), _) => by_member(dir, (ask.world, ask.lan), point).await,
        (None, Some(invite)) => by_invite(invite, ask.world, point).await,
        (None, None) => by_node(&ask.node, ask.world, point).await,
    }
}

/// Asks the nodes of an invite until one of them proves who owns the point and, if somebody does, tells a server.
async fn by_invite(
    invite: &WorldInvite,
    world: Option<SimId>,
    point: TilePoint,
) -> Result<CheckedFind, Failure> {
    let ask = async |node: &NodeUrl, learned: LearnedWorld| {
        let found = by_learned(node, &learned, point).await?;
        if found.map.height >= invite.map_from.0 {
            return Ok(found);
        }
        let (shown, from) = (found.map.height, invite.map_from.0);
        Err(Failure::unverified(format!(
            "{node} proves it by a map of height {shown}, which is older than that of height \
             {from} of the invite"
        )))
    };
    let is_whole =
        |found: &CheckedFind| found.grant.is_none() || !found.answer.endpoints.is_empty();
    invite::ask_each(invite, world, ask, is_whole).await
}

/// Asks a node, and checks its proof.
///
/// # Errors
/// When it does not answer, or nobody proves who owns the point.
pub(in crate::cli) async fn by_node(
    node: &NodeUrl,
    world: Option<SimId>,
    point: TilePoint,
) -> Result<CheckedFind, Failure> {
    by_learned(node, &LearnedWorld::from(node, world).await?, point).await
}

/// Asks a node whose world is learned, and checks its proof.
///
/// # Errors
/// When it does not answer, or nobody proves who owns the point.
pub(super) async fn by_learned(
    node: &NodeUrl,
    learned: &LearnedWorld,
    point: TilePoint,
) -> Result<CheckedFind, Failure> {
    let TilePoint { x, y } = point;
    let path = format!("/api/world/find?x={x}&y={y}");
    let until = Instant::now() + SERVER_PATIENCE;
    let answer: FindAnswer = loop {
        let answer: Result<FindAnswer, HttpError> = http::get(node.join(&path)).await;
        // A node that just started fetches the map, and a busy one has room again soon.
        let is_early = match &answer {
            Ok(answer) => answer.proof.is_empty(),
            Err(error) => matches!(error, HttpError::Status { code: 503, .. }),
        };
        if !is_early || Instant::now() >= until {
            break answer.map_err(|error| unanswered(node, &error))?;
        }
        sleep(AGAIN).await;
    };
    if (answer.x, answer.y) != (x, y) {
        return Err(Failure::unverified(format!("{node} answers about another point")));
    }
    check(&learned.sets, answer).map_err(|Failure { exit, message }| {
        // Others may have been asked, too.
        Failure::new(exit, format!("{node}: {message}"))
    })
}

/// Asks the world as a member of it. A member that just started needs a moment to find its way, so it
/// asks again until somebody proves who owns the point and, if somebody does, tells a server.
async fn by_member(
    dir: &std::path::Path,
    (world, lan): (Option<SimId>, bool),
    point: TilePoint,
) -> Result<CheckedFind, Failure> {
    let (stop, stopped) = watch::channel(false);
    let member = member::start(dir, MemberPlan::guest(point, lan), stopped).await?;
    let place = &member.place;
    let own = place.sets().world();
    if let Some(world) = world.filter(|world| *world != own) {
        let message = format!("{} is of world {own}, not of {world}", dir.display());
        return Err(Failure::unverified(message));
    }
    let answer = ask(place, point).await?;
    let found = check(place.sets(), answer);
    stop.send_replace(true);
    // Until the loop has said goodbye and written its contacts.
    let _ended = tokio::time::timeout(Duration::from_secs(2), stop.closed()).await;
    found
}

/// Asks a member about a point, until somebody proves who owns it and a server of the owner is found, or
/// until it took too long.
///
/// # Errors
/// When the member does not answer.
pub(super) async fn ask(place: &WorldPlace, point: TilePoint) -> Result<FindAnswer, Failure> {
    let began = Instant::now();
    loop {
        let answer = place.find(point).await;
        let answer = answer.ok_or_else(|| Failure::timed_out("the world does not answer"))?;
        let is_whole = answer.grant.is_none() || !answer.endpoints.is_empty();
        let patience = match (answer.proof.is_empty(), is_whole) {
            (true, _) => PATIENCE,
            (false, false) => SERVER_PATIENCE,
            (false, true) => return Ok(answer),
        };
        if began.elapsed() >= patience {
            return Ok(answer);
        }
        sleep(AGAIN).await;
    }
}

/// Returns a square of the map as it is written on the command line.
pub(super) fn written(x: i32, y: i32, side: u32) -> String {
    let doublings = (0..=metatopia_types::limits::SQUARE_DOUBLINGS_MAX)
        .find(|doublings| (64 << u32::from(*doublings)) == side)
        .unwrap_or_default();
    WrittenSquare(Square { x, y, doublings }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An old map and one door were told in plain text, where the client and `visit` warn in amber.
    #[test]
    fn an_old_proof_and_one_door_are_amber_on_a_terminal_and_nothing_else_is() {
        let found = |old, one_door| FoundLine {
            world: "07".repeat(32),
            known: true,
            x: 9,
            y: 3,
            owned: false,
            sim: None,
            square: None,
            holder: None,
            until: None,
            servers: Vec::new(),
            map: MapEntry { height: 8, time: 1_000 },
            age: 90_000,
            old,
            hops: 1,
            one_door,
            disagreements: 0,
            ms: 5,
            proven: true,
        };
        let words = |old, one_door, color| found(old, one_door).words(&Console::of_person(color));
        let old = "proved by the map of height 8, 25 hours old, so it may have changed";
        let doubts = words(true, true, true);
        let amber: Vec<&str> = doubts.lines().filter(|line| line.contains('\u{1b}')).collect();
        assert_eq!(amber, [old, ONE_DOOR].map(|text| format!("\u{1b}[33m{text}\u{1b}[0m")));
        for plain in [words(false, false, true), words(true, true, false)] {
            assert!(!plain.contains('\u{1b}'), "{plain}");
        }
    }
}
