//! The script `language` 1.0.0 in Rust, as `metatopia script port` writes it.
//!
//! AGPL-3.0-or-later
//! Authors: The Metatopia authors

use crate::port::prelude::*;

/// What the port replaces, and what it is made of.
pub(crate) static PORT: PortTables = PortTables {
    package: "aa85d911d0a46786056c862cebc100a8e7a560f864b0e2e44e419114b8b0f45c",
    file: "main.rhai",
    functions: &[
        PortFunction {
            name: "on_start",
            parameters: 0,
            captures: 0,
            registers: 12,
            at: at(7, 15),
            body: PortedBody { body: f0_on_start, window: 12 },
        },
        PortFunction {
            name: "on_touch",
            parameters: 3,
            captures: 0,
            registers: 20,
            at: at(14, 33),
            body: PortedBody { body: f1_on_touch, window: 36 },
        },
        PortFunction {
            name: "fact",
            parameters: 1,
            captures: 0,
            registers: 4,
            at: at(40, 12),
            body: PortedBody { body: f2_fact, window: 26 },
        },
        PortFunction {
            name: "caught",
            parameters: 2,
            captures: 0,
            registers: 17,
            at: at(42, 27),
            body: PortedBody { body: f3_caught, window: 17 },
        },
        PortFunction {
            name: "on_message",
            parameters: 3,
            captures: 0,
            registers: 8,
            at: at(63, 34),
            body: PortedBody { body: f4_on_message, window: 31 },
        },
        PortFunction {
            name: "is_small",
            parameters: 1,
            captures: 0,
            registers: 3,
            at: at(68, 16),
            body: PortedBody { body: f5_is_small, window: 3 },
        },
        PortFunction {
            name: "on_timer",
            parameters: 1,
            captures: 0,
            registers: 8,
            at: at(70, 19),
            body: PortedBody { body: f6_on_timer, window: 28 },
        },
        PortFunction {
            name: "depth",
            parameters: 1,
            captures: 0,
            registers: 3,
            at: at(87, 13),
            body: PortedBody { body: f7_depth, window: 14 },
        },
        PortFunction {
            name: "",
            parameters: 1,
            captures: 1,
            registers: 3,
            at: at(19, 31),
            body: PortedBody { body: f8_closure, window: 3 },
        },
        PortFunction {
            name: "",
            parameters: 1,
            captures: 0,
            registers: 3,
            at: at(19, 51),
            body: PortedBody { body: f9_closure, window: 3 },
        },
        PortFunction {
            name: "",
            parameters: 2,
            captures: 0,
            registers: 3,
            at: at(19, 69),
            body: PortedBody { body: f10_closure, window: 3 },
        },
        PortFunction {
            name: "",
            parameters: 2,
            captures: 0,
            registers: 3,
            at: at(32, 41),
            body: PortedBody { body: f11_closure, window: 3 },
        },
        PortFunction {
            name: "",
            parameters: 1,
            captures: 1,
            registers: 4,
            at: at(64, 13),
            body: PortedBody { body: f12_closure, window: 6 },
        },
        PortFunction {
            name: "",
            parameters: 1,
            captures: 0,
            registers: 3,
            at: at(71, 16),
            body: PortedBody { body: f13_closure, window: 3 },
        },
        PortFunction {
            name: "",
            parameters: 1,
            captures: 1,
            registers: 3,
            at: at(72, 41),
            body: PortedBody { body: f14_closure, window: 26 },
        },
        PortFunction {
            name: "",
            parameters: 1,
            captures: 0,
            registers: 2,
            at: at(77, 38),
            body: PortedBody { body: f15_closure, window: 2 },
        },
    ],
    handlers: &[
        (EventKind::Start, 0),
        (EventKind::Touch, 1),
        (EventKind::Message, 4),
        (EventKind::Timer, 6),
    ],
    names: &[
        "count",
        "deep",
        "list",
        "me",
        "e",
        "a",
        "b",
        "c d",
        "none",
        "inner",
        "color",
        "pos",
        "kept",
        "text",
        "name",
        "x",
        "nothing",
        "kind",
        "line",
        "column",
        "bad",
        "spin",
    ],
    shapes: &[
        &[4],
        &[5, 6, 7],
    ],
    calls: &[
        ("vec2", 2),
        ("log", 1),
        ("map", 2),
        ("filter", 2),
        ("reduce", 3),
        ("push", 2),
        ("sort", 2),
        ("contains", 2),
        ("len", 1),
        ("say", 1),
        ("send", 3),
        ("for_each", 2),
    ],
    paths: &[
        &[],
        &[
            link(IrLinkKind::Name(0), false, at(8, 11), at(8, 10)),
        ],
        &[
            link(IrLinkKind::Name(2), false, at(9, 11), at(9, 10)),
        ],
        &[
            link(IrLinkKind::Name(3), false, at(10, 11), at(10, 10)),
        ],
        &[
            link(IrLinkKind::Name(0), false, at(15, 11), at(15, 10)),
        ],
        &[
            link(IrLinkKind::Name(6), false, at(28, 11), at(28, 10)),
            link(IrLinkKind::Index(10), false, at(28, 13), at(28, 12)),
            link(IrLinkKind::Index(11), false, at(28, 16), at(28, 15)),
        ],
        &[
            link(IrLinkKind::Name(6), false, at(29, 11), at(29, 10)),
        ],
        &[
            link(IrLinkKind::Index(10), false, at(30, 11), at(30, 10)),
            link(IrLinkKind::Name(4), false, at(30, 18), at(30, 17)),
        ],
        &[
            link(IrLinkKind::Name(8), false, at(31, 11), at(31, 10)),
            link(IrLinkKind::Name(9), true, at(31, 17), at(31, 15)),
        ],
        &[
            link(IrLinkKind::Name(10), false, at(33, 11), at(33, 10)),
        ],
        &[
            link(IrLinkKind::Name(11), false, at(34, 11), at(34, 10)),
        ],
        &[
            link(IrLinkKind::Name(12), false, at(35, 11), at(35, 10)),
        ],
        &[
            link(IrLinkKind::Name(13), false, at(36, 11), at(36, 10)),
        ],
        &[
            link(IrLinkKind::Name(8), false, at(73, 34), at(73, 33)),
            link(IrLinkKind::Name(9), false, at(73, 39), at(73, 38)),
        ],
        &[
            link(IrLinkKind::Name(0), false, at(75, 37), at(75, 36)),
        ],
        &[
            link(IrLinkKind::Name(20), false, at(77, 32), at(77, 31)),
        ],
        &[
            link(IrLinkKind::Name(21), false, at(83, 32), at(83, 31)),
        ],
    ],
    constants,
};

