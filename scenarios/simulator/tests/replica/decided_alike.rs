//! Acts that are decided and refused: each of four servers says the same of such an act, and it changed nothing.

use std::sync::Arc;
use std::time::Duration;

use metatopia_protocol::{Answer, ClientMessage, Question, Submission, encode_client};
use metatopia_simulator::replica::{ReplicaSetting, ReplicaStage, Stranger};
use metatopia_simulator::{Conditions, SignatureKind};
use metatopia_types::{
    Act, Envelope, GovernOrder, Height, Lane, Look, NewKeyWord, Outcome, Pass, PublicKey, Refusal,
    RoleRight, Rotation, Seq, Sign, SignedEnvelope,
};

const SECOND: Duration = Duration::from_secs(1);

const ADMIN: usize = 0;
const ADA: usize = 1;
const BOB: usize = 2;
/// A key that nobody has used.
const NEW: usize = 3;

/// In so many turns, some have the admin's act first, and some the other one's.
const TURNS_MAX: usize = 40;

/// A plaza of four servers, to each of which whoever acts is connected for as long as it takes to hand an act in.
struct Plaza {
    stage: ReplicaStage,
    hand: usize,
    /// How many acts each person has in her lane, by her number: a session is of one lane.
    acts: [u64; 4],
}

impl Plaza {
    fn new() -> Self {
        let setting = ReplicaSetting::plaza(SignatureKind::Ed25519, 1);
        let mut stage = ReplicaStage::new(setting, Conditions::calm(10));
        stage.run_until(2 * SECOND);
        let hand = stage.meet(0, Stranger::default());
        stage.run_for(SECOND / 5);
        let key = stage.setting().player(50_000);
        stage.introduce(hand, &*key);
        stage.run_for(SECOND / 5);
        let mut plaza = Self { stage, hand, acts: [0; 4] };
        for who in [ADMIN, ADA, BOB] {
            let login = Act::login(format!("somebody {who}"), Look::default());
            assert_eq!(plaza.outcome(who, login), Outcome::Ok);
        }
        plaza
    }

    fn key(&self, who: usize) -> Arc<dyn Sign> {
        self.stage.setting().player(who as u64)
    }

    fn public(&self, who: usize) -> PublicKey {
        self.key(who).public()
    }

    /// Hands an act in at one server.
    fn act(&mut self, who: usize, act: Act) -> SignedEnvelope {
        self.acts[who] += 1;
        let (sim, key) = (self.stage.setting().sim, self.key(who));
        let (lane, seq) = (Lane(1), Seq(self.acts[who]));
        let last_valid = Height(self.stage.world.top() + 300);
        let envelope = Envelope { sim, author: key.public(), lane, seq, last_valid, act };
        let act = envelope.sign(&*key);
        let submission = Submission { act: act.clone(), blobs: Vec::new() };
        let frame = encode_client(&ClientMessage::Submit(Box::new(submission)));
        self.stage.send(self.hand, frame);
        act
    }

    /// Asks all servers what became of an act. They say the same: the turn, the outcome.
    fn told(&mut self, act: &SignedEnvelope) -> (Height, Outcome) {
        let Envelope { author, lane, seq, .. } = act.envelope;
        let told = [0, 1, 2, 3].map(|seat| {
            match self.stage.ask(seat, Question::Receipt { author, lane, seq }) {
                Some(Answer::Receipt(told)) => (told.receipt.header.height, told.outcome),
                other => panic!("server {seat} says {other:?} of {:?}", act.envelope.act),
            }
        });
        assert_eq!(told, [told[0]; 4], "{:?}", act.envelope.act);
        (told[0].0, told[0].1.expect("it was just decided"))
    }

    /// Has somebody act, and returns what all servers say of it.
    fn outcome(&mut self, who: usize, act: Act) -> Outcome {
        let act = self.act(who, act);
        self.stage.run_for(SECOND);
        self.told(&act).1
    }

    fn refuses(&mut self, who: usize, act: Act, why: Refusal) {
        assert_eq!(self.outcome(who, act.clone()), Outcome::Refused(why), "{act:?}");
    }

    fn grants(&mut self, whom: usize, right: RoleRight) {
        let (key, rights) = (self.public(whom), [right].into());
        let grant = GovernOrder::Grant { key, rights, seconds: None };
        assert_eq!(self.outcome(ADMIN, Act::Govern(grant)), Outcome::Ok);
    }
}

