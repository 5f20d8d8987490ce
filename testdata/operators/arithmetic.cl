// Small sums on whole numbers.
//
// Fixture: operators on values, statements and loops (AOR, MR, BOR, ARS, ASR, AIU, AOD, LVR, SDL, LBR), an example each that is
// killed and that survives.

__kernel void arithmetic(__global const int *a, __global const int *b, __global int *out, __global int *spare, const int turns)
{
    const int i = get_global_id(0);
    const int zero = b[i];
    int sum = a[i] * 3 + zero;
    sum += a[i] & 6;
    sum -= zero;
    int down = -a[i];
    int up = -zero;
    for (int t = 0; t < turns; t++)
        sum = sum + t;
    for (int t = 0; t < zero; t++)
        sum = sum - 1;
    int count = 0;
    count++;
    int idle = 5;
    idle++;
    if (turns > 100)
        sum += idle;
    out[2 * i] = sum + down - up + (zero ^ 0);
    out[2 * i + 1] = count;
    spare[i] = 0;
}
