//! Questions of people: who is here, what runs, who wrote it, and who decides.

use std::{collections::BTreeMap, time::Duration};

use data_encoding::BASE64;
use metatopia_client::QUESTIONS_MAX;
use metatopia_math::Vec2;
use metatopia_protocol::{
    Answer, CandidateEntry, CharterAnswer, DelayedEntry, FriendEntry, FriendsEntry,
    GovernanceEntry, LotEntry, OrderEntry, PackageEntry, PlayerEntry, Question, ReportEntry,
    ScriptEntry, ThingEntry, span, take_page,
};
use metatopia_sim::{Charter, Land, Parameters};
use metatopia_types::{
    Digest, NodeContact, PackageId, PublicKey, Refusal, ScriptId, SetChange, Square,
};
use serde_json::{Map, Value, json};

use super::{
    ClientCore, border, governing,
    outcomes::ActFailure,
    sources::{self, ServedPackage},
    units::{from_fx, variant},
};

/// A node that is busy is asked so often, this far apart.
const TRIES: u32 = 8;
const BUSY: Duration = Duration::from_millis(250);

/// Between two questions which packages scripts in sight run.
const LEARN_AGAIN: Duration = Duration::from_secs(2);

/// Between two questions what the sim is by now: admins seldom change it.
const CHARTER_AGAIN: Duration = Duration::from_secs(60);

/// What is to be found out.
#[derive(Debug)]
pub(super) enum InquiryTask {
    /// Who is here.
    Players,
    /// What runs, page after page.
    Scripts(Vec<ScriptEntry>),
    /// What somebody owns.
    Things,
    /// In which order a script got its events.
    Order,
    /// Whose ground is where, page after page.
    Lots(Vec<LotEntry>),
    /// What holds what.
    Joints,
    /// What one package holds.
    Source(PackageId),
    /// The packages whose source is there, page after page.
    Packages(Vec<PackageEntry>),
    /// The source of all that runs and of what ships with the sim: a list first, then each source.
    AllSource {
        /// The packages of the sim.
        listed: Vec<PackageEntry>,
        /// What is still to be fetched, the next one last; none while the list is not whole.
        left: Option<Vec<PackageId>>,
        /// What was fetched.
        packages: Vec<ServedPackage>,
    },
    /// Who decides for the sim.
    Governance,
    /// What was ordered about somebody.
    Person,
    /// What was ordered below this number.
    Orders(u64),
    /// What people told moderators, page after page.
    Reports(Vec<ReportEntry>),
    /// What the person was told privately.
    Mailbox,
    /// Whether friends ask that another key take over the person's.
    Recovery,
    /// The borders near this place of the sim on this square.
    Borders(Square, Vec2),
    /// What a login takes.
    Terms,
    /// What the sim is by now.
    Charter,
}

impl InquiryTask {
    pub(super) const fn scripts() -> (Self, Question) {
        (Self::Scripts(Vec::new()), Question::Scripts { after: ScriptId(0) })
    }

    pub(super) const fn all_source() -> (Self, Question) {
        let task = Self::AllSource { listed: Vec::new(), left: None, packages: Vec::new() };
        (task, Question::Packages { after: FIRST })
    }

    pub(super) const fn packages() -> (Self, Question) {
        (Self::Packages(Vec::new()), Question::Packages { after: FIRST })
    }
}

/// All packages come after this one.
const FIRST: PackageId = PackageId(Digest::ZERO);

/// A question of somebody, and what it is asked for.
#[derive(Debug)]
struct PageInquiry {
    /// The command that waits; none if the core itself wants to know.
    command: Option<u64>,
    task: InquiryTask,
    question: Question,
    tries: u32,
    /// Under this number it was asked.
    asked: Option<u32>,
    /// A node was busy.
    again_at: Option<Duration>,
}

