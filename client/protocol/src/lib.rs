//! What clients and nodes say to each other, the same over every carrier; [`VERSION`] counts its formats.
//!
//! This crate holds messages and their limits, and how a server names the connections that they come
//! by; it opens no connection and keeps no session. Frames are canonical postcard; a carrier adds a
//! length, checks it against [`CLIENT_FRAME_BYTES_MAX`] or [`SERVER_FRAME_BYTES_MAX`] before it reads
//! on, and keeps order.
//!
//! A session goes: the server sends [`ServerMessage::Challenge`]; the client answers with
//! [`ClientMessage::Hello`], signed over the challenge; the server sends [`ServerMessage::Welcome`]
//! or [`ServerMessage::Goodbye`]. After that the client submits acts and asks questions at will.
//!
//! ```
//! use metatopia_protocol::{ClientMessage, decode_client, encode_client};
//!
//! let frame = encode_client(&ClientMessage::Ping { token: 7 });
//! assert_eq!(decode_client(&frame), Ok(ClientMessage::Ping { token: 7 }));
//! ```
#![forbid(unsafe_code)]

extern crate alloc;

mod border;
mod chat;
mod clubs;
mod connection;
mod endpoint;
mod friends;
mod invite;
mod invite_text;
mod joints;
mod logins;
mod lots;
mod message;
mod pages;
mod people;
mod private;
mod profiles;
mod question;
mod reports;
mod things;
mod view;

use alloc::vec::Vec;

pub use border::{
    BorderEntry, BorderStanding, DISPATCH_WAIT_MAX_MS, DispatchAnswer, DispatchQuestion,
    HandInRefusal, HandedDispatch, NEIGHBOUR_NODES_MAX, PassAnswer, PortalEntry,
};
pub use chat::{ChatMessage, ForgottenMessage, FormMessage, SoundMessage};
pub use clubs::{CLUBS_PER_ANSWER_MAX, ClubEntry, ClubInviteEntry, ClubPerson};
pub use connection::{ClientId, Delivery};
pub use endpoint::{ADDRESS_BYTES_MAX, CERTIFICATES_MAX, EndpointAnnouncement, SignedAnnouncement};
pub use friends::{FriendEntry, FriendListEntry, FriendsEntry, RecoveryEntry};
pub use invite::{
    Applicant, Grant, INVITE_ADDRESSES_MAX, INVITE_BYTES_MAX, INVITE_USES_MAX, INVITE_VALID_MAX_MS,
    Invite, InviteError, JoinRefusal, JoinRequest, SignedInvite,
};
pub use invite_text::{INVITE_MARK, InviteTextError};
pub use joints::{JOINTS_PER_ANSWER_MAX, JointEntry, JointEntryKind};
pub use logins::{LoginTerms, TicketEntry};
pub use lots::{LOTS_PER_ANSWER_MAX, LotEntry, LotPerson};
pub use message::{
    Challenge, ClientMessage, Goodbye, Hello, ServerMessage, Submission, SubmitRefusal, Welcome,
};
use metatopia_types::{limits, wire, wire::DecodeError};
pub use pages::{Listed, take_page};
pub use people::{
    AdminCountdown, AreaRightEntry, CharterAnswer, DryRunEntry, GovernedThing, IntendedChange,
    IntendedChangeEntry, IntendedOrder, KeyHoldings, OrdersAnswer, PEOPLE_PER_ANSWER_MAX,
    PersonEntry, RightEntry, SanctionEntry, TracedThings, span,
};
pub use private::{MAILBOX_PER_ANSWER_MAX, ToldMessage};
pub use profiles::{PROFILES_PER_QUESTION_MAX, ProfilesAnswer};
pub use question::{
    Answer, CANDIDATES_MAX, CandidateEntry, DelayedEntry, GENESIS_PART_BYTES, GovernanceEntry,
    LEAVES_PER_QUESTION_MAX, OrderEntry, PACKAGES_PER_ANSWER_MAX, PackageEntry, PlayerEntry,
    Question, ReceiptAnswer, SCRIPTS_PER_ANSWER_MAX, SNAPSHOT_PART_BYTES, ScriptEntry,
    SnapshotOffer, TURNS_ANSWER_BYTES, TURNS_PER_ANSWER_MAX, ValidatorSetLink,
};
pub use reports::{REPORTS_PER_ANSWER_MAX, ReportEntry, RulingEntry};
pub use things::{StowedThing, ThingEntry};
pub use view::{
    BYTES_PER_SECOND, FAR_TURNS_MAX, HAVE_MAX, NeighbourLeaf, PROOF_TURNS, SIGHT, TileLeaf,
    TileName, TileUpdate, UNSEEN_MAX, View, ViewProof, Watching,
};

/// The version in every hello; a node that speaks another says so and hangs up.
pub const VERSION: u16 = 17;

/// Largest frame from a client: an act with the one blob it may name.
pub const CLIENT_FRAME_BYTES_MAX: usize =
    limits::ENVELOPE_BYTES_MAX + limits::BLOB_BYTES_MAX + 1_024;

/// Largest frame from a server: a whole turn, asked for by height.
pub const SERVER_FRAME_BYTES_MAX: usize = limits::TURN_BYTES_MAX + 64 * 1_024;

/// Encodes a client's message.
#[must_use]
pub fn encode_client(message: &ClientMessage) -> Vec<u8> {
    wire::encode(message)
}

/// Encodes a server's message.
#[must_use]
pub fn encode_server(message: &ServerMessage) -> Vec<u8> {
    wire::encode(message)
}

/// Decodes a client's frame.
///
/// # Errors
/// See [`DecodeError`].
pub fn decode_client(frame: &[u8]) -> Result<ClientMessage, DecodeError> {
    wire::decode(frame, CLIENT_FRAME_BYTES_MAX)
}

/// Returns whether this frame of a client hands in an act that may bring in a new key: a login, or work at a
/// border. Cheap for frames that hand in nothing.
#[must_use]
pub fn brings_in(frame: &[u8]) -> bool {
    let is_submission = frame.first() == Some(&SUBMIT);
    is_submission
        && matches!(
            decode_client(frame),
            Ok(ClientMessage::Submit(submission))
                if submission.act.envelope.act.brings_in()
        )
}

/// What frames with a [`ClientMessage::Submit`] begin with.
const SUBMIT: u8 = 1;

/// Decodes a server's frame.
///
/// # Errors
/// See [`DecodeError`].
pub fn decode_server(frame: &[u8]) -> Result<ServerMessage, DecodeError> {
    wire::decode(frame, SERVER_FRAME_BYTES_MAX)
}
