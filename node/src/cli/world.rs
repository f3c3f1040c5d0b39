//! `world` founds a world of many sims, claims land in one, shows its map, and finds who owns a point.

pub(super) mod claim;
mod desk;
pub(super) mod find;
pub(super) mod found;
mod grant;
mod invite;
mod learned;
mod map;
mod member;
mod picture;
pub(super) mod square;
pub(super) mod travel;
mod visit;

use clap::Subcommand;

use super::{
    console::Console,
    failure::Failure,
    sim::{self, SimCommand, SimShowArgs, succeed::SucceedArgs, verify::SimVerifyArgs},
};

#[derive(Debug, Subcommand)]
pub(super) enum WorldCommand {
    /// Found a world: make its land office, the first sim, with a square of its own.
    #[command(after_help = "Examples:\n  \
        metatopia world new my-world --servers 1\n  \
        metatopia world new my-world --place my-place --side 512\n  \
        metatopia up --data-dir my-world                     it runs\n\n\
        A world's id is the id of its land office, an ordinary sim whose state also says who holds \
        which square.\nOthers claim squares beside granted ones by `metatopia world claim`; the \
        holder there, or an admin\n(admin.key), vouches for them. The land office is on no hot path: \
        while it is away nothing stops\nbut claims.")]
    New(found::NewWorldArgs),
    /// Claim a square beside a sim of a world, for a new sim in a new directory.
    #[command(after_help = "Examples:\n  \
        metatopia world claim garden --node http://127.0.0.1:8080 --edge east --sponsor \
        my-world/admin.key\n  \
        metatopia world claim garden --beside SIM --edge north --side 256 --vouch TEXT\n  \
        metatopia up --data-dir garden                       it runs\n\n\
        The claim needs the word of whoever holds land beside the square, or of an admin of the land \
        office:\ntheir key file (--sponsor), or what they made by `metatopia world vouch` (--vouch). \
        An admin's own claim\nneeds none. If another sim is faster, the next free square on that side \
        is claimed, and with --only\nnone. Exit code 4 when the claim is refused; the same command \
        goes on with the directory as it is.")]
    Claim(claim::WorldClaimArgs),
    /// Vouch for somebody's claim of a square beside your own.
    #[command(after_help = "Example:\n  \
        metatopia world vouch --key admin.key --world WORLD --claim SIM:X:Y:SIDE:CLAIMER\n\n\
        `metatopia world claim --ask` prints the text of --claim. What this prints goes to --vouch of \
        their claim.\nEach holder vouches for one claim a week.")]
    Vouch(claim::VouchArgs),
    /// Give a square to another holder.
    #[command(after_help = "Example:\n  \
        metatopia world give 8:0:256 --to KEY --key garden/admin.key\n\n\
        The new holder has logged in at the land office once, and has room for a square. Who runs the \
        sim there\ndoes not change, and its admins neither: see `metatopia admin`. Exit code 4 when \
        it is refused.")]
    Give(grant::GiveArgs),
    /// Give a square back, so that anybody may claim it.
    #[command(after_help = "Example:\n  \
        metatopia world release 8:0:256 --key garden/admin.key\n\n\
        The sim goes on without a square, and can claim none again: its genesis names this one.")]
    Release(grant::SquareArgs),
    /// Name the keys that sign the addresses of a square's sim.
    #[command(after_help = "Examples:\n  \
        metatopia world beacons 8:0:256 --of garden --key garden/admin.key\n  \
        metatopia world beacons 8:0:256 --beacon KEY,KEY --key garden/admin.key\n\n\
        Each of the first four servers has such a key in overlay/beacon.key of its data directory. Name \
        them anew\nwhen one was lost or stolen: addresses that other keys signed are worth nothing \
        from then on.")]
    Beacons(grant::BeaconsArgs),
    /// Pass a square to the successor of its sim.
    #[command(after_help = "Examples:\n  \
        metatopia sim succeed garden/server-0 --name garden --data-dir garden-2\n  \
        metatopia world succession 8:0:256 --to garden-2 --key garden/admin.key\n  \
        metatopia up --data-dir garden-2                     it runs\n\n\
        The holder says who carries on; anybody can found a sim that calls itself a successor.")]
    Succession(grant::SuccessionArgs),
    /// Take back a square whose sim never ran, as an admin of the land office.
    #[command(after_help = "Example:\n  \
        metatopia world take-back 8:0:256 --key my-world/admin.key\n\n\
        Exit code 4 when the sim has shown a header: then the square is its holder's until it is not \
        renewed.")]
    TakeBack(grant::SquareArgs),
    /// Show the map of a world: its sims, owners and people.
    #[command(after_help = "Examples:\n  \
        metatopia world map --node http://127.0.0.1:8080\n  \
        metatopia world map --svg map.svg\n\n\
        Every part of the map is proved by signatures of more than two thirds of the land office's \
        servers;\nhow many people are somewhere is what that place says of itself. The map is as far \
        as that node knows it.")]
    Map(map::MapArgs),
    /// Find who owns a point, with the proof, and where its servers are.
    #[command(after_help = "Examples:\n  \
        metatopia world find 9 2 --node http://127.0.0.1:8080\n  \
        metatopia world find -4 0 --data-dir me           asks the world by itself\n\n\
        X and Y count tiles of 32 m eastwards and northwards from the origin of the world. The \
        proof is checked here,\nand nobody is believed. Exit code 3 when the point is nobody's, 5 \
        when nobody proves who owns it.")]
    Find(find::FindArgs),
    /// Go to the sim that owns a point: walk, talk and look around there, in words.
    #[command(after_help = "Example:\n  \
        metatopia world visit 9 2 --key me.key\n\n\
        The owner is found and proved as by `metatopia world find`. At most 4 of its servers are asked at \
        once, and\nthe fastest one is taken; the others are the next ones if it is lost. Exit code 3 when \
        the point is nobody's.")]
    Visit(visit::VisitArgs),
    /// Make an invite to a world: one line of text, by which others join it.
    #[command(after_help = "Examples:\n  \
        metatopia world invite --node http://203.0.113.5:8080\n  \
        metatopia world join INVITE me\n  \
        metatopia world find 9 2 --invite INVITE\n\n\
        It names the world, up to 4 nodes to ask, and the height of the map that the node proves: nothing \
        older counts\nfor whoever takes it. It is no secret, lets nobody into a sim, and proves nothing: \
        whoever takes it trusts whoever\nhands it out that this is the world that is meant. Its nodes \
        need no trust, because all that they prove is held\nagainst the id of the world.")]
    Invite(invite::WorldInviteArgs),
    /// Learn a world by an invite, or by the address of one of its nodes, and keep what is needed to find it
    /// again.
    #[command(after_help = "Examples:\n  \
        metatopia world join metatopia-world1... me        what `metatopia world invite` printed\n  \
        metatopia world join http://127.0.0.1:8080 me\n\n\
        The nodes of an invite are tried in turn. One of another world is refused, and so is one that \
        proves no map as\nnew as the invite's. Trust whoever handed out the invite, or the node whose \
        address you type, that this is the\nworld that is meant: --world says which it must be.")]
    Join(member::JoinWorldArgs),
    /// Take part in a world without a sim: route and answer for others, until it is stopped.
    #[command(after_help = "Examples:\n  \
        metatopia world join http://127.0.0.1:8080 me\n  \
        metatopia world member me")]
    Member(member::MemberArgs),
    /// The old word for `sim succeed`.
    #[command(hide = true)]
    Succeed(SucceedArgs),
    /// The old word for `sim show`.
    #[command(hide = true)]
    Show(SimShowArgs),
    /// The old word for `sim verify`.
    #[command(hide = true)]
    Verify(SimVerifyArgs),
}

