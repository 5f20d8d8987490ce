// Conditions that are looked at only if those before them hold.
kernel void short_circuits(global const int *a, global const int *b, global int *out, int n) {
    int i = get_global_id(0);
    int r = 0;
    if (i < n && n < 50 && (a[i] == 2001 || b[i] == 2002) && a[i] != b[i]) // -> true covered, false covered
        r = 1;
    if (!(a[i] > 0 || b[i] > 0) && a[i] + b[i] == -250000) // -> true covered
        r |= 2;
    out[i] = r;
}
