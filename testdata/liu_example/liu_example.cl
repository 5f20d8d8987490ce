// Sum of two vectors for the first 32 work-items, difference plus one for the others.
//
// Fixture: the worked example of LIU, section 5.2: six statements, four regions, one statement and one region that no
// work-item of 128 reaches.

__kernel void liu_example(__global const int *a, __global const int *b, __global int *c)
{
    int id = get_global_id(0);

    if (id > 127) {
        return;
    } else {
        if (id < 32) {
            c[id] = a[id] + b[id];
        } else {
            c[id] = a[id] - b[id];
            c[id] = c[id] + 1;
        }
    }
}
