//! Passes, each IR to IR plus the layout of its part of the probe buffer.
