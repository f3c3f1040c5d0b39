//! Clubs over real servers, in words: people found one, talk there, and share a lot; a moderator ends it.

use crate::{
    lots::{ground, talks},
    plaza::{Folder, Person, Plaza, json, key},
};

#[test]
fn people_have_a_channel_of_their_own_until_a_moderator_ends_the_club() {
    let folder = Folder::new("clubs");
    let sim = Plaza::start_at(&folder.join("world"), 1, &ground(&folder));
    let url = sim.servers[0].url.as_str();
    let [ada_key, bob_key, eve_key] = ["ada", "bob", "eve"].map(|name| key(&folder, name));
    let mut ada = Person::enter_as("Ada", url, &ada_key);
    // Before others stand in her way.
    let claim = ("lot claim 8x8", "8 x 8 m around you are yours");
    talks(&mut ada, &[("go north 12", "You walk"), claim]);
    let mut bob = Person::enter_as("Bob", url, &bob_key);
    let mut eve = Person::enter_as("Eve", url, &eve_key);
    talks(&mut eve, &[("who", "that is you"), ("clubs", "You are in no club")]);
    talks(
        &mut ada,
        &[
            ("club gardeners hello", "that is `club CLUB: WORDS`"),
            ("club Gardeners: hello", "You are in no club called Gardeners"),
            ("club new Gardeners", "The club Gardeners is yours"),
            ("club new Growers", "The club Growers is yours"),
            ("club end Growers", "Growers has ended"),
            ("club invite bob to gardeners", "You invite Bob to Gardeners."),
            ("club invite bob to gardeners", "it is so already"),
        ],
    );
    bob.sees("You are invited to the club Gardeners");
    talks(
        &mut bob,
        &[
            ("clubs", "Gardeners (club 1): Ada invites you"),
            ("club join gardeners", "You are in Gardeners"),
            ("club rename gardeners to Rowers", "only the owner of the club does that"),
        ],
    );
    talks(
        &mut ada,
        &[("club gardeners: the roses bloom", "You say in Gardeners: the roses bloom")],
    );
    bob.sees("Ada says in Gardeners: the roses bloom");
    talks(&mut bob, &[("club gar: so early?", "You say in Gardeners: so early?")]);
    ada.sees("Bob says in Gardeners: so early?");
    talks(
        &mut ada,
        &[
            ("clubs", "Gardeners (club 1), yours: Bob here."),
            ("lot open to club gardeners", "The members of Gardeners may build here."),
        ],
    );
    bob.types("lots");
    let told = bob.sees("8 x 8 m");
    assert!(told.ends_with("and open to the club Gardeners."), "{told}");

    // From a shell, and for who comes later.
    let said = ["say", "frost tonight", "--club", "Gardeners", "--json", "--node", url, "--key"];
    let said = json(&[&said[..], &[bob_key.as_str(), "--name", "Bob"]].concat());
    assert_eq!(said["outcome"], "ok");
    ada.sees("Bob says in Gardeners: frost tonight");
    let mut bob = Person::enter_as("Bob", url, &bob_key);
    bob.sees("Ada says in Gardeners: the roses bloom");
    // Eve is in no club, and hears what is said in public after all that.
    talks(&mut ada, &[("shout the club meets", "You shout: the club meets")]);
    eve.sees("the club meets");
    assert!(!eve.has_seen("roses") && !eve.has_seen("frost"), "she is in no club");

    let admin = sim.dir.join("admin.key").display().to_string();
    let end = ["admin", "club", "end", "1", "--json", "--node", url, "--key", &admin];
    let would = json(&[&end[..], &["--dry-run"]].concat());
    assert_eq!((&would["dry_run"], &would["name"]), (&true.into(), &"Ada".into()));
    let listed = json(&["admin", "club", "list", "--json", "--node", url]);
    assert_eq!((&listed["name"], &listed["members"]), (&"Gardeners".into(), &2.into()));
    json(&end);
    talks(&mut ada, &[("clubs", "You are in no club")]);
    ada.types("lots");
    let told = ada.sees("8 x 8 m");
    assert!(told.ends_with("it is yours."), "{told}");
    [ada, bob, eve].into_iter().for_each(Person::leaves);
    sim.stop();
}
