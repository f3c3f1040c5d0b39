//! The script `greeter` 1.2.0 in Rust, as `metatopia script port` writes it.
//!
//! AGPL-3.0-or-later
//! Authors: The Metatopia authors

use crate::port::prelude::*;

/// What the port replaces, and what it is made of.
pub(crate) static PORT: PortTables = PortTables {
    package: "36d760170207fee89a0ad25135a6a6acd22aa7545a9a5642f600e2a0f4e0e381",
    file: "greeter.rhai",
    functions: &[
        PortFunction {
            name: "on_start",
            parameters: 0,
            captures: 0,
            registers: 3,
            at: at(7, 15),
            body: PortedBody { body: f0_on_start, window: 3 },
        },
        PortFunction {
            name: "on_enter",
            parameters: 1,
            captures: 0,
            registers: 7,
            at: at(13, 20),
            body: PortedBody { body: f1_on_enter, window: 7 },
        },
        PortFunction {
            name: "on_chat",
            parameters: 2,
            captures: 0,
            registers: 11,
            at: at(24, 24),
            body: PortedBody { body: f2_on_chat, window: 20 },
        },
        PortFunction {
            name: "is_greeting",
            parameters: 1,
            captures: 0,
            registers: 9,
            at: at(36, 23),
            body: PortedBody { body: f3_is_greeting, window: 9 },
        },
        PortFunction {
            name: "clock",
            parameters: 1,
            captures: 0,
            registers: 12,
            at: at(46, 19),
            body: PortedBody { body: f4_clock, window: 12 },
        },
    ],
    handlers: &[
        (EventKind::Start, 0),
        (EventKind::Enter, 1),
        (EventKind::Chat, 2),
    ],
    names: &[
        "met",
        "known",
        "kind",
        "player",
        "name",
    ],
    shapes: &[
    ],
    calls: &[
        ("zone", 1),
        ("contains", 2),
        ("len", 1),
        ("clear", 1),
        ("whisper", 2),
        ("trim", 1),
        ("lower", 1),
        ("say", 1),
        ("now", 0),
        ("starts_with", 2),
        ("floor", 1),
    ],
    paths: &[
        &[],
        &[
            link(IrLinkKind::Name(0), false, at(8, 11), at(8, 10)),
        ],
        &[
            link(IrLinkKind::Name(1), false, at(9, 11), at(9, 10)),
        ],
        &[
            link(IrLinkKind::Name(1), false, at(18, 15), at(18, 14)),
        ],
        &[
            link(IrLinkKind::Name(1), false, at(20, 11), at(20, 10)),
            link(IrLinkKind::Index(3), false, at(20, 17), at(20, 16)),
        ],
        &[
            link(IrLinkKind::Name(0), false, at(31, 15), at(31, 14)),
        ],
    ],
    constants,
};

fn constants() -> Vec<Value> {
    vec![
        Value::Array(vec![
            Value::Text("hello".into()),
            Value::Text("hi".into()),
            Value::Text("hey".into()),
            Value::Text("good morning".into()),
            Value::Text("good evening".into())
        ]),
        Value::Int(15),
        Value::Int(64),
        Value::Array(vec![
            Value::Text("hello".into()),
            Value::Text("hi".into()),
            Value::Text("hey".into()),
            Value::Text("good morning".into()),
            Value::Text("good evening".into())
        ]),
        Value::Map([].into()),
        Value::Text("avatar".into()),
        Value::Text("Welcome, ".into()),
        Value::Text("! Say hello to me, or help.".into()),
        Value::Text("help".into()),
        Value::Text(concat!(
            "Say hello, help or time. Touch the bell or the door, turn the beam, push",
            " the crates."
        ).into()),
        Value::Text("time".into()),
        Value::Text("This world has lived for ".into()),
        Value::Text(".".into()),
        Value::Text("Hello, ".into()),
        Value::Text("! You are greeting number ".into()),
        Value::Text(". Say help for more.".into()),
        Value::Text(" ".into()),
        Value::Text(",".into()),
        Value::Text("!".into()),
        Value::Text(" h ".into()),
        Value::Text(" min ".into()),
        Value::Text(" s".into()),
    ]
}

