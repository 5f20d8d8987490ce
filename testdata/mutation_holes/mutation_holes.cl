// Three times the sum of four readings of a sensor, in the mirrored order of the work-group.
//
// Fixture: five features that have nothing to do with each other (a guard, a mode, a constant, a barrier, an accumulator). The
// suite tests the constant and the accumulator and leaves the other three untested, each in a known way (holes.toml).

__kernel void mutation_holes(__global const int *readings, __global int *out, __local int *tile, const int n,
                             const int mode)
{
    const int i = get_global_id(0);
    const int lid = get_local_id(0);

    int sum = 0;
    for (int k = 0; k < 4; ++k)
        sum += readings[4 * i + k];

    if (mode == 2)
        sum = sum * 8;

    tile[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    const int mirrored = tile[get_local_size(0) - 1 - lid];

    if (i < n)
        out[i] = mirrored * 3;
}
