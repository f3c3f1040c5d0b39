//! The servers that a joining node asks next.
//!
//! The node first asks at the invite's addresses, in their order, and then at the addresses that
//! the invite's servers announce. A server may name any address, so its word counts for no more
//! than the signatures in it: a liar can name itself, once, and only other announced servers wait
//! behind it. The running node asks servers that came to vote after the invite was made.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use metatopia_client_driver::NodeUrl;
use metatopia_protocol::{EndpointAnnouncement, Invite, SignedAnnouncement};
use metatopia_replica::JoinTarget;
use metatopia_types::{PublicKey, Verify, limits::VALIDATORS_MAX};

/// The servers that are not asked yet.
#[derive(Debug)]
pub(super) struct UnaskedServers<'a> {
    invite: &'a Invite,
    addresses: VecDeque<&'a String>,
    invited: Vec<NodeUrl>,
    /// The newest announcement of each server.
    announcements: BTreeMap<PublicKey, EndpointAnnouncement>,
    /// The servers that were asked at their announced endpoints.
    asked: BTreeSet<PublicKey>,
}

impl<'a> UnaskedServers<'a> {
    pub(super) fn new(invite: &'a Invite) -> Self {
        let addresses = invite.addresses.iter().collect();
        let invited = invite.addresses.iter().filter_map(|address| address.parse().ok()).collect();
        Self { invite, addresses, invited, announcements: BTreeMap::new(), asked: BTreeSet::new() }
    }

    /// Notes the announcements that a server knows.
    pub(super) fn receive(&mut self, announcements: &[SignedAnnouncement], scheme: &dyn Verify) {
        let (sim, servers) = (self.invite.sim(), &self.invite.validators);
        // The cheap checks come first. An honest server knows one announcement of each server.
        let fit = |announcement: &EndpointAnnouncement| {
            announcement.sim == sim
                && servers.get(&announcement.server).is_some()
                && !self.asked.contains(&announcement.server)
                && !announcement.http.parse().is_ok_and(|url| self.invited.contains(&url))
        };
        let fit =
            announcements.iter().filter(|signed| fit(&signed.announcement)).take(VALIDATORS_MAX);
        for SignedAnnouncement { announcement, .. } in fit.filter(|signed| signed.verify(scheme)) {
            let known = self.announcements.get(&announcement.server);
            if known.is_none_or(|known| known.issued < announcement.issued) {
                self.announcements.insert(announcement.server, announcement.clone());
            }
        }
    }

    /// Returns the server to ask next. No server is returned twice.
    pub(super) fn next(&mut self) -> Option<JoinTarget> {
        if let Some(address) = self.addresses.pop_front() {
            return Some(JoinTarget::Address(address.clone()));
        }
        let (server, announcement) = self.announcements.pop_first()?;
        self.asked.insert(server);
        Some(JoinTarget::Server(Box::new(announcement)))
    }
}

#[cfg(test)]
mod tests {
    use metatopia_protocol::Grant;
    use metatopia_types::{
        Certificate, Digest, Ed25519, Header, HeaderId, Height, Millis, Root, Round, Sign,
        SigningKey, SimId, Validator, ValidatorSet,
    };

    use super::*;

    fn key(n: u16) -> SigningKey {
        let mut seed = [0; 32];
        seed[..2].copy_from_slice(&n.to_le_bytes());
        SigningKey::from_seed(seed)
    }

    /// Returns an invite of a sim with this many servers, two of which are at its addresses.
    fn invite(servers: usize) -> Invite {
        let voter = |n| Validator { key: key(n).public(), power: 1 };
        let voters = (0..).take(servers).map(voter).collect();
        let validators = ValidatorSet::new(voters, |_| true).unwrap();
        let header = Header {
            sim: SimId(Digest([1; 32])),
            engine: 1,
            height: Height(600),
            previous: HeaderId::BEFORE_FIRST,
            proposer: key(0).public(),
            round: Round(0),
            time: Millis(0),
            acts: Digest::ZERO,
            blobs: Digest::ZERO,
            act_count: 0,
            blob_count: 0,
            root: Root(Digest::ZERO),
            validators: validators.id(),
            next_validators: validators.id(),
            reserved: Digest::ZERO,
        };
        let (height, round, header_id) = (header.height, header.round, header.id());
        Invite {
            header,
            certificate: Certificate { height, round, header: header_id, signatures: Vec::new() },
            validators,
            addresses: vec!["http://192.0.2.1:80/".to_owned(), "http://192.0.2.2:80/".to_owned()],
            grant: Grant::Follow,
            uses: 1,
            expires: Millis(1),
            issuer: key(0).public(),
            nonce: 0,
        }
    }

