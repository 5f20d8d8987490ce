/* The 0/1 knapsack, one work-group an instance.
 *
 * best[w] is the highest value that fits into capacity w; items are added one after the other, with two rows in local
 * memory, and each work-item walks over capacities with the stride of the group. Fixture for: nested loops of which one
 * holds barriers, && in an if, a pointer swap, continue.
 */

__kernel void knapsack_dp(__global const int *weights, __global const int *prices, int items, int capacity,
                          __global int *best_price, __local int *rows)
{
    int instance = get_group_id(0);
    int lid = get_local_id(0);
    int step = get_local_size(0);
    __local int *old_row = rows;
    __local int *new_row = rows + capacity + 1;

    for (int w = lid; w <= capacity; w += step)
        old_row[w] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int item = 0; item < items; item++) {
        int weight = weights[instance * items + item];
        int price = prices[instance * items + item];
        if (weight < 0 || price <= 0)
            continue;
        for (int w = lid; w <= capacity; w += step) {
            int best = old_row[w];
            if (w >= weight && old_row[w - weight] + price > best)
                best = old_row[w - weight] + price;
            new_row[w] = best;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        __local int *other = old_row;
        old_row = new_row;
        new_row = other;
    }

    if (lid == 0)
        best_price[instance] = old_row[capacity];
}
