/* Cuts a slice out of a volume along one of its axes, or projects the maximum along it.
 *
 * Fixture for: image3d_t, unsigned texels, a switch that chooses coordinates, a loop around image reads, a helper that
 * takes an image.
 */

#define AXIS_X 0
#define AXIS_Y 1
#define AXIS_Z 2

uint voxel(__read_only image3d_t volume, sampler_t smp, int axis, int depth, int u, int v)
{
    int4 at = (int4)(0);
    switch (axis) {
    case AXIS_X:
        at = (int4)(depth, u, v, 0);
        break;
    case AXIS_Y:
        at = (int4)(u, depth, v, 0);
        break;
    case AXIS_Z:
        at = (int4)(u, v, depth, 0);
        break;
    default:
        return 0;
    }
    return read_imageui(volume, smp, at).x;
}

__kernel void volume_slice(__read_only image3d_t volume, sampler_t smp, int axis, int from, int to, uint2 size,
                           __global uint *slice)
{
    uint u = get_global_id(0);
    uint v = get_global_id(1);
    if (u >= size.x || v >= size.y)
        return;

    uint most = 0;
    for (int depth = from; depth < to; depth++) {
        uint value = voxel(volume, smp, axis, depth, u, v);
        if (value > most)
            most = value;
    }
    slice[v * size.x + u] = most;
}
