//! The command that makes one thing of several.

use metatopia_client::text::printable;
use metatopia_types::Build;

use super::{
    builder::{meant, perform},
    room::TextClient,
};
use crate::TextClientError;

/// Makes one thing of those that were typed, as they stand.
pub(super) async fn unite(room: &mut TextClient, typed: &[String]) -> Result<(), TextClientError> {
    let (mut objects, mut names) = (Vec::new(), Vec::new());
    for word in typed {
        let Some(thing) = meant(room, word).await? else { return Ok(()) };
        objects.push(thing.id);
        names.push(printable(&thing.name));
    }
    let done = format!("{} are one thing now.", names.join(" and "));
    perform(room, Build::Unite { objects }, &done).await
}
