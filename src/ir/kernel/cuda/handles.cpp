//! Follows handles of textures and surfaces.

#include "textures.h"

#include "module.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Operator.h>

using namespace llvm;
using namespace kassay::cuda;

namespace {

bool isHandle(const Value *V) { return V->getType()->isIntegerTy(64); }

/// The only store to a variable, if the variable is otherwise only loaded from.
StoreInst *onlyStore(const AllocaInst *Variable) {
  StoreInst *Found = nullptr;
  for (const User *U : Variable->users()) {
    auto *Store = const_cast<StoreInst *>(dyn_cast<StoreInst>(U));
    if (Store && Store->getPointerOperand() == Variable && !Found)
      Found = Store;
    else if (!isa<LoadInst>(U))
      return nullptr;
  }
  return Found;
}

} // namespace

std::optional<TextureFunction> TextureFunction::of(const Function &F) {
  auto [Word, Rest] = F.getName().split('.').second.split('.');
  StringRef Builtin = Rest.split('.').second;
  size_t At = Builtin.find("ocl_image");
  if (!F.isDeclaration() || !F.getName().starts_with("cuda.") || At == StringRef::npos)
    return std::nullopt;
  StringRef Type = Builtin.drop_front(At + strlen("ocl_"));
  auto Its = Word == "texture" ? Sampler::Own : Word == "fetch" ? Sampler::ZeroOutside : Sampler::None;
  StringRef Image = Type.substr(0, std::min(Type.find("_ro"), Type.find("_wo")));
  return TextureFunction{Its, Builtin.str(), Image.str(), Builtin.contains("write_image")};
}

Type *ImageObject::type(LLVMContext &C) const {
  StringRef Kind = Image;
  // The parameters are those of OpTypeImage: dimension, depth, arrayed, multi-sampled, sampled, format, access.
  unsigned Dimension = Kind.starts_with("image3d") ? 2 : Kind.starts_with("image2d") ? 1 : 0;
  unsigned Access = !Writes ? 0 : Reads ? 2 : 1;
  return TargetExtType::get(C, "spirv.Image", {Type::getVoidTy(C)},
                            {Dimension, 0, Kind.ends_with("array") ? 1u : 0u, 0, 0, 0, Access});
}

void ImageObject::add(const TextureFunction &Use) {
  ImageObject Other;
  Other.Image = Use.Image;
  Other.HasSampler = Use.Sampler == TextureFunction::Sampler::Own;
  Other.IsSampled = Use.Sampler != TextureFunction::Sampler::None;
  (Use.Writes ? Other.Writes : Other.Reads) = true;
  add(Other);
}

void ImageObject::add(const ImageObject &Other) {
  bool HaveBoth = !Image.empty() && !Other.Image.empty();
  // What is sampled is a texture, anything else a surface.
  IsOther |= Other.IsOther || (HaveBoth && (Image != Other.Image || IsSampled != Other.IsSampled));
  if (Image.empty())
    Image = Other.Image;
  IsSampled |= Other.IsSampled;
  HasSampler |= Other.HasSampler;
  Reads |= Other.Reads;
  Writes |= Other.Writes;
}

Value *kassay::cuda::originOf(Value *Handle) {
  // Variables may be stored to each other, and then no handle is ever in them.
  SmallPtrSet<Value *, 8> Passed;
  while (Passed.insert(Handle).second) {
    if (isa<Argument>(Handle))
      return Handle;
    if (auto *Address = dyn_cast<PtrToIntOperator>(Handle))
      return dyn_cast<GlobalVariable>(Address->getPointerOperand()->stripPointerCasts());
    auto *Load = dyn_cast<LoadInst>(Handle);
    Value *Pointer = Load ? Load->getPointerOperand()->stripPointerCasts() : nullptr;
    if (!Pointer || isa<GlobalVariable>(Pointer))
      return Pointer;
    auto *Variable = dyn_cast<AllocaInst>(Pointer);
    StoreInst *Store = Variable ? onlyStore(Variable) : nullptr;
    if (!Store)
      return nullptr;
    Handle = Store->getValueOperand();
  }
  return nullptr;
}

