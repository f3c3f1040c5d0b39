//! The facts that clients may be shown: plain facts about the state, without its machinery.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{Body, Joint, JointSpec, Motion, Shape};
use metatopia_scripting::{ErrorKind, Package};
use metatopia_types::{
    ActId, AssetLicence, Blob, BlobId, Emote, Height, LeafKey, Look, ObjectId, Origin, Outcome,
    PackageId, PublicKey, ScriptId, SimId, Tick,
};

use super::land::Land;
use crate::{
    acts::{BuildHistory, ChatIndex},
    limits::PIECES_PER_AUTHOR_MAX,
    rules::Governance,
    state::{Charter, Parameters, Player, Publication, ThingChange, World},
    tree::outcomes_key,
};

/// Ticks for which a gesture is shown: two seconds.
pub const GESTURE_TICKS: u64 = 120;

/// An object with its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorldObject {
    /// The object's id.
    pub id: ObjectId,
    /// Its kind: [`AVATAR`](crate::AVATAR), or what the world's maker said.
    pub kind: String,
    /// The name that people see.
    pub name: String,
    /// Its owner; nobody means that it is the sim's own.
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
    /// Whether it can be pushed.
    pub movable: bool,
    /// The player whose avatar it is, and its gesture of this moment.
    pub player: Option<(PublicKey, Option<Emote>)>,
    /// Its scripts, with their source.
    pub scripts: Vec<(ScriptId, PackageId)>,
    /// The licence: what everybody may do with it.
    pub licence: AssetLicence,
    /// Its maker, or the maker of what it is a copy of.
    pub author: Option<PublicKey>,
    /// Where it was born, and as what.
    pub origin: Origin,
    /// The origin of the object that it is a copy of.
    pub parent: Option<Origin>,
    /// Whether it may leave for another sim.
    pub travels: bool,
    /// The neighbour against whose border's share it counts, if it came over one.
    pub guest: Option<SimId>,
    /// The object whose script spawned it.
    pub spawner: Option<ObjectId>,
    /// The avatar that has it in hand.
    pub held: Option<ObjectId>,
    /// Who changed it last.
    pub changed: Option<ThingChange>,
}

/// A script on an object, for lists of what runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningScript {
    /// The script's id.
    pub script: ScriptId,
    /// The object that it is on.
    pub object: ObjectId,
    /// The object's name.
    pub name: String,
    /// The package that it runs.
    pub package: PackageId,
    /// The owner of the object, who pays for the script; nobody means the sim itself.
    pub owner: Option<PublicKey>,
    /// Calls that failed so far.
    pub failures: u64,
    /// The last failure.
    pub last_failure: Option<(Tick, ErrorKind)>,
    /// The tick since which the script is suspended, because it failed too often.
    pub suspended: Option<Tick>,
    /// Events, timers and lines that were dropped because a limit was reached.
    pub dropped: u64,
    /// All gas that it has used.
    pub gas_used: u64,
    /// The package that it falls back to if its upgrade fails; none if that has ended well.
    pub fallback: Option<PackageId>,
}

impl World {
    /// Returns at most `max` objects whose centre is within `radius` metres of `center`, nearest first,
    /// objects at the same distance by id.
    #[must_use]
    pub fn scene(&self, center: Vec2, radius: Fx, max: usize) -> Vec<WorldObject> {
        let near = self.state.bodies.nearby(center, radius, max);
        near.into_iter().filter_map(|near| self.object(near.id)).collect()
    }

    /// Returns an object with its body.
    #[must_use]
    pub fn object(&self, id: ObjectId) -> Option<WorldObject> {
        self.state.bodies.body(id).and_then(|body| self.seen(body))
    }

    /// Returns the definitions of the joints that hold something whose centre is within `radius` metres of
    /// `center`, in the order of their ids.
    pub fn joints_near(&self, center: Vec2, radius: Fx) -> impl Iterator<Item = &JointSpec> {
        let bodies = &self.state.bodies;
        let near = move |id: ObjectId| {
            bodies.body(id).is_some_and(|body| body.position().distance(center) <= radius)
        };
        let joints = bodies.joints().iter().filter(|joint| !joint.is_lost()).map(Joint::spec);
        joints
            .filter(|spec| !self.state.is_avatar(spec.b))
            .filter(move |spec| near(spec.b) || spec.a.is_some_and(near))
    }

    /// Returns all objects, by id.
    pub fn objects(&self) -> impl Iterator<Item = WorldObject> {
        self.state.bodies.own().iter().filter_map(|body| self.seen(body))
    }

    /// Returns the object of a body.
    fn seen(&self, body: &Body) -> Option<WorldObject> {
        let object = self.state.objects.get(&body.id())?;
        let package = |id: &ScriptId| Some((*id, self.state.scripts.get(id)?.package));
        Some(WorldObject {
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
            movable: object.held.is_some()
                || (body.motion() == Motion::Dynamic && object.player.is_none()),
            player: object.player.map(|player| (player, self.gesture(&player))),
            scripts: object.scripts.iter().filter_map(package).collect(),
            licence: object.licence,
            author: object.author,
            origin: object.origin(self.sim(), body.id()),
            parent: object.parent,
            travels: object.travels,
            spawner: object.spawner,
            guest: object.guest.map(|guest| guest.from),
            held: object.held.map(|held| held.by),
            changed: object.changed.clone(),
        })
    }

