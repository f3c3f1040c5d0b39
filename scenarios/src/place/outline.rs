//! Outlines of a place's things: of one shape, or of several parts.

use core::ops::Range;

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{
    Compound, CompoundError, CompoundPart, PartFault, Polygon, Shape, limits::COMPOUND_PARTS_MAX,
};
use metatopia_sim::limits::SIM_COMPOUNDS_MAX;
use toml::Spanned;

use super::{
    file::{ObjectFile, PartFile},
    object::{of_degrees, shown_angle},
    outline_words::{refused_offset, refused_size},
    rules::written,
};
use crate::{
    Mistake, TomlSource,
    number::{Number, NumberPair},
};

/// The keys of a table that say an outline of one shape. Two tables have them: serde flattens none that refuses
/// unknown keys.
#[derive(Clone, Copy)]
pub(super) struct OutlineKeys<'a> {
    pub(super) rect: Option<&'a Spanned<NumberPair>>,
    pub(super) disc: Option<&'a Spanned<Number>>,
    pub(super) capsule: Option<&'a Spanned<NumberPair>>,
    pub(super) corners: Option<&'a Spanned<Vec<NumberPair>>>,
}

impl OutlineKeys<'_> {
    /// Returns where the outline stands in the file.
    pub(super) fn span(&self) -> Option<Range<usize>> {
        let Self { rect, disc, capsule, corners } = self;
        let pairs = [*rect, *capsule].into_iter().flatten().map(Spanned::span).next();
        pairs.or_else(|| disc.map(Spanned::span)).or_else(|| corners.map(Spanned::span))
    }

    /// Returns how many outlines it has, which should be one.
    fn count(&self) -> usize {
        let Self { rect, disc, capsule, corners } = self;
        [rect.is_some(), disc.is_some(), capsule.is_some(), corners.is_some()]
            .into_iter()
            .filter(|is_there| *is_there)
            .count()
    }
}

impl ObjectFile {
    pub(super) fn outline(&self) -> OutlineKeys<'_> {
        OutlineKeys {
            rect: self.rect.as_ref(),
            disc: self.disc.as_ref(),
            capsule: self.capsule.as_ref(),
            corners: self.corners.as_ref(),
        }
    }
}

impl PartFile {
    pub(super) fn outline(&self) -> OutlineKeys<'_> {
        OutlineKeys {
            rect: self.rect.as_ref(),
            disc: self.disc.as_ref(),
            capsule: self.capsule.as_ref(),
            corners: self.corners.as_ref(),
        }
    }

    /// Describes a part of a compound.
    fn of(part: &CompoundPart) -> Self {
        let mut described =
            Self { at: (part.offset != Vec2::ZERO).then(|| part.offset.into()), ..Self::default() };
        let (degrees, turn) = shown_angle(part.angle);
        described.degrees = degrees.map(|whole| written(Number(whole)));
        described.turn = turn.map(|turn| written(Number(turn)));
        let shown = ShownOutline::of(&part.shape);
        described.rect = shown.rect.map(written);
        described.disc = shown.disc.map(written);
        described.capsule = shown.capsule.map(written);
        described.corners = shown.corners.map(written);
        described
    }
}

/// The outline of a shape as a file writes it.
#[derive(Default)]
pub(super) struct ShownOutline {
    pub(super) rect: Option<NumberPair>,
    pub(super) disc: Option<Number>,
    pub(super) capsule: Option<NumberPair>,
    pub(super) corners: Option<Vec<NumberPair>>,
    pub(super) parts: Option<Vec<Spanned<PartFile>>>,
}

impl ShownOutline {
    /// Describes a shape; nothing of a thin one, which its line says.
    pub(super) fn of(shape: &Shape) -> Self {
        let double = |half: Fx| half.saturating_add(half);
        let mut shown = Self::default();
        match shape {
            Shape::Rect { half } => {
                shown.rect = Some(Vec2::new(double(half.x), double(half.y)).into());
            }
            Shape::Circle { radius } => shown.disc = Some(Number(*radius)),
            Shape::Capsule { half, radius } => {
                shown.capsule = Some(Vec2::new(double(*half), *radius).into());
            }
            Shape::Polygon(polygon) => {
                shown.corners = Some(polygon.corners().map(Into::into).collect());
            }
            Shape::Compound(compound) => {
                let parts = compound.parts().map(|part| written(PartFile::of(&part)));
                shown.parts = Some(parts.collect());
            }
            Shape::Segment(_) => {}
        }
        shown
    }
}

