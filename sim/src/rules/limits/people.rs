//! Limits of what people say of themselves, of clubs, and of what is forgotten.

/// Profiles of one sim: of at most 390 B each, they are 6.1 MiB.
pub const PROFILES_MAX: usize = 16_384;

/// Profiles of newcomers: keys that cost nothing fill no more than half of the room.
pub const PROFILES_OF_NEWCOMERS_MAX: usize = 8_192;

/// Pictures of all profiles, in KiB, where one that is begun counts: 4 MiB.
pub const PICTURES_KIB_MAX: usize = 4_096;

/// Pictures of newcomers, in KiB.
pub const PICTURES_OF_NEWCOMERS_KIB_MAX: usize = 2_048;

/// How long a profile stays before its owner changes it, in milliseconds of governance time: a minute.
pub const PROFILE_MS: u64 = 60_000;

/// Clubs of one sim: of at most 4.1 kB each, they are 4 MiB.
pub const CLUBS_MAX: usize = 1_024;

/// Clubs of one sim that newcomers founded: keys that cost nothing fill no more than half of the register.
pub const CLUBS_OF_NEWCOMERS_MAX: usize = 512;

/// Members of one club.
pub const CLUB_MEMBERS_MAX: usize = 64;

/// Clubs in which one person is.
pub const CLUBS_PER_PERSON_MAX: usize = 8;

/// Invites of one club that are open.
pub const CLUB_INVITES_MAX: usize = 16;

/// Invites to one person that are open.
pub const INVITES_TO_PERSON_MAX: usize = 16;

/// Invites to one person that are open and by newcomers: keys that cost nothing take no more than half of the
/// places.
pub const INVITES_TO_PERSON_BY_NEWCOMERS_MAX: usize = 8;

/// How long an invite to a club is open, in milliseconds of governance time: a week.
pub const CLUB_INVITE_MS: u64 = 7 * 86_400_000;

/// Words to be forgotten that the state remembers, for servers that were not there: of at most 90 B, 90 KiB.
pub const FORGOTTEN_KEPT: usize = 1_024;

/// Words among these that authors forgot of their own, if more are forgotten than the state remembers: the
/// newest of moderators always have the other half.
pub const FORGOTTEN_OWN_KEPT: usize = 512;

/// Words of one's own, or that one was told, that one author may have forgotten in a day.
pub const FORGOTTEN_OWN_PER_DAY: usize = 16;

/// The length of that day, in milliseconds of governance time.
pub const FORGOTTEN_DAY_MS: u64 = 86_400 * 1_000;

/// Days after which words go by themselves, at most: a leap year.
pub const HISTORY_DAYS_MAX: u32 = 366;
