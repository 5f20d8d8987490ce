// One work-item of many is meant by an argument.
kernel void arg_is_id(global float *values, int chosen, uint column) {
    int i = get_global_id(0);
    if (i == chosen + 17) // -> true covered
        values[i] = 1.0f;
    else if (get_local_id(0) == column && column > 5) // -> true covered
        values[i] = 2.0f;
    else
        values[i] = 0.0f;
}
