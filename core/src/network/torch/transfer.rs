//! Copying tensors to a device and back.

use tch::{Device, TchError, Tensor};

use crate::network::WeightTensor;

/// Copies a tensor from the CPU's memory to a device. For CUDA it goes through page-locked memory, so that the call returns at once and
/// the copy is queued behind the device's other work.
pub fn send(tensor: &Tensor, device: Device) -> Result<Tensor, TchError> {
    if device.is_cuda() {
        tensor.f_internal_pin_memory(device)?.f_to_device_(device, tensor.kind(), true, false)
    } else {
        tensor.f_to_device(device)
    }
}

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
