//! The script `linked` 1.0.0 in Rust, as `metatopia script port` writes it.
//!
//! AGPL-3.0-or-later
//! Authors: The Metatopia authors
//!
//! It imports `scores` 1.0.0.
//!
//! LGPL-3.0-or-later
//! Authors: The Metatopia authors
//!
//! It imports `tally` 1.0.0.
//!
//! AGPL-3.0-or-later
//! Authors: The Metatopia authors

use crate::port::prelude::*;

/// The port, with the files of what it imports.
pub(crate) static PORT: LinkedPortTables = LinkedPortTables {
    imports: &[
        (0, "scores@71878a0e/scores.rhai"),
        (8, "tally@eaac7d35/main.rhai"),
    ],
    first: 20,
    tables: &TABLES,
};

/// What the port replaces, and what it is made of.
static TABLES: PortTables = PortTables {
    package: "3b6195c60c4de862cf678caf72600abb74f358938250d5ceead43dcabb0add50",
    file: "main.rhai",
    functions: &[
        PortFunction {
            name: "highest",
            parameters: 3,
            captures: 0,
            registers: 7,
            at: at(11, 31),
            body: PortedBody { body: f0_highest, window: 15 },
        },
        PortFunction {
            name: "lowest",
            parameters: 3,
            captures: 0,
            registers: 7,
            at: at(12, 30),
            body: PortedBody { body: f1_lowest, window: 15 },
        },
        PortFunction {
            name: "is_highest",
            parameters: 2,
            captures: 0,
            registers: 6,
            at: at(15, 28),
            body: PortedBody { body: f2_is_highest, window: 6 },
        },
        PortFunction {
            name: "is_lowest",
            parameters: 2,
            captures: 0,
            registers: 6,
            at: at(16, 27),
            body: PortedBody { body: f3_is_lowest, window: 6 },
        },
        PortFunction {
            name: "sign",
            parameters: 3,
            captures: 0,
            registers: 12,
            at: at(19, 29),
            body: PortedBody { body: f4_sign, window: 12 },
        },
        PortFunction {
            name: "placed",
            parameters: 4,
            captures: 0,
            registers: 12,
            at: at(23, 49),
            body: PortedBody { body: f5_placed, window: 12 },
        },
        PortFunction {
            name: "",
            parameters: 2,
            captures: 0,
            registers: 3,
            at: at(11, 59),
            body: PortedBody { body: f6_closure, window: 3 },
        },
        PortFunction {
            name: "",
            parameters: 2,
            captures: 0,
            registers: 3,
            at: at(12, 58),
            body: PortedBody { body: f7_closure, window: 3 },
        },
        PortFunction {
            name: "on_start",
            parameters: 0,
            captures: 0,
            registers: 3,
            at: at(8, 15),
            body: PortedBody { body: f8_on_start, window: 3 },
        },
        PortFunction {
            name: "add",
            parameters: 2,
            captures: 0,
            registers: 8,
            at: at(10, 22),
            body: PortedBody { body: f9_add, window: 8 },
        },
        PortFunction {
            name: "each",
            parameters: 2,
            captures: 0,
            registers: 8,
            at: at(15, 18),
            body: PortedBody { body: f10_each, window: 8 },
        },
        PortFunction {
            name: "counter",
            parameters: 1,
            captures: 0,
            registers: 3,
            at: at(17, 18),
            body: PortedBody { body: f11_counter, window: 3 },
        },
        PortFunction {
            name: "prize",
            parameters: 1,
            captures: 0,
            registers: 6,
            at: at(19, 16),
            body: PortedBody { body: f12_prize, window: 8 },
        },
        PortFunction {
            name: "place",
            parameters: 3,
            captures: 0,
            registers: 6,
            at: at(27, 30),
            body: PortedBody { body: f13_place, window: 18 },
        },
        PortFunction {
            name: "fail",
            parameters: 2,
            captures: 0,
            registers: 11,
            at: at(29, 17),
            body: PortedBody { body: f14_fail, window: 45 },
        },
        PortFunction {
            name: "lacking",
            parameters: 1,
            captures: 0,
            registers: 5,
            at: at(41, 26),
            body: PortedBody { body: f15_lacking, window: 5 },
        },
        PortFunction {
            name: "",
            parameters: 1,
            captures: 1,
            registers: 5,
            at: at(15, 29),
            body: PortedBody { body: f16_closure, window: 38 },
        },
        PortFunction {
            name: "",
            parameters: 2,
            captures: 0,
            registers: 3,
            at: at(15, 53),
            body: PortedBody { body: f17_closure, window: 3 },
        },
        PortFunction {
            name: "",
            parameters: 1,
            captures: 1,
            registers: 5,
            at: at(17, 20),
            body: PortedBody { body: f18_closure, window: 5 },
        },
        PortFunction {
            name: "",
            parameters: 1,
            captures: 1,
            registers: 3,
            at: at(34, 46),
            body: PortedBody { body: f19_closure, window: 37 },
        },
        PortFunction {
            name: "on_start",
            parameters: 0,
            captures: 0,
            registers: 3,
            at: at(8, 15),
            body: PortedBody { body: f20_on_start, window: 5 },
        },
        PortFunction {
            name: "on_touch",
            parameters: 3,
            captures: 0,
            registers: 13,
            at: at(14, 33),
            body: PortedBody { body: f21_on_touch, window: 23 },
        },
        PortFunction {
            name: "on_message",
            parameters: 3,
            captures: 0,
            registers: 8,
            at: at(26, 34),
            body: PortedBody { body: f22_on_message, window: 14 },
        },
        PortFunction {
            name: "on_timer",
            parameters: 1,
            captures: 0,
            registers: 4,
            at: at(31, 19),
            body: PortedBody { body: f23_on_timer, window: 44 },
        },
        PortFunction {
            name: "own",
            parameters: 1,
            captures: 0,
            registers: 3,
            at: at(38, 11),
            body: PortedBody { body: f24_own, window: 3 },
        },
        PortFunction {
            name: "",
            parameters: 1,
            captures: 1,
            registers: 5,
            at: at(19, 36),
            body: PortedBody { body: f25_closure, window: 38 },
        },
        PortFunction {
            name: "",
            parameters: 1,
            captures: 0,
            registers: 3,
            at: at(27, 42),
            body: PortedBody { body: f26_closure, window: 3 },
        },
        PortFunction {
            name: "",
            parameters: 0,
            captures: 0,
            registers: 1,
            at: at(33, 43),
            body: PortedBody { body: f27_closure, window: 1 },
        },
        PortFunction {
            name: "",
            parameters: 1,
            captures: 0,
            registers: 2,
            at: at(35, 19),
            body: PortedBody { body: f28_closure, window: 4 },
        },
    ],
    handlers: &[
        (EventKind::Start, 20),
        (EventKind::Touch, 21),
        (EventKind::Message, 22),
        (EventKind::Timer, 23),
    ],
    names: &[
        "score",
        "name",
        "gold",
        "silver",
        "tally",
        "kind",
        "line",
        "column",
        "gas",
        "best",
        "first",
        "sum",
        "text",
        "kept",
        "nothing",
        "inner",
    ],
    shapes: &[
        &[1, 0],
        &[2, 3],
    ],
    calls: &[
        ("len", 1),
        ("insert", 3),
        ("pop", 1),
        ("map", 2),
        ("reduce", 3),
        ("for_each", 2),
        ("say", 1),
        ("send", 3),
    ],
    paths: &[
        &[],
        &[
            link(IrLinkKind::Name(4), false, at(8, 23), at(8, 22)),
        ],
        &[
            link(IrLinkKind::Name(4), false, at(11, 11), at(11, 10)),
            link(IrLinkKind::Index(4), false, at(11, 17), at(11, 16)),
        ],
        &[
            link(IrLinkKind::Name(4), false, at(37, 36), at(37, 35)),
            link(IrLinkKind::Name(8), false, at(37, 42), at(37, 41)),
        ],
        &[
            link(IrLinkKind::Name(9), false, at(10, 11), at(10, 10)),
        ],
        &[
            link(IrLinkKind::Name(10), false, at(11, 11), at(11, 10)),
        ],
        &[
            link(IrLinkKind::Name(9), false, at(16, 11), at(16, 10)),
        ],
        &[
            link(IrLinkKind::Name(11), false, at(19, 11), at(19, 10)),
        ],
        &[
            link(IrLinkKind::Name(12), false, at(20, 11), at(20, 10)),
        ],
        &[
            link(IrLinkKind::Name(11), false, at(27, 11), at(27, 10)),
        ],
        &[
            link(IrLinkKind::Name(13), false, at(34, 31), at(34, 30)),
        ],
    ],
    constants,
};

