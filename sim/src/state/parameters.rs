//! The agreed numbers of a sim. They are part of its genesis, and so of its id.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{
    Bounds, BoundsError,
    limits::{BODIES_MAX, COORDINATE_MAX, GRAVITY_MAX},
};
use metatopia_types::limits::{GRANTS_MAX, TICKS_PER_SECOND};
use serde::{Deserialize, Serialize};

use super::{
    agreed_ports::{AgreedPorts, AgreedPortsError},
    chat_parameters::ChatParameters,
    feature_flags::{FeatureFlags, FeatureFlagsError},
};
use crate::{
    limits::{
        ADVANCED_BODIES_MAX, BORDER_BYTES, BORDER_THINGS, LAND_PER_WEEK_MAX, LOTS_MAX,
        THINGS_FROM_SERVERS,
    },
    space::Area,
};

/// Tries that a first login takes by default: a try is one compression of blake3, some 90 ns in a
/// program and twice that in a browser's module.
const FIRST_LOGIN_TRIES: u64 = 6_000_000;

/// The longest life that a sim can be given: a hundred years.
const TTL_SECONDS_MAX: u64 = 100 * 365 * 86_400;

/// Numbers that every server of a sim must use alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameters {
    /// Fixed steps of 1/60 s in one turn, 1 to 60.
    pub ticks_per_turn: u32,
    /// The ground: bodies keep to it.
    pub ground: Area,
    /// What pulls on bodies that move, in metres a second squared; zero where the ground is seen from above.
    pub gravity: Vec2,
    /// What moves the bodies.
    pub tier: TierName,
    /// How avatars move and reach.
    pub avatar: AvatarParameters,
    /// How far nearby words are heard, in metres.
    pub hearing: Fx,
    /// Ticks that a sign of life keeps an avatar walking.
    pub lease_ticks: u64,
    /// Ticks that an avatar then stands still before it leaves.
    pub grace_ticks: u64,
    /// Most objects, avatars included.
    pub objects_max: u32,
    /// Most avatars at one time.
    pub avatars_max: u32,
    /// The rules of building.
    pub building: BuildingParameters,
    /// How much ground one player may take.
    pub lots: LotParameters,
    /// When people are heard.
    pub chat: ChatParameters,
    /// The gas of scripts.
    pub gas: GasParameters,
    /// Days without a permanent admin's login after which there is a temp admin.
    pub admin_days: u32,
    /// Days in which a player must have logged in to become temp admin.
    pub player_days: u32,
    /// Seconds of governance time after which the sim ends; 0 if it never ends.
    pub ttl_seconds: u64,
    /// Whom a first login lets in.
    pub first_login: FirstLogin,
    /// Tries that the work of a first login takes on average, in quiet hours.
    pub first_login_tries: u64,
    /// Days of governance time on which a player must have been seen to be a regular.
    pub seen_days: u32,
    /// Who may publish source.
    pub publishers: Publishers,
    /// Who may claim land, if the sim is a land office.
    pub land_claims: LandClaims,
    /// Squares that one key may hold.
    pub land_per_key: u32,
    /// Squares that are granted in a week of governance time.
    pub land_per_week: u32,
    /// Days of governance time for which a square is granted, and for which a header of its sim is new.
    pub land_days: u32,
    /// Fewest servers of a neighbour from which things come.
    pub things_from_servers: u32,
    /// Most things of one neighbour that count against nobody's quotas.
    pub border_things: u32,
    /// Most bytes of the parcels in which they came.
    pub border_bytes: u32,
    /// Gas that all their scripts have together, in percent of what an owner's scripts have.
    pub border_gas: u32,
    /// Packages that run as ports to Rust.
    pub ports: AgreedPorts,
    /// Names that scripts ask for, each on from a height.
    pub flags: FeatureFlags,
}

/// What moves the bodies of a sim. It is chosen by the genesis, and never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TierName {
    /// The solver of whole numbers, which every program has.
    Basic,
    /// Rapier, which the tools of a program bring.
    Advanced,
}

