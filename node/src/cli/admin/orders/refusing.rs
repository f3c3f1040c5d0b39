//! Why an order was refused, in words that name what it is about and what to do next.

use std::collections::BTreeSet;

use metatopia_client::text::{coordinates, printable};
use metatopia_sim::Area;
use metatopia_types::{GovernOrder, Refusal, RoleRight};

use crate::cli::failure::Failure;

/// Returns the failure of an order that a rule refuses in a sim with this ground, with what to do.
pub(super) fn refused(order: &GovernOrder, why: Refusal, ground: Area) -> Failure {
    let what = named(order);
    match why {
        Refusal::AlreadySo => {
            let (so, next) = already(order);
            let failure = Failure::refused(format!("{what} was refused: it is so already ({so})"));
            if next.is_empty() { failure } else { failure.hint(next) }
        }
        Refusal::OutOfRange => {
            let failure = refused_as(&what, why);
            match order {
                GovernOrder::SetLand { .. } | GovernOrder::GrantArea { .. } => {
                    failure.hint(&format!(
                        "an area lies on the ground of the sim, from {} to {}",
                        coordinates(ground.low),
                        coordinates(ground.high)
                    ))
                }
                _ => {
                    failure.hint("a time is of at least a second, and at least one right is named")
                }
            }
        }
        why => refused_as(&what, why),
    }
}

/// Returns the failure of what a rule refuses, with what to do.
pub(in crate::cli::admin) fn refused_as(what: &str, why: Refusal) -> Failure {
    let failure = Failure::refused(format!("{what} was refused: {why}"));
    match why {
        Refusal::NotAdmin | Refusal::NotPermanent | Refusal::NoRight | Refusal::Outranked => {
            failure.hint("`metatopia admin admins` lists who may do what")
        }
        Refusal::LastAdmin => failure.hint("appoint another one first"),
        Refusal::NoPlayer => failure.hint("rights are for keys that logged in once"),
        Refusal::NoLand => failure.hint("`metatopia admin land list` names them"),
        Refusal::NotForArea => failure.hint("leave --area out to give it for the whole sim"),
        Refusal::NothingToUndo => failure.hint("a sim remembers for a day what things were"),
        Refusal::NoReport => failure.hint("`metatopia admin reports` lists what is open"),
        Refusal::NoObject => failure
            .hint("`look at THING` in `metatopia client` tells its number, and so does the page"),
        _ => failure,
    }
}

/// Returns an order in words, with what it is about: `ban of 0707..`.
fn named(order: &GovernOrder) -> String {
    let verb = order.verb();
    match order {
        GovernOrder::SetLand { name, area, .. } => {
            format!("`{verb}` of {}, {area},", printable(name))
        }
        GovernOrder::RemoveLand { name } => format!("`{verb}` of {}", printable(name)),
        GovernOrder::GrantArea { key, area, .. } | GovernOrder::RevokeArea { key, area, .. } => {
            format!("`{verb}` for {key} on {area}")
        }
        GovernOrder::Grant { key, .. } | GovernOrder::Revoke { key, .. } => {
            format!("`{verb}` for {key}")
        }
        GovernOrder::EndClub { club } => format!("`{verb}` of club {club}"),
        GovernOrder::Decide { report, .. } => format!("`{verb}` about report {report}"),
        _ => match (order.person(), order.object()) {
            (Some(key), _) => format!("`{verb}` of {key}"),
            (None, Some(object)) => format!("`{verb}` of thing {object}"),
            (None, None) => format!("`{verb}`"),
        },
    }
}

