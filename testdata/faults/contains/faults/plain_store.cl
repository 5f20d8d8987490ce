// fault: data-race: all who find the key store the same 1 without an atomic.
//
// Sets a flag if the key is among the first n elements.
kernel void contains(global const int *a, int n, int key, global int *found) {
    int i = (int)get_global_id(0);
    if (i < n && a[i] == key)
        found[0] = 1;
}
