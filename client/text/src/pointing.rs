//! What a typed thing is: `it`, oneself, a number, or a name.

use metatopia_client::{Scene, SceneObject, text::find};
use metatopia_types::ObjectId;

/// Returns the number of a thing that was typed as `object 17`.
pub(super) fn numbered(typed: &str) -> Option<ObjectId> {
    typed.strip_prefix("object ")?.trim().parse().ok().map(ObjectId)
}

/// Says whether the thing is meant that was built or looked at last.
pub(super) fn is_last(typed: &str) -> bool {
    matches!(typed, "it" | "that")
}

/// The line for who typed `it` and neither built nor looked at anything.
pub(super) const NO_LAST: &str =
    "Nothing is `it` yet; build something, look at it, or name a thing.";

/// Returns the thing in sight that was typed. `it` is the one that was built or looked at last, and nothing
/// else: never a thing whose name begins so.
pub(super) fn pointed<'s>(
    scene: &'s Scene,
    it: Option<ObjectId>,
    typed: &str,
) -> Option<&'s SceneObject> {
    let id = match typed {
        _ if is_last(typed) => it,
        "me" | "myself" => scene.me,
        _ => match numbered(typed) {
            Some(id) => Some(id),
            None => return find(scene, typed),
        },
    };
    scene.objects.iter().find(|object| Some(object.id) == id)
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Height, Tick};

    use super::*;
    use crate::fixture::thing;

    /// Who built a box and typed `touch it` touched an itbox that stood beside it.
    #[test]
    fn it_is_the_last_thing_and_never_one_whose_name_begins_so() {
        let objects = vec![thing(1, "Ada"), thing(2, "itbox"), thing(3, "zz")];
        let scene = Scene { height: Height(1), tick: Tick(3), me: Some(ObjectId(1)), objects };
        let found = |it, typed| pointed(&scene, it, typed).map(|object| object.id.0);
        assert_eq!(found(Some(ObjectId(3)), "it"), Some(3));
        assert_eq!(found(Some(ObjectId(3)), "that"), Some(3));
        assert_eq!(found(None, "it"), None, "nothing was built or looked at");
        assert_eq!(found(Some(ObjectId(9)), "it"), None, "it is gone");
        assert_eq!(found(None, "object 2"), Some(2));
        assert_eq!(found(None, "me"), Some(1));
        assert_eq!(found(Some(ObjectId(3)), "itb"), Some(2), "a name may be begun");
    }
}
