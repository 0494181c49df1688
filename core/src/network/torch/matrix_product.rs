//! Matrix products, to measure a device's peak throughput.

use tch::{Kind, TchError, Tensor};

use super::{Device, Precision, TorchError, runtime};

/// Two square matrices on a device, multiplied repeatedly.
#[derive(Debug)]
pub struct MatrixProduct {
    left: Tensor,
    right: Tensor,
    device: Device,
    threads: u32,
    size: i64,
}

impl MatrixProduct {
    /// Creates two `size` × `size` matrices on a device; `threads` has an effect only on the CPU.
    pub fn new(device: Device, precision: Precision, size: u32, threads: u32) -> Result<Self, TorchError> {
        let size = i64::from(size);
        let matrix = |start: f64| -> Result<Tensor, TchError> {
            let values = Tensor::f_arange_start(start, start + (size * size) as f64, (Kind::Float, device))?;
            values.f_sin()?.f_reshape([size, size])?.f_to_kind(precision.kind(device))
        };
        let create = || -> Result<Self, TchError> {
            Ok(Self { left: matrix(0.0)?, right: matrix(1.0)?, device, threads, size })
        };
        create().map_err(|source| TorchError::Library { doing: "creating matrices", source })
    }

    /// Floating-point operations of one product.
    pub fn operations(&self) -> f64 {
        2.0 * (self.size as f64).powi(3)
    }

    /// Multiplies the matrices `times` times, at least once, and waits for the device.
    pub fn run(&mut self, times: u32) -> Result<(), TorchError> {
        if self.device == Device::Cpu {
            runtime::set_threads(self.threads);
        }
        let multiply = || -> Result<f64, TchError> {
            let mut product = self.left.f_matmul(&self.right)?;
            for _ in 1..times {
                product = self.left.f_matmul(&self.right)?;
            }
            product.f_get(0)?.f_get(0)?.f_double_value(&[])
        };
        let multiplied = multiply();
        multiplied.map(drop).map_err(|source| TorchError::Library { doing: "multiplying matrices", source })
    }
}
