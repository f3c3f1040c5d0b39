//! Draws programs that compute with numbers, truths, handles and vectors, and change what variables hold.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

/// What a variable holds where it is drawn, most of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Int,
    Fixed,
    Bool,
    Vec2,
    Object,
}

const KINDS: [Kind; 5] = [Kind::Int, Kind::Fixed, Kind::Bool, Kind::Vec2, Kind::Object];

/// The drawing of one program.
pub(super) struct Drawing {
    state: u64,
    variables: Vec<(String, Kind)>,
    names: u32,
    loops: u32,
    lines: String,
}

impl Drawing {
    pub(super) fn new(seed: u64) -> Self {
        let state = seed.wrapping_mul(0xD134_2543_DE82_EF95);
        Self { state, variables: Vec::new(), names: 0, loops: 0, lines: String::new() }
    }

    /// A number below `end`, by splitmix64.
    fn below(&mut self, end: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        let place = self.below(all.len() as u64);
        all[usize::try_from(place).expect("it is below a length")]
    }

    /// Returns a program with a handler for touches and a function that takes anything.
    pub(super) fn program(mut self) -> String {
        for (name, kind) in [("other", Kind::Object), ("at", Kind::Vec2), ("impulse", Kind::Fixed)]
        {
            self.variables.push((name.into(), kind));
        }
        self.block(9, 3);
        let all: Vec<&str> = self.variables.iter().map(|(name, _)| &**name).collect();
        let (lines, all) = (&self.lines, all.join(", "));
        format!(
            "fn blend(a, b) {{ if a == b {{ return a; }} let c = b; c }}\n\
             fn on_touch(other, at, impulse) {{\n{lines}state.all = [{all}];\n}}\n"
        )
    }

    fn line(&mut self, line: &str) {
        self.lines.push_str(line);
        self.lines.push('\n');
    }

    /// Draws statements in a scope of their own, but for the outermost.
    fn block(&mut self, most: u64, depth: u32) {
        for _ in 0..=self.below(most) {
            self.statement(depth);
        }
    }

    fn scoped(&mut self, most: u64, depth: u32) {
        let known = self.variables.len();
        self.block(most, depth);
        self.variables.truncate(known);
        self.line("}");
    }

    fn new_name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn statement(&mut self, depth: u32) {
        match self.below(if depth == 0 { 12 } else { 17 }) {
            0..=2 => self.declare(),
            3..=5 => self.assign(),
            6 => self.swap(),
            7 => self.write_own(),
            8 => {
                let (to, data) = (self.expression(Kind::Object, 1), self.any(2));
                let topic = self.one_of(&["\"ping\"", "\"pong\"", "`t${impulse}`"]);
                self.line(&format!("send({to}, {topic}, {data});"));
            }
            9 => {
                let (name, value) = (self.one_of(&["a", "b"]), self.any(2));
                self.line(&format!("state.{name} = {value};"));
            }
            10 => self.lists(),
            11 => self.calls(),
            12 | 13 => {
                let condition = self.expression(Kind::Bool, 2);
                self.line(&format!("if {condition} {{"));
                self.scoped(3, depth - 1);
                if self.below(2) == 0 {
                    self.line("else {");
                    self.scoped(3, depth - 1);
                }
            }
            _ => self.repeat(depth),
        }
    }

    fn repeat(&mut self, depth: u32) {
        if self.loops == 2 {
            return self.assign();
        }
        self.loops += 1;
        let known = self.variables.len();
        let name = self.new_name();
        match self.below(4) {
            0 => {
                let radius = self.one_of(&["8", "2.5", "impulse"]);
                self.line(&format!("for {name} in nearby({radius}) {{"));
                self.variables.push((name, Kind::Object));
            }
            1 => {
                let (first, range) = (self.below(3), self.one_of(&["..", "..="]));
                self.line(&format!("for {name} in {first}{range}4 {{"));
                self.variables.push((name, Kind::Int));
            }
            2 => {
                self.line(&format!("for {name} in [1.5, 2.5, 4.0] {{"));
                self.variables.push((name, Kind::Fixed));
            }
            _ => {
                let condition = self.expression(Kind::Bool, 1);
                self.line(&format!("let {name} = 0; while {name} < 4 && {condition} {{"));
                self.line(&format!("{name} += 1;"));
                self.variables.push((name, Kind::Int));
            }
        }
        if self.below(3) == 0 {
            let (condition, leave) =
                (self.expression(Kind::Bool, 1), self.one_of(&["break", "continue", "return"]));
            self.line(&format!("if {condition} {{ {leave}; }}"));
        }
        self.scoped(4, depth - 1);
        self.variables.truncate(known);
        self.loops -= 1;
    }

