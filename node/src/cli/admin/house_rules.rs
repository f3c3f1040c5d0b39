//! `admin house-rules` changes what people agree to before they enter.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::{ArgGroup, Args};
use metatopia_scenarios::text_of_file;
use metatopia_sim::Introduction;
use metatopia_types::{Blob, GovernOrder};

use super::orders::{self, OrderArgs};
use crate::cli::{console::Console, failure::Failure};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("rules").required(true))]
pub(in crate::cli) struct HouseRulesArgs {
    /// A file with the words, in UTF-8.
    #[arg(value_name = "FILE", group = "rules")]
    file: Option<PathBuf>,
    /// Take the house rules away: nobody agrees to anything.
    #[arg(long, group = "rules")]
    clear: bool,
    #[command(flatten)]
    order: OrderArgs,
}

pub(in crate::cli) async fn run(args: HouseRulesArgs, console: Console) -> Result<(), Failure> {
    let HouseRulesArgs { file, order, .. } = args;
    let blob = file.map(|file| words(&file)).transpose()?;
    let set = GovernOrder::SetHouseRules { text: blob.as_ref().map(Blob::id) };
    orders::carry_out_naming(set, blob, order, console).await
}

/// Reads the words that people agree to.
fn words(file: &Path) -> Result<Blob, Failure> {
    let shown = file.display();
    let text = fs::read(file).map_err(|error| Failure::usage(format!("{shown}: {error}")))?;
    let text = text_of_file(&shown.to_string(), text)
        .map_err(|mistake| Failure::usage(mistake.to_string()))?;
    // Editors end files with a line feed, and some systems lines with two characters.
    let house_rules = text.replace("\r\n", "\n").trim().to_owned();
    if house_rules.is_empty() {
        return Err(Failure::usage(format!("{shown} is empty"))
            .hint("`metatopia admin house-rules --clear` takes the house rules away"));
    }
    let introduction = Introduction { house_rules, ..Introduction::default() };
    introduction.check().map_err(|error| Failure::usage(format!("{shown}: {error}")))?;
    Ok(Blob(introduction.house_rules.into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cli::exit::Exit, scratch::Scratch};

    #[test]
    fn rules_that_are_no_text_are_told_with_line_and_column() {
        let scratch = Scratch::made("house-rules-bytes");
        let file = scratch.file("rules.txt", b"Wipe your feet.\nGr\xfc\xdfe.\n");
        let failure = words(&file).expect_err("Latin 1");
        assert_eq!(failure.exit, Exit::Usage);
        let told = format!("{}:2:3: the file is not UTF-8", file.display());
        assert!(failure.message.starts_with(&told), "{failure}");
    }
}
