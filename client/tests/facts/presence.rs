//! Who is logged in has an avatar: without it nothing is proved, and nobody is to blame.

use metatopia_client::{SessionEvent, UnprovenSight};
use metatopia_protocol::*;
use metatopia_types::*;

use crate::stand::{Stand, Watcher};
use crate::talk::{Talk, login};

struct Visit {
    stand: Stand,
    talk: Talk,
    watcher: Watcher,
}

impl Visit {
    /// Somebody who watches, and has not come yet.
    fn new() -> Self {
        let stand = Stand::new();
        let talk = Talk::watching(&stand);
        Self { stand, talk, watcher: Watcher::default() }
    }

    /// An honest view of this moment, which is changed in this way.
    fn see(&mut self, change: impl FnOnce(&mut View)) -> Height {
        let mut view = self.stand.view(&mut self.watcher, &self.stand.tiles());
        change(&mut view);
        let height = view.height;
        assert_eq!(self.talk.view(view), [SessionEvent::View { height }]);
        height
    }

    /// Shows the client the honest proof of a turn. Returns whether all that was in sight is proved by it.
    fn proves(&mut self, of: Height) -> bool {
        while self.stand.height() < of.plus(limits::ROOT_LAG) {
            self.stand.turns(1);
        }
        let proof = self.stand.proof(of, &self.stand.tiles_at(of));
        let events = self.talk.proof(proof);
        assert!(matches!(events[..], [SessionEvent::Proven(_)]), "{events:?}");
        match self.talk.session.proven() {
            Ok(proven) => proven.of == of,
            Err(UnprovenSight::Lagging { .. }) => false,
            Err(other) => panic!("{other}"),
        }
    }

    /// Submits an act, and the server decides it, but says nothing yet. Gives the receipt.
    fn decide(&mut self, act: Act) -> (ActId, ServerMessage) {
        let act = self.talk.submit(act);
        let (id, receipt) = (act.id(), self.stand.decide(vec![act]).expect("of an act"));
        (id, ServerMessage::Receipt { act: id, receipt: Box::new(receipt) })
    }

    /// Has the server say what became of an act.
    fn rule(&mut self, act: ActId, outcome: Outcome) {
        let height = self.stand.height();
        self.talk.tell(&ServerMessage::Outcome { act, height, outcome });
        self.talk.drain();
    }

    /// Shows everything but an avatar. Returns whether that is proved.
    fn is_proved_without_avatar(&mut self) -> bool {
        let of = self.see(|view| view.me = None);
        self.proves(of)
    }
}

#[test]
fn who_only_watches_needs_no_avatar() {
    assert!(Visit::new().is_proved_without_avatar());
}

/// The view before the login has no avatar, and its proof comes after the login's receipt.
#[test]
fn an_honest_login_waits_for_its_avatar_and_is_then_proved() {
    let mut visit = Visit::new();
    let of = visit.see(|_| ());
    visit.talk.enter(&mut visit.stand);
    assert!(!visit.proves(of));
    let of = visit.see(|_| ());
    assert!(visit.proves(of));
    visit.stand.turns(1);
    assert!(!visit.is_proved_without_avatar());
}

#[test]
fn who_is_logged_in_stays_so_at_other_servers() {
    let mut visit = Visit::new();
    visit.talk.enter(&mut visit.stand);
    visit.talk.session.disconnected();
    visit.talk.connect(visit.stand.height());
    visit.talk.drain();
    assert!(!visit.is_proved_without_avatar());
}

#[test]
fn who_has_left_needs_no_avatar_any_more() {
    let mut visit = Visit::new();
    visit.talk.enter(&mut visit.stand);
    visit.talk.act(&mut visit.stand, Act::Leave);
    assert!(visit.is_proved_without_avatar());
}

/// A liar could say of any act that its author is not logged in.
#[test]
fn only_of_the_login_itself_is_the_servers_word_taken_that_it_was_refused() {
    let words = [(true, Refusal::Full), (false, Refusal::NotLoggedIn)];
    for ((of_login, why), is_first) in words.into_iter().flat_map(|w| [(w, true), (w, false)]) {
        let mut visit = Visit::new();
        let (id, receipt) = visit.decide(login());
        let other = visit.talk.submit(Act::Heartbeat).id();
        let act = if of_login { id } else { other };
        if !is_first {
            visit.talk.tell(&receipt);
        }
        visit.rule(act, Outcome::Refused(why));
        if is_first {
            visit.talk.tell(&receipt);
            visit.talk.drain();
        }
        assert_eq!(visit.is_proved_without_avatar(), of_login, "{why}, said first: {is_first}");
    }
}

/// Who logged in waits for the first word on it, and for none after that.
#[test]
fn of_a_login_that_was_done_nobody_says_later_that_it_was_refused() {
    let mut visit = Visit::new();
    let (id, receipt) = visit.decide(login());
    visit.talk.tell(&receipt);
    visit.rule(id, Outcome::Ok);
    visit.rule(id, Outcome::Refused(Refusal::Full));
    assert!(!visit.is_proved_without_avatar());
}

/// Clients log in anew by themselves when a server says that their avatar has left.
#[test]
fn a_refused_return_leaves_the_avatar_where_it_is() {
    let mut visit = Visit::new();
    visit.talk.enter(&mut visit.stand);
    let (id, receipt) = visit.decide(login());
    visit.talk.tell(&receipt);
    visit.rule(id, Outcome::Refused(Refusal::Full));
    assert!(!visit.is_proved_without_avatar());
    visit.talk.act(&mut visit.stand, Act::Leave);
    assert!(visit.is_proved_without_avatar());
}

#[test]
fn the_last_of_leave_and_login_counts_in_whatever_order_their_receipts_come() {
    for acts in [[Act::Leave, login()], [login(), Act::Leave]] {
        for backwards in [false, true] {
            let mut visit = Visit::new();
            visit.talk.enter(&mut visit.stand);
            let mut receipts = acts.clone().map(|act| visit.decide(act).1);
            if backwards {
                receipts.reverse();
            }
            for receipt in &receipts {
                visit.talk.tell(receipt);
            }
            visit.talk.drain();
            let has_left = acts[1] == Act::Leave;
            assert_eq!(visit.is_proved_without_avatar(), has_left, "{acts:?}, {backwards}");
        }
    }
}

/// A server that refuses a login which was decided, and gives the receipt to whoever asks.
#[test]
fn a_login_whose_receipt_has_to_be_asked_for_counts() {
    let mut visit = Visit::new();
    let act = visit.talk.submit(login());
    let receipt = visit.stand.decide(vec![act.clone()]).expect("of the login");
    let why = SubmitRefusal::Replayed(1);
    visit.talk.tell(&ServerMessage::Refused { act: act.id(), why });
    let Envelope { author, lane, seq, .. } = act.envelope;
    let id = visit.talk.session.ask(Question::Receipt { author, lane, seq }).expect("open");
    let answer = ReceiptAnswer { act, receipt, outcome: Some(Outcome::Ok) };
    let answer = Box::new(Answer::Receipt(Box::new(answer)));
    visit.talk.tell(&ServerMessage::Answer { id, answer });
    visit.talk.drain();
    assert!(!visit.is_proved_without_avatar());
}
