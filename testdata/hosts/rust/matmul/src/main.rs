//! Matrix products with the crate `opencl3`, which opens the loader when the program runs instead of linking it.
//!
//! Kernels (matmul.cl, which is part of the program): tiled, 4 launches: 1 with -DTILE=4, 3 with -DTILE=8; plain, 1 launch.
//! Special: sizes that tiles do not divide; profiling; two builds of one text; all objects are released by destructors.

use opencl3::Result;
use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;
use std::process::ExitCode;
use std::ptr::null_mut;

const SOURCE: &str = include_str!("matmul.cl");

/// The product of two n by n matrices. All values are small whole numbers, so that sums in any order are the same.
fn product(a: &[f32], b: &[f32], n: usize) -> Vec<f32> {
    let element = |i: usize| (0..n).map(|k| a[i / n * n + k] * b[k * n + i % n]).sum();
    (0..n * n).map(element).collect()
}

struct Bench {
    context: Context,
    queue: CommandQueue,
}

impl Bench {
    /// Launches a kernel on n by n matrices and says whether the result is right.
    fn is_right(&self, kernel: &Kernel, n: usize, global: usize, local: Option<usize>) -> Result<bool> {
        let a: Vec<f32> = (0..n * n).map(|i| (i * 7 % 13) as f32 - 6.0).collect();
        let b: Vec<f32> = (0..n * n).map(|i| (i * 5 % 11) as f32 - 5.0).collect();
        let mut c = vec![0f32; n * n];
        // SAFETY: no host pointers are given, the slices are as long as the buffers, and every transfer is waited for.
        unsafe {
            let mut on_a = Buffer::<f32>::create(&self.context, CL_MEM_READ_ONLY, n * n, null_mut())?;
            let mut on_b = Buffer::<f32>::create(&self.context, CL_MEM_READ_ONLY, n * n, null_mut())?;
            let on_c = Buffer::<f32>::create(&self.context, CL_MEM_WRITE_ONLY, n * n, null_mut())?;
            self.queue.enqueue_write_buffer(&mut on_a, CL_BLOCKING, 0, &a, &[])?;
            self.queue.enqueue_write_buffer(&mut on_b, CL_BLOCKING, 0, &b, &[])?;
            let mut launch = ExecuteKernel::new(kernel);
            launch.set_arg(&on_a).set_arg(&on_b).set_arg(&on_c).set_arg(&(n as u32));
            launch.set_global_work_sizes(&[global, global]);
            if let Some(local) = local {
                launch.set_local_work_sizes(&[local, local]);
            }
            let event = launch.enqueue_nd_range(&self.queue)?;
            event.wait()?;
            let timed = event.profiling_command_start()? <= event.profiling_command_end()?;
            self.queue.enqueue_read_buffer(&on_c, CL_BLOCKING, 0, &mut c, &[])?;
            Ok(timed && c == product(&a, &b, n))
        }
    }

    fn run(&self) -> Result<bool> {
        let mut right = true;
        for (tile, sizes) in [(4, &[10][..]), (8, &[8, 20, 33])] {
            let program = Program::create_and_build_from_source(&self.context, SOURCE, &format!("-DTILE={tile}"))
                .unwrap_or_else(|log| panic!("the kernels compile: {log}"));
            let tiled = Kernel::create(&program, "tiled")?;
            for &n in sizes {
                right &= self.is_right(&tiled, n, n.div_ceil(tile) * tile, Some(tile))?;
            }
            if tile == 8 {
                right &= self.is_right(&Kernel::create(&program, "plain")?, 30, 30, None)?;
            }
        }
        Ok(right)
    }
}

fn main() -> ExitCode {
    let Some(&device) = get_all_devices(CL_DEVICE_TYPE_ALL).ok().as_ref().and_then(|devices| devices.first()) else {
        println!("skipped: no OpenCL device");
        return ExitCode::from(77);
    };
    let bench = Context::from_device(&Device::new(device)).and_then(|context| {
        let queue = CommandQueue::create_default_with_properties(&context, CL_QUEUE_PROFILING_ENABLE, 0)?;
        Ok(Bench { context, queue })
    });
    match bench.and_then(|bench| bench.run()) {
        Ok(true) => {
            println!("matmul: right");
            ExitCode::SUCCESS
        }
        Ok(false) => {
            eprintln!("wrong: a product");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("wrong: {error}");
            ExitCode::FAILURE
        }
    }
}
