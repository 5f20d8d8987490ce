// The depth is never written: a copy reads it, and the padding is not to blame.
// expect: clean
// finding A: uninitialised local tasks
typedef struct {
    char kind;
    int length;
    short depth;
} task;

kernel void pass_on(global const int *lengths, global int *out) {
    local task tasks[8];
    int i = get_local_id(0), n = get_local_size(0);
    tasks[i].kind = (char)i;
    tasks[i].length = lengths[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    task next = tasks[(i + 1) % n]; // <- A
    out[i] = next.length + next.kind;
}
