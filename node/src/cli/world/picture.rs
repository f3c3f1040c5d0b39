//! The map of a world as a picture (SVG): squares with what is proved of them, and what their sims say.

use std::{
    fmt::{self, Write as _},
    time::Duration,
};

use metatopia_text_client::ONE_DOOR;

use super::learned::{OLD, aged};
use crate::{
    cli::numbers::number_of,
    overlay::answers::{GrantEntry, MapSite},
};

/// Pixels of a tile's side.
const TILE: i64 = 24;

/// Tiles of free ground around all squares.
const FRAME_TILES: i64 = 2;

/// Pixels of the least width: the lines above and below the map have room.
const WIDTH_MIN: i64 = 720;

/// Pixels between two lines of text, and between the edge of the picture and its texts.
const LINE: i64 = 16;
const EDGE: i64 = 8;

/// Pixels between the edge of a square and its texts: past its lines, the amber one too.
const INSET: i64 = 6;

/// Pixels of a side below which lines have fewer words.
const NARROW: i64 = 192;

/// Pixels above and below the map.
const HEAD: i64 = 76;
const FOOT: i64 = 56;

/// Tiles between two lines of the grid: 256 m.
const GRID_TILES: i64 = 8;

/// The most lines of the grid in one direction; a larger map has none.
const GRID_LINES_MAX: i64 = 64;

/// Digits of an id or a key that are drawn.
const DIGITS: usize = 16;

/// Characters of what a stranger says that are drawn; the square cuts them where it is too narrow.
const DRAWN_CHARS_MAX: usize = 64;

/// The style of the picture. Amber is what may have changed, or may be one liar's.
const STYLE: &str = "\
    text{font-family:sans-serif;font-size:12px;fill:#22262b}\
    .name{font-size:14px;font-weight:bold}\
    .head{font-size:16px;font-weight:bold}\
    .quiet{fill:#5b626b}\
    .key{font-family:monospace;font-size:11px;fill:#5b626b}\
    .amber{fill:#a85b00;font-weight:bold}\
    .ground{fill:#f6f5f0}\
    .grid{stroke:#dedbd0;stroke-width:1}\
    .up{fill:#d9ecd8;stroke:#3f7d4c;stroke-width:2}\
    .silent{fill:#e6e6e6;stroke:#8b8f94;stroke-width:2;stroke-dasharray:6 4}\
    .old{fill:none;stroke:#d98200;stroke-width:4}";

/// What is drawn.
#[derive(Debug)]
pub(super) struct MapPicture<'a> {
    /// The world, in hexadecimal digits.
    pub(super) world: &'a str,
    /// The squares, each with the age of its proof.
    pub(super) squares: &'a [(MapSite, Duration)],
    /// The height of the oldest part of the map.
    pub(super) height: Option<u64>,
    /// All members that the node knows are in one network.
    pub(super) one_door: bool,
}

/// A text as XML holds it: what strangers say ends no element, and has no character that XML lacks or that turns
/// the direction of what stands beside it.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|char| match char {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#39;"),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Ok(()),
            '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}'),
            char if char.is_control() => f.write_char(' '),
            char => f.write_char(char),
        })
    }
}

/// A line of text in a square.
struct SquareLine {
    class: &'static str,
    text: String,
}

/// Returns what is told of a square. In a narrow one, health is its colour and style alone.
fn lines_of(site: &MapSite, age: Duration, is_narrow: bool) -> [SquareLine; 5] {
    let line = |class, text| SquareLine { class, text };
    let people = match site.people {
        Some(1) => "1 person".to_owned(),
        Some(people) => format!("{people} people"),
        None => String::new(),
    };
    let health = match (site.met, people.is_empty()) {
        (true, false) if is_narrow => people,
        (true, false) => format!("{people}, heard of"),
        (true, true) => "heard of".to_owned(),
        (false, _) => "not heard of".to_owned(),
    };
    let (age_class, age) = (if age > OLD { "amber" } else { "quiet" }, aged(age));
    let holder = short(&site.grant.holder);
    let (age, holder) = match is_narrow {
        true => (format!("{age} old"), holder.to_owned()),
        false => (format!("proof {age} old"), format!("held by {holder}")),
    };
    [
        line("name", said(site.label.as_deref(), "name not known")),
        line("", health),
        line(age_class, age),
        line("key", holder),
        line("quiet", said(site.licence.as_deref(), "licence not known")),
    ]
}

fn short(id: &str) -> &str {
    &id[..DIGITS.min(id.len())]
}

/// Returns what a stranger says, no longer than is drawn, or that nothing is known.
fn said(text: Option<&str>, unknown: &str) -> String {
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or(unknown);
    text.chars().take(DRAWN_CHARS_MAX).collect()
}

