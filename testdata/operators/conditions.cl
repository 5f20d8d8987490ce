// Which of the readings raise an alarm: those above the limit or below zero, unless they are masked.
//
// Fixture: operators on conditions and launches (ROR, COR, LCR, CSD, COD, AI, AD), an example each that is killed and one that
// survives.

__kernel void conditions(__global const int *reading, __global const int *masked, __global int *alarm, const int n,
                         const int limit, const int trial)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    int raised = 0;
    if (reading[i] > limit || reading[i] < 0)
        raised = 1;
    if (!masked[i] && raised)
        alarm[i] = 1;
    if (trial || limit < 0)
        alarm[i] = 2;
    if (!trial && limit == 99)
        alarm[i] = 3;
}
