//! Outcomes: what became of an act that is in a decided turn.

use serde::{Deserialize, Serialize};

use crate::{BlobId, BorderRefusal, HearRefusal, ObjectId, PackageId, PublicKey, SimId};

/// The result of applying one act; the same on every server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// It is done.
    Ok,
    /// A rule refused it; nothing changed.
    Refused(Refusal),
    /// It is done, and made this object.
    Made(ObjectId),
}

impl Outcome {
    /// Returns whether the act was done.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        !matches!(self, Self::Refused(_))
    }
}

/// The rule that refused an act.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error,
)]
pub enum Refusal {
    /// The author has no session: log in first.
    #[error("the author is not logged in")]
    NotLoggedIn,
    /// Another session of the same key took over.
    #[error("another session of this key took over")]
    OtherSession,
    /// Only an admin may do this.
    #[error("only an admin may do this")]
    NotAdmin,
    /// A name, look or text breaks its rules.
    #[error("a name, look or text breaks its rules")]
    BadText,
    /// There is no such object.
    #[error("there is no such object")]
    NoObject,
    /// The object is too far away.
    #[error("the object is out of reach")]
    OutOfReach,
    /// The object does not move.
    #[error("the object cannot be moved")]
    Immovable,
    /// The blob that the act names is not in the turn.
    #[error("the words are not in the turn")]
    NoBlob,
    /// There is no such channel.
    #[error("there is no such channel")]
    NoChannel,
    /// The world has no room for another player or object, or for more of what builders do.
    #[error("the world is full")]
    Full,
    /// A number is outside its range.
    #[error("a number is out of range")]
    OutOfRange,
    /// The author did this too often.
    #[error("too often")]
    TooOften,
    /// The change of the validator set is against its rules.
    #[error("the validator set does not allow it")]
    BadSetChange,
    /// A standby did not show that the state after that height is there.
    #[error("that does not show that the state after that height is there")]
    WrongProof,
    /// The evidence proves nothing, or is old.
    #[error("the evidence proves nothing")]
    BadEvidence,
    /// Applying it panicked: a bug of the engine, the same on every server.
    #[error("applying it failed inside the engine")]
    Crashed,
    /// The object belongs to somebody else.
    #[error("it belongs to somebody else")]
    NotYours,
    /// The object is somebody's avatar.
    #[error("people are not things to build with")]
    Person,
    /// The ground is neither open nor the author's.
    #[error("the land there is neither open nor the author's")]
    ClosedLand,
    /// An avatar stands where the object would be.
    #[error("somebody stands there")]
    Occupied,
    /// What stays in its place may not be where people arrive.
    #[error("the place where people arrive is kept clear")]
    KeptClear,
    /// A side, or a disc's width, is too small or too large.
    #[error("the size is out of range")]
    BadSize,
    /// The owner has as many objects as one player may have.
    #[error("the owner has as many objects as one player may have")]
    TooManyObjects,
    /// The object, or its owner, has as many scripts as it may have.
    #[error("the object or its owner has as many scripts as it may have")]
    TooManyScripts,
    /// The owner's objects hold as much text as one player's may.
    #[error("the owner's objects hold as much text as one player's may")]
    TooMuchText,
    /// Nobody with this key has ever logged in.
    #[error("nobody with this key has ever logged in")]
    NoPlayer,
    /// A gift would fill more than the half of what its receiver may have.
    #[error("the receiver has no room for gifts")]
    NoRoomForGifts,
    /// The sim has no such package.
    #[error("the sim has no such package")]
    NoPackage,
    /// The object has no such script.
    #[error("the object has no such script")]
    NoScript,
    /// The object's licence lets only its owner copy it.
    #[error("its licence lets only its owner copy it")]
    NotFree,
    /// The author has done nothing as a builder since the avatar came.
    #[error("there is nothing to take back")]
    NothingToUndo,
    /// Gifts are not taken back.
    #[error("a gift is not taken back")]
    GiftStays,
    /// Every place in the world is taken by somebody who acts, and the act needs an avatar.
    #[error("every place in the world is taken; try again in a minute")]
    NoSeat,
    /// The temp admin asked for this change already, or for as many as may wait.
    #[error("the change waits already, or as many wait as may")]
    ChangesWait,
    /// There is no such ticket, or as many keys came in by it as may.
    #[error("there is no such ticket, or it is used up")]
    NoTicket,
    /// As many tickets are open in the sim, or of this admin, as may be.
    #[error("as many tickets are open as may be; withdraw one")]
    TooManyTickets,
    /// The owner, or the sim, has as many things that can be pushed as may be.
    #[error("the owner or the sim has as many things that can be pushed as may be")]
    TooManyMovable,
    /// Only a permanent admin may do this, so that a temp admin cannot keep the sim.
    #[error("only a permanent admin may do this")]
    NotPermanent,
    /// No value that can be changed has this name.
    #[error("no value that can be changed has this name")]
    NoParameter,
    /// The sim has ended, as its charter says.
    #[error("the sim has ended")]
    SimEnded,
    /// The sim does not let the author publish source.
    #[error("the sim does not let this author publish source")]
    NotPublisher,
    /// What is published breaks the rules of packages, or does not compile.
    #[error("the package breaks a rule, or its source does not compile")]
    BadPackage,
    /// The author, or the sim, has as many bytes of packages as may be.
    #[error("the author or the sim has as many bytes of packages as may be")]
    TooManyPackages,
    /// The sim is no land office.
    #[error("the sim is no land office")]
    NoLandOffice,
    /// The blob is no order for the land office.
    #[error("that is no order for the land office")]
    BadOrder,
    /// Another sim holds the square, or a part of it, or the sim itself holds it already.
    #[error("the square is taken by {0}")]
    LandTaken(SimId),
    /// The square is too large, or its corner is no multiple of its side.
    #[error("the square is too large, or its corner is no multiple of its side")]
    BadSquare,
    /// The land office takes no claims.
    #[error("the land office takes no claims")]
    NoClaims,
    /// The square touches no granted land.
    #[error("the square touches no granted land")]
    Untouched,
    /// Nobody who holds land beside the square, and no admin, vouches for the claim.
    #[error("nobody who holds land beside the square, and no admin, vouches for the claim")]
    NoSponsor,
    /// The sponsor has vouched for another claim in this week.
    #[error("the sponsor has vouched for another claim in this week")]
    SponsorUsed,
    /// The holder has as many squares as one key may have.
    #[error("the holder has as many squares as one key may have")]
    TooManySquares,
    /// As many squares were granted in this week as may be.
    #[error("as many squares were granted in this week as may be")]
    NoSquaresLeft,
    /// The genesis names no square of this world, or is none.
    #[error("the genesis names no square of this world, or is none")]
    NotOfWorld,
    /// The author is no first admin of the sim that the claim is for.
    #[error("the author is no first admin of that sim")]
    NotItsAdmin,
    /// There are no beacons, too many, or one is no key.
    #[error("a square has 1 to 4 beacons, each of them another key")]
    BadBeacons,
    /// No grant is for this square.
    #[error("no grant is for this square")]
    NoGrant,
    /// The set changes or the header are not certified by the validators that the office knows.
    #[error("the header is not certified by the validators that the office knows")]
    NotCertified,
    /// The header is too old, no newer than the last one that was shown, or of the future.
    #[error("the header is too old, or no newer than the last one that was shown")]
    OldHeader,
    /// The genesis names another parent than the sim of the square, or another site.
    #[error("that is no successor of the sim on this square")]
    NotSuccessor,
    /// The sim of the square has shown that it runs.
    #[error("the sim of the square has shown that it runs")]
    SimRuns,
    /// The land office keeps its own square.
    #[error("the land office keeps its own square")]
    OfficeStays,
    /// The thing made no such offer, or it is over.
    #[error("the thing made no such offer, or it is over")]
    NoOffer,
    /// What a server heard of a neighbour does not count.
    #[error("not heard: {0}")]
    NotHeard(HearRefusal),
    /// An order about a border is against the rules.
    #[error("no border: {0}")]
    BadBorder(BorderRefusal),
    /// There is no open border to that sim, or nothing was heard of it.
    #[error("there is no open border to that sim, or nothing was heard of it for a while")]
    NoBorder,
    /// The neighbour does not name the author among those who are near the border.
    #[error("the neighbour does not say that the author is near the border")]
    NotNear,
    /// A moderator shut the key out.
    #[error("the key is banned from this sim")]
    Banned,
    /// A moderator took the author's voice for some time.
    #[error("a moderator muted the author")]
    Muted,
    /// No role gives the author this right.
    #[error("the author has no such right; an admin gives it by a role")]
    NoRight,
    /// The order is about somebody who has as much to say as the author.
    #[error("that person has as much to say here as the author")]
    Outranked,
    /// The sim would be without a permanent admin.
    #[error("a sim keeps at least one permanent admin")]
    LastAdmin,
    /// A moderator stopped the thing.
    #[error("a moderator froze it")]
    Frozen,
    /// The order would change nothing.
    #[error("it is so already")]
    AlreadySo,
    /// The person whom the order is about is not logged in.
    #[error("that person is not logged in")]
    NotHere,
    /// As many admins, roles, bans, mutes or frozen things are there as may be.
    #[error("as many of these are there as may be; take one back first")]
    ListFull,
    /// Nobody may have the name: it could pass for another one, or hides a sign.
    #[error("the name has a sign that hides or passes for another; use letters, digits and spaces")]
    UnfitName,
    /// Somebody else holds the name, or one that looks like it.
    #[error("somebody here has that name, or one that looks like it; take another")]
    NameTaken,
    /// The thing is on its way to a neighbour.
    #[error("the thing is in somebody's luggage, or on its way to a neighbour")]
    Away,
    /// There is no such lot.
    #[error("there is no such lot")]
    NoLot,
    /// Somebody has a lot there.
    #[error("a part of that ground is a lot already")]
    LotTaken,
    /// The holder has as many lots, or as much ground, as one player may have.
    #[error("the holder has as many lots, or as much ground, as one player may have")]
    TooManyLots,
    /// Things of others stand on the ground.
    #[error("things of others stand on that ground")]
    NotEmpty,
    /// The thing does not stand on the lot.
    #[error("the thing does not stand on the lot")]
    NotOnLot,
    /// There is no free place where the thing could go.
    #[error("neither its owner's ground nor the ground beside the lot has room for the thing")]
    NoWayHome,
    /// The key was given up for another one.
    #[error("the key was rotated to {0}")]
    Rotated(PublicKey),
    /// A rotation leads to a key that is somebody's here.
    #[error("the sim knows the new key already; rotate to one that was never used here")]
    KnownKey,
    /// Somebody has the thing in hand.
    #[error("somebody has it in hand; it is put down first")]
    Held,
    /// The author holds as many things as one person may.
    #[error("your hands are full; put something down first")]
    HandsFull,
    /// The thing is not in the author's hands.
    #[error("it is not in your hands")]
    NotHeld,
    /// A joint holds the thing.
    #[error("a joint holds it, or somebody who sits there")]
    Joined,
    /// Things that are to be joined or united have different owners.
    #[error("only things of the same owner are joined or united")]
    OwnersDiffer,
    /// Both ends of a joint are the same thing.
    #[error("a thing is not joined to itself")]
    JoinedToItself,
    /// The thing, its owner or the sim has as many joints as may be.
    #[error("the thing, its owner or the sim has as many joints as may be")]
    TooManyJoints,
    /// No such joint holds the thing.
    #[error("no such joint holds the thing")]
    NotJoined,
    /// The thing has no seat.
    #[error("nobody can sit there: it is no seat")]
    NothingToSitOn,
    /// Somebody sits there.
    #[error("somebody sits there already")]
    SeatTaken,
    /// As many reports are open as may be, or as many of newcomers.
    #[error("as many reports are open as moderators can read; try again later")]
    QueueFull,
    /// The author has as many open reports as one person may have.
    #[error("the author has as many open reports as one person may have; withdraw one")]
    TooManyReports,
    /// There is no such open report, or it is somebody else's.
    #[error("there is no such open report of the author, or none at all")]
    NoReport,
    /// The bytes are no sealed words.
    #[error("that is as long as no sealed words are")]
    BadSeal,
    /// What is reported does not prove that somebody told it to the author.
    #[error("that does not prove that anybody told these words to the author")]
    NotOpened,
    /// People say one line in so many seconds, and so many seconds are left.
    #[error("slow mode: people say a line at a time; {0} s are left until your next one")]
    SlowMode(u32),
    /// Only moderators are heard for so many minutes.
    #[error("quiet hours: only moderators are heard for {0} more minutes")]
    QuietHours(u32),
    /// A package imports one whose source the sim does not have.
    #[error("it imports package {0}, which the sim does not have: publish that one first")]
    MissingImport(PackageId),
    /// What a package imports may not be imported by it, or is too much with it.
    #[error("a licence forbids what it imports, or it is too much with all that it imports")]
    BadImport,
    /// The friends or their number are none that a person may name.
    #[error("name 1 to 8 other keys as friends, and 2 of them or more as needed; 1 if it is one")]
    BadFriends,
    /// The sim keeps as many lists of friends as it can.
    #[error("the sim keeps as many lists of friends as it can; try again later")]
    TooManyFriends,
    /// The author is no friend whom the owner of the key named.
    #[error("the owner of that key did not name the author as a friend")]
    NotFriend,
    /// The author was named as a friend a short time ago.
    #[error("the author was named as a friend less than 72 hours ago, and does not count yet")]
    FreshFriend,
    /// The owner cancelled what the author vouched for, and so many hours are left until the author may again.
    #[error("the owner cancelled what the author vouched for; {0} h are left until the next time")]
    QuietFriend(u32),
    /// A recovery of the key is under way.
    #[error("a recovery of that key is open; it ends by itself, or its owner cancels it")]
    RecoveryOpen,
    /// No recovery of the author's key is open.
    #[error("nobody asks for a recovery of the author's key")]
    NoRecovery,
    /// As many recoveries are open as may be, or as many of newcomers.
    #[error("as many recoveries are open as the sim keeps; try again later")]
    TooManyRecoveries,
    /// The beacons of a square change once a governance day, and so many minutes of it are left.
    #[error("the beacons of this square changed today; they may again in {0} minutes")]
    BeaconsWait(u32),
    /// The new key did not say that it takes the place of the old one.
    #[error(
        "the new key did not sign that it takes the place of that one; its owner must ask for it"
    )]
    NoKeyWord,
    /// The corners of a thing are no convex polygon.
    #[error("its corners are no convex polygon that runs counter-clockwise")]
    BadCorners,
    /// A right is one that nobody has for an area alone.
    #[error("only the rights build, moderate and land are given for an area")]
    NotForArea,
    /// There is no such land.
    #[error("the sim has no land of this name")]
    NoLand,
    /// No turn up to now brought such words.
    #[error("no turn up to now brought such words")]
    NoSuchWords,
    /// There is no such club.
    #[error("there is no such club")]
    NoClub,
    /// Somebody is no member of the club.
    #[error("only members of the club do that, and that person or the author is none")]
    NotMember,
    /// The author is not the owner of the club.
    #[error("only the owner of the club does that")]
    NotClubOwner,
    /// The author is not invited to the club.
    #[error("the author is not invited to the club, or the invite is over; a member invites again")]
    NoInvite,
    /// A club has a name that looks like this one.
    #[error("a club here has that name, or one that looks like it; take another")]
    ClubNameTaken,
    /// The author is in as many clubs as one person may be.
    #[error("the author is in as many clubs as one person may be; leave one")]
    TooManyClubs,
    /// The sim keeps as many clubs as it can, or as many that newcomers founded.
    #[error("the sim keeps as many clubs as it can; try again later")]
    ClubsFull,
    /// The club has as many members as one may have.
    #[error("the club has as many members as one may have")]
    ClubFull,
    /// As many invites of the club, or to the person, are open as may be.
    #[error(
        "as many invites of the club, or to that person, are open as may be; wait for an answer"
    )]
    TooManyInvites,
    /// The profile is not one that its owner signed, or its picture is another one.
    #[error("that is no profile which the author signed, or its picture is another one")]
    BadProfile,
    /// The sim knows a version of the profile that is as new.
    #[error("the sim knows version {0} of the profile; a newer one takes its place")]
    OldProfile(u32),
    /// The sim keeps as many profiles or pictures as it can.
    #[error("the sim keeps as many profiles and pictures as it can; come back on other days")]
    ProfilesFull,
    /// The owner, or the sim, has as many things of several parts as may be.
    #[error(
        "its owner or the sim has as many things of several parts as may be; delete one of them"
    )]
    TooManyCompounds,
    /// A thing of several parts has no outline that could get another size.
    #[error("a thing of several parts keeps its size")]
    OfParts,
    /// Things cannot be one: they are too few, have too many parts together, or one of them is a line.
    #[error("one thing is made of two different ones or more, of eight parts in all and no line")]
    BadParts,
    /// Somebody else made a thing that is to be a part, and its licence wants her named.
    #[error(
        "somebody else made one of them, and a thing has one author: only what is CC0-1.0 becomes a part"
    )]
    OtherAuthor,
    /// The author is on the way to a neighbour.
    #[error(
        "the author is on the way to a neighbour, which has not answered; log in again to be here"
    )]
    UnderWay,
    /// Luggage takes no such thing.
    #[error(
        "luggage does not take it: nobody owns it, a script made it or is being upgraded on it, it \
         remembers too much, or it came over a border just now"
    )]
    HeldFast,
    /// The author has no such piece of a package: it was never decided, or it left.
    #[error(
        "piece {0} of the package is not there: a minute has passed, or others needed its place; \
         publish it again"
    )]
    MissingPiece(BlobId),
}

impl core::fmt::Display for Outcome {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Ok => f.write_str("ok"),
            Self::Refused(why) => write!(f, "refused: {why}"),
            Self::Made(object) => write!(f, "ok: made object {object}"),
        }
    }
}
