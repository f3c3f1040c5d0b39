use metatopia_world::replica::stories as s;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let (from, to): (u64, u64) = (a[2].parse().unwrap(), a[3].parse().unwrap());
    let f = match a[1].as_str() {
        "visit" => s::visit, "storm" => s::storm, "dying" => s::dying_proposers, "false" => s::false_start, "slow" => s::slow_server,
        _ => panic!(),
    };
    std::panic::set_hook(Box::new(|i| eprintln!("{i}")));
    let t = std::time::Instant::now();
    let mut bad = 0;
    let (mut turns, mut acts, mut crashes, mut refused, mut receipted) = (0, 0, 0, 0, 0);
    let mut loaded = (0,0);
    let mut files = 0;
    for seed in from..to {
        let x = f(seed);
        turns += x.turns; acts += x.acts; crashes += x.crashes;
        loaded.0 += x.servers.loaded.0; loaded.1 += x.servers.loaded.1; files += x.servers.files_written;
        for p in &x.people {
            receipted += p.receipted().count();
            for (d, why) in p.refused() { refused += 1; if a.len() > 4 { println!("{seed} {} {:?} {why:?}", p.name, d); } }
            if !p.distrust.is_empty() || p.bad_frames > 0 || p.ended.is_some() { println!("{seed} {} distrust {:?} bad {} ended {:?}", p.name, p.distrust, p.bad_frames, p.ended); }
        }
        if !x.faults.is_empty() { bad += 1; println!("seed {seed}"); for f in x.faults.iter().take(4) { println!("   {}", &f[..f.len().min(1200)]); } }
    }
    println!("{} seeds {bad} bad; turns {turns} acts {acts} crashes {crashes} receipted {receipted} refused {refused} loaded {loaded:?} files {files} in {:?}", to - from, t.elapsed());
}
