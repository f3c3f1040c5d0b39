//! Answers to questions: from memory, from the world, or from the log.

use std::time::Duration;

use metatopia_consensus::Decision;
use metatopia_protocol::{
    Answer, GENESIS_PART_BYTES, LoginTerms, OrderEntry, Question, ReceiptAnswer,
    TURNS_PER_ANSWER_MAX, ValidatorSetLink,
};
use metatopia_sim::{FirstLogin, FirstLogins, Received, Standing, Standings, describe};
use metatopia_types::{
    Certificate, Header, Height, Now, PublicKey, Receipt, ValidatorSet, limits, merkle,
};

use crate::{
    Asker, Effect, PeerMessage, Reader, Replica, facts, replica::QUESTIONS_MAX, snapshot_offers,
};

/// The longest time that a question for a receipt waits for missing turns. Recent turns are back in a
/// few seconds, if any peer has them.
pub(crate) const HELD_UP: Duration = Duration::from_secs(10);

impl Replica {
    /// Queues a question. It is answered once the world is at hand.
    pub(crate) fn ask(&mut self, asker: Asker, question: Question) {
        let waiting = self.questions.len() + self.loading.len() + self.held.len();
        if waiting >= QUESTIONS_MAX {
            return self.reply(asker, Answer::Busy);
        }
        self.questions.push_back((asker, question));
    }

    /// Sends an answer to the asker of a question.
    pub(crate) fn reply(&mut self, asker: Asker, answer: Answer) {
        match asker {
            Asker::Client(client, id) => self.sessions.answer(client, id, answer),
            Asker::RepeatedAct(client) => self.receipt_again(client, answer),
            Asker::UsedSeq(client, act, seq) => self.receipt_or_refusal(client, act, seq, answer),
            Asker::Driver(token) => self.publish(Effect::Answer { token, answer }),
            Asker::Peer(peer, id) => {
                let encode = |answer| PeerMessage::Answer { id, answer: Box::new(answer) }.encode();
                let mut frame = encode(answer);
                if frame.len() > metatopia_protocol::SERVER_FRAME_BYTES_MAX {
                    // As for clients: no session takes a frame of this size.
                    frame = encode(Answer::TooLong);
                }
                self.publish(Effect::ToPeer { to: Some(peer), frame });
            }
        }
    }

    /// Does this question ask for a receipt whose act may be in a turn that is missing here?
    pub(crate) fn is_held_up(&self, question: &Question) -> bool {
        let Question::Receipt { author, lane, seq } = question else {
            return false;
        };
        self.lacks_recent_turns() && self.archive.place(*author, *lane, *seq).is_none()
    }

    /// Looks again at the questions that wait for missing turns.
    pub(crate) fn look_at_held(&mut self, now: Now) {
        for (since, asker, question) in std::mem::take(&mut self.held) {
            if !self.is_held_up(&question) {
                self.questions.push_back((asker, question));
            } else if now.monotonic >= since + HELD_UP {
                self.reply(asker, Answer::Unknown);
            } else {
                self.held.push_back((since, asker, question));
            }
        }
    }

    /// Answers a question, or has the turns that it needs read from the log.
    pub(crate) fn answer(&mut self, asker: Asker, question: Question) {
        // The client may have had many answers since it asked.
        if let Asker::Client(client, _) = asker
            && self.sessions.is_sated(client)
        {
            return self.reply(asker, Answer::Busy);
        }
        if let Question::Join(request) = question {
            let answer = self.join(asker, &request);
            return self.reply(asker, answer);
        }
        if let Some((height, count)) = self.missing(&question) {
            let load = self.next_load;
            self.next_load = self.next_load.wrapping_add(1);
            self.loading.insert(load, (asker, question));
            let reader = Reader::Question(load);
            return self.publish(Effect::Load { reader, from: height, count });
        }
        if question == Question::Governance
            && let Some(world) = self.world.as_deref()
        {
            // The answer takes a look at every known player, so it is computed once a turn.
            self.archive.govern(world.height(), || facts::governance(world));
        }
        let answer = self.answer_from(&question, &[]);
        self.reply(asker, answer);
    }

