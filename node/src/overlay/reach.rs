//! Whether others reach this node: members dial each other back where they hear each other.
//!
//! A member that is asked dials the address from which it hears the one who asks, and no other, so that
//! nobody can use it to knock at a third. What it dials is a plain TCP connection, on which nothing is
//! said.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use metatopia_raynet::{DialBackMessage, DialBackOutcome, OverlayMessage, observed_ip};
use metatopia_transport::overlay::OverlayHandle;
use metatopia_types::PublicKey;
use serde::{Deserialize, Serialize};
use tokio::{
    net::TcpStream,
    sync::{OwnedSemaphorePermit, Semaphore, oneshot},
    time::timeout,
};

/// The members that are asked to dial back.
pub const WITNESSES_MAX: usize = 2;

/// The most ports of one check.
pub const REACH_PORTS_MAX: usize = 4;

/// The most times that a member dials others back in a minute.
pub const DIAL_BACKS_PER_MINUTE_MAX: u32 = 60;

/// The most of these to one address: two checks.
pub const DIAL_BACKS_PER_ADDRESS_MAX: u32 = 2 * REACH_PORTS_MAX as u32;

/// The most connections that are being dialled back.
pub const DIAL_BACKS_UNDER_WAY_MAX: usize = 8;

/// The time that a connection back has.
const CONNECT: Duration = Duration::from_secs(2);

/// The time in which answers are waited for. With a beat of the member it is less than a request by HTTP
/// may take.
const ANSWERS: Duration = Duration::from_secs(3);

/// The time between two checks of one member.
pub const CHECK_AGAIN: Duration = Duration::from_secs(10);

/// The time after which dials are counted anew.
const MINUTE: Duration = Duration::from_secs(60);

/// What one member says about one port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DialBackEntry {
    /// The TCP port.
    pub port: u16,
    /// The member that was asked.
    pub member: String,
    /// The address at which that member is.
    pub from: IpAddr,
    /// `open`, `closed`, `silent`, `busy`, or `none` if no answer came.
    pub outcome: String,
    /// The address that it dialled, which is this node's as it sees it.
    pub observed: Option<IpAddr>,
}

/// What a check found.
pub type ReachFound = Vec<DialBackEntry>;

/// A question that is out.
#[derive(Debug)]
struct OpenQuestion {
    nonce: u64,
    port: u16,
    member: PublicKey,
    from: IpAddr,
    answer: Option<(DialBackOutcome, IpAddr)>,
}

impl From<&OpenQuestion> for DialBackEntry {
    fn from(asked: &OpenQuestion) -> Self {
        let outcome = match asked.answer.map(|(outcome, _)| outcome) {
            Some(DialBackOutcome::Open) => "open",
            Some(DialBackOutcome::Closed) => "closed",
            Some(DialBackOutcome::Silent) => "silent",
            Some(DialBackOutcome::Busy) => "busy",
            None => "none",
        };
        Self {
            port: asked.port,
            member: asked.member.to_string(),
            from: asked.from,
            outcome: outcome.to_owned(),
            observed: asked.answer.map(|(_, observed)| observed),
        }
    }
}

/// The check of this member that is under way, and when the last one began.
#[derive(Debug, Default)]
pub(super) struct ReachCheck {
    open: Vec<OpenQuestion>,
    reply: Option<oneshot::Sender<ReachFound>>,
    began: Option<Instant>,
}

impl ReachCheck {
    /// Asks two members to dial these ports. If the last check was just now, whoever asks is told nothing.
    pub(super) fn begin(
        &mut self,
        handle: &OverlayHandle,
        ports: &[u16],
        reply: oneshot::Sender<ReachFound>,
    ) {
        if self.began.is_some_and(|began| began.elapsed() < CHECK_AGAIN) {
            return;
        }
        self.began = Some(Instant::now());
        self.open.clear();
        for (member, from) in witnesses(&handle.observed()) {
            for port in ports.iter().copied().take(REACH_PORTS_MAX) {
                let nonce = u64::from_le_bytes(metatopia_client_driver::random());
                say(handle, member, DialBackMessage::Ask { nonce, port });
                self.open.push(OpenQuestion { nonce, port, member, from, answer: None });
            }
        }
        self.reply = Some(reply);
        self.finish();
    }

