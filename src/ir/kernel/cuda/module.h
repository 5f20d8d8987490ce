//! The steps from the module that clang makes of CUDA to the form in which clang leaves OpenCL C, which is all that the rest
//! of kassay knows.
//!
//! They run in clang's child, because passes of LLVM may crash. The order is `canonicalise`'s.

#pragma once

#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kassay::cuda {

/// The number of the generic address space.
constexpr unsigned Generic = 4;

/// Does all of the steps.
void canonicalise(llvm::Module &M);

/// The names in the source of kernels, by mangled name: `reduce<64>`; with their parameters' types where several kernels
/// would have one name.
std::map<std::string, std::string> kernelNames(const std::vector<std::string> &Mangled);

// ---- ptx.cpp

/// Puts the instructions of inline assembly into its place; those that are not known are refused where a kernel comes to
/// them.
void fitAssembly(llvm::Module &M);

// ---- shared_addresses.cpp

/// The function by which inline assembly asks for the pointer that a number stands for; kassay lacks it where it stays.
constexpr llvm::StringLiteral SharedAddress = "cuda.ptx shared memory by a number of 32 bits";

/// Makes numbers of 32 bits that stand for shared memory pointers.
void fitSharedAddresses(llvm::Module &M);

// ---- calls.cpp

/// Makes calls through pointers to functions choices among the functions that they may be of.
void fitCalls(llvm::Module &M);

// ---- origins.cpp

/// The functions that a pointer may be, if where it comes from says so.
std::optional<std::vector<llvm::Function *>> functionsOf(llvm::Value &Pointer);

// ---- headers.cpp

/// Inlines the functions of system headers, as small as they can be, so that no line, branch or variable of a header counts
/// as the kernel's.
void inlineHeaders(llvm::Module &M);

// ---- waits.cpp

/// Makes arrivals at barriers, and the waits right behind, barriers.
void joinWaits(llvm::Module &M);

// ---- spaces.cpp

/// Gives pointers the address spaces that they come from, and parameters the form that they have in OpenCL C.
void nameSpaces(llvm::Module &M);

/// Drops casts and addresses that nothing uses any more.
void dropUnused(llvm::Function &F);

// ---- textures.cpp

/// Turns textures and surfaces into images: parameters, and variables of the program, which become parameters, too. A
/// texture `t` gets a sampler `t.sampler` behind the parameters. What no image can be stays, and is refused where it is
/// used.
void fitTextures(llvm::Module &M);

// ---- builtins.cpp

/// Calls builtins for the address space that their pointer comes from, and `printf` with formats in constant memory.
void fitBuiltins(llvm::Module &M);

// ---- warps.cpp

/// Makes kernels that use warps require sub-groups of 32, and keeps `cuda.all_lanes` only where the mask is not known to
/// name all lanes of a warp.
void fitWarps(llvm::Module &M);

// ---- names.cpp

/// Gives kernels and parameters the names that they have in the source.
void nameKernels(llvm::Module &M);

// ---- module.cpp

/// Whether the function is a kernel with a body.
bool isKernel(const llvm::Function &F);

/// Runs passes on a module, or on the functions that satisfy a condition.
void run(llvm::Module &M, llvm::ModulePassManager Passes);
void run(llvm::Module &M, llvm::FunctionPassManager Passes, const std::function<bool(const llvm::Function &)> &Which);

} // namespace kassay::cuda
