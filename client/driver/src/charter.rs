//! What a sim is by now, out of a state that is certified: of a successor it is not in the genesis.

use std::{collections::VecDeque, time::Duration};

use metatopia_protocol::{
    Answer, LEAVES_PER_QUESTION_MAX, Question, SNAPSHOT_PART_BYTES, SnapshotOffer,
};
use metatopia_sim::{
    Charter, ChatEntry, ChatIndex, ForgottenWords, Governance, KeyFriends, Manifest,
    SNAPSHOT_BYTES_MAX,
};
use metatopia_types::{
    Digest, Height, Millis, PublicKey,
    limits::{LEAF_BYTES_MAX, ROOT_LAG},
    wire,
};

use super::{ClientDriver, ProofError};

/// The leaf that holds governance, with its time.
const GOVERNANCE: &str = "governance";

/// The leaf that holds the friends of all keys, and what those are called into which it is cut.
const FRIENDS: &str = "friends";
const SHELVES: &str = "friends/";

/// The leaf that says who said what of late.
const CHAT: &str = "chat";

/// The leaf that holds the words that were forgotten last, and what those are called into which it is cut.
const FORGOTTEN: &str = "forgotten";
const SHELVES_OF_FORGOTTEN: &str = "forgotten/";

/// Returns the fault of a node that shows a state that it cannot mean.
const fn other() -> ProofError {
    ProofError::Other("another state than the header states")
}

/// The friends of all keys, out of a state that is certified.
#[derive(Debug, Clone)]
pub struct ProvenFriends {
    /// The height of that state.
    pub height: Height,
    /// The time of the header that states it, two turns later.
    pub stated: Millis,
    /// The governance time then.
    pub time: u64,
    /// What the state has of each key, ascending.
    pub friends: Vec<(PublicKey, KeyFriends)>,
}

/// The words of a sim, out of a state that is certified.
#[derive(Debug, Clone)]
pub struct ProvenWords {
    /// What was said of late, the oldest first.
    pub lines: Vec<ChatEntry>,
    /// What was forgotten last, the oldest first.
    pub forgotten: Vec<ForgottenWords>,
}

impl ClientDriver {
    /// Proves the sim's charter, from the newest state whose root is certified, and returns the height of that with it.
    ///
    /// # Errors
    /// See [`ProofError`].
    pub async fn prove_charter(&mut self, wait: Duration) -> Result<(Height, Charter), ProofError> {
        let answer = self.ask_until_known(Question::Charter, wait).await?;
        let Answer::Charter(answer) = answer else {
            return Err(ProofError::instead(&answer));
        };
        self.checked(wait, |light| light.charter(&answer)).await
    }

    /// Proves whom everybody named as friends and which recoveries are open, from the newest snapshot that the
    /// node offers. The node can leave out none of them: the manifest names all leaves.
    ///
    /// # Errors
    /// See [`ProofError`]. Nothing is taken on trust: the header is certified, the manifest has its
    /// root, and each leaf the hash that the manifest says.
    pub async fn prove_friends(&mut self, wait: Duration) -> Result<ProvenFriends, ProofError> {
        let wanted = |key: &str| key == GOVERNANCE || key == FRIENDS || key.starts_with(SHELVES);
        let ((height, stated), leaves) = self.prove_leaves(wait, wanted).await?;
        // Leaves are in the order of their keys.
        let (governance, shelves) = leaves.split_last().ok_or_else(other)?;
        let governance: Governance =
            wire::decode(governance, LEAF_BYTES_MAX).map_err(|_| other())?;
        let mut friends = Vec::new();
        for shelf in shelves {
            let kept: Vec<(PublicKey, KeyFriends)> =
                wire::decode(shelf, LEAF_BYTES_MAX).map_err(|_| other())?;
            friends.extend(kept);
        }
        Ok(ProvenFriends { height, stated, time: governance.time, friends })
    }

    /// Proves who said what of late, by the hashes of the words, from the newest snapshot that the node offers.
    ///
    /// # Errors
    /// See [`ProofError`]. Nothing is taken on trust, as for [`Self::prove_friends`].
    pub async fn prove_lines(&mut self, wait: Duration) -> Result<Vec<ChatEntry>, ProofError> {
        let (_, leaves) = self.prove_leaves(wait, |key| key == CHAT).await?;
        let leaf = leaves.first().ok_or_else(other)?;
        let index: ChatIndex = wire::decode(leaf, LEAF_BYTES_MAX).map_err(|_| other())?;
        Ok(index.0.into())
    }

