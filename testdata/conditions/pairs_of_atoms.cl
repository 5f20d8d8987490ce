// Bonds are between two atoms, which a second table finds where they are now.
// expect: clean
kernel void stretch(int count, global const int2 *bonds, global const int *place_of, global const float4 *at,
                    global float *energies, float length) {
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const int from = bonds[i].x, to = bonds[i].y;
    if (from < 0 || to < 0)
        return;
    const float apart = distance(at[place_of[from]].xyz, at[place_of[to]].xyz) - length;
    energies[i] = 0.5f * apart * apart;
}
