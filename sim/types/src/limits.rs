//! Every bound that more than one crate must agree on, with its arithmetic. `docs/limits.md` lists
//! them with the tests that hit them.

/// Header h states the root of the state after turn h - `ROOT_LAG`.
///
/// Two lets a server check, and even propose, height h + 1 while h is still undecided.
pub const ROOT_LAG: u64 = 2;

/// The state after turn h fixes the validators of height h + `SET_LAG`, so that header h + 2 can
/// name the set of the height after its own.
pub const SET_LAG: u64 = ROOT_LAG + 1;

/// An act may name a last valid height at most this far ahead: one minute at 20 turns a second.
/// It also bounds how long a lane's window must be remembered.
pub const EXPIRY_HEIGHTS_MAX: u64 = 1_200;

/// Largest encoded signed envelope. An act that makes a thing of one part with the longest words there may be
/// takes about 500 B. Each corner of a polygon takes 10 to 14 B, so that not all eight parts of a thing can
/// have eight.
pub const ENVELOPE_BYTES_MAX: usize = 1_024;

/// Corners of the outline of a thing, as many as a body of the physics has.
pub const OUTLINE_CORNERS_MAX: usize = 8;

/// Parts of a thing besides the first: with it there are as many as a body of the physics has.
pub const MORE_PARTS_MAX: usize = 7;

/// Acts in one turn: 200 clients at 10 acts a second fill 100 of a 20th of a second; ten times that.
///
/// What became of the acts of a turn is one leaf. The largest outcome, a refusal that names a key or a sim, has
/// 67 bytes with the id of its act: 960 of them have 64,322 bytes, and 979 would be more than a leaf may have.
pub const ACTS_PER_TURN_MAX: usize = 960;

/// All envelopes of one turn together.
pub const ACTS_BYTES_MAX: usize = 192 * 1_024;

/// Largest blob: a file of script source. Chat has its own, smaller, limit.
pub const BLOB_BYTES_MAX: usize = 64 * 1_024;

/// Bytes of a piece of a package that is published in several, and of one in the state.
pub const PACKAGE_PIECE_BYTES_MAX: usize = 32 * 1_024;

/// All blobs of one turn together.
pub const BLOBS_BYTES_MAX: usize = 256 * 1_024;

/// Blobs in one turn: no more than acts that could name them.
pub const BLOBS_PER_TURN_MAX: usize = ACTS_PER_TURN_MAX;

/// Largest encoded turn: its acts, its blobs, and a header with lengths (under 4 KiB).
pub const TURN_BYTES_MAX: usize = ACTS_BYTES_MAX + BLOBS_BYTES_MAX + 4_096;

/// Bytes of what people agree to before they enter.
pub const HOUSE_RULES_BYTES_MAX: usize = 4 * 1_024;

/// Largest chat text, in bytes of UTF-8.
pub const CHAT_BYTES_MAX: usize = 512;

/// Private words are padded to the least of these lengths that holds them, in bytes, so that servers learn a
/// class and no length.
pub const SEALED_CLASSES: [usize; 4] = [64, 128, 256, CHAT_BYTES_MAX];

/// Bytes of sealed words before what is encrypted: a key of 32, a nonce of 24, a commitment of 32.
pub const SEALED_HEAD_BYTES: usize = 32 + 24 + 32;

/// Bytes of the tag behind what is encrypted.
pub const SEALED_TAG_BYTES: usize = 16;

/// Largest sealed words.
pub const SEALED_BYTES_MAX: usize = SEALED_HEAD_BYTES + CHAT_BYTES_MAX + SEALED_TAG_BYTES;

/// Largest encoded proof of what private words say: the act of telling of at most 300 B, the sealed words of
/// at most 616, and the words themselves.
pub const OPENED_BYTES_MAX: usize = 1_536;

/// Largest line of a profile, in bytes of UTF-8.
pub const PROFILE_LINE_BYTES_MAX: usize = 160;

/// Longest pronouns of a profile, in bytes of UTF-8.
pub const PRONOUNS_BYTES_MAX: usize = 32;

