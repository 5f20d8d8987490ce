// Distance of two words: cells of an anti-diagonal depend on earlier ones alone.
// expect: clean all-interleavings
kernel void distance(global const uchar *p, global const uchar *q, global int *out, int n) {
    local int d[9][9];
    int l = (int)get_local_id(0);
    if (l <= n) {
        d[l][0] = l;
        d[0][l] = l;
    }
    for (int wave = 2; wave <= 2 * n; wave++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int i = l, j = wave - l;
        if (i >= 1 && i <= n && j >= 1 && j <= n) {
            int best = d[i - 1][j - 1] + (p[i - 1] != q[j - 1]);
            best = min(best, d[i - 1][j] + 1);
            d[i][j] = min(best, d[i][j - 1] + 1);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        out[get_group_id(0)] = d[n][n];
}
