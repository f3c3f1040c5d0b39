//! Frames that hand in what may bring in a new key.

use metatopia_protocol::{ClientMessage, Question, Submission, brings_in, encode_client};
use metatopia_types::{
    Act, Digest, Envelope, Height, Lane, Look, Seq, Sign as _, SigningKey, SimId, Work,
};

fn frame(act: Act) -> Vec<u8> {
    let key = SigningKey::from_seed([1; 32]);
    let envelope = Envelope {
        sim: SimId(Digest([2; 32])),
        author: key.public(),
        lane: Lane(1),
        seq: Seq(1),
        last_valid: Height(600),
        act,
    };
    let submission = Submission { act: envelope.sign(&key), blobs: Vec::new() };
    encode_client(&ClientMessage::Submit(Box::new(submission)))
}

#[test]
fn a_login_and_work_at_a_border_are_told_from_everything_else_by_their_frames() {
    let login = frame(Act::login("ann".into(), Look::default()));
    assert!(brings_in(&login));
    assert!(!brings_in(&login[..login.len() - 1]), "cut off");
    let work = Work { height: Height(20), nonce: 7 };
    let approach = |work| frame(Act::Approach { from: SimId(Digest([3; 32])), work });
    assert!(brings_in(&approach(Some(work))));
    for other in [
        approach(None),
        frame(Act::Leave),
        frame(Act::Heartbeat),
        encode_client(&ClientMessage::Ping { token: 1 }),
        encode_client(&ClientMessage::Ask { id: 1, question: Question::Players }),
        Vec::new(),
    ] {
        assert!(!brings_in(&other), "{other:?}");
    }
}
