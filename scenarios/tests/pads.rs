//! Two pads, and somebody who goes from one to the other: tests of a package have one thing only.

use std::sync::Arc;

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_scenarios::ExamplePackage;
use metatopia_scripting::ScriptState;
use metatopia_sim::{
    Applied, ENGINE, Genesis, ObjectSpec, ScriptSpec, Serial, ShownForm, Tools, World,
};
use metatopia_types::{
    Act, AssetLicence, Ed25519, Envelope, Header, HeaderId, Lane, Look, Millis, NodeContact,
    ObjectId, Offer, Permission, Round, Seq, Sign as _, SigningKey, Turn, TurnBody,
};

/// A sim with a pad in the south and one in the north, and one visitor.
struct Pads {
    world: World,
    visitor: SigningKey,
    seq: u64,
    previous: HeaderId,
}

fn metres(x: i32, y: i32) -> Vec2 {
    Vec2::new(Fx::from_int(x), Fx::from_int(y))
}

impl Pads {
    fn new() -> Self {
        Self::named("pads")
    }

    fn named(name: &str) -> Self {
        let package = ExamplePackage::named("pad").expect("an example").package();
        let server = SigningKey::from_seed([1; 32]).public();
        let shape = Shape::Rect { half: Vec2::new(Fx::HALF, Fx::HALF) };
        let pad = |at: Vec2| ObjectSpec {
            kind: "pad".to_owned(),
            name: "pad".to_owned(),
            owner: None,
            look: Look::default(),
            text: String::new(),
            body: BodySpec::new(shape.clone(), Motion::Static, at),
            scripts: vec![ScriptSpec { package: package.id(), state: ScriptState::default() }],
            licence: AssetLicence::Cc0,
            spawner: None,
            seat: None,
        };
        let mut genesis = Genesis {
            name: name.to_owned(),
            admins: [server].into(),
            validators: [(server, NodeContact::default())].into(),
            packages: [(package.id(), package.encode())].into(),
            objects: vec![pad(metres(0, 0)), pad(metres(0, 20))],
            licence: "AGPL-3.0-or-later".to_owned(),
            asset_licence: "CC0-1.0".to_owned(),
            ..Genesis::empty()
        };
        genesis.parameters.avatar.spawn = metres(0, -3);
        genesis.parameters.avatar.spawn_radius = Fx::ZERO;
        let world = World::genesis(&genesis, &Tools::new(Arc::new(Ed25519))).expect("two pads");
        let visitor = SigningKey::from_seed([2; 32]);
        let mut pads = Self { world, visitor, seq: 0, previous: HeaderId::BEFORE_FIRST };
        pads.act(Act::login("Ada".to_owned(), Look::default()));
        pads
    }

    /// Applies a turn with this act, if there is one.
    fn play(&mut self, act: Option<Act>) -> Applied {
        let height = self.world.height().plus(1);
        let acts = act.into_iter().map(|act| {
            self.seq += 1;
            let (sim, author) = (self.world.sim(), self.visitor.public());
            let seq = Seq(self.seq);
            Envelope { sim, author, lane: Lane(1), seq, last_valid: height, act }
                .sign(&self.visitor)
        });
        let body = TurnBody::new(acts.collect(), Vec::new()).expect("a small turn");
        let set = self.world.validators(height).expect("the next set");
        let header = Header {
            sim: self.world.sim(),
            engine: ENGINE,
            height,
            previous: self.previous,
            proposer: set.proposer(height, Round(0)),
            time: Millis(1_700_000_000_000 + 50 * height.0),
            ..Header::unstated()
        };
        let turn = Turn::of(header, body);
        self.previous = turn.id();
        let applied = self.world.apply(&turn, &Serial);
        assert!(applied.failures.is_empty(), "{:?}", applied.failures);
        assert!(applied.outcomes.iter().all(|outcome| outcome.is_done()), "{:?}", applied.outcomes);
        applied
    }

    /// Has the visitor do something, and waits a second. Returns what was asked meanwhile.
    fn act(&mut self, act: Act) -> Vec<ShownForm> {
        let mut forms = self.play(Some(act)).forms;
        for _ in 0..20 {
            forms.extend(self.play(None).forms);
        }
        forms
    }

    /// Has the visitor walk for a second and stand still for another one.
    fn walk(&mut self, heading: Vec2) -> Vec<ShownForm> {
        let mut forms = self.act(Act::Walk { heading });
        forms.extend(self.act(Act::Walk { heading: Vec2::ZERO }));
        forms
    }

    fn place(&self) -> Vec2 {
        let avatar = self.world.avatar(&self.visitor.public()).expect("here");
        self.world.object(avatar).expect("seen").position
    }
}

#[test]
fn who_agrees_is_taken_to_the_other_pad_and_is_not_sent_back_at_once() {
    // The name decides in which order the other pad gets its events: that somebody came, and from where.
    for name in 0..12 {
        let mut pads = Pads::named(&name.to_string());
        let asked = pads.walk(Vec2::new(Fx::ZERO, Fx::ONE));
        let [asked] = asked.as_slice() else { panic!("{asked:?}") };
        assert_eq!(asked.object, ObjectId(1));
        let terms = asked.form.offer.as_ref().expect("an offer").terms.clone();
        assert_eq!(terms, Offer { allow: [Permission::Move].into(), ..Offer::default() });
        assert!(pads.place().y < Fx::ZERO, "nobody is taken unasked");

        let asked = pads.act(Act::Answer { object: asked.object, terms, accepts: true });

        assert!(pads.place().y > Fx::from_int(17), "{}", pads.place());
        // The other pad knows who has just come, and asks nothing of them.
        assert_eq!(asked, []);
    }
}

#[test]
fn who_declines_stays() {
    let mut pads = Pads::new();
    let asked = pads.walk(Vec2::new(Fx::ZERO, Fx::ONE));
    let terms = asked[0].form.offer.as_ref().expect("an offer").terms.clone();
    pads.act(Act::Answer { object: asked[0].object, terms, accepts: false });
    assert!(pads.place().y < Fx::ZERO, "{}", pads.place());
}
