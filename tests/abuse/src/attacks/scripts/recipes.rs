//! What hostile scripts do: each recipe is written to take long for little gas.

use metatopia_sim::limits::SCRIPTS_PER_OBJECT_MAX;

use crate::attacks::worst_call::ScriptSource;

/// What the scripts of the keys are.
pub(super) struct Recipe {
    pub(super) name: String,
    /// The n-th script of a thing runs the n-th of these, in turn.
    pub(super) sources: Vec<String>,
    /// Packages of the sim's own, after those.
    pub(super) of_the_plaza: &'static [&'static str],
    /// Scripts of each key, at most what the rules allow.
    pub(super) scripts_each: usize,
    /// Can their things be pushed?
    pub(super) movable: bool,
    /// Does every key say a long line in each turn?
    pub(super) speaks: bool,
    /// Is there room for as many things as there are?
    pub(super) is_roomy: bool,
}

impl Recipe {
    fn new(name: impl Into<String>, sources: &[&str]) -> Self {
        Self {
            name: name.into(),
            sources: sources.iter().map(|source| (*source).to_owned()).collect(),
            of_the_plaza: &[],
            scripts_each: usize::MAX,
            movable: false,
            speaks: false,
            is_roomy: false,
        }
    }

    /// Returns the recipe of the same scripts on a heap of things that can be pushed, with one script on
    /// each thing that keeps the heap awake; `None` if it has such things already.
    pub(super) fn beside_a_heap(&self) -> Option<Self> {
        let others = self.sources.iter().cycle().take(SCRIPTS_PER_OBJECT_MAX - 1).cloned();
        (!self.movable).then(|| Self {
            name: format!("{}; beside a heap that is kicked", self.name),
            sources: [KICKS.to_owned()].into_iter().chain(others).collect(),
            movable: true,
            ..*self
        })
    }
}

/// Keeps a thing awake, and all that it touches.
const KICKS: &str = "fn on_tick(dt) { impulse(vec2(9, 9)); }";

/// Scripts that do nothing: what the world costs without them.
pub(super) fn idle() -> Recipe {
    Recipe::new("idle", &["fn on_start() { }"])
}

/// Remembers as much as a script may, and sends as many messages as a call may.
const LARGE: &str = "fn on_start() { state.a = T; state.b = T; state.c = T; state.d = T; }";

/// Every recipe: these sources, which loop, and what costs the sim more than the interpreter.
pub(super) fn recipes(loops: Vec<ScriptSource>) -> Vec<Recipe> {
    let mut all: Vec<Recipe> = loops
        .into_iter()
        .map(|ScriptSource { name, text }| {
            Recipe::new(name, &[&text.replace("fn on_start()", "fn on_tick(dt)")])
        })
        .collect();
    all.extend(calls());
    all.extend(messages());
    all.extend(things());
    all.extend(people());
    all.push(Recipe {
        of_the_plaza: &["greeter"],
        speaks: true,
        ..Recipe::new("greeters hear long lines", &[])
    });
    all
}

/// Calls that end soon: what surrounds a call is the most of it.
fn calls() -> Vec<Recipe> {
    let constant = format!("const T = \"{}\";", "x".repeat(4_000));
    let remembers = format!("{constant}\n{LARGE}\nfn on_tick(dt) {{ state.n = now(); }}");
    let deep = "fn on_tick(dt) { f(0); } fn f(n) { if n < 9 { f(n + 1); } else { n / 0; } }";
    let logs = format!("{constant}\nfn on_tick(dt) {{ for n in 0..16 {{ log(T); }} }}");
    let names: String = (0..16).map(|n| format!("timer(\"{n:032}\", 0); ")).collect();
    let timers = format!("fn on_start() {{ {names} }} fn on_timer(name) {{ timer(name, 0); }}");
    let winds = format!("fn on_tick(dt) {{ {names} {names} }}");
    vec![
        Recipe::new("calls that do nothing", &["fn on_tick(dt) { }"]),
        Recipe::new("calls that draw", &["fn on_tick(dt) { random(); }"]),
        Recipe::new("calls that fail", &["fn on_tick(dt) { 1 / 0; }"]),
        Recipe::new("calls that fail deep down", &[deep]),
        Recipe::new("large states", &[&remembers]),
        Recipe::new("states of many small values", &[&small_values("t.push(());", "[]", 511, 15)]),
        Recipe::new("states of many names", &[&small_values("t[`${n}`] = n;", "#{}", 127, 15)]),
        Recipe::new("long logs", &[&logs]),
        Recipe::new("timers run out", &[&timers]),
        Recipe::new("timers are wound", &[&winds]),
    ]
}

/// Returns a script that remembers so many lists of so many small values, and changes a number in each tick.
fn small_values(push: &str, list: &str, values: usize, lists: usize) -> String {
    let names: String = (0..lists).map(|n| format!("state.v{n} = t; ")).collect();
    let fill = format!("let t = {list}; for n in 0..{values} {{ {push} }}");
    format!("fn on_start() {{ {fill} {names} }}\nfn on_tick(dt) {{ state.n = now(); }}")
}