/// Largest picture of a profile: a face of 96 by 96 points has some 3 KiB as a JPEG.
pub const PROFILE_PICTURE_BYTES_MAX: usize = 8 * 1_024;

/// Largest profile that a client sends to a sim: the picture, and a document of at most 340 B.
pub const SENT_PROFILE_BYTES_MAX: usize = PROFILE_PICTURE_BYTES_MAX + 512;

/// Largest leaf with profiles: some ten of them, so that the proof of one fits a small answer.
pub const PROFILES_LEAF_BYTES_MAX: usize = 4 * 1_024;

/// The most choices of one form: more do not fit on a phone.
pub const FORM_CHOICES_MAX: usize = 8;

/// Largest heading, choice or label of a form, in bytes of UTF-8.
pub const FORM_LABEL_BYTES_MAX: usize = 64;

/// Largest tag of a form, in bytes of UTF-8.
pub const FORM_TAG_BYTES_MAX: usize = 32;

/// Farthest that a sound may be from its usual pitch, in semitones: two octaves.
pub const SOUND_PITCH_MAX: i8 = 24;

/// Largest name of a player or object, in bytes of UTF-8.
pub const NAME_BYTES_MAX: usize = 32;

/// Largest peer id or address of a validator's contact, in bytes.
pub const CONTACT_BYTES_MAX: usize = 128;

/// Validators of one sim. Votes grow with the square: 13 servers send 468 frames per decision.
pub const VALIDATORS_MAX: usize = 31;

/// A set never shrinks below this by rule: three cannot survive one failure.
pub const VALIDATORS_MIN: usize = 4;

/// Most standbys that wait for promotion.
pub const STANDBYS_MAX: usize = 16;

/// Set changes that one turn may bring, so that quorums of neighbouring sets overlap.
pub const SET_CHANGES_PER_TURN_MAX: usize = 1;

/// Numbers of objects are below this, in every sim; 2^52 and more are for bodies that are not the sim's
/// own. Pages hold numbers as floating-point ones, which are exact up to 2^53.
pub const OBJECT_NUMBERS_END: u64 = 1 << 52;

/// The least side of a square that a sim may lie in, in tiles of 32 m: the least one whose middle is the
/// corner of a tile.
pub const SQUARE_TILES_MIN: i32 = 2;

/// A side may be doubled so often: the largest square is 1,024 m wide.
pub const SQUARE_DOUBLINGS_MAX: u8 = 4;

/// Largest state leaf; what may grow is split by key prefix.
pub const LEAF_BYTES_MAX: usize = 64 * 1_024;

/// Leaves of one state: bounds a proof's path at 20 steps.
pub const LEAVES_MAX: u32 = 1 << 20;

/// Outcomes stay in the state for this many turns.
pub const OUTCOME_TURNS: u64 = 64;

/// A proposer that missed its turn is passed over for 64, 128, .. 2,048 heights.
/// Those whose time ends first are asked earlier, if not f + 1 others lead.
pub const DEMOTION_HEIGHTS_FIRST: u64 = 64;
/// Doublings of a demotion, so that a server that came back is asked again within two minutes.
pub const DEMOTION_STRIKES_MAX: u8 = 6;

/// A validator that missed its turn to propose so often in a row, each time it was asked again, is
/// absent: with the demotions between, that is after 450 heights or more, 23 s at 20 turns a second,
/// unless nearly everybody missed its turn.
pub const ABSENT_STRIKES: u8 = 4;

/// Ticks of simulated time in a second.
pub const TICKS_PER_SECOND: u64 = 60;

/// Work of first logins is done for the headers of heights that are multiples of this: one a second,
/// so that a state remembers few of them.
pub const ANCHOR_HEIGHTS: u64 = 20;

/// Work counts while the height of its header is at most so far below the turn that carries it: half
/// a minute, so that nobody works in advance and the slowest phone has time for the dearest work.
pub const WORK_HEIGHTS_MAX: u64 = 600;

/// Keys that one ticket lets in: a school.
pub const TICKET_USES_MAX: u32 = 1_000;

/// Days of governance time that a ticket is good for.
pub const TICKET_DAYS_MAX: u32 = 30;

/// Permanent admins of one sim.
pub const ADMINS_MAX: usize = 64;

