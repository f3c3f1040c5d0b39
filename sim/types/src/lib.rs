//! The nouns of Metatopia: what nodes, clients and worlds say about each other, one file per noun.
//!
//! This crate does no I/O, reads no clock and draws no random numbers. It cannot run a world: it
//! only names things, encodes them in one canonical way, and checks signatures and proofs. A light
//! client needs nothing else.
//!
//! * [`Envelope`] is a signed intent of a player; [`Turn`] is what the servers agree on at one
//!   height; [`Certificate`] proves that more than two thirds of the voting power signed it.
//! * [`Receipt`] proves that an act is in a certified turn, [`StateProof`] that a leaf is in a
//!   certified state.
//! * [`wire`] is the only encoding; [`limits`] names every bound.
//!
//! ```
//! use metatopia_types::{Act, Envelope, Ed25519, Height, Lane, Seq, SigningKey, Sign, SimId, Digest};
//!
//! let key = SigningKey::from_seed([7; 32]);
//! let sim = SimId(Digest::of("an example", b"plaza"));
//! let envelope = Envelope {
//!     sim,
//!     author: key.public(),
//!     lane: Lane(1),
//!     seq: Seq(1),
//!     last_valid: Height(1_200),
//!     act: Act::Heartbeat,
//! };
//! let signed = envelope.sign(&key);
//! assert!(signed.verify(&Ed25519));
//! ```
#![forbid(unsafe_code)]

extern crate alloc;

mod act;
mod act_encoding;
mod build;
mod certificate;
mod club;
mod crossing;
mod evidence;
mod form;
mod genesis_head;
mod govern;
mod ground_area;
mod ids;
mod keys;
mod land;
mod land_proof;
pub mod limits;
mod line;
mod link;
mod look;
mod lot;
pub mod merkle;
mod movement;
mod offer;
mod origin;
mod outcome;
mod plane;
mod profile;
mod receipt;
mod recovery;
mod report;
mod roster;
mod rotation;
mod sealed_words;
mod site;
mod sound;
mod state_proof;
mod steady_rate;
mod ticket;
mod time;
mod title;
mod turn;
mod validators;
mod vote;
pub mod wire;
mod work;

pub use act::{Act, Emote, Envelope, NodeContact, SetChange, SignedEnvelope};
pub use act_encoding::ACT_NUMBERS;
pub use build::{
    AssetLicence, Blueprint, Build, BuiltJoint, BuiltMaterial, CornerCountError, Outline,
    OutlineCorners, OutlinePart, OutlineParts, ParseAssetLicenceError, PartCountError,
};
pub use certificate::{Certificate, CertificateError};
pub use club::{ClubName, ClubOrder};
pub use crossing::{
    BorderDeparture, BorderFrame, BorderGuest, BorderOrder, BorderRefusal, BorderVerdict,
    BroughtThing, Companions, CrossingPass, DISPATCH_FORMAT, Dispatch, DispatchedState,
    FRAME_METRE, FRAME_SPEED, FrameBody, FrameShape, HandRefusal, HandsMark, HearRefusal,
    HomeReason, NearPerson, Parcel, ParcelError, PassRefusal, ProvedSaid, Said, SaidError,
    TravelRefusal, Traveller, TravellingJoint, TravellingPerson, TravellingScript, TravellingThing,
    Worth, said_key,
};
pub use evidence::{Evidence, EvidenceError};
pub use form::Form;
pub use genesis_head::{GenesisHead, GenesisHeadError, HeadParent, OfficeFounding, carries_on};
pub use govern::{GovernOrder, RoleRight, WayBack};
pub use ground_area::GroundArea;
pub use ids::{
    ActId, BlobId, ClubId, Digest, HeaderId, Height, Lane, LotId, ObjectId, PackageId,
    ParseIdError, PublicKey, Root, Round, ScriptId, Seq, Signature, SimId, Tick, ValidatorsId,
};
pub use keys::{Ed25519, Sign, SigningKey, Verify, agreement_point};
pub use land::{LandGrant, LandOrder, LandSponsor};
pub use land_proof::{GRANTS_LEAF, LandProof, LandProofError, ProvedLand, shelf_block, shelf_key};
pub use line::is_line;
pub use link::{Link, LinkError, Trust, certified, follow};
pub use look::{BodyShape, COLOR_MAX, HandShape, HatShape, HeadShape, Look, Wearable};
pub use lot::LotOrder;
pub use movement::Movement;
pub use offer::{Offer, Permission, ShownOffer};
pub use origin::{Origin, ParseOriginError};
pub use outcome::{Outcome, Refusal};
pub use plane::{PlaneBlock, TilePoint, holds, overlap};
pub use profile::{
    PROFILE_FORMAT, PROFILES_LEAF, Profile, SentProfile, SignedProfile, picture_digest,
};
pub use receipt::{Receipt, ReceiptError};
pub use recovery::{Recovery, SignedRecovery};
pub use report::{ReportSubject, Ruling};
pub use roster::{Member, Roster, RosterError};
pub use rotation::{NewKeyWord, Rotation};
pub use sealed_words::{
    OpenedWords, SealedWords, class_of_sealed, class_of_words, is_told, words_commitment,
};
pub use site::{Site, Square, SquareError};
pub use sound::Sound;
pub use state_proof::{LeafKey, StateProof, StateProofError, leaf_hash};
pub use steady_rate::SteadyRate;
pub use ticket::{Pass, TicketOrder, TicketPass};
pub use time::{Millis, Now};
pub use title::{ParseTitleError, Title};
pub use turn::{Blob, BodyError, Header, Turn, TurnBody, forgettable_blob, named_blob};
pub use validators::{Validator, ValidatorSet, ValidatorSetError};
pub use vote::{Proposal, Signed, Vote, VoteKind};
pub use work::{Puzzle, Work};