/// Is `on_start` at 7:15.
fn f0_on_start(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(122).at(7, 15)?;
    int(r, 1, 0);
    state(r, 2);
    m.write(r, (2, 1), 1, at(8, 11)).at(8, 11)?; // .met
    state(r, 2);
    m.read(r, 1, 2, 1).at(9, 25)?; // .known
    'to_9: {
        if !is_unit(r, 1) {
            break 'to_9;
        }
        m.pay(10).at(9, 31)?;
        m.constant(r, 1, 4);
    }
    m.pay(96).at(9, 31)?;
    state(r, 2);
    m.write(r, (2, 2), 1, at(9, 11)).at(9, 11)?; // .known
    m.constant(r, 1, 1);
    m.world(r, 0, 1).at(10, 5)?; // zone
    unit(r, 0);
    Ok(taken(r, 0))
}

/// Is `on_enter` at 13:20.
fn f1_on_enter(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 7);
    m.pay(71).at(13, 20)?;
    m.read(r, 3, 0, 2).at(14, 14)?; // .kind
    m.constant(r, 4, 5);
    m.operator(r, BinaryOp::Unequal, 2, (3, 4)).at(14, 19)?;
    'to_11: {
        if is(r, 2, true).at(14, 19)? {
            break 'to_11;
        }
        m.pay(109).at(14, 19)?;
        state(r, 4);
        m.read(r, 2, 4, 1).at(14, 56)?; // .known
        m.read(r, 3, 0, 3).at(14, 40)?; // .player
        m.world(r, 1, 2).at(14, 47)?; // contains
        is(r, 2, true).at(14, 47)?;
    }
    m.pay(6).at(14, 31)?;
    'to_16: {
        if is(r, 2, false).at(14, 31)? {
            break 'to_16;
        }
        m.pay(15).at(14, 31)?;
        unit(r, 2);
        return Ok(taken(r, 2));
    }
    m.pay(98).at(14, 5)?;
    state(r, 5);
    m.read(r, 6, 5, 1).at(17, 14)?; // .known
    copy(r, 4, 6);
    m.world(r, 2, 4).at(17, 20)?; // len
    shift(r, 3, 4);
    m.constant(r, 4, 2);
    m.operator(r, BinaryOp::AtLeast, 2, (3, 4)).at(17, 26)?;
    'to_29: {
        if is(r, 2, false).at(17, 26)? {
            break 'to_29;
        }
        m.pay(78).at(17, 26)?;
        state(r, 4);
        m.alter(r, (4, 3), (3, 3), at(18, 21)).at(18, 21)?; // clear
        shift(r, 2, 3);
    }
    m.pay(2270).at(17, 5)?;
    truth(r, 2, true);
    m.read(r, 3, 0, 3).at(20, 23)?; // .player
    state(r, 4);
    m.write(r, (4, 4), 2, at(20, 17)).at(20, 17)?; // .known[3]
    copy(r, 2, 0);
    m.constant(r, 4, 6);
    m.read(r, 5, 0, 4).at(21, 38)?; // .name
    m.constant(r, 6, 7);
    m.text_of(r, 3, 4, 3).at(21, 20)?;
    m.world(r, 4, 2).at(21, 5)?; // whisper
    unit(r, 1);
    Ok(taken(r, 1))
}

/// Is `on_chat` at 24:24.
fn f2_on_chat(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 11);
    m.pay(231).at(24, 24)?;
    copy(r, 4, 1);
    m.world(r, 5, 4).at(25, 22)?; // trim
    copy(r, 5, 4);
    m.world(r, 6, 5).at(25, 29)?; // lower
    shift(r, 3, 5);
    m.constant(r, 5, 8);
    m.operator(r, BinaryOp::Equal, 4, (3, 5)).at(26, 14)?;
    'to_43: {
        'to_13: {
            if is(r, 4, false).at(26, 14)? {
                break 'to_13;
            }
            m.pay(2063).at(26, 14)?;
            m.constant(r, 4, 9);
            m.world(r, 7, 4).at(27, 9)?; // say
            break 'to_43;
        }
        m.pay(26).at(26, 5)?;
        m.constant(r, 5, 10);
        m.operator(r, BinaryOp::Equal, 4, (3, 5)).at(28, 21)?;
        'to_27: {
            if is(r, 4, false).at(28, 21)? {
                break 'to_27;
            }
            m.pay(2372).at(28, 21)?;
            m.constant(r, 5, 11);
            m.world(r, 8, 9).at(29, 47)?; // now
            shift(r, 8, 9);
            m.call_own(r, 4, 8, at(29, 41))?; // clock
            shift(r, 6, 8);
            m.constant(r, 7, 12);
            m.text_of(r, 4, 5, 3).at(29, 13)?;
            m.world(r, 7, 4).at(29, 9)?; // say
            break 'to_43;
        }
        m.pay(42).at(28, 12)?;
        copy(r, 4, 3);
        m.call_own(r, 3, 4, at(30, 15))?; // is_greeting
        if is(r, 4, false).at(30, 15)? {
            break 'to_43;
        }
        m.pay(2209).at(30, 15)?;
        int(r, 4, 1);
        state(r, 5);
        m.adjust(r, BinaryOp::Add, (5, 5), 4, at(31, 19)).at(31, 19)?; // .met
        m.constant(r, 5, 13);
        m.read(r, 6, 0, 4).at(32, 28)?; // .name
        m.constant(r, 7, 14);
        state(r, 10);
        m.read(r, 8, 10, 0).at(32, 67)?; // .met
        m.constant(r, 9, 15);
        m.text_of(r, 4, 5, 5).at(32, 13)?;
        m.world(r, 7, 4).at(32, 9)?; // say
    }
    m.pay(15).at(26, 5)?;
    unit(r, 2);
    Ok(taken(r, 2))
}