fn constants() -> Vec<Value> {
    vec![
        Value::Fixed(Fx::from_bits(10737418240)), // 2.5
        Value::Array(vec![
            Value::Text("one".into()),
            Value::Text("two".into()),
            Value::Map([
            ("deep".into(), Value::Array(vec![
            Value::Int(1),
            Value::Fixed(Fx::from_bits(-9663676416))
        ]))
        ].into())
        ]),
        Value::Text(concat!(
            "a \"quoted\" line\nand another one, which is long enough to be written o",
            "n two lines of a port"
        ).into()),
        Value::Vec2(Vec2::new(Fx::from_bits(4294967296), Fx::from_bits(10737418240))), // (1.0, 2.5)
        Value::Array(vec![
            Value::Text("one".into()),
            Value::Text("two".into()),
            Value::Map([
            ("deep".into(), Value::Array(vec![
            Value::Int(1),
            Value::Fixed(Fx::from_bits(-9663676416))
        ]))
        ].into())
        ]),
        Value::Text(concat!(
            "a \"quoted\" line\nand another one, which is long enough to be written o",
            "n two lines of a port"
        ).into()),
        Value::Text("x".into()),
        Value::Array(vec![
            Value::Int(3),
            Value::Int(1),
            Value::Int(2)
        ]),
        Value::Array(vec![
            Value::Int(1),
            Value::Int(2),
            Value::Int(3)
        ]),
        Value::Int(0),
        Value::Text("none".into()),
        Value::Text("few".into()),
        Value::Text("many".into()),
        Value::Array(vec![
            Value::Int(1),
            Value::Array(vec![
            Value::Int(2),
            Value::Int(3)
        ])
        ]),
        Value::Text("c d".into()),
        Value::Array(vec![
            Value::Int(5),
            Value::Int(3),
            Value::Int(9)
        ]),
        Value::Text("zz".into()),
        Value::Text(": ".into()),
        Value::Text(" at ".into()),
        Value::Text("".into()),
        Value::Text("own".into()),
        Value::Array(vec![
            Value::Int(1)
        ]),
        Value::Array(vec![
            Value::Unit
        ]),
        Value::Text("(".into()),
        Value::Text(":".into()),
        Value::Text(")".into()),
        Value::Text("closure".into()),
        Value::Array(vec![
            Value::Int(1)
        ]),
        Value::Text("missing".into()),
        Value::Text("depth".into()),
        Value::Text("gas".into()),
        Value::Text("memory".into()),
        Value::Text("a".into()),
        Value::Text("state".into()),
        Value::Text("kind".into()),
        Value::Text("over".into()),
        Value::Text("index".into()),
        Value::Array(vec![
            Value::Int(5)
        ]),
        Value::Text("call".into()),
        Value::Array(vec![
            Value::Int(1)
        ]),
        Value::Text("arguments".into()),
        Value::Text("range".into()),
        Value::Int(9223372036854775807),
        Value::Text("effects".into()),
        Value::Text("again".into()),
    ]
}

