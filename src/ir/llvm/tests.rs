//! Modules that are walked, built in, and misused.

use crate::llvm::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

use super::*;

const WALKED: &str = r#"
target datalayout = "e-i64:64-v16:16-n8:16:32:64-G1"

%struct.pair = type { i32, double }
%image = type { target("spirv.Image", void, 1, 0, 0, 0, 0, 0, 0) }

@table = addrspace(2) constant [3 x i8] c"ab\00"
@counter = internal addrspace(3) global i32 undef, align 4

declare void @probe(ptr addrspace(1) byval(%struct.pair) align 8, ...) #0

define spir_kernel void @k(ptr addrspace(1) %out, i32 %n) #1 {
entry:
  %variable = alloca i32, align 4
  store i32 %n, ptr %variable
  %loaded = load volatile i32, ptr %variable
  %sum = add nsw i32 %loaded, %loaded
  switch i32 %sum, label %done [ i32 1, label %one
                                 i32 -2, label %two ]

one:
  br label %two

two:
  %joined = phi i32 [ %sum, %entry ], [ 7, %one ]
  %place = getelementptr inbounds %struct.pair, ptr addrspace(1) %out, i32 %joined, i32 1
  %old = atomicrmw xchg ptr addrspace(1) %out, i32 %joined acq_rel
  call void (ptr addrspace(1), ...) @probe(ptr addrspace(1) byval(%struct.pair) align 8 %out)
  br label %done, !note !0

done:
  %vector = shufflevector <2 x i32> <i32 1, i32 2>, <2 x i32> poison, <2 x i32> <i32 1, i32 poison>
  ret void
}

attributes #0 = { nounwind "key"="value" }
attributes #1 = { "kernel" alwaysinline }
!0 = !{!"text", null, i32 5, !1}
!1 = !{}
"#;

fn parsed<'c>(context: &'c Context, text: &str) -> Module<'c> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
    context.create_module_from_ir(buffer).expect("valid IR")
}

fn kernel<'m>(view: View<'m>) -> Function<'m> {
    view.function("k").expect("the kernel is there")
}

fn named<'m>(view: View<'m>, name: &str) -> Inst<'m> {
    kernel(view).instructions().into_iter().find(|i| i.name() == name).expect("an instruction of that name")
}

/// What a call that should panic says.
fn complaint<T>(call: impl FnOnce() -> T) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).err().expect("it should panic");
    panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string())).unwrap()
}

#[test]
fn a_module_is_walked_in_order() {
    let context = Context::create();
    let module = parsed(&context, WALKED);
    let view = View::of(&module);
    let names: Vec<String> = view.functions().into_iter().map(Function::name).collect();
    assert_eq!(names, ["probe", "k"]);
    assert_eq!(view.globals().into_iter().map(Global::name).collect::<Vec<_>>(), ["table", "counter"]);
    assert_eq!(
        kernel(view).blocks().into_iter().map(Block::label).collect::<Vec<_>>(),
        ["entry", "one", "two", "done"]
    );
    assert!(view.function("nothing").is_none() && view.function("a\0b").is_none());
    let opcodes: Vec<Opcode> = kernel(view).entry().walk().map(Inst::opcode).collect();
    use Opcode::*;
    assert_eq!(opcodes, [LLVMAlloca, LLVMStore, LLVMLoad, LLVMAdd, LLVMSwitch]);
    assert_eq!(kernel(view).call_conv(), 76);
    assert!(kernel(view).has_body() && view.function("probe").unwrap().is_declaration());
}

#[test]
fn users_come_in_llvms_order_each_once() {
    let context = Context::create();
    let module = parsed(&context, WALKED);
    let view = View::of(&module);
    let loaded = named(view, "loaded");
    assert_eq!(loaded.value().uses().len(), 2);
    assert_eq!(loaded.users(), [named(view, "sum").value()]);
    // The latest use comes first.
    let of_joined: Vec<Opcode> =
        named(view, "joined").value().user_instructions().into_iter().map(Inst::opcode).collect();
    assert_eq!(of_joined, [Opcode::LLVMAtomicRMW, Opcode::LLVMGetElementPtr]);
    assert!(!named(view, "old").is_used());
}

