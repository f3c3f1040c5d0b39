//! What clients may be shown: plain facts about the state, without its machinery.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{Body, Motion, Shape};
use metatopia_scripting::{ErrorKind, Package};
use metatopia_types::{
    ActId, AssetLicence, Emote, Height, LeafKey, Look, ObjectId, Outcome, PackageId, PublicKey,
    ScriptId, Tick,
};

use crate::{
    chat::ChatIndex, governance::Governance, history::History, land::Land, leaves::outcomes_key,
    parameters::Parameters, players::Player, state::Charter, world::World,
};

/// Ticks for which a gesture is shown: two seconds.
pub const GESTURE_TICKS: u64 = 120;

/// An object with its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Which.
    pub id: ObjectId,
    /// What it is: [`AVATAR`](crate::AVATAR), or what the world's maker said.
    pub kind: String,
    /// What it is called.
    pub name: String,
    /// Whose it is; nobody's means the sim's own.
    pub owner: Option<PublicKey>,
    /// How it is drawn.
    pub look: Look,
    /// The text it shows.
    pub text: String,
    /// Its centre, in metres.
    pub position: Vec2,
    /// Which way it faces.
    pub angle: Angle,
    /// Metres a second.
    pub velocity: Vec2,
    /// Its outline, in metres.
    pub shape: Shape,
    /// Can it be pushed?
    pub movable: bool,
    /// Whose avatar it is, and its gesture of this moment.
    pub player: Option<(PublicKey, Option<Emote>)>,
    /// Its scripts, with their source.
    pub scripts: Vec<(ScriptId, PackageId)>,
    /// What everybody may do with it.
    pub licence: AssetLicence,
    /// Who made it, or made what it is a copy of.
    pub author: Option<PublicKey>,
    /// What it is a copy of.
    pub parent: Option<ObjectId>,
}

/// A script on an object, for lists of what runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// Which script.
    pub script: ScriptId,
    /// On this object.
    pub object: ObjectId,
    /// The object's name.
    pub name: String,
    /// Its source.
    pub package: PackageId,
    /// Whose the object is, who pays for the script; nobody's means the sim's own.
    pub owner: Option<PublicKey>,
    /// Calls that failed so far.
    pub failures: u64,
    /// The last failure.
    pub last_failure: Option<(Tick, ErrorKind)>,
    /// Events, timers and lines that were dropped because a limit was reached.
    pub dropped: u64,
    /// All gas that it has used.
    pub gas_used: u64,
}

impl World {
    /// At most `max` objects whose centre is within `radius` metres of `center`, nearest first,
    /// objects at the same distance by id.
    #[must_use]
    pub fn scene(&self, center: Vec2, radius: Fx, max: usize) -> Vec<Seen> {
        let near = self.state.region.nearby(center, radius, max);
        near.into_iter().filter_map(|near| self.object(near.id)).collect()
    }

    /// One object.
    #[must_use]
    pub fn object(&self, id: ObjectId) -> Option<Seen> {
        self.state.region.body(id).and_then(|body| self.seen(body))
    }

    /// All objects, by id.
    pub fn objects(&self) -> impl Iterator<Item = Seen> {
        self.state.region.bodies().iter().filter_map(|body| self.seen(body))
    }

    fn seen(&self, body: &Body) -> Option<Seen> {
        let object = self.state.objects.get(&body.id())?;
        let package = |id: &ScriptId| Some((*id, self.state.scripts.get(id)?.package));
        Some(Seen {
            id: body.id(),
            kind: object.kind.clone(),
            name: object.name.clone(),
            owner: object.owner,
            look: object.look,
            text: object.text.clone(),
            position: body.position(),
            angle: body.angle(),
            velocity: body.velocity(),
            shape: body.shape(),
            movable: body.motion() == Motion::Dynamic && object.player.is_none(),
            player: object.player.map(|player| (player, self.gesture(&player))),
            scripts: object.scripts.iter().filter_map(package).collect(),
            licence: object.licence,
            author: object.author,
            parent: object.parent,
        })
    }

    pub(crate) fn gesture(&self, player: &PublicKey) -> Option<Emote> {
        let session = self.state.players.get(player)?.session.as_ref()?;
        let (emote, at) = session.gesture?;
        (at.plus(GESTURE_TICKS) > self.tick()).then_some(emote)
    }

