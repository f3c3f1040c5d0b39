//! Writes a program as the source of a port.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt::Write;

use super::{
    files::{PortFiles, head},
    structure::{PortShape, PortStep},
    window::windows,
};
use crate::{
    LinkedPackage, Package, PortError, Value,
    exec::priced,
    ir::{IrFunction, IrLinkKind, IrOp, IrPath, ScriptProgram, UnaryOp},
    lang::{LinkedProgram, SourcePoint},
};

/// Letters of a text in one line of a port.
const TEXT_LINE: usize = 72;

/// Writes the port of a package.
pub(super) fn print(
    linked: &LinkedPackage<'_>,
    program: &LinkedProgram,
) -> Result<String, PortError> {
    let (files, mut program) = (PortFiles::of(linked, program), program.program.clone());
    let priced = priced(&program).map_err(PortError::Program)?;
    for (function, code) in program.functions.iter_mut().zip(priced) {
        function.code = code;
    }
    let mut text = head(linked);
    files.tables(&mut text);
    tables(linked.package(), &program, files.is_alone(), &mut text);
    for (number, function) in program.functions.iter().enumerate() {
        let place = files.place(number, function.at);
        let shape =
            PortShape::of(function).map_err(|_| PortError::Tangled { function: place.clone() })?;
        let mut printer = FunctionPrinter {
            program: &program,
            function,
            shape: &shape,
            depth: 1,
            labels: Vec::new(),
            text: &mut text,
        };
        printer.function(number, &place);
    }
    Ok(text)
}

/// Writes what the functions name by numbers.
fn tables(package: &Package, program: &ScriptProgram, is_alone: bool, text: &mut String) {
    let windows = windows(program);
    let mut line = |words: &str| {
        text.push_str(words);
        text.push('\n');
    };
    line("\n/// What the port replaces, and what it is made of.");
    let name = if is_alone { "pub(crate) static PORT" } else { "static TABLES" };
    line(&format!("{name}: PortTables = PortTables {{"));
    line(&format!("    package: \"{}\",", package.id()));
    line(&format!("    file: {},", quoted(&package.manifest().entry)));
    line("    functions: &[");
    for (number, (function, window)) in program.functions.iter().zip(windows).enumerate() {
        let IrFunction { name, parameters, captures, registers, at, .. } = function;
        line("        PortFunction {");
        line(&format!("            name: {},", quoted(name)));
        line(&format!("            parameters: {parameters},"));
        line(&format!("            captures: {captures},"));
        line(&format!("            registers: {registers},"));
        line(&format!("            at: at({}, {}),", at.line, at.column));
        let body = title(function, number);
        line(&format!("            body: PortedBody {{ body: {body}, window: {window} }},"));
        line("        },");
    }
    line("    ],");
    line("    handlers: &[");
    for (kind, function) in &program.handlers {
        line(&format!("        (EventKind::{kind:?}, {function}),"));
    }
    line("    ],");
    line("    names: &[");
    program.names.iter().for_each(|name| line(&format!("        {},", quoted(name))));
    line("    ],");
    line("    shapes: &[");
    program.shapes.iter().for_each(|shape| line(&format!("        &{shape:?},")));
    line("    ],");
    line("    calls: &[");
    for (name, count) in &program.calls {
        line(&format!("        ({}, {count}),", quoted(name)));
    }
    line("    ],");
    line("    paths: &[");
    program.paths.iter().for_each(|path| line(&path_line(path)));
    line("    ],");
    line("    constants,");
    line("};\n");
    line("fn constants() -> Vec<Value> {");
    if program.constants.is_empty() {
        line("    Vec::new()");
    } else {
        line("    vec![");
        for constant in &program.constants {
            line(&format!("        {},{}", value(constant), told(constant)));
        }
        line("    ]");
    }
    line("}");
}

