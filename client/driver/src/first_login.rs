//! Coming into a sim: the act that begins a session, and what a sim asks of a key that is new to it, which
//! is a ticket or some seconds of work.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use metatopia_protocol::{Answer, LoginTerms, Question};
use metatopia_types::{
    Act, BodyShape, HandShape, HatShape, HeadShape, Look, Pass, PublicKey, Puzzle, Sign,
    SigningKey, TicketPass, Wearable, Work,
};
use tokio::task::JoinHandle;

use super::{ClientDriver, DriveError, random};

/// Numbers that are tried before somebody is told how it goes.
const STEP: u64 = 1 << 20;

/// A person is told of work that takes longer than this.
const SILENT: Duration = Duration::from_secs(1);

/// What a panic says of work that was begun and broke.
pub const WORKED: &str = "nobody aborts this work, and only `told` may panic";

/// Why there is no login that the sim would take.
#[derive(Debug, thiserror::Error)]
pub enum FirstLoginError {
    /// The session failed.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// The node was too busy all the time.
    #[error("the node is busy; try again")]
    Busy,
    /// The node answered something else.
    #[error("the node does not say what a login takes")]
    Unsaid,
    /// The sim takes no new keys.
    #[error("this sim lets in nobody new; ask one of its admins")]
    Closed,
    /// The key was given up for another one.
    #[error("your key was rotated to {0}")]
    Rotated(PublicKey),
    /// The sim takes new keys that show a ticket, and there is none.
    #[error("your key is new to this sim, which lets in who has a ticket")]
    NoTicket,
}

impl ClientDriver {
    /// Returns the login with the pass that the sim asks of this session's key, if it asks for any: by
    /// the rotation of a key that the sim knows, by the key of a ticket if there is one, else by some
    /// seconds of a processor. `told` is called once if these get long.
    ///
    /// # Errors
    /// See [`FirstLoginError`].
    ///
    /// # Panics
    /// When `told` does.
    pub async fn with_pass(
        &mut self,
        login: Act,
        ticket: Option<&SigningKey>,
        wait: Duration,
        told: impl FnOnce() + Send + 'static,
    ) -> Result<Act, FirstLoginError> {
        let key = self.author();
        let terms = self.login_terms(key, wait).await?;
        if let Some(rotation) = self.rotation {
            match (terms, self.login_terms(rotation.old, wait).await?) {
                // An open sim does not say whether it knows a key. If it does not, this is any login.
                (LoginTerms::Free, _) | (_, LoginTerms::Free) => {
                    return Ok(showing(login, Pass::Rotation(rotation)));
                }
                _ => {}
            }
        }
        if let (LoginTerms::Work { .. } | LoginTerms::Ticket, Some(ticket)) = (terms, ticket) {
            let pass = TicketPass::new(ticket, self.trust().sim, &key);
            return Ok(showing(login, Pass::Ticket(pass)));
        }
        Ok(match self.begin_work(terms, told)? {
            None => login,
            Some(work) => showing(login, Pass::Work(work.await.expect(WORKED))),
        })
    }

    /// Begins the work that the sim asks of this session's key, and returns it; `None` if the sim asks for nothing.
    /// The session goes on meanwhile.
    ///
    /// # Errors
    /// See [`FirstLoginError`].
    pub async fn first_work(
        &mut self,
        wait: Duration,
    ) -> Result<Option<JoinHandle<Work>>, FirstLoginError> {
        let terms = self.login_terms(self.author(), wait).await?;
        self.begin_work(terms, || {})
    }

    /// Begins the work of these terms.
    fn begin_work(
        &self,
        terms: LoginTerms,
        told: impl FnOnce() + Send + 'static,
    ) -> Result<Option<JoinHandle<Work>>, FirstLoginError> {
        match terms {
            LoginTerms::Free => Ok(None),
            LoginTerms::Rotated { to } => Err(FirstLoginError::Rotated(to)),
            LoginTerms::Closed => Err(FirstLoginError::Closed),
            LoginTerms::Ticket => Err(FirstLoginError::NoTicket),
            LoginTerms::Work { height, header, tries } => {
                let puzzle = Puzzle::new(self.trust().sim, &self.author(), &header, tries);
                let work = move || Work { height, nonce: solve(&puzzle, told) };
                Ok(Some(tokio::task::spawn_blocking(work)))
            }
        }
    }

