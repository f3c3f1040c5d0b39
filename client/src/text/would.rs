//! What an order would do at this moment, in words, before anybody gives it.

use alloc::{
    borrow::ToOwned as _,
    collections::BTreeSet,
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use metatopia_protocol::{
    DryRunEntry, GovernedThing, IntendedChangeEntry, KeyHoldings, PersonEntry, TracedThings, span,
};
use metatopia_sim::limits::UNDONE_PER_ACT_MAX;
use metatopia_types::{GovernOrder, RoleRight, Ruling, Title, WayBack};

use super::{number_of, printable};

/// Returns whom an order is about, in words.
fn whom(person: Option<&PersonEntry>) -> String {
    let Some(person) = person else { return "nobody".to_owned() };
    let key = &person.key.to_string()[..8];
    match (person.name.as_str(), person.here) {
        ("", _) => format!("{key}, who was never here"),
        (name, true) => format!("{} ({key}), who is here", printable(name)),
        (name, false) => format!("{} ({key})", printable(name)),
    }
}

/// Returns what an order is about, in words.
fn what(thing: Option<&GovernedThing>) -> String {
    let Some(GovernedThing { object, name, owner, scripts, .. }) = thing else {
        return "nothing".to_owned();
    };
    let owner = owner.map_or("the sim".to_owned(), |key| key.to_string()[..8].to_owned());
    let scripts = number_of(*scripts, "script", "scripts");
    format!("{} (thing {object} of {owner}, {scripts})", printable(name))
}

/// Returns for how long something lasts, in words.
fn lasting(seconds: Option<u32>) -> String {
    let time = |seconds: u32| format!("for {}", span(u64::from(seconds).saturating_mul(1_000)));
    seconds.map_or("for good".to_owned(), time)
}

/// Returns the words of rights.
fn words(rights: &BTreeSet<RoleRight>) -> String {
    rights.iter().map(|right| right.word()).collect::<Vec<_>>().join(", ")
}

/// Returns what ends and what stays when somebody goes.
fn ends(KeyHoldings { sessions, things, lots }: KeyHoldings) -> String {
    let sessions = number_of(sessions, "session", "sessions");
    let things = number_of(things, "thing", "things");
    format!("ends {sessions}; {things} and {} stay", number_of(lots, "lot", "lots"))
}

/// Returns what an order would do, in words that follow "would".
#[must_use]
pub fn would_do(order: &GovernOrder, told: &DryRunEntry) -> String {
    let (whom, what) = (whom(told.person.as_ref()), what(told.thing.as_ref()));
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
        GovernOrder::Kick { .. } => format!("kick {whom}, which {}", ends(told.holdings)),
        GovernOrder::Ban { seconds, .. } => {
            let (lasts, ends) = (lasting(*seconds), ends(told.holdings));
            format!("shut out {whom}, {lasts}, with private words and open reports, which {ends}")
        }
        GovernOrder::Unban { .. } => format!("let in {whom} again"),
        GovernOrder::Mute { seconds, .. } => format!("mute {whom}, {}", lasting(*seconds)),
        GovernOrder::Unprofile { .. } => format!("take away the profile of {whom}"),
        GovernOrder::EndClub { club } => format!("end club {club}, whose owner is {whom}"),
        GovernOrder::Unmute { .. } => format!("give a voice to {whom}"),
        GovernOrder::Freeze { .. } => format!("freeze {what}"),
        GovernOrder::Thaw { .. } => format!("thaw {what}"),
        GovernOrder::Return { .. } => match told.thing.as_ref().map(|thing| thing.way_back) {
            Some(WayBack::Home) => format!("move {what} to its owner's land"),
            Some(WayBack::Luggage) => format!("put {what} into its owner's luggage"),
            Some(WayBack::OutOfSim) | None => {
                format!(
                    "delete {what}: its owner has no land with room for it, and no luggage takes it"
                )
            }
        },
        GovernOrder::SetLand { name, area, title } => {
            let name = printable(name);
            format!("make {area} the land {name}, where {} may build", builders(*title))
        }
        GovernOrder::RemoveLand { name } => format!("remove the land {}", printable(name)),
        GovernOrder::Announce { text } if text.is_empty() => "take the message away".to_owned(),
        GovernOrder::Announce { text } => format!("tell everybody who comes: {}", printable(text)),
        GovernOrder::SetHouseRules { text: Some(_) } => {
            "have everybody agree to these house rules before entering".to_owned()
        }
        GovernOrder::SetHouseRules { text: None } => {
            "take the house rules away: nobody agrees to anything".to_owned()
        }
        GovernOrder::Undo { .. } => {
            let TracedThings { made, changed, deleted } = told.traced;
            let made =
                number_of(made, "thing goes home or is deleted", "things go home or are deleted");
            let acts = told.traced.all().div_ceil(UNDONE_PER_ACT_MAX as u32);
            let acts = number_of(acts, "act", "acts");
            format!(
                "undo what was done by {whom}: {made}, {changed} change back, \
                 {deleted} are restored, by {acts}"
            )
        }
        GovernOrder::Decide { report, ruling, .. } => {
            let about = told.person.as_ref().map_or_else(String::new, |_| format!(" about {whom}"));
            let verb = if *ruling == Ruling::Upheld { "uphold" } else { "dismiss" };
            format!("{verb} report {report}{about}")
        }
    }
}

