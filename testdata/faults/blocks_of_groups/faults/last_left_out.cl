// fault: output: the last element of each part is left out.
//
// The first work-item of each group fills the group's part of the first n elements.
kernel void blocks(global int *out, int n) {
    size_t l = get_local_id(0), g = get_group_id(0), size = get_local_size(0);
    if (l == 0) {
        for (size_t k = 0; k < size - 1; k++)
            if (g * size + k < (size_t)n)
                out[g * size + k] = (int)g;
    }
}
