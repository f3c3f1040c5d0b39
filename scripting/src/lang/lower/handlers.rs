//! Names of handlers: which events there are, and functions that were meant for one.

use alloc::{format, string::String, vec::Vec};

use super::Lowering;
use crate::{
    EventKind,
    lang::tree::{SourceFunction, SourcePoint},
};

impl Lowering {
    /// Returns the event that a function with the name of a handler handles.
    pub(super) fn handler(
        &mut self,
        name: &str,
        parameters: usize,
        at: SourcePoint,
    ) -> Option<EventKind> {
        let Some(kind) = EventKind::ALL.into_iter().find(|kind| kind.handler() == name) else {
            self.complain_of_no_event(name, at);
            return None;
        };
        let most = kind.parameters();
        if parameters > most.len() {
            let message = match most {
                [] => format!("{name} takes no parameters"),
                _ => format!("{name} takes at most {}: {}", most.len(), most.join(", ")),
            };
            self.complain(at, message);
        }
        if self.functions.keys().filter(|(other, _)| other == name).count() > 1 {
            self.complain(at, format!("there are several functions {name}: which is the handler?"));
        }
        Some(kind)
    }

    /// Says which event was probably meant, or once which there are.
    fn complain_of_no_event(&mut self, name: &str, at: SourcePoint) {
        let mut more = self.hint(name, EventKind::ALL.into_iter().map(EventKind::handler));
        if more.is_empty() && !self.has_listed_handlers {
            self.has_listed_handlers = true;
            more = format!("; there are {}", EventKind::ALL.map(EventKind::handler).join(", "));
        }
        self.complain(at, format!("there is no event for {name}{more}"));
    }

    /// Tells an author of functions that nothing calls, and that are handlers but for how their names are written:
    /// `onTouch`, or `touch`. No event comes to them.
    pub(super) fn judge_names(&mut self, functions: &[SourceFunction]) {
        if !self.is_for_author {
            return;
        }
        let meant = |function: &SourceFunction| {
            if function.name.starts_with("on_") || self.called.contains(&function.name) {
                return None;
            }
            handler_like(&function.name, function.parameters.len())
        };
        // Where other functions wait for calls too, and no event is handled, packages that import this one call them.
        let waits = |function: &SourceFunction| {
            let is_called = self.called.contains(&function.name);
            !is_called && !function.is_private && meant(function).is_none()
        };
        let has_handlers = functions.iter().any(|function| function.name.starts_with("on_"));
        let is_library = !has_handlers && functions.iter().any(waits);
        let mut told = Vec::new();
        for function in functions {
            let Some((kind, has_on)) = meant(function) else { continue };
            if has_on || !is_library {
                let (name, handler) = (&function.name, kind.handler());
                let words = format!("nothing calls {name}: did you mean {handler}?");
                told.push((function.named_at, words));
            }
        }
        for (at, words) in told {
            self.complain(at, words);
        }
    }
}

/// Returns the event whose handler has this name but for capitals and underscores, with or without `on`. The second
/// value says that the name has it; without it so many parameters must fit too.
fn handler_like(name: &str, parameters: usize) -> Option<(EventKind, bool)> {
    let name = plain(name);
    EventKind::ALL.into_iter().find_map(|kind| {
        let handler = plain(kind.handler());
        let is_short = handler.strip_prefix("on") == Some(&name);
        let fits = parameters <= kind.parameters().len();
        (name == handler || (is_short && fits)).then_some((kind, !is_short))
    })
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}
