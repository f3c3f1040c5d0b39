//! Acts: what players, admins and servers intend, signed in an envelope.

use alloc::{string::String, vec::Vec};

use metatopia_math::Vec2;
use serde::{Deserialize, Serialize};

use crate::{
    ActId, BlobId, Build, ClubOrder, Digest, Evidence, GovernOrder, Height, Lane, Look, LotOrder,
    NewKeyWord, ObjectId, Offer, Pass, PublicKey, ReportSubject, Seq, Sign, Signature, SimId,
    TicketOrder, Verify, Work, wire,
};

/// What an author wants done. Whether it is done is decided when the turn is applied.
///
/// Its encoding is the number of its kind and its bytes: see [`ACT_NUMBERS`](crate::ACT_NUMBERS).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub enum Act {
    /// Begins a session; the first one of a key makes it a player with an avatar.
    Login {
        /// Shown above the avatar; at most `NAME_BYTES_MAX` bytes, no control characters.
        name: String,
        /// What the avatar looks like.
        look: Look,
        /// Whether a program acts, not a person: bots make room for people, and inherit no sim.
        bot: bool,
        /// What a key that is new to the sim shows, unless the sim is open to every key.
        pass: Option<Pass>,
    },
    /// Ends the session: the avatar leaves at once.
    Leave,
    /// Nothing but a sign of life: renews the presence lease.
    Heartbeat,
    /// Walk in this direction until told otherwise; longer than 1 counts as 1, zero stops.
    Walk {
        /// Direction and share of the walking speed.
        heading: Vec2,
    },
    /// Touch an object in reach: its scripts get `on_touch`.
    Touch {
        /// What is touched.
        object: ObjectId,
    },
    /// Give a movable object in reach a shove, away from the avatar.
    Push {
        /// What is pushed.
        object: ObjectId,
    },
    /// Say something in public; the words are a blob of the same turn.
    Say {
        /// 0 is heard nearby, 1 everywhere in the sim.
        channel: u8,
        /// UTF-8, at most `CHAT_BYTES_MAX` bytes.
        body: BlobId,
    },
    /// A gesture of the avatar.
    Emote(Emote),
    /// Change how the avatar looks.
    SetLook(Look),
    /// An admin changes who votes.
    SetChange(SetChange),
    /// A standby says that it follows: it shows that the state is there.
    Ready {
        /// A recent height at which the sim asks for that.
        height: Height,
        /// A digest over leaves of the state after it, keyed with the standby's own key.
        proof: Digest,
    },
    /// Anybody shows that a validator signed two things at once.
    Report(Evidence),
    /// A builder changes the things of the world.
    Build(Build),
    /// An admin lets people in whom the sim does not know.
    Ticket(TicketOrder),
    /// A permanent admin changes a value of the charter: the sim's name, or an agreed number.
    Amend {
        /// The name of the value.
        name: String,
        /// The new value as a text.
        value: String,
    },
    /// Adds a package of script source to the sim, for everybody to read, attach and fork.
    Publish {
        /// A blob of the same turn: the package in the form in which servers hand it out.
        source: BlobId,
    },
    /// Answers what a thing asked by a form: its scripts get `on_ui`.
    Reply {
        /// The thing that asked.
        object: ObjectId,
        /// What its script calls the form; at most `FORM_TAG_BYTES_MAX` bytes.
        tag: String,
        /// The place of what was chosen among the choices, from 0.
        choice: u8,
        /// The line that was filled in; at most `CHAT_BYTES_MAX` bytes, empty if there was none.
        text: String,
    },
    /// Orders something of the land office of a world.
    Land {
        /// A blob of the same turn: a [`LandOrder`](crate::LandOrder).
        order: BlobId,
    },
    /// Accepts or declines what a thing offered: its script gets `on_answer`.
    Answer {
        /// The thing that made the offer.
        object: ObjectId,
        /// What was offered, as it was shown.
        terms: Offer,
        /// Whether the author agrees.
        accepts: bool,
    },
    /// Takes back all that the author allowed things to do.
    Forbid,
    /// A server says what it heard of a neighbour. Only the proposer of a turn does, once a neighbour.
    Hear {
        /// The sim that says it.
        neighbour: SimId,
        /// A blob of the same turn: a [`Dispatch`](crate::Dispatch).
        dispatch: BlobId,
    },
    /// Announces that the author comes over the border from a neighbour, and asks for a pass. It makes nobody
    /// a player.
    Approach {
        /// The sim that the author comes from.
        from: SimId,
        /// What a key that is new to the sim shows with its first act, where the sim asks for work. Tickets are
        /// for logins: an announcement uses none up.
        work: Option<Work>,
    },
    /// An admin orders something about a border of the sim.
    Border {
        /// A blob of the same turn: a [`BorderOrder`](crate::BorderOrder).
        order: BlobId,
    },
    /// Orders something about people, as an admin or by a role.
    Govern(GovernOrder),
    /// Orders something about a lot: ground of the sim that a person takes.
    Lot(LotOrder),
    /// Goes home: the avatar is where avatars appear, whatever stood around it.
    GoHome,
    /// Sits down on a thing, or stands up.
    Sit {
        /// The thing to sit on; none to stand up.
        on: Option<ObjectId>,
    },
    /// Tells moderators about a thing or a person.
    FileReport {
        /// What the report is about.
        about: ReportSubject,
        /// What is wrong: one line of at most `REPORT_BYTES_MAX` bytes.
        words: String,
    },
    /// Takes back a report of one's own that is open.
    WithdrawReport {
        /// The number of the report.
        report: u64,
    },
    /// Tells one person something that nobody else can read.
    Tell {
        /// Who is told.
        to: PublicKey,
        /// A blob of the same turn: [`SealedWords`](crate::SealedWords).
        sealed: BlobId,
    },
    /// Takes words out of the author's own mailbox.
    EmptyMailbox {
        /// The number of the last words that are taken out.
        up_to: u64,
    },
    /// Names the friends who together may give a key's place to a new one, should the key be lost.
    NameFriends {
        /// Their keys, ascending: at most `FRIENDS_MAX`; none takes back what was named before.
        friends: Vec<PublicKey>,
        /// How many of them it takes.
        need: u8,
    },
    /// A friend says that a new key is that of a person who lost the old one.
    Vouch {
        /// The key that was lost.
        old: PublicKey,
        /// The key that takes its place, and its word for that.
        new: NewKeyWord,
    },
    /// Says that the author's key is not lost: what friends vouched for is void.
    CancelRecovery,
    /// Has every server forget words: one's own, or others' as a moderator. What they did stays.
    Forget {
        /// The turn that brought the words.
        height: Height,
        /// The blob that holds them.
        body: BlobId,
    },
    /// Orders something about a club, or says something there.
    Club(ClubOrder),
    /// Shows others what the author says of herself, or takes that away.
    SetProfile {
        /// A blob of the same turn: a [`SentProfile`](crate::SentProfile). An empty profile takes it away.
        profile: BlobId,
    },
    /// Brings a piece of a package that is too long for one act.
    PublishPiece {
        /// A blob of the same turn, of at most `PACKAGE_PIECE_BYTES_MAX` bytes.
        piece: BlobId,
    },
    /// Adds a package to the sim, as [`Act::Publish`] does, whose pieces the author published before.
    Assemble {
        /// The pieces in their order: together they are the form in which servers hand the package out.
        pieces: Vec<BlobId>,
    },
    /// An act of a later program. This one can name it and check its signature, and decides no turn
    /// that carries it. Stays behind all others.
    Unknown {
        /// The number of its kind, which none of the acts above has.
        number: u16,
        /// What that kind makes of it.
        #[serde(with = "wire::bytes")]
        bytes: Vec<u8>,
    },
}

