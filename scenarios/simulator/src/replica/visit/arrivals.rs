//! Nodes that come by an invite: their lines, and how they take their seats.

use metatopia_oracle::Law;
use metatopia_replica::encode_snapshot;
use metatopia_replica::fetch::{Fetched, ProviderFault};
use metatopia_store::{Snapshot, put_snapshot};

use super::{ConnectionOwner, ReplicaStage, StageEvent};
use crate::class::Class;
use crate::cluster::ClusterOrder;
use crate::replica::newcomer::{Newcomer, NewcomerRequest};
use crate::replica::requests::Request;

impl ReplicaStage {
    /// Lets somebody with an invite come now. Returns their number.
    pub fn let_come(&mut self, newcomer: Newcomer) -> usize {
        let now = self.world.now();
        let number = self.newcomers.len();
        if !newcomer.believes(self.world.clock(newcomer.seat).read(now).wall) {
            self.world.blame(
                None,
                Law::Proof,
                format!("the invite of server {} is none", newcomer.seat),
            );
        }
        self.newcomers.push(newcomer);
        self.agenda.plan(now, StageEvent::Arrive(number));
        number
    }

    pub(super) fn arrive(&mut self, number: usize) {
        let now = self.world.now();
        let missed = self.missed(number);
        let newcomer = &mut self.newcomers[number];
        if newcomer.deadline().is_some_and(|at| at <= now) {
            newcomer.armed = None;
            newcomer.wake(now, &missed);
        }
        self.bring_in(number);
    }

    /// Returns the seats of the servers that a node wants to be connected with, once it follows, and
    /// that have no connection with it.
    fn missed(&self, number: usize) -> Vec<usize> {
        let own = self.newcomers[number].seat;
        let name = self.setting.name(own);
        let Some(follower) = self.world.server(own) else {
            return Vec::new();
        };
        let missing = |seat: &usize| {
            let server = self.world.server(*seat);
            follower.follows(&self.setting.name(*seat))
                && server.is_some_and(|server| !server.is_connected(&name))
        };
        (0..self.world.seats()).filter(|seat| *seat != own).filter(missing).collect()
    }

    /// Does what a newcomer wants done, and wakes it in time.
    pub(super) fn bring_in(&mut self, number: usize) {
        let (now, who) = (self.world.now(), ConnectionOwner::Newcomer(number));
        loop {
            let wishes = self.newcomers[number].take_wishes();
            if wishes.is_empty() {
                break;
            }
            for wish in wishes {
                match wish {
                    NewcomerRequest::Call(seat) if self.world.server(seat).is_some() => {
                        self.connect(who, seat);
                    }
                    NewcomerRequest::Call(seat) => self.newcomers[number].gone(now, seat),
                    NewcomerRequest::Say(seat, frame) => {
                        if let Some(client) = self.line_to(who, seat) {
                            self.send_frame(client, frame);
                        }
                    }
                    NewcomerRequest::HangUp(seat) => {
                        if let Some(client) = self.line_to(who, seat) {
                            self.lines.remove(&client);
                            self.request(seat, Request::Down(client));
                        }
                    }
                    NewcomerRequest::Settle(fetched) => self.settle_in(number, fetched.as_deref()),
                }
            }
        }
        let newcomer = &mut self.newcomers[number];
        if let Some(at) = newcomer.deadline().filter(|at| newcomer.armed != Some(*at)) {
            newcomer.armed = Some(at);
            self.agenda.plan(at.max(now), StageEvent::Arrive(number));
        }
    }

    /// Puts the state that somebody fetched where a start looks for it, and starts the server.
    fn settle_in(&mut self, number: usize, fetched: Option<&Fetched>) {
        let (now, seat) = (self.world.now(), self.newcomers[number].seat);
        if let Some(fetched) = fetched {
            let (base, world) = match fetched.open(&self.setting.tools()) {
                Ok(opened) => opened,
                Err(why) => {
                    return self.world.blame(
                        None,
                        Law::Restored,
                        format!("server {seat} fetched: {why}"),
                    );
                }
            };
            let (height, root) = (world.height(), world.root());
            let snapshot = Snapshot { height, root, bytes: encode_snapshot(&base, &world) };
            if let Err(why) = put_snapshot(self.world.disk_mut(seat), &snapshot) {
                return self.world.blame(
                    None,
                    Law::Restored,
                    format!("server {seat} keeps nothing: {why}"),
                );
            }
            self.world.cluster.took_state(now, seat, height);
        }
        self.blame_slander(number);
        self.world.note_fault(Class::Invited);
        self.world.plan(now, ClusterOrder::Start(seat));
    }

    /// Checks that a newcomer drops no honest server that gave what it should.
    fn blame_slander(&mut self, number: usize) {
        let honest: Vec<_> = (0..self.setting.founders)
            .filter(|seat| self.world.cluster.is_honest(*seat))
            .map(|seat| self.setting.name(seat))
            .collect();
        // Who is too slow, or does not know a change of the last heights yet, is no liar.
        let lies = |why: &ProviderFault| {
            !matches!(why, ProviderFault::Silent | ProviderFault::Undecided(_))
        };
        let dropped = self.newcomers[number].dropped.iter();
        let wronged = dropped.filter(|(name, why)| honest.contains(name) && lies(why));
        let told: Vec<String> = wronged.map(|(name, why)| format!("{name:?}: {why}")).collect();
        for what in told {
            self.world.blame(None, Law::Slander, format!("a newcomer drops {what}"));
        }
    }
}