/// Is `on_start` at 7:15.
fn f0_on_start(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 12);
    m.pay(54).at(7, 15)?;
    state(r, 2);
    m.read(r, 1, 2, 0).at(8, 25)?; // .count
    'to_6: {
        if !is_unit(r, 1) {
            break 'to_6;
        }
        m.pay(7).at(8, 31)?;
        int(r, 1, 0);
    }
    m.pay(939).at(8, 31)?;
    state(r, 2);
    m.write(r, (2, 1), 1, at(8, 11)).at(8, 11)?; // .count
    int(r, 2, 1);
    m.constant(r, 3, 0);
    m.constant(r, 4, 6);
    m.constant(r, 5, 3);
    int(r, 7, 2);
    int(r, 8, 1);
    m.constant(r, 9, 4);
    m.element(r, 10, 9, 7).at_either(at(9, 44), at(9, 43))?;
    m.read(r, 11, 10, 1).at(9, 47)?; // .deep
    m.element(r, 6, 11, 8).at_either(at(9, 52), at(9, 51))?;
    m.array_of(r, 1, 2, 5).at(9, 18)?;
    state(r, 2);
    m.write(r, (2, 2), 1, at(9, 11)).at(9, 11)?; // .list
    m.own(r, 1);
    state(r, 2);
    m.write(r, (2, 3), 1, at(10, 11)).at(10, 11)?; // .me
    m.constant(r, 1, 5);
    m.world(r, 1, 1).at(11, 5)?; // log
    unit(r, 0);
    Ok(taken(r, 0))
}

