//! Turns that a server lacks, asked of its peers; and receipts that are in them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use metatopia_consensus::{Base, Decision, Link};
use metatopia_protocol::{
    Answer, ClientMessage, Hello, Question, ServerMessage, Submission, SubmitRefusal,
    decode_server, encode_client,
};
use metatopia_replica::{
    ClientId, Effect, FILL_TURNS_MAX, FetchEvent, Gap, Gaps, Input, PeerMessage, Reader, Replica,
    Unasked,
};
use metatopia_sim::World;
use metatopia_types::{
    Act, Certificate, Digest, Envelope, Header, HeaderId, Height, Lane, Look, Millis, Now,
    PublicKey, Seq, Sign as _, SigningKey, Turn, TurnBody, ValidatorsId,
};

use super::alone::{Alone, NOON, SNAPSHOT_TURNS, config, genesis, key};

/// Names of two peers; what they answer is the test's matter.
fn peers() -> [PublicKey; 2] {
    let mut peers = [21, 22].map(|seed| SigningKey::from_seed([seed; 32]).public());
    peers.sort_unstable();
    peers
}

/// A server that begins with a state, and lacks what came before.
struct Filler {
    replica: Replica,
    now: Now,
    /// Whom it asked for turns, from which height on.
    asked: Vec<(PublicKey, u64)>,
    dropped: Vec<PublicKey>,
    /// What it said that cannot be proved.
    unprovable: Vec<u64>,
    put: Vec<Vec<Decision>>,
    answers: BTreeMap<u64, Answer>,
    /// Where its log goes on behind what it lacks.
    next: Option<Height>,
    told: Vec<ServerMessage>,
}

type Provider<'a> = &'a mut dyn FnMut(PublicKey, Question) -> Option<Answer>;

impl Filler {
    fn begin(server: &Alone, gap: (u64, u64), names: Option<HeaderId>) -> Self {
        Self::with(server.state(), &[(gap.0, gap.1, names)])
    }

    /// The server with this state, and these gaps before it, the newest first.
    fn with((base, world): (Base, World), gaps: &[(u64, u64, Option<HeaderId>)]) -> Self {
        let mut config = config(&genesis());
        config.agreement.signer = Arc::new(SigningKey::from_seed([9; 32]));
        config.agreement.fresh_key = false;
        let now = Now { monotonic: Duration::from_secs(100), wall: NOON.plus(100_000) };
        let replica = Replica::open(config, base, world, [], [], now).expect("a state");
        let (asked, dropped, put) = (Vec::new(), Vec::new(), Vec::new());
        let (answers, told) = (BTreeMap::new(), Vec::new());
        let (unprovable, next) = (Vec::new(), None);
        let mut filler =
            Self { replica, now, asked, dropped, unprovable, put, answers, next, told };
        for peer in peers() {
            filler.handle(Input::PeerUp(peer));
        }
        filler.lacks(gaps);
        filler
    }

    fn handle(&mut self, input: Input) {
        self.replica.handle(self.now, input);
    }

    fn lacks(&mut self, gaps: &[(u64, u64, Option<HeaderId>)]) {
        let gap = |(first, last, names)| Gap { first: Height(first), last: Height(last), names };
        let turns = gaps.iter().map(|(first, last, _)| last - first + 1).sum();
        self.handle(Input::Gaps(Gaps { turns, newest: gaps.iter().copied().map(gap).collect() }));
    }

    /// Returns why the server does not ask for the newest of what it lacks.
    fn unasked(&self) -> Option<Unasked> {
        let status = self.replica.status(self.now).expect("nothing is being applied");
        status.missing.expect("turns are missing").unasked
    }