    /// Takes an answer. One that nobody asked for changes nothing.
    fn answered(&mut self, from: PublicKey, nonce: u64, answer: (DialBackOutcome, IpAddr)) {
        let is_it = |asked: &&mut OpenQuestion| asked.nonce == nonce && asked.member == from;
        if let Some(asked) = self.open.iter_mut().find(is_it) {
            asked.answer.get_or_insert(answer);
        }
        self.finish();
    }

    /// Tells what was found, once all have answered or it took too long.
    pub(super) fn finish(&mut self) {
        let is_late = self.began.is_some_and(|began| began.elapsed() >= ANSWERS);
        if is_late || self.open.iter().all(|asked| asked.answer.is_some()) {
            let found = self.open.iter().map(DialBackEntry::from).collect();
            // Whoever asked may be gone.
            let _gone = self.reply.take().map(|reply| reply.send(found));
        }
    }
}

/// Returns the members to ask: those whose address says most, and of two places if there are.
fn witnesses(up: &BTreeMap<PublicKey, IpAddr>) -> Vec<(PublicKey, IpAddr)> {
    let mut all: Vec<(PublicKey, IpAddr)> = up.iter().map(|(key, ip)| (*key, *ip)).collect();
    all.sort_by_key(|(_, ip)| std::cmp::Reverse(ReachScope::of(*ip)));
    let mut chosen: Vec<(PublicKey, IpAddr)> = all.first().copied().into_iter().collect();
    let elsewhere = all.iter().skip(1).find(|(_, ip)| chosen.iter().all(|(_, one)| one != ip));
    chosen.extend(elsewhere.or(all.get(1)).copied());
    debug_assert!(chosen.len() <= WITNESSES_MAX);
    chosen
}

/// From where something is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReachScope {
    /// From this machine.
    Machine,
    /// From the network that this machine is in.
    Network,
    /// From an address that everybody may reach.
    Everywhere,
}

impl ReachScope {
    /// Returns where somebody is who has this address.
    #[must_use]
    pub const fn of(ip: IpAddr) -> Self {
        let is_near = match ip {
            IpAddr::V4(ip) => ip.is_private() || ip.is_link_local(),
            IpAddr::V6(ip) => ip.is_unique_local() || ip.is_unicast_link_local(),
        };
        match (ip.is_loopback(), is_near) {
            (true, _) => Self::Machine,
            (false, true) => Self::Network,
            (false, false) => Self::Everywhere,
        }
    }
}

/// What this member dials for others.
#[derive(Debug)]
pub(super) struct DialBacks {
    since: Instant,
    all: u32,
    /// How often each address was dialled in this minute: at most as many as all.
    addresses: BTreeMap<IpAddr, u32>,
    under_way: Arc<Semaphore>,
}

impl DialBacks {
    pub(super) fn new(now: Instant) -> Self {
        let under_way = Arc::new(Semaphore::new(DIAL_BACKS_UNDER_WAY_MAX));
        Self { since: now, all: 0, addresses: BTreeMap::new(), under_way }
    }

    /// Counts a dial, if it may be made. It is under way as long as the permit is there.
    fn admit(&mut self, now: Instant, target: IpAddr) -> Option<OwnedSemaphorePermit> {
        if now.duration_since(self.since) >= MINUTE {
            (self.since, self.all) = (now, 0);
            self.addresses.clear();
        }
        let to_it = self.addresses.get(&target).copied().unwrap_or_default();
        if self.all >= DIAL_BACKS_PER_MINUTE_MAX || to_it >= DIAL_BACKS_PER_ADDRESS_MAX {
            return None;
        }
        let permit = Arc::clone(&self.under_way).try_acquire_owned().ok()?;
        self.all += 1;
        self.addresses.insert(target, to_it + 1);
        Some(permit)
    }

    /// Dials somebody back who asks for it, at the address from which it is heard.
    fn dial(&mut self, handle: &OverlayHandle, from: PublicKey, (nonce, port): (u64, u16)) {
        // Whoever is gone meanwhile has no address, and gets no answer.
        let Some(target) = handle.observed().get(&from).copied() else { return };
        let Some(permit) = self.admit(Instant::now(), target) else {
            let busy = DialBackMessage::answer(nonce, DialBackOutcome::Busy, target);
            return say(handle, from, busy);
        };
        let handle = handle.clone();
        tokio::spawn(async move {
            let outcome = connect(SocketAddr::new(target, port)).await;
            say(&handle, from, DialBackMessage::answer(nonce, outcome, target));
            drop(permit);
        });
    }
}