    /// Proves which words were said of late and which were forgotten last, from the newest snapshot that the node
    /// offers.
    ///
    /// # Errors
    /// See [`ProofError`]. Nothing is taken on trust, as for [`Self::prove_friends`].
    pub async fn prove_words(&mut self, wait: Duration) -> Result<ProvenWords, ProofError> {
        let wanted =
            |key: &str| key == CHAT || key == FORGOTTEN || key.starts_with(SHELVES_OF_FORGOTTEN);
        let (_, leaves) = self.prove_leaves(wait, wanted).await?;
        // Leaves are in the order of their keys.
        let (chat, shelves) = leaves.split_first().ok_or_else(other)?;
        let lines: ChatIndex = wire::decode(chat, LEAF_BYTES_MAX).map_err(|_| other())?;
        let mut forgotten = Vec::new();
        for shelf in shelves {
            let kept: Vec<(u64, ForgottenWords)> =
                wire::decode(shelf, LEAF_BYTES_MAX).map_err(|_| other())?;
            forgotten.extend(kept.into_iter().map(|(_, words)| words));
        }
        Ok(ProvenWords { lines: lines.0.into(), forgotten })
    }

    /// Fetches all leaves of the newest snapshot whose keys are wanted, in the order of their keys, and proves
    /// them. Returns the height of the snapshot as well, and the time of the header that states it.
    async fn prove_leaves(
        &mut self,
        wait: Duration,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<((Height, Millis), Vec<Vec<u8>>), ProofError> {
        let answer = self.ask_until_known(Question::Snapshot, wait).await?;
        let Answer::Snapshot(offer) = answer else {
            return Err(ProofError::instead(&answer));
        };
        self.believe(&offer.header, &offer.certificate, wait).await?;
        // A header states the root of the state two turns before it. By another height an old state would be
        // told as that of now.
        if offer.header.height != offer.height.plus(ROOT_LAG) {
            return Err(other());
        }
        let manifest = self.manifest(&offer, wait).await?;
        manifest.check(offer.header.root).map_err(|_| other())?;
        let all = (0u32..).zip(&manifest.leaves);
        let mut open = all.filter(|(_, leaf)| wanted(&leaf.key.0)).collect::<VecDeque<_>>();
        let mut found = Vec::new();
        while !open.is_empty() {
            let some = open.iter().take(LEAVES_PER_QUESTION_MAX);
            let leaves = some.map(|(place, _)| *place).collect();
            let answer = self.ask(Question::Leaves { height: offer.height, leaves }, wait).await?;
            let Answer::Leaves(contents) = answer else {
                return Err(ProofError::instead(&answer));
            };
            if contents.is_empty() {
                return Err(other());
            }
            for content in contents {
                let (_, leaf) = open.pop_front().ok_or_else(other)?;
                if Digest(blake3::hash(&content).into()) != leaf.hash {
                    return Err(other());
                }
                found.push(content);
            }
        }
        Ok(((offer.height, offer.header.time), found))
    }

    /// Fetches the manifest that an offered snapshot begins with. It is not verified yet.
    async fn manifest(
        &mut self,
        offer: &SnapshotOffer,
        wait: Duration,
    ) -> Result<Manifest, ProofError> {
        let (height, mut beginning) = (offer.height, Vec::new());
        let whole = usize::try_from(offer.bytes).unwrap_or(usize::MAX);
        if whole > SNAPSHOT_BYTES_MAX {
            return Err(ProofError::Other("a snapshot that is longer than any"));
        }
        for part in 0..whole.div_ceil(SNAPSHOT_PART_BYTES) {
            let part = u32::try_from(part).expect("a snapshot has fewer parts");
            let answer = self.ask(Question::SnapshotPart { height, part }, wait).await?;
            let Answer::SnapshotPart(bytes) = answer else {
                return Err(ProofError::instead(&answer));
            };
            // Parts of another length would be asked for until the memory ends.
            if bytes.len() != SNAPSHOT_PART_BYTES.min(whole - beginning.len()) {
                return Err(ProofError::Other("a part of another length"));
            }
            beginning.extend(bytes);
            match Manifest::decode_beginning(&beginning) {
                Ok(Some(manifest)) => return Ok(manifest),
                Ok(None) => {}
                Err(_) => break,
            }
        }
        Err(ProofError::Other("something that is no snapshot"))
    }
}
