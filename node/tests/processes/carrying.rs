//! A border between sims whose servers do not reach each other: somebody carries what they say.

use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use metatopia::{
    config::{self, Settings},
    courier::address_book::NeighbourNodes,
    host, server,
};
use tokio::{runtime::Runtime, sync::watch, task::JoinHandle};

use crate::{
    crossing::{border_until, borders, is_open, is_wall},
    plaza::{Folder, PROGRAM, run},
    worlds::{Grid, ended, words},
};

/// Servers of sims that take no part in their world's overlay, and know no nodes of neighbours.
struct Apart {
    runtime: Runtime,
    stop: watch::Sender<bool>,
    servers: JoinHandle<Result<(), server::ServerError>>,
}

impl Apart {
    fn start(dirs: &[PathBuf]) -> Self {
        let alone = |dir: &PathBuf| {
            let own = dir.join("server-0");
            // Neither what the operator said of neighbours nor what their servers announced.
            for file in ["neighbours", "neighbours.announced"] {
                drop(fs::remove_file(own.join(file)));
            }
            let layer = config::read(&own.join("metatopia.toml")).expect("its settings");
            let settings = config::settle([layer]).expect("its settings");
            let neighbours = NeighbourNodes::default();
            Settings { overlay_listen: None, overlay_lan: false, neighbours, ..settings }
        };
        let settings = dirs.iter().map(alone).collect();
        let (runtime, (stop, stopped)) = (Runtime::new().expect("threads"), watch::channel(false));
        let servers = runtime.spawn(host::run(settings, stopped));
        Self { runtime, stop, servers }
    }

    fn stop(self) {
        self.stop.send(true).expect("they run");
        self.runtime.block_on(self.servers).expect("no panic").expect("they stop");
    }
}

/// A `border carry --follow` that ends with this.
struct Carrier(Child);

impl Carrier {
    fn start(one: &str, other: &str) -> Self {
        let child = Command::new(PROGRAM)
            .args(["border", "carry", one, other, "--follow", "--json"])
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn();
        Self(child.expect("the program starts"))
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn a_border_between_servers_that_do_not_reach_each_other_is_open_while_somebody_carries() {
    let folder = Folder::new("carried");
    let dir = folder.join("grid");
    let grid = Grid::start(&dir, "2x1");
    let sims = grid.ready["sims"].as_array().expect("a list").clone();
    let nodes = [0, 1].map(|n| words(&sims[n]["http"]).to_owned());
    nodes.iter().for_each(|node| drop(border_until(node, is_open)));
    // Their own couriers hear all, so nothing is carried.
    let needless = run(&["border", "carry", &nodes[0], &nodes[1]]);
    let told = String::from_utf8_lossy(&needless.stdout).into_owned();
    assert_eq!((needless.status.code(), told.matches("itself").count()), (Some(0), 2), "{told}");
    grid.stop();

    let apart = Apart::start(&["sim-0-0", "sim-1-0"].map(|sim| dir.join(sim)));
    let [west, east] = nodes.each_ref().map(String::as_str);
    // What a server says right after its start may be no later than what was heard before.
    for node in [west, east] {
        border_until(node, |border| border["silent_ms"].as_u64() > Some(2_000));
    }
    let carried = run(&["border", "carry", west, east]);
    let told = String::from_utf8_lossy(&carried.stdout).into_owned();
    assert!(carried.status.success(), "{carried:?}");
    for n in [0, 1] {
        let (from, to) = (words(&sims[n]["sim"]), words(&sims[1 - n]["sim"]));
        assert!(told.contains(&format!(" bytes from sim {from} to sim {to}: its state")), "{told}");
    }
    let same = run(&["border", "carry", west, west]);
    ended(&same, 2, "nodes of one sim");

    let carrier = Carrier::start(west, east);
    for node in [west, east] {
        let before = border_until(node, is_open)["heard"].as_u64();
        border_until(node, |border| is_open(border) && border["heard"].as_u64() > before);
    }
    drop(carrier);
    for node in [west, east] {
        border_until(node, |border| is_wall(border, "heard"));
    }
    assert!(borders(west)[0]["nodes"].as_array().is_some_and(Vec::is_empty));
    apart.stop();
}
