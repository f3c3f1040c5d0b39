//! What a session shows is held against signed roots.

use std::sync::Arc;

use metatopia_client::LATE_TURNS;
use metatopia_protocol::{
    Answer, ServerMessage, ValidatorSetLink, View, ViewProof, Welcome, encode_server,
};
use metatopia_types::{Height, Sign as _};
use metatopia_wasm::{
    BodyDifference, Drawn, DrawnBody, ProofEvent, Prover, Sameness, TrustedGenesis,
};

use crate::elsewhere::{self, LIES};
use crate::stand::{Stand, Watcher, certificate, set};

const OLD: [u8; 4] = [200, 201, 202, 203];
const NEW: [u8; 4] = [201, 202, 203, 204];

pub(crate) struct Session {
    pub(crate) stand: Stand,
    watcher: Watcher,
    pub(crate) prover: Prover,
}

impl Session {
    pub(crate) fn new() -> Self {
        let mut stand = Stand::new();
        stand.enter();
        let genesis = Arc::new(Stand::genesis());
        let prover = Prover::new(
            TrustedGenesis { genesis, light: stand.light() },
            Stand::visitor().public(),
        );
        let mut session = Self { stand, watcher: Watcher::default(), prover };
        session.welcome();
        session
    }

    pub(crate) fn welcome(&mut self) {
        let (height, turns_per_second) = (self.stand.height(), 20);
        self.tell(&ServerMessage::Welcome(Welcome { height, turns_per_second }));
    }

    pub(crate) fn tell(&mut self, message: &ServerMessage) -> Vec<ProofEvent> {
        self.prover.frame(&encode_server(message)).expect("a frame")
    }

    pub(crate) fn view(&mut self) -> View {
        self.stand.view(&mut self.watcher, &self.stand.tiles())
    }

    /// A view of everything.
    pub(crate) fn see(&mut self) -> Height {
        let view = self.view();
        assert_eq!(self.tell(&ServerMessage::View(Box::new(view.clone()))), []);
        view.height
    }

    /// An honest proof of what was seen.
    fn proof(&mut self, of: Height) -> ViewProof {
        while self.stand.height() < of.plus(2) {
            self.stand.turns(1);
        }
        self.stand.proof(of, &self.stand.tiles())
    }

    fn prove(&mut self, proof: ViewProof) -> Vec<ProofEvent> {
        self.tell(&ServerMessage::ViewProof(Box::new(proof)))
    }
}

