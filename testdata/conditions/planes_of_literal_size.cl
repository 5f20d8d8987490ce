// The planes are as long as a literal says: places in them are below it.
// expect: conditional no two elements of `order` are equal
#define ROOM 96

kernel void collect(int count, global const float *parts, global float *totals, global const int *order) {
    for (int i = get_global_id(0); i < count; i += get_global_size(0)) {
        const int at = order[i];
        totals[at] += parts[3 * i];
        totals[at + ROOM] += parts[3 * i + 1];
        totals[at + 2 * ROOM] += parts[3 * i + 2];
    }
}