fn constants() -> Vec<Value> {
    vec![
        Value::Int(5),
        Value::Text("best: ".into()),
        Value::Text(", ".into()),
        Value::Text(" ".into()),
        Value::Array(vec![
            Value::Int(3),
            Value::Fixed(Fx::from_bits(10737418240))
        ]),
        Value::Int(2),
        Value::Map([
            ("gold".into(), Value::Array(vec![
            Value::Int(3),
            Value::Fixed(Fx::from_bits(10737418240))
        ])),
            ("silver".into(), Value::Int(4))
        ].into()),
        Value::Map([].into()),
        Value::Text("gold".into()),
        Value::Text("silver".into()),
        Value::Text("own".into()),
        Value::Text("deeper".into()),
        Value::Text("s".into()),
        Value::Text("handed".into()),
        Value::Text("closure".into()),
        Value::Text("called-back".into()),
        Value::Text("caught".into()),
        Value::Text(" at ".into()),
        Value::Text(":".into()),
        Value::Text("depth".into()),
        Value::Text("gas".into()),
        Value::Text("memory".into()),
        Value::Text("there is no prize ".into()),
        Value::Fixed(Fx::from_bits(32212254720)), // 7.5
        Value::Int(3),
        Value::Array(vec![]),
        Value::Array(vec![]),
        Value::Array(vec![
            Value::Int(1),
            Value::Int(2),
            Value::Int(3)
        ]),
        Value::Text("of ".into()),
        Value::Text(" points".into()),
        Value::Text("nobody yet".into()),
        Value::Text("lower".into()),
        Value::Text("prize".into()),
        Value::Text("arguments".into()),
        Value::Array(vec![
            Value::Int(1)
        ]),
        Value::Text("kept".into()),
    ]
}