/// Is `on_touch` at 14:33.
fn f1_on_touch(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 20);
    m.pay(55).at(14, 33)?;
    int(r, 4, 1);
    state(r, 5);
    m.adjust(r, BinaryOp::Add, (5, 4), 4, at(15, 17)).at(15, 17)?; // .count
    int(r, 4, 0);
    m.constant(r, 7, 7);
    iterate(r, 5, 7).at(17, 19)?;
    int(r, 7, -1);
    int(r, 8, 1);
    'from_9: loop {
        m.pay(10).at(17, 5)?;
        'to_16: {
            if !next(r, 5, 9) {
                break 'to_16;
            }
            m.pay(37).at(17, 5)?;
            m.adjust(r, BinaryOp::Add, (7, 0), 8, at(17, 5)).at(17, 5)?;
            m.mul(r, 10, 9, 7).at(17, 40)?;
            m.adjust(r, BinaryOp::Add, (4, 0), 10, at(17, 35)).at(17, 35)?;
            continue 'from_9;
        }
        break 'from_9;
    }
    m.pay(34).at(17, 5)?;
    int(r, 8, 0);
    int(r, 9, 4);
    m.operator(r, BinaryOp::RangeTo, 7, (8, 9)).at(18, 15)?;
    iterate(r, 5, 7).at(18, 15)?;
    'from_21: loop {
        m.pay(10).at(18, 5)?;
        'to_38: {
            if !next(r, 5, 7) {
                break 'to_38;
            }
            m.pay(23).at(18, 5)?;
            int(r, 9, 2);
            m.operator(r, BinaryOp::Equal, 8, (7, 9)).at(18, 27)?;
            'to_29: {
                if is(r, 8, false).at(18, 27)? {
                    break 'to_29;
                }
                m.pay(5).at(18, 27)?;
                continue 'from_21;
            }
            m.pay(23).at(18, 22)?;
            int(r, 9, 4);
            m.operator(r, BinaryOp::Equal, 8, (7, 9)).at(18, 51)?;
            'to_35: {
                if is(r, 8, false).at(18, 51)? {
                    break 'to_35;
                }
                m.pay(5).at(18, 51)?;
                break 'to_38;
            }
            m.pay(17).at(18, 46)?;
            m.adjust(r, BinaryOp::Sub, (4, 0), 7, at(18, 71)).at(18, 71)?;
            continue 'from_21;
        }
        break 'from_21;
    }
    m.pay(202).at(18, 5)?;
    copy(r, 8, 4);
    m.closure_of(r, 7, 8, 8).at(19, 31)?;
    m.closure_of(r, 9, 10, 9).at(19, 51)?;
    m.closure_of(r, 11, 13, 10).at(19, 69)?;
    int(r, 12, 0);
    m.constant(r, 13, 8);
    copy(r, 6, 13);
    m.world(r, 2, 6).at(19, 27)?; // map
    copy(r, 8, 6);
    m.world(r, 3, 8).at(19, 44)?; // filter
    copy(r, 10, 8);
    m.world(r, 4, 10).at(19, 62)?; // reduce
    shift(r, 5, 10);
    int(r, 6, 0);
    'from_53: loop {
        m.pay(19).at(21, 5)?;
        int(r, 7, 1);
        m.adjust(r, BinaryOp::Add, (6, 0), 7, at(22, 11)).at(22, 11)?;
        'from_56: loop {
            m.pay(75).at(23, 9)?;
            int(r, 7, 2);
            m.adjust(r, BinaryOp::Add, (6, 0), 7, at(23, 16)).at(23, 16)?;
            int(r, 9, 5);
            m.operator(r, BinaryOp::Rem, 8, (6, 9)).at(23, 27)?;
            int(r, 9, 0);
            m.operator(r, BinaryOp::Equal, 7, (8, 9)).at(23, 31)?;
            'to_66: {
                if is(r, 7, false).at(23, 31)? {
                    break 'to_66;
                }
                m.pay(5).at(23, 31)?;
                continue 'from_56;
            }
            m.pay(19).at(23, 9)?;
            int(r, 8, 7);
            m.operator(r, BinaryOp::Less, 7, (6, 8)).at(23, 60)?;
            if is(r, 7, true).at(23, 60)? {
                continue 'from_56;
            }
            break 'from_56;
        }
        m.pay(11).at(23, 60)?;
        int(r, 8, 20);
        'to_77: {
            'to_75: {
                if !m.is_less(r, 8, 6).at(24, 14)? {
                    break 'to_75;
                }
                m.pay(5).at(24, 14)?;
                break 'to_77;
            }
            m.pay(5).at(24, 9)?;
            continue 'from_53;
        }
        break 'from_53;
    }
    m.pay(21).at(21, 5)?;
    copy(r, 8, 6);
    'to_104: {
        'to_83: {
            if !m.is_case(r, 8, 9) {
                break 'to_83;
            }
            m.pay(13).at(26, 16)?;
            m.constant(r, 7, 10);
            break 'to_104;
        }
        m.pay(20).at(26, 16)?;
        int(r, 9, 1);
        int(r, 10, 9);
        'to_90: {
            if !is_within(r, 8, 9) {
                break 'to_90;
            }
            m.pay(13).at(26, 16)?;
            m.constant(r, 7, 11);
            break 'to_104;
        }
        m.pay(20).at(26, 16)?;
        int(r, 9, 10);
        int(r, 10, 30);
        'to_100: {
            if !is_within(r, 8, 9) {
                break 'to_100;
            }
            m.pay(11).at(26, 16)?;
            int(r, 10, 5);
            if !m.is_less(r, 10, 5).at(26, 73)? {
                break 'to_100;
            }
            m.pay(13).at(26, 73)?;
            m.constant(r, 7, 12);
            break 'to_104;
        }
        m.pay(36).at(26, 16)?;
        copy(r, 9, 6);
        m.text_of(r, 7, 9, 1).at(26, 93)?;
    }
    m.pay(3377).at(26, 16)?;
    int(r, 9, 1);
    m.constant(r, 10, 13);
    copy(r, 12, 2);
    m.map_of(r, 11, 12, 0).at(27, 48)?;
    m.map_of(r, 8, 9, 1).at(27, 17)?;
    int(r, 9, 5);
    int(r, 10, 1);
    int(r, 11, 0);
    m.adjust(r, BinaryOp::Add, (8, 5), 9, at(28, 19)).at(28, 19)?; // .b[10][11]
    m.constant(r, 12, 14);
    m.element(r, 13, 8, 12).at_either(at(29, 24), at(29, 23))?;
    m.read(r, 11, 13, 4).at(29, 31)?; // .e
    m.alter(r, (8, 6), (5, 10), at(29, 13)).at(29, 13)?; // push
    shift(r, 9, 10);
    int(r, 9, 1);
    m.constant(r, 10, 14);
    m.adjust(r, BinaryOp::Sub, (8, 7), 9, at(30, 20)).at(30, 20)?; // [10].e
    int(r, 9, 3);
    m.write(r, (8, 8), 9, at(31, 17)).at(31, 17)?; // .none.inner
    m.constant(r, 9, 15);
    m.closure_of(r, 12, 13, 11).at(32, 41)?;
    m.alter(r, (9, 0), (6, 11), at(32, 36)).at(32, 36)?; // sort
    shift(r, 10, 11);
    int(r, 11, 16711680);
    int(r, 14, 1);
    int(r, 15, 0);
    m.read(r, 16, 8, 6).at(33, 37)?; // .b
    m.element(r, 17, 16, 14).at_either(at(33, 39), at(33, 38))?;
    m.element(r, 13, 17, 15).at_either(at(33, 42), at(33, 41))?;
    int(r, 14, 3);
    m.operator(r, BinaryOp::ShiftLeft, 12, (13, 14)).at(33, 45)?;
    m.operator(r, BinaryOp::BitOr, 10, (11, 12)).at(33, 28)?;
    m.own(r, 11);
    m.write(r, (11, 9), 10, at(33, 11)).at(33, 11)?; // .color
    m.own(r, 12);
    m.read(r, 11, 12, 11).at(34, 23)?; // .pos
    int(r, 13, 0);
    m.mul(r, 12, 1, 13).at(34, 32)?;
    m.add(r, 10, 11, 12).at(34, 27)?;
    m.own(r, 11);
    m.write(r, (11, 10), 10, at(34, 11)).at(34, 11)?; // .pos
    copy(r, 11, 7);
    copy(r, 12, 5);
    copy(r, 13, 9);
    m.constant(r, 19, 16);
    copy(r, 18, 8);
    m.world(r, 7, 18).at(35, 47)?; // contains
    shift(r, 17, 18);
    unary(r, UnaryOp::Not, 14, 17).at(35, 40)?;
    unary(r, UnaryOp::Negate, 15, 5).at(35, 63)?;
    m.read(r, 18, 8, 6).at(35, 77)?; // .b
    copy(r, 17, 18);
    m.world(r, 8, 17).at(35, 79)?; // len
    shift(r, 16, 17);
    m.array_of(r, 10, 11, 6).at(35, 18)?;
    state(r, 11);
    m.write(r, (11, 11), 10, at(35, 11)).at(35, 11)?; // .kept
    int(r, 12, 5);
    m.call_own(r, 2, 12, at(36, 18))?; // fact
    m.constant(r, 13, 17);
    m.add(r, 11, 12, 13).at(36, 26)?;
    copy(r, 12, 0);
    copy(r, 13, 2);
    m.call_own(r, 3, 12, at(36, 35))?; // caught
    m.add(r, 10, 11, 12).at(36, 33)?;
    state(r, 11);
    m.write(r, (11, 12), 10, at(36, 11)).at(36, 11)?; // .text
    m.read(r, 11, 0, 14).at(37, 18)?; // .name
    m.constant(r, 12, 18);
    m.read(r, 13, 1, 15).at(37, 32)?; // .x
    m.text_of(r, 10, 11, 3).at(37, 9)?;
    m.world(r, 9, 10).at(37, 5)?; // say
    unit(r, 3);
    Ok(taken(r, 3))
}

