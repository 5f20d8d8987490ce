// Bonds are loaded as vectors of two places; what they point to has bonds of its own.
// expect: clean
kernel void stretch(global const int *bonds, global const int *place_of, global const float *mass, global float *pull,
                    int count, float stiff) {
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const int2 bond = vload2(i, bonds);
    const int from = place_of[bond.x];
    if (mass[from] > stiff)
        pull[i] = mass[from] - mass[place_of[bond.y]];
}