/// Is `highest` at scores@71878a0e/scores.rhai:11:31.
fn f0_highest(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 7);
    m.pay(88).at(11, 31)?;
    copy(r, 3, 0);
    copy(r, 4, 1);
    copy(r, 5, 2);
    m.closure_of(r, 6, 7, 6).at(11, 59)?;
    m.call_own(r, 5, 3, at(11, 33))?; // placed
    Ok(taken(r, 3))
}

/// Is `lowest` at scores@71878a0e/scores.rhai:12:30.
fn f1_lowest(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 7);
    m.pay(88).at(12, 30)?;
    copy(r, 3, 0);
    copy(r, 4, 1);
    copy(r, 5, 2);
    m.closure_of(r, 6, 7, 7).at(12, 58)?;
    m.call_own(r, 5, 3, at(12, 32))?; // placed
    Ok(taken(r, 3))
}

/// Is `is_highest` at scores@71878a0e/scores.rhai:15:28.
fn f2_is_highest(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 6);
    m.pay(47).at(15, 28)?;
    copy(r, 4, 0);
    m.world(r, 0, 4).at(15, 35)?; // len
    shift(r, 3, 4);
    int(r, 4, 0);
    m.operator(r, BinaryOp::Equal, 2, (3, 4)).at(15, 41)?;
    'to_13: {
        if is(r, 2, true).at(15, 41)? {
            break 'to_13;
        }
        m.pay(98).at(15, 41)?;
        int(r, 4, 0);
        m.element(r, 5, 0, 4).at_either(at(15, 62), at(15, 61))?;
        m.read(r, 3, 5, 0).at(15, 65)?; // .score
        m.operator(r, BinaryOp::More, 2, (1, 3)).at(15, 55)?;
        is(r, 2, true).at(15, 55)?;
    }
    m.pay(10).at(15, 46)?;
    Ok(taken(r, 2))
}

/// Is `is_lowest` at scores@71878a0e/scores.rhai:16:27.
fn f3_is_lowest(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 6);
    m.pay(47).at(16, 27)?;
    copy(r, 4, 0);
    m.world(r, 0, 4).at(16, 34)?; // len
    shift(r, 3, 4);
    int(r, 4, 0);
    m.operator(r, BinaryOp::Equal, 2, (3, 4)).at(16, 40)?;
    'to_13: {
        if is(r, 2, true).at(16, 40)? {
            break 'to_13;
        }
        m.pay(94).at(16, 40)?;
        int(r, 4, 0);
        m.element(r, 5, 0, 4).at_either(at(16, 61), at(16, 60))?;
        m.read(r, 3, 5, 0).at(16, 64)?; // .score
        m.operator(r, BinaryOp::Less, 2, (1, 3)).at(16, 54)?;
        is(r, 2, true).at(16, 54)?;
    }
    m.pay(10).at(16, 45)?;
    Ok(taken(r, 2))
}