#[test]
fn instructions_tell_what_they_are() {
    let context = Context::create();
    let module = parsed(&context, WALKED);
    let view = View::of(&module);
    let switch = kernel(view).entry().terminator();
    let cases: Vec<(i64, String)> =
        switch.switch_cases().into_iter().map(|(case, block)| (case.as_i64().unwrap(), block.label())).collect();
    assert_eq!(cases, [(1, "one".to_owned()), (-2, "two".to_owned())]);
    assert_eq!(switch.successors().len(), 3);
    assert!(switch.condition().is_none());

    let joined = named(view, "joined");
    assert_eq!(joined.incoming_from(kernel(view).entry()), Some(named(view, "sum").value()));
    assert_eq!(joined.incoming()[1].0.as_u64(), Some(7));
    assert!(named(view, "sum").has_no_signed_wrap());
    named(view, "sum").drop_poison_flags();
    assert!(!named(view, "sum").has_no_signed_wrap());
    assert!(named(view, "loaded").is_volatile() && named(view, "loaded").alignment() == Some(4));
    assert_eq!(named(view, "variable").allocated_type().map(Type::text).as_deref(), Some("i32"));
    assert_eq!(named(view, "vector").shuffle_mask(), Some(vec![Some(1), None]));

    let old = named(view, "old");
    assert_eq!(old.rmw_operation(), Some(AtomicRmwOperation::LLVMAtomicRMWBinOpXchg));
    assert_eq!(old.ordering(), Some(AtomicOrdering::LLVMAtomicOrderingAcquireRelease));
    assert_eq!(old.sync_scope(), Some(view.sync_scope("")));
    assert!(named(view, "sum").ordering().is_none() && named(view, "loaded").sync_scope().is_none());
    let other = old.copied();
    other.set_ordering(AtomicOrdering::LLVMAtomicOrderingMonotonic);
    other.set_rmw_operation(AtomicRmwOperation::LLVMAtomicRMWBinOpAdd);
    other.set_sync_scope(view.sync_scope("device"));
    let builder = view.builder();
    builder.before(old);
    builder.insert(other);
    assert!(other.text().contains("atomicrmw add ptr addrspace(1) %out, i32 %joined syncscope(\"device\") monotonic"));
    assert!(other.is_in_scope("device") && old.is_in_scope("") && !old.is_in_scope("device"));
    drop(builder);
    other.erase();

    let place = named(view, "place");
    assert!(place.value().is_in_bounds());
    assert_eq!(place.value().gep_source().map(Type::struct_name).as_deref(), Some("struct.pair"));
    assert_eq!(place.ty().space(), Some(AddressSpace::Global));
    let call = place.following().find(|i| i.is_call()).expect("the call");
    assert_eq!(call.callee().as_deref(), Some("probe"));
    assert_eq!((call.arg_count(), call.operand_bundle_count()), (1, 0));
    assert!(call.attributes(AttributeIndex::Parameter(0)).has("byval"));
}

#[test]
fn types_and_constants_tell_what_they_are() {
    let context = Context::create();
    let module = parsed(&context, WALKED);
    let view = View::of(&module);
    let pair = view.named_struct("struct.pair").expect("the struct");
    assert_eq!(pair.fields().len(), 2);
    assert_eq!((view.layout().field_offset(pair, 1), view.layout().abi_size(pair)), (8, 16));
    let image = view.named_struct("image").expect("the struct of an image").fields()[0];
    assert_eq!(image.target_extension().expect("an image").1, [1, 0, 0, 0, 0, 0, 0]);
    let table = view.global("table").expect("the table");
    assert!(table.is_constant());
    assert_eq!(table.initializer().and_then(Value::bytes).as_deref(), Some(&b"ab\0"[..]));
    assert!(view.global("counter").unwrap().initializer().unwrap().is_undef());

    let types = view.types();
    assert_eq!(types.int(8).int(0x1ff).as_u64(), Some(0xff));
    assert_eq!(types.int(8).signed_int(-1).as_i64(), Some(-1));
    assert_eq!(types.int(128).wide_int(1 << 127).as_u64(), None);
    assert_eq!(types.bool().int(1).as_bool(), Some(true));
    assert_eq!(types.half().float(0.5).as_f64(), Some((0.5, false)));
    let lanes = types.int(32).vector(2).int(3);
    assert_eq!(lanes.element(1).and_then(Value::as_u64), Some(3));
    assert!(lanes.element(2).is_none() && lanes.is_constant_vector());
    assert_eq!(lanes.ty().null().bits().and_then(Value::as_u64), Some(0));
    assert_eq!(types.float().float(1.0).bits().and_then(Value::as_u64), Some(0x3f80_0000));
}

