//! Renews the grant of a sim's square: shows the land office that the sim runs.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use metatopia_client_driver::{
    ClientDriver, DriveError, DriverEvent, End, FirstLoginError, GenesisTrust, LearnError, NodeUrl,
    ProofError, login, passing_key,
};
use metatopia_protocol::{Answer, Question, ValidatorSetLink};
use metatopia_raynet::TilePoint;
use metatopia_types::{
    Act, ActId, Certificate, Header, Height, LandGrant, LandOrder, Link, Outcome, SigningKey,
    SimId, Square, limits::RENEWAL_LINKS_MAX,
};
use tokio::time::{sleep, timeout};

use super::{OverlayMember, answers::EndpointEntry};

/// The time before the first look, and between looks until the map has come.
const FIRST: Duration = Duration::from_secs(3);

/// The time between two looks at whether a renewal is due. Servers of one sim begin apart, so that the
/// first one renews for all.
const LOOK: Duration = Duration::from_secs(180);

/// The time after which a grant is renewed: a third of a day, since no land office grants less than one. The
/// map does not tell the office's governance time, by which a grant ends, so the sim's own turns are counted.
const RENEWED: Duration = Duration::from_secs(8 * 3_600);

/// The time that a server has for one answer.
const ANSWER: Duration = Duration::from_secs(10);

/// The time that the land office has to decide the renewal.
const DECIDED: Duration = Duration::from_secs(40);

/// Says how far the own sim is.
pub type NewestHeight = Arc<dyn Fn() -> Option<Height> + Send + Sync>;

/// Renews the grant of one sim, by a beacon of it.
pub struct GrantRenewal {
    /// The world, so the land office.
    pub world: SimId,
    /// The sim whose grant it is.
    pub sim: SimId,
    /// The square that the sim lies on.
    pub square: Square,
    /// Where this server lets clients in.
    pub own: NodeUrl,
    /// Servers of the land office that are known from the beginning.
    pub office: Vec<NodeUrl>,
    /// The secret of the beacon, and its place among the servers of the sim.
    pub beacon: (SigningKey, u32),
    /// How far the sim is.
    pub newest: NewestHeight,
    /// Turns that it decides in a second.
    pub turns_per_second: u64,
    /// The member that has the map.
    pub member: OverlayMember,
}

impl fmt::Debug for GrantRenewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GrantRenewal of {}", self.sim)
    }
}

