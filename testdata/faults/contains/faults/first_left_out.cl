// fault: output: the first element is not looked at.
//
// Sets a flag if the key is among the first n elements.
kernel void contains(global const int *a, int n, int key, global int *found) {
    int i = (int)get_global_id(0);
    if (i > 0 && i < n && a[i] == key)
        atomic_or(found, 1);
}