/// All questions under way.
#[derive(Debug, Default)]
pub(super) struct Inquiries {
    last: u64,
    under: BTreeMap<u64, PageInquiry>,
    /// Raw questions: commands by the number of the question.
    raw: BTreeMap<u32, u64>,
    learned_at: Option<Duration>,
    charter_at: Option<Duration>,
    /// What was proved last of what the sim is by now.
    charter: Option<Box<Charter>>,
}

/// What to do after an answer.
enum InquiryStep {
    /// Ask this next.
    Ask(Question),
    /// All is known.
    Done(Value),
    /// It cannot be known.
    Failed(ActFailure),
}

impl ClientCore {
    /// Asks something; a node that is busy is asked again.
    pub(super) fn inquire(&mut self, command: Option<u64>, task: InquiryTask, question: Question) {
        let inquiry =
            PageInquiry { command, task, question, tries: 0, asked: None, again_at: None };
        if self.inquiries.under.len() >= QUESTIONS_MAX {
            return self.inquiry_failed(inquiry, ActFailure::new("Busy"));
        }
        self.pose(inquiry);
    }

    fn pose(&mut self, mut inquiry: PageInquiry) {
        inquiry.tries = inquiry.tries.saturating_add(1);
        inquiry.again_at = None;
        inquiry.asked = self.session.inquire(inquiry.question.clone(), false);
        if inquiry.asked.is_none() {
            return self.inquiry_failed(inquiry, ActFailure::new("Busy"));
        }
        self.inquiries.last = self.inquiries.last.saturating_add(1);
        self.inquiries.under.insert(self.inquiries.last, inquiry);
    }

    /// Asks what the sim wants of a key that is new to it.
    pub(super) fn ask_terms(&mut self) {
        let question = Question::LoginTerms { key: self.key };
        self.inquire(None, InquiryTask::Terms, question);
    }

    /// Asks which packages the scripts in sight run, at most every two seconds.
    pub(super) fn learn_scripts(&mut self) {
        let early = self.inquiries.learned_at.is_some_and(|at| self.now < at + LEARN_AGAIN);
        if !early {
            self.inquiries.learned_at = Some(self.now);
            let (task, question) = InquiryTask::scripts();
            self.inquire(None, task, question);
        }
    }

    /// Asks what the sim is by now, at most once a minute.
    pub(super) fn learn_charter(&mut self) {
        let early = self.inquiries.charter_at.is_some_and(|at| self.now < at + CHARTER_AGAIN);
        if !early && self.pulse.is_active() {
            self.inquiries.charter_at = Some(self.now);
            self.inquire(None, InquiryTask::Charter, Question::Charter);
        }
    }

    /// Asks again what a node was too busy for.
    pub(super) fn tick_inquiries(&mut self) {
        let now = self.now;
        let is_due =
            |_: &u64, inquiry: &mut PageInquiry| inquiry.again_at.is_some_and(|at| at <= now);
        let due: Vec<_> = self.inquiries.under.extract_if(.., is_due).collect();
        due.into_iter().for_each(|(_, inquiry)| self.pose(inquiry));
    }

    /// An answer came.
    pub(super) fn answered(&mut self, id: u32, answer: Answer) {
        if self.outcome_answered(id, &answer) {
            return;
        }
        let mut under = self.inquiries.under.iter();
        let found = under.find(|(_, inquiry)| inquiry.asked == Some(id)).map(|(number, _)| *number);
        let Some(mut inquiry) = found.and_then(|number| self.inquiries.under.remove(&number))
        else {
            return;
        };
        if matches!(answer, Answer::Busy) && inquiry.tries < TRIES {
            (inquiry.asked, inquiry.again_at) = (None, Some(self.now.saturating_add(BUSY)));
            self.inquiries.last = self.inquiries.last.saturating_add(1);
            self.inquiries.under.insert(self.inquiries.last, inquiry);
            return;
        }
        if let (InquiryTask::Terms, Answer::LoginTerms(terms)) = (&inquiry.task, &answer) {
            return self.terms_came(*terms);
        }
        match self.step(&mut inquiry.task, answer) {
            InquiryStep::Ask(question) => {
                (inquiry.question, inquiry.tries) = (question, 0);
                self.pose(inquiry);
            }
            InquiryStep::Done(result) => {
                if let Some(id) = inquiry.command {
                    self.done(id, &result);
                }
            }
            InquiryStep::Failed(why) => self.inquiry_failed(inquiry, why),
        }
    }

