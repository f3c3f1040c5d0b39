use std::{fs, path::Path};

use metatopia_types::{Digest, Height, Millis};

use super::*;
use crate::{
    cli::{exit::Exit, up::world::tests::copy_files},
    overlay::{answers::MapSite, learned::learned_of_tests, office_of_tests},
    scratch::Scratch,
};

/// A node told of a sim where none lies, and the claim went to another square than the one beside the
/// sim that the person named.
#[test]
fn a_square_that_no_proof_shows_moves_no_claim() {
    let sets = office_of_tests();
    let sim = SimId(Digest::of("a test", b"sim"));
    let square = "8:0:256".parse::<WrittenSquare>().unwrap().0;
    let (holder, beacons) = (PublicKey([1; 32]), Vec::new());
    let (until, shown) = (Millis(9), Height(0));
    let grant = LandGrant { square, sim, holder, beacons, epoch: 1, until, shown };
    let site = MapSite {
        grant: (&grant).into(),
        met: true,
        people: None,
        label: None,
        licence: None,
        endpoints: Vec::new(),
    };
    let told = |sites, proofs| MapAnswer {
        world: sets.world().to_string(),
        sites,
        oldest: None,
        proofs,
        one_door: false,
    };
    for (sites, proofs) in [(vec![site], vec![]), (vec![], vec!["00".to_owned()])] {
        let refused = proved_grants(&sets, told(sites, proofs)).unwrap_err();
        assert_eq!(refused.exit, Exit::Unverified, "{}", refused.message);
    }
    assert_eq!(proved_grants(&sets, told(vec![], vec![])).unwrap(), []);
}

#[test]
fn a_claim_and_a_word_for_it_are_texts_that_are_read_back() {
    let key = SigningKey::from_seed([3; 32]);
    let sim = SimId(Digest::of("a test", b"sim"));
    let square = "8:-4:128".parse::<WrittenSquare>().unwrap().0;
    let claim = ClaimText { sim, square, claimer: key.public() };
    assert_eq!(claim.to_string().parse::<ClaimText>(), Ok(claim.clone()));

    let sponsor = LandSponsor::new(&key, sim, sim, square, &claim.claimer);
    let text = hex(&wire::encode(&sponsor));
    assert_eq!(text.parse::<VouchText>().unwrap().0, sponsor);
    for text in ["", "00", "what"] {
        assert!(text.parse::<VouchText>().is_err(), "{text}");
        assert!(text.parse::<ClaimText>().is_err(), "{text}");
    }
}

fn claim_in(dir: &Path) -> WorldClaimArgs {
    WorldClaimArgs {
        dir: dir.to_owned(),
        node: NODE.parse().unwrap(),
        world: None,
        beside: None,
        edge: Edge::East,
        only: false,
        founding: FoundingArgs {
            place: None,
            servers: 2,
            side: 2,
            first_login: None,
            name: None,
            things_from_servers: None,
        },
        sponsor: None,
        words: Default::default(),
        vouch: None,
        ask: false,
        ticket: None,
    }
}

fn square(text: &str) -> Square {
    text.parse::<WrittenSquare>().unwrap().0
}

/// The files of a claim for a sim of two servers, in the order in which they are made.
const CLAIMED: [&str; 22] = [
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
    "server-1/genesis",
    "world.toml",
    "server-0/overlay/contacts",
    "server-0/overlay/office-servers",
    "server-0/overlay/map-from",
    "server-0/overlay/links",
    "server-0/overlay/office",
    "server-1/overlay/contacts",
    "server-1/overlay/office-servers",
    "server-1/overlay/map-from",
    "server-1/overlay/links",
    "server-1/overlay/office",
];

fn files_in(dir: &Path, below: &str) -> Vec<String> {
    let names = fs::read_dir(dir.join(below)).unwrap().map(|entry| entry.unwrap().file_name());
    let named = |name: std::ffi::OsString| format!("{below}{}", name.to_str().unwrap());
    let (dirs, mut files): (Vec<String>, Vec<String>) =
        names.map(named).partition(|name| dir.join(name).is_dir());
    files.extend(dirs.iter().flat_map(|below| files_in(dir, &format!("{below}/"))));
    files
}

