//! Draws what a scene does, as pictures in SVG:
//! `cargo run --release -p metatopia-physics --example view -- playground FILE.svg 0 90 600` puts the frames
//! of these steps below each other in one picture. With a folder instead of a file it writes one picture for
//! each of them.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{
    Body, BodySpec, Compound, CompoundPart, Filter, Joint, JointId, JointKind, JointSpec, Motion,
    Motor, Region, SegmentChain, Shape,
};
use metatopia_types::ObjectId;

/// A scene, and the part of the region that is drawn, in centimetres.
struct View {
    name: &'static str,
    build: fn() -> Region,
    low: (i64, i64),
    high: (i64, i64),
}

const VIEWS: [View; 4] = [
    View { name: "playground", build: playground, low: (-1_020, -60), high: (1_080, 420) },
    View { name: "pile", build: pile, low: (-420, -60), high: (420, 520) },
    View { name: "slope", build: slope, low: (-1_020, -260), high: (1_020, 420) },
    View { name: "joinery", build: joinery, low: (-420, -60), high: (420, 440) },
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [scene, target, steps @ ..] = &words[..] else {
        eprintln!("view SCENE (FILE.svg | FOLDER) STEP...");
        return ExitCode::FAILURE;
    };
    let steps: Result<Vec<u32>, _> = steps.iter().map(|step| step.parse()).collect();
    match (VIEWS.iter().find(|view| view.name == scene), steps) {
        (Some(view), Ok(steps)) => match draw(view, Path::new(target), &steps) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("cannot write to {target}: {error}");
                ExitCode::FAILURE
            }
        },
        (None, _) => {
            let names = VIEWS.map(|view| view.name).join(", ");
            eprintln!("there is no scene {scene}; there are {names}");
            ExitCode::FAILURE
        }
        (_, Err(error)) => {
            eprintln!("a step is a number: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Plays a scene and writes the frames of some steps.
fn draw(view: &View, target: &Path, steps: &[u32]) -> std::io::Result<()> {
    let mut region = (view.build)();
    let mut frames = Vec::new();
    for step in 0..=steps.iter().copied().max().unwrap_or(0) {
        if steps.contains(&step) {
            frames.push((step, frame(&region)));
        }
        region.step();
    }
    if target.extension().is_some_and(|end| end == "svg") {
        return write(target, &picture(view, &frames));
    }
    for frame in frames {
        let name = target.join(format!("{}-{:05}.svg", view.name, frame.0));
        write(&name, &picture(view, &[frame]))?;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a viewer writes files; the crate does not")]
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::write(path, text)
}

/// Returns a picture of frames below each other. The y axis of a region points up, that of SVG down.
fn picture(view: &View, frames: &[(u32, String)]) -> String {
    let (width, height) = (view.high.0 - view.low.0, view.high.1 - view.low.1);
    let count = frames.len() as i64;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {}\">\n\
         <style>svg{{background:#fbfaf7}}.s{{fill:#8b8c89}}.d{{fill:#9cc5e8;stroke:#31557a}}\
         .z{{fill:#d9dde2;stroke:#7d8790}}.k{{fill:#f0c987;stroke:#8a6420}}\
         .n{{fill:none;stroke:#3a7d44;stroke-dasharray:8}}.j{{fill:#c8442e;stroke:#c8442e}}\
         g{{stroke-width:2}}text{{font:22px sans-serif;fill:#444}}</style>\n",
        height * count
    );
    for (row, (step, frame)) in (0..).zip(frames) {
        let top = row * height;
        let _ = writeln!(
            text,
            "<svg y=\"{top}\" width=\"{width}\" height=\"{height}\">\
             <g transform=\"translate({} {}) scale(1 -1)\">\n{frame}</g>\
             <text x=\"12\" y=\"30\">{}.{:02} s</text></svg>",
            -view.low.0,
            view.high.1,
            step / 60,
            step % 60 * 100 / 60,
        );
    }
    text.push_str("</svg>\n");
    text
}

/// Returns the bodies and joints of a region as they are now, in centimetres.
fn frame(region: &Region) -> String {
    let mut text = String::new();
    for body in region.bodies() {
        text.push_str(&outline(body));
    }
    for joint in region.joints() {
        text.push_str(&joint_mark(region, joint));
    }
    text
}

fn outline(body: &Body) -> String {
    let class = match body.motion() {
        _ if body.is_sensor() => 'n',
        Motion::Static => 's',
        Motion::Kinematic => 'k',
        Motion::Dynamic if body.is_asleep() => 'z',
        Motion::Dynamic => 'd',
    };
    drawn(&body.shape(), class, &|own: Vec2| place(body, own))
}

/// Returns a shape as it is drawn, where `place` says that the points of its own frame are.
fn drawn(shape: &Shape, class: char, place: &dyn Fn(Vec2) -> Vec2) -> String {
    let in_region = place;
    let place = |own: Vec2| centimetres(in_region(own));
    match *shape {
        Shape::Circle { radius } => {
            let ((x, y), (a, b)) = (place(Vec2::ZERO), place(Vec2::new(radius, Fx::ZERO)));
            let radius = rounded(radius);
            format!(
                "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>\
                 <path class=\"{class}\" d=\"M{x} {y}L{a} {b}\"/>\n"
            )
        }
        Shape::Rect { half: Vec2 { x, y } } => {
            let (left, down) = (x.saturating_neg(), y.saturating_neg());
            let corners = [(left, down), (x, down), (x, y), (left, y)];
            polygon(class, corners.map(|(x, y)| place(Vec2::new(x, y))).into_iter())
        }
        Shape::Capsule { half, radius } => {
            let corner = |x, y| place(Vec2::new(x, y));
            let (back, down) = (half.saturating_neg(), radius.saturating_neg());
            let ((a, b), (c, d)) = (corner(back, down), corner(half, down));
            let ((e, f), (g, h)) = (corner(half, radius), corner(back, radius));
            let r = rounded(radius);
            format!(
                "<path class=\"{class}\" d=\"M{a} {b}L{c} {d}A{r} {r} 0 0 1 {e} {f}\
                 L{g} {h}A{r} {r} 0 0 1 {a} {b}\"/>\n"
            )
        }
        Shape::Polygon(ref outline) => polygon(class, outline.corners().map(place)),
        Shape::Compound(ref compound) => {
            let part = |part: CompoundPart| {
                let own = |at: Vec2| part.offset.saturating_add(at.rotate(part.angle));
                drawn(&part.shape, class, &|at| in_region(own(at)))
            };
            compound.parts().map(part).collect()
        }
        Shape::Segment(segment) => {
            let [(a, b), (c, d)] = segment.ends().map(place);
            format!("<path stroke=\"#8b8c89\" stroke-width=\"2\" d=\"M{a} {b}L{c} {d}\"/>\n")
        }
    }
}

fn polygon(class: char, corners: impl Iterator<Item = (i64, i64)>) -> String {
    let points: Vec<String> = corners.map(|(x, y)| format!("{x},{y}")).collect();
    format!("<polygon class=\"{class}\" points=\"{}\"/>\n", points.join(" "))
}

/// Returns a dot where a joint holds a point, or a line where it holds two at a distance.
fn joint_mark(region: &Region, joint: &Joint) -> String {
    let spec = joint.spec();
    let at = |id: ObjectId, own: Vec2| region.body(id).map_or(own, |body| place(body, own));
    let (a, b) =
        (spec.a.map_or(spec.anchor_a, |a| at(a, spec.anchor_a)), at(spec.b, spec.anchor_b));
    let ((a, b), (c, d)) = (centimetres(a), centimetres(b));
    format!(
        "<path class=\"j\" d=\"M{a} {b}L{c} {d}\"/><circle class=\"j\" cx=\"{a}\" cy=\"{b}\" r=\"3\"/>\n"
    )
}

/// Returns where a point of a body's own frame is.
fn place(body: &Body, own: Vec2) -> Vec2 {
    let pose = body.pose();
    pose.position.saturating_add(own.rotate(pose.angle))
}

fn centimetres(at: Vec2) -> (i64, i64) {
    (rounded(at.x), rounded(at.y))
}

fn rounded(length: Fx) -> i64 {
    length.saturating_mul(Fx::from_int(100)).round_int()
}

fn cm(value: i64) -> Fx {
    Fx::from_ratio(value, 100)
}

fn at(x: i64, y: i64) -> Vec2 {
    Vec2::new(cm(x), cm(y))
}

fn rect(half_x: i64, half_y: i64) -> Shape {
    Shape::Rect { half: at(half_x, half_y) }
}

fn put(region: &mut Region, id: u64, motion: Motion, shape: Shape, position: Vec2, filter: Filter) {
    let spec = BodySpec { filter, ..BodySpec::new(shape, motion, position) };
    let spec = spec.with_density(Fx::from_int(20));
    region.insert(ObjectId(id), &spec).expect("a scene's bodies fit");
}

/// Inserts a dynamic body.
fn mover(region: &mut Region, id: u64, shape: Shape, position: Vec2) {
    put(region, id, Motion::Dynamic, shape, position, Filter::ALL);
}

fn join(region: &mut Region, a: Option<u64>, b: u64, point: Vec2, kind: JointKind) {
    let spec = region.joint_at(a.map(ObjectId), ObjectId(b), point, kind).expect("both are there");
    let id = region.joints().last().map_or(0, |joint| joint.id().0 + 1);
    region.insert_joint(JointId(id), &spec).expect("a scene's joints fit");
}

const HINGE: JointKind = JointKind::Revolute { limits: None, motor: None };

/// Builds a hill and a hollow of one chain, and what slides and rolls down to it.
fn slope() -> Region {
    let mut region = Region::new().with_gravity(at(0, -1_000));
    // A parabola down to the left, a crest, and a hollow with a wall.
    let hill = (0..=24).map(|n| at(n * 50 - 1_000, (24 - n) * (24 - n) / 2));
    let hollow =
        [(260, 40), (320, 40), (420, -40), (560, -140), (700, -180), (860, -120), (1_000, 300)];
    let points: Vec<Vec2> = hill.chain(hollow.map(|(x, y)| at(x, y))).collect();
    let chain = SegmentChain::new(&points, false).expect("a scene's points are a chain");
    // As slippery as ice, or most would stay on the hill.
    let ground =
        BodySpec { friction: cm(1), ..BodySpec::new(rect(50, 50), Motion::Static, Vec2::ZERO) };
    for (id, segment) in (1_000..).zip(chain.bodies(&ground)) {
        region.insert(ObjectId(id), &segment).expect("a scene's bodies fit");
    }
    for n in 0..6 {
        let place = at(n * 110 - 900, 380 - n * 40);
        let shape = match n % 3 {
            0 => rect(30, 20),
            1 => Shape::Circle { radius: cm(25) },
            _ => Shape::Capsule { half: cm(25), radius: cm(15) },
        };
        mover(&mut region, n.unsigned_abs(), shape, place);
    }
    region
}

/// Builds a seesaw, a chain bridge with crates, a row of dominoes, a wrecking ball and a ragdoll.
fn playground() -> Region {
    let mut region = Region::new().with_gravity(at(0, -1_000));
    put(&mut region, 0, Motion::Static, rect(1_000, 25), at(0, -25), Filter::ALL);
    mover(&mut region, 1, rect(150, 7), at(-800, 60));
    join(&mut region, None, 1, at(-800, 60), HINGE);
    mover(&mut region, 2, rect(22, 22), at(-915, 92));
    mover(&mut region, 3, Shape::Circle { radius: cm(35) }, at(-690, 350));
    for (id, x) in [(4, -480), (5, 80)] {
        put(&mut region, id, Motion::Static, rect(40, 75), at(x, 75), Filter::ALL);
    }
    for plank in 0..12 {
        let (id, x) = (10 + plank as u64, plank * 40 - 440);
        mover(&mut region, id, rect(20, 7), at(x + 20, 143));
        join(&mut region, Some(if plank == 0 { 4 } else { id - 1 }), id, at(x, 143), HINGE);
    }
    join(&mut region, Some(21), 5, at(40, 143), HINGE);
    for n in 0..3 {
        mover(&mut region, 30 + n as u64, rect(24, 24), at(n * 60 - 260, 240));
    }
    for n in 0..10 {
        mover(&mut region, 40 + n as u64, rect(7, 50), at(n * 42 + 350, 50));
    }
    mover(&mut region, 60, Shape::Circle { radius: cm(25) }, at(114, 215));
    let rod = JointKind::Distance { min: cm(250), max: cm(250), spring: None };
    let spec = JointSpec { anchor_a: at(330, 340), ..JointSpec::new(None, ObjectId(60), rod) };
    region.insert_joint(JointId(900), &spec).expect("it fits");
    ragdoll(&mut region, 70, at(850, 250));
    region
}

/// Builds a body of eleven parts, which do not meet each other.
fn ragdoll(region: &mut Region, first: u64, hips: Vec2) {
    // A motor that stands still is the friction of a hinge.
    let motor = Some(Motor { speed: Fx::ZERO, strength: cm(40) });
    let limb = |half| Shape::Capsule { half: cm(half), radius: cm(7) };
    let parts = [
        (rect(15, 12), (0, 0), None, (0, 0), (0, 0)),
        (rect(17, 22), (0, 34), Some(0), (0, 12), (-40, 80)),
        (Shape::Circle { radius: cm(14) }, (0, 75), Some(1), (0, 58), (-60, 60)),
        (limb(13), (-28, 48), Some(1), (-14, 50), (-150, 150)),
        (limb(13), (28, 48), Some(1), (14, 50), (-150, 150)),
        (limb(13), (-60, 48), Some(3), (-44, 48), (-10, 200)),
        (limb(13), (60, 48), Some(4), (44, 48), (-200, 10)),
        (rect(7, 20), (-9, -30), Some(0), (-9, -10), (-120, 80)),
        (rect(7, 20), (9, -30), Some(0), (9, -10), (-80, 120)),
        (rect(7, 20), (-9, -72), Some(7), (-9, -50), (-5, 200)),
        (rect(7, 20), (9, -72), Some(8), (9, -50), (-200, 5)),
    ];
    let filter = Filter { category: 2, mask: !2 };
    for (n, (shape, (x, y), on, (jx, jy), (low, high))) in (0..).zip(parts) {
        let position = hips.saturating_add(at(x, y));
        put(region, first + n, Motion::Dynamic, shape, position, filter);
        if let Some(on) = on {
            let kind = JointKind::Revolute { limits: Some([cm(low), cm(high)]), motor };
            join(region, Some(first + on), first + n, hips.saturating_add(at(jx, jy)), kind);
        }
    }
}

/// Builds a pile of all shapes between two walls.
fn pile() -> Region {
    let mut region = Region::new().with_gravity(at(0, -1_000));
    put(&mut region, 0, Motion::Static, rect(400, 25), at(0, -25), Filter::ALL);
    for (id, x) in [(1, -390), (2, 390)] {
        put(&mut region, id, Motion::Static, rect(10, 250), at(x, 250), Filter::ALL);
    }
    for n in 0..90_i64 {
        let shape = match n % 3 {
            0 => Shape::Circle { radius: cm(14 + n % 11) },
            1 => rect(18 + n % 7, 12 + n % 13),
            _ => Shape::Capsule { half: cm(10 + n % 9), radius: cm(12) },
        };
        let position = at(n % 12 * 60 - 330 + n / 12 % 2 * 20, 60 + n / 12 * 60);
        mover(&mut region, 10 + n as u64, shape, position);
    }
    region
}

/// Builds a bowl of three parts and a heap of Ls, crosses, dumb-bells and tables in it: each of them is one body.
fn joinery() -> Region {
    let mut region = Region::new().with_gravity(at(0, -1_000));
    let compound = |parts: &[(Shape, (i64, i64))]| {
        let part =
            |(shape, (x, y)): &(Shape, (i64, i64))| CompoundPart::new(shape.clone()).at(at(*x, *y));
        let parts: Vec<CompoundPart> = parts.iter().map(part).collect();
        Shape::Compound(Compound::new(&parts).expect("a scene's compounds have parts"))
    };
    let (high, wide) = (rect(15, 150), rect(400, 20));
    let bowl = compound(&[(wide, (0, 0)), (high.clone(), (-385, 150)), (high, (385, 150))]);
    put(&mut region, 0, Motion::Static, bowl, at(0, 40), Filter::ALL);
    let ball = |radius| Shape::Circle { radius: cm(radius) };
    let rod = |half, radius| Shape::Capsule { half: cm(half), radius: cm(radius) };
    let kinds = [
        compound(&[(rect(40, 10), (0, 0)), (rect(10, 30), (-30, 40))]),
        compound(&[(rect(36, 9), (0, 0)), (rect(9, 36), (0, 0))]),
        compound(&[(rod(30, 8), (0, 0)), (ball(18), (-32, 0)), (ball(18), (32, 0))]),
        compound(&[(rect(44, 7), (0, 0)), (rect(7, 20), (-37, -27)), (rect(7, 20), (37, -27))]),
    ];
    for n in 0..32_i64 {
        let place = at(n % 7 * 100 - 300 + n / 7 % 2 * 20, 140 + n / 7 * 100);
        mover(&mut region, 10 + n as u64, kinds[n as usize % kinds.len()].clone(), place);
    }
    region
}
