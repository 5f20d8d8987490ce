// fault: out-of-bounds: the guard lets one work-item too many through.
//
// Sets a flag if the key is among the first n elements.
kernel void contains(global const int *a, int n, int key, global int *found) {
    int i = (int)get_global_id(0);
    if (i <= n && a[i] == key)
        atomic_or(found, 1);
}
