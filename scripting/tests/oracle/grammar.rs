//! Random programs, drawn from a grammar by a seed. They are mostly well typed, so that they run for long.

mod expressions;
mod world;

use std::{collections::BTreeMap, fmt::Write};

/// Stands in a program where a closure is called: one executor writes `f.call(x)`, the other `f(x)`.
pub(crate) const CALL: &str = "\u{1}";

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Int,
    Fixed,
    Bool,
    Text,
    /// An array of ints.
    Array,
    /// With ints under some of the names a, b and c.
    Map,
    Vec2,
    /// From an int to an int.
    Closure,
}

const TYPES: [Type; 7] =
    [Type::Int, Type::Fixed, Type::Bool, Type::Text, Type::Array, Type::Map, Type::Vec2];

/// A variable that can be named.
#[derive(Clone, Debug)]
struct Variable {
    name: String,
    of: Type,
    /// A closure has captured it, or it counts rounds: it is not written any more.
    fixed: bool,
}

/// The drawing of one program.
pub(crate) struct Grammar<'c> {
    state: u64,
    variables: Vec<Variable>,
    /// Names that were given.
    names: u64,
    loops: u32,
    tries: u32,
    in_closure: bool,
    /// A closure for an array is drawn: stock rhai locks the array, or the map that it is taken from, so
    /// the closure names none, nor another closure that could.
    hides_arrays: bool,
    /// Functions that may be called from here: those before.
    functions: u64,
    lines: String,
    coverage: Option<&'c mut BTreeMap<&'static str, u64>>,
}

