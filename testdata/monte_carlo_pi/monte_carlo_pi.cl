/* Estimates pi by throwing points into a square.
 *
 * Every work-item draws from its own xorshift generator and counts the points inside the quarter circle; all arithmetic
 * is in integers, so the result is exact and the same everywhere. Fixture for: bitwise operators and compound shifts,
 * atomics, a local accumulator with barriers around it, a do-while.
 */

uint next_random(uint *state)
{
    uint x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *state = x;
    return x;
}

__kernel void monte_carlo_pi(uint seed, uint throws, __global uint *per_group, __global uint *total)
{
    __local uint inside_group;
    uint gid = get_global_id(0);

    if (get_local_id(0) == 0)
        inside_group = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    uint state = (seed ^ (gid * 2654435769u)) & 0x7fffffffu;
    if (state == 0)
        state = 1;

    uint inside = 0;
    uint n = 0;
    do {
        uint x = next_random(&state) >> 17;
        uint y = next_random(&state) >> 17;
        inside += x * x + y * y < (1u << 30) ? 1 : 0;
    } while (++n < throws);

    if (inside)
        atomic_add(&inside_group, inside);
    barrier(CLK_LOCAL_MEM_FENCE);

    if (get_local_id(0) == 0) {
        per_group[get_group_id(0)] = inside_group;
        atomic_add(total, inside_group);
    }
}