/// Keys of one grant that sign addresses.
pub const BEACONS_MAX: usize = 4;

/// Grants of one world.
pub const GRANTS_MAX: usize = 1 << 16;

/// Largest leaf with grants. A proof of it fits [`LAND_PROOF_BYTES_MAX`]: a header of at most 328 B, 21
/// signatures of 31 with their keys in 2,064 B, a path of 20 steps in 652 B, a key of 40 B.
pub const SHELF_BYTES_MAX: usize = 900;

/// Largest encoded proof of a shelf: two of them fit into a frame of 8 KiB between the sites of a world.
pub const LAND_PROOF_BYTES_MAX: usize = 4_000;

/// Set changes in one renewal of a grant: with its header at most four certificates, 124 signatures.
pub const RENEWAL_LINKS_MAX: usize = 3;

/// Largest encoded order of land: a renewal with four certificates of 31 signatures, 13 KB, and four
/// headers and three sets, 5 KB.
pub const LAND_ORDER_BYTES_MAX: usize = 20 * 1_024;

/// Borders of one sim, the closed ones among them: a square of 64 m has four of its own size and four
/// corners, and a larger one as many again.
pub const BORDERS_MAX: usize = 16;

/// Departures to one neighbour that are under way at once: a crossing takes 5 turns, and 20 a second cross.
pub const DEPARTURES_MAX: usize = 32;

/// Verdicts on departures of one neighbour: those that are under way, and those that the neighbour has not
/// yet heard of.
pub const VERDICTS_MAX: usize = 64;

/// Answers to people who approach from one neighbour.
pub const PASSES_MAX: usize = 64;

/// People near a border whom a sim names to the neighbour.
pub const PEOPLE_NEAR_MAX: usize = 32;

/// Things that one person holds: two in each hand.
pub const HANDS_MAX: usize = 4;

/// Things of one person that a pass answers: those in her hands, and the one that she sits on.
pub const BROUGHT_MAX: usize = HANDS_MAX + 1;

/// Things that go over a border together because they are joined: a cart, its wheels and its load.
pub const MECHANISM_THINGS_MAX: usize = 16;

/// Joints of these.
pub const MECHANISM_JOINTS_MAX: usize = 32;

/// Bodies next to a line that a sim tells its neighbour of: as many people as it names there.
pub const BORDER_BODIES_MAX: usize = 32;

/// Largest leaf of what a sim says to a neighbour: departures of at most 108 B take 3.4 KB, verdicts of 10 B
/// 0.7 KB, passes of 64 B 4.1 KB, people near, with what they bring, 1.8 KB, what came home 0.3 KB.
/// Bodies next to the line, of at most 74 B, have what the others leave: all of them fit while less than three
/// quarters of the other places are taken, and the furthest ones are left out first.
pub const SAID_BYTES_MAX: usize = 10 * 1_024;

/// Largest parcel: with the largest leaf, a certificate of 31 validators and its path it fits a blob.
pub const PARCEL_BYTES_MAX: usize = 48 * 1_024;

/// Set changes in one dispatch. Sets of 31 have links of 4.4 KB, of which 14 fit a blob.
pub const DISPATCH_LINKS_MAX: usize = 32;

/// Heads of land offices in an order about a border, one for each successor of the land office since the
/// neighbour was founded: a successor is a matter of years.
pub const BORDER_OFFICES_MAX: usize = 4;

/// Largest encoded order about a border: a head with 64 admins and 31 validators has 3.4 KB, and
/// [`BORDER_OFFICES_MAX`] more of them come with it.
pub const BORDER_ORDER_BYTES_MAX: usize = 20 * 1_024;

/// All dispatches of one turn together: half of its blobs.
pub const DISPATCHES_BYTES_MAX: usize = BLOBS_BYTES_MAX / 2;

/// Bytes of the reason of a ban, a mute or a ruling: a line that people read.
pub const REASON_BYTES_MAX: usize = 200;

/// Bytes of the words of a report.
pub const REPORT_BYTES_MAX: usize = 500;

/// Bytes of the message of the day.
pub const MOTD_BYTES_MAX: usize = 400;
