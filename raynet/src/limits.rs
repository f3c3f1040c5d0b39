//! Bounds of this crate, with their arithmetic. `docs/limits.md` lists them with their tests.

/// Largest encoded frame of the overlay, in bytes: 24 records, or a shelf of the map.
pub const OVERLAY_FRAME_BYTES_MAX: usize = 8 * 1_024;

/// Largest proof of a shelf, in bytes: two of them, as evidence, fit in a frame.
pub const SHELF_PROOF_BYTES_MAX: usize = metatopia_types::limits::LAND_PROOF_BYTES_MAX;

/// Grants on one shelf.
pub const GRANTS_PER_SHELF_MAX: usize = 64;

/// Endpoints in one record.
pub const SITE_ENDPOINTS_MAX: usize = 4;

/// Longest address of an endpoint, in bytes.
pub const SITE_ADDRESS_BYTES_MAX: usize = 96;

/// Longest label of a site, in bytes: sims are called nothing longer.
pub const SITE_LABEL_BYTES_MAX: usize = 32;

/// Longest licence of a site, in bytes of its SPDX expression.
pub const SITE_LICENCE_BYTES_MAX: usize = 64;

/// How far ahead a record may end, in milliseconds: a day.
pub const RECORD_LIFE_MS_MAX: u64 = 24 * 3_600_000;

/// Voronoi neighbours of the largest view.
pub const VIEW_HARD: usize = 24;

/// Long links of one octave of distance.
pub const LINKS_PER_OCTAVE: usize = 2;

/// Slots of the sampler, each with a secret of its own.
pub const SAMPLES: usize = 12;

/// Tips in one exchange, without the sender's own.
pub const TIPS_MAX: usize = 10;

/// Records in one frame, and names in one question for records.
pub const RECORDS_PER_FRAME_MAX: usize = 16;

/// Points in one question for shelves.
pub const SHELVES_PER_WANT_MAX: usize = 16;

/// Records in the answer to somebody who seeks a point.
pub const NEARER_MAX: usize = 3;

/// Sites that are remembered: a full view, links of 33 octaves, samples, and twice as many that are
/// being met.
pub const SITES_KNOWN_MAX: usize = 256;

/// Sites that are remembered as gone.
pub const TOMBSTONES_MAX: usize = 512;

/// Shelves that are kept.
pub const SHELVES_KEPT_MAX: usize = 256;

/// Senders of one hint that are asked for its shelf, each once; of records about a checked site, in a cycle.
pub const HINT_SENDERS_MAX: usize = 6;

/// Times that records which the map does not speak for make a member ask its host for newer maps, in a cycle,
/// whoever sent them. Of more blocks, those that have waited longest come first: as no more than
/// [`SHELVES_KEPT_MAX`] wait, each is asked about within 16 cycles, however many keys a liar has.
pub const HOST_DOUBTS_MAX: usize = 16;

/// Times that such records make a member ask those of their senders that speak for no checked site, in a cycle.
/// Their keys are free, so liars may use all of it; the host is asked all the same.
pub const STRANGER_DOUBTS_MAX: usize = 16;

/// Times that such records make a member ask one site for newer maps, by all its servers, or one stranger, in
/// a cycle: a site has this for itself, whatever others send.
pub const DOUBTS_PER_PEER_MAX: u32 = 4;

/// Pieces of evidence that are kept, one a sim and one a block of the map; of more, the oldest goes.
pub const OVERLAY_EVIDENCE_MAX: usize = 64;

/// Sites that are remembered as convicted by evidence; of more, the oldest is forgotten.
pub const CONVICTED_MAX: usize = 512;

/// Pieces of evidence that went, of which a member still knows what they were about: as many as there are sites
/// whose convictions outlast their pieces, so that no piece is passed over whose conviction is forgotten.
pub const EVIDENCE_REMEMBERED_MAX: usize = CONVICTED_MAX - OVERLAY_EVIDENCE_MAX;

/// Pieces of evidence of one peer that are looked at in a cycle: to check one costs two proofs.
pub const EVIDENCE_PER_CYCLE_MAX: u32 = 8;

/// Questions of one peer about kept evidence that are answered in a cycle: what there is, and some of it.
pub const PULLS_PER_CYCLE_MAX: u32 = 4;

/// Pieces of evidence in one question for them, which are half of those that are looked at in a cycle.
pub const EVIDENCE_PER_WANT_MAX: usize = 4;

/// Sites that were not spoken with before and are dialled on ways in a cycle: liars may name any address.
pub const STRANGERS_PER_CYCLE_MAX: u32 = 256;

/// Connections that are kept; of more, the least used one without a place in the view is closed.
pub const OVERLAY_CONNECTIONS_MAX: usize = 96;

/// First contacts that are remembered.
pub const FIRST_CONTACTS_MAX: usize = 32;

/// Frames of one peer that are read in a cycle, each begun kibibyte counting as one.
pub const FRAMES_PER_CYCLE_MAX: u32 = 256;

/// Exchanges of one peer that are answered in a cycle.
pub const EXCHANGES_PER_CYCLE_MAX: u32 = 16;

/// Names for which a peer has no good record, though it named them, before its tips are passed over for
/// [`TOMBSTONE_CYCLES`](crate::pace::TOMBSTONE_CYCLES). A good one makes up for two, since frames get lost.
pub const EMPTY_TIPS_MAX: u32 = 24;

/// Questions for one point that a way asks.
pub const HOPS_MAX: u32 = 32;

/// Ways of one lookup altogether.
pub const WAYS_MAX: usize = 6;

/// Lookups under way; of more, the newest is refused.
pub const LOOKUPS_MAX: usize = 64;

/// Endpoints in the answer to a lookup.
pub const LOOKUP_ENDPOINTS_MAX: usize = 8;

/// Sites that a way knows and has not asked yet.
pub const FRONTIER_MAX: usize = 16;

/// Questions in a row that a connected peer may leave unanswered: where a fifth of all frames is lost, a
/// living one leaves so many with a probability of 0.002.
pub const MISSES_MAX: u8 = 6;
