//! What `.ci/module` asks, in the workspace's folder: what the module is made of, and whether one fits.

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use metatopia_module::{FRESH, Fit, KEPT, WASM, choose, fit, parts};

const USAGE: &str = "metatopia-module parts          digests of what a module is made of\n\
    metatopia-module made-of FOLDER the same with that of the module in it\n\
    metatopia-module fit FOLDER     says how the module in it fits; 1 if it does not\n\
    metatopia-module path           where the one is that a build takes; 3 if there is none\n";

/// What came of a question.
type CommandResult = Result<(String, u8), Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let said = answer(&words).and_then(|(text, code)| {
        io::stdout().lock().write_all(text.as_bytes())?;
        Ok(code)
    });
    match said {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // Without a standard error there is nobody to tell.
            let _ = writeln!(io::stderr().lock(), "error: {error}");
            ExitCode::from(1)
        }
    }
}

fn answer(words: &[&str]) -> CommandResult {
    let parts = || parts(Path::new("."));
    Ok(match words {
        ["parts"] => (parts()?.to_string(), 0),
        ["made-of", folder] => {
            let wasm = fs::read(Path::new(folder).join(WASM))?;
            (parts()?.with_module(&wasm).to_string(), 0)
        }
        ["fit", folder] => {
            let fit = fit(Path::new(folder), &parts()?)?;
            (format!("{folder}/{WASM} is {fit}\n"), u8::from(fit != Fit::Fits))
        }
        ["path"] => match choose(&[KEPT, FRESH].map(PathBuf::from), &parts()?)? {
            Ok(path) => (format!("{}\n", path.display()), 0),
            Err(_) => (String::new(), 3),
        },
        _ => (USAGE.to_owned(), 2),
    })
}
