//! The floor plan of a place, as its file describes it and as it is written.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::Bounds;
use metatopia_sim::{
    FloorPlan, FloorPlanError, FloorPlanFault, FloorPlanPart, Parameters, Sector, SectorOpening,
    SectorSound,
};
use toml::Spanned;

use super::{
    file::{OpeningFile, PlaceFile, SectorFile},
    rules::written,
};
use crate::{
    Mistake, TomlSource,
    number::{Color, NumberPair},
};

/// How light a sector is that does not say so, in percent.
const DAYLIGHT: u8 = 100;

impl TomlSource<'_> {
    /// Returns the floor plan that a place describes, with corners in the order that sims want.
    pub(super) fn floor_plan(
        &self,
        file: &PlaceFile,
        parameters: &Parameters,
    ) -> Result<FloorPlan, Mistake> {
        let sectors = file.sectors.iter().map(|sector| self.sector(sector));
        let ends = |opening: &Spanned<OpeningFile>| {
            let OpeningFile { from, to } = opening.get_ref();
            SectorOpening { from: from.vec2(), to: to.vec2() }
        };
        let plan = FloorPlan {
            sectors: sectors.collect::<Result<_, _>>()?,
            openings: file.openings.iter().map(ends).collect(),
        };
        let ground = parameters.ground;
        let bounds = Bounds::new(ground.low, ground.high)
            .map_err(|error| Mistake::in_file(self.file, error))?;
        plan.check(&bounds).map_err(|FloorPlanError { part, fault }| match part {
            FloorPlanPart::Sector(n) => match fault {
                // Here they may go either way around.
                FloorPlanFault::NotConvex(corner) => {
                    let told = "the corners do not go around a convex room: look at the one at";
                    self.mistake(&file.sectors[n], format!("{told} {corner}"))
                }
                fault => self.mistake(&file.sectors[n], fault),
            },
            FloorPlanPart::Opening(n) => self.mistake(&file.openings[n], fault),
        })?;
        let (spawn, radius) = (parameters.avatar.spawn, parameters.avatar.radius);
        if plan.touches_wall(spawn, radius) {
            let message = format!("people would appear in a wall of a sector, at {spawn}");
            return Err(match &file.spawn {
                Some(spawn) => self.mistake(spawn, message),
                None => Mistake::in_file(self.file, message),
            });
        }
        Ok(plan)
    }

    fn sector(&self, sector: &Spanned<SectorFile>) -> Result<Sector, Mistake> {
        let SectorFile { name, corners, floor, light, sound } = sector.get_ref();
        let mut corners: Vec<Vec2> = corners.iter().map(|corner| corner.vec2()).collect();
        if runs_clockwise(&corners) {
            corners.reverse();
        }
        let sound = match sound {
            Some(text) => self.sound(text)?,
            None => SectorSound::default(),
        };
        Ok(Sector {
            name: name.clone(),
            corners,
            floor: floor.0,
            light: light.unwrap_or(DAYLIGHT),
            sound,
        })
    }

    fn sound(&self, text: &Spanned<String>) -> Result<SectorSound, Mistake> {
        let found = SectorSound::ALL.iter().find(|(_, name)| name == text.get_ref());
        found.map(|(sound, _)| *sound).ok_or_else(|| {
            let names = SectorSound::ALL.map(|(_, name)| name).join(", ");
            self.mistake(text, format!("{:?} is no sound: write one of {names}", text.get_ref()))
        })
    }
}

/// Says whether most turns at the corners go right.
fn runs_clockwise(corners: &[Vec2]) -> bool {
    let Some(first) = corners.first() else { return false };
    let arms = corners.iter().map(|corner| corner.saturating_sub(*first));
    let next = arms.clone().skip(1);
    let twice_the_area = arms.zip(next).map(|(arm, next)| arm.cross(next));
    twice_the_area.fold(Fx::ZERO, Fx::saturating_add) < Fx::ZERO
}

impl PlaceFile {
    /// Writes down the floor plan.
    pub(super) fn note_floor_plan(&mut self, plan: &FloorPlan) {
        let sector = |sector: &Sector| SectorFile {
            name: sector.name.clone(),
            corners: sector.corners.iter().copied().map(NumberPair::from).collect(),
            floor: Color(sector.floor),
            light: Some(sector.light).filter(|light| *light != DAYLIGHT),
            sound: Some(sector.sound)
                .filter(|sound| *sound != SectorSound::default())
                .map(|sound| written(sound.name().to_owned())),
        };
        let opening = |opening: &SectorOpening| OpeningFile {
            from: opening.from.into(),
            to: opening.to.into(),
        };
        self.sectors = plan.sectors.iter().map(|each| written(sector(each))).collect();
        self.openings = plan.openings.iter().map(|each| written(opening(each))).collect();
    }
}
