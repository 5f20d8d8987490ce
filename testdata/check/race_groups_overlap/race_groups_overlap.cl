// Groups write one element beyond their part.
// expect: racy
// finding A: data-race inter-group global out
// cause A: between-groups
kernel void blocks(global int *out, int n) {
    size_t l = get_local_id(0), g = get_group_id(0), size = get_local_size(0);
    if (l == 0) {
        for (size_t k = 0; k <= size; k++)
            if (g * size + k < (size_t)n)
                out[g * size + k] = (int)g; // <- A
    }
}
