//! The page as a folder, for those who want to choose by themselves who serves them its code.

use bytes::Bytes;
use metatopia_transport::http::WebOrigin;

use super::{FolderConfig, PageFacts, module, tree};

/// What stands beside the page, for whoever finds the folder.
const README: &str = "\
This folder is the page of Metatopia: a client for worlds that no single server can lie about. Any
web server can serve it, at any address. Opened as a file it does not work, because browsers load no
modules from files.

index.html names, in `servers`, where the page finds its world. You may change these addresses.

The code is in assets/CODE, and CODE is its digest. `files.txt` lists the SHA-256 of every file:

    cd assets/CODE && sha256sum --check files.txt && sha256sum files.txt

The last line of the output shows CODE again.

Free software under the GNU Affero General Public License, version 3 or later. The source is where
the servers offer it, at /source.
";

/// The files of a folder that holds the page.
#[derive(Debug)]
pub(crate) struct PageFolder {
    /// The digest of the code.
    pub(crate) code: String,
    /// Paths and contents. The page itself is the last one, so that a folder that is not whole
    /// shows nothing.
    pub(crate) files: Vec<(String, Bytes)>,
}

/// Returns the page as a folder. It goes to these servers; the first one comes first. Returns none
/// when this program has no page.
pub(crate) fn page_folder(servers: &[WebOrigin]) -> Option<PageFolder> {
    let tree = tree();
    let code = tree.digest().to_owned();
    let assets = format!("assets/{code}");
    let origin = servers.first()?.to_string();
    let config = FolderConfig {
        assets: &assets,
        wasm: tree.module_path().map(|path| format!("{assets}/{path}")),
        folder: true,
        origin: &origin,
        facts: PageFacts {
            code: code.clone(),
            version: env!("CARGO_PKG_VERSION"),
            stale: module::is_stale(),
            sim: None,
            servers: servers.iter().map(ToString::to_string).collect(),
        },
    };
    // As in the page: none of its texts can hold a `<`.
    let config = serde_json::to_string(&config).expect("texts always become JSON");
    let html = tree
        .page()?
        .replace("{{assets}}", &assets)
        .replace("{{config}}", &config)
        .replace("href=\"/source\"", &format!("href=\"{origin}/source\""));
    let assets = tree.assets().map(|(path, asset)| (format!("{assets}/{path}"), asset.bytes()));
    let mut files: Vec<(String, Bytes)> = assets.collect();
    files.push(("README.txt".to_owned(), Bytes::from_static(README.as_bytes())));
    files.push(("index.html".to_owned(), Bytes::from(html)));
    Some(PageFolder { code, files })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_names_its_servers_and_nothing_at_the_root_of_its_own() {
        let servers = ["http://192.0.2.1:8080", "https://plaza.example"];
        let servers: Vec<WebOrigin> = servers.iter().map(|at| at.parse().unwrap()).collect();
        let folder = page_folder(&servers).unwrap();
        let (path, html) = folder.files.last().unwrap();
        assert_eq!(path, "index.html");
        let html = std::str::from_utf8(html).unwrap();
        assert!(!html.contains("{{") && !html.contains("\"/"), "{html}");
        assert!(html.contains(&format!("src=\"assets/{}/main.js\"", folder.code)));
        assert!(html.contains("href=\"http://192.0.2.1:8080/source\""));
        let (_, rest) = html.split_once("id=\"config\">").unwrap();
        let config: serde_json::Value =
            serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
        assert_eq!(config["origin"], "http://192.0.2.1:8080");
        assert_eq!(
            config["servers"],
            serde_json::json!(["http://192.0.2.1:8080", "https://plaza.example"])
        );
        assert_eq!(config["code"], folder.code);
        assert_eq!(config["folder"], true);
        assert!(config["sim"].is_null());
    }

    #[test]
    fn a_folder_holds_the_whole_code_under_its_digest() {
        let folder = page_folder(&["http://192.0.2.1:8080".parse().unwrap()]).unwrap();
        let at = format!("assets/{}/", folder.code);
        for path in ["files.txt", "main.js", "page.css", "icon.svg", "index.html"] {
            let path = format!("{at}{path}");
            assert!(folder.files.iter().any(|(known, _)| *known == path), "{path} lacks");
        }
    }
}
