//! Packages that authors publish at two servers at the same time: all servers have them in one order.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use metatopia_protocol::{Answer, PackageEntry, Question, Submission};
use metatopia_protocol::{ClientMessage, encode_client};
use metatopia_scenarios::parse_package;
use metatopia_simulator::replica::{ReplicaSetting, ReplicaStage, Stranger};
use metatopia_simulator::{Conditions, SignatureKind};
use metatopia_types::{
    Act, Blob, Digest, Envelope, Height, Lane, Look, Outcome, PackageId, Seq, Sign, SignedEnvelope,
};

const SECOND: Duration = Duration::from_secs(1);

/// The authors, and the server to which each hands acts in.
const AUTHORS: [(u64, usize); 2] = [(1, 0), (2, 2)];

/// In so many rounds each of the two is the first one some time.
const ROUNDS_MAX: u64 = 40;

/// A plaza of four servers with two authors, each at a server of her own.
struct Desks {
    stage: ReplicaStage,
    hands: [usize; 2],
    acts: u64,
}

impl Desks {
    fn new() -> Self {
        let setting = ReplicaSetting::plaza(SignatureKind::StandIn, 1);
        let mut stage = ReplicaStage::new(setting, Conditions::calm(10));
        stage.run_until(2 * SECOND);
        let hands = AUTHORS.map(|(author, seat)| {
            let hand = stage.meet(seat, Stranger::default());
            stage.run_for(SECOND / 5);
            let key = stage.setting().player(50_000 + author);
            stage.introduce(hand, &*key);
            stage.run_for(SECOND / 5);
            hand
        });
        let mut desks = Self { stage, hands, acts: 0 };
        let login = |n: usize| (Act::login(format!("author {n}"), Look::default()), Vec::new());
        let logins = desks.at_once([login(0), login(1)]);
        assert!(logins.iter().all(|(_, outcome)| *outcome == Outcome::Ok), "{logins:?}");
        desks
    }

    fn key(&self, author: usize) -> Arc<dyn Sign> {
        self.stage.setting().player(AUTHORS[author].0)
    }

    /// Hands in an act of each author at the same moment. Returns what all four servers say of each.
    fn at_once(&mut self, acts: [(Act, Vec<Blob>); 2]) -> Vec<(Height, Outcome)> {
        self.acts += 1;
        let mut signed = Vec::new();
        for (author, (act, blobs)) in acts.into_iter().enumerate() {
            let (sim, key) = (self.stage.setting().sim, self.key(author));
            let last_valid = Height(self.stage.world.top() + 300);
            let (lane, seq) = (Lane(1), Seq(self.acts));
            let envelope = Envelope { sim, author: key.public(), lane, seq, last_valid, act };
            let act: SignedEnvelope = envelope.sign(&*key);
            signed.push(act.clone());
            let submission = Submission { act, blobs };
            let frame = encode_client(&ClientMessage::Submit(Box::new(submission)));
            self.stage.send(self.hands[author], frame);
        }
        self.stage.run_for(SECOND);
        signed.iter().map(|act| self.told(act)).collect()
    }

    /// Asks all servers what became of an act. They say the same: the turn, and the outcome.
    fn told(&mut self, act: &SignedEnvelope) -> (Height, Outcome) {
        let Envelope { author, lane, seq, .. } = act.envelope;
        self.of_all(Question::Receipt { author, lane, seq }, |answer| match answer {
            Answer::Receipt(told) => (told.receipt.header.height, told.outcome.expect("it is new")),
            other => panic!("{other:?}"),
        })
    }

    /// Returns the packages of this name, as all servers list them.
    fn packages(&mut self, name: &str) -> Vec<PackageEntry> {
        let after = PackageId(Digest::ZERO);
        self.of_all(Question::Packages { after }, |answer| match answer {
            Answer::Packages(all) => all.into_iter().filter(|entry| entry.name == name).collect(),
            other => panic!("{other:?}"),
        })
    }

    /// Asks all servers, which must say the same.
    fn of_all<T: PartialEq + std::fmt::Debug>(
        &mut self,
        question: Question,
        read: impl Fn(Answer) -> T,
    ) -> T {
        let told: Vec<T> = (0..4)
            .map(|seat| read(self.stage.ask(seat, question.clone()).expect("an answer")))
            .collect();
        assert!(told.windows(2).all(|two| two[0] == two[1]), "{told:?}");
        told.into_iter().next().expect("four servers")
    }
}

/// Returns the act that publishes a package of this name whose thing says these words, and the package's id.
fn publish(name: &str, words: &str) -> (PackageId, (Act, Vec<Blob>)) {
    let manifest = format!(
        "name = \"{name}\"\nversion = \"1.0.0\"\napi = 1\nentry = \"lamp.rhai\"\n\
         licence = \"AGPL-3.0-or-later\"\nauthors = [\"Ada\"]\n"
    );
    let source = format!("fn on_touch(other) {{ say(\"{words}\"); }}\n");
    let files = BTreeMap::from([("package.toml", &*manifest), ("lamp.rhai", &*source)]);
    let package = parse_package("lamp", &files).expect("a package");
    let source = Blob(package.encode());
    (package.id(), (Act::Publish { source: source.id() }, vec![source]))
}

#[test]
fn two_packages_of_one_name_from_two_servers_at_once_are_both_there_and_told_alike_by_all() {
    let mut desks = Desks::new();
    let [(ada, first), (bob, second)] = [publish("lamp", "on"), publish("lamp", "off")];

    let told = desks.at_once([first, second]);

    assert!(told.iter().all(|(_, outcome)| *outcome == Outcome::Ok), "{told:?}");
    for (author, id) in [ada, bob].into_iter().enumerate() {
        let listed = desks.packages("lamp");
        let entry = listed.iter().find(|entry| entry.package == id).expect("it is listed");
        assert_eq!(entry.publisher, Some(desks.key(author).public()));
        assert_eq!(entry.height, told[author].0);
        assert_eq!(listed.len(), 2);
    }
    desks.stage.finish(10 * SECOND).assert_sound();
}

#[test]
fn one_package_from_two_servers_at_once_has_one_publisher_on_all_servers() {
    let mut desks = Desks::new();
    let mut first = [false; 2];
    for round in 0..ROUNDS_MAX {
        let name = format!("lamp-{round}");
        let (id, act) = publish(&name, "on");
        let told = desks.at_once([act.clone(), act]);
        assert!(told.iter().all(|(_, outcome)| *outcome == Outcome::Ok), "{told:?}");
        let listed = desks.packages(&name);
        assert_eq!(listed.iter().map(|entry| entry.package).collect::<Vec<_>>(), [id]);
        let publisher = |author: &usize| listed[0].publisher == Some(desks.key(*author).public());
        let author = [0, 1].into_iter().find(publisher).expect("one of the two");
        assert_eq!(listed[0].height, told[author].0, "who was first brought it");
        if told[0].0 == told[1].0 {
            first[author] = true;
        }
        if first == [true; 2] {
            break;
        }
    }
    assert_eq!(first, [true; 2], "in one turn, sometimes the one comes first, sometimes the other");
    desks.stage.finish(10 * SECOND).assert_sound();
}
