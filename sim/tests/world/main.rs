//! What a world does with decided turns.

mod building;
mod byte_budget;
mod capsules;
mod course;
mod forgetting;
mod genesis;
mod interaction;
mod large;
mod leaves;
mod movable;
mod order;
mod seat_model;
mod seats;
mod servers;
mod sessions;
mod snapshots;
mod speech;
mod storm;
mod succession;
mod thrift;
mod tickets;
mod tiles;
mod timers;
mod totality;
mod undoing;
mod yard;
