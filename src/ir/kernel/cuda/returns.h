//! Where kernels of CUDA return. The only step that sees the syntax tree.

#pragma once

#include <clang/AST/ASTConsumer.h>

#include <llvm/IR/Function.h>

#include <memory>
#include <set>
#include <utility>

namespace kassay::cuda {

/// Lines and columns.
using Positions = std::set<std::pair<unsigned, unsigned>>;

/// Collects where `return` statements stand.
std::unique_ptr<clang::ASTConsumer> returnsConsumer(Positions &Returns);

/// Marks the jumps with which a kernel leaves its body there (`kassay.returns`).
void markReturns(llvm::Function &Kernel, const Positions &Returns);

} // namespace kassay::cuda
