//! The offer of this program's source, and the source itself.

use axum::{
    http::{
        HeaderName, HeaderValue, StatusCode,
        header::{CONTENT_DISPOSITION, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use metatopia_transport::http::ErrorAnswer;
use serde::Serialize;

/// The source that this program was built from, as the build packed it; empty if it could not.
const ARCHIVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/source.tar.gz"));

/// Where it is served.
pub(super) const ARCHIVE_PATH: &str = "/source.tar.gz";

/// Largest archive that a program should carry: it has 4.8 MB of sources, tests and documents, and the module of the
/// page twice, in 2.1 MB and, as browsers fetch it, in 1.5 MB.
#[cfg(test)]
const ARCHIVE_BYTES_MAX: usize = 10 * 1024 * 1024;

/// Which program this is, under which licence, and where its source is. Section 13 of the licence
/// asks that everybody who uses a server over a network is offered the source of that very program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceOffer {
    /// The program's name.
    pub program: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// Its licence, as an SPDX expression.
    pub licence: &'static str,
    /// The git commit it was built from; "unknown" if it was neither built in a git checkout nor from an
    /// archive that another such program gave.
    pub commit: &'static str,
    /// Whether files differed from the commit when it was built: "yes", "no" or "unknown". The archive
    /// has them as they were built.
    pub modified: &'static str,
    /// Where the source is, if the operator, or the program's makers, named a place.
    pub url: Option<String>,
    /// The path, on this server, of an archive of that source; `None` if the build could make none.
    pub archive: Option<&'static str>,
    /// How many bytes it has.
    pub archive_bytes: usize,
    /// The offer in words.
    pub offer: String,
}

impl SourceOffer {
    /// Returns the offer of this build. `url` is where the operator offers the source, if not where
    /// the program's makers do. An operator who runs a changed program must name such a place.
    #[must_use]
    pub fn new(url: Option<String>) -> Self {
        let repository = env!("CARGO_PKG_REPOSITORY");
        let url = url.or_else(|| (!repository.is_empty()).then(|| repository.to_owned()));
        // The build script sets both, or this does not compile: a server must not say less than it
        // could.
        let commit = env!("BUILD_COMMIT_OF_METATOPIA");
        let modified = env!("BUILD_MODIFIED_OF_METATOPIA");
        let archive = (!ARCHIVE.is_empty()).then_some(ARCHIVE_PATH);
        let place = match (&url, archive) {
            (Some(url), Some(path)) => format!("It is at {url}, and at {path} on this server."),
            (Some(url), None) => format!("It is at {url}."),
            (None, Some(path)) => format!("It is at {path} on this server."),
            (None, None) => "Ask whoever runs this server for it.".to_owned(),
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
            archive,
            archive_bytes: ARCHIVE.len(),
            offer: format!(
                "This is free software. You may have the source of the program that runs here \
                 (commit {commit}{changes}) under its licence. {place}"
            ),
            url,
        }
    }
}

/// Answers with the archive, to be kept as a file.
pub(super) async fn archive() -> Response {
    if ARCHIVE.is_empty() {
        let message = "this build could not pack its source; /source says where it is";
        return ErrorAnswer::new(StatusCode::NOT_FOUND, "not_found", message).into_response();
    }
    let commit = env!("BUILD_COMMIT_OF_METATOPIA");
    let name = commit.get(..12).unwrap_or(commit);
    let kept_as = format!("attachment; filename=\"metatopia-{name}.tar.gz\"");
    let kept_as = HeaderValue::try_from(kept_as).expect("a commit is letters and digits");
    let headers: [(HeaderName, HeaderValue); 2] = [
        (CONTENT_TYPE, HeaderValue::from_static("application/gzip")),
        (CONTENT_DISPOSITION, kept_as),
    ];
    (headers, Bytes::from_static(ARCHIVE)).into_response()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, io::Read as _};

    use flate2::read::GzDecoder;

    use super::*;

    /// Returns the files of the archive, by their names in it.
    fn unpacked() -> BTreeMap<String, Vec<u8>> {
        let mut archive = tar::Archive::new(GzDecoder::new(ARCHIVE));
        let mut files = BTreeMap::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().into_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            let (_, name) = path.to_str().unwrap().split_once('/').expect("one folder holds all");
            files.insert(name.to_owned(), bytes);
        }
        files
    }

    #[test]
    fn the_archive_is_the_source_of_this_very_program() {
        assert!(ARCHIVE.len() < ARCHIVE_BYTES_MAX, "{} bytes", ARCHIVE.len());
        let files = unpacked();
        for (name, own) in [
            ("node/src/routes/source.rs", include_str!("source.rs")),
            ("Cargo.lock", include_str!("../../../Cargo.lock")),
            ("LICENSE", include_str!("../../../LICENSE")),
            ("client/web/index.html", include_str!("../../../client/web/index.html")),
        ] {
            let packed = files.get(name).unwrap_or_else(|| panic!("{name} is not in the archive"));
            assert!(packed == own.as_bytes(), "{name} is not what was built");
        }
        let contents = String::from_utf8(files["SOURCE"].clone()).unwrap();
        let commit = concat!("\ncommit ", env!("BUILD_COMMIT_OF_METATOPIA"), "\n");
        assert!(contents.contains(commit), "{contents}");
        let told = contents.lines().filter(|line| files.contains_key(*line)).count();
        assert_eq!(told + 1, files.len(), "every file but the list itself is listed");
    }

    #[test]
    fn nothing_but_source_is_in_the_archive() {
        for name in unpacked().keys() {
            let private = [".key", ".pem", ".state"].iter().any(|end| name.ends_with(end));
            let foreign = ["target/", ".git/", "docs/images/"].iter().any(|p| name.starts_with(p));
            assert!(!private && !foreign && !name.contains("node_modules"), "{name}");
        }
    }

    #[test]
    fn the_commit_is_exact_or_unknown() {
        let SourceOffer { commit, modified, licence, .. } = SourceOffer::new(None);
        let exact = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        assert!(exact || commit == "unknown", "{commit}");
        // What was built from an archive knows the commit, and not whether somebody changed files.
        assert!(commit != "unknown" || modified == "unknown");
        assert_eq!(licence, "AGPL-3.0-or-later");
    }

    #[test]
    fn the_operators_place_is_named() {
        let offer = SourceOffer::new(Some("https://example.org/mine".to_owned()));
        assert!(offer.offer.contains("https://example.org/mine"), "{}", offer.offer);
        assert!(offer.offer.contains(offer.commit), "{}", offer.offer);
    }
}
