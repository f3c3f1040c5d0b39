//! House rules that the person has not agreed to.

use metatopia_client::text::printable;
use metatopia_sim::Introduction;
use metatopia_types::Digest;

use super::TextClient;

impl TextClient {
    /// Returns the house rules of a sim, if the person has not agreed to them. Whoever was told them by the
    /// command before, and types it again, agrees.
    pub(crate) fn unread_rules(&mut self, introduction: &Introduction) -> Option<String> {
        let digest = introduction.house_rules_digest()?;
        if self.world.has_agreed(digest) {
            return None;
        }
        if self.offered.replace(digest) == Some(digest) {
            self.world.agree(digest);
            return None;
        }
        let lines: Vec<String> = introduction.house_rules.lines().map(printable).collect();
        Some(lines.join("\n"))
    }

    /// Says whether the person agreed to house rules of this digest.
    pub(crate) fn has_agreed(&self, rules: Digest) -> bool {
        self.world.has_agreed(rules)
    }
}
