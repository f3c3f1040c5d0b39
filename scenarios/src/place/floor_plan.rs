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
    read::noted,
    rules::written,
};
use crate::{
    Mistake, TomlSource,
    number::{Color, NumberPair},
};

/// How light a sector is that does not say so, in percent.
const DAYLIGHT: u8 = 100;

/// The parts of a floor plan, with their places in the file: a wrong one is left out, and the others are looked at.
struct ReadPlan {
    sectors: Vec<(usize, Sector)>,
    openings: Vec<(usize, SectorOpening)>,
}

impl ReadPlan {
    /// Returns the plan of these sectors and openings.
    fn plan(&self) -> FloorPlan {
        FloorPlan {
            sectors: self.sectors.iter().map(|(_, sector)| sector.clone()).collect(),
            openings: self.openings.iter().map(|(_, opening)| *opening).collect(),
        }
    }

    /// Returns the place in the file of the first sector whose wall a disc touches.
    fn touched_by(&self, (centre, radius): (Vec2, Fx)) -> Option<usize> {
        let openings = self.plan().openings;
        let alone = |sector: &Sector| FloorPlan {
            sectors: vec![sector.clone()],
            openings: openings.clone(),
        };
        let mut sectors = self.sectors.iter();
        sectors.find(|(_, it)| alone(it).touches_wall(centre, radius)).map(|(n, _)| *n)
    }

    /// Leaves out the part that breaks this rule, or all that are too many. Returns the rule by places in the file.
    fn leave_out(&mut self, error: FloorPlanError) -> FloorPlanError {
        let FloorPlanError { part, fault } = error;
        let fault = match fault {
            FloorPlanFault::Overlaps(n, name) => FloorPlanFault::Overlaps(self.sectors[n].0, name),
            FloorPlanFault::OpeningsOverlap(n) => {
                FloorPlanFault::OpeningsOverlap(self.openings[n].0)
            }
            fault => fault,
        };
        let part = match (part, &fault) {
            (FloorPlanPart::Sector(n), FloorPlanFault::TooManySectors) => {
                let many = self.sectors.split_off(n);
                FloorPlanPart::Sector(many[0].0)
            }
            (FloorPlanPart::Sector(n), _) => FloorPlanPart::Sector(self.sectors.remove(n).0),
            (FloorPlanPart::Opening(n), FloorPlanFault::TooManyOpenings) => {
                let many = self.openings.split_off(n);
                FloorPlanPart::Opening(many[0].0)
            }
            (FloorPlanPart::Opening(n), _) => FloorPlanPart::Opening(self.openings.remove(n).0),
        };
        FloorPlanError { part, fault }
    }
}

impl TomlSource<'_> {
    /// Returns the floor plan that a place describes, with corners in the order that sims want, and notes all
    /// mistakes in it.
    pub(super) fn floor_plan(
        &self,
        file: &PlaceFile,
        parameters: &Parameters,
        mistakes: &mut Vec<Mistake>,
    ) -> FloorPlan {
        let before = mistakes.len();
        let ground = parameters.ground;
        let bounds = Bounds::new(ground.low, ground.high)
            .expect("the rules were checked, and the ground with them");
        let sectors = file.sectors.iter().enumerate();
        let sectors = sectors.filter_map(|(n, it)| Some((n, noted(self.sector(it), mistakes)?)));
        let mut read = ReadPlan { sectors: sectors.collect(), openings: Vec::new() };
        while let Err(error) = read.plan().check(&bounds) {
            mistakes.push(self.floor_plan_mistake(file, read.leave_out(error)));
        }
        if mistakes.len() > before {
            // An opening in an edge of a sector that was left out would be in none.
            return FloorPlan::default();
        }
        let ends = |opening: &Spanned<OpeningFile>| {
            let OpeningFile { from, to } = opening.get_ref();
            SectorOpening { from: from.vec2(), to: to.vec2() }
        };
        read.openings = file.openings.iter().map(ends).enumerate().collect();
        while let Err(error) = read.plan().check(&bounds) {
            mistakes.push(self.floor_plan_mistake(file, read.leave_out(error)));
        }
        let plan = read.plan();
        let (spawn, radius) = (parameters.avatar.spawn, parameters.avatar.radius);
        if mistakes.len() == before && plan.touches_wall(spawn, radius) {
            let message = format!("people would appear in a wall of a sector, at {spawn}");
            let walled = read.touched_by((spawn, radius)).map(|n| &file.sectors[n]);
            mistakes.push(match (&file.spawn, walled) {
                (Some(spawn), _) => self.mistake(spawn, message),
                (None, Some(sector)) => {
                    let told = format!("{message}: `spawn` says where else");
                    self.mistake(sector, told)
                }
                (None, None) => Mistake::in_file(self.file, message),
            });
        }
        plan
    }

    /// Returns the mistake of a part of the floor plan that breaks a rule.
    fn floor_plan_mistake(&self, file: &PlaceFile, error: FloorPlanError) -> Mistake {
        let FloorPlanError { part, fault } = error;
        match (part, fault) {
            // Here they may go either way around.
            (FloorPlanPart::Sector(n), FloorPlanFault::NotConvex(corner)) => {
                let told = "the corners do not go around a convex room: look at the one at";
                self.mistake(&file.sectors[n], format!("{told} {corner}"))
            }
            (FloorPlanPart::Sector(n), fault) => self.mistake(&file.sectors[n], fault),
            (FloorPlanPart::Opening(n), fault) => self.mistake(&file.openings[n], fault),
        }
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
