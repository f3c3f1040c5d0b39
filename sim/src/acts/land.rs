//! Land: decides what people order of a land office.
//!
//! First act wins: the squares of all grants are apart, and a claim of ground that somebody holds is told
//! who. What a claim costs is a neighbour's word, of which there is one a week, so keys that cost nothing
//! get no land.

use std::collections::BTreeSet;

use metatopia_types::{
    Act, BlobId, GenesisHead, Header, Height, LandGrant, LandOrder, LandSponsor, Link, Millis,
    PublicKey, Refusal, SignedEnvelope, SimId, Square, Validator, ValidatorSet, certified, follow,
    limits::{BEACONS_MAX, RENEWAL_LINKS_MAX},
};

use super::{
    changes::{StateChange, TurnCounts},
    context::{ActContext, ActResult},
    executor::ActExecutor,
};
use crate::{
    limits::{LAND_BYTES_MAX, LAND_SIGNATURES_PER_TURN_MAX, SHOWN_AHEAD_MS_MAX},
    rules::{DAY_MS, LandRegister, lies_on},
    state::{LandClaims, State},
};

/// A change of the register of a land office.
pub(super) enum LandChange {
    /// Grants a square to a sim with these validators. Whoever vouched for it has no other word this week.
    Grant(LandGrant, Vec<Validator>, Option<(PublicKey, Square)>),
    /// Replaces a grant, and who votes in its sim.
    Replace(LandGrant, Vec<Validator>),
    /// Takes a grant out of the register.
    Remove(Square),
}

/// Applies a change of the register.
pub(super) fn apply_land_change(state: &mut State, change: LandChange) {
    let register = state.land.as_mut().expect("only a land office decides such changes");
    match change {
        LandChange::Grant(grant, validators, sponsor) => {
            register.insert(grant, validators);
            register.count(sponsor);
            state.byte_budget.take(LAND_BYTES_MAX);
        }
        LandChange::Replace(grant, validators) => {
            register.replace(grant, validators, state.governance.time);
            state.byte_budget.take(LAND_BYTES_MAX);
        }
        LandChange::Remove(square) => {
            register.remove(square);
        }
    }
}

impl ActExecutor<'_> {
    /// Counts the signatures that a renewal asks to check, whether or not they are good: a turn checks so
    /// many and no more. Orders that are refused before that count none.
    pub(super) fn charge_renewal(
        &self,
        state: &State,
        act: &SignedEnvelope,
        counts: &mut TurnCounts,
    ) {
        counts.has_checks = false;
        let Act::Land { order } = act.envelope.act else {
            return;
        };
        if !counts.is_checked {
            return;
        }
        let context = ActContext::new(self, state, act, counts);
        let Some(signatures) = context.renewal_signatures(order) else {
            return;
        };
        let used = counts.land_signatures.saturating_add(signatures);
        counts.has_checks = used <= LAND_SIGNATURES_PER_TURN_MAX;
        if counts.has_checks {
            counts.land_signatures = used;
        }
    }
}

