//! What was heard of neighbours, on its way into the turns that this server proposes.
//!
//! A dispatch is a state of the neighbour, so of each border only the newest waits, and an older one
//! that was passed over is no loss. None is handed on to other servers: each has a courier of its own.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_types::{
    Act, Blob, Dispatch, Envelope, Height, Lane, Seq, Sign, SignedEnvelope, SimId, Turn, limits,
};

/// Heights for which the act with a dispatch may be decided. It is signed anew for each proposal.
const VALID_FOR: u64 = 16;

/// Bytes a turn that the log may grow by what is heard at one border, in the long run: 54,000 a second at 20
/// turns. A crowd of fifty that crosses 30 times a second makes dispatches of 5 KiB. Heard in each turn, they
/// took 107,000 bytes a second; heard in every second one, who crosses waits half a turn longer.
const HEARD_BYTES_PER_TURN: usize = 2_700;

/// Bytes that are heard at one border ahead of that pace: the largest parcels, 48 KiB, of three things. Eight such
/// things that rolled back and forth for a minute all crossed within their deadlines.
const HEARD_AHEAD_MAX: usize = 60 * HEARD_BYTES_PER_TURN;

/// Turns after which a border is heard, however far ahead it is: one second, at 50 ms a turn. A border of which nothing
/// is heard for two seconds is a wall.
const SILENT_TURNS_MAX: u32 = 20;

/// Turns without a word of this server's own courier after which it takes what people hand in: 13 s, at 50 ms a turn.
/// While nobody is near, the question of a courier stands for 10 s.
const ALONE_TURNS_MIN: u32 = 260;

/// How a border is heard.
#[derive(Debug, Default)]
struct HeardPace {
    /// Bytes that were heard ahead of [`HEARD_BYTES_PER_TURN`].
    ahead: usize,
    /// Turns since it was heard.
    silent: u32,
    /// How far this server's own courier was told, and the turns since it was told more; none if it never was.
    own: Option<(Height, u32)>,
}

impl HeardPace {
    const fn is_due(&self) -> bool {
        self.ahead <= HEARD_AHEAD_MAX || self.silent >= SILENT_TURNS_MAX
    }

    /// Counts a turn.
    const fn pass(&mut self) {
        self.ahead = self.ahead.saturating_sub(HEARD_BYTES_PER_TURN);
        self.silent = self.silent.saturating_add(1);
        if let Some((_, turns)) = &mut self.own {
            *turns = turns.saturating_add(1);
        }
    }

    /// Counts what a turn tells of the border.
    const fn hear(&mut self, bytes: usize) {
        self.ahead = self.ahead.saturating_add(bytes);
        self.silent = 0;
    }
}

/// A dispatch that was checked.
#[derive(Debug)]
struct WaitingDispatch {
    /// The height of the neighbour's header that it is proved by.
    height: Height,
    blob: Blob,
}

/// The newest dispatch of each border, until a turn takes it.
pub(super) struct Courier {
    sim: SimId,
    signer: Arc<dyn Sign>,
    lane: Lane,
    next_seq: Seq,
    waiting: BTreeMap<SimId, WaitingDispatch>,
    paces: BTreeMap<SimId, HeardPace>,
    /// The border behind this one begins the next turn, so that none is always last.
    last: Option<SimId>,
}

impl core::fmt::Debug for Courier {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Courier with news of {} neighbours", self.waiting.len())
    }
}

impl Courier {
    /// Returns a courier with nothing yet. No act of this server has used the lane.
    pub(super) const fn new(sim: SimId, signer: Arc<dyn Sign>, lane: Lane) -> Self {
        let waiting = BTreeMap::new();
        let paces = BTreeMap::new();
        Self { sim, signer, lane, next_seq: Seq(1), waiting, paces, last: None }
    }

    /// Notes how far this server's own courier was told, whoever told the sim first.
    pub(super) fn told(&mut self, neighbour: SimId, height: Height) {
        let own = &mut self.paces.entry(neighbour).or_default().own;
        // A node that is cut off from its own sim, or lies, tells the same for ever.
        if own.is_none_or(|(known, _)| known < height) {
            *own = Some((height, 0));
        }
    }

