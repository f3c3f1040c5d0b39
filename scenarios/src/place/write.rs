//! Writes a place as a folder of texts that can be compared and searched.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_sim::{Area, Land, ScriptSpec};
use metatopia_types::{ObjectId, PackageId};

use super::{
    PLACE_FILE, Place,
    file::{AvatarFile, JointFile, LandFile, ObjectFile, PlaceFile, ScriptFile},
    rules::written,
    state,
};
use crate::{PACKAGE_FILE, number::Setting, package::manifest};

/// What a written file begins with.
const HEAD: &str = "\
# A place of Metatopia, as docs/places.md describes it. Metres, kilograms, seconds; x is east, y is
# north. Numbers that are not whole are written in quotes, so that they stay exact.

";

impl Place {
    /// Returns the texts of the place's folder, by path. [`parse_folder`](crate::parse_folder) makes the
    /// same place of them.
    ///
    /// # Panics
    /// Never: all that a place holds has a form in TOML.
    #[must_use]
    pub fn files(&self) -> BTreeMap<String, String> {
        let folders = self.folders();
        let mut files = BTreeMap::new();
        for (id, package) in &self.packages {
            let folder = format!("packages/{}", folders[id]);
            files.insert(format!("{folder}/{PACKAGE_FILE}"), manifest(package));
            for (path, text) in package.files() {
                files.insert(format!("{folder}/{path}"), text.clone());
            }
        }
        let text = toml::to_string(&self.file(&folders)).expect("numbers and texts");
        files.insert(PLACE_FILE.to_owned(), format!("{HEAD}{text}"));
        files
    }

    /// Returns what the file of the place calls each package: its name, and a number behind it where
    /// several have one name.
    fn folders(&self) -> BTreeMap<PackageId, String> {
        let mut folders = BTreeMap::new();
        let mut taken = BTreeSet::new();
        for (id, package) in &self.packages {
            let name = &package.manifest().name;
            let others = (2..).map(|number| format!("{name}-{number}"));
            let free = [name.clone()].into_iter().chain(others).find(|name| !taken.contains(name));
            let folder = free.expect("there are more numbers than packages");
            taken.insert(folder.clone());
            folders.insert(*id, folder);
        }
        folders
    }

    pub(super) fn file(&self, folders: &BTreeMap<PackageId, String>) -> PlaceFile {
        let licence = self.asset_licence.parse().unwrap_or_default();
        let marks = self.marks();
        let mut file = PlaceFile::named(&self.name, &self.licence, &self.asset_licence);
        file.note_rules(&self.parameters);
        file.note_introduction(&self.introduction, self.parameters.ttl_seconds);
        file.note_floor_plan(&self.floor_plan);
        let said = |name: &str| written(Setting(name.to_owned()));
        file.first_login = self.first_login.map(|rule| said(rule.name()));
        file.publishers = self.publishers.map(|rule| said(rule.name()));
        file.lands = self.lands.iter().map(|land| written(LandFile::of(land))).collect();
        for (spec, id) in self.objects.iter().zip(1..) {
            let mut object = ObjectFile::of(spec, marks.get(&ObjectId(id)), licence);
            let script = |script: &ScriptSpec| ScriptFile {
                package: written(folders[&script.package].clone()),
                state: state::write(&script.state, &marks),
            };
            let mark = |spawner: ObjectId| written(marks[&spawner].clone());
            object.spawned_by = spec.spawner.map(mark);
            object.scripts = spec.scripts.iter().map(script).collect();
            file.objects.push(written(object));
        }
        let joints = self.joints.iter();
        file.joints = joints.map(|joint| written(JointFile::of(joint, &marks))).collect();
        file
    }

    /// Returns marks for the things of which scripts hold handles, and for those that spawned others
    /// or are joined.
    fn marks(&self) -> BTreeMap<ObjectId, String> {
        let mut marks = BTreeMap::new();
        let mut note = |id: ObjectId| {
            let there = id.0.checked_sub(1).is_some_and(|n| n < self.objects.len() as u64);
            if there {
                marks.insert(id, format!("thing-{id}"));
            }
        };
        self.objects.iter().filter_map(|object| object.spawner).for_each(&mut note);
        let ends = self.joints.iter().flat_map(|joint| [joint.a, Some(joint.b)]);
        ends.flatten().for_each(&mut note);
        for script in self.objects.iter().flat_map(|object| &object.scripts) {
            script.state.0.values().for_each(|value| state::handles(value, &mut note));
        }
        marks
    }
}

impl PlaceFile {
    fn named(name: &str, licence: &str, asset_licence: &str) -> Self {
        Self {
            name: written(name.to_owned()),
            licence: written(licence.to_owned()),
            asset_licence: written(asset_licence.to_owned()),
            description: None,
            tags: Vec::new(),
            house_rules: None,
            ttl: None,
            spawn: None,
            spawn_radius: None,
            ticks_per_turn: None,
            hearing: None,
            objects_max: None,
            avatars_max: None,
            lease_ticks: None,
            grace_ticks: None,
            admin_days: None,
            player_days: None,
            seen_days: None,
            first_login: None,
            publishers: None,
            first_login_tries: None,
            land_claims: None,
            land_per_key: None,
            land_per_week: None,
            land_days: None,
            things_from_servers: None,
            border_things: None,
            border_bytes: None,
            border_gas: None,
            ports: None,
            flags: None,
            ground: None,
            gravity: None,
            tier: None,
            avatar: AvatarFile::default(),
            building: BTreeMap::new(),
            lots: BTreeMap::new(),
            chat: BTreeMap::new(),
            gas: BTreeMap::new(),
            lands: Vec::new(),
            sectors: Vec::new(),
            openings: Vec::new(),
            objects: Vec::new(),
            joints: Vec::new(),
        }
    }
}

impl LandFile {
    fn of(land: &Land) -> Self {
        let Area { low, high } = land.area;
        Self {
            name: written(land.name.clone()),
            from: low.into(),
            to: high.into(),
            owner: written(land.title.to_string()),
        }
    }
}
