//! Applying certified turns, and comparing roots.

use std::collections::VecDeque;

use metatopia_sim::{Capsule, ENGINE, Serial, World};
use metatopia_types::{
    Digest, Ed25519, HeaderId, Height, ObjectId, Root, ScriptId, Turn, limits::ROOT_LAG,
};

use super::{DecidedTurn, tail::TurnTail};
use crate::{CallError, TrialReport, trial::news::TrialNews};

/// The own root after a height, and the one that a certified header states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compared {
    pub(crate) of: Height,
    pub(crate) own: Root,
    pub(crate) stated: Root,
}

/// A world that follows decided turns.
#[derive(Debug)]
pub(crate) struct TurnFollower {
    world: World,
    /// The last applied header; nothing when the world came from a snapshot.
    last: Option<HeaderId>,
    /// Own roots that no header has stated yet, oldest first.
    roots: VecDeque<(Height, Root)>,
    checked: Option<Compared>,
    mismatch: Option<Compared>,
    decided: Height,
    tail: TurnTail,
    /// What is taken down of a script that somebody watches.
    watched: Option<Box<TrialNews>>,
}

impl TurnFollower {
    pub(crate) fn new(world: World) -> Self {
        let last = (world.height() == Height(0)).then_some(HeaderId::BEFORE_FIRST);
        let roots = VecDeque::from([(world.height(), world.root())]);
        let (tail, decided) = (TurnTail::new(&world), world.height());
        let watched = None;
        Self { world, last, roots, checked: None, mismatch: None, decided, tail, watched }
    }

    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    pub(crate) fn decided(&self) -> Height {
        self.decided
    }

    pub(crate) fn checked(&self) -> Option<&Compared> {
        self.checked.as_ref()
    }

    pub(crate) fn mismatch(&self) -> Option<&Compared> {
        self.mismatch.as_ref()
    }

    pub(crate) fn capsule(&self, genesis: &[u8]) -> Capsule {
        // The own state is of interest where it is another one than everybody's.
        let end = self.mismatch.map(|_| self.world.snapshot());
        self.tail.capsule(genesis, end)
    }

    /// Takes down what a script does from now on, or no more what one does.
    ///
    /// # Errors
    /// `NoScript` if there is no such script on the thing.
    pub(crate) fn watch(&mut self, script: Option<(ObjectId, ScriptId)>) -> Result<(), CallError> {
        let news = |(thing, script)| TrialNews::of_script(&self.world, thing, script);
        self.watched = script.map(news).transpose()?.map(Box::new);
        Ok(())
    }

    /// Returns what the script that is watched did since the last call.
    pub(crate) fn watched(&mut self) -> Option<TrialReport> {
        let news = self.watched.as_mut()?;
        Some(news.report(&self.world, news.is_over()))
    }

    /// Applies turns that follow on the world; those that it has are passed over.
    pub(crate) fn follow(&mut self, turns: Vec<DecidedTurn>) -> Result<(), CallError> {
        let has = self.world.height();
        let mut turns: VecDeque<DecidedTurn> =
            turns.into_iter().skip_while(|(turn, _)| turn.header.height <= has).collect();
        while !turns.is_empty() && self.mismatch.is_none() {
            let count = self.certified(turns.make_contiguous())?;
            for decided in turns.drain(..count) {
                if self.mismatch.is_some() {
                    break;
                }
                self.apply(decided)?;
            }
        }
        Ok(())
    }

    /// Returns how many of these turns the validators of the next height certify. Each header names the one
    /// before, so the last certificate is for all of them.
    fn certified(&mut self, turns: &[DecidedTurn]) -> Result<usize, CallError> {
        let next = self.world.height().plus(1);
        let unknown = || CallError::new("turns", "no validators are known");
        let set = self.world.validators(next).ok_or_else(unknown)?;
        let (id, mut previous) = (set.id(), self.last);
        let mut count = 0_usize;
        for ((turn, _), height) in turns.iter().zip(next.0..) {
            let header = &turn.header;
            if header.validators != id {
                break;
            }
            let follows = header.height == Height(height)
                && previous.is_none_or(|previous| header.previous == previous);
            if !follows || header.sim != self.world.sim() {
                let text = format_args!("turn {} does not follow", header.height);
                return Err(CallError::new("turns", text));
            }
            previous = Some(turn.id());
            count += 1;
        }
        let Some((turn, certificate)) = count.checked_sub(1).and_then(|last| turns.get(last))
        else {
            return Err(CallError::new("turns", "the next turn is of validators that do not vote"));
        };
        if (certificate.height, Some(certificate.header)) != (turn.header.height, previous) {
            return Err(CallError::new("turns", "the certificate is for another turn"));
        }
        certificate
            .verify(self.world.sim(), set, &Ed25519)
            .map_err(|error| CallError::new("turns", error))?;
        self.decided = self.decided.max(turn.header.height);
        Ok(count)
    }

    fn apply(&mut self, (turn, certificate): DecidedTurn) -> Result<(), CallError> {
        let header = &turn.header;
        if header.engine != ENGINE {
            let text = format_args!("turn {} needs engine {}", header.height, header.engine);
            return Err(CallError::new("engine", text));
        }
        if header.reserved != Digest::ZERO {
            let text = format_args!("turn {} states what only later engines know", header.height);
            return Err(CallError::new("engine", text));
        }
        if turn.check_body().is_err() {
            let text = format_args!("turn {} came with another body", header.height);
            return Err(CallError::new("turns", text));
        }
        if !turn.body.is_whole() {
            let text = format_args!("words of turn {} were forgotten", header.height);
            return Err(CallError::new("turns", text));
        }
        self.compare(&turn);
        if self.mismatch.is_some() {
            self.tail.push(turn, certificate, None);
            return Ok(());
        }
        if let Some(missing) = self.world.missing_port() {
            // The page has words of its own for it: what such a sim shows is proven all the same.
            return Err(CallError::new("port", missing));
        }
        let applied = self.world.apply(&turn, &Serial);
        if let Some(news) = &mut self.watched {
            news.take(&self.world, &applied);
        }
        self.roots.push_back((self.world.height(), self.world.root()));
        self.last = Some(turn.id());
        self.tail.push(turn, certificate, Some(self.world.root()));
        self.tail.cut(&self.world, self.checked.map(|checked| checked.of));
        Ok(())
    }

    /// Holds the own root against the one that the next header states.
    fn compare(&mut self, turn: &Turn) {
        let of = turn.header.height.minus(ROOT_LAG).unwrap_or_default();
        while self.roots.front().is_some_and(|(height, _)| *height < of) {
            self.roots.pop_front();
        }
        let Some((_, own)) = self.roots.front().filter(|(height, _)| *height == of) else {
            return;
        };
        let compared = Compared { of, own: *own, stated: turn.header.root };
        if compared.own == compared.stated {
            self.checked = Some(compared);
        } else {
            self.mismatch = Some(compared);
        }
    }
}
