//! The interpreter, stripped to what is the same everywhere.
//!
//! It starts from nothing (`Engine::new_raw`): no package of the interpreter's own library is
//! registered, so no sleep, eval, time, file, debug output or callback exists. Everything a script
//! can call comes from the table of host functions.

use alloc::{boxed::Box, format};
use std::sync::LazyLock;

use metatopia_math::Fx;
use rhai::{
    Engine, EvalAltResult, EvalContext, LexError, OptimizationLevel, Position, Scope, Token,
    TokenizeState,
};

use super::{active, containers, registry, values::Size};
use crate::{
    ErrorKind, HostFault,
    limits::{
        ARRAY_LENGTH_MAX, CALL_DEPTH_MAX, EXPRESSION_DEPTH_MAX, FUNCTIONS_MAX, HEAP_BYTES_MAX,
        MAP_LENGTH_MAX, STRING_BYTES_MAX, VARIABLES_MAX,
    },
};

/// Hashes pick functions and never reach a script; a fixed seed makes even collisions repeat.
const HASHING_SEED: [u64; 4] = [0x6d65_7461, 0x746f_7069, 0x615f_7363, 0x7269_7074];

/// Values that are looked at for a unit of gas when variables are added up.
const VALUES_PER_GAS: usize = 16;

/// All variables of a function are added up at each so-manieth access; the one that is accessed is
/// looked at every time.
const ACCESSES_PER_SUM: u32 = 16;

/// Symbols that could reach around the table.
const REMOVED: [&str; 9] =
    ["eval", "Fn", "call", "curry", "is_shared", "is_def_var", "is_def_fn", "print", "debug"];

/// The one interpreter; every handler shares it.
pub(super) fn engine() -> &'static Engine {
    static ENGINE: LazyLock<Engine> = LazyLock::new(build);
    &ENGINE
}

/// Gives hashes a fixed seed, before anything is hashed.
pub(crate) fn seed_hashes() {
    let seed = Some(HASHING_SEED);
    assert!(
        rhai::config::hashing::set_hashing_seed(seed).is_ok()
            || *rhai::config::hashing::get_hashing_seed() == seed,
        "somebody else in this process has seeded the interpreter's hashes"
    );
}

#[expect(deprecated, reason = "the parser's and resolver's hooks are marked so to say: volatile")]
fn build() -> Engine {
    seed_hashes();
    let mut engine = Engine::new_raw();
    engine
        .set_optimization_level(OptimizationLevel::None)
        .set_max_strings_interned(0)
        .set_max_operations(0)
        .set_max_call_levels(CALL_DEPTH_MAX)
        .set_max_expr_depths(EXPRESSION_DEPTH_MAX, EXPRESSION_DEPTH_MAX)
        .set_max_functions(FUNCTIONS_MAX)
        .set_max_variables(VARIABLES_MAX)
        .set_max_string_size(STRING_BYTES_MAX)
        .set_max_array_size(ARRAY_LENGTH_MAX)
        .set_max_map_size(MAP_LENGTH_MAX)
        .on_parse_token(literal)
        .on_progress(|_| active::charge(1).err().map(|_| rhai::Dynamic::UNIT))
        .on_var(variable);
    for symbol in REMOVED {
        engine.disable_symbol(symbol);
    }
    registry::register(&mut engine);
    containers::register(&mut engine);
    engine
}

/// Turns the literal `1.5` into the name `#1.5`, which no author can write, and which `variable`
/// knows: the text reaches our own numbers, and no other kind of number ever exists.
fn literal(token: Token, _: Position, _: &TokenizeState) -> Token {
    let Token::DecimalConstant(constant) = token else {
        return token;
    };
    let text = &constant.1;
    match Fx::parse(text) {
        Ok(_) => Token::Identifier(Box::new(format!("#{text}").into())),
        Err(error) => Token::LexError(Box::new(LexError::Runtime(format!("{text}: {error}")))),
    }
}

/// Called for each access to a variable or constant, to read or to write: takes the rent for what it
/// holds, before anything is copied, enforces the byte budget, and knows the names that are no variables.
///
/// This closes what the interpreter's own limits leave open: it does not look at what is assigned
/// to an element of an array or map. One access can at most double what was there at the last.
fn variable(
    name: &str,
    index: usize,
    context: EvalContext<'_, '_, '_, '_, '_, '_>,
) -> Result<Option<rhai::Dynamic>, Box<EvalAltResult>> {
    let scope = context.scope();
    let found = active::with(|active| {
        active.accesses = (active.accesses + 1) % ACCESSES_PER_SUM;
        if active.accesses == 0 {
            let values = sum(scope)?;
            active.charge((values / VALUES_PER_GAS) as u64)?;
        }
        if index == 0 {
            return active.global(name).map(Some);
        }
        // By its place, from the end: to compare all names would take longer than the access.
        let found = scope.iter_raw().nth(index - 1);
        let size = found.map_or(Ok(Size::default()), |(_, _, value)| Size::of(value))?;
        active.charge(size.gas())?;
        Ok(None)
    });
    found.map_err(active::raise)
}

/// How many values all variables of a function hold; a fault if that is more than they may.
fn sum(scope: &Scope<'_>) -> Result<usize, HostFault> {
    let (mut bytes, mut values) = (0, 0);
    for (_, _, value) in scope.iter_raw() {
        let size = Size::of(value)?;
        bytes += size.bytes;
        values += size.values;
    }
    if bytes > HEAP_BYTES_MAX {
        let message = format!("the variables of a function hold more than {HEAP_BYTES_MAX} bytes");
        return Err(HostFault::new(ErrorKind::Memory, message));
    }
    Ok(values)
}