/// Is `sign` at scores@71878a0e/scores.rhai:19:29.
fn f4_sign(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 12);
    m.pay(47).at(19, 29)?;
    copy(r, 6, 0);
    m.world(r, 0, 6).at(20, 13)?; // len
    shift(r, 5, 6);
    int(r, 6, 0);
    m.operator(r, BinaryOp::Equal, 4, (5, 6)).at(20, 19)?;
    'to_22: {
        'to_10: {
            if is(r, 4, false).at(20, 19)? {
                break 'to_10;
            }
            m.pay(16).at(20, 19)?;
            copy(r, 3, 2);
            break 'to_22;
        }
        m.pay(217).at(20, 5)?;
        m.constant(r, 4, 1);
        int(r, 10, 0);
        m.element(r, 11, 0, 10).at_either(at(20, 56), at(20, 55))?;
        m.read(r, 5, 11, 1).at(20, 59)?; // .name
        m.constant(r, 6, 2);
        int(r, 10, 0);
        m.element(r, 11, 0, 10).at_either(at(20, 73), at(20, 72))?;
        m.read(r, 7, 11, 0).at(20, 76)?; // .score
        m.constant(r, 8, 3);
        copy(r, 9, 1);
        m.text_of(r, 3, 4, 6).at(20, 42)?;
    }
    m.pay(10).at(20, 5)?;
    Ok(taken(r, 3))
}

/// Is `placed` at scores@71878a0e/scores.rhai:23:49.
fn f5_placed(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 12);
    m.pay(7).at(23, 49)?;
    int(r, 5, 0);
    'from_2: loop {
        m.pay(30).at(25, 5)?;
        copy(r, 8, 0);
        m.world(r, 0, 8).at(25, 24)?; // len
        shift(r, 7, 8);
        'to_19: {
            if !m.is_less(r, 5, 7).at(25, 17)? {
                break 'to_19;
            }
            m.pay(133).at(25, 17)?;
            copy(r, 7, 2);
            copy(r, 9, 5);
            m.element(r, 10, 0, 9).at_either(at(25, 56), at(25, 55))?;
            m.read(r, 8, 10, 0).at(25, 63)?; // .score
            m.call_value(r, 3, (7, 2), at(25, 34))?;
            unary(r, UnaryOp::Not, 6, 7).at(25, 33)?;
            if is(r, 6, false).at(25, 33)? {
                break 'to_19;
            }
            m.pay(22).at(25, 33)?;
            int(r, 6, 1);
            m.adjust(r, BinaryOp::Add, (5, 0), 6, at(25, 78)).at(25, 78)?;
            continue 'from_2;
        }
        break 'from_2;
    }
    m.pay(179).at(25, 5)?;
    copy(r, 8, 5);
    copy(r, 10, 1);
    copy(r, 11, 2);
    m.map_of(r, 9, 10, 0).at(26, 24)?;
    m.alter(r, (0, 0), (1, 7), at(26, 10)).at(26, 10)?; // insert
    shift(r, 6, 7);
    copy(r, 8, 0);
    m.world(r, 0, 8).at(27, 13)?; // len
    shift(r, 7, 8);
    m.constant(r, 8, 0);
    'to_34: {
        if !m.is_less(r, 8, 7).at(27, 19)? {
            break 'to_34;
        }
        m.pay(90).at(27, 19)?;
        m.alter(r, (0, 0), (2, 7), at(27, 35)).at(27, 35)?; // pop
        shift(r, 6, 7);
    }
    m.pay(21).at(27, 5)?;
    copy(r, 4, 0);
    Ok(taken(r, 4))
}

/// Is a closure at scores@71878a0e/scores.rhai:11:59.
fn f6_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(22).at(11, 59)?;
    m.operator(r, BinaryOp::More, 2, (0, 1)).at(11, 68)?;
    Ok(taken(r, 2))
}

/// Is a closure at scores@71878a0e/scores.rhai:12:58.
fn f7_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(18).at(12, 58)?;
    m.operator(r, BinaryOp::Less, 2, (0, 1)).at(12, 67)?;
    Ok(taken(r, 2))
}

/// Is `on_start` at tally@eaac7d35/main.rhai:8:15.
fn f8_on_start(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(86).at(8, 15)?;
    m.constant(r, 1, 7);
    state(r, 2);
    m.write(r, (2, 1), 1, at(8, 23)).at(8, 23)?; // .tally
    unit(r, 0);
    Ok(taken(r, 0))
}

