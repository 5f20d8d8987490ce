"""What is left out, and differences that are nobody's fault, or not kassay's."""

import re

# Of these a call's result is no function of values, or they need objects of the host.
LEFT_OUT = re.compile(
    r"^(intel_|amd_|read_image|write_image|get_image|enqueue_|ndrange|get_default_queue|.*_pipe|.*_event|retain_|release_|create_user"
    r"|is_valid|get_kernel_|clock_|prefetch|async_|wait_group|get_fence|arm_|printf|capture_|set_user|.*reserve_id|get_work_dim)"
)


def left_out(name):
    return LEFT_OUT.match(name) is not None


# Names of builtins or of files in testdata/conformance, ways, and the reason.
REASONS = [
    ("(max|min|clamp|step|smoothstep|sign|mix) of (half|float|double)", ".*", "OpenCL leaves the result open where an operand is NaN (6.15.4)"),
    (r"convert_u(int|long)\d*_sat(_rt.)?", "simulator|read-simulator", "the driver converts NaN to the greatest number; it should be 0 (6.4.3.3)"),
    ("async_copy_.*", "read", "the translator makes pointers of events, from which LLVM's back end makes another type"),
    ("preprocessor", ".*", "kassay reads `#line` as a comment, so that lines are those of the file; __LINE__ follows"),
    ("preprocessor_extensions", ".*", "macros of extensions and features are those of clang, whatever the device has"),
    ("vstorea_half3.*", ".*", "the driver writes a fourth half"),
    ("printf_result", "simulator|read-simulator", "Intel's printf gives the number of characters; OpenCL C (6.15.14.1) says 0"),
    ("generic_casts", "simulator|read-simulator",
     "Intel's to_global, to_local and to_private take every generic pointer; null is due for another address space (6.13.9)"),
    ("sub_group_non_uniform", "simulator|read-simulator", "the simulator has no sub_group_non_uniform_*"),
    ("ids_narrowed|local_rows_by_int", "spirv|read",
     "Intel's vectoriser drops the shift in `(long)(int)(get_local_id(0) >> 3)`, from source, too; -cl-opt-disable is right"),
    ("program_variables", "read|read-simulator",
     "lowering makes parameters of the program's variables, which a suite for the module would have to give"),
]


def reason(builtin, way):
    """Why a builtin differs on that way, if that is known. Names may say the type of the first parameter: `max of half`."""
    names = [builtin.name]
    parameters = getattr(builtin, "parameters", None)
    if isinstance(parameters, list) and parameters and parameters[0]:
        names.append(f"{builtin.name} of {parameters[0].scalar}")
    for pattern, ways, why in REASONS:
        if any(re.fullmatch(pattern, name) for name in names) and re.fullmatch(ways, way):
            return why
    return None
