//! Matrix products, to know what a device can do at most.

use tch::{Kind, TchError, Tensor};

use super::{Device, Precision, TorchError, runtime};

/// Two square matrices on a device, multiplied again and again.
#[derive(Debug)]
pub struct Product {
    left: Tensor,
    right: Tensor,
    device: Device,
    threads: u32,
    size: i64,
}

impl Product {
    /// Makes two matrices of `size` rows and columns in a device's numbers; `threads` matters on the CPU only.
    pub fn new(device: Device, precision: Precision, size: u32, threads: u32) -> Result<Self, TorchError> {
        let size = i64::from(size);
        let matrix = |start: f64| -> Result<Tensor, TchError> {
            let numbers = Tensor::f_arange_start(start, start + (size * size) as f64, (Kind::Float, device))?;
            numbers.f_sin()?.f_reshape([size, size])?.f_to_kind(precision.kind(device))
        };
        let made = || -> Result<Self, TchError> {
            Ok(Self { left: matrix(0.0)?, right: matrix(1.0)?, device, threads, size })
        };
        made().map_err(|source| TorchError::Library { doing: "making matrices to multiply", source })
    }

    /// Floating-point operations of one product.
    pub fn operations(&self) -> f64 {
        2.0 * (self.size as f64).powi(3)
    }

    /// Multiplies some times, at least once, and waits until the device is done.
    pub fn run(&mut self, times: u32) -> Result<(), TorchError> {
        if self.device == Device::Cpu {
            runtime::set_threads(self.threads);
        }
        let multiply = || -> Result<f64, TchError> {
            let mut made = self.left.f_matmul(&self.right)?;
            for _ in 1..times {
                made = self.left.f_matmul(&self.right)?;
            }
            made.f_get(0)?.f_get(0)?.f_double_value(&[])
        };
        let multiplied = multiply();
        multiplied.map(drop).map_err(|source| TorchError::Library { doing: "multiplying matrices", source })
    }
}
