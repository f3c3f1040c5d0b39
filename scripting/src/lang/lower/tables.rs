//! The tables of a program, with what is in them already.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    Value,
    ir::{IrPath, ScriptProgram},
    lang::tree::LiteralValue,
};

/// Where things stand in the tables of a program, so that none stands there twice.
#[derive(Debug, Default)]
pub(super) struct ProgramTables {
    literals: BTreeMap<LiteralValue, u16>,
    names: BTreeMap<String, u16>,
    calls: BTreeMap<(String, u8), u16>,
    shapes: BTreeMap<Vec<u16>, u16>,
    paths: BTreeMap<IrPath, u16>,
}

fn push<T>(table: &mut Vec<T>, value: T) -> Option<u16> {
    let place = u16::try_from(table.len()).ok()?;
    table.push(value);
    Some(place)
}

impl ProgramTables {
    pub(super) fn literal(
        &mut self,
        program: &mut ScriptProgram,
        literal: &LiteralValue,
    ) -> Option<u16> {
        if let Some(place) = self.literals.get(literal) {
            return Some(*place);
        }
        let place = push(&mut program.constants, value_of(literal))?;
        self.literals.insert(literal.clone(), place);
        Some(place)
    }

    /// A value that has a name of its own, or is a whole list or map.
    pub(super) fn own_constant(
        &mut self,
        program: &mut ScriptProgram,
        value: Value,
    ) -> Option<u16> {
        push(&mut program.constants, value)
    }

    pub(super) fn name(&mut self, program: &mut ScriptProgram, name: &str) -> Option<u16> {
        if let Some(place) = self.names.get(name) {
            return Some(*place);
        }
        let place = push(&mut program.names, name.to_string())?;
        self.names.insert(name.to_string(), place);
        Some(place)
    }

    pub(super) fn call(
        &mut self,
        program: &mut ScriptProgram,
        name: &str,
        count: u8,
    ) -> Option<u16> {
        let key = (name.to_string(), count);
        if let Some(place) = self.calls.get(&key) {
            return Some(*place);
        }
        let place = push(&mut program.calls, key.clone())?;
        self.calls.insert(key, place);
        Some(place)
    }

    pub(super) fn shape(&mut self, program: &mut ScriptProgram, names: Vec<u16>) -> Option<u16> {
        if let Some(place) = self.shapes.get(&names) {
            return Some(*place);
        }
        let place = push(&mut program.shapes, names.clone())?;
        self.shapes.insert(names, place);
        Some(place)
    }

    pub(super) fn path(&mut self, program: &mut ScriptProgram, path: IrPath) -> Option<u16> {
        if let Some(place) = self.paths.get(&path) {
            return Some(*place);
        }
        let place = push(&mut program.paths, path.clone())?;
        self.paths.insert(path, place);
        Some(place)
    }
}

pub(super) fn value_of(literal: &LiteralValue) -> Value {
    match literal {
        LiteralValue::Unit => Value::Unit,
        LiteralValue::Bool(value) => Value::Bool(*value),
        LiteralValue::Int(value) => Value::Int(*value),
        LiteralValue::Fixed(value) => Value::Fixed(*value),
        LiteralValue::Text(text) => Value::Text(text.clone()),
    }
}
