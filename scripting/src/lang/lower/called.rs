//! Which names a closure calls. The parser finds the variables that it reads, and no others.

use alloc::{string::String, vec::Vec};

use crate::lang::tree::{ChainLinkKind, Expression, ExpressionKind, Statement, StatementKind};

/// Adds the names that these statements call as functions.
pub(super) fn called_in<'t>(statements: &'t [Statement], names: &mut Vec<&'t String>) {
    use StatementKind as S;
    for statement in statements {
        match &statement.kind {
            S::Expression(value) | S::Let { value, .. } => called(value, names),
            S::Block(body) => called_in(body, names),
            S::Assign { target, value, .. } => {
                called(target, names);
                called(value, names);
            }
            S::If { condition, body, otherwise } => {
                called(condition, names);
                called_in(body, names);
                called_in(otherwise, names);
            }
            S::Switch { value, arms } => {
                called(value, names);
                for arm in arms {
                    arm.condition.iter().for_each(|condition| called(condition, names));
                    called(&arm.body, names);
                }
            }
            S::While { condition, body } => {
                condition.iter().for_each(|condition| called(condition, names));
                called_in(body, names);
            }
            S::Do { condition, body, .. } => {
                called(condition, names);
                called_in(body, names);
            }
            S::For { over, body, .. } => {
                called(over, names);
                called_in(body, names);
            }
            S::Break(value) | S::Return(value) | S::Throw(value) => {
                value.iter().for_each(|value| called(value, names));
            }
            S::Try { body, rescue, .. } => {
                called_in(body, names);
                called_in(rescue, names);
            }
            S::Continue | S::Refused(_) => {}
        }
    }
}

fn called<'t>(expression: &'t Expression, names: &mut Vec<&'t String>) {
    use ExpressionKind as E;
    match &expression.kind {
        E::Literal(_) | E::Name(_) | E::BangCall { .. } | E::Refused(_) => {}
        E::Text(all) | E::Array(all) | E::And(all) | E::Or(all) | E::Coalesce(all) => {
            all.iter().for_each(|inner| called(inner, names));
        }
        E::Map(entries) => entries.iter().for_each(|(_, value)| called(value, names)),
        E::Block(statements) | E::Closure { body: statements, .. } => called_in(statements, names),
        E::Operator { arguments, .. } => arguments.iter().for_each(|inner| called(inner, names)),
        E::Call { name, arguments } => {
            names.push(name);
            arguments.iter().for_each(|inner| called(inner, names));
        }
        E::Chain { root, links } => {
            called(root, names);
            for link in links {
                match &link.kind {
                    ChainLinkKind::Property(_) => {}
                    ChainLinkKind::Index(index) => called(index, names),
                    ChainLinkKind::Method { arguments, .. } => {
                        arguments.iter().for_each(|inner| called(inner, names));
                    }
                }
            }
        }
    }
}
