//! What follows from the leaves of a state: a state that is read back must have the same of it, or its server
//! goes on in another way than the others.

use super::{sim_state::State, world::World};

impl World {
    /// Returns every index of the state by its name, written out, so that a test can compare them with those of
    /// a state that was read back from a snapshot.
    #[doc(hidden)]
    #[must_use]
    pub fn indexes(&self) -> Vec<(&'static str, String)> {
        // Each field is named, so that nobody forgets a new index here.
        let State {
            engine: _,
            charter: _,
            clock: _,
            governance: _,
            people,
            lots,
            roster: _,
            first_logins: _,
            readiness: _,
            players: _,
            histories: _,
            windows: _,
            windows_touched: _,
            objects: _,
            bodies: _,
            scripts: _,
            owners: _,
            outcomes: _,
            chat: _,
            land: _,
            borders,
            luggage,
            packages: _,
            publications,
            pieces,
            package_changes: _,
            present,
            census,
            names,
            owned,
            spawned,
            orphans,
            hands,
            movable,
            alarms,
            zones,
            seats,
            waiting,
            script_changes: _,
            forgotten: _,
            arrived: _,
            byte_budget: _,
        } = &*self.state;
        vec![
            ("people", format!("{people:?}")),
            ("lots", format!("{lots:?}")),
            ("borders", format!("{borders:?}")),
            ("luggage", format!("{luggage:?}")),
            ("publications", format!("{publications:?}")),
            ("pieces", format!("{pieces:?}")),
            ("present", format!("{present:?}")),
            ("census", format!("{census:?}")),
            ("names", format!("{names:?}")),
            ("owned", format!("{owned:?}")),
            ("spawned", format!("{spawned:?}")),
            ("orphans", format!("{orphans:?}")),
            ("hands", format!("{hands:?}")),
            ("movable", format!("{movable:?}")),
            ("alarms", format!("{alarms:?}")),
            ("zones", format!("{zones:?}")),
            ("seats", format!("{seats:?}")),
            ("waiting", format!("{waiting:?}")),
        ]
    }
}
