//! The session with a neighbour before the line: what is seen there, and who is announced.

use std::{mem, time::Duration};

use metatopia_client::{HOUSE_RULES_AGAIN, NeighbourGround, Scene, held_back};
use metatopia_client_driver::{ClientDriver, DriverEvent, WORKED};
use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{SubmitRefusal, Watching};
use metatopia_sim::Introduction;
use metatopia_types::{Act, ActId, Digest, Outcome, SimId, Work};
use tokio::{
    task::JoinHandle,
    time::{Instant, timeout},
};

use super::ANSWER;
use crate::charter::may_pass;

/// A person announces again that she may come over, after this long: a pass counts for 10 s.
const APPROACH_AGAIN: Duration = Duration::from_secs(4);

/// An announcement that was refused is made again after this long: the neighbour may not have heard yet that
/// the person is near.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// Metres after which views are asked for anew. Whoever looks over a border sees 40 m.
const LOOK_STEP: Fx = Fx::from_int(8);

/// Why somebody waits at the line whose key is new over there.
const WORKING: &str =
    "your key is new here, and the seconds of work that this sim asks for are under way";

/// News of the neighbour that are looked at at once.
const NEWS_AT_ONCE: usize = 64;

/// The session with a neighbour that somebody is near.
pub(super) struct NeighbourSession {
    pub(super) driver: ClientDriver,
    pub(super) ground: NeighbourGround,
    /// What is looked at over there.
    pub(super) lookout: Vec2,
    pub(super) scene: Option<Scene>,
    /// The last announcement, and when it was made.
    approach: Option<(ActId, Instant)>,
    /// Why the neighbour did not take it.
    pub(super) refused: Option<String>,
    /// What the neighbour says of itself by now, and when that was proved.
    pub(super) introduction: Introduction,
    proved: Instant,
    /// The house rules to which the person has to agree before she is announced.
    pub(super) held: Option<Digest>,
    work: NewcomerWork,
}

/// The work that a neighbour asks of a key that is new there.
#[derive(Default)]
enum NewcomerWork {
    /// Nothing, as far as is known.
    #[default]
    None,
    /// Work, which has to be begun.
    Asked,
    /// Work that is being done.
    Doing(JoinHandle<Work>),
    /// Work that was done, for the next announcement.
    Done(Work),
}

impl NeighbourSession {
    pub(super) fn new(
        driver: ClientDriver,
        introduction: Introduction,
        (ground, lookout): (NeighbourGround, Vec2),
    ) -> Self {
        Self {
            driver,
            ground,
            lookout,
            scene: None,
            approach: None,
            refused: None,
            introduction,
            proved: Instant::now(),
            held: None,
            work: NewcomerWork::None,
        }
    }

    /// Looks over the border from a place.
    pub(super) async fn look_over(&mut self, here: Vec2, watching: &Watching) {
        let Some(lookout) = self.ground.lookout(here) else { return };
        if lookout.distance(self.lookout) >= LOOK_STEP {
            self.lookout = lookout;
            // A session that broke is noticed when it is heard.
            let watching = Watching { at: Some(lookout), ..watching.clone() };
            let _ = self.driver.view(Some(watching)).await;
        }
    }

    /// Announces who comes, unless she has not agreed to the house rules, and takes in what has happened over there.
    pub(super) async fn hear(
        &mut self,
        from: SimId,
        has_agreed: impl Fn(Digest) -> bool,
    ) -> Result<(), String> {
        self.prove_rules().await?;
        self.do_work().await;
        self.held = held_back(&self.introduction, has_agreed);
        let again = if self.refused.is_some() { ASK_AGAIN } else { APPROACH_AGAIN };
        let is_due = self.approach.is_none_or(|(_, at)| at.elapsed() >= again);
        let is_working = matches!(self.work, NewcomerWork::Doing(_));
        if is_due && !is_working && self.held.is_none() {
            let work = match mem::take(&mut self.work) {
                NewcomerWork::Done(work) => Some(work),
                _ => None,
            };
            let act = Act::Approach { from, work };
            let sent = self.driver.submit(act, Vec::new()).await.map_err(|e| e.to_string())?;
            self.approach = Some((sent.act, Instant::now()));
        }
        for _ in 0..NEWS_AT_ONCE {
            // What has not come yet is waited for by nobody.
            let Ok(news) = timeout(Duration::ZERO, self.driver.news()).await else { break };
            self.note(news)?;
        }
        Ok(())
    }

    /// Proves the house rules anew where that was long ago: admins may have changed them.
    async fn prove_rules(&mut self) -> Result<(), String> {
        if self.proved.elapsed() < HOUSE_RULES_AGAIN {
            return Ok(());
        }
        self.proved = Instant::now();
        match self.driver.prove_charter(ANSWER).await {
            Ok((_, charter)) => self.introduction = charter.introduction,
            // Those hold on that were proved before.
            Err(error) if may_pass(&error) => {}
            Err(error) => return Err(error.to_string()),
        }
        Ok(())
    }

    /// Begins the work that the neighbour asks for, and takes in what came of it.
    async fn do_work(&mut self) {
        self.work = match mem::take(&mut self.work) {
            NewcomerWork::Asked => match self.driver.first_work(ANSWER).await {
                Ok(Some(work)) => {
                    self.refused = Some(WORKING.to_owned());
                    NewcomerWork::Doing(work)
                }
                Ok(None) => NewcomerWork::None,
                Err(why) => {
                    self.refused = Some(why.to_string());
                    NewcomerWork::None
                }
            },
            NewcomerWork::Doing(work) if work.is_finished() => {
                self.approach = None;
                NewcomerWork::Done(work.await.expect(WORKED))
            }
            other => other,
        };
    }

    fn note(&mut self, news: DriverEvent) -> Result<(), String> {
        let is_own = |act: ActId| self.approach.is_some_and(|(own, _)| own == act);
        match news {
            DriverEvent::Scene(scene) => self.scene = Some(*scene),
            DriverEvent::Outcome { act, outcome, .. } if is_own(act) => {
                self.refused = match outcome {
                    Outcome::Refused(why) => Some(why.to_string()),
                    _ => None,
                };
            }
            DriverEvent::Refused { act, why } if is_own(act) => {
                if why == SubmitRefusal::NeedsWork {
                    self.work = NewcomerWork::Asked;
                }
                self.refused = Some(why.to_string());
            }
            DriverEvent::Ended(end) => return Err(end.to_string()),
            _ => {}
        }
        Ok(())
    }
}
