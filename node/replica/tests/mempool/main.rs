//! The mempool: what is taken, what is refused by which name, and who gets a place in a turn.

mod relay;
mod shares;

use std::collections::{BTreeMap, BTreeSet};

use metatopia_protocol::{Submission, SubmitRefusal};
use metatopia_replica::{
    ClientId,
    mempool::{
        AGAIN_TURNS, AUTHOR_PENDING_MAX, ActSource, Gate, HANDED_AGAIN_MAX, HANDED_OVER_MAX,
        Mempool, SOURCE_BYTES_MAX, STRANGER_PENDING_MAX,
    },
};
use metatopia_sim::{
    FirstLogin, FirstLogins, Judging, LaneWindows, Parameters, Register, Since, Standing,
    Standings, Window,
    limits::{
        LANES_MAX, LANES_PER_AUTHOR_MAX, PLAYER_LANES_MAX, PUBLISHES_PER_TURN_MAX,
        REGULAR_LANES_MAX, STRANGER_LANES_MAX,
    },
};
use metatopia_types::*;

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

fn sim() -> SimId {
    SimId(Digest::of("mempool", b"sim"))
}

fn envelope(author: u8, lane: u64, seq: u64) -> Envelope {
    Envelope {
        sim: sim(),
        author: key(author).public(),
        lane: Lane(lane),
        seq: Seq(seq),
        last_valid: Height(600),
        act: Act::Heartbeat,
    }
}

fn act(author: u8, lane: u64, seq: u64) -> Submission {
    Submission { act: envelope(author, lane, seq).sign(&key(author)), blobs: Vec::new() }
}

fn say(text: &str, blobs: Vec<Blob>) -> Submission {
    let body = Blob(text.as_bytes().to_vec()).id();
    let envelope = Envelope { act: Act::Say { channel: 0, body }, ..envelope(1, 1, 1) };
    Submission { act: envelope.sign(&key(1)), blobs }
}

const CLIENT: ActSource = ActSource::Client(ClientId(7));

/// A sim in which everybody has one standing, but for some.
struct Equals {
    register: Register,
    standing: Standing,
    better: BTreeMap<PublicKey, Standing>,
}

impl Standings for Equals {
    fn sim(&self) -> SimId {
        sim()
    }

    fn since(&self, _: &PublicKey) -> Option<Since> {
        None
    }

    fn first_logins(&self) -> &FirstLogins {
        self.register.first_logins()
    }

    fn standing(&self, key: &PublicKey, _: Height) -> Standing {
        self.better.get(key).copied().unwrap_or(self.standing)
    }
}

fn equals(standing: Standing) -> Equals {
    let register = Register::genesis(sim(), &Parameters::default(), BTreeSet::new());
    Equals { register, standing, better: BTreeMap::new() }
}

struct Pool {
    pool: Mempool,
    windows: LaneWindows,
    all: Equals,
    height: u64,
}

impl Pool {
    fn new() -> Self {
        let windows = LaneWindows::default();
        Self { pool: Mempool::default(), windows, all: equals(Standing::Player), height: 1 }
    }

    fn admit(&mut self, submission: Submission) -> Result<ActId, SubmitRefusal> {
        self.admit_from(submission, CLIENT)
    }

    fn admit_from(
        &mut self,
        submission: Submission,
        source: ActSource,
    ) -> Result<ActId, SubmitRefusal> {
        let gate = Gate {
            sim: sim(),
            height: Height(self.height),
            windows: &self.windows,
            standings: &self.all,
            scheme: &Ed25519,
        };
        self.pool.admit(submission, source, gate)
    }

    fn body(&mut self, after: Option<&Turn>) -> TurnBody {
        let height = self.windows.height().plus(1 + u64::from(after.is_some()));
        let judging = Judging { standings: &self.all, proposer: None };
        self.pool.body(height, after, &self.windows, judging, Vec::new())
    }

