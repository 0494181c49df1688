//! Tests of the analysis by its public interface, in one program, because linking takes longer than testing.

mod queries;
mod reports;
