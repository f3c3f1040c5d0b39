//! Faults of a story: which keys each kind takes, and what they mean.

use std::ops::Range;
use std::time::Duration;

use metatopia_scenarios::Mistake;
use metatopia_types::Height;
use toml::Spanned;

use super::file::{FaultFile, FaultKind, TailFile};
use super::step::{POISONS, StoryStep, Trouble, WorldTrouble};
use super::times::{StoryText, Times};
use super::units::{ServerTarget, Share, Time};
use crate::chance::Span;
use crate::conditions::Conditions;
use crate::crash::UnsyncedWrites;
use crate::network::Links;
use crate::replica::{Flip, Trap};

/// How long a process is away that dies, if the story does not say.
const DOWN: Duration = Duration::from_millis(300);

/// The fastest or slowest clock, in parts per million: a tenth.
const DRIFT_PPM_MAX: i32 = 100_000;

impl FaultKind {
    /// Its name, and the keys that it takes.
    const fn keys(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Crash => ("crash", &["server", "at", "every", "until", "down", "tail"]),
            Self::PowerLoss => ("power-loss", &["at", "every", "until", "down", "stagger", "tail"]),
            Self::Kill => ("kill", &["server", "at"]),
            Self::Start => ("start", &["server", "at"]),
            Self::Split => ("split", &["servers", "at", "until"]),
            Self::OneWay => ("one-way", &["server", "to", "at", "until"]),
            Self::Weather => ("weather", &["latency", "jitter", "loss", "at", "until"]),
            Self::Clock => ("clock", &["server", "by", "at", "every", "until"]),
            Self::Drift => ("drift", &["server", "by", "ppm"]),
            Self::Slow => ("slow", &["server", "takes", "at", "until"]),
            Self::Pause => ("pause", &["server", "takes", "at", "every", "until"]),
            Self::Flip => ("flip", &["servers", "turn", "lasting"]),
            Self::DiskFull => ("disk-full", &["server", "room", "at", "until"]),
            Self::DiskFails => ("disk-fails", &["server", "operation", "at", "until"]),
            Self::Poison => ("poison", &["act"]),
        }
    }
}

impl From<TailFile> for UnsyncedWrites {
    fn from(tail: TailFile) -> Self {
        match tail {
            TailFile::Lost => Self::Lost,
            TailFile::Torn => Self::Torn,
            TailFile::Kept => Self::Kept,
        }
    }
}

/// What the faults of a story come to.
#[derive(Debug)]
pub(super) struct StoryFaults {
    pub(super) steps: Vec<(Duration, StoryStep)>,
    pub(super) flips: Vec<Flip>,
    pub(super) trap: Option<Trap>,
    /// The world with its clocks.
    pub(super) conditions: Conditions,
    /// When links are cut, for splits and for one-way cuts: an end mends all of one kind.
    cuts: [Vec<(Duration, Duration)>; 2],
}

/// Reads the faults of one story.
pub(super) struct FaultsReader<'a> {
    pub(super) frame: StoryText<'a>,
    pub(super) founders: usize,
    pub(super) seats: usize,
}