    /// Answers a question with the turns that came from the log.
    pub(crate) fn loaded(
        &mut self,
        load: u64,
        decisions: &[Decision],
        (oldest, next): (Height, Option<Height>),
    ) {
        if let Some((asker, question)) = self.loading.remove(&load) {
            // A peer that fetches turns in order continues behind those that are missing.
            let next = next.filter(|_| matches!(question, Question::Turns { .. }));
            let oldest = next.unwrap_or(oldest);
            let pruned = self.missing(&question).is_some_and(|(from, _)| from < oldest);
            let answer = match pruned && decisions.is_empty() {
                true => Answer::Pruned { oldest },
                false => self.answer_from(&question, decisions),
            };
            self.reply(asker, answer);
        }
    }

    /// Returns the first height and the number of turns that the question needs from the log.
    fn missing(&self, question: &Question) -> Option<(Height, u32)> {
        let (from, count) = match question {
            Question::Turn { height } => (*height, 1),
            Question::Receipt { author, lane, seq } => {
                (self.archive.place(*author, *lane, *seq)?.height, 1)
            }
            Question::Outcomes { height } => (height.plus(limits::ROOT_LAG), 1),
            Question::Root { height } if self.archive.root(*height).is_some() => return None,
            Question::Root { height } => (height.plus(limits::ROOT_LAG), 1),
            Question::Turns { from } => (*from, TURNS_PER_ANSWER_MAX as u32),
            Question::Snapshot => (self.snapshot_offers.stated(self.agreement.height())?, 1),
            Question::Links { .. }
            | Question::Source { .. }
            | Question::Order { .. }
            | Question::Players
            | Question::Scripts { .. }
            | Question::Genesis
            | Question::GenesisPart { .. }
            | Question::SnapshotPart { .. }
            | Question::Leaves { .. }
            | Question::Join(_)
            | Question::Applicants
            | Question::Servers
            | Question::Governance
            | Question::Tickets
            | Question::LoginTerms { .. }
            | Question::Things { .. } => return None,
        };
        let decided = from.0 >= 1 && from < self.agreement.height();
        (decided && self.agreement.decision(from).is_none()).then_some((from, count))
    }

    fn decision<'a>(&'a self, height: Height, loaded: &'a [Decision]) -> Option<&'a Decision> {
        self.agreement
            .decision(height)
            .map(AsRef::as_ref)
            .or_else(|| loaded.iter().find(|decision| decision.height() == height))
    }

    /// Returns what a login of this key needs at the height under way.
    fn login_terms(&self, key: &PublicKey) -> LoginTerms {
        let register = &self.ledger.register;
        let height = self.ledger.windows.height().plus(1);
        match register.first_login() {
            _ if register.standing(key, height) > Standing::Stranger => LoginTerms::Free,
            FirstLogin::Open => LoginTerms::Free,
            FirstLogin::Closed => LoginTerms::Closed,
            FirstLogin::Invite => LoginTerms::Ticket,
            FirstLogin::Work => {
                let anchor = register.first_logins().newest_anchor(height);
                let tries = FirstLogins::tries(anchor, register.parameters().first_login_tries);
                LoginTerms::Work { height: anchor.height, header: anchor.header, tries }
            }
        }
    }

    /// Returns a part of the genesis. The part after the last full one is empty.
    fn genesis_part(&self, part: u32) -> Option<Vec<u8>> {
        let genesis = self.config.genesis.as_slice();
        let from = usize::try_from(part).ok()?.checked_mul(GENESIS_PART_BYTES)?;
        let rest = genesis.get(from..)?;
        Some(rest[..rest.len().min(GENESIS_PART_BYTES)].to_vec())
    }

