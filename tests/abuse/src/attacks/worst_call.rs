//! `worst_call`: the longest that one call of a script can take, of all that `script check` passes.

mod dice;
mod sources;

use std::{sync::Arc, time::Duration};

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_scripting::{
    AlongRay, Call, Draft, Event, Handler, Nearby, ObjectView, ObjectWrites, Package,
    PackageAuthor, ScriptHandler, ScriptState, WorldView, check, limits::GAS_PER_CALL_MAX,
};
use metatopia_types::{AssetLicence, Digest, ObjectId, Origin, ScriptId, SimId, Tick};

use super::{Play, yardstick::Yardstick};
use crate::{attacks::processor, finding::Finding};
use dice::SplitMix;
pub(super) use sources::ScriptSource;
use sources::sources;

const NAME: &str = "worst_call";

/// Milliseconds of one call.
const BOUND_MS: f64 = 5.0;

/// Sources that a seed puts together.
const MIXED: usize = 400;

/// The longest ones are played again so often; the best time counts, for others use the machine too.
const AGAIN: usize = 5;

/// So many of the longest are played again.
const LONGEST: usize = 12;

/// A call as it was measured.
pub(super) struct TimedCall {
    pub(super) source: ScriptSource,
    time: Duration,
    gas: u64,
}

impl TimedCall {
    /// Returns the nanoseconds of one unit of gas.
    fn price(&self) -> u128 {
        self.time.as_nanos() / u128::from(self.gas.max(1))
    }
}

pub(crate) fn play(play: &Play) -> Result<Vec<Finding>, String> {
    let yardstick = Yardstick::at_start();
    let (mut measured, written) = measure(play)?;
    let count = measured.len();
    keep_dearest(&mut measured, LONGEST, |one| one.time.as_nanos())?;
    for one in &measured {
        eprintln!("  {:7.3} ms, {:5} gas: {}", milliseconds(one.time), one.gas, one.source.name);
    }
    let worst = measured.first().ok_or("no source passed the check")?;
    let note = format!("{} ({count} of {written} sources passed)", worst.source.name);
    let value = milliseconds(worst.time);
    Ok(vec![Finding::at_most_ms(NAME, value, BOUND_MS, yardstick.at_end()).noted(note)])
}

/// Returns the `count` sources whose calls take longest for a unit of gas.
pub(super) fn dearest(play: &Play, count: usize) -> Result<Vec<ScriptSource>, String> {
    let (mut measured, _) = measure(play)?;
    keep_dearest(&mut measured, 2 * count, TimedCall::price)?;
    measured.truncate(count);
    Ok(measured.into_iter().map(|one| one.source).collect())
}

/// Calls each source that passes the check once. Gives how many were written, too.
fn measure(play: &Play) -> Result<(Vec<TimedCall>, usize), String> {
    let mut dice = SplitMix(play.seed);
    let all = sources(&mut dice, if play.short { MIXED / 4 } else { MIXED });
    let written = all.len();
    let mut measured = Vec::with_capacity(written);
    for source in all.into_iter().filter(|source| check(&source.text).is_empty()) {
        let (time, gas) = call(&source)?;
        measured.push(TimedCall { source, time, gas });
    }
    Ok((measured, written))
}

/// Keeps the `count` dearest by this measure, and plays them again: the best time counts.
fn keep_dearest(
    measured: &mut Vec<TimedCall>,
    count: usize,
    by: impl Fn(&TimedCall) -> u128,
) -> Result<(), String> {
    measured.sort_by_key(|one| std::cmp::Reverse(by(one)));
    measured.truncate(count);
    for one in measured.iter_mut() {
        for _ in 0..AGAIN {
            one.time = one.time.min(call(&one.source)?.0);
        }
    }
    measured.sort_by_key(|one| std::cmp::Reverse(by(one)));
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// Calls `on_start` once. Gives the processor time and the gas that it took.
fn call(source: &ScriptSource) -> Result<(Duration, u64), String> {
    let package = Package::build(Draft {
        name: "hostile".into(),
        version: "1.0.0".into(),
        api: 1,
        entry: "main.rhai".into(),
        files: [("main.rhai".into(), source.text.clone().into_bytes())].into(),
        licence: "AGPL-3.0-or-later".into(),
        authors: vec![PackageAuthor { name: "Mallory".into(), key: None }],
        ..Draft::default()
    });
    let package = package.map_err(|error| format!("{}: {error}", source.name))?;
    let handler = ScriptHandler::new(&package).map_err(|error| error.to_string())?;
    let view: Arc<dyn WorldView> = Arc::new(Nowhere);
    let (state, own) = (Arc::new(ScriptState::default()), ObjectWrites::default());
    let call = Call {
        view: &view,
        script: ScriptId(1),
        object: ObjectId(1),
        index: 0,
        event: &Event::Start,
        state: &state,
        own: &own,
        gas: GAS_PER_CALL_MAX,
    };
    let before = processor::time();
    let result = handler.call(&call);
    let time = processor::time().saturating_sub(before);
    let gas = match &result {
        Ok(part) => part.gas,
        Err(error) => error.gas,
    };
    Ok((time, gas))
}

/// A world with a few things in one place.
struct Nowhere;

impl WorldView for Nowhere {
    fn object(&self, id: ObjectId) -> Option<ObjectView<'_>> {
        (id.0 <= 17).then_some(ObjectView {
            origin: Origin { sim: SimId(Digest([9; 32])), number: id },
            name: "stone",
            kind: "stone",
            pos: Vec2::ZERO,
            angle: Angle::ZERO,
            velocity: Vec2::ZERO,
            spin: Fx::ZERO,
            color: 0,
            text: "",
            sensor: false,
            licence: AssetLicence::Cc0,
            player: None,
            owner: None,
            spawner: None,
        })
    }

    fn nearby(&self, _: Vec2, _: Fx, max: u32) -> Nearby {
        let objects: Vec<ObjectId> = (1..=u64::from(max.min(17))).map(ObjectId).collect();
        Nearby { looked: objects.len(), objects }
    }

    fn named(&self, _: ObjectId, _: &str, _: u32) -> Nearby {
        Nearby::default()
    }

    fn along_ray(&self, _: Vec2, _: Vec2, _: ObjectId) -> AlongRay {
        AlongRay::default()
    }

    fn tick(&self) -> Tick {
        Tick(1)
    }

    fn seed(&self) -> Digest {
        Digest::ZERO
    }
}
