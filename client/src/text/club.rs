//! Reading what people type about clubs, and telling of them.

use alloc::{
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use metatopia_protocol::{ClubEntry, ClubPerson, span};
use metatopia_types::{Act, Blob, ClubId, ClubOrder, PublicKey, limits::CHAT_BYTES_MAX};

use super::printable;

/// What somebody types about clubs. Clubs and people are as they were typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClubCommand {
    /// Tell of one's own clubs and invites.
    List,
    /// Found a club of this name.
    Found(String),
    /// Invite a person to a club.
    Invite(String, String),
    /// Accept the invite to a club.
    Join(String),
    /// Decline the invite to a club.
    Decline(String),
    /// Leave a club.
    Leave(String),
    /// Take a person, or the invite to her, out of a club.
    Remove(String, String),
    /// Make a person the owner of a club.
    Give(String, String),
    /// Give a club another name.
    Rename(String, String),
    /// End a club.
    End(String),
    /// Say something in a club.
    Say(String, String),
}

/// Why a line about a club is not understood. It says how it is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClubLineError {
    /// The line is in no form that is known.
    #[error(
        "that is `club CLUB: WORDS`, `club new NAME`, `club invite PERSON to CLUB`, `club join CLUB`, `club \
         decline CLUB`, `club leave CLUB`, `club remove PERSON from CLUB`, `club give CLUB to PERSON`, `club \
         rename CLUB to NAME` or `club end CLUB`"
    )]
    Form,
    /// Too many words for one time.
    #[error("{0} bytes are too many to say at once; at most {CHAT_BYTES_MAX}")]
    TooLong(usize),
}

/// Reads a line that begins with `clubs` or `club`.
pub(super) fn parse(first: &str, rest: &str) -> Result<ClubCommand, ClubLineError> {
    if first == "clubs" || rest.is_empty() {
        return if rest.is_empty() { Ok(ClubCommand::List) } else { Err(ClubLineError::Form) };
    }
    let (word, what) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let name = || filled(what);
    let two = |between: &str| {
        let (one, other) = what.rsplit_once(between).ok_or(ClubLineError::Form)?;
        Ok((filled(one)?, filled(other)?))
    };
    Ok(match word.to_lowercase().as_str() {
        "new" => ClubCommand::Found(name()?),
        "invite" => two(" to ").map(|(person, club)| ClubCommand::Invite(person, club))?,
        "join" => ClubCommand::Join(name()?),
        "decline" => ClubCommand::Decline(name()?),
        "leave" => ClubCommand::Leave(name()?),
        "remove" => two(" from ").map(|(person, club)| ClubCommand::Remove(person, club))?,
        "give" => two(" to ").map(|(club, person)| ClubCommand::Give(club, person))?,
        "rename" => two(" to ").map(|(club, name)| ClubCommand::Rename(club, name))?,
        "end" => ClubCommand::End(name()?),
        _ => {
            let (club, words) = rest.split_once(':').ok_or(ClubLineError::Form)?;
            let words = filled(words)?;
            if words.len() > CHAT_BYTES_MAX {
                return Err(ClubLineError::TooLong(words.len()));
            }
            ClubCommand::Say(filled(club)?, words)
        }
    })
}

/// Returns what was typed without spaces and quotes around it, if that is anything.
fn filled(text: &str) -> Result<String, ClubLineError> {
    let text = text.trim().trim_matches('"');
    if text.is_empty() { Err(ClubLineError::Form) } else { Ok(text.to_string()) }
}

/// Returns the act that says something in a club, and the blob with the words.
#[must_use]
pub fn say_in_club(club: ClubId, text: &str) -> (Act, Vec<Blob>) {
    let blob = Blob(text.as_bytes().to_vec());
    (Act::Club(ClubOrder::Say { club, body: blob.id() }), vec![blob])
}

/// Returns the club that somebody means by a name, a number, or the beginning of a name that one of them alone has.
#[must_use]
pub fn club_meant<'a>(clubs: &'a [ClubEntry], typed: &str) -> Option<&'a ClubEntry> {
    let typed = typed.to_lowercase();
    let is = |club: &&ClubEntry| club.name.to_lowercase() == typed;
    let begins = |club: &&ClubEntry| club.name.to_lowercase().starts_with(&typed);
    let has_number = |club: &&ClubEntry| club.club.to_string() == typed;
    let find = |wanted: &dyn Fn(&&ClubEntry) -> bool| clubs.iter().find(wanted);
    let alone = || find(&begins).filter(|_| clubs.iter().filter(begins).count() == 1);
    find(&is).or_else(|| find(&has_number)).or_else(alone)
}

/// Returns what a person in a club is called.
#[must_use]
pub fn club_person(person: &ClubPerson) -> String {
    match printable(&person.name) {
        name if name.is_empty() => format!("key {}..", &person.key.to_string()[..8]),
        name => name,
    }
}

