//! What is heard, and what is forgotten of it.

use std::{collections::VecDeque, time::Duration};

use metatopia_client::text::{heard_by, printable};
use metatopia_protocol::{ChatMessage, ForgottenMessage};
use metatopia_types::{Act, BlobId, Outcome, PublicKey};
use tokio::time::Instant;

use super::{
    deeds::conclude,
    room::{ActProgress, TextClient},
};
use crate::{LineKind, TextClientError};

/// Lines that are remembered, so that they can be forgotten: more have scrolled out of sight.
const HEARD_LINES_MAX: usize = 64;

/// The time in which one's own words come back from the node.
const COMES_BACK: Duration = Duration::from_secs(5);

/// The last lines that people said.
#[derive(Debug, Default)]
pub(super) struct HeardLines {
    lines: VecDeque<ChatMessage>,
    /// The words that the person said last, while the node has not told of them yet.
    awaited: Option<BlobId>,
}

impl HeardLines {
    /// Notes that the person said these words, of which the node tells next.
    pub(super) fn expect(&mut self, body: BlobId) {
        self.awaited = Some(body);
    }

    /// Notes that words of the person came back, were forgotten before that, or are not said.
    pub(super) fn came_back(&mut self, body: BlobId) {
        self.awaited = self.awaited.filter(|awaited| *awaited != body);
    }

    /// Remembers what a person said; things are many, and nobody takes back what they say.
    fn remember(&mut self, line: ChatMessage) {
        if line.by.is_none() {
            return;
        }
        self.lines.push_back(line);
        while self.lines.len() > HEARD_LINES_MAX {
            self.lines.pop_front();
        }
    }

    /// Returns the last line of a person, by a whole name, or else by the beginning of a name or of a key that one
    /// person alone has.
    fn last_of(&self, typed: &str) -> Option<&ChatMessage> {
        let typed = typed.to_lowercase();
        let lines = || self.lines.iter().rev();
        if let Some(line) = lines().find(|line| line.name.to_lowercase() == typed) {
            return Some(line);
        }
        let is_meant = |line: &&ChatMessage| {
            let key = line.by.map(|key| key.to_string());
            let by_key = typed.len() >= 8 && key.is_some_and(|key| key.starts_with(&typed));
            by_key || line.name.to_lowercase().starts_with(&typed)
        };
        let first = lines().find(is_meant)?;
        lines().filter(is_meant).all(|line| line.by == first.by).then_some(first)
    }

    /// Returns the last line that this key said.
    fn last_by(&self, key: PublicKey) -> Option<&ChatMessage> {
        self.lines.iter().rev().find(|line| line.by == Some(key))
    }

    /// Takes out what is forgotten, and returns whose lines these were.
    fn take(&mut self, words: &ForgottenMessage) -> Vec<ChatMessage> {
        let is_gone = |line: &ChatMessage| words.is_of(line);
        let (gone, kept) = self.lines.drain(..).partition::<VecDeque<_>, _>(is_gone);
        self.lines = kept;
        gone.into()
    }
}

/// Tells what somebody said, perhaps before one came.
pub(super) fn hear(
    room: &mut TextClient,
    line: ChatMessage,
    is_earlier: bool,
) -> Result<(), TextClientError> {
    // One's own words are told by the command that said them.
    let is_own = !is_earlier && line.by == Some(room.driver.author());
    let is_told = !is_own && !room.blocks.hides(&line);
    let told = heard_by(&line, &room.own_name());
    if line.by == Some(room.driver.author()) {
        room.heard.came_back(line.body());
    }
    room.heard.remember(line);
    match (is_told, is_earlier) {
        (false, _) => Ok(()),
        (true, false) => room.tell(LineKind::Heard, &told),
        (true, true) => room.tell(LineKind::Heard, &format!("Earlier: {told}")),
    }
}

/// Tells that words were taken back which this person may have read.
pub(super) fn take_back(
    room: &mut TextClient,
    words: &ForgottenMessage,
) -> Result<(), TextClientError> {
    let own = room.driver.author();
    room.heard.came_back(words.body);
    for line in room.heard.take(words) {
        // The command that forgot them tells of one's own.
        if line.by != Some(own) && !room.blocks.hides(&line) {
            let who = printable(&line.name);
            room.tell(LineKind::Heard, &format!("Words of {who} were taken back; forget them."))?;
        }
    }
    Ok(())
}

