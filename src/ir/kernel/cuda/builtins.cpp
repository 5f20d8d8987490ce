//! Fits calls of builtins: headers declare those with pointers for generic ones, as all pointers of CUDA are.

#include "module.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Operator.h>

using namespace llvm;

namespace {

constexpr StringLiteral GenericPointer = "PU3AS4";
constexpr unsigned PrivateSpace = 0, GlobalSpace = 1, ConstantSpace = 2, LocalSpace = 3;

std::vector<CallInst *> callsOf(Module &M, const std::function<bool(const Function &)> &Which) {
  std::vector<CallInst *> Found;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I))
        if (Function *Callee = Call->getCalledFunction(); Callee && Callee->isDeclaration() && Which(*Callee))
          Found.push_back(Call);
  return Found;
}

/// How a pointer to that space begins in a mangled name; nothing where the builtin has no such overload.
std::optional<StringRef> mangledPointer(unsigned Space, bool IsAtomic) {
  if (Space == GlobalSpace)
    return "PU3AS1";
  if (Space == LocalSpace)
    return "PU3AS3";
  if (Space == PrivateSpace && !IsAtomic)
    return "P";
  return std::nullopt;
}

/// The pointer of a named space that a generic one comes from, through casts and sums.
Value *named(Value *Pointer, IRBuilder<> &Builder) {
  if (auto *Cast = dyn_cast<AddrSpaceCastOperator>(Pointer))
    return Cast->getPointerOperand();
  auto *Sum = dyn_cast<GEPOperator>(Pointer);
  Value *Base = Sum ? named(Sum->getPointerOperand(), Builder) : nullptr;
  if (!Base)
    return nullptr;
  SmallVector<Value *, 4> Indices(Sum->indices());
  return Builder.CreateGEP(Sum->getSourceElementType(), Base, Indices, Sum->getName(), Sum->getNoWrapFlags());
}

/// Calls the builtin's overload for the space of its only pointer.
void fitPointer(Module &M, CallInst *Call) {
  std::string Name = Call->getCalledFunction()->getName().str();
  size_t At = Name.find(GenericPointer);
  for (Use &Argument : Call->args()) {
    IRBuilder<> Builder(Call);
    Value *Pointer = Argument->getType()->isPointerTy() ? named(Argument.get(), Builder) : nullptr;
    if (!Pointer)
      continue;
    auto Spelling = mangledPointer(Pointer->getType()->getPointerAddressSpace(), StringRef(Name).contains("atom"));
    if (!Spelling)
      return;
    Name.replace(At, GenericPointer.size(), Spelling->str());
    Argument.set(Pointer);
    std::vector<Type *> Types;
    for (Value *One : Call->args())
      Types.push_back(One->getType());
    auto *Type = FunctionType::get(Call->getType(), Types, false);
    FunctionCallee Callee = M.getOrInsertFunction(Name, Type, Call->getCalledFunction()->getAttributes());
    if (auto *F = dyn_cast<Function>(Callee.getCallee()))
      F->setCallingConv(Call->getCallingConv());
    Call->setCalledFunction(Callee);
    return;
  }
}

void fitPointers(Module &M) {
  auto IsGeneric = [](const Function &F) { return F.getName().starts_with("_Z") && F.getName().contains(GenericPointer); };
  for (CallInst *Call : callsOf(M, IsGeneric))
    fitPointer(M, Call);
}

/// The copy of a string in constant memory, where formats are in OpenCL C.
Constant *inConstantMemory(Module &M, Value *Pointer) {
  auto *String = dyn_cast<GlobalVariable>(Pointer->stripPointerCasts());
  if (!String || !String->isConstant() || !String->hasInitializer() || !String->hasPrivateLinkage())
    return nullptr;
  std::string Name = String->getName().str() + ".constant";
  if (GlobalVariable *Known = M.getNamedGlobal(Name))
    return Known;
  auto *Copy = new GlobalVariable(M, String->getValueType(), true, GlobalValue::InternalLinkage, String->getInitializer(),
                                  Name, nullptr, GlobalValue::NotThreadLocal, ConstantSpace);
  Copy->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  Copy->setAlignment(Align(1));
  return Copy;
}

/// The function that `printf` is in OpenCL C, in the place of CUDA's.
void fitPrintf(Module &M) {
  Function *Old = M.getFunction("printf");
  if (!Old || !Old->isDeclaration())
    return;
  Old->setName("cuda.printf with a computed format");
  LLVMContext &C = M.getContext();
  auto *Type = FunctionType::get(Type::getInt32Ty(C), {PointerType::get(C, ConstantSpace)}, true);
  Function *New = Function::Create(Type, GlobalValue::ExternalLinkage, "printf", M);
  New->setCallingConv(Old->getCallingConv());
  for (CallInst *Call : callsOf(M, [&](const Function &F) { return &F == Old; })) {
    std::vector<Value *> Arguments(Call->arg_begin(), Call->arg_end());
    for (Value *&One : Arguments)
      if (Constant *Copy = One->getType()->isPointerTy() ? inConstantMemory(M, One) : nullptr)
        One = Copy;
    if (Arguments[0]->getType() != Type->getParamType(0))
      continue;
    IRBuilder<> Builder(Call);
    CallInst *Print = Builder.CreateCall(New, Arguments);
    Print->setCallingConv(Call->getCallingConv());
    Print->takeName(Call);
    Call->replaceAllUsesWith(Print);
    Call->eraseFromParent();
  }
}

/// The text of a string constant.
std::optional<std::string> text(const Value *Pointer) {
  auto *String = dyn_cast<GlobalVariable>(Pointer->stripPointerCasts());
  auto *Bytes = String && String->hasInitializer() ? dyn_cast<ConstantDataSequential>(String->getInitializer()) : nullptr;
  if (!Bytes || !Bytes->isCString())
    return std::nullopt;
  return Bytes->getAsCString().str();
}

/// Makes traps of the header's function for them, with the text of the condition that failed (`lower/traps.rs`).
void fitTraps(Module &M) {
  LLVMContext &C = M.getContext();
  for (CallInst *Call : callsOf(M, [](const Function &F) { return F.getName() == "__kassay_trap"; })) {
    CallInst *Trap = IRBuilder<>(Call).CreateIntrinsic(Intrinsic::trap, {});
    Trap->addFnAttr(Attribute::NoMerge);
    if (auto Condition = text(Call->getArgOperand(0)))
      Trap->setMetadata("kassay.assertion", MDNode::get(C, {MDString::get(C, *Condition)}));
    Call->eraseFromParent();
  }
}

} // namespace

void kassay::cuda::fitBuiltins(Module &M) {
  fitPointers(M);
  fitPrintf(M);
  fitTraps(M);
  for (Function &F : M)
    dropUnused(F);
}
