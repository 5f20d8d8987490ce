// Elements of a row, each within a range that depends on those before it.
kernel void nested_board(global const int *queens, global int *solutions) {
    int i = get_global_id(0);
    global const int *q = queens + i * 5;
    int depth = 0;
    if (q[0] >= 0 && q[0] < 5) {                                              // -> true covered
        depth = 1;
        if (q[1] >= 0 && q[1] < 5 && q[1] != q[0] && abs(q[1] - q[0]) != 1) { // -> true covered, false covered
            depth = 2;
            if (q[2] == (q[0] + q[1] * 2) % 5 && q[2] > q[1]) {               // -> true covered, false covered
                depth = 3;
                if (q[3] * q[3] == q[2] + 7) {                                // -> true covered, false covered
                    depth = 4;
                    if (q[4] == q[0] + 10 * q[1] + 100 * q[2])                // -> true covered, false covered
                        depth = 5;
                }
            }
        }
    }
    solutions[i] = depth;
}