/// Returns who may build where a title holds, in words.
fn builders(title: Title) -> String {
    match title {
        Title::Open => "everybody".to_owned(),
        Title::Sim => "nobody but admins".to_owned(),
        Title::Player(key) => format!("{}, and nobody else but admins,", &key.to_string()[..8]),
    }
}

/// Returns what the change of a value would do, in words that follow "would".
#[must_use]
pub fn would_set(name: &str, value: &str, told: &IntendedChangeEntry) -> String {
    let IntendedChangeEntry { value: before, players, here, .. } = told;
    let players = number_of(*players, "player", "players");
    let (before, value) = (printable(before), printable(value));
    format!("change {name} from {before} to {value}, for all of {players}, {here} of them here")
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
        let (person, traced) = (Some(person), TracedThings { made: 1, changed: 2, deleted: 3 });
        let holdings = KeyHoldings { sessions: here.into(), things: 12, lots: 1 };
        DryRunEntry { verdict: Ok("as admin".to_owned()), person, thing: None, traced, holdings }
    }

    #[test]
    fn an_order_is_told_with_whom_it_is_about_what_ends_and_what_stays() {
        let key = PublicKey([7; 32]);
        let pest = told("Pest", true);
        for (order, words) in [
            (
                GovernOrder::Ban { key, seconds: Some(86_400), reason: String::new() },
                "shut out Pest (07070707), who is here, for 1 day, with private words and open \
                 reports, which ends 1 session; 12 things and 1 lot stay",
            ),
            (
                GovernOrder::Kick { key },
                "kick Pest (07070707), who is here, which ends 1 session; 12 things and 1 lot stay",
            ),
            (
                GovernOrder::Undo { key, seconds: 60 },
                "undo what was done by Pest (07070707), who is here: 1 thing goes home or is deleted, \
                 2 change back, 3 are restored, by 1 act",
            ),
        ] {
            assert_eq!(would_do(&order, &pest), words);
        }
        let (rights, area) =
            ([RoleRight::Build].into(), GroundArea { x: 4, y: -20, width: 16, depth: 8 });
        let take = GovernOrder::RevokeArea { key, rights, area };
        let would = "take build on 16 m x 8 m at 4, -20 from Ada (07070707)";
        assert_eq!(would_do(&take, &told("Ada", false)), would);
        let grant = GovernOrder::Grant { key, rights: [RoleRight::Speak].into(), seconds: None };
        let would = "give speak to 07070707, who was never here, for good";
        assert_eq!(would_do(&grant, &told("", false)), would);
    }

    #[test]
    fn a_ruling_and_a_long_undo_are_told_with_what_and_whom_they_are_about() {
        let (report, ruling, reason) = (3, Ruling::Dismissed, String::new());
        let decide = GovernOrder::Decide { report, ruling, reason };
        let about = "dismiss report 3 about Pest (07070707), who is here";
        assert_eq!(would_do(&decide, &told("Pest", true)), about);
        let nobody = DryRunEntry { person: None, ..told("", false) };
        assert_eq!(would_do(&decide, &nobody), "dismiss report 3");
        let undo = GovernOrder::Undo { key: PublicKey([7; 32]), seconds: 7_200 };
        let traced = TracedThings { made: UNDONE_PER_ACT_MAX as u32, changed: 2, deleted: 1 };
        let long = would_do(&undo, &DryRunEntry { traced, ..told("Pest", false) });
        assert!(long.ends_with("by 2 acts"), "{long}");
    }

    #[test]
    fn a_thing_a_land_and_a_value_are_told_as_they_are_and_as_they_would_be() {
        let (key, object) = (PublicKey([7; 32]), ObjectId(9));
        let mut lost = told("Ada", false);
        let (name, owner, scripts, frozen) = ("wall".to_owned(), Some(key), 1, false);
        lost.thing = Some(GovernedThing {
            object,
            name,
            owner,
            scripts,
            frozen,
            way_back: WayBack::OutOfSim,
        });
        let back = would_do(&GovernOrder::Return { object }, &lost);
        assert!(back.starts_with("delete wall (thing 9 of 07070707, 1 script)"), "{back}");
        let area = GroundArea { x: 0, y: 0, width: 4, depth: 4 };
        let land = GovernOrder::SetLand { name: "market".to_owned(), area, title: Title::Open };
        let would = "make 4 m x 4 m at 0, 0 the land market, where everybody may build";
        assert_eq!(would_do(&land, &lost), would);
        let (verdict, value) = (Ok("as admin".to_owned()), "2000".to_owned());
        let entry = IntendedChangeEntry { verdict, value, players: 12, here: 3, voters: 4 };
        let would = "change objects_max from 2000 to 4000, for all of 12 players, 3 of them here";
        assert_eq!(would_set("objects_max", "4000", &entry), would);
    }
}
