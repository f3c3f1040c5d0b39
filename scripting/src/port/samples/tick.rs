//! The script `tick` 1.0.0 in Rust, as `metatopia script port` writes it.
//!
//! AGPL-3.0-or-later
//! Authors: The Metatopia authors

use crate::port::prelude::*;

/// What the port replaces, and what it is made of.
pub(crate) static PORT: PortTables = PortTables {
    package: "dad1bdea5dd1966e561310ddf9026fcfc1db8de4d1752d6a00e21b13b7af69ac",
    file: "main.rhai",
    functions: &[
        PortFunction {
            name: "on_tick",
            parameters: 1,
            captures: 0,
            registers: 18,
            at: at(2, 16),
            body: PortedBody { body: f0_on_tick, window: 18 },
        },
    ],
    handlers: &[
        (EventKind::Tick, 0),
    ],
    names: &[
        "pos",
        "x",
        "y",
        "velocity",
        "spin",
    ],
    shapes: &[
    ],
    calls: &[
        ("nearby", 1),
        ("sqrt", 1),
        ("vec2", 2),
        ("send", 3),
    ],
    paths: &[
        &[],
        &[
            link(IrLinkKind::Name(3), false, at(20, 11), at(20, 10)),
        ],
        &[
            link(IrLinkKind::Name(4), false, at(21, 11), at(21, 10)),
        ],
    ],
    constants,
};

fn constants() -> Vec<Value> {
    vec![
        Value::Fixed(Fx::from_bits(0)), // 0.0
        Value::Fixed(Fx::from_bits(429496729600)), // 100.0
        Value::Fixed(Fx::from_bits(68719476736)), // 16.0
        Value::Fixed(Fx::from_bits(42949673)), // 0.01
        Value::Fixed(Fx::from_bits(4294967296)), // 1.0
        Value::Fixed(Fx::from_bits(4209067950)), // 0.98
        Value::Fixed(Fx::from_bits(107374182400)), // 25.0
        Value::Fixed(Fx::from_bits(21474836480)), // 5.0
        Value::Fixed(Fx::from_bits(2147483648)), // 0.5
        Value::Fixed(Fx::from_bits(38654705664)), // 9.0
        Value::Text("ping".into()),
        Value::Text("idle".into()),
        Value::Text("moved".into()),
    ]
}

