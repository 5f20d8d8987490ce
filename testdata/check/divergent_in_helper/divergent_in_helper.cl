// One barrier in a helper, called from both sides of a branch: two different ways to the same line.
// expect: divergent
// finding A: barrier-divergence
int exchange(local int *box, int l, int value) {
    box[l] = value;
    barrier(CLK_LOCAL_MEM_FENCE); // <- A
    return box[l ^ 1];
}

kernel void both(global int *out) {
    local int box[8];
    int l = (int)get_local_id(0);
    if (l < 4)
        out[l] = exchange(box, l, l);
    else
        out[l] = exchange(box, l, -l);
}