impl TierName {
    /// Every value with its name.
    pub const ALL: [(Self, &str); 2] = [(Self::Basic, "basic"), (Self::Advanced, "advanced")];

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(value, _)| *value == self).map_or("", |(_, name)| name)
    }

    /// Returns the most bodies that it moves.
    #[must_use]
    pub const fn bodies_max(self) -> usize {
        match self {
            Self::Basic => BODIES_MAX,
            Self::Advanced => ADVANCED_BODIES_MAX,
        }
    }
}

/// Who may claim land of a land office, besides its admins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LandClaims {
    /// Nobody but admins.
    Nobody,
    /// Who has a sponsor, for a square that touches granted land.
    Beside,
    /// Every player, anywhere.
    Anybody,
}

impl LandClaims {
    /// Every value with its name.
    pub const ALL: [(Self, &str); 3] =
        [(Self::Nobody, "nobody"), (Self::Beside, "beside"), (Self::Anybody, "anybody")];

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(value, _)| *value == self).map_or("", |(_, name)| name)
    }
}

/// Who may publish source, besides admins. Keys cost nothing, so a sim that lets anybody is one for people
/// who are invited, or for one machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Publishers {
    /// Every player may.
    Anybody,
    /// Players who were seen on enough days.
    Seen,
    /// Players who have title to a land.
    Builders,
    /// Nobody but admins.
    Admins,
}

impl Publishers {
    /// Every value with its name.
    pub const ALL: [(Self, &str); 4] = [
        (Self::Anybody, "anybody"),
        (Self::Seen, "seen"),
        (Self::Builders, "builders"),
        (Self::Admins, "admins"),
    ];

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(value, _)| *value == self).map_or("", |(_, name)| name)
    }
}

/// Whom a first login lets in. Keys cost nothing, so an open sim is one for people who are invited,
/// or for one machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FirstLogin {
    /// Every key is let in.
    Open,
    /// Every key that shows work, or a ticket of an admin.
    Work,
    /// Every key that shows a ticket of an admin.
    Invite,
    /// No key but those of admins and servers.
    Closed,
}

impl FirstLogin {
    /// Every value with its name.
    pub const ALL: [(Self, &str); 4] = [
        (Self::Open, "open"),
        (Self::Work, "work"),
        (Self::Invite, "invite"),
        (Self::Closed, "closed"),
    ];

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(value, _)| *value == self).map_or("", |(_, name)| name)
    }
}

/// How avatars move and reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AvatarParameters {
    /// Radius of the disc that it is, in metres.
    pub radius: Fx,
    /// Mass in kilograms.
    pub mass: Fx,
    /// Metres a second at full heading.
    pub speed: Fx,
    /// Metres a second squared, with which it reaches its speed and stops.
    pub acceleration: Fx,
    /// Metres from its rim to the nearest point of what it touches or pushes.
    pub reach: Fx,
    /// Kilogram metres a second of one push.
    pub push: Fx,
    /// The point around which avatars appear.
    pub spawn: Vec2,
    /// They appear at most so far from it, in metres.
    pub spawn_radius: Fx,
}

impl AvatarParameters {
    /// Returns the area in which avatars appear. What does not move may not be built there, so that nobody
    /// is kept out.
    pub(crate) fn arrivals(&self) -> Area {
        let side = self.spawn_radius.saturating_add(self.radius);
        let half = Vec2::new(side, side);
        Area { low: self.spawn.saturating_sub(half), high: self.spawn.saturating_add(half) }
    }

    /// Returns the velocity that an avatar with this `velocity` has one tick later, if it is another one.
    /// `heading` is the direction in which it wants to walk; its length, at most 1, is the share of its
    /// speed. Under gravity it falls as all else does, unless it wants to rise.
    #[must_use]
    pub fn steered(&self, velocity: Vec2, heading: Vec2, gravity: Vec2) -> Option<Vec2> {
        let step = Fx::checked_from_int(TICKS_PER_SECOND as i64).expect("60 is a number");
        let change_max = self.acceleration.saturating_div(step);
        let wanted = heading.scale(self.speed);
        let mut change = wanted.saturating_sub(velocity);
        if heading.dot(gravity) >= Fx::ZERO
            && let Some(down) = gravity.normalize()
        {
            change = change.saturating_sub(down.scale(change.dot(down)));
        }
        let wanted = velocity.saturating_add(change);
        if change == Vec2::ZERO {
            return None;
        }
        let steered = if change.length() <= change_max {
            wanted
        } else {
            let direction = change.normalize().unwrap_or(Vec2::ZERO);
            velocity.saturating_add(direction.scale(change_max))
        };
        (steered != velocity).then_some(steered)
    }
}