/// Is `fact` at 40:12.
fn f2_fact(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 4);
    m.pay(11).at(40, 12)?;
    int(r, 3, 2);
    'to_11: {
        'to_6: {
            if !m.is_less(r, 0, 3).at(40, 19)? {
                break 'to_6;
            }
            m.pay(10).at(40, 19)?;
            int(r, 1, 1);
            break 'to_11;
        }
        m.pay(48).at(40, 14)?;
        int(r, 3, 1);
        m.sub(r, 2, 0, 3).at(40, 47)?;
        m.call_own(r, 2, 2, at(40, 40))?; // fact
        m.mul(r, 1, 0, 2).at(40, 38)?;
    }
    m.pay(10).at(40, 14)?;
    Ok(taken(r, 1))
}

/// Is `caught` at 42:27.
fn f3_caught(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 17);
    m.pay(42).at(42, 27)?;
    m.constant(r, 3, 19);
    int(r, 7, 0);
    int(r, 8, 4);
    m.operator(r, BinaryOp::Range, 6, (7, 8)).at(44, 15)?;
    iterate(r, 4, 6).at(44, 15)?;
    'from_6: loop {
        m.pay(10).at(44, 5)?;
        'to_75: {
            if !next(r, 4, 6) {
                break 'to_75;
            }
            m.pay(39).at(44, 5)?;
            int(r, 12, 0);
            'to_73: {
                'to_63: {
                    'to_60: {
                        'to_44: {
                            if let Err(fault) = m.operator(r, BinaryOp::Equal, 11, (6, 12)).at(47, 22) {
                                m.caught(r, fault, 9)?;
                                break 'to_44;
                            }
                            'to_17: {
                                match is(r, 11, false).at(47, 22) {
                                    Ok(true) => break 'to_17,
                                    Ok(false) => {}
                                    Err(fault) => {
                                        m.caught(r, fault, 9)?;
                                        break 'to_44;
                                    }
                                }
                                if let Err(fault) = m.pay(410).at(47, 22) {
                                    m.caught(r, fault, 9)?;
                                    break 'to_44;
                                }
                                m.constant(r, 11, 20);
                                let fault = m.throw(r, 11, at(47, 29));
                                m.caught(r, fault, 9)?;
                                break 'to_44;
                            }
                            if let Err(fault) = m.pay(23).at(47, 17) {
                                m.caught(r, fault, 9)?;
                                break 'to_44;
                            }
                            int(r, 12, 1);
                            if let Err(fault) = m.operator(r, BinaryOp::Equal, 11, (6, 12)).at(48, 22) {
                                m.caught(r, fault, 9)?;
                                break 'to_44;
                            }
                            'to_26: {
                                match is(r, 11, false).at(48, 22) {
                                    Ok(true) => break 'to_26,
                                    Ok(false) => {}
                                    Err(fault) => {
                                        m.caught(r, fault, 9)?;
                                        break 'to_44;
                                    }
                                }
                                if let Err(fault) = m.pay(57).at(48, 22) {
                                    m.caught(r, fault, 9)?;
                                    break 'to_44;
                                }
                                int(r, 12, 5);
                                m.constant(r, 13, 21);
                                if let Err(fault) = m.element(r, 11, 13, 12).at_either(at(48, 41), at(48, 40)) {
                                    m.caught(r, fault, 9)?;
                                    break 'to_44;
                                }
                                if let Err(fault) = m.adjust(r, BinaryOp::Add, (3, 0), 11, at(48, 34)).at(48, 34) {
                                    m.caught(r, fault, 9)?;
                                    break 'to_44;
                                }
                            }
                            if let Err(fault) = m.pay(23).at(48, 17) {
                                m.caught(r, fault, 9)?;
                                break 'to_44;
                            }
                            int(r, 12, 2);
                            if let Err(fault) = m.operator(r, BinaryOp::Equal, 11, (6, 12)).at(49, 22) {
                                m.caught(r, fault, 9)?;
                                break 'to_44;
                            }
                            'to_36: {
                                match is(r, 11, false).at(49, 22) {
                                    Ok(true) => break 'to_36,
                                    Ok(false) => {}
                                    Err(fault) => {
                                        m.caught(r, fault, 9)?;
                                        break 'to_44;
                                    }
                                }
                                if let Err(fault) = m.pay(102).at(49, 22) {
                                    m.caught(r, fault, 9)?;
                                    break 'to_44;
                                }
                                int(r, 12, 0);
                                m.constant(r, 13, 22);
                                if let Err(fault) = m.element(r, 11, 13, 12).at_either(at(49, 42), at(49, 41)) {
                                    m.caught(r, fault, 9)?;
                                    break 'to_44;
                                }
                                if let Err(fault) = m.read(r, 12, 11, 16).at(49, 56) { // .nothing
                                    m.caught(r, fault, 9)?;
                                    break 'to_44;
                                }
                                if let Err(fault) = m.adjust(r, BinaryOp::Add, (3, 0), 12, at(49, 51)).at(49, 51) {
                                    m.caught(r, fault, 9)?;
                                    break 'to_44;
                                }
                            }
                            if let Err(fault) = m.pay(68).at(49, 17) {
                                m.caught(r, fault, 9)?;
                                break 'to_44;
                            }
                            int(r, 12, 1);
                            int(r, 14, 3);
                            if let Err(fault) = m.sub(r, 13, 14, 6).at(50, 32) {
                                m.caught(r, fault, 9)?;
                                break 'to_44;
                            }
                            if let Err(fault) = m.operator(r, BinaryOp::Div, 11, (12, 13)).at(50, 27) {
                                m.caught(r, fault, 9)?;
                                break 'to_44;
                            }
                            if let Err(fault) = m.adjust(r, BinaryOp::Add, (3, 0), 11, at(50, 22)).at(50, 22) {
                                m.caught(r, fault, 9)?;
                                break 'to_44;
                            }
                            break 'to_60;
                        }
                        if let Err(fault) = m.pay(23).at(46, 13) {
                            m.caught(r, fault, 7)?;
                            break 'to_63;
                        }
                        int(r, 12, 1);
                        if let Err(fault) = m.operator(r, BinaryOp::Equal, 11, (6, 12)).at(52, 22) {
                            m.caught(r, fault, 7)?;
                            break 'to_63;
                        }
                        'to_50: {
                            match is(r, 11, false).at(52, 22) {
                                Ok(true) => break 'to_50,
                                Ok(false) => {}
                                Err(fault) => {
                                    m.caught(r, fault, 7)?;
                                    break 'to_63;
                                }
                            }
                            if let Err(fault) = m.pay(402).at(52, 22) {
                                m.caught(r, fault, 7)?;
                                break 'to_63;
                            }
                            let fault = rethrown(r, 10);
                            m.caught(r, fault, 7)?;
                            break 'to_63;
                        }
                        if let Err(fault) = m.pay(66).at(52, 17) {
                            m.caught(r, fault, 7)?;
                            break 'to_63;
                        }
                        copy(r, 12, 9);
                        if let Err(fault) = m.text_of(r, 11, 12, 1).at(53, 25) {
                            m.caught(r, fault, 7)?;
                            break 'to_63;
                        }
                        if let Err(fault) = m.adjust(r, BinaryOp::Add, (3, 0), 11, at(53, 22)).at(53, 22) {
                            m.caught(r, fault, 7)?;
                            break 'to_63;
                        }
                        int(r, 12, 2);
                        if let Err(fault) = m.operator(r, BinaryOp::Equal, 11, (6, 12)).at(54, 22) {
                            m.caught(r, fault, 7)?;
                            break 'to_63;
                        }
                        match is(r, 11, false).at(54, 22) {
                            Ok(true) => break 'to_60,
                            Ok(false) => {}
                            Err(fault) => {
                                m.caught(r, fault, 7)?;
                                break 'to_63;
                            }
                        }
                        if let Err(fault) = m.pay(8).at(54, 22) {
                            m.caught(r, fault, 7)?;
                            break 'to_63;
                        }
                        continue 'from_6;
                    }
                    if let Err(fault) = m.pay(8).at(46, 13) {
                        m.caught(r, fault, 7)?;
                        break 'to_63;
                    }
                    break 'to_73;
                }
                m.pay(201).at(45, 9)?;
                m.constant(r, 10, 23);
                m.read(r, 11, 7, 17).at(57, 27)?; // .kind
                m.constant(r, 12, 18);
                m.read(r, 13, 7, 18).at(57, 40)?; // .line
                m.constant(r, 14, 24);
                m.read(r, 15, 7, 19).at(57, 50)?; // .column
                m.constant(r, 16, 25);
                m.text_of(r, 9, 10, 7).at(57, 21)?;
                m.adjust(r, BinaryOp::Add, (3, 0), 9, at(57, 18)).at(57, 18)?;
            }
            m.pay(5).at(45, 9)?;
            continue 'from_6;
        }
        break 'from_6;
    }
    m.pay(21).at(44, 5)?;
    copy(r, 2, 3);
    Ok(taken(r, 2))
}