/// Hears what somebody says about dialling back.
pub(super) fn hear(
    (dial_backs, check): (&mut DialBacks, &mut ReachCheck),
    handle: &OverlayHandle,
    (from, said): (PublicKey, DialBackMessage),
) {
    match said {
        DialBackMessage::Ask { nonce, port } => dial_backs.dial(handle, from, (nonce, port)),
        DialBackMessage::Answer { nonce, outcome, observed } => {
            check.answered(from, nonce, (outcome, observed_ip(observed)));
        }
    }
}

async fn connect(target: SocketAddr) -> DialBackOutcome {
    match timeout(CONNECT, TcpStream::connect(target)).await {
        Ok(Ok(_)) => DialBackOutcome::Open,
        Ok(Err(_)) => DialBackOutcome::Closed,
        Err(_) => DialBackOutcome::Silent,
    }
}

fn say(handle: &OverlayHandle, to: PublicKey, said: DialBackMessage) {
    // Whoever is gone is not told.
    let _gone = handle.send(to, OverlayMessage::DialBack(said).encode().into());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn one_address_is_dialled_seldom_and_all_together_not_often() {
        let began = Instant::now();
        let mut dials = DialBacks::new(began);
        let to =
            |dials: &mut DialBacks, n: u32, at| dials.admit(at, IpAddr::V4(n.into())).is_some();
        let one = (0..100).filter(|_| to(&mut dials, 7, began)).count();
        assert_eq!(one as u32, DIAL_BACKS_PER_ADDRESS_MAX);
        let others = (100..300).filter(|n| to(&mut dials, *n, began)).count() as u32;
        assert_eq!(others, DIAL_BACKS_PER_MINUTE_MAX - DIAL_BACKS_PER_ADDRESS_MAX);
        assert!(dials.addresses.len() <= DIAL_BACKS_PER_MINUTE_MAX as usize);
        assert!(to(&mut dials, 7, began + MINUTE), "a minute later it begins anew");
    }

    #[test]
    fn few_are_dialled_back_at_once() {
        let now = Instant::now();
        let mut dials = DialBacks::new(now);
        let mut admit = |n: u32| dials.admit(now, IpAddr::V4(n.into()));
        let under_way: Vec<_> = (0..20).filter_map(&mut admit).collect();
        assert_eq!(under_way.len(), DIAL_BACKS_UNDER_WAY_MAX);
        drop(under_way);
        assert!(admit(30).is_some(), "one that is over makes room");
    }

    #[test]
    fn two_members_far_off_are_asked_before_those_that_are_near() {
        let key = |n: u8| PublicKey([n; 32]);
        let up = |all: &[(u8, &str)]| all.iter().map(|(n, at)| (key(*n), ip(at))).collect();
        let asked = |all: &[(u8, &str)]| -> Vec<u8> {
            witnesses(&up(all)).into_iter().map(|(key, _)| key.0[0]).collect()
        };
        assert_eq!(asked(&[(1, "127.0.0.1"), (2, "192.168.1.4"), (3, "198.51.100.4")]), [3, 2]);
        let twice = [(1, "198.51.100.4"), (2, "198.51.100.4"), (3, "203.0.113.4")];
        assert_eq!(asked(&twice), [1, 3], "of two places");
        assert_eq!(asked(&twice[..2]).len(), WITNESSES_MAX);
        assert_eq!(asked(&[(1, "127.0.0.1")]), [1]);
        assert_eq!(asked(&[]), Vec::<u8>::new());
    }

    #[test]
    fn an_answer_of_somebody_else_or_to_nothing_is_passed_over() {
        let (mut check, (reply, mut found)) = (ReachCheck::default(), oneshot::channel());
        let (member, from) = (PublicKey([1; 32]), ip("198.51.100.4"));
        check.open.push(OpenQuestion { nonce: 7, port: 80, member, from, answer: None });
        check.reply = Some(reply);
        let open = (DialBackOutcome::Open, ip("203.0.113.4"));
        check.answered(PublicKey([2; 32]), 7, open);
        check.answered(member, 8, open);
        assert!(found.try_recv().is_err());
        check.answered(member, 7, open);
        let told = found.try_recv().unwrap();
        assert_eq!((told[0].outcome.as_str(), told[0].observed), ("open", Some(open.1)));
    }

    #[tokio::test]
    async fn a_port_that_nobody_listens_on_is_closed() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        assert_eq!(connect(at).await, DialBackOutcome::Open);
        drop(listener);
        assert_eq!(connect(at).await, DialBackOutcome::Closed);
    }
}
