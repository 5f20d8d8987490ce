// Sums lie in three planes, as far apart as there is room for particles. Each particle is there once in the order, says the host.
// expect: conditional no two elements of `order` are equal
kernel void collect(int count, int padded, global const float *parts, global float *totals, global const int *order) {
    for (int i = get_global_id(0); i < count; i += get_global_size(0)) {
        const int at = order[i];
        totals[at] += parts[3 * i];
        totals[at + padded] += parts[3 * i + 1];
        totals[at + 2 * padded] += parts[3 * i + 2];
    }
}
