//! Somebody with an invite that lets nobody in: tries it at one server after the other, as a node
//! without a seat does, and then sees whether a state can be had by it.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use metatopia_oracle::Law;
use metatopia_protocol::{
    Answer, ClientMessage, Grant, JoinRequest, Question, ServerMessage, SignedInvite,
};
use metatopia_replica::fetch::{Fetch, FetchEffect, ProviderFault};
use metatopia_types::{Height, PublicKey, Sign, Trust};

use crate::class::Class;
use crate::replica::{BadInvite, ReplicaSetting, ReplicaStage, Stranger, invite};

/// Numbers the keys of impostors, two of each, far from those of people and of intruders.
const IMPOSTOR_KEYS: u64 = 20_000;

/// The number of a question: one connection is for one question.
const ASK: u32 = 1;

/// A server may take so many looks to answer.
const LOOKS_MAX: u32 = 6;

/// Servers at which one invite is tried.
const TRIES: u32 = 2;

/// Invites of impostors are counted apart from those of nodes.
const NONCES: u64 = 1 << 32;

#[derive(Debug)]
enum ImpostorPhase {
    /// It wants a decided header, to make an invite of.
    Begging,
    /// It asks to be let in.
    Asking {
        /// The invite that it shows.
        invite: Box<SignedInvite>,
        /// Has its other self used that up at this server?
        used: bool,
        /// Servers that it still has to try.
        left: u32,
    },
    /// It was let in, and believes the checkpoint.
    Fetching {
        fetch: Box<Fetch>,
        /// The only server that it asks.
        host: PublicKey,
        /// What it asks.
        asked: Option<(u32, Question)>,
    },
    Over,
}

/// A connection to a server, for one question.
#[derive(Debug)]
struct QuestionConnection {
    /// Its number on the stage.
    stranger: usize,
    asked: bool,
    /// Looks since it connected.
    looks: u32,
}

/// See the module.
pub(super) struct Impostor {
    bad: BadInvite,
    number: u64,
    keys: [Arc<dyn Sign>; 2],
    seat: usize,
    line: Option<QuestionConnection>,
    phase: ImpostorPhase,
}

impl Impostor {
    pub(super) fn new(setting: &ReplicaSetting, bad: BadInvite, number: u64, seat: usize) -> Self {
        let keys = [0, 1].map(|which| setting.player(IMPOSTOR_KEYS + 2 * number + which));
        Self { bad, number, keys, seat, line: None, phase: ImpostorPhase::Begging }
    }

    /// Does the next step. The admin's invites are made by what the `admin` knows.
    pub(super) fn try_in(&mut self, stage: &mut ReplicaStage, admin: usize) {
        match mem::replace(&mut self.phase, ImpostorPhase::Over) {
            ImpostorPhase::Begging => {
                self.phase = ImpostorPhase::Begging;
                self.beg(stage, admin);
            }
            ImpostorPhase::Asking { invite, used, left } => self.ask_in(stage, invite, used, left),
            ImpostorPhase::Fetching { fetch, host, asked } => self.fetch(stage, fetch, host, asked),
            ImpostorPhase::Over => {}
        }
    }

    /// The next server that is held to the rules: others may say what they want.
    fn move_on(&mut self, stage: &ReplicaStage) {
        let founders = stage.setting().founders;
        let next = (1..=founders).map(|step| (self.seat + step) % founders);
        let honest = |seat: &usize| stage.world.cluster.is_honest(*seat);
        self.seat = next.into_iter().find(honest).unwrap_or(self.seat);
    }

