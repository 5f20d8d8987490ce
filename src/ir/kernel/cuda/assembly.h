//! Inline assembly of CUDA, as clang for SPIR-V reads it.

#pragma once

namespace clang {
class Preprocessor;
}

namespace kassay::cuda {

/// Has clang take the templates and constraints that compilers for NVIDIA's GPUs do.
void readAssembly(clang::Preprocessor &PP);

} // namespace kassay::cuda
