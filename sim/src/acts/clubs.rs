//! Clubs: decides what people order about a club, and what its members say there.

use metatopia_math::Vec2;
use metatopia_physics::Body;
use metatopia_types::{BlobId, ClubId, ClubName, ClubOrder, ObjectId, PublicKey, Refusal};

use super::{
    changes::StateChange,
    chat::{CLUB, SpokenLine, WHISPERED, words},
    context::{ActContext, ActResult},
};
use crate::{
    limits::CLUB_INVITE_MS,
    rules::{ActTarget, Club, ClubInvite, Right},
    state::{Player, State},
};

impl ActContext<'_> {
    /// Decides an order about a club.
    pub(super) fn club(&self, order: &ClubOrder) -> ActResult {
        let player = self.renewed_player()?;
        match order {
            ClubOrder::Say { club, body } => return self.say_in_club(player, *club, *body),
            ClubOrder::Invite { club, key } => return self.invite(player, *club, *key),
            _ => {}
        }
        let (author, clubs) = (self.author(), &self.state.people.clubs);
        let Some(id) = order.club() else {
            let founded = self.founded(order, &player)?;
            let founded = StateChange::Club(self.state.clock.next_club, Some(Box::new(founded)));
            return Ok(vec![founded, StateChange::Player(author, player)]);
        };
        let changed = self.changed_club(id, clubs.club(id)?.clone(), order)?;
        let change = StateChange::Club(id, changed.map(Box::new));
        Ok(vec![change, StateChange::Player(author, player)])
    }

    /// Returns the club that the author founds.
    fn founded(&self, order: &ClubOrder, player: &Player) -> Result<Club, Refusal> {
        let ClubOrder::Found { name } = order else {
            unreachable!("every other order names a club")
        };
        let (clubs, newcomer) = (&self.state.people.clubs, player.since.regular.is_none());
        clubs.check_free_name(None, name)?;
        clubs.check_share(&self.author())?;
        clubs.check_register(newcomer)?;
        let time = self.state.governance.time;
        Ok(Club::founded(name.clone(), self.author(), newcomer, time))
    }

    /// Returns a club as it is after an order; nothing if it ends.
    fn changed_club(
        &self,
        id: ClubId,
        mut club: Club,
        order: &ClubOrder,
    ) -> Result<Option<Club>, Refusal> {
        let (author, clubs) = (self.author(), &self.state.people.clubs);
        match order {
            ClubOrder::Accept { .. } => {
                club.invite(&author, self.state.governance.time)?;
                clubs.check_share(&author)?;
                club.check_room()?;
                club.invites.remove(&author);
                club.members.insert(author, self.state.governance.time);
            }
            ClubOrder::Decline { .. } => {
                club.invites.remove(&author).ok_or(Refusal::NoInvite)?;
            }
            ClubOrder::Leave { .. } => {
                club.check_member(&author)?;
                return Ok(club.without(&author));
            }
            ClubOrder::Remove { key, .. } => {
                club.check_owner(&author)?;
                if club.invites.remove(key).is_none() {
                    club.check_member(key)?;
                    return Ok(club.without(key));
                }
            }
            ClubOrder::HandOver { to, .. } => {
                club.check_owner(&author)?;
                club.check_member(to)?;
                if *to == author {
                    return Err(Refusal::AlreadySo);
                }
                club.owner = *to;
            }
            ClubOrder::Rename { name, .. } => {
                club.check_owner(&author)?;
                if club.name == *name {
                    return Err(Refusal::AlreadySo);
                }
                clubs.check_free_name(Some(id), name)?;
                club.name.clone_from(name);
            }
            ClubOrder::Dissolve { .. } => {
                club.check_owner(&author)?;
                return Ok(None);
            }
            ClubOrder::Found { .. } | ClubOrder::Invite { .. } | ClubOrder::Say { .. } => {}
        }
        Ok(Some(club))
    }

    /// Decides whether a member invites somebody, who hears of it.
    fn invite(&self, player: Player, id: ClubId, key: PublicKey) -> ActResult {
        let clubs = &self.state.people.clubs;
        let mut club = clubs.club(id)?.clone();
        club.check_member(&self.author())?;
        self.state.check_trusted(&key)?;
        if club.members.contains_key(&key) || club.invites.contains_key(&key) {
            return Err(Refusal::AlreadySo);
        }
        let newcomer = player.since.regular.is_none();
        self.check_told(key, newcomer)?;
        club.check_room()?;
        clubs.check_invites(&club, &key, newcomer)?;
        let until = self.state.governance.time.saturating_add(CLUB_INVITE_MS);
        let by = self.author();
        let line = self.invite_line(by, player.name.clone(), &club.name, key);
        club.invites.insert(key, ClubInvite { by, newcomer, until });
        let change = StateChange::Club(id, Some(Box::new(club)));
        let told = StateChange::Invited(Box::new(line), newcomer);
        Ok(vec![StateChange::Player(by, player), change, told])
    }

    /// Decides a line that the members of a club hear. Nobody needs an avatar for it, and no script hears it.
    fn say_in_club(&self, mut player: Player, club: ClubId, body: BlobId) -> ActResult {
        let found = self.state.people.clubs.club(club)?;
        found.check_member(&self.author())?;
        let blob = self.executor.blobs.get(&body).ok_or(Refusal::NoBlob)?;
        let text = words(blob).ok_or(Refusal::BadText)?.to_owned();
        self.check_slow(player.spoke)?;
        player.spoke = Some(self.state.governance.time);
        let name = ClubName { club, name: found.name.clone() };
        let line = self.line(self.author(), player.name.clone(), text);
        let line = SpokenLine { channel: CLUB, club: Some(name), ..line };
        Ok(vec![StateChange::Player(self.author(), player), StateChange::Chat(line)])
    }

    /// Returns the lines by which the author hears at a login of the invites that are open.
    pub(super) fn invited_at_login(&self) -> Vec<StateChange> {
        let (author, clubs) = (self.author(), &self.state.people.clubs);
        let open = |id: ClubId| {
            let club = clubs.club(id).ok()?;
            let by = club.invite(&author, self.state.governance.time).ok()?.by;
            let name = self.state.players.get(&by)?.name.clone();
            Some(StateChange::Chat(self.invite_line(by, name, &club.name, author)))
        };
        clubs.inviting(&author).filter_map(open).collect()
    }

    /// Returns the line by which somebody hears of an invite. Nobody else hears it.
    fn invite_line(&self, by: PublicKey, name: String, club: &str, to: PublicKey) -> SpokenLine {
        let text = format!("You are invited to the club {club}: `club join {club}` accepts.");
        SpokenLine { channel: WHISPERED, hearer: Some(to), ..self.line(by, name, text) }
    }

    /// Returns a line of somebody of this name, who may be without an avatar.
    fn line(&self, by: PublicKey, name: String, text: String) -> SpokenLine {
        let avatar = self.state.present.get(&by).copied();
        let body = avatar.and_then(|avatar| self.state.bodies.body(avatar));
        SpokenLine {
            height: self.state.clock.height,
            tick: self.tick(),
            channel: CLUB,
            speaker: avatar.unwrap_or(ObjectId(0)),
            player: Some(by),
            hearer: None,
            club: None,
            name,
            place: body.map_or(Vec2::ZERO, Body::position),
            text,
        }
    }
}

impl State {
    /// Returns the right that ends a club of somebody else, and whom it is about: its owner.
    pub(super) fn end_club_request(&self, id: ClubId) -> Result<(Right, ActTarget<'_>), Refusal> {
        let owner = &self.people.clubs.club(id)?.owner;
        Ok((Right::Moderate, ActTarget { person: Some(owner), ..ActTarget::SIM }))
    }
}