/// Is `add` at tally@eaac7d35/main.rhai:10:22.
fn f9_add(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 8);
    m.pay(95).at(10, 22)?;
    copy(r, 5, 0);
    state(r, 6);
    m.read(r, 7, 6, 4).at(11, 32)?; // .tally
    m.element(r, 4, 7, 5).at_either(at(11, 38), at(11, 37))?;
    'to_8: {
        if !is_unit(r, 4) {
            break 'to_8;
        }
        m.pay(7).at(11, 44)?;
        int(r, 4, 0);
    }
    m.pay(197).at(11, 44)?;
    m.constant(r, 6, 5);
    m.mul(r, 5, 1, 6).at(11, 59)?;
    m.add(r, 3, 4, 5).at(11, 50)?;
    copy(r, 4, 0);
    state(r, 5);
    m.write(r, (5, 2), 3, at(11, 17)).at(11, 17)?; // .tally[4]
    copy(r, 3, 0);
    state(r, 4);
    m.read(r, 5, 4, 4).at(12, 11)?; // .tally
    m.element(r, 2, 5, 3).at_either(at(12, 17), at(12, 16))?;
    Ok(taken(r, 2))
}

/// Is `each` at tally@eaac7d35/main.rhai:15:18.
fn f10_each(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 8);
    m.pay(141).at(15, 18)?;
    copy(r, 5, 1);
    m.closure_of(r, 4, 5, 16).at(15, 29)?;
    m.closure_of(r, 6, 8, 17).at(15, 53)?;
    int(r, 7, 0);
    copy(r, 3, 0);
    m.world(r, 3, 3).at(15, 25)?; // map
    copy(r, 5, 3);
    m.world(r, 4, 5).at(15, 46)?; // reduce
    shift(r, 2, 5);
    Ok(taken(r, 2))
}

/// Is `counter` at tally@eaac7d35/main.rhai:17:18.
fn f11_counter(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(41).at(17, 18)?;
    copy(r, 2, 0);
    m.closure_of(r, 1, 2, 18).at(17, 20)?;
    Ok(taken(r, 1))
}

/// Is `prize` at tally@eaac7d35/main.rhai:19:16.
fn f12_prize(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 6);
    m.pay(21).at(19, 16)?;
    copy(r, 2, 0);
    'to_20: {
        'to_9: {
            if !m.is_case(r, 2, 8) {
                break 'to_9;
            }
            m.pay(93).at(20, 5)?;
            int(r, 3, 0);
            m.constant(r, 4, 6);
            m.read(r, 5, 4, 2).at(21, 25)?; // .gold
            m.element(r, 1, 5, 3).at_either(at(21, 30), at(21, 29))?;
            break 'to_20;
        }
        m.pay(10).at(20, 5)?;
        'to_15: {
            if !m.is_case(r, 2, 9) {
                break 'to_15;
            }
            m.pay(58).at(20, 5)?;
            m.constant(r, 3, 6);
            m.read(r, 1, 3, 3).at(22, 27)?; // .silver
            break 'to_20;
        }
        m.pay(44).at(20, 5)?;
        copy(r, 3, 0);
        m.call_own(r, 15, 3, at(23, 14))?; // lacking
        shift(r, 1, 3);
    }
    m.pay(10).at(20, 5)?;
    Ok(taken(r, 1))
}

/// Is `place` at tally@eaac7d35/main.rhai:27:30.
fn f13_place(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 6);
    m.pay(68).at(27, 30)?;
    copy(r, 3, 0);
    copy(r, 4, 1);
    copy(r, 5, 2);
    m.call_own(r, 0, 3, at(27, 40))?; // highest
    Ok(taken(r, 3))
}

