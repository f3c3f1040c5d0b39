//! Which names a part of a source calls, and to which it assigns. Of a closure the parser finds the
//! variables that are read, and no others.

use alloc::string::String;

use crate::lang::tree::{ChainLinkKind, Expression, ExpressionKind, Statement, StatementKind};

/// A name in a source, by what is done with it.
#[derive(Clone, Copy, Debug)]
pub(super) enum NamedDeed<'t> {
    /// It is called as a function.
    Called(&'t String),
    /// Something else is assigned to the variable of this name.
    Assigned(&'t String),
}

/// Tells all names that these statements call or assign to.
pub(super) fn deeds_in<'t>(statements: &'t [Statement], tell: &mut dyn FnMut(NamedDeed<'t>)) {
    use StatementKind as S;
    for statement in statements {
        match &statement.kind {
            S::Expression(value) | S::Let { value, .. } => deeds(value, tell),
            S::Block(body) => deeds_in(body, tell),
            S::Assign { target, value, .. } => {
                if let ExpressionKind::Name(name) = &target.kind {
                    tell(NamedDeed::Assigned(name));
                }
                deeds(target, tell);
                deeds(value, tell);
            }
            S::If { condition, body, otherwise } => {
                deeds(condition, tell);
                deeds_in(body, tell);
                deeds_in(otherwise, tell);
            }
            S::Switch { value, arms } => {
                deeds(value, tell);
                for arm in arms {
                    arm.condition.iter().for_each(|condition| deeds(condition, tell));
                    deeds(&arm.body, tell);
                }
            }
            S::While { condition, body } => {
                condition.iter().for_each(|condition| deeds(condition, tell));
                deeds_in(body, tell);
            }
            S::Do { condition, body, .. } => {
                deeds(condition, tell);
                deeds_in(body, tell);
            }
            S::For { over, body, .. } => {
                deeds(over, tell);
                deeds_in(body, tell);
            }
            S::Break(value) | S::Return(value) | S::Throw(value) => {
                value.iter().for_each(|value| deeds(value, tell));
            }
            S::Try { body, rescue, .. } => {
                deeds_in(body, tell);
                deeds_in(rescue, tell);
            }
            S::Continue | S::Import { .. } | S::Refused(_) => {}
        }
    }
}

fn deeds<'t>(expression: &'t Expression, tell: &mut dyn FnMut(NamedDeed<'t>)) {
    use ExpressionKind as E;
    match &expression.kind {
        E::Literal(_) | E::Name(_) | E::BangCall { .. } | E::Refused(_) => {}
        E::Text(all) | E::Array(all) | E::And(all) | E::Or(all) | E::Coalesce(all) => {
            all.iter().for_each(|inner| deeds(inner, tell));
        }
        E::Map(entries) => entries.iter().for_each(|(_, value)| deeds(value, tell)),
        E::Block(statements) | E::Closure { body: statements, .. } => deeds_in(statements, tell),
        E::Operator { arguments, .. } => arguments.iter().for_each(|inner| deeds(inner, tell)),
        E::Call { name, arguments } => {
            tell(NamedDeed::Called(name));
            arguments.iter().for_each(|inner| deeds(inner, tell));
        }
        E::Chain { root, links } => {
            deeds(root, tell);
            for link in links {
                match &link.kind {
                    ChainLinkKind::Property(_) => {}
                    ChainLinkKind::Index(index) => deeds(index, tell),
                    ChainLinkKind::Method { arguments, .. } => {
                        arguments.iter().for_each(|inner| deeds(inner, tell));
                    }
                }
            }
        }
    }
}
