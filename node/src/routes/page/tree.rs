//! The files that the page is made of, under one digest.
//!
//! The digest is the SHA-256 of a list that `sha256sum` could have written, with the SHA-256 and the
//! path of each file. So a browser can check all of the code by itself, and so can anybody at a
//! terminal.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::Write as _,
    sync::{Arc, LazyLock, OnceLock},
};

use brotli::{CompressorWriter, enc::BrotliEncoderParams};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use rust_embed::RustEmbed;

use super::{lean::lean, module, sha256::sha256};

/// The name of the WebAssembly module in the tree.
const MODULE_PATH: &str = "metatopia.wasm";

/// The page's HTML, with places for the prefix and for what the page is told: so it does not name
/// the digest of which it is a part.
const PAGE_PATH: &str = "index.html";

/// The list whose digest is the name of the tree. It does not list itself.
const LIST_PATH: &str = "files.txt";

#[derive(RustEmbed)]
#[folder = "../client/web"]
pub(super) struct Files;

/// Type by the end of the name, and whether packing is worth the time. Other files are not served.
const KINDS: [(&str, &str, bool); 10] = [
    ("js", "text/javascript; charset=utf-8", true),
    ("css", "text/css; charset=utf-8", true),
    ("html", "text/html; charset=utf-8", true),
    ("svg", "image/svg+xml", true),
    ("json", "application/json", true),
    ("txt", "text/plain; charset=utf-8", true),
    ("webmanifest", "application/manifest+json", true),
    ("wasm", "application/wasm", true),
    ("png", "image/png", false),
    ("ico", "image/x-icon", false),
];

/// A file as it is served.
#[derive(Debug)]
pub(super) struct Asset {
    kind: &'static str,
    bytes: Bytes,
    /// SHA-256 in hexadecimal digits.
    hash: String,
    /// The hash in quotes.
    etag: String,
    /// The file packed by brotli and by gzip, made when it is first wanted. `None` inside: not worth it.
    packed: [OnceLock<Option<Bytes>>; 2],
}

/// How a file is packed for who unpacks it, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentCoding {
    /// Browsers take it over TLS and on loopback.
    Brotli,
    /// Everybody takes it.
    Gzip,
}

impl ContentCoding {
    pub(super) const ALL: [Self; 2] = [Self::Brotli, Self::Gzip];

    /// Returns its name in HTTP.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    fn pack(self, bytes: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Brotli => {
                let parameters =
                    BrotliEncoderParams { quality: BROTLI_QUALITY, ..Default::default() };
                let mut packed = Vec::new();
                let mut encoder =
                    CompressorWriter::with_params(&mut packed, BROTLI_BUFFER_BYTES, &parameters);
                encoder.write_all(bytes).ok()?;
                drop(encoder);
                Some(packed)
            }
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(bytes).ok()?;
                encoder.finish().ok()
            }
        }
    }
}

/// The densest: a file is packed once, and 64 KiB are packed in a tenth of a second. A build for tests took as long
/// for each of a hundred small files, so it packs lightly.
const BROTLI_QUALITY: i32 = if cfg!(debug_assertions) { 4 } else { 11 };

/// What the encoder hands on at once.
const BROTLI_BUFFER_BYTES: usize = 4_096;

impl Asset {
    /// Returns a file, or none when files with such a name are not served.
    fn new(path: &str, content: Cow<'static, [u8]>) -> Option<Self> {
        let (_, end) = path.rsplit_once('.')?;
        let (_, kind, packs) = KINDS.iter().find(|(known, ..)| *known == end)?;
        let bytes = match content {
            Cow::Borrowed(built_in) => Bytes::from_static(built_in),
            Cow::Owned(read) => Bytes::from(read),
        };
        let hash = sha256(&bytes);
        let etag = format!("\"{hash}\"");
        let packed = [(); 2].map(|()| if *packs { OnceLock::new() } else { OnceLock::from(None) });
        Some(Self { kind, bytes, hash, etag, packed })
    }

    pub(super) fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the tag by which caches compare the file, in its quotes.
    pub(super) fn etag(&self) -> &str {
        &self.etag
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.bytes.clone()
    }

    /// Packs it, if that makes it smaller. Takes up to a second the first time.
    pub(super) fn packed(&self, coding: ContentCoding) -> Option<Bytes> {
        let packed = self.packed[coding as usize].get_or_init(|| {
            let packed = coding.pack(&self.bytes)?;
            (packed.len() < self.bytes.len()).then(|| Bytes::from(packed))
        });
        packed.clone()
    }

    /// Takes what was packed beforehand, or that it is not to be packed so.
    fn with_packed(mut self, coding: ContentCoding, packed: Option<Bytes>) -> Self {
        self.packed[coding as usize] = OnceLock::from(packed);
        self
    }
}

/// All files of the page.
#[derive(Debug)]
pub(super) struct PageFiles {
    digest: String,
    page: Option<String>,
    assets: BTreeMap<String, Arc<Asset>>,
}

impl PageFiles {
    /// Reads the files that are built in, or those on the disk in builds with debug assertions.
    pub(super) fn read() -> Self {
        let mut page = None;
        let mut assets = BTreeMap::new();
        for path in Files::iter() {
            let Some(file) = Files::get(&path) else { continue };
            if path == PAGE_PATH {
                page = String::from_utf8(file.data.to_vec()).ok();
            }
            if let Some(asset) = Asset::new(&path, lean(&path, file.data)) {
                assets.insert(path.into_owned(), Arc::new(asset));
            }
        }
        assets.extend(module_asset().map(|asset| (MODULE_PATH.to_owned(), asset)));
        // A hash has one length, and no path holds a line's end.
        let lines = assets.iter().map(|(path, asset)| format!("{}  {path}\n", asset.hash));
        let list = lines.collect::<String>().into_bytes();
        let digest = sha256(&list);
        let list = Asset::new(LIST_PATH, Cow::Owned(list)).expect("texts are served");
        assets.insert(LIST_PATH.to_owned(), Arc::new(list));
        Self { digest, page, assets }
    }

