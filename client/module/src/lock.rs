//! What is to be known of `Cargo.lock`: which package needs which, and what its bytes are.

use std::collections::{BTreeMap, BTreeSet};

/// A package of the lock.
#[derive(Debug, Default)]
struct LockedPackage {
    /// Version, source and checksum, as they are written.
    identity: String,
    /// Names, with versions where one name has several.
    needs: Vec<String>,
}

/// All packages, by name and version.
#[derive(Debug)]
pub(crate) struct Lock(BTreeMap<(String, String), LockedPackage>);

impl Lock {
    pub(crate) fn read(text: &str) -> Self {
        let mut packages = BTreeMap::new();
        for block in text.split("[[package]]\n").skip(1) {
            let mut package = LockedPackage::default();
            let mut key = (String::new(), String::new());
            for line in block.lines() {
                let value =
                    |name: &str| Some(line.strip_prefix(name)?.trim_matches('"').to_owned());
                if let Some(name) = value("name = ") {
                    key.0 = name;
                } else if let Some(version) = value("version = ") {
                    key.1 = version;
                } else if let Some(need) = value(" ") {
                    package.needs.push(need.trim_end_matches(',').trim_matches('"').to_owned());
                } else if line.starts_with("source = ") || line.starts_with("checksum = ") {
                    package.identity.push_str(line);
                    package.identity.push('\n');
                }
            }
            packages.insert(key, package);
        }
        Self(packages)
    }

    /// Lists all packages that are needed where crates of ours use others: `used` has pairs of those names.
    /// The list has one line for each package, in order. An error is the pair of which the lock knows
    /// nothing.
    pub(crate) fn needed<'a>(
        &self,
        used: &[(&'a str, &'a str)],
    ) -> Result<String, (&'a str, &'a str)> {
        let mut found = BTreeSet::new();
        for &(user, name) in used {
            let needs =
                self.0.iter().filter(|((known, _), _)| known == user).flat_map(|(_, p)| &p.needs);
            let mut needs = needs.filter(|need| need.split(' ').next() == Some(name)).peekable();
            needs.peek().ok_or((user, name))?;
            needs.for_each(|need| self.collect(need, &mut found));
        }
        let line =
            |key: &&(String, String)| format!("{} {}\n{}", key.0, key.1, self.0[*key].identity);
        Ok(found.iter().map(line).collect())
    }

    fn collect<'a>(&'a self, need: &str, found: &mut BTreeSet<&'a (String, String)>) {
        let mut words = need.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next());
        for (key, package) in &self.0 {
            let is_it = key.0 == name && version.is_none_or(|version| key.1 == version);
            if is_it && found.insert(key) {
                package.needs.iter().for_each(|need| self.collect(need, found));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(name: &str, version: &str, checksum: &str, needs: &[&str]) -> String {
        let needs: String = needs.iter().map(|need| format!(" \"{need}\",\n")).collect();
        format!(
            "[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nchecksum = \"{checksum}\"\n\
            dependencies = [\n{needs}]\n\n"
        )
    }

    fn lock() -> String {
        [
            block("ours", "0.1.0", "-", &["a 1.0.0", "tester"]),
            block("a", "1.0.0", "a1", &["b"]),
            block("a", "2.0.0", "a2", &[]),
            block("b", "1.0.0", "b1", &["a 1.0.0"]),
            block("tester", "1.0.0", "t1", &[]),
        ]
        .concat()
    }

    #[test]
    fn what_is_needed_is_told_with_its_checksum_and_nothing_else_is() {
        let told = Lock::read(&lock()).needed(&[("ours", "a")]).unwrap();
        assert_eq!(told, "a 1.0.0\nchecksum = \"a1\"\nb 1.0.0\nchecksum = \"b1\"\n");
        let other = Lock::read(&lock().replace("a2", "a3").replace("t1", "t2"));
        assert_eq!(other.needed(&[("ours", "a")]), Ok(told.clone()));
        let fixed = Lock::read(&lock().replace("b1", "b2"));
        assert_ne!(fixed.needed(&[("ours", "a")]), Ok(told));
    }

    #[test]
    fn what_is_not_in_the_lock_is_named() {
        assert_eq!(Lock::read(&lock()).needed(&[("ours", "c")]), Err(("ours", "c")));
    }
}
