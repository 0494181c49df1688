//! What the results of floating-point nets depend on: the program, the libraries, the processor and the device.

use std::sync::OnceLock;
use std::{env, fs};

use dc0_core::durable;
use dc0_core::network::torch::runtime;
use dc0_steps::executor::{Evaluation, FORMAT};

use crate::names::{Route, shortened};

/// What this process is.
#[derive(Debug, Clone)]
pub(crate) struct Platform {
    /// The version of dc0.
    dc0: &'static str,
    /// A digest of the program.
    program: String,
    /// Versions of the libraries, and the features of the processor that they use.
    libraries: String,
    /// The processor's model.
    processor: String,
}

impl Platform {
    /// That of this process.
    pub(crate) fn here() -> Self {
        static PROGRAM: OnceLock<String> = OnceLock::new();
        let digest = || {
            let read = env::current_exe().and_then(fs::read);
            read.map_or_else(|cause| format!("unknown: {cause}"), |content| durable::digest(&content))
        };
        Self {
            dc0: env!("CARGO_PKG_VERSION"),
            program: PROGRAM.get_or_init(digest).clone(),
            libraries: runtime::versions().unwrap_or_else(|cause| cause.to_string()),
            processor: processor(),
        }
    }

    /// In words; `device` is the kind of device that evaluates nets.
    pub(crate) fn describe(&self, device: &str) -> String {
        let program = self.program.get(..8).unwrap_or(&self.program);
        format!(
            "dc0 {} (program {program}), {}, {}, on {}",
            self.dc0,
            self.libraries,
            self.processor,
            model(device)
        )
    }

    /// The route of a job's tasks: a mixed run takes whatever speaks the same version.
    pub(crate) fn route(&self, evaluation: &Evaluation, is_mixed: bool) -> Route {
        if is_mixed { self.mixed() } else { self.equal(evaluation) }
    }

    /// The route of workers whose results have the bytes of this process. Floating-point nets round alike on the same platform only;
    /// nets in integers need the same program.
    pub(crate) fn equal(&self, evaluation: &Evaluation) -> Route {
        if evaluation.is_exact { self.exact() } else { self.same(&evaluation.device) }
    }

    /// The routes whose tasks this process does on a kind of device.
    pub(crate) fn routes(&self, device: &str) -> [Route; 3] {
        [self.same(device), self.exact(), self.mixed()]
    }

    fn same(&self, device: &str) -> Route {
        Route::of(&["same", &self.program, &self.libraries, &self.processor, &model(device)])
    }

    fn exact(&self) -> Route {
        Route::of(&["exact", &self.program])
    }

    fn mixed(&self) -> Route {
        Route::of(&["mixed", self.dc0, &FORMAT.to_string()])
    }
}

/// The model of the processor, as the system names it, or its architecture.
fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(|| env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

/// A kind of device, with the model of NVIDIA's that the driver lists first.
fn model(device: &str) -> String {
    if device != "cuda" {
        return device.to_owned();
    }
    let folders = fs::read_dir("/proc/driver/nvidia/gpus").into_iter().flatten().flatten();
    let mut models: Vec<String> = folders
        .filter_map(|gpu| fs::read_to_string(gpu.path().join("information")).ok())
        .filter_map(|text| Some(text.lines().find_map(|line| line.strip_prefix("Model:"))?.trim().to_owned()))
        .collect();
    models.sort();
    models.into_iter().next().map_or_else(|| device.to_owned(), |model| format!("cuda ({model})"))
}

/// The name of this machine, as far as it may be a part of a subject.
pub(crate) fn host() -> String {
    let name =
        fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| fs::read_to_string("/etc/hostname"));
    let name = name.ok().or_else(|| env::var("HOSTNAME").ok()).unwrap_or_default();
    shortened(name.trim(), 32)
}

#[cfg(test)]
mod tests {
    use dc0_steps::executor::Evaluation;

    use super::Platform;
    use crate::names::plain;

    #[test]
    fn floating_point_nets_need_the_same_platform_and_others_less() {
        let one = Platform {
            dc0: "1",
            program: "p".to_owned(),
            libraries: "l".to_owned(),
            processor: "x".to_owned(),
        };
        let other = Platform { processor: "y".to_owned(), ..one.clone() };
        let float = Evaluation {
            backend: "torch".to_owned(),
            precision: "f32".to_owned(),
            pad_to: 1,
            device: "cpu".to_owned(),
            libraries: String::new(),
            is_exact: false,
        };
        let takes = |of: &Platform, evaluation: &Evaluation, is_mixed| {
            of.routes("cpu").contains(&one.route(evaluation, is_mixed))
        };
        assert!(takes(&one, &float, false) && !takes(&other, &float, false) && takes(&other, &float, true));
        let exact = Evaluation { is_exact: true, ..float.clone() };
        assert!(takes(&other, &exact, false));
        let built = Platform { program: "q".to_owned(), ..one.clone() };
        assert!(!takes(&built, &exact, false));
        assert!(takes(&built, &float, true) && takes(&built, &exact, true), "mixed runs take every program");
        assert!(!one.routes("cuda").contains(&one.route(&float, false)));
    }

    #[test]
    fn names_are_safe_in_subjects() {
        assert_eq!(plain("lab box.3*>"), "lab-box-3--");
        assert_eq!(plain(""), "worker");
    }
}
