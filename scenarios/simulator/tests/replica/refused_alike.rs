//! Acts that no turn may carry, handed to each of four servers: all of them refuse such an act by the same name, and
//! none is decided.

use std::sync::Arc;
use std::time::Duration;

use metatopia_protocol::{
    ClientMessage, Goodbye, Submission, SubmitRefusal, VERSION, decode_client, encode_client,
};
use metatopia_simulator::replica::{
    Hangup, Person, PersonProfile, ReplicaSetting, ReplicaStage, Stranger,
};
use metatopia_simulator::{Conditions, SignatureKind};
use metatopia_types::{
    Act, Digest, Envelope, Height, Lane, Look, ObjectId, Seq, Sign, Signature, SignedEnvelope,
    SimId, wire,
};

const SECOND: Duration = Duration::from_secs(1);

/// The number of the person in whose name all acts are.
const ADA: u64 = 1;

/// Numbers the keys of those who hand acts in.
const HANDS: u64 = 50_000;

/// What the server in a seat said to who handed something in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Refused(SubmitRefusal),
    HungUp(Hangup),
    Nothing,
}

/// A plaza on which Ada is a player, and acts in her name.
struct Plaza {
    stage: ReplicaStage,
    ada: Arc<dyn Sign>,
    stranger: Arc<dyn Sign>,
    lanes: u64,
}

impl Plaza {
    fn new() -> Self {
        let setting = ReplicaSetting::plaza(SignatureKind::Ed25519, 1);
        let mut stage = ReplicaStage::new(setting, Conditions::calm(10));
        let manner = PersonProfile::lively(Duration::ZERO);
        let ada = Person::new(stage.setting(), ADA, 0, manner);
        stage.invite(Duration::ZERO, ada);
        stage.run_until(2 * SECOND);
        let key = |number| stage.setting().player(number);
        Self { ada: key(ADA), stranger: key(HANDS - 1), stage, lanes: 100 }
    }

    /// An act of Ada's that is as it should be, in a lane of its own.
    fn envelope(&mut self, act: Act) -> Envelope {
        self.lanes += 1;
        let last_valid = Height(self.stage.world.top() + 300);
        let (sim, author) = (self.stage.setting().sim, self.ada.public());
        Envelope { sim, author, lane: Lane(self.lanes), seq: Seq(1), last_valid, act }
    }

    /// Hands a frame to every server, each time over a connection of its own; returns what they said.
    fn hand_in(&mut self, frame: &[u8]) -> [Verdict; 4] {
        let hands = [0, 1, 2, 3].map(|seat| self.stage.meet(seat, Stranger::default()));
        self.stage.run_for(SECOND / 5);
        for hand in hands {
            let key = self.stage.setting().player(HANDS + hand as u64);
            self.stage.introduce(hand, &*key);
        }
        self.stage.run_for(SECOND / 5);
        hands.iter().for_each(|hand| self.stage.send(*hand, frame.to_vec()));
        self.stage.run_for(SECOND / 5);
        hands.map(|hand| {
            let hand = &self.stage.strangers[hand];
            match (hand.hung_up, hand.refusals().first()) {
                (Some(why), _) => Verdict::HungUp(why),
                (None, Some(why)) => Verdict::Refused(*why),
                (None, None) => Verdict::Nothing,
            }
        })
    }

    fn submit(&mut self, act: SignedEnvelope) -> [Verdict; 4] {
        self.hand_in(&submission(act))
    }

    /// Checks that so many acts of Ada's were decided, and that nothing is wrong.
    fn ends_with(self, acts: usize) {
        let account = self.stage.finish(10 * SECOND);
        account.assert_sound();
        assert_eq!(account.acts, acts, "all that was decided");
    }
}

fn submission(act: SignedEnvelope) -> Vec<u8> {
    encode_client(&ClientMessage::Submit(Box::new(Submission { act, blobs: Vec::new() })))
}

fn all(why: SubmitRefusal) -> [Verdict; 4] {
    [Verdict::Refused(why); 4]
}