pub(super) fn run(command: WorldCommand, console: Console) -> Result<(), Failure> {
    let old = |name: &str, command| {
        console.warn(&format!(
            "`{name}` is a command of `metatopia sim` now; the next release drops the old word"
        ));
        sim::run(command, console)
    };
    match command {
        WorldCommand::New(args) => found::run(&args, console),
        WorldCommand::Claim(args) => super::wait(claim::run(args, console)),
        WorldCommand::Vouch(args) => claim::vouch(&args, console),
        WorldCommand::Give(args) => super::wait(grant::give(args, console)),
        WorldCommand::Release(args) => super::wait(grant::release(args, console)),
        WorldCommand::Beacons(args) => super::wait(grant::beacons(args, console)),
        WorldCommand::Succession(args) => super::wait(grant::succession(args, console)),
        WorldCommand::TakeBack(args) => super::wait(grant::take_back(args, console)),
        WorldCommand::Map(args) => super::wait(map::run(args, console)),
        WorldCommand::Find(args) => super::wait(find::run(args, console)),
        WorldCommand::Visit(args) => super::wait(visit::run(args, console)),
        WorldCommand::Invite(args) => super::wait(invite::run(args, console)),
        WorldCommand::Join(args) => super::wait(member::join(args, console)),
        WorldCommand::Member(args) => super::wait(member::run(args, console)),
        WorldCommand::Succeed(args) => old("succeed", SimCommand::Succeed(args)),
        WorldCommand::Show(args) => old("show", SimCommand::Show(args)),
        WorldCommand::Verify(args) => old("verify", SimCommand::Verify(args)),
    }
}