fn path_line(path: &IrPath) -> String {
    if path.links.is_empty() {
        return "        &[],".into();
    }
    let mut text = String::from("        &[\n");
    for link in &path.links {
        let kind = match link.kind {
            IrLinkKind::Name(name) => format!("Name({name})"),
            IrLinkKind::Index(register) => format!("Index({register})"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "            link(IrLinkKind::{kind}, {}, {}, {}),",
            link.optional,
            point(link.at),
            point(link.sign)
        );
    }
    text.push_str("        ],");
    text
}

fn point(at: SourcePoint) -> String {
    format!("at({}, {})", at.line, at.column)
}

/// Writes a text as Rust does, on several lines if it is long.
pub(super) fn quoted(text: &str) -> String {
    let letters: Vec<String> = text.chars().map(|c| c.escape_default().to_string()).collect();
    let mut lines = Vec::from([String::new()]);
    for letter in letters {
        let last = lines.last_mut().expect("there is one from the beginning");
        if last.len() + letter.len() > TEXT_LINE {
            lines.push(letter);
        } else {
            last.push_str(&letter);
        }
    }
    let quoted: Vec<String> = lines.iter().map(|line| format!("\"{line}\"")).collect();
    match &quoted[..] {
        [one] => one.clone(),
        several => format!("concat!(\n            {}\n        )", several.join(",\n            ")),
    }
}

/// Writes a constant as Rust.
fn value(value: &Value) -> String {
    match value {
        Value::Unit => "Value::Unit".into(),
        Value::Bool(value) => format!("Value::Bool({value})"),
        Value::Int(value) => format!("Value::Int({value})"),
        Value::Fixed(value) => format!("Value::Fixed(Fx::from_bits({}))", value.to_bits()),
        Value::Vec2(value) => {
            let (x, y) = (value.x.to_bits(), value.y.to_bits());
            format!("Value::Vec2(Vec2::new(Fx::from_bits({x}), Fx::from_bits({y})))")
        }
        Value::Object(object) => format!("Value::Object(ObjectId({}))", object.0),
        Value::Text(text) => format!("Value::Text({}.into())", quoted(text)),
        Value::Array(values) if values.is_empty() => "Value::Array(vec![])".into(),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(self::value).collect();
            format!(
                "Value::Array(vec![\n            {}\n        ])",
                values.join(",\n            ")
            )
        }
        Value::Map(entries) if entries.is_empty() => "Value::Map([].into())".into(),
        Value::Map(entries) => {
            let entry = |(name, entry): (&String, &Value)| {
                format!("({}.into(), {})", quoted(name), self::value(entry))
            };
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!(
                "Value::Map([\n            {}\n        ].into())",
                entries.join(",\n            ")
            )
        }
    }
}

/// Says what a number is of which only the bits are written.
fn told(value: &Value) -> String {
    match value {
        Value::Fixed(_) | Value::Vec2(_) => format!(" // {value}"),
        _ => String::new(),
    }
}

/// Returns the name of a function in the port.
fn title(function: &IrFunction, number: usize) -> String {
    let name = if function.name.is_empty() { "closure" } else { &function.name };
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    format!("f{number}_{}", name.chars().map(plain).collect::<String>())
}

/// Where an operation goes on.
#[derive(Clone, Copy)]
enum Onward {
    Forward(usize),
    Back(usize),
    /// With the next one.
    Next,
}

struct FunctionPrinter<'p> {
    program: &'p ScriptProgram,
    function: &'p IrFunction,
    shape: &'p PortShape,
    depth: usize,
    /// What is under way.
    labels: Vec<PortStep>,
    text: &'p mut String,
}