/// Is `on_message` at 63:34.
fn f4_on_message(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 8);
    m.pay(3348).at(63, 34)?;
    copy(r, 5, 2);
    m.closure_of(r, 4, 5, 12).at(64, 13)?;
    copy(r, 5, 0);
    copy(r, 6, 1);
    int(r, 7, 1);
    m.call_value(r, 4, (7, 1), at(65, 23))?;
    m.world(r, 10, 5).at(65, 5)?; // send
    unit(r, 3);
    Ok(taken(r, 3))
}

/// Is `is_small` at 68:16.
fn f5_is_small(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(23).at(68, 16)?;
    int(r, 2, 3);
    m.operator(r, BinaryOp::Less, 1, (0, 2)).at(68, 20)?;
    Ok(taken(r, 1))
}

/// Is `on_timer` at 70:19.
fn f6_on_timer(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 8);
    m.pay(46).at(70, 19)?;
    m.closure_of(r, 2, 3, 13).at(71, 16)?;
    m.constant(r, 4, 26);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(72, 13)?;
    'to_12: {
        if is(r, 3, false).at(72, 13)? {
            break 'to_12;
        }
        m.pay(80).at(72, 13)?;
        copy(r, 6, 2);
        m.closure_of(r, 5, 6, 14).at(72, 41)?;
        m.constant(r, 6, 27);
        copy(r, 4, 6);
        m.world(r, 11, 4).at(72, 32)?; // for_each
        shift(r, 3, 4);
    }
    m.pay(26).at(72, 5)?;
    m.constant(r, 4, 28);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(73, 13)?;
    'to_20: {
        if is(r, 3, false).at(73, 13)? {
            break 'to_20;
        }
        m.pay(70).at(73, 13)?;
        int(r, 3, 1);
        state(r, 4);
        m.write(r, (4, 13), 3, at(73, 39)).at(73, 39)?; // .none.inner
    }
    m.pay(26).at(73, 5)?;
    m.constant(r, 4, 29);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(74, 13)?;
    'to_27: {
        if is(r, 3, false).at(74, 13)? {
            break 'to_27;
        }
        m.pay(32).at(74, 13)?;
        int(r, 3, 1);
        m.call_own(r, 7, 3, at(74, 26))?; // depth
    }
    m.pay(26).at(74, 5)?;
    m.constant(r, 4, 30);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(75, 13)?;
    'to_36: {
        if is(r, 3, false).at(75, 13)? {
            break 'to_36;
        }
        'from_31: loop {
            m.pay(25).at(75, 24)?;
            int(r, 3, 1);
            state(r, 4);
            m.adjust(r, BinaryOp::Add, (4, 14), 3, at(75, 43)).at(75, 43)?; // .count
            continue 'from_31;
        }
    }
    m.pay(26).at(75, 5)?;
    m.constant(r, 4, 31);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(76, 13)?;
    'to_45: {
        if is(r, 3, false).at(76, 13)? {
            break 'to_45;
        }
        m.pay(10).at(76, 13)?;
        m.constant(r, 3, 32);
        'from_42: loop {
            m.pay(17).at(76, 43)?;
            m.adjust(r, BinaryOp::Add, (3, 0), 3, at(76, 55)).at(76, 55)?;
            continue 'from_42;
        }
    }
    m.pay(26).at(76, 5)?;
    m.constant(r, 4, 33);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(77, 13)?;
    'to_53: {
        if is(r, 3, false).at(77, 13)? {
            break 'to_53;
        }
        m.pay(85).at(77, 13)?;
        m.closure_of(r, 3, 4, 15).at(77, 38)?;
        state(r, 4);
        m.write(r, (4, 15), 3, at(77, 32)).at(77, 32)?; // .bad
    }
    m.pay(26).at(77, 5)?;
    m.constant(r, 4, 34);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(78, 13)?;
    'to_59: {
        if is(r, 3, false).at(78, 13)? {
            break 'to_59;
        }
        m.pay(6).at(78, 13)?;
        is(r, 0, false).at(78, 28)?;
    }
    m.pay(26).at(78, 5)?;
    m.constant(r, 4, 35);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(79, 13)?;
    'to_70: {
        if is(r, 3, false).at(79, 13)? {
            break 'to_70;
        }
        m.pay(23).at(79, 13)?;
        copy(r, 5, 0);
        iterate(r, 3, 5).at(79, 34)?;
        'from_66: loop {
            m.pay(10).at(79, 25)?;
            if !next(r, 3, 5) {
                break 'to_70;
            }
            m.pay(5).at(79, 25)?;
            continue 'from_66;
        }
    }
    m.pay(26).at(79, 5)?;
    m.constant(r, 4, 36);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(80, 13)?;
    'to_80: {
        if is(r, 3, false).at(80, 13)? {
            break 'to_80;
        }
        m.pay(80).at(80, 13)?;
        m.constant(r, 3, 37);
        int(r, 5, 0);
        int(r, 6, 0);
        m.element(r, 7, 3, 5).at_either(at(80, 41), at(80, 40))?;
        m.element(r, 4, 7, 6).at_either(at(80, 44), at(80, 43))?;
    }
    m.pay(26).at(80, 5)?;
    m.constant(r, 4, 38);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(81, 13)?;
    'to_90: {
        if is(r, 3, false).at(81, 13)? {
            break 'to_90;
        }
        m.pay(75).at(81, 13)?;
        int(r, 4, 0);
        m.constant(r, 5, 39);
        m.element(r, 3, 5, 4).at_either(at(81, 37), at(81, 36))?;
        int(r, 4, 2);
        m.call_value(r, 3, (4, 1), at(81, 41))?;
    }
    m.pay(26).at(81, 5)?;
    m.constant(r, 4, 40);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(82, 13)?;
    'to_98: {
        if is(r, 3, false).at(82, 13)? {
            break 'to_98;
        }
        m.pay(37).at(82, 13)?;
        int(r, 3, 1);
        int(r, 4, 2);
        m.call_value(r, 2, (3, 2), at(82, 30))?;
    }
    m.pay(26).at(82, 5)?;
    m.constant(r, 4, 41);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(83, 13)?;
    'to_106: {
        if is(r, 3, false).at(83, 13)? {
            break 'to_106;
        }
        m.pay(75).at(83, 13)?;
        m.constant(r, 3, 42);
        m.own(r, 4);
        m.write(r, (4, 16), 3, at(83, 32)).at(83, 32)?; // .spin
    }
    m.pay(26).at(83, 5)?;
    m.constant(r, 4, 43);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(84, 13)?;
    'to_114: {
        if is(r, 3, false).at(84, 13)? {
            break 'to_114;
        }
        'from_110: loop {
            m.pay(2063).at(84, 28)?;
            m.constant(r, 3, 44);
            m.world(r, 9, 3).at(84, 35)?; // say
            continue 'from_110;
        }
    }
    m.pay(15).at(84, 5)?;
    unit(r, 1);
    Ok(taken(r, 1))
}