    /// Carries out what it wants.
    fn carry(&mut self, provider: Provider<'_>) {
        while let Some(effect) = self.replica.poll() {
            let input = match effect {
                Effect::ToPeer { to: Some(to), frame } => {
                    let Ok(PeerMessage::Ask { id, question }) = PeerMessage::decode(&frame) else {
                        continue;
                    };
                    let Question::Turns { from } = *question else { panic!("{question:?}") };
                    self.asked.push((to, from.0));
                    let Some(answer) = provider(to, *question) else {
                        continue;
                    };
                    let frame = PeerMessage::Answer { id, answer: Box::new(answer) }.encode();
                    Input::PeerFrame { from: to, frame }
                }
                Effect::Sync(position) => Input::Synced(position),
                Effect::Load { reader: reader @ Reader::Question(_), from, .. } => {
                    let put = self.put.iter().flatten();
                    let decisions = put.filter(|turn| turn.height() == from).cloned().collect();
                    Input::Loaded { reader, decisions, oldest: Height(1), next: self.next }
                }
                Effect::PutBack(turns) => {
                    self.put.push(turns);
                    continue;
                }
                Effect::Fetch(FetchEvent::Dropped { peer, .. }) => {
                    self.dropped.push(peer);
                    continue;
                }
                Effect::Fetch(FetchEvent::Unprovable(last)) => {
                    self.unprovable.push(last.0);
                    continue;
                }
                Effect::Answer { token, answer } => {
                    self.answers.insert(token, answer);
                    continue;
                }
                Effect::ToClient { frame, .. } => {
                    self.told.push(decode_server(&frame).expect("a frame"));
                    continue;
                }
                _ => continue,
            };
            self.handle(input);
        }
    }

    fn wake(&mut self, provider: Provider<'_>) {
        let due = self.replica.deadline().expect("turns are missing").max(self.now.monotonic);
        self.now.monotonic = due;
        self.handle(Input::Wake);
        self.carry(provider);
    }

    /// Goes on until turns are handed over.
    fn fill(&mut self, provider: Provider<'_>) -> Vec<Decision> {
        let before = self.put.len();
        self.carry(provider);
        for _ in 0..10_000 {
            if self.put.len() > before {
                return self.put[before].clone();
            }
            self.wake(provider);
        }
        panic!("nothing was handed over: asked {:?}, dropped {:?}", self.asked, self.dropped);
    }
}

fn heights(turns: &[Decision]) -> Vec<u64> {
    turns.iter().map(|turn| turn.height().0).collect()
}

/// Returns the header that the turn after this height names.
fn named(server: &mut Alone, height: u64) -> HeaderId {
    match server.ask(Question::Turns { from: Height(height + 1) }) {
        Answer::Turns(turns) => turns[0].0.header.previous,
        other => panic!("{other:?}"),
    }
}

#[test]
fn missing_turns_are_asked_for_by_the_batch_and_the_newest_come_first() {
    let mut server = Alone::begin();
    let last = 26 * SNAPSHOT_TURNS;
    server.run_to(last + 5);
    let names = Some(named(&mut server, last));
    let mut filler = Filler::begin(&server, (1, last), names);
    let begun = filler.now.monotonic;

    let newest = filler.fill(&mut |_, question| Some(server.ask(question)));

    let first = last - FILL_TURNS_MAX + 1;
    assert_eq!(heights(&newest), (first..=last).collect::<Vec<_>>());
    assert_eq!(Some(newest[newest.len() - 1].id()), names);
    let first_peer = filler.asked[0].0;
    let of_one = filler.asked.iter().all(|(peer, _)| *peer == first_peer);
    assert!(of_one && filler.asked.len() >= 5, "{:?}", filler.asked);
    let took = filler.now.monotonic - begun;
    assert!(took < Duration::from_secs(5), "{took:?} for what clients may ask about");
    // Nothing more is asked before the keeper has said what it did with them.
    assert_eq!(filler.replica.deadline().filter(|due| *due < begun + took), None);

    let names = Some(newest[0].turn.header.previous);
    filler.lacks(&[(1, first - 1, names)]);
    let rest = filler.fill(&mut |_, question| Some(server.ask(question)));
    assert_eq!(heights(&rest), (1..first).collect::<Vec<_>>());
    assert!(filler.asked.last().is_some_and(|(peer, _)| *peer != first_peer), "the other's turn");
    assert_eq!(filler.dropped, []);
}

/// Another turn in the place of this one, which everybody who votes has signed.
fn other_history(server: &Alone, turn: &Turn) -> (Turn, Certificate) {
    let header = Header { time: Millis(turn.header.time.0 + 1), ..turn.header.clone() };
    let turn = Turn { header, body: turn.body.clone() };
    let mut certificate = Certificate {
        height: turn.header.height,
        round: turn.header.round,
        header: turn.id(),
        signatures: Vec::new(),
    };
    let vote = certificate.vote(key().public()).sign_bytes(server.sim);
    certificate.signatures.push((key().public(), key().sign(&vote)));
    (turn, certificate)
}

