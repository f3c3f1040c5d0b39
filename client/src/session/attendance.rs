//! Is the viewer in the world? What certified acts of this session say of it, by their places in the
//! lane: nodes give receipts in any order, and what they say without proof is hardly believed.

use metatopia_types::{ActId, Outcome, Seq};

/// Whether the viewer has an avatar: there is one from a certified login to the next leave. Only the node
/// says that it has left by itself, because nothing was heard of the viewer: a liar would say the same.
#[derive(Debug, Default)]
pub(super) struct Attendance {
    /// The latest login, unless it was refused.
    login: Option<Login>,
    /// The last certified login that was not refused.
    came: Option<Seq>,
    /// The last certified leave.
    left: Option<Seq>,
}

#[derive(Debug)]
struct Login {
    id: ActId,
    /// Its outcome was told.
    is_told: bool,
    /// The one that counts if this one is refused.
    before: Option<Seq>,
}

impl Attendance {
    pub(super) const fn is_present(&self) -> bool {
        match (self.came, self.left) {
            (Some(came), Some(left)) => came.0 > left.0,
            (came, _) => came.is_some(),
        }
    }

    pub(super) fn is_latest_login(&self, act: ActId) -> bool {
        self.login.as_ref().is_some_and(|login| login.id == act)
    }

    /// Notes that a login was submitted.
    pub(super) const fn comes(&mut self, id: ActId) {
        self.login = Some(Login { id, is_told: false, before: self.came });
    }

    /// Notes that a login is certainly in a decided turn.
    pub(super) fn came(&mut self, id: ActId, seq: Seq) {
        if self.is_latest_login(id) {
            self.came = Some(seq);
        }
    }

    /// Notes that a leave is certainly in a decided turn.
    pub(super) fn left(&mut self, seq: Seq) {
        self.left = self.left.max(Some(seq));
    }

    /// Notes what the node says became of an act. Only the first word on a login is believed: whoever logs
    /// in waits to hear it. A login that was refused changes nothing, so an avatar from before is still
    /// there.
    pub(super) fn ruled(&mut self, act: ActId, outcome: Outcome) {
        let Some(login) = self.login.as_mut().filter(|login| login.id == act && !login.is_told)
        else {
            return;
        };
        login.is_told = true;
        if !outcome.is_done() {
            self.came = login.before;
            self.login = None;
        }
    }
}
