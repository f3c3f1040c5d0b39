//! The block list of a person, for the page that keeps it as text.

use metatopia_client::BlockList;
use metatopia_types::PublicKey;
use serde::{Deserialize, Serialize};

use crate::CallError;

/// A list as the page has it, and what is to change.
#[derive(Deserialize)]
struct AskedBlocks {
    text: String,
    block: Option<PageBlocked>,
    unblock: Option<String>,
}

/// A person on the list, in the words of the page.
#[derive(Deserialize, Serialize)]
struct PageBlocked {
    key: String,
    name: String,
}

/// A list as the page keeps and shows it.
#[derive(Serialize)]
struct ToldBlocks {
    text: String,
    people: Vec<PageBlocked>,
}

/// Reads a block list, and changes it. The input is JSON: `text` as it was kept, and perhaps `block`, a person with
/// `key` and `name`, or `unblock`, a key. The output is JSON: the new `text`, and the `people` that it names.
///
/// # Errors
/// When the input has not that form, or the list is full or spoilt.
pub fn block_list(input: &[u8]) -> Result<Vec<u8>, CallError> {
    let asked: AskedBlocks = serde_json::from_slice(input).map_err(CallError::input)?;
    let key = |text: &str| text.parse::<PublicKey>().map_err(CallError::input);
    let bad = |error| CallError::new("block-list", error);
    let mut list = BlockList::import(&asked.text).map_err(bad)?;
    if let Some(person) = &asked.block {
        list.block(key(&person.key)?, &person.name).map_err(bad)?;
    }
    if let Some(text) = &asked.unblock {
        // Another tab may have done so already.
        let _was_blocked = list.unblock(&key(text)?);
    }
    let person = |(key, name): (&PublicKey, &str)| PageBlocked {
        key: key.to_string(),
        name: name.to_owned(),
    };
    let told = ToldBlocks { text: list.export(), people: list.people().map(person).collect() };
    Ok(serde_json::to_vec(&told).expect("texts become JSON"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn asked(what: &Value) -> Result<Value, CallError> {
        let told = block_list(&serde_json::to_vec(what).expect("JSON"))?;
        Ok(serde_json::from_slice(&told).expect("JSON"))
    }

    #[test]
    fn the_page_blocks_and_unblocks_and_keeps_the_list_as_text() {
        let key = PublicKey([7; 32]).to_string();
        let person = json!({ "key": key, "name": "Bob" });
        let blocked = asked(&json!({ "text": "", "block": person })).expect("room");
        assert_eq!(blocked, json!({ "text": format!("{key} Bob\n"), "people": [person] }));
        let read = asked(&json!({ "text": blocked["text"] })).expect("a list");
        assert_eq!(read, blocked);
        for _ in 0..2 {
            let text = &blocked["text"];
            let free = asked(&json!({ "text": text, "unblock": key })).expect("a list");
            assert_eq!(free, json!({ "text": "", "people": [] }));
        }
    }

    #[test]
    fn a_spoilt_list_is_refused_and_says_where() {
        let spoilt = asked(&json!({ "text": "Bob\n" })).expect_err("no key");
        assert_eq!(spoilt.code, "block-list");
        assert!(spoilt.text.starts_with("line 1 of the block list"), "{spoilt}");
        assert_eq!(asked(&json!({})).expect_err("no text").code, "input");
    }
}
