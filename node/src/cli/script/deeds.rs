//! Acts of authors, one after the other, each decided and proved before the next.

use metatopia_client::{PublishingStep, build::publishers, publishing_steps};
use metatopia_client_driver::ClientDriver;
use metatopia_protocol::{Answer, PackageEntry, Question, ScriptEntry};
use metatopia_scripting::{LinkedPackage, Package};
use metatopia_sim::limits::{BUILDS_PER_AUTHOR_MAX, SCRIPTS_PER_OBJECT_MAX};
use metatopia_types::{Act, Blob, Build, Height, ObjectId, Outcome, PackageId, Refusal, ScriptId};

use super::packages::{self, PublishablePackage};
use crate::cli::{
    console::Console,
    exit::Exit,
    failure::Failure,
    say::{decide_in_time, leave_again, prove},
    session::{ANSWER, PlayerArgs},
};

/// An author who has logged in.
pub(in crate::cli) struct AuthorSession {
    driver: ClientDriver,
    console: Console,
    /// Whether the author was in the sim before.
    was_here: bool,
}

impl AuthorSession {
    /// Opens a session, and has the login decided.
    ///
    /// # Errors
    /// Fails when no node answers, or the login is refused.
    pub(in crate::cli) async fn begin(
        player: &PlayerArgs,
        console: Console,
    ) -> Result<Self, Failure> {
        let mut driver = player.open().await?;
        let (login, was_here) = player.login_over(&mut driver, console).await?;
        let mut session = Self { driver, console, was_here };
        session.perform("the login", login, Vec::new()).await?;
        Ok(session)
    }

    /// Returns the session's driver, for questions.
    pub(in crate::cli) const fn driver(&mut self) -> &mut ClientDriver {
        &mut self.driver
    }

    /// Ends the session. An author who came for it alone leaves no avatar behind.
    pub(in crate::cli) async fn end(mut self) {
        leave_again(&mut self.driver, self.was_here).await;
        self.driver.leave().await;
    }

    /// Has an act decided and its outcome proved. Returns the height of its turn.
    ///
    /// # Errors
    /// Fails when a rule of the sim refuses it, which is quoted, or it is not decided in time.
    async fn perform(&mut self, what: &str, act: Act, blobs: Vec<Blob>) -> Result<Height, Failure> {
        match self.outcome(act, blobs).await? {
            (height, Outcome::Ok | Outcome::Made(_)) => Ok(height),
            (_, Outcome::Refused(why)) => Err(refused(what, why)),
        }
    }

    /// Has an act decided and returns its outcome, which is proved, with the height of its turn.
    ///
    /// # Errors
    /// Fails when it is not decided in time, or nothing proves it.
    async fn outcome(&mut self, act: Act, blobs: Vec<Blob>) -> Result<(Height, Outcome), Failure> {
        let id = self.driver.submit(act, blobs).await?.act;
        let places = decide_in_time(&mut self.driver, &[id]).await?;
        let place = places.get(&id).copied().expect("the act is decided");
        Ok((place.0, prove(&mut self.driver, place, id).await?))
    }

    /// Has acts decided together. Returns the outcome of each, which is proved, with the height of its turn.
    ///
    /// # Errors
    /// Fails when one is not decided in time, or nothing proves its outcome.
    pub(in crate::cli) async fn outcomes(
        &mut self,
        acts: Vec<Act>,
    ) -> Result<Vec<(Height, Outcome)>, Failure> {
        let mut ids = Vec::new();
        for act in acts {
            ids.push(self.driver.submit(act, Vec::new()).await?.act);
        }
        let places = decide_in_time(&mut self.driver, &ids).await?;
        let mut outcomes = Vec::new();
        for id in ids {
            let place = places.get(&id).copied().expect("the act is decided");
            outcomes.push((place.0, prove(&mut self.driver, place, id).await?));
        }
        Ok(outcomes)
    }

    /// Has acts decided together and their outcomes proved. Returns the height of the last of their turns.
    ///
    /// # Errors
    /// As [`AuthorSession::perform`], for the last act that was refused.
    async fn perform_all(&mut self, what: &str, acts: Vec<Act>) -> Result<Height, Failure> {
        let mut done = Ok(Height(0));
        for (height, outcome) in self.outcomes(acts).await? {
            done = match outcome {
                Outcome::Ok | Outcome::Made(_) => done.map(|last: Height| last.max(height)),
                Outcome::Refused(why) => Err(refused(what, why)),
            };
        }
        done
    }