ImageObjects::ImageObjects(Module &M) {
  for (Function &F : M) {
    auto Known = TextureFunction::of(F);
    if (!Known)
      continue;
    for (User *U : F.users())
      if (auto *Call = dyn_cast<CallInst>(U))
        if (Value *Origin = originOf(Call->getArgOperand(0))) {
          enter(Origin);
          object(Origin).add(*Known);
        }
  }
  while (!Open.empty()) {
    Value *Origin = Open.back();
    Open.pop_back();
    if (auto *Parameter = dyn_cast<Argument>(Origin)) {
      followCallers(Parameter);
      followHandle(Origin, Origin);
    } else {
      followVariable(Origin, Origin);
    }
  }
}

const ImageObject *ImageObjects::find(Value *Origin) {
  if (!Origin || !Seen.count(Origin))
    return nullptr;
  const ImageObject &Found = object(Origin);
  return Found.isImage() ? &Found : nullptr;
}

std::vector<GlobalVariable *> ImageObjects::variables(Module &M) {
  std::vector<GlobalVariable *> Found;
  for (GlobalVariable &Variable : M.globals())
    if (find(&Variable))
      Found.push_back(&Variable);
  return Found;
}

Value *ImageObjects::root(Value *Origin) {
  while (Parents.count(Origin))
    Origin = Parents[Origin];
  return Origin;
}

void ImageObjects::enter(Value *Origin) {
  if (Seen.insert(Origin).second)
    Open.push_back(Origin);
}

void ImageObjects::unite(Value *One, Value *Other) {
  enter(One);
  enter(Other);
  Value *Into = root(One), *From = root(Other);
  if (Into == From)
    return;
  Objects[Into].add(Objects[From]);
  Objects.erase(From);
  Parents[From] = Into;
}

void ImageObjects::followCallers(Argument *Parameter) {
  Function *F = Parameter->getParent();
  if (isKernel(*F))
    return;
  for (User *U : F->users()) {
    auto *Call = dyn_cast<CallInst>(U);
    bool IsCall = Call && Call->getCalledFunction() == F;
    Value *Origin = IsCall ? originOf(Call->getArgOperand(Parameter->getArgNo())) : nullptr;
    if (Origin)
      unite(Parameter, Origin);
    else
      object(Parameter).IsOther = true;
  }
}

void ImageObjects::followVariable(Value *Origin, Value *Pointer) {
  for (User *U : Pointer->users()) {
    auto *Load = dyn_cast<LoadInst>(U);
    if ((Load && isHandle(Load)) || isa<PtrToIntOperator>(U))
      followHandle(Origin, U);
    else if (isa<AddrSpaceCastOperator>(U))
      followVariable(Origin, U);
    // What is left of lists that are gone.
    else if (!isa<Constant>(U) || !U->use_empty())
      object(Origin).IsOther = true;
  }
}

void ImageObjects::followHandle(Value *Origin, Value *Handle) {
  if (!isHandle(Handle))
    object(Origin).IsOther = true;
  for (Use &U : Handle->uses())
    followUse(Origin, U);
}

void ImageObjects::followUse(Value *Origin, Use &U) {
  if (auto *Store = dyn_cast<StoreInst>(U.getUser())) {
    auto *Variable = dyn_cast<AllocaInst>(Store->getPointerOperand());
    if (Store->getValueOperand() == U.get() && Variable && onlyStore(Variable) == Store) {
      for (User *Other : Variable->users())
        if (isa<LoadInst>(Other))
          followHandle(Origin, Other);
      return;
    }
  }
  auto *Call = dyn_cast<CallInst>(U.getUser());
  Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  if (Callee && Call->isArgOperand(&U)) {
    unsigned Position = Call->getArgOperandNo(&U);
    if (TextureFunction::of(*Callee) && Position == 0)
      return;
    if (!Callee->isDeclaration() && Position < Callee->arg_size())
      return unite(Origin, Callee->getArg(Position));
  }
  object(Origin).IsOther = true;
}
