//! What servers report, and whom that concerns: clients, couriers, the oracle.

use std::time::Duration;

use metatopia_oracle::Law;
use metatopia_replica::Reader;
use metatopia_replica::keeper::{Health, News};
use metatopia_types::{HearRefusal, Height, Outcome, Refusal};

use super::super::fair::class_of;
use super::super::requests::ReplicaReport;
use super::{Mail, ReplicaServers};
use crate::class::Class;
use crate::cluster::{ClusterOrder, ClusterView};

impl ReplicaServers {
    /// Notes that a server goes on from a state that others gave it.
    pub(crate) fn took_state(&mut self, at: Duration, seat: usize, height: Height) {
        self.oracle.saw_replaced(seat);
        self.oracle.laws.saw_state_taken(seat, height);
        self.replaced.push((at, seat, height));
    }

    /// Counts the acts of a decided turn that told what a neighbour never said.
    fn note_unheard(&mut self, height: Height, outcomes: &[Outcome]) {
        let (count, last) = &mut self.unheard_acts;
        if height > *last {
            *last = height;
            let is_unheard = |outcome: &&Outcome| {
                let Outcome::Refused(Refusal::NotHeard(why)) = outcome else { return false };
                // An honest server too may be too late, vote no more, or hear of a border that is no more.
                use HearRefusal::{Frozen, NoBorder, NotServer, NothingNew};
                !matches!(why, Frozen | NoBorder | NotServer | NothingNew)
            };
            *count += outcomes.iter().filter(is_unheard).count() as u64;
        }
    }

    /// Passes on what a server reports.
    pub(super) fn note_report(&mut self, scene: &mut ClusterView<'_, Self>, report: ReplicaReport) {
        let seat = scene.seat;
        match report {
            ReplicaReport::ToClient { client, frame } => self.hand_to_client(scene, client, frame),
            ReplicaReport::HungUp { client, why } => {
                self.mail.push_back(Mail::HungUp { client, why })
            }
            ReplicaReport::Applied(applied) => {
                for failure in &applied.failures {
                    if let Some(class) = class_of(&failure.report.file) {
                        self.fired.note(class);
                    }
                }
                self.note_unheard(applied.height, &applied.outcomes);
                self.oracle.saw_applied(scene.at, seat, &applied);
            }
            ReplicaReport::Answer { token, answer } => {
                self.answers.insert(token, *answer);
            }
            ReplicaReport::Borders(borders) => {
                self.borders.insert(seat, borders);
            }
            ReplicaReport::Unheard(_) => self.unheard += 1,
            ReplicaReport::Traced { act, .. } => {
                self.followed.insert((act, seat));
            }
            ReplicaReport::Loaded { reader: Reader::Peer(_), count } => self.loaded.0 += count,
            ReplicaReport::Loaded { count, .. } => self.loaded.1 += count,
            ReplicaReport::Exposed(server) => self.oracle.laws.saw_accusation(seat, server),
            ReplicaReport::Heard(word) if self.is_honest(seat) => {
                self.oracle.laws.saw_heard(seat, &word)
            }
            ReplicaReport::Heard(_) => {}
            ReplicaReport::Followers(followers) => {
                self.followers.insert(seat, followers.encode());
            }
            ReplicaReport::Again(applied) => self.oracle.saw_applied_again(seat, &applied),
            ReplicaReport::Strayed(height) => self.oracle.saw_stray(seat, height),
            ReplicaReport::Unrestored(height, why) => {
                let what = format!("the state after {height}: {why}");
                self.oracle.blame(Some(seat), Law::Restored, what);
            }
            ReplicaReport::Parted(why) => {
                if self.setting.own.flips.iter().all(|flip| flip.seat != seat) {
                    self.oracle.blame(Some(seat), Law::Root, format!("it doubts its state: {why}"));
                } else {
                    self.fired.note(Class::MemoryFlip);
                }
                self.parted.push((scene.at, seat));
            }
            ReplicaReport::Capsule(bytes) => self.capsules.push((seat, bytes)),
            ReplicaReport::Mended(report) => self.mended.push((scene.at, seat, *report)),
            ReplicaReport::Replaced(height) => {
                self.fired.note(Class::Joiner);
                self.took_state(scene.at, seat, height);
            }
            ReplicaReport::Disk(health) => {
                self.oracle.laws.saw_muted(seat, health != Health::Sound);
                self.disks.push((scene.at, seat, health));
            }
            ReplicaReport::News(news) => {
                self.snapshots += u64::from(matches!(news, News::Stored(_)))
            }
            ReplicaReport::Ended(_) => scene.order(Duration::ZERO, ClusterOrder::Reboot(seat)),
            ReplicaReport::Halted(why) if self.is_honest(seat) => {
                self.oracle.blame(Some(seat), Law::Halted, why);
            }
            ReplicaReport::Halted(_) => {}
        }
    }
}
