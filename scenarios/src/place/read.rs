//! Reads the file that describes a place.

use std::collections::BTreeMap;

use metatopia_scripting::Package;
use metatopia_sim::{Area, Land, is_name, limits::LANDS_MAX};
use metatopia_types::ObjectId;
use toml::Spanned;

use super::{
    Place,
    file::{LandFile, PlaceFile},
    object::ObjectContext,
};
use crate::{Mistake, TomlSource};

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

    /// Reads the description of a place as [`Place::parse`] does, and looks at every object and land.
    /// `packages` are those that objects may run, by the names that the file has for them.
    ///
    /// # Errors
    /// All mistakes of objects and lands, or else the first of the file; never none.
    pub fn parse_all(
        file: &str,
        text: &str,
        packages: &BTreeMap<String, Package>,
    ) -> Result<Self, Vec<Mistake>> {
        let source = TomlSource { file, text };
        let one = |mistake| vec![mistake];
        let mut described: PlaceFile = source.read().map_err(one)?;
        let parameters = source.rules(&mut described).map_err(one)?;
        let introduction = source.introduction(&described).map_err(one)?;
        let context = ObjectContext {
            packages,
            marks: source.marks(&described.objects).map_err(one)?,
            // What objects have that do not say otherwise; a place may have any licence.
            licence: described.asset_licence.parse().unwrap_or_default(),
            spawn: (parameters.avatar.spawn, parameters.avatar.radius),
        };
        let mut mistakes = Vec::new();
        let mut objects = Vec::new();
        let mut first = ObjectId(1);
        for object in &described.objects {
            let made = source.objects(object, first, &context);
            first = first.plus(object.get_ref().places.len().max(1) as u64);
            match made {
                Ok(made) => objects.extend(made),
                Err(mistake) => mistakes.push(mistake),
            }
        }
        if let Some(many) = described.lands.get(LANDS_MAX) {
            mistakes.push(source.mistake(many, format!("at most {LANDS_MAX} lands can be named")));
        }
        let joints = source.joints(&described.joints, &context.marks, &objects);
        let joints = joints.unwrap_or_else(|found| {
            mistakes.extend(found);
            Vec::new()
        });
        let mut lands = Vec::new();
        for land in described.lands.iter().take(LANDS_MAX) {
            match source.land(land) {
                Ok(land) => lands.push(land),
                Err(mistake) => mistakes.push(mistake),
            }
        }
        let floor_plan = source.floor_plan(&described, &parameters).map_err(|mistake| {
            mistakes.push(mistake);
            std::mem::take(&mut mistakes)
        })?;
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        Ok(Self {
            name: described.name,
            licence: described.licence,
            asset_licence: described.asset_licence,
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

impl TomlSource<'_> {
    fn land(&self, land: &Spanned<LandFile>) -> Result<Land, Mistake> {
        let LandFile { name, from, to, owner } = land.get_ref();
        if !is_name(name.get_ref()) {
            let message = format!("{:?} is no name for a land", name.get_ref());
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
