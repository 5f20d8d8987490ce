// A struct with padding goes through local memory: nothing has written the padding, and nothing reads it.
// expect: clean all-interleavings
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
    tasks[i].depth = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    task next = tasks[(i + 1) % n];
    out[i] = next.length + next.kind + next.depth;
}
