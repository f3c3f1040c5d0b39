//! Numbers of 32 bits without an alignment of their own: loaded operations with them
//! take eight bytes, and not twelve.

use core::fmt;

use serde::{Deserialize, Serialize};

/// What a [`super::IrOp::Charge`] pays, in nanoseconds of the reference machine.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "u32", into = "u32")]
pub(crate) struct PackedPrice([u8; 4]);

/// A small whole number that stands in the source.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "i32", into = "i32")]
pub(crate) struct PackedInt([u8; 4]);

/// Makes each of the types from its number, and the number from it.
macro_rules! packed {
    ($($packed:ident, $number:ident, $wide:ident;)*) => {$(
        impl From<$number> for $packed {
            fn from(number: $number) -> Self {
                Self(number.to_le_bytes())
            }
        }

        impl From<$packed> for $number {
            fn from($packed(bytes): $packed) -> Self {
                Self::from_le_bytes(bytes)
            }
        }

        impl From<$packed> for $wide {
            #[inline]
            fn from($packed(bytes): $packed) -> Self {
                Self::from($number::from_le_bytes(bytes))
            }
        }

        impl fmt::Debug for $packed {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $number::from_le_bytes(self.0).fmt(f)
            }
        }
    )*};
}

packed! {
    PackedPrice, u32, u64;
    PackedInt, i32, i64;
}
