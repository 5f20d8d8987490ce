// Queens on a board, placed and taken back without recursion, in arrays of the work-item's own: loops as long as one likes, and paths
// without end. The time that is given has to do.
#define N 13
kernel void hard_queens(global const uint *start, global uint *solutions, int rows) {
    uint left[N], right[N], masks[N], open[N];
    int i = get_global_id(0);
    uint full = (1u << N) - 1;
    int row = 0;
    uint found = 0;
    left[0] = start[i] & full;
    right[0] = (start[i] >> N) & full;
    masks[0] = left[0] | right[0];
    open[0] = masks[0];
    while (row >= 0) {
        uint rest = full & ~(masks[row] | open[row]);
        if (rest == 0) { // -> true covered/unknown, false covered/unknown
            row--;
            continue;
        }
        uint queen = rest & -rest;
        open[row] |= queen;
        if (row + 1 >= rows || row + 1 >= N) { // -> true covered/unknown, false covered/unknown
            found++;
            if (found == 77777) // -> true covered/unknown, false covered/unknown
                break;
            continue;
        }
        left[row + 1] = (left[row] | queen) << 1;
        right[row + 1] = (right[row] | queen) >> 1;
        masks[row + 1] = left[row + 1] | right[row + 1] | (masks[row] | queen);
        open[row + 1] = 0;
        row++;
    }
    solutions[i] = found;
}