/// Messages: who sends pays, and others have the work.
fn messages() -> Vec<Recipe> {
    let text = format!("const M = \"{}\";", "m".repeat(70));
    let constant = format!("const T = \"{}\";\n{LARGE}", "x".repeat(4_000));
    let sends = |event: &str| {
        format!("{text} fn {event} {{ for n in 0..31 {{ send(self_, \"t\", M); }} }}")
    };
    let (ticks, hears) = (sends("on_tick(dt)"), "fn on_message(from, topic, data) { }");
    let both = format!("{ticks} {hears}");
    let heavy = format!("{constant} {both}");
    let heard_by_large = format!("{constant} {hears}");
    let slow =
        format!("{constant} fn on_message(from, topic, data) {{ let i = 0; loop {{ i += 1; }} }}");
    let poor = |each| Recipe {
        scripts_each: each,
        ..Recipe::new(
            format!("messages for {each} scripts of each key that have no gas"),
            &[&ticks, &slow],
        )
    };
    vec![
        Recipe::new("messages to all on a thing", &[&both]),
        Recipe::new("messages to large states", &[&heavy]),
        Recipe::new(
            "one sends to seven large states",
            &[
                &ticks,
                &heard_by_large,
                &heard_by_large,
                &heard_by_large,
                &heard_by_large,
                &heard_by_large,
                &heard_by_large,
                &heard_by_large,
            ],
        ),
        poor(2),
        poor(4),
        poor(16),
    ]
}

/// What is done with things.
const RAYS: &str =
    "fn on_tick(dt) { let p = self_.pos; loop { ray(p - vec2(64, 0), p + vec2(64, 0)); } }";

/// Takes joints off and puts them on again, up to the share of the owner, and in turn with all its things.
const JOINS: &str = "fn on_start() { state.own = find(\"disc\"); state.n = 0; }
    fn on_tick(dt) {
        for k in 0..10 {
            let other = state.own[(state.n + k) % state.own.len()];
            if other == self_ { continue; }
            unjoin(other);
            pin(other, (self_.pos + other.pos) / 2);
            motor(other, 3, 9);
        }
        state.n += 7;
    }";

fn things() -> Vec<Recipe> {
    let says = format!("fn on_tick(dt) {{ say(\"{}\"); }}", "s".repeat(500));
    let signs = format!("fn on_tick(dt) {{ self_.text = \"{}\" + now(); }}", "s".repeat(200));
    let moves = "fn on_tick(dt) { self_.pos = vec2(random(-19, 19), random(-19, 9)); }";
    let turns = "fn on_tick(dt) { self_.angle = now(); }";
    let spawns =
        "fn on_tick(dt) { for n in 0..31 { spawn(#{ radius: 0.0625, scripted: true }); } }";
    let goes = "fn on_start() { if self_.spawner == () { make(); } else { despawn(self_); } }
        fn make() { for n in 0..8 { spawn(#{ radius: 0.0625, scripted: true, tag: \"t\" }); } }
        fn on_tick(dt) { if self_.spawner == () { make(); } }";
    let finds = "fn on_tick(dt) { loop { find(\"disc\"); } }";
    vec![
        Recipe::new("looks around far", &["fn on_tick(dt) { loop { nearby(64); } }"]),
        Recipe::new("looks around in a crowd", &["fn on_tick(dt) { loop { nearby(4); } }"]),
        Recipe::new("looks at itself in a crowd", &["fn on_tick(dt) { loop { nearby(0); } }"]),
        Recipe::new("casts rays far", &[RAYS]),
        Recipe::new("calls out", &["fn on_tick(dt) { shout(\"hey\"); }"]),
        Recipe::new("long words", &[&says]),
        Recipe::new("signs", &[&signs]),
        Recipe::new("turns", &[turns]),
        Recipe { movable: true, ..Recipe::new("turns what can be pushed", &[turns]) },
        Recipe { movable: true, ..Recipe::new("kicks", &[KICKS]) },
        Recipe::new("moves", &[moves]),
        Recipe::new("things that no rule lets be", &[spawns]),
        Recipe { is_roomy: true, ..Recipe::new("things come and go", &[goes]) },
        Recipe { is_roomy: true, ..Recipe::new("things come and stay", &[spawns]) },
        Recipe::new("looks for its own things", &[finds]),
        Recipe::new("joints come and go", &[JOINS]),
        Recipe { movable: true, ..Recipe::new("joints of a heap come and go", &[KICKS, JOINS]) },
    ]
}

/// Returns scripts that do with people what they can: they are told of all of them, show them forms and make
/// them hear sounds, again and again.
fn people() -> Vec<Recipe> {
    let hears = "fn on_enter(other) { } fn on_leave(other) { }";
    let zones =
        format!("fn on_tick(dt) {{ zone(if random() < 0.5 {{ 16 }} else {{ 0.1 }}); }} {hears}");
    let stays = format!("fn on_start() {{ zone(vec2(32, 32)); }} {hears}");
    let choices: String = (0..8).map(|n| format!("\"{n:064}\", ")).collect();
    let asks = format!(
        "const F = #{{ text: \"{}\", choices: [{choices}] }};
         fn on_start() {{ zone(16); }}
         fn on_enter(other) {{ state.who = other; }}
         fn on_tick(dt) {{ if state.who != () {{ for n in 0..7 {{ ui(state.who, F); }} }} sound(\"bell\"); }}",
        "q".repeat(512),
    );
    let offers = format!(
        "fn on_start() {{ zone(16); }}
         fn on_enter(other) {{ state.who = other; }}
         fn on_tick(dt) {{
             if state.who == () {{ return; }}
             for n in 0..7 {{ offer(state.who, #{{ give: self_, tag: `${{n}}`, text: \"{}\" }}); }}
         }}",
        "q".repeat(512),
    );
    vec![
        Recipe::new("zones that come and go", &[&zones]),
        Recipe { movable: true, ..Recipe::new("zones around a heap", &[KICKS, &stays]) },
        Recipe::new("forms and sounds", &[&asks]),
        Recipe::new("offers", &[&offers]),
    ]
}
