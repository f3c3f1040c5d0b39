//! From the file of a story to the story: every number is checked against what is there.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use metatopia_math::{Fx, Vec2};
use metatopia_oracle::Law;
use metatopia_scenarios::{Mistake, Place, TomlSource, parse_package, plaza};
use toml::Spanned;

use super::ending::Group;
use super::expect::Expectation;
use super::faults::{FaultsReader, links};
use super::file::{
    ActFile, ExpectFile, MannerFile, PeopleFile, Rudeness, StoryFile, StoryScriptFile, StrangerFile,
};
use super::limits::{FILE_BYTES_MAX, LENGTH_MAX, PEOPLE_MAX, SCRIPTS_MAX, SERVERS_MAX, STEPS_MAX};
use super::reasons::{ENTRY, HANGUPS, RULES};
use super::step::{PersonAction, StoryStep, StrangerAction, Visitor};
use super::times::{StoryText, Times};
use super::units::Time;
use super::{Story, StoryFileSource};
use crate::chance::Span;
use crate::conditions::Conditions;
use crate::replica::PersonProfile;

/// Servers, if the story does not say.
const SERVERS: u64 = 4;

/// One way, if the story does not say.
const LATENCY_MS: u64 = 20;

/// How long a story may take to calm down, if it does not say.
const PATIENCE: Duration = Duration::from_secs(30);

/// Between two people of a group who come.
const APART: Duration = Duration::from_millis(70);

/// Between what a stranger does: connecting, introducing itself, and the rest.
const BREATH: Duration = Duration::from_millis(100);

/// A day of a calendar.
const DAY: Duration = Duration::from_secs(86_400);

/// How fast calendars may go: a turn of 50 ms adds no more than a minute to governance time.
const HASTE_MAX: u32 = 1_200;

/// So often a deaf stranger asks.
const DEAF_ROUNDS: u32 = 20;

/// Reads a story.
pub(super) fn story(file: &str, text: &str, shelf: &dyn StoryFileSource) -> Result<Story, Mistake> {
    if text.len() > FILE_BYTES_MAX {
        let message = format!("longer than {FILE_BYTES_MAX} bytes, the most a story has");
        return Err(Mistake::in_file(file, message));
    }
    let source = TomlSource { file, text };
    let written: StoryFile = source.read()?;
    let length = long_enough(source, &written.length)?;
    let patience = written.patience.as_ref();
    let patience = patience.map_or(Ok(PATIENCE), |time| long_enough(source, time))?;
    let (founders, seats) = servers(source, &written)?;
    let frame = StoryText { source, length };
    let reader = FaultsReader { frame, founders, seats };
    let haste = haste(source, written.day.as_ref())?;
    let conditions = Conditions { haste, ..conditions(&written) };
    let faults = reader.read(&written.faults, conditions)?;
    let mut cast = Cast { reader, people: Vec::new(), strangers: Vec::new(), steps: faults.steps };
    cast.people(&written.people, written.acts.iter().any(|act| act.get_ref().is_of_admin()))?;
    cast.acts(&written.acts)?;
    cast.strangers(&written.strangers)?;
    let expectations = cast.expectations(&written.expect)?;
    cast.looks(&expectations);
    if cast.steps.len() > STEPS_MAX {
        let message = format!("more than {STEPS_MAX} things happen, the most of a story");
        return Err(Mistake::in_file(file, message));
    }
    cast.steps.sort_by_key(|(at, _)| *at);
    Ok(Story {
        expectations,
        goes_on: written.expect.goes_on.unwrap_or(true),
        place: place(source, &written, shelf)?,
        title: written.title,
        about: written.about.trim().to_owned(),
        seed: written.seed,
        length,
        patience,
        signatures: written.servers.signatures,
        founders,
        reserve: seats - founders,
        snapshot_turns: written.servers.snapshot_turns.map(|turns| (*turns.get_ref()).max(1)),
        conditions: faults.conditions,
        people: cast.people,
        strangers: cast.strangers,
        steps: cast.steps,
        flips: faults.flips,
        trap: faults.trap,
    })
}

fn long_enough(source: TomlSource<'_>, time: &Spanned<Time>) -> Result<Duration, Mistake> {
    let length = time.get_ref().0;
    if length.is_zero() || length > LENGTH_MAX {
        let message = format!("{length:?} is not between 1ms and {LENGTH_MAX:?}");
        return Err(source.mistake(time, message));
    }
    Ok(length)
}