    fn declare(&mut self) {
        let (kind, name) = (self.one_of(&KINDS), self.new_name());
        let value = self.expression(kind, 3);
        self.line(&format!("let {name} = {value};"));
        self.variables.push((name, kind));
    }

    fn variable(&mut self, kind: Kind) -> Option<String> {
        let all: Vec<String> = self
            .variables
            .iter()
            .filter(|(_, of)| *of == kind)
            .map(|(name, _)| name.clone())
            .collect();
        let place = self.below(all.len().max(1) as u64);
        all.get(usize::try_from(place).ok()?).cloned()
    }

    fn assign(&mut self) {
        let place = self.below(self.variables.len() as u64);
        let (name, kind) =
            self.variables[usize::try_from(place).expect("it is below a length")].clone();
        match self.below(8) {
            0 => {
                let value = self.any(2);
                self.line(&format!("{name} = {value};"));
            }
            1 | 2 if matches!(kind, Kind::Int | Kind::Fixed) => {
                let (sign, with) = (self.one_of(&["+", "-", "*", "/", "%"]), self.number(1));
                self.line(&format!("{name} {sign}= {with};"));
            }
            3 if kind == Kind::Vec2 => {
                let (part, sign) = (self.one_of(&["x", "y"]), self.one_of(&["", "+", "*"]));
                let value = self.number(1);
                self.line(&format!("{name}.{part} {sign}= {value};"));
            }
            4 if kind == Kind::Int => {
                let sign = self.one_of(&["<<", ">>", "&", "|", "^"]);
                let value = self.expression(Kind::Int, 0);
                self.line(&format!("{name} {sign}= {value};"));
            }
            _ => {
                let value = self.expression(kind, 3);
                self.line(&format!("{name} = {value};"));
            }
        }
    }

    fn swap(&mut self) {
        let kind = self.one_of(&KINDS);
        if let (Some(a), Some(b)) = (self.variable(kind), self.variable(kind)) {
            let name = self.new_name();
            self.line(&format!("let {name} = {a}; {a} = {b}; {b} = {name};"));
            self.variables.push((name, kind));
        }
    }

    fn write_own(&mut self) {
        let object =
            if self.below(8) == 0 { self.expression(Kind::Object, 0) } else { "self_".into() };
        let (property, kind) = self.one_of(&[
            ("velocity", Kind::Vec2),
            ("velocity", Kind::Vec2),
            ("pos", Kind::Vec2),
            ("spin", Kind::Fixed),
            ("angle", Kind::Fixed),
            ("spin", Kind::Int),
            ("color", Kind::Int),
        ]);
        let value = self.expression(kind, 2);
        self.line(&format!("{object}.{property} = {value};"));
        if self.below(3) == 0 {
            self.line(&format!("{object}.velocity.x += 1;"));
        }
    }

    fn lists(&mut self) {
        let name = self.new_name();
        let (a, b, c) = (self.any(1), self.any(1), self.any(1));
        self.line(&format!("let {name} = [{a}, {b}]; let w{name} = {name}; {name}.push({c});"));
        self.line(&format!("state.{name} = {name}[1]; log(`${{{name}.len()}} ${{{a}}}`);"));
    }

    fn calls(&mut self) {
        let (kind, name) = (self.one_of(&KINDS), self.new_name());
        let (a, b) = (self.expression(kind, 1), self.expression(kind, 1));
        let call = match self.below(3) {
            0 => format!("{{ let f = |x| x == {a}; if f({b}) {{ {a} }} else {{ {b} }} }}"),
            1 => format!("[{a}, {b}].filter(|x| x == {a})[0]"),
            _ => format!("blend({a}, {b})"),
        };
        self.line(&format!("let {name} = {call};"));
        self.variables.push((name, kind));
    }

    fn any(&mut self, depth: u32) -> String {
        if self.below(8) == 0 {
            return self.one_of(&["()", "\"word\"", "[1, 2.5]", "`${impulse}`"]).to_string();
        }
        let kind = self.one_of(&KINDS);
        self.expression(kind, depth)
    }

    fn number(&mut self, depth: u32) -> String {
        let kind = self.one_of(&[Kind::Int, Kind::Fixed]);
        self.expression(kind, depth)
    }