    fn turn(&self, body: TurnBody) -> Turn {
        let header = Header {
            sim: sim(),
            engine: 1,
            height: self.windows.height().plus(1),
            proposer: PublicKey::default(),
            time: Millis(1),
            ..Header::unstated()
        };
        Turn::of(header, body)
    }

    fn decide(&mut self, body: TurnBody) {
        let turn = self.turn(body);
        self.windows.record(&turn);
        self.pool.take_decided(&turn);
        self.height += 1;
    }
}

#[test]
fn a_good_act_waits_is_proposed_decided_and_never_taken_again() {
    let mut pool = Pool::new();
    let id = pool.admit(act(1, 1, 1)).expect("nothing is wrong with it");
    assert!(pool.pool.has_checked(&act(1, 1, 1).act));

    let body = pool.body(None);
    assert_eq!(body.acts().iter().map(SignedEnvelope::id).collect::<Vec<_>>(), [id]);
    pool.decide(body);
    assert!(pool.pool.is_empty());
    assert_eq!(pool.admit(act(1, 1, 1)), Err(SubmitRefusal::Replayed(1)));
}

#[test]
fn every_reason_to_refuse_an_act_has_its_name() {
    let mut pool = Pool::new();
    let with = |change: &dyn Fn(&mut Envelope)| {
        let mut envelope = envelope(1, 1, 1);
        change(&mut envelope);
        Submission { act: envelope.sign(&key(1)), blobs: Vec::new() }
    };
    let foreign = SimId(Digest::ZERO);
    let other_sim = pool.admit(with(&|e| e.sim = foreign));
    assert_eq!(other_sim, Err(SubmitRefusal::OtherSim(foreign)));
    let expired = pool.admit(with(&|e| e.last_valid = Height(0)));
    let (last_valid, height) = (Height(0), Height(1));
    assert_eq!(expired, Err(SubmitRefusal::Expired { last_valid, height }));
    let last_valid = height.plus(limits::EXPIRY_HEIGHTS_MAX + 1);
    let far = pool.admit(with(&|e| e.last_valid = last_valid));
    assert_eq!(far, Err(SubmitRefusal::TooFarAhead { last_valid, height }));
    let long = pool.admit(with(&|e| {
        e.act = Act::login("x".repeat(2_000), Look::default());
    }));
    assert!(matches!(long, Err(SubmitRefusal::TooLong(_))));
    let unknown = pool.admit(with(&|e| e.act = Act::Unknown { number: 300, bytes: vec![1] }));
    assert_eq!(unknown, Err(SubmitRefusal::UnknownAct(300)));
    let mut forged = act(1, 1, 1);
    forged.act.signature = act(2, 1, 1).act.signature;
    assert_eq!(pool.admit(forged), Err(SubmitRefusal::BadSignature));
    assert!(pool.pool.is_empty());
}

#[test]
fn a_key_that_is_new_to_the_sim_is_told_what_it_lacks() {
    let login =
        Envelope { act: Act::login("Ada".to_owned(), Look::default()), ..envelope(1, 1, 1) };
    let login = || Submission { act: login.clone().sign(&key(1)), blobs: Vec::new() };
    for (first_login, lacking) in [
        (FirstLogin::Work, SubmitRefusal::NeedsWork),
        (FirstLogin::Invite, SubmitRefusal::NeedsTicket),
        (FirstLogin::Closed, SubmitRefusal::NobodyNew),
    ] {
        let mut pool = Pool::new();
        let parameters = Parameters { first_login, ..Parameters::default() };
        pool.all.register = Register::genesis(sim(), &parameters, BTreeSet::new());
        pool.all.standing = Standing::Stranger;
        assert_eq!(pool.admit(login()), Err(lacking), "{first_login:?}");
        assert_eq!(pool.admit(act(1, 1, 1)), Err(SubmitRefusal::NeedsLogin), "{first_login:?}");
        assert!(pool.pool.is_empty());

        pool.all.standing = Standing::Player;
        assert!(pool.admit(login()).is_ok(), "{first_login:?}");
    }
}

