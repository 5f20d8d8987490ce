//! What a handle of a texture or a surface is used for, wherever it goes.

#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kassay::cuda {

/// A function of the headers (`textures.h` there) that stands for a builtin of OpenCL.
struct TextureFunction {
  /// Which sampler the builtin gets: none, the texture's own, or one that gives zero outside.
  enum class Sampler { None, Own, ZeroOutside } Sampler;
  /// The builtin's mangled name.
  std::string Builtin;
  /// The image's type without its access: `image2d`.
  std::string Image;
  bool Writes;

  /// Nothing if the function is none.
  static std::optional<TextureFunction> of(const llvm::Function &F);
};

/// What all handles are that functions may get from each other: each becomes an image of one type.
struct ImageObject {
  std::string Image;
  bool IsSampled = false, HasSampler = false, Reads = false, Writes = false;
  /// Whether the handle is used in a way that no image can be, or in two that exclude each other.
  bool IsOther = false;

  bool isImage() const { return !IsOther && !Image.empty(); }
  /// `ro`, `wo` or `rw`.
  llvm::StringRef access() const { return !Writes ? "ro" : Reads ? "rw" : "wo"; }
  llvm::Type *type(llvm::LLVMContext &C) const;
  void add(const TextureFunction &Use);
  void add(const ImageObject &Other);
};

/// The parameter or the variable of the program that a handle comes from; null if it is neither.
llvm::Value *originOf(llvm::Value *Handle);

/// Follows handles from the functions that take them, to where they come from and to wherever else they go.
class ImageObjects {
  std::map<llvm::Value *, llvm::Value *> Parents;
  std::map<llvm::Value *, ImageObject> Objects;
  std::vector<llvm::Value *> Open;
  std::set<llvm::Value *> Seen;

public:
  explicit ImageObjects(llvm::Module &M);

  /// The object of a parameter or variable that becomes an image.
  const ImageObject *find(llvm::Value *Origin);
  /// The variables of the program that become images, in the module's order.
  std::vector<llvm::GlobalVariable *> variables(llvm::Module &M);

private:
  llvm::Value *root(llvm::Value *Origin);
  ImageObject &object(llvm::Value *Origin) { return Objects[root(Origin)]; }
  void enter(llvm::Value *Origin);
  void unite(llvm::Value *One, llvm::Value *Other);
  void followCallers(llvm::Argument *Parameter);
  void followVariable(llvm::Value *Origin, llvm::Value *Pointer);
  void followHandle(llvm::Value *Origin, llvm::Value *Handle);
  void followUse(llvm::Value *Origin, llvm::Use &U);
};

} // namespace kassay::cuda