    fn inquiry_failed(&mut self, inquiry: PageInquiry, why: ActFailure) {
        match (inquiry.command, inquiry.task) {
            (Some(id), _) => self.failed(id, &why.code, &why.detail),
            (None, InquiryTask::Terms) => self.finish_login(Err(why)),
            (None, _) => {}
        }
    }

    fn step(&mut self, task: &mut InquiryTask, answer: Answer) -> InquiryStep {
        match (task, answer) {
            (InquiryTask::Players, Answer::Players(players)) => {
                InquiryStep::Done(players.iter().map(player).collect())
            }
            (InquiryTask::Things, Answer::Things(things)) => {
                InquiryStep::Done(things.iter().map(thing).collect())
            }
            (InquiryTask::Order, Answer::Order(events)) => {
                InquiryStep::Done(events.iter().map(order).collect())
            }
            (InquiryTask::Governance, Answer::Governance(entry)) => {
                InquiryStep::Done(self.shown_governance(&entry))
            }
            (InquiryTask::Person, Answer::Person(entry)) => {
                InquiryStep::Done(governing::person(&entry))
            }
            (InquiryTask::Orders(below), Answer::Orders(page)) => {
                self.proven_orders(*below, &page).map_or_else(unproven, InquiryStep::Done)
            }
            (InquiryTask::Charter, Answer::Charter(answer)) => self.charter_came(&answer),
            (InquiryTask::Borders(square, place), Answer::Borders(borders)) => {
                self.note_borders(&borders);
                InquiryStep::Done(border::near(*square, *place, &borders))
            }
            (InquiryTask::Source(id), Answer::Source(bytes)) => {
                match ServedPackage::read(*id, bytes) {
                    Ok(package) => InquiryStep::Done(package.shown()),
                    Err(_) => InquiryStep::Failed(ActFailure::new("Unknown")),
                }
            }
            (InquiryTask::Scripts(all), Answer::Scripts(page)) => match take_page(all, page) {
                Some(after) => InquiryStep::Ask(Question::Scripts { after }),
                None => {
                    self.picture.learn(all);
                    InquiryStep::Done(all.iter().map(script).collect())
                }
            },
            (InquiryTask::Recovery, Answer::Friends(told)) => InquiryStep::Done(recovery(&told)),
            (InquiryTask::Lots(all), Answer::Lots(page)) => self.lots_came(all, page),
            (InquiryTask::Reports(all), Answer::Reports(page)) => self.reports_came(all, page),
            (InquiryTask::Mailbox, Answer::Mailbox(kept)) => {
                kept.iter().for_each(|told| self.tell_private_words(told, true));
                InquiryStep::Done(Value::Null)
            }
            (InquiryTask::Joints, Answer::Joints(all)) => InquiryStep::Done(self.tell_joints(&all)),
            (InquiryTask::Packages(all), Answer::Packages(page)) => match take_page(all, page) {
                Some(after) => InquiryStep::Ask(Question::Packages { after }),
                None => {
                    let there = all.iter().filter(|entry| entry.left.is_none());
                    InquiryStep::Done(there.map(package).collect())
                }
            },
            (InquiryTask::AllSource { listed, left, .. }, Answer::Packages(page)) => {
                if let Some(after) = take_page(listed, page) {
                    return InquiryStep::Ask(Question::Packages { after });
                }
                let left = left.insert(shipped_or_run(listed));
                next_source(left).unwrap_or_else(|| self.archived(&[]))
            }
            (InquiryTask::AllSource { left: Some(left), packages, .. }, Answer::Source(bytes)) => {
                if let Some(Ok(package)) = left.pop().map(|id| ServedPackage::read(id, bytes)) {
                    packages.push(package);
                }
                next_source(left).unwrap_or_else(|| self.archived(packages))
            }
            (_, answer) => InquiryStep::Failed(instead(&answer)),
        }
    }