impl FunctionPrinter<'_> {
    fn line(&mut self, words: &str) {
        (0..self.depth).for_each(|_| self.text.push_str("    "));
        self.text.push_str(words);
        self.text.push('\n');
    }

    fn function(&mut self, number: usize, place: &str) {
        let IrFunction { name, registers, .. } = self.function;
        let name = if name.is_empty() {
            "a closure".into()
        } else {
            format!("`{}`", name.escape_default())
        };
        let _ = write!(
            self.text,
            "\n/// Is {name} at {place}.\n\
             fn {}(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {{\n",
            title(self.function, number)
        );
        self.line(&match registers {
            1 => "assert!(!r.is_empty());".into(),
            _ => format!("assert!(r.len() >= {registers});"),
        });
        let shape = self.shape;
        for step in &shape.steps {
            self.step(*step);
        }
        self.text.push_str("}\n");
    }

    fn step(&mut self, step: PortStep) {
        match step {
            PortStep::Block(end) => {
                self.line(&format!("'to_{end}: {{"));
                self.begin(step);
            }
            PortStep::Loop(start) => {
                self.line(&format!("'from_{start}: loop {{"));
                self.begin(step);
            }
            PortStep::Op(place) => self.op(place),
            PortStep::Leave(start) => self.line(&format!("break 'from_{start};")),
            PortStep::End => {
                self.labels.pop();
                self.depth -= 1;
                self.line("}");
            }
        }
    }

    fn begin(&mut self, step: PortStep) {
        self.labels.push(step);
        self.depth += 1;
    }

    /// Writes an operation that can fail at its place.
    fn failing(&mut self, place: usize, call: &str, words: &str) {
        let located = self.located(place, call);
        self.guarded(place, &located, words);
    }

    /// Says where an operation is that can fail.
    fn located(&self, place: usize, call: &str) -> String {
        let at = self.function.places[place];
        let op = u16::try_from(place).unwrap_or(u16::MAX);
        match self.function.signs.binary_search_by_key(&op, |(op, _)| *op) {
            Ok(found) => {
                let sign = self.function.signs[found].1;
                format!("{call}.at_either({}, {})", point(at), point(sign))
            }
            Err(_) => format!("{call}.at({}, {})", at.line, at.column),
        }
    }

    /// Writes an operation that can fail, and says where by itself.
    fn guarded(&mut self, place: usize, call: &str, words: &str) {
        match self.shape.catch(place) {
            None => self.line(&format!("{call}?;{words}")),
            Some(_) => {
                self.line(&format!("if let Err(fault) = {call} {{{words}"));
                self.depth += 1;
                self.catch(place);
                self.depth -= 1;
                self.line("}");
            }
        }
    }

    /// Writes how a fault goes on at its `catch`.
    fn catch(&mut self, place: usize) {
        let catch = self.shape.catch(place).expect("only what is inside of one is caught");
        self.line(&format!("m.caught(r, fault, {})?;", catch.error));
        self.line(&format!("break 'to_{};", catch.target));
    }

    /// Writes how a fault that is there goes on.
    fn faulty(&mut self, place: usize, fault: &str) {
        if self.shape.catch(place).is_some() {
            self.line(&format!("let fault = {fault};"));
            self.catch(place);
        } else if self.is_last(place) {
            self.line(&format!("Err({fault})"));
        } else {
            self.line(&format!("return Err({fault});"));
        }
    }

    fn onward(place: usize, target: u16) -> Onward {
        match usize::from(target) {
            target if target == place + 1 => Onward::Next,
            target if target > place => Onward::Forward(target),
            target => Onward::Back(target),
        }
    }

    fn jump(onward: Onward) -> Option<String> {
        match onward {
            Onward::Forward(target) => Some(format!("break 'to_{target}")),
            Onward::Back(target) => Some(format!("continue 'from_{target}")),
            Onward::Next => None,
        }
    }

    /// Writes a jump that a question decides that cannot fail.
    fn jump_if(&mut self, place: usize, question: &str, target: u16, words: &str) {
        let jump = Self::jump(Self::onward(place, target));
        self.line(&format!("if {question} {{{words}"));
        if let Some(jump) = jump {
            self.line(&format!("    {jump};"));
        }
        self.line("}");
    }

    /// Writes a jump that a question decides that can fail.
    fn jump_when(&mut self, place: usize, question: &str, wanted: bool, target: u16) {
        let question = self.located(place, question);
        let jump = Self::jump(Self::onward(place, target));
        let no = if wanted { "" } else { "!" };
        match (self.shape.catch(place), jump) {
            (_, None) => self.guarded(place, &question, ""),
            (None, Some(jump)) => {
                self.line(&format!("if {no}{question}? {{"));
                self.line(&format!("    {jump};"));
                self.line("}");
            }
            (Some(_), Some(jump)) => {
                self.line(&format!("match {question} {{"));
                self.line(&format!("    Ok({wanted}) => {jump},"));
                self.line(&format!("    Ok({}) => {{}}", !wanted));
                self.line("    Err(fault) => {");
                self.depth += 2;
                self.catch(place);
                self.depth -= 2;
                self.line("    }");
                self.line("}");
            }
        }
    }

    fn name(&self, name: u16) -> String {
        format!(" // .{}", self.program.names[usize::from(name)].escape_default())
    }

    fn called(&self, call: u16) -> String {
        format!(" // {}", self.program.calls[usize::from(call)].0)
    }

    /// Says what a path leads to.
    fn part(&self, path: u16) -> String {
        let links = &self.program.paths[usize::from(path)].links;
        let link = |link: &crate::ir::IrLink| match link.kind {
            IrLinkKind::Name(name) => self.name(name).replace(" // ", ""),
            IrLinkKind::Index(register) => format!("[{register}]"),
        };
        let words: String = links.iter().map(link).collect();
        if words.is_empty() { words } else { format!(" // {words}") }
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each operation, as where they are run")]
    fn op(&mut self, place: usize) {
        let here = point(self.function.places[place]);
        match self.function.code[place] {
            IrOp::Charge(price) => self.failing(place, &format!("m.pay({price:?})"), ""),
            IrOp::Constant { to, constant } => {
                self.line(&format!("m.constant(r, {to}, {constant});"))
            }
            IrOp::Int { to, value } => self.line(&format!("int(r, {to}, {value:?});")),
            IrOp::Unit { to } => self.line(&format!("unit(r, {to});")),
            IrOp::Bool { to, value } => self.line(&format!("truth(r, {to}, {value});")),
            IrOp::Own { to } => self.line(&format!("m.own(r, {to});")),
            IrOp::State { to } => self.line(&format!("state(r, {to});")),
            IrOp::Copy { to, from } => self.line(&format!("copy(r, {to}, {from});")),
            IrOp::Move { to, from } => self.line(&format!("shift(r, {to}, {from});")),
            IrOp::Add { to, a, b } => self.failing(place, &format!("m.add(r, {to}, {a}, {b})"), ""),
            IrOp::Sub { to, a, b } => self.failing(place, &format!("m.sub(r, {to}, {a}, {b})"), ""),
            IrOp::Mul { to, a, b } => self.failing(place, &format!("m.mul(r, {to}, {a}, {b})"), ""),
            IrOp::Less { to, a, b } => {
                let call = format!("m.operator(r, BinaryOp::Less, {to}, ({a}, {b}))");
                self.failing(place, &call, "");
            }
            IrOp::Binary { op, to, a, b } => {
                let call = format!("m.operator(r, BinaryOp::{op:?}, {to}, ({a}, {b}))");
                self.failing(place, &call, "");
            }
            IrOp::Unary { op, to, a } => {
                let op: UnaryOp = op;
                self.failing(place, &format!("unary(r, UnaryOp::{op:?}, {to}, {a})"), "");
            }
            IrOp::Jump { target } => {
                if let Some(jump) = Self::jump(Self::onward(place, target)) {
                    self.line(&format!("{jump};"));
                }
            }
            IrOp::JumpIf { condition, wanted, target } => {
                self.jump_when(place, &format!("is(r, {condition}, {wanted})"), true, target);
            }
            IrOp::JumpUnlessLess { a, b, target } => {
                self.jump_when(place, &format!("m.is_less(r, {a}, {b})"), false, target);
            }
            IrOp::JumpIfUnit { value, wanted, target } => {
                let no = if wanted { "" } else { "!" };
                self.jump_if(place, &format!("{no}is_unit(r, {value})"), target, "");
            }
            IrOp::JumpUnlessCase { value, constant, target } => {
                self.jump_if(place, &format!("!m.is_case(r, {value}, {constant})"), target, "");
            }
            IrOp::JumpUnlessWithin { value, first, target } => {
                self.jump_if(place, &format!("!is_within(r, {value}, {first})"), target, "");
            }
            IrOp::Next { state, to, target } => {
                self.jump_if(place, &format!("!next(r, {state}, {to})"), target, "");
            }
            IrOp::Array { to, first, count } => {
                self.failing(place, &format!("m.array_of(r, {to}, {first}, {count})"), "");
            }
            IrOp::Map { to, first, shape } => {
                self.failing(place, &format!("m.map_of(r, {to}, {first}, {shape})"), "");
            }
            IrOp::Text { to, first, count } => {
                self.failing(place, &format!("m.text_of(r, {to}, {first}, {count})"), "");
            }
            IrOp::Closure { to, first, function } => {
                self.failing(place, &format!("m.closure_of(r, {to}, {first}, {function})"), "");
            }
            IrOp::Get { to, of, name } => {
                let words = self.name(name);
                self.failing(place, &format!("m.read(r, {to}, {of}, {name})"), &words);
            }
            IrOp::Index { to, of, index } => {
                self.failing(place, &format!("m.element(r, {to}, {of}, {index})"), "");
            }
            IrOp::Store { root, path, value } => {
                let words = self.part(path);
                let call = format!("m.write(r, ({root}, {path}), {value}, {here})");
                self.failing(place, &call, &words);
            }
            IrOp::Change { op, root, path, value } => {
                let words = self.part(path);
                let call =
                    format!("m.adjust(r, BinaryOp::{op:?}, ({root}, {path}), {value}, {here})");
                self.failing(place, &call, &words);
            }
            IrOp::Method { root, path, call, first } => {
                let words = self.called(call);
                let call = format!("m.alter(r, ({root}, {path}), ({call}, {first}), {here})");
                self.failing(place, &call, &words);
            }
            IrOp::Call { function, first } => {
                let words = &self.program.functions[usize::from(function)].name;
                let words = format!(" // {}", words.escape_default());
                let call = format!("m.call_own(r, {function}, {first}, {here})");
                self.guarded(place, &call, &words);
            }
            IrOp::Host { call, first } => {
                let words = self.called(call);
                self.failing(place, &format!("m.world(r, {call}, {first})"), &words);
            }
            IrOp::CallValue { callee, first, count } => {
                let call = format!("m.call_value(r, {callee}, ({first}, {count}), {here})");
                self.guarded(place, &call, "");
            }
            IrOp::Iterate { state, from } => {
                self.failing(place, &format!("iterate(r, {state}, {from})"), "");
            }
            IrOp::Return { from } if self.is_last(place) => {
                self.line(&format!("Ok(taken(r, {from}))"));
            }
            IrOp::Return { from } => self.line(&format!("return Ok(taken(r, {from}));")),
            IrOp::Try { .. } | IrOp::EndTry => {}
            IrOp::Throw { from } => self.faulty(place, &format!("m.throw(r, {from}, {here})")),
            IrOp::Rethrow { error } => self.faulty(place, &format!("rethrown(r, {error})")),
        }
    }

    /// Returns whether this is the last operation, outside of all blocks.
    fn is_last(&self, place: usize) -> bool {
        self.labels.is_empty() && self.shape.steps.last() == Some(&PortStep::Op(place))
    }
}