    /// Asks the server a question with one of its keys, on a connection of its own, one step with
    /// each look. The answer, once it is there.
    fn ask(&mut self, stage: &mut ReplicaStage, key: usize, question: &Question) -> Option<Answer> {
        let Some(line) = &mut self.line else {
            if !stage.world.cluster.is_honest(self.seat) {
                self.move_on(stage);
            }
            let stranger = stage.meet(self.seat, Stranger::default());
            self.line = Some(QuestionConnection { stranger, asked: false, looks: 0 });
            return None;
        };
        line.looks += 1;
        let key = &*self.keys[key];
        let stranger = &mut stage.strangers[line.stranger];
        let answer = mem::take(&mut stranger.said).into_iter().find_map(|said| match said {
            ServerMessage::Answer { id: ASK, answer } => Some(*answer),
            _ => None,
        });
        let gone = stranger.lost || stranger.hung_up.is_some() || line.looks > LOOKS_MAX;
        if answer.is_some() || gone {
            stage.hang_up(line.stranger);
            self.line = None;
            if answer.is_none() {
                self.move_on(stage);
            }
            return answer;
        }
        if !line.asked && stranger.hello(key).is_some() {
            line.asked = true;
            let stranger = line.stranger;
            stage.introduce(stranger, key);
            stage.say(stranger, &ClientMessage::Ask { id: ASK, question: question.clone() });
        }
        None
    }

    /// Asks for a decided header, and makes an invite of it.
    fn beg(&mut self, stage: &mut ReplicaStage, admin: usize) {
        let height = Height(stage.world.top().saturating_sub(2).max(1));
        let Some(Answer::Turn(turn)) = self.ask(stage, 0, &Question::Turn { height }) else {
            return;
        };
        let (turn, certificate) = *turn;
        let now = turn.header.time;
        let (setting, light) = (stage.setting(), stage.people[admin].light());
        let what = (Grant::Follow, NONCES + self.number);
        let Some(good) = invite(setting, light, (turn.header, certificate), what) else {
            return;
        };
        let invite = Box::new(self.bad.spoil(setting, good));
        let checked = invite.check(now, &*setting.verifier);
        if !self.bad.is_found(&checked) {
            return self.blame(stage, &format!("who holds it finds {checked:?}"));
        }
        if self.bad == BadInvite::Uncertified {
            stage.world.note_fault(Class::BadInvite);
            self.phase = ImpostorPhase::Over;
        } else {
            self.phase = ImpostorPhase::Asking { invite, used: false, left: TRIES };
        }
    }

    /// Asks a server to be let in: first, if the invite is to be used up, in another's name.
    fn ask_in(
        &mut self,
        stage: &mut ReplicaStage,
        invite: Box<SignedInvite>,
        used: bool,
        left: u32,
    ) {
        let uses_up = self.bad == BadInvite::UsedUp && !used;
        let request = JoinRequest { invite: (*invite).clone(), applicant: None };
        let (key, seat) = (usize::from(uses_up), self.seat);
        let answer = self.ask(stage, key, &Question::Join(Box::new(request)));
        let refusal = self.bad.refusal(&invite).filter(|_| !uses_up);
        // What was used up at one server is good at the next one.
        let used = used && self.seat == seat;
        self.phase = match (answer, refusal) {
            (Some(Answer::Join(Err(why))), Some(due)) if why == due => {
                stage.world.note_fault(Class::BadInvite);
                self.move_on(stage);
                if left > 1 {
                    ImpostorPhase::Asking { invite, used: false, left: left - 1 }
                } else {
                    ImpostorPhase::Over
                }
            }
            (Some(Answer::Join(Ok(_))), None) if uses_up => {
                ImpostorPhase::Asking { invite, used: true, left }
            }
            (Some(Answer::Join(Ok(_))), None) => self.begin_fetch(stage, &invite),
            (Some(Answer::Join(other)), _) => {
                return self.blame(stage, &format!("server {seat} says {other:?}"));
            }
            // It knows nothing now, or is gone: perhaps another one does.
            (Some(_) | None, _) => ImpostorPhase::Asking { invite, used, left },
        };
    }

    /// Takes its checkpoint for what it says that it is.
    fn begin_fetch(&self, stage: &ReplicaStage, invite: &SignedInvite) -> ImpostorPhase {
        let setting = stage.setting();
        let invite = &invite.invite;
        let height = invite.header.height.minus(1).unwrap_or_default();
        let trust = Trust { height, validators: invite.validators.clone() };
        let genesis = setting.light().set(Height(1)).ok().cloned();
        let scheme = Arc::clone(&setting.verifier);
        let mut fetch = Box::new(Fetch::new(invite.sim(), trust, genesis, scheme));
        let host = setting.name(self.seat);
        fetch.up(Duration::ZERO, host);
        ImpostorPhase::Fetching { fetch, host, asked: None }
    }

