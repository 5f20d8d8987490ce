//! Names and explains OpenCL's error codes.

/// An error code's name in OpenCL's headers.
pub fn name(code: i32) -> String {
    // Positive codes and 0 are not errors; cl3 has a text for every negative one it knows.
    match opencl3::error_codes::error_text(code) {
        "UNKNOWN_ERROR" => format!("the driver's own error {code}"),
        name => name.to_owned(),
    }
}

/// Returns whether a code says that memory is wanting, of the device (-4) or of the host (-6). A launch that ends so
/// has done nothing wrong, and others can follow.
pub fn is_want_of_memory(code: i32) -> bool {
    matches!(code, -4 | -6)
}

/// The sentence in a build log with which NVIDIA's compiler says that a kernel needs more of some memory than the
/// device has; `None` if it says no such thing.
pub fn excess(log: &str) -> Option<&str> {
    let line = log.lines().find(|line| line.contains("uses too much "))?;
    Some(line.rsplit_once(" : ").map_or(line, |(_, sentence)| sentence).trim())
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
        assert_eq!(super::name(-9999), "the driver's own error -9999");
    }

    #[test]
    fn a_kernel_that_needs_too_much_is_told_from_one_that_is_wrong() {
        let log = "ptxas error   : Entry function 'k' uses too much shared data (0x10000 bytes, 0xc000 max)\n";
        assert_eq!(
            super::excess(log),
            Some("Entry function 'k' uses too much shared data (0x10000 bytes, 0xc000 max)")
        );
        assert_eq!(super::excess("ptxas fatal   : Unresolved extern function 'f'"), None);
    }
}
