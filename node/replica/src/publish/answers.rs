//! Answers to questions: from memory, from the world, or from the log.

use std::{mem, time::Duration};

use metatopia_consensus::Decision;
use metatopia_protocol::{
    Answer, DispatchQuestion, GENESIS_PART_BYTES, NEIGHBOUR_NODES_MAX, OrderEntry, Question,
    ReceiptAnswer, SERVER_FRAME_BYTES_MAX, TURNS_PER_ANSWER_MAX, ValidatorSetLink,
};
use metatopia_sim::{Received, describe};
use metatopia_types::{
    Certificate, Header, Height, PublicKey, Receipt, SimId, ValidatorSet, limits, merkle,
};

use super::{Publisher, clubs, facts, friends, people, standing::Taken};
use crate::{
    Asker, Config, Effect, PeerMessage, Reader,
    context::ReplicaContext,
    execution::{archive::DecidedAct, snapshot_offers},
};

impl Publisher {
    /// Queues a question. It is answered once the world is at hand. Returns false if too many wait.
    pub(crate) fn ask(&mut self, asker: Asker, question: Question) -> bool {
        self.questions.push(asker, question)
    }

    /// Returns how many questions wait.
    pub(crate) fn question_count(&self) -> usize {
        self.questions.len() + self.standing.len()
    }

