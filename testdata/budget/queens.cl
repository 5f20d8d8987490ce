// Iterative backtracking over local arrays: counts the ways to place n queens with the first two rows given by the work-item. Work grows
// exponentially with n, so that launches which look small take hours.
#define MOST 20
kernel void queens(global ulong *solutions, const int n, local int *columns, local uint *used) {
    int item = get_global_id(0);
    int l = get_local_id(0);
    local int *column = columns + l * MOST;
    local uint *mask = used + l * 3;
    int first = item % n, second = item / n % n;
    ulong count = 0;
    column[0] = first;
    column[1] = second;
    if (first != second && abs(first - second) != 1) {
        mask[0] = (1u << first) | (1u << second);
        int row = 2;
        column[row] = -1;
        while (row >= 2) {
            int c = ++column[row];
            if (c >= n) {
                row--;
                continue;
            }
            int free = 1;
            for (int above = 0; above < row; above++) {
                int d = column[above] - c;
                if (d == 0 || d == row - above || d == above - row) {
                    free = 0;
                    break;
                }
            }
            if (!free) continue;
            if (row == n - 1) count++;
            else column[++row] = -1;
        }
    }
    solutions[item] = count;
}