/// Returns the heading that counts when a player asks for this one: its length is at most 1.
#[must_use]
pub fn heading_of(asked: Vec2) -> Vec2 {
    match asked.normalize() {
        Some(direction) if asked.length_squared() > Fx::ONE => direction,
        _ => asked,
    }
}

/// The rules of building.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildingParameters {
    /// Most things that one player may own; at most half of them may be gifts.
    pub objects_per_player: u32,
    /// Most of them that can be pushed.
    pub movable_per_player: u32,
    /// Most things that can be pushed of all players and of the sim itself: builders add none beyond.
    pub movable_max: u32,
    /// Most scripts on the things of one player.
    pub scripts_per_player: u32,
    /// Most bytes of text on the things of one player.
    pub text_bytes_per_player: u32,
    /// Metres from a builder to the nearest point of what is built or changed.
    pub reach: Fx,
    /// Longest side, or width of a disc, in metres.
    pub size_max: Fx,
    /// Whether everybody may build on ground that is no named land.
    pub open_ground: bool,
}

/// How much ground one player may take, and for how long it lasts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LotParameters {
    /// Most lots that one player may hold; with 0 there are none.
    pub per_player: u32,
    /// Most square metres of them together.
    pub square_metres_per_player: u32,
    /// Days of governance time without a login of its holder after which a lot falls back; 0 for never.
    pub days: u32,
    /// Days of governance time without a login of their owner after which things that stay in their place
    /// fall away on open ground; 0 for never.
    pub wall_days: u32,
}

impl LotParameters {
    /// Checks that all of them are in their ranges.
    fn check(&self) -> Result<(), ParametersError> {
        let metres = self.square_metres_per_player;
        for (name, value, low, high) in [
            ("lots.per_player", u64::from(self.per_player), 0, LOTS_MAX as u64),
            ("lots.square_metres_per_player", u64::from(metres), 0, 1 << 20),
            ("lots.days", u64::from(self.days), 0, 36_500),
            ("lots.wall_days", u64::from(self.wall_days), 0, 36_500),
        ] {
            if value < low || value > high {
                return Err(ParametersError::Count { name, value, low, high });
            }
        }
        Ok(())
    }
}

