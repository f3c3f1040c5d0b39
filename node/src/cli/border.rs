//! `border` opens, closes and severs the borders of a sim, and lists them.

mod carry;
pub(super) mod neighbour;

use std::{collections::BTreeMap, fmt, path::PathBuf};

use clap::{ArgAction, Args, Subcommand};
use metatopia_client::text::printable;
use metatopia_client_driver::{ClientDriver, NodeUrl};
use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{Answer, BorderEntry, BorderStanding, Question};
use metatopia_sim::Wall;
use metatopia_types::{
    Act, Blob, BorderOrder, BorderRefusal, GenesisHead, ObjectId, Outcome, Refusal, SimId,
};
use serde::Serialize;

use self::neighbour::Neighbour;
use super::{
    admin::try_order,
    console::Console,
    failure::Failure,
    say::{decide_and_prove, leave_again, log_in_and_do},
    session::{ANSWER, NodeArgs, PlayerArgs, login_refused},
    world::square::WrittenSquare,
};

/// Where the next step is told.
const LIST: &str = "`metatopia border list` shows the borders";

/// Where one sees which sims have a border.
const MAP: &str = "`metatopia world map` shows the sims of a world and their squares";

/// How sims that lie apart are joined.
const PORTAL: &str =
    "--portal EAST NORTH opens a portal there; `metatopia world map` shows which squares touch";

/// How the evidence against a neighbour is taken away that certified two headers of one height.
const TWINS: &str = "`metatopia evidence list DIR --headers FILE` writes both headers into a file, from the data \
                     directory of a server of this sim";

#[derive(Debug, Subcommand)]
pub(super) enum BorderCommand {
    /// Open the border to a neighbour: people walk over it once its admins have opened it, too.
    #[command(after_help = "Examples:\n  \
        metatopia border open SIM --key admin.key                 a sim that the world's map shows\n  \
        metatopia border open INVITE --key admin.key              ..or whose invite you have\n  \
        metatopia border open SIM --at http://192.0.2.7:8080 --data-dir garden --key admin.key\n  \
        metatopia border open SIM --portal 12 -4 --key admin.key  a sim whose square lies elsewhere\n\n\
        Both sims lie in one world. Where their squares touch people walk over the line; otherwise \
        each names a place\nof its own ground for a portal, 4 m or more from its edges. The act \
        names the neighbour's first validators;\nyour servers follow them from there, and believe \
        nobody else. Servers find each other by the world's overlay;\nwith --data-dir, this command \
        also writes the addresses for the servers of that directory, which need no restart.\nExit code \
        4 when the sim refuses it.")]
    Open(OpenBorderArgs),
    /// Close a border: it becomes a wall. What is under way ends as it would have.
    Close(OneBorderArgs),
    /// Bring home what is under way to a neighbour that has been silent for a day.
    #[command(after_help = "Example:\n  \
        metatopia border sever SIM --key admin.key\n\n\
        What departed comes home, and stays listed. When the neighbour is back, it gives up what it had \
        taken of that,\nand then the border opens again. Exit code 4 while the neighbour was heard of \
        within a day of the sim's time.")]
    Sever(OneBorderArgs),
    /// Send a thing back that came over a border, with what is joined to it.
    #[command(after_help = "Example:\n  \
        metatopia border send-home SIM 17 --key admin.key\n\n\
        The thing departs at once with its scripts, over the line or through the portal, wherever it is and whether \
        or not\nits owner lets it travel. If the neighbour does not take it, it comes back to the line, and \
        `admin freeze` holds it.\nExit code 4 when it did not come from that sim, or something holds it.")]
    SendHome(SendHomeArgs),
    /// Carry what two sims say to each other, where their servers do not reach one another.
    #[command(after_help = "Examples:\n  \
        metatopia border carry http://192.0.2.7:8080 http://198.51.100.4:8080            once, both ways\n  \
        metatopia border carry http://192.0.2.7:8080 http://198.51.100.4:8080 --follow   until you stop it\n\n\
        Name a server of each sim; both sims have opened the border. What is carried proves itself, so nobody has to \
        trust\nyou, and no key is needed. A server that hears the neighbour itself takes nothing. Over a border that \
        is carried\npeople and things go as over any other while --follow runs: after 2 s without a word it is a \
        wall.")]
    Carry(carry::CarryArgs),
    /// List the borders, and say of each that is a wall why.
    List(ListBordersArgs),
}

