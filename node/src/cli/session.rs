//! What every command that talks to a node shares: where the node is, which sim, and which key.

use std::{path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
use metatopia_client::Correspondence;
use metatopia_client_driver::{
    AskError, ClientDriver, DriveError, End, FirstLoginError, GenesisTrust, HttpError, LearnError,
    NodeEndpointError, NodeUrl, ProofError, login, passing_key,
};
use metatopia_protocol::{Answer, Goodbye, Question};
use metatopia_transport::carrier::ConnectError;
use metatopia_types::{Act, Refusal, Sign, SigningKey, SimId};

use super::{
    console::Console, exit::Exit, failure::Failure, passphrase::PassphraseArgs,
    ticket::TicketSecret,
};
use crate::keys;

/// The time that a node has to answer one question.
pub(super) const ANSWER: Duration = Duration::from_secs(10);

/// The URL at which `metatopia up` puts its first server.
pub(super) const NODE: &str = "http://127.0.0.1:8080";

/// The arguments that name a node, and the sim that it must serve.
#[derive(Debug, Args)]
pub(super) struct NodeArgs {
    /// The node to talk to. Give several with commas to go on with the next when one is gone.
    #[arg(long, value_name = "URL[,URL..]", default_value = NODE, value_delimiter = ',')]
    pub(super) node: Vec<NodeUrl>,
    /// The sim that the node must serve: 64 hexadecimal digits.
    #[arg(long, value_name = "ID")]
    pub(super) sim: Option<SimId>,
}

/// The arguments that name a node and a player.
#[derive(Debug, Args)]
pub(super) struct PlayerArgs {
    #[command(flatten)]
    pub(super) at: NodeArgs,
    /// Your key file, sealed or not; `metatopia keys new` makes one.
    #[arg(long, value_name = "FILE")]
    pub(super) key: PathBuf,
    /// Your name in the sim [default: the one that the sim knows you by, else the first digits of your key].
    #[arg(long)]
    pub(super) name: Option<String>,
    /// A ticket or its link, for a key that is new to the sim.
    #[arg(long, value_name = "TICKET")]
    pub(super) ticket: Option<TicketSecret>,
    #[command(flatten)]
    pub(super) words: PassphraseArgs,
}

impl NodeArgs {
    /// Finds the first node that answers, and learns the sim's genesis from it.
    pub(super) async fn learn(&self) -> Result<GenesisTrust, LearnError> {
        GenesisTrust::learn_from(&self.node, self.sim).await
    }

    /// Opens a session with a key.
    pub(super) async fn open(&self, key: Arc<dyn Sign>) -> Result<ClientDriver, Failure> {
        let trust = self.learn().await?;
        Ok(ClientDriver::open(self.node.clone(), trust, key).await?)
    }

    /// Opens a session only to ask. Its key is made for it and then forgotten.
    pub(super) async fn open_to_ask(&self) -> Result<ClientDriver, Failure> {
        self.open(passing_key()).await
    }

    /// Asks one question in a new session.
    pub(super) async fn ask(&self, question: Question) -> Result<Answer, Failure> {
        let mut driver = self.open_to_ask().await?;
        let answer = driver.ask(question, ANSWER).await;
        driver.leave().await;
        Ok(answer?)
    }
}

impl PlayerArgs {
    /// Returns the player with this key, as the sim knows her.
    pub(super) fn of(at: NodeArgs, key: PathBuf) -> Self {
        Self { at, key, name: None, ticket: None, words: PassphraseArgs::default() }
    }

    /// Reads the player's key, and asks for its passphrase if it is sealed.
    ///
    /// # Errors
    /// See [`PassphraseArgs::open`].
    pub(super) fn signer(&self) -> Result<SigningKey, Failure> {
        self.words.open(&self.key)
    }

    /// Opens the player's session.
    pub(super) async fn open(&self) -> Result<ClientDriver, Failure> {
        self.open_with(Arc::new(self.signer()?)).await
    }

    /// Opens the player's session by her key, also for private words.
    pub(super) async fn open_to_correspond(
        &self,
        key: Arc<SigningKey>,
    ) -> Result<(ClientDriver, Correspondence), Failure> {
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(|error| {
            Failure::failed(format!("the system has no random numbers: {error}"))
        })?;
        let driver = self.open_with(Arc::clone(&key)).await?;
        let correspondence = Correspondence::new(driver.trust().sim, &key, random);
        Ok((driver, correspondence))
    }

    async fn open_with(&self, key: Arc<SigningKey>) -> Result<ClientDriver, Failure> {
        let rotation = keys::load_rotation(&self.key, key.public())?;
        let mut driver = self.at.open(key).await?;
        driver.show_rotation(rotation);
        Ok(driver)
    }

    /// Returns the act that begins the player's session, with what the sim asks of a key that is
    /// new.
    pub(super) async fn login(
        &self,
        driver: &mut ClientDriver,
        console: Console,
    ) -> Result<Act, Failure> {
        Ok(self.login_over(driver, console).await?.0)
    }

    /// Returns the act that begins the player's session, as [`PlayerArgs::login`] does, and whether the
    /// player was logged in before. Without `--name` a player whom the sim knows keeps her name.
    pub(super) async fn login_over(
        &self,
        driver: &mut ClientDriver,
        console: Console,
    ) -> Result<(Act, bool), Failure> {
        let known = driver.known_login(ANSWER).await;
        let (login, is_here) = match &self.name {
            // Of whom a busy node does not tell, she may be here, and then she stays.
            Some(name) => {
                let is_here = known.as_ref().map_or(true, |(_, is_here)| *is_here);
                (login(Some(name), &driver.author()), is_here)
            }
            None => known?,
        };
        let ticket = self.ticket.as_ref().map(TicketSecret::key);
        let told = move || {
            console.note("Your key is new here; the sim asks it for some seconds of work.");
        };
        Ok((driver.with_pass(login, ticket.as_ref(), ANSWER, told).await?, is_here))
    }
}

/// Returns the failure of a node that was named in another way than by `--node` and `--sim`, without the advice
/// that is about those.
pub(super) fn unlearned(error: LearnError) -> Failure {
    let message = error.to_string();
    Failure { message, ..Failure::from(error) }
}

impl From<NodeEndpointError> for Failure {
    fn from(error: NodeEndpointError) -> Self {
        let exit = match &error {
            NodeEndpointError::Http { error, .. } => http_exit(error),
            NodeEndpointError::Offer { .. } => Exit::Failed,
            NodeEndpointError::OtherSim { .. } | NodeEndpointError::NotHosted { .. } => {
                Exit::Unverified
            }
            NodeEndpointError::Connect { error: ConnectError::WrongCertificate { .. }, .. } => {
                Exit::Unverified
            }
            NodeEndpointError::Connect { .. } => Exit::TimedOut,
        };
        let failure = Self::new(exit, error.to_string());
        match &error {
            NodeEndpointError::Http { error: HttpError::Unreachable(_), .. } => {
                failure.hint("`metatopia up` starts servers here, --node names another place")
            }
            NodeEndpointError::OtherSim { .. } | NodeEndpointError::NotHosted { .. } => {
                failure.hint("leave out --sim, or ask another node")
            }
            _ => failure,
        }
    }
}

/// Returns the failure of a login that the sim refused.
pub(super) fn login_refused(why: Refusal) -> Failure {
    let failure = Failure::refused(format!("the login was refused: {why}"));
    match why {
        Refusal::TooOften => failure
            .hint("try again; a key that was rotated is rotated again a day later at the earliest"),
        _ => failure,
    }
}

/// Returns the code for a failure that came by HTTP.
pub(super) fn http_exit(error: &HttpError) -> Exit {
    match error {
        HttpError::Unreachable(_) | HttpError::TimedOut => Exit::TimedOut,
        HttpError::Status { code: 404, .. } => Exit::NotFound,
        HttpError::Status { code: 503 | 504, .. } => Exit::TimedOut,
        HttpError::Status { .. } | HttpError::Malformed(_) => Exit::Failed,
    }
}

const fn goodbye_exit(why: Goodbye) -> Exit {
    match why {
        Goodbye::Full | Goodbye::Stopping | Goodbye::TooSlow => Exit::TimedOut,
        Goodbye::Version(_) | Goodbye::BadFrame | Goodbye::NoHello => Exit::Failed,
        Goodbye::BadSignature | Goodbye::OtherSession | Goodbye::Banned | Goodbye::Kicked => {
            Exit::Refused
        }
    }
}

impl From<LearnError> for Failure {
    fn from(error: LearnError) -> Self {
        let exit = match &error {
            LearnError::NoNode => Exit::Usage,
            LearnError::Endpoint(_) => match error {
                LearnError::Endpoint(error) => return error.into(),
                _ => Exit::Failed,
            },
            LearnError::NoGenesis | LearnError::TimedOut => Exit::TimedOut,
            LearnError::Ask(error) => ask_exit(error),
            LearnError::Genesis(_)
            | LearnError::OtherGenesis { .. }
            | LearnError::Validators(_) => Exit::Unverified,
        };
        Self::new(exit, error.to_string())
    }
}

/// Returns the code for a session that only asked.
fn ask_exit(error: &AskError) -> Exit {
    match error {
        AskError::Endpoint(_) | AskError::Carrier(_) | AskError::Silent(_) => Exit::TimedOut,
        AskError::Goodbye(why) => goodbye_exit(*why),
        AskError::Version(_) => Exit::Failed,
        AskError::Frame(_) | AskError::OtherSim { .. } | AskError::AskedTwice => Exit::Unverified,
    }
}

impl From<End> for Failure {
    fn from(end: End) -> Self {
        let exit = match end {
            End::Unreachable(error) => return error.into(),
            End::Goodbye(why) => goodbye_exit(why),
            End::Distrusted { .. } | End::BadFrame { .. } => Exit::Unverified,
        };
        Self::new(exit, format!("the session ended: {end}"))
    }
}

impl From<DriveError> for Failure {
    fn from(error: DriveError) -> Self {
        let message = error.to_string();
        match error {
            DriveError::Ended(end) => end.into(),
            DriveError::NotOpen | DriveError::NoAnswer(_) => Self::timed_out(message),
            DriveError::Submit(_) => Self::refused(message),
        }
    }
}

impl From<FirstLoginError> for Failure {
    fn from(error: FirstLoginError) -> Self {
        let message = error.to_string();
        match error {
            FirstLoginError::Drive(error) => error.into(),
            FirstLoginError::Busy => Self::timed_out(message),
            FirstLoginError::Unsaid => Self::failed(message),
            FirstLoginError::Closed => Self::refused(message),
            FirstLoginError::Rotated(_) => Self::refused(message)
                .hint("give the new key by --key; `metatopia keys rotate` made it"),
            FirstLoginError::NoTicket => Self::refused(message)
                .hint("ask one of its admins for one, and give it by --ticket"),
        }
    }
}

impl From<ProofError> for Failure {
    fn from(error: ProofError) -> Self {
        let message = error.to_string();
        match error {
            ProofError::Drive(error) => error.into(),
            ProofError::Distrust(_) | ProofError::Other(_) => Self::unverified(message),
            ProofError::Unknown | ProofError::Pruned(_) => Self::not_found(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever named a neighbour by `--at` was told to leave out `--sim`, which was not there.
    #[test]
    fn a_node_that_no_flag_of_a_session_names_gets_no_advice_about_these_flags() {
        let node: NodeUrl = NODE.parse().expect("a URL");
        let silent = || HttpError::Unreachable("nobody listens there".into());
        let error =
            || LearnError::Endpoint(NodeEndpointError::Http { url: node.clone(), error: silent() });
        assert!(Failure::from(error()).message.contains("--node"));
        let told = unlearned(error());
        assert!(!told.message.contains("--"), "{told}");
        assert_eq!(told.exit, Exit::TimedOut);
    }

    #[test]
    fn failures_of_nodes_have_the_documented_codes() {
        let unreachable = HttpError::Unreachable("nobody listens there".into());
        assert_eq!(http_exit(&unreachable), Exit::TimedOut);
        assert_eq!(http_exit(&HttpError::TimedOut), Exit::TimedOut);
        let status = |code| http_exit(&HttpError::Status { code, said: String::new() });
        assert_eq!(status(404), Exit::NotFound);
        assert_eq!(status(503), Exit::TimedOut);
        assert_eq!(status(400), Exit::Failed);
        assert_eq!(goodbye_exit(Goodbye::OtherSession), Exit::Refused);
        assert_eq!(Failure::from(ProofError::Unknown).exit, Exit::NotFound);
        let pruned = Failure::from(ProofError::Pruned(metatopia_types::Height(600)));
        assert_eq!(pruned.exit, Exit::NotFound);
        assert!(pruned.message.contains("below height 600; ask an archive"), "{}", pruned.message);
        assert_eq!(Failure::from(DriveError::NotOpen).exit, Exit::TimedOut);
    }
}
