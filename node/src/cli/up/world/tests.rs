use metatopia_sim::Parent;
use metatopia_types::{Digest, Height, Root, Site, Square};

use super::{super::reach::Reach, *};
use crate::{
    cli::{Exit, ports},
    config,
    first_state::state_beside,
    scratch::Scratch,
};

#[test]
fn a_second_opening_finds_the_same_world() {
    let scratch = Scratch::new("world-same");
    let first = LocalWorld::open_or_create_with(&scratch.0, 4, |_| {}).unwrap();
    let (sim, keys): (_, Vec<_>) = (first.sim(), first.servers().iter().map(|s| s.key).collect());
    drop(first);

    let second = LocalWorld::open_or_create_with(&scratch.0, 1, |_| {}).unwrap();

    assert_eq!(second.sim(), sim);
    assert!(second.servers().iter().map(|seat| seat.key).eq(keys));
    assert_eq!(second.check_count(Some(4)), Ok(()));
    assert_eq!(second.check_count(None), Ok(()));
    assert_eq!(second.check_count(Some(1)).unwrap_err().exit, Exit::Usage);
}

#[test]
fn two_new_worlds_are_different_sims() {
    let (a, b) = (Scratch::new("world-a"), Scratch::new("world-b"));
    let sims = [&a, &b].map(|s| LocalWorld::open_or_create_with(&s.0, 1, |_| {}).unwrap().sim());
    assert_ne!(sims[0], sims[1]);
}

#[test]
fn a_world_in_use_is_refused_by_name() {
    let scratch = Scratch::new("world-used");
    let _held = LocalWorld::open_or_create_with(&scratch.0, 1, |_| {}).unwrap();

    let failure = LocalWorld::open_or_create_with(&scratch.0, 1, |_| {}).unwrap_err();

    assert_eq!(failure.exit, Exit::Failed);
    assert!(failure.message.contains(&scratch.0.display().to_string()), "{failure}");
}

#[test]
fn a_directory_of_something_else_is_left_alone() {
    let scratch = Scratch::new("world-other");
    fs::create_dir_all(&scratch.0).unwrap();
    fs::write(scratch.0.join("thesis.txt"), "years of work").unwrap();

    let failure = LocalWorld::open_or_create_with(&scratch.0, 1, |_| {}).unwrap_err();

    assert_eq!(failure.exit, Exit::Usage);
    assert!(failure.message.contains("world.toml"), "{failure}");
    assert_eq!(entries(&scratch.0).unwrap(), [OsString::from("thesis.txt")]);
}

#[test]
fn a_layout_of_another_version_is_named() {
    let scratch = Scratch::new("world-version");
    drop(LocalWorld::open_or_create_with(&scratch.0, 1, |_| {}).unwrap());
    let mark = scratch.0.join(MARK);
    let text = fs::read_to_string(&mark).unwrap();
    for (text, word) in [
        (text.replace("format = 1", "format = 2"), "format 2"),
        (format!("{text}colour = \"red\"\n"), "colour"),
        ("what".to_owned(), MARK),
    ] {
        fs::write(&mark, text).unwrap();
        let failure = LocalWorld::open_or_create_with(&scratch.0, 1, |_| {}).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.message.contains(word), "{failure}");
    }
}

#[test]
fn an_exchanged_key_is_noticed() {
    let (a, b) = (Scratch::new("world-key-a"), Scratch::new("world-key-b"));
    for scratch in [&a, &b] {
        drop(LocalWorld::open_or_create_with(&scratch.0, 1, |_| {}).unwrap());
    }
    let key = |scratch: &Scratch| server_path(&scratch.0, 0).join("vote.key");
    fs::copy(key(&a), key(&b)).unwrap();

    assert_eq!(
        LocalWorld::open_or_create_with(&b.0, 1, |_| {}).unwrap_err().exit,
        Exit::Unverified
    );
}