#[derive(Debug, Args)]
pub(super) struct OpenBorderArgs {
    /// The neighbour: 64 hexadecimal digits, or an invite of it, as text, link or file.
    neighbour: String,
    /// A node of the neighbour [default: those of the invite, or of the world's map].
    #[arg(long, value_name = "URL[,URL..]", value_delimiter = ',')]
    at: Vec<NodeUrl>,
    /// Write where the neighbour's nodes are, for the servers of this directory of `metatopia up`, or for
    /// the one server whose data directory it is.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Open a portal at this place, in metres from the middle of the sim, to a sim whose square touches this one
    /// nowhere.
    #[arg(
        long,
        action = ArgAction::Set,
        num_args = 2,
        value_names = ["EAST", "NORTH"],
        allow_negative_numbers = true
    )]
    portal: Option<Vec<Fx>>,
    /// Only say what it would do.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    admin: PlayerArgs,
}

#[derive(Debug, Args)]
pub(super) struct OneBorderArgs {
    /// The neighbour: 64 hexadecimal digits.
    neighbour: SimId,
    /// Only say what it would do.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    admin: PlayerArgs,
}

#[derive(Debug, Args)]
pub(super) struct SendHomeArgs {
    /// The neighbour from which it came: 64 hexadecimal digits.
    neighbour: SimId,
    /// The number of the thing.
    object: u64,
    /// Only say what it would do.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    admin: PlayerArgs,
}

#[derive(Debug, Args)]
pub(super) struct ListBordersArgs {
    #[command(flatten)]
    at: NodeArgs,
}

/// A border that was changed, as the command prints it.
#[derive(Debug, Serialize)]
struct ChangedBorder {
    border: &'static str,
    neighbour: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    height: u64,
}

impl fmt::Display for ChangedBorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { border, neighbour, name, height } = self;
        let name = name.as_deref().map(|name| format!("{}, ", printable(name)));
        let name = name.unwrap_or_default();
        write!(f, "the border to {name}sim {neighbour} is {border} from height {height} on")?;
        if *border == "open" {
            write!(f, "\npeople walk over it once the neighbour's admins have opened it, too")?;
        }
        Ok(())
    }
}

/// A thing that was sent home, as the command prints it.
#[derive(Debug, Serialize)]
struct SentThing {
    object: u64,
    neighbour: String,
    height: u64,
}

impl fmt::Display for SentThing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, neighbour, height } = self;
        write!(f, "thing {object} departs to sim {neighbour} at height {height}")
    }
}

/// A border, as the command prints it.
#[derive(Debug, Serialize)]
struct ListedBorder {
    neighbour: String,
    square: String,
    /// The middle of the portal on this side, and on the other one.
    #[serde(skip_serializing_if = "Option::is_none")]
    portal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    portal_there: Option<String>,
    open: bool,
    /// Why it is a wall.
    wall: Option<String>,
    /// What to do about a border that is closed for good.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'static str>,
    epoch: u64,
    heard: u64,
    silent_ms: Option<u64>,
    under_way: u32,
    nodes: Vec<String>,
}

/// Returns a place as the command line takes it.
fn written(place: Vec2) -> String {
    format!("{} {}", place.x, place.y)
}

impl From<BorderEntry> for ListedBorder {
    fn from(entry: BorderEntry) -> Self {
        let wall = match entry.standing {
            BorderStanding::Open => None,
            BorderStanding::Wall(why) => Some(why),
        };
        Self {
            neighbour: entry.neighbour.to_string(),
            square: WrittenSquare(entry.square).to_string(),
            portal: entry.portal.map(|portal| written(portal.here)),
            portal_there: entry.portal.and_then(|portal| portal.there).map(written),
            open: wall.is_none(),
            next: (wall == Some(Wall::Frozen.to_string())).then_some(TWINS),
            wall,
            epoch: entry.epoch,
            heard: entry.heard.0,
            silent_ms: entry.silent,
            under_way: entry.under_way,
            nodes: entry.nodes,
        }
    }
}