impl TomlSource<'_> {
    /// Returns the shape of an object that is no line.
    pub(super) fn shape(&self, object: &Spanned<ObjectFile>) -> Result<Shape, Mistake> {
        let described = object.get_ref();
        let keys = "`box`, `disc`, `capsule`, `corners`, `parts` and `line`";
        match (described.outline().count(), &described.parts) {
            (0, Some(parts)) => self.compound(parts),
            (1, None) => self.whole(&described.outline()),
            (0, None) => Err(self.mistake(object, format!("an object needs one of {keys}"))),
            _ => Err(self.mistake(object, format!("an object has only one of {keys}"))),
        }
    }

    /// Returns the shape of the first outline that a table has.
    fn whole(&self, keys: &OutlineKeys<'_>) -> Result<Shape, Mistake> {
        if let Some(corners) = keys.corners {
            let points: Vec<Vec2> = corners.get_ref().iter().map(|at| at.vec2()).collect();
            let polygon = Polygon::new(&points).map_err(|error| self.mistake(corners, error))?;
            return Ok(Shape::Polygon(polygon));
        }
        Ok(match (keys.rect, keys.disc, keys.capsule) {
            (Some(rect), ..) => Shape::Rect { half: rect.get_ref().vec2().scale(Fx::HALF) },
            (_, Some(disc), _) => Shape::Circle { radius: disc.get_ref().0 },
            (.., capsule) => {
                let pair = capsule.expect("whoever asks has counted one").get_ref().vec2();
                Shape::Capsule { half: pair.x.saturating_mul(Fx::HALF), radius: pair.y }
            }
        })
    }

    /// Returns the compound of some parts.
    fn compound(&self, parts: &Spanned<Vec<Spanned<PartFile>>>) -> Result<Shape, Mistake> {
        let listed = parts.get_ref();
        let read = |part: &Spanned<PartFile>| self.part(part);
        let found: Vec<CompoundPart> = listed.iter().map(read).collect::<Result<_, _>>()?;
        let compound = Compound::new(&found).map_err(|error| self.refused_parts(parts, error))?;
        Ok(Shape::Compound(compound))
    }

    fn part(&self, part: &Spanned<PartFile>) -> Result<CompoundPart, Mistake> {
        let described = part.get_ref();
        if let Some(nested) = &described.parts {
            let told = "a part has no parts: list them one after another in `parts` of the thing";
            return Err(self.mistake(nested, told));
        }
        let (outline, keys) = (described.outline(), "`box`, `disc`, `capsule` and `corners`");
        match outline.count() {
            0 => return Err(self.mistake(part, format!("a part needs one of {keys}"))),
            1 => {}
            _ => return Err(self.mistake(part, format!("a part has only one of {keys}"))),
        }
        let angle = self.angle(described.degrees.as_ref(), described.turn.as_ref())?;
        let at = described.at.map_or(Vec2::ZERO, |at| at.vec2());
        // Corners say where they are: `at` and the angle move them as they stand.
        let Some(corners) = outline.corners else {
            return Ok(CompoundPart { shape: self.whole(&outline)?, offset: at, angle });
        };
        let points: Vec<Vec2> = corners.get_ref().iter().map(|at| at.vec2()).collect();
        let own =
            CompoundPart::of_corners(&points).map_err(|error| self.mistake(corners, error))?;
        let offset = at.saturating_add(own.offset.rotate(angle));
        Ok(CompoundPart { offset, angle, ..own })
    }

    /// Returns why parts are no compound, or none of a body of this motion.
    pub(super) fn refused_parts(
        &self,
        parts: &Spanned<Vec<Spanned<PartFile>>>,
        error: CompoundError,
    ) -> Mistake {
        let (part, fault) = match error {
            CompoundError::Count(count) => {
                let told = format!("`parts` has {count} of 2 to {COMPOUND_PARTS_MAX} parts");
                return self.mistake(parts, told);
            }
            CompoundError::Part { part, fault } => (&parts.get_ref()[part], fault),
        };
        let outline = part.get_ref().outline();
        let at = outline.span().unwrap_or_else(|| part.span());
        match fault {
            PartFault::Size(error) if error.field == "reach" => {
                self.mistake(part, refused_size(&outline, &error, true))
            }
            PartFault::Size(error) => self.mistake_in(at, refused_size(&outline, &error, true)),
            PartFault::Offset => self.mistake(part, refused_offset()),
            PartFault::Kind | PartFault::Polygon(_) => self.mistake_in(at, fault),
        }
    }

    /// Returns the angle of a table that says it in degrees or as a share of a turn.
    pub(super) fn angle(
        &self,
        degrees: Option<&Spanned<Number>>,
        turn: Option<&Spanned<Number>>,
    ) -> Result<Angle, Mistake> {
        match (degrees, turn) {
            (None, None) => Ok(Angle::ZERO),
            (Some(degrees), None) => Ok(of_degrees(degrees.get_ref().0)),
            (None, Some(turn)) => Ok(Angle::from_turns(turn.get_ref().0)),
            (Some(_), Some(turn)) => {
                Err(self.mistake(turn, "a direction has only one of `degrees` and `turn`"))
            }
        }
    }

    /// Notes the first object with which there are more things of several parts than a sim has.
    pub(super) fn count_compounds(
        &self,
        objects: &[Spanned<ObjectFile>],
        mistakes: &mut Vec<Mistake>,
    ) {
        let mut count = 0_u64;
        for object in objects {
            let Some(parts) = &object.get_ref().parts else { continue };
            count = count.saturating_add(object.get_ref().count());
            if count > SIM_COMPOUNDS_MAX as u64 {
                let told = format!("with these there are {count} things of several parts");
                let told = format!("{told}, where a sim has at most {SIM_COMPOUNDS_MAX}");
                return mistakes.push(self.mistake(parts, told));
            }
        }
    }
}
