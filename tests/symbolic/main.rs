//! Terms of kernels: what instructions make of them, and what is proved of places that none reaches.

mod transfer;
