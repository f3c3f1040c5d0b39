//! The state that a successor begins with, out of what somebody kept.

use std::path::{Path, PathBuf};

use metatopia_consensus::{Base, JoinPack, JoinPackError, Trust};
use metatopia_sim::{Genesis, Parent, World};
use metatopia_store::{FileKind, FileName, Folder, read_identity, scan};
use metatopia_types::{Ed25519, Height, limits::ROOT_LAG, wire::DecodeError};

use crate::{
    cli::{
        bisect::tools, failure::Failure, genesis_file::read_genesis, kept_state::ServerFiles,
        sources::only_directory, up::world::GENESIS,
    },
    disk::DataDirectory,
    first_state::read_snapshot,
};

/// See the module.
pub(super) struct Heir {
    pub(super) base: Base,
    pub(super) world: World,
    /// What shows that this is the parent's state.
    pub(super) proof: Option<JoinPack>,
}

/// Why a proof shows nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum ParentProofError {
    #[error("it is malformed: {0}")]
    Decode(#[from] DecodeError),
    #[error(transparent)]
    Chain(#[from] JoinPackError),
    #[error("the genesis is that of another sim than the parent")]
    OtherSim,
    #[error("the genesis names no set of validators: {0}")]
    Validators(#[from] metatopia_types::ValidatorSetError),
    #[error("it is for another state than the parent's")]
    OtherState,
}

impl Heir {
    /// From the data directory of a server, or from a snapshot file.
    ///
    /// # Errors
    /// When there is nothing, when a server runs on it, or what there is does not hold.
    pub(super) fn read(path: &Path, genesis: Option<&Path>) -> Result<Self, Failure> {
        if path.is_dir() {
            return Self::directory(&only_directory(path)?, genesis);
        }
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let kind = FileName::parse(Folder::Snapshots, name).map(|file| file.kind);
        let Some(FileKind::Snapshot(height, root)) = kind else {
            return Err(not_a_snapshot(path));
        };
        let (base, world) = read_snapshot(path, height, root, &tools())?;
        Ok(Self { base, world, proof: None })
    }

    fn directory(dir: &Path, genesis: Option<&Path>) -> Result<Self, Failure> {
        let name = dir.display().to_string();
        let wrong = |why: String| Failure::unverified(format!("{name}: {why}"));
        let file = genesis.map_or_else(|| dir.join(GENESIS), PathBuf::from);
        let genesis = read_genesis(&file)?;
        let disk = DataDirectory::open(dir).map_err(|error| Failure::failed(error.to_string()))?;
        disk.is_free().map_err(|error| {
            Failure::refused(error.to_string()).hint(
                "a world whose servers run needs no successor; if this one alone is left, stop it \
                 first",
            )
        })?;
        let identity = read_identity(&disk).map_err(|error| wrong(error.to_string()))?;
        if identity.is_some_and(|identity| identity.sim != genesis.id()) {
            return Err(wrong(format!("the genesis is that of sim {}", genesis.id())));
        }
        let index = scan(&disk, genesis.id()).map_err(|error| wrong(error.to_string()))?.index;
        let archive = ServerFiles {
            name: name.clone(),
            genesis: &genesis,
            file: &file,
            disk: &disk,
            index: &index,
        };
        let tip = archive.tip();
        // The header of a turn proves the state two turns before it.
        let proved = tip.minus(ROOT_LAG).filter(|height| *height > Height(0)).ok_or_else(|| {
            let message = format!("{name} holds {tip} turns: too few to prove a state");
            Failure::refused(message).hint("a world that has hardly begun can be begun again")
        })?;
        let kept_state = archive.after(proved)?;
        let proof = kept_state.proof().ok_or_else(|| wrong("its last turns are missing".into()))?;
        let parent = parent_of(&kept_state.world, Some(&proof));
        check_proof(&parent, &genesis).map_err(|why| wrong(format!("its certificates: {why}")))?;
        Ok(Self { base: kept_state.base(false), world: kept_state.world, proof: Some(proof) })
    }

    /// How a genesis names it.
    pub(super) fn parent(&self) -> Parent {
        parent_of(&self.world, self.proof.as_ref())
    }
}

fn parent_of(world: &World, proof: Option<&JoinPack>) -> Parent {
    Parent {
        sim: world.sim(),
        height: world.height(),
        root: world.root(),
        proof: proof.map(JoinPack::encode).unwrap_or_default(),
    }
}

/// Did the parent's servers sign for its root? Its genesis says who they were.
///
/// # Errors
/// See [`ParentProofError`].
pub(super) fn check_proof(parent: &Parent, genesis: &Genesis) -> Result<(), ParentProofError> {
    if genesis.id() != parent.sim {
        return Err(ParentProofError::OtherSim);
    }
    let pack = JoinPack::decode(&parent.proof)?;
    let trust = Trust { height: Height(0), validators: genesis.first_validators()? };
    let checkpoint = pack.verify(parent.sim, &trust, &Ed25519)?;
    let same = checkpoint.height == parent.height && checkpoint.root == parent.root;
    if same { Ok(()) } else { Err(ParentProofError::OtherState) }
}

fn not_a_snapshot(path: &Path) -> Failure {
    let name = path.display();
    if path.exists() {
        let message = format!("{name} is neither a data directory nor a server's snapshot");
        return Failure::usage(message)
            .hint("a snapshot has the name that it had in the folder `snapshots`");
    }
    Failure::not_found(format!("there is no {name}"))
}
