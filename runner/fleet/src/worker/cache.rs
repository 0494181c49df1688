//! The folder that keeps nets and other files between steps, by their digests.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::SystemTime;

use dc0_core::durable;
use dc0_core::poison::IgnorePoison as _;
use dc0_process::command::Failure;
use dc0_process::exit::Exit;

/// The folder.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    /// The most bytes that it keeps.
    most: u64,
    /// Held while files are added and removed.
    lock: Mutex<()>,
}

impl Cache {
    /// Makes the folder.
    pub(super) fn open(folder: PathBuf, most: u64) -> Result<Self, Failure> {
        fs::create_dir_all(&folder).map_err(|cause| {
            let problem = format!(
                "cannot make the cache folder {}: {cause}; give another with --cache",
                folder.display()
            );
            Failure::new(Exit::Storage, problem)
        })?;
        Ok(Self { folder, most, lock: Mutex::new(()) })
    }

    /// The file of a digest; `None` if it is not there, or damaged.
    pub(super) fn get(&self, blake3: &str) -> Option<Vec<u8>> {
        let path = self.folder.join(blake3);
        let content = fs::read(&path).ok()?;
        if durable::digest(&content) == blake3 {
            return Some(content);
        }
        log::warn!("{} is damaged and fetched again", path.display());
        None
    }

    /// Keeps a file, and removes the oldest ones if there are too many. A full disk only costs another transfer.
    pub(super) fn put(&self, blake3: &str, content: &[u8]) {
        let _lock = self.lock.lock().ignore_poison();
        let path = self.folder.join(blake3);
        let kept = if content.len() as u64 <= self.most { durable::write(&path, content) } else { Ok(()) };
        if let Err(cause) = kept.and_then(|()| self.shrink()) {
            log::warn!("{} cannot be kept: {cause}", path.display());
        }
    }

    fn shrink(&self) -> std::io::Result<()> {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let about = entry.metadata()?;
            // The folder may hold other things, which are the user's.
            if about.is_file() && is_digest(&entry.file_name().to_string_lossy()) {
                files.push((about.modified()?, about.len(), entry.path()));
            }
        }
        files.sort();
        let mut bytes: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, size, path) in files {
            if bytes <= self.most {
                break;
            }
            fs::remove_file(path)?;
            bytes -= size;
        }
        Ok(())
    }
}

/// Whether a text is a blake3 digest: 64 hex digits.
pub(super) fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use dc0_core::durable::digest;

    use super::Cache;

    #[test]
    fn damaged_files_are_not_used_and_the_oldest_go_first() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let cache = Cache::open(folder.path().join("deep"), 100).expect("makes the folder");
        fs::create_dir(folder.path().join("deep/lost+found")).expect("makes");
        fs::write(folder.path().join("deep/thesis.txt"), [0; 400]).expect("writes");
        let files: Vec<Vec<u8>> = (0..3u8).map(|byte| vec![byte; 40]).collect();
        let names: Vec<String> = files.iter().map(|file| digest(file)).collect();
        for (name, file) in names.iter().zip(&files) {
            cache.put(name, file);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let kept: Vec<bool> = names.iter().map(|name| cache.get(name).is_some()).collect();
        assert_eq!(kept, [false, true, true]);
        fs::write(folder.path().join("deep").join(&names[2]), b"other").expect("writes");
        assert_eq!(cache.get(&names[2]), None);
        cache.put("large", &[0; 101]);
        assert!(!folder.path().join("deep/large").exists());
        assert!(folder.path().join("deep/thesis.txt").exists(), "is the user's");
    }
}