    /// Brings a package into the sim, if it is not there, and what it imports before it. Returns the height
    /// of the turn that brought it; nothing if the sim had it before.
    ///
    /// # Errors
    /// As [`AuthorSession::perform`].
    pub(in crate::cli) async fn publish(
        &mut self,
        PublishablePackage { package, imports }: &PublishablePackage,
    ) -> Result<Option<Height>, Failure> {
        if packages::fetch(&mut self.driver, package.id()).await?.is_some() {
            return Ok(None);
        }
        for import in imports {
            self.publish_one(import, imports).await?;
        }
        self.publish_one(package, imports).await
    }

    /// Brings one package into the sim, whose imports are there and among the `known`. Returns the height of the turn
    /// that brought it; nothing if the sim had it before.
    async fn publish_one(
        &mut self,
        package: &Package,
        known: &[Package],
    ) -> Result<Option<Height>, Failure> {
        if packages::fetch(&mut self.driver, package.id()).await?.is_some() {
            return Ok(None);
        }
        let name = &package.manifest().name;
        let what = format!("package {name} {}", package.id());
        let find = |id: &PackageId| known.iter().find(|known| known.id() == *id);
        let linked = LinkedPackage::new(package, &find)
            .map_err(|error| Failure::refused(format!("{what}: {error}")))?;
        let steps = publishing_steps(package.encode(), linked.weight());
        let (count, mut last) = (steps.len(), None);
        for (n, PublishingStep { act, blob }) in steps.into_iter().enumerate() {
            if matches!(act, Act::PublishPiece { .. }) {
                self.console.note(&format!("{name}: piece {} of {}", n + 1, count - 1));
            }
            last = match self.outcome(act, blob.into_iter().collect()).await? {
                (height, Outcome::Ok | Outcome::Made(_)) => Some(height),
                (_, Outcome::Refused(why @ Refusal::NotPublisher)) => {
                    return Err(self.with_rule(refused(&what, why)).await);
                }
                (_, Outcome::Refused(why)) => return Err(refused(&what, why)),
            };
        }
        Ok(last)
    }

    /// Adds to a failure by which rule the sim lets people publish, if the node proves its charter now.
    async fn with_rule(&mut self, failure: Failure) -> Failure {
        match self.driver.prove_charter(ANSWER).await {
            Ok((_, charter)) => {
                failure.hint(&format!("the rule is {}", publishers(&charter.parameters)))
            }
            Err(_) => failure,
        }
    }

    /// Checks that a thing may run a package, which the sim need not have yet, and does not do so already. Warns of
    /// scripts of the same name that it runs.
    ///
    /// # Errors
    /// Fails when a rule of the sim refuses it, which is quoted, or the thing runs this very package.
    pub(super) async fn check_attach(
        &mut self,
        object: ObjectId,
        package: &Package,
        console: Console,
    ) -> Result<(), Failure> {
        let id = package.id();
        if packages::fetch(&mut self.driver, id).await?.is_none() {
            // The sim looks at the thing before it looks for the package.
            let act = Act::Build(Build::Attach { object, package: id });
            match self.outcome(act, Vec::new()).await?.1 {
                Outcome::Refused(Refusal::NoPackage) => {}
                Outcome::Refused(why) => {
                    return Err(refused(&format!("the script on thing {object}"), why));
                }
                Outcome::Ok | Outcome::Made(_) => {
                    let message = format!("somebody else published package {id} just now");
                    return Err(Failure::refused(message).hint("the thing runs it already"));
                }
            }
        }
        self.check_beside(object, package, console).await
    }

    /// Checks that a thing does not run a package already, and warns of scripts of the same name that it runs.
    ///
    /// # Errors
    /// Fails when the thing runs this very package, or the node does not say.
    pub(super) async fn check_beside(
        &mut self,
        object: ObjectId,
        package: &Package,
        console: Console,
    ) -> Result<(), Failure> {
        let running = packages::running(&mut self.driver).await?;
        let known = packages::known(&mut self.driver).await?;
        let others = namesakes(object, package, &running, &known)?;
        if !others.is_empty() {
            let name = &package.manifest().name;
            let numbers: Vec<String> = others.iter().map(ScriptId::to_string).collect();
            console.warn(&format!(
                "warning: thing {object} runs {name} already, as script {}, and runs both from now on; `metatopia \
                 script upgrade` has a script run another package instead, `detach` takes one off",
                numbers.join(", ")
            ));
        }
        Ok(())
    }

    /// Has a thing run a package. Returns the new script and the height.
    ///
    /// # Errors
    /// As [`AuthorSession::perform`].
    pub(super) async fn attach(
        &mut self,
        object: ObjectId,
        package: PackageId,
    ) -> Result<(Option<ScriptEntry>, Height), Failure> {
        let act = Act::Build(Build::Attach { object, package });
        let height =
            self.perform(&format!("the script on thing {object}"), act, Vec::new()).await?;
        // The newest script of this package on the thing is the one that was attached.
        let mut running = packages::running(&mut self.driver).await?;
        running.retain(|entry| entry.object == object && entry.package == package);
        Ok((running.into_iter().max_by_key(|entry| entry.script), height))
    }