    /// Says whether this server's own courier hears a neighbour: it was told more a moment ago.
    pub(super) fn is_told(&self, neighbour: &SimId) -> bool {
        let own = self.paces.get(neighbour).and_then(|pace| pace.own);
        own.is_some_and(|(_, turns)| turns < ALONE_TURNS_MIN)
    }

    /// Keeps a dispatch that was checked, unless a newer one of the same neighbour waits.
    pub(super) fn keep(&mut self, neighbour: SimId, height: Height, dispatch: Vec<u8>) {
        let is_newer = |waiting: &WaitingDispatch| height >= waiting.height;
        if self.waiting.get(&neighbour).is_none_or(is_newer) {
            let waiting = WaitingDispatch { height, blob: Blob(dispatch) };
            self.waiting.insert(neighbour, waiting);
        }
    }

    /// Returns how many dispatches wait, at most one a border.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Forgets what is not of these borders, and what is no newer than what the sim has heard there.
    pub(super) fn forget_heard(&mut self, heard: &BTreeMap<SimId, Height>) {
        let is_news = |neighbour: &SimId, waiting: &mut WaitingDispatch| {
            heard.get(neighbour).is_some_and(|heard| *heard < waiting.height)
        };
        self.waiting.retain(is_news);
        self.paces.retain(|neighbour, _| heard.contains_key(neighbour));
        for neighbour in heard.keys() {
            self.paces.entry(*neighbour).or_default();
        }
    }

    /// Forgets what a decided turn tells as well, or tells more of, and counts its bytes.
    pub(super) fn decided(&mut self, turn: &Turn) {
        self.paces.values_mut().for_each(HeardPace::pass);
        for act in turn.body.acts() {
            let Act::Hear { neighbour, dispatch } = act.envelope.act else { continue };
            let told = turn.body.blobs().iter().find(|blob| blob.id() == dispatch);
            if let Some(pace) = self.paces.get_mut(&neighbour) {
                pace.hear(told.map_or(0, |blob| blob.0.len()));
            }
            let Some(waiting) = self.waiting.get(&neighbour) else { continue };
            // What cannot be read tells nothing; the sim refuses it when it applies the turn.
            let told = told.and_then(|blob| Dispatch::decode(&blob.0).ok());
            if told.is_some_and(|told| reach(&told) >= waiting.height) {
                self.waiting.remove(&neighbour);
            }
        }
    }

    /// Returns acts that tell what waits, for a turn of `height` that this server proposes: at most one a
    /// border, and as many as fit into [`limits::DISPATCHES_BYTES_MAX`], each border in rotation. They wait on
    /// until a turn with them is decided, and while their border is ahead of its pace.
    pub(super) fn hears(&mut self, height: Height) -> Vec<(SignedEnvelope, Blob)> {
        let is_due = |border: &SimId| self.paces.get(border).is_none_or(HeardPace::is_due);
        let all: Vec<SimId> = self.waiting.keys().copied().filter(is_due).collect();
        let behind = |border: &SimId| self.last.is_some_and(|last| *border <= last);
        let (before, after): (Vec<SimId>, Vec<SimId>) = all.into_iter().partition(behind);
        let (mut hears, mut bytes) = (Vec::new(), 0);
        for neighbour in after.into_iter().chain(before) {
            let blob = self.waiting[&neighbour].blob.clone();
            if bytes + blob.0.len() > limits::DISPATCHES_BYTES_MAX {
                break;
            }
            bytes += blob.0.len();
            self.last = Some(neighbour);
            hears.push((self.sign(height, Act::Hear { neighbour, dispatch: blob.id() }), blob));
        }
        hears
    }

    fn sign(&mut self, height: Height, act: Act) -> SignedEnvelope {
        let (signer, seq) = (&*self.signer, self.next_seq);
        self.next_seq = seq.plus(1);
        let (author, last_valid) = (signer.public(), height.plus(VALID_FOR));
        Envelope { sim: self.sim, author, lane: self.lane, seq, last_valid, act }.sign(signer)
    }
}

/// Returns how far a dispatch tells of its sim: the height of its header, or of its last link.
pub(super) fn reach(dispatch: &Dispatch) -> Height {
    let link = || dispatch.links.last().map(|link| link.header.height);
    dispatch.state.as_ref().map(|state| state.header.height).or_else(link).unwrap_or_default()
}

#[cfg(test)]
mod tests;
