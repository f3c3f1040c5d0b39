//! Coming into a sim by a login or over a border. It may ask a key that is new to it for a ticket or for some seconds
//! of work.

use std::collections::BTreeSet;

use metatopia_client::held_back;
use metatopia_protocol::{LoginTerms, Question};
use metatopia_types::{Act, Digest, Height, Look, Pass, Rotation, SimId, TicketPass, Work};
use serde_json::{Value, json};

use super::{
    ClientCore,
    deeds::{CorePerson, Deed, DeedKind, Deeds},
    inquiry::InquiryTask,
    outcomes::{ActEnd, ActFailure},
};

/// How somebody comes.
#[derive(Clone, Debug)]
enum Coming {
    Login {
        name: String,
        look: Look,
    },
    /// She announces that she comes over the border from this sim.
    Approach {
        from: SimId,
    },
}

/// A login or an announcement under way.
#[derive(Debug)]
pub(super) struct LoginAttempt {
    /// Who waits for it: nobody, if the avatar is only taken back.
    command: Option<u64>,
    coming: Coming,
    /// It was asked what a login takes.
    asked: bool,
    /// The page does the work with this number, for the header of this height.
    work: Option<(u64, Height)>,
}

impl LoginAttempt {
    const fn is_login(&self) -> bool {
        matches!(self.coming, Coming::Login { .. })
    }
}

impl Deeds {
    /// Returns whether the first attempt is a login and not an announcement.
    fn logs_in(&self) -> bool {
        self.logins.front().is_some_and(LoginAttempt::is_login)
    }

    /// Returns whether the tab does the work of a first login.
    pub(super) fn is_working(&self) -> bool {
        self.logins.front().is_some_and(|login| login.work.is_some())
    }
}

impl ClientCore {
    /// Logs in, after the logins that are under way.
    pub(super) fn login(&mut self, command: Option<u64>, name: String, look: Look) {
        self.come(command, Coming::Login { name, look });
    }

    /// Announces that the person comes over the border from a sim, after what is under way; not before she agreed to
    /// the house rules of this sim, which are proved with the first view. `agreed` are the digests of those that she
    /// agreed to.
    pub(super) fn approach(&mut self, command: u64, from: SimId, agreed: &BTreeSet<String>) {
        let Some((_, charter)) = &self.inquiries.charter else {
            return self.failed(command, "NoRulesYet", &Value::Null);
        };
        let has_agreed = |rules: Digest| agreed.contains(&rules.to_string());
        if held_back(&charter.introduction, has_agreed).is_some() {
            return self.failed(command, "HouseRules", &Value::Null);
        }
        self.come(Some(command), Coming::Approach { from });
    }

    fn come(&mut self, command: Option<u64>, coming: Coming) {
        let attempt = LoginAttempt { command, coming, asked: false, work: None };
        self.deeds.logins.push_back(attempt);
        if self.deeds.logins.len() == 1 {
            self.begin_login();
        }
    }

    /// Begins the login that is next. What a login of a key takes that came by a rotation is asked first: without the
    /// rotation an open sim would take it for somebody new.
    fn begin_login(&mut self) {
        let is_rotated = self.rotation.is_some();
        match self.deeds.logins.front_mut().filter(|login| is_rotated && login.is_login()) {
            Some(login) => {
                login.asked = true;
                self.ask_terms();
            }
            None => self.submit_login(None),
        }
    }

    fn submit_login(&mut self, pass: Option<Pass>) {
        let Some(LoginAttempt { coming, .. }) = self.deeds.logins.front() else {
            return;
        };
        match coming.clone() {
            Coming::Login { name, look } => {
                let act = Act::Login { name, look, bot: false, pass };
                self.submit(Deed::new(DeedKind::Login, act));
            }
            Coming::Approach { from } => {
                let work = match pass {
                    Some(Pass::Work(work)) => Some(work),
                    _ => None,
                };
                let act = Act::Approach { from, work };
                if let Some(seq) = self.submit(Deed::new(DeedKind::Login, act)) {
                    self.foresight.announce(seq, self.now);
                }
            }
        }
    }