/// Says why a grant was not renewed.
#[derive(Debug, thiserror::Error)]
enum RenewalError {
    #[error(transparent)]
    Learn(#[from] LearnError),
    #[error(transparent)]
    Drive(#[from] DriveError),
    #[error(transparent)]
    Login(#[from] FirstLoginError),
    #[error(transparent)]
    Proof(#[from] ProofError),
    #[error("the own server does not show a decided turn yet")]
    NoTurn,
    #[error("the node refused it: {0}")]
    Node(String),
    #[error("the session ended: {0}")]
    Ended(End),
    #[error("the land office did not decide within {} s", DECIDED.as_secs())]
    Late,
    #[error("the land office refused it: {0}")]
    Refused(metatopia_types::Refusal),
}

/// How a grant stands.
#[derive(Debug, PartialEq, Eq)]
enum GrantState {
    /// The map does not show it here, or the own sim has decided nothing yet.
    Unknown,
    /// It was renewed lately.
    Fresh,
    /// It is to be renewed.
    Due(Box<LandGrant>),
}

/// Says whether a grant is to be renewed: the land office has seen nothing of the sim, or what it has seen
/// is eight hours of turns old. Turns may be slower than they should, so the time since the last renewal counts too.
fn is_due(grant: &LandGrant, newest: Height, turns: u64, last: Option<Duration>) -> bool {
    let behind = newest.0.saturating_sub(grant.shown.0);
    grant.shown == Height(0) || behind >= turns || last.is_some_and(|last| last >= RENEWED)
}

/// Returns the links and the header that a renewal shows: the newest header, or, with more changes of
/// validators than one renewal may bring, that of the first change too many.
fn shown(
    links: Vec<ValidatorSetLink>,
    newest: (Header, Certificate),
) -> (Vec<Link>, Header, Certificate) {
    let link = |ValidatorSetLink { header, certificate, next }: ValidatorSetLink| {
        let next = next.members().to_vec();
        Link { header, certificate, next }
    };
    let below = |link: &ValidatorSetLink| link.header.height < newest.0.height;
    let mut links: Vec<Link> = links.into_iter().filter(below).map(link).collect();
    if links.len() <= RENEWAL_LINKS_MAX {
        return (links, newest.0, newest.1);
    }
    let Link { header, certificate, .. } = links.swap_remove(RENEWAL_LINKS_MAX);
    links.truncate(RENEWAL_LINKS_MAX);
    (links, header, certificate)
}

impl GrantRenewal {
    /// Looks from time to time, and renews when it is due. Ends with the member.
    pub async fn run(self) {
        let mut renewed: Option<Instant> = None;
        sleep(FIRST + LOOK.saturating_mul(self.beacon.1) / 4).await;
        while let Some((due, office)) = self.due(renewed.map(|at| at.elapsed())).await {
            let pause = if due == GrantState::Unknown { FIRST } else { LOOK };
            if let GrantState::Due(grant) = due {
                match self.renew(&grant, &office).await {
                    Ok(height) => {
                        renewed = Some(Instant::now());
                        tracing::info!(%height, "the grant of the square is renewed");
                    }
                    Err(error) => {
                        tracing::warn!(%error, "the grant of the square is not renewed");
                    }
                }
            }
            sleep(pause).await;
        }
    }

    /// Returns how the grant stands, and where the land office is. None if the member is gone.
    async fn due(&self, last: Option<Duration>) -> Option<(GrantState, Vec<NodeUrl>)> {
        let view = self.member.map().await?;
        let corner = TilePoint::corner(self.square);
        let about = view.shelves.iter().filter(|shelf| shelf.block.contains(corner));
        let newest = about.max_by_key(|shelf| shelf.height);
        let granted = newest.and_then(|shelf| shelf.grant_at(corner));
        let granted = granted.filter(|grant| grant.sim == self.sim).zip((self.newest)());
        let turns = self.turns_per_second.saturating_mul(RENEWED.as_secs());
        let due = match granted {
            None => GrantState::Unknown,
            Some((grant, height)) if is_due(grant, height, turns, last) => {
                GrantState::Due(Box::new(grant.clone()))
            }
            Some(_) => GrantState::Fresh,
        };
        let known = view.sites.iter().filter(|site| site.record.sim == self.world);
        let told = known.flat_map(|site| &site.record.endpoints);
        let told = told.filter_map(|endpoint| EndpointEntry::from(endpoint).http?.parse().ok());
        Some((due, self.office.iter().cloned().chain(told).collect()))
    }

    /// Shows the newest certified header of the own sim to the land office.
    async fn renew(&self, grant: &LandGrant, office: &[NodeUrl]) -> Result<Height, RenewalError> {
        let (links, header, certificate) = self.newest_header(grant.shown).await?;
        let square = self.square;
        let order = LandOrder::Renew { square, links, header, certificate };
        let trust = GenesisTrust::learn_from(office, Some(self.world)).await?;
        let key = SigningKey::from_seed(*self.beacon.0.secret());
        let mut driver = ClientDriver::open(office.to_vec(), trust, Arc::new(key)).await?;
        let renewed = Self::submit(&mut driver, &order).await;
        driver.leave().await;
        renewed
    }

    /// Returns the newest certified header of the own sim, and the changes of validators since the one that
    /// was shown last.
    async fn newest_header(
        &self,
        last: Height,
    ) -> Result<(Vec<Link>, Header, Certificate), RenewalError> {
        let own = vec![self.own.of(self.sim)];
        let trust = GenesisTrust::learn_from(&own, Some(self.sim)).await?;
        let mut driver = ClientDriver::open(own, trust, passing_key()).await?;
        let asked = async {
            let height = (self.newest)().ok_or(RenewalError::NoTurn)?;
            let Answer::Turn(turn) = driver.ask(Question::Turn { height }, ANSWER).await? else {
                return Err(RenewalError::NoTurn);
            };
            let after = last.minus(1).unwrap_or_default();
            let Answer::Links(links) = driver.ask(Question::Links { after }, ANSWER).await? else {
                return Err(RenewalError::NoTurn);
            };
            let (turn, certificate) = *turn;
            Ok(shown(links, (turn.header, certificate)))
        };
        let asked = asked.await;
        driver.leave().await;
        asked
    }

    async fn submit(driver: &mut ClientDriver, order: &LandOrder) -> Result<Height, RenewalError> {
        let login = login(None, &driver.author());
        let login = driver.with_pass(login, None, ANSWER, || {}).await?;
        let login = driver.submit(login, Vec::new()).await?.act;
        let place = decided(driver, login).await?;
        if let Outcome::Refused(why) = driver.prove_outcome(place, login, ANSWER).await? {
            return Err(RenewalError::Refused(why));
        }
        let blob = order.blob();
        let act = driver.submit(Act::Land { order: blob.id() }, vec![blob]).await?.act;
        let place = decided(driver, act).await?;
        let left = driver.submit(Act::Leave, Vec::new()).await;
        match driver.prove_outcome(place, act, ANSWER).await? {
            Outcome::Refused(why) => Err(RenewalError::Refused(why)),
            _ => left.map(|_| place.0).map_err(RenewalError::from),
        }
    }
}

/// Waits until an act is in a decided turn.
async fn decided(driver: &mut ClientDriver, wanted: ActId) -> Result<(Height, u32), RenewalError> {
    let listen = async {
        loop {
            match driver.news().await {
                DriverEvent::Receipted { act, height, index, .. } if act == wanted => {
                    return Ok((height, index));
                }
                DriverEvent::Refused { act, why } if act == wanted => {
                    return Err(RenewalError::Node(why.to_string()));
                }
                DriverEvent::Ended(end) => return Err(RenewalError::Ended(end)),
                _ => {}
            }
        }
    };
    timeout(DECIDED, listen).await.map_err(|_| RenewalError::Late)?
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Digest, Millis, PublicKey};

    use super::*;

    fn grant(shown: u64) -> LandGrant {
        LandGrant {
            square: Square { x: 0, y: 0, doublings: 0 },
            sim: SimId(Digest::ZERO),
            holder: PublicKey([1; 32]),
            beacons: vec![PublicKey([2; 32])],
            epoch: 1,
            until: Millis(0),
            shown: Height(shown),
        }
    }

    #[test]
    fn a_grant_is_renewed_at_once_and_then_three_times_a_day() {
        let (turns, late) = (1_000, Some(RENEWED));
        // The shortest grant outlives two renewals that fail.
        assert!(3 * RENEWED <= Duration::from_secs(24 * 3_600));
        let hour = Some(Duration::from_secs(3_600));
        assert!(is_due(&grant(0), Height(9), turns, None), "nothing of the sim was seen");
        assert!(!is_due(&grant(5), Height(1_004), turns, None));
        assert!(is_due(&grant(5), Height(1_005), turns, None));
        assert!(!is_due(&grant(5), Height(9), turns, hour));
        assert!(is_due(&grant(5), Height(9), turns, late), "a slow sim");
    }
}