    /// Returns the login of a key that names itself no other way, and whether it is logged in already: by the name
    /// that the sim knows of this session's key, or of the one before its rotation, and with the look of the avatar
    /// that stands there. A key that the sim does not know is called by its digits.
    ///
    /// # Errors
    /// See [`FirstLoginError`]: whoever is known keeps her name, so a node that is too busy to tell it ends this.
    pub async fn known_login(&mut self, wait: Duration) -> Result<(Act, bool), FirstLoginError> {
        let author = self.author();
        let keys = [Some(author), self.rotation.map(|rotation| rotation.old)];
        let keys: Vec<PublicKey> = keys.into_iter().flatten().collect();
        // A busy node says nothing of looks, which anybody can choose again.
        if let Answer::Players(players) = self.ask(Question::Players, wait).await?
            && let Some(own) = players.into_iter().find(|player| keys.contains(&player.key))
        {
            return Ok((Act::login(own.name, own.look), true));
        }
        for key in keys {
            match self.ask(Question::Person { key }, wait).await? {
                Answer::Person(known) if !known.name.is_empty() => {
                    return Ok((login(Some(&known.name), &author), known.here));
                }
                Answer::Busy => return Err(FirstLoginError::Busy),
                _ => {}
            }
        }
        Ok((login(None, &author), false))
    }

    /// Asks what a login of a key takes.
    async fn login_terms(
        &mut self,
        key: PublicKey,
        wait: Duration,
    ) -> Result<LoginTerms, FirstLoginError> {
        match self.ask(Question::LoginTerms { key }, wait).await? {
            Answer::LoginTerms(terms) => Ok(terms),
            Answer::Busy => Err(FirstLoginError::Busy),
            _ => Err(FirstLoginError::Unsaid),
        }
    }
}

/// Returns a number that solves the puzzle. Many seconds may pass.
fn solve(puzzle: &Puzzle, told: impl FnOnce()) -> u64 {
    let (began, mut told, mut from) = (Instant::now(), Some(told), 0);
    loop {
        if let Some(nonce) = puzzle.solve(from, STEP) {
            return nonce;
        }
        from += STEP;
        if began.elapsed() > SILENT
            && let Some(tell) = told.take()
        {
            tell();
        }
    }
}

/// Returns the login with this pass.
fn showing(login: Act, pass: Pass) -> Act {
    match login {
        Act::Login { name, look, bot, .. } => Act::Login { name, look, bot, pass: Some(pass) },
        other => other,
    }
}

/// Returns a key that nobody will use again.
///
/// # Panics
/// When the operating system has no randomness.
#[must_use]
pub fn passing_key() -> Arc<dyn Sign> {
    Arc::new(SigningKey::from_seed(random()))
}

/// Returns the act that begins a session; a player without a name is called by the key.
#[must_use]
pub fn login(name: Option<&str>, author: &PublicKey) -> Act {
    let name = match name {
        Some(name) => name.to_owned(),
        None => format!("guest {}", &author.to_string()[..12]),
    };
    Act::login(name, guest_look(author))
}

/// Returns a look that follows from a key, so that guests and bots can be told apart. Its colours are never too
/// dark to be seen.
#[must_use]
pub fn guest_look(author: &PublicKey) -> Look {
    let [red, green, blue, shape, head, hands, hat, shade, ..] = author.0;
    let color = u32::from_be_bytes([0, red | 0x40, green | 0x40, blue | 0x40]);
    let other = u32::from_be_bytes([0, shade | 0x40, red | 0x40, green | 0x40]);
    Look {
        head: Some(Wearable { shape: one_of(&HeadShape::ALL, head), color }),
        hands: Some(Wearable { shape: one_of(&HandShape::ALL, hands), color: other }),
        hat: Some(Wearable { shape: one_of(&HatShape::ALL, hat), color: other }),
        ..Look::plain(color, one_of(&BodyShape::ALL, shape))
    }
}

/// Returns the shape that a byte chooses.
fn one_of<S: Copy>(all: &[S; 12], byte: u8) -> S {
    all[usize::from(byte) % all.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_is_named_by_its_key_and_can_be_seen() {
        let Act::Login { name, look, .. } = login(None, &PublicKey([0; 32])) else {
            panic!("not a login")
        };
        assert_eq!(name, "guest 000000000000");
        assert!(metatopia_sim::is_name(&name));
        assert_eq!(look.color, 0x40_4040);
        assert!(guest_look(&PublicKey([0xff; 32])).is_proper());
        assert_ne!(guest_look(&PublicKey([1; 32])).head, guest_look(&PublicKey([2; 32])).head);
    }
}