    fn announcement(n: u16, http: &str, issued: u64) -> EndpointAnnouncement {
        EndpointAnnouncement {
            sim: SimId(Digest([1; 32])),
            server: key(n).public(),
            http: http.to_owned(),
            quic: "192.0.2.9:9".to_owned(),
            certificates: vec![[7; 32]],
            issued: Millis(issued),
        }
    }

    fn signed(n: u16, http: &str, issued: u64) -> SignedAnnouncement {
        announcement(n, http, issued).sign(&key(n))
    }

    /// Returns the addresses that are asked, in this order, until none is left.
    fn rest(waiting: &mut UnaskedServers<'_>) -> Vec<String> {
        let asked = core::iter::from_fn(|| waiting.next());
        let place = |target| match target {
            JoinTarget::Address(address) => address,
            JoinTarget::Server(signed) => signed.http,
        };
        asked.map(place).collect()
    }

    #[test]
    fn the_invites_addresses_come_first_and_in_their_order() {
        let invite = invite(4);
        let mut waiting = UnaskedServers::new(&invite);
        assert_eq!(waiting.next(), Some(JoinTarget::Address(invite.addresses[0].clone())));
        // Another server names it again, in the spelling of servers.
        let announcements =
            [signed(1, "http://192.0.2.2:80", 5), signed(2, "http://192.0.2.3:80", 5)];
        waiting.receive(&announcements, &Ed25519);
        assert_eq!(rest(&mut waiting), ["http://192.0.2.2:80/", "http://192.0.2.3:80"]);
    }

    #[test]
    fn only_servers_of_the_invite_are_asked_and_only_where_they_say_themselves() {
        let invite = invite(4);
        let mut waiting = UnaskedServers::new(&invite);
        let forged = announcement(2, "http://192.0.2.66:2", 9).sign(&key(3));
        let sim = SimId(Digest([2; 32]));
        let elsewhere =
            EndpointAnnouncement { sim, ..announcement(1, "http://192.0.2.66:3", 9) }.sign(&key(1));
        let stranger = signed(77, "http://192.0.2.66:4", 9);
        let announcements = [forged, elsewhere, stranger, signed(2, "http://192.0.2.3:80", 5)];
        waiting.receive(&announcements, &Ed25519);
        assert_eq!(rest(&mut waiting)[2..], ["http://192.0.2.3:80"]);
    }

    #[test]
    fn the_newest_word_of_a_server_counts_and_once_it_is_asked_none() {
        let invite = invite(4);
        let mut waiting = UnaskedServers::new(&invite);
        let (older, newer) =
            (signed(2, "http://192.0.2.3:1", 5), signed(2, "http://192.0.2.3:2", 6));
        waiting.receive(&[newer, older.clone()], &Ed25519);
        waiting.receive(&[older], &Ed25519);
        assert_eq!(rest(&mut waiting)[2..], ["http://192.0.2.3:2"]);

        waiting.receive(&[signed(2, "http://192.0.2.3:3", 7)], &Ed25519);
        assert_eq!(waiting.next(), None);
    }

    /// Each announcement costs a check of a signature, and each that counts may cost half a minute.
    #[test]
    fn a_liar_that_names_thousands_is_asked_once_and_stands_in_nobodys_way() {
        let most = invite(VALIDATORS_MAX);
        let mut waiting = UnaskedServers::new(&most);
        let many = (0..2_000).map(|n| signed(0, &format!("http://192.0.2.66:{}", n + 1), n));
        let many: Vec<_> = many.collect();
        waiting.receive(&many, &Ed25519);
        let honest =
            (0..).take(VALIDATORS_MAX).map(|n| signed(n, &format!("http://10.0.0.{n}:1"), 1));
        let honest: Vec<_> = honest.collect();
        waiting.receive(&honest, &Ed25519);

        let asked = rest(&mut waiting);
        assert_eq!(asked.len(), most.addresses.len() + VALIDATORS_MAX);
        let liars = asked.iter().filter(|address| address.starts_with("http://192.0.2.66:"));
        assert_eq!(liars.collect::<Vec<_>>(), ["http://192.0.2.66:31"], "the others were not read");
    }
}