impl fmt::Display for ListedBorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { neighbour, square, portal, wall, under_way, nodes, .. } = self;
        write!(f, "{neighbour}  {square:<12} ")?;
        if let Some(place) = portal {
            write!(f, "portal at {place}, ")?;
        }
        match wall {
            None => write!(f, "open")?,
            Some(why) => write!(f, "wall: {}", printable(why))?,
        }
        if *under_way > 0 {
            write!(f, ", {under_way} under way")?;
        }
        match nodes.first() {
            Some(node) => write!(f, ", at {}", printable(node))?,
            None => write!(f, ", and this node knows no node of it")?,
        }
        self.next.map_or(Ok(()), |next| write!(f, "\n  {next}"))
    }
}

pub(super) async fn run(command: BorderCommand, console: Console) -> Result<(), Failure> {
    match command {
        BorderCommand::Open(args) => open(args, console).await,
        BorderCommand::Close(args) => change(args, "closed", console).await,
        BorderCommand::Sever(args) => change(args, "severed", console).await,
        BorderCommand::SendHome(args) => send_home(args, console).await,
        BorderCommand::Carry(args) => carry::run(args, console).await,
        BorderCommand::List(args) => list(&args, console).await,
    }
}

async fn open(args: OpenBorderArgs, console: Console) -> Result<(), Failure> {
    let node = args.admin.at.node.first().cloned();
    let neighbour = Neighbour::learn(&args.neighbour, args.at, node.as_ref()).await?;
    let places = args.data_dir.as_deref().map(neighbour::places).transpose()?;
    let portal = args.portal.as_deref().map(|place| Vec2::new(place[0], place[1]));
    let (order, doubt) = opening(&args.admin, &neighbour, portal).await;
    if args.dry_run {
        let name = printable(&neighbour.trust.genesis.name);
        let would = format!("open the border to {name}, sim {}", neighbour.sim());
        return try_in(&args.admin, &order, (&would, doubt.as_deref()), console).await;
    }
    let height = order_in(&args.admin, order, doubt.as_deref(), console).await?;
    let changed = ChangedBorder {
        border: "open",
        neighbour: neighbour.sim().to_string(),
        name: Some(neighbour.trust.genesis.name.clone()),
        height,
    };
    let nodes = BTreeMap::from([(neighbour.sim(), neighbour.nodes.clone())]);
    neighbour::note(&places.unwrap_or_default(), &nodes)?;
    console.show(&changed)
}