    /// Returns the name of this tree in addresses.
    pub(super) fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns what addresses of assets begin with.
    pub(super) fn prefix(&self) -> String {
        format!("/assets/{}", self.digest)
    }

    /// Returns the HTML, with places for the prefix and for what the page is told.
    pub(super) fn page(&self) -> Option<&str> {
        self.page.as_deref()
    }

    /// Returns a file, by its path without a slash in front.
    pub(super) fn asset(&self, path: &str) -> Option<Arc<Asset>> {
        self.assets.get(path).cloned()
    }

    /// Returns all files, by their paths.
    pub(super) fn assets(&self) -> impl Iterator<Item = (&str, &Asset)> {
        self.assets.iter().map(|(path, asset)| (path.as_str(), &**asset))
    }

    pub(super) fn module_address(&self) -> Option<String> {
        let path = self.module_path()?;
        Some(format!("{}/{path}", self.prefix()))
    }

    /// Returns the path of the WebAssembly module, if there is one.
    pub(super) fn module_path(&self) -> Option<&'static str> {
        self.assets.contains_key(MODULE_PATH).then_some(MODULE_PATH)
    }
}

/// Returns the module. It is hashed and packed only once, also where all else is read from the disk.
/// To pack it by brotli takes a quarter of a minute, so that was done when it was made.
fn module_asset() -> Option<Arc<Asset>> {
    static ASSET: LazyLock<Option<Arc<Asset>>> = LazyLock::new(|| {
        let asset = Asset::new(MODULE_PATH, Cow::Borrowed(module::bytes()?))?;
        let packed = module::packed().map(Bytes::from_static);
        Some(Arc::new(asset.with_packed(ContentCoding::Brotli, packed)))
    });
    ASSET.clone()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use brotli::Decompressor;
    use flate2::read::GzDecoder;

    use super::*;

    fn unpacked(coding: ContentCoding, packed: &[u8]) -> Vec<u8> {
        let mut unpacked = Vec::new();
        match coding {
            ContentCoding::Brotli => Decompressor::new(packed, 4_096).read_to_end(&mut unpacked),
            ContentCoding::Gzip => GzDecoder::new(packed).read_to_end(&mut unpacked),
        }
        .unwrap();
        unpacked
    }

    #[test]
    fn packed_files_unpack_to_themselves() {
        let text = "plaza ".repeat(1_000).into_bytes();
        let asset = Asset::new("a/words.txt", Cow::Owned(text.clone())).unwrap();
        for coding in ContentCoding::ALL {
            let packed = asset.packed(coding).unwrap();
            assert_eq!(unpacked(coding, &packed), text, "{coding:?}");
            assert!(packed.len() < text.len() / 10);
        }
    }

    #[test]
    fn the_module_that_was_packed_beforehand_is_the_module() {
        // A program that made its module itself, or has none, packs by gzip alone.
        let Some(packed) = module::packed() else { return };
        let unpacked = unpacked(ContentCoding::Brotli, packed);
        assert_eq!(Some(&unpacked[..]), module::bytes());
        assert!(
            packed.len() < 1_500_000,
            "{} bytes to fetch before anything is seen",
            packed.len()
        );
    }

    #[test]
    fn what_does_not_shrink_is_sent_as_it_is() {
        for path in ["dot.png", "short.js"] {
            let asset = Asset::new(path, Cow::Borrowed(b"x")).unwrap();
            for coding in ContentCoding::ALL {
                assert_eq!(asset.packed(coding), None, "{path}");
            }
        }
    }

    #[test]
    fn only_files_of_known_kinds_are_served() {
        for path in ["notes.md", "Makefile", "key.pem", ".git", "js"] {
            assert!(Asset::new(path, Cow::Borrowed(b"x")).is_none(), "{path}");
        }
    }

    #[test]
    fn a_tree_holds_the_page_and_what_it_links_to() {
        let tree = PageFiles::read();
        let page = tree.page().unwrap();
        let links: Vec<&str> =
            page.split("{{assets}}/").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(links.contains(&"main.js"), "{links:?}");
        for link in links {
            assert!(tree.asset(link).is_some(), "the page links to {link}, which is not there");
        }
        assert_eq!(tree.digest(), PageFiles::read().digest());
    }

    #[test]
    fn the_digest_is_that_of_a_list_of_all_files_and_their_hashes() {
        let tree = PageFiles::read();
        let list = tree.asset(LIST_PATH).unwrap().bytes();
        assert_eq!(tree.digest(), sha256(&list));
        let list = std::str::from_utf8(&list).unwrap();
        let mut listed = 0;
        for line in list.lines() {
            let (hash, path) = line.split_once("  ").unwrap();
            let asset = tree.asset(path).unwrap_or_else(|| panic!("{path} is listed only"));
            assert_eq!(hash, sha256(&asset.bytes()), "{path}");
            listed += 1;
        }
        assert_eq!(listed + 1, tree.assets().count());
        for path in [PAGE_PATH, "sw.js", "manifest.webmanifest", "icon.svg"] {
            assert!(list.lines().any(|line| line.ends_with(path)), "{path} is not listed");
        }
    }
}
