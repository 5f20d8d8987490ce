// Every work-item walks a tree with a stack of its own: one variable, as many copies as work-items.
// expect: clean all-interleavings
kernel void sums_of_subtrees(global const int *value, global int *sums, int nodes) {
    int root = (int)get_global_id(0), stack[8], top = 0, sum = 0;
    if (root < nodes)
        stack[top++] = root;
    while (top > 0) {
        int node = stack[--top];
        sum += value[node];
        for (int child = 2 * node + 1; child <= 2 * node + 2; child++)
            if (child < nodes)
                stack[top++] = child;
    }
    sums[root] = sum;
}
