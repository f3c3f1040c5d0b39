//! What an order does, in words.

use std::time::Duration;

use metatopia_protocol::{DryRunEntry, GovernedThing, KeyHoldings, PersonEntry, TracedThings};
use metatopia_sim::limits::UNDONE_PER_ACT_MAX;
use metatopia_types::{GovernOrder, RoleRight, Ruling, Title};

use crate::cli::numbers::number_of;

/// Returns whom an order is about, in words.
fn whom(person: Option<&PersonEntry>) -> String {
    let Some(person) = person else { return "nobody".to_owned() };
    let key = &person.key.to_string()[..8];
    match (person.name.as_str(), person.here) {
        ("", _) => format!("{key}, who was never here"),
        (name, true) => format!("{name} ({key}), who is here"),
        (name, false) => format!("{name} ({key})"),
    }
}

/// Returns what an order is about, in words.
fn what(thing: Option<&GovernedThing>) -> String {
    let Some(thing) = thing else { return "nothing".to_owned() };
    let owner = thing.owner.map_or("the sim".to_owned(), |key| key.to_string()[..8].to_owned());
    let GovernedThing { object, name, scripts, .. } = thing;
    let scripts = number_of(*scripts, "script", "scripts");
    format!("{name} (thing {object} of {owner}, {scripts})")
}

/// Returns a span of seconds in words.
pub(in crate::cli::admin) fn lasting(seconds: Option<u32>) -> String {
    let span = |seconds: u32| humantime::format_duration(Duration::from_secs(seconds.into()));
    seconds.map_or("for good".to_owned(), |seconds| format!("for {}", span(seconds)))
}

/// Returns who may build where a title holds, in words.
fn builders(title: Title) -> String {
    match title {
        Title::Open => "everybody".to_owned(),
        Title::Sim => "nobody but admins".to_owned(),
        Title::Player(key) => format!("{}, and nobody else but admins,", &key.to_string()[..8]),
    }
}

