// What is divided by is computed from two contents and an argument, and the quotient is divided by in turn.
kernel void guard_product(global const int *rows, global const int *columns, global int *out, int border) {
    int i = get_global_id(0);
    int area = (rows[0] - border) * (columns[0] - border);
    int share = 5000 / area;
    int rest = 1000 % (share - 2);
    if (rest == 1) // -> true covered
        out[i] = 1;
    else if (area > 40 && share > 100) // -> true covered
        out[i] = 2;
    else
        out[i] = rest;
}
