//! Names and explains OpenCL's error codes.

/// An error code's name in OpenCL's headers.
pub fn name(code: i32) -> String {
    // Positive codes and 0 are not errors; cl3 has a text for every negative one it knows.
    opencl3::error_codes::error_text(code).to_owned()
}

/// What an error code means for a launch.
pub fn explain(code: i32) -> &'static str {
    match code {
        -4 => "the device has no memory for a buffer or image of this size",
        -5 => {
            "the device lacks the resources for this launch: registers, local memory or stack for so large a work-group"
        }
        -6 => "the driver ran out of host memory",
        -10 => "the device does not support this image format",
        -11 => "the device's compiler refused the program",
        -14 => "the kernel failed while it ran",
        -30 => "the driver refused a value",
        -37 | -38 => "the driver refused a buffer or image",
        -39 => "the device does not know this image format",
        -40 => "the device does not support an image of this size",
        -41 => "the device does not support this sampler",
        -46 => "the module has no kernel of this name",
        -49 => "the kernel has no argument at this position",
        -50 => "the argument's value does not fit its type",
        -51 => "the argument's size differs from its type's size in the kernel",
        -52 => "an argument is not set, or does not fit its type",
        -53 => "an NDRange has 1 to 3 dimensions",
        -54 => {
            "the local size does not divide the global size, is larger than the device or the kernel allows, or differs from the kernel's reqd_work_group_size"
        }
        -55 => "the local size is larger than the device allows in some dimension",
        -56 => "the global offset and size together pass the device's range",
        -59 => "the device does not do this",
        -61 => "the device does not take a buffer of this size",
        -63 => "the device does not take this global size",
        -65 => "the device does not take this image's shape",
        -2000 => "libOpenCL.so.1 cannot be loaded",
        -2001 => "the OpenCL loader is too old for this call",
        _ => "the driver refused the launch",
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn codes_have_names() {
        assert_eq!(super::name(-54), "CL_INVALID_WORK_GROUP_SIZE");
        assert!(super::explain(-54).contains("reqd_work_group_size"));
    }
}
