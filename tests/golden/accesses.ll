; testdata/divergent_exit/divergent_exit.cl
;
; Code for the simulator that checks races (`kassay lower --print host-races`), before optimisation.
; - The last argument is the context of the work-item: `get_global_id(0)` and `get_local_id(0)` are loads from it.
; - Each access to global and local memory is passed to `__kassay_access` with its number in the table of accesses;
;   the result is the address to use, which is another one if the access is out of bounds. Private variables are not
;   watched.
; - `__kassay_barrier` suspends the work-item until its work-group has arrived.

define void @divergent_exit(ptr addrspace(1) %in, ptr addrspace(1) %out, ptr addrspace(3) %tile, i32 %n, i32 %twice, ptr %kassay_item) {
entry:
  %in.addr = alloca ptr addrspace(1), align 8
  %out.addr = alloca ptr addrspace(1), align 8
  %tile.addr = alloca ptr addrspace(3), align 8
  %n.addr = alloca i32, align 4
  %twice.addr = alloca i32, align 4
  %gid = alloca i32, align 4
  %lid = alloca i32, align 4
  %sum = alloca i32, align 4
  %kassay.fuel = alloca i64, align 8
  %0 = getelementptr inbounds i8, ptr %kassay_item, i64 0
  %kassay.group = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds i8, ptr %kassay_item, i64 8
  %2 = load i64, ptr %1, align 8
  store i64 %2, ptr %kassay.fuel, align 8
  store ptr addrspace(1) %in, ptr %in.addr, align 8
  store ptr addrspace(1) %out, ptr %out.addr, align 8
  store ptr addrspace(3) %tile, ptr %tile.addr, align 8
  store i32 %n, ptr %n.addr, align 4
  store i32 %twice, ptr %twice.addr, align 4
  %3 = getelementptr inbounds nuw i8, ptr %kassay_item, i64 40
  %4 = load i64, ptr %3, align 8
  %conv = trunc i64 %4 to i32
  store i32 %conv, ptr %gid, align 4
  %5 = getelementptr inbounds nuw i8, ptr %kassay_item, i64 16
  %6 = load i64, ptr %5, align 8
  %conv2 = trunc i64 %6 to i32
  store i32 %conv2, ptr %lid, align 4
  %7 = load i32, ptr %gid, align 4
  %8 = load i32, ptr %n.addr, align 4
  %cmp = icmp sge i32 %7, %8
  br i1 %cmp, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  br label %return

if.end:                                           ; preds = %entry
  %9 = load ptr addrspace(1), ptr %in.addr, align 8
  %10 = load i32, ptr %gid, align 4
  %idxprom = sext i32 %10 to i64
  %arrayidx = getelementptr inbounds i32, ptr addrspace(1) %9, i64 %idxprom
  %11 = addrspacecast ptr addrspace(1) %arrayidx to ptr
  %12 = call ptr @__kassay_access(ptr %kassay_item, ptr %11, i32 0)
  %13 = addrspacecast ptr %12 to ptr addrspace(1)
  %14 = load i32, ptr addrspace(1) %13, align 4
  %15 = load ptr addrspace(3), ptr %tile.addr, align 8
  %16 = load i32, ptr %lid, align 4
  %idxprom4 = sext i32 %16 to i64
  %arrayidx5 = getelementptr inbounds i32, ptr addrspace(3) %15, i64 %idxprom4
  %17 = addrspacecast ptr addrspace(3) %arrayidx5 to ptr
  %18 = call ptr @__kassay_access(ptr %kassay_item, ptr %17, i32 1)
  %19 = addrspacecast ptr %18 to ptr addrspace(3)
  store i32 %14, ptr addrspace(3) %19, align 4
  call void @__kassay_barrier(ptr %kassay_item, i32 0, i32 1, i32 1, i64 0)
  %20 = load ptr addrspace(3), ptr %tile.addr, align 8
  %21 = load i32, ptr %lid, align 4
  %idxprom6 = sext i32 %21 to i64
  %arrayidx7 = getelementptr inbounds i32, ptr addrspace(3) %20, i64 %idxprom6
  %22 = addrspacecast ptr addrspace(3) %arrayidx7 to ptr
  %23 = call ptr @__kassay_access(ptr %kassay_item, ptr %22, i32 2)
  %24 = addrspacecast ptr %23 to ptr addrspace(3)
  %25 = load i32, ptr addrspace(3) %24, align 4
  %26 = load ptr addrspace(3), ptr %tile.addr, align 8
  %27 = load i32, ptr %lid, align 4
  %xor = xor i32 %27, 1
  %idxprom8 = sext i32 %xor to i64
  %arrayidx9 = getelementptr inbounds i32, ptr addrspace(3) %26, i64 %idxprom8
  %28 = addrspacecast ptr addrspace(3) %arrayidx9 to ptr
  %29 = call ptr @__kassay_access(ptr %kassay_item, ptr %28, i32 3)
  %30 = addrspacecast ptr %29 to ptr addrspace(3)
  %31 = load i32, ptr addrspace(3) %30, align 4
  %add = add nsw i32 %25, %31
  store i32 %add, ptr %sum, align 4
  %32 = load i32, ptr %twice.addr, align 4
  %tobool = icmp ne i32 %32, 0
  br i1 %tobool, label %if.then10, label %if.end17

if.then10:                                        ; preds = %if.end
  %33 = load i32, ptr %sum, align 4
  %34 = load ptr addrspace(3), ptr %tile.addr, align 8
  %35 = load i32, ptr %lid, align 4
  %idxprom11 = sext i32 %35 to i64
  %arrayidx12 = getelementptr inbounds i32, ptr addrspace(3) %34, i64 %idxprom11
  %36 = addrspacecast ptr addrspace(3) %arrayidx12 to ptr
  %37 = call ptr @__kassay_access(ptr %kassay_item, ptr %36, i32 4)
  %38 = addrspacecast ptr %37 to ptr addrspace(3)
  store i32 %33, ptr addrspace(3) %38, align 4
  call void @__kassay_barrier(ptr %kassay_item, i32 1, i32 1, i32 1, i64 0)
  %39 = load ptr addrspace(3), ptr %tile.addr, align 8
  %40 = load i32, ptr %lid, align 4
  %xor13 = xor i32 %40, 1
  %idxprom14 = sext i32 %xor13 to i64
  %arrayidx15 = getelementptr inbounds i32, ptr addrspace(3) %39, i64 %idxprom14
  %41 = addrspacecast ptr addrspace(3) %arrayidx15 to ptr
  %42 = call ptr @__kassay_access(ptr %kassay_item, ptr %41, i32 5)
  %43 = addrspacecast ptr %42 to ptr addrspace(3)
  %44 = load i32, ptr addrspace(3) %43, align 4
  %45 = load i32, ptr %sum, align 4
  %add16 = add nsw i32 %45, %44
  store i32 %add16, ptr %sum, align 4
  br label %if.end17

if.end17:                                         ; preds = %if.then10, %if.end
  %46 = load i32, ptr %sum, align 4
  %47 = load ptr addrspace(1), ptr %out.addr, align 8
  %48 = load i32, ptr %gid, align 4
  %idxprom18 = sext i32 %48 to i64
  %arrayidx19 = getelementptr inbounds i32, ptr addrspace(1) %47, i64 %idxprom18
  %49 = addrspacecast ptr addrspace(1) %arrayidx19 to ptr
  %50 = call ptr @__kassay_access(ptr %kassay_item, ptr %49, i32 6)
  %51 = addrspacecast ptr %50 to ptr addrspace(1)
  store i32 %46, ptr addrspace(1) %51, align 4
  br label %return

return:                                           ; preds = %if.end17, %if.then
  ret void
}
