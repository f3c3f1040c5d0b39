//! What a measurement does with the host functions that the world answers, and with those of texts and
//! arrays that no other measurement needs.

/// The name of an operation, what comes before it, and what is done a few times in a row.
pub(crate) type Operation = (&'static str, &'static str, &'static str);

/// What changes a value that a script holds, or asks something of it.
pub(crate) const OF_VALUES: &[Operation] = &[
    ("type_of", "let a = [1]; let c = 0;", "c = type_of(a); c = type_of(c);"),
    ("to_string", "let c = 0;", "c = to_string(5.125); c = to_int(\"17\");"),
    (
        "ends of texts",
        "let a = \"Abc\"; let c = 0;",
        "c = a.starts_with(\"A\"); c = a.ends_with(\"x\");",
    ),
    ("upper", "let a = \"Abc def\"; let c = 0;", "c = a.upper();"),
    ("ceil", "let a = 2.5; let c = 0;", "c = ceil(a); c = max(a, 3); c = !true; c = -a;"),
    ("insert and remove", "let a = [1, 2, 3];", "a.insert(0, 7); a.remove(0);"),
    ("clear", "let a = [1, 2, 3];", "a.clear();"),
    (
        "any and all",
        "let a = [1, 2, 3, 4]; let c = 0;",
        "c = a.any(|x| x > 3); c = a.all(|x| x > 0);",
    ),
    ("for_each", "let a = [1, 2, 3, 4]; let c = 0;", "a.for_each(|x| x); c = a.find(|x| x > 3);"),
    ("values", "let m = #{a: 1, b: 2, c: 3}; let c = 0;", "c = m.values(); c = m != m;"),
    ("at most", "let a = 1.5; let c = 0;", "c = a <= 2.0; c = a > 2.0; c = a % 2.0;"),
];

/// What reads the world.
pub(crate) const READING: &[Operation] = &[
    ("exists", "let c = 0;", "c = exists(self_);"),
    ("now", "let c = 0;", "c = now();"),
    ("ray", "let p = self_.pos; let c = 0;", "c = ray(p, p);"),
    ("find things", "let c = 0;", "c = find(\"crate\");"),
    ("allowed", "let ada = find(\"ada\")[0]; let c = 0;", "c = allowed(ada, \"move\");"),
    ("is_member", "let ada = find(\"ada\")[0]; let c = 0;", "c = is_member(ada, \"abc\");"),
    ("origin", "let c = 0;", "c = self_.origin; c = self_.text; c = self_.angle;"),
    (
        "whose it is",
        "let ada = find(\"ada\")[0]; let c = 0;",
        "c = ada.player; c = ada.owner; c = ada.spawner;",
    ),
];

/// What changes the world: a call may do so only a few times.
pub(crate) const CHANGING: &[Operation] = &[
    ("say", "", "say(\"abc\");"),
    ("shout", "", "shout(\"abc\");"),
    ("whisper", "let ada = find(\"ada\")[0];", "whisper(ada, \"abc\");"),
    ("sound", "", "sound(\"bell\");"),
    ("sound with a pitch", "", "sound(\"note\", 5);"),
    ("presence", "", "presence(self_);"),
    ("flag", "", "flag(\"abc\");"),
    ("zone", "", "zone(4);"),
    ("zone of a box", "", "zone(vec2(4, 2));"),
    ("ui", "let ada = find(\"ada\")[0];", "ui(ada, #{title: \"a\", choices: [\"b\", \"c\"]});"),
    ("offer", "let ada = find(\"ada\")[0];", "offer(ada, #{give: self_});"),
    ("ask", "let ada = find(\"ada\")[0];", "ask(ada, \"move\");"),
    ("carry", "let ada = find(\"ada\")[0];", "carry(ada, vec2(1, 2));"),
    ("dress", "let ada = find(\"ada\")[0];", "dress(ada, 255);"),
    ("send", "", "send(self_, \"topic\", 1);"),
    ("impulse", "", "impulse(vec2(1, 2));"),
    ("push", "", "push(self_, vec2(1, 2));"),
    ("timer", "", "timer(\"abc\", 2);"),
    ("cancel", "", "cancel(\"abc\");"),
    ("spawn", "", "spawn(#{name: \"apple\", radius: 0.2, tag: \"abc\"});"),
    ("despawn", "let apple = find(\"apple\")[0];", "despawn(apple);"),
    ("pin", "let other = find(\"crate\")[0]; let p = self_.pos;", "pin(other, p);"),
    ("weld", "let other = find(\"crate\")[0]; let p = self_.pos;", "weld(other, p);"),
    ("tie", "let other = find(\"crate\")[0];", "tie(other, 2);"),
    ("rod", "let other = find(\"crate\")[0];", "rod(other);"),
    ("spring", "let other = find(\"crate\")[0];", "spring(other, 2, 0.5);"),
    ("slide", "let other = find(\"crate\")[0];", "slide(other, 1);"),
    ("slide between limits", "let other = find(\"crate\")[0];", "slide(other, 1, -1, 1);"),
    ("break at a force", "let other = find(\"crate\")[0];", "break_at(other, 9);"),
    ("motor", "let other = find(\"crate\")[0];", "motor(other, 2, 5);"),
    ("unjoin", "let other = find(\"crate\")[0];", "unjoin(other);"),
    ("seat", "", "seat(vec2(1, 0)); unseat();"),
    ("write pos", "let p = self_.pos;", "self_.pos = p; self_.angle = 1.5;"),
    ("write sensor", "", "self_.sensor = true; self_.sensor = false;"),
    ("write text", "", "self_.text = \"abc\"; self_.color = 255;"),
];
