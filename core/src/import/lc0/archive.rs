//! Tar archives of chunks, each with the records of a game, and chunks by themselves.

use std::io::{self, Read};

use tar::{EntryType, Header};

/// Archives are made of blocks of this many bytes.
const BLOCK: usize = 512;
/// Where the header of an entry says that it is one.
const MAGIC: usize = 257;

/// Whether content is that of an archive: the header of an entry, or the zeros that end archives.
pub(super) fn is_archive(content: &[u8]) -> bool {
    content.first_chunk::<BLOCK>().is_some_and(|block| is_end(block) || block[MAGIC..].starts_with(b"ustar"))
}

fn is_end(block: &[u8]) -> bool {
    block.iter().all(|byte| *byte == 0)
}

/// How much of an archive's content is whole.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Whole {
    /// Bytes of whole entries.
    pub(super) bytes: usize,
    /// Whether they end with the archive's mark, a block of zeros.
    pub(super) has_end: bool,
    /// The size of the first entry that is not whole, if its header is.
    pub(super) next: Option<u64>,
}

/// Finds the whole entries at the start of an archive's content. An error if a header is damaged.
pub(super) fn whole_entries(content: &[u8]) -> io::Result<Whole> {
    let (mut at, mut whole) = (0, Whole::default());
    while let Some(block) = content.get(at..at + BLOCK) {
        if is_end(block) {
            at += BLOCK;
            whole = Whole { bytes: at, has_end: true, next: None };
            continue;
        }
        let header = checked(block)?;
        let size = header.entry_size()?;
        let end = usize::try_from(size).ok().and_then(|size| size.checked_next_multiple_of(BLOCK));
        let end = end.and_then(|size| size.checked_add(at + BLOCK)).filter(|end| *end <= content.len());
        let Some(end) = end else {
            whole.next = Some(size);
            break;
        };
        at = end;
        // These say more of the entry that follows.
        let is_about_next = matches!(
            header.entry_type(),
            EntryType::GNULongName | EntryType::GNULongLink | EntryType::XHeader | EntryType::XGlobalHeader
        );
        if !is_about_next {
            whole = Whole { bytes: at, has_end: false, next: None };
        }
    }
    Ok(whole)
}

/// The header of an entry, if its checksum is right.
fn checked(block: &[u8]) -> io::Result<&Header> {
    let header = Header::from_byte_slice(block);
    let mut same = header.clone();
    same.set_cksum();
    if same.cksum()? == header.cksum()? {
        return Ok(header);
    }
    let name = String::from_utf8_lossy(&header.path_bytes()).into_owned();
    Err(io::Error::other(format!("the header of the entry {name:?} has another checksum than its content")))
}

/// An entry of an archive.
pub(super) struct Entry {
    /// Its name.
    pub(super) name: String,
    /// Its content, or why it has none.
    pub(super) content: Result<Vec<u8>, String>,
}

/// The files in the whole entries of an archive, without folders, notes such as a licence, and what is said of the whole archive.
pub(super) fn entries(content: &[u8]) -> Vec<Entry> {
    let mut archive = tar::Archive::new(content);
    archive.set_ignore_zeros(true);
    let unread = |error: io::Error| Entry { name: String::new(), content: Err(error.to_string()) };
    let entries = match archive.entries() {
        Ok(entries) => entries,
        Err(error) => return vec![unread(error)],
    };
    let entry = |entry: io::Result<tar::Entry<'_, &[u8]>>| {
        let mut entry = match entry {
            Ok(entry) => entry,
            Err(error) => return Some(unread(error)),
        };
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let kind = entry.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() || is_note(&name) {
            return None;
        }
        let mut bytes = Vec::new();
        let content = if kind.is_file() || kind.is_contiguous() {
            entry.read_to_end(&mut bytes).map(|_| bytes).map_err(|error| error.to_string())
        } else {
            Err("it is no file of its own".to_owned())
        };
        Some(Entry { name, content })
    };
    entries.filter_map(entry).collect()
}

/// Whether a file in an archive is there to be read by people.
fn is_note(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    ["LICENSE", "COPYING", "README"].iter().any(|note| name.starts_with(note))
}

/// The name of the first file of an archive, and the start of its content, as far as they are in `head`.
pub(super) fn first_file(head: &[u8]) -> io::Result<Option<(String, &[u8])>> {
    let mut at = 0;
    while let Some(block) = head.get(at..at + BLOCK) {
        if is_end(block) {
            at += BLOCK;
            continue;
        }
        let header = checked(block)?;
        let name = String::from_utf8_lossy(&header.path_bytes()).into_owned();
        let rest = &head[at + BLOCK..];
        let size = usize::try_from(header.entry_size()?).unwrap_or(usize::MAX);
        if header.entry_type().is_file() && !is_note(&name) {
            return Ok(Some((name, &rest[..rest.len().min(size)])));
        }
        at = size
            .checked_next_multiple_of(BLOCK)
            .and_then(|size| size.checked_add(at + BLOCK))
            .unwrap_or(usize::MAX - BLOCK);
    }
    Ok(None)
}
