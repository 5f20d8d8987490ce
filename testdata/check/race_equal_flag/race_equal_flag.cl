// All who find the key write the same 1: a race, though a benign one.
// expect: racy
// finding A: data-race intra-group global found benign
// cause A: equal-values
kernel void contains(global const int *a, int key, global int *found) {
    if (a[get_global_id(0)] == key)
        found[0] = 1; // <- A
}