#[test]
fn attributes_and_metadata_are_read_and_changed() {
    let context = Context::create();
    let module = parsed(&context, WALKED);
    let view = View::of(&module);
    let probe = view.function("probe").unwrap();
    let own = probe.attributes(AttributeIndex::Function);
    assert_eq!(own.text("key").as_deref(), Some("value"));
    assert!(own.has("nounwind") && !own.has("cold"));
    own.add_flag("cold");
    own.remove("nounwind");
    own.remove_text("key");
    assert_eq!(own.all().len(), 1);
    let argument = probe.attributes(AttributeIndex::Parameter(0));
    assert_eq!(argument.get("byval").and_then(Attribute::type_value), view.named_struct("struct.pair"));
    assert_eq!(argument.get("align").and_then(Attribute::number), Some(8));
    argument.retain(Attribute::is_type);
    assert_eq!(argument.all().len(), 1);
    assert!(complaint(|| own.add_flag("byval")).contains("holds no number"));
    assert!(complaint(|| own.add_flag("nonsense")).contains("no attribute `nonsense`"));

    let kind = view.metadata_kind("note");
    let branch = named(view, "old").block().terminator();
    let note = branch.metadata(kind).expect("the note");
    let operands = note.operands();
    assert_eq!(operands[0].text(), Some("text"));
    assert_eq!(operands[1], Operand::Nothing);
    assert_eq!(operands[2].number(), Some(5));
    assert_eq!(operands[3].node().expect("a node").operands(), []);
    assert_eq!(Node::new(view.int_type(32), &operands), note);
    branch.drop_metadata();
    assert!(branch.all_metadata().is_empty());
    kernel(view).set_metadata(kind, note);
    assert_eq!(kernel(view).metadata(kind), Some(note));
    kernel(view).clear_metadata();
    assert!(kernel(view).all_metadata().is_empty());
    assert!(module.verify().is_ok());
}

#[test]
fn what_is_built_verifies() {
    let context = Context::create();
    let module = context.create_module("m");
    let view = View::of(&module);
    let types = view.types();
    let (int, pointer) = (types.int(32), types.pointer(AddressSpace::Global));
    let four = int.vector(4);
    let function = view.add_function("f", int.function(&[int, pointer, four], false));
    let [x, out, vector] = function.params()[..] else { panic!("three parameters") };
    let b = view.builder();
    b.at_end(function.append_block("entry"));
    let (yes, join) = (function.append_block("yes"), function.append_block("join"));
    let variable = b.alloca(int, "variable");
    b.store(x, variable);
    let loaded = b.load(int, variable, "loaded");
    let sum = b.add(loaded, int.int(3), "sum");
    assert_eq!(b.add(int.int(1), int.int(2), "").as_u64(), Some(3), "constants are folded");
    let spread = b.splat(sum, four);
    let shuffled = b.shuffle(b.xor(spread, vector, ""), four.poison(), &[Some(3), None, Some(0), Some(7)], "");
    let any = b.icmp(IntPredicate::LLVMIntSLT, b.lane(shuffled, 1), b.not(sum, ""), "any");
    let entry = b.block();
    b.cond_br(any, yes, join);
    b.at_end(yes);
    let place = b.in_bounds_gep(int, out, &[b.zext(sum, types.int(64), "")], "place");
    b.store(b.select(any, x, int.null(), ""), place);
    let real = b.fmul(b.si_to_fp(x, types.float(), ""), types.float().float(2.0), "");
    let rounded = b.fp_to_si(b.fp_cast(real, types.double(), ""), int, "");
    b.memset(b.in_space(out, AddressSpace::Generic), 4, types.int(8).int(0), types.int(64).int(16));
    b.br(join);
    b.at_end(join);
    let joined = b.phi(int, &[(sum, entry), (rounded, yes)], "joined");
    let again = b.call(function, &[joined.value(), out, vector], "again");
    b.ret(Some(again.into()));
    assert_eq!(module.verify(), Ok(()), "{}", module.to_string());
    assert_eq!(again.called_function(), Some(function));

    b.after_variables(function);
    assert_eq!(b.position(), Some(Position::Before(variable.next().unwrap())));
    b.after(again);
    assert_eq!(b.position(), Some(Position::Before(join.terminator())));
    b.freeze(again, "frozen");
    assert_eq!(module.verify(), Ok(()));
}

