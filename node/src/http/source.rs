//! The offer of this program's source.

use serde::Serialize;

/// Which program this is, under which licence, and where its source is. Section 13 of the licence
/// asks that everybody who uses a server over a network is offered the source of that very program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceOffer {
    /// The program's name.
    pub program: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Its licence, as an SPDX expression.
    pub licence: &'static str,
    /// The git commit it was built from; "unknown" if it was not built in a git checkout.
    pub commit: &'static str,
    /// Whether files differed from the commit when it was built: "yes", "no" or "unknown".
    pub modified: &'static str,
    /// Where the source is, if the operator, or the program's makers, named a place.
    pub url: Option<String>,
    /// The offer in words.
    pub offer: String,
}

impl SourceOffer {
    /// The offer of this build. `url` is where the operator offers the source, if not where the
    /// program's makers do. An operator who runs a changed program must name such a place.
    #[must_use]
    pub fn new(url: Option<String>) -> Self {
        let repository = env!("CARGO_PKG_REPOSITORY");
        let url = url.or_else(|| (!repository.is_empty()).then(|| repository.to_owned()));
        // The build script sets both, or this does not compile: a server must not say less than it
        // could.
        let commit = env!("BUILD_COMMIT_OF_METATOPIA");
        let modified = env!("BUILD_MODIFIED_OF_METATOPIA");
        let place = match &url {
            Some(url) => format!("It is at {url}."),
            None => "Ask whoever runs this server for it.".to_owned(),
        };
        let changes = match modified {
            "yes" => ", with changes",
            _ => "",
        };
        Self {
            program: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
            licence: env!("CARGO_PKG_LICENSE"),
            commit,
            modified,
            offer: format!(
                "This is free software. You may have the source of the program that runs here \
                 (commit {commit}{changes}) under its licence. {place}"
            ),
            url,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commit_is_exact_or_unknown() {
        let SourceOffer { commit, modified, licence, .. } = SourceOffer::new(None);
        let exact = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        assert!(exact || commit == "unknown", "{commit}");
        assert_eq!(modified == "unknown", commit == "unknown");
        assert_eq!(licence, "AGPL-3.0-or-later");
    }

    #[test]
    fn the_operators_place_is_named() {
        let offer = SourceOffer::new(Some("https://example.org/mine".to_owned()));
        assert!(offer.offer.contains("https://example.org/mine"), "{}", offer.offer);
        assert!(offer.offer.contains(offer.commit), "{}", offer.offer);
    }
}
