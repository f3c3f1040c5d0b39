//! Keys as text, for the page that keeps them: read, written, sealed by a passphrase, and given up for others.

use data_encoding::HEXLOWER;
use metatopia_client::keys::{
    KeyText, KeyTextError, SEAL_RANDOM, UnsealTextError, parse_rotation, rotation_line, seal,
    unseal,
};
use metatopia_types::{Digest, NewKeyWord, PublicKey, Rotation, SigningKey};
use serde::{Deserialize, Serialize};

use crate::CallError;

/// What the page wants of a key. Secrets are 32 bytes in hexadecimal digits, and so are random bytes that nobody uses
/// twice; rotations are lines.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum KeyTask {
    /// Reads a text that holds a key.
    Read { text: String },
    /// Writes such a text.
    Write { secret: String, rotation: Option<String> },
    /// Gives a key up for the one with these random bytes.
    Rotate { secret: String, rotation: Option<String>, random: String },
    /// Seals a key by a passphrase.
    Seal { secret: String, rotation: Option<String>, passphrase: String, random: String },
    /// Opens a sealed key.
    Open { text: String, passphrase: String },
    /// Writes what friends need to vouch for this key in the place of an old one.
    Ask { secret: String, old: String },
}

/// A key as the page keeps it.
#[derive(Serialize)]
struct KeptKey {
    secret: String,
    rotation: Option<String>,
}

impl KeptKey {
    fn of(KeyText { key, rotation }: &KeyText) -> Self {
        let rotation = rotation.as_ref().map(rotation_line);
        Self { secret: HEXLOWER.encode(&*key.secret()), rotation }
    }
}

/// A text for a person, or for a file.
#[derive(Serialize)]
struct WrittenKey {
    text: String,
}

/// Does something with a key. The input is JSON: `do`, and what that takes. The output is JSON: `secret` and
/// `rotation`, or `text`.
///
/// # Errors
/// When the input has not that form, or holds no such key.
pub fn key_desk(input: &[u8]) -> Result<Vec<u8>, CallError> {
    let task: KeyTask = serde_json::from_slice(input).map_err(CallError::input)?;
    match task {
        KeyTask::Read { text } => KeyText::parse(text.as_bytes()).map_err(unread).map(kept),
        KeyTask::Open { text, passphrase } => {
            unseal(text.as_bytes(), passphrase.as_bytes()).map_err(unopened).map(kept)
        }
        KeyTask::Write { secret, rotation } => {
            let text = key_text(&secret, rotation.as_deref())?.page_text();
            Ok(written(text.to_string()))
        }
        KeyTask::Rotate { secret, rotation, random } => {
            let (old, key) = (key_text(&secret, rotation.as_deref())?, signing_key(&random)?);
            let number = old.rotation.map_or(1, |before| before.number.saturating_add(1));
            let rotation = Some(Rotation::new(&old.key, &key, number));
            Ok(kept(KeyText { key, rotation }))
        }
        KeyTask::Seal { secret, rotation, passphrase, random } => {
            let random = HEXLOWER.decode(random.as_bytes()).map_err(CallError::input)?;
            let wrong = |_| CallError::input(format_args!("a seal takes {SEAL_RANDOM} bytes"));
            let random: [u8; SEAL_RANDOM] = random.try_into().map_err(wrong)?;
            let text = key_text(&secret, rotation.as_deref())?;
            Ok(written(seal(&text, passphrase.as_bytes(), &random)))
        }
        KeyTask::Ask { secret, old } => {
            let old: PublicKey =
                old.trim().parse().map_err(|error| CallError::new("no-old-key", error))?;
            Ok(written(NewKeyWord::new(&signing_key(&secret)?, &old).to_string()))
        }
    }
}

fn signing_key(secret: &str) -> Result<SigningKey, CallError> {
    let Digest(seed) = secret.parse().map_err(CallError::input)?;
    Ok(SigningKey::from_seed(seed))
}

/// Returns a key with its rotation; one that leads to another key is left out.
pub(crate) fn key_text(secret: &str, rotation: Option<&str>) -> Result<KeyText, CallError> {
    let key = signing_key(secret)?;
    let public = metatopia_types::Sign::public(&key);
    let rotation = rotation.and_then(|line| parse_rotation(line.as_bytes()));
    Ok(KeyText { key, rotation: rotation.filter(|rotation| rotation.new == public) })
}

fn json(told: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(told).expect("texts become JSON")
}

/// Returns the output that is a key, which is wiped here.
fn kept(text: KeyText) -> Vec<u8> {
    json(&KeptKey::of(&text))
}

fn written(text: String) -> Vec<u8> {
    json(&WrittenKey { text })
}