#[test]
fn ill_typed_building_panics() {
    let context = Context::create();
    let module = parsed(&context, WALKED);
    let other = context.create_module("other");
    let view = View::of(&module);
    let types = view.types();
    let (int, long) = (types.int(32), types.int(64));
    let (sum, variable) = (named(view, "sum"), named(view, "variable"));
    let b = view.builder();
    assert!(complaint(|| b.unreachable()).contains("stands nowhere"));
    b.before(sum.next().unwrap());
    assert!(complaint(|| b.add(sum, long.int(1), "")).contains("differ in their types"));
    assert!(complaint(|| b.fadd(sum, sum, "")).contains("LLVMFAdd of"));
    assert!(complaint(|| b.zext(sum, types.int(8), "")).contains("LLVMZExt of"));
    assert!(complaint(|| b.load(int, sum, "")).contains("no pointer"));
    assert!(complaint(|| b.store(variable, sum)).contains("no pointer"));
    assert!(complaint(|| b.cond_br(sum, kernel(view).entry(), kernel(view).entry())).contains("no condition"));
    assert!(complaint(|| b.call(kernel(view), &[sum.value()], "")).contains("1 arguments"));
    assert!(complaint(|| b.ret(Some(sum.into()))).contains("returns i32"));
    assert!(complaint(|| b.shuffle(sum, sum, &[], "")).contains("no vector"));
    let pair = view.named_struct("struct.pair").unwrap();
    let steps = [int.int(0), int.int(2)];
    assert!(complaint(|| b.gep(pair, variable, &steps, "")).contains("do not lead through"));
    assert!(complaint(|| sum.set_operand(0, long.int(1))).contains("cannot be operand 0"));
    assert!(complaint(|| sum.operand(2)).contains("no operand 2"));
    assert!(complaint(|| sum.set_successor(0, kernel(view).entry())).contains("no successor 0"));
    assert!(complaint(|| sum.replace_uses(sum)).contains("replace itself"));
    assert!(complaint(|| int.int(0).replace_uses(sum)).contains("constant"));
    let foreign = View::of(&other).add_global("foreign", int, AddressSpace::Private);
    assert!(complaint(|| b.load(int, foreign, "")).contains("of another module"));
    assert!(complaint(|| sum.erase()).contains("although it is used"));
    let next = sum.next().unwrap();
    next.remove();
    assert!(complaint(|| b.freeze(sum, "")).contains("in no block"));
    assert!(next.try_block().is_none() && next.next().is_none());
    b.at_end(kernel(view).entry());
    b.insert(next);
    assert!(complaint(|| b.insert(next)).contains("in a block already"));
    assert!(module.verify().is_ok());
}

#[test]
fn erased_instructions_use_nothing_and_their_handles_stay_defined() {
    let context = Context::create();
    let module = parsed(&context, WALKED);
    let view = View::of(&module);
    let (place, joined) = (named(view, "place"), named(view, "joined"));
    let call = place.following().find(|i| i.is_call()).expect("the call");
    let probe = view.function("probe").expect("the declaration");
    let builder = view.builder();
    builder.before(call);
    call.erase();
    assert!(!probe.is_used() && call.callee().is_none() && call.try_block().is_none() && call.next().is_none());
    assert_eq!(call.arg_count(), 1);
    let int = view.int_type(32);
    assert!(complaint(|| builder.alloca(int, "")).contains("in no block"));

    let switch = kernel(view).entry().terminator();
    let ways: Vec<Block> = switch.successors();
    builder.before(switch);
    builder.br(joined.block());
    switch.erase();
    assert!(ways.iter().all(|way| way.value().user_instructions().iter().all(|user| *user != switch)));
    let gone = switch.successors();
    assert_eq!(gone.len(), ways.len());
    assert!(gone.iter().all(|block| *block == gone[0] && block.function().name() == "nowhere"));

    joined.replace_and_erase(int.int(3));
    assert!(joined.incoming().is_empty() && !named(view, "sum").is_used());
    assert!(complaint(|| joined.erase()).contains("in no block"));
    builder.at_end(kernel(view).entry());
    assert!(complaint(|| builder.insert(call)).contains("was erased"));
    assert!(complaint(|| call.set_operand(0, call.operand(0))).contains("was erased"));
    assert!(complaint(|| switch.set_successor(0, kernel(view).entry())).contains("was erased"));
    assert!(!module.to_string().contains("nowhere"));
    drop(builder);
    drop(module);

    let foreign = inkwell::context::Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(WALKED.as_bytes(), "test");
    let module = foreign.create_module_from_ir(buffer).expect("valid IR");
    let ret = View::of(&module).instructions().into_iter().last().expect("the return");
    assert!(complaint(|| ret.erase()).contains("not kassay's"));
}