/// Is `fail` at tally@eaac7d35/main.rhai:29:17.
fn f14_fail(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 11);
    m.pay(26).at(29, 17)?;
    m.constant(r, 4, 10);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(30, 12)?;
    'to_7: {
        if is(r, 3, false).at(30, 12)? {
            break 'to_7;
        }
        m.pay(38).at(30, 12)?;
        copy(r, 3, 0);
        m.call_own(r, 15, 3, at(30, 23))?; // lacking
    }
    m.pay(26).at(30, 5)?;
    m.constant(r, 4, 11);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(31, 12)?;
    'to_16: {
        if is(r, 3, false).at(31, 12)? {
            break 'to_16;
        }
        m.pay(51).at(31, 12)?;
        int(r, 3, 3);
        m.constant(r, 4, 12);
        copy(r, 5, 0);
        m.call_own(r, 4, 3, at(31, 34))?; // sign
    }
    m.pay(26).at(31, 5)?;
    m.constant(r, 4, 13);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(32, 12)?;
    'to_26: {
        if is(r, 3, false).at(32, 12)? {
            break 'to_26;
        }
        m.pay(80).at(32, 12)?;
        copy(r, 6, 0);
        m.array_of(r, 3, 6, 1).at(32, 42)?;
        copy(r, 4, 0);
        copy(r, 5, 1);
        m.call_own(r, 0, 3, at(32, 34))?; // highest
    }
    m.pay(26).at(32, 5)?;
    m.constant(r, 4, 14);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(33, 12)?;
    'to_33: {
        if is(r, 3, false).at(33, 12)? {
            break 'to_33;
        }
        m.pay(38).at(33, 12)?;
        copy(r, 3, 0);
        m.call_value(r, 1, (3, 1), at(33, 27))?;
    }
    m.pay(26).at(33, 5)?;
    m.constant(r, 4, 15);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(34, 12)?;
    'to_45: {
        if is(r, 3, false).at(34, 12)? {
            break 'to_45;
        }
        m.pay(103).at(34, 12)?;
        copy(r, 6, 1);
        m.closure_of(r, 5, 6, 19).at(34, 46)?;
        copy(r, 7, 0);
        m.array_of(r, 6, 7, 1).at(34, 31)?;
        copy(r, 4, 6);
        m.world(r, 5, 4).at(34, 37)?; // for_each
        shift(r, 3, 4);
    }
    m.pay(26).at(34, 5)?;
    m.constant(r, 4, 16);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(35, 12)?;
    'to_63: {
        if is(r, 3, false).at(35, 12)? {
            break 'to_63;
        }
        m.pay(52).at(35, 12)?;
        copy(r, 5, 0);
        'to_55: {
            if let Err(fault) = m.call_value(r, 1, (5, 1), at(35, 32)) {
                m.caught(r, fault, 3)?;
                break 'to_55;
            }
            break 'to_63;
        }
        m.pay(573).at(35, 26)?;
        m.read(r, 6, 3, 5).at(35, 65)?; // .kind
        m.constant(r, 7, 17);
        m.read(r, 8, 3, 6).at(35, 78)?; // .line
        m.constant(r, 9, 18);
        m.read(r, 10, 3, 7).at(35, 88)?; // .column
        m.text_of(r, 5, 6, 5).at(35, 60)?;
        return Err(m.throw(r, 5, at(35, 54)));
    }
    m.pay(26).at(35, 5)?;
    m.constant(r, 4, 19);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(36, 12)?;
    'to_71: {
        if is(r, 3, false).at(36, 12)? {
            break 'to_71;
        }
        m.pay(49).at(36, 12)?;
        copy(r, 3, 0);
        copy(r, 4, 1);
        m.call_own(r, 14, 3, at(36, 25))?; // fail
    }
    m.pay(26).at(36, 5)?;
    m.constant(r, 4, 20);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(37, 12)?;
    'to_88: {
        if is(r, 3, false).at(37, 12)? {
            break 'to_88;
        }
        'from_75: loop {
            m.pay(99).at(37, 23)?;
            state(r, 5);
            m.read(r, 6, 5, 4).at(37, 55)?; // .tally
            m.read(r, 4, 6, 8).at(37, 61)?; // .gas
            'to_82: {
                if !is_unit(r, 4) {
                    break 'to_82;
                }
                m.pay(7).at(37, 65)?;
                int(r, 4, 0);
            }
            m.pay(81).at(37, 65)?;
            int(r, 5, 1);
            m.add(r, 3, 4, 5).at(37, 71)?;
            state(r, 4);
            m.write(r, (4, 3), 3, at(37, 42)).at(37, 42)?; // .tally.gas
            continue 'from_75;
        }
    }
    m.pay(26).at(37, 5)?;
    m.constant(r, 4, 21);
    m.operator(r, BinaryOp::Equal, 3, (0, 4)).at(38, 12)?;
    'to_98: {
        if is(r, 3, false).at(38, 12)? {
            break 'to_98;
        }
        m.pay(13).at(38, 12)?;
        copy(r, 3, 0);
        'from_94: loop {
            m.pay(20).at(38, 42)?;
            m.adjust(r, BinaryOp::Add, (3, 0), 3, at(38, 54)).at(38, 54)?;
            continue 'from_94;
        }
    }
    m.pay(7).at(38, 5)?;
    unit(r, 2);
    m.pay(10).at(38, 5)?;
    Ok(taken(r, 2))
}

