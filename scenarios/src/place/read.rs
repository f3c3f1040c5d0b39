//! Reads the file that describes a place.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_physics::Bounds;
use metatopia_scripting::{Licence, LicenceError, Package};
use metatopia_sim::{Area, FloorPlan, Land, is_name, limits::LANDS_MAX};
use metatopia_types::{AssetLicence, ObjectId, limits::NAME_BYTES_MAX};
use toml::Spanned;

use super::{
    Place,
    file::{LandFile, PlaceFile},
    object::ObjectContext,
};
use crate::{Mistake, TomlSource, package::licence_mistake};

/// Returns what is wrong with a name that breaks the rule of names.
fn no_name(name: &str, of: &str) -> String {
    format!("{name:?} is no name for a {of}: write one line of 1 to {NAME_BYTES_MAX} bytes")
}

impl Place {
    /// Reads the description of a place. `file` is how messages name it; `packages` are those that
    /// its objects may run, by the names of their manifests.
    ///
    /// # Errors
    /// The first mistake, with line and column.
    pub fn parse(file: &str, text: &str, packages: &[Package]) -> Result<Self, Mistake> {
        let name = |package: &Package| package.manifest().name.clone();
        let named = packages.iter().map(|package| (name(package), package.clone())).collect();
        Self::parse_all(file, text, &named)
            .map_err(|mistakes| mistakes.into_iter().next().expect("a failure names a mistake"))
    }

    /// Reads the description of a place as [`Place::parse`] does, and looks at every rule, object and land.
    /// `packages` are those that objects may run, by the names that the file has for them.
    ///
    /// # Errors
    /// All mistakes that were found, ordered by line, or else the one that ended the reading; never none.
    pub fn parse_all(
        file: &str,
        text: &str,
        packages: &BTreeMap<String, Package>,
    ) -> Result<Self, Vec<Mistake>> {
        Self::parse_beside(file, text, packages, &BTreeSet::new())
    }

    /// Reads the description of a place as [`Place::parse_all`] does. Objects may also name `broken`
    /// packages, whose mistakes are told already.
    pub(crate) fn parse_beside(
        file: &str,
        text: &str,
        packages: &BTreeMap<String, Package>,
        broken: &BTreeSet<String>,
    ) -> Result<Self, Vec<Mistake>> {
        let source = TomlSource { file, text };
        let mut described: PlaceFile = source.read().map_err(|mistake| vec![mistake])?;
        let mut mistakes = Vec::new();
        let parameters = source.rules(&mut described, &mut mistakes);
        // Of a place whose rules are wrong nobody knows the ground, or where people appear.
        let are_rules_fine = mistakes.is_empty();
        source.names(&described, &mut mistakes);
        let introduction = source.introduction(&described);
        let introduction = noted(introduction, &mut mistakes).unwrap_or_default();
        let ground = parameters.ground;
        let context = ObjectContext {
            packages,
            broken,
            marks: source.marks(&described.objects, &mut mistakes),
            // What objects have that do not say otherwise; a place may have any licence.
            licence: described.asset_licence.get_ref().parse().unwrap_or_default(),
            spawn: are_rules_fine.then_some((parameters.avatar.spawn, parameters.avatar.radius)),
            ground: Bounds::new(ground.low, ground.high).ok().filter(|_| are_rules_fine),
        };
        let before = mistakes.len();
        let (mut objects, mut tables) = (Vec::new(), Vec::new());
        let mut first = ObjectId(1);
        for (table, object) in described.objects.iter().enumerate() {
            objects.extend(source.objects(object, first, &context, &mut mistakes));
            tables.resize(objects.len(), table);
            first = first.plus(object.get_ref().count());
        }
        source.doubled((&described.objects, &tables), &objects, &mut mistakes);
        source.count_compounds(&described.objects, &mut mistakes);
        // Joints hold things by their numbers, so no thing may be missing.
        let joints = if mistakes.len() == before {
            source.joints(&described.joints, &context.marks, &objects).unwrap_or_else(|found| {
                mistakes.extend(found);
                Vec::new()
            })
        } else {
            Vec::new()
        };
        let lands = source.lands(&described.lands, &mut mistakes);
        let floor_plan = match are_rules_fine {
            true => source.floor_plan(&described, &parameters, &mut mistakes),
            false => FloorPlan::default(),
        };
        if !mistakes.is_empty() {
            mistakes.sort_by_key(|mistake| (mistake.line, mistake.column));
            return Err(mistakes);
        }
        Ok(Self {
            name: described.name.into_inner(),
            licence: described.licence.into_inner(),
            asset_licence: described.asset_licence.into_inner(),
            packages: packages.values().map(|package| (package.id(), package.clone())).collect(),
            first_login: described.first_login.as_ref().map(|_| parameters.first_login),
            publishers: described.publishers.as_ref().map(|_| parameters.publishers),
            parameters,
            objects,
            joints,
            lands,
            floor_plan,
            introduction,
            picture: Vec::new(),
        })
    }
}

/// Returns what was found, or notes the mistake.
pub(super) fn noted<T>(found: Result<T, Mistake>, mistakes: &mut Vec<Mistake>) -> Option<T> {
    found.map_err(|mistake| mistakes.push(mistake)).ok()
}

impl TomlSource<'_> {
    /// Notes what is wrong with the name of a place and with its licences.
    fn names(&self, file: &PlaceFile, mistakes: &mut Vec<Mistake>) {
        let name = file.name.get_ref();
        if !is_name(name) {
            mistakes.push(self.mistake(&file.name, no_name(name, "place")));
        }
        for licence in [&file.licence, &file.asset_licence] {
            let is_of_things = licence.get_ref().parse::<AssetLicence>().is_ok();
            match Licence::parse(licence.get_ref()) {
                // A place may have any licence, and need not be free.
                Ok(_) | Err(LicenceError::NoCopyleft(_)) => {}
                Err(_) if is_of_things => {}
                Err(error) => mistakes.push(licence_mistake(self, licence, &error)),
            }
        }
    }

    /// Returns the lands, and notes what is wrong with them.
    fn lands(&self, lands: &[Spanned<LandFile>], mistakes: &mut Vec<Mistake>) -> Vec<Land> {
        if let Some(many) = lands.get(LANDS_MAX) {
            mistakes.push(self.mistake(many, format!("at most {LANDS_MAX} lands can be named")));
        }
        let known = lands.iter().take(LANDS_MAX);
        known.filter_map(|land| noted(self.land(land), mistakes)).collect()
    }

    fn land(&self, land: &Spanned<LandFile>) -> Result<Land, Mistake> {
        let LandFile { name, from, to, owner } = land.get_ref();
        if !is_name(name.get_ref()) {
            let message = no_name(name.get_ref(), "land");
            return Err(self.mistake(name, message));
        }
        let area = Area::between(from.vec2(), to.vec2());
        if !area.is_proper() {
            return Err(self.mistake(land, "`from` and `to` must be opposite corners of the land"));
        }
        let title = owner.get_ref().parse().map_err(|_| {
            let message = format!("{:?} is no owner: write open, sim or a key", owner.get_ref());
            self.mistake(owner, message)
        })?;
        Ok(Land { name: name.get_ref().clone(), area, title })
    }
}