/// The gas of scripts. One unit stands for 0.1 microseconds of the reference machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GasParameters {
    /// All scripts in one tick, and what earlier ticks of the same turn have left: no further call
    /// begins once less than a script's worst case is left.
    pub tick: u64,
    /// The gas that a script earns in a tick.
    pub script_refill: u64,
    /// The gas that a script may save.
    pub script_capacity: u64,
    /// The gas that an owner of scripts earns in a tick.
    pub owner_refill: u64,
    /// The gas that an owner may save.
    pub owner_capacity: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            ticks_per_turn: 3,
            ground: Area {
                low: Vec2::new(COORDINATE_MAX.saturating_neg(), COORDINATE_MAX.saturating_neg()),
                high: Vec2::new(COORDINATE_MAX, COORDINATE_MAX),
            },
            gravity: Vec2::ZERO,
            tier: TierName::Basic,
            avatar: AvatarParameters {
                radius: Fx::from_ratio(35, 100),
                mass: Fx::from_int(70),
                speed: Fx::from_int(4),
                acceleration: Fx::from_int(24),
                reach: Fx::from_ratio(3, 2),
                push: Fx::from_int(90),
                spawn: Vec2::ZERO,
                spawn_radius: Fx::from_int(3),
            },
            hearing: Fx::from_int(20),
            lease_ticks: 600,
            grace_ticks: 1_800,
            objects_max: 4_096,
            avatars_max: 1_024,
            building: BuildingParameters {
                objects_per_player: 50,
                movable_per_player: 16,
                // A heap of so many that never rests takes a turn up to 3 ms of one core, a heap of
                // 3,000 takes it 28 (`metatopia-abuse scripts`).
                movable_max: 128,
                // Each earns 300 gas a tick: together less than the 5,000 that their owner does.
                scripts_per_player: 16,
                text_bytes_per_player: 4_096,
                reach: Fx::from_int(20),
                size_max: Fx::from_int(10),
                open_ground: true,
            },
            lots: LotParameters {
                per_player: 2,
                square_metres_per_player: 256,
                days: 90,
                wall_days: 60,
            },
            chat: ChatParameters::default(),
            gas: GasParameters {
                // Three ticks are a turn: 45,000 units of 0.1 us are 4.5 ms of one core. The dearest ones take
                // up to 0.3 us in a dev build: 13.5 ms. With all else that 64 keys put up, a turn of a dev
                // build took 15 of its 50 ms, and 17 beside a heap that never rests (docs/abuse.md).
                tick: 15_000,
                // A call of each tick: it costs 200 before its first step.
                script_refill: 300,
                script_capacity: 20_000,
                owner_refill: 5_000,
                owner_capacity: 500_000,
            },
            admin_days: 30,
            player_days: 7,
            ttl_seconds: 0,
            first_login: FirstLogin::Open,
            first_login_tries: FIRST_LOGIN_TRIES,
            seen_days: 3,
            publishers: Publishers::Anybody,
            land_claims: LandClaims::Beside,
            land_per_key: 2,
            land_per_week: 64,
            land_days: 30,
            things_from_servers: THINGS_FROM_SERVERS,
            border_things: BORDER_THINGS,
            border_bytes: BORDER_BYTES,
            border_gas: 100,
            ports: AgreedPorts::default(),
            flags: FeatureFlags::default(),
        }
    }
}

