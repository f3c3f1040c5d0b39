//! The WebAssembly module that this program brings for its page, and what is wrong with it.

include!(concat!(env!("OUT_DIR"), "/module.rs"));

/// Returns the module's bytes.
pub(super) const fn bytes() -> Option<&'static [u8]> {
    MODULE
}

/// Returns the module's bytes as brotli packs them, if that was done when the module was made.
pub(super) const fn packed() -> Option<&'static [u8]> {
    MODULE_PACKED
}

/// Returns whether there is a module that was made of other sources than this program.
pub(super) const fn is_stale() -> bool {
    MODULE.is_some() && MODULE_FAULT.is_some()
}

/// Returns what somebody who starts servers must know about the module, or nothing when all is
/// well.
pub(crate) fn module_warning() -> Option<String> {
    Some(warning(MODULE_FAULT?, MODULE.is_some()))
}

fn warning(fault: &str, is_there: bool) -> String {
    let so = if is_there {
        "what tabs check may be other rules than those of these servers"
    } else {
        "the page cannot run, and names the text client"
    };
    format!("the page's WebAssembly module is {fault}: {so}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_says_how_the_module_is_and_what_follows() {
        assert_eq!(
            warning("made of other sources (sim)", true),
            "the page's WebAssembly module is made of other sources (sim): what tabs check may be \
            other rules than those of these servers"
        );
        assert_eq!(
            warning("not there", false),
            "the page's WebAssembly module is not there: the page cannot run, and names the text client"
        );
    }

    #[test]
    fn whoever_starts_servers_is_warned_unless_the_module_fits() {
        assert_eq!(module_warning().is_some(), is_stale() || bytes().is_none());
    }
}
