//! A net as an [`Evaluator`] in plain Rust with the CPU's vector instructions: no library, no threads.
//!
//! A row's answer depends on that row only, and is the same to the bit on every kind of CPU and for every batch size.

mod lanes;
mod matrix;
mod net;
mod stem;
mod winograd;

use lanes::Portable;
use net::{Net, Scratch};

use super::fold::FoldedNet;
use super::softmax::softmax;
use super::{
    Batch, Evaluations, Evaluator, EvaluatorError, NetworkSpec, TensorProblems, Wdl, Weights, check_against,
    layout,
};
use crate::encoding::Encoding;

/// The vector instructions that are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cpu {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl Cpu {
    fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512f") {
                return Self::Avx512;
            }
            if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                return Self::Avx2;
            }
        }
        Self::Portable
    }

    #[allow(unsafe_code, reason = "the compiler cannot know that the CPU was asked for its instructions")]
    fn run(self, net: &Net, batch: &Batch, scratch: &mut Scratch, logits: &mut [f32]) {
        match self {
            // SAFETY: these kinds are only made by `detect`, on a CPU that has the instructions.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { run_avx512(net, batch, scratch, logits) },
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { run_avx2(net, batch, scratch, logits) },
            Self::Portable => net.run::<Portable, 2>(batch, scratch, logits),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn run_avx512(net: &Net, batch: &Batch, scratch: &mut Scratch, logits: &mut [f32]) {
    net.run::<lanes::Avx512, 8>(batch, scratch, logits);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2(net: &Net, batch: &Batch, scratch: &mut Scratch, logits: &mut [f32]) {
    net.run::<lanes::Avx2, 2>(batch, scratch, logits);
}

/// The inference copy of a net on the CPU, in 32-bit floats.
#[derive(Debug, Clone)]
pub struct NativeEvaluator {
    encoding: Encoding,
    cpu: Cpu,
    net: Net,
    scratch: Scratch,
}

impl NativeEvaluator {
    /// Prepares a copy of a net; the weights must be exactly those of the spec.
    pub fn new(spec: &NetworkSpec, weights: &Weights) -> Result<Self, TensorProblems> {
        check_against(weights, &layout(spec))?;
        let encoding = Encoding::new(spec.encoding, spec.orientation);
        let net = Net::new(&FoldedNet::new(spec, weights), &encoding);
        Ok(Self { encoding, cpu: Cpu::detect(), net, scratch: Scratch::default() })
    }
}

impl Evaluator for NativeEvaluator {
    fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        out.wdl.clear();
        out.policy.clear();
        out.policy.resize(batch.legal.len(), 0.0);
        self.cpu.run(&self.net, batch, &mut self.scratch, &mut out.policy);
        for (row, logits) in self.scratch.wdl.iter_mut().enumerate() {
            let wdl = &mut logits.0[..3];
            if !(softmax(&mut out.policy[batch.legal_range(row)]) && softmax(wdl)) {
                return Err(EvaluatorError::NotFinite { row });
            }
            out.wdl.push(Wdl { win: wdl[0], draw: wdl[1], loss: wdl[2] });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
