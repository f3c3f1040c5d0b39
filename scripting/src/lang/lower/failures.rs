//! Calls and assignments that fail whenever they run, by the source alone. Their authors are told. A program with
//! them is compiled all the same: what was published before this was looked at must stay what it is.

use alloc::{format, string::String, vec::Vec};

use super::Lowering;
use crate::{
    HostFault,
    host::{FUNCTIONS, HostFunction, PROPERTIES, ValueKind},
    lang::tree::{ChainLink, ChainLinkKind, Expression, ExpressionKind, LiteralValue, SourcePoint},
    scene::{ARGUMENT_RULES, COLOR_RULE, DescribedFields, LiteralRule},
};

/// What is known of an argument before it is computed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KnownArgument<'a> {
    kind: Option<ValueKind>,
    /// How it is written, if it stands for itself.
    written: Option<&'a Expression>,
}

impl KnownArgument<'_> {
    /// Returns what is known of what a method is called on.
    pub(super) const fn receiver(kind: Option<ValueKind>) -> Self {
        Self { kind, written: None }
    }
}

impl Lowering {
    /// Returns what is known of arguments.
    pub(super) fn known_arguments<'a>(&self, all: &'a [Expression]) -> Vec<KnownArgument<'a>> {
        let known =
            |written| KnownArgument { kind: self.kind_or_unit(written), written: Some(written) };
        all.iter().map(known).collect()
    }

    /// Returns the kind of a value, of `()` as well: it has no members, and is no argument but where anything is.
    fn kind_or_unit(&self, value: &Expression) -> Option<ValueKind> {
        match value.kind {
            ExpressionKind::Literal(LiteralValue::Unit) => Some(ValueKind::Unit),
            _ => self.kind_of(value),
        }
    }

    /// Tells an author of a call of a host function that no row of the table takes.
    pub(super) fn judge_call(&mut self, name: &str, all: &[KnownArgument<'_>], at: SourcePoint) {
        // Constants are computed at once, and so are their failures told.
        if !self.is_for_author || self.in_constant {
            return;
        }
        let rows = || FUNCTIONS.iter().filter(|f| f.name == name && f.arguments.len() == all.len());
        let kinds: Vec<Option<ValueKind>> = all.iter().map(|known| known.kind).collect();
        if rows().any(|row| takes_all(row, &kinds)) {
            for (_, place, rule) in ARGUMENT_RULES.iter().filter(|(of, ..)| *of == name) {
                if let Some(written) = all.get(*place).and_then(|known| known.written) {
                    self.judge_literal(rule, written);
                }
            }
            return;
        }
        let kinds: Vec<String> = kinds.into_iter().map(kind_or_dots).collect();
        let rows: Vec<String> = rows().map(HostFunction::signature).collect();
        if !rows.is_empty() {
            let (kinds, rows) = (kinds.join(", "), rows.join(" or "));
            self.complain(at, format!("{name} does not take ({kinds}): {rows}"));
        }
    }

    /// Tells an author of an operator on values that it does not take.
    pub(super) fn judge_operator(&mut self, sign: &str, values: &[Expression], at: SourcePoint) {
        // To compare values of two kinds is no failure, and the language's own operators are in no table.
        let judged = ["+", "-", "*", "/", "%", "!"].contains(&sign);
        if !self.is_for_author || self.in_constant || !judged {
            return;
        }
        let kinds: Option<Vec<ValueKind>> = values.iter().map(|v| self.kind_or_unit(v)).collect();
        let Some(kinds) = kinds else { return };
        // The language itself has the sign before a number.
        if let ("+", [ValueKind::Int | ValueKind::Fixed | ValueKind::Number]) = (sign, &kinds[..]) {
            return;
        }
        let known: Vec<Option<ValueKind>> = kinds.iter().copied().map(Some).collect();
        let is_taken = FUNCTIONS.iter().any(|row| row.name == sign && takes_all(row, &known));
        if !is_taken {
            let kinds: Vec<String> = kinds.iter().map(|kind| format!("{kind}")).collect();
            self.complain(at, format!("{sign} does not take ({})", kinds.join(", ")));
        }
    }

    /// Tells an author of a value that a property never holds.
    pub(super) fn judge_assignment(
        &mut self,
        root: &Expression,
        links: &[ChainLink],
        value: Option<&Expression>,
    ) {
        if !self.is_for_author || self.in_constant {
            return;
        }
        let Some((ChainLink { kind: ChainLinkKind::Property(name), at, .. }, before)) =
            links.split_last()
        else {
            return;
        };
        let Some(of) = self.kind_behind_all(root, before) else { return };
        let Some(property) = PROPERTIES.iter().find(|p| p.of == of && p.name == name) else {
            return;
        };
        let kind = match property.kind {
            // Whole numbers become fixed ones.
            ValueKind::Fixed => ValueKind::Number,
            kind => kind,
        };
        if !property.is_writable() {
            return self.complain(*at, format!("{name} cannot be written"));
        }
        let Some(value) = value else { return };
        match self.kind_or_unit(value).filter(|value| !kind.takes(*value)) {
            Some(value) => {
                self.complain(*at, format!("{name} takes {}, not {}", one(kind), one(value)));
            }
            None if name == "color" => self.judge_literal(&COLOR_RULE, value),
            None => {}
        }
    }

    /// Tells an author of a literal that breaks the rule of where it stands.
    fn judge_literal(&mut self, rule: &LiteralRule, written: &Expression) {
        let judged = match (rule, &written.kind) {
            (LiteralRule::Word(check), ExpressionKind::Literal(LiteralValue::Text(text))) => {
                check(text)
            }
            (LiteralRule::Int(check), _) => int_of(written).map_or(Ok(()), check),
            (LiteralRule::Fields(described), ExpressionKind::Map(entries)) => {
                return self.judge_fields(described, entries);
            }
            (LiteralRule::Each(described), ExpressionKind::Array(all)) => {
                for one in all {
                    self.judge_literal(&LiteralRule::Fields(described), one);
                }
                return;
            }
            _ => return,
        };
        if let Err(HostFault { message, .. }) = judged {
            self.complain(written.at, message);
        }
    }

    fn judge_fields(&mut self, described: &DescribedFields, entries: &[(String, Expression)]) {
        for (name, value) in entries {
            let Some(field) = described.field(name) else {
                let hint = self.hint(name, described.names());
                self.complain(value.at, format!("{} has no field {name}{hint}", described.what));
                continue;
            };
            // A field with `()` is one that is left out.
            match self.kind_of(value).filter(|kind| !field.kind.takes(*kind)) {
                Some(kind) => {
                    let words = format!("{name} takes {}, not {}", one(field.kind), one(kind));
                    self.complain(value.at, words);
                }
                None => {
                    if let Some(rule) = &field.rule {
                        self.judge_literal(rule, value);
                    }
                }
            }
        }
    }
}

