//! The rules of a place: the agreed numbers, as its file sets them and as they are written.

use metatopia_math::Fx;
use metatopia_sim::{AMENDABLE, AmendError, Area, AvatarParameters, Parameters, TierName};
use toml::Spanned;

use super::file::{AvatarFile, GroundFile, PlaceFile, SettingTable};
use crate::{
    Mistake, TomlSource,
    number::{Number, Setting},
};

impl TomlSource<'_> {
    /// Returns the rules that a place says, and those of everywhere where it says nothing.
    pub(super) fn rules(&self, file: &mut PlaceFile) -> Result<Parameters, Mistake> {
        let mut rules = Parameters::default();
        if let Some(spawn) = &file.spawn {
            rules.avatar.spawn = spawn.get_ref().vec2();
        }
        if let Some(radius) = &file.spawn_radius {
            rules.avatar.spawn_radius = radius.get_ref().0;
        }
        if let Some(hearing) = &file.hearing {
            rules.hearing = hearing.get_ref().0;
        }
        if let Some(ground) = &file.ground {
            let GroundFile { from, to } = ground.get_ref();
            rules.ground = Area::between(from.vec2(), to.vec2());
        }
        if let Some(gravity) = &file.gravity {
            rules.gravity = gravity.get_ref().vec2();
            let usual = Parameters { gravity: rules.gravity, ..Parameters::default() };
            usual.check().map_err(|error| self.mistake(gravity, error))?;
        }
        if let Some(tier) = &file.tier {
            let found = TierName::ALL.iter().find(|(_, name)| name == tier.get_ref());
            let message =
                || format!("{:?} is no tier: write \"basic\" or \"advanced\"", tier.get_ref());
            rules.tier = found.ok_or_else(|| self.mistake(tier, message()))?.0;
        }
        rules.ticks_per_turn = file.ticks_per_turn.unwrap_or(rules.ticks_per_turn);
        file.avatar.set(&mut rules.avatar);
        rules.check().map_err(|error| Mistake::in_file(self.file, error))?;
        self.ttl(file, &mut rules)?;
        for (name, setting) in file.single_settings() {
            if let Some(setting) = setting {
                self.set(&mut rules, name, setting)?;
            }
        }
        for (table, settings) in [
            ("building", &file.building),
            ("lots", &file.lots),
            ("chat", &file.chat),
            ("gas", &file.gas),
        ] {
            for (name, setting) in settings {
                let full = format!("{table}.{}", name.get_ref());
                if !AMENDABLE.contains(&full.as_str()) {
                    let message = format!("unknown field `{}`, {}", name.get_ref(), known(table));
                    return Err(self.mistake(name, message));
                }
                self.set(&mut rules, &full, setting)?;
            }
        }
        Ok(rules)
    }

    /// Changes one value of the rules.
    fn set(
        &self,
        rules: &mut Parameters,
        name: &str,
        setting: &Spanned<Setting>,
    ) -> Result<(), Mistake> {
        let text = &setting.get_ref().0;
        rules.amend(name, text).map_err(|error| match error {
            AmendError::Value => self.mistake(setting, format!("{text:?} is no value of {name}")),
            AmendError::Parameters(error) => self.mistake(setting, error),
            AmendError::NoSuchName => unreachable!("{name} is listed as a value"),
        })
    }
}

/// Returns a sentence of the names in a table.
fn known(table: &str) -> String {
    let names = AMENDABLE.iter().filter_map(|name| name.split_once('.'));
    let own = names.filter(|(first, _)| *first == table);
    let names: Vec<String> = own.map(|(_, name)| format!("`{name}`")).collect();
    format!("expected one of {}", names.join(", "))
}