#[test]
fn servers_can_read_their_configuration() {
    let scratch = Scratch::new("world-config");
    let world = LocalWorld::open_or_create_with(&scratch.0, 4, |_| {}).unwrap();
    let ports = ports::choose(4, 0).unwrap();

    world.configure(&ports, &Reach::LOOPBACK).unwrap();

    for (index, seat) in world.servers().iter().enumerate() {
        let settings = config::settle([config::read(&seat.config()).unwrap()]).unwrap();
        assert_eq!(settings.data_dir, seat.path.join("."));
        assert_eq!(settings.genesis, seat.path.join(GENESIS));
        assert_eq!(settings.p2p_listen, ports[index].p2p_address());
        let peers: BTreeSet<_> = settings.peers.iter().map(|peer| peer.key).collect();
        assert_eq!(peers.len(), 3);
        assert!(!peers.contains(&seat.key), "a server is not its own peer");
    }
}

#[test]
fn what_an_operator_sets_for_a_server_is_there_at_the_next_start() {
    let scratch = Scratch::new("world-set");
    let world = LocalWorld::open_or_create_with(&scratch.0, 2, |_| {}).unwrap();
    let settings =
        |seat: &WorldServer| config::settle([config::read(&seat.config()).unwrap()]).unwrap();
    let [first, second] = world.servers() else { unreachable!("two were made") };
    world.configure(&ports::choose(2, 0).unwrap(), &Reach::LOOPBACK).unwrap();
    let text = fs::read_to_string(first.config()).unwrap();
    fs::write(first.config(), format!("archive = true\n{text}")).unwrap();

    let ports = ports::choose(2, 0).unwrap();
    world.configure(&ports, &Reach::LOOPBACK).unwrap();

    assert_eq!(settings(first).http_listen, ports[0].http_address());
    assert_eq!([first, second].map(|seat| settings(seat).archive), [true, false]);
}

#[cfg(unix)]
#[test]
fn a_new_world_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let scratch = Scratch::new("world-own");
    let path = scratch.0.join("below/world");
    LocalWorld::create(&path, 1, false, |founders| {
        let Founders { validators, admin, .. } = founders;
        let genesis = plaza::genesis(validators, BTreeSet::from([admin]));
        Ok(Beginning { genesis, state: Some(b"a state".to_vec()) })
    })
    .unwrap();

    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let server = server_path(&path, 0);
    for folder in [&path, &server] {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
    let genesis = server.join(GENESIS);
    for file in [path.join(MARK), path.join("admin.key"), state_beside(&genesis), genesis] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    assert_eq!(entries(&path).unwrap().len(), 4, "no draft is left beside the lock");
    assert_eq!(entries(&server).unwrap().len(), 4, "no draft is left");
}

/// Makes a beginning with a state, out of a plaza that is changed.
fn beginning(founders: Founders, change: fn(&mut Genesis)) -> Result<Beginning, Failure> {
    let Founders { validators, admin, .. } = founders;
    let mut genesis = plaza::genesis(validators, BTreeSet::from([admin]));
    change(&mut genesis);
    Ok(Beginning { genesis, state: Some(b"a state".to_vec()) })
}

/// Founds a sim of two servers that have keys for the overlay.
fn make_in(path: &Path) -> Result<(), Failure> {
    LocalWorld::create(path, 2, true, |founders| beginning(founders, |_| {}))
}

/// Founds such a sim that lies in a world and carries on another sim.
fn succeed_in(path: &Path) -> Result<(), Failure> {
    LocalWorld::create(path, 2, true, |founders| beginning(founders, carry_on))
}

fn carry_on(genesis: &mut Genesis) {
    let world = SimId(Digest([7; 32]));
    genesis.site = Some(Site { world, square: Square { x: 8, y: 0, doublings: 2 } });
    let (sim, root) = (SimId(Digest([8; 32])), Root(Digest([9; 32])));
    genesis.parent = Some(Parent { sim, height: Height(100), root, proof: Vec::new() });
}

/// The files of such a sim, in the order in which they are made.
const MADE: [&str; 14] = [
    "admin.key",
    "server-0/vote.key",
    "server-0/node.key",
    "server-0/overlay/member.key",
    "server-0/overlay/beacon.key",
    "server-1/vote.key",
    "server-1/node.key",
    "server-1/overlay/member.key",
    "server-1/overlay/beacon.key",
    "server-0/genesis",
    "server-0/genesis.state",
    "server-1/genesis",
    "server-1/genesis.state",
    MARK,
];

