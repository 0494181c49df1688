//! Functions of numbers that are the same on every machine: those of the standard library are a system's own, whose last digits differ
//! between systems and between processors of one system.

pub(crate) use libm::{exp, log as ln, log1p as ln_1p, logf as lnf, pow, tanh, tanhf};
