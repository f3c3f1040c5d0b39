//! House rules that the person has not agreed to.

use metatopia_client::{held_back, text::printable};
use metatopia_sim::Introduction;

use super::TextClient;

impl TextClient {
    /// Returns the house rules of a sim, if the person has not agreed to them. Whoever was told them by the
    /// command before, and types it again, agrees.
    pub(crate) fn unread_rules(&mut self, introduction: &Introduction) -> Option<String> {
        let digest = held_back(introduction, |rules| self.world.has_agreed(rules))?;
        if self.offered.replace(digest) == Some(digest) {
            self.world.agree(digest);
            return None;
        }
        let lines: Vec<String> = introduction.house_rules.lines().map(printable).collect();
        Some(lines.join("\n"))
    }

    /// Says whether the person agreed to the house rules of a sim, if it has any.
    pub(crate) fn has_agreed(&self, introduction: &Introduction) -> bool {
        held_back(introduction, |rules| self.world.has_agreed(rules)).is_none()
    }

    /// Agrees to the house rules that the person was told last, of the neighbour that is near or of the sim that she
    /// wanted to leave for. Says whether there are some.
    pub(crate) fn agree(&mut self) -> bool {
        let told = self.crossing.held().or_else(|| self.offered.take());
        told.inspect(|rules| self.world.agree(*rules)).is_some()
    }
}
