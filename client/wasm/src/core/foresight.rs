//! Where the own avatar will be: after each view, and when somebody steers, by the servers' own physics.

use std::time::Duration;

use metatopia_math::Vec2;
use metatopia_types::{Seq, limits::TICKS_PER_SECOND};
use serde_json::json;

use super::{
    ClientCore,
    units::{from_angle, from_fx, to_ms},
};
use crate::{HeadingChange, PredictedStep, PredictedWalk, TICKS_MAX, predict::AvatarStand};

const TICK: Duration = Duration::from_nanos(1_000_000_000 / TICKS_PER_SECOND);

/// Beyond this moment, so that a late view finds the path still going on.
const SPARE: Duration = Duration::from_millis(150);

/// The time from the sending of a heading to the view that shows it, before anything was measured.
const LATENCY_FIRST: Duration = Duration::from_millis(120);

/// Headings that are remembered until a view shows them: more are not said in a second.
const SAID_MAX: usize = 32;

/// A heading that was sent.
#[derive(Clone, Copy, Debug)]
struct SaidHeading {
    seq: Seq,
    sent: Duration,
    heading: Vec2,
    /// The height of the turn that took it, once that is known.
    height: Option<u64>,
}

/// What is known of the own avatar's next moments.
#[derive(Debug)]
pub(super) struct Foresight {
    said: Vec<SaidHeading>,
    /// Headings that were taken, and wait for the view that shows them: when they were sent, and in
    /// which turn they were taken.
    taken: Vec<(Duration, u64)>,
    /// The last announcement to come over a border into this sim, and when it was sent: no heading counts here
    /// before the arrival, and what is drawn then must be as far ahead of the views as in the sim before.
    announced: Option<(Seq, Duration)>,
    /// An announcement was taken, and nothing was measured here before.
    is_first: Option<bool>,
    /// What somebody wants from a moment on, said or not.
    wanted: Option<(Vec2, Duration)>,
    /// The moment that the last view shows, on the page's clock.
    began: Duration,
    latency: Duration,
    /// The avatar of the last view.
    me: Option<metatopia_types::ObjectId>,
    /// What the avatar could meet in the last view that showed it, and the height of that view.
    stand: Option<(AvatarStand, u64)>,
    /// The avatar goes over a border: a heading that this sim refuses holds in the other one.
    is_crossing: bool,
    /// The page has a path.
    told: bool,
}

impl Default for Foresight {
    fn default() -> Self {
        Self {
            said: Vec::new(),
            taken: Vec::new(),
            announced: None,
            is_first: None,
            wanted: None,
            began: Duration::ZERO,
            latency: LATENCY_FIRST,
            me: None,
            stand: None,
            is_crossing: false,
            told: false,
        }
    }
}

impl Foresight {
    fn reset(&mut self) {
        self.said.clear();
        self.wanted = None;
    }

    /// Discards headings that were sent before this avatar arrived.
    pub(super) fn begin_anew(&mut self) {
        self.reset();
        self.taken.clear();
    }

    /// Notes a heading that was sent.
    pub(super) fn note(&mut self, seq: Seq, heading: Vec2, sent: Duration) {
        if self.said.len() >= SAID_MAX {
            self.said.remove(0);
        }
        self.said.push(SaidHeading { seq, sent, heading, height: None });
    }

    /// Notes whether a heading was taken: in the turn of this height, or never.
    pub(super) fn settled(&mut self, seq: Seq, height: Option<u64>) {
        let Some(at) = self.said.iter().position(|said| said.seq == seq) else {
            return;
        };
        match height {
            Some(height) => {
                self.said[at].height = Some(height);
                self.taken.push((self.said[at].sent, height));
            }
            None => {
                let lost = self.said.remove(at);
                let is_lost = |wanted: Vec2| wanted == lost.heading && !self.is_crossing;
                self.wanted = self.wanted.filter(|(wanted, _)| !is_lost(*wanted));
            }
        }
    }

    /// Notes an announcement that was sent.
    pub(super) fn announce(&mut self, seq: Seq, sent: Duration) {
        self.announced = Some((seq, sent));
    }

    /// Notes that an announcement was taken in the turn of this height.
    pub(super) fn admitted(&mut self, seq: Seq, height: u64) {
        if let Some((_, sent)) = self.announced.take_if(|(announced, _)| *announced == seq) {
            self.taken.push((sent, height));
            self.is_first.get_or_insert(true);
        }
    }

    /// Measures how long it took from sending until a view of this height came.
    fn measure(&mut self, height: u64, now: Duration) {
        for (sent, taken) in std::mem::take(&mut self.taken) {
            if taken > height {
                self.taken.push((sent, taken));
                continue;
            }
            let took = now.saturating_sub(sent).min(Duration::from_secs(1));
            // Announcements are rare. The first one counts for more than what is supposed before.
            let is_first = self.is_first.replace(false) == Some(true);
            self.latency = if is_first { took } else { (self.latency * 4 + took) / 5 };
        }
        let applied = |said: &SaidHeading| said.height.is_some_and(|taken| taken <= height);
        if let Some(last) = self.said.iter().rposition(applied) {
            self.said.drain(..last);
        }
    }