impl AvatarFile {
    fn set(&self, avatar: &mut AvatarParameters) {
        for (value, written) in [
            (&mut avatar.radius, self.radius),
            (&mut avatar.mass, self.mass),
            (&mut avatar.speed, self.speed),
            (&mut avatar.acceleration, self.acceleration),
            (&mut avatar.reach, self.reach),
            (&mut avatar.push, self.push),
        ] {
            *value = written.map_or(*value, |number| number.0);
        }
    }
}

/// Returns a value as something to be written, which came out of no text.
pub(super) fn written<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}

impl PlaceFile {
    /// Returns the settings that stand in no table, by their names.
    fn single_settings(&mut self) -> [(&'static str, &mut Option<Spanned<Setting>>); 18] {
        [
            ("objects_max", &mut self.objects_max),
            ("avatars_max", &mut self.avatars_max),
            ("lease_ticks", &mut self.lease_ticks),
            ("grace_ticks", &mut self.grace_ticks),
            ("admin_days", &mut self.admin_days),
            ("player_days", &mut self.player_days),
            ("seen_days", &mut self.seen_days),
            ("first_login", &mut self.first_login),
            ("publishers", &mut self.publishers),
            ("first_login_tries", &mut self.first_login_tries),
            ("land_claims", &mut self.land_claims),
            ("land_per_key", &mut self.land_per_key),
            ("land_per_week", &mut self.land_per_week),
            ("land_days", &mut self.land_days),
            ("things_from_servers", &mut self.things_from_servers),
            ("border_things", &mut self.border_things),
            ("border_bytes", &mut self.border_bytes),
            ("ports", &mut self.ports),
        ]
    }

    /// Writes down where rules differ from those of everywhere.
    pub(super) fn note_rules(&mut self, rules: &Parameters) {
        let usual = Parameters::default();
        let other = |own: Fx, usual: Fx| (own != usual).then_some(Number(own));
        let (avatar, standard) = (&rules.avatar, &usual.avatar);
        self.spawn = Some(written(avatar.spawn.into()));
        self.spawn_radius = other(avatar.spawn_radius, standard.spawn_radius).map(written);
        self.hearing = other(rules.hearing, usual.hearing).map(written);
        self.avatar = AvatarFile {
            radius: other(avatar.radius, standard.radius),
            mass: other(avatar.mass, standard.mass),
            speed: other(avatar.speed, standard.speed),
            acceleration: other(avatar.acceleration, standard.acceleration),
            reach: other(avatar.reach, standard.reach),
            push: other(avatar.push, standard.push),
        };
        if rules.ground != usual.ground {
            let Area { low, high } = rules.ground;
            self.ground = Some(written(GroundFile { from: low.into(), to: high.into() }));
        }
        if rules.gravity != usual.gravity {
            self.gravity = Some(written(rules.gravity.into()));
        }
        if rules.tier != usual.tier {
            self.tier = Some(written(rules.tier.name().to_owned()));
        }
        let ticks = rules.ticks_per_turn;
        self.ticks_per_turn = (ticks != usual.ticks_per_turn).then_some(ticks);
        // The time to live stands with what the place says of itself.
        for name in AMENDABLE.into_iter().filter(|name| *name != "ttl_seconds") {
            let value = rules.setting(name).filter(|_| rules.setting(name) != usual.setting(name));
            if let Some(value) = value {
                self.note(name, Setting(value));
            }
        }
    }

    /// Writes down one setting.
    fn note(&mut self, name: &str, value: Setting) {
        let into = |table: &mut SettingTable, name: &str, value| {
            table.insert(written(name.to_owned()), written(value));
        };
        match name.split_once('.') {
            Some(("building", name)) => into(&mut self.building, name, value),
            Some(("lots", name)) => into(&mut self.lots, name, value),
            Some(("chat", name)) => into(&mut self.chat, name, value),
            Some(("gas", name)) => into(&mut self.gas, name, value),
            _ => {
                let single = self.single_settings().into_iter().find(|(known, _)| *known == name);
                let (_, setting) = single.expect("a value without a table has a key of its own");
                *setting = Some(written(value));
            }
        }
    }
}
