//! Packages that run as ports: from an agreed height on, at a flat price, or not at all.

use std::sync::Arc;

use metatopia_physics::Motion;
use metatopia_scripting::{
    ScriptHandler,
    limits::{GAS_PER_CALL_MAX, GAS_PER_CALL_MIN},
};
use metatopia_sim::{
    AgreedPort, AgreedPorts, AgreedPortsError, Course, MissingPort, Parameters, ParametersError,
    Tools, Unsound, World,
    limits::{PORT_NOTICE, PORTS_MAX},
};
use metatopia_types::{Act, Digest, Height, ObjectId, Outcome, PackageId, Refusal};

use crate::{
    course::{SIGNERS, certified, fitting, follow},
    yard::{Builder, Yard, package},
};

const ADMIN: u8 = 100;

/// Counts its ticks; a call costs more than [`FLAT`].
const COUNTER: &str = "
fn on_start() { state.n = 0; timer(\"next\", 0.05); }
fn on_timer(name) { for k in 0..200 { state.n += 1; } self_.text = `${state.n}`; timer(\"next\", 0.05); }
";

/// What an event of the port costs.
const FLAT: u64 = 250;

/// The digest by which the port is agreed.
const PORT: Digest = Digest([9; 32]);

/// A yard with one thing that counts, the package, and tools that have a port of it.
fn counting() -> (Builder, PackageId, Tools) {
    let mut builder = Builder::new();
    let id = builder.package("counter", COUNTER);
    builder.thing(Motion::Static, (4, 4), &[id]);
    let mut tools = builder.tools();
    let port = ScriptHandler::new(&package("counter", COUNTER)).expect("it compiles");
    tools.ports.insert((id, PORT), Arc::new(port));
    (builder, id, tools)
}

fn agreed(package: PackageId, gas: u64, from: u64) -> AgreedPort {
    AgreedPort { package, port: PORT, gas, from: Height(from) }
}

fn yard_of(builder: &Builder, tools: &Tools) -> Yard {
    Yard::of(World::genesis(&builder.genesis, tools).expect("a sound genesis"))
}

/// Returns the gas that the script of the counter has used.
fn used(yard: &Yard) -> u64 {
    let scripts = yard.world.scripts();
    scripts.map(|script| script.gas_used).sum()
}

fn set(ports: &AgreedPorts) -> Act {
    Act::Amend { name: "ports".to_owned(), value: ports.to_string() }
}

#[test]
fn from_its_height_on_a_port_runs_and_each_event_costs_what_was_agreed() {
    let (mut builder, id, tools) = counting();
    let mut source = yard_of(&builder, &tools);
    builder.genesis.parameters.ports = AgreedPorts(vec![agreed(id, FLAT, 10)]);
    let mut ported = yard_of(&builder, &tools);
    source.idle(9);
    ported.idle(9);
    assert_eq!(used(&ported), used(&source), "before its height the source runs");
    let before = used(&ported);
    source.idle(10);
    ported.idle(10);
    let events = (used(&ported) - before) / FLAT;
    assert_eq!((used(&ported) - before) % FLAT, 0);
    assert!(events >= 5, "{events} events");
    assert!(used(&source) - before > 2 * FLAT * events, "the source costs more");
    let told = |yard: &Yard| yard.world.object(ObjectId(1)).map(|thing| thing.text);
    assert_eq!(told(&ported), told(&source));
    assert_ne!(told(&ported), Some(String::new()));
    ported.check_leaves();
}

#[test]
fn a_program_without_an_agreed_port_stops_before_its_turn_and_says_which() {
    let (mut builder, id, tools) = counting();
    builder.genesis.parameters.ports = AgreedPorts(vec![agreed(id, FLAT, 4)]);
    let lacking = builder.tools();
    let mut yard = yard_of(&builder, &lacking);
    let mut course = Course::new(yard.world.clone());
    for _ in 0..3 {
        assert_eq!(course.world().missing_port(), None);
        follow(&mut course, &mut yard);
    }
    let missing = MissingPort { package: id, port: PORT, from: Height(4) };
    assert_eq!(course.world().missing_port(), Some(missing));
    assert_eq!(yard.world.missing_port_up_to(Height(3)), None);
    let turn = fitting(&course, &yard.turn());
    let checked = course.check(&turn, &certified(&course, &turn, &SIGNERS));
    assert_eq!(checked, Err(Unsound::MissingPort(missing)));
    assert!(missing.to_string().contains(&id.to_string()));

    // Another one, which has it, goes on.
    let mut other = yard_of(&builder, &tools);
    other.idle(4);
    assert_eq!(other.world.height(), Height(4));
}

#[test]
#[should_panic(expected = "whoever lacks a port stops before its turn")]
fn a_turn_without_its_port_is_never_applied() {
    let (mut builder, id, _) = counting();
    builder.genesis.parameters.ports = AgreedPorts(vec![agreed(id, FLAT, 1)]);
    yard_of(&builder, &builder.tools()).idle(1);
}

#[test]
fn a_list_of_ports_that_no_sim_may_have_is_refused() {
    let (builder, id, tools) = counting();
    let mut yard = yard_of(&builder, &tools);
    assert!(
        yard.try_act(ADMIN, Act::login("Ann".to_owned(), metatopia_types::Look::default()))
            == Outcome::Ok
    );
    let other = PackageId(Digest([5; 32]));
    let many = |count: usize| {
        let number = |n: usize| PackageId(Digest([u8::try_from(n).expect("a few"); 32]));
        AgreedPorts((1..=count).map(|n| agreed(number(n), FLAT, 1_000)).collect())
    };
    for (ports, error) in [
        (vec![agreed(id, 0, 900)], AgreedPortsError::Gas { package: id, gas: 0 }),
        (
            vec![agreed(id, GAS_PER_CALL_MIN - 1, 900)],
            AgreedPortsError::Gas { package: id, gas: GAS_PER_CALL_MIN - 1 },
        ),
        (
            vec![agreed(id, GAS_PER_CALL_MAX + 1, 900)],
            AgreedPortsError::Gas { package: id, gas: GAS_PER_CALL_MAX + 1 },
        ),
        (vec![agreed(id, 300, 900), agreed(id, 400, 950)], AgreedPortsError::Twice(id)),
        (vec![agreed(id, 300, 0)], AgreedPortsError::NoHeight(id)),
        (many(PORTS_MAX + 1).0, AgreedPortsError::TooMany(PORTS_MAX + 1)),
    ] {
        let ports = AgreedPorts(ports);
        assert_eq!(ports.check(), Err(error));
        let parameters = Parameters { ports: ports.clone(), ..Parameters::default() };
        assert_eq!(parameters.check(), Err(ParametersError::Ports(error)));
        if ports.0.len() <= PORTS_MAX {
            let outcome = yard.try_act(ADMIN, set(&ports));
            assert_eq!(outcome, Outcome::Refused(Refusal::OutOfRange));
        }
    }
    assert_eq!(many(PORTS_MAX).check(), Ok(()));
    for text in ["", "all", "x:y:1:2", "none,none", "+", "+none", "+x:none"] {
        let act = Act::Amend { name: "ports".to_owned(), value: text.to_owned() };
        assert_eq!(yard.try_act(ADMIN, act), Outcome::Refused(Refusal::OutOfRange), "{text}");
    }

    // The act is in the turn after this height.
    let now = yard.world.height().plus(1);
    let soon = AgreedPorts(vec![agreed(id, FLAT, now.0 + PORT_NOTICE - 1)]);
    let package = id;
    let error = AgreedPortsError::TooSoon { package, from: soon.0[0].from, now };
    assert_eq!(soon.check_new(&AgreedPorts::default(), now), Err(error));
    assert_eq!(yard.try_act(ADMIN, set(&soon)), Outcome::Refused(Refusal::OutOfRange));
    let now = yard.world.height().plus(1);
    let ports = AgreedPorts(vec![agreed(id, FLAT, now.0 + PORT_NOTICE)]);
    assert_eq!(yard.try_act(ADMIN, set(&ports)), Outcome::Ok);
    yard.idle(PORT_NOTICE);
    assert_eq!(yard.world.charter().value("ports"), Some(ports.to_string()));

    // What runs already stays, whatever comes beside it, and can be taken away at once.
    let later = agreed(other, 300, yard.world.height().0 + 1_000);
    let both = AgreedPorts(vec![ports.0[0], later]);
    assert_eq!(yard.try_act(ADMIN, set(&both)), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, set(&AgreedPorts::default())), Outcome::Ok);
    assert_eq!(yard.world.charter().value("ports").as_deref(), Some("none"));
}

/// A list of all ports is longer than an act, so an act adds to it.
#[test]
fn ports_come_and_go_one_by_one_up_to_their_limit() {
    let (builder, _, tools) = counting();
    let mut yard = yard_of(&builder, &tools);
    let login = Act::login("Ann".to_owned(), metatopia_types::Look::default());
    assert_eq!(yard.try_act(ADMIN, login), Outcome::Ok);
    let package = |n: usize| PackageId(Digest([u8::try_from(n).expect("a few"); 32]));
    let change = |value: String| Act::Amend { name: "ports".to_owned(), value };
    let add = |n: usize, gas: u64| {
        change(format!("+{}", AgreedPorts(vec![agreed(package(n), gas, 1_000)])))
    };
    for n in 1..=PORTS_MAX {
        assert_eq!(yard.try_act(ADMIN, add(n, FLAT)), Outcome::Ok, "port {n}");
    }
    let full = Outcome::Refused(Refusal::OutOfRange);
    assert_eq!(yard.try_act(ADMIN, add(PORTS_MAX + 1, FLAT)), full);
    // That of a package which has one takes its place.
    assert_eq!(yard.try_act(ADMIN, add(1, FLAT + 1)), Outcome::Ok);
    let ports = &yard.world.parameters().ports;
    assert_eq!(ports.0.len(), PORTS_MAX);
    assert_eq!(ports.at(package(1), Height(1_000)).map(|port| port.gas), Some(FLAT + 1));
    assert_eq!(ports.at(package(1), Height(999)), None);
    assert_eq!(yard.try_act(ADMIN, change(format!("+{}:none", package(2)))), Outcome::Ok);
    assert_eq!(yard.world.parameters().ports.0.len(), PORTS_MAX - 1);
    assert_eq!(yard.try_act(ADMIN, add(PORTS_MAX + 1, FLAT)), Outcome::Ok);
}
