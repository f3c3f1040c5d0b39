//! What a world does with decided turns.

mod building;
mod genesis;
mod hands;
mod large;
mod leaves;
mod order;
mod passers_by;
mod room;
mod seats;
mod servers;
mod sessions;
mod snapshots;
mod speech;
mod storm;
mod succession;
mod thrift;
mod tiles;
mod timers;
mod totality;
mod undoing;
mod yard;
