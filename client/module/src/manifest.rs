//! What is to be known of a `Cargo.toml`: its sections, and the entries in them.
//!
//! This is no reader of TOML: it cuts a manifest into entries, each with the lines that continue it,
//! and takes no value apart but the path of a dependency.

/// An entry of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SectionEntry {
    /// What stands before the first dot, space or equals sign.
    pub(crate) key: String,
    /// All its lines, without remarks.
    pub(crate) text: String,
}

impl SectionEntry {
    /// The folder that a dependency names.
    pub(crate) fn path(&self) -> Option<&str> {
        let (_, rest) = self.text.split_once("path")?;
        let (_, rest) = rest.split_once('"')?;
        rest.split_once('"').map(|(path, _)| path)
    }
}

/// A manifest, section by section.
#[derive(Debug)]
pub(crate) struct CargoManifest(Vec<(String, Vec<SectionEntry>)>);

impl CargoManifest {
    pub(crate) fn read(text: &str) -> Self {
        let mut sections = vec![(String::new(), Vec::<SectionEntry>::new())];
        for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
            let begins = |wanted: fn(char) -> bool| line.starts_with(wanted);
            if begins(|first| first == '#') {
                continue;
            }
            // A list that is continued begins its lines with spaces, or with its last bracket.
            if begins(|first| first == '[') {
                sections.push((line.trim_matches(['[', ']']).to_owned(), Vec::new()));
            } else if let Some((_, entries)) = sections.last_mut() {
                if begins(|first| first.is_ascii_alphanumeric() || first == '"')
                    || entries.is_empty()
                {
                    let key = line.split(['.', ' ', '=']).next().unwrap_or(line);
                    entries.push(SectionEntry { key: key.to_owned(), text: String::new() });
                }
                if let Some(entry) = entries.last_mut() {
                    entry.text.push_str(line);
                    entry.text.push('\n');
                }
            }
        }
        Self(sections)
    }

    /// The entries of all sections with such a name.
    pub(crate) fn entries(
        &self,
        wanted: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = &SectionEntry> {
        self.0.iter().filter(move |(name, _)| wanted(name)).flat_map(|(_, entries)| entries)
    }

    /// Returns what a crate uses in a build on any system. What only its tests use is left out.
    pub(crate) fn used(&self) -> impl Iterator<Item = &str> {
        let is_used = |name: &str| {
            let part = name.rsplit('.').next();
            matches!(part, Some("dependencies" | "build-dependencies"))
                && !name.starts_with("workspace")
        };
        self.entries(is_used).map(|entry| entry.key.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# A remark.
[package]
name = \"a\"
[dependencies]
b.workspace = true
c = { version = \"1\", features = [
  \"x\",
] }
[target.'cfg(unix)'.dependencies]
d = \"1\"
[build-dependencies]
e = { path = \"../e\" }
[dev-dependencies]
f = \"1\"
";

    #[test]
    fn what_only_tests_use_is_not_used() {
        let manifest = CargoManifest::read(TEXT);
        assert_eq!(manifest.used().collect::<Vec<_>>(), ["b", "c", "d", "e"]);
    }

    #[test]
    fn an_entry_has_all_its_lines_and_no_remarks() {
        let manifest = CargoManifest::read(TEXT);
        let c = manifest.entries(|name| name == "dependencies").nth(1).unwrap();
        assert_eq!(c.text, "c = { version = \"1\", features = [\n  \"x\",\n] }\n");
        assert_eq!(c.path(), None);
        let e = manifest.entries(|name| name == "build-dependencies").next().unwrap();
        assert_eq!(e.path(), Some("../e"));
    }
}
