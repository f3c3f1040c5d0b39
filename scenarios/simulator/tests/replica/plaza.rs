//! Four servers play the plaza, and people walk, push and talk there.

use std::time::Duration;

use metatopia_simulator::Conditions;
use metatopia_simulator::SignatureKind;
use metatopia_simulator::replica::{Account, Person, PersonProfile, ReplicaSetting, ReplicaStage};

const SECOND: Duration = Duration::from_secs(1);

/// Plays people at all four servers for some seconds.
fn visit(scheme: SignatureKind, seed: u64, people: u64, seconds: u32) -> Account {
    let mut stage = ReplicaStage::new(ReplicaSetting::plaza(scheme, seed), Conditions::calm(20));
    let until = seconds * SECOND;
    for number in 1..=people {
        let person =
            Person::new(stage.setting(), number, number as usize % 4, PersonProfile::lively(until));
        stage.invite(Duration::from_millis(100 * number), person);
    }
    stage.run_until(until);
    stage.finish(10 * SECOND)
}

#[test]
fn people_on_the_plaza_get_receipts_that_every_log_holds() {
    let account = visit(SignatureKind::StandIn, 1, 8, 10);

    account.assert_sound();
    for person in &account.people {
        let done = person.receipted().count();
        println!(
            "{}: {} deeds, {done} receipted, {:?}",
            person.name,
            person.deeds.len(),
            person.waits().max()
        );
    }
    println!("turns {} acts {}", account.turns, account.acts);
    // The oracle looked at every turn, and knows the roots that servers wrote down.
    let history = account.servers.oracle.laws.history();
    assert_eq!(history.turns().count(), account.turns);
    let roots = account.servers.oracle.steps().iter();
    assert!(roots.filter(|(height, step)| history.root(**height) == Some(step.root)).count() > 100);
}

#[test]
fn what_people_see_on_the_plaza_is_proved_again_and_again() {
    for (seed, scheme) in [(3, SignatureKind::StandIn), (4, SignatureKind::Ed25519)] {
        let account = visit(scheme, seed, 4, 6);
        account.assert_sound();
        for person in &account.people {
            let proved = person.proved.len();
            // Five proofs a second; in the first one people only come in.
            assert!(proved >= 20, "seed {seed}, {}: {proved} proofs", person.name);
            assert!(person.unproved_views.is_empty(), "{:?}", person.unproved_views);
            let scene = person.scene.as_ref().expect("they see");
            assert!(scene.me.is_some() && scene.objects.len() > 10, "seed {seed}: {scene:?}");
        }
    }
}