/// Returns how many times as fast as the world's time calendars go, if a day lasts so long.
fn haste(source: TomlSource<'_>, day: Option<&Spanned<Time>>) -> Result<u32, Mistake> {
    let Some(day) = day else { return Ok(1) };
    let millis = day.get_ref().0.as_millis();
    let haste = DAY.as_millis().checked_div(millis).and_then(|haste| u32::try_from(haste).ok());
    let fits = |haste: &u32| *haste <= HASTE_MAX && DAY.as_millis().is_multiple_of(millis);
    haste.filter(fits).ok_or_else(|| {
        let least = DAY / HASTE_MAX;
        source.mistake(day, format!("a day lasts at least {least:?}, and divides a day of 24h"))
    })
}

/// Returns how many servers vote first, and how many there are.
fn servers(source: TomlSource<'_>, written: &StoryFile) -> Result<(usize, usize), Mistake> {
    let number = |value: &Option<Spanned<u64>>, otherwise: u64| {
        let number = value.as_ref().map_or(otherwise, |value| *value.get_ref());
        usize::try_from(number).unwrap_or(usize::MAX)
    };
    let founders = number(&written.servers.count, SERVERS);
    let seats = founders.saturating_add(number(&written.servers.reserve, 0));
    let of = written.servers.reserve.as_ref().or(written.servers.count.as_ref());
    match of {
        Some(of) if founders == 0 || seats > SERVERS_MAX => {
            let message =
                format!("a story has 1 to {SERVERS_MAX} servers, those in reserve counted");
            Err(source.mistake(of, message))
        }
        _ => Ok((founders, seats)),
    }
}

fn conditions(written: &StoryFile) -> Conditions {
    let mut conditions = Conditions::calm(LATENCY_MS);
    let network = &written.network;
    conditions.links = links(conditions.links, network.latency, network.jitter, network.loss);
    conditions.links.duplicate_ppm = network.duplicates.map_or(0, |share| share.0);
    let exactly = |time: Option<Time>| {
        let time = time.map_or(Duration::ZERO, |time| time.0);
        Span { least: time, most: time }
    };
    conditions.sync = exactly(written.servers.sync);
    conditions.job = exactly(written.servers.apply);
    conditions
}

fn place(
    source: TomlSource<'_>,
    written: &StoryFile,
    shelf: &dyn StoryFileSource,
) -> Result<Place, Mistake> {
    let on_shelf = |named: &Spanned<String>, why: String| source.mistake(named, why);
    let mut place = match &written.place {
        Some(named) if named.get_ref() != "plaza" => {
            let path = named.get_ref();
            if !path.ends_with(".toml") {
                let message =
                    format!("{path:?} is no place: write plaza, or a file like town.toml");
                return Err(source.mistake(named, message));
            }
            let package = |named: &Spanned<String>| {
                let folder = named.get_ref();
                let files = shelf.folder(folder).map_err(|why| on_shelf(named, why))?;
                let files: BTreeMap<&str, &str> =
                    files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
                parse_package(folder, &files)
            };
            let packages: Vec<_> =
                written.packages.iter().map(package).collect::<Result<_, _>>()?;
            let text = shelf.text(path).map_err(|why| on_shelf(named, why))?;
            Place::parse(path, &text, &packages)?
        }
        _ => match written.packages.first() {
            None => plaza::place(),
            Some(named) => {
                let message = "the plaza brings its own packages; name a place of your own";
                return Err(source.mistake(named, message));
            }
        },
    };
    if written.scripts.len() > SCRIPTS_MAX {
        let message = format!("at most {SCRIPTS_MAX} scripts");
        return Err(source.mistake(&written.scripts[SCRIPTS_MAX], message));
    }
    for (name, value) in &written.agreed {
        let amended = place.amend(name, &value.get_ref().to_string());
        amended.map_err(|why| source.mistake(value, format!("{name}: {why}")))?;
    }
    for script in &written.scripts {
        put(source, script, shelf, &mut place)?;
    }
    Ok(place)
}

/// Puts a script of the story into its place, as a package of one file.
fn put(
    source: TomlSource<'_>,
    script: &Spanned<StoryScriptFile>,
    shelf: &dyn StoryFileSource,
    place: &mut Place,
) -> Result<(), Mistake> {
    let StoryScriptFile { name, source: inline, file, place: [x, y] } = script.get_ref();
    let (text, path) = match (inline, file) {
        (Some(text), None) => (text.get_ref().clone(), "script.rhai"),
        (None, Some(path)) => {
            let text = shelf.text(path.get_ref()).map_err(|why| source.mistake(path, why))?;
            (text, path.get_ref().rsplit('/').next().unwrap_or_default())
        }
        _ => return Err(source.mistake(script, "a script needs `source`, or `file`, not both")),
    };
    let manifest = format!(
        "name = {:?}\nversion = \"1.0.0\"\napi = 1\nentry = {path:?}\n\
         licence = \"AGPL-3.0-or-later\"\nauthors = [\"The story\"]\n",
        name.get_ref()
    );
    let files = BTreeMap::from([("package.toml", manifest.as_str()), (path, text.as_str())]);
    let package = parse_package(name.get_ref(), &files)
        .map_err(|mistake| source.mistake(name, format!("script {mistake}")))?;
    let at = Vec2::new(Fx::from_int((*x).into()), Fx::from_int((*y).into()));
    place.put(&package, at).map_err(|error| source.mistake(script, error))
}