    fn expression(&mut self, kind: Kind, depth: u32) -> String {
        if (depth == 0 || self.below(3) == 0)
            && let Some(name) = self.variable(kind)
        {
            return name;
        }
        let less = depth.saturating_sub(1);
        match kind {
            Kind::Int => self.int(depth, less),
            Kind::Fixed => self.fixed(depth, less),
            Kind::Bool => self.truth(depth, less),
            Kind::Vec2 => self.vector(depth, less),
            Kind::Object => self.one_of(&["self_", "self_", "other"]).to_string(),
        }
    }

    fn int(&mut self, depth: u32, less: u32) -> String {
        if depth == 0 {
            return self
                .one_of(&["0", "1", "2", "7", "(-3)", "4000000000", "9223372036854775807"])
                .to_string();
        }
        let (a, b) = (self.expression(Kind::Int, less), self.expression(Kind::Int, less));
        match self.below(8) {
            0 => format!("floor({})", self.expression(Kind::Fixed, less)),
            1 => format!("{}.color", self.expression(Kind::Object, 0)),
            2 => format!("(-{a})"),
            3 => format!("if {} {{ {a} }} else {{ {b} }}", self.expression(Kind::Bool, less)),
            _ => {
                let sign = self.one_of(&["+", "-", "*", "/", "%", "<<", "&", "^"]);
                format!("({a} {sign} {b})")
            }
        }
    }

    fn fixed(&mut self, depth: u32, less: u32) -> String {
        if depth == 0 {
            return self
                .one_of(&["0.0", "1.0", "0.5", "(-2.25)", "1000.125", "2000000000.0"])
                .to_string();
        }
        match self.below(9) {
            0 => format!("({}).x", self.expression(Kind::Vec2, less)),
            1 => format!("({}).y", self.expression(Kind::Vec2, less)),
            2 => format!("sqrt({})", self.expression(Kind::Fixed, less)),
            3 => format!("{}.spin", self.expression(Kind::Object, 0)),
            4 => {
                let (a, b) = (self.expression(Kind::Vec2, less), self.expression(Kind::Vec2, 0));
                format!("dist({a}, {b})")
            }
            5 => format!("(-{})", self.expression(Kind::Fixed, less)),
            _ => {
                let (a, b) = if self.below(3) == 0 {
                    (self.expression(Kind::Fixed, less), self.number(less))
                } else {
                    (self.number(less), self.expression(Kind::Fixed, less))
                };
                let sign = self.one_of(&["+", "-", "*", "/", "%"]);
                format!("({a} {sign} {b})")
            }
        }
    }

    fn truth(&mut self, depth: u32, less: u32) -> String {
        if depth == 0 {
            return self.one_of(&["true", "false"]).to_string();
        }
        match self.below(6) {
            0 => format!("!({})", self.expression(Kind::Bool, less)),
            1 => {
                let (a, b) = (self.expression(Kind::Bool, less), self.expression(Kind::Bool, less));
                let sign = self.one_of(&["&&", "||", "=="]);
                format!("({a} {sign} {b})")
            }
            2 => {
                let (kind, sign) = (self.one_of(&KINDS), self.one_of(&["==", "!="]));
                let (a, b) = (self.expression(kind, less), self.expression(kind, less));
                format!("({a} {sign} {b})")
            }
            _ => {
                let (a, b) = (self.number(less), self.number(less));
                let sign = self.one_of(&["<", "<=", ">", ">="]);
                format!("({a} {sign} {b})")
            }
        }
    }

    fn vector(&mut self, depth: u32, less: u32) -> String {
        if depth == 0 {
            return self.one_of(&["self_.pos", "vec2(1.0, 2.0)", "vec2(3, 0.5)"]).to_string();
        }
        match self.below(7) {
            0 => format!("{}.pos", self.expression(Kind::Object, 0)),
            1 => format!("{}.velocity", self.expression(Kind::Object, 0)),
            2 => format!("(-{})", self.expression(Kind::Vec2, less)),
            3 => {
                let (a, b) = (self.expression(Kind::Vec2, less), self.number(less));
                let sign = self.one_of(&["*", "/"]);
                format!("({a} {sign} {b})")
            }
            4 => {
                let (a, b) = (self.number(less), self.expression(Kind::Vec2, less));
                format!("({a} * {b})")
            }
            5 => {
                let (a, b) = (self.expression(Kind::Vec2, less), self.expression(Kind::Vec2, less));
                let sign = self.one_of(&["+", "-"]);
                format!("({a} {sign} {b})")
            }
            _ => {
                let (x, y) = (self.number(less), self.expression(Kind::Fixed, less));
                format!("vec2({x}, {y})")
            }
        }
    }
}
