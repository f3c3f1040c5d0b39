use std::fs;

use super::*;
use crate::scratch::Scratch;

/// Writes a key file with this text and mode.
fn written(scratch: &Scratch, text: impl AsRef<[u8]>, mode: u32) -> PathBuf {
    let path = scratch.file("key", text);
    fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    path
}

fn line() -> String {
    format!("{KEY_TAG} {}\n", "0f".repeat(32))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn a_new_key_is_private_and_can_be_loaded() {
    let scratch = Scratch::made("keys-new");
    let path = scratch.0.join("made/on/demand/key");

    let made = create(&path).unwrap();
    let loaded = load(&path).unwrap();

    assert_eq!(loaded.public(), made.public());
    assert_eq!(mode(&path), 0o600);
    for directory in ["made", "made/on", "made/on/demand"] {
        assert_eq!(mode(&scratch.0.join(directory)), 0o700, "{directory}");
    }
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(&format!("# public {}", made.public())));
}

#[test]
fn two_new_keys_differ() {
    let scratch = Scratch::made("keys-differ");
    let keys = ["a", "b"].map(|name| create(&scratch.0.join(name)).unwrap().public());
    assert_ne!(keys[0], keys[1]);
}

#[test]
fn a_key_is_never_overwritten() {
    let scratch = Scratch::made("keys-overwrite");
    let path = written(&scratch, line(), 0o600);

    let error = create(&path).unwrap_err();

    assert!(matches!(&error, CreateKeyError::Exists { path: named } if *named == path), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), line());
}

#[test]
fn a_link_to_nowhere_is_not_followed() {
    let scratch = Scratch::made("keys-link");
    let (link, target) = (scratch.0.join("link"), scratch.0.join("target"));
    std::os::unix::fs::symlink(&target, &link).unwrap();

    assert!(matches!(create(&link), Err(CreateKeyError::Exists { .. })));
    assert!(!target.exists());
}

#[test]
fn a_key_that_others_can_reach_is_refused_by_name_and_mode() {
    let scratch = Scratch::made("keys-exposed");
    for wrong in [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644, 0o777] {
        let path = written(&scratch, line(), wrong);

        let error = load(&path).unwrap_err();

        assert!(matches!(error, LoadKeyError::Exposed { mode, .. } if mode == wrong), "{error}");
        let text = error.to_string();
        assert!(text.contains(path.to_str().unwrap()), "{text}");
        assert!(text.contains(&format!("{wrong:04o}")), "{text}");
    }
    for right in [0o600, 0o400] {
        assert!(load(&written(&scratch, line(), right)).is_ok(), "{right:o}");
        fs::set_permissions(scratch.0.join("key"), Permissions::from_mode(0o600)).unwrap();
    }
}

#[test]
fn a_key_of_another_user_is_refused() {
    let path = Path::new("/somewhere/key");
    let error = check(path, 0o600, 1001, 1000).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("/somewhere/key") && text.contains("1001"), "{text}");
    assert!(check(path, 0o600, 1000, 1000).is_ok());
}

#[test]
fn a_new_file_belongs_to_the_user_we_act_as() {
    let scratch = Scratch::made("keys-user");
    let path = written(&scratch, line(), 0o600);
    assert_eq!(fs::metadata(path).unwrap().uid(), user().unwrap());
}

#[test]
fn comments_and_empty_lines_mean_nothing() {
    let text = format!("# one\n\n  # two\n{}\n\r\n# three", line());
    let key = KeyText::parse(text.as_bytes()).unwrap().key;
    assert_eq!(*key.secret(), [15; 32]);
}

#[test]
fn what_is_not_a_key_file_is_refused_and_not_repeated() {
    let digits = "0f".repeat(32);
    let line = |line| KeyTextError::Line { line };
    for (text, wrong) in [
        (String::new(), KeyTextError::Empty),
        ("# nothing\n".into(), KeyTextError::Empty),
        (digits.clone(), line(1)),
        (format!("# x\nmetatopia-key-2 {digits}"), line(2)),
        (format!("{KEY_TAG} {}", &digits[1..]), line(1)),
        (format!("{KEY_TAG} {digits}00"), line(1)),
        (format!("{KEY_TAG} {}", digits.to_uppercase()), line(1)),
        (format!("{KEY_TAG}{digits}"), line(1)),
        (format!("{KEY_TAG} {digits}\n{KEY_TAG} {digits}"), KeyTextError::Second { line: 2 }),
        ("#".repeat(FILE_BYTES_MAX + 1), KeyTextError::TooLong),
    ] {
        let error = KeyText::parse(text.as_bytes()).unwrap_err();
        assert_eq!(error, wrong);
        assert!(!format!("{error} {error:?}").contains("0f0f"), "{error}");
    }
}

#[test]
fn the_longest_file_is_read() {
    let scratch = Scratch::made("keys-longest");
    let mut text = line();
    text.push_str(&"#".repeat(FILE_BYTES_MAX - text.len()));
    assert!(load(&written(&scratch, &text, 0o600)).is_ok());
    text.push('#');
    let error = load(&written(&scratch, &text, 0o600)).unwrap_err();
    assert!(matches!(error, LoadKeyError::Format { source: KeyTextError::TooLong, .. }), "{error}");
}

#[test]
fn a_missing_file_and_a_directory_are_named() {
    let scratch = Scratch::made("keys-missing");
    let missing = load(&scratch.0.join("absent")).unwrap_err();
    assert!(missing.to_string().contains("absent"), "{missing}");
    let directory = load(&scratch.0).unwrap_err();
    assert!(matches!(directory, LoadKeyError::NotAFile { .. }), "{directory}");
}

#[test]
fn a_peer_id_comes_from_the_same_public_key() {
    let key = SigningKey::from_seed([7; 32]);
    let keypair = peer_keypair(&key);
    let public = keypair.public().try_into_ed25519().unwrap();
    assert_eq!(public.to_bytes(), key.public().0);
}
