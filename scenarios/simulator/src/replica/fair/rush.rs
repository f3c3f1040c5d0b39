//! In the calm a crowd of fresh keys comes and takes the seats, and stewards log in all the same.

use std::time::Duration;

use metatopia_types::Lane;

use super::visitors::{ReplicaRun, Visitors};
use crate::calm::{CalmLevel as _, Dues};
use crate::replica::{Crowd, ReplicaStage, Steward, log_in_everywhere};

/// How often it is looked at what came about.
const LOOK: Duration = Duration::from_millis(50);

/// Between two signs of life of the crowd, and between two logins of stewards: five times as often as
/// a key needs that wants to stay.
const AGAIN: Duration = Duration::from_secs(2);

/// Servers over which a crowd comes.
const ENTRANCES: usize = 2;

/// See the module.
pub(super) struct Rush {
    crowd: Crowd,
    next: Duration,
    /// Lanes of stewards.
    logins: u64,
    /// Logins for which the law held the servers to account.
    pub(super) judged: u64,
}

impl Rush {
    /// Has the crowd come, where the seed wants one.
    pub(super) fn begin(run: &mut ReplicaRun) -> Option<Self> {
        let doors = run
            .plan
            .own
            .crowd
            .then(|| Visitors::reliable(run).into_iter().take(ENTRANCES).collect())?;
        let mut crowd = Crowd::new(run.stage.setting(), doors);
        crowd.come(&mut run.stage);
        let next = run.now() + Duration::from_millis(500);
        Some(Self { crowd, next, logins: 0, judged: 0 })
    }

    /// Lets the next steward in, if it is time.
    pub(super) fn go_on(&mut self, run: &mut ReplicaRun, dues: &mut Dues) {
        if run.is_sound() && run.now() >= self.next {
            self.crowd.stay(&mut run.stage);
            self.let_steward_in(run, dues);
            self.next = run.now() + AGAIN;
        }
    }

    /// The key of a server logs in at all honest ones. The law is about a time in which frames between
    /// these arrive within a turn, and none of them dies or is behind.
    fn let_steward_in(&mut self, run: &mut ReplicaRun, dues: &mut Dues) {
        let before = calm(run);
        let servers = Visitors::reliable(run);
        let steward = servers[usize::try_from(self.logins).unwrap_or(0) % servers.len()];
        self.logins += 1;
        let key = std::sync::Arc::clone(&run.stage.setting().keys[steward]);
        // The keys of servers sign acts in lanes of their own, which they draw.
        let lane = Lane(self.logins);
        let borne = run.faults_borne() as u64;
        let given = log_in_everywhere(&mut run.stage, (&*key, lane), &servers, borne);
        run.look(dues);
        let Some(given) = given else { return };
        self.watch(run, dues, &given);
        if before.is_some() && calm(run) == before && run.is_sound() {
            given.judge(&mut run.stage);
            self.judged += 1;
        }
    }

    /// Plays until it can be said what became of a login.
    fn watch(&self, run: &mut ReplicaRun, dues: &mut Dues, given: &Steward) {
        let turns = u32::try_from(given.due.0 - given.after.0 + 4).unwrap_or(u32::MAX);
        let limit = run.now() + run.turn_bound(0) * turns;
        let is_over = |stage: &ReplicaStage| given.is_over(stage) || !stage.world.is_sound();
        while !is_over(&run.stage) && run.now() < limit {
            run.stage.run_for(LOOK);
            run.look(dues);
        }
    }
}

/// Returns the honest servers that vote, and how many processes died or went wrong until now, if the law
/// about stewards holds now. It does not hold, and this is `None`, if a frame may be under way for longer
/// than a turn, or somebody is behind.
fn calm(run: &ReplicaRun) -> Option<(Vec<usize>, u64, usize)> {
    let quick = run.plan.conditions.links.delay.most.as_millis();
    let turn = u128::from(run.stage.setting().turn_length);
    let voters = Visitors::reliable(run);
    let all = quick <= turn && voters == run.voters() && Visitors::behind(run).is_empty();
    let world = &run.stage.world;
    all.then(|| (voters, world.crashes(), world.cluster.parted.len()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use metatopia_types::{Act, Outcome, Refusal};

    use super::{ReplicaRun, Rush};
    use crate::class::Class;
    use crate::course::SeedRun;

    #[test]
    fn a_crowd_has_all_seats_for_newcomers_when_stewards_log_in() {
        let span = Duration::from_secs(20);
        let mut course = SeedRun::new(1.into(), span);
        course.without = Class::ALL.iter().copied().collect();
        let crowded = |seed: &u64| {
            ReplicaRun::new(&SeedRun { seed: (*seed).into(), ..course.clone() }).plan.own.crowd
        };
        let seed = (0..20).find(crowded).expect("a third of all seeds");
        let mut run = ReplicaRun::new(&SeedRun { seed: seed.into(), ..course.clone() });
        run.stage.run_until(Duration::from_secs(2));
        let laws = &run.stage.world.cluster.oracle.laws;
        let bounds = (Duration::from_secs(5), Duration::from_secs(5));
        let mut dues = crate::calm::Dues::new(run.now(), laws, bounds, Vec::new(), 1);

        let mut rush = Rush::begin(&mut run).expect("a crowd");
        for _ in 0..5 {
            run.stage.run_until(run.now() + Duration::from_secs(2));
            rush.go_on(&mut run, &mut dues);
        }

        assert!(run.is_sound(), "{:?}", run.stage.world.cluster.oracle.faults());
        assert_eq!(rush.judged, 5);
        let oracle = &run.stage.world.cluster.oracle;
        let refused = oracle.laws.history().turns().flat_map(|turn| {
            let outcomes = &oracle.steps()[&turn.header.height].outcomes;
            turn.body.acts().iter().zip(outcomes)
        });
        let refused = refused.filter(|(act, outcome)| {
            let login = matches!(act.envelope.act, Act::Login { .. });
            login && **outcome == Outcome::Refused(Refusal::Full)
        });
        assert!(refused.count() > 8, "the crowd has left seats for newcomers");
    }
}
