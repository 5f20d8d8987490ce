//! Turns textures and surfaces into images, as OpenCL C has them: parameters with types of their own, each texture with
//! a sampler beside it, which are passed on to the functions that use them.

#include "textures.h"

#include "module.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

using namespace llvm;
using namespace kassay::cuda;

namespace {

/// `CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST`, with coordinates in texels.
constexpr unsigned ZeroOutside = 0x14;

/// A parameter that a function gets behind its own: the image of a variable, or the sampler of a texture.
struct Added {
  Value *Origin;
  bool IsSampler;
  Type *Of;
};

/// Finds what functions get behind their own parameters.
class Needs {
  Module &M;
  ImageObjects &Objects;
  std::vector<GlobalVariable *> Variables;
  /// The variables that a function uses, itself or through others.
  std::map<const Function *, std::set<GlobalVariable *>> Used;

public:
  Needs(Module &M, ImageObjects &Objects) : M(M), Objects(Objects), Variables(Objects.variables(M)) {
    for (GlobalVariable *Variable : Variables)
      for (User *U : Variable->users())
        find(Variable, U);
    while (findThroughCalls())
      ;
  }

  /// Nothing if no parameter of the function changes, either.
  std::optional<std::vector<Added>> of(Function &F) {
    Type *Sampler = TargetExtType::get(M.getContext(), "spirv.Sampler");
    std::vector<Added> Found;
    bool IsChanged = false;
    for (Argument &A : F.args())
      if (const ImageObject *Object = Objects.find(&A)) {
        IsChanged = true;
        if (Object->HasSampler)
          Found.push_back({&A, true, Sampler});
      }
    for (GlobalVariable *Variable : Variables)
      if (Used[&F].count(Variable)) {
        const ImageObject *Object = Objects.find(Variable);
        Found.push_back({Variable, false, Object->type(M.getContext())});
        if (Object->HasSampler)
          Found.push_back({Variable, true, Sampler});
      }
    return IsChanged || !Found.empty() ? std::optional(Found) : std::nullopt;
  }

private:
  void find(GlobalVariable *Variable, User *U) {
    if (auto *I = dyn_cast<Instruction>(U))
      Used[I->getFunction()].insert(Variable);
    else
      for (User *Other : U->users())
        find(Variable, Other);
  }

  bool findThroughCalls() {
    bool Changed = false;
    for (Function &F : M)
      for (Instruction &I : instructions(F))
        if (auto *Call = dyn_cast<CallInst>(&I))
          for (GlobalVariable *Variable : std::set(Used[Call->getCalledFunction()]))
            Changed |= Used[&F].insert(Variable).second;
    return Changed;
  }
};

/// Puts functions with images in the place of those with handles.
class Rewriter {
  Module &M;
  LLVMContext &C;
  ImageObjects Objects;
  /// What functions get, by those without and by those with images.
  std::map<Function *, std::vector<Added>> Parameters;
  /// The functions without images, in the module's order, and those with images.
  std::vector<Function *> Old;
  std::map<Function *, Function *> New;
  /// What handles come from, and what they have become.
  std::map<Value *, Value *> Origins, Images;
  std::vector<std::pair<CallInst *, TextureFunction>> Builtins;
  std::vector<CallInst *> Calls;
  std::vector<Instruction *> Spent;

public:
  explicit Rewriter(Module &M) : M(M), C(M.getContext()), Objects(M) {}

  void run() {
    Needs All(M, Objects);
    for (Function &F : M)
      if (auto Found = F.isDeclaration() ? std::nullopt : All.of(F)) {
        Parameters[&F] = *Found;
        Old.push_back(&F);
      }
    for (Function *F : Old)
      findCalls(*F);
    for (Function *F : Old)
      create(*F);
    for (Function *F : Old)
      convertHandles(*F);
    for (auto &[Call, Known] : Builtins)
      callBuiltin(Call, Known);
    for (CallInst *Call : Calls)
      passOn(Call);
    for (Instruction *I : reverse(Spent))
      I->eraseFromParent();
    for (Function *F : Old)
      F->eraseFromParent();
  }

private:
  void findCalls(Function &F) {
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallInst>(&I);
      Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      if (!Callee)
        continue;
      for (Value *Operand : Call->args())
        if (Value *Origin = originOf(Operand); Objects.find(Origin))
          Origins[Operand] = Origin;
      auto Known = TextureFunction::of(*Callee);
      if (Known && Origins.count(Call->getArgOperand(0)))
        Builtins.emplace_back(Call, *Known);
      else if (Parameters.count(Callee))
        Calls.push_back(Call);
    }
  }