    /// Has scripts run another package, as many in a turn as a builder may change. Returns the height of the
    /// last of their turns, or nothing if there are no scripts.
    ///
    /// # Errors
    /// As [`AuthorSession::perform`].
    pub(in crate::cli) async fn upgrade_all(
        &mut self,
        running: &[ScriptEntry],
        package: PackageId,
    ) -> Result<Option<Height>, Failure> {
        let mut last = None;
        for some in running.chunks(BUILDS_PER_AUTHOR_MAX as usize) {
            let upgrade = |entry: &ScriptEntry| {
                let ScriptEntry { object, script, .. } = *entry;
                Act::Build(Build::Upgrade { object, script, package })
            };
            last = Some(self.perform_all("the upgrade", some.iter().map(upgrade).collect()).await?);
        }
        Ok(last)
    }

    /// Takes a script off its thing.
    ///
    /// # Errors
    /// As [`AuthorSession::perform`].
    pub(super) async fn detach(&mut self, running: &ScriptEntry) -> Result<Height, Failure> {
        let ScriptEntry { object, script, .. } = *running;
        let what = format!("the detaching of script {script} from thing {object}");
        self.perform(&what, Act::Build(Build::Detach { object, script }), Vec::new()).await
    }

    /// Has a suspended script run again.
    ///
    /// # Errors
    /// As [`AuthorSession::perform`].
    pub(super) async fn resume(&mut self, running: &ScriptEntry) -> Result<Height, Failure> {
        let ScriptEntry { object, script, .. } = *running;
        let what = format!("the resuming of script {script} on thing {object}");
        self.perform(&what, Act::Build(Build::Resume { object, script }), Vec::new()).await
    }

    /// Finds a thing by its number, or by the name of a thing of the author's.
    ///
    /// # Errors
    /// Fails when the author has no such thing, or several.
    pub(super) async fn thing(&mut self, named: &str) -> Result<ObjectId, Failure> {
        if let Ok(number) = named.parse() {
            return Ok(ObjectId(number));
        }
        let owner = self.driver.author();
        let Answer::Things(things) = self.driver.ask(Question::Things { owner }, ANSWER).await?
        else {
            let busy = "the node is too busy to list your things";
            return Err(Failure::timed_out(busy).hint("try again"));
        };
        let mut found = things.iter().filter(|thing| thing.name == named);
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(one.object),
            (Some(_), Some(_)) => {
                Err(Failure::usage(format!("several things of yours are {named}"))
                    .hint("give the number of one"))
            }
            (None, _) => Err(Failure::not_found(format!("you own nothing that is called {named}"))
                .hint("`build box` in `metatopia client` makes things, `mine` lists them")),
        }
    }

    /// Finds a running script by its number, or by the name of the thing that runs it.
    ///
    /// # Errors
    /// Fails when no such script runs, or several do.
    pub(super) async fn script(&mut self, named: &str) -> Result<ScriptEntry, Failure> {
        packages::script(&mut self.driver, named).await
    }

    /// Returns which of these scripts do not run a package that they were given, since their first event with
    /// it failed. A later event may still fail.
    ///
    /// # Errors
    /// Fails when the node does not say.
    pub(in crate::cli) async fn fallen(
        &mut self,
        given: &[ScriptEntry],
        package: PackageId,
    ) -> Result<Vec<ScriptId>, Failure> {
        let running = packages::running(&mut self.driver).await?;
        let runs_another = |script: &ScriptId| {
            running.iter().any(|entry| entry.script == *script && entry.package != package)
        };
        Ok(given.iter().map(|entry| entry.script).filter(runs_another).collect())
    }
}

/// Returns the scripts that a thing runs whose packages have the same name as this one.
///
/// # Errors
/// Fails when the thing runs this very package.
fn namesakes(
    object: ObjectId,
    package: &Package,
    running: &[ScriptEntry],
    known: &[PackageEntry],
) -> Result<Vec<ScriptId>, Failure> {
    let here = || running.iter().filter(|entry| entry.object == object);
    if let Some(same) = here().find(|entry| entry.package == package.id()) {
        let message =
            format!("thing {object} runs this package already, as script {}", same.script);
        return Err(Failure::refused(message));
    }
    let is_namesake = |entry: &&ScriptEntry| {
        let source = known.iter().find(|source| source.package == entry.package);
        source.is_some_and(|source| source.name == package.manifest().name)
    };
    Ok(here().filter(is_namesake).map(|entry| entry.script).collect())
}