    /// Notes what came of the login that is under way.
    pub(super) fn login_ended(&mut self, end: ActEnd) {
        let Some(login) = self.deeds.logins.front_mut() else {
            return;
        };
        let asks = |why: &ActFailure| matches!(why.code.as_str(), "NeedsWork" | "NeedsTicket");
        if end.as_ref().is_err_and(asks) && !login.asked {
            login.asked = true;
            return self.ask_terms();
        }
        self.finish_login(end);
    }

    pub(super) fn finish_login(&mut self, end: ActEnd) {
        let is_login = self.deeds.logs_in();
        let Some(LoginAttempt { command, coming, .. }) = self.deeds.logins.pop_front() else {
            return;
        };
        if let Coming::Login { name, look } = coming
            && end.as_ref().is_ok_and(|result| result.ok)
        {
            self.deeds.person = Some(CorePerson { name, look });
            self.deeds.is_here = true;
            // This sim knows the key by now.
            self.rotation = None;
            // A login makes the avatar stand.
            self.walker.forget();
            self.ask_mailbox();
        }
        if let Some(command) = command {
            self.reply(command, end.clone());
        }
        if !self.deeds.logins.is_empty() {
            self.begin_login();
        } else if is_login {
            self.go_on(&end);
        } else if self.deeds.is_waiting() {
            self.come_back();
        }
    }

    /// Notes what a server says that a login of this key takes.
    pub(super) fn terms_came(&mut self, terms: LoginTerms) {
        match (terms, self.rotation.filter(|_| self.deeds.logs_in())) {
            (_, None) => self.pass_terms(terms),
            // An open sim does not say whether it knows a key. If it does not, this is any login.
            (LoginTerms::Free, Some(rotation)) => self.submit_login(Some(Pass::Rotation(rotation))),
            (_, Some(Rotation { old, .. })) => {
                let task = InquiryTask::TermsBefore(terms);
                self.inquire(None, task, Question::LoginTerms { key: old });
            }
        }
    }

    /// Notes what a server says that a login takes of the key before the rotation.
    pub(super) fn terms_before_came(&mut self, terms: LoginTerms, before: LoginTerms) {
        match self.rotation.filter(|_| before == LoginTerms::Free) {
            Some(rotation) => self.submit_login(Some(Pass::Rotation(rotation))),
            None => self.pass_terms(terms),
        }
    }

    /// Logs in by what a server says that it takes.
    fn pass_terms(&mut self, terms: LoginTerms) {
        // Tickets are for logins.
        match (terms, self.ticket.as_ref().filter(|_| self.deeds.logs_in())) {
            (LoginTerms::Free, _) => self.submit_login(None),
            (LoginTerms::Rotated { .. }, _) => self.finish_login(Err(ActFailure::new("Rotated"))),
            (LoginTerms::Closed, _) => self.finish_login(Err(ActFailure::new("NobodyNew"))),
            (LoginTerms::Work { .. } | LoginTerms::Ticket, Some(ticket)) => {
                let pass = TicketPass::new(ticket, self.sim, &self.key);
                self.submit_login(Some(Pass::Ticket(pass)));
            }
            (LoginTerms::Ticket, None) => self.finish_login(Err(ActFailure::new("NeedsTicket"))),
            (LoginTerms::Work { height, header, tries }, None) => {
                self.deeds.works = self.deeds.works.saturating_add(1);
                let work = self.deeds.works;
                if let Some(login) = self.deeds.logins.front_mut() {
                    login.work = Some((work, height));
                }
                self.tell(&json!({
                    "type": "work", "id": work, "sim": self.sim.to_string(),
                    "key": self.key.to_string(), "header": header.to_string(),
                    "tries": tries.to_string(),
                }));
            }
        }
    }

    /// Goes on with the login after the page did the work that it was asked for, or could not.
    pub(super) fn worked(&mut self, work: u64, nonce: Option<u64>, failed: Option<&str>) {
        let Some(login) = self.deeds.logins.front_mut() else {
            return;
        };
        let Some((_, height)) = login.work.filter(|(asked, _)| *asked == work) else {
            return;
        };
        login.work = None;
        match nonce {
            Some(nonce) => self.submit_login(Some(Pass::Work(Work { height, nonce }))),
            None => {
                let code = failed.unwrap_or("NoModule");
                self.finish_login(Err(ActFailure { code: code.to_owned(), detail: Value::Null }));
            }
        }
    }
}