/// Is `depth` at 87:13.
fn f7_depth(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(48).at(87, 13)?;
    int(r, 2, 1);
    m.add(r, 1, 0, 2).at(87, 23)?;
    m.call_own(r, 7, 1, at(87, 15))?; // depth
    Ok(taken(r, 1))
}

/// Is a closure at 19:31.
fn f8_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(18).at(19, 31)?;
    m.mul(r, 2, 0, 1).at(19, 37)?;
    Ok(taken(r, 2))
}

/// Is a closure at 19:51.
fn f9_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(27).at(19, 51)?;
    int(r, 2, 0);
    m.operator(r, BinaryOp::More, 1, (0, 2)).at(19, 57)?;
    Ok(taken(r, 1))
}

/// Is a closure at 19:69.
fn f10_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(18).at(19, 69)?;
    m.add(r, 2, 0, 1).at(19, 78)?;
    Ok(taken(r, 2))
}

/// Is a closure at 32:41.
fn f11_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(18).at(32, 41)?;
    m.sub(r, 2, 1, 0).at(32, 50)?;
    Ok(taken(r, 2))
}

/// Is a closure at 64:13.
fn f12_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 4);
    m.pay(42).at(64, 13)?;
    copy(r, 3, 0);
    m.call_own(r, 5, 3, at(64, 20))?; // is_small
    'to_9: {
        'to_7: {
            if is(r, 3, false).at(64, 20)? {
                break 'to_7;
            }
            m.pay(16).at(64, 20)?;
            copy(r, 2, 0);
            break 'to_9;
        }
        m.pay(13).at(64, 17)?;
        copy(r, 2, 1);
    }
    m.pay(10).at(64, 17)?;
    Ok(taken(r, 2))
}

/// Is a closure at 71:16.
fn f13_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(421).at(71, 16)?;
    copy(r, 2, 0);
    Err(m.throw(r, 2, at(71, 22)))
}

/// Is a closure at 72:41.
fn f14_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(46).at(72, 41)?;
    copy(r, 2, 0);
    m.call_value(r, 1, (2, 1), at(72, 45))?;
    Ok(taken(r, 2))
}

/// Is a closure at 77:38.
fn f15_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 2);
    m.pay(21).at(77, 38)?;
    copy(r, 1, 0);
    Ok(taken(r, 1))
}