#[test]
fn a_peer_that_gives_what_was_not_decided_is_asked_for_nothing_more_and_another_one_is() {
    type Lie = fn(&Alone, &mut Vec<(Turn, Certificate)>);
    let lies: [Lie; 6] = [
        |_, turns| turns[7].1.signatures.clear(),
        |_, turns| turns[7].1 = turns[6].1.clone(),
        |_, turns| turns[9].0.header.time.0 += 1,
        |_, turns| drop(turns.remove(0)),
        |server, turns| turns[7] = other_history(server, &turns[7].0),
        // The last one: nothing after it in the answer tells, but the turn that is there does.
        |server, turns| turns[49] = other_history(server, &turns[49].0),
    ];
    for (number, lie) in lies.into_iter().enumerate() {
        let mut server = Alone::begin();
        server.run_to(SNAPSHOT_TURNS + 5);
        let names = Some(named(&mut server, SNAPSHOT_TURNS));
        let mut filler = Filler::begin(&server, (1, SNAPSHOT_TURNS), names);
        let [liar, honest] = peers();
        let mut lied = 0;
        let turns = filler.fill(&mut |peer, question| {
            let Answer::Turns(mut turns) = server.ask(question) else { panic!("turns") };
            if peer == liar {
                lied += 1;
                lie(&server, &mut turns);
            }
            Some(Answer::Turns(turns))
        });
        assert_eq!(heights(&turns), (1..=SNAPSHOT_TURNS).collect::<Vec<_>>(), "lie {number}");
        for (turn, height) in turns.iter().zip(1..) {
            assert_eq!(turn.id(), named(&mut server, height), "lie {number}");
        }
        assert_eq!((filler.dropped.as_slice(), lied), ([liar].as_slice(), 1), "lie {number}");
        assert!(filler.asked.iter().any(|(peer, _)| *peer == honest));
    }
}

#[test]
fn a_body_that_its_header_does_not_name_is_a_lie_too() {
    let mut server = Alone::begin();
    submit(&mut server, &login(1));
    server.run_to(SNAPSHOT_TURNS + 5);
    let mut filler = Filler::begin(&server, (1, SNAPSHOT_TURNS), None);
    let [liar, _] = peers();
    let turns = filler.fill(&mut |peer, question| {
        let Answer::Turns(mut turns) = server.ask(question) else { panic!("turns") };
        if peer == liar {
            turns.iter_mut().for_each(|(turn, _)| turn.body = TurnBody::default());
        }
        Some(Answer::Turns(turns))
    });
    assert_eq!(filler.dropped, [liar]);
    assert_eq!(turns.iter().map(|turn| turn.turn.body.acts().len()).sum::<usize>(), 1);
}

#[test]
fn a_peer_that_has_nothing_or_says_nothing_is_left_alone_for_a_while() {
    let nothing: [fn() -> Option<Answer>; 5] = [
        || Some(Answer::Turns(Vec::new())),
        || Some(Answer::Unknown),
        || Some(Answer::Pruned { oldest: Height(900) }),
        || Some(Answer::Busy),
        || None,
    ];
    for (number, answer) in nothing.into_iter().enumerate() {
        let mut server = Alone::begin();
        server.run_to(SNAPSHOT_TURNS + 5);
        let mut filler = Filler::begin(&server, (1, SNAPSHOT_TURNS), None);
        let [first, second] = peers();
        let mut tried = 0;
        let begun = filler.now.monotonic;
        let turns = filler.fill(&mut |peer, question| {
            tried += 1;
            if peer == first || tried < 3 { answer() } else { Some(server.ask(question)) }
        });
        assert_eq!(turns.len() as u64, SNAPSHOT_TURNS, "case {number}");
        assert_eq!(filler.dropped, [], "case {number}");
        let pause = filler.now.monotonic - begun;
        assert!(pause >= Duration::from_secs(1) && tried <= 5, "case {number}: {tried}, {pause:?}");
        assert_eq!(filler.asked.last().map(|(peer, _)| *peer), Some(second), "case {number}");
    }
}

