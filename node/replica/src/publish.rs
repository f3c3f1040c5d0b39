//! Publishing: what clients and peers are told. Receipts, outcomes, views, proofs and chat go to the
//! clients, and questions are answered.

mod answers;
mod clubs;
pub(crate) mod facts;
mod friends;
mod people;
mod questions;
mod recent_lines;
pub(crate) mod standing;
pub mod views;

use std::collections::BTreeMap;

use metatopia_consensus::Decision;
use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{
    Answer, ForgottenMessage, FormMessage, GovernanceEntry, ReceiptAnswer, ServerMessage,
    SoundMessage, SubmitRefusal, Watching,
};
use metatopia_sim::{Applied, CLUB, ForgottenWords, ShownForm, SpokenLine, ToldWords, World};
use metatopia_types::{ActId, Height, PublicKey, Receipt, SimId, Turn, limits::ROOT_LAG, merkle};

pub(crate) use self::{answers::answer_peer, people::sent_away};
use self::{
    questions::Questions,
    recent_lines::RecentLines,
    standing::StandingQuestions,
    views::{ViewFault, Views},
};
use crate::{
    ActStage, Asker, ClientId, Config, Effect, context::ReplicaContext, ingress::ReceiptDue,
};

/// Forms of one turn that a server sends to one person: more of them are no questions. Together they are at most 5 KB.
const FORMS_PER_TURN_MAX: usize = 4;

/// What one server still owes to clients and peers.
#[derive(Debug)]
pub(crate) struct Publisher {
    views: Views,
    /// Clients that wait for the outcome of a decided act.
    awaiting_outcome: BTreeMap<ActId, ClientId>,
    questions: Questions,
    /// Questions of neighbours' couriers, which are answered once there is news.
    standing: StandingQuestions,
    /// Askers whose question does not stand any more, because they put it anew.
    let_go: Vec<Asker>,
    /// Where neighbours' nodes are, as couriers found them.
    neighbour_nodes: BTreeMap<SimId, Vec<String>>,
    /// The last answer about who governs the sim.
    governance: Option<(Height, GovernanceEntry)>,
    recent: RecentLines,
    /// The words that were forgotten, of which no turn is shown.
    forgotten: Vec<ForgottenWords>,
}

impl Publisher {
    /// Begins with a state that nobody watches.
    pub(crate) fn new(config: &Config, world: &World) -> Self {
        Self {
            views: Views::new(world.height(), config.turns_per_second),
            awaiting_outcome: BTreeMap::new(),
            questions: Questions::default(),
            standing: StandingQuestions::default(),
            let_go: Vec::new(),
            neighbour_nodes: BTreeMap::new(),
            governance: None,
            recent: RecentLines::default(),
            forgotten: world.forgotten().copied().collect(),
        }
    }

    /// Publishes the receipts of a decided turn, and the proofs that its header gives.
    pub(crate) fn turn_decided(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        decision: &Decision,
        due: &[ReceiptDue],
    ) {
        self.publish_receipts(ctx, decision, due);
        if let Some(of) = decision.height().minus(ROOT_LAG) {
            self.publish_proofs(ctx, of);
        }
    }

    /// Publishes what an applied turn did: outcomes, views and chat.
    pub(crate) fn turn_applied(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        decision: &Decision,
        result: &Applied,
        sessions: &[(ClientId, PublicKey)],
    ) {
        let world = ctx.execution.world();
        let world = world.expect("a turn is published with the world that it was applied to");
        self.publish_outcomes(ctx, decision, result);
        for (client, frame) in self.views.turn(world, result) {
            ctx.forward(client, frame);
        }
        // On a server that lags, the header that proves this turn is decided already.
        self.publish_proofs(ctx, result.height);
        self.publish_recent(ctx, world, sessions);
        publish_chat(ctx, world, result, sessions);
        publish_told(ctx, world, result, sessions);
        self.recent.remember(result.height, &result.chat);
        self.publish_forgotten(ctx, world, result, sessions);
        publish_sounds(ctx, world, result, sessions);
        publish_forms(ctx, result, sessions);
    }

    /// Begins the views anew with a repaired state.
    pub(crate) fn state_repaired(&mut self, ctx: &ReplicaContext<'_>) {
        let height = ctx.execution.applied_height();
        self.views = Views::new(height, ctx.config.turns_per_second);
        let forgotten = ctx.execution.world().map(|world| world.forgotten().copied().collect());
        self.forgotten = forgotten.unwrap_or_default();
        // The turns in which it was said so may have been passed over.
        self.forgotten.iter().for_each(|words| self.recent.forget_words(words));
    }

    /// Starts or stops the views of a client with this key.
    pub(crate) fn watch(
        &mut self,
        client: ClientId,
        key: PublicKey,
        watching: Option<&Watching>,
    ) -> Result<(), ViewFault> {
        self.views.watch(client, key, watching)
    }

