"""What is left out, and differences that are not faults, or not kassay's."""

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
    ("mad_sat", "simulator|read-simulator", "the driver does not saturate all lanes of vectors of int and long"),
    ("remquo", "simulator|read-simulator", "of the quotient, seven bits and the sign are defined (6.15.2)"),
    ("half_.*|native_.*|mad of half", "simulator|read-simulator", "the accuracy is left open (7.4)"),
    ("(length|distance|normalize) of half", "simulator|read-simulator", "the driver has negative lengths"),
    ("(fast_)?normalize", "simulator|read-simulator",
     "of vectors with infinite components the driver makes NaN, and libclc a vector along these; OpenCL C does not say"),
    ("cross of half|dot", "simulator|read-simulator", "the error is bounded by the terms, which may cancel or overflow"),
    ("tgamma of double", "simulator|read-simulator", "libclc has the infinity of the other sign for -0, and infinity below -170"),
    ("fract of half", "simulator|read-simulator", "the driver's fraction of an infinity is not 0 (7.5.1)"),
    ("shuffle", "simulator|read-simulator", "the driver mixes up the halves of 64 bits where there are four lanes of them"),
    ("atomic_fetch_min(_explicit)? of atomic_u?intptr_t", ".*",
     "of integers of a pointer's size in local and generic memory the driver's compiler takes the sign of the operand"),
    ("atomic_.* of atomic_half", ".*", "Intel's runtime has no atomics of 16 bits for SPIR-V; the simulator has none of halves"),
    ("work_group_(all|any)|sub_group_non_uniform_.*_logical_.*", ".*",
     "the driver's compiler joins the numbers bit by bit, instead of whether they are 0"),
    ("(work|sub)_group_reduce_add", "simulator|read-simulator", "the order of additions is open (6.15.16)"),
    ("sub_group_(clustered_)?(reduce|scan_exclusive|scan_inclusive)_(min|max)", "simulator|read-simulator",
     "OpenCL leaves open which NaN or zero it is"),
    ("sub_group_ballot_(bit_extract|find_lsb|find_msb)", "simulator|read-simulator",
     "undefined beyond the sub-group, and where no bit is set (6.15.19)"),
    ("sub_group_shuffle_down", "simulator|read-simulator", "undefined beyond the end of the sub-group (6.15.19)"),
    ("preprocessor", ".*", "kassay reads `#line` as a comment, so that lines are those of the file; __LINE__ follows"),
    ("preprocessor_extensions", ".*", "macros of extensions and features are those of clang, whatever the device has"),
    ("vstorea_half3.*", ".*", "the driver writes a fourth half"),
    ("printf_result", "simulator|read-simulator", "Intel's printf gives the number of characters; OpenCL C (6.15.14.1) says 0"),
    ("generic_casts", "simulator|read-simulator",
     "Intel's to_global, to_local and to_private take every generic pointer; null is due for another address space (6.13.9)"),
    ("sub_group_non_uniform.*", "simulator|read-simulator", "the simulator has no sub_group_non_uniform_*"),
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
