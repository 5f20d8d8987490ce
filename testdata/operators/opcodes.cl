// Mixes whole numbers, their signs and their lanes.
//
// Fixture: operators of the IR on values (IAO, IBO, ICP, IBR, ISL, ICN, INE, IST, ICA, IID, IGP, ICX, IPH, ISO, IVL), an example
// each that is killed and that survives. For eight work-items: more would write over each other's results.

__kernel void opcodes(__global const int *a, __global const int *zero, __global int *out, __global int *spare, const int mode)
{
    const int i = get_global_id(0);
    const int none = zero[i];
    int sum = a[i] * 3 - mode;
    sum -= none * 5;
    int bits = (a[i] & 12) >> 2;
    bits ^= none << 1;
    if (a[i] > 4)
        sum += 10;
    if (none > 4)
        sum += 20;
    int high = a[i] > 6 ? 2 : 1;
    high += none > 6 ? 20 : 10;
    high += mode ? (spare[i] = 0, 40) : 50;
    int idle = none ? (spare[i] = 0, 3) : 4;
    idle = idle << mode;
    if (none > 9)
        sum += idle;
    const long wide = a[i];
    const long narrow = none;
    const int2 pair = (int2)(sum, bits);
    const int2 same = (int2)(none, mode - 1);
    const int2 turned = same.yx;
    vstore2(pair.yx, i, out);
    out[16 + i] = max(high, turned.x) + (int)(wide >> 33) + (int)(narrow >> 33);
    spare[i] = max(none, 0);
}