/// Returns the order by which the sim of an admin opens its border, and what may be wrong with the worlds.
async fn opening(
    admin: &PlayerArgs,
    neighbour: &Neighbour,
    portal: Option<Vec2>,
) -> (BorderOrder, Option<String>) {
    let head = neighbour.trust.genesis.head();
    let (offices, doubt) = match neighbour::offices_to(&head, &admin.at.node).await {
        Ok(offices) => (offices, None),
        // The sim may lie in that world all the same: it decides.
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    (BorderOrder::Open { head: Box::new(head), offices, portal }, doubt)
}

/// Tells what an order would do.
async fn try_in(
    admin: &PlayerArgs,
    order: &BorderOrder,
    (would, doubt): (&str, Option<&str>),
    console: Console,
) -> Result<(), Failure> {
    let blob = order.blob();
    let act = Act::Border { order: blob.id() };
    let told = try_order(admin, (act, Some(blob)), would, console).await?;
    told.map_err(|why| refused(&named(order), why, doubt))
}

/// Returns an order about a border in words, with the neighbour.
fn named(order: &BorderOrder) -> String {
    match order {
        BorderOrder::Open { head, .. } => format!("the opening of the border to sim {}", head.id()),
        BorderOrder::Close { neighbour } => {
            format!("the closing of the border to sim {neighbour}")
        }
        BorderOrder::Sever { neighbour } => format!("the severing of sim {neighbour}"),
        BorderOrder::SendHome { neighbour, object } => {
            format!("the sending of thing {object} home to sim {neighbour}")
        }
    }
}

/// Has an order decided and proved. Returns the height of its turn. `doubt` is what may be wrong with the worlds.
async fn order_in(
    admin: &PlayerArgs,
    order: BorderOrder,
    doubt: Option<&str>,
    console: Console,
) -> Result<u64, Failure> {
    let mut driver = admin.open().await?;
    let done = log_in_and_do(&mut driver, admin, ordered(&order), console).await;
    driver.leave().await;
    match done? {
        (_, Outcome::Refused(why)) => Err(refused(&named(&order), why, doubt)),
        (height, _) => Ok(height.0),
    }
}

/// Returns the failure of an order that the sim refused, with what to do about this very reason.
fn refused(what: &str, why: Refusal, doubt: Option<&str>) -> Failure {
    let failure = Failure::refused(format!("{what} was refused: {why}"));
    let Refusal::BadBorder(why) = why else {
        return match why {
            Refusal::NotAdmin | Refusal::NotPermanent | Refusal::NoRight => failure
                .hint("--key names the key file of an admin of the own sim, not of the neighbour"),
            _ => failure,
        };
    };
    match why {
        BorderRefusal::OtherWorld => failure.hint(doubt.unwrap_or(MAP)),
        BorderRefusal::Apart => failure.hint(PORTAL),
        BorderRefusal::Touching => failure.hint("leave --portal out"),
        BorderRefusal::PortalOutside | BorderRefusal::PortalTaken => {
            failure.hint("choose another place; `metatopia border list` shows the portals")
        }
        BorderRefusal::TooMany | BorderRefusal::NoBorder | BorderRefusal::NotSilent => {
            failure.hint(LIST)
        }
        BorderRefusal::Walled => failure.hint(LIST),
        BorderRefusal::Held => failure
            .hint("`admin thaw` frees what is frozen, and `admin freeze` stops what cannot go"),
        BorderRefusal::JustCame => failure.hint("try again in a moment"),
        BorderRefusal::Severed => {
            failure.hint("wait until it is back; then the border opens again")
        }
        BorderRefusal::JoinedHere => {
            failure.hint("`unjoin` it in the text client, or freeze it where it is")
        }
        BorderRefusal::NoOrder
        | BorderRefusal::BadHead
        | BorderRefusal::Itself
        | BorderRefusal::NoGuest
        | BorderRefusal::InUse
        | BorderRefusal::TooLarge => failure,
        BorderRefusal::Frozen => failure.hint(TWINS),
    }
}

/// Opens borders to the sims of these heads, as far as the sim has none to them.
///
/// # Errors
/// When the sim does not open one of them.
pub(super) async fn open_missing(
    admin: &PlayerArgs,
    heads: Vec<GenesisHead>,
    console: Console,
) -> Result<(), Failure> {
    let mut driver = admin.open().await?;
    let opened = open_by(&mut driver, admin, heads, console).await;
    driver.leave().await;
    opened
}

async fn open_by(
    driver: &mut ClientDriver,
    admin: &PlayerArgs,
    mut heads: Vec<GenesisHead>,
    console: Console,
) -> Result<(), Failure> {
    let Answer::Borders(known) = driver.ask(Question::Borders { of: None }, ANSWER).await? else {
        return Err(Failure::failed("the node does not say which borders the sim has"));
    };
    heads.retain(|head| known.iter().all(|border| border.neighbour != head.id()));
    if heads.is_empty() {
        return Ok(());
    }
    let (login, was_here) = admin.login_over(driver, console).await?;
    if let (_, Outcome::Refused(why)) = decide_and_prove(driver, (login, Vec::new())).await? {
        return Err(login_refused(why));
    }
    let opened = order_openings(driver, heads).await;
    leave_again(driver, was_here).await;
    opened
}

/// Orders the opening of the borders to the sims of these heads, one after the other.
async fn order_openings(driver: &mut ClientDriver, heads: Vec<GenesisHead>) -> Result<(), Failure> {
    for head in heads {
        let neighbour = head.id();
        let of = |Failure { exit, message }| {
            Failure::new(exit, format!("the border to sim {neighbour}: {message}"))
        };
        let order = BorderOrder::Open { head: Box::new(head), offices: Vec::new(), portal: None };
        let decided = decide_and_prove(driver, ordered(&order)).await.map_err(of)?;
        if let (_, Outcome::Refused(why)) = decided {
            return Err(of(Failure::refused(format!("the order was refused: {why}"))));
        }
    }
    Ok(())
}

/// Returns the act of an order, with the blob that it names.
fn ordered(order: &BorderOrder) -> (Act, Vec<Blob>) {
    let blob = order.blob();
    (Act::Border { order: blob.id() }, vec![blob])
}

async fn change(
    args: OneBorderArgs,
    border: &'static str,
    console: Console,
) -> Result<(), Failure> {
    let neighbour = args.neighbour;
    let order = match border {
        "closed" => BorderOrder::Close { neighbour },
        _ => BorderOrder::Sever { neighbour },
    };
    if args.dry_run {
        let would = match border {
            "closed" => format!("make the border to sim {neighbour} a wall"),
            _ => format!("bring home what is under way to sim {neighbour}"),
        };
        return try_in(&args.admin, &order, (&would, None), console).await;
    }
    let height = order_in(&args.admin, order, None, console).await?;
    let neighbour = neighbour.to_string();
    console.show(&ChangedBorder { border, neighbour, name: None, height })
}

async fn send_home(args: SendHomeArgs, console: Console) -> Result<(), Failure> {
    let SendHomeArgs { neighbour, object, dry_run, admin } = args;
    let order = BorderOrder::SendHome { neighbour, object: ObjectId(object) };
    if dry_run {
        let would = format!("send thing {object} home to sim {neighbour}");
        return try_in(&admin, &order, (&would, None), console).await;
    }
    let height = order_in(&admin, order, None, console).await?;
    console.show(&SentThing { object, neighbour: neighbour.to_string(), height })
}

async fn list(args: &ListBordersArgs, console: Console) -> Result<(), Failure> {
    let Answer::Borders(borders) = args.at.ask(Question::Borders { of: None }).await? else {
        return Err(Failure::failed("the node does not say which borders the sim has"));
    };
    if borders.is_empty() {
        console.note("no border is open; `metatopia border open --help` says how one is opened");
    }
    borders.into_iter().try_for_each(|entry| console.show(&ListedBorder::from(entry)))
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Digest, Height, Square};

    use super::*;

    /// Whoever gave a wrong key was sent to the list of borders, and told of worlds that were right.
    #[test]
    fn each_refusal_of_an_order_has_the_advice_that_is_about_it() {
        let doubt = Some("the worlds may be two");
        let close = named(&BorderOrder::Close { neighbour: SimId(Digest([7; 32])) });
        let told = |why| refused(&close, why, doubt).message;
        let key = told(Refusal::NotAdmin);
        assert!(key.contains("--key names") && !key.contains("worlds"), "{key}");
        let other = told(Refusal::BadBorder(BorderRefusal::OtherWorld));
        assert!(other.ends_with("; the worlds may be two"), "{other}");
        let silent = told(Refusal::BadBorder(BorderRefusal::NotSilent));
        assert!(silent.ends_with(LIST), "{silent}");
        let apart = told(Refusal::BadBorder(BorderRefusal::Apart));
        assert!(apart.ends_with(PORTAL), "{apart}");
        let frozen = Refusal::BadBorder(BorderRefusal::Frozen);
        let sim = "07".repeat(32);
        let what = format!("the closing of the border to sim {sim} was refused: {frozen}; {TWINS}");
        assert_eq!(told(frozen), what);
    }

    #[test]
    fn a_border_that_is_closed_for_good_is_listed_with_the_next_step() {
        let listed = |wall: Wall| {
            let entry = BorderEntry {
                neighbour: SimId(Digest([7; 32])),
                standing: BorderStanding::Wall(wall.to_string()),
                square: Square { x: 2, y: 0, doublings: 0 },
                portal: None,
                epoch: 0,
                heard: Height(4),
                silent: None,
                under_way: 0,
                followed: Height(0),
                judged: 0,
                nodes: Vec::new(),
                answer: None,
            };
            ListedBorder::from(entry).to_string()
        };
        assert!(listed(Wall::Frozen).ends_with(TWINS), "{}", listed(Wall::Frozen));
        assert!(!listed(Wall::Silent).contains("evidence"), "{}", listed(Wall::Silent));
    }
}
