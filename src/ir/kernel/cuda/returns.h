//! Where kernels of CUDA return, and how many threads their blocks may have: what only the syntax tree says.

#pragma once

#include <clang/AST/ASTConsumer.h>

#include <llvm/IR/Function.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace kassay::cuda {

/// Lines and columns.
using Positions = std::set<std::pair<unsigned, unsigned>>;

/// Collects where `return` statements stand.
std::unique_ptr<clang::ASTConsumer> returnsConsumer(Positions &Returns);

/// Marks the jumps with which a kernel leaves its body there (`kassay.returns`).
void markReturns(llvm::Function &Kernel, const Positions &Returns);

/// The most threads of a block, by mangled name of the kernel.
using Bounds = std::map<std::string, unsigned>;

/// Collects what `__launch_bounds__` says, which clang drops for SPIR-V.
std::unique_ptr<clang::ASTConsumer> boundsConsumer(Bounds &Found);

/// Notes that at a kernel (`kassay.launch_bounds`).
void markBounds(llvm::Function &Kernel, const Bounds &Found);

} // namespace kassay::cuda
