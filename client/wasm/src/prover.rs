//! Checking what a session shows: copies of one's own, and roots that servers signed.

use std::collections::BTreeMap;

use metatopia_client::{
    Distrust, LATE_TURNS, LightClient, ProvenSight, ProvenTiles, Sight, UNCHECKED_MAX,
};
use metatopia_protocol::{
    Answer, ServerMessage, TileName, UNSEEN_MAX, ValidatorSetLink, View, ViewProof, decode_server,
};
use metatopia_sim::Parameters;
use metatopia_types::{Digest, Height, Movement, ObjectId, PublicKey, Validator};
use serde::{Deserialize, Serialize};

use crate::{CallError, Path, PredictedWalk, TrustedGenesis, predict};

/// Something that became known about what is seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ProofEvent {
    /// The copies, as they were after turn `of`, are in a state that was signed.
    Proven {
        /// The turn that was proven.
        of: u64,
        /// Of the header that states its root.
        height: u64,
        /// Of the header, in milliseconds since 1970.
        time: u64,
        /// Who built that header.
        proposer: String,
        /// In this round.
        round: u32,
        /// Who signed it.
        signers: Vec<String>,
        /// How many could have.
        members: u32,
        /// How many tiles are proved.
        tiles: usize,
        /// How many in sight were not proved this time.
        lagging: usize,
        /// Those of them that have not been proved for [`LATE_TURNS`] turns: the line is too slow
        /// for them, or they are hidden. East and north, in tiles.
        late: Vec<[i32; 2]>,
        /// The objects in the proved tiles.
        objects: Vec<ObjectId>,
    },
    /// The server lies, or is broken.
    Mismatch {
        /// After the turn of this height.
        of: u64,
        /// `view`, `proof`, `header` or `validators`.
        code: &'static str,
        /// A text that says what differs.
        text: String,
    },
    /// A proof could not be used, which is nobody's fault.
    Unproven {
        /// The turn that it is of.
        of: u64,
        /// `forgotten`, `anew`, `waiting`, or `missing` if no tile in sight is proved.
        code: &'static str,
        /// A text that says why.
        text: String,
    },
    /// Other validators vote by now: ask for changes of the set.
    Links {
        /// After this height.
        after: u64,
    },
    /// A change of the set was checked.
    Followed {
        /// The height of the header.
        height: u64,
        /// Who votes from then on.
        members: Vec<VotingMember>,
    },
}

/// A server that votes, for JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VotingMember {
    /// Its key, in hexadecimal.
    pub key: String,
    /// Its share of the vote.
    pub power: u32,
}

/// What was drawn, in the numbers of [`Movement`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Drawn {
    /// As of the view of this height.
    pub height: u64,
    /// The bodies to be drawn.
    pub bodies: Vec<DrawnBody>,
}

/// Where a body was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct DrawnBody {
    /// The id of the body.
    pub id: ObjectId,
    /// Metres, with 20 fraction bits.
    pub position: [i32; 2],
    /// Cosine and sine, with 30 fraction bits.
    pub facing: [i32; 2],
}

/// What a comparison found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Sameness {
    /// So many bodies were drawn where the copies have them.
    Same {
        /// How many bodies are the same.
        same: usize,
    },
    /// The first that was not.
    Other {
        /// The body that differs.
        id: ObjectId,
        /// The way in which it differs.
        code: BodyDifference,
    },
}

/// In what a drawn body is not that of the copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyDifference {
    /// The copies have no such body.
    Absent,
    /// It is elsewhere.
    Position,
    /// It faces another way.
    Facing,
}

/// A set change is asked for again with every so manieth proof that waits for it.
const ASK_EVERY: u32 = 8;

/// Holds copies of what a session shows, and checks them.
///
/// Feed it every frame of a session, in order. It begins anew at each welcome, so sessions with
/// several servers can follow each other.
#[derive(Debug)]
pub struct Prover {
    light: LightClient,
    parameters: Parameters,
    sight: Sight,
    /// Proofs by validators that are not known yet.
    waiting: Vec<(ProvenTiles, Box<ViewProof>)>,
    waited: u32,
    /// Views that may be answers to an earlier request, so that they need not fit.
    lenient: u32,
    /// Tiles in sight that were not proved the last time, and the first turn of which they were not.
    missed: BTreeMap<TileName, Height>,
}