/// Is `lacking` at tally@eaac7d35/main.rhai:41:26.
fn f15_lacking(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 5);
    m.pay(449).at(41, 26)?;
    m.constant(r, 3, 22);
    copy(r, 4, 0);
    m.text_of(r, 2, 3, 2).at(41, 34)?;
    Err(m.throw(r, 2, at(41, 28)))
}

/// Is a closure at tally@eaac7d35/main.rhai:15:29.
fn f16_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 5);
    m.pay(62).at(15, 29)?;
    copy(r, 3, 0);
    m.call_value(r, 1, (3, 1), at(15, 33))?;
    m.constant(r, 4, 5);
    m.add(r, 2, 3, 4).at(15, 38)?;
    Ok(taken(r, 2))
}

/// Is a closure at tally@eaac7d35/main.rhai:15:53.
fn f17_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(18).at(15, 53)?;
    m.add(r, 2, 0, 1).at(15, 62)?;
    Ok(taken(r, 2))
}

/// Is a closure at tally@eaac7d35/main.rhai:17:20.
fn f18_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 5);
    m.pay(34).at(17, 20)?;
    m.constant(r, 4, 5);
    m.mul(r, 3, 1, 4).at(17, 33)?;
    m.add(r, 2, 0, 3).at(17, 26)?;
    Ok(taken(r, 2))
}

/// Is a closure at tally@eaac7d35/main.rhai:34:46.
fn f19_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(46).at(34, 46)?;
    copy(r, 2, 0);
    m.call_value(r, 1, (2, 1), at(34, 50))?;
    Ok(taken(r, 2))
}

/// Is `on_start` at 8:15.
fn f20_on_start(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(185).at(8, 15)?;
    m.call_own(r, 8, 2, at(9, 8))?; // on_start
    shift(r, 1, 2);
    m.constant(r, 1, 25);
    state(r, 2);
    m.write(r, (2, 4), 1, at(10, 11)).at(10, 11)?; // .best
    m.constant(r, 1, 23);
    state(r, 2);
    m.write(r, (2, 5), 1, at(11, 11)).at(11, 11)?; // .first
    unit(r, 0);
    Ok(taken(r, 0))
}

/// Is `on_touch` at 14:33.
fn f21_on_touch(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 13);
    m.pay(870).at(14, 33)?;
    m.read(r, 4, 0, 1).at(15, 31)?; // .name
    copy(r, 5, 2);
    m.call_own(r, 9, 4, at(15, 21))?; // add
    state(r, 8);
    m.read(r, 5, 8, 9).at(16, 33)?; // .best
    m.read(r, 6, 0, 1).at(16, 45)?; // .name
    copy(r, 7, 4);
    m.call_own(r, 13, 5, at(16, 21))?; // place
    state(r, 6);
    m.write(r, (6, 6), 5, at(16, 11)).at(16, 11)?; // .best
    m.constant(r, 5, 26);
    m.read(r, 6, 0, 1).at(17, 40)?; // .name
    copy(r, 7, 4);
    m.call_own(r, 1, 5, at(17, 23))?; // lowest
    state(r, 8);
    m.read(r, 9, 8, 9).at(18, 34)?; // .best
    copy(r, 7, 9);
    m.world(r, 0, 7).at(18, 39)?; // len
    shift(r, 6, 7);
    m.call_own(r, 11, 6, at(18, 20))?; // counter
    m.constant(r, 8, 27);
    copy(r, 10, 6);
    m.closure_of(r, 9, 10, 25).at(19, 36)?;
    m.call_own(r, 10, 8, at(19, 20))?; // each
    m.constant(r, 9, 8);
    m.call_own(r, 12, 9, at(19, 62))?; // prize
    m.add(r, 7, 8, 9).at(19, 57)?;
    state(r, 8);
    m.write(r, (8, 7), 7, at(19, 11)).at(19, 11)?; // .sum
    state(r, 10);
    m.read(r, 7, 10, 9).at(20, 37)?; // .best
    m.constant(r, 10, 28);
    m.constant(r, 11, 0);
    m.constant(r, 12, 29);
    m.text_of(r, 8, 10, 3).at(20, 43)?;
    m.constant(r, 9, 30);
    m.call_own(r, 4, 7, at(20, 26))?; // sign
    m.own(r, 8);
    m.write(r, (8, 8), 7, at(20, 11)).at(20, 11)?; // .text
    copy(r, 7, 5);
    copy(r, 8, 4);
    m.call_own(r, 3, 7, at(21, 16))?; // is_lowest
    'to_47: {
        if is(r, 7, false).at(21, 16)? {
            break 'to_47;
        }
        m.pay(2060).at(21, 16)?;
        m.constant(r, 7, 31);
        m.world(r, 6, 7).at(21, 41)?; // say
    }
    m.pay(15).at(21, 5)?;
    unit(r, 3);
    Ok(taken(r, 3))
}

