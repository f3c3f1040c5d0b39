//! A client session, its view of the world, and the light client, sans-IO.
