//! Expressions of each type.

use super::{CALL, Grammar, TYPES, Type};

impl Grammar<'_> {
    pub(super) fn expression(&mut self, of: Type, depth: u32) -> String {
        // Some are of a wrong type: errors must be the same as well. Ints and texts would run into what
        // the two executors mean differently.
        let wrong = [Type::Fixed, Type::Bool, Type::Array, Type::Map, Type::Vec2];
        let of = if self.below(400) == 0 { self.pick(&wrong) } else { of };
        if depth == 0 || self.percent(25) {
            return self.leaf(of);
        }
        let depth = depth - 1;
        if self.percent(8) {
            return self.choice(of, depth);
        }
        if self.percent(6)
            && let Some(seen) = self.seen(of)
        {
            return seen;
        }
        match of {
            Type::Int => self.int(depth),
            Type::Fixed => self.fixed(depth),
            Type::Bool => self.truth(depth),
            Type::Text => self.text(depth),
            Type::Array => self.array(depth),
            Type::Map => self.map(depth),
            Type::Vec2 => self.vector(depth),
            Type::Closure => self.leaf(of),
        }
    }

    fn variable(&mut self, of: Type) -> Option<String> {
        if self.hides_arrays && [Type::Array, Type::Map, Type::Closure].contains(&of) {
            return None;
        }
        let all: Vec<String> =
            self.variables.iter().filter(|v| v.of == of).map(|v| v.name.clone()).collect();
        if all.is_empty() {
            return None;
        }
        self.played("variable");
        let index = usize::try_from(self.below(all.len() as u64)).unwrap();
        Some(all[index].clone())
    }

    fn leaf(&mut self, of: Type) -> String {
        if self.percent(65)
            && let Some(name) = self.variable(of)
        {
            return name;
        }
        self.played("literal");
        match of {
            Type::Int | Type::Closure => {
                let number = self.below(24);
                if number < 4 { format!("-{number}") } else { (number - 4).to_string() }
            }
            Type::Fixed => self.pick(&["0.5", "1.5", "-2.25", "3.0", "100.125", "0.001"]).into(),
            Type::Bool => self.pick(&["true", "false"]).into(),
            Type::Text => self.pick(&["\"a\"", "\"bc\"", "\"\"", "\"Door\""]).into(),
            Type::Array => self.pick(&["[1, 2, 3]", "[5]", "[4, -1, 9, 2]", "[]"]).into(),
            Type::Map => self.pick(&["#{a: 1}", "#{a: 2, b: 3}", "#{a: 0, b: 1, c: 2}"]).into(),
            Type::Vec2 => self.pick(&["vec2(1, 2)", "vec2(0.5, -1)"]).into(),
        }
    }

    /// An expression that chooses between two, or is a block.
    fn choice(&mut self, of: Type, depth: u32) -> String {
        let (a, b) = (self.expression(of, depth), self.expression(of, depth));
        match self.below(5) {
            0 => {
                self.played("block as an expression");
                let name = self.name();
                format!("{{ let {name} = {a}; {name} }}")
            }
            1 => {
                self.played("switch as an expression");
                let value = self.expression(Type::Int, depth);
                let name = self.name();
                format!(
                    "{{ let {name} = {value}; switch {name} {{ 1 => {a}, 2 | 3 => {b}, _ => {a} }} }}"
                )
            }
            2 => {
                self.played("loop as an expression");
                format!("loop {{ break {a} }}")
            }
            _ => {
                self.played("if as an expression");
                let condition = self.whole(Type::Bool, depth);
                format!("if {condition} {{ {a} }} else {{ {b} }}")
            }
        }
    }

    fn two(&mut self, of: Type, depth: u32) -> (String, String) {
        (self.inner(of, depth), self.inner(of, depth))
    }

    /// Puts an expression in brackets, so that no operator or statement takes a part of it.
    fn inner(&mut self, of: Type, depth: u32) -> String {
        let value = self.expression(of, depth);
        let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
        if plain { value } else { format!("({value})") }
    }

    fn int(&mut self, depth: u32) -> String {
        let (a, b) = self.two(Type::Int, depth);
        match self.below(22) {
            0..=4 => {
                self.played("arithmetic of ints");
                let sign = self.pick(&["+", "-", "*", "+", "-"]);
                format!("{a} {sign} {b}")
            }
            5 => {
                self.played("division of ints");
                let (sign, by) = (self.pick(&["/", "%"]), self.pick(&["2", "3", "7", "0"]));
                format!("{a} {sign} {by}")
            }
            6 => {
                self.played("bits");
                let sign = self.pick(&["&", "|", "^"]);
                format!("{a} {sign} {b}")
            }
            7 => {
                self.played("shift or power");
                let (sign, by) = (self.pick(&["<<", ">>", "**"]), self.below(5));
                format!("{a} {sign} {by}")
            }
            8 => {
                self.played("opposite");
                format!("-{a}")
            }
            _ => self.int_of_others(&a, &b, depth),
        }
    }

    /// An int from values of other types, or by a function.
    fn int_of_others(&mut self, a: &str, b: &str, depth: u32) -> String {
        match 9 + self.below(13) {
            9 => {
                self.played("length");
                let of = self.pick(&[Type::Array, Type::Text, Type::Map]);
                format!("{}.len()", self.inner(of, depth))
            }
            10 | 11 => {
                self.played("element");
                let (array, place) = (self.inner(Type::Array, 0), self.place());
                format!("{array}[{place}]")
            }
            12 => {
                self.played("entry");
                let map = self.inner(Type::Map, 0);
                let link = self.pick(&[".a", ".b", "[\"c\"]", "?.a", "?.b"]);
                format!("({map}{link} ?? {b})")
            }
            13 | 14 if self.functions > 0 => {
                self.played("call of a function");
                let function = self.below(self.functions);
                format!("h{function}({a}, {b})")
            }
            15 | 16 => match self.variable(Type::Closure) {
                Some(closure) => {
                    self.played("call of a closure");
                    format!("{closure}{CALL}({a})")
                }
                None => a.into(),
            },
            17 => {
                self.played("host function");
                let function = self.pick(&["min", "max"]);
                format!("{function}({a}, {b})")
            }
            18 => {
                self.played("host method");
                let method = self.pick(&["floor", "ceil", "round"]);
                format!("{}.{method}()", self.inner(Type::Fixed, depth))
            }
            19 if !self.in_closure => {
                self.played("reduce");
                let (array, start) = (self.inner(Type::Array, depth), self.leaf(Type::Int));
                format!("{array}.reduce(|r, s| r + s, {start})")
            }
            20 => {
                self.played("place of an element");
                format!("({}.index_of({a}) ?? {b})", self.inner(Type::Array, depth))
            }
            _ => {
                self.played("coalesce");
                format!("(() ?? {a})")
            }
        }
    }

    fn fixed(&mut self, depth: u32) -> String {
        let (a, b) = self.two(Type::Fixed, depth);
        let int = self.inner(Type::Int, depth);
        match self.below(9) {
            0..=2 => {
                self.played("arithmetic of fixed");
                let sign = self.pick(&["+", "-", "*", "/", "%"]);
                format!("{a} {sign} {b}")
            }
            3 => {
                self.played("arithmetic of an int and a fixed");
                let sign = self.pick(&["+", "-", "*", "/"]);
                format!("{int} {sign} {b}")
            }
            4 => {
                self.played("arithmetic of an int and a fixed");
                let sign = self.pick(&["+", "-", "*", "/"]);
                format!("{b} {sign} {int}")
            }
            5 => {
                self.played("host function");
                format!("sqrt(abs({a}))")
            }
            6 => {
                self.played("coordinate");
                format!("{}.x", self.inner(Type::Vec2, depth))
            }
            7 => {
                self.played("host function");
                let (v, w) = self.two(Type::Vec2, depth);
                format!("dot({v}, {w})")
            }
            _ => {
                self.played("opposite");
                format!("-{a}")
            }
        }
    }

    fn truth(&mut self, depth: u32) -> String {
        let (a, b) = self.two(Type::Bool, depth);
        match self.below(11) {
            0..=2 => {
                self.played("comparison of numbers");
                let (of, other) =
                    (self.pick(&[Type::Int, Type::Fixed]), self.pick(&[Type::Int, Type::Fixed]));
                let (a, b) = (self.inner(of, depth), self.inner(other, depth));
                let sign = self.pick(&["<", "<=", ">", ">=", "==", "!="]);
                format!("{a} {sign} {b}")
            }
            3 => {
                self.played("comparison");
                let of = self.pick(&TYPES);
                let (a, b) = self.two(of, depth);
                let sign = self.pick(&["==", "!="]);
                format!("{a} {sign} {b}")
            }
            4 if self.percent(20) => {
                self.played("letter in a text");
                format!("'o' in {}", self.inner(Type::Text, depth))
            }
            4 => {
                self.played("comparison of texts");
                let (a, b) = self.two(Type::Text, depth);
                let sign = self.pick(&["<", "<=", ">", ">="]);
                format!("{a} {sign} {b}")
            }
            5 | 6 => {
                let sign = self.pick(&["&&", "||"]);
                self.played(if sign == "&&" { "and" } else { "or" });
                format!("{a} {sign} {b}")
            }
            7 => {
                self.played("not");
                format!("!{a}")
            }
            8 => {
                self.played("in");
                let int = self.inner(Type::Int, depth);
                let array = self.inner(Type::Array, depth);
                let range = self.pick(&["(1..7)", "(0..=3)"]);
                if self.percent(50) {
                    format!("{int} in {array}")
                } else {
                    format!("{int} in {range}")
                }
            }
            9 => {
                self.played("any");
                if self.in_closure {
                    return a;
                }
                format!("{}.any(|t| t > 2)", self.inner(Type::Array, depth))
            }
            _ => {
                self.played("host method");
                format!("{}.contains(\"a\")", self.inner(Type::Text, depth))
            }
        }
    }

    fn text(&mut self, depth: u32) -> String {
        let (a, b) = self.two(Type::Text, depth);
        match self.below(7) {
            0 | 1 => {
                self.played("interpolation");
                let of = self.pick(&TYPES);
                let value = self.expression(of, depth);
                format!("`<${{{value}}}>`")
            }
            2 if self.percent(20) => {
                self.played("joined letter");
                format!("{a} + 'z'")
            }
            2 => {
                self.played("joined texts");
                let of = self.pick(&[Type::Text, Type::Int, Type::Fixed, Type::Bool]);
                format!("{a} + {}", self.inner(of, depth))
            }
            3 => {
                self.played("host method");
                let method = self.pick(&["lower", "upper", "trim"]);
                format!("{a}.{method}()")
            }
            4 if self.percent(30) => {
                self.played("letter of a text");
                format!("`${{{a}[{}]}}`", self.place())
            }
            4 => {
                self.played("part of a text");
                let range = self.pick(&["0..2", "1..=2", "0..9"]);
                format!("{a}[{range}]")
            }
            5 => {
                self.played("host method");
                format!("{a}.sub(0, 3)")
            }
            _ => {
                self.played("coalesce");
                format!("({b} ?? \"x\")")
            }
        }
    }

    fn array(&mut self, depth: u32) -> String {
        let (a, b) = self.two(Type::Int, depth);
        let array = self.inner(Type::Array, depth);
        match self.below(6) {
            0 | 1 => {
                self.played("array");
                format!("[{a}, {b}]")
            }
            2 if !self.in_closure => {
                self.played("map of an array");
                let body = self.body_for_array(Type::Int);
                format!("{array}.map({body})")
            }
            3 if !self.in_closure => {
                self.played("filter");
                let body = self.body_for_array(Type::Bool);
                format!("{array}.filter({body})")
            }
            4 => {
                self.played("values of a map");
                format!("{}.values()", self.inner(Type::Map, depth))
            }
            _ => array,
        }
    }

    fn body_for_array(&mut self, of: Type) -> String {
        let outer = std::mem::replace(&mut self.hides_arrays, true);
        let body = self.closure_body(of);
        self.hides_arrays = outer;
        body
    }

    fn map(&mut self, depth: u32) -> String {
        let (a, b) = self.two(Type::Int, depth);
        self.played("map");
        format!("#{{a: {a}, b: {b}}}")
    }

    fn vector(&mut self, depth: u32) -> String {
        let (a, b) = self.two(Type::Vec2, depth);
        let (x, y) = self.two(Type::Fixed, depth);
        match self.below(4) {
            0 => {
                self.played("host function");
                format!("vec2({x}, {y})")
            }
            1 => {
                self.played("arithmetic of vectors");
                let sign = self.pick(&["+", "-"]);
                format!("{a} {sign} {b}")
            }
            2 => {
                self.played("arithmetic of vectors");
                let sign = self.pick(&["*", "/"]);
                format!("{a} {sign} {x}")
            }
            _ => {
                self.played("opposite");
                format!("-{a}")
            }
        }
    }
}