/// The ground that is drawn, in tiles. The edge of the plane has pixels that 32 bits do not hold.
struct DrawnGround {
    west: i64,
    south: i64,
    east: i64,
    north: i64,
}

impl DrawnGround {
    fn of(squares: &[(MapSite, Duration)]) -> Self {
        let corners = || {
            squares.iter().map(|(site, _)| {
                let square = &site.grant.square;
                (i64::from(square.x), i64::from(square.y), i64::from(square.side / 32))
            })
        };
        let west = corners().map(|(x, ..)| x).min().unwrap_or_default() - FRAME_TILES;
        let south = corners().map(|(_, y, _)| y).min().unwrap_or_default() - FRAME_TILES;
        let east = corners().map(|(x, _, side)| x + side).max().unwrap_or_default() + FRAME_TILES;
        let north = corners().map(|(_, y, side)| y + side).max().unwrap_or_default() + FRAME_TILES;
        Self { west, south, east, north }
    }

    fn size(&self) -> (i64, i64) {
        ((self.east - self.west) * TILE, (self.north - self.south) * TILE)
    }

    fn x(&self, tile: i64) -> i64 {
        (tile - self.west) * TILE
    }

    fn y(&self, tile: i64) -> i64 {
        HEAD + (self.north - tile) * TILE
    }
}

impl fmt::Display for MapPicture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ground = DrawnGround::of(self.squares);
        let (wide, tall) = ground.size();
        let (width, height) = (wide.max(WIDTH_MIN), HEAD + tall + FOOT);
        writeln!(
            f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n<style>{STYLE}</style>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
             <rect class=\"ground\" y=\"{HEAD}\" width=\"{width}\" height=\"{tall}\"/>"
        )?;
        grid(f, &ground, width)?;
        self.head(f)?;
        self.squares.iter().try_for_each(|(site, age)| draw(f, &ground, site, *age))?;
        foot(f, HEAD + tall)?;
        f.write_str("</svg>\n")
    }
}

impl MapPicture<'_> {
    /// Draws what is so of the whole map.
    fn head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (world, count) = (Escaped(short(self.world)), self.squares.len());
        let oldest = self.squares.iter().map(|(_, age)| *age).max();
        writeln!(f, "<text class=\"head\" x=\"{EDGE}\" y=\"26\">World {world}</text>")?;
        let granted = number_of(count, "square is", "squares are");
        let known = format!("{granted} granted, as far as is known");
        let known = match (self.height, oldest) {
            (Some(height), Some(age)) => {
                format!("{known}; the map is of height {height} and later, and {} old", aged(age))
            }
            _ => known,
        };
        let is_old = oldest.is_some_and(|age| age > OLD);
        let (class, more) =
            if is_old { ("amber", ", so it may have changed") } else { ("quiet", "") };
        writeln!(f, "<text class=\"{class}\" x=\"{EDGE}\" y=\"46\">{known}{more}</text>")?;
        if self.one_door {
            writeln!(f, "<text class=\"amber\" x=\"{EDGE}\" y=\"66\">{ONE_DOOR}</text>")?;
        }
        Ok(())
    }
}

/// Draws lines each 256 m, with their tiles.
fn grid(f: &mut fmt::Formatter<'_>, ground: &DrawnGround, width: i64) -> fmt::Result {
    let DrawnGround { west, south, north, .. } = *ground;
    let east = west + width / TILE;
    let between = |low: i64, high: i64| {
        let first = low.div_euclid(GRID_TILES) + 1;
        (first..).map(|n| n * GRID_TILES).take_while(move |tile| *tile < high)
    };
    if (east - west).max(north - south) / GRID_TILES > GRID_LINES_MAX {
        return Ok(());
    }
    let (top, bottom) = (ground.y(north), ground.y(south));
    for tile in between(west, east) {
        let x = ground.x(tile);
        writeln!(
            f,
            "<path class=\"grid\" d=\"M{x} {top}V{bottom}\"/>\
             <text class=\"key\" x=\"{}\" y=\"{}\">{tile}</text>",
            x + 3,
            bottom - 4
        )?;
    }
    for tile in between(south, north) {
        let y = ground.y(tile);
        writeln!(
            f,
            "<path class=\"grid\" d=\"M0 {y}H{width}\"/>\
             <text class=\"key\" x=\"3\" y=\"{}\">{tile}</text>",
            y - 3
        )?;
    }
    Ok(())
}