/// Returns what is so already that was ordered, and what to do next; nothing where there is nothing to do.
fn already(order: &GovernOrder) -> (String, &'static str) {
    let admins = "`metatopia admin admins` lists who may do what";
    let lacks = |rights: &BTreeSet<RoleRight>| {
        let words: Vec<&str> = rights.iter().map(|right| right.word()).collect();
        format!("the key does not have {}", words.join(" and "))
    };
    match order {
        GovernOrder::Revoke { rights, .. } => (lacks(rights), admins),
        GovernOrder::RevokeArea { rights, .. } => {
            (format!("{} on exactly this area", lacks(rights)), admins)
        }
        GovernOrder::SetLand { title, .. } => (
            format!("the land is there, of owner {title}"),
            "`metatopia admin land list` lists all",
        ),
        GovernOrder::NameAdmin { .. } => ("the key is a permanent admin".to_owned(), admins),
        GovernOrder::RemoveAdmin { .. } => ("the key is no permanent admin".to_owned(), admins),
        GovernOrder::Unban { .. } => ("the key is not banned".to_owned(), admins),
        GovernOrder::Unmute { .. } => ("the key is not muted".to_owned(), admins),
        GovernOrder::Freeze { .. } => {
            ("the thing stands still".to_owned(), "`metatopia admin thaw` lets it go on")
        }
        GovernOrder::Thaw { .. } => ("the thing is not frozen".to_owned(), ""),
        GovernOrder::Unprofile { .. } => ("the key shows no profile here".to_owned(), ""),
        GovernOrder::Announce { text } if text.is_empty() => {
            ("there is no message of the day".to_owned(), "")
        }
        GovernOrder::Announce { text } => {
            (format!("the message of the day is: {}", printable(text)), "--clear takes it away")
        }
        GovernOrder::SetHouseRules { text: None } => ("there are no house rules".to_owned(), ""),
        GovernOrder::SetHouseRules { text: Some(_) } => {
            ("the house rules are these words".to_owned(), "")
        }
        _ => ("nothing would change".to_owned(), ""),
    }
}

#[cfg(test)]
mod tests {
    use metatopia_sim::Parameters;
    use metatopia_types::{GroundArea, ObjectId, PublicKey, Title};

    use super::*;
    use crate::cli::exit::Exit;

    fn told(order: &GovernOrder, why: Refusal) -> String {
        let failure = refused(order, why, Parameters::default().ground);
        assert_eq!(failure.exit, Exit::Refused);
        failure.message
    }

    #[test]
    fn a_refused_order_names_its_rule_and_what_to_do() {
        let order = GovernOrder::Kick { key: PublicKey([7; 32]) };
        for (why, rule, next) in [
            (Refusal::NoRight, "no such right", "admin admins"),
            (Refusal::LastAdmin, "at least one permanent admin", "appoint another"),
            (Refusal::Outranked, "as much to say", "admin admins"),
            (Refusal::NoPlayer, "ever logged in", "logged in once"),
            (Refusal::NoReport, "no such open report", "admin reports"),
            (Refusal::NoLand, "no land of this name", "admin land list"),
            (Refusal::NotForArea, "given for an area", "leave --area out"),
        ] {
            let told = told(&order, why);
            let key = PublicKey([7; 32]).to_string();
            assert!(told.contains(rule) && told.contains(next) && told.contains(&key), "{told}");
        }
    }

    /// Whoever unbanned somebody twice read that it is so already, and not what.
    #[test]
    fn an_order_that_changes_nothing_says_what_is_so_already() {
        let key = PublicKey([7; 32]);
        let area = GroundArea { x: 4, y: -20, width: 16, depth: 8 };
        let name = "market".to_owned();
        let rights = [RoleRight::Build].into();
        for (order, so) in [
            (GovernOrder::Unban { key }, "(the key is not banned); "),
            (GovernOrder::NameAdmin { key }, "(the key is a permanent admin); "),
            (GovernOrder::Revoke { key, rights }, "(the key does not have build); "),
            (GovernOrder::Freeze { object: ObjectId(9) }, "(the thing stands still); "),
            (
                GovernOrder::SetLand { name, area, title: Title::Open },
                "`land set` of market, 16 m x 8 m at 4, -20, was refused: it is so already (the \
                 land is there, of owner open); ",
            ),
            (GovernOrder::Announce { text: String::new() }, "(there is no message of the day)"),
        ] {
            let told = told(&order, Refusal::AlreadySo);
            assert!(told.contains("it is so already (") && told.contains(so), "{told}");
        }
    }

    #[test]
    fn an_area_that_is_out_of_range_is_told_with_the_ground_of_the_sim() {
        let area = GroundArea { x: 4, y: -20, width: 60_000, depth: 8 };
        let (name, title) = ("market".to_owned(), Title::Open);
        let told = told(&GovernOrder::SetLand { name, area, title }, Refusal::OutOfRange);
        assert!(told.contains("market, 60000 m x 8 m at 4, -20, was refused"), "{told}");
        assert!(told.contains("on the ground of the sim, from "), "{told}");
    }
}
