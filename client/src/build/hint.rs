//! What to do about a refusal.

use alloc::{
    format,
    string::{String, ToString as _},
};

use metatopia_sim::{
    Parameters, Publishers,
    limits::{OBJECT_JOINTS_MAX, OWNER_JOINTS_MAX},
};
use metatopia_types::{Refusal, Title};

use crate::text::number_of;

/// How somebody takes back what lies before a deed that is taken back no more.
const UNDO_BEFORE: &str =
    "`undo 1` passes over what you did last, and takes back the deed before it.";

/// Returns what a builder can do next after a refusal, or `None` if there is nothing to say.
#[must_use]
pub fn next(why: Refusal, parameters: &Parameters) -> Option<String> {
    let rules = &parameters.building;
    Some(match why {
        Refusal::NotYours => "Only its owner and admins change it; `mine` lists your things, and \
                              `copy` makes one like it."
            .to_string(),
        Refusal::Person => "People are not built with.".to_string(),
        Refusal::ClosedLand => "`land` tells who may build where.".to_string(),
        Refusal::Occupied => {
            "Wait until whoever stands there has gone, or try another place.".to_string()
        }
        Refusal::KeptClear => {
            "Walk some metres away from where people arrive, and try again.".to_string()
        }
        Refusal::BadSize => {
            format!("Sides are from 0.125 to {} metres long.", rules.size_max)
        }
        Refusal::OutOfReach => format!("Walk closer: builders reach {} metres.", rules.reach),
        Refusal::TooManyObjects => {
            let most =
                number_of(rules.objects_per_player, "thing is allowed", "things are allowed");
            format!("{most}; `mine` lists yours, `delete` makes room.")
        }
        Refusal::TooManyMovable => format!(
            "{} things of yours may be such that people can push them, and {} in the sim; `delete` \
             makes room, or build one that stays in its place.",
            rules.movable_per_player, rules.movable_max
        ),
        Refusal::TooManyScripts => format!(
            "8 scripts are allowed on a thing and {} on all of yours; `detach` makes room.",
            rules.scripts_per_player
        ),
        Refusal::TooMuchText => format!(
            "{} bytes of text are allowed on all of your things; `write it` clears one.",
            rules.text_bytes_per_player
        ),
        Refusal::NoRoomForGifts => "Gifts fill at most half of what somebody may have.".to_string(),
        Refusal::NotFree => "Its owner has kept the right to copy it.".to_string(),
        Refusal::OtherAuthor => "`look at` tells who made a thing.".to_string(),
        Refusal::NothingToUndo => {
            "Only what you built since you came can be taken back.".to_string()
        }
        Refusal::GiftStays => UNDO_BEFORE.to_string(),
        Refusal::NoObject => {
            format!("`look` tells what is there. If you wanted to undo something, {UNDO_BEFORE}")
        }
        Refusal::Away => {
            "What is in your `luggage` you can `fetch` or `discard`; what is under way is there, or back, \
             within ten seconds."
                .to_string()
        }
        Refusal::TooManyLots => format!(
            "{} lots and {} square metres together are allowed; `lots` lists yours, `lot return` \
             gives one back.",
            parameters.lots.per_player, parameters.lots.square_metres_per_player
        ),
        Refusal::LotTaken => "`lots` tells which ground is taken.".to_string(),
        Refusal::NotEmpty => {
            "Take ground where nothing of others stands, or ask them to move it.".to_string()
        }
        Refusal::TooOften => "Wait a moment, and try again.".to_string(),
        Refusal::UnfitName => "Zero-width signs, pictures and `~` are in no name.".to_string(),
        Refusal::NameTaken => {
            "Who first takes a name keeps it; capitals and look-alikes count as the same."
                .to_string()
        }
        Refusal::NotPublisher => format!("The rule is {}.", publishers(parameters)),
        Refusal::BadText => "Names have 1 to 32 bytes, texts up to 256, on one line.".to_string(),
        _ => return about_joints(why),
    })
}

/// Returns what a builder who joins things can do next after a refusal.
fn about_joints(why: Refusal) -> Option<String> {
    Some(match why {
        Refusal::OwnersDiffer => "`mine` lists your things; what is yours can be joined to the \
                                  ground, too."
            .to_string(),
        Refusal::TooManyJoints => format!(
            "{OBJECT_JOINTS_MAX} joints may hold a thing and {OWNER_JOINTS_MAX} all of yours; \
             `unjoin` makes room."
        ),
        Refusal::NotJoined => "`look at` tells what a thing is joined to.".to_string(),
        _ => return of_hands(why).map(ToString::to_string),
    })
}

/// Returns what a builder whose hands are in the way can do next, or `None` for other refusals.
const fn of_hands(why: Refusal) -> Option<&'static str> {
    Some(match why {
        Refusal::Held => {
            "Ask whoever has it in hand to put it down; `hands` lists what you hold yourself."
        }
        Refusal::HandsFull | Refusal::NotHeld => "`hands` lists what you hold.",
        Refusal::Immovable => {
            "Only what can be pushed is taken, and one of two that are joined must be such."
        }
        _ => return None,
    })
}

/// Quotes the rule by which a sim lets people publish source, and says whom it lets.
#[must_use]
pub fn publishers(parameters: &Parameters) -> String {
    let rule = parameters.publishers;
    let who = match rule {
        Publishers::Anybody => return format!("`publishers = \"{}\"` by now", rule.name()),
        Publishers::Seen => {
            let days = number_of(parameters.seen_days, "day", "days");
            format!("who was here on {days} publishes, besides admins")
        }
        Publishers::Builders => "who has title to a land publishes, besides admins".to_string(),
        Publishers::Admins => "only admins publish".to_string(),
    };
    format!(
        "`publishers = \"{}\"`: {who} and those to whom one gave the right `script`",
        rule.name()
    )
}

/// Tells who may build on land of this title, for a builder with the key `own`.
#[must_use]
pub fn title(title: Title, own: &metatopia_types::PublicKey) -> String {
    match title {
        Title::Open => "everybody builds there".to_string(),
        Title::Sim => "only the sim's admins build there".to_string(),
        Title::Player(owner) if owner == *own => "it is yours".to_string(),
        Title::Player(owner) => format!("it belongs to key {}..", &owner.to_string()[..8]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_may_not_publish_is_told_the_rule_and_whom_it_lets() {
        for (rule, name) in Publishers::ALL {
            let parameters = Parameters { publishers: rule, ..Parameters::default() };
            let told = next(Refusal::NotPublisher, &parameters).unwrap();
            assert!(told.starts_with(&format!("The rule is `publishers = \"{name}\"`")), "{told}");
        }
        let seen =
            Parameters { publishers: Publishers::Seen, seen_days: 1, ..Parameters::default() };
        assert!(publishers(&seen).contains("who was here on 1 day publishes"));
    }
}