/// Draws a square with as many lines as it has room for. All of them are in its title.
fn draw(
    f: &mut fmt::Formatter<'_>,
    ground: &DrawnGround,
    site: &MapSite,
    age: Duration,
) -> fmt::Result {
    let square = &site.grant.square;
    let side = i64::from(square.side / 32) * TILE;
    let (x, y) = (ground.x(square.x.into()), ground.y(square.y.into()) - side);
    writeln!(f, "<g>")?;
    title(f, site, age)?;
    let mut rect = |class, inset: i64| {
        let (x, y, side) = (x + inset, y + inset, side - 2 * inset);
        writeln!(
            f,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\"/>"
        )
    };
    rect(if site.met { "up" } else { "silent" }, 1)?;
    if age > OLD {
        rect("old", 3)?;
    }
    // What lies in an element of its own is cut at the edges of that.
    let (x, y, inner) = (x + INSET, y + INSET, side - 2 * INSET);
    writeln!(f, "<svg x=\"{x}\" y=\"{y}\" width=\"{inner}\" height=\"{inner}\">")?;
    let room = usize::try_from(inner / LINE).unwrap_or_default();
    let lines = lines_of(site, age, side < NARROW);
    for (n, SquareLine { class, text }) in (1_i64..).zip(lines.iter().take(room)) {
        let (y, text) = (n * LINE - 2, Escaped(text));
        writeln!(f, "<text class=\"{class}\" x=\"2\" y=\"{y}\">{text}</text>")?;
    }
    writeln!(f, "</svg></g>")
}

/// Writes all that is known of a square, for whoever points at it.
fn title(f: &mut fmt::Formatter<'_>, site: &MapSite, age: Duration) -> fmt::Result {
    let GrantEntry { square, sim, holder, .. } = &site.grant;
    writeln!(f, "<title>square {} {}, {} m wide", square.x, square.y, square.side)?;
    writeln!(f, "sim {}\nheld by {}", Escaped(sim), Escaped(holder))?;
    let lines = lines_of(site, age, false);
    for SquareLine { class, text } in lines.iter().filter(|line| line.class != "key") {
        let whose = if *class == "name" { "called " } else { "" };
        writeln!(f, "{whose}{}", Escaped(text))?;
    }
    writeln!(f, "</title>")
}

