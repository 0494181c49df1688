//! Files as editors name them: `file://` URIs with percent escapes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::Uri;

/// The file that a URI names; none if it is not a file's, such as that of a text that was never saved.
pub(super) fn to_path(uri: &Uri) -> Option<PathBuf> {
    let decoded = uri.path().as_estr().decode().into_string().ok()?;
    let is_file = uri.scheme().is_some_and(|scheme| scheme.as_str().eq_ignore_ascii_case("file"));
    (is_file && decoded.starts_with('/')).then(|| PathBuf::from(&*decoded))
}

/// The URI of a file. The crate `url` leaves brackets as they are, which are not allowed there.
pub(super) fn of_path(path: &Path) -> Option<Uri> {
    let mut uri = if path.is_absolute() { "file://" } else { "file:///" }.to_owned();
    for byte in path.display().to_string().bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(byte.into());
        } else {
            write!(uri, "%{byte:02X}").ok()?;
        }
    }
    Uri::from_str(&uri).ok()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::str::FromStr;

    use super::{Uri, of_path, to_path};

    fn path(uri: &str) -> Option<PathBuf> {
        to_path(&Uri::from_str(uri).expect("a URI"))
    }

    #[test]
    fn percent_escapes_round_trip() {
        for name in ["/a b/é ü.rhai", "/plain/x.rhai", "/100%/#1?.rhai", "/[a|b]^.rhai", "/😀"] {
            let uri = of_path(Path::new(name)).expect("a URI");
            assert_eq!(to_path(&uri), Some(PathBuf::from(name)), "{}", uri.as_str());
        }
        assert_eq!(of_path(Path::new("/a b")).expect("a URI").as_str(), "file:///a%20b");
        assert_eq!(path("file:///a%20b%2fc.rhai"), Some("/a b/c.rhai".into()));
        assert_eq!(path("file://localhost/a%3Ab"), Some("/a:b".into()));
        assert_eq!(path("FILE:///a"), Some("/a".into()));
    }

    #[test]
    fn uris_of_other_schemes_have_no_path() {
        assert_eq!(path("untitled:Untitled-1"), None);
        assert_eq!(path("https://example.org/a.rhai"), None);
        assert_eq!(path("file:///%FF"), None);
    }
}
