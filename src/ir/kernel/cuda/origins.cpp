//! Which functions a pointer may be, as far as where it comes from says so: a choice, a table, a parameter, a member of an
//! object.

#include "module.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include <set>

using namespace llvm;

namespace {

class Origins {
  std::vector<Function *> Found;
  std::set<const Value *> SeenValues, SeenObjects, SeenAddresses;

public:
  /// Whether all functions that a value may be are known; they are in `functions()` then.
  bool areKnown(Value *V) {
    if (auto *F = dyn_cast<Function>(V)) {
      if (!is_contained(Found, F))
        Found.push_back(F);
      return true;
    }
    // A value that depends on itself adds nothing.
    if (isa<ConstantPointerNull, UndefValue>(V) || !SeenValues.insert(V).second)
      return true;
    if (auto *Cast = dyn_cast<AddrSpaceCastOperator>(V))
      return areKnown(Cast->getPointerOperand());
    if (auto *Select = dyn_cast<SelectInst>(V))
      return areKnown(Select->getTrueValue()) && areKnown(Select->getFalseValue());
    if (auto *Phi = dyn_cast<PHINode>(V))
      return all_of(Phi->incoming_values(), [&](Use &One) { return areKnown(One); });
    if (auto *Load = dyn_cast<LoadInst>(V))
      return holdsKnown(Load->getPointerOperand());
    if (auto *Parameter = dyn_cast<Argument>(V))
      return atCalls(*Parameter, [&](Value *Given) { return areKnown(Given); });
    return false;
  }

  const std::vector<Function *> &functions() const { return Found; }

private:
  /// Whether that holds of all that a parameter gets.
  static bool atCalls(const Argument &Parameter, function_ref<bool(Value *)> Holds) {
    const Function *F = Parameter.getParent();
    return !kassay::cuda::isKernel(*F) && all_of(F->uses(), [&](const Use &One) {
      auto *Call = dyn_cast<CallBase>(One.getUser());
      return Call && Call->isCallee(&One) && Holds(Call->getArgOperand(Parameter.getArgNo()));
    });
  }

  /// Whether all functions are known that the object may hold into which a pointer leads.
  bool holdsKnown(Value *Pointer) {
    Value *Object = getUnderlyingObject(Pointer, 0);
    if (!SeenObjects.insert(Object).second)
      return true;
    if (auto *Table = dyn_cast<GlobalVariable>(Object))
      return Table->isConstant() && Table->hasInitializer() && !Table->isExternallyInitialized() &&
             isKnownConstant(Table->getInitializer());
    if (isa<AllocaInst>(Object))
      return getsKnown(Object);
    // An object's address in a variable of its own, such as `this`.
    if (auto *Load = dyn_cast<LoadInst>(Object)) {
      auto *Variable = dyn_cast<AllocaInst>(getUnderlyingObject(Load->getPointerOperand(), 0));
      return Variable && isSpill(*Variable, [&](Value *Address) { return holdsKnown(Address); });
    }
    if (auto *Parameter = dyn_cast<Argument>(Object))
      return atCalls(*Parameter, [&](Value *Given) { return holdsKnown(Given); });
    return false;
  }

  bool isKnownConstant(Constant *Given) {
    if (isa<ConstantAggregate>(Given))
      return all_of(Given->operand_values(), [&](Value *One) { return isKnownConstant(cast<Constant>(One)); });
    auto *Cast = dyn_cast<AddrSpaceCastOperator>(Given);
    if (auto *F = dyn_cast<Function>(Cast ? Cast->getPointerOperand() : Given))
      return areKnown(F);
    // Other pointers in it are of objects, which no call goes to.
    return true;
  }

  /// Whether all functions are known that get into the object with this address.
  bool getsKnown(Value *Address) {
    if (!SeenAddresses.insert(Address).second)
      return true;
    return all_of(Address->uses(), [&](Use &One) { return isKnownUse(One); });
  }

  bool isKnownUse(Use &One) {
    User *U = One.getUser();
    if (isa<LoadInst, ICmpInst, MemSetInst>(U))
      return true;
    if (auto *Copy = dyn_cast<MemTransferInst>(U))
      return Copy->getRawDest() != One.get() || holdsKnown(Copy->getRawSource());
    if (isa<IntrinsicInst>(U))
      return cast<IntrinsicInst>(U)->isAssumeLikeIntrinsic();
    if (isa<GEPOperator, AddrSpaceCastOperator, PHINode, SelectInst>(U))
      return getsKnown(U);
    if (auto *Store = dyn_cast<StoreInst>(U)) {
      Value *Given = Store->getValueOperand();
      if (Given != One.get())
        return Given->getType()->isPointerTy() ? areKnownOrObject(Given) : isTooSmall(*Given->getType());
      auto *Variable = dyn_cast<AllocaInst>(getUnderlyingObject(Store->getPointerOperand(), 0));
      return Variable && isSpill(*Variable, [](Value *) { return true; }) && readsAreKnown(*Variable);
    }
    auto *Call = dyn_cast<CallBase>(U);
    Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    return Callee && !Callee->isDeclaration() && Call->isArgOperand(&One) &&
           getsKnown(Callee->getArg(Call->getArgOperandNo(&One)));
  }

  /// A pointer to an object is none to a function.
  bool areKnownOrObject(Value *Given) {
    return isa<AllocaInst, GlobalVariable>(getUnderlyingObject(Given, 0)) || areKnown(Given);
  }

  /// Whether a number cannot be a pointer in another guise.
  static bool isTooSmall(const Type &T) { return T.getScalarSizeInBits() > 0 && T.getPrimitiveSizeInBits() < 64; }

  /// Whether a variable is only written and read as a whole, with values for which that holds.
  static bool isSpill(AllocaInst &Variable, function_ref<bool(Value *)> Holds) {
    return all_of(Variable.users(), [&](User *U) { return isSpillUse(Variable, *U, Holds); });
  }

  static bool isSpillUse(Value &Address, User &U, function_ref<bool(Value *)> Holds) {
    if (auto *Store = dyn_cast<StoreInst>(&U))
      return Store->getPointerOperand() == &Address && Holds(Store->getValueOperand());
    if (isa<AddrSpaceCastOperator>(U))
      return all_of(U.users(), [&](User *Next) { return isSpillUse(U, *Next, Holds); });
    auto *Marker = dyn_cast<IntrinsicInst>(&U);
    return isa<LoadInst>(U) || (Marker && Marker->isAssumeLikeIntrinsic());
  }

  /// Whether all functions are known that get into an object by what is read from a variable.
  bool readsAreKnown(Value &Variable) {
    return all_of(Variable.users(), [&](User *U) {
      if (isa<AddrSpaceCastOperator>(U))
        return readsAreKnown(*U);
      return !isa<LoadInst>(U) || getsKnown(U);
    });
  }
};

} // namespace

std::optional<std::vector<Function *>> kassay::cuda::functionsOf(Value &Pointer) {
  Origins From;
  if (!From.areKnown(&Pointer))
    return std::nullopt;
  return From.functions();
}