    /// Returns how the avatar walks after the view of this height.
    fn walk(&self, height: u64, now: Duration) -> PredictedWalk {
        let applied = |said: &&SaidHeading| said.height.is_some_and(|taken| taken <= height);
        let bits = |heading: Vec2| [heading.x.to_bits(), heading.y.to_bits()];
        let first = self.said.iter().find(applied);
        let heading = first.map_or([0, 0], |said| bits(said.heading));
        let waiting = self.said.iter().filter(|said| !applied(said));
        let mut changes: Vec<HeadingChange> = waiting
            .map(|said| HeadingChange {
                after: self.ticks_to(said.sent).min(TICKS_MAX),
                heading: bits(said.heading),
            })
            .collect();
        let last = changes.last().map_or(heading, |change| change.heading);
        if let Some((wanted, at)) = self.wanted.filter(|(wanted, _)| bits(*wanted) != last) {
            let least = changes.last().map_or(0, |change| change.after);
            let after = self.ticks_to(at).min(TICKS_MAX).max(least);
            changes.push(HeadingChange { after, heading: bits(wanted) });
        }
        let ticks = self.ticks_to(now.saturating_add(SPARE)).clamp(1, TICKS_MAX);
        PredictedWalk { heading, changes, ticks }
    }

    /// Ticks from the moment of the last view, the last one begun.
    fn ticks_to(&self, at: Duration) -> u32 {
        let ticks = at.saturating_sub(self.began).as_nanos().div_ceil(TICK.as_nanos());
        u32::try_from(ticks).unwrap_or(u32::MAX)
    }
}

impl ClientCore {
    /// Notes that somebody wants to walk this way from now on.
    pub(super) fn steer(&mut self, heading: Vec2) {
        self.foresight.wanted = Some((heading, self.now));
        if self.foresight.told {
            self.tell_path();
        }
    }

    /// Handles a view.
    pub(super) fn foresee_view(&mut self) {
        let (height, me) = (self.session.sight().height().0, self.session.sight().me());
        let is_departed = self.picture.is_own_departed();
        self.foresight.is_crossing = is_departed || self.passage.is_expected;
        if is_departed {
            // It walks on from where it was seen last, until it is seen in the other sim.
            return self.tell_path();
        }
        // Another tab's steps are drawn as everybody's.
        let own = me.filter(|_| self.deeds.here() || self.passage.is_expected);
        if (own.is_none() || self.foresight.me != own) && !self.passage.is_expected {
            self.foresight.reset();
        }
        self.foresight.me = own;
        self.foresight.measure(height, self.now);
        self.foresight.stand = None;
        if own.is_none() {
            if std::mem::take(&mut self.foresight.told) {
                self.tell(&json!({ "type": "path", "points": null }));
            }
            return;
        }
        let turn = TICK.saturating_mul(self.genesis.parameters.ticks_per_turn);
        let ahead = self.foresight.latency.saturating_sub(turn);
        self.foresight.began = self.now.saturating_sub(ahead);
        let ground = self.foreseen_ground();
        let stand = AvatarStand::of(self.session.sight(), &self.genesis.parameters, ground);
        self.foresight.stand = stand.map(|stand| (stand, height));
        self.tell_path();
    }

    fn tell_path(&mut self) {
        // Of an avatar that is not in sight, or of headings that nobody can walk, nothing is foreseen.
        let Some((stand, height)) = &self.foresight.stand else { return };
        let walk = self.foresight.walk(*height, self.now);
        let Ok(path) = stand.foresee(&self.genesis.parameters, &walk) else { return };
        let points: Vec<[f64; 5]> = path.path.iter().map(point).collect();
        self.foresight.told = true;
        let (at, latency) = (to_ms(self.foresight.began), to_ms(self.foresight.latency));
        self.tell(&json!({ "type": "path", "at": at, "points": points, "latency": latency }));
    }
}

/// Returns where the avatar is after a tick, as the page draws it.
fn point(step: &PredictedStep) -> [f64; 5] {
    let fx = |raw: i32| metatopia_math::Fx::from_bits(i64::from(raw) << 12);
    let metres = |raw: i32| from_fx(fx(raw));
    let facing = Vec2::new(fx(step.facing[0]), fx(step.facing[1]));
    let [[x, y], [vx, vy]] = [step.position.map(metres), step.velocity.map(metres)];
    [x, y, vx, vy, from_angle(facing.angle())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_of_an_announcement_is_measured_where_an_arrival_was_drawn_by_a_guess() {
        let ms = Duration::from_millis;
        let mut foresight = Foresight::default();
        assert_eq!(foresight.latency, LATENCY_FIRST);
        foresight.announce(Seq(4), ms(1_000));
        foresight.admitted(Seq(3), 9);
        foresight.measure(9, ms(1_100));
        assert_eq!(foresight.latency, LATENCY_FIRST, "it was another act");
        foresight.admitted(Seq(4), 10);
        foresight.measure(9, ms(1_190));
        assert_eq!(foresight.latency, LATENCY_FIRST, "no view shows that turn yet");
        foresight.measure(10, ms(1_200));
        assert_eq!(foresight.latency, ms(200));
        // From then on it changes softly.
        foresight.announce(Seq(5), ms(5_000));
        foresight.admitted(Seq(5), 90);
        foresight.measure(90, ms(5_100));
        assert_eq!(foresight.latency, ms(180));
        // Where steering was measured before, an announcement is one of many.
        let mut foresight = Foresight::default();
        foresight.note(Seq(1), Vec2::ZERO, ms(0));
        foresight.settled(Seq(1), Some(3));
        foresight.measure(3, ms(120));
        foresight.announce(Seq(2), ms(1_000));
        foresight.admitted(Seq(2), 20);
        foresight.measure(20, ms(1_220));
        assert_eq!(foresight.latency, ms(140));
    }
}