#[test]
fn an_author_with_as_many_lanes_as_a_sim_remembers_opens_no_other() {
    let mut pool = Pool::new();
    let lanes = LANES_PER_AUTHOR_MAX as u64;
    for lane in 1..=lanes {
        pool.admit(act(1, lane, 1)).expect("a lane is left");
    }
    let body = pool.body(None);
    pool.decide(body);

    assert_eq!(pool.admit(act(1, lanes + 1, 1)), Err(SubmitRefusal::TooManyLanes));
    assert!(pool.admit(act(1, lanes, 2)).is_ok(), "its lane is open");
    assert!(pool.admit(act(2, lanes + 1, 1)).is_ok(), "another author's lanes are its own");
}

#[test]
fn words_must_come_with_the_act_that_names_them_and_nothing_else() {
    let mut pool = Pool::new();
    let blob = |text: &str| Blob(text.as_bytes().to_vec());
    assert_eq!(pool.admit(say("hi", vec![])), Err(SubmitRefusal::BadBlob));
    assert_eq!(pool.admit(say("hi", vec![blob("ho")])), Err(SubmitRefusal::BadBlob));
    assert_eq!(pool.admit(say("hi", vec![blob("hi"), blob("hi")])), Err(SubmitRefusal::BadBlob));
    let long = "x".repeat(limits::CHAT_BYTES_MAX + 1);
    assert_eq!(pool.admit(say(&long, vec![blob(&long)])), Err(SubmitRefusal::BadBlob));
    let mut quiet = act(1, 1, 1);
    quiet.blobs.push(blob("free bytes"));
    assert_eq!(pool.admit(quiet), Err(SubmitRefusal::BadBlob));
    assert!(pool.admit(say("hi", vec![blob("hi")])).is_ok());
}

fn publish(author: u8, seq: u64, bytes: usize) -> Submission {
    let blob = Blob(vec![author; bytes]);
    let act = Act::Publish { source: blob.id() };
    let envelope = Envelope { act, ..envelope(author, 1, seq) };
    Submission { act: envelope.sign(&key(author)), blobs: vec![blob] }
}

#[test]
fn one_package_of_an_author_waits_and_none_of_a_stranger() {
    let mut pool = Pool::new();
    assert!(pool.admit(publish(1, 1, limits::BLOB_BYTES_MAX)).is_ok());
    assert_eq!(pool.admit(publish(1, 2, 10)), Err(SubmitRefusal::QuotaExceeded));
    assert_eq!(pool.admit(publish(2, 1, limits::BLOB_BYTES_MAX + 1)), Err(SubmitRefusal::BadBlob));
    let body = pool.body(None);
    pool.decide(body);
    assert!(pool.admit(publish(1, 2, 10)).is_ok(), "the first one is decided");

    let mut pool = Pool { all: equals(Standing::Stranger), ..Pool::new() };
    assert_eq!(pool.admit(publish(1, 1, 10)), Err(SubmitRefusal::QuotaExceeded));
}

#[test]
fn a_package_that_is_put_together_has_the_source_of_a_turn_to_itself() {
    let assemble = |author| {
        let act = Act::Assemble { pieces: vec![Blob(b"piece".to_vec()).id()] };
        Submission {
            act: Envelope { act, ..envelope(author, 1, 1) }.sign(&key(author)),
            blobs: vec![],
        }
    };
    let mut pool = Pool::new();
    pool.admit(publish(1, 1, 100)).expect("there is room");
    for author in [2, 3] {
        pool.admit(assemble(author)).expect("there is room");
    }
    let turns: Vec<usize> = (0..4)
        .map(|_| {
            let body = pool.body(None);
            let acts = body.acts().len();
            pool.decide(body);
            acts
        })
        .collect();
    assert_eq!(turns, [1, 1, 1, 0]);
}

