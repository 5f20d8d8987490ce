// Structs with structs and arrays in them are sorted in local memory and copied to the host's: no padding is ever written.
// expect: clean all-interleavings
typedef struct {
    uchar tag;
    double weight;
} leaf;

typedef struct {
    short id;
    leaf leaves[2];
    float3 at;
    char last;
} node;

kernel void reverse(global const float *in, global node *out) {
    local node nodes[8];
    int l = get_local_id(0), n = get_local_size(0);
    nodes[l].id = (short)l;
    for (int i = 0; i < 2; i++) {
        nodes[l].leaves[i].tag = (uchar)i;
        nodes[l].leaves[i].weight = in[l] * i;
    }
    nodes[l].at = (float3)(in[l]);
    nodes[l].last = 'x';
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < n / 2) {
        node kept = nodes[l];
        nodes[l] = nodes[n - 1 - l];
        nodes[n - 1 - l] = kept;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = nodes[(l + 1) % n];
}