/// Returns whether a row of the table takes values of these kinds, as far as the kinds are known.
fn takes_all(row: &HostFunction, kinds: &[Option<ValueKind>]) -> bool {
    use ValueKind as K;
    // What neither a script's state nor the world can hold is for the executor alone, and so are operators.
    let takes_more = row.is_of_the_executor() || !row.name.starts_with(char::is_alphabetic);
    let is_kept = |kind| !matches!(kind, K::Range | K::Function | K::State);
    let takes = |taken: K, kind| taken.takes(kind) && (takes_more || is_kept(kind));
    let mut pairs = row.arguments.iter().zip(kinds);
    row.arguments.len() == kinds.len()
        && pairs.all(|((_, taken), kind)| kind.is_none_or(|kind| takes(*taken, kind)))
}

/// Returns the whole number that is written there.
fn int_of(written: &Expression) -> Option<i64> {
    match &written.kind {
        ExpressionKind::Literal(LiteralValue::Int(int)) => Some(*int),
        ExpressionKind::Operator { sign, arguments } if sign == "-" => match arguments.as_slice() {
            [of] => int_of(of)?.checked_neg(),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the name of a kind, or dots if it shows only later.
fn kind_or_dots(kind: Option<ValueKind>) -> String {
    kind.map_or_else(|| "..".into(), |kind| format!("{kind}"))
}

/// Returns how one value of a kind is called.
fn one(kind: ValueKind) -> String {
    match kind {
        ValueKind::Unit => "()".into(),
        ValueKind::Int | ValueKind::Object | ValueKind::Array => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}
