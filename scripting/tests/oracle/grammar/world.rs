//! What programs see of the world, and do to it.

use std::fmt::Write;

use super::{Grammar, TYPES, Type};

impl Grammar<'_> {
    /// Draws something of the world or of the state, if there is something of the type.
    pub(super) fn seen(&mut self, of: Type) -> Option<String> {
        let all: &[&str] = match of {
            Type::Int => {
                &["self_.color", "random(1, 6)", "nearby(50).len()", "(state.n ?? 3)", "state.n"]
            }
            Type::Fixed => {
                &["self_.pos.x", "self_.spin", "now()", "random()", "nearby(9)[0].pos.x"]
            }
            Type::Bool => &["exists(self_)", "(self_ == nearby(50)[1])", "(self_ != self_)"],
            Type::Text => &["self_.name", "self_.text", "nearby(50)[1].kind", "(state.t ?? \"u\")"],
            Type::Array => &["(state.list ?? [1, 2])"],
            Type::Map => &["(state.m ?? #{a: 1})"],
            Type::Vec2 => &["self_.pos", "self_.velocity", "nearby(50)[2].pos", "direction(1)"],
            Type::Closure => return None,
        };
        self.played(if of == Type::Array || of == Type::Map { "state" } else { "world" });
        Some(self.pick(all).into())
    }

    /// A statement that writes to the own object or the state, or asks the world for something.
    pub(super) fn deed(&mut self) {
        if self.in_closure {
            return;
        }
        let deed = self.below(16);
        let of = match deed {
            0 | 1 | 10 => Type::Vec2,
            2 | 3 | 11 => Type::Fixed,
            4 | 12 | 13 => Type::Int,
            5 | 6 => Type::Text,
            14 => Type::Array,
            15 => Type::Map,
            _ => self.pick(&TYPES),
        };
        let value = self.expression(of, 2);
        match deed {
            0 => writeln!(self.lines, "self_.velocity = {value};"),
            1 => writeln!(self.lines, "impulse({value});"),
            2 => writeln!(self.lines, "self_.spin = {value};"),
            3 => writeln!(self.lines, "self_.velocity.y = {value};"),
            4 => writeln!(self.lines, "self_.color = {value};"),
            5 => writeln!(self.lines, "self_.text = {value};"),
            6 => writeln!(self.lines, "say({value});"),
            7 => writeln!(self.lines, "log({value});"),
            8 => writeln!(self.lines, "send(self_, \"t\", {value});"),
            9 => writeln!(self.lines, "for (o, i) in nearby(50) {{ log(`${{i}} ${{o.name}}`); }}"),
            10 => writeln!(self.lines, "self_.pos = {value};"),
            11 => writeln!(self.lines, "timer(\"t\", {value});"),
            12 => writeln!(self.lines, "state.n = {value};"),
            13 => writeln!(self.lines, "state.n = (state.n ?? 0) + 1; state.n += {value};"),
            14 => writeln!(
                self.lines,
                "state.list = {value}; state.list.push(7); state.list[0] += 1;"
            ),
            _ => writeln!(self.lines, "state[\"m\"] = {value}; state.m.b = 5; state.t = \"s\";"),
        }
        .unwrap();
        self.played(match deed {
            12..=15 => "writing the state",
            6..=9 | 1 | 11 => "asking the world",
            _ => "writing the own object",
        });
    }
}