    /// Notes that a client took in the view of this number.
    pub(crate) fn seen(&mut self, client: ClientId, number: u32) -> Result<(), ViewFault> {
        self.views.seen(client, number)
    }

    /// Forgets the views of a client that is gone.
    pub(crate) fn forget(&mut self, client: ClientId) {
        self.views.forget(client);
        self.recent.forget(client);
        self.standing.forget(client);
    }

    /// Publishes what was said of late to those whose avatar has just come.
    fn publish_recent(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        world: &World,
        sessions: &[(ClientId, PublicKey)],
    ) {
        for (client, key) in sessions {
            let Some(avatar) = world.avatar(key) else { continue };
            if self.recent.is_new(*client, avatar) {
                for line in self.recent.heard(|line| reaches(world, key, line)) {
                    ctx.send(*client, &ServerMessage::Heard(line));
                }
            }
        }
    }

    /// Publishes which words were forgotten to every session, and tells newcomers nothing of them any more.
    fn publish_forgotten(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        world: &World,
        result: &Applied,
        sessions: &[(ClientId, PublicKey)],
    ) {
        if result.forgotten.is_empty() {
            return;
        }
        self.forgotten = world.forgotten().copied().collect();
        for words in &result.forgotten {
            self.recent.forget_words(words);
            let ForgottenWords { height, body, by, .. } = *words;
            let message = ServerMessage::Forgotten(ForgottenMessage { height, body, by });
            for (client, _) in sessions {
                ctx.send(*client, &message);
            }
        }
    }

    /// Returns a turn as it is shown: without the words that were forgotten, which may be in the log for some
    /// minutes, for who applies turns.
    fn shown(&self, turn: &Turn) -> Turn {
        let of_turn = |words: &&ForgottenWords| words.height == turn.header.height;
        let gone: Vec<&ForgottenWords> = self.forgotten.iter().filter(of_turn).collect();
        let holed = turn.without(|act| gone.iter().any(|words| words.are_of(act)));
        holed.unwrap_or_else(|| turn.clone())
    }

    /// Publishes the receipts of a decided turn to the clients that handed in its acts.
    fn publish_receipts(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        decision: &Decision,
        due: &[ReceiptDue],
    ) {
        let mut leaves = None;
        for &ReceiptDue { index, act, client } in due {
            let leaves = leaves.get_or_insert_with(|| decision.turn.body.act_leaves());
            let place = merkle::Proof::of(leaves, index);
            let place = place.expect("every act of a decided turn has a place in its Merkle tree");
            let receipt = Box::new(Receipt {
                header: decision.turn.header.clone(),
                certificate: decision.certificate.clone(),
                place,
            });
            ctx.send(client, &ServerMessage::Receipt { act, receipt });
            self.awaiting_outcome.insert(act, client);
            let stage = ActStage::Decided { height: decision.height() };
            ctx.emit(Effect::Traced { act, stage });
        }
    }

    /// Publishes the outcomes of a turn to the clients that wait for them.
    fn publish_outcomes(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        decision: &Decision,
        result: &Applied,
    ) {
        let height = result.height;
        for (act, outcome) in decision.turn.body.acts().iter().zip(&result.outcomes) {
            let act = act.id();
            if let Some(client) = self.awaiting_outcome.remove(&act) {
                let outcome = *outcome;
                ctx.send(client, &ServerMessage::Outcome { act, height, outcome });
                ctx.emit(Effect::Traced { act, stage: ActStage::Applied { outcome } });
            }
        }
    }

    /// Publishes proofs of the views of a height, if the header that states its root is decided.
    fn publish_proofs(&mut self, ctx: &mut ReplicaContext<'_>, of: Height) {
        let Some(decision) = ctx.agreement.decision(of.plus(ROOT_LAG)) else {
            return;
        };
        let (header, certificate) = (&decision.turn.header, &decision.certificate);
        for (client, frame) in self.views.prove(of, header, certificate) {
            ctx.forward(client, frame);
        }
    }

    /// Sends a receipt again, with the outcome if it is known, or once it is.
    pub(crate) fn receipt_again(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        client: ClientId,
        answer: Answer,
    ) {
        // With too much to do there is no answer; the client sends the act again anyway.
        let Answer::Receipt(found) = answer else {
            return;
        };
        let ReceiptAnswer { act, receipt, outcome } = *found;
        let (act, height) = (act.id(), receipt.header.height);
        ctx.send(client, &ServerMessage::Receipt { act, receipt: Box::new(receipt) });
        if let Some(outcome) = outcome {
            ctx.send(client, &ServerMessage::Outcome { act, height, outcome });
        } else if height > ctx.execution.applied_height() {
            self.awaiting_outcome.insert(act, client);
        }
    }