/// Draws what the colours mean, and whose word the texts are.
fn foot(f: &mut fmt::Formatter<'_>, top: i64) -> fmt::Result {
    let (y, mut x) = (top + 12, EDGE);
    let signs = [
        ("up", "the node hears of its servers", 230),
        ("silent", "not heard of", 130),
        ("old", "proof older than a day", 190),
    ];
    for (class, text, wide) in signs {
        writeln!(
            f,
            "<rect class=\"{class}\" x=\"{}\" y=\"{y}\" width=\"16\" height=\"12\"/>\
             <text x=\"{}\" y=\"{}\">{text}</text>",
            x + 1,
            x + 24,
            y + 11
        )?;
        x += wide;
    }
    writeln!(
        f,
        "<text class=\"quiet\" x=\"{EDGE}\" y=\"{}\">Squares, holders and ages are proved. Names, \
         people and licences are what each sim says of itself.</text>",
        y + 34
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::answers::SquareEntry;

    fn site(x: i32, side: u32, label: &str) -> MapSite {
        MapSite {
            grant: GrantEntry {
                square: SquareEntry { x, y: 0, side },
                sim: "5a".repeat(32),
                holder: "abcdef0123456789".repeat(4),
                until: Some(9),
                shown: 3,
            },
            met: true,
            people: Some(4),
            label: Some(label.to_owned()),
            licence: Some("CC0-1.0".to_owned()),
            endpoints: Vec::new(),
        }
    }

    fn drawn(squares: &[(MapSite, Duration)], one_door: bool) -> String {
        let world = "77".repeat(32);
        MapPicture { world: &world, squares, height: Some(12), one_door }.to_string()
    }

    /// Returns the texts that the picture shows, with their classes, without titles.
    fn texts(picture: &str) -> Vec<(String, String)> {
        let pieces = picture.split("<text class=\"").skip(1);
        let piece = |piece: &str| {
            let (class, rest) = piece.split_once('"').unwrap();
            let text = rest.split_once('>').unwrap().1.split_once("</text>").unwrap().0;
            (class.to_owned(), text.to_owned())
        };
        pieces.map(piece).collect()
    }

    /// The picture had squares and names only.
    #[test]
    fn a_square_shows_owner_licence_people_health_and_the_age_of_its_proof() {
        let minutes = Duration::from_secs(5 * 60);
        let silent = MapSite { met: false, people: None, licence: None, ..site(8, 256, "Hall") };
        let picture = drawn(&[(site(0, 256, "Garden"), minutes), (silent, minutes)], false);
        let texts = texts(&picture);
        let has = |class: &str, text: &str| {
            assert!(texts.contains(&(class.to_owned(), text.to_owned())), "{text}: {texts:?}");
        };
        has("name", "Garden");
        has("", "4 people, heard of");
        has("", "not heard of");
        has("quiet", "proof 5 min old");
        has("key", "held by abcdef0123456789");
        has("quiet", "CC0-1.0");
        has("quiet", "licence not known");
        // One sign more of each explains it below.
        let count = |class| picture.matches(&format!("<rect class=\"{class}\"")).count();
        assert_eq!([count("up"), count("silent"), count("old")], [2, 2, 1]);
        assert!(!picture.contains("class=\"amber\""), "{picture}");
    }

    #[test]
    fn what_is_older_than_a_day_and_a_map_through_one_door_are_amber() {
        let day = Duration::from_secs(24 * 3_600);
        let (at, over) = ((site(0, 256, "a"), day), (site(8, 256, "b"), 2 * day));
        let amber = |squares: &[(MapSite, Duration)], door| {
            let picture = drawn(squares, door);
            let count = picture.matches("<rect class=\"old\"").count() - 1;
            let texts = texts(&picture).into_iter().filter(|(class, _)| class == "amber");
            (count, texts.map(|(_, text)| text).collect::<Vec<_>>())
        };
        assert_eq!(amber(std::slice::from_ref(&at), false), (0, vec![]));
        let (count, texts) = amber(&[at.clone(), over], false);
        assert_eq!((count, &*texts[1]), (1, "proof 48 hours old"));
        assert!(texts[0].ends_with("48 hours old, so it may have changed"), "{texts:?}");
        let (count, texts) = amber(&[at], true);
        assert_eq!((count, texts.len()), (0, 1));
        assert_eq!(texts[0], ONE_DOOR);
    }

    /// A sim that calls itself by the end of an element would draw over the map of whoever looks.
    #[test]
    fn what_strangers_say_is_text_and_nothing_else() {
        let name = "</text></svg><script>alert('1')</script>&\"\u{1b}\u{202e}\u{ffff}x";
        let licence = Some("<image href='http://a.example'/>".to_owned());
        let square = MapSite { licence, ..site(0, 1_024, name) };
        let picture = drawn(&[(square, Duration::ZERO)], true);
        let shown = "&lt;/text&gt;&lt;/svg&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;\
                     &amp;&quot; \u{fffd}x";
        assert!(texts(&picture).contains(&("name".to_owned(), shown.to_owned())), "{picture}");
        let long = drawn(&[(site(0, 1_024, &"a".repeat(1_000)), Duration::ZERO)], false);
        assert!(texts(&long).contains(&("name".to_owned(), "a".repeat(DRAWN_CHARS_MAX))));
        for forbidden in ["<script", "<image", "\u{1b}", "\u{202e}", "\u{ffff}"] {
            assert!(!picture.contains(forbidden), "{forbidden:?} in {picture}");
        }
        assert_eq!(picture.matches("<svg").count(), 2);
        assert_eq!(picture.matches("</svg>").count(), 2);
    }

    #[test]
    fn a_small_square_shows_what_it_has_room_for_and_tells_all_in_its_title() {
        let picture = drawn(&[(site(0, 64, "Nook"), Duration::from_secs(90))], false);
        let (title, shown) = picture.split_once("</title>").unwrap();
        let (shown, _) = shown.split_once("</svg>").unwrap();
        let shown: Vec<String> = texts(shown).into_iter().map(|(_, text)| text).collect();
        assert_eq!(shown, ["Nook", "4 people"]);
        for told in
            ["called Nook", "4 people, heard of", "proof 90 s old", "CC0-1.0", &"5a".repeat(32)]
        {
            assert!(title.contains(told), "{told}: {title}");
        }
    }

    /// Anybody may claim where a land office lets anybody. One square far out ended the command by an overflow.
    #[test]
    fn a_square_at_the_edge_of_the_plane_is_drawn_without_millions_of_grid_lines() {
        let sites = [-(1 << 30), 1 << 30].map(|x| (site(x, 64, "far"), Duration::ZERO));
        let width = ((1_i64 << 31) + 2 + 2 * FRAME_TILES) * TILE;
        let picture = drawn(&sites, false);
        assert!(picture.contains(&format!("viewBox=\"0 0 {width} ")), "{picture}");
        assert!(!picture.contains("class=\"grid\""));
        let near = [(site(0, 256, "near"), Duration::ZERO)];
        let lines = drawn(&near, false).matches("<path class=\"grid\"").count();
        assert!((2..=2 * usize::try_from(GRID_LINES_MAX).unwrap()).contains(&lines), "{lines}");
    }

    #[test]
    fn a_map_of_nothing_is_a_picture() {
        let picture = drawn(&[], false);
        assert!(picture.contains("0 squares are granted"), "{picture}");
    }
}