    /// Returns the gesture of this moment of a player.
    pub(super) fn gesture(&self, player: &PublicKey) -> Option<Emote> {
        let session = self.state.players.get(player)?.session.as_ref()?;
        let (emote, at) = session.gesture?;
        (at.plus(GESTURE_TICKS) > self.tick()).then_some(emote)
    }

    /// Returns the avatar of a player who has one.
    #[must_use]
    pub fn avatar(&self, player: &PublicKey) -> Option<ObjectId> {
        self.state.present.get(player).copied()
    }

    /// Returns a player, who has logged in at least once.
    #[must_use]
    pub fn player(&self, key: &PublicKey) -> Option<&Player> {
        self.state.players.get(key)
    }

    /// Returns all players, by key.
    pub fn players(&self) -> impl Iterator<Item = (&PublicKey, &Player)> {
        self.state.players.iter()
    }

    /// Returns the players who have an avatar, by key.
    pub fn present(&self) -> impl Iterator<Item = (PublicKey, ObjectId)> {
        self.state.present.iter().map(|(key, avatar)| (*key, *avatar))
    }

    /// Returns how many players are known.
    #[must_use]
    pub fn player_count(&self) -> usize {
        self.state.players.len()
    }

    /// Returns all scripts, by id.
    pub fn scripts(&self) -> impl Iterator<Item = RunningScript> {
        self.scripts_after(ScriptId(0))
    }

    /// Returns the scripts of higher ids than this one, by id.
    pub fn scripts_after(&self, after: ScriptId) -> impl Iterator<Item = RunningScript> {
        self.state.scripts.after(after).map(|(id, script)| RunningScript {
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
            suspended: script.suspended,
            dropped: script.dropped,
            gas_used: script.gas_used,
            fallback: script.fallback.as_ref().map(|fallback| fallback.package),
        })
    }

    /// Returns the source of a package of this sim.
    #[must_use]
    pub fn package(&self, id: &PackageId) -> Option<&Package> {
        self.state.packages.get(id)
    }

    /// Returns what an author's pieces of a package are together, or `None` if one of them is not there.
    #[must_use]
    pub fn assembled(&self, author: PublicKey, pieces: &[BlobId]) -> Option<Blob> {
        let few = pieces.len() <= PIECES_PER_AUTHOR_MAX;
        few.then(|| self.state.pieces.joined(author, pieces).ok()).flatten().map(Blob)
    }

    /// Returns all packages of this sim, by id.
    pub fn packages(&self) -> impl Iterator<Item = &Package> {
        self.state.packages.iter().map(|(_, package)| package)
    }

    /// Returns what this sim keeps of the packages of higher ids than this one, by id, each with the number
    /// of scripts that run it or fall back to it.
    pub fn publications_after(
        &self,
        after: PackageId,
    ) -> impl Iterator<Item = (&PackageId, &Publication, usize)> {
        let all = &self.state.publications;
        all.records.after(after).map(|(id, record)| (id, record, all.uses(id)))
    }

    /// Returns what this sim keeps of a package besides its source, also if the source has left.
    #[must_use]
    pub fn publication(&self, id: &PackageId) -> Option<&Publication> {
        self.state.publications.records.get(id)
    }

    /// Returns the objects that a player owns, by id; avatars are not owned.
    pub fn things(&self, owner: &PublicKey) -> impl Iterator<Item = WorldObject> {
        self.state.things(owner).filter_map(|(id, _)| self.object(id))
    }

    /// Returns the last steps of a builder who is logged in, which can be undone.
    #[must_use]
    pub fn history(&self, builder: &PublicKey) -> Option<&BuildHistory> {
        self.state.histories.get(builder)
    }

    /// Returns the named lands, each on top of those before it.
    #[must_use]
    pub fn lands(&self) -> &[Land] {
        &self.state.charter.lands
    }

    /// Returns the agreed numbers.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.state.charter.parameters
    }

    /// Returns the rules, lands and licences of the sim.
    #[must_use]
    pub fn charter(&self) -> &Charter {
        &self.state.charter
    }

    /// Returns the name of the sim.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.state.charter.name
    }

    /// Returns the admins, the temp admin, the countdown, and the servers that were removed for signing two
    /// things at once.
    #[must_use]
    pub fn governance(&self) -> &Governance {
        &self.state.governance
    }

    /// Returns the first `max` of the players who could be temp admin, in the order in which the rule takes
    /// them.
    #[must_use]
    pub fn candidates(&self, max: usize) -> Vec<(PublicKey, &Player)> {
        let first = self.state.census.line().take(max);
        first.filter_map(|key| Some((*key, self.state.players.get(key)?))).collect()
    }

    /// Returns the hashes of the last lines of chat, oldest first.
    #[must_use]
    pub fn chat(&self) -> &ChatIndex {
        &self.state.chat
    }

    /// Returns the outcomes of a turn, in the order of its acts, for
    /// [`OUTCOME_TURNS`](metatopia_types::limits::OUTCOME_TURNS) turns.
    #[must_use]
    pub fn outcomes(&self, height: Height) -> Option<&[(ActId, Outcome)]> {
        self.state.outcomes.get(&height).map(|outcomes| outcomes.as_slice())
    }

    /// Returns the key of the leaf with the outcomes of a turn.
    #[must_use]
    pub fn outcomes_key(height: Height) -> LeafKey {
        outcomes_key(height)
    }

    /// Returns how many steps of physics failed inside the engine; anything but 0 is a bug of it.
    #[must_use]
    pub fn failed_steps(&self) -> u64 {
        self.state.clock.failed_steps
    }
}
