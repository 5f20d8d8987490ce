// Gives each value its rank in a table of limits, and stops where there is none.
// expect: memory-fault
// finding A: assertion
kernel void rank_of(global const int *value, constant int *limit, int n, global int *rank)
{
    const size_t i = get_global_id(0);
    int r = 0;
    while (r < n && value[i] > limit[r]) {
        r++;
    }
    if (r == n) {
        __builtin_trap(); // <- A
    }
    rank[i] = r;
}
