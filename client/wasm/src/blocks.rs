//! The block list and the buddy list of a person, for the page that keeps them as text.

use std::iter;

use metatopia_client::{BlockList, BlockListError, BuddyList, BuddyListError, keys::KeyText};
use metatopia_types::{PublicKey, Sign as _, SigningKey};
use serde::{Deserialize, Serialize};

use crate::{CallError, key_desk::key_text};

/// A list as the page has it, and what is to change.
#[derive(Deserialize)]
struct AskedList {
    text: String,
    file: Option<String>,
    add: Option<ListedPerson>,
    remove: Option<String>,
    secret: String,
    rotation: Option<String>,
}

impl AskedList {
    /// Returns the key that signs the list, and the keys of which a file of one is taken.
    fn owners(&self) -> Result<(SigningKey, Vec<PublicKey>), CallError> {
        let KeyText { key, rotation } = key_text(&self.secret, self.rotation.as_deref())?;
        let owners = iter::once(key.public()).chain(rotation.map(|rotation| rotation.old));
        let owners = owners.collect();
        Ok((key, owners))
    }
}

/// A person on the list, in the words of the page.
#[derive(Deserialize, Serialize)]
struct ListedPerson {
    key: String,
    name: String,
}

/// A list as the page keeps and shows it.
#[derive(Serialize)]
struct ToldList {
    text: String,
    people: Vec<ListedPerson>,
}

fn parsed(key: &str) -> Result<PublicKey, CallError> {
    key.parse().map_err(CallError::input)
}

/// Writes a list as the page keeps and shows it.
fn told<'a>(text: String, people: impl Iterator<Item = (&'a PublicKey, &'a str)>) -> Vec<u8> {
    let person = |(key, name): (&PublicKey, &str)| ListedPerson {
        key: key.to_string(),
        name: name.to_owned(),
    };
    let told = ToldList { text, people: people.map(person).collect() };
    serde_json::to_vec(&told).expect("texts become JSON")
}

/// Reads a block list, and changes it. The input is JSON: `text` as it was kept, whoever signed it, the `secret` and
/// perhaps the `rotation` of the person's key, and perhaps `file`, another list of hers that is added, `add`, a person
/// with `key` and `name`, or `remove`, a key. The output is JSON: the new `text`, signed, and the `people` that it
/// names.
///
/// # Errors
/// When the input has not that form, the list is full or spoilt, or the file is not signed by the person's key.
pub fn block_list(input: &[u8]) -> Result<Vec<u8>, CallError> {
    let asked: AskedList = serde_json::from_slice(input).map_err(CallError::input)?;
    let bad = |error| {
        let is_unsigned = matches!(error, BlockListError::Signature(_));
        CallError::new(if is_unsigned { "unsigned-list" } else { "block-list" }, error)
    };
    let (key, owners) = asked.owners()?;
    let mut list = BlockList::recall(&asked.text).map_err(bad)?;
    if let Some(file) = &asked.file {
        for (key, name) in BlockList::import(file, &owners).map_err(bad)?.people() {
            list.block(*key, name).map_err(bad)?;
        }
    }
    if let Some(person) = &asked.add {
        list.block(parsed(&person.key)?, &person.name).map_err(bad)?;
    }
    if let Some(key) = &asked.remove {
        // Another tab may have done so already.
        let _was_blocked = list.unblock(&parsed(key)?);
    }
    Ok(told(list.export(&key), list.people()))
}

/// Reads a buddy list, and changes it, as [`block_list`] does with its own.
///
/// # Errors
/// When the input has not that form, or the list is full or spoilt.
pub fn buddy_list(input: &[u8]) -> Result<Vec<u8>, CallError> {
    let asked: AskedList = serde_json::from_slice(input).map_err(CallError::input)?;
    let bad = |error| {
        let is_unsigned = matches!(error, BuddyListError::Signature(_));
        CallError::new(if is_unsigned { "unsigned-list" } else { "buddy-list" }, error)
    };
    let (key, owners) = asked.owners()?;
    let mut list = BuddyList::recall(&asked.text).map_err(bad)?;
    if let Some(file) = &asked.file {
        for (key, name) in BuddyList::import(file, &owners).map_err(bad)?.people() {
            list.add(*key, name).map_err(bad)?;
        }
    }
    if let Some(person) = &asked.add {
        list.add(parsed(&person.key)?, &person.name).map_err(bad)?;
    }
    if let Some(key) = &asked.remove {
        let _was_there = list.remove(&parsed(key)?);
    }
    Ok(told(list.export(&key), list.people()))
}