    /// Fetches from the one server, question by question, until that gives what is not believed.
    fn fetch(
        &mut self,
        stage: &mut ReplicaStage,
        mut fetch: Box<Fetch>,
        host: PublicKey,
        mut asked: Option<(u32, Question)>,
    ) {
        let (now, seat) = (stage.world.now(), self.seat);
        if let Some((token, question)) = asked.take() {
            match self.ask(stage, 0, &question) {
                Some(answer) => fetch.answer(now, host, token, answer),
                None => asked = Some((token, question)),
            }
        }
        if self.seat != seat {
            // That server is gone, and with it this try.
            return;
        }
        while let Some(effect) = fetch.poll() {
            match effect {
                FetchEffect::Ask { token, question, .. } => asked = Some((token, question)),
                FetchEffect::Dropped {
                    why: ProviderFault::Undecided(_) | ProviderFault::OtherPast,
                    ..
                } => {
                    return stage.world.note_fault(Class::BadInvite);
                }
                FetchEffect::Dropped { .. } => return,
                FetchEffect::Done(_) | FetchEffect::Genesis => {
                    return self.blame(stage, "a state is had by it");
                }
                FetchEffect::Keep { .. } => {}
            }
        }
        self.phase = ImpostorPhase::Fetching { fetch, host, asked };
    }

    fn blame(&mut self, stage: &mut ReplicaStage, what: &str) {
        let what = format!("an invite that is {:?}: {what}", self.bad);
        stage.world.blame(None, Law::Invite, what);
        self.phase = ImpostorPhase::Over;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use metatopia_oracle::Law;
    use metatopia_protocol::Grant;

    use super::{Impostor, ImpostorPhase};
    use crate::class::Class;
    use crate::conditions::Conditions;
    use crate::replica::{BadInvite, Person, PersonProfile, ReplicaSetting, ReplicaStage};
    use crate::signatures::SignatureKind;

    const LOOK: Duration = Duration::from_millis(250);

    /// A plaza with its admin in it.
    fn plaza() -> ReplicaStage {
        let mut stage = ReplicaStage::new(
            ReplicaSetting::plaza(SignatureKind::StandIn, 1),
            Conditions::calm(5),
        );
        let manner = PersonProfile::lively(Duration::from_secs(9));
        let admin = Person::new(stage.setting(), 0, 0, manner);
        stage.invite(Duration::ZERO, admin);
        stage.run_until(Duration::from_secs(1));
        stage
    }

    #[test]
    fn every_bad_invite_is_refused_with_the_reason_that_is_due() {
        let mut stage = plaza();
        let mut impostors: Vec<Impostor> = (0..)
            .zip(BadInvite::ALL)
            .map(|(number, bad)| Impostor::new(stage.setting(), bad, number, 1))
            .collect();

        for _ in 0..24 {
            stage.run_until(stage.world.now() + LOOK);
            impostors.iter_mut().for_each(|impostor| impostor.try_in(&mut stage, 0));
        }

        for impostor in &impostors {
            assert!(
                matches!(impostor.phase, ImpostorPhase::Over),
                "{:?}",
                (impostor.bad, &impostor.phase)
            );
        }
        // Five are refused by two servers each, and two by those who hold them.
        assert_eq!(stage.world.fired().times(Class::BadInvite), 5 * 2 + 2);
        assert!(stage.world.is_sound(), "{:?}", stage.world.cluster.oracle.faults());
    }

    #[test]
    fn who_is_let_in_by_what_is_called_a_bad_invite_breaks_a_law() {
        let mut stage = plaza();
        let mut impostor = Impostor::new(stage.setting(), BadInvite::UsedUp, 0, 1);
        for _ in 0..24 {
            stage.run_until(stage.world.now() + LOOK);
            impostor.try_in(&mut stage, 0);
            if let ImpostorPhase::Asking { invite, used, .. } = &mut impostor.phase {
                // Nobody has used it.
                *used = true;
                assert_eq!(invite.invite.grant, Grant::Follow);
            }
        }

        let laws: Vec<Law> =
            stage.world.cluster.oracle.faults().iter().map(|fault| fault.law).collect();
        assert_eq!(laws, [Law::Invite]);
    }
}