/// Has every server forget the last line of the person, or of somebody else.
pub(super) async fn forget(
    room: &mut TextClient,
    whose: Option<&str>,
) -> Result<(), TextClientError> {
    let (own, end) = (room.driver.author(), Instant::now() + COMES_BACK);
    // The line before would be forgotten in place of it, and nothing undoes that.
    while whose.is_none() && room.heard.awaited.is_some() {
        if !room.hear_until(end).await? {
            let line = "Your last words have not come back yet. Try again in a moment.";
            return room.tell(LineKind::Refused, line);
        }
    }
    let found = match whose {
        None => room.heard.last_by(own),
        Some(typed) => room.heard.last_of(typed),
    };
    let Some(line) = found else {
        let line = match whose {
            None => "You said nothing of late that could be forgotten.",
            Some(_) => "Nobody alone of that name said anything of late that you heard.",
        };
        return room.tell(LineKind::Refused, line);
    };
    let (height, body) = (line.height, line.body());
    let text = printable(&line.text);
    let done = match whose {
        None => format!("Every server forgets what you said: {text}"),
        Some(_) => format!("Every server forgets what {} said: {text}", printable(&line.name)),
    };
    let fate = room.perform(Act::Forget { height, body }, Vec::new()).await?;
    if fate == ActProgress::Done(Outcome::Ok) {
        // Whoever types it again means the line before, also if the node has not told of this yet.
        room.heard.take(&ForgottenMessage { height, body, by: None });
    }
    conclude(room, fate, &done)
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Height, ObjectId};

    use super::*;

    fn line(height: u64, by: Option<u8>, name: &str) -> ChatMessage {
        ChatMessage {
            height: Height(height),
            channel: 1,
            speaker: ObjectId(7),
            name: name.to_owned(),
            text: format!("line {height}"),
            by: by.map(|seed| PublicKey([seed; 32])),
            club: None,
        }
    }

    #[test]
    fn so_many_lines_are_remembered_and_the_last_one_of_a_person_is_meant() {
        let mut heard = HeardLines::default();
        for height in 1..=HEARD_LINES_MAX as u64 + 5 {
            let name = if height % 2 == 0 { "Ada" } else { "Bob" };
            heard.remember(line(height, Some((height % 2) as u8), name));
        }
        heard.remember(line(900, None, "Adam the bell"));
        assert_eq!(heard.lines.len(), HEARD_LINES_MAX);
        let last = |typed: &str| heard.last_of(typed).map(|line| line.height.0);
        assert_eq!((last("ada"), last("bo"), last("eve")), (Some(68), Some(69), None));
        assert_eq!(last(&"01".repeat(4)), Some(69), "by the beginning of a key");
        assert_eq!(heard.last_by(PublicKey([0; 32])).map(|line| line.height.0), Some(68));
    }

    /// `forget` right behind a line forgot the one before, for good: the node had not told of the newest yet.
    #[test]
    fn what_one_just_said_is_waited_for_until_it_is_back_or_forgotten() {
        let mut heard = HeardLines::default();
        let [first, second] = [3, 5].map(|height| line(height, Some(1), "Ada"));
        heard.expect(first.body());
        heard.came_back(second.body());
        assert!(heard.awaited.is_some(), "those were other words");
        heard.came_back(first.body());
        heard.remember(first.clone());
        assert_eq!(heard.awaited, None);
        // It goes on to be so when the line is gone, by a forgetting or by many lines of others.
        let words = ForgottenMessage { height: first.height, body: first.body(), by: None };
        assert_eq!(heard.take(&words).len(), 1);
        assert_eq!(heard.awaited, None);
        heard.expect(second.body());
        heard.expect(first.body());
        assert_eq!(heard.awaited, Some(first.body()), "the last words count");
    }

    #[test]
    fn what_is_forgotten_is_taken_out_if_it_is_whose_it_must_be() {
        let mut heard = HeardLines::default();
        let same =
            |by: u8, name: &str| ChatMessage { text: "hi".into(), ..line(3, Some(by), name) };
        heard.remember(same(1, "Ada"));
        heard.remember(same(2, "Bob"));
        heard.remember(line(4, Some(1), "Ada"));
        let body = same(1, "Ada").body();
        let words = |height: u64, by: Option<u8>| ForgottenMessage {
            height: Height(height),
            body,
            by: by.map(|seed| PublicKey([seed; 32])),
        };
        assert_eq!(heard.take(&words(4, None)).len(), 0);
        assert_eq!(heard.take(&words(3, Some(1))), [same(1, "Ada")]);
        assert_eq!(heard.take(&words(3, None)), [same(2, "Bob")]);
        assert_eq!(heard.lines.len(), 1);
    }
}