    /// The avatar of a player who has one.
    #[must_use]
    pub fn avatar(&self, player: &PublicKey) -> Option<ObjectId> {
        self.state.present.get(player).copied()
    }

    /// Somebody who has logged in at least once.
    #[must_use]
    pub fn player(&self, key: &PublicKey) -> Option<&Player> {
        self.state.players.get(key)
    }

    /// Everybody who has logged in at least once, by key.
    pub fn players(&self) -> impl Iterator<Item = (&PublicKey, &Player)> {
        self.state.players.iter()
    }

    /// Who has an avatar, by key.
    pub fn present(&self) -> impl Iterator<Item = (PublicKey, ObjectId)> {
        self.state.present.iter().map(|(key, avatar)| (*key, *avatar))
    }

    /// How many have ever logged in.
    #[must_use]
    pub fn player_count(&self) -> usize {
        self.state.players.len()
    }

    /// What runs, by id.
    pub fn scripts(&self) -> impl Iterator<Item = Running> {
        self.scripts_after(ScriptId(0))
    }

    /// What runs, by id, of higher ids than this one.
    pub fn scripts_after(&self, after: ScriptId) -> impl Iterator<Item = Running> {
        self.state.scripts.after(after).map(|(id, script)| Running {
            script: *id,
            object: script.object,
            name: self
                .state
                .objects
                .get(&script.object)
                .map_or_else(String::new, |object| object.name.clone()),
            package: script.package,
            owner: self.state.payer(script.object),
            failures: script.failures,
            last_failure: script.last_failure,
            dropped: script.dropped,
            gas_used: script.gas_used,
        })
    }

    /// The source of a package that runs here.
    #[must_use]
    pub fn package(&self, id: &PackageId) -> Option<&Package> {
        self.state.packages.get(id)
    }

    /// What somebody owns, by id; avatars are not owned.
    pub fn things(&self, owner: &PublicKey) -> impl Iterator<Item = Seen> {
        self.state.things(owner).filter_map(|(id, _)| self.object(id))
    }

    /// What a builder who is logged in did of late, and can take back.
    #[must_use]
    pub fn history(&self, builder: &PublicKey) -> Option<&History> {
        self.state.histories.get(builder)
    }

    /// Named lands, each on top of those before it.
    #[must_use]
    pub fn lands(&self) -> &[Land] {
        &self.state.charter.lands
    }

    /// The agreed numbers.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.state.charter.parameters
    }

    /// Its rules, lands and licences.
    #[must_use]
    pub fn charter(&self) -> &Charter {
        &self.state.charter
    }

    /// What the sim is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.state.charter.name
    }

    /// Admins, the temp admin, the countdown, and liars that were removed.
    #[must_use]
    pub fn governance(&self) -> &Governance {
        &self.state.governance
    }

    /// The first `max` of the players who could be temp admin, in the order in which the rule takes
    /// them.
    #[must_use]
    pub fn candidates(&self, max: usize) -> Vec<(PublicKey, &Player)> {
        let first = self.state.census.line().take(max);
        first.filter_map(|key| Some((*key, self.state.players.get(key)?))).collect()
    }

    /// Hashes of the last lines of chat, oldest first.
    #[must_use]
    pub fn chat(&self) -> &ChatIndex {
        &self.state.chat
    }

    /// The outcomes of a turn, in the order of its acts, for
    /// [`OUTCOME_TURNS`](metatopia_types::limits::OUTCOME_TURNS) turns.
    #[must_use]
    pub fn outcomes(&self, height: Height) -> Option<&[(ActId, Outcome)]> {
        self.state.outcomes.get(&height).map(|outcomes| outcomes.as_slice())
    }

    /// The leaf with the outcomes of a turn.
    #[must_use]
    pub fn outcomes_key(height: Height) -> LeafKey {
        outcomes_key(height)
    }

    /// Steps of physics that failed inside the engine; anything but 0 is a bug of it.
    #[must_use]
    pub fn failed_steps(&self) -> u64 {
        self.state.clock.failed_steps
    }
}
