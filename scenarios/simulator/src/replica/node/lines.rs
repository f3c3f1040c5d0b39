//! A server's lines to other servers, guests and clients: the part of a node's driver that deals with
//! its connections.

use std::rc::Rc;

use metatopia_consensus::RecordPosition;
use metatopia_protocol::CLIENT_FRAME_BYTES_MAX;
use metatopia_replica::{ClientId, Followers, Input as Event, PeerMessage};
use metatopia_types::{Now, PublicKey};

use super::{ReplicaReport, ReplicaServer, Request};
use crate::machine::{DurableMark, FrameRecipients, MachineEffect};
use crate::replica::gateway::{Hangup, Moved};
use crate::replica::lanes::ConnectionChange;
use crate::replica::place_setting::contact;

impl ReplicaServer {
    /// Keeps connections with the sim's servers and with guests, and with nobody else.
    pub(super) fn connect(&mut self, now: Now) {
        let own = self.setting.name(self.seat);
        let others = self.contacts.union(&self.followers).filter(|key| **key != own);
        let changes = self.lanes.want(others.copied().collect());
        self.lanes_changed(now, changes);
    }

    /// Remembers who was let in before it was started: a node keeps that in a file.
    pub(crate) fn welcome(&mut self, now: Now, followers: Followers) {
        self.let_in = followers;
        self.welcome_again(now);
        self.absorb(now);
    }

    pub(super) fn welcome_again(&mut self, now: Now) {
        let (contact, followers) = (contact(self.seat), Box::new(self.let_in.clone()));
        self.replica_gets(now, Event::Welcome { contact, followers });
    }

    pub(super) fn send(&mut self, to: Option<PublicKey>, bytes: &Rc<[u8]>) {
        let mut targets: Vec<PublicKey> = self.lanes.connected().collect();
        targets.retain(|peer| to.is_none_or(|to| to == *peer));
        let after = DurableMark(RecordPosition::START.0);
        for peer in targets {
            if let Some(frame) = self.lanes.frame(peer, bytes) {
                let to = FrameRecipients::One(peer);
                self.effects.push_back(MachineEffect::Send { to, frame, after });
            }
        }
    }

    pub(super) fn lanes_changed(&mut self, now: Now, changes: Vec<ConnectionChange>) {
        for change in changes {
            let event = match change {
                ConnectionChange::Up(peer) => Event::PeerUp(peer),
                ConnectionChange::Down(peer) => Event::PeerDown(peer),
            };
            self.replica_gets(now, event);
        }
    }

    pub(super) fn move_line(&mut self, now: Now, client: ClientId, moved: Moved) {
        for frame in moved.frames {
            self.tell(ReplicaReport::ToClient { client, frame });
        }
        if let Some(why) = moved.ended {
            self.tell(ReplicaReport::HungUp { client, why });
            self.replica_gets(now, Event::ClientDown(client));
        }
    }

    pub(super) fn request(&mut self, now: Now, request: Request) {
        match request {
            Request::Up(client) => {
                self.gateway.connect(client);
                self.replica_gets(now, Event::ClientUp(client));
            }
            Request::Down(client) => {
                if self.gateway.is_connected(client) {
                    self.gateway.disconnect(client);
                    self.replica_gets(now, Event::ClientDown(client));
                }
            }
            Request::Frame { client, frame } if frame.len() > CLIENT_FRAME_BYTES_MAX => {
                let moved = self.gateway.end(client, Hangup::TooLong);
                self.move_line(now, client, moved);
            }
            Request::Frame { client, frame } => {
                if self.gateway.is_connected(client) {
                    self.replica_gets(now, Event::ClientFrame { client, frame });
                }
            }
            Request::Read { client, bytes } => {
                let moved = self.gateway.read(client, bytes);
                self.move_line(now, client, moved);
            }
            Request::HandIn(acts) => {
                // As if another server had said them: that one has told the rest.
                let other = (0..self.setting.founders).find(|seat| *seat != self.seat);
                let from = self.setting.name(other.expect("a sim of several servers"));
                for act in acts {
                    let frame = PeerMessage::Submission(Box::new(act)).encode();
                    self.replica_gets(now, Event::PeerFrame { from, frame });
                }
            }
            Request::Say(frames) => frames.iter().for_each(|frame| self.send(None, frame)),
            Request::Ask { token, question } => {
                self.replica_gets(now, Event::Ask { token, question });
            }
            Request::Bring { neighbour, dispatch } => {
                self.replica_gets(now, Event::Dispatch { neighbour, dispatch });
            }
        }
    }
}