/// Who takes part, and when they do what.
struct Cast<'a> {
    reader: FaultsReader<'a>,
    people: Vec<Visitor>,
    strangers: Vec<StrangerAction>,
    steps: Vec<(Duration, StoryStep)>,
}

impl Cast<'_> {
    fn wrong<T>(&self, at: Range<usize>, message: impl std::fmt::Display) -> Result<T, Mistake> {
        Err(self.reader.frame.source.mistake_in(at, message))
    }

    /// A server that runs from the beginning: clients know of no others.
    fn founder(&self, seat: &Spanned<u64>) -> Result<usize, Mistake> {
        let number = self.reader.number(seat)?;
        if number < self.reader.founders {
            Ok(number)
        } else {
            self.wrong(seat.span(), format!("clients do not go to server {number} in reserve"))
        }
    }

    fn people(&mut self, groups: &[Spanned<PeopleFile>], admin: bool) -> Result<(), Mistake> {
        let frame = self.reader.frame;
        if admin {
            let manner = MannerFile::Still.manner(frame.length);
            self.people.push(Visitor { number: 0, seat: 0, from: Duration::ZERO, manner });
        }
        let mut number = 0;
        for group in groups {
            let file = group.get_ref();
            let from = frame.moment_or(file.from.as_ref(), Duration::ZERO)?;
            let until = frame.moment_or(file.until.as_ref(), frame.length)?;
            let seats: Vec<usize> = match &file.servers {
                None => (0..self.reader.founders).collect(),
                Some(named) if named.get_ref().is_empty() => {
                    return self.wrong(named.span(), "at least one server must be named");
                }
                Some(named) => {
                    named.get_ref().iter().map(|s| self.founder(s)).collect::<Result<_, _>>()?
                }
            };
            let count = *file.count.get_ref();
            if count == 0 || count.saturating_add(number) > PEOPLE_MAX {
                let message = format!("a group has somebody, and a story at most {PEOPLE_MAX}");
                return self.wrong(file.count.span(), message);
            }
            let manner = file.manner.manner(until);
            let mut from = from;
            for seat in seats.into_iter().cycle().take(usize::try_from(count).unwrap_or(0)) {
                number += 1;
                from += APART;
                self.people.push(Visitor { number, seat, from, manner });
            }
        }
        Ok(())
    }

    fn acts(&mut self, acts: &[Spanned<ActFile>]) -> Result<(), Mistake> {
        let frame = self.reader.frame;
        for act in acts {
            let ActFile { at, every, until, person, does } = act.get_ref();
            let number = self.person(person)?;
            let found = self.people.iter().position(|who| who.number == number);
            let person = found.expect("a person of the story");
            let does = PersonAction::read(does.get_ref(), self.reader.seats)
                .map_err(|why| frame.source.mistake(does, why))?;
            for at in frame.moments(act.span(), Times { at, every, until })? {
                self.steps.push((at, StoryStep::Act { person, does: does.clone() }));
            }
        }
        Ok(())
    }

    /// The number of somebody who is in the story.
    fn person(&self, person: &Spanned<u64>) -> Result<u64, Mistake> {
        let number = *person.get_ref();
        if self.people.iter().any(|who| who.number == number) {
            return Ok(number);
        }
        let message =
            format!("there is no person {number}: they are numbered from 1, and 0 is the admin");
        self.wrong(person.span(), message)
    }

    /// Has somebody look, at each moment of which something is expected, who acts for the admins.
    fn looks(&mut self, expectations: &[Expectation]) {
        for expected in expectations {
            if let Expectation::TempAdmin { at, .. } = expected {
                self.steps.push((*at, StoryStep::Look));
            }
        }
    }

    fn strangers(&mut self, strangers: &[Spanned<StrangerFile>]) -> Result<(), Mistake> {
        for stranger in strangers {
            let StrangerFile { at, every, until, server, does } = stranger.get_ref();
            let seat = self.founder(server)?;
            let times = Times { at, every, until };
            for at in self.reader.frame.moments(stranger.span(), times)? {
                let number = self.strangers.len();
                self.strangers.push(StrangerAction { seat, does: *does });
                let rounds = if *does == Rudeness::Deaf { DEAF_ROUNDS } else { 1 };
                self.steps.push((at, StoryStep::Meet { stranger: number, seat }));
                self.steps.push((at + BREATH, StoryStep::Introduce { stranger: number }));
                for round in 2..2 + rounds {
                    self.steps.push((at + BREATH * round, StoryStep::Rude { stranger: number }));
                }
            }
        }
        let length = self.reader.frame.length;
        self.steps.retain(|(at, _)| *at < length);
        Ok(())
    }

    fn expectations(&self, file: &ExpectFile) -> Result<Vec<Expectation>, Mistake> {
        let frame = self.reader.frame;
        let broken = file.broken.iter().map(|named| self.law(named));
        let mut all = vec![Expectation::Laws(broken.collect::<Result<_, _>>()?)];
        for window in &file.turns {
            let until = window.get_ref().until.as_ref();
            let (least, most) = (window.get_ref().least, window.get_ref().most);
            if least.is_none() && most.is_none() {
                return self.wrong(window.span(), "`least` or `most` is missing: how many turns?");
            }
            all.push(Expectation::Turns {
                from: window.get_ref().from.map_or(Duration::ZERO, |time| time.0),
                until: frame.moment_or(until, frame.length)?,
                least,
                most,
            });
        }
        all.extend(file.acts.map(Expectation::Acts));
        all.extend(file.crashes.map(Expectation::Crashes));
        all.extend(file.script_failures.map(Expectation::ScriptFailures));
        all.extend(file.longest_pause.map(|time| Expectation::LongestPause(time.0)));
        all.extend(file.next_turn.map(|time| Expectation::NextTurn(time.0)));
        all.extend(file.time_off.map(|time| Expectation::TimeOff(time.0)));
        for expected in &file.temp_admin {
            let at = frame.moment(&expected.get_ref().at)?;
            let person = expected.get_ref().person.as_ref();
            let person = person.map(|person| self.person(person)).transpose()?;
            all.push(Expectation::TempAdmin { at, person });
        }
        for group in Group::ALL {
            if let Some(servers) = file.group(*group) {
                let seats = servers.iter().map(|seat| self.reader.number(seat));
                let seats = seats.collect::<Result<BTreeSet<usize>, _>>()?;
                all.push(Expectation::Servers(*group, seats));
            }
        }
        all.extend(file.heard.iter().cloned().map(Expectation::Heard));
        let refusals: Vec<&str> = RULES.iter().chain(ENTRY).copied().collect();
        for (why, least) in self.reasons(file.refused.as_ref(), &refusals)? {
            all.push(Expectation::Refused(why, least));
        }
        for (why, least) in self.reasons(file.hung_up.as_ref(), HANGUPS)? {
            all.push(Expectation::HungUp(why, least));
        }
        Ok(all)
    }

    /// The name of a law, if there is one of that name.
    fn law(&self, named: &Spanned<String>) -> Result<&'static str, Mistake> {
        let mut names = Law::ALL.iter().map(|law| law.name());
        names.find(|name| name == named.get_ref()).map_or_else(
            || {
                let names: Vec<&str> = Law::ALL.iter().map(|law| law.name()).collect();
                let message = format!("{:?} is no law; there are ", named.get_ref());
                self.wrong(named.span(), format!("{message}{}", names.join(", ")))
            },
            Ok,
        )
    }

    /// The reasons that are expected, each one that there is.
    fn reasons(
        &self,
        named: Option<&Spanned<BTreeMap<String, u64>>>,
        known: &[&str],
    ) -> Result<BTreeMap<String, u64>, Mistake> {
        let Some(named) = named else { return Ok(BTreeMap::new()) };
        match named.get_ref().keys().find(|why| !known.contains(&why.as_str())) {
            None => Ok(named.get_ref().clone()),
            Some(why) => {
                let message = format!("{why:?} is no reason; there are {}", known.join(", "));
                self.wrong(named.span(), message)
            }
        }
    }
}

impl ActFile {
    fn is_of_admin(&self) -> bool {
        *self.person.get_ref() == 0
    }
}

impl MannerFile {
    /// Returns how somebody behaves until a moment.
    fn manner(self, until: Duration) -> PersonProfile {
        let lively = PersonProfile::lively(until);
        let pace = match self {
            // What is not a whim comes all the same, and proofs are asked for as often.
            Self::Still => return PersonProfile { until: Duration::ZERO, ..lively },
            Self::Calm => Span::ms(800, 2_000),
            Self::Lively => return lively,
            Self::Busy => Span::ms(20, 60),
        };
        PersonProfile { pace, ..lively }
    }
}

impl ExpectFile {
    const fn group(&self, group: Group) -> Option<&Vec<Spanned<u64>>> {
        match group {
            Group::Stalled => self.stalled.as_ref(),
            Group::Split => self.split.as_ref(),
            Group::Following => self.following.as_ref(),
            Group::Down => self.down.as_ref(),
            Group::Validators => self.validators.as_ref(),
            Group::Parted => self.parted.as_ref(),
            Group::Mended => self.mended.as_ref(),
            Group::Capsules => self.capsules.as_ref(),
        }
    }
}