#[cfg(test)]
mod tests {
    use metatopia_client::keys::rotation_line;
    use metatopia_types::Rotation;
    use serde_json::{Value, json};

    use super::*;

    type List = fn(&[u8]) -> Result<Vec<u8>, CallError>;

    /// Asks in the name of the person with the secret 1.
    fn asked(list: List, what: &Value) -> Result<Value, CallError> {
        let mut asked = json!({ "text": "", "secret": "01".repeat(32) });
        asked.as_object_mut().expect("JSON").extend(what.as_object().expect("JSON").clone());
        let told = list(&serde_json::to_vec(&asked).expect("JSON"))?;
        Ok(serde_json::from_slice(&told).expect("JSON"))
    }

    #[test]
    fn the_page_puts_people_on_a_list_and_takes_them_off_and_keeps_it_as_signed_text() {
        let key = PublicKey([7; 32]).to_string();
        let person = json!({ "key": key, "name": "Bob" });
        let me = SigningKey::from_seed([1; 32]).public();
        for list in [block_list as List, buddy_list] {
            let added = asked(list, &json!({ "add": person })).expect("room");
            assert_eq!(added["people"], json!([person]));
            let text = added["text"].as_str().expect("a text");
            assert!(text.contains(&format!("\n{key} Bob\nmetatopia-")), "{text}");
            assert!(text.contains(&format!(" {me} ")), "{text}");
            let read = asked(list, &json!({ "text": text })).expect("a list");
            assert_eq!(read, added);
            for _ in 0..2 {
                let free = asked(list, &json!({ "text": text, "remove": key })).expect("a list");
                assert_eq!(free["people"], json!([]));
            }
        }
    }

    /// A file of anybody was added to the list of whoever opened it.
    #[test]
    fn a_file_is_added_if_the_key_signed_it_or_the_one_before_it_and_what_the_page_kept_is_its_own()
    {
        let person = json!({ "key": PublicKey([7; 32]).to_string(), "name": "Bob" });
        let [old, new] = [2, 1].map(|n| SigningKey::from_seed([n; 32]));
        let rotation = rotation_line(&Rotation::new(&old, &new, 1));
        for list in [block_list as List, buddy_list] {
            let other = json!({ "add": person, "secret": "02".repeat(32) });
            let file = asked(list, &other).expect("room")["text"].clone();
            let refused = asked(list, &json!({ "file": file })).expect_err("another key");
            assert_eq!(refused.code, "unsigned-list");
            let rotated = json!({ "file": file, "rotation": rotation });
            assert_eq!(asked(list, &rotated).expect("a list")["people"], json!([person]));
            // It was kept before the key was given up, or before lists were signed.
            let kept = asked(list, &json!({ "text": file })).expect("a list");
            assert_eq!(kept["people"], json!([person]));
            let text = kept["text"].as_str().expect("a text");
            let changed = json!({ "file": text.replace("Bob", "Eve") });
            assert_eq!(asked(list, &changed).expect_err("changed").code, "unsigned-list");
            assert!(asked(list, &json!({ "file": text })).is_ok());
        }
    }

    #[test]
    fn a_spoilt_list_is_refused_and_says_where() {
        let lists = [("block", block_list as List), ("buddy", buddy_list)];
        for (word, list) in lists {
            let spoilt = asked(list, &json!({ "text": "Bob\n" })).expect_err("no key");
            assert_eq!(spoilt.code, format!("{word}-list"));
            let first = format!("line 1 of the {word} list");
            assert!(spoilt.text.starts_with(&first), "{spoilt}");
            assert_eq!(asked(list, &json!({ "text": 7 })).expect_err("no text").code, "input");
        }
    }
}
