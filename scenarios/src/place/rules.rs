//! The rules of a place: the agreed numbers, as its file sets them and as they are written.

use metatopia_math::Fx;
use metatopia_sim::{
    AMENDABLE, AmendError, Area, AvatarParameters, FirstLogin, LandClaims, Parameters,
    ParametersError, Publishers, TierName,
};
use toml::Spanned;

use super::{
    file::{AvatarFile, GroundFile, PlaceFile, SettingTable},
    read::noted,
};
use crate::{
    Mistake, TomlSource,
    mistake::unknown_key,
    number::{Number, Setting},
};

impl TomlSource<'_> {
    /// Returns the rules that a place says, and those of everywhere where it says nothing or something wrong,
    /// which is noted.
    pub(super) fn rules(&self, file: &mut PlaceFile, mistakes: &mut Vec<Mistake>) -> Parameters {
        let mut rules = Parameters::default();
        self.ground(file, &mut rules, mistakes);
        if let Some(radius) = &file.spawn_radius {
            let set = |rules: &mut Parameters| rules.avatar.spawn_radius = radius.get_ref().0;
            noted(self.try_rule(&mut rules, radius, set), mistakes);
        }
        if let Some(hearing) = &file.hearing {
            let set = |rules: &mut Parameters| rules.hearing = hearing.get_ref().0;
            noted(self.try_rule(&mut rules, hearing, set), mistakes);
        }
        if let Some(gravity) = &file.gravity {
            let set = |rules: &mut Parameters| rules.gravity = gravity.get_ref().vec2();
            noted(self.try_rule(&mut rules, gravity, set), mistakes);
        }
        if let Some(ticks) = &file.ticks_per_turn {
            let set = |rules: &mut Parameters| rules.ticks_per_turn = *ticks.get_ref();
            noted(self.try_rule(&mut rules, ticks, set), mistakes);
        }
        if let Some(tier) = &file.tier {
            match TierName::ALL.iter().find(|(_, name)| name == tier.get_ref()) {
                Some((found, _)) => rules.tier = *found,
                None => {
                    let name = tier.get_ref();
                    let told = format!("{name:?} is no tier: write \"basic\" or \"advanced\"");
                    mistakes.push(self.mistake(tier, told));
                }
            }
        }
        for (number, field) in file.avatar.numbers() {
            let set = |rules: &mut Parameters| *field(&mut rules.avatar) = number.get_ref().0;
            noted(self.try_rule(&mut rules, number, set), mistakes);
        }
        noted(self.ttl(file, &mut rules), mistakes);
        for (name, setting) in file.single_settings() {
            if let Some(setting) = setting {
                noted(self.set(&mut rules, name, setting), mistakes);
            }
        }
        self.tables(file, &mut rules, mistakes);
        rules
    }

    /// Sets the ground and where people appear, which depend on each other.
    fn ground(&self, file: &PlaceFile, rules: &mut Parameters, mistakes: &mut Vec<Mistake>) {
        let mut changed = rules.clone();
        if let Some(spawn) = &file.spawn {
            changed.avatar.spawn = spawn.get_ref().vec2();
        }
        if let Some(ground) = &file.ground {
            let GroundFile { from, to } = ground.get_ref();
            changed.ground = Area::between(from.vec2(), to.vec2());
        }
        let Err(error) = changed.check() else {
            *rules = changed;
            return;
        };
        let (spawn, ground) = (&file.spawn, &file.ground);
        let (spawn, ground) =
            (spawn.as_ref().map(Spanned::span), ground.as_ref().map(Spanned::span));
        let at = match error {
            ParametersError::Ground(_) => ground.or(spawn),
            _ => spawn.or(ground),
        };
        mistakes.push(match at {
            Some(at) => self.mistake_in(at, error),
            None => Mistake::in_file(self.file, error),
        });
    }

    /// Sets the rules that stand in tables.
    fn tables(&self, file: &PlaceFile, rules: &mut Parameters, mistakes: &mut Vec<Mistake>) {
        for (table, settings) in [
            ("building", &file.building),
            ("lots", &file.lots),
            ("chat", &file.chat),
            ("gas", &file.gas),
        ] {
            for (name, setting) in settings {
                let full = format!("{table}.{}", name.get_ref());
                if AMENDABLE.contains(&full.as_str()) {
                    noted(self.set(rules, &full, setting), mistakes);
                } else {
                    let own = AMENDABLE.iter().filter_map(|known| known.split_once('.'));
                    let own = own.filter(|(first, _)| *first == table).map(|(_, own)| own);
                    let message = unknown_key(name.get_ref(), own);
                    mistakes.push(self.mistake(name, message));
                }
            }
        }
    }

    /// Changes the rules as `set` does, if they are in their ranges then.
    fn try_rule<T>(
        &self,
        rules: &mut Parameters,
        at: &Spanned<T>,
        set: impl Fn(&mut Parameters),
    ) -> Result<(), Mistake> {
        let mut changed = rules.clone();
        set(&mut changed);
        changed.check().map_err(|error| self.mistake(at, error))?;
        *rules = changed;
        Ok(())
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
            AmendError::Value => {
                self.mistake(setting, format!("{text:?} is no value of {name}{}", form_of(name)))
            }
            AmendError::Parameters(error) => self.mistake(setting, error),
            AmendError::NoSuchName => unreachable!("{name} is listed as a value"),
        })
    }
}

