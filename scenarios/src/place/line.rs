//! Lines of a place: thin ground along points, of which each piece is a thing of its own.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{BodySpec, Pose, SegmentChain, Shape};
use toml::Spanned;

use super::{
    file::{MotionFile, ObjectFile},
    outline_words::refused_line,
};
use crate::{Mistake, TomlSource, number::NumberPair};

impl ObjectFile {
    /// Returns how many things the table describes, at least one.
    pub(super) fn count(&self) -> u64 {
        let points = self.line.as_ref().map_or(0, |line| line.get_ref().len());
        let pieces = if self.closed { points } else { points.saturating_sub(1) };
        self.centres().len().max(pieces).max(1) as u64
    }

    /// Returns the centres of the things that the table describes by `places`.
    pub(super) fn centres(&self) -> &[NumberPair] {
        self.places.as_ref().map_or(&[], |places| places.get_ref().as_slice())
    }
}

impl TomlSource<'_> {
    /// Returns the bodies of the pieces of a line. What slides along it meets no corner between two of them.
    pub(super) fn pieces(
        &self,
        object: &Spanned<ObjectFile>,
        angle: Angle,
    ) -> Result<Vec<BodySpec>, Mistake> {
        let described = object.get_ref();
        let line = described.line.as_ref().expect("whoever asks has a line");
        self.check_line(described, line, angle)?;
        let [before, after] = [described.before, described.after];
        let points = before.into_iter().chain(line.get_ref().iter().copied()).chain(after);
        let points: Vec<Vec2> = points.map(|at| at.vec2()).collect();
        let chain = SegmentChain::new(&points, described.closed).map_err(|error| {
            self.mistake(line, refused_line(error, before.is_some(), line.get_ref().len()))
        })?;
        // The pieces say themselves what shape they have and where they are.
        let like = described.body(Shape::Circle { radius: Fx::ONE }, Vec2::ZERO, angle);
        let turned = |body: BodySpec| BodySpec { pose: Pose { angle, ..body.pose }, ..body };
        // Beside a part of a line stand the pieces that it only needs to know.
        let own = chain.bodies(&like).into_iter().skip(usize::from(before.is_some()));
        Ok(own.take(described.count() as usize).map(turned).collect())
    }

    /// Checks that nothing else of the table speaks against a line.
    fn check_line(
        &self,
        described: &ObjectFile,
        line: &Spanned<Vec<NumberPair>>,
        angle: Angle,
    ) -> Result<(), Mistake> {
        let ObjectFile { closed, before, after, motion, velocity, spin, .. } = described;
        let is_outline = described.outline().span().is_some() || described.parts.is_some();
        let is_placed = described.at.is_some() || !described.centres().is_empty();
        let moves = *motion != MotionFile::Static || velocity.is_some() || spin.is_some();
        let is_part = before.is_some() || after.is_some();
        let is_single = line.get_ref().len() == 2;
        let told = if is_outline || is_placed {
            "the points of a `line` say where it is and how large: leave the rest out"
        } else if moves {
            "a line is static: nothing moves it"
        } else if (is_part && *closed) || ((is_part || angle != Angle::ZERO) && !is_single) {
            "`before`, `after` and angles are for a line of two points"
        } else {
            return Ok(());
        };
        Err(self.mistake(line, told))
    }
}

/// One piece of a line, as a place writes it.
#[derive(Default)]
pub(super) struct LinePiece {
    pub(super) line: Option<Vec<NumberPair>>,
    pub(super) before: Option<NumberPair>,
    pub(super) after: Option<NumberPair>,
}

impl LinePiece {
    /// Returns the piece that a body is, if it is one. Its points are those of a body that is not turned.
    pub(super) fn of(body: &BodySpec) -> Option<Self> {
        let Shape::Segment(segment) = body.shape else { return None };
        let at = |end: Vec2| body.pose.position.saturating_add(end).into();
        let [before, after] = segment.neighbour_ends().map(|end| end.map(at));
        Some(Self { line: Some(segment.ends().map(at).to_vec()), before, after })
    }
}