    /// Sends the receipt of an act with a used sequence number, if that act used it, or refuses it.
    pub(crate) fn receipt_or_refusal(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        client: ClientId,
        (act, used): (ActId, u64),
        answer: Answer,
    ) {
        match answer {
            Answer::Receipt(found) if found.act.id() == act => {
                self.receipt_again(ctx, client, Answer::Receipt(found));
            }
            // With too much to do there is no answer, as in the other case.
            Answer::Busy => {}
            _ => {
                let why = SubmitRefusal::Replayed(used);
                ctx.send(client, &ServerMessage::Refused { act, why });
                ctx.emit(Effect::Traced { act, stage: ActStage::Refused(why) });
            }
        }
    }
}

/// Says whether somebody's avatar is so near to a place, in metres.
fn hears(world: &World, key: &PublicKey, place: Vec2, reach: Fx) -> bool {
    let avatar = world.avatar(key).and_then(|id| world.object(id));
    avatar.is_some_and(|seen| seen.position.distance(place) <= reach)
}

/// Says whether somebody hears a line.
fn reaches(world: &World, key: &PublicKey, line: &SpokenLine) -> bool {
    if line.channel == CLUB {
        return clubs::hears_club(world, key, line);
    }
    match line.hearer {
        Some(hearer) => hearer == *key,
        None => {
            let reach = line.reach(world.parameters().hearing);
            reach.is_none_or(|reach| hears(world, key, line.place, reach))
        }
    }
}

/// Publishes the chat of a turn to every session whose avatar can hear it.
fn publish_chat(
    ctx: &mut ReplicaContext<'_>,
    world: &World,
    result: &Applied,
    sessions: &[(ClientId, PublicKey)],
) {
    for line in &result.chat {
        let message = ServerMessage::Heard(recent_lines::message(line));
        for (client, _) in sessions.iter().filter(|(_, key)| reaches(world, key, line)) {
            ctx.send(*client, &message);
        }
    }
}

/// Publishes private words, each to the sessions of the one who is told.
fn publish_told(
    ctx: &mut ReplicaContext<'_>,
    world: &World,
    result: &Applied,
    sessions: &[(ClientId, PublicKey)],
) {
    for ToldWords { to, number, name, words } in &result.told {
        let told = people::told_message(world, *number, name.clone(), words);
        let message = ServerMessage::Told(Box::new(told));
        for (client, _) in sessions.iter().filter(|(_, key)| key == to) {
            ctx.send(*client, &message);
        }
    }
}

/// Publishes the sounds of a turn to every session whose avatar can hear them.
fn publish_sounds(
    ctx: &mut ReplicaContext<'_>,
    world: &World,
    result: &Applied,
    sessions: &[(ClientId, PublicKey)],
) {
    let hearing = world.parameters().hearing;
    for made in &result.sounds {
        let message = ServerMessage::Sound(SoundMessage {
            height: made.height,
            object: made.object,
            name: made.name.clone(),
            sound: made.sound,
            pitch: made.pitch,
        });
        for (client, _) in sessions.iter().filter(|(_, key)| hears(world, key, made.place, hearing))
        {
            ctx.send(*client, &message);
        }
    }
}

/// Publishes the forms of a turn, each to the sessions of the one who is asked.
fn publish_forms(
    ctx: &mut ReplicaContext<'_>,
    result: &Applied,
    sessions: &[(ClientId, PublicKey)],
) {
    for shown in bounded_forms(&result.forms) {
        let message = ServerMessage::Form(FormMessage {
            height: shown.height,
            object: shown.object,
            name: shown.name.clone(),
            form: shown.form.clone(),
        });
        for (client, _) in sessions.iter().filter(|(_, key)| *key == shown.player) {
            ctx.send(*client, &message);
        }
    }
}

/// Returns the forms that are sent: the first of each person, because many things at once could end the
/// session of one person, whose queue has a bound.
fn bounded_forms(forms: &[ShownForm]) -> impl Iterator<Item = &ShownForm> {
    let mut counts: BTreeMap<PublicKey, usize> = BTreeMap::new();
    forms.iter().filter(move |shown| {
        let count = counts.entry(shown.player).or_default();
        *count += 1;
        *count <= FORMS_PER_TURN_MAX
    })
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Form, ObjectId, Tick};

    use super::*;

    #[test]
    fn a_crowd_of_things_shows_one_person_so_many_forms_a_turn_and_others_theirs() {
        let form = |player: u8, object: u64| ShownForm {
            height: Height(1),
            tick: Tick(1),
            object: ObjectId(object),
            name: "kiosk".to_owned(),
            player: PublicKey([player; 32]),
            form: Form {
                tag: String::new(),
                title: "Tea?".to_owned(),
                text: String::new(),
                choices: Vec::new(),
                field: None,
                offer: None,
            },
        };
        let forms: Vec<_> = (0..100).map(|n| form(1, n)).chain([form(2, 100)]).collect();
        let sent: Vec<u64> = bounded_forms(&forms).map(|shown| shown.object.0).collect();
        assert_eq!(sent.len(), FORMS_PER_TURN_MAX + 1);
        assert_eq!(sent[FORMS_PER_TURN_MAX..], [100]);
    }
}