#[test]
fn forged_foreign_expired_replayed_and_overlong_acts_are_refused_alike_by_all_servers() {
    let mut plaza = Plaza::new();
    let (ada, stranger) = (Arc::clone(&plaza.ada), Arc::clone(&plaza.stranger));

    let forged = plaza.envelope(Act::Heartbeat).sign(&*stranger);
    assert_eq!(plaza.submit(forged), all(SubmitRefusal::BadSignature));
    let mut changed = plaza.envelope(Act::Heartbeat).sign(&*ada);
    changed.envelope.act = Act::Leave;
    assert_eq!(plaza.submit(changed), all(SubmitRefusal::BadSignature));

    let elsewhere = SimId(Digest::of("another sim", b"x"));
    let foreign = Envelope { sim: elsewhere, ..plaza.envelope(Act::Heartbeat) }.sign(&*ada);
    assert_eq!(plaza.submit(foreign), all(SubmitRefusal::OtherSim(elsewhere)));

    let last_valid = Height(plaza.stage.world.top() - 5);
    let old = Envelope { last_valid, ..plaza.envelope(Act::Heartbeat) }.sign(&*ada);
    let is_old = |verdict: &Verdict| match verdict {
        Verdict::Refused(SubmitRefusal::Expired { last_valid: told, .. }) => *told == last_valid,
        _ => false,
    };
    let verdicts = plaza.submit(old);
    assert!(verdicts.iter().all(is_old), "{verdicts:?}");

    // A number of a lane is used up by whatever had it first.
    let first = plaza.envelope(Act::Heartbeat);
    assert_eq!(plaza.submit(first.clone().sign(&*ada)), [Verdict::Nothing; 4]);
    plaza.stage.run_for(SECOND);
    let second = Envelope { act: Act::GoHome, ..first }.sign(&*ada);
    assert_eq!(plaza.submit(second), all(SubmitRefusal::Replayed(1)));

    let name = "x".repeat(64 * 1_024);
    let long = plaza.envelope(Act::login(name, Look::default())).sign(&*ada);
    let bytes = wire::length(&long) as u32;
    assert_eq!(plaza.submit(long), all(SubmitRefusal::TooLong(bytes)));

    // Her first login, and the heartbeat that used a number up: once, though four servers had it.
    plaza.ends_with(2);
}

/// An act is downgraded that is in the form of an earlier program: without the shell of a number and a length, or
/// signed as another version of acts, or handed in by an older protocol.
#[test]
fn acts_of_earlier_forms_are_refused_alike_by_all_servers_and_so_are_those_of_later_ones() {
    let mut plaza = Plaza::new();
    let ada = Arc::clone(&plaza.ada);
    let bad_frame = [Verdict::HungUp(Hangup::Said(Goodbye::BadFrame)); 4];

    for act in [Act::Touch { object: ObjectId(5) }, Act::GoHome, Act::Leave] {
        let envelope = plaza.envelope(act.clone());
        assert_eq!(plaza.hand_in(&bare(&envelope, &*ada)), bad_frame, "{act:?}");
    }

    let envelope = plaza.envelope(Act::Heartbeat);
    for domain in ["metatopia act v0", "metatopia act", "metatopia act v2"] {
        let signature = ada.sign(&Digest::of(domain, &wire::encode(&envelope)).0);
        let act = SignedEnvelope { envelope: envelope.clone(), signature };
        assert_eq!(plaza.submit(act), all(SubmitRefusal::BadSignature), "{domain}");
    }

    let later = Act::Unknown { number: 300, bytes: vec![7; 20] };
    let later = plaza.envelope(later).sign(&*ada);
    assert_eq!(plaza.submit(later), all(SubmitRefusal::UnknownAct(300)));

    plaza.ends_with(1);
}

/// The frame by which an act is handed in, whose bytes are those of its place and its fields, without a length.
/// The author signed these very bytes: nothing is wrong with it but its form.
fn bare(envelope: &Envelope, author: &dyn Sign) -> Vec<u8> {
    let shell = wire::encode(&envelope.act);
    let whole = wire::encode(envelope);
    let head = whole.len() - shell.len();
    assert_eq!(whole[head..], shell, "the act is what an envelope ends with");
    // Number and length take a byte each in such short acts.
    assert_eq!(usize::from(shell[1]), shell.len() - 2);
    let bytes = [&whole[..=head], &whole[head + 2..]].concat();
    let signature = author.sign(&Digest::of("metatopia act v1", &bytes).0);

    let unsigned = Signature::from_bytes([0xee; 64]);
    let frame = submission(SignedEnvelope { envelope: envelope.clone(), signature: unsigned });
    let tail = wire::encode(&Vec::<u8>::new());
    let front = frame.len() - tail.len() - 64 - whole.len();
    assert_eq!(frame[front..front + whole.len()], whole, "the envelope is in the frame");
    let signed = wire::encode(&signature);
    [&frame[..front], &bytes, &signed, &tail].concat()
}

#[test]
fn a_client_of_an_earlier_protocol_is_told_the_version_by_all_servers() {
    let mut plaza = Plaza::new();
    for version in [0, VERSION - 1, VERSION + 1] {
        let hands = [0, 1, 2, 3].map(|seat| plaza.stage.meet(seat, Stranger::default()));
        plaza.stage.run_for(SECOND / 5);
        for hand in hands {
            let hello = plaza.stage.strangers[hand].hello(&*plaza.ada).expect("it was asked");
            let Ok(ClientMessage::Hello(mut hello)) = decode_client(&hello) else {
                panic!("a hello")
            };
            hello.version = version;
            plaza.stage.send(hand, encode_client(&ClientMessage::Hello(hello)));
        }
        plaza.stage.run_for(SECOND / 5);
        let told = hands.map(|hand| plaza.stage.strangers[hand].hung_up);
        assert_eq!(told, [Some(Hangup::Said(Goodbye::Version(VERSION))); 4], "{version}");
    }
    plaza.ends_with(1);
}
