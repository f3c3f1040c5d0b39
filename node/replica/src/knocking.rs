//! Which servers a follower asks to be let in, and when.
//!
//! Each server lets a follower in by itself. One that was down when the follower joined, that belongs
//! to the sim only since, or that lost its list, has not; and only a connection shows who has. So whom
//! a follower is not connected with it asks by the invite that it came by, again and again: until they
//! are connected, or until the server refuses in words that hold for ever. Who is let in by a server
//! for a second time is not counted again there.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
    time::Duration,
};

use metatopia_protocol::{Entrance, JoinRefusal, SignedEntrance};
use metatopia_types::{Millis, PublicKey};

/// A server that is missed is asked after the least of these, and then after twice as long each time,
/// up to the most. Whatever it newly says of itself is a sign of life, and the least counts again.
pub const KNOCK_PAUSES: RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_secs(300);

/// Whom to ask to be let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Knock {
    /// A server, where it says itself that it is.
    Server(Box<Entrance>),
    /// Whoever is at an address of the invite.
    Address(String),
}

/// What names one of these.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Server(PublicKey),
    Address(String),
}

/// What is known of one that may be asked.
#[derive(Clone, Debug)]
struct Asked {
    knock: Knock,
    due: Duration,
    pause: Duration,
    /// Who answered there last, and what.
    answer: Option<(PublicKey, Result<(), JoinRefusal>)>,
}

/// The decisions of one follower about that. It is asked now and then; one question is under way at
/// a time.
#[derive(Debug)]
pub struct Knocking {
    asked: BTreeMap<Place, Asked>,
    missed: BTreeSet<PublicKey>,
    under_way: Option<Place>,
}

impl Asked {
    fn new(knock: Knock, now: Duration) -> Self {
        let pause = *KNOCK_PAUSES.start();
        Self { knock, due: now.saturating_add(pause), pause, answer: None }
    }

    /// A refusal that holds for ever, by this invite. A server without room may have some later; and
    /// who may invite is another matter once the sim's admins and servers are others.
    fn refusal(&self) -> Option<(PublicKey, JoinRefusal)> {
        match self.answer {
            Some((server, Err(why))) => match why {
                JoinRefusal::Full | JoinRefusal::Issuer(_) | JoinRefusal::TooLong => None,
                JoinRefusal::Expired
                | JoinRefusal::Used(_)
                | JoinRefusal::Grant
                | JoinRefusal::Invalid
                | JoinRefusal::OtherSim(_) => Some((server, why)),
            },
            _ => None,
        }
    }
}

impl Knocking {
    /// Nobody is missed yet. The addresses are those of the invite: for servers that say nowhere
    /// where they are.
    #[must_use]
    pub fn new(addresses: impl IntoIterator<Item = String>, now: Duration) -> Self {
        let asked = |address: String| {
            (Place::Address(address.clone()), Asked::new(Knock::Address(address), now))
        };
        Self {
            asked: addresses.into_iter().map(asked).collect(),
            missed: BTreeSet::new(),
            under_way: None,
        }
    }

    /// Who is missed now: the servers and standbys of the sim that the follower is not connected
    /// with. `words` are what servers say of themselves, checked.
    pub fn see(&mut self, now: Duration, missed: BTreeSet<PublicKey>, words: &[SignedEntrance]) {
        self.asked.retain(|place, _| match place {
            Place::Server(server) => missed.contains(server),
            Place::Address(_) => true,
        });
        for SignedEntrance { entrance, .. } in words {
            if !missed.contains(&entrance.server) {
                continue;
            }
            let place = Place::Server(entrance.server);
            let heard = |asked: &Asked| match &asked.knock {
                Knock::Server(last) => last.issued,
                Knock::Address(_) => Millis(0),
            };
            let known = self.asked.get(&place);
            if known.is_none_or(|known| heard(known) < entrance.issued) {
                let knock = Knock::Server(Box::new(entrance.clone()));
                let answer = known.and_then(|known| known.answer);
                let soonest = known.map(|known| known.due);
                let mut fresh = Asked { answer, ..Asked::new(knock, now) };
                fresh.due = soonest.map_or(fresh.due, |due| due.min(fresh.due));
                self.asked.insert(place, fresh);
            }
        }
        self.missed = missed;
    }

    /// Is there somebody at this place who may let the follower in?
    fn is_wanted(&self, place: &Place, asked: &Asked) -> bool {
        let unheard = |server: &PublicKey| !self.asked.contains_key(&Place::Server(*server));
        let wanted = match (place, &asked.answer) {
            (Place::Server(_), _) => true,
            (Place::Address(_), None) => self.missed.iter().any(unheard),
            (Place::Address(_), Some((found, _))) => self.missed.contains(found) && unheard(found),
        };
        wanted && asked.refusal().is_none()
    }

    /// Whom to ask now. [`Knocking::answered`] has to follow.
    pub fn poll(&mut self, now: Duration) -> Option<Knock> {
        if self.under_way.is_some() {
            return None;
        }
        let due = self.asked.iter().filter(|(_, asked)| asked.due <= now);
        let wanted = due.filter(|(place, asked)| self.is_wanted(place, asked));
        let (place, asked) = wanted.min_by_key(|(_, asked)| asked.due)?;
        self.under_way = Some(place.clone());
        Some(asked.knock.clone())
    }

    /// What came of it: who answered, and whether it lets the follower in; nothing if nobody did.
    /// Says whether that is news: the same answer of the same server as before is none.
    pub fn answered(
        &mut self,
        now: Duration,
        answer: Option<(PublicKey, Result<(), JoinRefusal>)>,
    ) -> bool {
        let place = self.under_way.take();
        let Some(asked) = place.and_then(|place| self.asked.get_mut(&place)) else {
            return answer.is_some();
        };
        asked.due = now.saturating_add(asked.pause);
        asked.pause = asked.pause.saturating_mul(2).min(*KNOCK_PAUSES.end());
        let news = answer.is_some() && answer != asked.answer;
        asked.answer = answer.or(asked.answer);
        news
    }

    /// The servers that are missed and will not be asked again by this invite, and why.
    pub fn refused(&self) -> BTreeMap<PublicKey, JoinRefusal> {
        let refusals = self.asked.values().filter_map(Asked::refusal);
        refusals.filter(|(server, _)| self.missed.contains(server)).collect()
    }
}
