//! Two sims side by side, each of four servers, with an open border.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    Lab, LabServers, SERVERS, Template,
    servers::{LabResult, let_make, told},
};

/// A place without anything, whose people come in some metres before the eastern line: in the middle of a
/// square they would walk for half a minute first.
const PLACE: &str = "name = \"yard\"\nlicence = \"AGPL-3.0-or-later\"\n\
    asset_licence = \"CC-BY-SA-4.0\"\nspawn = [112, 0]\nspawn_radius = 12\n";

/// The folders of the two sims of a grid, the western one first.
const SIMS: [&str; 2] = ["sim-0-0", "sim-1-0"];

/// In the folder of a server: where the neighbour's nodes are.
const NEIGHBOURS: &str = "neighbours";

/// Two sims that nobody has been in, with an open border, as files.
#[derive(Debug)]
pub struct BorderTemplate {
    sims: [Template; 2],
    dir: PathBuf,
}

impl BorderTemplate {
    /// Lets the program make both sims below `dir`, and stops them again.
    ///
    /// # Errors
    /// What went wrong, for a reader.
    pub fn make(program: &Path, dir: &Path) -> Result<Self, String> {
        let (place, dir) = (dir.join("yard"), dir.join("border-template"));
        fs::create_dir_all(&place).map_err(told("make a folder"))?;
        fs::write(place.join("place.toml"), PLACE).map_err(told("write a place"))?;
        let_make(program, &dir, &["--grid", "2x1", "--place", &place.display().to_string()])?;
        Ok(Self { sims: SIMS.map(|sim| Template::at(program, dir.join(sim))), dir })
    }

    /// The id of the sim that is a neighbour of this one, as its servers have it noted.
    fn neighbour_of(&self, sim: usize) -> LabResult<String> {
        let file = self.dir.join(SIMS[sim]).join("server-0").join(NEIGHBOURS);
        let text = fs::read_to_string(&file).map_err(told("read who is a neighbour"))?;
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let id = lines.filter_map(|line| line.split_whitespace().next()).next_back();
        id.map(str::to_owned).ok_or_else(|| format!("{} names nobody", file.display()))
    }
}

/// Two sims in a lab. Dropped, their servers are killed.
#[derive(Debug)]
pub struct LabBorder<'a> {
    pub(crate) lab: &'a Lab,
    /// The western one, and the eastern one.
    pub(crate) sims: [LabServers<'a>; 2],
}

impl<'a> LabBorder<'a> {
    /// Puts a copy of both sims into `dir`, starts all servers, and waits until they vote.
    ///
    /// # Errors
    /// What went wrong, for a reader.
    pub fn start(lab: &'a Lab, template: &BorderTemplate, dir: &Path) -> Result<Self, String> {
        lab.calm();
        let prepare = |sim: usize| {
            let at = dir.join(SIMS[sim]);
            LabServers::prepare(lab, &template.sims[sim], (&at, sim * SERVERS))
        };
        let mut border = Self { lab, sims: [prepare(0)?, prepare(1)?] };
        for sim in [0, 1] {
            border.note_neighbour(sim, &template.neighbour_of(sim)?)?;
        }
        border.sims.iter_mut().try_for_each(LabServers::run_all)?;
        border.sims.iter().try_for_each(LabServers::until_all_vote)?;
        Ok(border)
    }

    /// Tells the servers of a sim where those of the other one are.
    fn note_neighbour(&self, sim: usize, neighbour: &str) -> LabResult<()> {
        let nodes = self.urls(1 - sim);
        let lines: Vec<String> = nodes.iter().map(|url| format!("{neighbour} {url}\n")).collect();
        for number in 0..SERVERS {
            let file = self.sims[sim].folder(number).join(NEIGHBOURS);
            fs::write(file, lines.concat()).map_err(told("note a neighbour"))?;
        }
        Ok(())
    }

    fn urls(&self, sim: usize) -> Vec<String> {
        (0..SERVERS).map(|number| self.sims[sim].url(number)).collect()
    }

    /// `metatopia bench crossing` between the two sims, in the onlooker's seat.
    pub(crate) fn bench(&self) -> Command {
        let mut command = self.sims[0].command();
        command.args(["bench", "crossing", "--json"]);
        for (flag, sim) in [("--west", 0), ("--east", 1)] {
            command.args([flag, &self.urls(sim).join(",")]);
        }
        command
    }
    /// Stops a server of each sim, and verifies their logs together. Returns what they say of the border, as JSON: for
    /// both directions (`there`, `back`) what departed, was taken, and came home.
    pub(crate) fn verify(&mut self) -> LabResult<Value> {
        self.sims.iter_mut().try_for_each(|sim| sim.stop(0))?;
        let folders = [0, 1].map(|sim| self.sims[sim].folder(0));
        let mut command = self.sims[0].command();
        let output = command.args(["log", "verify", "--json"]).args(folders).output();
        let output = output.map_err(told("run log verify"))?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(format!("log verify ended with {}: {errors}", output.status));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let mut lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let border = lines.find(|line| !line["border"].is_null());
        border.ok_or_else(|| format!("log verify says nothing of the border: {text}"))
    }
}