#[test]
fn orders_of_land_count_as_source_and_are_shorter() {
    let order = |author, seq, bytes| {
        let blob = Blob(vec![author; bytes]);
        let envelope = Envelope { act: Act::Land { order: blob.id() }, ..envelope(author, 1, seq) };
        Submission { act: envelope.sign(&key(author)), blobs: vec![blob] }
    };
    let most = limits::LAND_ORDER_BYTES_MAX;
    let mut pool = Pool::new();
    assert_eq!(pool.admit(order(1, 1, most + 1)), Err(SubmitRefusal::BadBlob));
    assert!(pool.admit(order(1, 1, most)).is_ok());
    assert_eq!(pool.admit(publish(1, 2, 10)), Err(SubmitRefusal::QuotaExceeded));
    (2..=4).for_each(|n| assert!(pool.admit(order(n, 1, most)).is_ok()));
    assert_eq!(pool.body(None).blobs().len(), 3, "a turn has as much source as it compiles");
    let mut pool = Pool { all: equals(Standing::Stranger), ..Pool::new() };
    assert_eq!(pool.admit(order(1, 1, 10)), Err(SubmitRefusal::QuotaExceeded));
}

#[test]
fn waiting_source_has_a_bound_of_its_own() {
    let mut pool = Pool::new();
    let most = SOURCE_BYTES_MAX / limits::BLOB_BYTES_MAX;
    let taken = (1..=u8::MAX).take_while(|n| {
        let admitted = pool.admit(publish(*n, 1, limits::BLOB_BYTES_MAX));
        assert!(admitted.is_ok() || admitted == Err(SubmitRefusal::Full), "{admitted:?}");
        admitted.is_ok()
    });
    let taken = taken.count();

    assert!(taken + 1 == most || taken == most, "{taken} where {most} fit");
    assert!(pool.admit(act(u8::MAX, 1, 1)).is_ok(), "other acts have room");
}

#[test]
fn a_turn_has_as_much_source_as_it_compiles_and_what_follows_it_waits_too() {
    let mut pool = Pool::new();
    let size = limits::BLOB_BYTES_MAX * 2 / 3;
    for author in [1, 2] {
        pool.admit(publish(author, 1, size)).expect("there is room");
        pool.admit(act(author, 1, 2)).expect("there is room");
    }

    let first = pool.body(None);
    let published = |body: &TurnBody| body.blobs().len();
    assert_eq!((published(&first), first.acts().len()), (1, 2));
    pool.decide(first);
    let second = pool.body(None);
    assert_eq!((published(&second), second.acts().len()), (1, 2));
}

// Sixteen low keys could keep a package waiting each, and all others out.
#[test]
fn an_author_whose_source_found_no_room_is_first_in_the_next_turn() {
    let mut pool = Pool::new();
    let authors = PUBLISHES_PER_TURN_MAX as u8 + 1;
    for n in 1..=authors {
        pool.admit(publish(n, 1, 10)).expect("there is room");
    }
    let first = pool.body(None);
    let published = |body: &TurnBody| -> BTreeSet<PublicKey> {
        body.acts().iter().map(|act| act.envelope.author).collect()
    };
    let all: BTreeSet<PublicKey> = (1..=authors).map(|n| key(n).public()).collect();
    let left: Vec<PublicKey> = all.difference(&published(&first)).copied().collect();
    assert_eq!(left.len(), 1);
    let again: Vec<u8> = (1..=authors).filter(|n| key(*n).public() != left[0]).collect();
    pool.decide(first);

    for n in again {
        pool.admit(publish(n, 2, 10)).expect("there is room");
    }
    let second = pool.body(None);
    assert!(published(&second).contains(&left[0]), "it waited already");
}