#[test]
fn a_peer_that_gives_turn_by_turn_as_slowly_as_it_may_keeps_nobody_waiting_for_long() {
    let mut server = Alone::begin();
    server.run_to(SNAPSHOT_TURNS * 7 + 5);
    let mut filler = Filler::begin(&server, (1, SNAPSHOT_TURNS * 7), None);
    let [slow, _] = peers();
    let begun = filler.now.monotonic;
    let turns = filler.fill(&mut |peer, question| {
        let Answer::Turns(mut turns) = server.ask(question) else { panic!("turns") };
        turns.truncate(if peer == slow { 1 } else { 256 });
        Some(Answer::Turns(turns))
    });
    let took = filler.now.monotonic - begun;
    assert!(took > Duration::from_secs(59) && took < Duration::from_secs(70), "{took:?}");
    assert_eq!(filler.asked.last().map(|(peer, _)| *peer == slow), Some(false));
    // With fewer turns at once: so a busy hour comes over a slow line, too.
    assert_eq!(turns.last().map(Decision::height), Some(Height(SNAPSHOT_TURNS * 7)));
    assert!(turns.len() < 200, "{}", turns.len());
}

#[test]
fn of_a_peer_that_kept_only_the_newer_ones_those_are_taken() {
    let mut server = Alone::begin();
    server.run_to(SNAPSHOT_TURNS + 5);
    let mut filler = Filler::begin(&server, (1, SNAPSHOT_TURNS), None);
    let oldest = Height(30);
    let turns = filler.fill(&mut |_, question| match question {
        Question::Turns { from } if from < oldest => Some(Answer::Pruned { oldest }),
        question => Some(server.ask(question)),
    });
    assert_eq!(heights(&turns), (30..=SNAPSHOT_TURNS).collect::<Vec<_>>());
}

#[test]
fn a_peer_that_lacks_turns_in_the_midst_gives_those_behind_them() {
    let mut server = Alone::begin();
    server.run_to(SNAPSHOT_TURNS + 5);
    let mut filler = Filler::begin(&server, (1, SNAPSHOT_TURNS), None);
    let lacks = 20..30;
    let turns = filler.fill(&mut |_, question| match question {
        Question::Turns { from } if lacks.contains(&from.0) => {
            Some(Answer::Pruned { oldest: Height(lacks.end) })
        }
        question => {
            let Answer::Turns(mut turns) = server.ask(question) else { panic!("turns") };
            turns.truncate(7);
            turns.retain(|(turn, _)| !lacks.contains(&turn.header.height.0));
            Some(Answer::Turns(turns))
        }
    });
    assert_eq!(heights(&turns), (30..=SNAPSHOT_TURNS).collect::<Vec<_>>());
}

#[test]
fn who_wants_turns_in_order_is_told_where_they_go_on_and_who_wants_one_waits_for_it() {
    let mut server = Alone::begin();
    server.run_to(SNAPSHOT_TURNS + 5);
    let mut filler = Filler::begin(&server, (1, SNAPSHOT_TURNS), None);
    let oldest = Height(SNAPSHOT_TURNS);
    filler.next = Some(oldest);
    filler.handle(Input::Ask { token: 1, question: Question::Turns { from: Height(5) } });
    filler.handle(Input::Ask { token: 2, question: Question::Turn { height: Height(5) } });
    filler.carry(&mut |_, _| None);
    assert_eq!(filler.answers.get(&1), Some(&Answer::Pruned { oldest }));
    assert_eq!(filler.answers.get(&2), Some(&Answer::Unknown));
}

