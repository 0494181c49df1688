//! The library, the table of its functions, and the jumps through it, which the build script writes.
#![allow(unsafe_code, reason = "loading a library and finding its functions have no safe interface")]

use std::error::Error as _;
use std::ffi::{CStr, c_void};
use std::fs::File;
use std::io::{self, Write as _};
use std::mem;
use std::os::fd::AsRawFd as _;
use std::process;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY, Symbol};
use rustix::fs::{MemfdFlags, memfd_create};

use crate::LoadError;

include!(concat!(env!("OUT_DIR"), "/jumps.rs"));

/// The C++ layer of `torch-sys` as a shared library, which needs libtorch.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libdc0_torch.so"));

/// Where the functions lie, in the order of their names; null until they are loaded.
static FUNCTIONS: [AtomicPtr<c_void>; NAMES.len()] = [const { AtomicPtr::new(ptr::null_mut()) }; NAMES.len()];

static LOADED: OnceLock<Result<(), String>> = OnceLock::new();

pub(super) fn load() -> Result<(), String> {
    LOADED.get_or_init(open).clone()
}

pub(super) fn is_loaded() -> bool {
    matches!(LOADED.get(), Some(Ok(())))
}

fn open() -> Result<(), String> {
    let file = in_memory().map_err(|error| format!("no file in memory: {error}"))?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    // SAFETY: the initialisers are those of libtorch and its layer.
    let library = unsafe { Library::open(Some(path), RTLD_LAZY | RTLD_GLOBAL) };
    let library =
        library.map_err(|error| error.source().map_or_else(|| error.to_string(), ToString::to_string))?;
    for (name, function) in NAMES.iter().zip(&FUNCTIONS) {
        // SAFETY: whatever the type, only the address is used.
        let found = unsafe { library.get::<*mut c_void>(name.to_bytes_with_nul()) };
        let address = found.map_or(absent as *mut c_void, Symbol::into_raw);
        function.store(address, Ordering::Release);
    }
    // Its functions may be called as long as the program runs.
    mem::forget(library);
    Ok(())
}

/// The library as a file that exists in memory alone.
fn in_memory() -> io::Result<File> {
    let create = |flags| memfd_create(c"libdc0_torch.so", flags);
    // Kernels before 6.3 do not know the second flag; later ones may ask for it where a file is to be executed.
    let descriptor =
        create(MemfdFlags::CLOEXEC | MemfdFlags::EXEC).or_else(|_| create(MemfdFlags::CLOEXEC))?;
    let mut file = File::from(descriptor);
    file.write_all(LIBRARY)?;
    Ok(file)
}

/// Stands for a function that `torch-sys` declares and its C++ layer lacks.
extern "C" fn absent() -> ! {
    end("a function is missing in the layer between dc0 and libtorch")
}

/// What the first call of a function comes to. A program that called [`load`] before has read the error there.
extern "C" fn dc0_libtorch_load() {
    if let Err(cause) = load() {
        end(&LoadError(cause).to_string());
    }
}

fn end(message: &str) -> ! {
    // What called expects a result that there cannot be.
    _ = writeln!(io::stderr(), "error: {message}");
    process::exit(1)
}

// Keeps the registers that may hold arguments, by the System V calling convention, and the alignment of the stack.
std::arch::global_asm!(
    r#"
.section .text.dc0_libtorch,"ax",@progbits
.globl dc0_libtorch_first_call
.hidden dc0_libtorch_first_call
.type dc0_libtorch_first_call,@function
dc0_libtorch_first_call:
pushq %rax
pushq %rdi
pushq %rsi
pushq %rdx
pushq %rcx
pushq %r8
pushq %r9
subq $136, %rsp
movups %xmm0, 0(%rsp)
movups %xmm1, 16(%rsp)
movups %xmm2, 32(%rsp)
movups %xmm3, 48(%rsp)
movups %xmm4, 64(%rsp)
movups %xmm5, 80(%rsp)
movups %xmm6, 96(%rsp)
movups %xmm7, 112(%rsp)
callq {load}
movups 0(%rsp), %xmm0
movups 16(%rsp), %xmm1
movups 32(%rsp), %xmm2
movups 48(%rsp), %xmm3
movups 64(%rsp), %xmm4
movups 80(%rsp), %xmm5
movups 96(%rsp), %xmm6
movups 112(%rsp), %xmm7
addq $136, %rsp
popq %r9
popq %r8
popq %rcx
popq %rdx
popq %rsi
popq %rdi
popq %rax
retq
.text
"#,
    load = sym dc0_libtorch_load,
    options(att_syntax)
);

#[cfg(test)]
mod tests {
    use std::ffi::c_void;

    unsafe extern "C" {
        fn ats_float(value: f64) -> *mut c_void;
        fn ats_to_float(scalar: *mut c_void) -> f64;
        fn ats_free(scalar: *mut c_void);
    }

    #[test]
    fn the_first_call_loads_the_library_and_keeps_its_arguments() {
        assert!(!super::is_loaded());
        // SAFETY: the declarations are those of torch-sys, and the scalar is freed once.
        let value = unsafe {
            let scalar = ats_float(2.5);
            let value = ats_to_float(scalar);
            ats_free(scalar);
            value
        };
        assert_eq!(value, 2.5);
        assert!(super::is_loaded());
        assert_eq!(super::load(), Ok(()));
    }

    #[test]
    fn every_declared_function_has_a_name() {
        assert!(super::NAMES.len() > 2000, "{}", super::NAMES.len());
        assert!(super::NAMES.contains(&c"atc_cuda_is_available"));
    }
}
