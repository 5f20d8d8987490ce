// A helper called twice: each call has to go both ways for what comes after.
int grade(int v, int limit) {
    if (v > limit) // -> true covered, false covered
        return v == limit + 321 ? 2 : 1; // -> true covered, false covered
    return 0;
}
kernel void helper_twice(global const int *a, global int *out, int limit) {
    int i = get_global_id(0);
    int first = grade(a[i], limit), second = grade(-a[i], limit - 5000);
    if (first == 2 && second == 2) // -> true covered
        out[i] = 3;
    else if (first + second == 0) // -> true covered
        out[i] = 0;
    else
        out[i] = 1;
}