#[test]
fn an_older_gap_does_not_wait_behind_one_that_nobody_can_fill() {
    let mut server = Alone::begin();
    server.run_to(SNAPSHOT_TURNS + 5);
    let names = [40, 10].map(|height| Some(named(&mut server, height)));
    let gaps = [(31, 40, names[0]), (1, 10, names[1])];
    let mut filler = Filler::with(server.state(), &gaps);
    assert_eq!(filler.unasked(), None);

    let mut lost = true;
    let give = |server: &mut Alone, lost: bool, question: Question| match question {
        Question::Turns { from } if lost && from >= Height(31) => Some(Answer::Unknown),
        question => Some(server.ask(question)),
    };
    let older = filler.fill(&mut |_, question| give(&mut server, lost, question));

    assert_eq!(heights(&older), (1..=10).collect::<Vec<_>>());
    let first: Vec<u64> = filler.asked.iter().map(|(_, from)| *from).collect();
    assert_eq!(first, [31, 31, 1], "the newest is asked of everybody first");
    assert_eq!(filler.unasked(), Some(Unasked::NobodyHas));
    filler.lacks(&gaps[..1]);
    // Somebody put them back.
    lost = false;
    let newest = filler.fill(&mut |_, question| give(&mut server, lost, question));
    assert_eq!(heights(&newest), (31..=40).collect::<Vec<_>>());
    for peer in peers() {
        filler.handle(Input::PeerDown(peer));
    }
    assert_eq!(filler.unasked(), Some(Unasked::NoPeer));
}

#[test]
fn turns_whose_voters_are_forgotten_are_told_of_and_not_asked_for() {
    let mut server = Alone::begin();
    server.run_to(SNAPSHOT_TURNS + 5);
    let forgotten = 20;
    let Answer::Turns(turns) = server.ask(Question::Turns { from: Height(forgotten) }) else {
        panic!("turns")
    };
    // The oldest change that is known is of that height, and not from the first validators.
    let (mut base, world) = server.state();
    let next = base.sets[0].members().to_vec();
    let (Turn { mut header, .. }, certificate) = turns[0].clone();
    header.validators = ValidatorsId(Digest::ZERO);
    base.links = vec![Link { header, certificate, next }];
    let mut filler = Filler::with((base, world), &[(1, SNAPSHOT_TURNS, None)]);
    assert_eq!((filler.unasked(), filler.unprovable.as_slice()), (None, [].as_slice()));

    let provable = filler.fill(&mut |_, question| Some(server.ask(question)));

    assert_eq!(heights(&provable), (forgotten + 1..=SNAPSHOT_TURNS).collect::<Vec<_>>());
    let asked = filler.asked.len();
    for _ in 0..2 {
        filler.lacks(&[(1, forgotten, Some(named(&mut server, forgotten)))]);
        filler.carry(&mut |_, _| panic!("nobody is asked"));
    }
    filler.now.monotonic += Duration::from_secs(600);
    filler.handle(Input::Wake);
    filler.carry(&mut |_, _| panic!("nobody is asked"));
    assert_eq!((filler.asked.len(), filler.dropped.as_slice()), (asked, [].as_slice()));
    assert_eq!(filler.unasked(), Some(Unasked::Unprovable));
    assert_eq!(filler.unprovable, [forgotten], "it is said once");
}

#[test]
fn turns_that_were_not_put_back_are_asked_for_again_after_a_pause() {
    let mut server = Alone::begin();
    server.run_to(SNAPSHOT_TURNS + 5);
    let mut filler = Filler::begin(&server, (1, SNAPSHOT_TURNS), None);
    filler.fill(&mut |_, question| Some(server.ask(question)));
    let then = filler.now.monotonic;
    filler.lacks(&[(1, SNAPSHOT_TURNS, None)]);
    filler.fill(&mut |_, question| Some(server.ask(question)));
    assert!(filler.now.monotonic - then >= Duration::from_secs(5));
}

fn person() -> SigningKey {
    SigningKey::from_seed([77; 32])
}

fn login(seq: u64) -> Submission {
    let envelope = Envelope {
        sim: genesis().id(),
        author: person().public(),
        lane: Lane(1),
        seq: Seq(seq),
        last_valid: Height(900),
        act: Act::login("Ada".into(), Look::default()),
    };
    Submission { act: envelope.sign(&person()), blobs: Vec::new() }
}

fn submit(server: &mut Alone, submission: &Submission) {
    server.run_to(2);
    let message = PeerMessage::Submission(Box::new(submission.clone()));
    server.peer_says(SigningKey::from_seed([8; 32]).public(), &message);
}

fn receipt(seq: u64) -> Question {
    Question::Receipt { author: person().public(), lane: Lane(1), seq: Seq(seq) }
}

