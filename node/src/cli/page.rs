//! `page` writes the page's code, apart from any server.

use std::{
    fmt,
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use metatopia_client_driver::NodeUrl;
use metatopia_transport::http::{ParseWebOriginError, WebOrigin};
use serde::Serialize;

use super::{console::Console, failure::Failure, numbers::number_of};
use crate::routes::{PageFolder, page_folder};

/// Commands that write the page.
#[derive(Debug, Subcommand)]
pub(super) enum PageFolderCommand {
    /// Write the page as a folder that any web server can serve.
    #[command(after_help = "\
Whoever serves a page chooses its code. A folder lets you choose: serve it yourself, or hand it on.
The name of the directory below `assets` is the digest of the code; `files.txt` in it lists the
SHA-256 of every file. The page shows the same digest in About.

A server answers pages of its own sim's servers. It answers a page of another address only if
`http_origins` in its metatopia.toml names that address.

Examples:
  metatopia page export page --node https://s0.plaza.example --node https://s1.plaza.example
  python3 -m http.server --directory page 8000")]
    Export(ExportArgs),
}

/// The folder to write, and the servers that the page goes to.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The folder to write, which must be new or empty.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// A server that the page goes to. Give several; the page tries the first one first.
    #[arg(long, value_name = "URL", required = true)]
    node: Vec<NodeUrl>,
}

/// Says why the folder was not written.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error("{folder} is not empty", folder = .0.display())]
    NotEmpty(PathBuf),
    #[error("{folder} is a file", folder = .0.display())]
    NoFolder(PathBuf),
    #[error("{path}: {error}", path = .path.display())]
    Disk { path: PathBuf, error: io::Error },
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        match &error {
            ExportError::NotEmpty(_) => {
                Self::refused(error.to_string()).hint("name another folder, or empty this one")
            }
            ExportError::NoFolder(_) => Self::refused(error.to_string()),
            ExportError::Disk { .. } => Self::failed(error.to_string()),
        }
    }
}

/// The line that tells of the written folder.
#[derive(Debug, Serialize)]
struct Exported {
    folder: String,
    code: String,
    files: usize,
    bytes: usize,
    servers: Vec<String>,
}

impl fmt::Display for Exported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { folder, code, files, bytes, servers } = self;
        let files = number_of(*files, "file", "files");
        writeln!(f, "{folder}  {files}, {bytes} bytes")?;
        writeln!(f, "code  {code}")?;
        writeln!(f, "goes to  {}", servers.join(" "))?;
        write!(
            f,
            "Serve it by any web server, and name that server's address in `http_origins` of these servers."
        )
    }
}

/// Runs a command of `page`.
pub(super) fn run(command: PageFolderCommand, console: Console) -> Result<(), Failure> {
    let PageFolderCommand::Export(args) = command;
    let servers = args.node.iter().map(|node| node.join("").parse());
    let servers = servers
        .collect::<Result<Vec<WebOrigin>, ParseWebOriginError>>()
        .map_err(|error| Failure::usage(error.to_string()))?;
    let folder =
        page_folder(&servers).ok_or_else(|| Failure::failed("this program has no page"))?;
    write(&args.folder, &folder)?;
    console.show(&Exported {
        folder: args.folder.display().to_string(),
        code: folder.code,
        files: folder.files.len(),
        bytes: folder.files.iter().map(|(_, content)| content.len()).sum(),
        servers: servers.iter().map(ToString::to_string).collect(),
    })
}

/// Writes the files into a folder that is new or empty. Overwrites nothing.
fn write(at: &Path, folder: &PageFolder) -> Result<(), ExportError> {
    match fs::read_dir(at) {
        Ok(mut entries) => match entries.next() {
            None => {}
            Some(Ok(_)) => return Err(ExportError::NotEmpty(at.to_owned())),
            Some(Err(error)) => return Err(ExportError::Disk { path: at.to_owned(), error }),
        },
        Err(error) => match error.kind() {
            ErrorKind::NotFound => {}
            ErrorKind::NotADirectory => return Err(ExportError::NoFolder(at.to_owned())),
            _ => return Err(ExportError::Disk { path: at.to_owned(), error }),
        },
    }
    for (path, content) in &folder.files {
        let path = at.join(path);
        write_file(&path, content).map_err(|error| ExportError::Disk { path, error })?;
    }
    Ok(())
}

fn write_file(path: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cli::exit::Exit, scratch::Scratch};

    fn export(folder: PathBuf, node: &str) -> Result<(), Failure> {
        let args = ExportArgs { folder, node: vec![node.parse().unwrap()] };
        run(PageFolderCommand::Export(args), Console::quiet())
    }

    #[test]
    fn a_folder_that_is_not_empty_is_left_as_it_is() {
        let scratch = Scratch::made("page-full");
        fs::write(scratch.0.join("mine"), "1").unwrap();
        for path in [scratch.0.clone(), scratch.0.join("mine")] {
            let failure = export(path, "http://127.0.0.1:8080").unwrap_err();
            assert_eq!(failure.exit, Exit::Refused);
        }
        assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1);
    }

    #[test]
    fn the_page_is_written_into_a_new_folder() {
        let scratch = Scratch::made("page-new");
        let folder = scratch.0.join("a/page");
        export(folder.clone(), "http://127.0.0.1:8080/").unwrap();
        let html = fs::read_to_string(folder.join("index.html")).unwrap();
        assert!(html.contains("\"origin\":\"http://127.0.0.1:8080\""), "{html}");
        assert!(folder.join("README.txt").is_file());
    }

    #[test]
    fn a_server_is_named_as_browsers_write_it() {
        let scratch = Scratch::made("page-names");
        let failure = export(scratch.0.join("page"), "https://plaza.example:443").unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
    }
}
