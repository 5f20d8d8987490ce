// A lock that opens after three right symbols in a row.
kernel void machine_lock(global const int *keys, global int *open, int n) {
    int i = get_global_id(0), state = 0;
    for (int k = 0; k < n; k++) {
        int key = keys[k];
        switch (state) { // -> case 0 covered, case 1 covered, case 2 covered, default covered
        case 0:
            state = key == 7301 ? 1 : 0;
            break;
        case 1:
            state = key == -45 ? 2 : 0;
            break;
        case 2:
            state = key == 60000 ? 3 : 0;
            break;
        default:
            break;
        }
    }
    if (state == 3) // -> true covered, false covered
        open[i] = 1;
    else
        open[i] = 0;
}
