//! What moderators order about people, in words.

use metatopia_client::text::ModerateCommand;
use metatopia_types::Act;

use super::{builder::player, deeds::conclude, room::TextClient};
use crate::TextClientError;

/// Orders something about a person who is in the sim, or who has the key that was typed.
pub(super) async fn obey(
    room: &mut TextClient,
    ModerateCommand { whom, measure }: ModerateCommand,
) -> Result<(), TextClientError> {
    let Some((key, called)) = player(room, &whom).await? else { return Ok(()) };
    let done = measure.told(&called, &key);
    let fate = room.perform(Act::Govern(measure.order(key)), Vec::new()).await?;
    conclude(room, fate, &done)
}