/// Is `is_greeting` at 36:23.
fn f3_is_greeting(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 9);
    m.pay(20).at(36, 23)?;
    m.constant(r, 4, 3);
    iterate(r, 2, 4).at(37, 21)?;
    'from_3: loop {
        m.pay(10).at(37, 5)?;
        'to_36: {
            if !next(r, 2, 4) {
                break 'to_36;
            }
            m.pay(18).at(37, 5)?;
            m.operator(r, BinaryOp::Equal, 5, (0, 4)).at(38, 18)?;
            'to_29: {
                if is(r, 5, true).at(38, 18)? {
                    break 'to_29;
                }
                m.pay(126).at(38, 18)?;
                m.constant(r, 8, 16);
                m.add(r, 7, 4, 8).at(38, 60)?;
                copy(r, 6, 0);
                m.world(r, 9, 6).at(38, 39)?; // starts_with
                shift(r, 5, 6);
                if is(r, 5, true).at(38, 38)? {
                    break 'to_29;
                }
                m.pay(126).at(38, 38)?;
                m.constant(r, 8, 17);
                m.add(r, 7, 4, 8).at(39, 43)?;
                copy(r, 6, 0);
                m.world(r, 9, 6).at(39, 22)?; // starts_with
                shift(r, 5, 6);
                if is(r, 5, true).at(39, 21)? {
                    break 'to_29;
                }
                m.pay(126).at(39, 21)?;
                m.constant(r, 8, 18);
                m.add(r, 7, 4, 8).at(39, 80)?;
                copy(r, 6, 0);
                m.world(r, 9, 6).at(39, 59)?; // starts_with
                shift(r, 5, 6);
                is(r, 5, true).at(39, 58)?;
            }
            m.pay(6).at(38, 30)?;
            'to_34: {
                if is(r, 5, false).at(38, 30)? {
                    break 'to_34;
                }
                m.pay(15).at(38, 30)?;
                truth(r, 5, true);
                return Ok(taken(r, 5));
            }
            m.pay(5).at(38, 9)?;
            continue 'from_3;
        }
        break 'from_3;
    }
    m.pay(15).at(37, 5)?;
    truth(r, 1, false);
    Ok(taken(r, 1))
}

/// Is `clock` at 46:19.
fn f4_clock(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 12);
    m.pay(320).at(46, 19)?;
    copy(r, 3, 0);
    m.world(r, 10, 3).at(47, 23)?; // floor
    shift(r, 2, 3);
    int(r, 4, 3600);
    m.operator(r, BinaryOp::Div, 3, (2, 4)).at(48, 21)?;
    int(r, 6, 60);
    m.operator(r, BinaryOp::Div, 5, (2, 6)).at(49, 23)?;
    int(r, 6, 60);
    m.operator(r, BinaryOp::Rem, 4, (5, 6)).at(49, 28)?;
    copy(r, 5, 3);
    m.constant(r, 6, 19);
    copy(r, 7, 4);
    m.constant(r, 8, 20);
    int(r, 11, 60);
    m.operator(r, BinaryOp::Rem, 9, (2, 11)).at(50, 38)?;
    m.constant(r, 10, 21);
    m.text_of(r, 1, 5, 6).at(50, 5)?;
    Ok(taken(r, 1))
}
