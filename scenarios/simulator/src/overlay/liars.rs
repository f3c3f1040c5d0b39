//! Members of a simulated overlay that lie. Each has a real grant, so honest members meet it.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_raynet::{
    NearerSites, OverlayMessage, SignedSiteRecord, SiteEndpoint, SiteName, SiteTip, TipExchange,
};
use metatopia_types::{Sign, Square};

use crate::Dice;

/// Records that a liar remembers, to forge or to repeat.
const REMEMBERED: usize = 64;

/// Frames that a flooder sends for each that it gets.
const FLOOD: usize = 8;

/// Frames that a liar has for its lies in a cycle: two that answer each other would go on for ever.
const LIES_PER_CYCLE: usize = 200;

/// How a member lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lie {
    /// Names newer records of others than there are, and forges them: with its own address.
    Forge,
    /// Repeats what others sent long ago.
    Replay,
    /// Names sites that do not exist, again and again.
    Flood,
    /// Answers whoever seeks a point with itself.
    BlackHole,
    /// Signs two records of one epoch, and shows each to half of the others.
    Double,
}

impl Lie {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Forge, Self::Replay, Self::Flood, Self::BlackHole, Self::Double];
}

/// A member that lies.
pub struct OverlayLiar {
    lie: Lie,
    own: SignedSiteRecord,
    beacon: Arc<dyn Sign>,
    dice: Dice,
    records: BTreeMap<SiteName, SignedSiteRecord>,
    heard: Vec<OverlayMessage>,
    /// A cycle, and the lies told in it.
    told: (u64, usize),
}

impl core::fmt::Debug for OverlayLiar {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "A liar who would {:?}", self.lie)
    }
}

impl OverlayLiar {
    /// Returns a liar with this record and beacon.
    #[must_use]
    pub fn new(lie: Lie, own: SignedSiteRecord, beacon: Arc<dyn Sign>, dice: Dice) -> Self {
        Self { lie, own, beacon, dice, records: BTreeMap::new(), heard: Vec::new(), told: (0, 0) }
    }

    /// Hears a message. Returns what it says at once, and whether an honest member's answer is left
    /// out.
    pub(crate) fn hears(
        &mut self,
        cycle: u64,
        message: &OverlayMessage,
    ) -> (Vec<OverlayMessage>, bool) {
        if self.told.0 != cycle {
            self.told = (cycle, 0);
        }
        if self.told.1 >= LIES_PER_CYCLE {
            return (Vec::new(), false);
        }
        let (said, is_all) = self.lies(message);
        self.told.1 += said.len();
        (said, is_all)
    }

    fn lies(&mut self, message: &OverlayMessage) -> (Vec<OverlayMessage>, bool) {
        if let OverlayMessage::Records(records) = message {
            let room = REMEMBERED.saturating_sub(self.records.len());
            let news = records.iter().take(room).map(|record| (record.name(), record.clone()));
            self.records.extend(news);
        }
        match (self.lie, message) {
            (Lie::Forge, OverlayMessage::Want(names)) => {
                let known = names.iter().filter_map(|name| self.records.get(name));
                let forged: Vec<SignedSiteRecord> =
                    known.map(|record| self.forge(record)).collect();
                (vec![OverlayMessage::Records(forged)], false)
            }
            (Lie::Replay, _) => {
                if self.heard.len() < REMEMBERED {
                    self.heard.push(message.clone());
                }
                let old = self.heard[self.dice.index(self.heard.len())].clone();
                (vec![old], false)
            }
            (Lie::Flood, _) => ((0..FLOOD).map(|_| self.flood()).collect(), false),
            (Lie::BlackHole, OverlayMessage::Seek { nonce, .. }) => {
                let nearer = vec![self.own.clone()];
                let answer = NearerSites { nonce: *nonce, nearer, owner: None, shelf: Vec::new() };
                (vec![OverlayMessage::Nearer(answer)], true)
            }
            _ => (Vec::new(), false),
        }
    }

    /// Changes what the honest part of it says.
    pub(crate) fn says(&mut self, frame: Vec<u8>) -> Vec<u8> {
        let Ok(message) = OverlayMessage::decode(&frame) else { return frame };
        match (self.lie, message) {
            (Lie::Forge, OverlayMessage::Exchange(half)) => {
                OverlayMessage::Exchange(Self::newer(half)).encode()
            }
            (Lie::Forge, OverlayMessage::Answer(half)) => {
                OverlayMessage::Answer(Self::newer(half)).encode()
            }
            (Lie::Double, OverlayMessage::Answer(mut half)) => {
                let mut own = self.own.record.clone();
                own.clients = self.dice.below(2) as u32;
                half.own = half.own.map(|_| own.sign(&*self.beacon).tip());
                OverlayMessage::Answer(half).encode()
            }
            (Lie::Double, OverlayMessage::Records(mut records)) => {
                let own = self.own.name();
                for record in records.iter_mut().filter(|record| record.name() == own) {
                    record.record.clients = self.dice.below(2) as u32;
                    *record = record.record.clone().sign(&*self.beacon);
                }
                OverlayMessage::Records(records).encode()
            }
            _ => frame,
        }
    }

    fn newer(mut half: TipExchange) -> TipExchange {
        for tip in &mut half.tips {
            tip.epoch.record += 1_000;
        }
        half
    }

    fn forge(&self, record: &SignedSiteRecord) -> SignedSiteRecord {
        let mut forged = record.record.clone();
        forged.epoch.record += 1_000;
        forged.endpoints = self.own.record.endpoints.clone();
        forged.sign(&*self.beacon)
    }

    fn flood(&mut self) -> OverlayMessage {
        let own = self.own.tip();
        let tips = (0..10).map(|_| {
            let name = SiteName(self.dice.below(u64::MAX).to_le_bytes());
            let near = |at: i32, dice: &mut Dice| (at + 2 * dice.below(64) as i32 - 64) & !1;
            let (x, y) = (near(own.square.x, &mut self.dice), near(own.square.y, &mut self.dice));
            SiteTip {
                name,
                epoch: own.epoch,
                mark: own.mark,
                square: Square { x, y, doublings: 0 },
            }
        });
        let tips = tips.collect();
        OverlayMessage::Exchange(TipExchange {
            layer: metatopia_raynet::GossipLayer::Samples,
            own: Some(own),
            tips,
        })
    }
}

/// Says whether a record names only this endpoint, as honest ones here do.
#[must_use]
pub fn is_genuine(record: &SignedSiteRecord, endpoint: &SiteEndpoint) -> bool {
    record.record.endpoints == [endpoint.clone()]
}