/// Returns the failure of a script that was attached, if a call of it has failed by now: its first event, as a
/// rule. A later event may still fail.
pub(super) fn failed_at_once(
    script: Option<&ScriptEntry>,
    package: &Package,
    height: Height,
) -> Option<Failure> {
    let ScriptEntry { script, object, .. } = script.filter(|entry| entry.failures > 0)?;
    let name = &package.manifest().name;
    let message = format!(
        "script {script} failed with the new {name} in turn {height}, and stays on thing {object}"
    );
    Some(Failure::failed(message).hint(&format!("`metatopia script logs {script}` tells why")))
}

/// Returns the failure of an act that a rule of the sim refuses, with advice where there is any.
fn refused(what: &str, why: Refusal) -> Failure {
    let exit = match why {
        Refusal::NoObject | Refusal::NoScript | Refusal::NoPackage => Exit::NotFound,
        _ => Exit::Refused,
    };
    let failure = Failure::new(exit, format!("{what} was refused: {why}"));
    match why {
        Refusal::OutOfReach => failure.hint("walk to the thing in `metatopia client` first"),
        Refusal::NotPublisher => {
            failure.hint("admins of the sim decide who publishes")
        }
        Refusal::BadPackage => failure.hint("do the servers run another version of the program?"),
        Refusal::MissingImport(_) => {
            failure.hint("`metatopia script publish` brings it along if it has its folder")
        }
        Refusal::TooManyPackages => failure.hint("what no script runs makes room"),
        Refusal::TooOften => failure.hint("wait a minute"),
        Refusal::TooManyScripts => {
            failure.hint(&format!(
                "{SCRIPTS_PER_OBJECT_MAX} scripts run on a thing at most, and a person has a number of them; \
                 `metatopia script list` lists them"
            ))
        }
        Refusal::NotYours => failure.hint("only its owner and admins change a thing"),
        Refusal::NoPackage => failure.hint("`metatopia script publish` brings one into the sim"),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use metatopia_scenarios::ExamplePackage;
    use metatopia_types::Digest;

    use super::*;

    /// A second `script attach` had a thing run a package twice, silently, where `publish --attach` refused that.
    #[test]
    fn no_thing_runs_a_package_twice_and_those_of_its_name_are_known() {
        let bell = ExamplePackage::named("bell").expect("an example").package();
        let older = PackageId(Digest([7; 32]));
        let running = [packages::runs(3, "bench", older), packages::runs(4, "lantern", bell.id())];
        let known = [PackageEntry {
            package: older,
            name: "bell".to_owned(),
            version: "0.9.0".to_owned(),
            licence: String::new(),
            authors: String::new(),
            publisher: None,
            height: Height(0),
            bytes: 0,
            scripts: 1,
            left: None,
        }];
        let on = |object| namesakes(ObjectId(object), &bell, &running, &known);
        let failure = on(4).expect_err("it runs this very package");
        assert_eq!(failure.exit, Exit::Refused);
        assert!(failure.message.ends_with("runs this package already, as script 4"), "{failure}");
        assert_eq!(on(3), Ok(vec![ScriptId(3)]));
        assert_eq!(on(5), Ok(Vec::new()));
    }

    /// `publish --attach` told that a script runs whose `on_start` had failed at once.
    #[test]
    fn a_script_that_failed_at_once_is_a_failure_that_names_its_logs() {
        let bell = ExamplePackage::named("bell").expect("an example").package();
        let fine = packages::runs(17, "lantern", bell.id());
        assert_eq!(failed_at_once(Some(&fine), &bell, Height(90)), None);
        assert_eq!(failed_at_once(None, &bell, Height(90)), None);
        let failed = ScriptEntry { failures: 1, ..fine };
        let failure = failed_at_once(Some(&failed), &bell, Height(90)).expect("it failed");
        assert_eq!(failure.exit, Exit::Failed);
        let told = "script 17 failed with the new bell in turn 90, and stays on thing 17; ";
        assert!(failure.message.starts_with(told), "{failure}");
        assert!(failure.message.contains("`metatopia script logs 17`"), "{failure}");
    }

    #[test]
    fn a_refusal_quotes_the_rule_and_has_its_exit_code() {
        let failure = refused("the package", Refusal::NotPublisher);
        assert_eq!(failure.exit, Exit::Refused);
        let told = "the package was refused: the sim does not let this author publish source; ";
        assert!(failure.message.starts_with(told), "{failure}");
    }

    /// An act on a thing that is not there ended with code 4, where the docs have 3 for what is missing.
    #[test]
    fn what_is_missing_is_not_found_and_no_refusal() {
        for why in [Refusal::NoObject, Refusal::NoScript, Refusal::NoPackage] {
            assert_eq!(refused("the script", why).exit, Exit::NotFound, "{why}");
        }
        assert_eq!(refused("the script", Refusal::OutOfReach).exit, Exit::Refused);
    }
}
