// Structures in a buffer that refer to one another.
typedef struct { int key; int next; float2 at; } node;
kernel void struct_nodes(global const node *nodes, global int *out, int count, int wanted) {
    int i = get_global_id(0);
    if (i >= count)
        return;
    int r = 0, next = nodes[i].next;
    if (nodes[i].key == wanted && wanted > 50000) // -> true covered
        r = 1;
    if (next >= 0 && next < count && next != i) { // -> true covered
        if (nodes[next].key == nodes[i].key + 12) // -> true covered
            r |= 2;
        if (nodes[next].at.y > 7.5f && nodes[i].at.y < -7.5f) // -> true covered
            r |= 4;
    }
    out[i] = r;
}
