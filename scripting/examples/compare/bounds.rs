//! What is measured, as lines or as tables, beside the bounds.

/// For how long each engine may take for `tick`, as hundredths of the time that ours takes: at least this.
/// Ours may take twice the time of native code, which is half of ours here.
const BOUNDS: [(&str, u64); 6] = [
    ("native", 50),
    ("rhai-f64", 800),
    ("rhai-fixed", 1_500),
    ("luau-userdata", 300),
    ("wasmtime-fuel", 100),
    ("wasmi-fuel", 500),
];

/// The greatest share of a handler's time that metering may take, in thousandths.
const METERING_MAX: u64 = 50;

/// What an engine took for one call, in nanoseconds, or why that is not known.
pub(crate) struct Row {
    pub(crate) engine: &'static str,
    pub(crate) result: Result<u64, String>,
}

/// Prints a line of JSON for each row.
pub(crate) fn print_lines(handler: &str, rows: &[Row]) {
    for Row { engine, result } in rows {
        print!("{{\"handler\":\"{handler}\",\"engine\":\"{engine}\",");
        match result {
            Ok(time) => println!("\"us\":{}.{:03}}}", time / 1_000, time % 1_000),
            Err(why) => println!("\"error\":{why:?}}}"),
        }
    }
}

/// Prints a table, with how often each fits into the time of ours, or ours into it.
pub(crate) fn print_table(handler: &str, rows: &[Row]) {
    let ours = rows.iter().find(|row| row.engine == "metatopia");
    let ours = ours.and_then(|row| row.result.as_ref().ok()).copied().filter(|ours| *ours > 0);
    println!("{handler:18} {:>9}  {:>10}  {:>8}", "us", "times ours", "at least");
    for Row { engine, result } in rows {
        let time = match result {
            Ok(time) => *time,
            Err(why) => {
                println!("  {engine:16} {why}");
                continue;
            }
        };
        print!("  {engine:16} {:5}.{:03}", time / 1_000, time % 1_000);
        if let Some(ratio) = ours.map(|ours| time * 100 / ours) {
            print!("  {:7}.{:02}", ratio / 100, ratio % 100);
            let bound = BOUNDS.iter().find(|(name, _)| name == engine && handler == "tick");
            if let Some((_, bound)) = bound {
                let met = if ratio >= *bound { "met" } else { "not met" };
                print!("  {:5}.{:02}  {met}", bound / 100, bound % 100);
            }
        }
        println!();
    }
    if let Some(share) = metering(rows) {
        let met = if share <= METERING_MAX { "met" } else { "not met" };
        let (percent, most) = (share / 10, METERING_MAX / 10);
        println!("  metering takes {percent}.{} % of metered, at most {most}: {met}", share % 10);
    }
}

/// Returns the share of a handler's time that metering takes, in thousandths, if both programs of our own
/// engine were measured.
fn metering(rows: &[Row]) -> Option<u64> {
    let time = |engine: &str| {
        let row = rows.iter().find(|row| row.engine == engine)?;
        row.result.as_ref().ok().copied()
    };
    let (metered, unmetered) = (time("metered")?, time("unmetered")?);
    (metered > 0).then(|| metered.saturating_sub(unmetered) * 1_000 / metered)
}
