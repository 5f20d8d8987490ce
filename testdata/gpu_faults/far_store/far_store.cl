// Each work-item stores its number, and once more `far` elements on, unless that is 0.
//
// Fixture: a wild store. With `far` = 120259084288 it leads 448 GiB away, where nothing is mapped.
kernel void far_store(global int *out, const long far)
{
    const int i = get_global_id(0);
    out[i] = i;
    if (far != 0)
        out[far + i] = i;
}
