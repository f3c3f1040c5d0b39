//! Places as data: genesis files and the script packages that ship with them.