/// A parameter that is outside of its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParametersError {
    /// A turn has 1 to 60 ticks.
    #[error("{0} ticks per turn where 1 to 60 are allowed")]
    TicksPerTurn(u32),
    /// The ground is none, or reaches further than positions can.
    #[error("ground: {0}")]
    Ground(#[from] BoundsError),
    /// Avatars would appear outside of the ground.
    #[error("avatar.spawn is {0}, outside of the ground")]
    SpawnOutside(Vec2),
    /// Gravity is stronger than physics allows.
    #[error("gravity is {0}, stronger than {GRAVITY_MAX} m/s^2")]
    Gravity(Vec2),
    /// A length, mass, speed or time that must be above zero and is not, or is too large.
    #[error(
        "{name} is {}, outside of {} to {}",
        value.shortest(), low.shortest(), high.shortest()
    )]
    Range {
        /// The name of the parameter.
        name: &'static str,
        /// The value that it has.
        value: Fx,
        /// The least that is allowed.
        low: Fx,
        /// The most that is allowed.
        high: Fx,
    },
    /// The list of ports breaks a rule.
    #[error("ports: {0}")]
    Ports(#[from] AgreedPortsError),
    /// The list of flags breaks a rule.
    #[error("flags: {0}")]
    Flags(#[from] FeatureFlagsError),
    /// A count or gas amount that is outside of its range.
    #[error("{name} is {value}, outside of {low} to {high}")]
    Count {
        /// The name of the parameter.
        name: &'static str,
        /// The value that it has.
        value: u64,
        /// The least that is allowed.
        low: u64,
        /// The most that is allowed.
        high: u64,
    },
}

impl Parameters {
    /// Returns the most objects: no more than the tier moves.
    #[must_use]
    pub fn objects_held(&self) -> usize {
        (self.objects_max as usize).min(self.tier.bodies_max())
    }

    /// Returns the bounds of the ground.
    ///
    /// # Errors
    /// When there is no ground, or it reaches further than positions can.
    pub(crate) fn bounds(&self) -> Result<Bounds, BoundsError> {
        Bounds::new(self.ground.low, self.ground.high)
    }

    /// Checks that all of them are in their ranges.
    ///
    /// # Errors
    /// The first one that is not.
    pub fn check(&self) -> Result<(), ParametersError> {
        if !(1..=60).contains(&self.ticks_per_turn) {
            return Err(ParametersError::TicksPerTurn(self.ticks_per_turn));
        }
        let (avatar, bounds) = (&self.avatar, self.bounds()?);
        if !bounds.contains(avatar.spawn) {
            return Err(ParametersError::SpawnOutside(avatar.spawn));
        }
        let Vec2 { x, y } = self.gravity;
        let pull = x.saturating_abs().max(y.saturating_abs()).max(self.gravity.length());
        if pull > GRAVITY_MAX {
            return Err(ParametersError::Gravity(self.gravity));
        }
        let spawn = avatar.spawn.x.saturating_abs().max(avatar.spawn.y.saturating_abs());
        for (name, value, low, high) in [
            ("avatar.radius", avatar.radius, (1, 10), 2),
            ("avatar.mass", avatar.mass, (1, 1), 1_000),
            ("avatar.speed", avatar.speed, (1, 10), 20),
            ("avatar.acceleration", avatar.acceleration, (1, 10), 1_000),
            ("avatar.reach", avatar.reach, (0, 1), 10),
            ("avatar.push", avatar.push, (0, 1), 1_000),
            ("avatar.spawn", spawn, (0, 1), 10_000),
            ("avatar.spawn_radius", avatar.spawn_radius, (0, 1), 100),
            ("hearing", self.hearing, (0, 1), 1_000),
            ("building.reach", self.building.reach, (1, 1), 100),
            ("building.size_max", self.building.size_max, (1, 8), 32),
        ] {
            let (low, high) = (Fx::from_ratio(low.0, low.1), Fx::from_int(high));
            if value < low || value > high {
                return Err(ParametersError::Range { name, value, low, high });
            }
        }
        let (gas, building, day_ticks) = (&self.gas, &self.building, 86_400 * TICKS_PER_SECOND);
        let text_bytes = u64::from(building.text_bytes_per_player);
        for (name, value, low, high) in [
            ("lease_ticks", self.lease_ticks, 1, day_ticks),
            ("grace_ticks", self.grace_ticks, 0, day_ticks),
            ("objects_max", u64::from(self.objects_max), 1, BODIES_MAX as u64),
            ("avatars_max", u64::from(self.avatars_max), 1, 4_096),
            ("building.objects_per_player", u64::from(building.objects_per_player), 0, 1_024),
            ("building.movable_per_player", u64::from(building.movable_per_player), 0, 1_024),
            ("building.movable_max", u64::from(building.movable_max), 0, BODIES_MAX as u64),
            ("building.scripts_per_player", u64::from(building.scripts_per_player), 0, 1_024),
            ("building.text_bytes_per_player", text_bytes, 0, 1 << 18),
            ("gas.tick", gas.tick, crate::gas::SCRIPT_TICK_MAX, 1 << 30),
            ("gas.script_refill", gas.script_refill, 1, 1 << 30),
            ("gas.script_capacity", gas.script_capacity, 1, 1 << 40),
            ("gas.owner_refill", gas.owner_refill, 1, 1 << 30),
            ("gas.owner_capacity", gas.owner_capacity, 1, 1 << 40),
            ("admin_days", u64::from(self.admin_days), 1, 36_500),
            ("player_days", u64::from(self.player_days), 1, 36_500),
            ("ttl_seconds", self.ttl_seconds, 0, TTL_SECONDS_MAX),
            ("first_login_tries", self.first_login_tries, 1, 1 << 40),
            ("seen_days", u64::from(self.seen_days), 1, 365),
            ("land_per_key", u64::from(self.land_per_key), 0, GRANTS_MAX as u64),
            ("land_per_week", u64::from(self.land_per_week), 0, LAND_PER_WEEK_MAX),
            ("land_days", u64::from(self.land_days), 1, 36_500),
            ("things_from_servers", u64::from(self.things_from_servers), 1, 31),
            ("border_things", u64::from(self.border_things), 0, 1_024),
            ("border_bytes", u64::from(self.border_bytes), 0, 1 << 24),
            ("border_gas", u64::from(self.border_gas), 1, 1_000),
        ] {
            if value < low || value > high {
                return Err(ParametersError::Count { name, value, low, high });
            }
        }
        self.ports.check()?;
        self.flags.check()?;
        self.chat.check().and_then(|()| self.lots.check())
    }
}