impl ActContext<'_> {
    /// Decides an order for the land office.
    pub(super) fn land(&self, order: BlobId) -> ActResult {
        let player = StateChange::Player(self.author(), self.renewed_player()?);
        let register = self.state.land.as_ref().ok_or(Refusal::NoLandOffice)?;
        if !self.counts.is_checked {
            return Err(Refusal::TooOften);
        }
        let order = self.land_order(order)?;
        // A renewal changes no keys, so no flood of other orders keeps a grant from being renewed.
        if register.is_busy() && !matches!(order, LandOrder::Renew { .. }) {
            return Err(Refusal::TooOften);
        }
        let change = match order {
            LandOrder::Claim { head, beacons, sponsor } => {
                self.claim(register, &head, beacons, sponsor.as_ref())?
            }
            LandOrder::Renew { square, links, header, certificate } => {
                let grant = self.own_grant(register, square, true)?;
                self.renew(register, grant, &links, &Link { header, certificate, next: vec![] })?
            }
            LandOrder::SetBeacons { square, beacons } => {
                self.check_beacons(&beacons)?;
                let grant = self.own_grant(register, square, false)?;
                let time = self.state.governance.time;
                if let Some(minutes) = register.beacons_wait(grant, &beacons, time) {
                    return Err(Refusal::BeaconsWait(minutes));
                }
                let epoch = grant.epoch.saturating_add(1);
                self.replaced(register, LandGrant { beacons, epoch, ..grant.clone() })?
            }
            LandOrder::Give { square, holder } => {
                let grant = self.own_grant(register, square, false)?;
                if !self.state.players.contains(&holder) {
                    return Err(Refusal::NoPlayer);
                }
                self.check_quota(register, &holder)?;
                self.replaced(register, LandGrant { holder, ..grant.clone() })?
            }
            LandOrder::Release { square } => {
                self.check_not_office(self.own_grant(register, square, false)?)?;
                LandChange::Remove(square)
            }
            LandOrder::TakeBack { square } => self.take_back(register, square)?,
            LandOrder::Succeed { square, head } => self.succeed(register, square, &head)?,
        };
        Ok(vec![StateChange::Land(Box::new(change)), player])
    }

    /// Returns the order that a blob of the turn holds.
    pub(super) fn land_order(&self, order: BlobId) -> Result<LandOrder, Refusal> {
        let blob = self.executor.blobs.get(&order).ok_or(Refusal::NoBlob)?;
        LandOrder::decode(&blob.0).map_err(|_| Refusal::BadOrder)
    }

    fn world(&self) -> SimId {
        self.state.charter.sim
    }

    /// Returns the end of a grant that begins or is renewed now.
    fn until(&self) -> Millis {
        let days = u64::from(self.state.charter.parameters.land_days);
        Millis(self.state.governance.time.saturating_add(days.saturating_mul(DAY_MS)))
    }

    /// Says whether a key is that of an admin: a permanent one, or the temp admin.
    fn is_admin(&self, key: &PublicKey) -> bool {
        let governance = &self.state.governance;
        governance.admins.contains(key) || governance.temp_admin == Some(*key)
    }

    /// Decides a claim.
    fn claim(
        &self,
        register: &LandRegister,
        head: &GenesisHead,
        beacons: Vec<PublicKey>,
        sponsor: Option<&LandSponsor>,
    ) -> Result<LandChange, Refusal> {
        let (sim, author) = (head.id(), self.author());
        let set = head.check().map_err(|_| Refusal::NotOfWorld)?;
        let site = head.site.filter(|site| site.world == self.world());
        let square = site.ok_or(Refusal::NotOfWorld)?.square;
        square.check().map_err(|_| Refusal::BadSquare)?;
        if !head.admins.contains(&author) {
            return Err(Refusal::NotItsAdmin);
        }
        self.check_beacons(&beacons)?;
        if register.sims.contains(&sim) {
            return Err(Refusal::LandTaken(sim));
        }
        if let Some(taken) = register.overlapping(square) {
            return Err(Refusal::LandTaken(taken.sim));
        }
        let parameters = &self.state.charter.parameters;
        let used = match parameters.land_claims {
            LandClaims::Nobody if !self.is_admin(&author) => return Err(Refusal::NoClaims),
            LandClaims::Nobody | LandClaims::Anybody => None,
            LandClaims::Beside => self.sponsor(register, sim, square, sponsor)?,
        };
        self.check_quota(register, &author)?;
        if register.week.granted >= parameters.land_per_week {
            return Err(Refusal::NoSquaresLeft);
        }
        if !register.has_room() || !self.state.byte_budget.has(LAND_BYTES_MAX) {
            return Err(Refusal::Full);
        }
        let grant = LandGrant {
            square,
            sim,
            holder: author,
            beacons,
            // Of two grants of one sim the later has the higher epoch, also when the square was nobody's in
            // between: what its beacons signed under the first is of no use against the second.
            epoch: self.state.clock.height.0,
            until: self.until(),
            shown: Height(0),
        };
        Ok(LandChange::Grant(grant, set.members().to_vec(), used))
    }

    /// Checks that a square touches granted land, and that somebody vouches for the claim. Returns whose
    /// word of this week it takes, with the square beside the claimed one.
    fn sponsor(
        &self,
        register: &LandRegister,
        sim: SimId,
        square: Square,
        sponsor: Option<&LandSponsor>,
    ) -> Result<Option<(PublicKey, Square)>, Refusal> {
        if register.beside(square).next().is_none() {
            return Err(Refusal::Untouched);
        }
        let author = self.author();
        if self.is_admin(&author) {
            return Ok(None);
        }
        let sponsor = sponsor.ok_or(Refusal::NoSponsor)?;
        let is_admin = self.is_admin(&sponsor.holder);
        let own = |grant: &&LandGrant| grant.holder == sponsor.holder;
        let mut beside: Vec<Square> =
            register.beside(square).filter(own).map(|grant| grant.square).collect();
        let scheme = &*self.executor.tools.verify;
        // Whoever has a key that was given up, or lost, speaks for nobody.
        let is_given_up = self.state.people.rotated.contains(&sponsor.holder);
        let speaks = !is_given_up && (is_admin || !beside.is_empty());
        if !speaks || !sponsor.verify(self.world(), sim, square, &author, scheme) {
            return Err(Refusal::NoSponsor);
        }
        if is_admin {
            return Ok(None);
        }
        // Neither the key nor the square speaks twice: squares can be given from key to key.
        let sponsors = &register.week.sponsors;
        beside.retain(|square| !sponsors.values().any(|used| used == square));
        match beside.first() {
            Some(square) if !sponsors.contains_key(&sponsor.holder) => {
                Ok(Some((sponsor.holder, *square)))
            }
            _ => Err(Refusal::SponsorUsed),
        }
    }

    /// Refuses beacons that are none, too many, or no keys.
    fn check_beacons(&self, beacons: &[PublicKey]) -> Result<(), Refusal> {
        let different: BTreeSet<&PublicKey> = beacons.iter().collect();
        let fine = (1..=BEACONS_MAX).contains(&beacons.len())
            && different.len() == beacons.len()
            && beacons.iter().all(|key| self.executor.tools.verify.is_key(key));
        if fine { Ok(()) } else { Err(Refusal::BadBeacons) }
    }

    /// Refuses another square for a key that holds as many as one may.
    fn check_quota(&self, register: &LandRegister, key: &PublicKey) -> Result<(), Refusal> {
        let is_full = register.held_by(key) >= self.state.charter.parameters.land_per_key;
        if is_full { Err(Refusal::TooManySquares) } else { Ok(()) }
    }

    /// Returns the grant of a square that the author holds, or is a beacon of if that is enough.
    fn own_grant<'r>(
        &self,
        register: &'r LandRegister,
        square: Square,
        or_beacon: bool,
    ) -> Result<&'r LandGrant, Refusal> {
        let grant = register.grant_of(square).ok_or(Refusal::NoGrant)?;
        let author = self.author();
        let may = grant.holder == author || (or_beacon && grant.beacons.contains(&author));
        if may { Ok(grant) } else { Err(Refusal::NotYours) }
    }

    /// Refuses what would take the office's own square from it.
    fn check_not_office(&self, grant: &LandGrant) -> Result<(), Refusal> {
        if grant.sim == self.world() { Err(Refusal::OfficeStays) } else { Ok(()) }
    }

    /// Returns the change to another grant of the same sim.
    fn replaced(&self, register: &LandRegister, grant: LandGrant) -> Result<LandChange, Refusal> {
        if !self.state.byte_budget.has(LAND_BYTES_MAX) {
            return Err(Refusal::Full);
        }
        let granted =
            register.sims.get(&grant.sim).expect("each grant has its sim in the register");
        Ok(LandChange::Replace(grant, granted.validators.clone()))
    }

    /// Returns how many signatures a renewal asks to check; nothing if it is refused before that.
    fn renewal_signatures(&self, order: BlobId) -> Option<usize> {
        self.renewed_player().ok()?;
        let register = self.state.land.as_ref()?;
        let LandOrder::Renew { square, links, header, certificate } =
            self.land_order(order).ok()?
        else {
            return None;
        };
        let grant = self.own_grant(register, square, true).ok()?;
        self.check_shown(grant, &links, &header).ok()?;
        let certificates = links.iter().map(|link| &link.certificate).chain([&certificate]);
        Some(certificates.map(|certificate| certificate.signatures.len()).sum())
    }

    /// Refuses a renewal that needs no signature to be refused.
    fn check_shown(
        &self,
        grant: &LandGrant,
        links: &[Link],
        header: &Header,
    ) -> Result<(), Refusal> {
        self.check_not_office(grant)?;
        if links.len() > RENEWAL_LINKS_MAX {
            return Err(Refusal::OutOfRange);
        }
        let (now, days) = (self.state.clock.time.0, self.state.charter.parameters.land_days);
        let old = u64::from(days).saturating_mul(DAY_MS);
        let is_new = header.height > grant.shown
            && header.time.0.saturating_add(old) > now
            && header.time.0 <= now.saturating_add(SHOWN_AHEAD_MS_MAX);
        if is_new { Ok(()) } else { Err(Refusal::OldHeader) }
    }

    /// Decides a renewal: the validators that the office knows lead to those who signed the header.
    fn renew(
        &self,
        register: &LandRegister,
        grant: &LandGrant,
        links: &[Link],
        shown: &Link,
    ) -> Result<LandChange, Refusal> {
        let Link { header, certificate, .. } = shown;
        self.check_shown(grant, links, header)?;
        if !self.counts.has_checks {
            return Err(Refusal::TooOften);
        }
        if !self.state.byte_budget.has(LAND_BYTES_MAX) {
            return Err(Refusal::Full);
        }
        let (sim, scheme) = (grant.sim, &*self.executor.tools.verify);
        let known = register.sims.get(&sim).expect("each grant has its sim in the register").set();
        let set = Self::voters(sim, grant.shown, &known, links, header, scheme)?;
        certified(sim, header, certificate, &set, scheme).map_err(|_| Refusal::NotCertified)?;
        let grant = LandGrant { until: self.until(), shown: header.height, ..grant.clone() };
        Ok(LandChange::Replace(grant, set.members().to_vec()))
    }

    /// Returns who votes at the height of a header, by the set changes from that of the last one shown on.
    fn voters(
        sim: SimId,
        shown: Height,
        known: &ValidatorSet,
        links: &[Link],
        header: &Header,
        scheme: &dyn metatopia_types::Verify,
    ) -> Result<ValidatorSet, Refusal> {
        // The last header itself may have changed who votes after it.
        let from = (shown.minus(1).unwrap_or_default(), known);
        follow(links, sim, from, header.height, scheme).map_err(|_| Refusal::NotCertified)
    }

    /// Decides whether an admin takes back a square whose sim never ran.
    fn take_back(&self, register: &LandRegister, square: Square) -> Result<LandChange, Refusal> {
        let grant = register.grant_of(square).ok_or(Refusal::NoGrant)?;
        self.check_not_office(grant)?;
        let granted =
            register.sims.get(&grant.sim).expect("each grant has its sim in the register");
        if granted.has_run {
            return Err(Refusal::SimRuns);
        }
        Ok(LandChange::Remove(square))
    }

    /// Decides whether a square passes to a successor of its sim.
    fn succeed(
        &self,
        register: &LandRegister,
        square: Square,
        head: &GenesisHead,
    ) -> Result<LandChange, Refusal> {
        let grant = self.own_grant(register, square, false)?;
        self.check_not_office(grant)?;
        let set = head.check().map_err(|_| Refusal::NotSuccessor)?;
        let carries_on = head.parent.is_some_and(|parent| parent.sim == grant.sim);
        if !carries_on || !lies_on(head, self.world(), square) {
            return Err(Refusal::NotSuccessor);
        }
        if !self.state.byte_budget.has(LAND_BYTES_MAX) {
            return Err(Refusal::Full);
        }
        let (sim, epoch) = (head.id(), grant.epoch.saturating_add(1));
        let grant = LandGrant { sim, epoch, shown: Height(0), ..grant.clone() };
        Ok(LandChange::Replace(grant, set.members().to_vec()))
    }
}
