//! What the tests of the formats share.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::{GameFormat, ImportJob, ImportShard, Resume, Source, import};
use crate::event::Silent;

/// The shards of an import, in their order.
pub(super) fn shards<F: GameFormat>(
    sources: &[Source],
    params: &F,
    from: Resume,
    lanes: u32,
) -> Vec<ImportShard> {
    let kept = Mutex::new(Vec::new());
    let keep = |shard| {
        kept.lock().expect("no lane panics").push(shard);
        Ok(())
    };
    import(ImportJob { params, sources, from }, lanes, &keep, &Silent).expect("imports");
    let mut kept: Vec<ImportShard> = kept.into_inner().expect("no lane panics");
    kept.sort_by_key(|shard| shard.index);
    kept
}

/// The path of a new file.
pub(super) fn written(folder: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).expect("writes");
    path
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).expect("packs");
    packed.finish().expect("packs")
}