impl FaultsReader<'_> {
    /// Reads what `faults` do to a world that is otherwise like `conditions`.
    pub(super) fn read(
        &self,
        faults: &[Spanned<FaultFile>],
        conditions: Conditions,
    ) -> Result<StoryFaults, Mistake> {
        let mut found = StoryFaults {
            steps: Vec::new(),
            flips: Vec::new(),
            trap: None,
            conditions,
            cuts: [Vec::new(), Vec::new()],
        };
        for fault in faults {
            self.check_keys(fault)?;
            match fault.get_ref().kind {
                FaultKind::Crash | FaultKind::Pause | FaultKind::Clock => {
                    self.repeated(fault, &mut found)?
                }
                FaultKind::Kill | FaultKind::Start => self.once(fault, &mut found)?,
                FaultKind::Slow | FaultKind::DiskFull | FaultKind::DiskFails => {
                    self.lasting(fault, &mut found)?;
                }
                FaultKind::PowerLoss => self.power_loss(fault, &mut found)?,
                FaultKind::Split | FaultKind::OneWay => self.cut(fault, &mut found)?,
                FaultKind::Weather => self.weather(fault, &mut found)?,
                FaultKind::Drift => self.drift(fault, &mut found)?,
                FaultKind::Flip => self.flip(fault, &mut found)?,
                FaultKind::Poison => self.poison(fault, &mut found)?,
            }
        }
        Ok(found)
    }

    fn wrong<T>(&self, at: Range<usize>, message: impl std::fmt::Display) -> Result<T, Mistake> {
        Err(self.frame.source.mistake_in(at, message))
    }

    fn check_keys(&self, fault: &Spanned<FaultFile>) -> Result<(), Mistake> {
        let (name, keys) = fault.get_ref().kind.keys();
        for (key, span) in fault.get_ref().given() {
            if !keys.contains(&key) {
                let keys = keys.join("`, `");
                return self.wrong(span, format!("a {name} has no `{key}`; it takes `{keys}`"));
            }
        }
        Ok(())
    }

    fn need<'a, T>(
        &self,
        fault: &Spanned<FaultFile>,
        key: &str,
        value: Option<&'a Spanned<T>>,
    ) -> Result<&'a Spanned<T>, Mistake> {
        let (name, keys) = fault.get_ref().kind.keys();
        value.map_or_else(
            || {
                let keys = keys.join("`, `");
                self.wrong(fault.span(), format!("a {name} needs `{key}`; it takes `{keys}`"))
            },
            Ok,
        )
    }

    /// Returns which server a fault is about. The server has to exist.
    fn target(&self, fault: &Spanned<FaultFile>) -> Result<ServerTarget, Mistake> {
        let server = self.need(fault, "server", fault.get_ref().server.as_ref())?;
        match *server.get_ref() {
            ServerTarget::Seat(seat) if seat >= self.seats => {
                self.wrong(server.span(), no_server(seat, self.seats))
            }
            target => Ok(target),
        }
    }

    /// The seat that was named, for faults that are not aimed while the story is played.
    fn seat(&self, fault: &Spanned<FaultFile>) -> Result<usize, Mistake> {
        match self.target(fault)? {
            ServerTarget::Seat(seat) => Ok(seat),
            ServerTarget::Proposer | ServerTarget::Any => {
                let span = fault.get_ref().server.as_ref().map_or(fault.span(), Spanned::span);
                self.wrong(span, "here the server must be named by its number")
            }
        }
    }

    fn seats(&self, fault: &Spanned<FaultFile>) -> Result<Vec<usize>, Mistake> {
        let servers = self.need(fault, "servers", fault.get_ref().servers.as_ref())?;
        if servers.get_ref().is_empty() {
            return self.wrong(servers.span(), "at least one server must be named");
        }
        servers.get_ref().iter().map(|seat| self.number(seat)).collect()
    }

    /// The seat with this number, if it is there.
    pub(super) fn number(&self, seat: &Spanned<u64>) -> Result<usize, Mistake> {
        let number = usize::try_from(*seat.get_ref()).unwrap_or(usize::MAX);
        if number < self.seats {
            Ok(number)
        } else {
            self.wrong(seat.span(), no_server(number, self.seats))
        }
    }

    /// Reads a fault that happens to one server, once or again and again.
    fn repeated(&self, fault: &Spanned<FaultFile>, found: &mut StoryFaults) -> Result<(), Mistake> {
        let file = fault.get_ref();
        let target = self.target(fault)?;
        let trouble = match file.kind {
            FaultKind::Crash => Trouble::Crash { tail: tail(file), down: down(file) },
            FaultKind::Pause => {
                let takes = self.need(fault, "takes", file.takes.as_ref())?;
                Trouble::Pause(self.frame.moment(takes)?)
            }
            _ => Trouble::Clock(self.need(fault, "by", file.by.as_ref())?.get_ref().0),
        };
        for at in self.frame.moments(fault.span(), times(file))? {
            found.steps.push((at, StoryStep::Trouble(target, trouble)));
        }
        Ok(())
    }

    fn once(&self, fault: &Spanned<FaultFile>, found: &mut StoryFaults) -> Result<(), Mistake> {
        let file = fault.get_ref();
        let at = self.need(fault, "at", file.at.as_ref())?;
        let (target, trouble) = match file.kind {
            FaultKind::Kill => (self.target(fault)?, Trouble::Kill),
            _ => (ServerTarget::Seat(self.seat(fault)?), Trouble::Start),
        };
        found.steps.push((self.frame.moment(at)?, StoryStep::Trouble(target, trouble)));
        Ok(())
    }

    /// Reads a fault that happens to one server for a while.
    fn lasting(&self, fault: &Spanned<FaultFile>, found: &mut StoryFaults) -> Result<(), Mistake> {
        let file = fault.get_ref();
        let target = self.target(fault)?;
        let (at, until) = self.frame.stretch(fault.span(), times(file))?;
        let number = |value: &Option<Spanned<u64>>| value.as_ref().map_or(0, |v| *v.get_ref());
        let trouble = match file.kind {
            FaultKind::Slow => {
                let takes = self.need(fault, "takes", file.takes.as_ref())?;
                Trouble::Slow { takes: self.frame.moment(takes)?, until }
            }
            FaultKind::DiskFull => Trouble::DiskFull { room: number(&file.room), until },
            _ => Trouble::DiskFails { operation: number(&file.operation), until },
        };
        found.steps.push((at, StoryStep::Trouble(target, trouble)));
        Ok(())
    }

    fn power_loss(
        &self,
        fault: &Spanned<FaultFile>,
        found: &mut StoryFaults,
    ) -> Result<(), Mistake> {
        let file = fault.get_ref();
        let stagger = file.stagger.as_ref().map_or(Duration::ZERO, |time| time.get_ref().0);
        let trouble = WorldTrouble::PowerLoss { tail: tail(file), down: down(file), stagger };
        for at in self.frame.moments(fault.span(), times(file))? {
            found.steps.push((at, StoryStep::World(trouble.clone())));
        }
        Ok(())
    }

    fn cut(&self, fault: &Spanned<FaultFile>, found: &mut StoryFaults) -> Result<(), Mistake> {
        let file = fault.get_ref();
        let (at, until) = self.frame.stretch(fault.span(), times(file))?;
        let (trouble, cuts) = if file.kind == FaultKind::Split {
            let group = self.seats(fault)?;
            (WorldTrouble::Split { group, until }, &mut found.cuts[0])
        } else {
            let to = self.number(self.need(fault, "to", file.to.as_ref())?)?;
            (WorldTrouble::OneWay { from: self.seat(fault)?, to, until }, &mut found.cuts[1])
        };
        if cuts.iter().any(|(from, to)| at < *to && *from < until) {
            let (name, _) = file.kind.keys();
            let message = format!("one {name} at a time: another one is not over yet");
            return self.wrong(fault.span(), message);
        }
        cuts.push((at, until));
        found.steps.push((at, StoryStep::World(trouble)));
        Ok(())
    }

    fn weather(&self, fault: &Spanned<FaultFile>, found: &mut StoryFaults) -> Result<(), Mistake> {
        let file = fault.get_ref();
        let (at, until) = self.frame.stretch(fault.span(), times(file))?;
        let then = found.conditions.links;
        let latency = file.latency.as_ref().map(|time| *time.get_ref());
        let jitter = file.jitter.as_ref().map(|time| *time.get_ref());
        let loss = file.loss.as_ref().map(|share| *share.get_ref());
        let links = links(then, latency, jitter, loss);
        found.steps.push((at, StoryStep::World(WorldTrouble::Weather { links, then, until })));
        Ok(())
    }

    fn drift(&self, fault: &Spanned<FaultFile>, found: &mut StoryFaults) -> Result<(), Mistake> {
        let (file, seat) = (fault.get_ref(), self.seat(fault)?);
        let ppm = file.ppm.as_ref().map_or(0, |ppm| *ppm.get_ref());
        if ppm.unsigned_abs() > DRIFT_PPM_MAX.unsigned_abs() {
            let span = file.ppm.as_ref().map_or(fault.span(), Spanned::span);
            return self.wrong(span, format!("at most {DRIFT_PPM_MAX} ppm, a tenth"));
        }
        let clocks = &mut found.conditions.clocks;
        if clocks.len() <= seat {
            clocks.resize(seat + 1, (0, 0));
        }
        clocks[seat] = (file.by.as_ref().map_or(0, |by| by.get_ref().0), ppm);
        Ok(())
    }

    fn flip(&self, fault: &Spanned<FaultFile>, found: &mut StoryFaults) -> Result<(), Mistake> {
        let file = fault.get_ref();
        let turn = self.need(fault, "turn", file.turn.as_ref())?;
        if *turn.get_ref() == 0 {
            return self.wrong(turn.span(), "the first turn is number 1");
        }
        let lasting = file.lasting.as_ref().is_some_and(|lasting| *lasting.get_ref());
        for seat in self.seats(fault)? {
            if seat >= self.founders {
                let message = format!("server {seat} does not run from the beginning");
                return self.wrong(fault.span(), message);
            }
            found.flips.push(Flip { seat, height: Height(*turn.get_ref()), lasting });
        }
        Ok(())
    }

    fn poison(&self, fault: &Spanned<FaultFile>, found: &mut StoryFaults) -> Result<(), Mistake> {
        let act = self.need(fault, "act", fault.get_ref().act.as_ref())?;
        let Some((_, trap)) = POISONS.iter().find(|(name, _)| name == act.get_ref()) else {
            let names: Vec<&str> = POISONS.iter().map(|(name, _)| *name).collect();
            let (name, names) = (act.get_ref(), names.join(", "));
            return self.wrong(act.span(), format!("{name:?} cannot be poison; there are {names}"));
        };
        if found.trap.replace(*trap).is_some() {
            return self.wrong(fault.span(), "one poison in a story is enough");
        }
        Ok(())
    }
}

fn no_server(seat: usize, seats: usize) -> String {
    format!("there is no server {seat}: {seats} servers are numbered from 0")
}

const fn times(file: &FaultFile) -> Times<'_> {
    Times { at: &file.at, every: &file.every, until: &file.until }
}

fn tail(file: &FaultFile) -> UnsyncedWrites {
    file.tail.as_ref().map_or_else(TailFile::default, |tail| *tail.get_ref()).into()
}

fn down(file: &FaultFile) -> Duration {
    file.down.as_ref().map_or(DOWN, |time| time.get_ref().0)
}

/// Links like `base`, but for what is said of them. Jitter comes on top of latency.
pub(super) fn links(
    base: Links,
    latency: Option<Time>,
    jitter: Option<Time>,
    loss: Option<Share>,
) -> Links {
    let least = latency.map_or(base.delay.least, |time| time.0);
    let jitter = jitter.map_or(base.delay.most.saturating_sub(base.delay.least), |time| time.0);
    let delay = Span { least, most: least.saturating_add(jitter) };
    Links { delay, loss_ppm: loss.map_or(base.loss_ppm, |share| share.0), ..base }
}