#[test]
fn blocks_are_split_and_phis_follow() {
    let context = Context::create();
    let module = parsed(&context, WALKED);
    let view = View::of(&module);
    let (joined, place) = (named(view, "joined"), named(view, "place"));
    let two = joined.block();
    let head = Block::split_before(place, "head");
    assert_eq!((head.label().as_str(), head.instructions()), ("head", vec![joined]));
    assert_eq!(two.first_instruction(), Some(place));
    assert_eq!(joined.name(), "joined");
    let b = view.builder();
    b.at_end(head);
    b.br(two);
    assert_eq!(module.verify(), Ok(()));

    let entry = kernel(view).entry();
    let jump = Block::split_way(entry.terminator(), 2, "between");
    assert_eq!(module.verify(), Ok(()), "{}", module.to_string());
    let phi = head.phis()[0];
    assert_eq!(phi.incoming()[0].1, jump.block());
    assert_eq!(place.operand(1), phi);

    let sum = named(view, "sum");
    let frozen = {
        b.after(sum);
        b.freeze(sum, "frozen")
    };
    let users = sum.users();
    sum.value().replace_in(&users.into_iter().filter(|user| *user != frozen).collect::<Vec<_>>(), frozen);
    assert_eq!(sum.users(), [frozen]);
    let loaded = named(view, "loaded");
    loaded.move_before(loaded.block().first_instruction().unwrap().next().unwrap());
    assert_eq!(loaded.name(), "loaded");
    assert_eq!(module.verify(), Ok(()));
}

#[test]
fn debug_locations_are_read_and_given() {
    let text = r#"
        define void @f(i32 %x) !dbg !3 {
          %v = alloca i32
            #dbg_declare(ptr %v, !6, !DIExpression(), !5)
          store i32 %x, ptr %v, !dbg !5
          ret void, !dbg !7
        }
        !llvm.dbg.cu = !{!0}
        !llvm.module.flags = !{!2}
        !0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug)
        !1 = !DIFile(filename: "k.cl", directory: "/somewhere")
        !2 = !{i32 2, !"Debug Info Version", i32 3}
        !3 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
        !4 = !DISubroutineType(types: !{null})
        !5 = !DILocation(line: 2, column: 3, scope: !3)
        !6 = !DILocalVariable(name: "v", scope: !3, file: !1, line: 2)
        !7 = !DILocation(line: 4, column: 1, scope: !3)
    "#;
    let context = Context::create();
    let module = parsed(&context, text);
    let view = View::of(&module);
    let function = view.function("f").unwrap();
    let [variable, store, ret] = function.instructions()[..] else { panic!("three instructions") };
    assert!(variable.location().is_none());
    let place = DebugLocation { file: "/somewhere/k.cl".to_owned(), line: 2, column: 3 };
    assert_eq!(store.location(), Some(place));
    assert!(store.debug_location().unwrap().inlined_at().is_none());
    assert_eq!(store.debug_location().unwrap().scope(), function.subprogram());
    let declared = store.declared_variables();
    assert_eq!(declared[0].0, variable);
    assert_eq!(declared[0].1.operands()[1].text(), Some("v"));

    let b = view.builder();
    b.before(ret);
    assert_eq!(b.load(view.int_type(32), variable, "").debug_location(), ret.debug_location());
    b.set_location(function.line_zero());
    assert_eq!(b.load(view.int_type(32), variable, "").location().map(|l| l.line), Some(0));
    b.set_location(None);
    assert!(b.load(view.int_type(32), variable, "").location().is_none());
    assert_eq!(module.verify(), Ok(()));
    assert!(view.strip_debug_info());
    assert!(store.location().is_none());
}

