//! A day without a word: no dispatch comes over the border, the clocks go on by a day, and an admin severs it. Then
//! the sims hear of each other again.

use std::time::Duration;

use metatopia_types::{BorderOrder, Height};

use super::{CrossingRun, SIMS};
use crate::cluster::ClusterOrder;
use crate::crossing::beyond;
use crate::crossing::plan::SilentDay;

/// A day and a little more, in milliseconds: from then on an admin may sever.
const DAY_MS: i64 = 86_400_000 + 5_000;

/// An admin tries for so long to sever the border. A sim that stands still does not hear of it.
const TRIES: Duration = Duration::from_secs(8);

/// A silence that goes on.
#[derive(Debug)]
pub(super) struct Silence {
    plan: SilentDay,
    /// The sims that sever, with the epoch that each had before.
    severing: Vec<(usize, u64)>,
    began: Duration,
    /// What each sim had heard of the other last.
    heard: [Option<Height>; 2],
    /// When the clocks showed the next day.
    next_day: Option<Duration>,
    ends: Option<Duration>,
}

impl CrossingRun {
    /// Says whether the sims do not reach each other.
    pub(super) const fn is_apart(&self) -> bool {
        self.silence.is_some()
    }

    /// Begins a day without a word, after which a sim severs.
    pub(super) fn fall_silent(&mut self, sim: usize, plan: SilentDay) {
        if self.is_apart() {
            return;
        }
        if plan.is_dead {
            self.kill_all(beyond(sim));
        }
        let severing = if plan.severs_too { SIMS.to_vec() } else { vec![sim] };
        let severing = severing.into_iter().map(|sim| (sim, self.epoch(sim))).collect();
        let (began, heard) = (self.now, SIMS.map(|sim| self.heard(sim)));
        self.silence = Some(Silence { plan, severing, began, heard, next_day: None, ends: None });
    }

    fn kill_all(&mut self, sim: usize) {
        for seat in 0..self.plan.seats() {
            self.stages[sim].world.plan(self.now, ClusterOrder::Kill(seat));
        }
    }

    /// Returns the epoch of the border of a sim.
    fn epoch(&self, sim: usize) -> u64 {
        let border = self.states[sim].border(&self.ids[beyond(sim)]);
        border.map_or(0, |border| border.crossing.said.epoch)
    }

    /// Returns up to which height a sim has heard of the other.
    fn heard(&self, sim: usize) -> Option<Height> {
        let border = self.states[sim].border(&self.ids[beyond(sim)])?;
        border.crossing.heard.as_ref().map(|heard| heard.said.height)
    }

    /// Lets the day pass once all is quiet, has admins sever, and ends the silence.
    pub(super) fn watch_silence(&mut self) {
        let Some(mut silence) = self.silence.take() else { return };
        let heard = SIMS.map(|sim| self.heard(sim));
        if heard != silence.heard {
            (silence.heard, silence.began) = (heard, self.now);
        }
        match (silence.next_day, silence.ends) {
            (None, _) if self.now >= silence.began + silence.plan.quiet => {
                silence.next_day = Some(self.now);
                self.set_clocks_forward(&silence);
            }
            (Some(_), Some(ends)) if self.now >= ends => {
                SIMS.into_iter().for_each(|sim| self.start_members(sim));
                return;
            }
            (Some(since), None) => {
                let severing = silence.severing.iter();
                let waits = severing.filter(|(sim, before)| self.epoch(*sim) == *before);
                let waits: Vec<usize> = waits.map(|(sim, _)| *sim).collect();
                if waits.is_empty() || self.now > since + TRIES {
                    silence.ends = Some(self.now + silence.plan.rest);
                }
                for sim in waits {
                    let neighbour = self.ids[beyond(sim)];
                    self.order_border(sim, &BorderOrder::Sever { neighbour });
                }
            }
            _ => {}
        }
        self.silence = Some(silence);
    }

    /// Sets the wall clocks of all servers forward by a day, or those of the sims that sever.
    fn set_clocks_forward(&mut self, silence: &Silence) {
        let severs = |sim: usize| silence.severing.iter().any(|(of, _)| *of == sim);
        for sim in SIMS.into_iter().filter(|sim| !silence.plan.is_one_sided || severs(*sim)) {
            for seat in 0..self.plan.seats() {
                let order = ClusterOrder::SetClock(seat, DAY_MS);
                self.stages[sim].world.plan(self.now, order);
            }
        }
    }
}