impl<'c> Grammar<'c> {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            // Far apart, so that neighbours draw nothing alike.
            state: (seed ^ 0x5DEE_CE66).wrapping_mul(0xD134_2543_DE82_EF95).rotate_left(29),
            variables: vec![],
            names: 0,
            loops: 0,
            tries: 0,
            in_closure: false,
            hides_arrays: false,
            functions: 0,
            lines: String::new(),
            coverage: None,
        }
    }

    /// A number below `end`, by splitmix64.
    fn below(&mut self, end: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.below(all.len() as u64)).unwrap()]
    }

    fn played(&mut self, node: &'static str) {
        if let Some(coverage) = &mut self.coverage {
            *coverage.entry(node).or_default() += 1;
        }
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    /// Draws the program: some functions, and `run`, which gives its value.
    pub(crate) fn program(mut self, coverage: &'c mut BTreeMap<&'static str, u64>) -> String {
        self.coverage = Some(coverage);
        for index in 0..1 + self.below(2) {
            self.variables = ["p", "q"]
                .map(|name| Variable { name: name.into(), of: Type::Int, fixed: false })
                .into();
            writeln!(self.lines, "fn h{index}(p, q) {{").unwrap();
            let statements = 1 + self.below(2);
            self.statements(statements, 1);
            let result = self.expression(Type::Int, 2);
            writeln!(self.lines, "{result}\n}}").unwrap();
            self.functions = index + 1;
        }
        self.variables.clear();
        writeln!(self.lines, "fn run() {{").unwrap();
        for of in [Type::Int, Type::Array, Type::Text, Type::Map] {
            self.declare(of);
        }
        let statements = 3 + self.below(5);
        self.statements(statements, 2);
        let results = TYPES.map(|of| self.expression(of, 2)).join(",\n");
        writeln!(self.lines, "[{results}]\n}}").unwrap();
        self.lines
    }

    fn condition(&mut self, depth: u32) -> String {
        self.whole(Type::Bool, depth)
    }

    /// An expression where a statement may not stand.
    fn whole(&mut self, of: Type, depth: u32) -> String {
        let value = self.expression(of, depth);
        let is_statement = ["{", "if ", "loop ", "#{"].iter().any(|sign| value.starts_with(sign));
        if is_statement { format!("({value})") } else { value }
    }

    fn declare(&mut self, of: Type) {
        let value = self.expression(of, 2);
        let name = self.name();
        writeln!(self.lines, "let {name} = {value};").unwrap();
        self.variables.push(Variable { name, of, fixed: false });
        self.played("let");
    }

    fn block(&mut self, statements: u64, depth: u32) {
        let variables = self.variables.len();
        self.statements(statements, depth);
        self.variables.truncate(variables);
    }

    fn statements(&mut self, count: u64, depth: u32) {
        for _ in 0..count {
            self.statement(depth);
        }
    }

    /// A variable of a type that may be written.
    fn writable(&mut self, of: Type) -> Option<String> {
        let all: Vec<String> = self
            .variables
            .iter()
            .filter(|v| v.of == of && !v.fixed)
            .map(|v| v.name.clone())
            .collect();
        if all.is_empty() || self.in_closure {
            return None;
        }
        let index = usize::try_from(self.below(all.len() as u64)).unwrap();
        Some(all[index].clone())
    }

    fn statement(&mut self, depth: u32) {
        match self.below(if depth == 0 { 13 } else { 26 }) {
            0..=2 => {
                let of = self.pick(&TYPES);
                self.declare(of);
            }
            3..=5 => self.assign(),
            6 | 7 => self.change_in_place(),
            8 => self.closure(),
            9 => {
                let of = self.pick(&TYPES);
                let value = self.expression(of, 2);
                writeln!(self.lines, "{value};").unwrap();
                self.played("expression as a statement");
            }
            10 => self.jump(),
            11 | 12 => self.deed(),
            13..=15 => {
                let condition = self.condition(2);
                writeln!(self.lines, "if {condition} {{").unwrap();
                self.block(2, depth - 1);
                if self.percent(60) {
                    writeln!(self.lines, "}} else {{").unwrap();
                    self.block(2, depth - 1);
                    self.played("else");
                }
                writeln!(self.lines, "}}").unwrap();
                self.played("if");
            }
            16..=20 => self.repeat(depth - 1),
            21 | 22 => self.switch(depth - 1),
            23 | 24 => self.try_catch(depth - 1),
            _ => {
                writeln!(self.lines, "{{").unwrap();
                self.block(2, depth - 1);
                writeln!(self.lines, "}}").unwrap();
                self.played("block");
            }
        }
    }

    fn assign(&mut self) {
        let of = self.pick(&TYPES);
        let Some(name) = self.writable(of) else { return };
        let value = self.expression(of, 2);
        let operators: &[&str] = match of {
            Type::Int => &["=", "+=", "-=", "*=", "&=", "|=", "^=", "%=", ">>="],
            Type::Fixed => &["=", "+=", "-=", "*="],
            Type::Bool => &["=", "&=", "|=", "^="],
            Type::Text | Type::Array => &["=", "+="],
            Type::Vec2 => &["=", "+=", "-="],
            _ => &["="],
        };
        let operator = self.pick(operators);
        writeln!(self.lines, "{name} {operator} {value};").unwrap();
        self.played(if operator == "=" { "assignment" } else { "assignment with an operator" });
    }

    /// Writes a part of an array, map or vector, or calls what changes it.
    fn change_in_place(&mut self) {
        let of = self.pick(&[Type::Array, Type::Array, Type::Map, Type::Vec2]);
        let Some(name) = self.writable(of) else { return };
        let value = self.expression(Type::Int, 2);
        match of {
            Type::Array => match self.below(9) {
                0 | 1 => writeln!(self.lines, "if {name}.len() < 20 {{ {name}.push({value}); }}"),
                2 => writeln!(self.lines, "{name}.pop();"),
                3 => writeln!(self.lines, "{name}.reverse();"),
                4 => writeln!(self.lines, "{name}.sort();"),
                5 => {
                    let place = self.below(3);
                    writeln!(self.lines, "{name}.insert({place}, {value});")
                }
                6 => writeln!(self.lines, "if {name}.len() > 1 {{ {name}.remove(1); }}"),
                7 => {
                    let place = self.place();
                    writeln!(self.lines, "{name}[{place}] += {value};")
                }
                _ => {
                    let place = self.place();
                    writeln!(self.lines, "{name}[{place}] = {value};")
                }
            },
            Type::Map => match self.below(4) {
                0 => writeln!(self.lines, "{name}.b = {value};"),
                1 => writeln!(self.lines, "{name}[\"c\"] = {value};"),
                2 => writeln!(self.lines, "{name}.remove(\"a\");"),
                _ => {
                    writeln!(self.lines, "if {name}.contains(\"a\") {{ {name}.a += {value}; }}")
                }
            },
            _ => {
                let value = self.expression(Type::Fixed, 1);
                writeln!(self.lines, "{name}.x = {value};")
            }
        }
        .unwrap();
        self.played("change in place");
    }

    fn place(&mut self) -> String {
        self.pick(&["0", "0", "0", "-1", "1", "7"]).into()
    }

    fn closure(&mut self) {
        if self.in_closure {
            return;
        }
        let body = self.closure_body(Type::Int);
        let name = self.name();
        writeln!(self.lines, "let {name} = {body};").unwrap();
        self.variables.push(Variable { name, of: Type::Closure, fixed: true });
    }

    /// A closure of one int. What it may capture is not written any more: there the two executors differ.
    fn closure_body(&mut self, of: Type) -> String {
        let parameter = self.name();
        self.variables.retain(|v| v.of != Type::Closure || !self.in_closure);
        self.variables.iter_mut().for_each(|variable| variable.fixed = true);
        let variables = self.variables.len();
        self.variables.push(Variable { name: parameter.clone(), of: Type::Int, fixed: true });
        let outer = std::mem::replace(&mut self.in_closure, true);
        let body = self.expression(of, 2);
        self.in_closure = outer;
        self.variables.truncate(variables);
        self.played("closure");
        format!("|{parameter}| {body}")
    }

    fn jump(&mut self) {
        let (chance, line) = match self.below(4) {
            0 if self.loops > 0 => (100, "break;"),
            1 if self.loops > 0 => (100, "continue;"),
            2 => (25, "return 1;"),
            _ => (if self.tries > 0 { 100 } else { 10 }, "throw 7;"),
        };
        if self.percent(chance) {
            let condition = self.condition(1);
            writeln!(self.lines, "if {condition} {{ {line} }}").unwrap();
            self.played(match line {
                "break;" => "break",
                "continue;" => "continue",
                "return 1;" => "return",
                _ => "throw",
            });
        }
    }

    fn repeat(&mut self, depth: u32) {
        let most = 2 + self.below(9);
        let counter = self.name();
        self.loops += 1;
        let variables = self.variables.len();
        let count = |name: &String| Variable { name: name.clone(), of: Type::Int, fixed: true };
        match self.below(6) {
            0 => {
                let condition = self.condition(1);
                writeln!(self.lines, "let {counter} = 0;").unwrap();
                writeln!(self.lines, "while {counter} < {most} && {condition} {{").unwrap();
                writeln!(self.lines, "{counter} += 1;").unwrap();
                self.variables.push(count(&counter));
                self.block(2, depth);
                writeln!(self.lines, "}}").unwrap();
                self.played("while");
            }
            1 => {
                writeln!(self.lines, "let {counter} = 0; loop {{").unwrap();
                writeln!(self.lines, "{counter} += 1; if {counter} > {most} {{ break; }}").unwrap();
                self.variables.push(count(&counter));
                self.block(2, depth);
                writeln!(self.lines, "}}").unwrap();
                self.played("loop");
            }
            2 => {
                writeln!(self.lines, "let {counter} = 0; do {{ {counter} += 1;").unwrap();
                writeln!(self.lines, "if {counter} > {most} {{ break; }}").unwrap();
                self.variables.push(count(&counter));
                self.block(2, depth);
                let until = self.pick(&["while", "until"]);
                let condition = self.condition(1);
                writeln!(self.lines, "}} {until} {condition};").unwrap();
                self.played("do");
            }
            3 => {
                let array = self.whole(Type::Array, 1);
                let place = self.name();
                writeln!(self.lines, "for ({counter}, {place}) in {array} {{").unwrap();
                self.variables.extend([count(&counter), count(&place)]);
                self.block(2, depth);
                writeln!(self.lines, "}}").unwrap();
                self.played("for over an array");
            }
            _ => {
                let range = self.pick(&["..", "..="]);
                let end = self.percent(20);
                let end = if end { format!("{most} + 1") } else { most.to_string() };
                writeln!(self.lines, "for {counter} in 0{range}{end} {{").unwrap();
                self.variables.push(count(&counter));
                self.block(3, depth);
                writeln!(self.lines, "}}").unwrap();
                self.played("for over a range");
            }
        }
        self.variables.truncate(variables);
        self.loops -= 1;
    }

    fn switch(&mut self, depth: u32) {
        let value = self.expression(Type::Int, 1);
        let name = self.name();
        writeln!(self.lines, "let {name} = {value} % 7; switch {name} {{").unwrap();
        self.variables.push(Variable { name: name.clone(), of: Type::Int, fixed: true });
        for case in ["0", "1 | 2", "3 if true", "4..6", "-3..=-1"] {
            if self.percent(70) {
                let condition = self.condition(1);
                let case = case.replace("true", &condition);
                writeln!(self.lines, "{case} => {{").unwrap();
                self.block(1, depth.min(1));
                writeln!(self.lines, "}}").unwrap();
            }
        }
        if self.percent(70) {
            writeln!(self.lines, "_ => {{").unwrap();
            self.block(1, depth.min(1));
            writeln!(self.lines, "}}").unwrap();
        }
        writeln!(self.lines, "}}").unwrap();
        self.played("switch");
    }

    fn try_catch(&mut self, depth: u32) {
        self.tries += 1;
        writeln!(self.lines, "try {{").unwrap();
        self.block(3, depth);
        self.tries -= 1;
        if self.percent(50) {
            writeln!(self.lines, "}} catch {{").unwrap();
            self.block(1, depth);
        } else {
            let error = self.name();
            let Some(told) = self.writable(Type::Int) else {
                writeln!(self.lines, "}} catch {{ }}").unwrap();
                return;
            };
            // What a fault of the executor tells differs; what was thrown does not.
            writeln!(self.lines, "}} catch ({error}) {{").unwrap();
            writeln!(
                self.lines,
                "{told} = if type_of({error}) == \"int\" {{ {error} }} else {{ -1 }};"
            )
            .unwrap();
            self.played("catch with a name");
        }
        writeln!(self.lines, "}}").unwrap();
        self.played("try");
    }
}
