//! A server whose disk is full: a file system of a few megabytes, in a mount namespace of its own.

use std::{
    fs,
    io::{ErrorKind, Write as _},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::plaza::{Folder, PATIENCE, PROGRAM, Plaza};

/// Mounts a small file system over the data directory `$1`, with what is in it, and becomes the
/// server.
const SCRIPT: &str = r#"
    set -e
    mount -t tmpfs -o size=6m,mode=700 none "$2"
    cp -a "$1/." "$2"
    mount --bind "$2" "$1"
    exec "$3" node run --config "$1/metatopia.toml" --until-stdin-ends
"#;

/// Returns whether this test may mount anything. In some places even own namespaces are forbidden.
fn may_mount(folder: &Folder) -> bool {
    let place = folder.join("probe");
    fs::create_dir_all(&place).expect("our own folder");
    let script = r#"mount -t tmpfs -o size=64k none "$1""#;
    let mut command = Command::new("unshare");
    command.args(["-Urm", "sh", "-c", script, "sh"]).arg(&place);
    matches!(command.stderr(Stdio::null()).status(), Ok(status) if status.success())
}

/// A server on a small disk.
struct Small {
    process: Child,
    url: String,
    /// Its data directory, as it sees it.
    data: PathBuf,
}

impl Small {
    fn start(folder: &Folder, plaza: &Plaza, index: usize) -> Self {
        let data = plaza.dir.join(format!("server-{index}"));
        let place = folder.join("small");
        fs::create_dir_all(&place).expect("our own folder");
        let process = Command::new("unshare")
            .args(["-Urm", "sh", "-c", SCRIPT, "sh"])
            .args([&data, &place])
            .arg(PROGRAM)
            .stdin(Stdio::piped())
            .spawn()
            .expect("unshare starts");
        let inside = PathBuf::from(format!("/proc/{}/root", process.id()));
        let data = inside.join(data.strip_prefix("/").expect("an absolute path"));
        Self { process, url: plaza.servers[index].url.clone(), data }
    }

    fn get(&self, path: &str) -> Option<Value> {
        let config = ureq::Agent::config_builder().http_status_as_error(false).build();
        let mut answer = config
            .new_agent()
            .get(format!("{}{path}", self.url.trim_end_matches('/')))
            .call()
            .ok()?;
        answer.body_mut().read_json().ok()
    }

    /// Waits until what is said at `path` is so, and gives it.
    fn wait(&self, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + 2 * PATIENCE;
        loop {
            match self.get(path) {
                Some(told) if is_so(&told) => return told,
                told => assert!(Instant::now() < end, "{path} says {told:?}"),
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Writes until nothing more fits.
    fn fill(&self) {
        let mut file = fs::File::create(self.data.join("filler")).expect("a new file");
        for length in [1 << 16, 1 << 12, 1] {
            let piece = vec![0; length];
            loop {
                match file.write(&piece) {
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::StorageFull => break,
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }

    fn make_room(&self) {
        fs::remove_file(self.data.join("filler")).expect("our own file");
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        drop(self.process.wait());
    }
}

fn height(told: &Value) -> u64 {
    told["root_height"].as_u64().unwrap_or_default()
}

#[test]
fn a_server_whose_disk_is_full_follows_says_so_and_votes_again_once_there_is_room() {
    let folder = Folder::new("full-disk");
    if !may_mount(&folder) {
        eprintln!("SKIPPED: no file system can be mounted here, so no disk was filled");
        return;
    }
    let plaza = Plaza::start(&folder.join("world"), 4);
    plaza.reach(3, 10);
    plaza.kill(3);
    let small = Small::start(&folder, &plaza, 3);
    small.wait("/health/ready", |told| told["ready"] == true);

    small.fill();

    let told = small.wait("/api/status", |told| !told["disk"].is_null());
    assert!(told["disk"].as_str().is_some_and(|disk| disk.contains("full")), "{told}");
    let told = small.wait("/health/ready", |told| told["ready"] == false);
    let reason = told["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("does not vote") && reason.contains("full"), "{told}");
    // The world goes on, and this server tells of it.
    let now = height(&plaza.status(0));
    let told = small.wait("/api/status", |told| height(told) >= now + 40);
    assert!(told["disk"].is_string(), "it is still full: {told}");
    let root = |url: &str| {
        let at = (now + 20).to_string();
        crate::plaza::json(&["status", "--json", "--node", url, "--at", &at])["root"].clone()
    };
    assert_eq!(root(&small.url), root(&plaza.servers[0].url));

    small.make_room();

    small.wait("/health/ready", |told| told["ready"] == true);
    let told = small.wait("/api/status", |told| told["disk"].is_null());
    small.wait("/api/status", |now| height(now) >= height(&told) + 20);
    let genesis = plaza.dir.join("server-0/genesis").display().to_string();
    let data = small.data.display().to_string();
    let verify = ["log", "verify", "--json", "--allow-gaps", "--genesis", &genesis, &data];
    let verified = crate::plaza::json(&verify);
    assert_eq!(verified["ok"], true, "{verified}");
    assert!(verified["height"].as_u64().unwrap_or_default() > now + 40, "{verified}");
    drop(small);
    plaza.stop();
}
