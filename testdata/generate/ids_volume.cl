// Three dimensions, with a guard over the flat index.
kernel void ids_volume(global int *out, int nx, int ny, int nz) {
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (nx < 1 || ny < 1 || nz < 1 || x >= nx || y >= ny || z >= nz)
        return;
    int flat = (z * ny + y) * nx + x;
    if (z == 1 && y == 1 && x == 1) // -> true covered
        out[flat] = 1;
    else if (flat == nx * ny * nz - 1 && z > y && z > x) // -> true covered
        out[flat] = 2;
    else
        out[flat] = 0;
}
