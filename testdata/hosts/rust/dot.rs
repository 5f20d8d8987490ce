//! Bare bindings: a Rust program that declares the few functions of OpenCL that it needs, and builds with rustc alone.
//!
//! Kernels: multiply, 4 launches; halves, 32 launches (8 levels of a tree for each of 4 products).
//! Special: no crate, so what it calls is exactly what is seen; the kernel objects live as long as the process; OpenCL 1.0 calls
//! (`clCreateCommandQueue`) and none later than 1.1.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::process::exit;
use std::ptr::{null, null_mut};

type Handle = *mut c_void;

const DEVICE_TYPE_ALL: u64 = 0xFFFF_FFFF;
const READ_WRITE: u64 = 1;
const READ_ONLY_COPY: u64 = 4 | 32;

#[link(name = "OpenCL")]
unsafe extern "C" {
    fn clGetPlatformIDs(entries: c_uint, platforms: *mut Handle, count: *mut c_uint) -> c_int;
    fn clGetDeviceIDs(platform: Handle, kind: u64, entries: c_uint, devices: *mut Handle, count: *mut c_uint) -> c_int;
    fn clCreateContext(
        properties: *const isize,
        count: c_uint,
        devices: *const Handle,
        notify: *const c_void,
        data: *mut c_void,
        error: *mut c_int,
    ) -> Handle;
    fn clCreateCommandQueue(context: Handle, device: Handle, properties: u64, error: *mut c_int) -> Handle;
    fn clCreateProgramWithSource(
        context: Handle,
        count: c_uint,
        strings: *const *const c_char,
        lengths: *const usize,
        error: *mut c_int,
    ) -> Handle;
    fn clBuildProgram(
        program: Handle,
        count: c_uint,
        devices: *const Handle,
        options: *const c_char,
        notify: *const c_void,
        data: *mut c_void,
    ) -> c_int;
    fn clCreateKernel(program: Handle, name: *const c_char, error: *mut c_int) -> Handle;
    fn clCreateBuffer(context: Handle, flags: u64, size: usize, host: *mut c_void, error: *mut c_int) -> Handle;
    fn clSetKernelArg(kernel: Handle, index: c_uint, size: usize, value: *const c_void) -> c_int;
    fn clEnqueueNDRangeKernel(
        queue: Handle,
        kernel: Handle,
        dimensions: c_uint,
        offset: *const usize,
        global: *const usize,
        local: *const usize,
        waits: c_uint,
        wait_list: *const Handle,
        event: *mut Handle,
    ) -> c_int;
    fn clEnqueueReadBuffer(
        queue: Handle,
        buffer: Handle,
        blocking: c_uint,
        offset: usize,
        size: usize,
        into: *mut c_void,
        waits: c_uint,
        wait_list: *const Handle,
        event: *mut Handle,
    ) -> c_int;
    fn clReleaseMemObject(buffer: Handle) -> c_int;
}

const SOURCE: &str = r#"
kernel void multiply(global const uint *a, global const uint *b, global ulong *products)
{
    size_t i = get_global_id(0);
    products[i] = (ulong)a[i] * b[i];
}

kernel void halves(global ulong *products, uint half_length)
{
    size_t i = get_global_id(0);
    if (i < half_length)
        products[i] += products[i + half_length];
}
"#;

const LENGTH: usize = 256;

fn check(code: c_int, what: &str) {
    if code != 0 {
        eprintln!("wrong: {what}: error {code}");
        exit(1);
    }
}

/// Sets an argument to a value's bytes.
fn set<T>(kernel: Handle, index: c_uint, value: &T) {
    // SAFETY: the driver copies size_of::<T>() bytes from the value.
    check(unsafe { clSetKernelArg(kernel, index, size_of::<T>(), (value as *const T).cast()) }, "clSetKernelArg");
}

struct Device {
    context: Handle,
    queue: Handle,
    program: Handle,
}

