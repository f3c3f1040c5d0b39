//! Crossing between sims: two or three pure worlds, and everything that can happen to their words.

mod borders;
mod chaos;
mod corners;
mod ghosts;
mod halves;
mod hands;
mod lies;
mod luggage;
mod mechanisms;
mod people;
mod portals;
mod refusers;
mod rolling;
mod seats;
mod sending_home;
mod thing_lies;
mod things;
mod town;
mod undone;
mod unread;
