//! Source packages: read, and hashed again, so that what is shown is what the sim runs.

use std::collections::BTreeMap;

use metatopia_scripting::{
    Package, PackageManifest,
    limits::{FILE_BYTES_MAX, PACKAGE_BYTES_MAX},
};
use metatopia_sim::Genesis;
use metatopia_types::{Blob, Height, PackageId, SimId, wire};
use serde_json::{Value, json};

use super::tar::tar;

/// A package as it was handed out, with what was found of it.
#[derive(Clone, Debug)]
pub(super) struct ServedPackage {
    id: PackageId,
    bytes: Vec<u8>,
    manifest: PackageManifest,
    files: BTreeMap<String, String>,
    /// All of it hashes to the id.
    verified: bool,
}

impl ServedPackage {
    /// Reads a package. One that is not what it should be can be shown as well, and says so.
    pub(super) fn read(id: PackageId, bytes: Vec<u8>) -> Result<Self, wire::DecodeError> {
        // As packages are read where they run: manifest and paths stay below one more file.
        let (manifest, files): (PackageManifest, BTreeMap<String, String>) =
            wire::decode(&bytes, PACKAGE_BYTES_MAX + FILE_BYTES_MAX)?;
        let whole = manifest.id() == id && files.len() == manifest.files.len();
        let verified = whole && files.iter().all(|file| is_stated(&manifest, file));
        Ok(Self { id, bytes, manifest, files, verified })
    }

    /// Returns it as the page shows it.
    pub(super) fn shown(&self) -> Value {
        let Self { manifest, .. } = self;
        let file = |file: (&String, &String)| {
            let verified = is_stated(manifest, file);
            json!({ "path": file.0, "text": file.1, "verified": verified })
        };
        let files: Vec<Value> = self.files.iter().map(file).collect();
        let authors = manifest.authors.iter().map(
            |author| json!({ "name": author.name, "key": author.key.map(|key| key.to_string()) }),
        );
        let authors: Vec<Value> = authors.collect();
        let imports = manifest.imports.iter();
        let imports: BTreeMap<&String, String> =
            imports.map(|(name, id)| (name, id.to_string())).collect();
        json!({
            "id": self.id.to_string(),
            "manifest": {
                "name": manifest.name, "version": manifest.version.to_string(),
                "api": manifest.api, "entry": manifest.entry,
                "licence": manifest.licence.expression, "chosen": manifest.licence.chosen,
                "authors": authors, "parent": manifest.parent.map(|id| id.to_string()),
                "imports": imports,
            },
            "files": files,
            "verified": self.verified,
        })
    }

    /// Returns it as a line of a list.
    pub(super) fn listed(&self) -> Value {
        let name = &self.manifest.name;
        json!({ "id": self.id.to_string(), "name": name, "verified": self.verified })
    }
}

/// Returns whether the file is the one that the manifest names.
fn is_stated(manifest: &PackageManifest, (path, text): (&String, &String)) -> bool {
    manifest.files.get(path) == Some(&Blob(text.as_bytes().to_vec()).id())
}

/// Returns what ships with a sim: ids and names.
pub(super) fn shipped(genesis: &Genesis) -> Vec<Value> {
    let name = |bytes: &Vec<u8>| Package::decode(bytes).ok().map(|p| p.manifest().name.clone());
    let packages = genesis.packages.iter();
    packages.map(|(id, bytes)| json!({ "id": id.to_string(), "name": name(bytes) })).collect()
}

/// Returns all packages as one archive: the files of each to read, its encoded form to hash again, and
/// a list.
pub(super) fn archive(packages: &[ServedPackage], sim: SimId, height: Height) -> Vec<u8> {
    let mut entries = Vec::new();
    let mut list = Vec::new();
    for package in packages {
        let (id, manifest) = (package.id.to_string(), &package.manifest);
        let folder = format!("source/{}-{}", plain(&manifest.name), &id[..12]);
        let mut files = Vec::new();
        for (path, text) in &package.files {
            entries.push((format!("{folder}/{}", plain(path)), text.as_bytes().to_vec()));
            let blob = Blob(text.as_bytes().to_vec()).id();
            files.push(json!({ "path": path, "id": blob.to_string() }));
        }
        entries.push((format!("source/packages/{id}.package"), package.bytes.clone()));
        list.push(json!({
            "id": id, "name": manifest.name, "version": manifest.version.to_string(),
            "licence": manifest.licence.expression, "verified": package.verified, "files": files,
        }));
    }
    let manifest = json!({ "sim": sim.to_string(), "height": height.0, "packages": list });
    let mut text = serde_json::to_vec_pretty(&manifest).expect("texts and numbers become JSON");
    text.push(b'\n');
    entries.insert(0, ("source/MANIFEST.json".to_owned(), text));
    tar(&entries)
}

/// Returns a path without what could lead out of its folder: who handed it out need not be honest.
fn plain(path: &str) -> String {
    let part = |part: &&str| !matches!(*part, "" | "." | "..");
    let parts: Vec<&str> = path.split(['/', '\\']).filter(part).collect();
    parts.join("/")
}
