//! Paths that are not UTF-8 are refused here, once and for every command: runs record paths, and SQL, JSON and manifests have them as
//! text, in which such a path would become another one.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::path::Path;

/// An error if an argument is not UTF-8, or leads to a file or folder whose real path is not.
pub(crate) fn check_arguments(args: impl IntoIterator<Item = OsString>) -> Result<(), String> {
    for arg in args {
        let Some(text) = arg.to_str() else {
            return Err(format!("the argument \"{}\" is not UTF-8; {ADVICE}", escaped(&arg)));
        };
        // `--out=PATH`, `--set path=PATH` and the like.
        let values = std::iter::once(text).chain(text.split_once('=').map(|(_, value)| value));
        values.map(Path::new).try_for_each(check_real_path)?;
    }
    Ok(())
}

/// An error if the working folder has a path that is not UTF-8.
pub(crate) fn check_working_folder() -> Result<(), String> {
    check_real_path(Path::new("."))
}

const ADVICE: &str = "rename that file or folder";

/// Paths that do not exist are left to those who open them.
fn check_real_path(path: &Path) -> Result<(), String> {
    let real = path.canonicalize().unwrap_or_default();
    if real.to_str().is_some() {
        return Ok(());
    }
    let (path, real) = (path.display(), escaped(real.as_os_str()));
    Err(format!("\"{path}\" is \"{real}\", which is not UTF-8; {ADVICE}"))
}

/// The name with its bytes, such as `a\xff`.
fn escaped(name: &OsStr) -> impl Display {
    name.as_encoded_bytes().escape_ascii()
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use super::check_arguments;

    #[test]
    fn an_argument_that_is_no_text_is_named_with_its_bytes() {
        let check = |args: &[&[u8]]| check_arguments(args.iter().map(|arg| OsString::from_vec(arg.to_vec())));
        assert_eq!(check(&[b"dc0-run", b"sql", b"r\xc3\xa9sum\xc3\xa9", b"--out=\xe2\x82\xac"]), Ok(()));
        let error = check(&[b"dc0-run", b"--out", b"a\xff"]).expect_err("no text");
        assert_eq!(error, "the argument \"a\\xff\" is not UTF-8; rename that file or folder");
    }
}