fn grant(key: PublicKey, right: RoleRight) -> Act {
    Act::Govern(GovernOrder::Grant { key, rights: [right].into(), seconds: None })
}

#[test]
fn self_promotion_and_rights_in_a_circle_are_refused_alike_by_all_servers() {
    let mut plaza = Plaza::new();
    let (ada, bob) = (plaza.public(ADA), plaza.public(BOB));
    plaza.refuses(ADA, grant(ada, RoleRight::Moderate), Refusal::NoRight);
    let name = Act::Govern(GovernOrder::NameAdmin { key: ada });
    plaza.refuses(ADA, name, Refusal::NotAdmin);
    [ADA, BOB].into_iter().for_each(|who| plaza.grants(who, RoleRight::Administer));
    plaza.refuses(ADA, grant(ada, RoleRight::Servers), Refusal::NotAdmin);
    plaza.refuses(ADA, grant(ada, RoleRight::Moderate), Refusal::Outranked);
    plaza.refuses(ADA, grant(bob, RoleRight::Build), Refusal::Outranked);
    plaza.refuses(BOB, grant(ada, RoleRight::Build), Refusal::Outranked);
    plaza.stage.finish(10 * SECOND).assert_sound();
}

#[test]
fn whose_right_was_revoked_earlier_in_the_turn_is_refused_alike_by_all_servers() {
    let mut plaza = Plaza::new();
    let (ada, bob) = (plaza.public(ADA), plaza.public(BOB));
    let mut seen = [false; 2];
    for _ in 0..TURNS_MAX {
        // What is refused renews no lease, and she is refused many times where the other order comes late.
        assert_eq!(plaza.outcome(ADA, Act::Heartbeat), Outcome::Ok);
        plaza.grants(ADA, RoleRight::Moderate);
        let rights = [RoleRight::Moderate].into();
        let revoke = Act::Govern(GovernOrder::Revoke { key: ada, rights });
        let acts = [(ADMIN, revoke), (ADA, Act::Govern(GovernOrder::Kick { key: bob }))];
        let [revoked, kick] = acts.map(|(who, act)| plaza.act(who, act));
        plaza.stage.run_for(SECOND);
        let [(at, done), (kicked_at, kicked)] = [plaza.told(&revoked), plaza.told(&kick)];
        assert_eq!(done, Outcome::Ok);
        if at == kicked_at {
            let refused = kicked == Outcome::Refused(Refusal::NoRight);
            assert!(refused || kicked == Outcome::Ok, "{kicked}");
            seen[usize::from(refused)] = true;
        }
        let login = Act::login("somebody 2".to_owned(), Look::default());
        plaza.outcome(BOB, login);
        if seen == [true; 2] {
            break;
        }
    }
    assert_eq!(seen, [true; 2], "before the revocation, and after it");
    plaza.stage.finish(10 * SECOND).assert_sound();
}

#[test]
fn friends_in_a_hurry_and_a_rotation_to_a_banned_key_are_refused_alike_by_all_servers() {
    let mut plaza = Plaza::new();
    let (ada, bob) = (plaza.public(ADA), plaza.public(BOB));
    let named = plaza.outcome(ADA, Act::NameFriends { friends: vec![bob], need: 1 });
    assert_eq!(named, Outcome::Ok);
    let vouch = Act::Vouch { old: ada, new: NewKeyWord::new(&*plaza.key(NEW), &ada) };
    // Friends count from three days of governance time after they were named.
    plaza.refuses(BOB, vouch.clone(), Refusal::FreshFriend);
    plaza.refuses(ADMIN, vouch, Refusal::NotFriend);

    let login = |name: &str, pass| Act::Login {
        name: name.to_owned(),
        look: Look::default(),
        bot: false,
        pass,
    };
    assert_eq!(plaza.outcome(NEW, login("Mallory", None)), Outcome::Ok);
    let (key, reason) = (plaza.public(NEW), "spam".to_owned());
    let ban = GovernOrder::Ban { key, seconds: None, reason };
    assert_eq!(plaza.outcome(ADMIN, Act::Govern(ban)), Outcome::Ok);
    let rotation = Rotation::new(&*plaza.key(ADA), &*plaza.key(NEW), 1);
    plaza.refuses(NEW, login("Ada", Some(Pass::Rotation(rotation))), Refusal::Banned);
    plaza.stage.finish(10 * SECOND).assert_sound();
}
