//! `world invite` makes invites to a world, and other commands take them in place of the address of a node.

use std::{collections::BTreeSet, fmt, net::IpAddr, str::FromStr};

use clap::Args;
use futures::future::join_all;
use metatopia_client_driver::NodeUrl;
use metatopia_protocol::ADDRESS_BYTES_MAX;
use metatopia_types::{Height, SimId};
use serde::Serialize;
use tokio::time::{Instant, sleep};

use super::{
    find::{AGAIN, SERVER_PATIENCE},
    learned::{LearnedWorld, asked_map},
};
use crate::{
    cli::{console::Console, exit::Exit, failure::Failure, session::NODE},
    overlay::{
        OfficeSets,
        answers::{GrantEntry, MapAnswer, unhex},
        world_invite::{WORLD_INVITE_ADDRESSES_MAX, WorldInvite, WorldInviteError, fits},
    },
};

/// The most nodes that are asked whether an invite may name them.
const INVITERS_ASKED_MAX: usize = 8;

/// Arguments of `metatopia world invite`.
#[derive(Debug, Args)]
pub(in crate::cli) struct WorldInviteArgs {
    /// A node that takes part in the world. It is named first, if others reach its address.
    #[arg(long, value_name = "URL", default_value = NODE)]
    node: NodeUrl,
    /// The world that it must be: 64 hexadecimal digits [default: the one that the node names].
    #[arg(long, value_name = "ID")]
    world: Option<SimId>,
}

/// An invite to a world, as the command prints it.
#[derive(Debug, Serialize)]
struct InviteLine {
    invite: String,
    world: String,
    /// The height of the land office from which on a map counts.
    map_from: u64,
    addresses: Vec<String>,
}

impl fmt::Display for InviteLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.invite)
    }
}

pub(super) async fn run(args: WorldInviteArgs, console: Console) -> Result<(), Failure> {
    let node = &args.node;
    if !fits(node) {
        let message = format!("{node} is too long for an invite");
        return Err(Failure::usage(message)
            .hint(&format!("name an address of at most {ADDRESS_BYTES_MAX} bytes by --node")));
    }
    let learned = learn_with_map(node, args.world).await?;
    let world = learned.sets.world();
    let known = others(node, &learned);
    let asked = join_all(known.iter().map(|url| LearnedWorld::from(url, Some(world)))).await;
    let up = known.iter().zip(asked).filter(|(_, answer)| answer.is_ok());
    let addresses = chosen(node, up.map(|(url, _)| url));
    if addresses.iter().all(is_own_machine) {
        console.warn(
            "this invite is of use on this machine only: no address that others reach is known; \
             name one by --node",
        );
    }
    let invite = WorldInvite { world, map_from: learned.map_from, addresses };
    console.show(&InviteLine {
        invite: invite.to_string(),
        world: world.to_string(),
        map_from: invite.map_from.0,
        addresses: invite.addresses.iter().map(NodeUrl::to_string).collect(),
    })
}

/// Learns a world of a node that proves a map. A node that just started fetches one first.
async fn learn_with_map(node: &NodeUrl, world: Option<SimId>) -> Result<LearnedWorld, Failure> {
    let until = Instant::now() + SERVER_PATIENCE;
    loop {
        let learned = LearnedWorld::from(node, world).await?;
        if learned.map_from > Height(0) {
            return Ok(learned);
        }
        if Instant::now() >= until {
            let message = format!("{node} proves no map, so nobody can be invited by it");
            return Err(Failure::timed_out(message)
                .hint("its land office may be away; ask again, or name another --node"));
        }
        sleep(AGAIN).await;
    }
}

/// Returns other nodes that a node tells of, each once.
fn others(node: &NodeUrl, learned: &LearnedWorld) -> Vec<NodeUrl> {
    let answer = &learned.answer;
    let told = answer.contacts.iter().chain(&answer.office_servers);
    let urls = told.filter_map(|entry| entry.http.as_deref()?.parse::<NodeUrl>().ok());
    let mut seen = BTreeSet::from([node.node()]);
    let new = urls.filter(|url| fits(url) && seen.insert(url.node()));
    new.take(INVITERS_ASKED_MAX).collect()
}

/// Returns the addresses of an invite: the node that was asked first, and none of this machine alone where there
/// is another one.
fn chosen<'a>(node: &'a NodeUrl, others: impl Iterator<Item = &'a NodeUrl>) -> Vec<NodeUrl> {
    let all: Vec<&NodeUrl> = [node].into_iter().chain(others).collect();
    let has_far = all.iter().any(|url| !is_own_machine(url));
    let fine = all.into_iter().filter(|url| !(has_far && is_own_machine(url)));
    fine.take(WORLD_INVITE_ADDRESSES_MAX).cloned().collect()
}

