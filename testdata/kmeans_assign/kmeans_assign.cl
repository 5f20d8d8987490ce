/* The assignment step of k-means clustering.
 *
 * Every work-item finds the nearest of k centres for one point (squared Euclidean distance, ties to the lower index),
 * notes whether the assignment changed, and each work-group adds up its changes. Fixture for: nested loops, a tree
 * reduction with barriers in a loop, a helper with a loop, && in a while condition.
 */

float distance_squared(__global const float *a, __global const float *b, int dims, float stop)
{
    float sum = 0.0f;
    int d = 0;
    while (d < dims && sum <= stop) {
        float diff = a[d] - b[d];
        sum += diff * diff;
        d++;
    }
    return sum;
}

__kernel void kmeans_assign(__global const float *points, __global const float *centres, int n, int k, int dims,
                            __global int *assignment, __global int *changes, __local int *scratch)
{
    int gid = get_global_id(0);
    int lid = get_local_id(0);
    int changed = 0;

    if (gid < n) {
        int best = -1;
        float best_distance = MAXFLOAT;
        for (int c = 0; c < k; c++) {
            float distance = distance_squared(points + gid * dims, centres + c * dims, dims, best_distance);
            if (distance < best_distance) {
                best_distance = distance;
                best = c;
            }
        }
        changed = assignment[gid] == best ? 0 : 1;
        assignment[gid] = best;
    }

    scratch[lid] = changed;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = (int)get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (lid < half_size)
            scratch[lid] += scratch[lid + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        changes[get_group_id(0)] = scratch[0];
}
