// Seven-point average in a box, a column of cells a work-item: each walks along z and keeps three planes in registers.
//
// Fixture: a loop whose first and last turns differ by decisions inside it, `continue`, helper with an address-space
// pointer, a three-dimensional index from a two-dimensional launch.

static int cell(const int x, const int y, const int z, const int4 size)
{
    return (z * size.y + y) * size.x + x;
}

__kernel void stencil_3d(__global const int *in, __global int *out, const int4 size)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);

    if (x >= size.x || y >= size.y)
        return;

    const bool edge = x == 0 || y == 0 || x == size.x - 1 || y == size.y - 1;
    int below = 0;
    int here = in[cell(x, y, 0, size)];

    for (int z = 0; z < size.z; ++z) {
        const int above = z + 1 < size.z ? in[cell(x, y, z + 1, size)] : 0;
        const int at = cell(x, y, z, size);

        if (edge || z == 0 || z == size.z - 1) {
            out[at] = here;
            below = here;
            here = above;
            continue;
        }
        out[at] = below + above + in[at - 1] + in[at + 1] + in[cell(x, y - 1, z, size)] + in[cell(x, y + 1, z, size)]
                  - 6 * here;
        below = here;
        here = above;
    }
}