// The pool still has the acts of the turn before, and their source took the room of the next.
#[test]
fn source_that_no_turn_takes_again_uses_up_no_room() {
    let mut pool = Pool::new();
    pool.admit(publish(1, 1, limits::BLOB_BYTES_MAX)).expect("there is room");
    let first = pool.body(None);
    pool.admit(publish(2, 1, limits::BLOB_BYTES_MAX)).expect("there is room");
    let turn = pool.turn(first);
    let second = pool.body(Some(&turn));
    assert_eq!(second.blobs().len(), 1);
    assert_eq!(second.acts()[0].envelope.author, key(2).public());
}

#[test]
fn an_author_that_floods_fills_only_its_own_share() {
    let mut pool = Pool::new();
    for seq in 1..=AUTHOR_PENDING_MAX as u64 {
        assert!(pool.admit(act(1, 1, seq)).is_ok());
    }
    let one_more = act(1, 1, AUTHOR_PENDING_MAX as u64 + 1);
    assert_eq!(pool.admit(one_more), Err(SubmitRefusal::QuotaExceeded));
    let other = pool.admit(act(2, 1, 1)).expect("another author has its own share");

    let body = pool.body(None);
    assert!(body.acts().iter().any(|act| act.id() == other));
}

#[test]
fn strangers_of_one_connection_share_a_small_bucket() {
    let mut pool = Pool::new();
    pool.all.standing = Standing::Stranger;
    for n in 0..STRANGER_PENDING_MAX {
        assert!(pool.admit(act(n as u8 + 1, 1, 1)).is_ok());
    }
    assert_eq!(pool.admit(act(99, 1, 1)), Err(SubmitRefusal::QuotaExceeded));
    let elsewhere = ActSource::Client(ClientId(8));
    assert!(pool.admit_from(act(99, 1, 1), elsewhere).is_ok());

    let body = pool.body(None);
    pool.decide(body);
    assert!(pool.admit(act(98, 1, 1)).is_ok(), "the bucket empties with the pool");
}

/// The windows after these lanes, one each of authors who are nobody else here.
fn windows(lanes: usize) -> LaneWindows {
    let opener = PublicKey::default();
    let window = Window { seq: Seq(1), last_valid: Height(500), opener };
    let lane = |n: usize| {
        let mut key = [9; 32];
        key[..8].copy_from_slice(&(n as u64).to_le_bytes());
        ((PublicKey(key), Lane(1)), window)
    };
    LaneWindows::new(Height(0), (0..lanes).map(lane).collect())
}

/// Twenty-eight connections, a fresh key for each act, once used up every lane of a sim: then not even
/// its servers could act. Nor may keys do so that logged in once.
#[test]
fn strangers_leave_half_of_all_lanes_to_players_and_these_the_last_share_to_stewards() {
    use Standing::{Player, Regular, Steward, Stranger};
    for (standing, most, better) in [
        (Stranger, STRANGER_LANES_MAX, Player),
        (Player, PLAYER_LANES_MAX, Regular),
        (Regular, REGULAR_LANES_MAX, Steward),
    ] {
        let mut pool = Pool { all: equals(standing), windows: windows(most - 1), ..Pool::new() };
        assert!(pool.admit(act(1, 1, 1)).is_ok(), "one is left");
        let body = pool.body(None);
        pool.decide(body);
        assert_eq!(pool.windows.len(), most);

        assert_eq!(pool.admit(act(3, 1, 1)), Err(SubmitRefusal::Full));
        assert!(pool.admit(act(1, 1, 2)).is_ok(), "its lane is open");
        pool.all.standing = better;
        assert!(pool.admit(act(3, 1, 1)).is_ok());
    }
    let mut pool = Pool { all: equals(Steward), windows: windows(LANES_MAX - 1), ..Pool::new() };
    assert!(pool.admit(act(1, 1, 1)).is_ok(), "the last one");
    let body = pool.body(None);
    pool.decide(body);
    assert_eq!(pool.admit(act(3, 1, 1)), Err(SubmitRefusal::Full));
}

