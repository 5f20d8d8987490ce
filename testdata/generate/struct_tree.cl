// A tree whose nodes hold arrays: every work-group goes down from the node that another buffer names, level by level, by the keys of the
// nodes. A node that a solver puts behind the end of the buffer comes as a whole, whichever of its numbers was asked for.
typedef struct node {
    int location;
    int indices[61];
    int keys[61];
    bool is_leaf;
    int num_keys;
} node;

__kernel void descend(long height, __global node *nodes_d, long count, __global long *current, __global long *below,
                      __global const int *wanted, __global int *found) {
    int l = get_local_id(0);
    int g = get_group_id(0);
    for (int level = 0; level < height; level++) {
        if (nodes_d[current[g]].keys[l] <= wanted[g] && nodes_d[current[g]].keys[l + 1] > wanted[g]) {
            if (nodes_d[below[g]].indices[l] < count)
                below[g] = nodes_d[below[g]].indices[l];
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (l == 0) // -> true covered, false covered
            current[g] = below[g];
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    if (nodes_d[current[g]].keys[l] == wanted[g]) {
        found[g] = nodes_d[current[g]].indices[l];
        if (nodes_d[current[g]].is_leaf && nodes_d[current[g]].num_keys == 4711)
            found[g] = -1;
    }
}
