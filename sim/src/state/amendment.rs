//! Amendments: the values of a charter by their names, as admins change them.

use metatopia_math::Fx;

use super::{
    agreed_ports::AgreedPorts,
    feature_flags::FeatureFlags,
    parameters::{FirstLogin, LandClaims, Parameters, ParametersError, Publishers},
    players::is_name,
    sim_state::Charter,
};

/// Why a charter is not amended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AmendError {
    /// No value that can be changed has this name.
    #[error("no value that can be changed has this name")]
    NoSuchName,
    /// The text is no value of this kind.
    #[error("the text is no value of this kind")]
    Value,
    /// The value is out of its range.
    #[error(transparent)]
    Parameters(#[from] ParametersError),
}

/// A value of the parameters, with its kind.
enum AmendableValue<'a> {
    Number(&'a mut Fx),
    Count(&'a mut u32),
    Amount(&'a mut u64),
    Switch(&'a mut bool),
    FirstLogin(&'a mut FirstLogin),
    Publishers(&'a mut Publishers),
    LandClaims(&'a mut LandClaims),
    Ports(&'a mut AgreedPorts),
    Flags(&'a mut FeatureFlags),
}

/// What a sim says of its world that lies in none.
const NO_WORLD: &str = "none";

/// The names of all values that can be changed while a sim runs. The ground and the ticks of a turn
/// are none of them, because bodies and clocks rely on them; how avatars move and how far words are
/// heard are none, because clients foresee that by the genesis. `world` is the land office that it follows.
pub const AMENDABLE: [&str; 44] = [
    "name",
    "world",
    "lease_ticks",
    "grace_ticks",
    "objects_max",
    "avatars_max",
    "building.objects_per_player",
    "building.movable_per_player",
    "building.movable_max",
    "building.scripts_per_player",
    "building.text_bytes_per_player",
    "building.reach",
    "building.size_max",
    "building.open_ground",
    "lots.per_player",
    "lots.square_metres_per_player",
    "lots.days",
    "lots.wall_days",
    "chat.slow_seconds",
    "chat.quiet_from",
    "chat.quiet_until",
    "chat.history_days",
    "gas.tick",
    "gas.script_refill",
    "gas.script_capacity",
    "gas.owner_refill",
    "gas.owner_capacity",
    "admin_days",
    "player_days",
    "seen_days",
    "ttl_seconds",
    "first_login",
    "publishers",
    "first_login_tries",
    "land_claims",
    "land_per_key",
    "land_per_week",
    "land_days",
    "things_from_servers",
    "border_things",
    "border_bytes",
    "border_gas",
    "ports",
    "flags",
];

impl Charter {
    /// Changes the value of this name to the one that a text says.
    ///
    /// # Errors
    /// When there is no such name, or the value is none that the sim may have; nothing changed then.
    pub fn amend(&mut self, name: &str, value: &str) -> Result<(), AmendError> {
        if name == "name" {
            if !is_name(value) {
                return Err(AmendError::Value);
            }
            value.clone_into(&mut self.name);
            return Ok(());
        }
        if name == "world" {
            return self.join_world(value);
        }
        self.parameters.amend(name, value)
    }

    /// Follows the land office with this id, which carries on the one of the sim's world. A sim without a
    /// square follows none, and a land office is its own world.
    fn join_world(&mut self, value: &str) -> Result<(), AmendError> {
        if self.value("world").as_deref() == Some(value) {
            return Ok(());
        }
        let own = self.sim;
        let site = self.site.as_mut().filter(|site| site.world != own).ok_or(AmendError::Value)?;
        site.world = value.parse().map_err(|_| AmendError::Value)?;
        Ok(())
    }

    /// Returns the value of this name as a text, if there is such a name.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<String> {
        if name == "name" {
            return Some(self.name.clone());
        }
        if name == "world" {
            return Some(self.site.map_or(NO_WORLD.to_owned(), |site| site.world.to_string()));
        }
        self.parameters.setting(name)
    }
}

impl Parameters {
    /// Changes the value of this name to the one that a text says.
    ///
    /// # Errors
    /// When there is no such name, or the value is none that a sim may have; nothing changed then.
    pub fn amend(&mut self, name: &str, value: &str) -> Result<(), AmendError> {
        let mut amended = self.clone();
        write(amended.value(name).ok_or(AmendError::NoSuchName)?, value)?;
        amended.check()?;
        *self = amended;
        Ok(())
    }

    /// Returns the value of this name as a text, if there is such a name.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<String> {
        let mut parameters = self.clone();
        Some(match parameters.value(name)? {
            AmendableValue::Number(number) => number.to_string(),
            AmendableValue::Count(count) => count.to_string(),
            AmendableValue::Amount(amount) => amount.to_string(),
            AmendableValue::Switch(switch) => switch.to_string(),
            AmendableValue::FirstLogin(rule) => rule.name().to_owned(),
            AmendableValue::Publishers(rule) => rule.name().to_owned(),
            AmendableValue::LandClaims(rule) => rule.name().to_owned(),
            AmendableValue::Ports(ports) => ports.to_string(),
            AmendableValue::Flags(flags) => flags.to_string(),
        })
    }

    /// Returns the value of this name.
    fn value(&mut self, name: &str) -> Option<AmendableValue<'_>> {
        let Self { building, chat, gas, lots, .. } = self;
        Some(match name {
            "lease_ticks" => AmendableValue::Amount(&mut self.lease_ticks),
            "grace_ticks" => AmendableValue::Amount(&mut self.grace_ticks),
            "objects_max" => AmendableValue::Count(&mut self.objects_max),
            "avatars_max" => AmendableValue::Count(&mut self.avatars_max),
            "building.objects_per_player" => {
                AmendableValue::Count(&mut building.objects_per_player)
            }
            "building.movable_per_player" => {
                AmendableValue::Count(&mut building.movable_per_player)
            }
            "building.movable_max" => AmendableValue::Count(&mut building.movable_max),
            "building.scripts_per_player" => {
                AmendableValue::Count(&mut building.scripts_per_player)
            }
            "building.text_bytes_per_player" => {
                AmendableValue::Count(&mut building.text_bytes_per_player)
            }
            "building.reach" => AmendableValue::Number(&mut building.reach),
            "building.size_max" => AmendableValue::Number(&mut building.size_max),
            "building.open_ground" => AmendableValue::Switch(&mut building.open_ground),
            "lots.per_player" => AmendableValue::Count(&mut lots.per_player),
            "lots.square_metres_per_player" => {
                AmendableValue::Count(&mut lots.square_metres_per_player)
            }
            "lots.days" => AmendableValue::Count(&mut lots.days),
            "lots.wall_days" => AmendableValue::Count(&mut lots.wall_days),
            "chat.slow_seconds" => AmendableValue::Count(&mut chat.slow_seconds),
            "chat.quiet_from" => AmendableValue::Count(&mut chat.quiet_from),
            "chat.quiet_until" => AmendableValue::Count(&mut chat.quiet_until),
            "chat.history_days" => AmendableValue::Count(&mut chat.history_days),
            "gas.tick" => AmendableValue::Amount(&mut gas.tick),
            "gas.script_refill" => AmendableValue::Amount(&mut gas.script_refill),
            "gas.script_capacity" => AmendableValue::Amount(&mut gas.script_capacity),
            "gas.owner_refill" => AmendableValue::Amount(&mut gas.owner_refill),
            "gas.owner_capacity" => AmendableValue::Amount(&mut gas.owner_capacity),
            "admin_days" => AmendableValue::Count(&mut self.admin_days),
            "player_days" => AmendableValue::Count(&mut self.player_days),
            "seen_days" => AmendableValue::Count(&mut self.seen_days),
            "ttl_seconds" => AmendableValue::Amount(&mut self.ttl_seconds),
            "first_login" => AmendableValue::FirstLogin(&mut self.first_login),
            "publishers" => AmendableValue::Publishers(&mut self.publishers),
            "first_login_tries" => AmendableValue::Amount(&mut self.first_login_tries),
            "land_claims" => AmendableValue::LandClaims(&mut self.land_claims),
            "land_per_key" => AmendableValue::Count(&mut self.land_per_key),
            "land_per_week" => AmendableValue::Count(&mut self.land_per_week),
            "land_days" => AmendableValue::Count(&mut self.land_days),
            "things_from_servers" => AmendableValue::Count(&mut self.things_from_servers),
            "border_things" => AmendableValue::Count(&mut self.border_things),
            "border_bytes" => AmendableValue::Count(&mut self.border_bytes),
            "border_gas" => AmendableValue::Count(&mut self.border_gas),
            "ports" => AmendableValue::Ports(&mut self.ports),
            "flags" => AmendableValue::Flags(&mut self.flags),
            _ => return None,
        })
    }
}

/// Writes the value that a text says.
fn write(to: AmendableValue<'_>, text: &str) -> Result<(), AmendError> {
    let wrong = |_| AmendError::Value;
    match to {
        AmendableValue::Number(number) => {
            *number = Fx::parse(text).map_err(|_| AmendError::Value)?
        }
        AmendableValue::Count(count) => *count = text.parse().map_err(wrong)?,
        AmendableValue::Amount(amount) => *amount = text.parse().map_err(wrong)?,
        AmendableValue::Switch(switch) => *switch = text.parse().map_err(|_| AmendError::Value)?,
        AmendableValue::FirstLogin(rule) => {
            let found = FirstLogin::ALL.iter().find(|(_, name)| *name == text);
            *rule = found.ok_or(AmendError::Value)?.0;
        }
        AmendableValue::Publishers(rule) => {
            let found = Publishers::ALL.iter().find(|(_, name)| *name == text);
            *rule = found.ok_or(AmendError::Value)?.0;
        }
        AmendableValue::LandClaims(rule) => {
            let found = LandClaims::ALL.iter().find(|(_, name)| *name == text);
            *rule = found.ok_or(AmendError::Value)?.0;
        }
        AmendableValue::Ports(ports) => {
            *ports = ports.changed_by(text).map_err(|_| AmendError::Value)?;
        }
        AmendableValue::Flags(flags) => {
            *flags = flags.changed_by(text).map_err(|_| AmendError::Value)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use metatopia_types::SimId;

    use super::*;

    fn charter() -> Charter {
        crate::state::State::from_genesis(&crate::acts::test_genesis())
            .expect("a small genesis")
            .charter
    }

    #[test]
    fn every_name_says_its_value_and_takes_it_back() {
        for name in AMENDABLE {
            let mut charter = charter();
            let value = charter.value(name).unwrap_or_else(|| panic!("{name} has no value"));
            charter.amend(name, &value).unwrap_or_else(|error| panic!("{name} {value}: {error}"));
            assert_eq!(charter, self::charter(), "{name} {value}");
        }
    }

    #[test]
    fn an_amendment_changes_one_value() {
        for (name, value) in [
            ("name", "Harbour"),
            ("building.reach", "2.5"),
            ("objects_max", "77"),
            ("gas.owner_refill", "6000"),
            ("building.open_ground", "false"),
            ("first_login", "closed"),
        ] {
            let mut amended = charter();
            amended.amend(name, value).expect("a value in its range");
            assert_eq!(amended.value(name).as_deref(), Some(value));
            for other in AMENDABLE.into_iter().filter(|other| *other != name) {
                assert_eq!(amended.value(other), charter().value(other), "{other} after {name}");
            }
        }
    }

    #[test]
    fn a_sim_with_a_square_follows_another_office_and_an_office_follows_none() {
        let other = SimId(metatopia_types::Digest([5; 32]));
        let mut charter = charter();
        let own = charter.sim;
        assert_eq!(charter.amend("world", &other.to_string()), Err(AmendError::Value));
        let square = metatopia_types::Square { x: 0, y: 0, doublings: 0 };
        charter.site = Some(metatopia_types::Site { world: SimId(other.0), square });
        assert_eq!(charter.amend("world", "none"), Err(AmendError::Value));
        let next = metatopia_types::Digest([6; 32]).to_string();
        assert_eq!(charter.amend("world", &next), Ok(()));
        assert_eq!(charter.value("world"), Some(next.clone()));
        charter.site = Some(metatopia_types::Site { world: own, square });
        assert!(charter.is_office());
        assert_eq!(charter.amend("world", &next), Err(AmendError::Value));
        assert_eq!(charter.amend("world", &own.to_string()), Ok(()));
    }

    #[test]
    fn a_wrong_name_or_value_changes_nothing() {
        let mut charter = charter();
        assert_eq!(charter.amend("ticks_per_turn", "4"), Err(AmendError::NoSuchName));
        assert_eq!(charter.amend("building.reach", "far"), Err(AmendError::Value));
        assert_eq!(charter.amend("name", "two\nlines"), Err(AmendError::Value));
        assert_eq!(charter.amend("objects_max", "-1"), Err(AmendError::Value));
        assert_eq!(charter.amend("building.open_ground", "yes"), Err(AmendError::Value));
        assert_eq!(charter.amend("first_login", "ajar"), Err(AmendError::Value));
        assert_eq!(charter.amend("land_claims", "all"), Err(AmendError::Value));
        let error = charter.amend("flags", "Fair:1").expect_err("no such name of a flag");
        assert!(matches!(error, AmendError::Parameters(ParametersError::Flags(_))), "{error}");
        let error = charter.amend("building.reach", "101").expect_err("100 m is the most");
        assert!(matches!(error, AmendError::Parameters(ParametersError::Range { .. })), "{error}");
        assert_eq!(charter, self::charter());
    }
}
