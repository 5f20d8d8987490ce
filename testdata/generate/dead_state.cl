// A state that no transition leads to.
kernel void dead_state(global const int *events, global int *out, int n) {
    int state = 0;
    for (int k = 0; k < n; k++) {
        switch (state) { // -> case 2 covered, case 3 infeasible, default infeasible
        case 0:
            if (events[k] == 5)
                state = 1;
            break;
        case 1:
            state = events[k] > 0 ? 2 : 0;
            break;
        case 2:
            state = 0;
            break;
        case 3:
            state = 1;
            break;
        }
    }
    if (state == 3) // -> true infeasible
        state = 9;
    out[get_global_id(0)] = state;
}