/// Is `on_tick` at 2:16.
fn f0_on_tick(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    assert!(r.len() >= 18);
    m.pay(10236).at(2, 16)?;
    m.constant(r, 2, 0);
    m.constant(r, 3, 0);
    m.own(r, 4);
    m.constant(r, 5, 1);
    m.own(r, 7);
    m.read(r, 6, 7, 0).at(5, 19)?; // .pos
    m.read(r, 7, 6, 1).at(5, 35)?; // .x
    m.read(r, 8, 6, 2).at(5, 49)?; // .y
    int(r, 11, 8);
    m.world(r, 0, 11).at(6, 14)?; // nearby
    iterate(r, 9, 11).at(6, 14)?;
    'from_12: loop {
        m.pay(10).at(6, 5)?;
        'to_42: {
            if !next(r, 9, 11) {
                break 'to_42;
            }
            m.pay(181).at(6, 5)?;
            m.read(r, 12, 11, 0).at(7, 19)?; // .pos
            m.read(r, 14, 12, 1).at(8, 20)?; // .x
            m.sub(r, 13, 14, 7).at(8, 22)?;
            m.read(r, 15, 12, 2).at(8, 39)?; // .y
            m.sub(r, 14, 15, 8).at(8, 41)?;
            m.mul(r, 16, 13, 13).at(9, 21)?;
            m.mul(r, 17, 14, 14).at(9, 31)?;
            m.add(r, 15, 16, 17).at(9, 26)?;
            'to_27: {
                if !m.is_less(r, 15, 5).at(10, 15)? {
                    break 'to_27;
                }
                m.pay(24).at(10, 15)?;
                copy(r, 5, 15);
                copy(r, 4, 11);
            }
            m.pay(14).at(10, 9)?;
            m.constant(r, 17, 2);
            'to_40: {
                if !m.is_less(r, 15, 17).at(11, 15)? {
                    break 'to_40;
                }
                m.pay(14).at(11, 15)?;
                m.constant(r, 17, 3);
                if !m.is_less(r, 17, 15).at(11, 28)? {
                    break 'to_40;
                }
                m.pay(80).at(11, 28)?;
                m.constant(r, 17, 4);
                m.operator(r, BinaryOp::Div, 16, (17, 15)).at(12, 27)?;
                m.mul(r, 17, 13, 16).at(13, 22)?;
                m.adjust(r, BinaryOp::Sub, (2, 0), 17, at(13, 16)).at(13, 16)?;
                m.mul(r, 17, 14, 16).at(13, 38)?;
                m.adjust(r, BinaryOp::Sub, (3, 0), 17, at(13, 32)).at(13, 32)?;
            }
            m.pay(5).at(11, 9)?;
            continue 'from_12;
        }
        break 'from_12;
    }
    m.pay(242).at(6, 5)?;
    m.own(r, 10);
    m.read(r, 9, 10, 3).at(16, 19)?; // .velocity
    m.read(r, 12, 9, 1).at(17, 17)?; // .x
    m.mul(r, 13, 2, 0).at(17, 24)?;
    m.add(r, 11, 12, 13).at(17, 19)?;
    m.constant(r, 12, 5);
    m.mul(r, 10, 11, 12).at(17, 30)?;
    m.read(r, 13, 9, 2).at(17, 50)?; // .y
    m.mul(r, 14, 3, 0).at(17, 57)?;
    m.add(r, 12, 13, 14).at(17, 52)?;
    m.constant(r, 13, 5);
    m.mul(r, 11, 12, 13).at(17, 63)?;
    m.mul(r, 13, 10, 10).at(18, 17)?;
    m.mul(r, 14, 11, 11).at(18, 27)?;
    m.add(r, 12, 13, 14).at(18, 22)?;
    m.constant(r, 14, 6);
    'to_67: {
        if !m.is_less(r, 14, 12).at(19, 11)? {
            break 'to_67;
        }
        m.pay(275).at(19, 11)?;
        m.constant(r, 14, 7);
        copy(r, 15, 12);
        m.world(r, 1, 15).at(19, 34)?; // sqrt
        m.operator(r, BinaryOp::Div, 13, (14, 15)).at(19, 32)?;
        m.adjust(r, BinaryOp::Mul, (10, 0), 13, at(19, 47)).at(19, 47)?;
        m.adjust(r, BinaryOp::Mul, (11, 0), 13, at(19, 56)).at(19, 56)?;
    }
    m.pay(272).at(19, 5)?;
    copy(r, 13, 10);
    copy(r, 14, 11);
    m.world(r, 2, 13).at(20, 22)?; // vec2
    m.own(r, 14);
    m.write(r, (14, 1), 13, at(20, 11)).at(20, 11)?; // .velocity
    m.constant(r, 14, 8);
    m.mul(r, 13, 10, 14).at(21, 21)?;
    m.own(r, 14);
    m.write(r, (14, 2), 13, at(21, 11)).at(21, 11)?; // .spin
    m.constant(r, 14, 9);
    'to_90: {
        'to_85: {
            if !m.is_less(r, 5, 14).at(22, 11)? {
                break 'to_85;
            }
            m.pay(3279).at(22, 11)?;
            copy(r, 13, 4);
            m.constant(r, 14, 10);
            int(r, 15, 1);
            m.world(r, 3, 13).at(22, 19)?; // send
            break 'to_90;
        }
        m.pay(3270).at(22, 5)?;
        m.own(r, 13);
        m.constant(r, 14, 11);
        int(r, 15, 0);
        m.world(r, 3, 13).at(22, 51)?; // send
    }
    m.pay(3283).at(22, 5)?;
    m.own(r, 13);
    m.constant(r, 14, 12);
    int(r, 15, 2);
    m.world(r, 3, 13).at(23, 5)?; // send
    unit(r, 1);
    Ok(taken(r, 1))
}
