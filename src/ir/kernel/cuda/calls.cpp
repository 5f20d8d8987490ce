//! Calls through pointers to functions. A pointer is the number of its function, and a call through it chooses among those
//! that it may be (`origins.cpp`); where that is not known, among the functions of its type whose address the program takes.

#include "module.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <set>

using namespace llvm;

namespace {

/// A call that would choose among more functions is refused (`absent` in mod.rs has the number, too).
constexpr size_t Most = 64;

/// The uses of a function that are not calls of it.
std::vector<Use *> addresses(Function &F) {
  std::vector<Use *> Found;
  for (Use &One : F.uses()) {
    auto *Call = dyn_cast<CallBase>(One.getUser());
    if (!Call || !Call->isCallee(&One))
      Found.push_back(&One);
  }
  return Found;
}


std::vector<CallInst *> indirectCalls(Module &M) {
  std::vector<CallInst *> Found;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->isIndirectCall())
        Found.push_back(Call);
  return Found;
}

/// What stands for a function in memory and in comparisons.
Constant *number(Type *Pointer, uint64_t Number) {
  return ConstantExpr::getIntToPtr(ConstantInt::get(Type::getInt64Ty(Pointer->getContext()), Number), Pointer);
}

/// Whether a host can change what holds the address: then it is not known which functions a call may be of.
bool isOfHost(const User *Holder) {
  if (auto *Variable = dyn_cast<GlobalVariable>(Holder))
    return !Variable->isConstant();
  return isa<Constant>(Holder) && any_of(Holder->users(), isOfHost);
}

using FunctionsByType = std::map<FunctionType *, std::vector<Function *>>;

/// The functions whose address is taken, by type, of types of which all are known.
FunctionsByType taken(Module &M) {
  FunctionsByType Found;
  std::set<FunctionType *> Unknown;
  for (Function &F : M) {
    auto Uses = addresses(F);
    if (F.isDeclaration() || kassay::cuda::isKernel(F) || Uses.empty())
      continue;
    auto &Of = Found[F.getFunctionType()];
    Of.push_back(&F);
    if (any_of(Uses, [](Use *One) { return isOfHost(One->getUser()); }))
      Unknown.insert(F.getFunctionType());
  }
  for (FunctionType *Type : Unknown)
    Found.erase(Type);
  return Found;
}

/// Puts numbers into the place of addresses; those of functions that are cast to another space, too.
void replaceAddresses(Function &F, uint64_t Number) {
  for (Use *One : addresses(F)) {
    auto *Cast = dyn_cast<ConstantExpr>(One->getUser());
    if (Cast && Cast->getType()->isPointerTy())
      Cast->replaceAllUsesWith(number(Cast->getType(), Number));
  }
  F.replaceUsesWithIf(number(F.getType(), Number), [](Use &One) {
    auto *Call = dyn_cast<CallBase>(One.getUser());
    return !Call || !Call->isCallee(&One);
  });
}

/// The constant with integers for numbers that stand for functions; null if it holds other pointers.
Constant *asIntegers(Constant *Given) {
  Type *Long = Type::getInt64Ty(Given->getContext());
  if (Given->getType()->isPointerTy()) {
    auto *Cast = dyn_cast<ConstantExpr>(Given);
    if (Cast && Cast->getOpcode() == Instruction::IntToPtr)
      return Cast->getOperand(0);
    return Given->isNullValue() ? ConstantInt::get(Long, 0) : nullptr;
  }
  if (!isa<ConstantArray, ConstantStruct>(Given))
    return isa<ConstantAggregateZero>(Given) ? nullptr : Given;
  SmallVector<Constant *, 8> Parts;
  for (Value *One : Given->operand_values())
    Parts.push_back(asIntegers(cast<Constant>(One)));
  if (is_contained(Parts, nullptr))
    return nullptr;
  if (auto *Array = dyn_cast<ArrayType>(Given->getType()))
    return ConstantArray::get(ArrayType::get(Parts[0]->getType(), Array->getNumElements()), Parts);
  return ConstantStruct::getAnon(Parts, cast<StructType>(Given->getType())->isPacked());
}

/// Makes tables of functions tables of integers: no device has addresses of functions.
void fitTables(Module &M) {
  for (GlobalVariable &Table : make_early_inc_range(M.globals())) {
    Constant *Integers = Table.isConstant() && Table.hasInitializer() ? asIntegers(Table.getInitializer()) : nullptr;
    if (!Integers || Integers->getType() == Table.getValueType())
      continue;
    auto *New = new GlobalVariable(M, Integers->getType(), true, Table.getLinkage(), Integers, "", &Table,
                                   GlobalValue::NotThreadLocal, Table.getAddressSpace());
    New->copyAttributesFrom(&Table);
    New->takeName(&Table);
    Table.replaceAllUsesWith(New);
    Table.eraseFromParent();
  }
}

/// The number that a pointer to a function is; read as one from memory.
Value *numberOf(Value *Pointer, IRBuilder<> &Builder) {
  auto *Load = dyn_cast<LoadInst>(Pointer);
  if (!Load)
    return Builder.CreatePtrToInt(Pointer, Builder.getInt64Ty());
  IRBuilder<> AtLoad(Load);
  LoadInst *Read = AtLoad.CreateAlignedLoad(Builder.getInt64Ty(), Load->getPointerOperand(), Load->getAlign());
  return Read;
}

