//! Questions of people: who is here, what runs, who wrote it, and who decides.

use std::{collections::BTreeMap, time::Duration};

use data_encoding::BASE64;
use metatopia_client::{Distrust, HOUSE_RULES_AGAIN, QUESTIONS_MAX};
use metatopia_math::Vec2;
use metatopia_protocol::{
    Answer, CandidateEntry, CharterAnswer, ClubEntry, DelayedEntry, GovernanceEntry, LoginTerms,
    LotEntry, OrderEntry, PackageEntry, PersonEntry, PlayerEntry, Question, ReportEntry,
    ScriptEntry, StowedThing, ThingEntry, take_page,
};
use metatopia_scripting::Package;
use metatopia_sim::{Charter, Land, Parameters};
use metatopia_types::{
    Act, Digest, GovernOrder, Height, NodeContact, PackageId, PublicKey, ScriptId, SetChange,
    Square, limits::EXPIRY_HEIGHTS_MAX,
};
use serde_json::{Map, Value, json};

use super::{
    ClientCore, border, friends, governing,
    imported::ImportingSource,
    outcomes::ActFailure,
    profiles::{self, OwnProfileTask},
    setup,
    sources::{self, ServedPackage},
    units::{from_fx, variant},
    would,
};

/// A node that is busy is asked so often, this far apart.
const TRIES: u32 = 8;
const BUSY: Duration = Duration::from_millis(250);

/// Between two questions which packages scripts in sight run.
const LEARN_AGAIN: Duration = Duration::from_secs(2);

/// Between two questions what the sim is by now: admins seldom change it. One that failed is asked again
/// sooner.
const CHARTER_AGAIN: Duration = HOUSE_RULES_AGAIN;
const CHARTER_RETRY: Duration = Duration::from_secs(2);

/// A charter that is older than this is no word of what holds now: a minute of turns.
const CHARTER_HEIGHTS_MAX: u64 = EXPIRY_HEIGHTS_MAX;

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
    /// Who holds which ground, page after page.
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
    /// The clubs of the person, page after page.
    Clubs(Vec<ClubEntry>),
    /// What the person was told privately.
    Mailbox,
    /// Whether friends ask that another key take over the person's.
    Recovery,
    /// Who the person's friends are.
    Friends,
    /// About whom something was ordered that holds still, page after page.
    People(Vec<PersonEntry>),
    /// What can be changed of the charter.
    Values,
    /// What an order would do.
    Would(Box<GovernOrder>),
    /// What a change of a value, or the sending home of a thing, would do.
    WouldChange(Box<Act>),
    /// The borders near this place of the sim on this square.
    Borders(Square, Vec2),
    /// What a login takes.
    Terms,
    /// What a login takes of the key before the rotation, while one of the new key takes this.
    TermsBefore(LoginTerms),
    /// What the sim is by now.
    Charter,
    /// What people say of themselves.
    Profiles(Vec<PublicKey>),
    /// The picture that a profile names so.
    Picture(Digest),
    /// What is wrong with a source that imports others, which are fetched first.
    Importing(Box<ImportingSource>),
    /// What the sim has of the person's own profile, which is to be sent.
    OwnProfile(Box<OwnProfileTask>),
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
    /// The number under which it was asked.
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
    /// The moment when the core asks next what the sim is by now.
    charter_due: Duration,
    /// Packages that sources import, which were fetched to look those over.
    pub(super) imported: BTreeMap<PackageId, Package>,
    /// What was proved last of what the sim is by now, and after which turn that was.
    pub(super) charter: Option<(Height, Box<Charter>)>,
}