/// Copies some files of a directory to another one.
pub(in crate::cli) fn copy_files(from: &Path, to: &Path, files: &[&str]) {
    for file in files {
        let to = to.join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from.join(file), to).unwrap();
    }
}

/// Copies the first of these files, and writes a part of the next one as a power cut leaves it.
fn cut_after(cut: usize, whole: &Path, part: &Path) {
    fs::write(part.join(LOCK), "").unwrap();
    copy_files(whole, part, &MADE[..cut]);
    // A file that is written by a name of its own first leaves that, and half a key has its name.
    let half = part.join(MADE[cut]);
    fs::create_dir_all(half.parent().unwrap()).unwrap();
    let is_key = half.extension().is_some_and(|extension| extension == "key");
    let half = if is_key { half } else { PathBuf::from(format!("{}.new", half.display())) };
    fs::write(&half, "metatopia").unwrap();
    #[cfg(unix)]
    fs::set_permissions(&half, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

/// Whoever ran a command in an empty directory, and lost power meanwhile, was told that the directory is not empty.
/// A successor in a world was refused as well, once each server had its genesis, and told to try again for ever.
#[test]
fn what_was_cut_off_after_any_file_is_made_by_the_next_run_with_the_same_keys() {
    for make in [make_in, succeed_in] {
        let whole = Scratch::made("world-whole");
        make(&whole.0).unwrap();
        let dirs = ["", "server-0", "server-1", "server-0/overlay", "server-1/overlay"];
        let files = dirs.iter().flat_map(|dir| {
            let names = entries(&whole.0.join(dir)).unwrap();
            names.into_iter().map(move |name| whole_name(dir, &name))
        });
        let files: BTreeSet<String> = files.filter(|file| !dirs.contains(&&**file)).collect();
        let expected = MADE.iter().chain([&LOCK]).map(|file| (*file).to_owned()).collect();
        assert_eq!(files, expected, "each file is in the list");
        for cut in 0..MADE.len() {
            let part = Scratch::made("world-cut");
            cut_after(cut, &whole.0, &part.0);

            make(&part.0).unwrap_or_else(|failure| panic!("after {cut} files: {failure}"));

            let world = LocalWorld::open(&part.0).unwrap();
            assert_eq!(world.servers().len(), 2);
            for file in MADE[..cut].iter().filter(|file| file.ends_with(".key")) {
                let read = |dir: &Path| fs::read(dir.join(file)).unwrap();
                assert_eq!(read(&whole.0), read(&part.0), "{file}, after {cut} files");
            }
        }
    }
}

/// A claim marked a successor as made that lacked its state, and no server of it could begin.
#[test]
fn a_successor_is_finished_only_once_each_server_has_its_state() {
    let whole = Scratch::made("world-successor");
    succeed_in(&whole.0).unwrap();
    for cut in 0..MADE.len() {
        let part = Scratch::made("world-successor-cut");
        cut_after(cut, &whole.0, &part.0);
        LocalWorld::finish(&part.0).unwrap();
        assert_eq!(part.0.join(MARK).exists(), cut == MADE.len() - 1, "after {cut} files");
    }
}

/// Two runs looked at once, and the second one replaced the genesis of the sim that the first one had made.
#[test]
fn what_another_run_made_since_this_one_looked_stays() {
    let scratch = Scratch::made("world-late");
    make_in(&scratch.0).unwrap();
    let before = fs::read(server_path(&scratch.0, 0).join(GENESIS)).unwrap();
    let late = |founders| beginning(founders, |genesis| genesis.name = "late".to_owned());
    let failure = making::create(&scratch.0, 2, true, late).unwrap_err();
    assert!(failure.message.starts_with("another process is at it"), "{failure}");
    assert!(before == fs::read(server_path(&scratch.0, 0).join(GENESIS)).unwrap());
}

fn whole_name(dir: &str, name: &OsString) -> String {
    let name = name.to_str().unwrap();
    if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") }
}

#[test]
fn drafts_of_runs_that_were_cut_off_go_and_those_of_others_stay() {
    let scratch = Scratch::made("world-drafts");
    let (path, parent) = (scratch.0.join("garden"), &scratch.0);
    let names = ["garden.new-1", "garden.new-2", "garden.new-3", "garden.new-x", "other.new-1"];
    for name in names {
        fs::create_dir(parent.join(name)).unwrap();
        fs::write(parent.join(name).join("admin.key"), "half").unwrap();
        fs::write(parent.join(name).join(making::DRAFT_MARK), "garden").unwrap();
    }
    fs::write(parent.join("garden.new-2").join("thesis.txt"), "years of work").unwrap();
    let _held = lock(&parent.join("garden.new-3")).unwrap();

    make_in(&path).unwrap();

    let mut left = entries(parent).unwrap();
    left.sort();
    assert_eq!(left, ["garden", "garden.new-2", "garden.new-3", "garden.new-x", "other.new-1"]);
}

/// A sim that had not run yet was removed with the key of its admin, and one that could not be read ended the command.
#[test]
fn a_finished_sim_with_the_name_of_a_draft_stays_and_is_never_filled_again() {
    let scratch = Scratch::made("world-like-drafts");
    let own = scratch.0.join(format!("garden.new-{}", std::process::id()));
    let sims = [scratch.0.join("garden.new-2"), own];
    sims.iter().for_each(|sim| make_in(sim).unwrap());
    // The run that made it lost power before it removed its mark.
    fs::write(sims[0].join(making::DRAFT_MARK), "garden.new-2").unwrap();
    // What is no directory cannot be listed.
    fs::write(scratch.0.join("garden.new-1"), "a file").unwrap();
    let unread = scratch.0.join("garden.new-3");
    fs::create_dir_all(unread.join("server-0")).unwrap();
    fs::write(unread.join(making::DRAFT_MARK), "garden").unwrap();
    fs::write(unread.join("server-1"), "no directory").unwrap();
    let admins = || sims.each_ref().map(|sim| fs::read(sim.join(ADMIN_KEY)).unwrap());
    let before = admins();

    make_in(&scratch.0.join("garden")).unwrap();

    assert_eq!(admins(), before);
    assert!(unread.exists());
    for path in sims.iter().chain([&scratch.0.join("garden")]) {
        assert_eq!(LocalWorld::open(path).unwrap().servers().len(), 2);
    }
    assert!(!scratch.0.join("garden").join(making::DRAFT_MARK).exists());
}

#[test]
fn a_run_whose_draft_is_lost_or_whose_place_is_filled_says_that_another_process_is_at_it() {
    let scratch = Scratch::made("world-lost");
    let path = scratch.0.join("garden");
    let lost = LocalWorld::create(&path, 1, true, |founders| {
        for entry in entries(&scratch.0).unwrap() {
            fs::remove_dir_all(scratch.0.join(entry)).unwrap();
        }
        beginning(founders, |_| {})
    });
    let filled = LocalWorld::create(&path, 1, true, |founders| {
        fs::create_dir(&path).unwrap();
        fs::write(path.join("thesis.txt"), "years of work").unwrap();
        beginning(founders, |_| {})
    });
    for failure in [lost.unwrap_err(), filled.unwrap_err()] {
        assert!(failure.message.starts_with("another process is at it"), "{failure}");
    }
    assert_eq!(entries(&path).unwrap(), ["thesis.txt"]);
    assert_eq!(entries(&scratch.0).unwrap(), ["garden"], "no draft is left");
}

/// `up` would have made another sim, of no world, of what a claim left.
#[test]
fn a_plain_start_leaves_alone_what_a_claim_was_about_to_make() {
    let (whole, part) = (Scratch::made("world-claimed"), Scratch::made("world-claim-cut"));
    make_in(&whole.0).unwrap();
    copy_files(&whole.0, &part.0, &MADE[..6]);
    let failure = LocalWorld::open_or_create_with(&part.0, 2, |_| {}).unwrap_err();
    assert_eq!(failure.exit, Exit::Refused);
    assert!(failure.message.ends_with("with as many servers, or name another directory"));
    // What has fewer servers than what is there is not what was cut off.
    let fewer = LocalWorld::create(&part.0, 1, true, |_| unreachable!("nothing is made"));
    assert_eq!(fewer.unwrap_err().exit, Exit::Refused);
}
