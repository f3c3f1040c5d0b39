//! People who walk over the border and back, by a session in each sim, and carry a ball now and then.

use std::time::Duration;

use metatopia_math::{Fx, Vec2};
use metatopia_sim::World;
use metatopia_types::{Act, Build, ObjectId, PublicKey, SimId};

use super::ground::{self, LINE, REACH};
use super::{SIMS, beyond};
use crate::chance::Dice;
use crate::replica::ReplicaStage;

/// A heading is signed anew after this time, so that a lease goes on.
const STEER: Duration = Duration::from_secs(1);

/// The time between two announcements in the other sim, as the page has it.
const APPROACH: Duration = Duration::from_secs(2);

/// Somebody who walks to and fro.
#[derive(Debug)]
pub(super) struct BorderWalker {
    pub(super) key: PublicKey,
    /// Which player it is.
    pub(super) number: u64,
    /// The number of the person in each stage.
    pub(super) persons: [usize; 2],
    /// The sim to which she goes.
    goal: usize,
    /// How deep into a sim she goes before she turns round, in metres.
    depth: Fx,
    /// Her last heading, in which sim, and when it was signed.
    steered: Option<(usize, Vec2, Duration)>,
    approached: Duration,
}

/// A walker's view of the world.
#[derive(Debug, Clone, Copy)]
struct WalkerView {
    sim: usize,
    avatar: ObjectId,
    position: Vec2,
}

impl BorderWalker {
    /// Returns somebody who is this player, and these persons of both stages, and goes to a sim.
    pub(super) fn new(key: PublicKey, number: u64, persons: [usize; 2], goal: usize) -> Self {
        let (depth, approached) = (Fx::from_int(6), Duration::ZERO);
        Self { key, number, persons, goal, depth, steered: None, approached }
    }

    /// Says whether she is about to walk over the line out of a sim.
    pub(super) fn is_leaving(&self, sim: usize, state: &World) -> bool {
        let seen = state.avatar(&self.key).and_then(|avatar| state.object(avatar));
        seen.is_some_and(|seen| {
            let far = ground::reached(sim, seen.position);
            let is_near = far > Fx::from_int(LINE - 2) && far <= Fx::from_int(LINE);
            is_near && ground::reached(sim, seen.velocity) > Fx::from_int(4)
        })
    }

    fn view(&self, states: &[World; 2]) -> Option<WalkerView> {
        SIMS.into_iter().find_map(|sim| {
            let avatar = states[sim].avatar(&self.key)?;
            let position = states[sim].object(avatar)?.position;
            Some(WalkerView { sim, avatar, position })
        })
    }

    /// Goes on, wherever she is. Whoever is under way waits.
    pub(super) fn go_on(
        &mut self,
        now: Duration,
        stages: &mut [ReplicaStage; 2],
        (states, ids): (&[World; 2], &[SimId; 2]),
        dice: &mut Dice,
    ) {
        let Some(view) = self.view(states) else { return };
        let depth = Fx::from_int(LINE).saturating_sub(ground::reached(view.sim, view.position));
        if self.goal == view.sim && depth >= self.depth {
            self.goal = beyond(view.sim);
            self.depth = Fx::from_int(4 + i32::try_from(dice.below(12)).unwrap_or(0));
        }
        let outward = ground::outward(view.sim);
        let heading =
            if self.goal == view.sim { Vec2::ZERO.saturating_sub(outward) } else { outward };
        self.steer(now, stages, view.sim, heading);
        if self.goal != view.sim && now >= self.approached + APPROACH {
            self.approached = now;
            let from = ids[view.sim];
            self.act(stages, beyond(view.sim), Act::Approach { from, work: None });
        }
        self.handle(stages, &states[view.sim], view, dice);
    }

    /// Stands still, wherever she is.
    pub(super) fn stand(
        &mut self,
        now: Duration,
        stages: &mut [ReplicaStage; 2],
        states: &[World; 2],
    ) {
        if let Some(view) = self.view(states) {
            self.steer(now, stages, view.sim, Vec2::ZERO);
        }
    }

    fn steer(&mut self, now: Duration, stages: &mut [ReplicaStage; 2], sim: usize, heading: Vec2) {
        let is_signed = self
            .steered
            .is_some_and(|(where_, last, at)| (where_, last) == (sim, heading) && now < at + STEER);
        if !is_signed {
            // Whoever has no session at this moment signs it when she thinks again.
            let is_signed = self.act(stages, sim, Act::Walk { heading });
            self.steered = is_signed.then_some((sim, heading, now));
        }
    }

    /// Takes her ball now and then, puts it down, or puts it away and fetches it.
    fn handle(
        &self,
        stages: &mut [ReplicaStage; 2],
        state: &World,
        view: WalkerView,
        dice: &mut Dice,
    ) {
        let sim = view.sim;
        let held = state.in_hands_of(view.avatar).next();
        let stowed = state.luggage(&self.key).next().map(|thing| thing.id);
        let build = match held {
            Some(object) if dice.below(60) == 0 => {
                Build::PutDown { object, position: view.position }
            }
            Some(object) if dice.below(30) == 0 => Build::Stow { object },
            None if dice.below(4) == 0 => match stowed {
                Some(object) => Build::Fetch { object, position: view.position },
                None => match self.ball_near(state, view) {
                    Some(object) => Build::Take { object },
                    None => return,
                },
            },
            _ => return,
        };
        self.act(stages, sim, Act::Build(build));
    }

    /// Returns a ball of hers that she reaches and nobody holds.
    fn ball_near(&self, state: &World, view: WalkerView) -> Option<ObjectId> {
        let reach = Fx::from_int(REACH);
        let is_hers = |seen: &metatopia_sim::WorldObject| {
            let is_free = seen.player.is_none() && seen.held.is_none();
            let is_near = seen.position.distance(view.position) < reach;
            is_free && is_near && seen.owner == Some(self.key)
        };
        state.objects().find(is_hers).map(|ball| ball.id)
    }

    /// Has her sign something. Says whether she could.
    fn act(&self, stages: &mut [ReplicaStage; 2], sim: usize, act: Act) -> bool {
        let person = self.persons[sim];
        stages[sim].prompt(person, |person, now| person.act(now, act, None)).is_some()
    }
}