/// Is `on_message` at 26:34.
fn f22_on_message(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 8);
    m.pay(3467).at(26, 34)?;
    copy(r, 6, 2);
    m.constant(r, 7, 5);
    m.array_of(r, 4, 6, 2).at(27, 25)?;
    m.closure_of(r, 5, 6, 26).at(27, 42)?;
    m.call_own(r, 10, 4, at(27, 20))?; // each
    state(r, 5);
    m.write(r, (5, 9), 4, at(27, 11)).at(27, 11)?; // .sum
    copy(r, 4, 0);
    copy(r, 5, 1);
    m.constant(r, 6, 9);
    m.call_own(r, 12, 6, at(28, 26))?; // prize
    m.world(r, 7, 4).at(28, 5)?; // send
    unit(r, 3);
    Ok(taken(r, 3))
}

/// Is `on_timer` at 31:19.
fn f23_on_timer(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 4);
    m.pay(26).at(31, 19)?;
    m.constant(r, 3, 32);
    m.operator(r, BinaryOp::Equal, 2, (0, 3)).at(32, 13)?;
    'to_7: {
        if is(r, 2, false).at(32, 13)? {
            break 'to_7;
        }
        m.pay(38).at(32, 13)?;
        copy(r, 2, 0);
        m.call_own(r, 12, 2, at(32, 29))?; // prize
    }
    m.pay(26).at(32, 5)?;
    m.constant(r, 3, 33);
    m.operator(r, BinaryOp::Equal, 2, (0, 3)).at(33, 13)?;
    'to_15: {
        if is(r, 2, false).at(33, 13)? {
            break 'to_15;
        }
        m.pay(55).at(33, 13)?;
        m.constant(r, 2, 34);
        m.closure_of(r, 3, 4, 27).at(33, 43)?;
        m.call_own(r, 10, 2, at(33, 33))?; // each
    }
    m.pay(26).at(33, 5)?;
    m.constant(r, 3, 35);
    m.operator(r, BinaryOp::Equal, 2, (0, 3)).at(34, 13)?;
    'to_24: {
        if is(r, 2, false).at(34, 13)? {
            break 'to_24;
        }
        m.pay(95).at(34, 13)?;
        int(r, 2, 1);
        m.call_own(r, 11, 2, at(34, 41))?; // counter
        state(r, 3);
        m.write(r, (3, 10), 2, at(34, 31)).at(34, 31)?; // .kept
    }
    m.pay(71).at(34, 5)?;
    copy(r, 2, 0);
    m.closure_of(r, 3, 4, 28).at(35, 19)?;
    m.call_own(r, 14, 2, at(35, 8))?; // fail
    unit(r, 1);
    Ok(taken(r, 1))
}

/// Is `own` at 38:11.
fn f24_own(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(100).at(38, 11)?;
    m.read(r, 2, 0, 14).at(38, 15)?; // .nothing
    m.read(r, 1, 2, 15).at(38, 23)?; // .inner
    Ok(taken(r, 1))
}

/// Is a closure at 19:36.
fn f25_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 5);
    m.pay(62).at(19, 36)?;
    copy(r, 3, 0);
    m.call_value(r, 1, (3, 1), at(19, 40))?;
    m.constant(r, 4, 24);
    m.mul(r, 2, 3, 4).at(19, 49)?;
    Ok(taken(r, 2))
}

/// Is a closure at 27:42.
fn f26_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 3);
    m.pay(26).at(27, 42)?;
    m.constant(r, 2, 0);
    m.sub(r, 1, 2, 0).at(27, 61)?;
    Ok(taken(r, 1))
}

/// Is a closure at 33:43.
fn f27_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(!r.is_empty());
    m.pay(15).at(33, 43)?;
    int(r, 0, 1);
    Ok(taken(r, 0))
}

/// Is a closure at 35:19.
fn f28_closure(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 2);
    m.pay(46).at(35, 19)?;
    copy(r, 1, 0);
    m.call_own(r, 24, 1, at(35, 23))?; // own
    Ok(taken(r, 1))
}