/// Returns why a text is not read, with a word for which the page has words.
fn unread(error: KeyTextError) -> CallError {
    let code = match error {
        KeyTextError::Mistyped { .. } => "mistyped",
        KeyTextError::Sealed => "sealed",
        KeyTextError::Rotation { .. } => "bad-rotation",
        KeyTextError::Second { .. } => "two-keys",
        KeyTextError::TooLong | KeyTextError::Line { .. } | KeyTextError::Empty => "no-key",
    };
    CallError::new(code, error)
}

fn unopened(error: UnsealTextError) -> CallError {
    let code = match error {
        UnsealTextError::Format => "no-sealed-key",
        UnsealTextError::Passphrase => "wrong-passphrase",
    };
    CallError::new(code, error)
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Ed25519, Sign as _};
    use serde_json::{Value, json};

    use super::*;

    fn done(task: &Value) -> Result<Value, CallError> {
        let told = key_desk(&serde_json::to_vec(task).expect("JSON"))?;
        Ok(serde_json::from_slice(&told).expect("JSON"))
    }

    fn secret(n: u8) -> String {
        HEXLOWER.encode(&[n; 32])
    }

    fn code(task: &Value) -> &'static str {
        done(task).expect_err("it is wrong").code
    }

    #[test]
    fn a_key_goes_out_as_text_and_comes_back_from_either_form() {
        let told = done(&json!({ "do": "write", "secret": secret(1), "rotation": null }));
        let text = told.expect("a key")["text"].clone();
        let file = format!("# of the program\nmetatopia-key-1 {}\n", secret(1));
        for text in [text, file.into()] {
            let read = done(&json!({ "do": "read", "text": text })).expect("a key");
            assert_eq!(read, json!({ "secret": secret(1), "rotation": null }));
        }
        assert_eq!(code(&json!({ "do": "read", "text": "a key" })), "no-key");
        let slip = format!("metatopia-key-1:{}:00000000", secret(1));
        assert_eq!(code(&json!({ "do": "read", "text": slip })), "mistyped");
    }

    #[test]
    fn a_key_is_given_up_for_another_one_and_its_document_goes_with_it() {
        let rotate = |secret, rotation, random| {
            let task = json!({
                "do": "rotate", "secret": secret, "rotation": rotation, "random": random,
            });
            done(&task).expect("two keys")
        };
        let first = rotate(secret(1), Value::Null, secret(2));
        assert_eq!(first["secret"], secret(2));
        let second = rotate(secret(2), first["rotation"].clone(), secret(3));
        let line = second["rotation"].as_str().expect("a line");
        let rotation = parse_rotation(line.as_bytes()).expect("both keys signed");
        let public = |n| SigningKey::from_seed([n; 32]).public();
        assert_eq!((rotation.old, rotation.new, rotation.number), (public(2), public(3), 2));

        let told = done(&json!({ "do": "write", "secret": secret(3), "rotation": line }));
        let text = told.expect("a key")["text"].clone();
        assert_eq!(done(&json!({ "do": "read", "text": text })).expect("a key"), second);
        let other = json!({ "do": "write", "secret": secret(4), "rotation": line });
        let text = done(&other).expect("a key")["text"].clone();
        let read = done(&json!({ "do": "read", "text": text })).expect("a key");
        assert_eq!(read["rotation"], Value::Null, "it is of another key");
    }

    #[test]
    fn a_passphrase_seals_and_opens_a_key() {
        let random = HEXLOWER.encode(&[5; SEAL_RANDOM]);
        let seal = json!({
            "do": "seal", "secret": secret(1), "rotation": null, "passphrase": "horse",
            "random": random,
        });
        let text = done(&seal).expect("a key")["text"].clone();
        let open = |passphrase| json!({ "do": "open", "text": text, "passphrase": passphrase });
        assert_eq!(done(&open("horse")).expect("opened")["secret"], secret(1));
        assert_eq!(code(&open("house")), "wrong-passphrase");
        assert_eq!(code(&json!({ "do": "read", "text": text })), "sealed");
        let none = json!({ "do": "open", "text": "a key", "passphrase": "" });
        assert_eq!(code(&none), "no-sealed-key");
    }

    #[test]
    fn the_word_of_a_new_key_is_what_a_friend_needs() {
        let old = SigningKey::from_seed([1; 32]).public();
        let ask = json!({ "do": "ask", "secret": secret(2), "old": format!(" {old}\n") });
        let told = done(&ask).expect("a key")["text"].clone();
        let word: NewKeyWord = told.as_str().expect("a text").parse().expect("a word");
        assert!(word.verify(&old, &Ed25519));
        assert_eq!(code(&json!({ "do": "ask", "secret": secret(2), "old": "Ada" })), "no-old-key");
        assert_eq!(code(&json!({ "do": "forget" })), "input");
    }
}
