//! `receipt` fetches the proof that an act was decided, from any server, and checks it.

use clap::Args;
use metatopia_client_driver::{ClientDriver, ProofError};
use metatopia_types::{Lane, PublicKey, Seq};

use super::{
    arguments,
    console::Console,
    entry::ActEntry,
    failure::Failure,
    say::PROVEN,
    session::{ANSWER, NodeArgs},
};

/// Arguments of `metatopia receipt`.
#[derive(Debug, Args)]
#[command(after_help = "Author, lane and sequence are what `say --json` prints.\n\n\
    A receipt needs no trust in the node: it is checked against the sim's genesis. Outcomes stay\n\
    provable for 64 turns; later they are only what the node says.")]
pub(super) struct ReceiptArgs {
    /// The author's public key.
    author: PublicKey,
    /// The lane of the act, as `say --json` prints it.
    #[arg(value_parser = arguments::lane)]
    lane: Lane,
    /// The act's sequence number in its lane.
    #[arg(value_parser = arguments::seq)]
    seq: Seq,
    #[command(flatten)]
    at: NodeArgs,
}

pub(super) async fn run(args: ReceiptArgs, console: Console) -> Result<(), Failure> {
    let mut driver = args.at.open_to_ask().await?;
    let entry = fetch(&mut driver, &args).await;
    driver.leave().await;
    console.show(&entry?)
}

async fn fetch(driver: &mut ClientDriver, args: &ReceiptArgs) -> Result<ActEntry, Failure> {
    let place = (args.author, args.lane, args.seq);
    let found = driver.prove_receipt(place, ANSWER).await.map_err(|error| match error {
        ProofError::Unknown => {
            let ReceiptArgs { author, lane, seq, .. } = args;
            Failure::not_found(format!("no act {author} {lane} {seq} is remembered there"))
                .hint("it was never decided, or is too old for that node")
        }
        error => error.into(),
    })?;
    let id = found.act.id();
    let proven = match driver.prove_outcome((found.height, found.index), id, PROVEN).await {
        Ok(outcome) => Some(outcome),
        Err(ProofError::Unknown | ProofError::Pruned(_)) => None,
        Err(error) => return Err(error.into()),
    };
    Ok(ActEntry {
        act: id.to_string(),
        author: args.author.to_string(),
        lane: args.lane.0,
        seq: args.seq.0,
        height: found.height.0,
        index: found.index,
        outcome: proven.or(found.outcome).map(|outcome| outcome.to_string()),
        proven: proven.is_some(),
    })
}