impl Device {
    fn open() -> Device {
        let (mut platform, mut device, mut count, mut code) = (null_mut(), null_mut(), 0, 0);
        // SAFETY: all pointers are to variables that live long enough, or null where OpenCL allows it.
        unsafe {
            if clGetPlatformIDs(1, &mut platform, &mut count) != 0
                || clGetDeviceIDs(platform, DEVICE_TYPE_ALL, 1, &mut device, &mut count) != 0
            {
                println!("skipped: no OpenCL device");
                exit(77);
            }
            let context = clCreateContext(null(), 1, &device, null(), null_mut(), &mut code);
            check(code, "clCreateContext");
            let queue = clCreateCommandQueue(context, device, 0, &mut code);
            check(code, "clCreateCommandQueue");
            let (text, length) = (SOURCE.as_ptr().cast(), SOURCE.len());
            let program = clCreateProgramWithSource(context, 1, &text, &length, &mut code);
            check(code, "clCreateProgramWithSource");
            check(clBuildProgram(program, 1, &device, null(), null(), null_mut()), "clBuildProgram");
            Device { context, queue, program }
        }
    }

    fn kernel(&self, name: &str) -> Handle {
        let (name, mut code) = (CString::new(name).expect("a name without null bytes"), 0);
        // SAFETY: the name is a terminated string.
        let kernel = unsafe { clCreateKernel(self.program, name.as_ptr(), &mut code) };
        check(code, "clCreateKernel");
        kernel
    }

    fn buffer(&self, flags: u64, size: usize, contents: *mut c_void) -> Handle {
        let mut code = 0;
        // SAFETY: the contents are null or `size` bytes, which are copied.
        let buffer = unsafe { clCreateBuffer(self.context, flags, size, contents, &mut code) };
        check(code, "clCreateBuffer");
        buffer
    }

    fn launch(&self, kernel: Handle, global: usize) {
        // SAFETY: the sizes are one dimension's.
        let code =
            unsafe { clEnqueueNDRangeKernel(self.queue, kernel, 1, null(), &global, null(), 0, null(), null_mut()) };
        check(code, "clEnqueueNDRangeKernel");
    }
}

fn main() {
    let device = Device::open();
    let (multiply, halves) = (device.kernel("multiply"), device.kernel("halves"));
    for round in 0..4u32 {
        let mut a: Vec<u32> = (0..LENGTH as u32).map(|i| i * 0x0101_0101 + round).collect();
        let mut b: Vec<u32> = (0..LENGTH as u32).map(|i| 0xFFFF_0000 / (i + 1 + round)).collect();
        let on_a = device.buffer(READ_ONLY_COPY, 4 * LENGTH, a.as_mut_ptr().cast());
        let on_b = device.buffer(READ_ONLY_COPY, 4 * LENGTH, b.as_mut_ptr().cast());
        let products = device.buffer(READ_WRITE, 8 * LENGTH, null_mut());
        set(multiply, 0, &on_a);
        set(multiply, 1, &on_b);
        set(multiply, 2, &products);
        device.launch(multiply, LENGTH);
        set(halves, 0, &products);
        let mut half = LENGTH as u32 / 2;
        while half > 0 {
            set(halves, 1, &half);
            device.launch(halves, LENGTH / 2);
            half /= 2;
        }
        let mut sum = 0u64;
        // SAFETY: reads eight bytes into `sum` and waits; the buffers were made above and are used no more.
        unsafe {
            let into = (&raw mut sum).cast();
            check(clEnqueueReadBuffer(device.queue, products, 1, 0, 8, into, 0, null(), null_mut()), "clEnqueueReadBuffer");
            for buffer in [on_a, on_b, products] {
                check(clReleaseMemObject(buffer), "clReleaseMemObject");
            }
        }
        let expected = a.iter().zip(&b).fold(0u64, |sum, (&a, &b)| sum.wrapping_add(u64::from(a) * u64::from(b)));
        if sum != expected {
            eprintln!("wrong: the product of round {round} is {sum} instead of {expected}");
            exit(1);
        }
    }
    println!("dot: right");
}
