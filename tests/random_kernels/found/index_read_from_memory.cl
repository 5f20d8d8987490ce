// A guarded load whose index was itself read by a guarded load, in structs of no power of two (nodes of a B+-tree).
typedef struct { int location; int indices[509]; int keys[509]; bool is_leaf; int num_keys; } node_t;
__kernel void k(long height, __global node_t *nodes, __global long *current, __global long *offset,
                   __global int *keys, __global int *ans)
{
    int thid = get_local_id(0);
    int bid = get_group_id(0);
    for (int i = 0; i < height; i++) {
        if (nodes[current[bid]].keys[thid] <= keys[bid] && nodes[current[bid]].keys[thid + 1] > keys[bid]) {
            offset[bid] = nodes[offset[bid]].indices[thid];
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (thid == 0) current[bid] = offset[bid];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    if (nodes[current[bid]].keys[thid] == keys[bid]) ans[bid] = nodes[current[bid]].indices[thid];
}