  // ---- Functions.

  void create(Function &F) {
    std::vector<Type *> Types;
    AttributeList Attributes = F.getAttributes();
    for (Argument &A : F.args()) {
      const ImageObject *Object = Objects.find(&A);
      Types.push_back(Object ? Object->type(C) : A.getType());
      if (Object)
        Attributes = Attributes.removeParamAttributes(C, A.getArgNo());
    }
    const std::vector<Added> More = Parameters[&F];
    for (const Added &One : More)
      Types.push_back(One.Of);
    auto *Type = FunctionType::get(F.getReturnType(), Types, false);
    Function *With = Function::Create(Type, F.getLinkage(), F.getAddressSpace());
    M.getFunctionList().insert(F.getIterator(), With);
    With->copyAttributesFrom(&F);
    With->setAttributes(Attributes);
    With->copyMetadata(&F, 0);
    F.setSubprogram(nullptr);
    With->takeName(&F);
    With->splice(With->begin(), &F);
    New[&F] = With;
    Parameters[With] = More;
    nameParameters(F, *With);
    describe(*With);
  }

  void nameParameters(Function &F, Function &With) {
    for (Argument &A : F.args()) {
      Argument *Its = With.getArg(A.getArgNo());
      Its->takeName(&A);
      if (!Objects.find(&A))
        A.replaceAllUsesWith(Its);
    }
    unsigned Position = F.arg_size();
    for (const Added &One : Parameters[&F]) {
      auto *Parameter = dyn_cast<Argument>(One.Origin);
      std::string Name = Parameter ? With.getArg(Parameter->getArgNo())->getName().str()
                                   : demangle(One.Origin->getName().str());
      With.getArg(Position++)->setName(One.IsSampler ? Name + ".sampler" : Name);
    }
  }

  /// Adds the types of parameters to those that debug information lists.
  void describe(Function &F) {
    DISubprogram *Described = F.getSubprogram();
    if (!Described || Parameters[&F].empty())
      return;
    DIBuilder Builder(M, false, Described->getUnit());
    SmallVector<Metadata *, 8> Types(Described->getType()->getTypeArray()->operands());
    for (const Added &One : Parameters[&F])
      Types.push_back(Builder.createUnspecifiedType(One.IsSampler ? "sampler_t" : "image"));
    Described->replaceType(Builder.createSubroutineType(Builder.getOrCreateTypeArray(Types)));
  }

  // ---- Handles.

  void convertHandles(Function &F) {
    Function &With = *New[&F];
    for (Argument &A : F.args())
      if (Objects.find(&A))
        convert(&A, With.getArg(A.getArgNo()));
    std::vector<std::pair<Instruction *, GlobalVariable *>> Found;
    for (Instruction &I : instructions(With))
      if (isa<LoadInst>(I) || isa<PtrToIntInst>(I))
        if (auto *Variable = dyn_cast<GlobalVariable>(I.getOperand(0)->stripPointerCasts());
            Variable && Objects.find(Variable))
          Found.emplace_back(&I, Variable);
    for (auto [Handle, Variable] : Found) {
      convert(Handle, added(With, Variable, false));
      Spent.push_back(Handle);
    }
  }

  /// Puts an image in the place of a handle in the variables to which it is stored.
  void convert(Value *Handle, Value *Image) {
    Images[Handle] = Image;
    for (User *U : make_early_inc_range(Handle->users())) {
      auto *Store = dyn_cast<StoreInst>(U);
      if (!Store)
        continue;
      auto *Variable = cast<AllocaInst>(Store->getPointerOperand());
      Variable->setAllocatedType(Image->getType());
      IRBuilder<> Builder(Store);
      Builder.CreateAlignedStore(Image, Variable, Store->getAlign());
      Store->eraseFromParent();
      for (User *Other : make_early_inc_range(Variable->users()))
        if (auto *Load = dyn_cast<LoadInst>(Other); Load && Load->getType() != Image->getType())
          convertLoad(Load, Image->getType());
    }
  }

  void convertLoad(LoadInst *Load, Type *Type) {
    IRBuilder<> Builder(Load);
    auto *Image = Builder.CreateAlignedLoad(Type, Load->getPointerOperand(), Load->getAlign());
    Image->takeName(Load);
    Spent.push_back(Load);
    convert(Load, Image);
  }

