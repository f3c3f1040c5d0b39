//! `sim` shows sims, and founds a sim that continues one whose servers are gone for good.

mod last_state;
pub(super) mod succeed;
pub(super) mod verify;

use std::{fmt, path::Path, path::PathBuf};

use clap::{ArgGroup, Args, Subcommand};
use metatopia_client::square_of;
use metatopia_client_driver::{ClientDriver, NodeUrl, ProofError};
use metatopia_sim::{Genesis, Parent, rules_name};
use metatopia_types::{Height, SimId, ValidatorSet};
use serde::Serialize;

use super::{
    arguments,
    console::Console,
    failure::Failure,
    genesis_file::read_any_genesis,
    session::{ANSWER, NodeArgs},
    up::world::GENESIS,
    world::square::WrittenSquare,
};

#[derive(Debug, Subcommand)]
pub(super) enum SimCommand {
    /// Found a successor: a new sim with new servers and admins. It begins with the state that
    /// somebody kept of a sim whose servers are gone.
    #[command(after_help = "Examples:\n  \
        metatopia sim succeed plaza/server-2 --name plaza --data-dir plaza-2\n  \
        metatopia sim succeed snapshot-.. --name plaza --data-dir plaza-2\n  \
        metatopia up --data-dir plaza-2                              its servers run\n\n\
        From a data directory, the last state is taken that more than two thirds of the servers \
        signed for, and\nthe new genesis holds the proof. A snapshot file alone proves nothing but \
        itself. The successor has an id\nof its own and names its parent. Objects, scripts, \
        packages, lands, players and the list of what was said\nstay as they were, with their \
        sources and licences. Servers and admins are new: whoever founds the\nsuccessor decides \
        there.\n\nNo other server of the parent may be left, and only people can know that. \
        Otherwise there are two sims\nfrom that turn on. Exit code 4 when a server or follower \
        runs on the directory, or the new one is not\nempty; 5 when the state or its proof does \
        not hold.")]
    Succeed(succeed::SucceedArgs),
    /// Show the facts in a genesis, which sim it continues, and who votes.
    #[command(after_help = "Examples:\n  \
        metatopia sim show plaza/server-0                      who votes as the genesis says\n  \
        metatopia sim show --node http://127.0.0.1:8080        who votes now\n  \
        metatopia sim show --node http://127.0.0.1:8080 --at 1200\n\n\
        With --node the genesis is that of the node, and who votes is proved from it on. The digest \
        of the validators\nis what `metatopia evidence verify --validators` takes. Name the sim by --sim, \
        unless you trust the node to\nserve the one that is meant. Exit code 5 when anything does not \
        hold; 3 when the node has no such turn.")]
    Show(SimShowArgs),
    /// Check that a successor begins with its parent's state, and that its parent's servers signed
    /// for that.
    #[command(after_help = "Examples:\n  \
        metatopia sim verify plaza-2/server-0/genesis --parent plaza/server-0/genesis\n  \
        metatopia sim verify genesis --snapshot snapshot-.. --parent parent.genesis\n\n\
        The whole state is hashed again, and every change of the parent's validators is followed \
        from its genesis\non. Exit code 5 when anything does not hold.")]
    Verify(verify::SimVerifyArgs),
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("source").required(true))]
pub(super) struct SimShowArgs {
    /// A genesis, or a data directory that holds one.
    #[arg(group = "source")]
    path: Option<PathBuf>,
    /// A node of the sim, to ask who votes. Give several with commas to go on with the next when one is gone.
    #[arg(long, value_name = "URL[,URL..]", value_delimiter = ',', group = "source")]
    node: Vec<NodeUrl>,
    /// The sim that the node must serve: 64 hexadecimal digits.
    #[arg(long, value_name = "ID", conflicts_with = "path")]
    sim: Option<SimId>,
    /// Show who voted at this height [default: a height of this moment].
    #[arg(
        long,
        value_name = "HEIGHT",
        value_parser = arguments::height,
        conflicts_with = "path"
    )]
    at: Option<Height>,
}

/// The sim that a successor continues.
#[derive(Debug, Serialize)]
struct ParentLine {
    sim: String,
    height: u64,
    root: String,
    /// Says whether the genesis holds a proof, checked or not.
    proof: bool,
}

impl ParentLine {
    fn of(parent: &Parent) -> Self {
        let Parent { sim, height, root, proof } = parent;
        let (sim, root) = (sim.to_string(), root.to_string());
        Self { sim, height: height.0, root, proof: !proof.is_empty() }
    }
}