/// Returns what an order does, in words.
pub(super) fn does(order: &GovernOrder, told: &DryRunEntry) -> String {
    let (whom, what) = (whom(told.person.as_ref()), what(told.thing.as_ref()));
    let words = |rights: &std::collections::BTreeSet<RoleRight>| {
        rights.iter().map(|right| right.word()).collect::<Vec<_>>().join(", ")
    };
    match order {
        GovernOrder::Grant { rights, seconds, .. } => {
            format!("give {} to {whom}, {}", words(rights), lasting(*seconds))
        }
        GovernOrder::Revoke { rights, .. } => format!("take {} from {whom}", words(rights)),
        GovernOrder::GrantArea { rights, area, seconds, .. } => {
            format!("give {} on {area} to {whom}, {}", words(rights), lasting(*seconds))
        }
        GovernOrder::RevokeArea { rights, area, .. } => {
            format!("take {} on {area} from {whom}", words(rights))
        }
        GovernOrder::NameAdmin { .. } => format!("make {whom} a permanent admin"),
        GovernOrder::RemoveAdmin { .. } => format!("dismiss {whom} as an admin"),
        GovernOrder::Kick { .. } => {
            let KeyHoldings { sessions, things, lots } = told.holdings;
            format!(
                "end the session of {whom}; open sessions that end: {sessions}; what stays: \
                 things {things}, lots {lots}"
            )
        }
        GovernOrder::Ban { seconds, .. } => {
            let lasts = lasting(*seconds);
            let KeyHoldings { sessions, things, lots } = told.holdings;
            format!(
                "shut out {whom}, {lasts}; its private words and open reports go with it; open \
                 sessions that end: {sessions}; what stays: things {things}, lots {lots}"
            )
        }
        GovernOrder::Unban { .. } => format!("let in {whom} again"),
        GovernOrder::Mute { seconds, .. } => format!("mute {whom}, {}", lasting(*seconds)),
        GovernOrder::Unmute { .. } => format!("give a voice to {whom}"),
        GovernOrder::Freeze { .. } => format!("freeze {what}"),
        GovernOrder::Thaw { .. } => format!("thaw {what}"),
        GovernOrder::Return { .. } => match told.thing.as_ref().is_some_and(|thing| thing.has_home)
        {
            true => format!("move {what} to its owner's land"),
            false => format!("delete {what}, for its owner has no land with room for it"),
        },
        GovernOrder::SetLand { name, area, title } => {
            format!("make {area} the land {name}, where {} may build", builders(*title))
        }
        GovernOrder::RemoveLand { name } => format!("remove the land {name}"),
        GovernOrder::Announce { text } if text.is_empty() => "take the message away".to_owned(),
        GovernOrder::Announce { text } => format!("tell everybody who comes: {text}"),
        GovernOrder::Undo { .. } => {
            let TracedThings { made, changed, deleted } = told.traced;
            let acts = told.traced.all().div_ceil(UNDONE_PER_ACT_MAX as u32);
            format!(
                "undo what {whom} did; things sent home or deleted: {made}, changed back: \
                 {changed}, restored: {deleted}; acts: {acts}"
            )
        }
        GovernOrder::Decide { report, ruling, .. } => {
            let about = match told.person {
                Some(_) => format!(" about {whom}"),
                None => String::new(),
            };
            let verb = if *ruling == Ruling::Upheld { "uphold" } else { "dismiss" };
            format!("{verb} report {report}{about}")
        }
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::{GroundArea, ObjectId, PublicKey};

    use super::*;

    fn told(name: &str, here: bool) -> DryRunEntry {
        let person = PersonEntry {
            key: PublicKey([7; 32]),
            name: name.to_owned(),
            here,
            admin: false,
            temp_admin: false,
            rights: Vec::new(),
            area_rights: Vec::new(),
            ban: None,
            mute: None,
        };
        let (person, traced) = (Some(person), TracedThings::default());
        let holdings = KeyHoldings { sessions: here.into(), things: 12, lots: 2 };
        DryRunEntry { verdict: Ok("as admin".to_owned()), person, thing: None, traced, holdings }
    }

    #[test]
    fn an_order_is_told_with_whom_it_is_about_and_for_how_long() {
        let key = PublicKey([7; 32]);
        let ban = GovernOrder::Ban { key, seconds: Some(86_400), reason: String::new() };
        // Only the list of what a ban does said that words and reports go.
        assert_eq!(
            does(&ban, &told("Pest", true)),
            "shut out Pest (07070707), who is here, for 1day; its private words and open reports \
             go with it; open sessions that end: 1; what stays: things 12, lots 2"
        );
        let rights = [RoleRight::Speak, RoleRight::Build].into();
        let grant = GovernOrder::Grant { key, rights, seconds: None };
        assert_eq!(
            does(&grant, &told("", false)),
            "give build, speak to 07070707, who was never here, for good"
        );
        let (rights, area) =
            ([RoleRight::Build].into(), GroundArea { x: 4, y: -20, width: 16, depth: 8 });
        let take = GovernOrder::RevokeArea { key, rights, area };
        let would = "take build on 16 m x 8 m at 4, -20 from Ada (07070707)";
        assert_eq!(does(&take, &told("Ada", false)), would);
        let (name, title) = ("market".to_owned(), Title::Open);
        let open = GovernOrder::SetLand { name, area, title };
        let would = "make 16 m x 8 m at 4, -20 the land market, where everybody may build";
        assert_eq!(does(&open, &told("", false)), would);
        let back = GovernOrder::Return { object: ObjectId(9) };
        let mut lost = told("Ada", false);
        let (name, owner) = ("wall".to_owned(), Some(key));
        let (object, scripts, frozen, has_home) = (ObjectId(9), 1, false, false);
        lost.thing = Some(GovernedThing { object, name, owner, scripts, frozen, has_home });
        assert!(does(&back, &lost).starts_with("delete wall (thing 9 of 07070707, 1 script)"));
    }

    #[test]
    fn a_ruling_and_an_undo_are_told_with_what_and_whom_they_are_about() {
        let (report, ruling, reason) = (3, Ruling::Dismissed, String::new());
        let decide = GovernOrder::Decide { report, ruling, reason };
        let undo = GovernOrder::Undo { key: PublicKey([7; 32]), seconds: 7_200 };
        let traced = TracedThings { made: 30, changed: 2, deleted: 1 };
        let would = "undo what Pest (07070707) did; things sent home or deleted: 30, changed \
                     back: 2, restored: 1; acts: 2";
        assert_eq!(does(&undo, &DryRunEntry { traced, ..told("Pest", false) }), would);
        let about = "dismiss report 3 about Pest (07070707), who is here";
        assert_eq!(does(&decide, &told("Pest", true)), about);
        let nobody = DryRunEntry { person: None, ..told("", false) };
        assert_eq!(does(&decide, &nobody), "dismiss report 3");
    }
}
