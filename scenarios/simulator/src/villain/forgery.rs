//! Dispatches that nobody stands for but one lying server: what a neighbour said, made into something else.

use metatopia_types::{
    BorderVerdict, Certificate, Digest, Dispatch, DispatchedState, Header, Link, Millis, Root,
    Round, Said, Sign, SimId, StateProof, Validator, ValidatorSet, ValidatorsId, Vote, VoteKind,
    leaf_hash, merkle, said_key,
};

/// How many ways there are to forge a dispatch.
const FORGERIES: u64 = 7;

/// Makes something else of a dispatch, in one of so many ways. There is nothing to forge in what is none, or has
/// links only.
pub(crate) fn forged(bytes: &[u8], liar: &dyn Sign, number: u64) -> Option<Vec<u8>> {
    let mut dispatch = Dispatch::decode(bytes).ok()?;
    let state = dispatch.state.as_mut()?;
    match number % FORGERIES {
        0 => state.header.time = Millis(state.header.time.0 + 60_000),
        1 => {
            let header = state.header.clone();
            state.certificate = certificate(&header, liar);
        }
        2 => {
            let at = (number as usize * 7_919) % state.said.content.len();
            state.said.content[at] ^= 1;
        }
        3 => {
            let parcel = state.parcels.first_mut()?;
            let at = (number as usize * 7_919) % parcel.len();
            parcel[at] ^= 1;
        }
        4 => state.said.key = said_key(SimId(Digest::ZERO)),
        5 => *state = taken_all(state, state.header.validators, liar)?,
        _ => {
            let set = ValidatorSet::new(vec![Validator { key: liar.public(), power: 1 }], |_| true);
            let set = set.ok()?;
            dispatch.links.push(usurped(&state.header, &set, liar));
            *state = taken_all(state, set.id(), liar)?;
        }
    }
    Some(dispatch.blob().0)
}

/// Signs a header alone.
fn certificate(header: &Header, liar: &dyn Sign) -> Certificate {
    let (height, round, id) = (header.height, Round(0), header.id());
    let voter = liar.public();
    let vote = Vote { kind: VoteKind::Precommit, height, round, header: Some(id), voter };
    let signature = liar.sign(&vote.sign_bytes(header.sim));
    Certificate { height, round, header: id, signatures: vec![(voter, signature)] }
}

/// Makes a later state up, certified by the liar alone, in which all that may come was taken and nothing departs.
fn taken_all(
    state: &DispatchedState,
    validators: ValidatorsId,
    liar: &dyn Sign,
) -> Option<DispatchedState> {
    let mut said = Said::decode(&state.said.content).ok()?;
    let numbers = said.in_next..said.in_next + 4;
    said.verdicts = numbers.map(|number| BorderVerdict { number, refused: None }).collect();
    said.in_next += 4;
    said.departures.clear();
    said.height = said.height.plus(1_000);
    said.time = said.time.plus(50_000);
    let (key, content) = (state.said.key.clone(), said.encode());
    let leaf = leaf_hash(&key, &Digest(*blake3::hash(&content).as_bytes()));
    let place = merkle::Proof::of(&[leaf], 0)?;
    let header = Header {
        height: state.header.height.plus(1_000),
        time: said.time,
        root: Root(leaf),
        validators,
        next_validators: validators,
        ..state.header.clone()
    };
    let certificate = certificate(&header, liar);
    let said = StateProof { key, content, place };
    Some(DispatchedState { header, certificate, said, parcels: Vec::new() })
}

/// Makes a change up after which nobody votes but this set, certified by the liar alone.
fn usurped(header: &Header, set: &ValidatorSet, liar: &dyn Sign) -> Link {
    let header = Header { next_validators: set.id(), ..header.clone() };
    let certificate = certificate(&header, liar);
    Link { header, certificate, next: set.members().to_vec() }
}
