//! Crossing: what two sims side by side say of whom and what goes from one to the other.
//!
//! A sim keeps one leaf for each neighbour: what it [says](Said) to it. A [`Dispatch`] is that leaf in a
//! certified state, with the [parcels](Parcel) that it tells of. It is state, and no message: one that comes
//! twice, late or never does no harm, because the next one says all that counts again.

mod dispatch;
mod frame;
mod order;
mod parcel;
mod reasons;
mod said;

pub use dispatch::{DISPATCH_FORMAT, Dispatch, DispatchedState, HearRefusal, ProvedSaid, Worth};
pub use frame::{BorderFrame, FRAME_METRE, FRAME_SPEED, FrameBody, FrameShape};
pub use order::{BorderOrder, BorderRefusal};
pub use parcel::{
    BorderGuest, Companions, Parcel, ParcelError, TravellingJoint, TravellingPerson,
    TravellingScript, TravellingThing,
};
pub use reasons::{HandRefusal, HomeReason, PassRefusal, TravelRefusal};
pub use said::{
    BorderDeparture, BorderVerdict, BroughtThing, CrossingPass, HandsMark, NearPerson, Said,
    SaidError, Traveller, said_key,
};