    /// Returns when to look at the questions that wait for missing turns, in monotonic time.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.questions.deadline().into_iter().chain(self.standing.deadline()).min()
    }

    /// Looks again at the questions that wait for missing turns. Returns the askers of those that
    /// waited too long.
    pub(crate) fn look_at_held(&mut self, ctx: &ReplicaContext<'_>) -> Vec<Asker> {
        let is_held_up = |question: &Question| is_held_up(ctx, question);
        self.questions.look_at_held(ctx.now.monotonic, is_held_up)
    }

    /// Returns the next question to answer. A question for a receipt waits if its act may be in a turn
    /// that is missing here.
    pub(crate) fn next_question(&mut self, ctx: &ReplicaContext<'_>) -> Option<(Asker, Question)> {
        loop {
            let (asker, question) = self.questions.pop()?;
            if !is_held_up(ctx, &question) {
                return Some((asker, question));
            }
            self.questions.hold(ctx.now.monotonic, asker, question);
        }
    }

    /// Returns the answers to questions that stood for long enough, or that news answers.
    pub(crate) fn look_at_standing(&mut self, ctx: &ReplicaContext<'_>) -> Vec<(Asker, Answer)> {
        let let_go = mem::take(&mut self.let_go).into_iter().map(|asker| (asker, Answer::Unknown));
        let said = ctx.execution.said();
        let decision = |height| decision(ctx, height, &[]);
        let due = self.standing.due(ctx.now.monotonic, |sim| said.news(sim, decision));
        let answer = |(asker, question): (Asker, DispatchQuestion)| {
            let dispatch = said.dispatch(&question, ctx.agreement.links(), decision);
            (asker, dispatch.map_or(Answer::Unknown, Answer::Dispatch))
        };
        let_go.chain(due.into_iter().map(answer)).collect()
    }

    /// Has a question of a neighbour's courier stand until there is news. Returns the answer, if it is
    /// none of the neighbours.
    fn stand(
        &mut self,
        ctx: &ReplicaContext<'_>,
        asker: Asker,
        question: DispatchQuestion,
    ) -> Option<Answer> {
        if !ctx.execution.said().knows(question.neighbour) {
            return Some(Answer::Unknown);
        }
        match self.standing.take(ctx.now.monotonic, asker, question) {
            Taken::Full => Some(Answer::Busy),
            Taken::AllFull => {
                let decision = |height| decision(ctx, height, &[]);
                let links = ctx.agreement.links();
                let dispatch = ctx.execution.said().dispatch(&question, links, decision);
                Some(dispatch.map_or(Answer::Busy, Answer::Dispatch))
            }
            Taken::Stands(replaced) => {
                self.let_go.extend(replaced);
                None
            }
        }
    }

    /// Notes where the nodes of a neighbour are.
    pub(crate) fn note_neighbour_nodes(&mut self, neighbour: SimId, mut nodes: Vec<String>) {
        nodes.truncate(NEIGHBOUR_NODES_MAX);
        self.neighbour_nodes.insert(neighbour, nodes);
    }

    /// Answers a question, or has the turns that it needs read from the log.
    pub(crate) fn answer(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        asker: Asker,
        question: Question,
    ) -> Option<Answer> {
        if let Question::Dispatch(asked) = question {
            return self.stand(ctx, asker, asked);
        }
        if let Some((height, count)) = missing(ctx, &question) {
            let reader = Reader::Question(self.questions.load(asker, question));
            ctx.publish(Effect::Load { reader, from: height, count });
            return None;
        }
        if question == Question::Governance
            && let Some(world) = ctx.execution.world()
            && self.governance.as_ref().is_none_or(|(known, _)| *known != world.height())
        {
            // The answer takes a look at every known player, so it is computed once a turn.
            self.governance = Some((world.height(), facts::governance(world)));
        }
        Some(self.answer_from(ctx, &question, &[]))
    }

    /// Returns the answer to a question with the turns that came from the log, and its asker.
    pub(crate) fn loaded(
        &mut self,
        ctx: &ReplicaContext<'_>,
        load: u64,
        decisions: &[Decision],
        (oldest, next): (Height, Option<Height>),
    ) -> Option<(Asker, Answer)> {
        let (asker, question) = self.questions.loaded(load)?;
        // A peer that fetches turns in order continues behind those that are missing.
        let next = next.filter(|_| matches!(question, Question::Turns { .. }));
        let oldest = next.unwrap_or(oldest);
        let pruned = missing(ctx, &question).is_some_and(|(from, _)| from < oldest);
        let answer = match pruned && decisions.is_empty() {
            true => Answer::Pruned { oldest },
            false => self.answer_from(ctx, &question, decisions),
        };
        Some((asker, answer))
    }

    /// Returns a turn without what was forgotten of it.
    fn shown_turn(&self, decision: &Decision) -> Answer {
        Answer::Turn(Box::new((self.shown(&decision.turn), decision.certificate.clone())))
    }

    fn answer_from(
        &self,
        ctx: &ReplicaContext<'_>,
        question: &Question,
        loaded: &[Decision],
    ) -> Answer {
        let archive = ctx.execution.archive();
        let offers = ctx.execution.snapshot_offers();
        let decision = |height| decision(ctx, height, loaded);
        let found = match question {
            Question::Genesis => genesis_part(ctx.config, 0).map(Answer::Genesis),
            Question::GenesisPart { part } => {
                genesis_part(ctx.config, *part).map(Answer::GenesisPart)
            }
            Question::Turn { height } => decision(*height).map(|found| self.shown_turn(found)),
            Question::Receipt { author, lane, seq } => {
                let place = archive.place(*author, *lane, *seq);
                place.and_then(|place| receipt_answer(&place, decision(place.height)?))
            }
            Question::Outcomes { height } => {
                let decision = decision(height.plus(limits::ROOT_LAG));
                decision.zip(archive.outcomes(*height)).map(|(decision, proof)| {
                    let (header, certificate) = certified(decision);
                    Answer::Outcomes(Box::new((proof.clone(), header, certificate)))
                })
            }
            Question::Root { height } => {
                let stated = decision(height.plus(limits::ROOT_LAG));
                let known = archive.root(*height);
                known.or_else(|| stated.map(|d| d.turn.header.root)).map(Answer::Root)
            }
            Question::Land { point } => {
                let proof = ctx.execution.land().proof(*point, decision);
                proof.map(|proof| Answer::Land(Box::new(proof)))
            }
            Question::Orders { below } => ctx.execution.leaves().page(*below, decision),
            Question::Charter => ctx.execution.leaves().charter(decision),
            Question::Profiles { of } => ctx.execution.leaves().profiles(of, decision),
            Question::Links { after } => Some(Answer::Links(links(ctx, *after))),
            // Genesis is no turn.
            Question::Turns { from } => (from.0 >= 1).then(|| turns_from(ctx, *from, &decision)),
            Question::Snapshot => offers
                .stated(ctx.agreement.height())
                .and_then(decision)
                .and_then(|decision| offers.offer(decision)),
            Question::SnapshotPart { height, part } => offers.part(*height, *part),
            Question::Leaves { height, leaves } => offers.leaves(*height, leaves),
            Question::Source { .. }
            | Question::Order { .. }
            | Question::Players
            | Question::Scripts { .. }
            | Question::Governance
            | Question::Tickets
            | Question::Packages { .. }
            | Question::Borders { .. }
            | Question::Lots { .. }
            | Question::Joints { .. }
            | Question::Reports { .. }
            | Question::Mailbox { .. }
            | Question::Picture { .. }
            | Question::Friends { .. }
            | Question::TryFriends { .. }
            | Question::TryChange(_)
            | Question::Clubs { .. }
            | Question::Person { .. }
            | Question::People { .. }
            | Question::DryRun(_)
            | Question::Things { .. } => self.answer_from_world(ctx, question),
            Question::Dispatch(_) => unreachable!("a question for a dispatch stands"),
            Question::Applicants
            | Question::Servers
            | Question::LoginTerms { .. }
            | Question::HandIn(_)
            | Question::Join(_) => unreachable!("ingress and membership answer {question:?}"),
        };
        found.unwrap_or(Answer::Unknown)
    }

    fn answer_from_world(&self, ctx: &ReplicaContext<'_>, question: &Question) -> Option<Answer> {
        let world = ctx.execution.world()?;
        match question {
            Question::Source { package } => {
                let source = world.package(package).map(|found| Answer::Source(found.encode()));
                let left = || world.publication(package)?.left.map(Answer::SourceLeft);
                source.or_else(left)
            }
            Question::Order { height, script } => {
                let events = ctx.execution.archive().order(*height)?.iter();
                let own = events.filter(|event| event.script == *script);
                Some(Answer::Order(own.map(entry).collect()))
            }
            Question::Players => Some(Answer::Players(facts::players(world))),
            Question::Scripts { after } => Some(Answer::Scripts(facts::scripts(world, *after))),
            Question::Tickets => Some(Answer::Tickets(facts::tickets(world))),
            Question::Borders { of } => {
                Some(Answer::Borders(facts::borders(world, &self.neighbour_nodes, *of)))
            }
            Question::Lots { after } => Some(Answer::Lots(facts::lots(world, *after))),
            Question::Joints { near } => Some(Answer::Joints(facts::joints(world, *near))),
            Question::Reports { after } => Some(Answer::Reports(people::reports(world, *after))),
            Question::Mailbox { of, after } => Some(people::mailbox(world, *of, *after)),
            Question::Picture { of } => {
                world.picture(of).map(|picture| Answer::Picture(picture.to_vec()))
            }
            Question::Friends { of } => Some(friends::friends(world, *of)),
            Question::TryFriends { author, act } => Some(friends::attempt(world, *author, act)),
            Question::Clubs { of, after } => Some(clubs::clubs(world, *of, *after)),
            Question::Packages { after } => Some(Answer::Packages(facts::packages(world, *after))),
            Question::Person { key } => Some(Answer::Person(Box::new(people::person(world, *key)))),
            Question::People { after } => Some(Answer::People(people::governed(world, *after))),
            Question::DryRun(intended) => {
                Some(Answer::DryRun(Box::new(people::dry_run(world, intended))))
            }
            Question::TryChange(intended) => {
                Some(Answer::Change(Box::new(people::try_change(world, intended))))
            }
            Question::Things { owner } => Some(Answer::Things(facts::things(world, owner))),
            Question::Governance => {
                let known =
                    self.governance.as_ref().filter(|(height, _)| *height == world.height());
                known.map(|(_, entry)| Answer::Governance(Box::new(entry.clone())))
            }
            _ => None,
        }
    }
}

