//! What the values mean that `admin set` changes.

/// Each value that can be changed, with what it means.
pub(super) const MEANINGS: [(&str, &str); 44] = [
    ("name", "what the sim is called: one line of 1 to 32 bytes"),
    ("world", "the id of the land office that a sim on a square follows"),
    ("lease_ticks", "ticks of 1/60 s that a sign of life keeps an avatar walking"),
    ("grace_ticks", "ticks that an avatar then stands still before it leaves"),
    ("objects_max", "most things, people among them"),
    ("avatars_max", "most people at one time"),
    ("building.objects_per_player", "most things of one player; at most half of them are gifts"),
    ("building.movable_per_player", "most of them that can be pushed"),
    ("building.movable_max", "most things that can be pushed, of all players and of the sim"),
    ("building.scripts_per_player", "most scripts on the things of one player"),
    ("building.text_bytes_per_player", "most bytes of text on the things of one player"),
    ("building.reach", "metres from a builder to what is built or changed"),
    ("building.size_max", "longest side, or width of a disc, in metres"),
    ("building.open_ground", "true if everybody may build where no land is named"),
    ("lots.per_player", "most lots of one player; 0: there are none"),
    ("lots.square_metres_per_player", "most square metres of them together"),
    ("lots.days", "days without a login of its holder until a lot falls back; 0: never"),
    ("lots.wall_days", "days until things of somebody absent fall away on open ground; 0: never"),
    ("chat.slow_seconds", "seconds from a line of somebody to the next one"),
    ("chat.quiet_from", "the minute of the day, UTC, with which quiet hours begin"),
    ("chat.quiet_until", "the minute of the day with which they end"),
    ("chat.history_days", "days after which servers drop words; 0: they keep them"),
    ("gas.tick", "gas of all scripts together in a tick"),
    ("gas.script_refill", "gas that a script earns in a tick"),
    ("gas.script_capacity", "gas that a script may save"),
    ("gas.owner_refill", "gas that an owner of scripts earns in a tick"),
    ("gas.owner_capacity", "gas that an owner may save"),
    ("admin_days", "days without a permanent admin's login until there is a temp admin"),
    ("player_days", "days in which a player must have logged in to become temp admin"),
    ("seen_days", "days on which a player must have been seen to be a regular"),
    ("ttl_seconds", "seconds from the founding after which the sim ends; 0: never"),
    ("first_login", "whom a first login lets in: open, work, invite or closed"),
    ("publishers", "who may publish scripts: anybody, seen, builders or admins"),
    ("first_login_tries", "tries that the work of a first login takes in quiet hours"),
    ("land_claims", "who may claim land of a land office: nobody, beside or anybody"),
    ("land_per_key", "squares that one key may hold"),
    ("land_per_week", "squares that are granted in a week"),
    ("land_days", "days for which a square is granted"),
    ("things_from_servers", "fewest servers of a neighbour from which things come"),
    ("border_things", "most things of one neighbour"),
    ("border_bytes", "most bytes of the parcels in which they came"),
    ("border_gas", "gas of all their scripts, in percent of what an owner's scripts have"),
    ("ports", "packages that run as Rust: +PACKAGE:PORT:GAS:HEIGHT, +PACKAGE:none or none"),
    ("flags", "names that scripts ask for; see `metatopia admin flag`"),
];

/// Returns a line for each value.
pub(super) fn lines() -> String {
    MEANINGS.iter().map(|(name, meaning)| format!("\n  {name:<30}  {meaning}")).collect()
}

#[cfg(test)]
mod tests {
    use metatopia_sim::AMENDABLE;

    use super::*;

    /// The help named 44 values, and the docs said that it tells what they mean.
    #[test]
    fn every_value_that_can_be_changed_has_a_meaning() {
        assert_eq!(MEANINGS.map(|(name, _)| name), AMENDABLE);
        for (name, meaning) in MEANINGS {
            assert!(!meaning.is_empty() && meaning.len() <= 78, "{name}: {}", meaning.len());
            assert!(lines().contains(&format!("\n  {name} ")), "{name}");
        }
    }
}
