// fault: data-race: who does not find the key clears the flag.
//
// Sets a flag if the key is among the first n elements.
kernel void contains(global const int *a, int n, int key, global int *found) {
    int i = (int)get_global_id(0);
    if (i < n && a[i] == key)
        atomic_or(found, 1);
    else
        found[0] = 0;
}