/// Returns whether this question asks for a receipt whose act may be in a turn that is missing here.
fn is_held_up(ctx: &ReplicaContext<'_>, question: &Question) -> bool {
    let Question::Receipt { author, lane, seq } = question else {
        return false;
    };
    ctx.lacks_turns && ctx.execution.archive().place(*author, *lane, *seq).is_none()
}

/// Publishes the answer to a question of a peer.
pub(crate) fn answer_peer(ctx: &mut ReplicaContext<'_>, peer: PublicKey, id: u32, answer: Answer) {
    let encode = |answer| PeerMessage::Answer { id, answer: Box::new(answer) }.encode();
    let mut frame = encode(answer);
    if frame.len() > SERVER_FRAME_BYTES_MAX {
        // As for clients: no session takes a frame of this size.
        frame = encode(Answer::TooLong);
    }
    ctx.publish(Effect::ToPeer { to: Some(peer), frame });
}

/// Returns the first height and the number of turns that the question needs from the log.
fn missing(ctx: &ReplicaContext<'_>, question: &Question) -> Option<(Height, u32)> {
    let archive = ctx.execution.archive();
    let (from, count) = match question {
        Question::Turn { height } => (*height, 1),
        Question::Receipt { author, lane, seq } => (archive.place(*author, *lane, *seq)?.height, 1),
        Question::Outcomes { height } => (height.plus(limits::ROOT_LAG), 1),
        Question::Root { height } if archive.root(*height).is_some() => return None,
        Question::Root { height } => (height.plus(limits::ROOT_LAG), 1),
        Question::Turns { from } => (*from, TURNS_PER_ANSWER_MAX as u32),
        Question::Snapshot => (ctx.execution.snapshot_offers().stated(ctx.agreement.height())?, 1),
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
        | Question::HandIn(_)
        | Question::Applicants
        | Question::Servers
        | Question::Governance
        | Question::Tickets
        | Question::Packages { .. }
        | Question::LoginTerms { .. }
        | Question::Land { .. }
        | Question::Dispatch(_)
        | Question::Borders { .. }
        | Question::Lots { .. }
        | Question::Joints { .. }
        | Question::Reports { .. }
        | Question::Mailbox { .. }
        | Question::Profiles { .. }
        | Question::Picture { .. }
        | Question::Friends { .. }
        | Question::TryFriends { .. }
        | Question::TryChange(_)
        | Question::Clubs { .. }
        | Question::Person { .. }
        | Question::People { .. }
        | Question::DryRun(_)
        | Question::Orders { .. }
        | Question::Charter
        | Question::Things { .. } => return None,
    };
    let decided = from.0 >= 1 && from < ctx.agreement.height();
    (decided && ctx.agreement.decision(from).is_none()).then_some((from, count))
}