impl fmt::Display for ParentLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sim, height, root, .. } = self;
        write!(f, "sim {sim} from after turn {height}, with root {root}")
    }
}

/// The facts in a genesis.
#[derive(Debug, Serialize)]
struct GenesisSummary {
    sim: String,
    name: String,
    engine: u32,
    rules: String,
    licence: String,
    asset_licence: String,
    admins: Vec<String>,
    /// The servers that vote at the height below, by their keys.
    validators: Vec<String>,
    /// The digest of these validators; nothing if the genesis names no set of them.
    validator_set: Option<String>,
    /// The height at which they vote: 1, or that of the turn that proves it.
    validators_at: u64,
    parent: Option<ParentLine>,
    /// The world that it was founded in, or founds; none if it lies in none.
    world: Option<String>,
    square: Option<String>,
}

impl From<&Genesis> for GenesisSummary {
    fn from(genesis: &Genesis) -> Self {
        let sim = genesis.id();
        let founds = genesis.office.as_ref().map(|_| sim);
        let world = founds.or(genesis.site.map(|site| site.world));
        Self {
            sim: sim.to_string(),
            name: genesis.name.clone(),
            engine: genesis.engine,
            rules: rules_name(&genesis.rules),
            licence: genesis.licence.clone(),
            asset_licence: genesis.asset_licence.clone(),
            admins: genesis.admins.iter().map(ToString::to_string).collect(),
            validators: genesis.validators.keys().map(ToString::to_string).collect(),
            validator_set: genesis.first_validators().ok().map(|set| set.id().to_string()),
            validators_at: 1,
            parent: genesis.parent.as_ref().map(ParentLine::of),
            world: world.map(|world| world.to_string()),
            square: square_of(genesis).map(|square| WrittenSquare(square).to_string()),
        }
    }
}

impl GenesisSummary {
    /// Names who voted at a height in place of the first validators.
    fn with_validators(self, at: Height, set: &ValidatorSet) -> Self {
        Self {
            validators: set.members().iter().map(|member| member.key.to_string()).collect(),
            validator_set: Some(set.id().to_string()),
            validators_at: at.0,
            ..self
        }
    }
}

impl fmt::Display for GenesisSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "sim         {}", self.sim)?;
        writeln!(f, "name        {}", self.name)?;
        writeln!(f, "engine      {}", self.engine)?;
        writeln!(f, "rules       {}", self.rules)?;
        writeln!(f, "licence     {}, assets {}", self.licence, self.asset_licence)?;
        if let (Some(world), Some(square)) = (&self.world, &self.square) {
            let word =
                if *world == self.sim { "which it founds" } else { "in which it was founded" };
            writeln!(f, "world       {world}, {word}")?;
            writeln!(f, "square      {square}")?;
        }
        for admin in &self.admins {
            writeln!(f, "admin       {admin}")?;
        }
        if let Some(set) = &self.validator_set {
            writeln!(f, "validators  {set}, at height {}", self.validators_at)?;
        }
        for validator in &self.validators {
            writeln!(f, "validator   {validator}")?;
        }
        match &self.parent {
            Some(parent) => write!(f, "carries on  {parent}"),
            None => write!(f, "carries on  no other sim"),
        }
    }
}

pub(super) fn run(command: SimCommand, console: Console) -> Result<(), Failure> {
    match command {
        SimCommand::Succeed(args) => succeed::run(&args, console),
        SimCommand::Show(args) => show(args, console),
        SimCommand::Verify(args) => verify::run(&args, console),
    }
}

fn show(args: SimShowArgs, console: Console) -> Result<(), Failure> {
    match args.path {
        Some(path) => {
            let genesis: Genesis = read_any_genesis(&genesis_at(&path)?)?;
            console.show(&GenesisSummary::from(&genesis))
        }
        None => {
            let SimShowArgs { node, sim, at, .. } = args;
            super::wait(show_proved(NodeArgs { node, sim }, at, console))
        }
    }
}

/// Shows the genesis of a node's sim, and who votes there: the set that a certified turn names.
async fn show_proved(nodes: NodeArgs, at: Option<Height>, console: Console) -> Result<(), Failure> {
    let mut driver = nodes.open_to_ask().await?;
    let proved = proved_validators(&mut driver, at).await;
    let genesis = GenesisSummary::from(&*driver.trust().genesis);
    driver.leave().await;
    let (height, set) = proved?;
    console.show(&genesis.with_validators(height, &set))
}