impl Act {
    /// Says whether this act may bring its key into a sim that asks new keys for something.
    #[must_use]
    pub const fn brings_in(&self) -> bool {
        matches!(self, Self::Login { .. } | Self::Approach { work: Some(_), .. })
    }

    /// Returns the login of a person who shows no pass, as a key does that the sim knows.
    #[must_use]
    pub const fn login(name: String, look: Look) -> Self {
        Self::Login { name, look, bot: false, pass: None }
    }
}

/// Gestures. They last for a moment and are seen by whoever is near.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Emote {
    /// Hello or good-bye.
    Wave,
    /// The avatar says yes.
    Nod,
    /// The avatar shows joy.
    Dance,
    /// The avatar says thanks.
    Bow,
    /// The avatar laughs out loud.
    Laugh,
}

/// A change of who votes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SetChange {
    /// A standby: it becomes a validator by its own `Ready`.
    Add {
        /// The key that signs votes.
        key: PublicKey,
        /// Where its node is reached.
        contact: NodeContact,
    },
    /// Leaves the set, or the standbys.
    Remove {
        /// The key of the server.
        key: PublicKey,
    },
    /// A standby in reserve: once a validator is absent, it takes that one's place by its own
    /// `Ready`.
    Reserve {
        /// The key that signs votes.
        key: PublicKey,
        /// Where its node is reached.
        contact: NodeContact,
    },
}

/// How to reach a validator's node: not part of what is signed in votes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeContact {
    /// The node's libp2p peer id, in its text form.
    pub peer_id: String,
    /// Its libp2p address, in its text form.
    pub address: String,
}

/// An act with who, where and until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// The sim it is meant for: an act cannot be replayed elsewhere.
    pub sim: SimId,
    /// The person whose act it is.
    pub author: PublicKey,
    /// The author's session, a random number.
    pub lane: Lane,
    /// Strictly increasing in the lane; gaps are allowed.
    pub seq: Seq,
    /// The last height whose turn may carry it.
    pub last_valid: Height,
    /// What is to be done.
    pub act: Act,
}

impl Envelope {
    /// Returns the digest that names the act and that is signed.
    #[must_use]
    pub fn id(&self) -> ActId {
        ActId(Digest::of("metatopia act v1", &wire::encode(self)))
    }

    /// Puts the author's signature on it.
    #[must_use]
    pub fn sign(self, key: &dyn Sign) -> SignedEnvelope {
        let signature = key.sign(self.id().bytes());
        SignedEnvelope { envelope: self, signature }
    }
}

/// An envelope with its author's signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedEnvelope {
    /// What is signed.
    pub envelope: Envelope,
    /// The signature by `envelope.author` over the act's id.
    pub signature: Signature,
}

impl SignedEnvelope {
    /// Checks the author's signature, and those of the ticket or the rotation that the act shows.
    #[must_use]
    pub fn verify(&self, scheme: &dyn Verify) -> bool {
        let Envelope { sim, author, act, .. } = &self.envelope;
        let lets_in = match act {
            Act::Login { pass: Some(Pass::Ticket(ticket)), .. } => {
                ticket.verify(*sim, author, scheme)
            }
            Act::Login { pass: Some(Pass::Rotation(rotation)), .. } => {
                rotation.new == *author && rotation.verify(scheme)
            }
            _ => true,
        };
        lets_in && scheme.verify(author, self.envelope.id().bytes(), &self.signature)
    }

    /// The act's id.
    #[must_use]
    pub fn id(&self) -> ActId {
        self.envelope.id()
    }
}
