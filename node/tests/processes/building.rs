//! Building, in words.

use crate::plaza::{Folder, Person, Plaza, key};

#[test]
fn a_person_builds_changes_gives_away_and_takes_back() {
    let folder = Folder::new("building");
    let plaza = Plaza::start(&folder.join("world"), 1);
    let mut person = Person::enter(&plaza.servers[0].url, &key(&folder, "ada"));

    for (typed, seen) in [
        // Where people arrive, hardly anything may be built.
        ("go southeast 10", "You walk"),
        ("help build", "takes back what you built last"),
        ("build castle", "cannot be built; there are box, wall"),
        ("move it east 2", "Nothing is `it` yet"),
        ("build box 2 1 brown bench", "You build bench,"),
        ("color it gold", "bench is #b8860b now."),
        ("rotate it 90", "You turn bench by 90 degrees."),
        ("resize it 40", "That did not work: the size is out of range. Sides are from 0.125 to 10"),
        ("name it seat", "bench is called seat now."),
        ("attach bell to it", "It runs on seat now."),
        ("attach drum to it", "There is no package drum; there are "),
        ("mine", "runs bell"),
        ("mine", "1 of 50 things, 1 of 16 scripts, 0 of 4096 bytes of text."),
        ("detach bell from it", "It does not run on seat any more."),
        ("delete it", "seat is gone."),
        ("undo", "You take it back."),
        ("mine", "1 of 50 things"),
        // People arrive somewhere else each time, and see so far; the wall is always near.
        ("attach bell to it", "It runs on seat now."),
        ("stow it", "`fetch seat` puts it down again."),
        (
            "undo",
            "`fetch it` puts it down again. `undo` again takes back what you built before that.",
        ),
        ("mine", "seat, in luggage, object"),
        ("mine", "1 of 50 things, 1 of 16 scripts"),
        ("fetch hat", "There is no hat in your luggage; `luggage` lists it."),
        ("fetch seat", "You put seat down,"),
        ("luggage", "0 things in your luggage."),
        ("mine", "runs bell"),
        ("detach bell from it", "It does not run on seat any more."),
        ("color south wall red", "it belongs to somebody else. Only its owner"),
        ("give it to nobody-at-all", "Nobody of that name is here"),
        ("move seat to 0 -21.5", "the land there is neither open nor the author's. `land` tells"),
        ("land", "only the sim's admins build there"),
        ("delete seat", "seat is gone."),
        ("build polygon 0,0 4,0 1,1 0,4", "the polygon is not convex at corner 3"),
        ("build polygon 0,0 2,0 1,1 red sail", "You build sail,"),
        ("look at sail", "It is 2"),
        ("delete sail", "sail is gone."),
        ("undo 99", "there is nothing to take back"),
    ] {
        person.types(typed);
        person.sees(seen);
    }
    person.leaves();
    plaza.stop();
}