/// Says whether only this machine reaches an address.
fn is_own_machine(url: &NodeUrl) -> bool {
    let host = url.host().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// What somebody joins a world by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WorldEntrance {
    /// The address of a node.
    Node(NodeUrl),
    /// What somebody made by `metatopia world invite`.
    Invite(WorldInvite),
}

impl FromStr for WorldEntrance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(invite) => Ok(Self::Invite(invite)),
            Err(WorldInviteError::NoMark) => {
                let wrong = |error| format!("no invite to a world, and no node: {error}");
                text.trim().parse().map(Self::Node).map_err(wrong)
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Learns a world by an invite: of the first of its nodes that takes part in this very world, and proves a map
/// that counts. Nothing older than the invite's map counts from then on.
///
/// # Errors
/// When the invite is of another world than `world`, or when none of its nodes is such a one.
pub(super) async fn learn(
    invite: &WorldInvite,
    world: Option<SimId>,
) -> Result<(NodeUrl, LearnedWorld), Failure> {
    let ask = async |node: &NodeUrl, learned| Ok((node.clone(), learned));
    ask_each(invite, world, ask, |_| true).await
}

/// Asks the nodes of an invite in turn, each of which has to lead into its world, until the answer of one is whole.
/// If none is, the first answer counts: one node that lies or is away speaks for no other one.
///
/// # Errors
/// When the invite is of another world than `world`, or when none of its nodes has an answer.
pub(super) async fn ask_each<T>(
    invite: &WorldInvite,
    world: Option<SimId>,
    ask: impl AsyncFn(&NodeUrl, LearnedWorld) -> Result<T, Failure>,
    is_whole: impl Fn(&T) -> bool,
) -> Result<T, Failure> {
    if let Some(world) = world.filter(|world| *world != invite.world) {
        let message = format!("the invite is to world {}, not to {world}", invite.world);
        return Err(Failure::unverified(message).hint("leave out --world, or ask for another one"));
    }
    let (mut failures, mut first) = (Vec::new(), None);
    for node in &invite.addresses {
        let asked = match by(node, invite).await {
            Ok(learned) => ask(node, learned).await,
            Err(failure) => Err(failure),
        };
        match asked {
            Ok(answer) if is_whole(&answer) => return Ok(answer),
            Ok(answer) => first = first.or(Some(answer)),
            Err(failure) => failures.push(failure),
        }
    }
    first.ok_or_else(|| no_way_in(invite, &failures))
}

/// Learns the world of an invite of one of its nodes.
async fn by(node: &NodeUrl, invite: &WorldInvite) -> Result<LearnedWorld, Failure> {
    let mut learned = LearnedWorld::from(node, Some(invite.world)).await?;
    if learned.map_from < invite.map_from {
        let newest = newest(&learned.sets, &asked_map(node).await?);
        if newest < invite.map_from {
            return Err(Failure::unverified(format!(
                "{node} proves no map of height {} or newer, its newest one is of height {}",
                invite.map_from.0, newest.0
            )));
        }
        learned.map_from = invite.map_from;
    }
    Ok(learned)
}

/// Returns the failure of an invite, none of whose nodes is of use. A node that lies goes before one that is down.
fn no_way_in(invite: &WorldInvite, failures: &[Failure]) -> Failure {
    let lies = failures.iter().any(|failure| failure.exit == Exit::Unverified);
    let exit = if lies { Exit::Unverified } else { Exit::TimedOut };
    let told: Vec<&str> = failures.iter().map(|failure| failure.message.as_str()).collect();
    let message =
        format!("no node of the invite is of use in world {}: {}", invite.world, told.join("; "));
    Failure::new(exit, message).hint("try again later, or ask for a new invite")
}

/// Returns the height of the newest part of a map that is proved.
fn newest(sets: &OfficeSets, answer: &MapAnswer) -> Height {
    let height = |proof: &String| Some(sets.prove(&unhex(proof)?).ok()?.height);
    answer.proofs.iter().filter_map(height).max().unwrap_or_default()
}

/// Returns a map without the parts that are older than a height, and without the squares that no other part has.
pub(super) fn counted(sets: &OfficeSets, mut answer: MapAnswer, from: Height) -> MapAnswer {
    let prove = |proof: &str| sets.prove(&unhex(proof)?).ok();
    // What proves nothing stays: whoever reads the map refuses it for that.
    answer.proofs.retain(|proof| prove(proof).is_none_or(|land| land.height >= from));
    let shown = answer.proofs.iter().filter_map(|proof| prove(proof));
    let shown: Vec<GrantEntry> =
        shown.flat_map(|land| land.grants).map(|grant| (&grant).into()).collect();
    let is_shown = |told: &GrantEntry| {
        shown.iter().any(|grant| (grant.square, &grant.sim) == (told.square, &told.sim))
    };
    answer.sites.retain(|site| is_shown(&site.grant));
    answer
}

#[cfg(test)]
mod tests;
