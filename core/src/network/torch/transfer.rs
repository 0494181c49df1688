//! Copying tensors to a device and back.

use tch::{Device, TchError, Tensor};

use crate::network::WeightTensor;

/// Copies plain numbers to a device, keeping their shape.
pub fn upload(tensor: &WeightTensor, device: Device) -> Result<Tensor, TchError> {
    let shape: Vec<i64> = tensor.shape.iter().map(|axis| *axis as i64).collect();
    Tensor::f_from_slice(&tensor.data)?.f_reshape(shape)?.f_to_device(device)
}

/// Copies a tensor of 32-bit floats from its device in row-major order.
pub fn download(tensor: &Tensor) -> Result<WeightTensor, TchError> {
    let flat = tensor.f_detach()?.f_to_device(Device::Cpu)?.f_contiguous()?;
    let mut data = vec![0.0f32; flat.numel()];
    let values = data.len();
    flat.f_copy_data(&mut data, values)?;
    Ok(WeightTensor { shape: tensor.size().iter().map(|axis| *axis as usize).collect(), data })
}