/// Returns the line about a club in which somebody is, or to which she is invited.
#[must_use]
pub fn club_line(club: &ClubEntry, own: &PublicKey) -> String {
    let (name, number) = (printable(&club.name), club.club);
    let words = |people: Vec<&ClubPerson>| {
        let names: Vec<String> = people.into_iter().map(club_person).collect();
        names.join(", ")
    };
    if let Some(invite) = club.invite(own) {
        let by = club.member(&invite.by).map_or_else(|| "a member".to_string(), club_person);
        let left = span(invite.left);
        return format!(
            "{name} (club {number}): {by} invites you; `club join {name}` accepts, within {left}."
        );
    }
    let owner = match club.member(&club.owner) {
        Some(owner) if owner.key == *own => "yours".to_string(),
        Some(owner) => format!("{}'s", club_person(owner)),
        None => "nobody's".to_string(),
    };
    let others = club.members.iter().filter(|member| member.key != *own);
    let (here, away): (Vec<_>, Vec<_>) = others.partition(|member| member.here);
    let here = if here.is_empty() { "nobody else".to_string() } else { words(here) };
    let mut line = format!("{name} (club {number}), {owner}: {here} here");
    if !away.is_empty() {
        line.push_str(&format!("; away: {}", words(away)));
    }
    let invited: Vec<_> = club.invites.iter().map(|invite| &invite.invited).collect();
    if !invited.is_empty() {
        line.push_str(&format!("; invited: {}", words(invited)));
    }
    line.push('.');
    line
}

#[cfg(test)]
mod tests {
    use metatopia_protocol::ClubInviteEntry;

    use super::*;

    const ADA: PublicKey = PublicKey([1; 32]);
    const BOB: PublicKey = PublicKey([2; 32]);

    fn person(key: PublicKey, name: &str, here: bool) -> ClubPerson {
        ClubPerson { key, name: name.to_string(), here }
    }

    fn gardeners() -> ClubEntry {
        let eve = person(PublicKey([3; 32]), "Eve", false);
        ClubEntry {
            club: ClubId(7),
            name: "Gardeners".to_string(),
            owner: ADA,
            members: vec![person(ADA, "Ada", true), person(BOB, "", true), eve],
            invites: vec![ClubInviteEntry {
                invited: person(PublicKey([4; 32]), "Dan", true),
                by: ADA,
                left: 86_400_000,
            }],
        }
    }

    #[test]
    fn lines_about_clubs_are_read_and_others_are_told_how_they_are_meant() {
        let two = |form: fn(String, String) -> ClubCommand, one: &str, other: &str| {
            form(one.to_string(), other.to_string())
        };
        for (line, command) in [
            ("new The Gardeners", ClubCommand::Found("The Gardeners".to_string())),
            ("invite Old Bob to Gardeners", two(ClubCommand::Invite, "Old Bob", "Gardeners")),
            ("join \"Gardeners\"", ClubCommand::Join("Gardeners".to_string())),
            ("decline 7", ClubCommand::Decline("7".to_string())),
            ("leave Gardeners", ClubCommand::Leave("Gardeners".to_string())),
            ("remove Bob from Gardeners", two(ClubCommand::Remove, "Bob", "Gardeners")),
            ("give Gardeners to Bob", two(ClubCommand::Give, "Gardeners", "Bob")),
            ("rename Gardeners to Growers", two(ClubCommand::Rename, "Gardeners", "Growers")),
            ("end Gardeners", ClubCommand::End("Gardeners".to_string())),
            ("the gardeners: at 9:30", two(ClubCommand::Say, "the gardeners", "at 9:30")),
        ] {
            assert_eq!(parse("club", line), Ok(command), "{line}");
        }
        assert_eq!(parse("clubs", ""), Ok(ClubCommand::List));
        for wrong in ["new", "invite Bob", "gardeners hello", "gardeners:", "give to Bob", ": hi"] {
            assert_eq!(parse("club", wrong), Err(ClubLineError::Form), "{wrong}");
        }
        assert_eq!(parse("clubs", "all"), Err(ClubLineError::Form));
        let long = format!("a: {}", "x".repeat(CHAT_BYTES_MAX + 1));
        assert_eq!(parse("club", &long), Err(ClubLineError::TooLong(CHAT_BYTES_MAX + 1)));
        let told = ClubLineError::Form.to_string();
        assert!(told.contains("club invite PERSON to CLUB") && !told.contains("  "), "{told}");
    }

    #[test]
    fn a_club_is_meant_by_its_name_the_beginning_of_it_or_its_number() {
        let grow = ClubEntry { club: ClubId(9), name: "Garden".to_string(), ..gardeners() };
        let clubs = [gardeners(), grow];
        let meant = |typed: &str| club_meant(&clubs, typed).map(|club| club.club.0);
        let found = ["garden", "gardeners", "gardene", "9"].map(meant);
        assert_eq!(found, [Some(9), Some(7), Some(7), Some(9)]);
        // Two begin so, and none does.
        assert_eq!(["gar", "den"].map(meant), [None, None]);
    }

    #[test]
    fn a_member_reads_who_is_here_and_who_is_invited_reads_by_whom() {
        let club = gardeners();
        assert_eq!(
            club_line(&club, &ADA),
            "Gardeners (club 7), yours: key 02020202.. here; away: Eve; invited: Dan."
        );
        assert!(club_line(&club, &BOB).starts_with("Gardeners (club 7), Ada's: Ada here; away"));
        assert_eq!(
            club_line(&club, &PublicKey([4; 32])),
            "Gardeners (club 7): Ada invites you; `club join Gardeners` accepts, within 1 day."
        );
    }
}
