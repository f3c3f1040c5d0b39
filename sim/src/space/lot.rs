//! Lots: ground that people took for themselves. They lie on top of all lands, and never on each other.

use std::collections::BTreeSet;

use metatopia_math::Vec2;
use metatopia_types::{ClubId, PublicKey, Title};
use serde::{Deserialize, Serialize};

use super::land::{Area, Land, may_build_on_lands};

/// Ground that a player took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lot {
    /// What it is called.
    pub name: String,
    /// The ground that it covers.
    pub area: Area,
    /// The player who may give it away.
    pub holder: PublicKey,
    /// The players whom the holder lets build there.
    pub friends: BTreeSet<PublicKey>,
    /// The club whose members the holder lets build there.
    pub club: Option<ClubId>,
}

impl Lot {
    /// Says whether a player is the holder, or one of the friends.
    #[must_use]
    pub fn names(&self, builder: &PublicKey) -> bool {
        self.holder == *builder || self.friends.contains(builder)
    }

    /// Says whether a player who is no admin, and is in these clubs, may build there.
    #[must_use]
    pub fn lets(&self, builder: &PublicKey, clubs: &BTreeSet<ClubId>) -> bool {
        self.names(builder) || self.club.is_some_and(|club| clubs.contains(&club))
    }

    /// Returns how many square metres it has.
    #[must_use]
    pub fn square_metres(&self) -> u32 {
        let sides = self.area.high.saturating_sub(self.area.low);
        u32::try_from(sides.x.saturating_mul(sides.y).round_int()).unwrap_or(0)
    }
}

/// Says whether a player who is no admin, and is in these clubs, may build in all of `area`. The lots lie on top
/// of the lands, which are in their order; ground that none of them covers is open if `ground_is_open`.
pub fn may_build<'a>(
    lands: &[Land],
    lots: impl IntoIterator<Item = &'a Lot>,
    ground_is_open: bool,
    (builder, clubs): (&PublicKey, &BTreeSet<ClubId>),
    area: &Area,
) -> bool {
    let mut rest = vec![*area];
    for lot in lots.into_iter().filter(|lot| lot.area.overlaps(area)) {
        if !lot.lets(builder, clubs) {
            return false;
        }
        rest = rest.iter().flat_map(|piece| piece.outside(&lot.area)).collect();
    }
    rest.iter().all(|piece| may_build_on_lands(lands, ground_is_open, builder, piece))
}

/// What decides who may build at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroundAt<'a> {
    /// A lot that some player holds.
    Lot(&'a Lot),
    /// A named land.
    Land(&'a Land),
    /// Nothing but whether ground without a name is open.
    Rest,
}

impl<'a> GroundAt<'a> {
    /// Returns what decides at a place: the lot there, or else the last land that covers it.
    pub fn of(lands: &'a [Land], lots: impl IntoIterator<Item = &'a Lot>, place: Vec2) -> Self {
        if let Some(lot) = lots.into_iter().find(|lot| lot.area.contains(place)) {
            return Self::Lot(lot);
        }
        let land = lands.iter().rfind(|land| land.area.contains(place));
        land.map_or(Self::Rest, Self::Land)
    }

    /// Says whether everybody may build there.
    #[must_use]
    pub fn is_open(&self, ground_is_open: bool) -> bool {
        match self {
            Self::Lot(_) => false,
            Self::Land(land) => land.title == Title::Open,
            Self::Rest => ground_is_open,
        }
    }
}

#[cfg(test)]
mod tests {
    use metatopia_math::Fx;

    use super::*;

    const ADA: PublicKey = PublicKey([1; 32]);
    const BOB: PublicKey = PublicKey([2; 32]);
    const EVE: PublicKey = PublicKey([3; 32]);

    fn area(west: i32, south: i32, east: i32, north: i32) -> Area {
        let at = |x, y| Vec2::new(Fx::from_int(x), Fx::from_int(y));
        Area { low: at(west, south), high: at(east, north) }
    }

    #[test]
    fn a_lot_lies_on_top_of_the_lands_for_its_holder_and_friends() {
        let lands = [Land { name: "park".to_owned(), area: area(0, 0, 40, 40), title: Title::Sim }];
        let lot = |area, holder| Lot {
            name: "lot".to_owned(),
            area,
            holder,
            friends: BTreeSet::from([BOB]),
            club: Some(ClubId(3)),
        };
        let lots = [lot(area(4, 4, 8, 8), ADA), lot(area(8, 4, 12, 8), EVE)];
        let (no_clubs, clubs) = (BTreeSet::new(), BTreeSet::from([ClubId(2), ClubId(3)]));
        let may =
            |who: &PublicKey, area: Area| may_build(&lands, &lots, true, (who, &no_clubs), &area);

        assert!(may(&ADA, area(5, 5, 7, 7)) && may(&BOB, area(5, 5, 7, 7)));
        assert!(!may(&EVE, area(5, 5, 7, 7)), "neither holder nor friend");
        let by_club = may_build(&lands, &lots, true, (&EVE, &clubs), &area(5, 5, 7, 7));
        assert!(by_club, "she is in the club");
        assert!(may(&BOB, area(6, 5, 10, 7)), "two lots whose friend he is");
        assert!(!may(&ADA, area(6, 5, 10, 7)), "half of it is Eve's");
        assert!(!may(&ADA, area(3, 5, 7, 7)), "a part of it is the park");
        assert!(may(&EVE, area(-3, 5, -1, 7)), "no land covers that");
        let at = |x, y| GroundAt::of(&lands, &lots, Vec2::new(Fx::from_int(x), Fx::from_int(y)));
        assert_eq!(at(5, 5), GroundAt::Lot(&lots[0]));
        assert_eq!(at(1, 1), GroundAt::Land(&lands[0]));
        assert!(!at(1, 1).is_open(true) && at(-1, -1).is_open(true) && !at(-1, -1).is_open(false));
        assert_eq!(lots[0].square_metres(), 16);
    }
}