#[test]
fn passes_run_and_modules_are_linked() {
    let context = Context::create();
    let mut module = parsed(&context, &format!("{WALKED}\ndefine internal void @unused() {{ ret void }}"));
    passes::run(&mut module, None, "function(sroa),globaldce").expect("the passes run");
    assert!(View::of(&module).function("unused").is_none());
    let error = passes::run(&mut module, None, "nonsense").expect_err("no such pass");
    assert!(error.to_string().contains("`nonsense`"));

    let library =
        parsed(&context, "define void @probe(ptr addrspace(1) %p, ...) { ret void }\ndefine void @more() { ret void }");
    let bitcode = library.write_bitcode_to_memory();
    let lazily = read_lazily(&context, bitcode).expect("bitcode");
    assert!(!View::of(&lazily).function("more").unwrap().is_declaration());
    lazily.set_data_layout(&module.get_data_layout());
    link(&mut module, lazily).expect("the modules go together");
    assert!(View::of(&module).function("more").unwrap().has_body());
    assert!(module.verify().is_ok());
    let broken = MemoryBuffer::create_from_memory_range_copy(b"no bitcode at all", "broken");
    assert!(read_lazily(&context, broken).is_err());
}

#[test]
fn handles_survive_what_is_linked_beside_them() {
    let context = Context::create();
    let module = parsed(&context, WALKED);
    let view = View::of(&module);
    let sum = named(view, "sum");
    let library = |text: &str| {
        let library = parsed(&context, text);
        library.set_data_layout(&module.get_data_layout());
        library
    };
    let replacing = library("define void @probe(ptr addrspace(1) %p, ...) { ret void }");
    assert_eq!(link_beside(view, replacing), Err("`probe` is there already".to_owned()));
    assert!(!view.function("probe").unwrap().has_body());
    let adding = library("declare void @probe(ptr addrspace(1), ...)\ndefine void @more() { ret void }");
    assert_eq!(link_beside(view, adding), Ok(()));
    assert!(view.function("more").unwrap().has_body() && sum == named(view, "sum"));
    assert!(module.verify().is_ok());
}

#[test]
fn modules_that_do_not_go_together_are_not_linked() {
    let context = Context::create();
    let mut module = parsed(&context, "define void @f() { ret void }");
    let message = link(&mut module, parsed(&context, "define void @f() { ret void }")).expect_err("`f` is there twice");
    assert!(message.contains("symbol multiply defined"), "{message}");
}

#[test]
fn only_aggregates_have_elements() {
    let context = Context::create();
    let module = context.create_module("m");
    let int = View::of(&module).int_type(32);
    assert_eq!(int.undef().element(0), None);
    assert_eq!(int.poison().element(0), None);
    assert_eq!(int.vector(2).int(7).element(1), Some(int.int(7)));
    assert_eq!(int.vector(2).int(7).element(2), None);
}

#[test]
fn operands_of_nodes_are_found_by_position() {
    let context = Context::create();
    let module = parsed(&context, WALKED);
    let view = View::of(&module);
    let jump = view.instructions().into_iter().find_map(|i| i.metadata(view.metadata_kind("note")));
    let node = jump.expect("a branch has a note");
    assert_eq!(node.operand(0).text(), Some("text"));
    assert_eq!(node.operand(2).number(), Some(5));
    assert!(node.operand(3).node().is_some_and(|node| node.operands().is_empty()));
    assert_eq!(node.operand(4), Operand::Nothing);
}

#[test]
fn users_of_a_pointer_take_one_of_another_address_space() {
    let context = Context::create();
    let text = "define void @f(ptr addrspace(3) %shared, ptr %own) {
          %loaded = load i32, ptr addrspace(3) %shared
          store i32 %loaded, ptr addrspace(3) %shared
          %compared = icmp eq ptr addrspace(3) %shared, null
          ret void
        }";
    let module = parsed(&context, text);
    let f = View::of(&module).function("f").unwrap();
    let own = f.param(1).unwrap();
    let code = f.instructions();
    code[0].set_pointer(own);
    code[1].set_pointer(own);
    code[2].set_compared(own, own.ty().null());
    assert!(module.verify().is_ok() && !f.param(0).unwrap().is_used());
}