impl Prover {
    /// Sees nothing yet, and trusts a genesis. The own avatar is that of `viewer`.
    #[must_use]
    pub fn new(trust: TrustedGenesis, viewer: PublicKey) -> Self {
        let parameters = trust.genesis.parameters.clone();
        let (sight, waiting) = (Sight::of(viewer), Vec::new());
        let (light, missed) = (trust.light, BTreeMap::new());
        Self { light, parameters, sight, waiting, waited: 0, lenient: 0, missed }
    }

    /// The session asks for views anew; if it does not say that it has copies, they are not kept.
    pub fn begin(&mut self, keep: bool) {
        if !keep {
            self.sight.clear();
            self.missed.clear();
            self.lenient = UNSEEN_MAX;
        }
    }

    /// The viewer has come into the world, or left it: see [`Sight::set_present`].
    pub const fn present(&mut self, present: bool) {
        self.sight.set_present(present);
    }

    /// What is in sight.
    #[must_use]
    pub const fn sight(&self) -> &Sight {
        &self.sight
    }

    /// Takes a frame of the server in.
    ///
    /// # Errors
    /// When it is no frame of the protocol.
    pub fn frame(&mut self, frame: &[u8]) -> Result<Vec<ProofEvent>, CallError> {
        let message = decode_server(frame).map_err(|error| CallError::new("frame", error))?;
        Ok(match message {
            ServerMessage::Welcome(_) => {
                self.sight.begin();
                self.waiting.clear();
                self.missed.clear();
                self.lenient = 0;
                Vec::new()
            }
            ServerMessage::View(view) => self.view(&view).into_iter().collect(),
            ServerMessage::ViewProof(proof) => self.proof(proof),
            ServerMessage::Answer { answer, .. } => match *answer {
                Answer::Links(links) => self.links(&links),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        })
    }

    fn view(&mut self, view: &View) -> Option<ProofEvent> {
        let inherited = self.sight.is_inherited();
        let lenient = self.lenient > 0;
        self.lenient = self.lenient.saturating_sub(1);
        let error = self.sight.apply(view).err()?;
        let (of, text) = (view.height.0, error.to_string());
        if lenient {
            return None;
        }
        Some(match inherited {
            true => ProofEvent::Unproven { of, code: "anew", text },
            false => ProofEvent::Mismatch { of, code: "view", text },
        })
    }

    fn proof(&mut self, proof: Box<ViewProof>) -> Vec<ProofEvent> {
        let of = proof.of.0;
        let inherited = self.sight.is_inherited();
        let event = match self.sight.check(&proof) {
            Ok(Some(shown)) => return self.believe(shown, proof),
            Ok(None) => {
                let text = "the copies of that turn are forgotten".to_owned();
                ProofEvent::Unproven { of, code: "forgotten", text }
            }
            // The proof is of an earlier request; the copies have begun anew since.
            Err(_) if self.lenient > 0 => return Vec::new(),
            Err(disproof) if inherited => {
                self.sight.clear();
                ProofEvent::Unproven { of, code: "anew", text: disproof.to_string() }
            }
            Err(disproof) => ProofEvent::Mismatch { of, code: "proof", text: disproof.to_string() },
        };
        vec![event]
    }

    fn believe(&mut self, shown: ProvenTiles, proof: Box<ViewProof>) -> Vec<ProofEvent> {
        let of = shown.of.0;
        let proven = match self.light.view(&shown, &proof) {
            Ok(proven) => proven,
            Err(distrust @ Distrust::OtherValidators(_)) => {
                let text = distrust.to_string();
                return self.wait(shown, proof, text);
            }
            Err(distrust) => {
                let text = distrust.to_string();
                return vec![ProofEvent::Mismatch { of, code: "header", text }];
            }
        };
        // Nothing was shown, and so nothing is proved.
        if proven.tiles.is_empty() && proven.lagging.is_empty() {
            return Vec::new();
        }
        if proven.tiles.is_empty() {
            let text = format!("none of {} tiles in sight is proved", proven.lagging.len());
            return vec![ProofEvent::Unproven { of, code: "missing", text }];
        }
        if proven.lagging.is_empty() {
            self.sight.settle();
        }
        let late = self.miss(&proven);
        vec![ProofEvent::Proven {
            of,
            height: proven.header.height.0,
            time: proven.header.time.0,
            proposer: proven.header.proposer.to_string(),
            round: proven.header.round.0,
            signers: proven.signers.iter().map(ToString::to_string).collect(),
            members: proven.members,
            tiles: proven.tiles.len(),
            lagging: proven.lagging.len(),
            late,
            objects: proven.objects.into_iter().collect(),
        }]
    }

    /// Notes what was not proved this time; gives what has not been for too long.
    fn miss(&mut self, proven: &ProvenSight) -> Vec<[i32; 2]> {
        let since = |tile: &TileName| (*tile, *self.missed.get(tile).unwrap_or(&proven.of));
        self.missed = proven.lagging.iter().map(since).collect();
        let late = self.missed.iter().filter(|(_, since)| since.plus(LATE_TURNS) < proven.of);
        late.map(|(tile, _)| [tile.x, tile.y]).collect()
    }

    fn wait(&mut self, shown: ProvenTiles, proof: Box<ViewProof>, text: String) -> Vec<ProofEvent> {
        let of = shown.of.0;
        if self.waiting.len() < UNCHECKED_MAX {
            self.waiting.push((shown, proof));
        }
        let ask = self.waited.is_multiple_of(ASK_EVERY);
        self.waited = self.waited.wrapping_add(1);
        let mut events = vec![ProofEvent::Unproven { of, code: "waiting", text }];
        if ask {
            let after = self.light.newest().minus(1).unwrap_or_default();
            events.push(ProofEvent::Links { after: after.0 });
        }
        events
    }

    fn links(&mut self, links: &[ValidatorSetLink]) -> Vec<ProofEvent> {
        let mut events = Vec::new();
        let waiting = core::mem::take(&mut self.waiting);
        let news = links.iter().filter(|link| link.header.height >= self.light.newest());
        let news: Vec<&ValidatorSetLink> = news.collect();
        for link in &news {
            let of = link.header.height.0;
            if let Err(distrust) = self.light.follow(link) {
                let text = distrust.to_string();
                events.push(ProofEvent::Mismatch { of, code: "validators", text });
                return events;
            }
            let member =
                |each: &Validator| VotingMember { key: each.key.to_string(), power: each.power };
            let members = link.next.members().iter().map(member).collect();
            events.push(ProofEvent::Followed { height: of, members });
        }
        if let ([], [(shown, _), ..]) = (news.as_slice(), waiting.as_slice()) {
            let text = "the header names validators, and nobody knows how they came to vote";
            let (of, text) = (shown.of.0, text.to_owned());
            events.push(ProofEvent::Mismatch { of, code: "validators", text });
            return events;
        }
        self.waited = 0;
        for (shown, proof) in waiting {
            events.extend(self.believe(shown, proof));
        }
        events
    }

    /// Compares what was drawn with the copies; nothing if the copies are of another height by now.
    #[must_use]
    pub fn shown(&self, drawn: &Drawn) -> Option<Sameness> {
        if drawn.height != self.sight.height().0 {
            return None;
        }
        // What has just left a tile may be in an older copy as well: the newest one counts.
        let mut copies: Vec<_> = self.sight.copies().collect();
        copies.sort_by_key(|(_, height, _)| *height);
        let entries = copies.iter().flat_map(|(.., copy)| copy.entries());
        let moves: BTreeMap<ObjectId, Movement> =
            entries.map(|entry| (entry.id, entry.body.movement())).collect();
        let other = |body: &DrawnBody| {
            let code = match moves.get(&body.id) {
                None => BodyDifference::Absent,
                Some(has) if has.position != Some(body.position) => BodyDifference::Position,
                Some(has) if has.facing != Some(body.facing) => BodyDifference::Facing,
                Some(_) => return None,
            };
            Some(Sameness::Other { id: body.id, code })
        };
        let same = Sameness::Same { same: drawn.bodies.len() };
        Some(drawn.bodies.iter().find_map(other).unwrap_or(same))
    }

    /// Where the own avatar will be; nothing while it is not in sight.
    ///
    /// # Errors
    /// When the walk is longer than [`TICKS_MAX`](crate::TICKS_MAX), or a heading is none.
    pub fn predict(&self, walk: &PredictedWalk) -> Result<Option<Path>, CallError> {
        predict::path(&self.sight, &self.parameters, walk)
    }

    /// A digest of all copies: equal copies have equal ones.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let entries = self.sight.copies().flat_map(|(.., copy)| copy.entries());
        let bytes: Vec<u8> = entries.flat_map(|entry| entry.encode()).collect();
        Digest::of("metatopia copies v1", &bytes)
    }
}