  /// The parameter of a function that stands for a variable, or is a sampler.
  Value *added(Function &With, Value *Origin, bool IsSampler) {
    const std::vector<Added> &All = Parameters[&With];
    for (unsigned I = 0; I < All.size(); I++)
      if (All[I].Origin == Origin && All[I].IsSampler == IsSampler)
        return With.getArg(With.arg_size() - All.size() + I);
    report_fatal_error("a function lacks an image that it uses");
  }

  Value *imageOf(CallInst *Call, Value *Handle) {
    auto Found = Images.find(Handle);
    return Found != Images.end() ? Found->second : added(*Call->getFunction(), Origins[Handle], false);
  }

  // ---- Calls.

  void callBuiltin(CallInst *Call, const TextureFunction &Known) {
    Value *Handle = Call->getArgOperand(0);
    Value *Origin = Origins[Handle];
    std::vector<Value *> Arguments{imageOf(Call, Handle)};
    if (Known.Sampler == TextureFunction::Sampler::Own)
      Arguments.push_back(added(*Call->getFunction(), Origin, true));
    else if (Known.Sampler == TextureFunction::Sampler::ZeroOutside)
      Arguments.push_back(zeroOutside(Call));
    Arguments.insert(Arguments.end(), Call->arg_begin() + 1, Call->arg_end());
    std::string Name = Known.Builtin;
    // The access comes behind the type, and is that of all functions together.
    Name.replace(Name.find(Known.Image) + Known.Image.size() + 1, 2, Objects.find(Origin)->access().str());
    replace(Call, builtin(Name, Call->getType(), Arguments), Arguments, AttributeList());
  }

  Value *zeroOutside(CallInst *Call) {
    IRBuilder<> Builder(Call);
    std::vector<Value *> Bits{Builder.getInt32(ZeroOutside)};
    Type *Sampler = TargetExtType::get(C, "spirv.Sampler");
    CallInst *Made = Builder.CreateCall(builtin("__translate_sampler_initializer", Sampler, Bits), Bits);
    Made->setCallingConv(CallingConv::SPIR_FUNC);
    Made->setMetadata("kassay.library", MDNode::get(C, {}));
    return Made;
  }

  FunctionCallee builtin(StringRef Name, Type *Result, ArrayRef<Value *> Arguments) {
    std::vector<Type *> Types;
    for (Value *One : Arguments)
      Types.push_back(One->getType());
    FunctionCallee Found = M.getOrInsertFunction(Name, FunctionType::get(Result, Types, false));
    auto *F = cast<Function>(Found.getCallee());
    F->setCallingConv(CallingConv::SPIR_FUNC);
    F->addFnAttr(Attribute::NoUnwind);
    return Found;
  }

  /// Calls a function with images.
  void passOn(CallInst *Call) {
    Function *Callee = Call->getCalledFunction();
    AttributeList Attributes = Call->getAttributes();
    std::vector<Value *> Arguments;
    for (Argument &A : Callee->args()) {
      Value *Operand = Call->getArgOperand(A.getArgNo());
      bool IsImage = Objects.find(&A);
      Arguments.push_back(IsImage ? imageOf(Call, Operand) : Operand);
      if (IsImage)
        Attributes = Attributes.removeParamAttributes(C, A.getArgNo());
    }
    for (const Added &One : Parameters[Callee]) {
      auto *Parameter = dyn_cast<Argument>(One.Origin);
      Value *Origin = Parameter ? Origins[Call->getArgOperand(Parameter->getArgNo())] : One.Origin;
      Arguments.push_back(added(*Call->getFunction(), Origin, One.IsSampler));
    }
    replace(Call, New[Callee], Arguments, Attributes);
  }

  static void replace(CallInst *Call, FunctionCallee Callee, ArrayRef<Value *> Arguments, AttributeList Attributes) {
    IRBuilder<> Builder(Call);
    CallInst *With = Builder.CreateCall(Callee, Arguments);
    With->copyMetadata(*Call);
    With->setAttributes(Attributes);
    With->setCallingConv(CallingConv::SPIR_FUNC);
    With->takeName(Call);
    Call->replaceAllUsesWith(With);
    Call->eraseFromParent();
  }
};

} // namespace

void kassay::cuda::fitTextures(Module &M) { Rewriter(M).run(); }