/// Proves who voted at a height, or votes at one of this moment.
async fn proved_validators(
    driver: &mut ClientDriver,
    at: Option<Height>,
) -> Result<(Height, ValidatorSet), Failure> {
    let height = match at {
        Some(height) => height,
        None => driver.prove_charter(ANSWER).await?.0.max(Height(1)),
    };
    // The header of a turn names the set, whatever changes of it there were meanwhile.
    let (turn, _) = driver.prove_turn(height, ANSWER).await.map_err(|error| match error {
        ProofError::Unknown => Failure::not_found(format!("the node has no turn {height}")).hint(
            "the first is 1, `metatopia status` shows the last, and archives have what was removed",
        ),
        error => error.into(),
    })?;
    let set = driver.validators(height).filter(|set| set.id() == turn.header.validators);
    let unknown = || Failure::unverified(format!("nothing proves who voted at height {height}"));
    Ok((height, set.ok_or_else(unknown)?))
}

/// Returns the genesis file that a path names: the file itself, or the one in the directory or in
/// its first server's directory.
///
/// # Errors
/// Fails when there is none.
fn genesis_at(path: &Path) -> Result<PathBuf, Failure> {
    if path.exists() && !path.is_dir() {
        return Ok(path.to_owned());
    }
    let inside = [path.join(GENESIS), path.join("server-0").join(GENESIS)];
    inside.into_iter().find(|file| file.exists()).ok_or_else(|| {
        let name = path.display();
        let message = match path.is_dir() {
            true => format!("{name} holds no genesis"),
            false => format!("there is no {name}"),
        };
        Failure::not_found(message).hint("name a genesis, or a data directory that holds one")
    })
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Digest, Site, Square};

    use super::*;
    use crate::cli::exit::Exit;

    fn shown(path: &Path) -> SimShowArgs {
        SimShowArgs { path: Some(path.to_owned()), node: Vec::new(), sim: None, at: None }
    }

    /// `evidence verify` asked for a digest that no command printed.
    #[test]
    fn the_facts_of_a_sim_name_the_digest_of_who_votes() {
        let genesis = metatopia_audit::fixture::genesis();
        let first = genesis.first_validators().expect("four servers");
        let summary = GenesisSummary::from(&genesis);
        let line = format!("validators  {}, at height 1\n", first.id());
        assert!(summary.to_string().contains(&line), "{summary}");

        let member = first.members()[0];
        let one = ValidatorSet::new(vec![member], |_| true).expect("one server");
        let later = summary.with_validators(Height(70), &one);
        let told = later.to_string();
        assert!(told.contains(&format!("validators  {}, at height 70\n", one.id())), "{told}");
        assert_eq!(told.matches("\nvalidator   ").count(), 1, "{told}");
        let json = serde_json::to_value(&later).expect("JSON");
        assert_eq!(json["validator_set"], one.id().to_string());
        assert_eq!(json["validators_at"], 70);
        let taken: metatopia_types::ValidatorsId = one.id().to_string().parse().expect("a digest");
        assert_eq!(taken, one.id(), "`--validators` takes what is printed");
    }

    /// Whoever looked at a genesis did not see that its sim lies in a world.
    #[test]
    fn the_facts_of_a_sim_in_a_world_name_the_world_and_the_square() {
        let alone = Genesis::empty();
        let square = Square { x: 8, y: 0, doublings: 2 };
        let site = Site { world: SimId(Digest([7; 32])), square };
        let told = |genesis: &Genesis| GenesisSummary::from(genesis).to_string();
        assert!(!told(&alone).contains("square"));
        let told = told(&Genesis { site: Some(site), ..alone });
        let world = SimId(Digest([7; 32]));
        let line = format!("world       {world}, in which it was founded\nsquare      8:0:256\n");
        assert!(told.contains(&line), "{told}");
    }

    /// The advice once was to name the genesis by `--genesis`, which is no option of these
    /// commands.
    #[test]
    fn a_genesis_that_is_not_there_is_told_with_what_can_be_named() {
        let told = |path: &Path| {
            let failure = show(shown(path), Console::quiet()).unwrap_err();
            assert_eq!(failure.exit, Exit::NotFound);
            failure.message
        };
        let advice = "name a genesis, or a data directory that holds one";
        let empty = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let absent = empty.join("no-such-file");
        assert_eq!(told(&absent), format!("there is no {}; {advice}", absent.display()));
        assert_eq!(told(&empty), format!("{} holds no genesis; {advice}", empty.display()));
    }
}