/// Returns a decision from memory, or from those that came from the log.
fn decision<'a>(
    ctx: &'a ReplicaContext<'_>,
    height: Height,
    loaded: &'a [Decision],
) -> Option<&'a Decision> {
    ctx.agreement
        .decision(height)
        .map(AsRef::as_ref)
        .or_else(|| loaded.iter().find(|decision| decision.height() == height))
}

/// Returns as many decided turns from this height on as fit an answer.
fn turns_from<'a>(
    ctx: &ReplicaContext<'_>,
    from: Height,
    decision: &dyn Fn(Height) -> Option<&'a Decision>,
) -> Answer {
    let heights = (from.0..ctx.agreement.height().0).map(Height);
    snapshot_offers::turns(heights.map_while(decision))
}

/// Returns a part of the genesis. The part after the last full one is empty.
fn genesis_part(config: &Config, part: u32) -> Option<Vec<u8>> {
    let genesis = config.genesis.as_slice();
    let from = usize::try_from(part).ok()?.checked_mul(GENESIS_PART_BYTES)?;
    let rest = genesis.get(from..)?;
    Some(rest[..rest.len().min(GENESIS_PART_BYTES)].to_vec())
}

/// Returns every set change that a receipt can rely on. A server that catches up decides up to three
/// turns ahead of its world, so the height of the world is no measure.
fn links(ctx: &ReplicaContext<'_>, after: Height) -> Vec<ValidatorSetLink> {
    let links = ctx.agreement.links();
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

/// Returns the receipt of the act at this place of a decided turn.
/// Returns the answer about an act that was decided.
fn receipt_answer(place: &DecidedAct, decision: &Decision) -> Option<Answer> {
    let receipt = receipt(decision, place.index)?;
    let act = decision.turn.body.acts().get(place.index as usize)?.clone();
    let outcome = place.outcome;
    Some(Answer::Receipt(Box::new(ReceiptAnswer { act, receipt, outcome })))
}

fn receipt(decision: &Decision, index: u32) -> Option<Receipt> {
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