/// Stores numbers as integers.
void fitStores(Module &M) {
  for (Function &F : M)
    for (Instruction &I : make_early_inc_range(instructions(F))) {
      auto *Store = dyn_cast<StoreInst>(&I);
      auto *Given = Store ? dyn_cast<ConstantExpr>(Store->getValueOperand()) : nullptr;
      if (Given && Given->getOpcode() == Instruction::IntToPtr)
        Store->setOperand(0, Given->getOperand(0));
    }
}

/// Replaces a call by those of the functions that it may be of; by a trap if it is of none.
void choose(CallInst &Call, ArrayRef<Function *> Functions, const std::map<Function *, uint64_t> &Numbers) {
  Module &M = *Call.getModule();
  // Constructs of the source are told apart by labels, if every block has one.
  BasicBlock *Head = Call.getParent();
  BasicBlock *Tail = Head->splitBasicBlock(&Call, "call.end");
  Function *Caller = Head->getParent();
  LLVMContext &C = M.getContext();
  Head->getTerminator()->eraseFromParent();
  BasicBlock *None = BasicBlock::Create(C, "call.none", Caller, Tail);
  IRBuilder<> Builder(Head);
  Builder.SetCurrentDebugLocation(Call.getDebugLoc());
  Value *Which = numberOf(Call.getCalledOperand(), Builder);
  SwitchInst *Switch = Builder.CreateSwitch(Which, None, Functions.size());
  // The file has one call, in which nothing is decided.
  MDNode *Library = MDNode::get(C, {});
  Switch->setMetadata("kassay.library", Library);
  if (auto *Cast = dyn_cast<PtrToIntInst>(Which))
    Cast->setMetadata("kassay.library", Library);
  PHINode *Result = nullptr;
  if (!Call.getType()->isVoidTy()) {
    Result = PHINode::Create(Call.getType(), Functions.size() + 1, "", Tail->begin());
    Result->setDebugLoc(Call.getDebugLoc());
  }
  for (Function *F : Functions) {
    BasicBlock *Case = BasicBlock::Create(C, "call.known", Caller, Tail);
    Switch->addCase(Builder.getInt64(Numbers.at(F)), Case);
    auto *Direct = cast<CallInst>(Call.clone());
    Direct->insertInto(Case, Case->end());
    Direct->setCalledFunction(F);
    Builder.SetInsertPoint(Case);
    Builder.CreateBr(Tail);
    if (Result)
      Result->addIncoming(Direct, Case);
  }
  Builder.SetInsertPoint(None);
  FunctionCallee Trap = M.getOrInsertFunction("__kassay_trap", Builder.getVoidTy(), PointerType::get(C, kassay::cuda::Generic));
  Builder.CreateCall(Trap, {Constant::getNullValue(PointerType::get(C, kassay::cuda::Generic))});
  Builder.CreateBr(Tail);
  if (Result) {
    Result->addIncoming(Constant::getNullValue(Call.getType()), None);
    Call.replaceAllUsesWith(Result);
  }
  auto *Read = dyn_cast<LoadInst>(Call.getCalledOperand());
  Call.eraseFromParent();
  if (Read && Read->use_empty())
    Read->eraseFromParent();
}

/// Refuses a call where a kernel comes to it (`absent` in mod.rs).
void refuse(CallInst &Call, StringRef Why) {
  IRBuilder<> Builder(&Call);
  Builder.CreateCall(Call.getModule()->getOrInsertFunction(Why, Builder.getVoidTy()));
  if (!Call.getType()->isVoidTy())
    Call.replaceAllUsesWith(Constant::getNullValue(Call.getType()));
  Call.eraseFromParent();
}

} // namespace

void kassay::cuda::fitCalls(Module &M) {
  // Of a class without objects: a call of it is one of no function.
  for (StringRef Name : {"__cxa_pure_virtual", "__cxa_deleted_virtual"})
    if (Function *None = M.getFunction(Name))
      replaceAddresses(*None, 0);
  auto Calls = indirectCalls(M);
  FunctionsByType Taken = Calls.empty() ? FunctionsByType() : taken(M);
  std::vector<std::pair<CallInst *, std::vector<Function *>>> Choices;
  for (CallInst *Call : Calls) {
    auto Functions = functionsOf(*Call->getCalledOperand());
    if (auto OfType = Taken.find(Call->getFunctionType()); !Functions && OfType != Taken.end())
      Functions = OfType->second;
    if (Functions)
      erase_if(*Functions, [&](Function *F) { return F->getFunctionType() != Call->getFunctionType(); });
    Choices.emplace_back(Call, Functions.value_or(std::vector<Function *>()));
  }
  // In the module's order.
  std::map<Function *, uint64_t> Numbers;
  for (Function &F : M)
    if (any_of(Choices, [&](const auto &One) { return is_contained(One.second, &F); }))
      Numbers.emplace(&F, Numbers.size() + 1);
  for (auto &[Call, Functions] : Choices) {
    if (Functions.empty() || Functions.size() > Most)
      refuse(*Call, Functions.empty() ? "cuda.pointer unknown" : "cuda.pointer many");
    else
      choose(*Call, Functions, Numbers);
  }
  for (auto &[F, Number] : Numbers)
    replaceAddresses(*F, Number);
  if (!Numbers.empty()) {
    fitTables(M);
    fitStores(M);
  }
}