    /// Returns the numbers and the lands of the sim, as far as this core knows: those of the genesis until newer
    /// ones are proved.
    pub(super) fn rules_of_building(&self) -> (&Parameters, &[Land]) {
        match &self.inquiries.charter {
            Some(charter) => (&charter.parameters, &charter.lands),
            None => (&self.genesis.parameters, &self.genesis.lands),
        }
    }

    /// Tells the page in which world the sim lies by now: its land office may be another one than the one that
    /// the genesis names.
    fn charter_came(&mut self, answer: &CharterAnswer) -> InquiryStep {
        let Ok((_, charter)) = self.session.light().charter(answer) else { return unproven() };
        let world = charter.site.map(|site| site.world.to_string());
        self.tell(&json!({ "type": "charter", "world": world }));
        self.inquiries.charter = Some(Box::new(charter));
        InquiryStep::Done(Value::Null)
    }

    fn shown_governance(&self, entry: &GovernanceEntry) -> Value {
        let mut result = governance(entry);
        result["validators"] = self.members();
        result
    }

    fn lots_came(&mut self, all: &mut Vec<LotEntry>, page: Vec<LotEntry>) -> InquiryStep {
        if let Some(after) = take_page(all, page) {
            return InquiryStep::Ask(Question::Lots { after });
        }
        self.tell_lots(all);
        InquiryStep::Done(Value::Null)
    }

    fn reports_came(&self, all: &mut Vec<ReportEntry>, page: Vec<ReportEntry>) -> InquiryStep {
        match take_page(all, page) {
            Some(after) => InquiryStep::Ask(Question::Reports { after }),
            None => InquiryStep::Done(self.shown_reports(all)),
        }
    }

    fn archived(&self, packages: &[ServedPackage]) -> InquiryStep {
        let archive = sources::archive(packages, self.sim, self.session.height());
        let list: Vec<Value> = packages.iter().map(ServedPackage::listed).collect();
        InquiryStep::Done(json!({ "archive": BASE64.encode(&archive), "list": list }))
    }

    /// Asks a question whose answer the page wants as it comes.
    pub(super) fn ask_raw(&mut self, command: u64, question: Question) {
        match self.session.inquire(question, true) {
            Some(id) => drop(self.inquiries.raw.insert(id, command)),
            None => self.failed(command, "Busy", &Value::Null),
        }
    }

    pub(super) fn raw_answered(&mut self, id: u32, kind: &str, frame: &[u8]) {
        if let Some(command) = self.inquiries.raw.remove(&id) {
            let frame = BASE64.encode(frame);
            self.tell(&json!({ "type": "answer", "id": command, "kind": kind, "frame": frame }));
        }
    }
}

fn unproven() -> InquiryStep {
    InquiryStep::Failed(ActFailure::new("Unproven"))
}

/// Returns why something cannot be known, by the answer that came instead.
fn instead(answer: &Answer) -> ActFailure {
    let detail = match answer {
        Answer::Pruned { oldest } => json!({ "oldest": oldest.0 }),
        _ => Value::Null,
    };
    ActFailure { code: answer.kind().to_owned(), detail }
}

/// Returns the packages that run or ship with the sim, the first one last.
fn shipped_or_run(listed: &[PackageEntry]) -> Vec<PackageId> {
    let runs = |entry: &&PackageEntry| {
        entry.left.is_none() && (entry.scripts > 0 || entry.publisher.is_none())
    };
    listed.iter().filter(runs).map(|entry| entry.package).rev().collect()
}

fn next_source(left: &[PackageId]) -> Option<InquiryStep> {
    left.last().map(|package| InquiryStep::Ask(Question::Source { package: *package }))
}

fn player(PlayerEntry { name, key, avatar, look }: &PlayerEntry) -> Value {
    json!({
        "name": name, "key": key.to_string(), "avatar": avatar,
        "look": look, "proven": false,
    })
}

