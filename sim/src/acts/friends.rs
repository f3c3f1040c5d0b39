//! Friends of a key: decides whom somebody names, what a friend vouches for, and what its owner cancels.

use metatopia_math::Vec2;
use metatopia_types::{NewKeyWord, ObjectId, PublicKey};

use super::{
    changes::StateChange,
    chat::{SpokenLine, WHISPERED},
    context::{ActContext, ActResult},
};
use crate::rules::OpenRecovery;

impl ActContext<'_> {
    /// Decides whom a player names as friends.
    pub(super) fn name_friends(&self, friends: &[PublicKey], need: u8) -> ActResult {
        let player = self.renewed_player()?;
        let newcomer = player.since.regular.is_none();
        let kept = self.state.with_friends(&self.author(), newcomer, friends, need)?;
        let set = StateChange::Friends(self.author(), Box::new(kept));
        Ok(vec![StateChange::Player(self.author(), player), set])
    }

    /// Decides whether a friend vouches for a new key. The owner of the old one hears of it.
    pub(super) fn vouch(&self, old: PublicKey, new: &NewKeyWord) -> ActResult {
        let player = self.renewed_player()?;
        let scheme = &*self.executor.tools.verify;
        let kept = self.state.with_vouch(&self.author(), old, new, scheme)?;
        let line = kept.recovery.as_ref().map(|open| StateChange::Chat(self.warning(old, open)));
        let mut changes = vec![StateChange::Player(self.author(), player)];
        changes.push(StateChange::Friends(old, Box::new(kept)));
        changes.extend(line);
        Ok(changes)
    }

    /// Decides that a recovery of the author's key ends. It takes no session: the signature says it all.
    pub(super) fn cancel_recovery(&self) -> ActResult {
        let kept = self.state.with_cancelled(&self.author())?;
        Ok(vec![StateChange::Friends(self.author(), Box::new(kept))])
    }

    /// Returns the line by which the author hears at a login that friends ask for a recovery.
    pub(super) fn warned_at_login(&self) -> Option<StateChange> {
        let open = self.state.people.friends.recovery(&self.author())?;
        Some(StateChange::Chat(self.warning(self.author(), open)))
    }

    /// Returns the line by which an owner hears of a recovery. Nobody else hears it.
    fn warning(&self, owner: PublicKey, open: &OpenRecovery) -> SpokenLine {
        let left = open.ends.saturating_sub(self.state.governance.time).div_ceil(3_600_000);
        let stop = "`recovery cancel` stops it.";
        let text = match &open.chosen {
            Some(new) => format!("In {left} h the key {new} takes over yours. {stop}"),
            None => {
                let count = open.vouches.len();
                format!("{count} of your friends ask that another key take over yours. {stop}")
            }
        };
        SpokenLine {
            height: self.state.clock.height,
            tick: self.tick(),
            channel: WHISPERED,
            // The sim says it, not a thing in it.
            speaker: ObjectId(0),
            player: None,
            hearer: Some(owner),
            club: None,
            name: "the sim".to_owned(),
            place: Vec2::ZERO,
            text,
        }
    }
}
