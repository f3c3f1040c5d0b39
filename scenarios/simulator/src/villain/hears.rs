//! Turns of a liar that tell the sim of its neighbours what they never said.

use std::sync::Arc;

use metatopia_types::{Act, Blob, Lane, SimId, Turn, TurnBody};

use super::forgery::{FORGERIES, forged};
use crate::setting::ClusterSetting;

/// The lane of the liar's own words about neighbours, which its server uses for nothing else.
const LANE: Lane = Lane(0x11A2);

/// Heights for which such a word is valid.
const VALID_FOR: u64 = 16;

/// Replaces what a turn tells of a neighbour by what the liar in a seat makes of it, or by what was told before. Says
/// whether there was anything to make something of.
pub(super) fn put_forged<T>(
    setting: &ClusterSetting<T>,
    seat: usize,
    turn: &mut Turn,
    recent: &[Arc<Turn>],
    number: u64,
) -> bool {
    let all = || recent.iter().map(|turn| &**turn);
    let is_old = number % (FORGERIES + 1) == FORGERIES;
    let key = &*setting.keys[seat];
    let told = if is_old {
        all().find_map(told)
    } else {
        let newest = told(turn).or_else(|| all().rev().find_map(told));
        newest.and_then(|(neighbour, blob)| Some((neighbour, Blob(forged(&blob.0, key, number)?))))
    };
    let Some((neighbour, blob)) = told else { return false };
    let is_heard = |act: &Act| matches!(act, Act::Hear { .. });
    let heard: Vec<_> = turn.body.acts().iter().filter(|act| is_heard(&act.envelope.act)).collect();
    let is_theirs = |blob: &Blob| {
        let id = blob.id();
        heard
            .iter()
            .any(|act| matches!(act.envelope.act, Act::Hear { dispatch, .. } if dispatch == id))
    };
    let mut blobs: Vec<Blob> =
        turn.body.blobs().iter().filter(|blob| !is_theirs(blob)).cloned().collect();
    let others = turn.body.acts().iter().filter(|act| !is_heard(&act.envelope.act));
    let mut acts: Vec<_> = others.cloned().collect();
    let hear = Act::Hear { neighbour, dispatch: blob.id() };
    let last_valid = turn.header.height.plus(VALID_FOR);
    acts.push(setting.envelope(key, LANE, number + 1, last_valid, hear));
    blobs.push(blob);
    let Ok(body) = TurnBody::new(acts, blobs) else { return false };
    turn.body = body;
    (turn.header.acts, turn.header.act_count) = turn.body.acts_root();
    (turn.header.blobs, turn.header.blob_count) = turn.body.blobs_root();
    true
}

/// Returns what a turn tells of a neighbour.
fn told(turn: &Turn) -> Option<(SimId, Blob)> {
    turn.body.acts().iter().find_map(|act| {
        let Act::Hear { neighbour, dispatch } = act.envelope.act else { return None };
        let blob = turn.body.blobs().iter().find(|blob| blob.id() == dispatch)?;
        Some((neighbour, blob.clone()))
    })
}