fn script(entry: &ScriptEntry) -> Value {
    let last = entry.last_failure.as_ref().map(|(tick, text)| json!([tick, text]));
    json!({
        "script": entry.script, "object": entry.object, "name": entry.name,
        "package": entry.package.to_string(), "owner": entry.owner.map(|key| key.to_string()),
        "failures": entry.failures, "last_failure": last,
        "suspended": entry.suspended.map(|tick| tick.0), "dropped": entry.dropped,
        "gas_used": entry.gas_used, "proven": false,
    })
}

fn package(entry: &PackageEntry) -> Value {
    json!({
        "id": entry.package.to_string(), "name": entry.name, "version": entry.version,
        "licence": entry.licence, "publisher": entry.publisher.map(|key| key.to_string()),
        "scripts": entry.scripts, "proven": false,
    })
}

fn thing(entry: &ThingEntry) -> Value {
    let script = |(script, package): &(ScriptId, PackageId)| {
        let package = package.to_string();
        json!({ "script": script, "package": package })
    };
    json!({
        "object": entry.object, "name": entry.name, "kind": entry.kind,
        "x": from_fx(entry.position.x), "y": from_fx(entry.position.y),
        "text_bytes": entry.text_bytes, "proven": false,
        "scripts": entry.scripts.iter().map(script).collect::<Vec<Value>>(),
    })
}

fn order(OrderEntry { tick, sender, event }: &OrderEntry) -> Value {
    json!({ "tick": tick, "sender": sender, "event": event })
}

fn governance(entry: &GovernanceEntry) -> Value {
    let keys =
        |keys: &[PublicKey]| -> Vec<String> { keys.iter().map(ToString::to_string).collect() };
    let candidate = |each: &CandidateEntry| {
        json!({
            "name": each.name, "key": each.key.to_string(), "first_seen": each.first_seen,
            "last_login": each.last_login,
        })
    };
    let exposed = entry.exposed.iter().map(|(key, height)| json!([key.to_string(), height]));
    json!({
        "admins": keys(&entry.admins), "temp_admin": entry.temp_admin.map(|key| key.to_string()),
        "admin_days": entry.admin_days, "player_days": entry.player_days,
        "seen_days": entry.seen_days, "time": entry.time, "admin_login": entry.admin_login,
        "countdown": entry.countdown, "time_left": entry.time_left, "players": entry.players,
        "candidates": entry.candidates.iter().map(candidate).collect::<Vec<Value>>(),
        "exposed": exposed.collect::<Vec<Value>>(),
        "delayed": entry.delayed.iter().map(delayed).collect::<Vec<Value>>(),
        "motd": entry.motd, "away": entry.admin_countdown().words(),
        "acts": [], "proven": false,
    })
}

/// Returns who asks that which key take over the person's; nothing if nobody does.
fn recovery(told: &Result<FriendsEntry, Refusal>) -> Value {
    let Ok(FriendsEntry { counted, recovery: Some(open), .. }) = told else { return Value::Null };
    let by = |(friend, _): &(FriendEntry, PublicKey)| match friend.name.as_str() {
        "" => friend.key.to_string()[..8].to_owned(),
        name => name.to_owned(),
    };
    json!({
        "by": open.vouches.iter().map(by).collect::<Vec<String>>(), "need": counted.need,
        "key": open.chosen.map(|key| key.to_string()), "left": span(open.left), "proven": false,
    })
}

fn delayed(DelayedEntry { change, by, left }: &DelayedEntry) -> Value {
    let content = match change {
        SetChange::Add { key, contact } | SetChange::Reserve { key, contact } => {
            let NodeContact { peer_id, address } = contact;
            let contact = json!({ "peer_id": peer_id, "address": address });
            json!({ "key": key.to_string(), "contact": contact })
        }
        SetChange::Remove { key } => json!({ "key": key.to_string() }),
    };
    let change: Map<String, Value> = [(variant(change), content)].into_iter().collect();
    json!({ "change": change, "by": by.to_string(), "left": left })
}
