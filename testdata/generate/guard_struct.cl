// Every record has a divisor of its own, which must not be 0, and a place in a local array.
typedef struct { uchar kind; int step; short place; } record;
kernel void guard_struct(global const record *records, global int *out, int count) {
    local int seen[16];
    int l = get_local_id(0), i = get_global_id(0);
    if (l < 16)
        seen[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int turns = count / (records[i].step + 4);
    atomic_inc(&seen[records[i].place - 1000]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (turns > 5 && records[i].kind == 9) // -> true covered
        out[i] = seen[0];
    else
        out[i] = turns;
}