    fn answer_from(&self, question: &Question, loaded: &[Decision]) -> Answer {
        let found = match question {
            Question::Genesis => self.genesis_part(0).map(Answer::Genesis),
            Question::GenesisPart { part } => self.genesis_part(*part).map(Answer::GenesisPart),
            Question::Turn { height } => self.decision(*height, loaded).map(|decision| {
                let turn = decision.turn.as_ref().clone();
                Answer::Turn(Box::new((turn, decision.certificate.clone())))
            }),
            Question::Receipt { author, lane, seq } => {
                self.archive.place(*author, *lane, *seq).and_then(|place| {
                    let decision = self.decision(place.height, loaded)?;
                    let receipt = receipt(decision, place.index)?;
                    let act = decision.turn.body.acts().get(place.index as usize)?.clone();
                    let outcome = place.outcome;
                    Some(Answer::Receipt(Box::new(ReceiptAnswer { act, receipt, outcome })))
                })
            }
            Question::Outcomes { height } => {
                let decision = self.decision(height.plus(limits::ROOT_LAG), loaded);
                decision.zip(self.archive.outcomes(*height)).map(|(decision, proof)| {
                    let (header, certificate) = certified(decision);
                    Answer::Outcomes(Box::new((proof.clone(), header, certificate)))
                })
            }
            Question::Root { height } => {
                let stated = self.decision(height.plus(limits::ROOT_LAG), loaded);
                let known = self.archive.root(*height);
                known.or_else(|| stated.map(|d| d.turn.header.root)).map(Answer::Root)
            }
            Question::Links { after } => Some(Answer::Links(self.links(*after))),
            // Genesis is no turn.
            Question::Turns { from } => (from.0 >= 1).then(|| {
                let heights = (from.0..self.agreement.height().0).map(Height);
                snapshot_offers::turns(heights.map_while(|height| self.decision(height, loaded)))
            }),
            Question::Snapshot => self
                .snapshot_offers
                .stated(self.agreement.height())
                .and_then(|height| self.decision(height, loaded))
                .and_then(|decision| self.snapshot_offers.offer(decision)),
            Question::SnapshotPart { height, part } => self.snapshot_offers.part(*height, *part),
            Question::Leaves { height, leaves } => self.snapshot_offers.leaves(*height, leaves),
            Question::Applicants => Some(Answer::Applicants(self.followers.applicants())),
            Question::LoginTerms { key } => Some(Answer::LoginTerms(self.login_terms(key))),
            Question::Servers => Some(Answer::Servers(self.endpoints.known().cloned().collect())),
            Question::Source { .. }
            | Question::Order { .. }
            | Question::Players
            | Question::Scripts { .. }
            | Question::Governance
            | Question::Tickets
            | Question::Join(_)
            | Question::Things { .. } => self.answer_from_world(question),
        };
        found.unwrap_or(Answer::Unknown)
    }

    fn answer_from_world(&self, question: &Question) -> Option<Answer> {
        let world = self.world()?;
        match question {
            Question::Source { package } => {
                let package = world.package(package)?;
                Some(Answer::Source(package.encode()))
            }
            Question::Order { height, script } => {
                let events = self.archive.order(*height)?.iter();
                let own = events.filter(|event| event.script == *script);
                Some(Answer::Order(own.map(entry).collect()))
            }
            Question::Players => Some(Answer::Players(facts::players(world))),
            Question::Scripts { after } => Some(Answer::Scripts(facts::scripts(world, *after))),
            Question::Tickets => Some(Answer::Tickets(facts::tickets(world))),
            Question::Things { owner } => Some(Answer::Things(facts::things(world, owner))),
            Question::Governance => {
                let known = self.archive.governance();
                let known = known.filter(|(height, _)| *height == world.height());
                known.map(|(_, entry)| Answer::Governance(Box::new(entry.clone())))
            }
            _ => None,
        }
    }

    /// Returns every set change that a receipt can rely on. A server that catches up decides up to three
    /// turns ahead of its world, so the height of the world is no measure.
    fn links(&self, after: Height) -> Vec<ValidatorSetLink> {
        let links = self.agreement.links();
        links
            .iter()
            .filter(|link| link.header.height > after)
            .take(ValidatorSetLink::PER_ANSWER_MAX)
            .filter_map(|link| {
                let next = ValidatorSet::new(link.next.clone(), |_| true).ok()?;
                let (header, certificate) = (link.header.clone(), link.certificate.clone());
                Some(ValidatorSetLink { header, certificate, next })
            })
            .collect()
    }
}

/// Returns the receipt of the act at this place of a decided turn.
pub(crate) fn receipt(decision: &Decision, index: u32) -> Option<Receipt> {
    let place = merkle::Proof::of(&decision.turn.body.act_leaves(), index as usize)?;
    let (header, certificate) = certified(decision);
    Some(Receipt { header, certificate, place })
}

fn certified(decision: &Decision) -> (Header, Certificate) {
    (decision.turn.header.clone(), decision.certificate.clone())
}

fn entry(received: &Received) -> OrderEntry {
    let (tick, sender) = (received.tick, received.from);
    OrderEntry { tick, sender, event: describe(&received.event) }
}