/// All that came while there was room for one would have been proposed together.
#[test]
fn a_turn_opens_no_more_lanes_than_the_share_of_its_authors_has_room_for() {
    use Standing::{Player, Regular, Steward, Stranger};
    for (standing, most, better) in [
        (Stranger, STRANGER_LANES_MAX, Player),
        (Player, PLAYER_LANES_MAX, Regular),
        (Regular, REGULAR_LANES_MAX, Steward),
    ] {
        let mut pool = Pool { all: equals(standing), windows: windows(most - 3), ..Pool::new() };
        for author in 1..=7 {
            pool.admit(act(author, 1, 1)).expect("three are left");
            pool.admit(act(author, 1, 2)).expect("three are left");
        }
        let body = pool.body(None);
        let opened: BTreeSet<_> = body.acts().iter().map(|act| act.envelope.author).collect();
        assert_eq!((opened.len(), body.acts().len()), (3, 6));
        let turn = pool.turn(body);

        pool.all.better.insert(key(10).public(), better);
        let wanted = pool.admit(act(10, 1, 1)).expect("there is room for it");
        let ids = |body: TurnBody| body.acts().iter().map(SignedEnvelope::id).collect::<Vec<_>>();
        assert_eq!(ids(pool.body(Some(&turn))), [wanted], "before it is decided");
        pool.decide(turn.body);
        assert_eq!(ids(pool.body(None)), [wanted]);
        pool.windows = windows(0);
        assert_eq!(ids(pool.body(None)).len(), 1 + 2 * 4, "the others waited for room");
    }
}

#[test]
fn a_repeated_act_reports_to_the_connection_that_asked_last() {
    let mut pool = Pool::new();
    let id = pool.admit_from(act(1, 1, 1), ActSource::Server).expect("good");
    assert_eq!(pool.admit(act(1, 1, 1)), Ok(id));
    assert_eq!(pool.pool.source(&id), Some(CLIENT));
    assert_eq!(pool.pool.len(), 1);
}

#[test]
fn acts_of_an_undecided_turn_are_not_proposed_again() {
    let mut pool = Pool::new();
    pool.admit(act(1, 1, 1)).expect("good");
    let body = pool.body(None);
    let undecided = pool.turn(body);
    let late = pool.admit(act(1, 1, 2)).expect("good");

    let next = pool.body(Some(&undecided));
    assert_eq!(next.acts().iter().map(SignedEnvelope::id).collect::<Vec<_>>(), [late]);
}

#[test]
fn a_turn_takes_one_act_of_each_author_in_rotation_and_lanes_in_order() {
    let mut pool = Pool::new();
    for author in 1..=40 {
        for seq in 1..=AUTHOR_PENDING_MAX as u64 {
            pool.admit(act(author, 1, seq)).expect("within its share");
        }
    }
    let body = pool.body(None);
    assert_eq!(body.acts().len(), limits::ACTS_PER_TURN_MAX);
    for author in 1..=40 {
        let own = key(author).public();
        let mut seqs: Vec<u64> = body
            .acts()
            .iter()
            .filter(|act| act.envelope.author == own)
            .map(|act| act.envelope.seq.0)
            .collect();
        seqs.sort_unstable();
        assert_eq!(seqs.len(), limits::ACTS_PER_TURN_MAX / 40, "places of author {author}");
        assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    }
}

#[test]
fn acts_that_expired_or_were_overtaken_leave_and_their_authors_are_told() {
    let mut pool = Pool::new();
    let overtaken = pool.admit(act(1, 1, 1)).expect("good");
    let later = act(1, 1, 2);
    let body = TurnBody::new(vec![later.act], vec![]).expect("small");
    pool.decide(body);

    let gone = pool.pool.drop_stale(&pool.windows, &pool.all);
    assert_eq!(gone.len(), 1);
    assert_eq!((gone[0].act, gone[0].source), (overtaken, CLIENT));
    assert_eq!(gone[0].why, SubmitRefusal::Replayed(2));
}