/// A server whose peers decided an act in turns that it lacks.
fn lacks_an_act() -> (Alone, Filler, Submission) {
    let mut server = Alone::begin();
    let submission = login(2);
    submit(&mut server, &submission);
    server.run_to(SNAPSHOT_TURNS + 5);
    let filler = Filler::begin(&server, (1, SNAPSHOT_TURNS), None);
    (server, filler, submission)
}

#[test]
fn who_asks_for_a_receipt_in_turns_that_are_missing_gets_it_once_they_are_back() {
    let (mut server, mut filler, submission) = lacks_an_act();
    filler.handle(Input::Ask { token: 1, question: receipt(2) });
    filler.handle(Input::Ask { token: 2, question: receipt(1) });
    filler.handle(Input::Ask { token: 3, question: Question::Players });
    filler.carry(&mut |_, _| None);
    assert_eq!(
        filler.answers.keys().collect::<Vec<_>>(),
        [&3],
        "it does not say that there is none"
    );
    assert_eq!(filler.replica.waiting().questions, 2);

    filler.fill(&mut |_, question| Some(server.ask(question)));
    filler.carry(&mut |_, _| None);

    let Some(Answer::Receipt(found)) = filler.answers.get(&1) else {
        panic!("{:?}", filler.answers)
    };
    assert_eq!(found.act, submission.act);
    assert_eq!(filler.answers.get(&2), None, "the log may still lack some");
    filler.lacks(&[]);
    filler.carry(&mut |_, _| None);
    assert_eq!(filler.answers.get(&2), Some(&Answer::Unknown));
}

#[test]
fn if_nobody_has_the_turns_who_asks_for_a_receipt_is_told_so_after_a_while() {
    let (_, mut filler, _) = lacks_an_act();
    filler.handle(Input::Ask { token: 1, question: receipt(2) });
    let begun = filler.now.monotonic;
    while filler.answers.is_empty() {
        filler.wake(&mut |_, _| Some(Answer::Unknown));
    }
    assert_eq!(filler.answers.get(&1), Some(&Answer::Unknown));
    assert_eq!(filler.now.monotonic - begun, Duration::from_secs(10));
}

#[test]
fn an_act_that_is_sent_again_gets_its_receipt_also_if_it_is_in_turns_that_are_missing() {
    let (mut server, mut filler, submission) = lacks_an_act();
    let client = ClientId(1);
    filler.handle(Input::ClientUp(client));
    filler.carry(&mut |_, _| None);
    let Some(ServerMessage::Challenge(challenge)) = filler.told.pop() else {
        panic!("a challenge")
    };
    let hello = ClientMessage::Hello(Hello::new(&challenge, &person()));
    let old = login(1);
    for message in [
        hello,
        ClientMessage::Submit(Box::new(submission.clone())),
        ClientMessage::Submit(Box::new(old.clone())),
    ] {
        filler.handle(Input::ClientFrame { client, frame: encode_client(&message) });
    }
    filler.carry(&mut |_, _| None);
    let about = |told: &[ServerMessage]| {
        let acts = told.iter().filter_map(|message| match message {
            ServerMessage::Refused { act, why } => Some((*act, Some(*why))),
            ServerMessage::Receipt { act, .. } => Some((*act, None)),
            _ => None,
        });
        acts.collect::<Vec<_>>()
    };
    assert_eq!(about(&filler.told), [], "it does not refuse what it cannot know");

    filler.fill(&mut |_, question| Some(server.ask(question)));
    filler.lacks(&[]);
    filler.carry(&mut |_, _| None);

    let refused = Some(SubmitRefusal::Replayed(2));
    let due = [(submission.act.id(), None), (old.act.id(), refused)];
    let told = about(&filler.told);
    assert!(told.len() == 2 && due.iter().all(|one| told.contains(one)), "{told:?}");
    // From now on it is as on any other server.
    filler.handle(Input::ClientFrame {
        client,
        frame: encode_client(&ClientMessage::Submit(Box::new(old.clone()))),
    });
    filler.carry(&mut |_, _| None);
    assert_eq!(about(&filler.told).last(), Some(&(old.act.id(), refused)));
}