/// What to do after an answer.
pub(super) enum InquiryStep {
    /// Ask this next.
    Ask(Question),
    /// All is known.
    Done(Value),
    /// It cannot be proved yet; ask the same again.
    Again,
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
        if self.now >= self.inquiries.charter_due && self.pulse.is_active() {
            self.inquiries.charter_due = self.now.saturating_add(CHARTER_AGAIN);
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

    /// Handles an answer.
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
            return self.ask_again(inquiry);
        }
        match (&inquiry.task, &answer) {
            (InquiryTask::Terms, Answer::LoginTerms(terms)) => return self.terms_came(*terms),
            (InquiryTask::TermsBefore(terms), Answer::LoginTerms(before)) => {
                return self.terms_before_came(*terms, *before);
            }
            _ => {}
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
            InquiryStep::Again if inquiry.tries < TRIES => self.ask_again(inquiry),
            InquiryStep::Again => self.inquiry_failed(inquiry, ActFailure::new("Unproven")),
            InquiryStep::Failed(why) => self.inquiry_failed(inquiry, why),
        }
    }

    fn ask_again(&mut self, inquiry: PageInquiry) {
        let again_at = Some(self.now.saturating_add(BUSY));
        self.inquiries.last = self.inquiries.last.saturating_add(1);
        let again = PageInquiry { asked: None, again_at, ..inquiry };
        self.inquiries.under.insert(self.inquiries.last, again);
    }

    fn inquiry_failed(&mut self, inquiry: PageInquiry, why: ActFailure) {
        match (inquiry.command, inquiry.task) {
            (Some(id), _) => self.failed(id, &why.code, &why.detail),
            (None, InquiryTask::Terms | InquiryTask::TermsBefore(_)) => {
                self.finish_login(Err(why));
            }
            (None, InquiryTask::OwnProfile(task)) => {
                self.failed(task.command, &why.code, &why.detail);
            }
            (None, InquiryTask::Charter) => {
                self.inquiries.charter_due = self.now.saturating_add(CHARTER_RETRY);
            }
            (None, _) => {}
        }
    }

    /// Takes an answer into what is asked, and returns what is next.
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
            (InquiryTask::Charter, Answer::Charter(answer)) => self.charter_came(&answer),
            (InquiryTask::Borders(square, place), Answer::Borders(mut borders)) => {
                self.forget_told_returns(&mut borders);
                let near = border::near(*square, *place, &borders);
                self.note_borders(borders);
                InquiryStep::Done(near)
            }
            (InquiryTask::Importing(source), answer) => self.imported_came(source, &answer),
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
            (InquiryTask::Lots(all), Answer::Lots(page)) => self.lots_came(all, page),
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
            (task, answer) => self.step_about_people(task, answer),
        }
    }

    /// Takes an answer into what is asked about people.
    fn step_about_people(&mut self, task: &mut InquiryTask, answer: Answer) -> InquiryStep {
        match (task, answer) {
            (InquiryTask::Person, Answer::Person(entry)) => {
                InquiryStep::Done(governing::person(&entry))
            }
            (InquiryTask::Orders(below), Answer::Orders(page)) => {
                self.proven_orders(*below, &page).map_or_else(unproven, InquiryStep::Done)
            }
            (InquiryTask::Profiles(of), Answer::Profiles(answer)) => {
                self.proven_profiles(of, &answer).map_or_else(unproven, InquiryStep::Done)
            }
            (InquiryTask::Picture(digest), Answer::Picture(bytes)) => {
                profiles::picture(*digest, &bytes).map_or_else(unproven, InquiryStep::Done)
            }
            (InquiryTask::OwnProfile(task), Answer::Profiles(answer)) => {
                self.own_profile_known(task, Some(&answer))
            }
            (InquiryTask::OwnProfile(task), Answer::Picture(picture)) => {
                self.own_profile_whole(task, &picture)
            }
            // A sim that has just begun proves nothing yet, and one that pushed a picture out has none.
            (InquiryTask::OwnProfile(task), Answer::Unknown) => {
                task.newer = None;
                self.own_profile_known(task, None)
            }
            (InquiryTask::Recovery, Answer::Friends(told)) => {
                InquiryStep::Done(friends::recovery(&told))
            }
            (InquiryTask::Friends, Answer::Friends(told)) => {
                InquiryStep::Done(friends::friends(&told))
            }
            (InquiryTask::People(all), Answer::People(page)) => {
                match would::take_people(all, page) {
                    Some(question) => InquiryStep::Ask(question),
                    None => InquiryStep::Done(all.iter().map(governing::person).collect()),
                }
            }
            (InquiryTask::Values, Answer::Charter(answer)) => {
                let step = self.charter_came(&answer);
                match &self.inquiries.charter {
                    Some((_, charter)) if matches!(step, InquiryStep::Done(_)) => {
                        InquiryStep::Done(would::values(charter))
                    }
                    _ => step,
                }
            }
            (InquiryTask::Would(order), Answer::DryRun(told)) => {
                InquiryStep::Done(would::told(order, &told))
            }
            (InquiryTask::WouldChange(act), Answer::Change(told)) => {
                InquiryStep::Done(would::told_change(act, &told))
            }
            (InquiryTask::Reports(all), Answer::Reports(page)) => self.reports_came(all, page),
            (InquiryTask::Clubs(all), Answer::Clubs(page)) => self.clubs_came(all, page),
            (InquiryTask::Mailbox, Answer::Mailbox(kept)) => {
                kept.iter().for_each(|told| self.tell_private_words(told, true));
                InquiryStep::Done(Value::Null)
            }
            (_, answer) => InquiryStep::Failed(instead(&answer)),
        }
    }

    /// Returns the numbers and the lands of the sim, as far as this core knows: those of the genesis until newer
    /// ones are proved.
    pub(super) fn rules_of_building(&self) -> (&Parameters, &[Land]) {
        match &self.inquiries.charter {
            Some((_, charter)) => (&charter.parameters, &charter.lands),
            None => (&self.genesis.parameters, &self.genesis.lands),
        }
    }

    /// Tells the page what may be other than the genesis says by now: the world in which the sim lies, by its
    /// land office, and what people agree to before they enter.
    fn charter_came(&mut self, answer: &CharterAnswer) -> InquiryStep {
        let (height, charter) = match self.session.light().charter(answer) {
            Ok(proved) => proved,
            // The session follows changes of the set as soon as a view shows that there are some.
            Err(Distrust::OtherValidators(..)) => return InquiryStep::Again,
            Err(_) => return unproven(),
        };
        // A state of long ago was certified as well, and says nothing of now.
        if height.plus(CHARTER_HEIGHTS_MAX) < self.session.certain() {
            return unproven();
        }
        if self.inquiries.charter.as_ref().is_some_and(|(known, _)| *known > height) {
            return InquiryStep::Done(Value::Null);
        }
        let world = charter.site.map(|site| site.world.to_string());
        let mut told = setup::house_rules(&charter.introduction);
        told["type"] = "charter".into();
        told["world"] = world.into();
        self.tell(&told);
        self.inquiries.charter = Some((height, Box::new(charter)));
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
    let stowed = entry.stowed.as_ref().map(|StowedThing { half, movable, .. }| {
        json!({ "hx": from_fx(half.x), "hy": from_fx(half.y), "movable": movable })
    });
    json!({
        "object": entry.object, "name": entry.name, "kind": entry.kind,
        "x": from_fx(entry.position.x), "y": from_fx(entry.position.y),
        "text_bytes": entry.text_bytes, "stowed": stowed, "proven": false,
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