#[test]
fn a_claim_that_was_cut_off_after_any_file_goes_on() {
    let learned = learned_of_tests(&office_of_tests(), &[]);
    let whole = Scratch::made("claim-whole");
    let made = open_or_found(&claim_in(&whole.0), &learned, square("8:0:256")).unwrap();
    let (sim, admin) = (made.sim(), fs::read(whole.0.join("admin.key")).unwrap());
    drop(made);
    let mut files = files_in(&whole.0, "");
    files.retain(|file| file != "up.lock");
    files.sort();
    let mut expected = CLAIMED.to_vec();
    expected.sort_unstable();
    assert_eq!(files, expected, "each file is in the list");
    for cut in 0..CLAIMED.len() {
        let part = Scratch::made("claim-cut");
        copy_files(&whole.0, &part.0, &CLAIMED[..cut]);
        let local = open_or_found(&claim_in(&part.0), &learned, square("8:8:256"))
            .unwrap_or_else(|failure| panic!("after {cut} files: {failure}"));
        // A genesis that all servers have may have been claimed for, and stays.
        let is_whole = CLAIMED[..cut].contains(&"server-1/genesis");
        let lies = if is_whole { "8:0:256" } else { "8:8:256" };
        let own = site_of(local.genesis(), learned.sets.world()).unwrap();
        assert_eq!(WrittenSquare(own).to_string(), lies, "after {cut} files");
        assert_eq!(local.sim() == sim, is_whole);
        let has_key = cut == 0 || fs::read(part.0.join("admin.key")).unwrap() == admin;
        assert!(has_key, "after {cut} files");
        for index in 0..2 {
            let folder = OverlayFolder::at(&server_path(&part.0, index));
            assert!(folder.office().unwrap().is_some(), "server {index}, after {cut} files");
        }
    }
}

/// Between two squares the directory has no mark, and was said to be none of this program.
#[test]
fn a_claim_that_was_cut_off_between_two_squares_goes_on() {
    let learned = learned_of_tests(&office_of_tests(), &[]);
    let world = learned.sets.world();
    let [old, new] = ["claim-old", "claim-new"].map(Scratch::made);
    drop(open_or_found(&claim_in(&old.0), &learned, square("8:0:256")).unwrap());
    copy_files(&old.0, &new.0, &CLAIMED);
    let local = LocalWorld::open(&new.0).unwrap();
    let mut genesis = local.genesis().clone();
    genesis.site = Some(Site { world, square: square("8:8:256") });
    drop(local.refound(genesis).unwrap());

    // So many servers have the new genesis.
    for (replaced, lies) in [(0, "8:0:256"), (1, "8:16:256"), (2, "8:8:256")] {
        let part = Scratch::made("claim-between");
        copy_files(&old.0, &part.0, &CLAIMED);
        fs::remove_file(part.0.join("world.toml")).unwrap();
        copy_files(&new.0, &part.0, &CLAIMED[9..9 + replaced]);
        let local = open_or_found(&claim_in(&part.0), &learned, square("8:16:256")).unwrap();
        let own = site_of(local.genesis(), world).unwrap();
        assert_eq!(WrittenSquare(own).to_string(), lies, "{replaced} were replaced");
    }
}

/// A claim in the directory of another one warned, and went on with the square that nobody had typed.
#[test]
fn a_directory_of_a_claim_at_another_edge_is_refused_and_one_of_a_granted_square_goes_on() {
    let own = square("8:4:128");
    // The first square of the edge may be granted to this very sim, or be the next one that is free.
    let edge = ["8:0:128", "8:4:128"].map(square);
    assert_eq!(check_begun(Path::new("garden"), own, &edge), Ok(()));
    let refused = check_begun(Path::new("garden"), own, &[square("8:0:256")]).unwrap_err();
    assert_eq!(refused.exit, Exit::Refused);
    assert!(refused.message.contains("garden holds a sim that was founded for square 8:4:128"));
    assert!(refused.message.contains("name a new directory"), "{refused}");
}