/// Returns what can be written as a value that is no plain number.
fn form_of(name: &str) -> String {
    let names = match name {
        "first_login" => FirstLogin::ALL.map(|(_, name)| name).to_vec(),
        "publishers" => Publishers::ALL.map(|(_, name)| name).to_vec(),
        "land_claims" => LandClaims::ALL.map(|(_, name)| name).to_vec(),
        "flags" => return ": write none, or such as fair:0,market:12000".to_owned(),
        "building.open_ground" => vec!["true", "false"],
        _ => return String::new(),
    };
    format!(": write one of {}", names.join(", "))
}

/// Returns where a number of avatars is kept.
type AvatarField = fn(&mut AvatarParameters) -> &mut Fx;

impl AvatarFile {
    /// Returns the numbers that are written, and where each is kept.
    fn numbers(&self) -> impl Iterator<Item = (&Spanned<Number>, AvatarField)> {
        let all: [(&Option<Spanned<Number>>, AvatarField); 6] = [
            (&self.radius, |avatar| &mut avatar.radius),
            (&self.mass, |avatar| &mut avatar.mass),
            (&self.speed, |avatar| &mut avatar.speed),
            (&self.acceleration, |avatar| &mut avatar.acceleration),
            (&self.reach, |avatar| &mut avatar.reach),
            (&self.push, |avatar| &mut avatar.push),
        ];
        all.into_iter().filter_map(|(number, field)| Some((number.as_ref()?, field)))
    }
}

/// Returns a value as something to be written, which came out of no text.
pub(super) fn written<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}

impl PlaceFile {
    /// Returns the settings that stand in no table, by their names.
    fn single_settings(&mut self) -> [(&'static str, &mut Option<Spanned<Setting>>); 20] {
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
            ("border_gas", &mut self.border_gas),
            ("ports", &mut self.ports),
            ("flags", &mut self.flags),
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
            radius: other(avatar.radius, standard.radius).map(written),
            mass: other(avatar.mass, standard.mass).map(written),
            speed: other(avatar.speed, standard.speed).map(written),
            acceleration: other(avatar.acceleration, standard.acceleration).map(written),
            reach: other(avatar.reach, standard.reach).map(written),
            push: other(avatar.push, standard.push).map(written),
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
        self.ticks_per_turn = (ticks != usual.ticks_per_turn).then(|| written(ticks));
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