/// The word of the only event.
fn code(events: &[ProofEvent]) -> &str {
    match events {
        [ProofEvent::Mismatch { code, .. } | ProofEvent::Unproven { code, .. }] => code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_an_honest_server_shows_is_proven() {
    let mut session = Session::new();
    for _ in 0..10 {
        let of = session.see();
        let proof = session.proof(of);
        let (header, objects) = (proof.header.clone(), session.stand.world().objects().count());
        let events = session.prove(proof);
        let [ProofEvent::Proven { of: proven, height, signers, members, objects: seen, .. }] =
            &events[..]
        else {
            panic!("{events:?}")
        };
        assert_eq!((*proven, *height), (of.0, header.height.0));
        assert_eq!((signers.len(), *members, seen.len()), (4, 4, objects));
    }
}

#[test]
fn a_view_that_differs_from_the_state_is_a_mismatch_that_names_the_leaf() {
    let mut session = Session::new();
    let mut view = session.view();
    let tile = view.tiles.iter_mut().find(|tile| tile.entries.len() > 1).expect("a full tile");
    tile.entries.pop();
    let of = view.height;
    assert_eq!(session.tell(&ServerMessage::View(Box::new(view))), []);

    let proof = session.proof(of);
    let events = session.prove(proof);

    assert_eq!(code(&events), "proof");
    let [ProofEvent::Mismatch { text, .. }] = &events[..] else { panic!("{events:?}") };
    assert!(text.contains("leaf tile/"), "{text}");
}

#[test]
fn a_tile_that_stays_away_is_late_after_two_seconds() {
    let mut session = Session::new();
    let (hidden, mut late) = (session.stand.beside(), Vec::new());
    for _ in 0..LATE_TURNS / 2 + 2 {
        let mut tiles = session.stand.tiles();
        tiles.retain(|tile| *tile != hidden);
        let view = session.stand.view(&mut session.watcher, &tiles);
        let of = view.height;
        session.tell(&ServerMessage::View(Box::new(view)));
        session.stand.turns(2);
        let proof = session.stand.proof(of, &tiles);
        match &session.prove(proof)[..] {
            [ProofEvent::Proven { lagging, late: now, .. }] => {
                assert!(*lagging >= 1 && now.len() <= 1);
                late.extend(now.iter().map(|at| (of, *at == [hidden.x, hidden.y])));
            }
            other => panic!("{other:?}"),
        }
    }
    let first = session.stand.height().0 - 2;
    assert_eq!(late, [(Height(first), true)], "only the last of them is more than that later");

    let of = session.see();
    let proof = session.proof(of);
    match &session.prove(proof)[..] {
        [ProofEvent::Proven { lagging: 0, late, .. }] => assert_eq!(late.len(), 0),
        other => panic!("{other:?}"),
    }
}

/// The page once believed of any object that it is the own avatar; and it stayed green for two
/// seconds of each lie, so that a server had only to go on to another.
#[test]
fn an_avatar_that_is_said_to_be_elsewhere_proves_nothing() {
    let is_believed = |(_, truth, lie): &(_, _, _)| {
        let mut session = Session::new();
        session.prover.present(true);
        let (view, shown) = elsewhere::view(&session.stand, &mut session.watcher, (*truth, *lie));
        let of = view.height;
        assert_eq!(session.tell(&ServerMessage::View(Box::new(view))), []);
        session.stand.turns(2);
        let proof = session.stand.proof(of, &shown);
        let events = session.prove(proof);
        !matches!(events[..], [ProofEvent::Unproven { code: "missing", .. }])
    };
    let believed: Vec<&str> = LIES.into_iter().filter(is_believed).map(|(lie, ..)| lie).collect();
    assert!(believed.is_empty(), "{believed:?}");
}

#[test]
fn who_has_left_or_only_watches_needs_no_avatar() {
    let mut session = Session::new();
    for (present, proven) in [(false, true), (true, false), (false, true)] {
        session.prover.present(present);
        let mut view = session.view();
        view.me = None;
        let of = view.height;
        session.tell(&ServerMessage::View(Box::new(view)));
        let proof = session.proof(of);
        let events = session.prove(proof);
        assert_eq!(matches!(events[..], [ProofEvent::Proven { .. }]), proven, "{events:?}");
    }
}

#[test]
fn a_header_that_too_few_signed_is_a_mismatch() {
    let mut session = Session::new();
    let of = session.see();
    let mut proof = session.proof(of);
    proof.certificate = certificate(&proof.header, &OLD[..2]);
    assert_eq!(code(&session.prove(proof)), "header");
}

#[test]
fn a_view_that_does_not_fit_is_a_mismatch() {
    let mut session = Session::new();
    session.see();
    session.stand.turns(1);
    let mut view = session.view();
    view.number += 1;
    let events = session.tell(&ServerMessage::View(Box::new(view)));
    assert_eq!(code(&events), "view");
}

#[test]
fn proofs_by_new_servers_wait_for_the_change_and_ask_for_it_once() {
    let mut session = Session::new();
    let of = session.see();
    let mut proof = session.proof(of);
    let mut change = session.stand.proof(of, &[]).header;
    change.height = Height(proof.header.height.0 - 1);
    change.next_validators = set(&NEW).id();
    let link = ValidatorSetLink {
        certificate: certificate(&change, &OLD),
        header: change,
        next: set(&NEW),
    };
    proof.header.validators = set(&NEW).id();
    proof.certificate = certificate(&proof.header, &NEW);

    let events = session.prove(proof.clone());
    let asked = ProofEvent::Links { after: 0 };
    assert!(matches!(events[0], ProofEvent::Unproven { code: "waiting", .. }), "{events:?}");
    assert_eq!(events[1..], [asked]);
    assert_eq!(code(&session.prove(proof)), "waiting");

    let answer = Box::new(Answer::Links(vec![link]));
    let events = session.tell(&ServerMessage::Answer { id: 3, answer });
    let ProofEvent::Followed { members, .. } = &events[0] else { panic!("{events:?}") };
    let told = members.iter().map(|member| (member.key.clone(), member.power));
    let next = set(&NEW);
    assert!(told.eq(next.members().iter().map(|voter| (voter.key.to_string(), voter.power))));
    assert!(matches!(events[1], ProofEvent::Proven { .. }), "{events:?}");
}

#[test]
fn servers_that_nobody_ever_voted_in_are_a_mismatch() {
    let mut session = Session::new();
    let of = session.see();
    let mut proof = session.proof(of);
    proof.header.validators = set(&NEW).id();
    proof.certificate = certificate(&proof.header, &NEW);
    session.prove(proof);
    let answer = Box::new(Answer::Links(Vec::new()));
    assert_eq!(code(&session.tell(&ServerMessage::Answer { id: 3, answer })), "validators");
}

#[test]
fn what_is_under_way_when_views_are_asked_for_anew_is_no_lie() {
    let mut session = Session::new();
    session.see();
    session.prover.begin(false);

    // Changes of copies that are gone.
    session.stand.turns(1);
    session.see();
    // Then, whole tiles.
    session.stand.turns(1);
    session.watcher.had.clear();
    let of = session.see();
    let proof = session.proof(of);
    assert!(matches!(session.prove(proof)[..], [ProofEvent::Proven { .. }]));
}

#[test]
fn copies_go_on_at_another_server() {
    let mut session = Session::new();
    session.see();
    session.welcome();
    session.watcher.number = 0;
    session.stand.turns(3);
    let of = session.see();
    let proof = session.proof(of);
    assert!(matches!(session.prove(proof)[..], [ProofEvent::Proven { .. }]));
}

#[test]
fn what_is_drawn_is_compared_with_the_copies() {
    let mut session = Session::new();
    let height = session.see().0;
    let of = |(_, _, copy): (_, _, &metatopia_sim::TileCopy)| {
        copy.entries().map(|entry| (entry.id, entry.body.movement())).collect::<Vec<_>>()
    };
    let bodies: Vec<DrawnBody> = session
        .prover
        .sight()
        .copies()
        .flat_map(of)
        .map(|(id, moves)| DrawnBody {
            id,
            position: moves.position.unwrap(),
            facing: moves.facing.unwrap(),
        })
        .collect();
    assert!(bodies.len() > 20);
    let shown = |height, bodies: &[DrawnBody]| {
        session.prover.shown(&Drawn { height, bodies: bodies.to_vec() })
    };

    assert_eq!(shown(height, &bodies), Some(Sameness::Same { same: bodies.len() }));
    assert_eq!(shown(height - 1, &bodies), None);
    for (code, spoil) in [
        (BodyDifference::Position, (|body| body.position[0] += 1) as fn(&mut DrawnBody)),
        (BodyDifference::Facing, |body| body.facing[1] -= 1),
        (BodyDifference::Absent, |body| body.id.0 += 1_000_000),
    ] {
        let mut other = bodies.clone();
        spoil(&mut other[7]);
        let id = other[7].id;
        assert_eq!(shown(height, &other), Some(Sameness::Other { id, code }));
    }
}

#[test]
fn equal_copies_have_equal_digests() {
    let (mut one, mut other) = (Session::new(), Session::new());
    assert_eq!(one.prover.digest(), other.prover.digest());
    one.see();
    assert_ne!(one.prover.digest(), other.prover.digest());
    other.see();
    assert_eq!(one.prover.digest(), other.prover.digest());
}

#[test]
fn garbage_is_a_fault_and_changes_nothing() {
    let mut session = Session::new();
    session.see();
    let before = session.prover.digest();
    assert_eq!(session.prover.frame(&[0xff; 9]).unwrap_err().code, "frame");
    assert_eq!(session.prover.digest(), before);
}
