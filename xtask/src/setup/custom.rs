//! A libtorch of the user's own, named by the environment variable LIBTORCH.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::ensure;

use super::{Options, VERSION};

/// The user's folder, if LIBTORCH names one. Cargo's configuration sets the variable to the checkout's own folder when
/// the user did not, so that value means "none".
pub(super) fn folder(variable: Option<OsString>, checkout_folder: &Path) -> Option<PathBuf> {
    let own = PathBuf::from(variable?);
    let is_default = own == checkout_folder;
    (!is_default).then_some(own)
}

/// Checks that a build can use the folder, and returns a description of its version. Only `cuda` of the options has a meaning for it.
pub(super) fn check(own: &Path, options: &Options) -> anyhow::Result<String> {
    let shown = own.display();
    ensure!(
        options.wheels.is_none(),
        "LIBTORCH is {shown}, and --wheels is for a libtorch that set-up installs; leave it out, or unset LIBTORCH"
    );
    ensure!(own.is_absolute(), "LIBTORCH is `{shown}`; it must be an absolute path, or not be set");
    for (what, path) in [("headers", "include/torch/csrc/api/include/torch/torch.h"), ("libraries", "lib")] {
        ensure!(
            own.join(path).exists(),
            "LIBTORCH is {shown}, which holds no libtorch {what} ({path} is missing); name the folder that holds \
             include and lib, or unset LIBTORCH and run `cargo xtask setup`"
        );
    }
    ensure!(
        !options.cuda || own.join("lib/libtorch_cuda.so").exists(),
        "LIBTORCH is {shown}, which has no lib/libtorch_cuda.so; unset LIBTORCH to let --cuda fetch one"
    );
    match version(own) {
        Some(found) => {
            let plain = found.split('+').next().unwrap_or_default();
            ensure!(plain == VERSION, "LIBTORCH is {shown}, which is version {found}; dc0 needs {VERSION}");
            Ok(format!("{found} (yours)"))
        }
        None => Ok("of unknown version (yours)".to_owned()),
    }
}

/// The version stored in the folder: `build-version` in PyTorch's archives, `version.py` in a Python package.
fn version(own: &Path) -> Option<String> {
    if let Ok(text) = fs::read_to_string(own.join("build-version")) {
        return Some(text.trim().to_owned());
    }
    let text = fs::read_to_string(own.join("version.py")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("__version__ = "))?;
    Some(line.trim_matches(['\'', '"']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(version_file: &str, text: &str) -> std::io::Result<tempfile::TempDir> {
        let folder = tempfile::tempdir()?;
        let headers = folder.path().join("include/torch/csrc/api/include/torch");
        fs::create_dir_all(&headers)?;
        fs::create_dir(folder.path().join("lib"))?;
        fs::write(headers.join("torch.h"), "")?;
        fs::write(folder.path().join(version_file), text)?;
        Ok(folder)
    }

    #[test]
    fn the_default_of_cargos_configuration_is_not_the_users() {
        let default = Path::new("/checkout/.libtorch");
        assert_eq!(folder(None, default), None);
        assert_eq!(folder(Some("/checkout/.libtorch".into()), default), None);
        assert_eq!(folder(Some("/opt/libtorch".into()), default), Some(PathBuf::from("/opt/libtorch")));
    }

    #[test]
    fn only_the_right_version_is_accepted() -> std::io::Result<()> {
        let good = folder_with("version.py", "debug = False\n__version__ = '2.11.0+cu130'\n")?;
        assert_eq!(check(good.path(), &Options::default()).ok().as_deref(), Some("2.11.0+cu130 (yours)"));
        let old = folder_with("build-version", "2.10.0\n")?;
        let message = check(old.path(), &Options::default()).expect_err("too old").to_string();
        assert!(message.contains("version 2.10.0; dc0 needs 2.11.0"), "{message}");
        Ok(())
    }

    #[test]
    fn an_option_for_an_installation_of_set_up_is_refused() -> std::io::Result<()> {
        let own = folder_with("build-version", "2.11.0")?;
        let options = Options { wheels: Some(PathBuf::from("wheels")), ..Options::default() };
        let message = check(own.path(), &options).expect_err("without effect").to_string();
        assert!(message.contains("unset LIBTORCH"), "{message}");
        Ok(())
    }

    #[test]
    fn names_what_is_missing() -> std::io::Result<()> {
        let empty = tempfile::tempdir()?;
        let message = check(empty.path(), &Options::default()).expect_err("nothing there").to_string();
        assert!(message.contains("no libtorch headers"), "{message}");
        let cpu = folder_with("build-version", "2.11.0")?;
        let message = check(cpu.path(), &Options { cuda: true, ..Options::default() })
            .expect_err("no CUDA there")
            .to_string();
        assert!(message.contains("libtorch_cuda.so"), "{message}");
        Ok(())
    }
}
