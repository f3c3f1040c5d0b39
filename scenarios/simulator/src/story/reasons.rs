//! Names of reasons: why an act was refused, why a server hung up.

use metatopia_protocol::{Goodbye, SubmitRefusal};
use metatopia_types::Refusal;

use crate::replica::Hangup;

macro_rules! reasons {
    ($($names:ident, $name:ident($why:ty): { $($reason:pat => $word:literal,)+ })+) => {$(
        pub(super) const $names: &[&str] = &[$($word),+];

        pub(super) const fn $name(why: &$why) -> &'static str {
            match why {
                $($reason => $word,)+
            }
        }
    )+};
}

reasons! {
    RULES, rule(Refusal): {
        Refusal::NotLoggedIn => "not-logged-in",
        Refusal::OtherSession => "other-session",
        Refusal::NotAdmin => "not-admin",
        Refusal::BadText => "bad-text",
        Refusal::NoObject => "no-object",
        Refusal::OutOfReach => "out-of-reach",
        Refusal::Immovable => "immovable",
        Refusal::NoBlob => "no-blob",
        Refusal::NoChannel => "no-channel",
        Refusal::Full => "world-full",
        Refusal::OutOfRange => "out-of-range",
        Refusal::TooOften => "too-often",
        Refusal::BadSetChange => "bad-set-change",
        Refusal::WrongProof => "wrong-proof",
        Refusal::BadEvidence => "bad-evidence",
        Refusal::Crashed => "crashed",
        Refusal::NotYours => "not-yours",
        Refusal::Person => "person",
        Refusal::ClosedLand => "closed-land",
        Refusal::Occupied => "occupied",
        Refusal::KeptClear => "kept-clear",
        Refusal::BadSize => "bad-size",
        Refusal::TooManyObjects => "too-many-objects",
        Refusal::TooManyMovable => "too-many-movable",
        Refusal::TooManyScripts => "too-many-scripts",
        Refusal::TooMuchText => "too-much-text",
        Refusal::NoPlayer => "no-player",
        Refusal::NoRoomForGifts => "no-room-for-gifts",
        Refusal::NoPackage => "no-package",
        Refusal::NoScript => "no-script",
        Refusal::NotFree => "not-free",
        Refusal::NothingToUndo => "nothing-to-undo",
        Refusal::GiftStays => "gift-stays",
        Refusal::NoSeat => "no-seat",
        Refusal::ChangesWait => "changes-wait",
        Refusal::NoTicket => "no-ticket",
        Refusal::TooManyTickets => "too-many-tickets",
        Refusal::NotPermanent => "not-permanent",
        Refusal::NoParameter => "no-parameter",
        Refusal::SimEnded => "sim-ended",
        Refusal::NotPublisher => "not-publisher",
        Refusal::BadPackage => "bad-package",
        Refusal::TooManyPackages => "too-many-packages",
        Refusal::NoLandOffice => "no-land-office",
        Refusal::BadOrder => "bad-order",
        Refusal::LandTaken(_) => "land-taken",
        Refusal::BadSquare => "bad-square",
        Refusal::NoClaims => "no-claims",
        Refusal::Untouched => "untouched",
        Refusal::NoSponsor => "no-sponsor",
        Refusal::SponsorUsed => "sponsor-used",
        Refusal::TooManySquares => "too-many-squares",
        Refusal::NoSquaresLeft => "no-squares-left",
        Refusal::NotOfWorld => "not-of-world",
        Refusal::NotItsAdmin => "not-its-admin",
        Refusal::BadBeacons => "bad-beacons",
        Refusal::NoGrant => "no-grant",
        Refusal::NotCertified => "not-certified",
        Refusal::OldHeader => "old-header",
        Refusal::NotSuccessor => "not-successor",
        Refusal::SimRuns => "sim-runs",
        Refusal::OfficeStays => "office-stays",
        Refusal::NoOffer => "no-offer",
        Refusal::NotHeard(_) => "not-heard",
        Refusal::BadBorder(_) => "bad-border",
        Refusal::NoBorder => "no-border",
        Refusal::NotNear => "not-near",
        Refusal::Banned => "banned",
        Refusal::Rotated(_) => "rotated",
        Refusal::KnownKey => "known-key",
        Refusal::Held => "held",
        Refusal::HandsFull => "hands-full",
        Refusal::NotHeld => "not-held",
        Refusal::Joined => "joined",
        Refusal::OwnersDiffer => "owners-differ",
        Refusal::JoinedToItself => "joined-to-itself",
        Refusal::TooManyJoints => "too-many-joints",
        Refusal::NotJoined => "not-joined",
        Refusal::NothingToSitOn => "nothing-to-sit-on",
        Refusal::SeatTaken => "seat-taken",
        Refusal::Muted => "muted",
        Refusal::NoRight => "no-right",
        Refusal::Outranked => "outranked",
        Refusal::LastAdmin => "last-admin",
        Refusal::Frozen => "frozen",
        Refusal::AlreadySo => "already-so",
        Refusal::NotHere => "not-here",
        Refusal::ListFull => "list-full",
        Refusal::UnfitName => "unfit-name",
        Refusal::NameTaken => "name-taken",
        Refusal::Away => "away",
        Refusal::NoLot => "no lot",
        Refusal::LotTaken => "lot taken",
        Refusal::TooManyLots => "too many lots",
        Refusal::NotEmpty => "not empty",
        Refusal::NotOnLot => "not on lot",
        Refusal::NoWayHome => "no way home",
        Refusal::QueueFull => "queue-full",
        Refusal::TooManyReports => "too-many-reports",
        Refusal::BadSeal => "bad-seal",
        Refusal::NotOpened => "not-opened",
        Refusal::SlowMode(_) => "slow-mode",
        Refusal::QuietHours(_) => "quiet-hours",
        Refusal::NoReport => "no-report",
        Refusal::MissingImport(_) => "missing-import",
        Refusal::BadImport => "bad-import",
        Refusal::BadFriends => "bad-friends",
        Refusal::TooManyFriends => "too-many-friends",
        Refusal::NotFriend => "not-friend",
        Refusal::FreshFriend => "fresh-friend",
        Refusal::QuietFriend(_) => "quiet-friend",
        Refusal::RecoveryOpen => "recovery-open",
        Refusal::NoRecovery => "no-recovery",
        Refusal::TooManyRecoveries => "too-many-recoveries",
        Refusal::BeaconsWait(_) => "beacons-wait",
        Refusal::NoKeyWord => "no-key-word",
        Refusal::BadCorners => "bad-corners",
        Refusal::NotForArea => "not-for-area",
        Refusal::NoLand => "no-land",
        Refusal::NoSuchWords => "no-such-words",
        Refusal::NoClub => "no-club",
        Refusal::NotMember => "not-member",
        Refusal::NotClubOwner => "not-club-owner",
        Refusal::NoInvite => "no-invite",
        Refusal::ClubNameTaken => "club-name-taken",
        Refusal::TooManyClubs => "too-many-clubs",
        Refusal::ClubsFull => "clubs-full",
        Refusal::ClubFull => "club-full",
        Refusal::TooManyInvites => "too-many-invites",
        Refusal::BadProfile => "bad-profile",
        Refusal::OldProfile(_) => "old-profile",
        Refusal::ProfilesFull => "profiles-full",
        Refusal::TooManyCompounds => "too-many-compounds",
        Refusal::OfParts => "of-parts",
        Refusal::BadParts => "bad-parts",
        Refusal::OtherAuthor => "other-author",
        Refusal::UnderWay => "under-way",
        Refusal::HeldFast => "held-fast",
        Refusal::MissingPiece(_) => "missing-piece",
    }
    ENTRY, entry(SubmitRefusal): {
        SubmitRefusal::OtherSim(_) => "other-sim",
        SubmitRefusal::TooLong(_) => "too-long",
        SubmitRefusal::Expired { .. } => "expired",
        SubmitRefusal::TooFarAhead { .. } => "too-far-ahead",
        SubmitRefusal::Replayed(_) => "replayed",
        SubmitRefusal::BadSignature => "bad-signature",
        SubmitRefusal::BadBlob => "bad-blob",
        SubmitRefusal::QuotaExceeded => "quota-exceeded",
        SubmitRefusal::TooManyLanes => "too-many-lanes",
        SubmitRefusal::Full => "node-full",
        SubmitRefusal::NeedsWork => "needs-work",
        SubmitRefusal::NeedsTicket => "needs-ticket",
        SubmitRefusal::NobodyNew => "nobody-new",
        SubmitRefusal::NeedsLogin => "needs-login",
        SubmitRefusal::UnknownAct(_) => "unknown-act",
    }
    HANGUPS, hangup(Hangup): {
        Hangup::TooLong => "too-long",
        Hangup::TooSlow | Hangup::Said(Goodbye::TooSlow) => "too-slow",
        Hangup::Said(Goodbye::Version(_)) => "version",
        Hangup::Said(Goodbye::BadFrame) => "bad-frame",
        Hangup::Said(Goodbye::BadSignature) => "bad-signature",
        Hangup::Said(Goodbye::NoHello) => "no-hello",
        Hangup::Said(Goodbye::Full) => "full",
        Hangup::Said(Goodbye::OtherSession) => "other-session",
        Hangup::Said(Goodbye::Stopping) => "stopping",
        Hangup::Said(Goodbye::Banned) => "banned",
        Hangup::Said(Goodbye::Kicked) => "kicked",
    }
}

#[cfg(test)]
mod tests {
    use super::{ENTRY, HANGUPS, RULES};
    use std::collections::BTreeSet;

    #[test]
    fn every_reason_has_a_name_of_its_own() {
        let refusals: BTreeSet<&str> = RULES.iter().chain(ENTRY).copied().collect();
        assert_eq!(refusals.len(), RULES.len() + ENTRY.len());
        let hangups: BTreeSet<&str> = HANGUPS.iter().copied().collect();
        assert_eq!(hangups.len(), HANGUPS.len());
    }
}
